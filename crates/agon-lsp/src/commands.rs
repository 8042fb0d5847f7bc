//! The commands of the code lenses.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_datalog::Limits;
use agon_game::{Notation, Position, Rng};
use agon_gdl::why::{Because, Explanation, Failure, Proof, Support, Unmet, Why};
use agon_text::{Diagnostic, Severity, Source, Span, render};
use agon_toss::syntax::{Formula, FormulaKind, GameSheet, RelationDefinition};
use rand::SeedableRng as _;
use serde_json::{Value, json};

use crate::diagnostics::page;
use crate::hover::count;
use crate::text::path_of;

/// The commands that the server executes.
pub(crate) const COMMANDS: &[&str] =
    &["agon.play", "agon.simulate", "agon.why", "agon.explainCode"];

/// Maximum number of simulated plays, of their steps, and of the time for them.
const MAX_PLAYS: u32 = 200;
const MAX_STEPS: u32 = 1000;
const SIMULATION_TIME: Duration = Duration::from_secs(2);
/// Maximum time for opening a game, and for evaluating it.
const OPENING_TIME: Duration = Duration::from_secs(5);

/// The result of a command: a value for programs, and a text for people.
pub(crate) struct Done {
    pub(crate) value: Value,
    pub(crate) text: String,
}

/// Executes a command on a text. It may take a few seconds.
///
/// # Errors
/// A sentence for the user.
pub(crate) fn execute(
    command: &str,
    uri: &str,
    source: &Arc<Source>,
    argument: Option<&str>,
) -> Result<Done, String> {
    match command {
        "agon.play" => {
            let path = path_of(uri);
            let text = format!("run in a terminal: agon play {path}");
            Ok(Done { value: json!({"terminal": ["agon", "play", path]}), text })
        }
        "agon.simulate" => match open(source)? {
            Opened::Gdl(game) => simulate(&game.start()),
            Opened::Toss(game) => simulate(&game.start()),
        },
        "agon.why" => {
            let sentence = argument.ok_or("`agon.why` needs a sentence")?;
            match open(source)? {
                Opened::Gdl(game) => why_gdl(&game, sentence),
                Opened::Toss(game) => why_toss(&game, sentence),
            }
        }
        _ => Err(format!("there is no command `{command}`")),
    }
}

/// Returns the page of a diagnostic code.
///
/// # Errors
/// A sentence if there is no such code.
pub(crate) fn explain_code(code: &str) -> Result<Done, String> {
    let page = page(code).ok_or_else(|| format!("there is no code `{code}`"))?;
    Ok(Done { value: json!({"code": code, "page": page.page}), text: page.page.to_owned() })
}

enum Opened {
    Gdl(Arc<agon_gdl::interpreter::Game>),
    Toss(Arc<agon_toss::interpreter::Game>),
}

fn open(source: &Arc<Source>) -> Result<Opened, String> {
    let refuse = |findings: Vec<Diagnostic>| {
        let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
        let errors: Vec<Diagnostic> = findings.into_iter().filter(is_error).take(3).collect();
        format!("the rules have errors:\n{}", render(&errors, source, false))
    };
    if agon_toss::read::is_game(source) {
        use agon_toss::interpreter::{Game, Options};
        let checked = agon_toss::check::check(Arc::clone(source));
        let arena = checked.arena.ok_or_else(|| refuse(checked.findings.0))?;
        let game = Game::open(arena, Options::default());
        return game.map(Opened::Toss).map_err(|finding| finding.message.clone());
    }
    use agon_gdl::interpreter::{Game, Options};
    let checked = agon_gdl::check::check(Arc::clone(source));
    let rules = checked.rules.ok_or_else(|| refuse(checked.findings.0))?;
    let deadline = Some(Instant::now() + OPENING_TIME);
    let limits = Limits { bytes: 256 << 20, steps: 20_000_000, deadline, ..Limits::default() };
    let game = Game::open(rules, Options { limits, ..Options::default() });
    game.map(Opened::Gdl).map_err(|finding| finding.message.clone())
}

/// Plays at random for a while and reports lengths and payoffs.
fn simulate<P: Position>(start: &P) -> Result<Done, String> {
    let roles = start.shape().role_names.clone();
    let until = Instant::now() + SIMULATION_TIME;
    let mut rng = Rng::seed_from_u64(1);
    let (mut n_plays, mut n_ended, mut n_steps) = (0_u32, 0_u32, 0_u32);
    let mut sums = vec![0.0; roles.len()];
    let mut joint = Vec::new();
    while n_plays < MAX_PLAYS && (n_plays == 0 || Instant::now() < until) {
        let mut position = start.clone();
        let mut length = 0;
        while !position.is_terminal()
            && position.fault().is_none()
            && length < MAX_STEPS
            && Instant::now() < until
        {
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
            length += 1;
        }
        if let Some(fault) = position.fault() {
            return Err(format!("a random play failed: {fault}"));
        }
        n_plays += 1;
        n_steps += length;
        if position.is_terminal() {
            n_ended += 1;
            for (role, sum) in start.shape().roles().zip(&mut sums) {
                *sum += position.payoff(role);
            }
        }
    }
    let means: Vec<f64> = sums.iter().map(|sum| sum / f64::from(n_ended.max(1))).collect();
    let length = f64::from(n_steps) / f64::from(n_plays);
    let mut text = format!("{n_plays} random plays, {length:.1} steps on average");
    for (role, mean) in roles.iter().zip(&means) {
        let _ = write!(text, "; {role} {mean:.1}");
    }
    if n_ended < n_plays {
        let _ = write!(text, "; {} did not end in time", n_plays - n_ended);
    }
    let payoffs: Vec<Value> =
        roles.iter().zip(&means).map(|(role, mean)| json!({"role": role, "mean": mean})).collect();
    let value =
        json!({"plays": n_plays, "ended": n_ended, "mean_length": length, "payoffs": payoffs});
    Ok(Done { value, text })
}

/// Explains a sentence of GDL, possibly with variables, at the start.
fn why_gdl(game: &Arc<agon_gdl::interpreter::Game>, sentence: &str) -> Result<Done, String> {
    let explanation = Why::new(&game.start(), None)
        .and_then(|mut why| why.explain(sentence))
        .map_err(|error| error.to_string())?;
    let mut writer =
        Writer { source: Arc::clone(&game.rules().sheet().source), text: String::new() };
    let holds = match &explanation {
        Explanation::Holds { proofs, n_ways } => {
            let _ = writeln!(
                writer.text,
                "at the start, {sentence} holds in {}",
                count(*n_ways, "way")
            );
            proofs.iter().take(MAX_PROOFS).for_each(|proof| writer.proof(proof, 1));
            match n_ways - proofs.len().min(MAX_PROOFS) {
                0 => {}
                more => writer.line(1, &format!("and in {}", count(more, "more way")), None),
            }
            true
        }
        Explanation::Fails(failure) => {
            let _ = writeln!(writer.text, "at the start, {sentence} does not hold");
            writer.failure(failure, 1);
            false
        }
    };
    let value = json!({"sentence": sentence, "holds": holds, "text": writer.text});
    Ok(Done { value, text: writer.text })
}

/// Explains a move, formula or term of a structure rewriting game at the start. The name of a rule
/// stands for its first move there.
fn why_toss(game: &Arc<agon_toss::interpreter::Game>, question: &str) -> Result<Done, String> {
    let start = game.start();
    let is_rule = !question.contains(['(', ' ']);
    let question = if is_rule {
        let is_own =
            |text: &String| text.trim_start_matches('(').split([' ', ')']).next() == Some(question);
        let mut moves = start.shape().roles().flat_map(|role| {
            let legal = start.legal_moves(role).iter();
            legal.map(|one| start.move_text(one)).collect::<Vec<_>>()
        });
        moves
            .find(is_own)
            .ok_or_else(|| format!("no move by `{question}` is legal at the start"))?
    } else {
        question.to_owned()
    };
    let answer = agon_toss::why::explain(&start, &question).map_err(|error| error.to_string())?;
    let verdict = match answer.holds {
        Some(true) => ": yes",
        Some(false) => ": no",
        None => "",
    };
    let mut text = format!("at the start, {}{verdict}\n", answer.question);
    for finding in &answer.findings {
        let _ = writeln!(text, "  {}", finding.text);
    }
    if answer.findings.is_empty() {
        let sheet = game.arena().sheet();
        if let Some(body) = definition(sheet, &question) {
            write_parts(&start, sheet, body, 1, &mut text);
        }
    }
    let findings: Vec<&str> = answer.findings.iter().map(|one| one.text.as_str()).collect();
    let value = json!({"sentence": answer.question, "holds": answer.holds, "text": text,
        "findings": findings});
    Ok(Done { value, text })
}

/// Returns the formula that defines a relation without arguments, as in `Won()`.
fn definition<'a>(sheet: &'a GameSheet, question: &str) -> Option<&'a Formula> {
    let name = question.trim().strip_suffix("()")?.trim_end();
    let is_it = |one: &&RelationDefinition| one.parameters.is_empty() && one.name.text == name;
    sheet.relations.iter().find(is_it).map(|one| &one.body)
}

/// Writes the parts of a formula, one for each line, with what each of them is at a position.
fn write_parts(
    position: &agon_toss::interpreter::Interpreter,
    sheet: &GameSheet,
    formula: &Formula,
    depth: usize,
    text: &mut String,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let parts: Vec<&Formula> = match &formula.kind {
        FormulaKind::And(parts) | FormulaKind::Or(parts) => parts.iter().collect(),
        FormulaKind::Not(inner) => vec![&**inner],
        FormulaKind::Atom(name, arguments) if arguments.is_empty() => {
            definition(sheet, &format!("{}()", name.text)).into_iter().collect()
        }
        // A definition that is one part only.
        _ if depth == 1 => vec![formula],
        _ => Vec::new(),
    };
    for part in parts {
        let written =
            sheet.source.slice(part.span).split_whitespace().collect::<Vec<_>>().join(" ");
        // A part of a definition without arguments has no free variables, so it can be asked.
        let Ok(answer) = agon_toss::why::explain(position, &written) else { continue };
        let verdict = if answer.holds == Some(true) { "yes" } else { "no" };
        let _ = writeln!(text, "{}{written}: {verdict}", "  ".repeat(depth));
        let shown = answer.findings.len().min(MAX_PROOFS);
        for finding in &answer.findings[..shown] {
            let _ = writeln!(text, "{}{}", "  ".repeat(depth + 1), finding.text);
        }
        if answer.findings.len() > shown {
            let _ = writeln!(text, "{}…", "  ".repeat(depth + 1));
        }
        write_parts(position, sheet, part, depth + 1, text);
    }
}

/// Maximum number of proofs of a sentence, and of witnesses of a formula, that are shown.
const MAX_PROOFS: usize = 3;

/// Maximum depth to which explanations are written.
const MAX_DEPTH: usize = 6;

/// Writes explanations as indented lines.
struct Writer {
    source: Arc<Source>,
    text: String,
}

impl Writer {
    fn line(&mut self, depth: usize, text: &str, place: Option<Span>) {
        let line = place.map(|span| format!(" (line {})", self.source.line_of(span.start())));
        let _ = writeln!(self.text, "{}{text}{}", "  ".repeat(depth), line.unwrap_or_default());
    }

    fn proof(&mut self, proof: &Proof, depth: usize) {
        let (by, place, supports) = match &proof.because {
            Because::State => ("part of the state", None, &[][..]),
            Because::Move => ("a move made", None, &[][..]),
            Because::Fact(span) => ("a fact", Some(*span), &[][..]),
            Because::Rule(span, supports) => ("by a rule", Some(*span), supports.as_slice()),
            Because::ShownAbove => ("shown above", None, &[][..]),
            Because::TooDeep => ("deeper than shown", None, &[][..]),
        };
        self.line(depth, &format!("{}: {by}", proof.sentence), place);
        if depth >= MAX_DEPTH {
            return;
        }
        for support in supports {
            match support {
                Support::Holds(proof) => self.proof(proof, depth + 1),
                Support::DoesNotHold(sentence) => {
                    self.line(depth + 1, &format!("{sentence} does not hold"), None);
                }
                Support::Different(a, b) => {
                    self.line(depth + 1, &format!("{a} and {b} differ"), None);
                }
            }
        }
    }

    fn failure(&mut self, failure: &Failure, depth: usize) {
        if let Some(remark) = &failure.remark {
            self.line(depth, remark, None);
        }
        for attempt in &failure.attempts {
            let text = format!("a rule needs {}, which is not met", attempt.unmet);
            self.line(depth, &text, Some(attempt.rule));
            match &attempt.because {
                Unmet::Fails(Some(inner)) if depth < MAX_DEPTH => self.failure(inner, depth + 1),
                Unmet::Holds(proof) if depth < MAX_DEPTH => self.proof(proof, depth + 1),
                Unmet::Fails(_) | Unmet::Holds(_) | Unmet::Same => {}
            }
        }
    }
}
