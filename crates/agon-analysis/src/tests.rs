//! Properties and evaluations of shipped games and of small test games.

mod explain;
mod fuzzy;
mod michulke;
mod properties;
mod sub_games;

use std::path::PathBuf;
use std::sync::Arc;

use agon_gdl::check::check;
use agon_gdl::circuit::{CircuitLimits, Compiled};
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

/// Opens a game from the text of its rules.
#[track_caller]
pub(crate) fn game(text: &str) -> Arc<Game> {
    let checked = check(Arc::new(Source::new("test", text)));
    let rules = checked.rules.unwrap_or_else(|| panic!("{:?}", checked.findings));
    Game::open(rules, Options::default()).unwrap_or_else(|finding| panic!("{finding:?}"))
}

/// Opens a shipped game.
pub(crate) fn shipped(name: &str) -> Arc<Game> {
    let path = folder().join(format!("gdl/{name}.kif"));
    game(
        &std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../games")
}

/// Returns the names of all shipped games of a folder.
fn names(of: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder().join(of)).expect("games ship");
    let paths = files.map(|file| file.expect("entries are readable").path());
    let rulesheets = paths.filter(|path| path.extension().is_some_and(|end| end == "kif"));
    let mut names: Vec<String> = rulesheets
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn compiled(game: &Game) -> Compiled {
    game.compile(&CircuitLimits::default()).expect("the games of these tests have circuits")
}
