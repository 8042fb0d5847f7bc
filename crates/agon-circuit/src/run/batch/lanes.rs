//! The lanes of a batch: which playout runs where, and the loop over steps.

use agon_game::{PlayoutRequest, PlayoutStats};

use super::code::Step;
use super::count::{Counts, Left};
use super::expand::Expander;
use super::late::Late;
use super::sharing::Sharing;
use crate::native::{Work, with_wide_registers};
use crate::run::batch::playout::Restart;
use crate::run::batch::random::PlaneRng;
use crate::{Bits, Plane};

/// The lanes while at most 256 requests are played.
///
/// Each request has some lanes of its own, and each lane a number of its playouts, which it plays
/// one after another. Playouts that it has not started are handed over to lanes of the same request
/// that have none left. A lane whose playout has ended waits for its gate: the step after which the
/// phase is that of its start. There the kernel itself restarts the lanes that have playouts left
/// (they *may* restart). So exactly the requested playouts are started, and each is played to its
/// end. Events are counted in all lanes at once; single lanes are not examined before the end.
#[derive(Default)]
pub(super) struct Lanes {
    n_kept: usize,
    /// By request: where its lanes end.
    lane_ends: Vec<usize>,
    max_steps: u64,
    /// Number of passes so far. A pass runs one step in all lanes.
    n_passes: u64,
    /// Number of passes when overlong playouts were last cut off.
    last_cut: u64,
    /// The lanes whose playout has lasted since then.
    lasting: Plane,
    /// Playouts that have not started yet.
    left: Left,
    sharing: Sharing,
    /// By step of a round: the lanes whose playouts start after it.
    starting: Vec<Plane>,
    /// Numbers of playouts that have ended, and that were cut off.
    ended: Counts,
    cut: Counts,
    /// Number of passes in which a lane made no step.
    idle: Counts,
    /// By step of a round and goal: the number of playouts that ended with it.
    goals: Vec<Vec<Counts>>,
    /// Input of a step: the state and which lanes wait. Output: the same, and answers. The two are
    /// swapped after each step.
    now: Vec<Plane>,
    after: Vec<Plane>,
    /// The rest of the input: start states, which lanes may restart, levels of moves, random bits.
    rest: Vec<Plane>,
    n_start: usize,
    /// Lanes whose steps are rejected.
    late: Late,
    /// The start states with all their bits.
    loaded: Vec<Plane>,
}

/// At most 256 requests to be played.
pub(super) struct Job<'r> {
    /// The base bits that play depends on.
    pub(super) kept: &'r [usize],
    pub(super) requests: &'r [PlayoutRequest<Bits>],
    /// By request: how many steps of a round are made before its playouts start.
    pub(super) delays: &'r [usize],
    pub(super) restart: Restart,
    /// The planes of the levels of moves. Empty if none is preferred.
    pub(super) levels: &'r [Plane],
    pub(super) max_steps: u64,
}

/// The code and the random numbers that lanes are run with.
pub(super) struct Machine<'m> {
    pub(super) steps: &'m mut [Step],
    /// The steps of a round.
    pub(super) round: &'m [usize],
    pub(super) rng: &'m mut PlaneRng,
    /// Where steps may be rejected: tries all moves of lanes that are rejected repeatedly.
    pub(super) expander: Option<&'m mut Expander>,
}

impl Lanes {
    /// Takes a job, in place of the last one. Memory is reused.
    pub(super) fn take(&mut self, job: &Job<'_>, steps: &[Step], round: &[usize]) {
        self.begin(job, steps, round);
        self.assign(job);
    }

    /// Works on the job by rounds of steps, for `n_passes` passes or a few more. Returns how many
    /// of them are left.
    pub(super) fn step(&mut self, n_passes: u64, machine: &mut Machine<'_>, kept: &[usize]) -> u64 {
        let enough = self.n_passes.saturating_add(n_passes);
        while !self.is_done() && self.n_passes < enough {
            with_wide_registers(Rounds { lanes: self, machine, kept, enough });
            if self.n_passes - self.last_cut >= self.max_steps {
                self.cut_lasting();
            }
        }
        enough.saturating_sub(self.n_passes)
    }

    /// Writes the results of each request. The job must be done.
    pub(super) fn sum_up(&mut self, steps: &[Step], round: &[usize], stats: &mut [PlayoutStats]) {
        debug_assert!(self.is_done(), "results are read when all playouts have ended");
        let counts = [&mut self.ended, &mut self.cut, &mut self.idle];
        counts.into_iter().chain(self.goals.iter_mut().flatten()).for_each(Counts::flush);
        with_wide_registers(Sums { lanes: self, steps, round, stats });
    }

    /// Clears the last job and allocates memory for this one.
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
        let n_drawn = most(|step| step.step.n_levels + step.step.n_random);
        self.rest.resize(self.n_start + 1 + n_drawn, Plane::ZERO);
        self.rest[self.n_start + 1..][..job.levels.len()].copy_from_slice(job.levels);
    }

    /// Gives every lane its first playout and the number of those to follow. Lanes without any wait
    /// forever.
    fn assign(&mut self, job: &Job<'_>) {
        share_lanes(job.requests, &mut self.lane_ends);
        let n_words = job.kept.last().map_or(0, |&last| last / 64 + 1);
        self.loaded.clear();
        self.loaded.resize(64 * n_words, Plane::ZERO);
        let (mut start, mut playing) = (0, Plane::ZERO);
        for (idx, (request, &end)) in job.requests.iter().zip(&self.lane_ends).enumerate() {
            let lanes = Plane::range(start..end);
            if let Some(n @ 1..) = end.checked_sub(start) {
                let (share, n_more) =
                    (request.n_playouts / n as u64, (request.n_playouts % n as u64) as usize);
                let delay = job.delays[idx];
                let n_started = u64::from(delay == 0);
                self.left.set(lanes, share - n_started);
                self.left.set(Plane::range(start..start + n_more), share + 1 - n_started);
                let gate = delay.checked_sub(1).unwrap_or(self.starting.len() - 1);
                self.starting[gate] = self.starting[gate] | lanes;
                if delay == 0 {
                    playing = playing | lanes;
                }
                // A request has many lanes, and few bits of a state are set. Transposing the states
                // of all lanes would take longer.
                for (word, planes) in
                    request.state.words().iter().zip(self.loaded.as_chunks_mut::<64>().0)
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
        self.left.update();
        self.sharing.begin(&self.lane_ends);
        self.lasting = playing;
        for (plane, &bit) in self.now.iter_mut().zip(job.kept) {
            *plane = self.loaded[bit];
        }
        let (now, rest) = (&self.now[..self.n_kept], &mut self.rest[..self.n_start]);
        rest.copy_from_slice(&now[..rest.len()]);
        self.now[self.n_kept] = !playing;
    }

    /// Returns whether all lanes wait and none has a playout left.
    #[inline(always)]
    pub(super) fn is_done(&self) -> bool {
        self.now[self.n_kept] == Plane::ONES && self.left.any().is_zero()
    }

    /// Runs whole rounds, until all is done, or enough passes are made, or it is time to cut off
    /// overlong playouts.
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
                let first_random = self.n_start + 1 + step.step.n_levels;
                rng.fill(&mut self.rest[first_random..first_random + step.step.n_random]);
                step.kernel.run(&self.now, &self.rest, &mut self.after);
                std::mem::swap(&mut self.now, &mut self.after);
                self.n_passes += 1;

                let ended = self.now[waiting + 1];
                let idle = ended | waited;
                self.lasting = self.lasting & !ended;
                self.ended.add(ended);
                if let Some(expander) = expander {
                    let first_rejected = waiting + 2 + step.step.n_goals;
                    let pass = Pass { place, first_rejected, idle };
                    self.handle_rejected(pass, kept, expander, rng);
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
            if self.left.is_exact() {
                self.sharing.share(&mut self.left, self.now[waiting]);
            }
        }
    }

    /// Counts the lanes that have made no step because it was rejected or because they are late.
    /// Lanes that are rejected repeatedly are resolved by trying all their moves: one of them is
    /// made, or else their playout has ended.
    fn handle_rejected(
        &mut self,
        pass: Pass,
        kept: &[usize],
        expander: &mut Expander,
        rng: &mut PlaneRng,
    ) {
        let Pass { place, first_rejected: first, idle } = pass;
        let (rejected, late) = (self.now[first], self.now[first + 1]);
        let stuck = self.late.note(rejected, late, idle);
        let mut stays = rejected | late;
        if !stuck.is_zero() {
            let resolved = self.late.resolve(stuck, &mut self.now, kept, expander, rng);
            let waiting = self.n_kept;
            let over = stuck & !resolved;
            self.ended.add(over);
            self.lasting = self.lasting & !over;
            for (goal, counts) in self.goals[place].iter_mut().enumerate() {
                counts.add(self.now[waiting + 2 + goal] & over);
            }
            // They wait for the next gate.
            self.now[waiting] = self.now[waiting] | over;
            stays = stays & !resolved;
        }
        self.late.stayed(stays & !idle);
        self.idle.add(idle | stays);
    }

    /// Cuts off the playouts that have lasted since the last call. They count with the payoffs
    /// before their last step. Must be called after a gate.
    fn cut_lasting(&mut self) {
        let waiting = self.n_kept;
        let lasting = self.lasting & !self.now[waiting];
        // A late lane has the goals of another phase here, and a pass is not always a step.
        let lasting =
            lasting & self.late.overlong(lasting, self.n_passes - self.last_cut, self.max_steps);
        self.ended.add(lasting);
        self.cut.add(lasting);
        let gate = self.goals.len() - 1;
        for (goal, counts) in self.goals[gate].iter_mut().enumerate() {
            counts.add(self.now[waiting + 2 + goal] & lasting);
        }
        // They wait for the next gate, like all lanes whose playout has ended.
        self.now[waiting] = self.now[waiting] | lasting;
        // The next playouts start a little later, so they have not lasted at the next call.
        self.lasting = !self.now[waiting];
        self.late.forget(lasting);
        self.last_cut = self.n_passes;
    }
}

/// Distributes the lanes in proportion to the steps that the playouts are expected to take, and
/// writes where the lanes of each request end.
///
/// Every request for playouts gets a lane, and none gets more lanes than playouts.
fn share_lanes(requests: &[PlayoutRequest<Bits>], lane_ends: &mut Vec<usize>) {
    debug_assert!(requests.len() <= Plane::LANES, "there is a lane for every request");
    let known = requests.iter().map(|request| request.expected_steps).filter(|&steps| steps > 0);
    let (n_known, n_steps) =
        known.fold((0_u64, 0_u64), |(n, sum), steps| (n + 1, sum + u64::from(steps)));
    let usual = n_steps.checked_div(n_known).unwrap_or(0);
    let weight = |request: &PlayoutRequest<Bits>| {
        let steps =
            if request.expected_steps > 0 { u64::from(request.expected_steps) } else { usual };
        // A lane also waits a little before it starts its next playout.
        u128::from(request.n_playouts) * u128::from(steps + 1)
    };
    let n_all: u128 = requests.iter().map(weight).sum();
    let n_wanting = requests.iter().filter(|request| request.n_playouts > 0).count();
    let spare = (Plane::LANES - n_wanting) as u64;
    // A division of 64-bit numbers is many times as fast.
    let part =
        |weight: u128| match (u64::try_from(n_all), u64::try_from(weight * u128::from(spare))) {
            (Ok(n_all), Ok(product)) => product / n_all,
            _ => (u128::from(spare) * weight / n_all) as u64,
        };
    // What the share of one request is rounded down by goes to the next ones, so no lane is left
    // over.
    let (mut end, mut weight_so_far, mut given) = (0, 0, 0);
    lane_ends.clear();
    lane_ends.extend(requests.iter().map(|request| {
        let n = request.n_playouts;
        if n > 0 {
            weight_so_far += weight(request);
            let more = part(weight_so_far) - given;
            given += more;
            end += (1 + more).min(n) as usize;
        }
        end
    }));
}

/// One pass in which steps may have been rejected.
struct Pass {
    /// The place of the step in the round.
    place: usize,
    /// The plane of rejected lanes, which is followed by that of late lanes.
    first_rejected: usize,
    /// The lanes that have ended or waited.
    idle: Plane,
}

/// The loop over rounds.
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

/// Sums up what was counted, by request.
struct Sums<'l> {
    lanes: &'l Lanes,
    steps: &'l [Step],
    round: &'l [usize],
    stats: &'l mut [PlayoutStats],
}

impl Work for Sums<'_> {
    #[inline(always)]
    fn work(self) {
        let Sums {
            lanes: Lanes { lane_ends, n_passes, ended, cut, idle, goals, .. },
            steps,
            round,
            stats,
        } = self;
        let mut start = 0;
        for (stats, &end) in stats.iter_mut().zip(lane_ends) {
            let lanes = start..end;
            stats.n_playouts = ended.sum(&lanes);
            stats.n_cut = cut.sum(&lanes);
            stats.n_steps = (end - start) as u64 * n_passes - idle.sum(&lanes);
            for (goals, &idx) in goals.iter().zip(round) {
                for (role, of_role) in steps[idx].step.payoffs.iter().enumerate() {
                    for &(value, goal) in of_role {
                        let n = goals[goal].sum(&lanes) as f64;
                        stats.payoff_sums[role] += value * n;
                        stats.square_sums[role] += value * value * n;
                    }
                }
            }
            start = end;
        }
    }
}
