//! Lanes that help each other out.
//!
//! Each lane of an order has its share of the order's playouts, and some lanes draw short ones: towards the end half of all lanes would have
//! nothing left to do. So a lane that has nothing left takes over a playout that another lane of its order has not started yet.

use super::count::Left;
use crate::Plane;

/// Lanes look for each other at distances of 1, 2, 4 and so on.
const N_DISTANCES: usize = Plane::LANES.trailing_zeros() as usize;

/// Which lanes may help which.
#[derive(Default)]
pub(super) struct Sharing {
    /// By distance: the lanes for which the lane so much further up is one of the same order.
    has_fellow: [Plane; N_DISTANCES],
    /// The distances at which there are any.
    n_distances: usize,
    /// Where to look next: each time elsewhere.
    turn: usize,
}

impl Sharing {
    /// For orders whose lanes end here.
    pub(super) fn begin(&mut self, lane_ends: &[usize]) {
        let mut is_last = Plane::ZERO;
        for end in lane_ends.iter().filter(|&&end| end > 0) {
            is_last.set_lane(end - 1, true);
        }
        let n_lanes = lane_ends.last().map_or(0, |&end| end);
        let mut has_fellow = Plane::range(0..n_lanes) & !is_last;
        self.n_distances = 0;
        while !has_fellow.is_zero() && self.n_distances < N_DISTANCES {
            self.has_fellow[self.n_distances] = has_fellow;
            has_fellow = has_fellow & has_fellow.from_above(1 << self.n_distances);
            self.n_distances += 1;
        }
        self.turn = 0;
    }

    /// Hands playouts on from lanes that are busy to lanes that wait and have none: those of one distance, this way or that.
    #[inline(always)]
    pub(super) fn share(&mut self, left: &mut Left, waiting: Plane) {
        let needy = waiting & !left.any();
        let busy = left.any() & !waiting;
        if needy.is_zero() || busy.is_zero() || self.n_distances == 0 {
            return;
        }
        let distance = 1 << (self.turn / 2);
        let has_fellow = self.has_fellow[self.turn / 2];
        let (givers, takers) = if self.turn.is_multiple_of(2) {
            let takers = needy & busy.from_above(distance) & has_fellow;
            (takers.from_below(distance), takers)
        } else {
            let givers = busy & needy.from_above(distance) & has_fellow;
            (givers, givers.from_below(distance))
        };
        if !givers.is_zero() {
            left.hand_over(givers, takers);
        }
        self.turn = (self.turn + 1) % (2 * self.n_distances);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes of one order help each other and nobody else, and do so until none waits while another has something left.
    #[test]
    fn lanes_help_their_own_order_alone() {
        // Orders of 1, 5, 64, 0 and 90 lanes; the rest has nothing to do.
        let lane_ends = [1, 6, 70, 70, 160];
        let orders = [0..1, 1..6, 6..70, 70..70, 70..160];
        let mut sharing = Sharing::default();
        sharing.begin(&lane_ends);
        // The first lane of each order has the playouts of all, and is busy.
        let firsts = [0, 1, 6, 70];
        let mut left = Left::default();
        for (lane, n) in firsts.into_iter().zip([3, 4, 15, 9]) {
            left.set(Plane::range(lane..lane + 1), n);
        }
        left.look();
        let mut waiting = Plane::ONES;
        firsts.into_iter().for_each(|lane| waiting.set_lane(lane, false));
        let mut n_started = [0; 5];
        for _ in 0..1000 {
            sharing.share(&mut left, waiting);
            // Lanes that have been given a playout start it, and are never done.
            let starts = waiting & left.any();
            left.take(starts);
            waiting = waiting & !starts;
            for (n, lanes) in n_started.iter_mut().zip(&orders) {
                *n += (starts & Plane::range(lanes.clone())).count();
            }
            assert!((starts & Plane::range(160..256)).is_zero(), "who has no order does nothing");
        }
        // The only lane of the first order has nobody to help it; all others are helped by as many as the distances reach.
        assert_eq!(n_started, [0, 3, 6, 0, 7]);
    }
}
