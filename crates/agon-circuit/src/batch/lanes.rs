//! Who plays what in which lane.

use agon_game::{Order, Tally};

use crate::jit::{Work, with_wide_registers};
use crate::kernel::Kernel;
use crate::playout::{PlayoutStep, Restart};
use crate::random::PlaneRng;
use crate::{Bits, Plane, transpose};

/// The lanes while orders are worked off.
///
/// A lane that plays has a playout at hand and, if its order has one left, another in reserve. When a playout ends, the
/// kernel itself restarts the lanes that have a reserve (they *may* restart), and the lane takes a new reserve; a lane without
/// one is given another order, or rests. So exactly the ordered playouts are started, and each is played to its end.
pub(super) struct Lanes<'o> {
    step: &'o PlayoutStep,
    orders: &'o [Order<Bits>],
    restart: Restart,
    max_steps: u64,
    tallies: Vec<Tally>,
    /// By order: playouts that are neither started nor in reserve.
    n_left: Vec<u64>,
    /// The first order that no lane has taken up yet.
    next_order: usize,
    order_of: Vec<usize>,
    /// Passes made so far. An order's steps are the passes that lanes have spent on it, less one for each end found.
    n_passes: u64,
    /// The lanes that play.
    active: Plane,
    /// The lanes whose playout has lasted since the last look at overlong ones.
    lasting: Plane,
    /// State in, state and answers out: the two change places after each step.
    now: Vec<Plane>,
    after: Vec<Plane>,
    /// What else goes in: start states, who may restart, random bits.
    rest: Vec<Plane>,
    n_kept: usize,
    n_start: usize,
}

impl<'o> Lanes<'o> {
    pub(super) fn new(
        step: &'o PlayoutStep,
        orders: &'o [Order<Bits>],
        restart: Restart,
        n_roles: usize,
        max_steps: u64,
    ) -> Lanes<'o> {
        let n_kept = step.kept.len();
        let n_start = if restart == Restart::Planes { n_kept } else { 0 };
        let n_planes = n_kept + 1 + step.n_goals;
        Lanes {
            step,
            orders,
            restart,
            max_steps: max_steps.max(1),
            tallies: vec![Tally::new(n_roles); orders.len()],
            n_left: orders.iter().map(|order| order.n_playouts).collect(),
            next_order: 0,
            order_of: vec![0; Plane::LANES],
            n_passes: 0,
            active: Plane::ZERO,
            lasting: Plane::ONES,
            now: vec![Plane::ZERO; n_planes],
            after: vec![Plane::ZERO; n_planes],
            rest: vec![Plane::ZERO; n_start + 1 + step.n_random],
            n_kept,
            n_start,
        }
    }

    pub(super) fn run(mut self, kernel: &mut Kernel, rng: &mut PlaneRng) -> Vec<Tally> {
        self.seat();
        while !self.active.is_zero() {
            if self.active == Plane::ONES && self.n_left_of_only_order().is_some_and(|left| left >= 256) {
                with_wide_registers(Bulk { lanes: &mut self, kernel, rng });
            } else {
                self.pass(kernel, rng);
                self.settle();
            }
            if self.n_passes.is_multiple_of(self.max_steps) {
                self.cut_lasting();
            }
        }
        self.tallies
    }

    /// Gives every lane its first order, in proportion to what is ordered.
    fn seat(&mut self) {
        let n_ordered: u64 = self.n_left.iter().sum();
        let mut seats = Vec::new();
        for (order, &n) in self.n_left.iter().enumerate() {
            let share = (u128::from(n) * Plane::LANES as u128 / u128::from(n_ordered.max(1))) as u64;
            let n_seats = share.max(1).min(n);
            seats.extend((0..n_seats).map(|_| order));
            if seats.len() >= Plane::LANES {
                break;
            }
        }
        seats.truncate(Plane::LANES);
        self.next_order = seats.last().map_or(0, |&last| last + 1);
        transpose_kept(&mut self.now, seats.iter().map(|&order| &self.orders[order].state), &self.step.kept);
        let (now, rest) = (&self.now[..self.n_kept], &mut self.rest[..self.n_start]);
        rest.copy_from_slice(&now[..rest.len()]);
        // Every seat has its playout before any has a reserve.
        seats.iter().for_each(|&order| self.n_left[order] -= 1);
        for (lane, order) in seats.into_iter().enumerate() {
            self.take_up(lane, order);
        }
        for lane in 0..Plane::LANES {
            if !self.active.lane(lane) {
                self.next_for(lane);
            }
        }
    }

    /// A lane starts playing an order's playout, and takes another one in reserve.
    fn take_up(&mut self, lane: usize, order: usize) {
        self.order_of[lane] = order;
        self.active.set_lane(lane, true);
        let n_steps = &mut self.tallies[order].n_steps;
        *n_steps = n_steps.wrapping_sub(self.n_passes);
        self.reserve(lane);
    }

    fn reserve(&mut self, lane: usize) {
        let left = &mut self.n_left[self.order_of[lane]];
        self.rest[self.n_start].set_lane(lane, *left > 0);
        *left = left.saturating_sub(1);
    }

    /// Finds work for a lane that has none: an order that nobody has taken up, else the one with most left to do.
    fn next_for(&mut self, lane: usize) {
        if self.active.lane(lane) {
            let n_steps = &mut self.tallies[self.order_of[lane]].n_steps;
            *n_steps = n_steps.wrapping_add(self.n_passes);
        }
        while self.next_order < self.orders.len() && self.n_left[self.next_order] == 0 {
            self.next_order += 1;
        }
        let order = if self.next_order < self.orders.len() {
            self.next_order += 1;
            Some(self.next_order - 1)
        } else {
            let most =
                self.n_left.iter().enumerate().max_by_key(|&(order, &left)| (left, std::cmp::Reverse(order)));
            most.filter(|&(_, &left)| left > 0).map(|(order, _)| order)
        };
        let Some(order) = order else {
            self.active.set_lane(lane, false);
            self.rest[self.n_start].set_lane(lane, false);
            return;
        };
        let state = &self.orders[order].state;
        for (plane, &bit) in self.step.kept.iter().enumerate() {
            self.now[plane].set_lane(lane, state.get(bit));
            if self.restart == Restart::Planes {
                self.rest[plane].set_lane(lane, state.get(bit));
            }
        }
        self.n_left[order] -= 1;
        self.take_up(lane, order);
    }

    #[inline(always)]
    fn pass(&mut self, kernel: &mut Kernel, rng: &mut PlaneRng) {
        rng.fill(&mut self.rest[self.n_start + 1..]);
        kernel.run(&self.now, &self.rest, &mut self.after);
        std::mem::swap(&mut self.now, &mut self.after);
        self.n_passes += 1;
    }

    /// What is left of the order that all lanes work on, if there is only one.
    fn n_left_of_only_order(&self) -> Option<u64> {
        if self.orders.len() == 1 { Some(self.n_left[0]) } else { None }
    }

    /// As long as all lanes play the only order and may restart: nothing is looked at lane by lane.
    #[inline(always)]
    fn bulk(&mut self, kernel: &mut Kernel, rng: &mut PlaneRng) {
        let (mut n_left, mut n_ended) = (self.n_left[0], 0_u64);
        let mut lasting = self.lasting;
        let mut n_goals = vec![0_u64; self.step.n_goals];
        let until_cut = self.max_steps - self.n_passes % self.max_steps;
        for _ in 0..until_cut {
            self.pass(kernel, rng);
            let (ended, goals) =
                self.now[self.n_kept..].split_first().expect("whether it has ended comes after the state");
            let n = u64::from(ended.count());
            n_ended += n;
            n_left -= n;
            lasting = lasting & !*ended;
            for (n, goal) in n_goals.iter_mut().zip(goals) {
                *n += u64::from((*goal & *ended).count());
            }
            if n_left < Plane::LANES as u64 {
                break;
            }
        }
        self.n_left[0] = n_left;
        self.lasting = lasting;
        let tally = &mut self.tallies[0];
        tally.n_playouts += n_ended;
        tally.n_steps = tally.n_steps.wrapping_sub(n_ended);
        for (role, payoffs) in self.step.payoffs.iter().enumerate() {
            for &(value, goal) in payoffs {
                tally.payoff_sums[role] += value * n_goals[goal] as f64;
                tally.square_sums[role] += value * value * n_goals[goal] as f64;
            }
        }
    }

    /// Notes lane by lane what has ended, and finds new work.
    fn settle(&mut self) {
        let ended = self.now[self.n_kept] & self.active;
        self.lasting = self.lasting & !ended;
        for lane in ended.lanes() {
            self.note(lane);
            let n_steps = &mut self.tallies[self.order_of[lane]].n_steps;
            *n_steps = n_steps.wrapping_sub(1);
            if self.rest[self.n_start].lane(lane) {
                self.reserve(lane);
            } else {
                self.next_for(lane);
            }
        }
    }

    /// Counts the playout of a lane with what it pays where the last step began.
    fn note(&mut self, lane: usize) {
        let goals = &self.now[self.n_kept + 1..];
        let tally = &mut self.tallies[self.order_of[lane]];
        tally.n_playouts += 1;
        for (role, payoffs) in self.step.payoffs.iter().enumerate() {
            if let Some(&(value, _)) = payoffs.iter().find(|&&(_, goal)| goals[goal].lane(lane)) {
                tally.payoff_sums[role] += value;
                tally.square_sums[role] += value * value;
            }
        }
    }

    /// Ends the playouts that have lasted since the last call.
    fn cut_lasting(&mut self) {
        for lane in (self.lasting & self.active).lanes() {
            self.note(lane);
            self.tallies[self.order_of[lane]].n_cut += 1;
            let order = self.order_of[lane];
            if self.rest[self.n_start].lane(lane) {
                // The reserve goes back, and the lane is seated anew, since the kernel has not restarted it.
                self.n_left[order] += 1;
            }
            self.next_for(lane);
        }
        self.lasting = Plane::ONES;
    }
}

struct Bulk<'l, 'o> {
    lanes: &'l mut Lanes<'o>,
    kernel: &'l mut Kernel,
    rng: &'l mut PlaneRng,
}

impl Work for Bulk<'_, '_> {
    #[inline(always)]
    fn work(self) {
        self.lanes.bulk(self.kernel, self.rng);
    }
}

/// Writes the kept bits of states to lanes.
fn transpose_kept<'s>(planes: &mut [Plane], states: impl Iterator<Item = &'s Bits> + Clone, kept: &[usize]) {
    let n_words = kept.last().map_or(0, |&last| last / 64 + 1);
    let mut all = vec![Plane::ZERO; 64 * n_words];
    transpose::load(states.map(Bits::words), &mut all);
    for (plane, &bit) in planes.iter_mut().zip(kept) {
        *plane = all[bit];
    }
}
