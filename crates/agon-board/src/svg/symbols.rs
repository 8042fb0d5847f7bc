//! The shapes of pieces, drawn as paths so that no font is needed.

use std::fmt::Write as _;

use crate::scene::{Piece, Symbol};
use crate::svg::{Colours, escape, number};

/// Draws a piece around a point. `size` is the side of the square that it may fill.
pub(crate) fn draw(
    out: &mut String,
    piece: &Piece,
    (x, y): (f64, f64),
    size: f64,
    colours: &Colours,
) {
    let Colours { fill, stroke, ink, form, is_faint } = colours;
    // Symbols of lines have an outline where their colour is that of the ground.
    let lines: &[(&str, f64)] =
        if *is_faint { &[(stroke, 0.17), (fill, 0.12)] } else { &[(fill, 0.12)] };
    let outline = format!("fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.5\"");
    match piece.symbol {
        Symbol::Pawn => chess(out, PAWN, (x, y), size, &outline),
        Symbol::Knight => chess(out, KNIGHT, (x, y), size, &outline),
        Symbol::Bishop => chess(out, BISHOP, (x, y), size, &outline),
        Symbol::Rook => chess(out, ROOK, (x, y), size, &outline),
        Symbol::Queen => chess(out, QUEEN, (x, y), size, &outline),
        Symbol::King => chess(out, KING, (x, y), size, &outline),
        Symbol::Disc | Symbol::CrownedDisc => {
            let r = size * 0.38;
            circle(out, (x, y), r, &outline);
            inner_mark(out, (x, y), r, *form, ink, piece);
            if piece.symbol == Symbol::CrownedDisc {
                crown(out, (x, y), r, ink);
            }
            if piece.count > 1 {
                label(out, (x, y), size * 0.4, ink, &piece.count.to_string());
            }
        }
        Symbol::Cross => {
            let r = size * 0.28;
            for (colour, width) in lines {
                for sign in [1.0, -1.0] {
                    let _ = write!(
                        out,
                        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{colour}\" \
                         stroke-width=\"{}\" stroke-linecap=\"round\"/>",
                        number(x - r),
                        number(y - r * sign),
                        number(x + r),
                        number(y + r * sign),
                        number(size * width)
                    );
                }
            }
        }
        Symbol::Ring => {
            for (colour, width) in lines {
                let width = number(size * width);
                let style = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"");
                circle(out, (x, y), size * 0.29, &style);
            }
        }
        Symbol::Block => {
            let r = size * 0.46;
            let _ = write!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"/>",
                number(x - r),
                number(y - r),
                number(2.0 * r),
                number(2.0 * r)
            );
            if piece.owner.is_some() {
                inner_mark(out, (x, y), size * 0.3, *form, ink, piece);
            }
        }
        Symbol::Dot => circle(out, (x, y), size * 0.12, &outline),
        Symbol::Light => {
            circle(out, (x, y), size * 0.36, &format!("fill=\"{fill}\" stroke=\"{stroke}\""));
        }
        Symbol::North => arrow(out, (x, y), size, (0.0, -1.0), &outline),
        Symbol::South => arrow(out, (x, y), size, (0.0, 1.0), &outline),
        Symbol::East => arrow(out, (x, y), size, (1.0, 0.0), &outline),
        Symbol::West => arrow(out, (x, y), size, (-1.0, 0.0), &outline),
        Symbol::Line => circle(out, (x, y), size * 0.1, &outline),
        Symbol::Tile => {
            let r = size * 0.42;
            let _ = write!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{fill}\" \
                 stroke=\"{stroke}\"/>",
                number(x - r),
                number(y - r),
                number(2.0 * r),
                number(2.0 * r),
                number(size * 0.08)
            );
            label(out, (x, y), size * 0.45, ink, &piece.text);
        }
        Symbol::Text => {
            token(out, (x, y), size * 0.4, *form, piece.owner.is_some(), &outline);
            let scale = match piece.text.chars().count() {
                0 | 1 => 0.46,
                2 => 0.38,
                3 => 0.28,
                _ => 0.24,
            };
            label(out, (x, y), size * scale, ink, &piece.text);
        }
        Symbol::Back => label(out, (x, y), size * 0.55, stroke, "?"),
    }
}

fn circle(out: &mut String, (x, y): (f64, f64), radius: f64, style: &str) {
    let _ = write!(
        out,
        "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {style}/>",
        number(x),
        number(y),
        number(radius)
    );
}

fn label(out: &mut String, (x, y): (f64, f64), size: f64, colour: &str, text: &str) {
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" font-weight=\"bold\" text-anchor=\"middle\" \
         fill=\"{colour}\">{}</text>",
        number(x),
        number(y + size * 0.36),
        number(size),
        escape(text)
    );
}

/// Draws the outline of a piece with a text: its form tells the owner.
fn token(out: &mut String, (x, y): (f64, f64), r: f64, form: usize, is_owned: bool, style: &str) {
    let corners: &[(f64, f64)] = match (is_owned, form) {
        (true, 1) => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        (true, 2) => &[(0.0, -1.15), (1.15, 0.0), (0.0, 1.15), (-1.15, 0.0)],
        (true, 3) => {
            &[(-0.55, -1.0), (0.55, -1.0), (1.1, 0.0), (0.55, 1.0), (-0.55, 1.0), (-1.1, 0.0)]
        }
        _ => return circle(out, (x, y), r, style),
    };
    let points: Vec<String> = corners
        .iter()
        .map(|(dx, dy)| format!("{},{}", number(x + dx * r), number(y + dy * r)))
        .collect();
    let _ = write!(out, "<polygon points=\"{}\" {style}/>", points.join(" "));
}

/// Draws a small mark inside of a disc: nothing for the first owner, then a ring, a square and a
/// triangle.
fn inner_mark(out: &mut String, (x, y): (f64, f64), r: f64, form: usize, ink: &str, piece: &Piece) {
    if piece.owner.is_none() || piece.count > 1 {
        return;
    }
    let style = format!("fill=\"none\" stroke=\"{ink}\" stroke-width=\"{}\"", number(r * 0.14));
    match form {
        1 => circle(out, (x, y), r * 0.5, &style),
        2 => token(out, (x, y), r * 0.45, 1, true, &style),
        3 => token(out, (x, y), r * 0.45, 2, true, &style),
        _ => {}
    }
}

fn crown(out: &mut String, (x, y): (f64, f64), r: f64, ink: &str) {
    let corners = [
        (-0.5, 0.35),
        (-0.6, -0.35),
        (-0.25, 0.0),
        (0.0, -0.5),
        (0.25, 0.0),
        (0.6, -0.35),
        (0.5, 0.35),
    ];
    let points: Vec<String> = corners
        .iter()
        .map(|(dx, dy)| format!("{},{}", number(x + dx * r), number(y + dy * r)))
        .collect();
    let _ = write!(out, "<polygon points=\"{}\" fill=\"{ink}\"/>", points.join(" "));
}

fn arrow(out: &mut String, (x, y): (f64, f64), size: f64, (dx, dy): (f64, f64), style: &str) {
    let r = size * 0.36;
    // The shape of an arrow to the right, turned into the direction.
    let corners = [
        (1.0, 0.0),
        (0.0, 0.9),
        (0.0, 0.35),
        (-1.0, 0.35),
        (-1.0, -0.35),
        (0.0, -0.35),
        (0.0, -0.9),
    ];
    let points: Vec<String> = corners
        .iter()
        .map(|(a, b)| {
            let (px, py) = (a * dx - b * dy, a * dy + b * dx);
            format!("{},{}", number(x + px * r), number(y + py * r))
        })
        .collect();
    let _ = write!(out, "<polygon points=\"{}\" {style}/>", points.join(" "));
}

/// Draws a path in a box of 40 by 40 around a point.
fn chess(out: &mut String, path: &str, (x, y): (f64, f64), size: f64, style: &str) {
    let scale = size / 44.0;
    let _ = write!(
        out,
        "<path transform=\"translate({} {}) scale({})\" stroke-linejoin=\"round\" d=\"{path}\" \
         {style}/>",
        number(x),
        number(y),
        format_args!("{scale:.3}")
    );
}

const PAWN: &str = "M-10 16 L10 16 L10 12 C4 10 3 5 4 0 L6 0 L6 -3 L4 -3 A7 7 0 1 0 -4 -3 L-6 -3 \
    L-6 0 L-4 0 C-3 5 -4 10 -10 12 Z";
const ROOK: &str = "M-12 16 L12 16 L12 12 L8 10 L7 -4 L11 -6 L11 -15 L6 -15 L6 -11 L2.5 -11 \
    L2.5 -15 L-2.5 -15 L-2.5 -11 L-6 -11 L-6 -15 L-11 -15 L-11 -6 L-7 -4 L-8 10 L-12 12 Z";
const KNIGHT: &str = "M-9 16 L12 16 C13 2 12 -12 0 -14 L-2 -18 L-5 -13 C-9 -11 -11 -6 -15 0 \
    L-13 5 L-9 4 L-4 1 L-1 1 C-3 7 -9 9 -9 16 Z M-5 -8 A1.3 1.3 0 1 0 -4.9 -8 Z";
const BISHOP: &str = "M-11 16 L11 16 L11 13 L5 11 C9 6 9 -2 4 -8 L1.5 -11 A3 3 0 1 0 -1.5 -11 \
    L-4 -8 C-9 -2 -9 6 -5 11 L-11 13 Z M0 -5 L0 5 M-4 0 L4 0";
const QUEEN: &str = "M-11 16 L11 16 L10 11 L14 -9 L7 1 L5 -13 L0 0 L-5 -13 L-7 1 L-14 -9 L-10 11 Z \
    M-8 11 L8 11";
const KING: &str = "M-11 16 L11 16 L10 10 C18 2 14 -7 6 -6 C3 -5.5 1 -4 0 -1 C-1 -4 -3 -5.5 -6 -6 \
    C-14 -7 -18 2 -10 10 Z M-1.4 -4.5 L-1.4 -10.6 L-4.4 -10.6 L-4.4 -13.4 L-1.4 -13.4 L-1.4 -17 \
    L1.4 -17 L1.4 -13.4 L4.4 -13.4 L4.4 -10.6 L1.4 -10.6 L1.4 -4.5 Z M-9 11 L9 11";
