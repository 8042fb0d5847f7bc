//! Moves judged before they are tried: by something that knows the game better than chance does.

use agon_game::{Position, Role};

/// Says how promising the moves of a role are where a position stands (003).
pub trait ActionHeuristic<P: Position>: Send {
    /// Fills in a value for each of the moves, from 0 for the least promising to 1 for the most. Whether there is anything to
    /// say: if not, the values mean nothing.
    fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool;

    /// The same for several positions at once, for some that may be much cheaper: those of these numbers, in this order, and all legal
    /// moves of the role there.
    fn values_of_many(
        &mut self,
        positions: &[P],
        which: &[usize],
        role: Role,
        said: &mut Judgements,
    ) {
        said.clear();
        let mut values = Vec::new();
        for &at in which {
            let position = &positions[at];
            let knows = self.values(position, role, position.legal_moves(role), &mut values);
            said.push(|all| {
                all.extend_from_slice(&values);
                knows
            });
        }
    }

    /// How many positions it judges at once for little more than one of them takes: best is to ask about so many, or some times so many.
    fn abreast(&self) -> usize {
        1
    }

    /// Play has come to where this position stands and will not go back: what can no longer change need not be worked out
    /// again.
    fn settle(&mut self, position: &P) {
        let _ = position;
    }

    /// What the position itself is worth to a role, in payoffs, if that can be said: for [`HeuristicUse::implicit`].
    fn worth(&mut self, position: &P, role: Role) -> Option<f64> {
        let _ = (position, role);
        None
    }

    /// Another one like it, for another thread.
    fn fork(&self) -> Box<dyn ActionHeuristic<P>>;
}

/// What was said of the moves of several positions, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Judgements {
    values: Vec<f64>,
    /// By position: where its values end.
    ends: Vec<usize>,
}

impl Judgements {
    /// Forgets everything, but not the memory it took.
    pub fn clear(&mut self) {
        self.values.clear();
        self.ends.clear();
    }

    /// Takes down what is said of the next position: `say` adds a value for each of its moves, and tells whether they mean anything.
    pub fn push(&mut self, say: impl FnOnce(&mut Vec<f64>) -> bool) {
        let start = self.values.len();
        if !say(&mut self.values) {
            self.values.truncate(start);
        }
        self.ends.push(self.values.len());
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What was said of the position that was taken down at this place; nothing, if there was nothing to say.
    pub fn of(&self, at: usize) -> &[f64] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[at]]
    }
}

/// How a search uses an [`ActionHeuristic`], if it has one.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct HeuristicUse {
    /// Whether moves in playouts are drawn by it. Default: no. Needs playouts whose moves are known.
    pub playout: bool,
    /// How many playouts go on side by side where it draws their moves, so that it is asked about many positions at once: as many leaves
    /// are gathered, under virtual loss, each for one playout. Default: 32. With 1, with all moves as first and with playouts that learn from one
    /// another they are made one by one.
    pub abreast: u32,
    /// Whether it is mixed with what moves in the tree were found to pay. Default: no.
    pub tree: bool,
    /// In playouts, moves are drawn in proportion to exp(value / temperature). Default: 1, as in 003.
    pub temperature: f64,
    /// What the most promising move counts, of a hundred; the least promising counts 0. Default: 50 (003, table 3.1).
    pub scale: f64,
    /// In the tree its weight is sqrt(k / (3 N + k)), where k is the root of the playouts made for the last move over this.
    /// Default: 20 (003, 3.4).
    pub divisor: f64,
    /// Implicit minimax backups (Lanctot, Winands, Pepels and Sturtevant 2014): positions are judged when they are new, these judgements are
    /// backed up by minimax beside the means of playouts, and count so much of what a move is worth in the tree. Default: 0, not
    /// used; 0.4 there for breakthrough. Needs playouts one by one.
    pub implicit: f64,
}

impl HeuristicUse {
    /// Not used.
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

/// What k is before there was a last move: that of 10000 playouts.
pub(super) const FIRST_K: f64 = 5.0;

/// A heuristic as a worker asks it.
pub(super) struct Judge<P: Position> {
    heuristic: Box<dyn ActionHeuristic<P>>,
}

impl<P: Position> Judge<P> {
    pub(super) fn new(heuristic: Box<dyn ActionHeuristic<P>>) -> Judge<P> {
        Judge { heuristic }
    }

    pub(super) fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        self.heuristic.values(position, role, moves, values)
    }

    pub(super) fn values_of_many(
        &mut self,
        positions: &[P],
        which: &[usize],
        role: Role,
        said: &mut Judgements,
    ) {
        self.heuristic.values_of_many(positions, which, role, said);
        debug_assert_eq!(said.len(), which.len(), "each position is judged");
    }

    pub(super) fn abreast(&self) -> usize {
        self.heuristic.abreast()
    }

    /// What a position is worth to each role, the middle of the payoffs where nothing is said; added to the list.
    pub(super) fn push_worths(&mut self, position: &P, worths: &mut Vec<f64>) {
        let payoffs = &position.shape().payoffs;
        let middle = (payoffs.start() + payoffs.end()) / 2.0;
        for role in position.shape().roles() {
            let worth = self.heuristic.worth(position, role).unwrap_or(middle);
            worths.push(worth.clamp(*payoffs.start(), *payoffs.end()));
        }
    }

    pub(super) fn settle(&mut self, position: &P) {
        self.heuristic.settle(position);
    }

    pub(super) fn fork(&self) -> Judge<P> {
        Judge::new(self.heuristic.fork())
    }
}
