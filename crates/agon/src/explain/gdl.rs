//! Explanations of GDL games.

use std::panic::resume_unwind;
use std::time::Instant;

use agon_analysis::Analysis;
use agon_analysis::ConceptSource;
use agon_analysis::concepts::{ConceptHeuristic, HeuristicKind, LearnOptions};
use agon_analysis::explain::{
    ConceptView, Explanation as Entries, Section as Entry, action_heuristic_json,
    action_heuristic_text, concepts_json, concepts_text, evaluation_json, evaluation_text,
    properties_json, properties_text,
};
use agon_analysis::fuzzy::{FluentSet, FuzzyEvaluator, FuzzyOptions};
use agon_analysis::regression::HeuristicRequest;
use agon_game::{Notation as _, Position as _, Role, SecretPlan, hides_information};
use agon_gdl::interpreter::Interpreter;
use serde_json::json;

use super::position::{View, describe};
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

/// Number of won plays from which concepts of three facts are learned. The number of sets of three
/// facts grows with the cube of the facts.
const TERNARY_WINS: usize = 30;
/// Maximum number of fluents of a state from which concepts of three facts are learned.
const MAX_TERNARY_FLUENTS: usize = 60;

/// Returns the concepts of three facts of a game, if its states have few enough fluents.
fn ternary_concepts(
    analysis: &Analysis,
    n_fluents: usize,
    options: &ExplainOptions,
) -> Option<std::sync::Arc<ConceptHeuristic>> {
    if n_fluents > MAX_TERNARY_FLUENTS {
        return None;
    }
    let kind = HeuristicKind::Ternary;
    let learn = LearnOptions { kind, n_wins: TERNARY_WINS, ..LearnOptions::default() };
    Some(analysis.concepts(&learn, &ConceptSource::Own, options.time / 12))
}

/// Explains a GDL game and a position of it.
pub fn explain_gdl(
    analysis: &Analysis,
    position: &Interpreter,
    options: &ExplainOptions,
) -> Explanation {
    let (time, n_parts) = (options.time, options.n_parts);
    let n_fluents = position.state().fluents().len();
    // Concepts need nothing of the rest, which takes about as long. Where the threads cannot be
    // started, one does it all.
    let (properties, fuzzy, heuristics, learnt, ternary) = std::thread::scope(|scope| {
        let concepts = || {
            let learnt = concepts_for_explanation(analysis, options);
            (learnt, ternary_concepts(analysis, n_fluents, options))
        };
        let beside = std::thread::Builder::new().spawn_scoped(scope, concepts);
        let properties = analysis.properties(time / 3);
        let regress = || analysis.action_heuristics(HeuristicRequest::default(), time / 3);
        let regressed = std::thread::Builder::new().spawn_scoped(scope, regress);
        let fuzzy = analysis.fuzzy(&FuzzyOptions::default(), time / 3);
        let heuristics = match regressed {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => regress(),
        };
        let (learnt, ternary) = match beside {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => concepts(),
        };
        (properties, fuzzy, heuristics, learnt, ternary)
    });
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
        concepts: Entry::Available(concepts_json(&learnt, ternary.as_deref(), position)),
    };
    let mut json = entries.json();
    json.insert("state".to_owned(), json!(position.state_text()));

    let known = properties_text(&properties)
        .into_iter()
        .map(|(label, text)| Line { label: label.to_string(), text: text.to_string() });
    let known = Section { title: "What is known of the game".to_owned(), lines: known.collect() };
    let layout = crate::layout::find_gdl(analysis.game(), analysis.compiled().map(|c| &**c));
    let until = Instant::now().checked_add(time / 10);
    let is_hidden = position.shape().hidden
        && hides_information(&analysis.game().start(), &SecretPlan::default());
    let view = if is_hidden { View::OfReferee } else { View::Open };
    let (section, soon) = describe(position, &layout, view, until);
    json.insert("soon".to_owned(), soon);
    let regressed = match &heuristics {
        Ok(heuristics) => action_heuristic_text(heuristics, Some(&properties), position, n_parts),
        Err(why) => vec![format!("none: {why}")],
    };
    let mut sections = vec![section, Section::new("What each move does for the goal", regressed)];
    let evaluation = match &fuzzy {
        Ok(fuzzy) => {
            let mut lines = vec![ABOUT_DEGREES.to_owned()];
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
    sections.push(known);
    let drawing = |fact: &str| layout.drawn_at(fact);
    let view =
        ConceptView { ternary: ternary.as_deref(), drawing: Some(&drawing), n_shown: n_parts };
    sections.push(Section::new(
        "What occurs together where a player has won",
        concepts_text(&learnt, position, &view),
    ));
    Explanation { sections, json }
}

/// Says what the numbers in brackets are.
const ABOUT_DEGREES: &str =
    "in brackets the degree of truth of a condition, from 0 (never) to 1 (for ever)";

/// Maximum number of moves of equal worth that are named.
const N_NAMED: usize = 6;

/// Describes the moves in descending order of worth. Moves of equal worth share a line.
fn move_lines(moves: &[MoveValue], n_parts: usize) -> Vec<String> {
    // What is printed alike is alike: differences below the last digit are noise.
    let shown = |worth: f64| format!("{worth:.2}");
    let groups: Vec<&[MoveValue]> =
        moves.chunk_by(|a, b| shown(a.worth) == shown(b.worth)).collect();
    if let [all] = groups.as_slice()
        && all.len() > 1
    {
        let (n, role, worth) = (all.len(), &all[0].role, shown(all[0].worth));
        return vec![format!("{worth} after each of the {n} moves of {role}")];
    }
    let mut lines = Vec::new();
    for group in groups.iter().take(n_parts) {
        let texts: Vec<&str> = group.iter().take(N_NAMED).map(|m| m.text.as_str()).collect();
        let more = match group.len().saturating_sub(N_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (worth, role) = (shown(group[0].worth), &group[0].role);
        lines.push(format!("{worth:>8}  {role} {}{more}", texts.join(", ")));
    }
    let n_more: usize = groups.iter().skip(n_parts).map(|group| group.len()).sum();
    match n_more {
        0 => {}
        1 => lines.push("… and one more move".to_owned()),
        n => lines.push(format!("… and {n} more moves")),
    }
    lines
}

/// Evaluates the position after each legal move of the only role that has a choice, best first.
fn move_values(position: &Interpreter, evaluator: &mut FuzzyEvaluator) -> Vec<MoveValue> {
    let choosers: Vec<Role> = position.choosers().collect();
    let [chooser] = choosers.as_slice() else { return Vec::new() };
    // What nature draws is not worth anything to it.
    if position.shape().nature == Some(*chooser) {
        return Vec::new();
    }
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
