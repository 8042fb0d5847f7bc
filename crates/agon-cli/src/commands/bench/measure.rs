//! Measures one game with one engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::engine::{GamePosition, GameTask};
use agon_circuit::{Backend, BatchCircuit, BatchOptions, Bits, Compiled, Executor, ScalarCircuit};
use agon_game::{Batch as _, Children, PlayoutRequest, Position, Rng};
use agon_search::{Budget, Mcts, MctsOptions, Search as _};
use rand::SeedableRng as _;

use super::{Args, Measured};
use crate::failure::Failure;
use crate::open::{self, NoCircuit, RuleOptions};
use crate::resources::cpu_seconds;

/// The result of a measurement.
pub(super) struct Rate {
    pub(super) work: Work,
    pub(super) seconds: f64,
    pub(super) build: Build,
}

/// The work that was measured.
pub(super) enum Work {
    Playouts {
        n_playouts: u64,
        n_steps: u64,
    },
    /// All children of nodes: many nodes at a time, and one node at a time.
    Children {
        per_second: f64,
        per_second_one_by_one: f64,
    },
    /// Playouts per second by lanes alone, and inside the search.
    Search {
        bare: f64,
        search: f64,
    },
}

/// The cost of preparing the engine: reading and checking the rules, and making the circuit.
pub(super) struct Build {
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    pub(super) n_gates: usize,
}

/// The time at which the work on a game began.
struct Began {
    at: Instant,
    cpu_seconds: f64,
}

impl Began {
    fn now() -> Began {
        Began { at: Instant::now(), cpu_seconds: cpu_seconds() }
    }

    /// Returns the cost so far.
    fn built(&self, n_gates: usize) -> Build {
        let cpu_seconds = cpu_seconds() - self.cpu_seconds;
        Build { seconds: self.at.elapsed().as_secs_f64(), cpu_seconds, n_gates }
    }
}

/// Random playouts one after another, the work of every engine that plays one game at a time.
struct SequentialPlayouts<'a> {
    build: Build,
    time: Duration,
    args: &'a Args,
}

impl GameTask for SequentialPlayouts<'_> {
    type Output = Rate;

    fn run<P: GamePosition + 'static>(self, start: P) -> Rate {
        play_one_by_one(&start, self.build, self.time, self.args)
    }
}

/// Measures a game. The inner error says why the engine cannot play the game.
pub(super) fn measure(
    game: &str,
    engine: Measured,
    time: Duration,
    args: &Args,
) -> Result<Result<Rate, NoCircuit>, Failure> {
    let began = Began::now();
    let interpreter = open::open_interpreter(open::source(game)?, &RuleOptions::default())?;
    if engine == Measured::Interpreter {
        let playouts = SequentialPlayouts { build: began.built(0), time, args };
        return Ok(Ok(interpreter.run(playouts)));
    }
    let circuit = match open::compile(&interpreter, None) {
        Ok(circuit) => circuit,
        Err(why) => return Ok(Err(why)),
    };
    let compiled = circuit.compiled().expect("a circuit engine has a circuit");
    let n_gates = compiled.circuit.n_gates();
    let one_by_one = |executor| {
        let circuit = Arc::clone(&compiled.circuit);
        let start = ScalarCircuit::with_executor(circuit, compiled.shape().clone(), executor);
        play_one_by_one(&start, began.built(n_gates), time, args)
    };
    Ok(Ok(match engine {
        Measured::Interpreter | Measured::Circuit => one_by_one(Executor::Auto),
        Measured::Native => one_by_one(Executor::Native),
        Measured::Levelled => one_by_one(Executor::Levelled),
        Measured::Events => one_by_one(Executor::Events),
        Measured::Lanes => play_in_lanes(compiled, Backend::default(), &began, time, args),
        Measured::Portable => play_in_lanes(compiled, Backend::Portable, &began, time, args),
        Measured::Children => expand_nodes(compiled, &began, time, args),
        Measured::Search => search(compiled, &began, time, args),
    }))
}

fn play_one_by_one<P: Position>(start: &P, build: Build, time: Duration, args: &Args) -> Rate {
    let mut rng = Rng::seed_from_u64(args.seed);
    let mut position = start.clone();
    let (mut n_playouts, mut n_steps, mut sum) = (0, 0, 0.0);
    let (began, cpu) = (Instant::now(), cpu_seconds());
    // Reading the clock takes as long as a step of a small game, so it is not read after each
    // playout.
    let mut n_before_clock = 0_usize;
    while n_before_clock > 0 || began.elapsed() < time {
        position.go_to(start.state());
        let n_made = position.play_out(&mut rng, args.max_steps);
        // Computing the goals is part of the work, as in published measurements.
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

/// Returns the seconds of processor time since the start of the work, as in published measurements,
/// or the elapsed time where the system does not report processor time.
fn seconds_of_work(began: Instant, cpu_began: f64) -> f64 {
    let cpu = cpu_seconds() - cpu_began;
    if cpu > 0.0 { cpu } else { began.elapsed().as_secs_f64() }
}

fn play_in_lanes(
    compiled: &Compiled,
    backend: Backend,
    began: &Began,
    time: Duration,
    args: &Args,
) -> Rate {
    let options = BatchOptions { backend, seed: args.seed, turns: compiled.turns.clone() };
    let mut batch =
        BatchCircuit::new(Arc::clone(&compiled.circuit), compiled.shape().clone(), options);
    let initial = Bits::pack(compiled.circuit.initial.iter().copied());
    // A first small batch generates the code. Later batches are so large that their last games
    // hardly count.
    let request =
        |n_playouts| [PlayoutRequest { state: initial.clone(), n_playouts, expected_steps: 0 }];
    batch.play_out(&request(256), args.max_steps as u64);
    let build = began.built(compiled.circuit.n_gates());
    let (mut n_playouts, mut n_steps, mut size) = (0, 0, 4096);
    let (began, cpu) = (Instant::now(), cpu_seconds());
    while began.elapsed() < time {
        let tally = &batch.play_out(&request(size), args.max_steps as u64)[0];
        n_playouts += tally.n_playouts;
        n_steps += tally.n_steps;
        if began.elapsed() < time / 16 {
            size *= 2;
        }
    }
    let seconds = seconds_of_work(began, cpu);
    Rate { work: Work::Playouts { n_playouts, n_steps }, seconds, build }
}

/// Playouts before a search is measured: they generate its code and its first nodes.
const WARM_UP: u64 = 1000;

/// Measures the default search on one thread from the start of the game. The search is started
/// again when it has solved the game.
fn search(compiled: &Compiled, began: &Began, time: Duration, args: &Args) -> Rate {
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

/// Number of nodes that are expanded repeatedly.
const N_NODES: usize = 256;

/// Number of nodes expanded at a time: enough to fill the lanes if nodes have four children or
/// more.
const NODES_AT_ONCE: usize = 64;

fn expand_nodes(compiled: &Compiled, began: &Began, time: Duration, args: &Args) -> Rate {
    let options =
        BatchOptions { seed: args.seed, turns: compiled.turns.clone(), ..BatchOptions::default() };
    let mut batch =
        BatchCircuit::new(Arc::clone(&compiled.circuit), compiled.shape().clone(), options);
    let nodes = sample(compiled, args);
    let nodes: Vec<&Bits> = nodes.iter().collect();
    let mut children = Children::new(compiled.circuit.roles.len());
    // The first node generates the code.
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

/// Returns nodes of random plays, or no nodes if the start position is terminal.
fn sample(compiled: &Compiled, args: &Args) -> Vec<Bits> {
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
