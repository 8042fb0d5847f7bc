//! Shows states in the terminal.

use agon_board::{Board, Picture};

use crate::terminal::{self, say};

/// Maximum number of fluents shown of a state without a board.
const MAX_FLUENTS: usize = 40;

/// Prints a state. Changes since `before` are coloured on a terminal.
pub(crate) fn show(board: Option<&Board>, state: &[String], before: Option<&[String]>) {
    let Some(board) = board else { return show_list(state, before) };
    let picture = board.picture(state);
    let before = before.map(|before| board.picture(before));
    show_grid(&picture, before.as_ref());
    if !picture.rest.is_empty() {
        let mut rest = picture.rest.clone();
        let n_more = rest.len().saturating_sub(MAX_FLUENTS);
        rest.truncate(MAX_FLUENTS);
        let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        say!("  {}", terminal::dim(&format!("{}{more}", rest.join(" "))));
    }
}

fn show_grid(picture: &Picture, before: Option<&Picture>) {
    let cells = picture.rows.iter().flat_map(|(_, cells)| cells);
    let width = cells.chain(&picture.columns).map(|text| text.chars().count()).max().unwrap_or(1);
    let margin = picture.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (y, (name, cells)) in picture.rows.iter().enumerate() {
        let mut line = format!("  {}", terminal::dim(&format!("{name:>margin$}")));
        for (x, cell) in cells.iter().enumerate() {
            let shown = if cell.is_empty() { "." } else { cell.as_str() };
            let padded = format!("{shown:>width$}");
            let is_new = before.is_some_and(|before| before.rows[y].1[x] != *cell);
            line.push(' ');
            line.push_str(&match (is_new, cell.is_empty()) {
                (true, _) => terminal::green(&padded),
                (false, true) => terminal::dim(&padded),
                (false, false) => terminal::bold(&padded),
            });
        }
        say!("{line}");
    }
    let columns: Vec<String> =
        picture.columns.iter().map(|name| format!("{name:>width$}")).collect();
    say!("  {:margin$} {}", "", terminal::dim(&columns.join(" ")));
}

/// Prints the fluents that changed since `before`, or the whole state if `before` is `None`.
fn show_list(state: &[String], before: Option<&[String]>) {
    let new: Vec<&String> = state
        .iter()
        .filter(|fluent| !before.is_some_and(|before| before.contains(fluent)))
        .collect();
    let gone: Vec<&String> =
        before.unwrap_or_default().iter().filter(|fluent| !state.contains(fluent)).collect();
    let sign = |sign: &str| if before.is_some() { format!("{sign} ") } else { String::new() };
    for fluent in gone.iter().take(MAX_FLUENTS) {
        say!("  {}", terminal::red(&format!("{}{fluent}", sign("-"))));
    }
    for fluent in new.iter().take(MAX_FLUENTS) {
        let text = format!("{}{fluent}", sign("+"));
        say!("  {}", if before.is_some() { terminal::green(&text) } else { text });
    }
    let n_more = gone.len().saturating_sub(MAX_FLUENTS) + new.len().saturating_sub(MAX_FLUENTS);
    if n_more > 0 {
        say!("  and {n_more} more");
    }
}

/// Prints what the symbols on a board stand for.
pub(crate) fn show_legend(board: &Board) {
    let legend: Vec<String> =
        board.legend().iter().map(|(label, word)| format!("{label} {word}")).collect();
    if !legend.is_empty() {
        say!("  {}", terminal::dim(&legend.join(", ")));
    }
}
