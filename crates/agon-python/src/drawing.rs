//! Positions as text, SVG and pixels.
//!
//! What to draw is inferred from the rules by `agon_board`, once for each game.

use agon::Game;
use agon_board::png::{PngError, rgb};
use agon_board::svg::svg as draw;
use agon_board::text::text as write;
use agon_board::{Scene, SvgOptions, TextOptions};

pub(crate) use agon_board::png::Pixels;

/// Returns the scene of a state: boards, pieces, counters and hands with their places.
pub(crate) fn scene(game: &Game, facts: &[String]) -> Scene {
    game.layout().scene(facts)
}

/// Returns a state as text.
pub(crate) fn text(game: &Game, facts: &[String]) -> String {
    write(&scene(game, facts), &TextOptions::default()).trim_end().to_owned()
}

/// Returns a state as an SVG document.
pub(crate) fn svg(game: &Game, facts: &[String]) -> String {
    draw(&scene(game, facts), &SvgOptions::default())
}

/// Returns a state as pixels.
///
/// # Errors
/// [`PngError`] if the picture would be too large.
pub(crate) fn pixels(game: &Game, facts: &[String], scale: f32) -> Result<Pixels, PngError> {
    rgb(&svg(game, facts), scale)
}
