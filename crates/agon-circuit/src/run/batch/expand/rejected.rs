//! Rejected steps among those that were made at once.

use agon_game::{Children, LegalMoves};

use crate::run::bits::{for_each_bit, highest_bit};
use crate::run::kernel::Backend;
use crate::run::rejection::RejectionTest;
use crate::{Bits, Circuit, Input, Plane};

/// Which steps were rejected since `begin`, and a test for the moves of the children.
#[derive(Clone)]
pub(super) struct Rejected {
    /// By step: whether it was rejected.
    is_rejected: Vec<bool>,
    test: RejectionTest,
    /// The child and the bit of the move in each lane of the test.
    tested: Vec<(usize, usize)>,
    /// The moves of one child: those of the role that has a choice, and those of the other roles.
    own: Vec<Input>,
    others: Vec<Input>,
}

impl Rejected {
    /// Prepares a circuit. Returns `None` if it never rejects a step.
    pub(super) fn new(circuit: &Circuit, backend: Backend) -> Option<Rejected> {
        let test = RejectionTest::new(circuit, backend)?;
        let (is_rejected, tested, own, others) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Some(Rejected { is_rejected, test, tested, own, others })
    }

    pub(super) fn begin(&mut self) {
        self.is_rejected.clear();
    }

    /// Notes which of the steps in the first lanes are rejected.
    pub(super) fn note(&mut self, rejected: Plane, n_lanes: usize) {
        self.is_rejected.extend((0..n_lanes).map(|lane| rejected.lane(lane)));
    }

    /// Drops the children whose step is rejected.
    pub(super) fn drop_rejected(&mut self, n_roles: usize, children: &mut Children<Bits, Input>) {
        let Children { states, joints, legal, ended, payoffs, child_ends, .. } = children;
        debug_assert_eq!(self.is_rejected.len(), states.len(), "there is a note for each child");
        let mut n_kept = 0;
        let mut families = child_ends.iter_mut().peekable();
        for child in 0..=states.len() {
            while families.peek().is_some_and(|end| **end == child) {
                if let Some(end) = families.next() {
                    *end = n_kept;
                }
            }
            if self.is_rejected.get(child).is_none_or(|&is_rejected| is_rejected) {
                continue;
            }
            states.swap(n_kept, child);
            ended[n_kept] = ended[child];
            joints.copy_within(child * n_roles..(child + 1) * n_roles, n_kept * n_roles);
            payoffs.copy_within(child * n_roles..(child + 1) * n_roles, n_kept * n_roles);
            if let LegalMoves::Masks { moves, words, .. } = legal {
                let n_words = moves.len().div_ceil(64);
                words.copy_within(child * n_words..(child + 1) * n_words, n_kept * n_words);
            }
            n_kept += 1;
        }
        states.truncate(n_kept);
        ended.truncate(n_kept);
        joints.truncate(n_kept * n_roles);
        payoffs.truncate(n_kept * n_roles);
        if let LegalMoves::Masks { moves, words, .. } = legal {
            words.truncate(n_kept * moves.len().div_ceil(64));
        }
    }

    /// Leaves each child only the moves whose step is not rejected. A child without any is
    /// terminal.
    pub(super) fn drop_rejected_moves(&mut self, children: &mut Children<Bits, Input>) {
        let Children { states, legal, ended, .. } = children;
        let LegalMoves::Masks { moves, role_ends, words } = legal else { return };
        let n_words = moves.len().div_ceil(64);
        for child in 0..states.len() {
            if ended[child]
                || !self.list_moves(
                    &words[child * n_words..(child + 1) * n_words],
                    moves,
                    role_ends,
                )
            {
                continue;
            }
            let mut first = 0;
            while first < self.own.len() {
                let n = self.test.add(states[child].words(), &self.own[first..], &self.others);
                self.tested.extend(
                    self.own[first..first + n].iter().map(|input| (child, input.0 as usize)),
                );
                first += n;
                if self.test.n_used() == Plane::LANES {
                    self.run_test(words, n_words);
                }
            }
        }
        self.run_test(words, n_words);
        for (child, ended) in ended.iter_mut().enumerate() {
            let mask = &words[child * n_words..(child + 1) * n_words];
            let mut start = 0;
            for &end in role_ends.iter() {
                *ended |= highest_bit(mask, start..end as usize).is_none();
                start = end as usize;
            }
        }
    }

    /// Lists the moves of a child, where one role may have several. Returns false if several roles
    /// do: then no step is rejected.
    fn list_moves(&mut self, mask: &[u64], moves: &[Input], role_ends: &[u32]) -> bool {
        self.own.clear();
        self.others.clear();
        let mut start = 0;
        for &end in role_ends {
            let before = self.others.len();
            for_each_bit(mask, start..end as usize, |bit| self.others.push(moves[bit]));
            if self.others.len() > before + 1 {
                if !self.own.is_empty() {
                    return false;
                }
                self.own.extend(self.others.drain(before..));
            }
            start = end as usize;
        }
        if self.own.is_empty() {
            // No role has a choice, so any of them may take the part of the chooser.
            self.own.extend(self.others.pop());
        }
        true
    }

    /// Removes rejected moves from the sets, and frees the lanes.
    fn run_test(&mut self, words: &mut [u64], n_words: usize) {
        let rejected = self.test.run();
        for (lane, (child, bit)) in self.tested.drain(..).enumerate() {
            if rejected.lane(lane) {
                words[child * n_words + bit / 64] &= !(1 << (bit % 64));
            }
        }
    }
}
