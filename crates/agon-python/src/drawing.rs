//! Positions as text and as SVG.
//!
//! All pictures come from [`picture`], so that a better board needs a change in one place.

use std::fmt::Write as _;

use agon::Game;
use agon_board::Picture;

/// Side of a cell in pixels.
const CELL: usize = 44;
/// Space for the names of rows and columns.
const MARGIN: usize = 28;

/// Returns the picture of a state as a grid of texts, if the game has a board.
pub(crate) fn picture(game: &Game, facts: &[String]) -> Option<Picture> {
    Some(game.board()?.picture(facts))
}

/// Returns a state as text: its board, or its facts one below the other.
pub(crate) fn text(game: &Game, facts: &[String]) -> String {
    match picture(game, facts) {
        Some(picture) => picture.to_string(),
        None => facts.join("\n"),
    }
}

/// Returns a state as an SVG document.
pub(crate) fn svg(game: &Game, facts: &[String]) -> String {
    let Some(picture) = picture(game, facts) else { return svg_of_lines(facts) };
    let n_columns = picture.columns.len();
    let width = MARGIN + n_columns * CELL + 8;
    let rest = picture.rest.join(" ");
    let height = picture.rows.len() * CELL + MARGIN + if rest.is_empty() { 8 } else { 28 };
    let width = width.max(rest.chars().count() * 7 + 16);
    let mut svg = open(width, height);
    for (y, (name, cells)) in picture.rows.iter().enumerate() {
        label(&mut svg, MARGIN / 2, y * CELL + CELL / 2, 12, name);
        for (x, cell) in cells.iter().enumerate() {
            let (left, top) = (MARGIN + x * CELL, y * CELL + 4);
            let fill = if (x + y) % 2 == 0 { "#f4efe6" } else { "#e6ddcc" };
            let _ = write!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{CELL}\" height=\"{CELL}\" \
                 fill=\"{fill}\" stroke=\"#8a7f6d\"/>"
            );
            let size = (CELL * 2 / cell.chars().count().max(2)).clamp(8, 24);
            label(&mut svg, left + CELL / 2, top + CELL / 2, size, cell);
        }
    }
    let bottom = picture.rows.len() * CELL + MARGIN / 2 + 4;
    for (x, name) in picture.columns.iter().enumerate() {
        label(&mut svg, MARGIN + x * CELL + CELL / 2, bottom, 12, name);
    }
    if !rest.is_empty() {
        label(&mut svg, width / 2, bottom + 22, 11, &rest);
    }
    svg.push_str("</svg>");
    svg
}

fn svg_of_lines(lines: &[String]) -> String {
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(1);
    let width = longest * 8 + 16;
    let mut svg = open(width, lines.len().max(1) * 18 + 12);
    for (at, line) in lines.iter().enumerate() {
        label(&mut svg, width / 2, at * 18 + 14, 13, line);
    }
    svg.push_str("</svg>");
    svg
}

fn open(width: usize, height: usize) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\">\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
    )
}

fn label(svg: &mut String, x: usize, y: usize, size: usize, text: &str) {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    let _ = write!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"middle\" \
         dominant-baseline=\"central\" fill=\"#222\">{escaped}</text>"
    );
}
