//! Small games whose value is known are played perfectly.

use std::sync::Arc;

use agon_circuit::ScalarCircuit;
use agon_game::{Position as _, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::Game;
use agon_match::{Ending, Match, MatchOptions, Seat, Timing, role_seed};
use agon_players::{BuildContext, Rules};

use super::games::{CLOCKS, name, read, record, rulesheets, run_with, shipped, spec, table};

fn circuit(game: &Arc<Game>) -> ScalarCircuit {
    game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{why}")).start()
}

/// Plays a match between players that use the circuit, with a number of iterations per move.
fn play(
    game: &Arc<Game>,
    start: &ScalarCircuit,
    players: &[&str],
    iterations: u64,
    seed: u64,
) -> Match {
    let roles: Vec<Role> = start.shape().players().collect();
    let seats = roles.iter().zip(players).map(|(&role, player)| {
        let seed = role_seed(seed, role);
        let context = BuildContext { start: start.clone(), role, seed, rules: Rules::default() };
        let player = spec(player).build(context).expect("the player is built-in");
        Seat { role, player, timing: Timing::Iterations(iterations) }
    });
    let options = MatchOptions { seed, max_steps: 300, ..MatchOptions::default() };
    let mut played = Match::new(table(game.start()), options, 0);
    run_with(&mut played, seats.collect(), CLOCKS, &mut |_, _| {});
    for (index, step) in played.steps().iter().enumerate() {
        assert!(step.errors.iter().all(Option::is_none), "step {}: {:?}", index + 1, step.errors);
    }
    played
}

fn goals(played: &Match) -> Vec<f64> {
    match played.ending() {
        Some(Ending::Finished(goals)) => goals.clone(),
        other => panic!("{other:?}"),
    }
}

/// Checks that the default player gets the value of the game in each role, against several players.
fn is_played_perfectly(name: &str, game: &Arc<Game>, values: &[f64], iterations: u64) {
    let start = circuit(game);
    for seed in 0..3 {
        for other in ["random", "mcts", "auto"] {
            for (us, players) in [(0, ["auto", other]), (1, [other, "auto"])] {
                let played = play(game, &start, &players, iterations, seed);
                let (got, value) = (goals(&played)[us], values[us]);
                let moves: Vec<&Vec<String>> =
                    played.steps().iter().map(|step| &step.joint).collect();
                assert!(
                    got >= value,
                    "{name}, {players:?}, seed {seed}: {got} < {value}: {moves:?}"
                );
            }
        }
    }
}

#[test]
fn small_games_are_played_perfectly() {
    for (name, values) in [("tic-tac-toe", [50.0, 50.0]), ("connect-three", [100.0, 0.0])] {
        is_played_perfectly(name, &shipped(name), &values, 10_000);
    }
}

/// The first player wins unless the exclusive or of the heaps is 0.
#[test]
fn nim_is_played_perfectly() {
    let path =
        rulesheets().into_iter().find(|path| name(path) == "nim").expect("the game is shipped");
    let rules = std::fs::read_to_string(&path).expect("the file can be read");
    let heaps: [[u32; 4]; 6] =
        [[1, 3, 5, 7], [1, 3, 5, 6], [2, 4, 6, 7], [1, 2, 4, 7], [7, 7, 3, 3], [7, 6, 5, 4]];
    for heaps in heaps {
        let sizes: [String; 4] =
            std::array::from_fn(|at| format!("(size {} {})", ["a", "b", "c", "d"][at], heaps[at]));
        let shipped = ["(size a 1)", "(size b 3)", "(size c 5)", "(size d 7)"];
        let text = shipped.iter().zip(&sizes).fold(rules.clone(), |text, (old, new)| {
            assert!(text.contains(old), "the rules name their heaps");
            text.replace(old, new)
        });
        let is_won = heaps.iter().fold(0, |sum, heap| sum ^ heap) != 0;
        let values = if is_won { [100.0, 0.0] } else { [0.0, 100.0] };
        is_played_perfectly(&format!("nim {heaps:?}"), &read(&path, text), &values, 15_000);
    }
}

/// Minimax search with a learnt evaluation gets the value of small games, too.
#[test]
fn small_games_are_played_perfectly_by_minimax() {
    for (name, values) in [("tic-tac-toe", [50.0, 50.0]), ("connect-three", [100.0, 0.0])] {
        let game = shipped(name);
        let start = circuit(&game);
        for other in ["random", "mcts", "minimax(games=500)"] {
            for (us, players) in
                [(0, ["minimax(games=500)", other]), (1, [other, "minimax(games=500)"])]
            {
                let played = play(&game, &start, &players, 100_000, 1);
                let got = goals(&played)[us];
                assert!(got >= values[us], "{name}, {players:?}: {got}");
            }
        }
    }
}

/// With the same number of positions, an evaluation that was learnt beats none at all.
#[test]
fn learning_pays() {
    for name in ["breakthrough", "othello"] {
        let game = shipped(name);
        let start = circuit(&game);
        let mut points = 0.0;
        for seed in 0..4 {
            let players = ["minimax(games=1000)", "minimax(learn=0)"];
            points += goals(&play(&game, &start, &players, 3000, seed))[0];
            let players = ["minimax(learn=0)", "minimax(games=1000)"];
            points += goals(&play(&game, &start, &players, 3000, seed))[1];
        }
        assert!(points >= 600.0, "{name}: {points} of 800");
    }
}

#[test]
fn hanoi_is_solved() {
    let game = shipped("hanoi");
    let played = play(&game, &circuit(&game), &["auto"], 2000, 1);
    assert_eq!(goals(&played), [100.0]);
}

#[test]
fn matches_without_a_clock_can_be_repeated() {
    for name in
        ["connect-three", "rock-paper-scissors", "three-way-tic-tac-toe", "krieg-tic-tac-toe"]
    {
        let game = shipped(name);
        let start = circuit(&game);
        for player in [
            "auto",
            "mcts(rave,mast)",
            "minimax(games=50)",
            "alphabeta(playouts=2)",
            "bestfirst",
            "solver",
        ] {
            let players = [player, "auto", player];
            let text = || record(&play(&game, &start, &players, 100, 5)).to_json().to_string();
            assert_eq!(text(), text(), "{name}, {player}");
        }
    }
}
