//! The result of a search: the move, and what is needed to explain it.

use agon_game::{Role, Shape};

/// Maximum number of expected lines in a report, each for another move of the searching role.
pub(crate) const MAX_LINES: usize = 5;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<M> {
    /// The move to make.
    pub best: M,
    /// The searching role.
    pub us: Role,
    /// The moves of the searching role with their estimates, best first.
    pub candidates: Vec<Candidate<M>>,
    /// The expected payoff of the searching role.
    pub value: f64,
    /// Whether the value is proved to be the result of perfect play.
    pub is_proven: bool,
    /// The expected lines of play, the most likely one first. The others start with other moves
    /// of the searching role, as far as the search knows what would follow.
    pub lines: Vec<Line<M>>,
    /// Number of iterations.
    pub iterations: u64,
    /// Number of positions visited.
    pub nodes: u64,
    /// Number of random playouts.
    pub playouts: u64,
    /// The greatest depth that was reached.
    pub depth: u32,
    /// The duration in seconds, for rates and never for decisions.
    pub seconds: f64,
}

impl<M> Report<M> {
    /// Drops all claims of proof if the game has moves that are not listed, because the search has
    /// looked at a sample only ([`agon_game::Continuous`]).
    pub(crate) fn with_proofs_of(mut self, shape: &Shape) -> Report<M> {
        if shape.continuous {
            self.is_proven = false;
            self.candidates.iter_mut().for_each(|candidate| candidate.is_proven = false);
        }
        self
    }
}

/// A move of the searching role with its estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate<M> {
    /// The move.
    pub m: M,
    /// Number of visits.
    pub visits: u64,
    /// The expected payoff.
    pub value: f64,
    /// The probability of playing it, where mixed strategies are better. Otherwise 1 for the best
    /// move and 0 for the others.
    pub probability: f64,
    /// Whether the value is proved.
    pub is_proven: bool,
}

/// A line of play.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<M> {
    /// The joint moves, in order.
    pub joints: Vec<Vec<M>>,
    /// The payoff of the searching role at its end.
    pub value: f64,
}
