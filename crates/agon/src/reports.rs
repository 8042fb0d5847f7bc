//! Checks, proofs, solutions and translations as JSON, for programs in other languages.
//!
//! The keys are those that the commands of the same names print with `--json`.

mod check;
mod translate;
mod why;

use std::fmt;
use std::time::Duration;

use agon_analysis::explain::properties_json;
use agon_game::{Budget, Hidden, Notation, Shape};
use agon_search::solve::{HiddenGames, Method, Solution, SolveOptions, Unsolved, solve};
use serde_json::{Map, Value, json};

pub use check::{CheckPlays, check, check_watched, finding_json};
pub use translate::{Target, TranslateOptions, Translated, translate};
pub use why::{explanation_json, rewriting_json, why};

use crate::engine::{GamePosition, GameTask};
use crate::game::Game;
use crate::position::Position;

/// Why a question about a game has no answer, as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportError(pub(crate) String);

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReportError {}

fn fail(why: &dyn fmt::Display) -> ReportError {
    ReportError(why.to_string())
}

/// Returns proved and observed properties of a game, searched for within a time limit.
///
/// # Errors
/// [`ReportError`] if the game has no analysis, which only some structure rewriting games lack.
pub fn properties(game: &Game, time: Duration) -> Result<Value, ReportError> {
    let analysis = game.analysis().map_err(|why| fail(why))?;
    Ok(properties_json(&analysis.properties(time)))
}

/// Returns what the shape of a game says: roles, chance, hidden information, and what is proved.
pub fn shape_json(shape: &Shape) -> Value {
    json!({
        "roles": shape.role_names,
        "nature": shape.nature.map(|role| &shape.role_names[role.index()]),
        "hidden_information": shape.hidden,
        "payoffs": [shape.payoffs.start(), shape.payoffs.end()],
        "proved": {
            "turn_taking": shape.turn_taking.then_some(true),
            "constant_sum": shape.constant_sum,
        },
    })
}

/// Solves a game from a position: the payoffs of perfect play and a line of it, or the bounds found
/// so far. The key `solved` says which.
///
/// # Errors
/// [`ReportError`] if the position cannot be reached again.
pub fn solution(
    position: &Position,
    budget: &Budget,
    megabytes: usize,
    hidden: HiddenGames,
) -> Result<Value, ReportError> {
    let options = SolveOptions {
        bytes: megabytes.saturating_mul(1 << 20),
        hidden,
        ..SolveOptions::default()
    };
    position.game().run(Solve { position, budget, options })
}

struct Solve<'a> {
    position: &'a Position,
    budget: &'a Budget,
    options: SolveOptions,
}

impl GameTask for Solve<'_> {
    type Output = Result<Value, ReportError>;

    fn run<P: GamePosition + 'static>(self, mut start: P) -> Result<Value, ReportError> {
        follow(&mut start, self.position)?;
        Ok(match solve(&start, self.budget, &self.options) {
            Ok(solution) => solution_json(&start, &solution),
            Err(unsolved) => unsolved_json(start.shape(), &unsolved),
        })
    }
}

/// Plays the moves that led to a position.
fn follow<P: Notation>(start: &mut P, position: &Position) -> Result<(), ReportError> {
    for joint in position.history() {
        let roles = start.shape().roles();
        let moves: Option<Vec<P::Move>> =
            roles.zip(joint).map(|(role, text)| start.parse_move(role, text)).collect();
        let moves = moves.ok_or_else(|| fail(&"the position cannot be reached again"))?;
        start.advance(&moves);
    }
    Ok(())
}

/// Returns the solution of a game as JSON. The key `solved` is true.
pub fn solution_json<P: Hidden>(start: &P, solution: &Solution<P::Move>) -> Value {
    let shape = start.shape();
    let name = |index: usize| shape.role_names[index].clone();
    let values: Map<String, Value> = shape
        .players()
        .map(|role| (name(role.index()), json!(solution.values[role.index()])))
        .collect();
    let strategy = |index: usize| -> Vec<Value> {
        let moves = solution.strategies[index].iter();
        moves.map(|(m, p)| json!({"move": start.move_text(m), "probability": p})).collect()
    };
    let strategies: Map<String, Value> = shape
        .players()
        .map(|role| (name(role.index()), Value::Array(strategy(role.index()))))
        .collect();
    let joints = solution.line.joints.iter();
    let line: Vec<Vec<String>> =
        joints.map(|joint| joint.iter().map(|m| start.move_text(m)).collect()).collect();
    json!({
        "solved": true, "values": values, "strategies": strategies, "line": line,
        "method": method_name(solution.method), "can_repeat": solution.can_repeat,
        "nodes": solution.nodes, "seconds": solution.seconds,
    })
}

/// Returns what is told to the user of the method by which a game was solved.
pub fn method_name(method: Method) -> &'static str {
    match method {
        Method::BreadthFirst => "breadth-first search",
        Method::ProofNumbers => "proof-number search",
        Method::TreeSearch => "tree search with proved bounds",
        Method::Retrograde => "all positions, from the end backwards",
    }
}

/// Returns the bounds of a game that was not solved as JSON. The key `solved` is false.
pub fn unsolved_json(shape: &Shape, unsolved: &Unsolved) -> Value {
    let bounds: Map<String, Value> = shape
        .players()
        .map(|role| {
            let (low, high) = unsolved.bounds[role.index()];
            (shape.role_names[role.index()].clone(), json!([low, high]))
        })
        .collect();
    json!({
        "solved": false, "why": unsolved.reason.to_string(), "bounds": bounds,
        "nodes": unsolved.nodes, "seconds": unsolved.seconds,
    })
}

#[cfg(test)]
mod tests;
