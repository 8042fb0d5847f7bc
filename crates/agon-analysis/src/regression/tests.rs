//! The worked example of Trutman 2015, and laws on random formulas and games.

mod against_play;
mod batch;
mod laws;
mod worked_example;

use std::path::Path;
use std::sync::Arc;

use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

/// Opens a game from its rules.
fn game(name: &str, text: &str) -> Arc<Game> {
    let checked = check(Arc::new(Source::new(name, text)));
    let rules = checked.rules.unwrap_or_else(|| {
        panic!("{name} is right: {:?}", checked.findings.0.first().map(|f| &f.message))
    });
    Game::open(rules, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message))
}

/// Opens a shipped game.
fn shipped(name: &str) -> Arc<Game> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../games/gdl/{name}.kif"));
    let text =
        std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    game(name, &text)
}

fn ground(game: &Game) -> agon_gdl::circuit::GroundGame {
    game.ground(&CircuitLimits::default())
        .unwrap_or_else(|refusal| panic!("{}", game.refusal_text(&refusal)))
}
