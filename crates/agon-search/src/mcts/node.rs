//! What is remembered of a position and of its moves.

use agon_game::Role;

/// The prior of a move that was not judged yet.
pub(super) const UNJUDGED: f32 = f32::NEG_INFINITY;
/// The prior of a move of which nothing can be said.
pub(super) const UNKNOWN: f32 = f32::NAN;

/// A position has no arms yet.
pub(super) const NO_ARMS: u32 = u32::MAX;
/// Nothing is proved of a position, or of any arm of it.
pub(super) const NO_BOUNDS: u32 = u32::MAX;

/// A position has no table of all moves as first.
pub(super) const NO_TABLE: u16 = u16::MAX;

/// A position in the tree. Dense: `0..tree.nodes.len()`, until nodes are recycled.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeId(pub(super) u32);

impl NodeId {
    pub(super) const NONE: NodeId = NodeId(u32::MAX);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Who chooses at a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nobody: play has ended, or its mover ends it with all that can be got.
    Ended,
    /// One role, nature perhaps; or none, and then the only move of some role stands for all.
    Alone(Role),
    /// Several; all joint moves are in a table.
    Joint,
    /// Several, and too many joint moves for a table.
    Sparse,
}

/// A position. One line of the processor's caches: waiting for memory is most of the way down.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Node {
    pub(super) key: u64,
    /// Playouts through it.
    pub(super) visits: u64,
    /// Playouts through it that are under way.
    pub(super) pending: u32,
    /// Its first arm, or [`NO_ARMS`]: most positions are never gone on from, so arms are made when one is.
    pub(super) first_arm: u32,
    pub(super) n_arms: u32,
    pub(super) first_group: u32,
    pub(super) n_groups: u16,
    /// Once proved: steps to the end, when the proof was found.
    pub(super) plies: u16,
    /// Where its moves begin: the only one of each role, or its first, then those of the arms.
    pub(super) first_move: u32,
    /// Its first entry among the joint moves; where one role moves alone, the first among the prospects of its arms, or
    /// [`NO_BOUNDS`].
    pub(super) first_joint: u32,
    /// At most [`MAX_JOINT`].
    pub(super) n_joint: u16,
    /// How many steps playouts from here took on the average; 0 if that is not known.
    pub(super) length: u16,
    /// The last descent, or round of them, that came through: to see when one runs in a circle.
    pub(super) stamp: u32,
    /// The table of all moves as first, or [`NO_TABLE`].
    pub(super) table: u16,
    /// Where its bounds begin, or [`NO_BOUNDS`]: of most positions nothing is ever proved.
    pub(super) first_bound: u32,
    pub(super) kind: Kind,
    pub(super) proof: Proof,
    /// Where a role moves alone: whether some arm may still be better than what is sure.
    pub(super) has_open: bool,
}

const _: () = assert!(size_of::<Node>() == 64);

/// How much is proved of what the players get at a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// Nothing.
    None,
    /// Something.
    Some,
    /// All.
    All,
}

/// What is proved of an arm, where a role moves alone.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Prospect {
    /// It may be better than what the role is sure of.
    Open,
    /// It is not better.
    Level,
    /// It is worse.
    Worse,
}

/// The moves of one role at a position.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) role: Role,
    /// Its first arm, counted from the first of the position.
    pub(super) first: u32,
    pub(super) n: u32,
    /// Where several choose: its first entry among the mixes. For nature: among the chances.
    pub(super) first_more: u32,
}

/// A move of a role at a position.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) visits: u32,
    pub(super) pending: u32,
    /// What the move pays its role. Where a role moves alone: what the child pays on the average, by whatever way it was reached.
    pub(super) mean: f32,
    /// The variance of that for payoffs from 0 to 1.
    pub(super) variance: f32,
    pub(super) prospect: Prospect,
    /// Where a role moves alone: the position has taken in that all is known of the child.
    pub(super) is_settled: bool,
}

impl Arm {
    pub(super) const UNTRIED: Arm = Arm {
        visits: 0,
        pending: 0,
        mean: 0.0,
        variance: 0.0,
        prospect: Prospect::Open,
        is_settled: false,
    };
}

/// What going down needs of an arm where a role moves alone: all of a position's lie side by side, and change only with the
/// arm that is chosen.
#[derive(Copy, Clone, Debug)]
pub(super) struct Score {
    /// What it pays, less what playouts under way count as lost. Infinite if it was never tried, minus infinite if it is not
    /// worth trying.
    pub(super) value: f32,
    /// One over the root of the number of playouts through it, those under way included; 0 if the value is not finite.
    pub(super) spread: f32,
    /// The arm's child, and where the arms of that one begin: both can be asked for at the same time, which halves the wait. Where several
    /// choose, an arm has no child of its own, and the second is the arm's variance.
    pub(super) child: NodeId,
    pub(super) child_arms: u32,
}

impl Score {
    pub(super) const UNTRIED: Score =
        Score { value: f32::INFINITY, spread: 0.0, child: NodeId::NONE, child_arms: 0 };

    /// Of an arm of a role that chooses together with others: the arm's variance.
    #[inline]
    pub(super) fn variance(&self) -> f32 {
        f32::from_bits(self.child_arms)
    }

    /// Notes the variance of such an arm.
    #[inline]
    pub(super) fn set_variance(&mut self, variance: f32) {
        self.child_arms = variance.to_bits();
    }
}

/// Regret matching at an arm.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Mix {
    pub(super) regret: f64,
    pub(super) strategy: f64,
}

/// A mean with its weight.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Average {
    pub(super) n: f32,
    pub(super) mean: f32,
}

impl Average {
    pub(super) fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.mean += (value as f32 - self.mean) / self.n;
    }
}

/// A child of a position with too many joint moves for a table.
#[derive(Copy, Clone, Debug)]
pub(super) struct SparseChild {
    pub(super) node: NodeId,
    pub(super) joint: u64,
    pub(super) child: NodeId,
}
