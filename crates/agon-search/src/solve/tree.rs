//! Two players that take turns: the bounds that Monte Carlo tree search proves.
//!
//! Playouts lead this search to the moves that matter, where the numbers of moves, which guide
//! proof-number search, say little. So it proves some games with far fewer positions.

use agon_game::{Position, Role};

use super::{Method, Solution, UnsolvedReason};
use crate::choices::Choices;
use crate::{Budget, Line, Mcts, MctsOptions, Meter, Search as _};

/// A tree search for proofs. It keeps its tree.
pub(super) struct TreeProver<P: Position> {
    search: Mcts<P>,
}

/// Approximate number of bytes of a node with its share of all lists.
const NODE_BYTES: usize = 400;
/// Maximum length of a line, in case that positions repeat.
const MAX_LINE: usize = 2000;

impl<P: Position> TreeProver<P> {
    pub(super) fn new(max_bytes: usize) -> TreeProver<P> {
        let options = MctsOptions { max_nodes: max_bytes / NODE_BYTES, ..MctsOptions::default() };
        TreeProver { search: Mcts::new(options, 0) }
    }

    /// Returns whether this search suits a game: the strategies that it finds are pure, and without
    /// an engine for many games at once it is slow.
    pub(super) fn suits(start: &P) -> bool {
        start.shape().nature.is_none()
            && !start.is_terminal()
            && start.choosers().count() <= 1
            && start.batch(0).is_some()
    }

    /// Grows the tree until the payoffs of both players are proved or the budget is used up.
    pub(super) fn solve(
        &mut self,
        start: &P,
        [first, second]: [Role; 2],
        budget: &Budget,
        meter: &mut Meter<'_>,
    ) -> Result<Solution<P::Move>, UnsolvedReason> {
        let shape = start.shape();
        let mut position = start.clone();
        let mut values = vec![0.0; shape.role_names.len()];
        for player in [first, second] {
            let report = self.search.think(&mut position, player, budget);
            meter.n_nodes += report.nodes;
            if !report.is_proven {
                return Err(UnsolvedReason::Budget);
            }
            values[player.index()] = report.value;
        }
        let line = self.line(start, first, &values, budget, meter);
        let Some(joint) = line.joints.first().filter(|_| !start.is_terminal()) else {
            return Err(UnsolvedReason::Budget);
        };
        let strategies = shape
            .roles()
            .map(|role| {
                let chosen = &joint[role.index()];
                let moves = start.legal_moves(role).iter();
                moves.map(|m| (m.clone(), if m == chosen { 1.0 } else { 0.0 })).collect()
            })
            .collect();
        Ok(Solution {
            values,
            line,
            strategies,
            method: Method::TreeSearch,
            can_repeat: false,
            nodes: meter.n_nodes,
            seconds: meter.seconds(),
        })
    }

    /// Returns a line on which every player keeps its payoff. The line stops early if the budget
    /// does not suffice to prove its later positions again.
    fn line(
        &mut self,
        start: &P,
        first: Role,
        values: &[f64],
        budget: &Budget,
        meter: &mut Meter<'_>,
    ) -> Line<P::Move> {
        let mut position = start.clone();
        let mut joints = Vec::new();
        while !position.is_terminal() && joints.len() < MAX_LINE {
            let mut choosers = position.choosers();
            let (player, other) = (choosers.next().unwrap_or(first), choosers.next());
            drop(choosers);
            if other.is_some() {
                break;
            }
            let report = self.search.think(&mut position, player, budget);
            meter.n_nodes += report.nodes;
            if !report.is_proven || report.value != values[player.index()] {
                break;
            }
            let mut joint = Choices::at(&position).first_joint();
            joint[player.index()] = report.best;
            position.advance(&joint);
            joints.push(joint);
        }
        Line { joints, value: values[first.index()] }
    }
}
