//! The values that a heuristic gives to moves in the tree.

use std::ops::Range;

use super::super::node::NodeId;
use super::super::recycle::Packing;
use super::super::reserve::Growth;

/// The prior of a move that the heuristic was not asked about yet.
const UNRATED: f32 = f32::NEG_INFINITY;
/// The prior of a move that the heuristic does not rate.
const UNKNOWN: f32 = f32::NAN;

/// By arm: the value that a heuristic gives to the move, in payoffs. Empty if there is no heuristic
/// for the tree.
pub(crate) struct Priors {
    values: Vec<f32>,
    is_used: bool,
    /// Nodes whose moves are to be rated soon, together.
    due: Vec<NodeId>,
}

impl Priors {
    pub(in crate::mcts::tree) fn new(is_used: bool) -> Priors {
        Priors { values: Vec::new(), is_used, due: Vec::new() }
    }

    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Returns whether the heuristic has rated the moves among which this arm is.
    #[inline]
    pub(crate) fn is_rated(&self, arm: usize) -> bool {
        self.is_used && self.values[arm].is_finite()
    }

    /// Returns whether the heuristic was never asked about this arm.
    pub(crate) fn is_unrated(&self, arm: usize) -> bool {
        self.values[arm] == UNRATED
    }

    /// Returns the value of a rated arm.
    #[inline]
    pub(crate) fn value(&self, arm: usize) -> f32 {
        self.values[arm]
    }

    /// Sets the values of the arms from `first` on.
    pub(crate) fn set(&mut self, first: usize, values: impl Iterator<Item = f64>) {
        for (known, value) in self.values[first..].iter_mut().zip(values) {
            *known = value as f32;
        }
    }

    /// Notes that the heuristic is asked about these arms, which may have no answer.
    pub(crate) fn set_unknown(&mut self, arms: Range<usize>) {
        self.values[arms].fill(UNKNOWN);
    }

    /// Adds a node to those that are due, unless it is there. Returns how many are due, or None if
    /// it was there.
    pub(crate) fn push_due(&mut self, id: NodeId) -> Option<usize> {
        if self.due.contains(&id) {
            return None;
        }
        self.due.push(id);
        Some(self.due.len())
    }

    /// Takes the list of nodes that are due.
    pub(crate) fn take_due(&mut self) -> Vec<NodeId> {
        std::mem::take(&mut self.due)
    }

    /// Gives the memory of the list back, which is emptied.
    pub(crate) fn return_due(&mut self, mut due: Vec<NodeId>) {
        due.clear();
        self.due = due;
    }

    /// Makes entries for new arms.
    #[inline]
    pub(in crate::mcts::tree) fn resize(&mut self, n_arms: usize) {
        if self.is_used {
            self.values.resize(n_arms, UNRATED);
        }
    }

    pub(in crate::mcts::tree) fn pack(&mut self, packing: &Packing) {
        // Nodes that were due are found to be due again when a descent comes through.
        self.due.clear();
        if self.is_used {
            packing.pack_by_arm(&mut self.values);
        }
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.values);
    }
}
