//! Address space for a tree that grows.
//!
//! A list that is full is copied to a larger place while all threads wait: some milliseconds where
//! there are a hundred thousand nodes. So as soon as a tree is more than small, its lists reserve
//! address space for the largest tree that is allowed. Pages cost nothing until they are written
//! to.

use agon_game::Position;

use super::Tree;

/// Trees with fewer nodes are small: copying their lists takes no time.
const FEW_NODES: usize = 1024;
/// Maximum number of bytes that are reserved for one list.
const MAX_BYTES: usize = 1 << 28;

impl<P: Position> Tree<P> {
    /// Reserves address space for a full tree, as soon as the tree is large enough to tell how much
    /// a node takes. To be called when a node was added.
    #[inline]
    pub(super) fn reserve_if_large(&mut self) {
        if !self.is_reserved && self.nodes.len() >= FEW_NODES {
            self.reserve();
        }
    }

    fn reserve(&mut self) {
        self.is_reserved = true;
        let growth = Growth { n_nodes: self.nodes.len(), max_nodes: self.max_nodes };
        self.nodes.reserve(&growth);
        self.payoffs.reserve(&growth);
        self.bounds.reserve(&growth);
        self.groups.reserve(&growth);
        self.arms.reserve(&growth);
        self.moves.reserve(&growth);
        self.joint_children.reserve(&growth);
        self.amaf.reserve(&growth);
        self.priors.reserve(&growth);
        self.implicit.reserve(&growth);
    }
}

/// How much larger a tree may get.
pub(crate) struct Growth {
    n_nodes: usize,
    max_nodes: usize,
}

impl Growth {
    /// Reserves space in a list for a full tree in which each node takes as much as now.
    pub(super) fn reserve<T>(&self, list: &mut Vec<T>) {
        let expected =
            (list.len() as f64 * self.max_nodes as f64 / self.n_nodes.max(1) as f64) as usize;
        // Nodes deep in the tree may have more moves than those that were added first.
        let wanted = expected.saturating_add(expected / 4).min(MAX_BYTES / size_of::<T>().max(1));
        // If there is no such space, the list is copied when it is full.
        let _ = list.try_reserve_exact(wanted.saturating_sub(list.len()));
    }
}
