//! Load balance between the lanes of a request.
//!
//! Each lane of a request has its share of the playouts, and some lanes have short ones. Towards
//! the end half of all lanes would be idle. So a lane without playouts takes over one that another
//! lane of the same request has not started.

use super::count::Left;
use crate::Plane;

/// Number of distances: lanes are paired at distances of 1, 2, 4 and so on.
const N_DISTANCES: usize = Plane::LANES.trailing_zeros() as usize;

/// The pairs of lanes that may share playouts.
#[derive(Default)]
pub(super) struct Sharing {
    /// By distance: the lanes for which the lane at this distance above belongs to the same
    /// request.
    has_partner: [Plane; N_DISTANCES],
    /// Number of distances at which there are pairs.
    n_distances: usize,
    /// The next distance and direction to try. It changes each time.
    turn: usize,
}

impl Sharing {
    /// Prepares for requests whose lanes end here.
    pub(super) fn begin(&mut self, lane_ends: &[usize]) {
        let mut is_last = Plane::ZERO;
        for end in lane_ends.iter().filter(|&&end| end > 0) {
            is_last.set_lane(end - 1, true);
        }
        let n_lanes = lane_ends.last().map_or(0, |&end| end);
        let mut has_partner = Plane::range(0..n_lanes) & !is_last;
        self.n_distances = 0;
        while !has_partner.is_zero() && self.n_distances < N_DISTANCES {
            self.has_partner[self.n_distances] = has_partner;
            has_partner = has_partner & has_partner.from_above(1 << self.n_distances);
            self.n_distances += 1;
        }
        self.turn = 0;
    }

    /// Hands playouts over from busy lanes to lanes that wait and have none, at one distance and in
    /// one direction.
    #[inline(always)]
    pub(super) fn share(&mut self, left: &mut Left, waiting: Plane) {
        let needy = waiting & !left.any();
        let busy = left.any() & !waiting;
        if needy.is_zero() || busy.is_zero() || self.n_distances == 0 {
            return;
        }
        let distance = 1 << (self.turn / 2);
        let has_partner = self.has_partner[self.turn / 2];
        let (givers, takers) = if self.turn.is_multiple_of(2) {
            let takers = needy & busy.from_above(distance) & has_partner;
            (takers.from_below(distance), takers)
        } else {
            let givers = busy & needy.from_above(distance) & has_partner;
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

    /// Lanes share playouts within a request only, until no lane waits while another has some left.
    #[test]
    fn lanes_share_within_their_request() {
        // Requests of 1, 5, 64, 0 and 90 lanes. The other lanes have none.
        let lane_ends = [1, 6, 70, 70, 160];
        let requests = [0..1, 1..6, 6..70, 70..70, 70..160];
        let mut sharing = Sharing::default();
        sharing.begin(&lane_ends);
        // The first lane of each request has all its playouts, and is busy.
        let firsts = [0, 1, 6, 70];
        let mut left = Left::default();
        for (lane, n) in firsts.into_iter().zip([3, 4, 15, 9]) {
            left.set(Plane::range(lane..lane + 1), n);
        }
        left.update();
        let mut waiting = Plane::ONES;
        firsts.into_iter().for_each(|lane| waiting.set_lane(lane, false));
        let mut n_started = [0; 5];
        for _ in 0..1000 {
            sharing.share(&mut left, waiting);
            // Lanes that were given a playout start it and never finish.
            let starts = waiting & left.any();
            left.take(starts);
            waiting = waiting & !starts;
            for (n, lanes) in n_started.iter_mut().zip(&requests) {
                *n += (starts & Plane::range(lanes.clone())).count();
            }
            assert!(
                (starts & Plane::range(160..256)).is_zero(),
                "lanes without a request do nothing"
            );
        }
        // The only lane of the first request has no partner. The others are helped by as many lanes
        // as the distances reach.
        assert_eq!(n_started, [0, 3, 6, 0, 7]);
    }
}
