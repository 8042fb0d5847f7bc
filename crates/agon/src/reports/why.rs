//! Proofs and failed proofs as JSON, with the keys of `agon why --json`.

use std::sync::Arc;

use agon_game::{Notation as _, Position as _};
use agon_gdl::why::{Because, Explanation, Failure, Proof, Support, Unmet, Why};
use agon_text::Source;
use serde_json::{Value, json};

use super::{ReportError, fail, follow};
use crate::position::Position;

/// Explains why a sentence holds at a position or not, by the rules. `does` is the joint move made
/// there, for sentences about `does`, `next` and `sees`. For a structure rewriting game the
/// sentence is a move, a formula or a term.
///
/// # Errors
/// [`ReportError`] if the sentence cannot be read, or needs a joint move that was not given.
pub fn why(
    position: &Position,
    sentence: &str,
    does: Option<&[String]>,
) -> Result<Value, ReportError> {
    if let Some(game) = position.game().toss() {
        if does.is_some() {
            return Err(fail(&"a joint move is for GDL only; play it first"));
        }
        let mut at = game.start();
        follow(&mut at, position)?;
        let answer = agon_toss::why::explain(&at, sentence).map_err(|error| fail(&error))?;
        let source = &game.arena().sheet().source;
        return Ok(rewriting_json(&answer, source, &at.state_text()));
    }
    let game = position.game().gdl().expect("a game is of one of the two languages");
    let mut at = game.start();
    follow(&mut at, position)?;
    let joint = match does {
        None => None,
        Some(texts) => {
            let roles = at.shape().roles();
            let moves: Option<Vec<_>> =
                roles.zip(texts).map(|(role, text)| at.parse_move(role, text)).collect();
            let n_roles = at.shape().role_names.len();
            let moves = moves.filter(|moves| moves.len() == n_roles && texts.len() == n_roles);
            Some(moves.ok_or_else(|| fail(&"`does` needs one legal move for each role"))?)
        }
    };
    let explanation = Why::new(&at, joint.as_deref())
        .and_then(|mut why| why.explain(sentence))
        .map_err(|error| fail(&error))?;
    let source = Arc::clone(&game.rules().sheet().source);
    Ok(explanation_json(&explanation, &source))
}

/// Returns why a sentence about a GDL game holds or not as JSON. `source` has the rules.
pub fn explanation_json(explanation: &Explanation, source: &Source) -> Value {
    let view = View { source };
    match explanation {
        Explanation::Holds { proofs, n_ways } => {
            let proofs: Vec<Value> = proofs.iter().map(|proof| view.proof(proof)).collect();
            json!({"holds": true, "ways": n_ways, "proofs": proofs})
        }
        Explanation::Fails(failure) => json!({"holds": false, "why_not": view.failure(failure)}),
    }
}

struct View<'a> {
    source: &'a Source,
}

impl View<'_> {
    fn proof(&self, proof: &Proof) -> Value {
        let (kind, span, supports) = match &proof.because {
            Because::State => ("state", None, None),
            Because::Move => ("move", None, None),
            Because::Fact(span) => ("fact", Some(span), None),
            Because::Rule(span, supports) => ("rule", Some(span), Some(supports)),
            Because::ShownAbove => ("shown above", None, None),
            Because::TooDeep => ("too deep", None, None),
        };
        let support = |support: &Support| match support {
            Support::Holds(proof) => self.proof(proof),
            Support::DoesNotHold(sentence) => json!({"not": sentence}),
            Support::Different(a, b) => json!({"distinct": [a, b]}),
        };
        let supports: Vec<Value> = supports.into_iter().flatten().map(support).collect();
        let line = span.map(|span| self.source.place(span.start()).line);
        json!({"sentence": proof.sentence, "by": kind, "line": line, "because": supports})
    }

    fn failure(&self, failure: &Failure) -> Value {
        let attempts = failure.attempts.iter().map(|attempt| {
            let because = match &attempt.because {
                Unmet::Same => json!("same"),
                Unmet::Fails(None) => Value::Null,
                Unmet::Fails(Some(failure)) => self.failure(failure),
                Unmet::Holds(proof) => json!({"holds": self.proof(proof)}),
            };
            json!({"line": self.source.place(attempt.rule.start()).line, "met": attempt.met,
                "unmet": attempt.unmet,
                "unmet_line": self.source.place(attempt.unmet_span.start()).line,
                "because": because})
        });
        let attempts: Vec<Value> = attempts.collect();
        json!({"sentence": failure.sentence, "remark": failure.remark, "rules": attempts})
    }
}

/// Returns the answer to a question about a structure rewriting game as JSON. `source` has the
/// rules, `state` the facts at the position.
pub fn rewriting_json(
    explanation: &agon_toss::why::Explanation,
    source: &Source,
    state: &[String],
) -> Value {
    let findings = explanation.findings.iter().map(|finding| {
        let line = finding.span.map(|span| source.place(span.start()).line);
        json!({"holds": finding.holds, "text": finding.text, "line": line})
    });
    let witnesses = explanation.witnesses.iter().map(|witness| {
        let pairs = witness.iter().map(|(variable, name)| (variable.clone(), json!(name)));
        Value::Object(pairs.collect())
    });
    json!({
        "question": explanation.question, "holds": explanation.holds,
        "findings": findings.collect::<Vec<_>>(), "witnesses": witnesses.collect::<Vec<_>>(),
        "state": state,
    })
}
