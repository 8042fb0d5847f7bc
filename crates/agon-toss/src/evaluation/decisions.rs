//! Evaluation games that only decide: conditions on the move, and a lottery for each.
//!
//! The evaluation games that are learnt have this form. They can be evaluated without playing them.

use agon_structures::formula::{Formula, Term};
use agon_structures::rational::Rational;

use super::EvaluationGames;
use crate::arena::{ArenaLocation, ArenaRule, CheckedArena, Effect, LocationId};
use crate::interpreter::Interpreter;
use crate::syntax::Multiplicity;

/// An evaluation game in which a player has trivial moves with conditions, each of which leads to
/// an outcome by chance. If several conditions hold, one of them is drawn uniformly.
#[derive(Clone, Debug, PartialEq)]
pub struct Decisions {
    /// The location of the evaluated game, or `None` for all that have no evaluation game of their
    /// own.
    pub location: Option<LocationId>,
    /// The conditions, with what follows.
    pub branches: Vec<Branch>,
    /// The payoffs if no condition holds, by player, without nature.
    pub otherwise: Vec<f64>,
}

/// A condition on a move, and a lottery over payoffs.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The condition, a formula without free variables over the relations after the move and, with
    /// names that end in `_old`, before it.
    pub condition: Formula,
    /// The payoffs by player, without nature, and their probabilities, which add up to 1.
    pub outcomes: Vec<(Vec<f64>, f64)>,
}

impl EvaluationGames {
    /// Returns all evaluation games as decisions, or `None` if one of them is more than that.
    pub fn decisions(&self) -> Option<Vec<Decisions>> {
        let by_location = self.by_location.iter().map(|(location, start)| (Some(*location), start));
        let everywhere = self.everywhere.iter().map(|start| (None, start));
        by_location.chain(everywhere).map(|(location, start)| decisions(location, start)).collect()
    }
}

fn decisions(location: Option<LocationId>, start: &Interpreter) -> Option<Decisions> {
    let arena = start.game().arena();
    if arena.is_continuous() {
        return None;
    }
    let first = arena.location(arena.start_location());
    if first.is_concurrent() || !first.joint.is_empty() || !first.draws.is_empty() {
        return None;
    }
    let mut branches = Vec::new();
    for edge in first.edges.iter().flatten() {
        let rule = arena.rule(edge.rule);
        let is_plain = edge.multiplicity == Multiplicity::One && edge.weight.is_none();
        if !is_plain || !is_test(rule) {
            return None;
        }
        let mut outcomes = Vec::new();
        for &(to, probability) in &edge.outcomes {
            let to = arena.location(to);
            let is_end = to.edges.iter().all(Vec::is_empty);
            outcomes.push((constant_payoffs(arena, to).filter(|_| is_end)?, probability.to_f64()));
        }
        branches.push(Branch { condition: rule.condition.clone(), outcomes });
    }
    Some(Decisions { location, branches, otherwise: constant_payoffs(arena, first)? })
}

/// Returns whether a rule has a condition and changes nothing.
fn is_test(rule: &ArenaRule) -> bool {
    let changes_nothing = match &rule.effect {
        Effect::Tuples { delete, add } => delete.is_empty() && add.is_empty(),
        Effect::Rewrite(_) => false,
    };
    changes_nothing
        && rule.elements.is_empty()
        && rule.post.is_none()
        && rule.invariant.is_none()
        && rule.updates.is_empty()
        && rule.history.is_empty()
}

/// Returns the payoffs of the players at a location, if they are numbers.
fn constant_payoffs(arena: &CheckedArena, location: &ArenaLocation) -> Option<Vec<f64>> {
    let players = location.payoffs.iter().enumerate();
    let players = players.filter(|(player, _)| Some(*player) != arena.nature());
    let number = |term: &Term| match term {
        Term::Number(number) => Some(Rational::to_f64(*number)),
        _ => None,
    };
    players.map(|(_, term)| number(term)).collect()
}
