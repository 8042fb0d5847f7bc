//! Parses boards: rows of cells in quotation marks.
//!
//! Three forms are distinguished by their appearance.
//! - **Spaced**: cells are words with spaces between them. `.` is an empty cell, `*` a hole, `wP` a
//!   cell with the predicate `wP`, `W+K` one with two predicates.
//! - **Compact**: no row contains a space, and every character is a cell.
//! - **Grid**, the form of the original Toss: a cell is three characters wide and two lines high,
//!   dark cells are padded with dots, and `***` is a hole. It is recognised by two adjacent dots in
//!   rows with spaces.
//!
//! Lines that start with `//` are comments in a board too.

use agon_text::{Diagnostic, Span};

use super::cursor::Cursor;
use crate::syntax::{Board, Cell, Mention, Name, NameKind};

/// Maximum number of cells of a board.
const MAX_CELLS: usize = 5_000;

/// A line of the board with the byte at which it starts.
struct Line<'a> {
    text: &'a str,
    at: usize,
}

/// Parses the board at the cursor.
pub(super) fn board(cursor: &mut Cursor<'_>) -> Option<Board> {
    let span = cursor.skip();
    let whole = cursor.source().slice(span);
    let inside = &whole[1..whole.len() - 1];
    let mut lines = Vec::new();
    let mut at = span.start() + 1;
    for text in inside.split('\n') {
        lines.push(Line { text: text.trim_end_matches('\r'), at });
        at += text.len() + 1;
    }
    let rows = rows(cursor, lines, span)?;
    let n_cells: usize = rows.iter().map(Vec::len).sum();
    if n_cells > MAX_CELLS {
        let what = format!("the board has {n_cells} cells, more than {MAX_CELLS}");
        cursor.report(Diagnostic::error("toss-too-large", span, what));
        return None;
    }
    let has_element = rows.iter().flatten().any(|cell| matches!(cell, Cell::Element(_)));
    if !has_element {
        let finding = Diagnostic::error("toss-bad-board", span, "the board has no cells");
        cursor.report(finding.hint("write a row per line, with `.` for an empty cell"));
        return None;
    }
    Some(Board { rows, span })
}

fn rows(cursor: &mut Cursor<'_>, mut lines: Vec<Line<'_>>, span: Span) -> Option<Vec<Vec<Cell>>> {
    lines.retain(|line| !line.text.trim_start().starts_with("//"));
    let is_blank = |line: &Line<'_>| line.text.trim().is_empty();
    if let Some(line) = lines.iter().find(|line| line.text.contains('\t')) {
        let place = line.at + line.text.find('\t').unwrap_or(0);
        let finding = Diagnostic::error(
            "toss-bad-board",
            Span::new(place, place + 1),
            "the board contains a tab",
        );
        cursor.report(finding.hint("use spaces, because the width of a tab is not defined"));
        return None;
    }
    let has_gap = |line: &Line<'_>| line.text.trim().contains(' ');
    if lines.iter().any(|line| has_gap(line) && line.text.contains("..")) {
        while lines.first().is_some_and(is_blank) {
            lines.remove(0);
        }
        while lines.last().is_some_and(is_blank) {
            lines.pop();
        }
        return grid(cursor, &lines, span);
    }
    // A board of one column has no spaces; `+` shows that a word is one cell.
    let is_spaced = lines.iter().any(|line| has_gap(line) || line.text.contains('+'));
    lines.retain(|line| !is_blank(line));
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for line in &lines {
        let row = if is_spaced { spaced(cursor, line)? } else { compact(cursor, line)? };
        if let Some(first) = rows.first()
            && first.len() != row.len()
        {
            let trimmed = line.text.trim();
            let start = line.at + (line.text.len() - line.text.trim_start().len());
            let what =
                format!("this row has {} cells, but the first row has {}", row.len(), first.len());
            let finding = Diagnostic::error(
                "toss-ragged-board",
                Span::new(start, start + trimmed.len()),
                what,
            );
            cursor.report(
                finding.hint("make all rows equally long; `*` is a hole without an element"),
            );
            return None;
        }
        rows.push(row);
    }
    Some(rows)
}

fn spaced(cursor: &mut Cursor<'_>, line: &Line<'_>) -> Option<Vec<Cell>> {
    let mut row = Vec::new();
    let mut at = 0;
    for word in line.text.split(' ') {
        if !word.is_empty() {
            row.push(cell(cursor, word, line.at + at)?);
        }
        at += word.len() + 1;
    }
    Some(row)
}

fn compact(cursor: &mut Cursor<'_>, line: &Line<'_>) -> Option<Vec<Cell>> {
    let start = line.text.len() - line.text.trim_start().len();
    let trimmed = line.text.trim();
    trimmed
        .char_indices()
        .map(|(at, c)| cell(cursor, &trimmed[at..at + c.len_utf8()], line.at + start + at))
        .collect()
}

/// Parses a cell from its word, which starts at byte `at` of the source.
fn cell(cursor: &mut Cursor<'_>, word: &str, at: usize) -> Option<Cell> {
    match word {
        "." | "_" => return Some(Cell::Element(Vec::new())),
        "*" => return Some(Cell::Hole),
        _ => {}
    }
    let mut names = Vec::new();
    let mut start = at;
    for part in word.split('+') {
        let is_name = part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let span = Span::new(start, start + part.len());
        if !is_name {
            let place = if part.is_empty() { Span::new(at, at + word.len()) } else { span };
            let finding =
                Diagnostic::error("toss-bad-board", place, format!("`{word}` is not a cell"));
            cursor.report(
                finding.hint("a cell is `.`, `*` for a hole, or predicates such as `W` or `W+K`"),
            );
            return None;
        }
        let name = Name { text: part.to_owned(), span };
        let (kind, section) = (NameKind::Relation, cursor.section);
        cursor.mentions.push(Mention { name: name.clone(), kind, is_definition: false, section });
        names.push(name);
        start += part.len() + 1;
    }
    Some(Cell::Element(names))
}

/// Width and height of a cell in the grid form.
const GRID_WIDTH: usize = 3;
const GRID_HEIGHT: usize = 2;

fn grid(cursor: &mut Cursor<'_>, lines: &[Line<'_>], span: Span) -> Option<Vec<Vec<Cell>>> {
    let width =
        lines.iter().map(|line| line.text.trim_end().len()).max().unwrap_or(0).div_ceil(GRID_WIDTH);
    // If the upper half of the first row is blank, it was dropped with the blank lines.
    let n_missing = lines.len() % GRID_HEIGHT;
    if !lines.iter().all(|line| line.text.is_ascii()) {
        cursor.report(Diagnostic::error(
            "toss-bad-board",
            span,
            "the board contains characters other than letters",
        ));
        return None;
    }
    // Blanks at the end of a line are invisible, so the last cell may be cut within them. Dots and
    // holes fill a cell, so a piece of one means that a character is missing or left over.
    let cut = lines.iter().find(|line| {
        let text = line.text.trim_end();
        text[text.len() - text.len() % GRID_WIDTH..].contains(['.', '*'])
    });
    // A column into which a single line reaches with a piece of a cell is a letter too many: in a
    // board of several rows, some cell of the last column is dark and padded with dots.
    let reaches = |line: &&Line<'_>| line.text.trim_end().len() > (width - 1) * GRID_WIDTH;
    let mut last = lines.iter().filter(reaches);
    let stray = match (last.next(), last.next()) {
        (Some(line), None) if lines.len() > GRID_HEIGHT && width > 1 => Some(line),
        _ => None,
    };
    let stray = stray.filter(|line| line.text.trim_end().len() % GRID_WIDTH != 0);
    if let Some(line) = cut.or(stray) {
        let text = line.text.trim_end();
        let start = line.at + text.len() - text.len() % GRID_WIDTH;
        let what = format!(
            "this row is {} characters wide, which is not a multiple of {GRID_WIDTH}",
            text.len()
        );
        let span = Span::new(start, line.at + text.len());
        cursor.report(Diagnostic::error("toss-ragged-board", span, what).hint(
            "in a board with padded cells, a cell is three characters wide and two lines high",
        ));
        return None;
    }
    let n_rows = (lines.len() + n_missing) / GRID_HEIGHT;
    let mut rows = Vec::new();
    for row in 0..n_rows {
        let mut cells = Vec::new();
        for column in 0..width {
            let mut names = Vec::new();
            let mut is_hole = false;
            for half in 0..GRID_HEIGHT {
                let Some(line) =
                    (row * GRID_HEIGHT + half).checked_sub(n_missing).map(|at| &lines[at])
                else {
                    continue;
                };
                let start = (column * GRID_WIDTH).min(line.text.len());
                let end = (start + GRID_WIDTH).min(line.text.len());
                let piece = &line.text[start..end];
                let word = piece.trim_matches(['.', ' ']);
                is_hole |= word.starts_with('*');
                if !word.is_empty() && !word.starts_with('*') {
                    let at = line.at + start + piece.find(word).unwrap_or(0);
                    if let Cell::Element(more) = cell(cursor, word, at)? {
                        names.extend(more);
                    }
                }
            }
            cells.push(if is_hole { Cell::Hole } else { Cell::Element(names) });
        }
        rows.push(cells);
    }
    Some(rows)
}
