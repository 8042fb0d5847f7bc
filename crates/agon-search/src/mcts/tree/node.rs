//! Nodes: the positions of the tree.

use std::ops::Range;

use agon_game::Role;

/// Value of [`Node::first_arm`] while a node has no arms.
pub(crate) const NO_ARMS: u32 = u32::MAX;
/// Value of [`Node::first_bound`] and [`Node::first_joint`] while nothing is proved.
pub(crate) const NO_BOUNDS: u32 = u32::MAX;
/// Value of [`Node::amaf_table`] while a node has no table.
pub(crate) const NO_TABLE: u16 = u16::MAX;

/// A position in the tree. Dense: `0..tree.nodes.len()`. Recycling renumbers the nodes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    pub(crate) const NONE: NodeId = NodeId(u32::MAX);

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which roles choose at a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// None: the game is over, or the role to move can end it at once with the greatest payoff.
    Terminal,
    /// One role, possibly nature. If no role has a choice, the only move of one role stands for the
    /// joint move.
    Alone(Role),
    /// Several roles. The children are in a table over all joint moves.
    Joint,
    /// Several roles, with too many joint moves for a table.
    Sparse,
}

/// How much is proved of the payoffs at a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// No bound is tighter than the payoff range.
    None,
    /// Some bound is tighter than the payoff range.
    Partial,
    /// The payoffs of all players are known.
    Complete,
}

/// A position. Exactly one cache line: most of the time of a descent is spent waiting for memory.
///
/// The fields that begin with `first_` say where the entries of this node begin in a part of the
/// tree; each is maintained by that part.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Node {
    /// The hash of the position and of the moves in it.
    pub(crate) key: u64,
    /// The number of playouts through this node.
    pub(crate) visits: u64,
    /// The number of playouts in flight through this node.
    pub(crate) pending: u32,
    /// The first arm, or [`NO_ARMS`]. Most nodes are leaves for ever, so arms are made when the
    /// first descent goes on from a node.
    pub(crate) first_arm: u32,
    pub(crate) n_arms: u32,
    pub(crate) first_group: u32,
    pub(crate) n_groups: u16,
    /// Once the node is solved: the number of steps to the end of the game, as far as it was known
    /// when the proof was found.
    pub(crate) plies: u16,
    /// The first entry in the list of moves: for each role its only move, or its first one, then
    /// the moves of the arms.
    pub(crate) first_move: u32,
    /// Where several roles choose, the first entry in the table of joint moves. Where one role
    /// chooses, the first entry among the bounds of arms, or [`NO_BOUNDS`].
    pub(crate) first_joint: u32,
    /// The number of joint moves in the table, at most [`MAX_JOINT`](super::MAX_JOINT).
    pub(crate) n_joint: u16,
    /// The mean number of steps of the last playouts from here; 0 if that is not known.
    pub(crate) playout_length: u16,
    /// The last pass (descent, or batch of descents) that came through: to detect cycles.
    pub(crate) stamp: u32,
    /// The number of the AMAF table, or [`NO_TABLE`].
    pub(crate) amaf_table: u16,
    /// The first entry among the bounds, or [`NO_BOUNDS`]: of most nodes nothing is ever proved.
    pub(crate) first_bound: u32,
    pub(crate) kind: NodeKind,
    pub(crate) proof: Proof,
    /// Where one role chooses: whether some arm may still be better than the proved lower bound.
    pub(crate) has_open_arm: bool,
}

const _: () = assert!(size_of::<Node>() == 64);

impl Node {
    #[inline]
    pub(crate) fn has_arms(&self) -> bool {
        self.first_arm != NO_ARMS
    }

    /// Returns the numbers of the arms, which must exist.
    #[inline]
    pub(crate) fn arms(&self) -> Range<usize> {
        debug_assert!(self.has_arms(), "arms are made before they are used");
        self.first_arm as usize..self.first_arm as usize + self.n_arms as usize
    }

    /// Returns the numbers of the groups.
    #[inline]
    pub(crate) fn groups(&self) -> Range<usize> {
        self.first_group as usize..self.first_group as usize + self.n_groups as usize
    }

    /// Returns the entries in the table of joint moves.
    #[inline]
    pub(crate) fn joints(&self) -> Range<usize> {
        self.first_joint as usize..self.first_joint as usize + self.n_joint as usize
    }

    /// Returns the number of playouts through this node, with those in flight.
    #[inline]
    pub(crate) fn visits_and_pending(&self) -> u64 {
        self.visits + u64::from(self.pending)
    }

    /// Returns the number of the arm from which the search for a best arm starts. It differs from
    /// node to node, so that untried moves are tried in different orders.
    #[inline]
    pub(crate) fn first_arm_in_order(&self) -> usize {
        (((self.key >> 32) * u64::from(self.n_arms)) >> 32) as usize
    }
}
