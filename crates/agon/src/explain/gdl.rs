//! Explanations of GDL games.

use agon_analysis::Analysis;
use agon_analysis::ConceptSource;
use agon_analysis::concepts::{ConceptHeuristic, HeuristicKind, LearnOptions};
use agon_analysis::explain::{
    Explanation as Entries, Section as Entry, action_heuristic_json, action_heuristic_text,
    concepts_json, concepts_text, evaluation_json, evaluation_text, properties_json,
    properties_text,
};
use agon_analysis::fuzzy::{FluentSet, FuzzyEvaluator, FuzzyOptions};
use agon_analysis::regression::HeuristicRequest;
use agon_game::{Notation as _, Position as _, Role};
use agon_gdl::interpreter::Interpreter;
use serde_json::json;

use super::{ExplainOptions, Explanation, Line, Section};

/// A move of the role that alone has a choice, and what the position after it is worth.
struct MoveValue {
    role: String,
    text: String,
    worth: f64,
}

/// Returns the concepts that an explanation shows: learned from the game itself.
pub fn concepts_for_explanation(
    analysis: &Analysis,
    options: &ExplainOptions,
) -> std::sync::Arc<ConceptHeuristic> {
    let learn = LearnOptions { kind: HeuristicKind::Concepts, ..LearnOptions::default() };
    analysis.concepts(&learn, &ConceptSource::Own, options.time / 6)
}

/// Explains a GDL game and a position of it.
pub fn explain_gdl(
    analysis: &Analysis,
    position: &Interpreter,
    options: &ExplainOptions,
) -> Explanation {
    let (time, n_parts) = (options.time, options.n_parts);
    let properties = analysis.properties(time / 3);
    let fuzzy = analysis.fuzzy(&FuzzyOptions::default(), time / 3);
    let heuristics = analysis.action_heuristics(HeuristicRequest::default(), time / 3);
    let learnt = concepts_for_explanation(analysis, options);
    let mut evaluator = fuzzy.as_ref().ok().map(FuzzyEvaluator::new);
    if let Some(evaluator) = &mut evaluator {
        evaluator.set_fluents(FluentSet::Terms(position.state().fluents()));
    }
    let moves =
        evaluator.as_mut().map(|evaluator| move_values(position, evaluator)).unwrap_or_default();

    let entries = Entries {
        properties: Entry::Available(properties_json(&properties)),
        fuzzy: Entry::from(fuzzy.as_ref().map(|fuzzy| {
            let mut value = evaluation_json(fuzzy, evaluator.as_mut());
            value["moves"] = moves
                .iter()
                .map(|m| json!({"role": m.role, "move": m.text, "worth": m.worth}))
                .collect();
            value
        })),
        action_heuristic: Entry::from(
            heuristics.as_ref().map(|found| action_heuristic_json(found, position)),
        ),
        concepts: Entry::Available(concepts_json(&learnt, position)),
    };
    let mut json = entries.json();
    json.insert("state".to_owned(), json!(position.state_text()));

    let properties = properties_text(&properties);
    let known = properties
        .into_iter()
        .map(|(label, text)| Line { label: label.to_string(), text: text.to_string() });
    let mut sections =
        vec![Section { title: "What is known of the game".to_owned(), lines: known.collect() }];
    let evaluation = match &fuzzy {
        Ok(fuzzy) => {
            let mut lines = vec![format!("at {}", position.state_text().join(" "))];
            lines.extend(evaluation_text(fuzzy, evaluator.as_mut(), n_parts));
            lines
        }
        Err(why) => vec![format!("none: {why}")],
    };
    sections
        .push(Section::new("What a position is worth, by fuzzy logic over the goals", evaluation));
    if !moves.is_empty() {
        sections
            .push(Section::new("What it is worth after each move", move_lines(&moves, n_parts)));
    }
    let regressed = match &heuristics {
        Ok(heuristics) => action_heuristic_text(heuristics, position, n_parts),
        Err(why) => vec![format!("none: {why}")],
    };
    sections.push(Section::new("What must hold now for a move to reach the goal", regressed));
    sections.push(Section::new(
        "What occurs together where a player has won",
        concepts_text(&learnt, position, n_parts),
    ));
    Explanation { sections, json }
}

fn move_lines(moves: &[MoveValue], n_parts: usize) -> Vec<String> {
    let shown = moves.iter().take(n_parts);
    let mut lines: Vec<String> =
        shown.map(|m| format!("{:8.2}  {} {}", m.worth, m.role, m.text)).collect();
    if moves.len() > n_parts {
        lines.push(format!("… and {} more moves", moves.len() - n_parts));
    }
    lines
}

/// Evaluates the position after each legal move of the only role that has a choice, best first.
fn move_values(position: &Interpreter, evaluator: &mut FuzzyEvaluator) -> Vec<MoveValue> {
    let choosers: Vec<Role> = position.choosers().collect();
    let [chooser] = choosers.as_slice() else { return Vec::new() };
    let name = &position.shape().role_names[chooser.index()];
    let mut after = position.clone();
    let mut moves = Vec::new();
    for m in position.legal_moves(*chooser) {
        let roles = position.shape().roles();
        let joint: Vec<_> = roles
            .map(|role| if role == *chooser { *m } else { position.legal_moves(role)[0] })
            .collect();
        after.go_to(position.state());
        after.advance(&joint);
        let worth = if after.is_terminal() {
            after.payoff(*chooser)
        } else {
            evaluator.set_fluents(FluentSet::Terms(after.state().fluents()));
            evaluator.value(chooser.index())
        };
        moves.push(MoveValue { role: name.clone(), text: position.move_text(m), worth });
    }
    evaluator.set_fluents(FluentSet::Terms(position.state().fluents()));
    moves.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    moves
}
