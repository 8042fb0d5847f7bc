//! 256 games at once, by one circuit that has the random choice of moves among its gates.
//!
//! Start states and numbers of playouts go in; sums of payoffs come out. Each lane plays its own
//! game. A lane whose game has ended starts the next one, and every playout that is started is
//! played to its end and counted, so short games are not favoured.
//!
//! - `playout` builds the logic of one step: the rules, a `sampler` that draws a legal move for
//!   every role, and the restart of lanes whose game has ended.
//! - `foresight` restricts the moves that are drawn to those that win at once, or do not lose at
//!   once, as part of the same logic. `preference` restricts them further to moves of a high level.
//! - `lanes` distributes playouts over lanes and runs the steps. All lanes are in the same phase.
//!   Results are counted in all lanes at once (`count`). A lane without work takes over playouts of
//!   the same request that have not started (`sharing`).
//! - `late` handles lanes whose step was rejected ([`Outputs::rejected`](crate::Outputs)): they
//!   draw again, and after several rejections all their moves are tried.
//! - `expand` makes one step from many states, each move in a lane of its own. It writes states,
//!   legal moves and payoffs of all children into buffers that are reused. `look_ahead` does the
//!   same with one kernel that computes only which children are terminal.
//!
//! A portable interpreter and native AVX2 code give the same results bit for bit.

mod code;
mod count;
mod expand;
pub(crate) mod foresight;
mod lanes;
mod late;
pub(crate) mod playout;
pub(crate) mod preference;
pub(crate) mod random;
pub(crate) mod sampler;
mod sharing;

use std::ops::Range;
use std::sync::Arc;

use agon_game::{
    Batch, Children, PlayoutKind, PlayoutRequest, PlayoutStats, Preferences, Shape,
    TerminalChildren,
};

use crate::run::kernel::Backend;
use crate::{Bits, Circuit, Input, Plane, Turns};
pub(crate) use code::BatchCode;
use code::{MoveChoice, Step};
use expand::Expander;
use foresight::Foresight;
use playout::{Place, Restart};
use preference::{n_level_planes, write_levels};
use random::PlaneRng;

/// Options for running a circuit in batches.
#[derive(Clone, Debug, Default)]
pub struct BatchOptions {
    /// The executor.
    pub backend: Backend,
    /// The seed. The same seed gives the same playouts with every backend.
    pub seed: u64,
    /// The waiting moves, if the players provably take turns.
    pub turns: Option<Turns>,
}

/// A circuit run 256 games at a time. One per thread.
pub struct BatchCircuit {
    code: Arc<BatchCode>,
    rng: PlaneRng,
    /// How the moves of playouts are chosen.
    choice: MoveChoice,
    /// The levels of moves. Empty until some are preferred.
    levels: Vec<Plane>,
    /// The steps of playouts that have been needed so far.
    steps: Vec<Step>,
    expander: Option<Expander>,
    lanes: lanes::Lanes,
    requested: Requested,
}

/// The playouts that were requested. Lanes are given 256 requests at a time.
struct Requested {
    requests: Vec<PlayoutRequest<Bits>>,
    max_steps: u64,
    restart: Restart,
    /// By request: the phase in which it starts.
    phase_of: Vec<usize>,
    /// By request: its results.
    stats: Vec<PlayoutStats>,
    /// The requests that lanes work on. Empty if all have been played.
    running: Range<usize>,
    /// The steps of a round for them, as indices into all steps.
    round: Vec<usize>,
}

impl Default for Requested {
    fn default() -> Requested {
        Requested {
            requests: Vec::new(),
            max_steps: 0,
            restart: Restart::Initial,
            phase_of: Vec::new(),
            stats: Vec::new(),
            running: 0..0,
            round: Vec::new(),
        }
    }
}

impl BatchCircuit {
    /// Prepares a circuit, which should be an optimised one. Of the shape, only turn-taking is
    /// used.
    pub fn new(circuit: Arc<Circuit>, shape: Shape, options: BatchOptions) -> BatchCircuit {
        let BatchOptions { backend, seed, turns } = options;
        BatchCircuit::with_code(Arc::new(BatchCode::new(circuit, shape, backend, turns)), seed)
    }

    /// Returns a batch that shares code with others of the same game.
    pub(crate) fn with_code(code: Arc<BatchCode>, seed: u64) -> BatchCircuit {
        BatchCircuit {
            code,
            rng: PlaneRng::new(seed),
            choice: MoveChoice::default(),
            levels: Vec::new(),
            steps: Vec::new(),
            expander: None,
            lanes: lanes::Lanes::default(),
            requested: Requested::default(),
        }
    }

    /// Returns how many operations one step of 256 playouts takes on average and, for native code,
    /// the numbers of machine instructions and of bytes of code for all phases.
    pub fn playout_size(&mut self) -> (usize, Option<(usize, usize)>) {
        let start = self.code.playable().phases.of(self.code.initial());
        let round = self.round(start, Restart::Initial);
        let steps = round.iter().map(|&idx| &self.steps[idx]);
        let n_operations: usize =
            steps.clone().map(|step| step.step.program.instructions.len()).sum();
        let native: Option<Vec<(usize, usize)>> =
            steps.map(|step| step.kernel.native_size()).collect();
        let native = native
            .map(|sizes| sizes.iter().fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1)));
        (n_operations / round.len(), native)
    }

    /// Returns the steps of one round of the token, from this phase on, as indices into `steps`.
    ///
    /// Playouts from the initial state start in this phase only, others in any.
    fn round(&mut self, start: usize, restart: Restart) -> Vec<usize> {
        let BatchCircuit { code, steps, choice, .. } = self;
        let phases = &code.playable().phases;
        let mut round = Vec::new();
        let mut phase = start;
        loop {
            let after = phases.after(phase);
            let place = Place { restart, is_gate: after == start || restart == Restart::Planes };
            let known = steps.iter().position(|step| step.is(phase, place, *choice));
            round.push(known.unwrap_or_else(|| {
                steps.push(code.step(phase, place, *choice));
                steps.len() - 1
            }));
            phase = after;
            if phase == start {
                return round;
            }
        }
    }

    /// Gives the lanes the next requests, if there are any.
    fn start_next(&mut self) {
        let Requested { requests, phase_of, running, restart, .. } = &mut self.requested;
        *running = running.end..requests.len().min(running.end + Plane::LANES);
        if running.start == running.end {
            return;
        }
        let (running, restart) = (running.clone(), *restart);
        let n_phases = self.code.playable().phases.circuits.len();
        // All lanes are in the same phase at any time. Lanes that start in another phase wait for
        // it, so the phase is chosen in which most of them start.
        let phase_of = &phase_of[running.clone()];
        let n_starting = |phase: &usize| phase_of.iter().filter(|&of| of == phase).count();
        let start = (0..n_phases).rev().max_by_key(n_starting).unwrap_or(0);
        let delays: Vec<usize> =
            phase_of.iter().map(|phase| (phase + n_phases - start) % n_phases).collect();
        self.requested.round = self.round(start, restart);
        let BatchCircuit { code, steps, lanes, requested, levels, .. } = self;
        let Requested { requests, max_steps, round, .. } = requested;
        let job = lanes::Job {
            kept: &code.playable().kept,
            requests: &requests[running],
            delays: &delays,
            restart,
            levels,
            max_steps: *max_steps,
        };
        lanes.take(&job, steps, round);
    }

    fn expander(&mut self) -> &mut Expander {
        self.expander.get_or_insert_with(|| self.code.expander())
    }
}

impl Batch for BatchCircuit {
    type State = Bits;
    type Move = Input;

    fn set_playouts(&mut self, kind: PlayoutKind) -> PlayoutKind {
        self.choice.foresight = self.code.foresight(kind);
        match self.choice.foresight {
            None => PlayoutKind::Uniform,
            Some(Foresight::Wins) => PlayoutKind::Decisive,
            Some(Foresight::Safe) => PlayoutKind::Careful,
        }
    }

    fn prefer(&mut self, preferences: &Preferences<Input>) -> bool {
        self.choice.has_levels = true;
        self.levels.resize(n_level_planes(self.code.circuit()), Plane::ZERO);
        write_levels(preferences, &mut self.levels);
        true
    }

    fn begin(&mut self, requests: &[PlayoutRequest<Bits>], max_steps: u64) {
        let initial = self.code.initial();
        let is_initial = requests.iter().all(|request| request.state == *initial);
        let phases = &self.code.playable().phases;
        let requested = &mut self.requested;
        requested.requests.clear();
        requested.requests.extend_from_slice(requests);
        requested.phase_of.clear();
        requested.phase_of.extend(requests.iter().map(|request| phases.of(&request.state)));
        requested.max_steps = max_steps;
        requested.restart = if is_initial { Restart::Initial } else { Restart::Planes };
        requested.running = 0..0;
        let n_roles = self.code.circuit().roles.len();
        PlayoutStats::reset_all(&mut requested.stats, requests.len(), n_roles);
        self.start_next();
    }

    fn step(&mut self, n_steps: u64) -> bool {
        let mut left = n_steps;
        while !self.requested.running.is_empty() {
            let BatchCircuit { code, steps, rng, lanes, expander, requested, .. } = self;
            let playable = code.playable();
            let expander =
                playable.may_reject.then(|| expander.get_or_insert_with(|| code.expander()));
            let mut machine = lanes::Machine { steps, round: &requested.round, rng, expander };
            left = lanes.step(left, &mut machine, &playable.kept);
            if !lanes.is_done() {
                return false;
            }
            let stats = &mut requested.stats[requested.running.clone()];
            lanes.sum_up(steps, &requested.round, stats);
            self.start_next();
        }
        true
    }

    fn finish(&mut self, stats: &mut Vec<PlayoutStats>) {
        debug_assert!(self.requested.running.is_empty(), "all playouts are complete");
        std::mem::swap(stats, &mut self.requested.stats);
    }

    fn advance_all(&mut self, steps: &[(&Bits, &[Input])], children: &mut Children<Bits, Input>) {
        self.expander().advance_all(steps, children);
    }

    fn expand(&mut self, states: &[&Bits], children: &mut Children<Bits, Input>) {
        self.expander().expand(states, children);
    }

    fn look_ahead(&mut self, states: &[&Bits], ends: &mut TerminalChildren) {
        let BatchCircuit { code, expander, .. } = self;
        let expander = expander.get_or_insert_with(|| code.expander());
        expander.look_ahead(|| code.ahead(), states, ends);
    }
}
