//! GDL rulesheets and shipped games, opened for measuring.

use std::path::Path;
use std::sync::Arc;

use agon_circuit::ScalarCircuit;
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_testkit::files;

/// Opens the game of a rulesheet, or returns why it cannot be played.
pub(crate) fn open(path: &Path) -> Result<Arc<Game>, String> {
    let rules = check(files::source(path)).rules.ok_or("the rules have errors")?;
    Game::open(rules, Options::default()).map_err(|finding| finding.message)
}

/// Returns the start of a shipped GDL game, as a circuit.
///
/// # Panics
/// If there is no such game, or if it has no circuit.
pub(crate) fn shipped(name: &str) -> ScalarCircuit {
    let games = files::repository().join("games");
    let paths = ["gdl", "gdl2"].map(|folder| games.join(folder).join(format!("{name}.kif")));
    let path = paths.iter().find(|path| path.exists());
    let path = path.unwrap_or_else(|| panic!("there is no shipped game `{name}`"));
    let game = open(path).unwrap_or_else(|why| panic!("{name}: {why}"));
    game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{name}: {why}")).start()
}
