//! Shows states in the terminal.

use agon_board::Layout;
use agon_board::text::{Span, SpanStyle, TextOptions, lines};

use crate::terminal::{self, say};

/// Maximum number of rows that are shown of a list.
const MAX_ROWS: usize = 40;

/// Prints a state. Changes since `before` are marked on a terminal.
pub(crate) fn show(layout: &Layout, state: &[String], before: Option<&[String]>) {
    let scene = layout.scene(state);
    let before = before.map(|before| layout.scene(before));
    let options = TextOptions { before: before.as_ref(), max_rows: MAX_ROWS };
    for line in lines(&scene, &options) {
        let text: String = line.iter().map(|span| coloured(span, layout)).collect();
        say!("{}", text.trim_end());
    }
}

/// Prints what the symbols on a board stand for.
pub(crate) fn show_legend(layout: &Layout, state: &[String]) {
    let legend = layout.legend(&layout.scene(state));
    let parts: Vec<String> = legend.iter().map(|(text, name)| format!("{text} {name}")).collect();
    if !parts.is_empty() {
        say!("  {}", terminal::dim(&parts.join(", ")));
    }
}

/// Returns a piece of text with the colour of its role.
fn coloured(span: &Span, layout: &Layout) -> String {
    match span.style {
        SpanStyle::Faint => terminal::dim(&span.text),
        SpanStyle::Plain => span.text.clone(),
        SpanStyle::Piece(owner) => role_colour(&span.text, owner, layout, false),
        SpanStyle::New(owner) => role_colour(&span.text, owner, layout, true),
    }
}

fn role_colour(text: &str, owner: Option<usize>, layout: &Layout, is_new: bool) -> String {
    let name = owner.map_or("", |role| layout.roles()[role].as_str());
    // The eight colours of all terminals; roles named after a colour have it.
    const NAMED: [(&str, u8); 7] = [
        ("red", 31),
        ("green", 32),
        ("yellow", 33),
        ("blue", 34),
        ("magenta", 35),
        ("purple", 35),
        ("cyan", 36),
    ];
    let named = NAMED.iter().find(|(word, _)| name.contains(word)).map(|(_, code)| *code);
    let code = named.unwrap_or(match owner {
        None => 39,
        Some(role) => [36, 33, 35, 32][role % 4],
    });
    terminal::piece(text, code, is_new)
}
