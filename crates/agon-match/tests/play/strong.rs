//! Games that are small enough to know: they are played perfectly.

use agon_circuit::ScalarCircuit;
use agon_game::{Position as _, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_match::{Ending, Match, MatchOptions, Seat, Timing, build, drive, parse_spec, role_seed};
use agon_search::Budget;
use agon_search::solve::{SolveOptions, solve};

use super::games::{CLOCKS, record, shipped, table};

fn circuit(name: &str) -> ScalarCircuit {
    let game = shipped(name);
    game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{name}: {why}")).start()
}

/// A match between players by the circuit, so many iterations a move.
fn play(name: &str, start: &ScalarCircuit, players: &[&str], iterations: u64, seed: u64) -> Match {
    let roles: Vec<Role> = start.shape().players().collect();
    let seats = roles.iter().zip(players).map(|(&role, player)| {
        let spec = parse_spec(player).unwrap_or_else(|finding| panic!("{player}: {}", finding.message));
        let player = build(&spec, start.clone(), role, role_seed(seed, role)).expect("one of our own");
        Seat { role, player, timing: Timing::Iterations(iterations) }
    });
    let options = MatchOptions { seed, max_steps: 300, ..MatchOptions::default() };
    let mut played = Match::new(table(shipped(name).start()), options, 0);
    drive(&mut played, seats.collect(), &CLOCKS, &|| 7, &mut |_, _| {});
    for (index, step) in played.steps().iter().enumerate() {
        assert!(step.slips.iter().all(Option::is_none), "{name}, step {}: {:?}", index + 1, step.slips);
    }
    played
}

fn goals(played: &Match) -> Vec<f64> {
    match played.ending() {
        Some(Ending::Finished(goals)) => goals.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn small_games_are_played_perfectly() {
    // Nim is not among them: its tree is too wide for the search to prove in so many playouts, and its moves look alike to
    // random play. `solver` plays it perfectly.
    for (name, iterations) in [("tic-tac-toe", 200_000), ("connect-three", 50_000)] {
        let start = circuit(name);
        let values = solve(&start, &Budget::default(), &SolveOptions::default()).expect(name).values;
        for seed in 0..3 {
            for other in ["random", "solver", "auto"] {
                for (us, players) in [(0, ["auto", other]), (1, [other, "auto"])] {
                    let played = play(name, &start, &players, iterations, seed);
                    let (got, value) = (goals(&played)[us], values[us]);
                    let moves: Vec<&Vec<String>> = played.steps().iter().map(|step| &step.joint).collect();
                    assert!(got >= value, "{name}, {players:?}, seed {seed}: {got} < {value}: {moves:?}");
                }
            }
        }
    }
}

#[test]
fn hanoi_is_solved() {
    let played = play("hanoi", &circuit("hanoi"), &["auto"], 2000, 1);
    assert_eq!(goals(&played), [100.0]);
}

#[test]
fn counted_matches_are_the_same_each_time() {
    for name in ["connect-three", "rock-paper-scissors", "three-way-tic-tac-toe", "krieg-tic-tac-toe"] {
        let start = circuit(name);
        for player in ["auto", "mcts(rave,mast)", "alphabeta(playouts=2)", "bestfirst", "solver"] {
            let players = [player, "auto", player];
            let text = || record(&play(name, &start, &players, 100, 5)).to_json().to_string();
            assert_eq!(text(), text(), "{name}, {player}");
        }
    }
}
