//! Memory for a tree that grows.
//!
//! A list that is full is moved to a larger place, for which all threads wait: some milliseconds where there are a hundred thousand positions.
//! So as soon as a tree is more than small, its lists get addresses for all that it may ever hold. They cost nothing until they are written to.

use agon_game::Position;

use super::tree::Tree;

/// A tree with so many positions is small: moving it takes no time.
const FEW_NODES: usize = 1024;
/// No list gets addresses for more bytes than these beforehand.
const MOST_BYTES: usize = 1 << 28;

impl<P: Position> Tree<P> {
    /// To be called when a position has come in: makes room for all others as soon as it is known how much each takes.
    #[inline]
    pub(super) fn see_to_room(&mut self) {
        if !self.has_room && self.nodes.len() >= FEW_NODES {
            self.make_room();
        }
    }

    /// Makes room for a full tree that takes as much for each position as this one.
    pub(super) fn make_room(&mut self) {
        self.has_room = true;
        let scale = Scale { n_nodes: self.nodes.len(), max_nodes: self.max_nodes };
        scale.make_room(&mut self.nodes);
        scale.make_room(&mut self.states);
        scale.make_room(&mut self.sums);
        scale.make_room(&mut self.squares);
        scale.make_room(&mut self.bounds);
        scale.make_room(&mut self.groups);
        scale.make_room(&mut self.arms);
        scale.make_room(&mut self.scores);
        scale.make_room(&mut self.arm_bounds);
        scale.make_room(&mut self.chances);
        scale.make_room(&mut self.moves);
        scale.make_room(&mut self.joints);
        scale.make_room(&mut self.mixes);
        scale.make_room(&mut self.numbers);
        scale.make_room(&mut self.amaf);
        scale.make_room(&mut self.priors);
        scale.make_room(&mut self.implicit);
    }
}

/// How much larger a tree may get.
struct Scale {
    n_nodes: usize,
    max_nodes: usize,
}

impl Scale {
    fn make_room<T>(&self, list: &mut Vec<T>) {
        let expected =
            (list.len() as f64 * self.max_nodes as f64 / self.n_nodes.max(1) as f64) as usize;
        // What lies deep in the tree has fewer moves or more than what was seen first.
        let roomy = expected.saturating_add(expected / 4).min(MOST_BYTES / size_of::<T>().max(1));
        // Where there are no such addresses the list is moved when it is full.
        let _ = list.try_reserve_exact(roomy.saturating_sub(list.len()));
    }
}
