//! Counts the instructions of the hot loops over shipped games with valgrind. The counts do not
//! depend on the load of the machine.
//!
//! `cargo bench -p agon-gdl --bench instructions [FILTER]`
//!
//! The program runs itself under `valgrind --tool=callgrind`, once for each case. It counts what is
//! executed within [`measured`] and everything called from there, including code generated at run
//! time. Compare two versions by their tables. Without valgrind the program prints a message and
//! measures nothing.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use agon_circuit::optimise::optimise;
use agon_circuit::{BatchCircuit, BatchOptions, Bits, Deadline};
use agon_game::{Batch as _, Children, PlayoutRequest, Position, Rng};
use agon_gdl::check::check;
use agon_gdl::circuit::{CircuitLimits, Compiled};
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;
use rand::SeedableRng as _;

/// One row of the table for each game.
struct Case {
    name: &'static str,
    /// The unit that the instructions are divided by.
    unit: &'static str,
    games: &'static [&'static str],
    /// Prepares, does the work within [`measured`], and returns the number of units.
    run: fn(&Arc<Game>) -> u64,
}

const BOARDS: &[&str] = &["tic-tac-toe", "connect-four", "breakthrough"];

const CASES: [Case; 6] = [
    Case { name: "interpreter", unit: "step", games: BOARDS, run: interpreter },
    Case { name: "circuit", unit: "step", games: BOARDS, run: circuit },
    Case { name: "lanes", unit: "step", games: BOARDS, run: lanes },
    Case { name: "expand", unit: "child", games: BOARDS, run: expand },
    Case { name: "ground", unit: "rule", games: &["breakthrough"], run: ground },
    Case { name: "optimise", unit: "gate", games: &["breakthrough"], run: optimise_raw },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name, game] = arguments.as_slice()
        && flag == "--measure"
    {
        let case = CASES.iter().find(|case| case.name == name).expect("the parent names a case");
        println!("{}", (case.run)(&open(game)));
        return ExitCode::SUCCESS;
    }
    // Cargo adds `--bench`.
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: instructions are counted by valgrind, which is not installed");
        return ExitCode::SUCCESS;
    }
    println!(
        "{:12} {:16} {:>16} {:>10} {:>14}",
        "case", "game", "instructions", "units", "per unit"
    );
    for case in &CASES {
        for game in case.games {
            if filter.is_some_and(|part| {
                !case.name.contains(part.as_str()) && !game.contains(part.as_str())
            }) {
                continue;
            }
            match count(case.name, game) {
                Ok((instructions, units)) => {
                    let each = instructions as f64 / units as f64;
                    let (name, unit) = (case.name, case.unit);
                    println!(
                        "{name:12} {game:16} {instructions:16} {units:10} {each:14.1} per {unit}"
                    );
                }
                Err(why) => {
                    eprintln!("{} of {game}: {why}", case.name);
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}

/// Runs this program again under valgrind. Returns the numbers of instructions and units.
fn count(case: &str, game: &str) -> Result<(u64, u64), String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*instructions::measured*")
        .arg(this)
        .args(["--measure", case, game])
        .output()
        .map_err(|error| error.to_string())?;
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("{}\n{err}", output.status));
    }
    let collected = err
        .lines()
        .find_map(|line| line.split_once("Collected :"))
        .map(|(_, number)| number.trim());
    let instructions =
        collected.and_then(|number| number.parse().ok()).filter(|&number| number > 0);
    let units = out.trim().parse().ok().filter(|&number| number > 0);
    instructions.zip(units).ok_or_else(|| format!("nothing was counted:\n{out}{err}"))
}

/// Runs the work that is counted. Not inlined, because valgrind finds it by its name.
#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}

fn open(name: &str) -> Arc<Game> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../games/gdl")
        .join(name)
        .with_extension("kif");
    let text = std::fs::read_to_string(path).expect("shipped games can be read");
    let rules = check(Arc::new(Source::new(name, text))).rules.expect("shipped games are right");
    Game::open(rules, Options::default())
        .unwrap_or_else(|finding| panic!("{name}: {}", finding.message))
}

fn compile(game: &Game) -> Compiled {
    game.compile(&CircuitLimits::default()).expect("shipped games become circuits")
}

fn interpreter(game: &Arc<Game>) -> u64 {
    play_out(&game.start(), 20)
}

fn circuit(game: &Arc<Game>) -> u64 {
    play_out(&compile(game).start(), 200)
}

/// Runs `n_playouts` playouts, after a few that fill the caches. Returns the number of steps.
fn play_out<P: Position>(start: &P, n_playouts: u64) -> u64 {
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(1);
    let mut steps_of = |n_playouts: u64| {
        let mut n_steps = 0;
        for _ in 0..n_playouts {
            position.go_to(start.state());
            n_steps += position.play_out(&mut rng, 10_000) as u64;
            black_box(position.payoff(agon_game::Role::new(0)));
        }
        n_steps
    };
    steps_of(3);
    let n_steps = measured(|| steps_of(n_playouts));
    assert!(n_steps >= 5 * n_playouts, "no play of these games is shorter");
    n_steps
}

fn batch(compiled: &Compiled) -> BatchCircuit {
    let options =
        BatchOptions { seed: 1, turns: compiled.turns.clone(), ..BatchOptions::default() };
    BatchCircuit::new(Arc::clone(&compiled.circuit), compiled.shape().clone(), options)
}

fn lanes(game: &Arc<Game>) -> u64 {
    let compiled = compile(game);
    let mut batch = batch(&compiled);
    let state = Bits::pack(compiled.circuit.initial.iter().copied());
    let order =
        |n_playouts| [PlayoutRequest { state: state.clone(), n_playouts, expected_steps: 0 }];
    batch.play_out(&order(256), 10_000);
    let tally = measured(|| batch.play_out(&order(4096), 10_000)).remove(0);
    assert_eq!((tally.n_playouts, tally.n_cut), (4096, 0), "every playout is played to its end");
    tally.n_steps
}

fn expand(game: &Arc<Game>) -> u64 {
    let compiled = compile(game);
    let mut batch = batch(&compiled);
    let start = compiled.start();
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(1);
    let (mut nodes, mut joint) = (Vec::new(), Vec::new());
    while nodes.len() < 64 {
        if position.is_terminal() {
            position.go_to(start.state());
        }
        nodes.push(position.state().clone());
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
    }
    let nodes: Vec<&Bits> = nodes.iter().collect();
    let mut children = Children::new(compiled.circuit.roles.len());
    batch.expand(&nodes, &mut children);
    let n_children = children.len();
    measured(|| (0..8).for_each(|_| batch.expand(&nodes, &mut children)));
    assert_eq!(children.len(), n_children, "the same nodes have the same children");
    8 * n_children as u64
}

fn ground(game: &Arc<Game>) -> u64 {
    let ground = measured(|| game.ground(&CircuitLimits::default()));
    ground.expect("shipped games can be grounded").n_rules as u64
}

fn optimise_raw(game: &Arc<Game>) -> u64 {
    let ground = game.ground(&CircuitLimits::default()).expect("shipped games can be grounded");
    let (circuit, _) = measured(|| optimise(&ground.circuit, Deadline::NEVER));
    assert!(circuit.n_gates() <= ground.circuit.n_gates(), "optimising makes nothing larger");
    ground.circuit.n_gates() as u64
}
