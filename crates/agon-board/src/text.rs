//! Draws scenes as text.

use crate::scene::{Board, BoardKind, Label, Panel, Scene, Shade, Shape};

/// How a scene is drawn as text.
#[derive(Clone, Debug)]
pub struct TextOptions<'s> {
    /// An earlier scene of the same layout: places that differ from it are new.
    pub before: Option<&'s Scene>,
    /// Maximum number of rows of a list.
    pub max_rows: usize,
}

impl Default for TextOptions<'_> {
    fn default() -> Self {
        TextOptions { before: None, max_rows: 12 }
    }
}

/// A piece of text with its meaning, so that terminals can colour it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// What the text is.
    pub style: SpanStyle,
}

/// What a piece of text is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SpanStyle {
    /// Labels, frames and empty places.
    Faint,
    /// Usual text.
    Plain,
    /// A piece of a role.
    Piece(Option<usize>),
    /// A piece that was not there before, of a role.
    New(Option<usize>),
}

/// Returns a scene as plain text, one line for each row.
pub fn text(scene: &Scene, options: &TextOptions<'_>) -> String {
    let mut text = String::new();
    for line in lines(scene, options) {
        let joined: String = line.iter().map(|span| span.text.as_str()).collect();
        text.push_str(joined.trim_end());
        text.push('\n');
    }
    text
}

/// Returns a scene as lines of styled text.
pub fn lines(scene: &Scene, options: &TextOptions<'_>) -> Vec<Vec<Span>> {
    let mut lines = Vec::new();
    for (index, board) in scene.boards.iter().enumerate() {
        let before = options.before.and_then(|scene| scene.boards.get(index));
        if !board.title.is_empty() {
            lines.push(vec![faint(&board.title)]);
        }
        match board.kind {
            BoardKind::Grid | BoardKind::Hex | BoardKind::Edges => {
                lines.extend(canvas(board, before));
            }
            BoardKind::Stacks | BoardKind::Graph => lines.extend(rows(board, before)),
            BoardKind::Plane => lines.extend(points(board, before)),
        }
    }
    for panel in &scene.panels {
        lines.extend(panel_lines(panel, options.max_rows));
    }
    lines
}

fn faint(text: &str) -> Span {
    Span { text: text.to_owned(), style: SpanStyle::Faint }
}

/// Characters on a grid, with styles.
struct Canvas {
    cells: Vec<Vec<(char, SpanStyle)>>,
}

impl Canvas {
    fn put(&mut self, column: usize, row: usize, text: &str, style: SpanStyle) {
        while self.cells.len() <= row {
            self.cells.push(Vec::new());
        }
        let line = &mut self.cells[row];
        for (i, c) in text.chars().enumerate() {
            while line.len() <= column + i {
                line.push((' ', SpanStyle::Plain));
            }
            line[column + i] = (c, style);
        }
    }

    fn lines(self) -> Vec<Vec<Span>> {
        let line = |cells: Vec<(char, SpanStyle)>| {
            let mut spans: Vec<Span> = Vec::new();
            for (c, style) in cells {
                match spans.last_mut() {
                    Some(last) if last.style == style => last.text.push(c),
                    _ => spans.push(Span { text: c.to_string(), style }),
                }
            }
            spans
        };
        self.cells.into_iter().map(line).collect()
    }
}

/// Draws a board with places in the plane.
fn canvas(board: &Board, before: Option<&Board>) -> Vec<Vec<Span>> {
    let contents: Vec<String> = board.places.iter().map(glyphs).collect();
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(1);
    let names = board.labels.iter().filter(|label| label.y > board.y + board.height);
    let width = widest(&mut contents.iter().map(|text| text.chars().count()))
        .max(widest(&mut names.map(|label| label.text.chars().count())))
        .max(if board.kind == BoardKind::Edges { 2 } else { 1 });
    // Names of rows stand left of the first column.
    let first_column = board.places.iter().map(|place| place.x - 0.5).fold(f64::INFINITY, f64::min);
    let is_row_name = |label: &Label| label.x < board.x || label.x < first_column;
    let left = board.labels.iter().filter(|label| is_row_name(label));
    let margin = widest(&mut left.map(|label| label.text.chars().count())) + 3;
    let is_edges = board.kind == BoardKind::Edges;
    let row_height = match board.kind {
        BoardKind::Hex => 0.866,
        BoardKind::Edges => 0.5,
        _ => 1.0,
    };
    let unit = if is_edges { 2 * (width + 1) } else { width + 1 };
    let column = |x: f64| margin + libm::round((x - board.x - 0.5) * unit as f64).max(0.0) as usize;
    let edge_column = |x: f64| margin + libm::round((x - board.x) * unit as f64).max(0.0) as usize;
    let row = |y: f64| libm::round((y - board.y - 0.5 * row_height) / row_height).max(0.0) as usize;
    let edge_row = |y: f64| libm::round((y - board.y) / 0.5).max(0.0) as usize;
    let mut canvas = Canvas { cells: Vec::new() };
    for (index, (place, text)) in board.places.iter().zip(&contents).enumerate() {
        let owner = place.pieces.last().and_then(|piece| piece.owner);
        let old = before.and_then(|board| board.places.get(index));
        let is_new = old.is_some_and(|old| glyphs(old) != *text);
        let is_empty = place.pieces.is_empty();
        let style = match (is_new, is_empty) {
            (true, _) => SpanStyle::New(owner),
            (false, true) => SpanStyle::Faint,
            (false, false) => SpanStyle::Piece(owner),
        };
        let (x, y) = if is_edges {
            (edge_column(place.x), edge_row(place.y))
        } else {
            (column(place.x), row(place.y))
        };
        match place.shape {
            Shape::Edge { dx, .. } => {
                if is_empty {
                    continue;
                }
                if dx.abs() > 0.1 {
                    canvas.put(x.saturating_sub(width), y, &"-".repeat(2 * width + 1), style);
                } else {
                    canvas.put(x, y, "|", style);
                }
            }
            _ if place.shade == Shade::Absent && is_empty => {}
            _ if is_edges && is_empty => {}
            _ => canvas.put(x, y, &format!("{text:>width$}"), style),
        }
    }
    for line in &board.lines {
        canvas.put(edge_column(line.x1), edge_row(line.y1), "+", SpanStyle::Faint);
    }
    let bottom = canvas.cells.len();
    for label in &board.labels {
        let is_below = label.y > board.y + board.height;
        let is_left = is_row_name(label) || board.kind == BoardKind::Hex && !is_below;
        let style = SpanStyle::Faint;
        if is_below {
            let x = if is_edges { edge_column(label.x) } else { column(label.x) };
            canvas.put(x, bottom, &format!("{:>width$}", label.text), style);
        } else if is_left {
            let y = if is_edges { edge_row(label.y) } else { row(label.y) };
            let x = if board.kind == BoardKind::Hex {
                column(label.x).saturating_sub(1)
            } else {
                margin - 1 - label.text.chars().count()
            };
            canvas.put(x.saturating_sub(usize::from(!is_edges && x > 2)), y, &label.text, style);
        }
    }
    canvas.lines()
}

/// Returns what is on a place, as short text.
fn glyphs(place: &crate::scene::Place) -> String {
    let pieces: Vec<String> = place
        .pieces
        .iter()
        .map(|piece| match piece.count {
            1 => piece.glyph.clone(),
            n => format!("{n}"),
        })
        .collect();
    match place.shade {
        Shade::Aim if pieces.is_empty() => "*".to_owned(),
        _ if pieces.is_empty() => ".".to_owned(),
        _ => pieces.join(""),
    }
}

/// Draws a board whose places are rows of text.
fn rows(board: &Board, before: Option<&Board>) -> Vec<Vec<Span>> {
    let width = board.places.iter().map(|place| place.name.chars().count()).max().unwrap_or(0);
    let line = |(index, place): (usize, &crate::scene::Place)| {
        let mut spans = vec![faint(&format!("  {:>width$}  ", place.name))];
        let old = before.and_then(|board| board.places.get(index));
        let is_new = old.is_some_and(|old| old.pieces != place.pieces);
        for piece in &place.pieces {
            let text = match (piece.count, piece.glyph.as_str()) {
                (1, glyph) => format!("{glyph} "),
                (n, _) if n <= 12 => format!("{} {n}", "● ".repeat(n as usize).trim_end()),
                (n, _) => n.to_string(),
            };
            let style =
                if is_new { SpanStyle::New(piece.owner) } else { SpanStyle::Piece(piece.owner) };
            spans.push(Span { text, style });
        }
        if place.pieces.is_empty() {
            spans.push(faint("."));
        }
        spans
    };
    let mut lines: Vec<Vec<Span>> = board.places.iter().enumerate().map(line).collect();
    if board.kind == BoardKind::Graph && board.lines.len() <= 40 {
        let near = |x: f64, y: f64| {
            board.places.iter().min_by(|a, b| {
                let distance =
                    |p: &crate::scene::Place| (p.x - x) * (p.x - x) + (p.y - y) * (p.y - y);
                distance(a).total_cmp(&distance(b))
            })
        };
        let joined: Vec<String> = board
            .lines
            .iter()
            .filter_map(|line| {
                let (a, b) = (near(line.x1, line.y1)?, near(line.x2, line.y2)?);
                let arrow = if line.arrow { ">" } else { "-" };
                Some(format!("{}{arrow}{}", a.name, b.name))
            })
            .collect();
        lines.push(vec![faint(&format!("  {}", joined.join(" ")))]);
    }
    lines
}

/// Lists the points of a plane with their coordinates, in columns.
fn points(board: &Board, before: Option<&Board>) -> Vec<Vec<Span>> {
    let width = board.places.iter().map(|place| place.name.chars().count()).max().unwrap_or(0);
    let values = |place: &crate::scene::Place| -> Vec<String> {
        let names = place.pieces.iter().flat_map(|piece| piece.name.split(", "));
        names.map(str::to_owned).collect()
    };
    let rows: Vec<Vec<String>> = board.places.iter().map(values).collect();
    let column = |i: usize| {
        let lengths = rows.iter().filter_map(|row| row.get(i)).map(|text| text.chars().count());
        lengths.max().unwrap_or(0)
    };
    let line = |(place, row): (&crate::scene::Place, &Vec<String>)| {
        let cells = row.iter().enumerate().map(|(i, text)| format!("{text:<0$}", column(i)));
        let text = cells.collect::<Vec<String>>().join("  ");
        let owner = place.pieces.first().and_then(|piece| piece.owner);
        let old = before.and_then(|old| old.places.iter().find(|old| old.id == place.id));
        let is_new = old.is_some_and(|old| old.pieces != place.pieces);
        let style = if is_new { SpanStyle::New(owner) } else { SpanStyle::Piece(owner) };
        vec![faint(&format!("  {:>width$}  ", place.name)), Span { text, style }]
    };
    board.places.iter().zip(&rows).map(line).collect()
}

fn panel_lines(panel: &Panel, max_rows: usize) -> Vec<Vec<Span>> {
    let entry = |entry: &crate::scene::Entry| {
        let values = entry.values.join(", ");
        match (entry.label.as_str(), values.as_str()) {
            (label, "") => label.to_owned(),
            ("", values) => values.to_owned(),
            (label, values) => format!("{label} {values}"),
        }
    };
    let shown: Vec<String> = panel.entries.iter().take(max_rows).map(entry).collect();
    let mut text = shown.join(", ");
    if panel.title.is_empty() {
        text = format!("  {text}");
    } else {
        text = format!("  {}: {text}", panel.title);
    }
    let n_more = panel.entries.len().saturating_sub(max_rows);
    if n_more > 0 {
        text.push_str(&format!(" and {n_more} more"));
    }
    vec![vec![faint(&text)]]
}
