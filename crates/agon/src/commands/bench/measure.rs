//! Random playouts of one game by one engine, against the clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_circuit::{
    Backend, BatchCircuit, BatchOptions, Bits, Circuit, Deadline, Executor, ScalarCircuit, Turns,
};
use agon_game::{Batch as _, Children, Order, Position, Rng, Shape};
use agon_gdl::circuit::CircuitLimits;
use agon_search::{Budget, Mcts, MctsOptions, Search as _};
use rand::SeedableRng as _;

use super::{Args, Measured};
use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::usage::cpu_seconds;

/// What was measured.
pub(super) struct Rate {
    pub(super) work: Work,
    pub(super) seconds: f64,
    pub(super) build: Build,
}

/// What was done in the time.
pub(super) enum Work {
    Playouts {
        n_playouts: u64,
        n_steps: u64,
    },
    /// All children of nodes, the nodes many at a time and, by themselves, one at a time.
    Children {
        per_second: f64,
        per_second_one_by_one: f64,
    },
    /// Playouts per second by lanes alone, and inside a search.
    Search {
        bare: f64,
        search: f64,
    },
}

/// What it took until play could begin: rules read, checked, and as the engine wants them.
pub(super) struct Build {
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    pub(super) n_gates: usize,
}

/// When the work on a game began.
struct Began {
    at: Instant,
    cpu_seconds: f64,
}

impl Began {
    fn now() -> Began {
        Began { at: Instant::now(), cpu_seconds: cpu_seconds() }
    }

    /// All is built.
    fn built(&self, n_gates: usize) -> Build {
        let cpu_seconds = cpu_seconds() - self.cpu_seconds;
        Build { seconds: self.at.elapsed().as_secs_f64(), cpu_seconds, n_gates }
    }
}

/// A game as a circuit, whichever language it was written in.
struct Machine {
    circuit: Arc<Circuit>,
    shape: Shape,
    turns: Option<Turns>,
}

impl Machine {
    fn start(&self) -> ScalarCircuit {
        ScalarCircuit::with_shape(Arc::clone(&self.circuit), self.shape.clone())
    }
}

/// Measures a game, or says why this engine does not take it.
pub(super) fn measure(
    game: &str,
    engine: Measured,
    time: Duration,
    args: &Args,
) -> Result<Result<Rate, String>, Failure> {
    let began = Began::now();
    let source = open::source(game)?;
    let compiled = if open::language(&source) == Language::Toss {
        let opened = open::open_toss(source)?;
        if engine == Measured::Interpreter {
            return Ok(Ok(play_one_by_one(&opened.start(), began.built(0), time, args)));
        }
        let limits = agon_toss::circuit::CircuitLimits::default();
        match opened.compile(&limits, Deadline::new(None)) {
            Ok(made) => Machine { circuit: made.circuit, shape: made.shape, turns: made.turns },
            Err(why) => return Ok(Err(why.to_string())),
        }
    } else {
        let opened = open::open_source(source, &RuleOptions::default())?;
        if engine == Measured::Interpreter {
            let start = opened.start();
            return Ok(Ok(play_one_by_one(&start, began.built(0), time, args)));
        }
        match opened.compile(&CircuitLimits::default()) {
            Ok(made) => Machine { circuit: made.circuit, shape: made.shape, turns: made.turns },
            Err(why) => return Ok(Err(why.to_string())),
        }
    };
    let n_gates = compiled.circuit.n_gates();
    let one_by_one = |executor| {
        let circuit = Arc::clone(&compiled.circuit);
        let start = ScalarCircuit::with_executor(circuit, compiled.shape.clone(), executor);
        play_one_by_one(&start, began.built(n_gates), time, args)
    };
    Ok(Ok(match engine {
        Measured::Interpreter | Measured::Circuit => one_by_one(Executor::Auto),
        Measured::Native => one_by_one(Executor::Native),
        Measured::Levelled => one_by_one(Executor::Levelled),
        Measured::Events => one_by_one(Executor::Events),
        Measured::Lanes => play_in_lanes(&compiled, Backend::default(), &began, time, args),
        Measured::Portable => play_in_lanes(&compiled, Backend::Portable, &began, time, args),
        Measured::Children => expand_nodes(&compiled, &began, time, args),
        Measured::Search => search(&compiled, &began, time, args),
    }))
}

fn play_one_by_one<P: Position>(start: &P, build: Build, time: Duration, args: &Args) -> Rate {
    let mut rng = Rng::seed_from_u64(args.seed);
    let mut position = start.clone();
    let (mut n_playouts, mut n_steps, mut sum) = (0, 0, 0.0);
    let (began, cpu) = (Instant::now(), cpu_seconds());
    // Reading the clock takes as long as a step of a small game, so it is not done after each playout.
    let mut n_before_clock = 0_usize;
    while n_before_clock > 0 || began.elapsed() < time {
        position.go_to(start.state());
        let n_made = position.play_out(&mut rng, args.max_steps);
        // Goals are part of the work, as in every published figure.
        sum += start.shape().players().map(|role| position.payoff(role)).sum::<f64>();
        n_steps += n_made as u64;
        n_playouts += 1;
        n_before_clock =
            if n_before_clock == 0 { 20 } else { n_before_clock.saturating_sub(1 + n_made) };
    }
    std::hint::black_box(sum);
    let seconds = seconds_of_work(began, cpu);
    Rate { work: Work::Playouts { n_playouts, n_steps }, seconds, build }
}

/// Seconds of processor time since then, which is what other people's figures are per; by the clock where the system
/// does not tell.
fn seconds_of_work(began: Instant, cpu_began: f64) -> f64 {
    let cpu = cpu_seconds() - cpu_began;
    if cpu > 0.0 { cpu } else { began.elapsed().as_secs_f64() }
}

fn play_in_lanes(
    compiled: &Machine,
    backend: Backend,
    began: &Began,
    time: Duration,
    args: &Args,
) -> Rate {
    let options = BatchOptions { backend, seed: args.seed, turns: compiled.turns.clone() };
    let mut batch =
        BatchCircuit::new(Arc::clone(&compiled.circuit), compiled.shape.clone(), options);
    let initial = Bits::pack(compiled.circuit.initial.iter().copied());
    // A first small batch makes the code; then batches large enough that the last games of each hardly count.
    let order = |n_playouts| [Order { state: initial.clone(), n_playouts, expected_steps: 0 }];
    batch.play_out(&order(256), args.max_steps as u64);
    let build = began.built(compiled.circuit.n_gates());
    let (mut n_playouts, mut n_steps, mut size) = (0, 0, 4096);
    let (began, cpu) = (Instant::now(), cpu_seconds());
    while began.elapsed() < time {
        let tally = &batch.play_out(&order(size), args.max_steps as u64)[0];
        n_playouts += tally.n_playouts;
        n_steps += tally.n_steps;
        if began.elapsed() < time / 16 {
            size *= 2;
        }
    }
    let seconds = seconds_of_work(began, cpu);
    Rate { work: Work::Playouts { n_playouts, n_steps }, seconds, build }
}

/// Playouts that make a search ready: its code is made, its first few nodes are there.
const WARM_UP: u64 = 1000;

/// The default search on one thread from the start of the game, again from the beginning where the game is soon solved.
fn search(compiled: &Machine, began: &Began, time: Duration, args: &Args) -> Rate {
    let alone = play_in_lanes(compiled, Backend::default(), began, time / 2, args);
    let bare = match alone.work {
        Work::Playouts { n_playouts, .. } => n_playouts as f64 / alone.seconds,
        Work::Children { .. } | Work::Search { .. } => unreachable!("lanes make playouts"),
    };
    let mut start = compiled.start();
    let us = start.choosers().next().or_else(|| start.shape().players().next());
    let (mut n_playouts, mut seconds, mut seed) = (0, 0.0, args.seed);
    let began = Instant::now();
    while let Some(us) = us.filter(|_| began.elapsed() < time && !start.is_terminal()) {
        let mut options = MctsOptions::default();
        options.leaves.playouts = args.per_leaf.unwrap_or(options.leaves.playouts);
        let mut search = Mcts::new(options, seed);
        search.think(&mut start, us, &Budget::iterations(WARM_UP));
        let (left, at) = (time.saturating_sub(began.elapsed()), Instant::now());
        let cpu = cpu_seconds();
        n_playouts += search.think(&mut start, us, &Budget::until(at + left)).playouts;
        seconds += seconds_of_work(at, cpu);
        seed += 1;
    }
    let search = if seconds > 0.0 { n_playouts as f64 / seconds } else { 0.0 };
    Rate { work: Work::Search { bare, search }, seconds, build: alone.build }
}

/// How many nodes are expanded, over and over.
const N_NODES: usize = 256;

/// How many of them at a time: enough to fill the lanes wherever a node has four children or more.
const NODES_AT_ONCE: usize = 64;

fn expand_nodes(compiled: &Machine, began: &Began, time: Duration, args: &Args) -> Rate {
    let options =
        BatchOptions { seed: args.seed, turns: compiled.turns.clone(), ..BatchOptions::default() };
    let mut batch =
        BatchCircuit::new(Arc::clone(&compiled.circuit), compiled.shape.clone(), options);
    let nodes = sample(compiled, args);
    let nodes: Vec<&Bits> = nodes.iter().collect();
    let mut children = Children::new(compiled.circuit.roles.len());
    // The first node makes the code.
    batch.expand(&nodes[..nodes.len().min(1)], &mut children);
    let build = began.built(compiled.circuit.n_gates());
    let (began, cpu) = (Instant::now(), cpu_seconds());
    let mut rate = |at_once: usize| {
        let (began, cpu, mut n_children) = (Instant::now(), cpu_seconds(), 0_usize);
        while began.elapsed() < time / 2 {
            for nodes in nodes.chunks(at_once) {
                batch.expand(nodes, &mut children);
                n_children += children.len();
            }
        }
        n_children as f64 / seconds_of_work(began, cpu)
    };
    let work = Work::Children { per_second: rate(NODES_AT_ONCE), per_second_one_by_one: rate(1) };
    Rate { work, seconds: seconds_of_work(began, cpu), build }
}

/// Nodes as random play comes by them. None if play ends before it begins.
fn sample(compiled: &Machine, args: &Args) -> Vec<Bits> {
    let start = compiled.start();
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(args.seed);
    let (mut nodes, mut joint) = (Vec::new(), Vec::new());
    while nodes.len() < N_NODES && !start.is_terminal() {
        if position.is_terminal() {
            position.go_to(start.state());
        }
        nodes.push(position.state().clone());
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
    }
    nodes
}
