//! Who plays what in which lane.

use agon_game::{Order, Tally};

use super::Step;
use super::count::{Counts, Left};
use super::expand::Expander;
use super::late::Late;
use super::sharing::Sharing;
use crate::jit::{Work, with_wide_registers};
use crate::playout::Restart;
use crate::random::PlaneRng;
use crate::{Bits, Plane};

/// The lanes while at most 256 orders are worked off.
///
/// Each order has some lanes of its own, and each lane a number of its playouts, which it plays one after another. What it has not
/// started it hands on to lanes of its order that have nothing left. A lane whose playout has ended waits for its gate: the step
/// after which the phase is that of its start. There the kernel itself restarts the lanes that have playouts left (they *may* restart). So exactly the ordered playouts are started, and each is played to its
/// end. What happens is counted in all lanes at once; nothing is looked at lane by lane until the end.
#[derive(Default)]
pub(super) struct Lanes {
    n_kept: usize,
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
    left: Left,
    sharing: Sharing,
    /// By step of a round: the lanes whose playouts start after it.
    starting: Vec<Plane>,
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
    /// Who has been refused how often, where steps may be rejected.
    late: Late,
    /// The start states with all their bits.
    loaded: Vec<Plane>,
}

/// What is to be played: at most 256 orders.
pub(super) struct Job<'o> {
    /// The base bits that play depends on.
    pub(super) kept: &'o [usize],
    pub(super) orders: &'o [Order<Bits>],
    /// By order: how many steps of a round are made before its playouts start.
    pub(super) delays: &'o [usize],
    pub(super) restart: Restart,
    pub(super) max_steps: u64,
}

/// What the lanes are played with.
pub(super) struct Machine<'m> {
    pub(super) steps: &'m mut [Step],
    /// The steps of a round.
    pub(super) round: &'m [usize],
    pub(super) rng: &'m mut PlaneRng,
    /// What settles lanes that are refused time and again, where steps may be rejected.
    pub(super) expander: Option<&'m mut Expander>,
}

impl Lanes {
    /// Takes a job, in place of the last one. Memory is used again.
    pub(super) fn take(&mut self, job: &Job<'_>, steps: &[Step], round: &[usize]) {
        self.begin(job, steps, round);
        self.seat(job);
    }

    /// Works on the job by rounds of steps: so many passes, or a few more. Returns how many are left, or 0.
    pub(super) fn go_on(
        &mut self,
        n_passes: u64,
        machine: &mut Machine<'_>,
        kept: &[usize],
    ) -> u64 {
        let enough = self.n_passes.saturating_add(n_passes);
        while !self.is_done() && self.n_passes < enough {
            with_wide_registers(Rounds { lanes: self, machine, kept, enough });
            if self.n_passes - self.last_cut >= self.max_steps {
                self.cut_lasting();
            }
        }
        enough.saturating_sub(self.n_passes)
    }

    /// What came of each order, once the job is done.
    pub(super) fn sum_up(&mut self, steps: &[Step], round: &[usize], tallies: &mut [Tally]) {
        debug_assert!(self.is_done(), "playouts are counted when they have ended");
        let counts = [&mut self.ended, &mut self.cut, &mut self.idle];
        counts.into_iter().chain(self.goals.iter_mut().flatten()).for_each(Counts::settle);
        with_wide_registers(Sums { lanes: self, steps, round, tallies });
    }

    /// Forgets the last job and makes room for this one.
    fn begin(&mut self, job: &Job<'_>, steps: &[Step], round: &[usize]) {
        let most = |count: fn(&Step) -> usize| {
            round.iter().map(|&idx| count(&steps[idx])).max().unwrap_or(0)
        };
        self.n_kept = job.kept.len();
        self.n_start = if job.restart == Restart::Planes { self.n_kept } else { 0 };
        self.max_steps = job.max_steps.max(1);
        (self.n_passes, self.last_cut) = (0, 0);
        self.left.clear();
        self.starting.clear();
        self.starting.resize(round.len(), Plane::ZERO);
        for counts in [&mut self.ended, &mut self.cut, &mut self.idle] {
            counts.clear();
        }
        self.goals.resize(round.len(), Vec::new());
        for (goals, &idx) in self.goals.iter_mut().zip(round) {
            goals.iter_mut().for_each(Counts::clear);
            goals.resize(steps[idx].step.n_goals, Counts::default());
        }
        self.late.begin();
        let n_planes = self.n_kept + 4 + most(|step| step.step.n_goals);
        self.now.resize(n_planes, Plane::ZERO);
        self.after.resize(n_planes, Plane::ZERO);
        self.rest.resize(self.n_start + 1 + most(|step| step.step.n_random), Plane::ZERO);
    }

    /// Gives every lane its first playout and the number of those to follow. Lanes without any wait for ever.
    fn seat(&mut self, job: &Job<'_>) {
        share_lanes(job.orders, &mut self.lane_ends);
        let n_words = job.kept.last().map_or(0, |&last| last / 64 + 1);
        self.loaded.clear();
        self.loaded.resize(64 * n_words, Plane::ZERO);
        let (mut start, mut playing) = (0, Plane::ZERO);
        for (idx, (order, &end)) in job.orders.iter().zip(&self.lane_ends).enumerate() {
            let lanes = Plane::range(start..end);
            if let Some(n @ 1..) = end.checked_sub(start) {
                let (share, n_more) =
                    (order.n_playouts / n as u64, (order.n_playouts % n as u64) as usize);
                let delay = job.delays[idx];
                let n_started = u64::from(delay == 0);
                self.left.set(lanes, share - n_started);
                self.left.set(Plane::range(start..start + n_more), share + 1 - n_started);
                let gate = delay.checked_sub(1).unwrap_or(self.starting.len() - 1);
                self.starting[gate] = self.starting[gate] | lanes;
                if delay == 0 {
                    playing = playing | lanes;
                }
                // An order has many lanes, and few bits of a state are set: to turn over what stands in all lanes takes longer.
                for (word, planes) in
                    order.state.words().iter().zip(self.loaded.as_chunks_mut::<64>().0)
                {
                    let mut left = *word;
                    while left != 0 {
                        let plane = &mut planes[left.trailing_zeros() as usize];
                        *plane = *plane | lanes;
                        left &= left - 1;
                    }
                }
            }
            start = end;
        }
        self.left.look();
        self.sharing.begin(&self.lane_ends);
        self.lasting = playing;
        for (plane, &bit) in self.now.iter_mut().zip(job.kept) {
            *plane = self.loaded[bit];
        }
        let (now, rest) = (&self.now[..self.n_kept], &mut self.rest[..self.n_start]);
        rest.copy_from_slice(&now[..rest.len()]);
        self.now[self.n_kept] = !playing;
    }

    /// Whether all lanes wait and none has anything to wait for.
    #[inline(always)]
    pub(super) fn is_done(&self) -> bool {
        self.now[self.n_kept] == Plane::ONES && self.left.any().is_zero()
    }

    /// Whole rounds, until all is done, or enough passes are made, or it is time to look at overlong playouts.
    #[inline(always)]
    fn rounds(&mut self, machine: &mut Machine<'_>, kept: &[usize], enough: u64) {
        let Machine { steps, round, rng, expander } = machine;
        let waiting = self.n_kept;
        let enough = enough.min(self.last_cut.saturating_add(self.max_steps));
        while !self.is_done() && self.n_passes < enough {
            for (place, &idx) in round.iter().enumerate() {
                let step = &mut steps[idx];
                let waited = self.now[waiting];
                let may = self.left.any() & self.starting[place];
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
                if let Some(expander) = expander {
                    self.refused(place, waiting + 2 + step.step.n_goals, idle, kept, expander, rng);
                } else {
                    self.idle.add(idle);
                }
                let goals = &mut self.goals[place];
                let mut goal = 0;
                while goal < goals.len() {
                    goals[goal].add(self.now[waiting + 2 + goal] & ended);
                    goal += 1;
                }
                if step.place.is_gate {
                    self.left.take(idle & may);
                }
            }
            if self.left.is_little() {
                self.sharing.share(&mut self.left, self.now[waiting]);
            }
        }
    }

    /// Counts the lanes that have made no step because it was rejected or because they are late, and settles those that are refused
    /// time and again: by trying all their moves, of which one is made, or else their playout has ended.
    fn refused(
        &mut self,
        place: usize,
        first: usize,
        idle: Plane,
        kept: &[usize],
        expander: &mut Expander,
        rng: &mut PlaneRng,
    ) {
        let (rejected, late) = (self.now[first], self.now[first + 1]);
        let stuck = self.late.note(rejected, late, idle);
        let mut stays = rejected | late;
        if !stuck.is_zero() {
            let settled = self.late.settle(stuck, &mut self.now, kept, expander, rng);
            let waiting = self.n_kept;
            let over = stuck & !settled;
            self.ended.add(over);
            self.lasting = self.lasting & !over;
            for (goal, counts) in self.goals[place].iter_mut().enumerate() {
                counts.add(self.now[waiting + 2 + goal] & over);
            }
            // They wait for the next gate.
            self.now[waiting] = self.now[waiting] | over;
            stays = stays & !settled;
        }
        self.late.stayed(stays & !idle);
        self.idle.add(idle | stays);
    }

    /// Ends the playouts that have lasted since the last call: they count with what the last step's beginning paid. To be
    /// called after a gate.
    fn cut_lasting(&mut self) {
        let waiting = self.n_kept;
        let lasting = self.lasting & !self.now[waiting];
        // A lane that is late has the goals of another phase here; and a pass is not always a step.
        let lasting =
            lasting & self.late.overlong(lasting, self.n_passes - self.last_cut, self.max_steps);
        self.ended.add(lasting);
        self.cut.add(lasting);
        let gate = self.goals.len() - 1;
        for (goal, counts) in self.goals[gate].iter_mut().enumerate() {
            counts.add(self.now[waiting + 2 + goal] & lasting);
        }
        // They wait for the next gate, like all others whose playout has ended; without playouts left, for ever.
        self.now[waiting] = self.now[waiting] | lasting;
        // The next ones start a little later, and have not lasted when this is looked at again.
        self.lasting = !self.now[waiting];
        self.late.forget(lasting);
        self.last_cut = self.n_passes;
    }
}

/// Shares out the lanes in proportion to the steps that the playouts are thought to take: where the lanes of each order end. Every
/// order that wants a playout has a lane, and none has more lanes than playouts.
fn share_lanes(orders: &[Order<Bits>], lane_ends: &mut Vec<usize>) {
    debug_assert!(orders.len() <= Plane::LANES, "there is a lane for every order");
    let known = orders.iter().map(|order| order.expected_steps).filter(|&steps| steps > 0);
    let (n_known, n_steps) =
        known.fold((0_u64, 0_u64), |(n, sum), steps| (n + 1, sum + u64::from(steps)));
    let usual = n_steps.checked_div(n_known).unwrap_or(0);
    let weight = |order: &Order<Bits>| {
        let steps = if order.expected_steps > 0 { u64::from(order.expected_steps) } else { usual };
        // A lane that starts its next playout waits a little, too.
        u128::from(order.n_playouts) * u128::from(steps + 1)
    };
    let n_all: u128 = orders.iter().map(weight).sum();
    let n_wanting = orders.iter().filter(|order| order.n_playouts > 0).count();
    let spare = (Plane::LANES - n_wanting) as u64;
    // The plain division of numbers that are not huge is many times as fast.
    let part =
        |weight: u128| match (u64::try_from(n_all), u64::try_from(weight * u128::from(spare))) {
            (Ok(n_all), Ok(product)) => product / n_all,
            _ => (u128::from(spare) * weight / n_all) as u64,
        };
    // What one order's share is rounded down by goes to those after it, so that no lane is left over.
    let (mut end, mut weight_so_far, mut given) = (0, 0, 0);
    lane_ends.clear();
    lane_ends.extend(orders.iter().map(|order| {
        let n = order.n_playouts;
        if n > 0 {
            weight_so_far += weight(order);
            let more = part(weight_so_far) - given;
            given += more;
            end += (1 + more).min(n) as usize;
        }
        end
    }));
}

struct Rounds<'l, 'm> {
    lanes: &'l mut Lanes,
    machine: &'l mut Machine<'m>,
    kept: &'l [usize],
    enough: u64,
}

impl Work for Rounds<'_, '_> {
    #[inline(always)]
    fn work(self) {
        self.lanes.rounds(self.machine, self.kept, self.enough);
    }
}

/// What was counted, by order.
struct Sums<'l> {
    lanes: &'l Lanes,
    steps: &'l [Step],
    round: &'l [usize],
    tallies: &'l mut [Tally],
}

impl Work for Sums<'_> {
    #[inline(always)]
    fn work(self) {
        let Sums {
            lanes: Lanes { lane_ends, n_passes, ended, cut, idle, goals, .. },
            steps,
            round,
            tallies,
        } = self;
        let mut start = 0;
        for (tally, &end) in tallies.iter_mut().zip(lane_ends) {
            let lanes = start..end;
            tally.n_playouts = ended.sum(&lanes);
            tally.n_cut = cut.sum(&lanes);
            tally.n_steps = (end - start) as u64 * n_passes - idle.sum(&lanes);
            for (goals, &idx) in goals.iter().zip(round) {
                for (role, of_role) in steps[idx].step.payoffs.iter().enumerate() {
                    for &(value, goal) in of_role {
                        let n = goals[goal].sum(&lanes) as f64;
                        tally.payoff_sums[role] += value * n;
                        tally.square_sums[role] += value * value * n;
                    }
                }
            }
            start = end;
        }
    }
}
