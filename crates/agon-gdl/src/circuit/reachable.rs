//! The terms of states and moves, found without a circuit.

use agon_datalog::{
    GroundLimits, MaterialiseLimits, Refusal, SplitLimits, TermId, demand, ground, materialise,
    merge, split,
};

use crate::interpreter::Game;
use crate::interpreter::compile::compile;
use crate::rules::{Condition, Rule};
use crate::symbols::keyword;

/// A superset of the terms that occur in play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reachable {
    /// State terms, in the order of their texts.
    pub base: Vec<TermId>,
    /// The moves of each role, in the order of their texts.
    pub moves: Vec<Vec<TermId>>,
}

impl Game {
    /// Finds the terms that states and moves can have if every negated condition on a relation that
    /// changes counts as true.
    ///
    /// [`Game::ground`] makes the same assumption, but it also grounds the negated conditions, ends
    /// and goals, because it builds gates for them. So this function also succeeds for games that
    /// are too large for a circuit: where a move is legal unless it leaves the king in check, check
    /// is not evaluated.
    ///
    /// # Errors
    /// If it exceeds the limits.
    pub fn reachable(&self, limits: &GroundLimits) -> Result<Reachable, Refusal> {
        let is_static = self.is_static();
        let is_kept = |condition: &&Condition| match condition {
            Condition::Fails(atom) => is_static
                .get(&(atom.relation, atom.arguments.len()))
                .is_some_and(|is_static| *is_static),
            Condition::Holds(_) | Condition::Differ(..) => true,
        };
        let relaxed: Vec<Rule> = self
            .rules()
            .rules()
            .iter()
            .map(|rule| Rule {
                body: rule.body.iter().filter(is_kept).cloned().collect(),
                ..rule.clone()
            })
            .collect();
        let mut compiled = compile(&relaxed);
        let (state, moves) =
            (compiled.predicate(keyword::TRUE, 1), compiled.predicate(keyword::DOES, 2));
        let (init, next) =
            (compiled.predicate(keyword::INIT, 1), compiled.predicate(keyword::NEXT, 1));
        let legal = compiled.predicate(keyword::LEGAL, 2);
        let roots = [legal, next, init];
        let feeds = [(init, state), (next, state), (legal, moves)];
        let mut program = compiled.program;
        merge(&mut program);
        let materialise_limits = MaterialiseLimits {
            deadline: limits.deadline,
            stop: limits.stop.clone(),
            ..MaterialiseLimits::default()
        };
        let split_limits = SplitLimits {
            deadline: limits.deadline,
            stop: limits.stop.clone(),
            ..SplitLimits::default()
        };
        materialise(&mut program, &self.bank, &roots, &materialise_limits);
        demand(&mut program, &self.bank, &roots);
        split(&mut program, &split_limits);
        materialise(&mut program, &self.bank, &roots, &materialise_limits);
        let program = ground(program, &self.bank, &feeds, &roots, limits)?;
        let by_text = |mut terms: Vec<TermId>| {
            terms.sort_unstable_by(|&a, &b| self.bank.compare(a, b, &self.rank));
            terms.dedup();
            terms
        };
        let of_role = |role: &TermId| {
            let own = program.atoms_of(moves).filter(|(_, row)| row[0] == *role);
            by_text(own.map(|(_, row)| row[1]).collect())
        };
        Ok(Reachable {
            base: by_text(program.atoms_of(state).map(|(_, row)| row[0]).collect()),
            moves: self.roles.iter().map(of_role).collect(),
        })
    }
}
