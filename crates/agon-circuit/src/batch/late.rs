//! Lanes whose steps are rejected.
//!
//! A lane draws one of the moves that are legal at first sight. If the step is rejected it draws again, and the move that is
//! made in the end is drawn evenly from the legal ones. But there may be few of them, or none, and then play has ended. So a lane that is
//! refused time and again is *settled*: all its moves are tried, and one of those that are not rejected is made. That is as even,
//! whenever it is done, so it waits until it is worth a pass.

use agon_game::Children;

use super::count::Counts;
use super::expand::Expander;
use crate::random::PlaneRng;
use crate::{Bits, Input, Plane};

/// A lane is settled after `2^BITS - 1` refusals in a row at the earliest.
const BITS: usize = 3;

/// Settling takes about three passes of the whole circuit, so it is done for so many lanes at once, or after so many passes for those there are.
/// A lane that waits goes on drawing, so little is lost. The numbers are reckoned, not tuned.
const WORTH_A_PASS: u32 = 16;
const PATIENCE: u32 = 32;

#[derive(Default)]
pub(super) struct Late {
    /// How often each lane has been refused in a row, the lowest bit first; it stays at the highest number.
    refusals: [Plane; BITS],
    /// The lanes that were late in the last pass.
    late: Plane,
    /// Passes since lanes were settled.
    n_waited: u32,
    /// Passes of a playout without a step, since overlong ones were looked for.
    stayed: Counts,
    /// By lane: steps of the playout until overlong ones were last looked for, if it lasts that long.
    n_steps: Vec<u64>,
    /// Kept for their memory.
    states: Vec<Bits>,
    children: Option<Children<Bits, Input>>,
}

impl Late {
    pub(super) fn begin(&mut self) {
        self.refusals = [Plane::ZERO; BITS];
        self.late = Plane::ZERO;
        self.n_waited = 0;
        self.stayed.clear();
        self.n_steps.clear();
        self.n_steps.resize(Plane::LANES, 0);
    }

    /// Takes down what a pass has come to. Returns the lanes to be settled now, all of which were refused in this pass.
    #[inline(always)]
    pub(super) fn note(&mut self, rejected: Plane, late: Plane, idle: Plane) -> Plane {
        self.late = late;
        self.n_waited += 1;
        // Those who are late were refused before and have not been asked since.
        let counts = (rejected | late) & !idle;
        let mut all = Plane::ONES;
        for bit in &mut self.refusals {
            *bit = *bit & counts;
            all = all & *bit;
        }
        let mut carry = rejected & !all;
        let mut stuck = rejected;
        for bit in &mut self.refusals {
            (*bit, carry) = (*bit ^ carry, *bit & carry);
            stuck = stuck & *bit;
        }
        let is_worth_it = stuck.count() >= WORTH_A_PASS || self.n_waited >= PATIENCE;
        if !is_worth_it || stuck.is_zero() {
            return Plane::ZERO;
        }
        self.n_waited = 0;
        stuck
    }

    /// Makes one of the moves that are left in each of these lanes. Returns the lanes in which there was one.
    #[cold]
    pub(super) fn settle(
        &mut self,
        lanes: Plane,
        now: &mut [Plane],
        kept: &[usize],
        expander: &mut Expander,
        rng: &mut PlaneRng,
    ) -> Plane {
        self.states.clear();
        for lane in lanes.lanes() {
            // Bits that play does not depend on are false, which makes no difference.
            let mut state = Bits::zero(expander.n_base().div_ceil(64));
            let words = state.words_mut();
            for (plane, &bit) in now.iter().zip(kept) {
                words[bit / 64] |= u64::from(plane.lane(lane)) << (bit % 64);
            }
            self.states.push(state);
        }
        let states: Vec<&Bits> = self.states.iter().collect();
        let children = self.children.get_or_insert_with(|| Children::new(expander.n_roles()));
        expander.expand_once(&states, children);
        let mut settled = Plane::ZERO;
        let mut start = 0;
        for (lane, &end) in lanes.lanes().zip(&children.family_ends) {
            let mut random = [Plane::ZERO];
            rng.fill(&mut random);
            if start < end {
                let n = (end - start) as u128;
                // The error of the product is below 2^-32 for as many moves as anybody can list.
                let drawn = start + ((u128::from(random[0].0[0]) * n) >> 64) as usize;
                for (plane, &bit) in now.iter_mut().zip(kept) {
                    plane.set_lane(lane, children.states[drawn].get(bit));
                }
                settled.set_lane(lane, true);
            }
            start = end;
        }
        self.refusals.iter_mut().for_each(|bit| *bit = *bit & !lanes);
        settled
    }

    /// These lanes have made no step in a pass of their playout.
    #[inline(always)]
    pub(super) fn stayed(&mut self, lanes: Plane) {
        self.stayed.add(lanes);
    }

    /// Of these lanes, whose playouts have lasted for so many passes since this was last asked, those that have made so many steps
    /// and are not late.
    pub(super) fn overlong(&mut self, lasting: Plane, n_passes: u64, max_steps: u64) -> Plane {
        self.stayed.settle();
        let mut overlong = Plane::ZERO;
        for lane in 0..Plane::LANES {
            let n_stayed = self.stayed.sum(&(lane..lane + 1));
            let before = if lasting.lane(lane) { self.n_steps[lane] } else { 0 };
            let own = if lasting.lane(lane) { n_passes.saturating_sub(n_stayed) } else { 0 };
            self.n_steps[lane] = before.saturating_add(own);
            overlong.set_lane(lane, self.n_steps[lane] >= max_steps);
        }
        self.stayed.clear();
        overlong & !self.late
    }

    /// New playouts begin in these lanes.
    pub(super) fn forget(&mut self, lanes: Plane) {
        lanes.lanes().for_each(|lane| self.n_steps[lane] = 0);
    }
}
