//! The move heuristic by regressed goals, as text and as JSON.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Role};
use agon_gdl::interpreter::Interpreter;
use serde_json::{Value, json};

use crate::regression::{
    ActionHeuristics, Aim, Evaluator, Extent, Logic, Network, Reader, formula_text, normalise,
};

/// Maximum number of parts of a formula that are shown.
const MAX_PARTS: usize = 80;

/// A legal move with the goals regressed through it.
struct RatedMove {
    role: String,
    text: String,
    /// The goal values, each with its formula.
    formulas: Vec<(i64, String)>,
    /// The value, from 0 for the worst to 1 for the best legal move of the role.
    value: f64,
}

/// Returns the legal moves of a position as JSON, each with the goals regressed through it. The
/// most promising moves come first.
pub fn action_heuristic_json(heuristics: &ActionHeuristics, position: &Interpreter) -> Value {
    let moves: Vec<Value> = rated_moves(heuristics, position)
        .into_iter()
        .map(|rated| {
            let formulas = rated.formulas.iter();
            let formulas: Vec<Value> =
                formulas.map(|(goal, text)| json!({"goal": goal, "formula": text})).collect();
            json!({
                "role": rated.role, "move": rated.text, "value": rated.value, "formulas": formulas,
            })
        })
        .collect();
    let Extent { aim, n_steps, max_level } = heuristics.extent;
    let aim = match aim {
        Aim::Reach => "reach",
        Aim::ReachAtEnd => "reach-at-end",
        Aim::AvoidWorst => "avoid-worst",
    };
    json!({
        "moves": moves, "operands": heuristics.formulas.size(),
        "aim": aim, "steps": n_steps, "cut_below_level": max_level,
    })
}

/// Describes the legal moves of a position, each with the conditions under which it reaches the
/// goals. At most `n_shown` moves are shown, the most promising first.
pub fn action_heuristic_text(
    heuristics: &ActionHeuristics,
    position: &Interpreter,
    n_shown: usize,
) -> Vec<String> {
    let all = rated_moves(heuristics, position);
    let state: BTreeSet<String> = position.state_text().into_iter().collect();
    let mut lines = Vec::new();
    if let Some(level) = heuristics.extent.max_level {
        lines.push(format!(
            "conditions nested more than {level} levels deep in the goals are too large; they \
             count as unknown"
        ));
    }
    if !all.is_empty() {
        lines.push("moves, rated from 0.00 for the worst to 1.00 for the best".to_owned());
    }
    for rated in all.iter().take(n_shown) {
        lines.push(format!("{:.2}  {} plays {}", rated.value, rated.role, rated.text));
        for (goal, formula) in &rated.formulas {
            let effect = Effect::new(heuristics.extent, *goal);
            let described = effect.lines(formula, &state, n_shown);
            lines.extend(described.into_iter().map(|line| format!("        {line}")));
        }
    }
    if all.len() > n_shown {
        lines.push(format!("… and {} more moves", all.len() - n_shown));
    }
    lines
}

/// The effect of a move, as a verb phrase.
struct Effect {
    /// The effect if the condition of the move holds.
    positive: String,
    /// The effect if the condition of the move does not hold.
    negative: String,
}

impl Effect {
    fn new(extent: Extent, goal: i64) -> Effect {
        let [positive, negative] = match (extent.aim, extent.n_steps) {
            (Aim::Reach, 1) => [
                format!("reaches the condition of goal {goal}"),
                format!("does not reach the condition of goal {goal}"),
            ],
            (Aim::Reach, _) => [
                format!("reaches the condition of goal {goal} in two steps"),
                format!("does not reach the condition of goal {goal} in two steps"),
            ],
            (Aim::ReachAtEnd, _) => [
                format!("ends the game with goal {goal}"),
                format!("does not end the game with goal {goal}"),
            ],
            (Aim::AvoidWorst, _) => [
                format!("does not end the game with goal {goal}"),
                format!("ends the game with goal {goal}"),
            ],
        };
        Effect { positive, negative }
    }

    /// Describes the effect under a condition. Of many alternatives at most `n_shown` are listed,
    /// those with the fewest missing literals first. `state` holds the texts of the true fluents.
    fn lines(&self, condition: &str, state: &BTreeSet<String>, n_shown: usize) -> Vec<String> {
        let Effect { positive, negative } = self;
        if let Some(alternatives) = operands(condition, "or") {
            let mut alternatives: Vec<Conjunction<'_>> =
                alternatives.into_iter().map(|text| Conjunction::new(text, state)).collect();
            alternatives.sort_by_key(|alternative| alternative.missing.len());
            let mut lines = vec![format!("{positive} if at least one of these holds now:")];
            lines.extend(alternatives.iter().take(n_shown).map(|all| format!("  {all}")));
            if alternatives.len() > n_shown {
                lines.push(format!("  … and {} more", alternatives.len() - n_shown));
            }
            return lines;
        }
        vec![match condition {
            "true" => positive.clone(),
            "false" => negative.clone(),
            "unknown" => format!("unknown whether it {positive}"),
            _ => format!("{positive} if this holds now: {}", Conjunction::new(condition, state)),
        }]
    }
}

/// A conjunction of literals, and those that do not hold in a state.
struct Conjunction<'t> {
    literals: Vec<Literal<'t>>,
    missing: Vec<Literal<'t>>,
}

/// A fluent or its negation. A part that is neither counts as a fluent that does not hold.
#[derive(Copy, Clone)]
enum Literal<'t> {
    Fluent(&'t str),
    Negated(&'t str),
}

impl<'t> Conjunction<'t> {
    fn new(text: &'t str, state: &BTreeSet<String>) -> Conjunction<'t> {
        let parts = operands(text, "and").unwrap_or_else(|| vec![text]);
        let literal = |text| match operands(text, "not").as_deref() {
            Some(&[fluent]) => Literal::Negated(fluent),
            _ => Literal::Fluent(text),
        };
        let literals: Vec<Literal<'t>> = parts.into_iter().map(literal).collect();
        let holds = |literal: &Literal<'t>| match *literal {
            Literal::Fluent(fluent) => state.contains(fluent),
            Literal::Negated(fluent) => !state.contains(fluent),
        };
        let missing = literals.iter().copied().filter(|literal| !holds(literal)).collect();
        Conjunction { literals, missing }
    }
}

impl fmt::Display for Conjunction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |literals: &[Literal<'_>], separator: &str| {
            literals.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
        };
        let all = joined(&self.literals, " and ");
        match self.missing.as_slice() {
            [] => write!(f, "{all}   [holds]"),
            missing => write!(f, "{all}   [missing: {}]", joined(missing, ", ")),
        }
    }
}

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Fluent(fluent) => f.write_str(fluent),
            Literal::Negated(fluent) => write!(f, "not {fluent}"),
        }
    }
}

/// Splits a formula `(connective a b …)` into its operands. `None` if it has another connective.
fn operands<'t>(text: &'t str, connective: &str) -> Option<Vec<&'t str>> {
    let inside =
        text.strip_prefix('(')?.strip_prefix(connective)?.strip_prefix(' ')?.strip_suffix(')')?;
    let mut depth = 0_usize;
    let is_separator = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ' ' && depth == 0
    };
    Some(inside.split(is_separator).collect())
}

/// Returns the legal moves of all roles with a choice, those of each role in descending order of
/// value.
fn rated_moves(heuristics: &ActionHeuristics, position: &Interpreter) -> Vec<RatedMove> {
    let reader = Reader::new(position, heuristics);
    let mut evaluator = Evaluator::new(Arc::new(Network::new(heuristics, Logic::PRODUCT)));
    let mut state = Vec::new();
    reader.state(position, &mut state);
    evaluator.go_to(&state);
    let mut all = Vec::new();
    let choosers: Vec<Role> = position.choosers().collect();
    for role in choosers {
        let own = &heuristics.roles[role.index()];
        let mut of_role = Vec::new();
        for m in position.legal_moves(role) {
            let Some(place) = reader.move_idx(position, role, m) else { continue };
            let Some(regressed) = own.regressed.get(place).and_then(Option::as_ref) else {
                continue;
            };
            let formulas = own.goals.iter().zip(regressed).map(|(&goal, &formula)| {
                (goal, formula_text(&heuristics.formulas, formula, &heuristics.fluents, MAX_PARTS))
            });
            of_role.push(RatedMove {
                role: own.name.clone(),
                text: position.move_text(m),
                formulas: formulas.collect(),
                value: evaluator.value(role, place).unwrap_or(0.0),
            });
        }
        let mut values: Vec<f64> = of_role.iter().map(|rated| rated.value).collect();
        normalise(&mut values);
        of_role.iter_mut().zip(values).for_each(|(rated, value)| rated.value = value);
        of_role.sort_by(|a, b| b.value.total_cmp(&a.value));
        all.extend(of_role);
    }
    all
}
