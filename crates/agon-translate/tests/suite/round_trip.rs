//! Round trips of the shipped structure rewriting games: the returned game plays like the original.

use std::sync::Arc;

use agon_game::laws::Plan;
use agon_game::lockstep::Agreement;
use agon_text::Source;
use agon_toss::interpreter::{Game, Options};
use agon_translate::round_trip::round_trip;
use agon_translate::to_gdl::{ToGdlError, ToGdlLimits, to_gdl};
use agon_translate::to_toss;

const SMALL: [&str; 5] =
    ["tic-tac-toe", "concurrent-tic-tac-toe", "connect-four", "pawn-whopping", "entanglement"];
const LARGE: [&str; 5] = ["breakthrough", "checkers", "connect-five", "gomoku", "gomoku-19x19"];
/// Games with tests of their own. The test of `rewriting` is exhaustive, and is a unit test.
const SEPARATE: [&str; 3] = ["stepping-stones", "rewriting", "chess"];
/// Games with time and real numbers, which rulesheets cannot express.
const CONTINUOUS: [&str; 10] = [
    "bacteria",
    "bouncing-ball",
    "cat-and-mouse",
    "cell-cycle",
    "cruise-control",
    "curling",
    "lady-in-the-lake",
    "lunar-lander",
    "pursuit",
    "race",
];

fn game(name: &str) -> Arc<Game> {
    let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let checked = agon_toss::check::check(Arc::new(Source::new(name, text)));
    let arena = checked.arena.unwrap_or_else(|| panic!("{name}: {:?}", checked.findings));
    Game::open(arena, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message))
}

/// Makes a round trip and plays both games. `effort` is the number of plays that the translator
/// samples and checks.
fn checked_round_trip(name: &str, effort: usize, plays: usize, max_steps: usize) -> Agreement {
    let game = game(name);
    let options = to_toss::ToTossOptions {
        plays: effort,
        joint_plays: effort,
        ..to_toss::ToTossOptions::default()
    };
    let trip = round_trip(&game, ToGdlLimits::default(), &options)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let agreement = trip
        .compare(&game, &Plan { plays, max_steps, seed: 7 })
        .unwrap_or_else(|difference| panic!("{name}: {difference}\n{}", trip.back.text));
    assert_eq!(agreement.plays, plays, "{name}");
    println!("{name}: {agreement:?}");
    agreement
}

#[test]
fn round_trips_of_small_boards_and_graphs_agree() {
    for name in SMALL {
        let agreement = checked_round_trip(name, 20, 10, 100);
        assert_eq!(agreement.ended, 10, "{name}: {agreement:?}");
    }
}

#[test]
fn round_trips_of_larger_boards_agree() {
    for name in LARGE {
        checked_round_trip(name, 4, 1, 200);
    }
}

#[test]
fn round_trip_keeps_chances_of_nature() {
    let agreement = checked_round_trip("stepping-stones", 40, 40, 200);
    assert!(agreement.ended > 35, "{agreement:?}");
}

#[test]
fn round_trip_of_chess_turns_post_conditions_into_conditions() {
    checked_round_trip("chess", 2, 1, 60);
}

#[test]
fn continuous_games_are_refused() {
    for name in CONTINUOUS {
        let game = game(name);
        let error = to_gdl(game.arena(), ToGdlLimits::default()).expect_err(name);
        assert_eq!(error, ToGdlError::Construct { what: "time and real numbers" }, "{name}");
    }
}

#[test]
fn every_shipped_game_is_listed() {
    let folder = format!("{}/../../games/toss", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(folder).expect("the folder of shipped games exists") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_some_and(|ending| ending == "toss") {
            let name = path
                .file_stem()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let mut listed = SMALL.iter().chain(&LARGE).chain(&SEPARATE).chain(&CONTINUOUS);
            assert!(
                listed.any(|known| *known == name),
                "{name} is shipped, but has no round trip test"
            );
        }
    }
}
