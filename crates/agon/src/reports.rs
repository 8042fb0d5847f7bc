//! Checks, proofs, solutions and translations as JSON, for programs in other languages.
//!
//! The keys are those that the commands of the same names print with `--json`.

mod check;
mod why;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::explain::properties_json;
use agon_game::{Budget, Hidden, Notation, Shape};
use agon_gdl::read::{ReadOptions, read_with};
use agon_gdl::same_rules::same_rules;
use agon_gdl::syntax::{Rulesheet, Syntax};
use agon_search::solve::{HiddenGames, Method, Solution, SolveOptions, Unsolved, solve};
use agon_text::{Diagnostic, Severity, Source, render};
use agon_translate::formats::{asp, dot};
use agon_translate::{to_gdl, to_toss};
use serde_json::{Map, Value, json};

pub use check::{CheckPlays, check, check_watched, finding_json};
pub use why::why;

use crate::engine::{GamePosition, GameTask};
use crate::game::Game;
use crate::open::{self, Language, OpenOptions};
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
    let options = SolveOptions { bytes: megabytes.saturating_mul(1 << 20), hidden };
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

fn solution_json<P: Hidden>(start: &P, solution: &Solution<P::Move>) -> Value {
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
    let method = match solution.method {
        Method::BreadthFirst => "breadth-first search",
        Method::ProofNumbers => "proof-number search",
        Method::Retrograde => "all positions, from the end backwards",
    };
    json!({
        "solved": true, "values": values, "strategies": strategies, "line": line,
        "method": method, "can_repeat": solution.can_repeat,
        "nodes": solution.nodes, "seconds": solution.seconds,
    })
}

fn unsolved_json(shape: &Shape, unsolved: &Unsolved) -> Value {
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

/// The language or format of a translation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A structure rewriting game.
    Toss,
    /// GDL in prefix KIF.
    Gdl,
    /// GDL in infix syntax.
    Infix,
    /// A graph for Graphviz: of relations (GDL), of locations (structure rewriting).
    Dot,
    /// A logic program for answer set solvers.
    Asp,
}

impl Target {
    /// Returns the target of a name: `toss`, `gdl`, `kif`, `infix`, `dot` or `asp`.
    pub fn named(name: &str) -> Option<Target> {
        Some(match name {
            "toss" => Target::Toss,
            "gdl" | "kif" => Target::Gdl,
            "infix" => Target::Infix,
            "dot" => Target::Dot,
            "asp" => Target::Asp,
            _ => return None,
        })
    }
}

/// Translates rules to another language or format. `time` limits the search for an equivalent
/// structure rewriting game, `horizon` the number of steps of a logic program.
///
/// # Errors
/// [`ReportError`] if the rules have errors or the target cannot express them.
pub fn translate(
    source: &Arc<Source>,
    target: Target,
    time: Duration,
    horizon: usize,
) -> Result<String, ReportError> {
    let options = OpenOptions::default();
    match (open::language(source), target) {
        (Language::Gdl, Target::Toss) => {
            let game = open::open_gdl(Arc::clone(source), &options).map_err(|why| fail(&why))?;
            let deadline = Instant::now().checked_add(time);
            let options = to_toss::ToTossOptions { deadline, ..Default::default() };
            Ok(to_toss::to_toss(&game, &options).map_err(|why| fail(&why))?.text)
        }
        (Language::Gdl, Target::Gdl | Target::Infix | Target::Dot | Target::Asp) => {
            let game = open::open_gdl(Arc::clone(source), &options).map_err(|why| fail(&why))?;
            gdl_text(game.rules(), target, horizon)
        }
        (Language::Toss, Target::Toss) => {
            let game = open::open_toss(Arc::clone(source)).map_err(|why| fail(&why))?;
            Ok(agon_toss::print::print_sheet(game.arena().sheet()))
        }
        (Language::Toss, Target::Dot) => {
            let game = open::open_toss(Arc::clone(source)).map_err(|why| fail(&why))?;
            Ok(dot::arena(game.arena()))
        }
        (Language::Toss, Target::Gdl | Target::Infix | Target::Asp) => {
            let game = open::open_toss(Arc::clone(source)).map_err(|why| fail(&why))?;
            let translation = to_gdl::to_gdl(game.arena(), to_gdl::ToGdlLimits::default())
                .map_err(|why| match why.hint() {
                    Some(hint) => ReportError(format!("{why}; hint: {hint}")),
                    None => fail(&why),
                })?;
            if target == Target::Gdl {
                return Ok(translation.text);
            }
            let text = Arc::new(Source::new("translation", translation.text));
            let checked = agon_gdl::check::check(Arc::clone(&text));
            let errors: Vec<Diagnostic> = checked
                .findings
                .0
                .into_iter()
                .filter(|finding| finding.severity == Severity::Error)
                .collect();
            let rules = checked.rules.ok_or_else(|| ReportError(render(&errors, &text, false)))?;
            gdl_text(&rules, target, horizon)
        }
    }
}

fn gdl_text(
    rules: &agon_gdl::check::CheckedRules,
    target: Target,
    horizon: usize,
) -> Result<String, ReportError> {
    match target {
        Target::Gdl | Target::Toss => printed(rules.sheet(), Syntax::Kif),
        Target::Infix => printed(rules.sheet(), Syntax::Infix),
        Target::Dot => Ok(dot::dependencies(rules)),
        Target::Asp => asp::program(rules, horizon).map_err(|why| fail(&why)),
    }
}

/// Prints a rulesheet, and checks that the text has the same rules when it is read again.
fn printed(sheet: &Rulesheet, syntax: Syntax) -> Result<String, ReportError> {
    let text = agon_gdl::print::print_rulesheet(sheet, syntax);
    let again = Arc::new(Source::new("printed", text.as_str()));
    let options = ReadOptions { case: sheet.symbols.case(), syntax: Some(syntax) };
    let (again, _) = read_with(again, &options);
    if same_rules(sheet, &again) {
        Ok(text)
    } else {
        Err(fail(&"the printed rules differ from the original rules: this is a bug in agon"))
    }
}

#[cfg(test)]
mod tests;
