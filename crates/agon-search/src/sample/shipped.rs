//! The shipped games.

use std::path::Path;
use std::sync::Arc;

use agon_circuit::ScalarCircuit;
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

/// Returns the start of a shipped game that is played as a circuit.
pub(crate) fn shipped(name: &str) -> ScalarCircuit {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let open = ["gdl", "gdl2"].map(|family| games.join(family).join(format!("{name}.kif")));
    let path =
        open.iter().find(|path| path.exists()).unwrap_or_else(|| panic!("{name} is not shipped"));
    let text = std::fs::read_to_string(path).expect("the file is readable");
    let checked = check(Arc::new(Source::new(path.to_string_lossy(), text)));
    let game = Game::open(checked.rules.expect("shipped games are right"), Options::default());
    let game = game.unwrap_or_else(|finding| panic!("{name}: {}", finding.message));
    game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{name}: {why}")).start()
}
