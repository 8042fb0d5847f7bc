//! Lanes whose steps are rejected.
//!
//! A lane draws one of the moves whose legal signal holds. If the step is rejected it draws again.
//! So the move that is made in the end is drawn uniformly from the legal ones. But there may be few
//! of these, or none, and then play has ended. So a lane that is rejected repeatedly is *resolved*:
//! all its moves are tried, and one of those that are not rejected is drawn and made. The
//! distribution is the same whenever this is done, so it is put off until it is worth a pass.

use agon_game::Children;

use super::count::Counts;
use super::expand::Expander;
use crate::run::batch::random::PlaneRng;
use crate::{Bits, Input, Plane};

/// A lane is resolved after `2^BITS - 1` rejections in a row at the earliest.
const BITS: usize = 3;

/// Number of lanes for which resolving is worth its time, which is about three passes of the whole
/// circuit. Lanes that wait go on drawing, so little is lost. Estimated, not tuned.
const WORTH_A_PASS: u32 = 16;

/// Number of passes after which any number of lanes is resolved. Estimated, not tuned.
const MAX_WAIT: u32 = 32;

/// The lanes whose steps were rejected, and those that missed their phase by that.
#[derive(Default)]
pub(super) struct Late {
    /// How often each lane was rejected in a row, as bits with the lowest first. Saturating.
    rejections: [Plane; BITS],
    /// The lanes that were late in the last pass.
    late: Plane,
    /// Number of passes since lanes were resolved.
    n_waited: u32,
    /// Number of passes of a playout without a step, since overlong playouts were last cut off.
    stayed: Counts,
    /// By lane: the number of steps of its playout until then.
    n_steps: Vec<u64>,
    /// Kept to reuse their memory.
    states: Vec<Bits>,
    children: Option<Children<Bits, Input>>,
}

impl Late {
    pub(super) fn begin(&mut self) {
        self.rejections = [Plane::ZERO; BITS];
        self.late = Plane::ZERO;
        self.n_waited = 0;
        self.stayed.clear();
        self.n_steps.clear();
        self.n_steps.resize(Plane::LANES, 0);
    }

    /// Notes the results of a pass. Returns the lanes to be resolved now, all of which were
    /// rejected in this pass.
    #[inline(always)]
    pub(super) fn note(&mut self, rejected: Plane, late: Plane, idle: Plane) -> Plane {
        self.late = late;
        self.n_waited += 1;
        // Late lanes were rejected before and have not drawn since.
        let counts = (rejected | late) & !idle;
        let mut all = Plane::ONES;
        for bit in &mut self.rejections {
            *bit = *bit & counts;
            all = all & *bit;
        }
        let mut carry = rejected & !all;
        let mut stuck = rejected;
        for bit in &mut self.rejections {
            (*bit, carry) = (*bit ^ carry, *bit & carry);
            stuck = stuck & *bit;
        }
        let is_worth_it = stuck.count() >= WORTH_A_PASS || self.n_waited >= MAX_WAIT;
        if !is_worth_it || stuck.is_zero() {
            return Plane::ZERO;
        }
        self.n_waited = 0;
        stuck
    }

    /// Draws and makes one of the moves that are not rejected, in each of these lanes. Returns the
    /// lanes in which there was one.
    #[cold]
    pub(super) fn resolve(
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
        let mut resolved = Plane::ZERO;
        let mut start = 0;
        for (lane, &end) in lanes.lanes().zip(&children.child_ends) {
            let mut random = [Plane::ZERO];
            rng.fill(&mut random);
            if start < end {
                let n = (end - start) as u128;
                // The bias of the product is below 2^-32 for any number of moves that fits in
                // memory.
                let drawn = start + ((u128::from(random[0].0[0]) * n) >> 64) as usize;
                for (plane, &bit) in now.iter_mut().zip(kept) {
                    plane.set_lane(lane, children.states[drawn].get(bit));
                }
                resolved.set_lane(lane, true);
            }
            start = end;
        }
        self.rejections.iter_mut().for_each(|bit| *bit = *bit & !lanes);
        resolved
    }

    /// Notes that these lanes made no step in a pass of their playout.
    #[inline(always)]
    pub(super) fn stayed(&mut self, lanes: Plane) {
        self.stayed.add(lanes);
    }

    /// Returns the lanes whose playout has made at least `max_steps` steps and that are not late.
    ///
    /// `lasting` are the lanes whose playout has lasted for the `n_passes` passes since the last
    /// call.
    pub(super) fn overlong(&mut self, lasting: Plane, n_passes: u64, max_steps: u64) -> Plane {
        self.stayed.flush();
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

    /// Notes that new playouts begin in these lanes.
    pub(super) fn forget(&mut self, lanes: Plane) {
        lanes.lanes().for_each(|lane| self.n_steps[lane] = 0);
    }
}
