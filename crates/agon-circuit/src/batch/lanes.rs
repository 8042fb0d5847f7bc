//! Who plays what in which lane.

use agon_game::{Order, Tally};

use super::Step;
use crate::jit::{Work, with_wide_registers};
use crate::playout::Restart;
use crate::random::PlaneRng;
use crate::{Bits, Plane, transpose};

/// The lanes while orders are worked off. All orders start in the same phase.
///
/// A lane that plays has a playout at hand and, if its order has one left, another in reserve. A lane whose playout has ended
/// waits for the gate: the step after which the phase is that of the starts. There the kernel itself restarts the lanes that
/// have a reserve (they *may* restart), and these take a new reserve; a lane without one is given another order, or waits for
/// ever. So exactly the ordered playouts are started, and each is played to its end.
pub(super) struct Lanes<'o> {
    kept: &'o [usize],
    orders: &'o [&'o Order<Bits>],
    restart: Restart,
    max_steps: u64,
    tallies: Vec<Tally>,
    /// By order: playouts that are neither started nor in reserve.
    n_left: Vec<u64>,
    /// The first order that no lane has taken up yet.
    next_order: usize,
    order_of: Vec<usize>,
    /// Passes made so far. A playout that started at one number of passes and whose end was found at another has made one
    /// step less than their difference.
    n_passes: u64,
    /// Passes at the last look at overlong playouts.
    last_cut: u64,
    /// The lanes that have work.
    active: Plane,
    /// The lanes whose playout has lasted since the last look at overlong ones.
    lasting: Plane,
    /// State and who waits in, the same and answers out: the two change places after each step.
    now: Vec<Plane>,
    after: Vec<Plane>,
    /// What else goes in: start states, who may restart, random bits.
    rest: Vec<Plane>,
    n_start: usize,
}

impl<'o> Lanes<'o> {
    pub(super) fn new(
        kept: &'o [usize],
        orders: &'o [&'o Order<Bits>],
        restart: Restart,
        n_roles: usize,
        max_steps: u64,
    ) -> Lanes<'o> {
        Lanes {
            kept,
            orders,
            restart,
            max_steps: max_steps.max(1),
            tallies: vec![Tally::new(n_roles); orders.len()],
            n_left: orders.iter().map(|order| order.n_playouts).collect(),
            next_order: 0,
            order_of: vec![0; Plane::LANES],
            n_passes: 0,
            last_cut: 0,
            active: Plane::ZERO,
            lasting: Plane::ONES,
            now: Vec::new(),
            after: Vec::new(),
            rest: Vec::new(),
            n_start: if restart == Restart::Planes { kept.len() } else { 0 },
        }
    }

    /// Works off the orders by a round of steps, of which the last is the gate.
    pub(super) fn run(mut self, steps: &mut [Step], round: &[usize], rng: &mut PlaneRng) -> Vec<Tally> {
        let most = |count: fn(&Step) -> usize| round.iter().map(|&idx| count(&steps[idx])).max().unwrap_or(0);
        let n_planes = self.kept.len() + 2 + most(|step| step.step.n_goals);
        self.now.resize(n_planes, Plane::ZERO);
        self.after.resize(n_planes, Plane::ZERO);
        self.rest.resize(self.n_start + 1 + most(|step| step.step.n_random), Plane::ZERO);
        self.seat();
        while !self.active.is_zero() {
            // Between rounds, all lanes that have ended have been dealt with.
            if self.active == Plane::ONES && self.n_left_of_only_order().is_some_and(|left| left >= 256) {
                with_wide_registers(Bulk { lanes: &mut self, steps, round, rng });
            } else {
                for &idx in round {
                    let waited = self.now[self.kept.len()];
                    self.pass(&mut steps[idx], rng);
                    self.settle(&steps[idx], waited);
                }
            }
            if self.n_passes - self.last_cut >= self.max_steps {
                self.cut_lasting(&steps[round[round.len() - 1]]);
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
        transpose_kept(&mut self.now, seats.iter().map(|&order| &self.orders[order].state), self.kept);
        let (now, rest) = (&self.now[..self.kept.len()], &mut self.rest[..self.n_start]);
        rest.copy_from_slice(&now[..rest.len()]);
        self.now[self.kept.len()] = Plane::ONES;
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
        self.now[self.kept.len()].set_lane(lane, false);
        self.begin(lane);
    }

    /// A playout has begun in a lane.
    fn begin(&mut self, lane: usize) {
        let order = self.order_of[lane];
        let n_steps = &mut self.tallies[order].n_steps;
        *n_steps = n_steps.wrapping_sub(self.n_passes);
        let left = &mut self.n_left[order];
        self.rest[self.n_start].set_lane(lane, *left > 0);
        *left = left.saturating_sub(1);
    }

    /// Finds work for a lane that has none: an order that nobody has taken up, else the one with most left to do.
    fn next_for(&mut self, lane: usize) {
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
            self.now[self.kept.len()].set_lane(lane, true);
            self.rest[self.n_start].set_lane(lane, false);
            return;
        };
        let state = &self.orders[order].state;
        for (plane, &bit) in self.kept.iter().enumerate() {
            self.now[plane].set_lane(lane, state.get(bit));
            if self.restart == Restart::Planes {
                self.rest[plane].set_lane(lane, state.get(bit));
            }
        }
        self.n_left[order] -= 1;
        self.take_up(lane, order);
    }

    #[inline(always)]
    fn pass(&mut self, step: &mut Step, rng: &mut PlaneRng) {
        let first_random = self.n_start + 1;
        rng.fill(&mut self.rest[first_random..first_random + step.step.n_random]);
        step.kernel.run(&self.now, &self.rest, &mut self.after);
        std::mem::swap(&mut self.now, &mut self.after);
        self.n_passes += 1;
    }

    /// What is left of the order that all lanes work on, if there is only one.
    fn n_left_of_only_order(&self) -> Option<u64> {
        if self.orders.len() == 1 { Some(self.n_left[0]) } else { None }
    }

    /// Whole rounds as long as all lanes play the only order and may restart: nothing is looked at lane by lane.
    #[inline(always)]
    fn bulk(&mut self, steps: &mut [Step], round: &[usize], rng: &mut PlaneRng) {
        let mut n_left = self.n_left[0];
        let (mut n_ended, mut n_steps) = (0_u64, self.tallies[0].n_steps);
        let mut lasting = self.lasting;
        let mut n_goals: Vec<Vec<u64>> = round.iter().map(|&idx| vec![0; steps[idx].step.n_goals]).collect();
        let first_answer = self.kept.len() + 1;
        while n_left >= Plane::LANES as u64 && self.n_passes - self.last_cut < self.max_steps {
            let mut n_restarted = 0;
            for (&idx, n_goals) in round.iter().zip(&mut n_goals) {
                self.pass(&mut steps[idx], rng);
                let (ended, goals) = self.now[first_answer..]
                    .split_first()
                    .expect("whether it has ended comes after who waits");
                let n = u64::from(ended.count());
                n_restarted += n;
                n_steps = n_steps.wrapping_add(n * (self.n_passes - 1));
                lasting = lasting & !*ended;
                for (n, goal) in n_goals.iter_mut().zip(goals) {
                    *n += u64::from((*goal & *ended).count());
                }
            }
            // Whoever has ended in this round has restarted at the gate.
            n_left -= n_restarted;
            n_ended += n_restarted;
            n_steps = n_steps.wrapping_sub(n_restarted * self.n_passes);
        }
        self.n_left[0] = n_left;
        self.lasting = lasting;
        let tally = &mut self.tallies[0];
        tally.n_playouts += n_ended;
        tally.n_steps = n_steps;
        for (&idx, n_goals) in round.iter().zip(n_goals) {
            for (role, payoffs) in steps[idx].step.payoffs.iter().enumerate() {
                for &(value, goal) in payoffs {
                    tally.payoff_sums[role] += value * n_goals[goal] as f64;
                    tally.square_sums[role] += value * value * n_goals[goal] as f64;
                }
            }
        }
    }

    /// Notes lane by lane what has ended, and after a gate finds new work for those who waited.
    fn settle(&mut self, step: &Step, waited: Plane) {
        let ended = self.now[self.kept.len() + 1] & self.active;
        self.lasting = self.lasting & !ended;
        for lane in ended.lanes() {
            self.note(step, lane, self.n_passes - 1);
        }
        if step.place.is_gate {
            for lane in ((ended | waited) & self.active).lanes() {
                if self.rest[self.n_start].lane(lane) {
                    self.begin(lane);
                } else {
                    self.next_for(lane);
                }
            }
        }
    }

    /// Counts the playout of a lane, which ends at so many passes, with what it pays where the last step began.
    fn note(&mut self, step: &Step, lane: usize, n_passes: u64) {
        let goals = &self.now[self.kept.len() + 2..];
        let tally = &mut self.tallies[self.order_of[lane]];
        tally.n_playouts += 1;
        tally.n_steps = tally.n_steps.wrapping_add(n_passes);
        for (role, payoffs) in step.step.payoffs.iter().enumerate() {
            if let Some(&(value, _)) = payoffs.iter().find(|&&(_, goal)| goals[goal].lane(lane)) {
                tally.payoff_sums[role] += value;
                tally.square_sums[role] += value * value;
            }
        }
    }

    /// Ends the playouts that have lasted since the last call. To be called after the gate, whose step it is.
    fn cut_lasting(&mut self, gate: &Step) {
        for lane in (self.lasting & self.active).lanes() {
            self.note(gate, lane, self.n_passes);
            let order = self.order_of[lane];
            self.tallies[order].n_cut += 1;
            if self.rest[self.n_start].lane(lane) {
                // The reserve goes back, and the lane is seated anew, since the kernel has not restarted it.
                self.n_left[order] += 1;
            }
            self.next_for(lane);
        }
        self.lasting = Plane::ONES;
        self.last_cut = self.n_passes;
    }
}

struct Bulk<'l, 'o> {
    lanes: &'l mut Lanes<'o>,
    steps: &'l mut [Step],
    round: &'l [usize],
    rng: &'l mut PlaneRng,
}

impl Work for Bulk<'_, '_> {
    #[inline(always)]
    fn work(self) {
        self.lanes.bulk(self.steps, self.round, self.rng);
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
