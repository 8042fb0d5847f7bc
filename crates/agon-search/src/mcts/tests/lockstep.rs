//! Playouts in lockstep are those that would be made one by one.

use agon_circuit::ScalarCircuit;
use agon_game::{Position, Rng, Role};
use rand::SeedableRng as _;

use super::super::hashing::mix;
use super::super::simulate::{Lockstep, PlayoutLimits, PlayoutScratch, PlayoutTools};
use super::check_report;
use crate::sample::shipped;
use crate::{ActionHeuristic, Budget, HeuristicUse, Mcts, MctsOptions, Report, Search as _};

type Move = <ScalarCircuit as Position>::Move;

/// Gives values that depend on nothing but the position, the role and the move; in some positions
/// none.
#[derive(Clone)]
struct Whim;

impl ActionHeuristic<ScalarCircuit> for Whim {
    fn values(
        &mut self,
        position: &ScalarCircuit,
        role: Role,
        moves: &[Move],
        values: &mut Vec<f64>,
    ) -> bool {
        values.clear();
        let word = |m: &Move| mix(position.key() ^ mix(u64::from(m.0) << 3 | role.index() as u64));
        values.extend(moves.iter().map(|m| (word(m) % 64) as f64 / 63.0));
        !position.key().is_multiple_of(5)
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<ScalarCircuit>> {
        Box::new(self.clone())
    }
}

/// Gives the values of [`Whim`] and prefers batches of some size, which must not change results.
#[derive(Clone)]
struct Choosy(usize);

impl ActionHeuristic<ScalarCircuit> for Choosy {
    fn values(
        &mut self,
        position: &ScalarCircuit,
        role: Role,
        moves: &[Move],
        values: &mut Vec<f64>,
    ) -> bool {
        Whim.values(position, role, moves, values)
    }

    fn batch_size(&self) -> usize {
        self.0
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<ScalarCircuit>> {
        Box::new(self.clone())
    }
}

/// Returns positions of a game after some random moves, none of them terminal.
fn some_positions(start: &ScalarCircuit, n: usize, seed: u64) -> Vec<ScalarCircuit> {
    let mut rng = Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    // Some games are over after a few steps, but none at its start.
    for n_steps in (0..6).cycle() {
        if all.len() == n {
            break;
        }
        let mut position = start.clone();
        position.play_out(&mut rng, n_steps);
        if !position.is_terminal() {
            all.push(position);
        }
    }
    all
}

#[test]
fn playouts_in_lockstep_are_those_one_by_one() {
    let how = HeuristicUse { playout: true, scale: 5.0, ..HeuristicUse::OFF };
    for game in [
        "tic-tac-toe",
        "connect-four",
        "bidding-tic-tac-toe",
        "blocker",
        "monty-hall",
        "breakthrough",
    ] {
        let start = shipped(game);
        let mut lockstep = Lockstep::new();
        for (n, max_steps) in [(1, 1000), (16, 1000), (37, 1000), (5, 3), (3, 0)] {
            let limits = PlayoutLimits { max_steps, deadline: None };
            let positions = some_positions(&start, n, 7 + n as u64);
            for (at, position) in positions.iter().enumerate() {
                lockstep.slot(at, &start).go_to(position.state());
            }
            let streams = || (0..n).map(|at| (at, Rng::seed_from_u64(at as u64)));
            lockstep.play_out(streams(), &mut Whim, &how, limits);
            for batch_size in [0, 2, 16] {
                let mut others = Lockstep::new();
                for (at, position) in positions.iter().enumerate() {
                    others.slot(at, &start).go_to(position.state());
                }
                others.play_out(streams(), &mut Choosy(batch_size), &how, limits);
                for (one, other) in lockstep.positions().iter().zip(others.positions()) {
                    assert_eq!(one.state(), other.state(), "{game}: {n}, batches of {batch_size}");
                }
            }
            for (at, mut position) in positions.into_iter().enumerate() {
                let mut tools = PlayoutTools {
                    policy: None,
                    heuristic: Some((&mut Whim, how)),
                    rng: &mut Rng::seed_from_u64(at as u64),
                    record: &mut Vec::new(),
                    scratch: &mut PlayoutScratch::default(),
                };
                tools.play_out(&mut position, limits);
                let found = &lockstep.positions()[at];
                assert_eq!(found.state(), position.state(), "{game}: playout {at} of {n}");
                for role in position.shape().roles() {
                    assert_eq!(
                        found.payoff(role),
                        position.payoff(role),
                        "{game}: playout {at} of {n}"
                    );
                }
            }
        }
    }
}

fn report(game: &str, options: &MctsOptions, n: u64) -> Report<Move> {
    let mut position = shipped(game);
    let mut search = Mcts::with_heuristic(options.clone(), 5, Box::new(Whim));
    let report = search.think(&mut position, Role::new(0), &Budget::iterations(n));
    check_report(&position, &report);
    assert!(report.is_proven || report.iterations == n, "{game}: {} of {n}", report.iterations);
    Report { seconds: 0.0, ..report }
}

#[test]
fn the_same_seed_gives_the_same_search_with_any_number_in_lockstep() {
    for game in ["tic-tac-toe", "bidding-tic-tac-toe", "connect-four", "monty-hall"] {
        for abreast in [0, 1, 2, 16, 40] {
            for tree in [false, true] {
                let heuristic = HeuristicUse { playout: true, tree, abreast, ..HeuristicUse::OFF };
                for options in [MctsOptions::plain(), MctsOptions::default()] {
                    let options = MctsOptions { heuristic, ..options };
                    assert_eq!(
                        report(game, &options, 700),
                        report(game, &options, 700),
                        "{game} {options:?}"
                    );
                }
            }
        }
    }
}
