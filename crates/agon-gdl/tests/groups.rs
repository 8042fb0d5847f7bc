//! Groups of fluents of which provably at most one holds, held against play by the rules as they stand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Rng};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine::Compiled;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;
use rand::SeedableRng as _;

fn rulesheets() -> Vec<PathBuf> {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/gdl");
    let listing = std::fs::read_dir(games).expect("games/ is part of the project");
    let mut found: Vec<PathBuf> =
        listing.map(|entry| entry.expect("it can be listed").path()).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "kif"));
    found.sort();
    found
}

fn open(path: &Path) -> (Arc<Game>, Compiled) {
    let text = std::fs::read_to_string(path).expect("it can be read");
    let checked = check(Arc::new(Source::new(path.to_string_lossy(), text)));
    let game = Game::open(checked.rules.expect("shipped games are right"), Options::default());
    let game = game.unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message));
    let compiled = game.compile(&CircuitLimits::default());
    let compiled = compiled.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    (game, compiled)
}

#[test]
fn no_group_is_claimed_that_play_refutes() {
    let mut n_groups = 0;
    for path in rulesheets() {
        let (game, compiled) = open(&path);
        n_groups += compiled.groups.len();
        let start = game.start();
        let mut position = start.clone();
        let mut rng = Rng::seed_from_u64(4);
        let mut joint = Vec::new();
        for _ in 0..10 {
            position.go_to(start.state());
            for _ in 0..60 {
                let state = position.state_text();
                for group in &compiled.groups {
                    let true_bits = group
                        .iter()
                        .filter(|&&bit| state.contains(&compiled.circuit.base[bit]))
                        .count();
                    assert!(true_bits <= 1, "{}: {group:?} of {state:?}", path.display());
                }
                if position.is_terminal() {
                    break;
                }
                position.draw(&mut rng, &mut joint);
                position.advance(&joint);
            }
        }
    }
    assert!(n_groups > 100, "{n_groups} groups in all shipped games");
}

#[test]
fn cells_and_control_are_groups_of_tic_tac_toe() {
    let path =
        rulesheets().into_iter().find(|path| path.file_stem().is_some_and(|s| s == "tic-tac-toe"));
    let (_, compiled) = open(&path.expect("it ships"));
    let texts =
        |group: &Vec<usize>| group.iter().map(|&bit| compiled.circuit.base[bit].clone()).collect();
    let groups: Vec<Vec<String>> = compiled.groups.iter().map(texts).collect();
    let n_cells = groups.iter().filter(|group| group.len() == 3).count();
    assert!(n_cells >= 9, "each of nine cells has one of three contents: {groups:?}");
    assert!(
        groups.iter().any(|group| group.len() == 2 && group[0].contains("control")),
        "{groups:?}"
    );
}
