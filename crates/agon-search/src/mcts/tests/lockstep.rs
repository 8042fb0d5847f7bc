//! Playouts side by side are those that would be made one by one.

use agon_circuit::ScalarCircuit;
use agon_game::{Position, Rng, Role};
use rand::SeedableRng as _;

use super::super::heuristic::Judge;
use super::super::lockstep::Lockstep;
use super::super::number::mix;
use super::super::playout::{Scratch, play_out};
use super::is_sound;
use crate::sample::shipped;
use crate::{ActionHeuristic, Budget, HeuristicUse, Mcts, MctsOptions, Report, Search as _};

type Move = <ScalarCircuit as Position>::Move;

/// Says something of moves that depends on the position and on nothing else; of some positions nothing.
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

/// Says the same, and likes to be asked about so many at once: that must not be seen.
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

    fn abreast(&self) -> usize {
        self.0
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<ScalarCircuit>> {
        Box::new(self.clone())
    }
}

/// Positions of a game some random moves on, in play.
fn some_positions(start: &ScalarCircuit, n: usize, seed: u64) -> Vec<ScalarCircuit> {
    let mut rng = Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    // Short games are over after some of these, but none at its start.
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
fn playouts_side_by_side_are_those_one_by_one() {
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
            let positions = some_positions(&start, n, 7 + n as u64);
            for (at, position) in positions.iter().enumerate() {
                lockstep.seat(at, &start).go_to(position.state());
            }
            let streams = || (0..n).map(|at| (at, Rng::seed_from_u64(at as u64)));
            lockstep.play_out(streams(), &mut Judge::new(Box::new(Whim)), &how, (max_steps, None));
            for abreast in [0, 2, 16] {
                let mut others = Lockstep::new();
                for (at, position) in positions.iter().enumerate() {
                    others.seat(at, &start).go_to(position.state());
                }
                let mut judge = Judge::new(Box::new(Choosy(abreast)));
                others.play_out(streams(), &mut judge, &how, (max_steps, None));
                for (one, other) in lockstep.positions().iter().zip(others.positions()) {
                    assert_eq!(one.state(), other.state(), "{game}: {n}, {abreast} at once");
                }
            }
            for (at, mut position) in positions.into_iter().enumerate() {
                let mut judge = Judge::new(Box::new(Whim));
                let mut scratch = Scratch::default();
                play_out(
                    &mut position,
                    None,
                    Some((&mut judge, how)),
                    &mut Rng::seed_from_u64(at as u64),
                    (max_steps, None),
                    &mut Vec::new(),
                    &mut scratch,
                );
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
    is_sound(&position, &report);
    assert!(report.is_proven || report.iterations == n, "{game}: {} of {n}", report.iterations);
    Report { seconds: 0.0, ..report }
}

#[test]
fn the_same_seed_gives_the_same_search_however_many_go_side_by_side() {
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
