//! Shipped games for the unit tests.

use std::path::Path;
use std::sync::Arc;

use agon_analysis::goal_formulas::RewritingAnalysis;
use agon_text::Source;

fn source(path: &str) -> Arc<Source> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games").join(path);
    let text = std::fs::read_to_string(file).expect("the game is shipped");
    Arc::new(Source::new(path, &text))
}

/// Opens a shipped game in GDL.
pub(crate) fn gdl_game(name: &str) -> Arc<agon_gdl::interpreter::Game> {
    open(&format!("gdl/{name}.kif"))
}

/// Opens a shipped game in GDL-II.
pub(crate) fn gdl2_game(name: &str) -> Arc<agon_gdl::interpreter::Game> {
    open(&format!("gdl2/{name}.kif"))
}

fn open(path: &str) -> Arc<agon_gdl::interpreter::Game> {
    let checked = agon_gdl::check::check(source(path));
    let rules = checked.rules.expect("shipped rules are valid");
    agon_gdl::interpreter::Game::open(rules, agon_gdl::interpreter::Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message))
}

/// Opens a shipped structure rewriting game.
pub(crate) fn rewriting_game(name: &str) -> RewritingAnalysis {
    let checked = agon_toss::check::check(source(&format!("toss/{name}.toss")));
    let arena = checked.arena.expect("shipped rules are valid");
    let game =
        agon_toss::interpreter::Game::open(arena, agon_toss::interpreter::Options::default());
    RewritingAnalysis::new(game.unwrap_or_else(|finding| panic!("{}", finding.message)))
}
