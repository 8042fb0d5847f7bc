//! Arms: the moves of the roles that choose at a node, with their statistics.

use std::ops::{Index, Range};

use super::super::node::{Node, NodeId};
use super::super::recycle::Packing;
use super::super::reserve::Growth;

/// The proof status of an arm, where one role chooses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Prospect {
    /// It may pay more than the proved lower bound of the node.
    Open,
    /// It cannot pay more than that, but may pay as much.
    Level,
    /// It pays less.
    Worse,
}

/// The statistics of a move of one role.
#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) visits: u32,
    /// The number of playouts in flight.
    pub(crate) pending: u32,
    /// The mean payoff of its role. Where one role chooses: the mean of the child, over all paths
    /// to it.
    pub(crate) mean: f32,
    /// The variance of that payoff, with payoffs scaled to 0..1.
    pub(crate) variance: f32,
    pub(crate) prospect: Prospect,
    /// Where one role chooses: whether the bounds of the node already take into account that the
    /// child is solved.
    pub(crate) is_child_counted: bool,
}

impl Arm {
    const UNTRIED: Arm = Arm {
        visits: 0,
        pending: 0,
        mean: 0.0,
        variance: 0.0,
        prospect: Prospect::Open,
        is_child_counted: false,
    };
}

/// The part of an arm's statistics that selection reads, ready to use.
///
/// Scores are in a list of their own, four to a cache line, and change only when the arm does.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Score {
    /// The mean, reduced by the virtual loss of the playouts in flight. Infinite if the arm was
    /// never tried, minus infinite if it is not worth trying.
    pub(crate) value: f32,
    /// One over the square root of the number of playouts, with those in flight; 0 if the value is
    /// not finite.
    pub(crate) width: f32,
    /// The child. Where several roles choose, an arm has no child of its own.
    pub(crate) child: NodeId,
    /// The first arm of the child: with it, the child and its scores can be fetched from memory at
    /// the same time, which halves the wait. Where several roles choose: the bits of the variance.
    child_arms: u32,
}

impl Score {
    const UNTRIED: Score =
        Score { value: f32::INFINITY, width: 0.0, child: NodeId::NONE, child_arms: 0 };

    /// Returns the variance of the arm, where several roles choose.
    #[inline]
    pub(crate) fn variance(&self) -> f32 {
        f32::from_bits(self.child_arms)
    }
}

/// All arms, with their scores.
pub(crate) struct Arms {
    arms: Vec<Arm>,
    scores: Vec<Score>,
    /// How much of its value a playout in flight counts as lost.
    virtual_loss: f32,
    /// The least payoff of the game.
    min_payoff: f32,
}

impl Index<usize> for Arms {
    type Output = Arm;

    #[inline]
    fn index(&self, arm: usize) -> &Arm {
        &self.arms[arm]
    }
}

impl Index<Range<usize>> for Arms {
    type Output = [Arm];

    #[inline]
    fn index(&self, arms: Range<usize>) -> &[Arm] {
        &self.arms[arms]
    }
}

impl Arms {
    pub(in crate::mcts::tree) fn new(virtual_loss: f32, min_payoff: f32) -> Arms {
        Arms { arms: Vec::new(), scores: Vec::new(), virtual_loss, min_payoff }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.arms.len()
    }

    #[cfg(test)]
    pub(crate) fn as_slice(&self) -> &[Arm] {
        &self.arms
    }

    #[inline]
    pub(crate) fn score(&self, arm: usize) -> &Score {
        &self.scores[arm]
    }

    #[inline]
    pub(crate) fn scores(&self, arms: Range<usize>) -> &[Score] {
        &self.scores[arms]
    }

    /// Returns the score with this number, if there is one: for prefetching.
    #[inline]
    pub(crate) fn get_score(&self, arm: usize) -> Option<&Score> {
        self.scores.get(arm)
    }

    /// Returns the arm with this number, if there is one: for prefetching.
    #[inline]
    pub(crate) fn get(&self, arm: usize) -> Option<&Arm> {
        self.arms.get(arm)
    }

    /// Returns the child of an arm, where one role chooses.
    #[inline]
    pub(crate) fn child(&self, arm: usize) -> NodeId {
        self.scores[arm].child
    }

    /// Returns the first arm of the child of an arm, where one role chooses.
    #[inline]
    pub(crate) fn first_arm_of_child(&self, arm: usize) -> usize {
        self.scores[arm].child_arms as usize
    }

    /// Returns the loss of an arm with this mean if all its playouts were in flight. The virtual
    /// loss is the part of it that is in flight.
    #[inline]
    pub(crate) fn loss_per_pending(&self, mean: f32) -> f32 {
        self.virtual_loss * (mean - self.min_payoff)
    }

    #[inline]
    pub(in crate::mcts::tree) fn get_mut(&mut self, arm: usize) -> &mut Arm {
        &mut self.arms[arm]
    }

    /// Makes the arms of a node.
    #[inline]
    pub(in crate::mcts::tree) fn make(&mut self, node: &mut Node) {
        node.first_arm = self.arms.len() as u32;
        let n_arms = self.arms.len() + node.n_arms as usize;
        self.arms.resize(n_arms, Arm::UNTRIED);
        self.scores.resize(n_arms, Score::UNTRIED);
    }

    /// Makes an arm lead to a child whose arms begin at `child_arms`.
    #[inline]
    pub(in crate::mcts::tree) fn set_child(&mut self, arm: usize, child: NodeId, child_arms: u32) {
        self.arms[arm].is_child_counted = false;
        let score = &mut self.scores[arm];
        (score.child, score.child_arms) = (child, child_arms);
    }

    /// Computes the score of an arm again, where one role chooses: the arm has changed, or what is
    /// proved of its node. `mean` is used for an arm that has no visits.
    #[inline]
    pub(in crate::mcts::tree) fn update_score(&mut self, at: usize, has_open_arm: bool, mean: f32) {
        let arm = &self.arms[at];
        // Nothing can be learnt from a move that cannot be better than what is proved already. If
        // that holds for all moves, the role plays on with those that are not worse.
        let worst = if has_open_arm { Prospect::Open } else { Prospect::Level };
        let n = (arm.visits + arm.pending) as f32;
        let (value, width) = if arm.prospect != Prospect::Open && arm.prospect != worst {
            (f32::NEG_INFINITY, 0.0)
        } else if n == 0.0 {
            (f32::INFINITY, 0.0)
        } else {
            let mean = if arm.visits > 0 { arm.mean } else { mean };
            let lost = self.virtual_loss * (mean - self.min_payoff) * arm.pending as f32 / n;
            (mean - lost, 1.0 / n.sqrt())
        };
        (self.scores[at].value, self.scores[at].width) = (value, width);
    }

    /// Computes the score of an arm again, where several roles choose. `mean` is the value to use.
    #[inline]
    pub(in crate::mcts::tree) fn update_decoupled_score(&mut self, at: usize, mean: f32) {
        let arm = &self.arms[at];
        let n = (arm.visits + arm.pending) as f32;
        let (value, width) = if n == 0.0 { (f32::INFINITY, 0.0) } else { (mean, 1.0 / n.sqrt()) };
        let score = &mut self.scores[at];
        (score.value, score.width) = (value, width);
        score.child_arms = arm.variance.to_bits();
    }

    pub(in crate::mcts::tree) fn pack(&mut self, nodes: &mut [Node], packing: &Packing) {
        packing.pack_by_arm(&mut self.arms);
        packing.pack_by_arm(&mut self.scores);
        let mut n_arms = 0;
        for node in nodes.iter_mut().filter(|node| node.has_arms()) {
            node.first_arm = n_arms;
            n_arms += node.n_arms;
        }
        for score in &mut self.scores {
            score.child = packing.new_id(score.child);
            if score.child != NodeId::NONE {
                score.child_arms = nodes[score.child.index()].first_arm;
            }
        }
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.arms);
        growth.reserve(&mut self.scores);
    }
}
