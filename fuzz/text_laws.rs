//! Laws for the texts that users write beside rules: player specifications, tournaments and hints
//! for pictures; and for pictures of any rules.
//!
//! The fuzz targets and `crates/agon/tests/suite/fuzz_smoke.rs` include this file. A broken law
//! panics.
#![allow(dead_code)] // Each target uses one law.

use std::sync::Arc;

use agon::Game;
use agon::open::{EngineChoice, OpenLimits, OpenOptions};
use agon_board::{Hints, SvgOptions, TextOptions};
use agon_text::{Source, render};

/// Checks that a list of players is parsed or refused, with a place in the text.
pub(crate) fn players(text: &str) {
    let source = Source::new("text", text);
    match agon_players::parse_list(text) {
        Ok(specs) => assert!(!specs.is_empty(), "a list has at least one player"),
        Err(finding) => {
            assert!(finding.span.end() <= text.len(), "{finding:?}");
            assert!(!render(std::slice::from_ref(&*finding), &source, false).is_empty());
        }
    }
}

/// Checks that the description of a tournament is read or refused with a text. Nothing is played.
pub(crate) fn tournament(text: &str) {
    let source = Arc::new(Source::new("tournament.toml", text));
    if let Err(error) = agon::tournament::read(&source) {
        assert!(!error.to_string().is_empty());
    }
}

/// Checks that hints for a picture are read or refused, and that a picture is made of any rules
/// that open within small limits.
pub(crate) fn board(text: &str) {
    for hints in [Hints::from_header(text), Hints::from_toml(text)] {
        assert!(hints.err().is_none_or(|why| !why.is_empty()));
    }
    let limits =
        OpenLimits { bytes: Some(64 << 20), steps: Some(300_000), ..OpenLimits::default() };
    let engine = EngineChoice::Interpreter;
    let options = OpenOptions { engine, limits, ..OpenOptions::default() };
    let Ok(game) = Game::from_source(Arc::new(Source::new("text", text)), &options) else { return };
    let position = game.start();
    let scene = game.layout().scene(&position.state());
    assert!(agon_board::svg::svg(&scene, &SvgOptions::default()).starts_with("<svg"));
    let _ = agon_board::text::text(&scene, &TextOptions::default());
    for role in game.shape().roles() {
        let legal = position.legal_moves(role);
        assert!(game.layout().targets(&legal).len() <= legal.len());
    }
}
