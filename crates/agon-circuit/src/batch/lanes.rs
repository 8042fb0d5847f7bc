//! Who plays what in which lane.

use agon_game::{Order, Tally};

use super::Step;
use super::count::Counts;
use crate::jit::{Work, with_wide_registers};
use crate::playout::Restart;
use crate::random::PlaneRng;
use crate::{Bits, Plane, transpose};

/// The lanes while at most 256 orders are worked off, which all start in the same phase.
///
/// Each order has some lanes of its own, and each lane a number of its playouts, which it plays one after another. A lane whose
/// playout has ended waits for the gate: the step after which the phase is that of the starts. There the kernel itself restarts the
/// lanes that have playouts left (they *may* restart). So exactly the ordered playouts are started, and each is played to its
/// end. What happens is counted in all lanes at once; nothing is looked at lane by lane until the end.
pub(super) struct Lanes<'o> {
    kept: &'o [usize],
    orders: &'o [&'o Order<Bits>],
    /// By order: where its lanes end.
    lane_ends: Vec<usize>,
    max_steps: u64,
    /// Passes made so far.
    n_passes: u64,
    /// Passes at the last look at overlong playouts.
    last_cut: u64,
    /// The lanes whose playout has lasted since the last look at overlong ones.
    lasting: Plane,
    /// Playouts that are not started yet.
    left: Counts,
    /// Playouts that have ended, and those that were cut off.
    ended: Counts,
    cut: Counts,
    /// Passes in which no step was made.
    idle: Counts,
    /// By step of a round and goal: how often a playout ended with it.
    goals: Vec<Vec<Counts>>,
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
        max_steps: u64,
    ) -> Lanes<'o> {
        let n_playouts: Vec<u64> = orders.iter().map(|order| order.n_playouts).collect();
        Lanes {
            kept,
            orders,
            lane_ends: share_lanes(&n_playouts),
            max_steps: max_steps.max(1),
            n_passes: 0,
            last_cut: 0,
            lasting: Plane::ONES,
            left: Counts::default(),
            ended: Counts::default(),
            cut: Counts::default(),
            idle: Counts::default(),
            goals: Vec::new(),
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
        self.goals = round.iter().map(|&idx| vec![Counts::default(); steps[idx].step.n_goals]).collect();
        self.seat();
        while !self.is_done() {
            with_wide_registers(Rounds { lanes: &mut self, steps, round, rng });
            if self.n_passes - self.last_cut >= self.max_steps {
                self.cut_lasting();
            }
        }
        let payoffs: Vec<_> = round.iter().map(|&idx| &steps[idx].step.payoffs[..]).collect();
        self.tallies(&payoffs)
    }

    /// Gives every lane its first playout and the number of those to follow. Lanes without any wait for ever.
    fn seat(&mut self) {
        let n_lanes = self.lane_ends.last().copied().unwrap_or(0);
        let mut start = 0;
        let mut waits = Plane::ONES;
        let mut order_of = Vec::with_capacity(n_lanes);
        for (idx, (order, &end)) in self.orders.iter().zip(&self.lane_ends).enumerate() {
            let n = (end - start) as u64;
            for lane in start..end {
                let share = order.n_playouts / n + u64::from(((lane - start) as u64) < order.n_playouts % n);
                self.left.set(lane, share - 1);
                waits.set_lane(lane, false);
                order_of.push(idx);
            }
            start = end;
        }
        let state = |lane: usize| self.orders[order_of[lane]].state.words();
        transpose_kept(&mut self.now, n_lanes, state, self.kept);
        let (now, rest) = (&self.now[..self.kept.len()], &mut self.rest[..self.n_start]);
        rest.copy_from_slice(&now[..rest.len()]);
        self.now[self.kept.len()] = waits;
    }

    /// Whether all lanes wait and none has anything to wait for.
    #[inline(always)]
    fn is_done(&self) -> bool {
        self.now[self.kept.len()] == Plane::ONES && self.left.any().is_zero()
    }

    /// Whole rounds, until all is done or it is time to look at overlong playouts.
    #[inline(always)]
    fn rounds(&mut self, steps: &mut [Step], round: &[usize], rng: &mut PlaneRng) {
        let waiting = self.kept.len();
        while !self.is_done() && self.n_passes - self.last_cut < self.max_steps {
            for (place, &idx) in round.iter().enumerate() {
                let step = &mut steps[idx];
                let waited = self.now[waiting];
                let may = self.left.any();
                self.rest[self.n_start] = may;
                let first_random = self.n_start + 1;
                rng.fill(&mut self.rest[first_random..first_random + step.step.n_random]);
                step.kernel.run(&self.now, &self.rest, &mut self.after);
                std::mem::swap(&mut self.now, &mut self.after);
                self.n_passes += 1;

                let ended = self.now[waiting + 1];
                let idle = ended | waited;
                self.lasting = self.lasting & !ended;
                self.ended.add(ended);
                self.idle.add(idle);
                let goals = &mut self.goals[place];
                let mut goal = 0;
                while goal < goals.len() {
                    goals[goal].add(self.now[waiting + 2 + goal] & ended);
                    goal += 1;
                }
                if step.place.is_gate {
                    self.left.subtract(idle & may);
                }
            }
        }
    }

    /// Ends the playouts that have lasted since the last call: they count with what the last step's beginning paid. To be
    /// called after a gate.
    fn cut_lasting(&mut self) {
        let waiting = self.kept.len();
        let lasting = self.lasting & !self.now[waiting];
        self.ended.add(lasting);
        self.cut.add(lasting);
        let gate = self.goals.len() - 1;
        for (goal, counts) in self.goals[gate].iter_mut().enumerate() {
            counts.add(self.now[waiting + 2 + goal] & lasting);
        }
        // They wait for the next gate, like all others whose playout has ended; without playouts left, for ever.
        self.now[waiting] = self.now[waiting] | lasting;
        // The next ones start a little later, and have not lasted when this is looked at again.
        self.lasting = !lasting;
        self.last_cut = self.n_passes;
    }

    /// What was counted, by order.
    fn tallies(&self, payoffs: &[&[Vec<(f64, usize)>]]) -> Vec<Tally> {
        let n_roles = payoffs.first().map_or(0, |payoffs| payoffs.len());
        let mut start = 0;
        let mut tallies = Vec::with_capacity(self.orders.len());
        for &end in &self.lane_ends {
            let lanes = start..end;
            let mut tally = Tally::new(n_roles);
            tally.n_playouts = self.ended.sum(lanes.clone());
            tally.n_cut = self.cut.sum(lanes.clone());
            tally.n_steps = lanes.len() as u64 * self.n_passes - self.idle.sum(lanes.clone());
            for (payoffs, goals) in payoffs.iter().zip(&self.goals) {
                for (role, of_role) in payoffs.iter().enumerate() {
                    for &(value, goal) in of_role {
                        let n = goals[goal].sum(lanes.clone()) as f64;
                        tally.payoff_sums[role] += value * n;
                        tally.square_sums[role] += value * value * n;
                    }
                }
            }
            tallies.push(tally);
            start = end;
        }
        tallies
    }
}

/// Shares out the lanes in proportion to the playouts: where the lanes of each order end. Every order that wants a playout has a
/// lane, and none has more lanes than playouts.
fn share_lanes(n_playouts: &[u64]) -> Vec<usize> {
    debug_assert!(n_playouts.len() <= Plane::LANES, "there is a lane for every order");
    let n_all: u128 = n_playouts.iter().map(|&n| u128::from(n)).sum();
    let n_wanting = n_playouts.iter().filter(|&&n| n > 0).count();
    let spare = (Plane::LANES - n_wanting) as u128;
    let mut end = 0;
    n_playouts
        .iter()
        .map(|&n| {
            if n > 0 {
                let more = spare * u128::from(n) / n_all;
                end += (1 + more as u64).min(n) as usize;
            }
            end
        })
        .collect()
}

struct Rounds<'l, 'o> {
    lanes: &'l mut Lanes<'o>,
    steps: &'l mut [Step],
    round: &'l [usize],
    rng: &'l mut PlaneRng,
}

impl Work for Rounds<'_, '_> {
    #[inline(always)]
    fn work(self) {
        self.lanes.rounds(self.steps, self.round, self.rng);
    }
}

/// Writes the kept bits of states to lanes.
fn transpose_kept<'s>(
    planes: &mut [Plane],
    n_states: usize,
    state: impl Fn(usize) -> &'s [u64],
    kept: &[usize],
) {
    let n_words = kept.last().map_or(0, |&last| last / 64 + 1);
    let mut all = vec![Plane::ZERO; 64 * n_words];
    transpose::load(n_states, state, &mut all);
    for (plane, &bit) in planes.iter_mut().zip(kept) {
        *plane = all[bit];
    }
}
