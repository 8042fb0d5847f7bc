//! Structure rewriting games that ship go to GDL and come back, and what comes back plays as the original does.

use std::sync::Arc;

use agon_text::Source;
use agon_toss::interpreter::{Game, Options};
use agon_translate::round_trip::round_trip;
use agon_translate::to_gdl::Limits;
use agon_translate::to_gdl::joint::{Agreement, Plan};
use agon_translate::to_toss;

const SMALL: [&str; 5] =
    ["tic-tac-toe", "concurrent-tic-tac-toe", "connect-four", "pawn-whopping", "entanglement"];
const LARGE: [&str; 5] = ["breakthrough", "checkers", "connect-five", "gomoku", "gomoku-19x19"];
/// Games with tests of their own; that of `rewriting` goes through all its plays, and stands in the crate.
const ALONE: [&str; 3] = ["stepping-stones", "rewriting", "chess"];

fn game(name: &str) -> Arc<Game> {
    let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let checked = agon_toss::check::check(Arc::new(Source::new(name, text)));
    let arena = checked.arena.unwrap_or_else(|| panic!("{name}: {:?}", checked.findings));
    Game::open(arena, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message))
}

/// Sends a game there and back, and plays it; `effort` is how many plays the translator looks at and judges itself by.
fn comes_back(name: &str, effort: usize, plays: u64, max_steps: usize) -> Agreement {
    let game = game(name);
    let options =
        to_toss::Options { plays: effort, joint_plays: effort, ..to_toss::Options::default() };
    let trip = round_trip(&game, Limits::default(), &options)
        .unwrap_or_else(|lost| panic!("{name}: {lost}"));
    let agreement = trip
        .play_jointly(&game, Plan { plays, max_steps, seed: 7 })
        .unwrap_or_else(|difference| panic!("{name}: {difference}\n{}", trip.back.text));
    assert_eq!(agreement.plays, plays, "{name}");
    println!("{name}: {agreement:?}");
    agreement
}

#[test]
fn small_boards_and_graphs_come_back() {
    for name in SMALL {
        let agreement = comes_back(name, 20, 10, 100);
        assert_eq!(agreement.ended, 10, "{name}: {agreement:?}");
    }
}

#[test]
fn larger_boards_come_back() {
    for name in LARGE {
        comes_back(name, 4, 1, 200);
    }
}

#[test]
fn nature_comes_back_with_its_chances() {
    let agreement = comes_back("stepping-stones", 40, 40, 200);
    assert!(agreement.ended > 35, "{agreement:?}");
}

#[test]
fn chess_comes_back_with_its_post_conditions_as_conditions() {
    comes_back("chess", 2, 1, 60);
}

#[test]
fn no_shipped_game_is_forgotten() {
    let folder = format!("{}/../../games/toss", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(folder).expect("games/ is part of the project") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_some_and(|ending| ending == "toss") {
            let name = path
                .file_stem()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let mut sent = SMALL.iter().chain(&LARGE).chain(&ALONE);
            assert!(
                sent.any(|known| *known == name),
                "{name} ships, and is not sent there and back"
            );
        }
    }
}
