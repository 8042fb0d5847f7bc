//! Action heuristics: values of moves from knowledge about the game, before the moves are tried.

use agon_game::{Position, Role};

/// Rates the moves of a role in a position (Trutman 2015).
pub trait ActionHeuristic<P: Position>: Send {
    /// Fills in a value for each of the moves, from 0 for the least promising to 1 for the most
    /// promising. Returns false if the heuristic cannot rate them; the values are then ignored.
    fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool;

    /// Rates all legal moves of a role in several positions: those with the numbers `which`, in
    /// this order. Some heuristics do that much faster than one position at a time.
    fn values_of_many(
        &mut self,
        positions: &[P],
        which: &[usize],
        role: Role,
        rated: &mut ActionValues,
    ) {
        rated.clear();
        let mut values = Vec::new();
        for &at in which {
            let position = &positions[at];
            let is_rated = self.values(position, role, position.legal_moves(role), &mut values);
            rated.push(|all| {
                all.extend_from_slice(&values);
                is_rated
            });
        }
    }

    /// Rates moves like [`values`](Self::values), for the choice of a move in a playout. A heuristic
    /// may use another method there than in the tree.
    fn playout_values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        self.values(position, role, moves, values)
    }

    /// Rates moves like [`values_of_many`](Self::values_of_many), for playouts.
    fn playout_values_of_many(
        &mut self,
        positions: &[P],
        which: &[usize],
        role: Role,
        rated: &mut ActionValues,
    ) {
        self.values_of_many(positions, which, role, rated);
    }

    /// Returns how many positions [`values_of_many`](Self::values_of_many) rates for little more
    /// than the cost of one. It is best to ask about a multiple of that number.
    fn batch_size(&self) -> usize {
        1
    }

    /// Tells the heuristic that the match has reached this position and will not go back. What can
    /// no longer change need not be computed again.
    fn commit(&mut self, position: &P) {
        let _ = position;
    }

    /// Returns the value of the position itself to a role, in payoffs, if the heuristic has one:
    /// for [`HeuristicUse::implicit`].
    fn worth(&mut self, position: &P, role: Role) -> Option<f64> {
        let _ = (position, role);
        None
    }

    /// Returns a copy for another thread.
    fn fork(&self) -> Box<dyn ActionHeuristic<P>>;
}

/// The values of the moves of several positions, one position after the other.
#[derive(Clone, Debug, Default)]
pub struct ActionValues {
    values: Vec<f64>,
    /// By position: where its values end.
    ends: Vec<usize>,
}

impl ActionValues {
    /// Removes all positions and keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.ends.clear();
    }

    /// Adds a position. `rate` adds a value for each of its moves, and returns whether the values
    /// mean anything.
    pub fn push(&mut self, rate: impl FnOnce(&mut Vec<f64>) -> bool) {
        let start = self.values.len();
        if !rate(&mut self.values) {
            self.values.truncate(start);
        }
        self.ends.push(self.values.len());
    }

    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the values of the moves of position `at`; none if they could not be rated.
    pub fn of(&self, at: usize) -> &[f64] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[at]]
    }
}

/// How a search uses an [`ActionHeuristic`], if it has one.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct HeuristicUse {
    /// Whether moves in playouts are drawn by it. Default: no. Such playouts are not made in bulk.
    pub playout: bool,
    /// The number of playouts in lockstep where the heuristic draws their moves, so that it is
    /// asked about many positions at once. That number of leaves is gathered, under virtual loss,
    /// each for one playout. Default: 32. With 1, with AMAF, and with playouts that learn from each
    /// other, playouts are made one by one.
    pub abreast: u32,
    /// Whether its values are mixed with the means of moves in the tree. Default: no.
    pub tree: bool,
    /// In playouts, moves are drawn with probability proportional to exp(value / temperature).
    /// Default: 1, as in Trutman 2015.
    pub temperature: f64,
    /// The value of the most promising move, in percent of the payoff range; the least promising
    /// move has 0. Default: 50 (Trutman 2015, table 3.1).
    pub scale: f64,
    /// In the tree the weight of the heuristic is sqrt(k / (3 N + k)), where k is the square root
    /// of the number of playouts for the last move, divided by this. Default: 20 (Trutman 2015,
    /// section 3.4).
    pub divisor: f64,
    /// The weight of implicit minimax backups (Lanctot, Winands, Pepels and Sturtevant 2014): new
    /// positions are rated, these values are backed up by minimax beside the means of playouts, and
    /// are mixed with the means of moves in the tree. Default: 0, not used. The paper uses 0.4 for
    /// breakthrough. Such playouts are made one by one.
    pub implicit: f64,
}

impl HeuristicUse {
    /// No use of a heuristic.
    pub const OFF: HeuristicUse = HeuristicUse {
        playout: false,
        abreast: 32,
        tree: false,
        temperature: 1.0,
        scale: 50.0,
        divisor: 20.0,
        implicit: 0.0,
    };
}

/// The equivalence parameter k before the first move: that of 10 000 playouts.
pub(super) const FIRST_K: f64 = 5.0;

/// Adds the value of a position to each role; the middle of the payoff range where the heuristic
/// has none.
pub(super) fn push_worths<P: Position>(
    heuristic: &mut dyn ActionHeuristic<P>,
    position: &P,
    worths: &mut Vec<f64>,
) {
    let payoffs = &position.shape().payoffs;
    let middle = (payoffs.start() + payoffs.end()) / 2.0;
    for role in position.shape().roles() {
        let worth = heuristic.worth(position, role).unwrap_or(middle);
        worths.push(worth.clamp(*payoffs.start(), *payoffs.end()));
    }
}
