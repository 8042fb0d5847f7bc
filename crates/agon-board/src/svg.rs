//! Draws scenes as SVG.
//!
//! The drawing has only presentation attributes: no style sheets and no scripts, so that it can be
//! embedded under a strict content security policy. Places carry the attribute `data-place` with
//! their id and the class `place`.

mod symbols;

use std::fmt::Write as _;

use crate::scene::{Board, BoardKind, Panel, Piece, Place, Scene, Shade, Shape, Symbol};

/// Pixels for the side of a cell: the unit of coordinates in a [`Scene`].
pub const UNIT: f64 = 50.0;

/// The colours of a drawing.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark lines on a light ground.
    #[default]
    Light,
    /// Light lines on a dark ground.
    Dark,
}

/// How a scene is drawn.
#[derive(Clone, Debug, Default)]
pub struct SvgOptions {
    /// The colours.
    pub theme: Theme,
    /// Whether the ground is transparent, for use inside of a page.
    pub transparent: bool,
    /// Whether panels and the turn are left out, because the page shows them itself.
    pub boards_only: bool,
    /// Ids of places that are highlighted, such as those of the last move.
    pub marks: Vec<String>,
    /// Arrows between places: ids of start and end, and strength from 0 to 1.
    pub arrows: Vec<(String, String, f64)>,
    /// A title above the picture; may be empty.
    pub title: String,
}

/// Colours of roles without a colour in their name, for light and dark ground. They differ in
/// lightness too (Okabe & Ito 2008).
pub const ROLE_COLOURS: [(&str, &str); 8] = [
    ("#0072b2", "#4aa8e0"),
    ("#d55e00", "#ff8a3c"),
    ("#009e73", "#2fd0a0"),
    ("#cc79a7", "#e79cc5"),
    ("#b8860b", "#f0c040"),
    ("#56b4e9", "#9ad5f5"),
    ("#6a3d9a", "#b795dd"),
    ("#555555", "#bbbbbb"),
];

/// Colours by their names, for light and dark ground.
const NAMED: [(&str, (&str, &str)); 14] = [
    ("white", ("#ffffff", "#f4f1e8")),
    ("black", ("#222222", "#0e0e10")),
    ("red", ("#d62728", "#f0544f")),
    ("blue", ("#1f5fbf", "#5b9bf0")),
    ("green", ("#2a9d4a", "#4fc26e")),
    ("yellow", ("#f2c230", "#f5cf4f")),
    ("orange", ("#ee7f1a", "#ff9c42")),
    ("purple", ("#7b3fa0", "#b07cd0")),
    ("violet", ("#7b3fa0", "#b07cd0")),
    ("magenta", ("#c2308f", "#e66bb8")),
    ("pink", ("#e377c2", "#f09fd6")),
    ("teal", ("#12868e", "#3cbcc4")),
    ("cyan", ("#12a5b5", "#3fd0de")),
    ("brown", ("#8c564b", "#b98375")),
];

/// Returns the colour of a role: the one in its name, such as `red`, or one by its number.
pub fn role_colour(name: &str, index: usize, theme: Theme) -> &'static str {
    let lower = name.to_lowercase();
    let named = NAMED.iter().find(|(word, _)| lower.contains(word)).map(|(_, pair)| *pair);
    let (light, dark) = named.unwrap_or(ROLE_COLOURS[index % ROLE_COLOURS.len()]);
    if theme == Theme::Light { light } else { dark }
}

/// Returns the colour that one of the words of a name is, such as `red` in `red disc`.
fn word_colour(name: &str, theme: Theme) -> Option<&'static str> {
    let is_colour = |word: &&str| NAMED.iter().any(|(named, _)| word.eq_ignore_ascii_case(named));
    name.split_whitespace().find(is_colour).map(|word| role_colour(word, 0, theme))
}

/// The colours of everything but pieces.
pub(crate) struct Palette {
    ground: &'static str,
    text: &'static str,
    faint: &'static str,
    line: &'static str,
    cell: &'static str,
    dark_cell: &'static str,
    mark: &'static str,
    unknown: &'static str,
    theme: Theme,
}

impl Palette {
    fn new(theme: Theme) -> Palette {
        match theme {
            Theme::Light => Palette {
                ground: "#ffffff",
                text: "#1c1c1e",
                faint: "#6b6b70",
                line: "#8a8a90",
                cell: "#f3eee3",
                dark_cell: "#cbb894",
                mark: "#f5d76e",
                unknown: "#b9c0cc",
                theme,
            },
            Theme::Dark => Palette {
                ground: "#17181c",
                text: "#ececf0",
                faint: "#a0a0aa",
                line: "#6c6c76",
                cell: "#3a3d45",
                dark_cell: "#2a2c33",
                mark: "#7d6a1e",
                unknown: "#555b68",
                theme,
            },
        }
    }
}

/// Draws a scene as a complete SVG document.
pub fn svg(scene: &Scene, options: &SvgOptions) -> String {
    let size = size(scene, options);
    let mut out = opening(size);
    draw(&mut out, scene, options, size);
    out.push_str("</svg>\n");
    out
}

/// Returns the opening tag of a document of a size.
pub(crate) fn opening((width, height): (f64, f64)) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
         height=\"{h}\" role=\"img\" font-family=\"DejaVu Sans, Segoe UI, Helvetica, Arial, \
         sans-serif\" font-size=\"15\">\n",
        w = number(width),
        h = number(height)
    )
}

/// Returns width and height of a drawing in pixels.
pub(crate) fn size(scene: &Scene, options: &SvgOptions) -> (f64, f64) {
    let panels = if options.boards_only { Vec::new() } else { panel_texts(scene) };
    let longest = panels.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0);
    let title = if options.title.is_empty() { 0.0 } else { 30.0 };
    let width = (scene.width * UNIT).max(longest as f64 * 7.6 + 24.0).max(120.0);
    let height = title + scene.height * UNIT + panels.len() as f64 * 21.0;
    (width, (height + if panels.is_empty() { 0.0 } else { 12.0 }).max(60.0))
}

/// Draws a scene inside of an SVG element.
pub(crate) fn draw(
    out: &mut String,
    scene: &Scene,
    options: &SvgOptions,
    (width, height): (f64, f64),
) {
    let palette = Palette::new(options.theme);
    if !options.transparent {
        let _ = writeln!(
            out,
            "<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>",
            number(width),
            number(height),
            palette.ground
        );
    }
    let mut top = 0.0;
    if !options.title.is_empty() {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"21\" font-size=\"17\" font-weight=\"bold\" \
             text-anchor=\"middle\" fill=\"{}\">{}</text>",
            number(width / 2.0),
            palette.text,
            escape(&options.title)
        );
        top = 30.0;
    }
    // Boards stand in the middle if panels are wider.
    let left = (width - scene.width * UNIT) / 2.0;
    let _ = writeln!(out, "<g transform=\"translate({} {})\">", number(left), number(top));
    for board in &scene.boards {
        draw_board(out, board, scene, options, &palette);
    }
    for (from, to, strength) in &options.arrows {
        if let (Some(from), Some(to)) = (scene.place(from), scene.place(to)) {
            draw_arrow(out, from, to, *strength, &palette);
        }
    }
    out.push_str("</g>\n");
    if !options.boards_only {
        let mut y = top + scene.height * UNIT + 18.0;
        for (text, owner) in panel_texts(scene) {
            if let Some(role) = owner {
                let colour = role_colour(&scene.roles[role], role, options.theme);
                let _ = writeln!(
                    out,
                    "<circle cx=\"12\" cy=\"{}\" r=\"5\" fill=\"{colour}\" stroke=\"{}\"/>",
                    number(y - 5.0),
                    palette.line
                );
            }
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" font-size=\"13\" fill=\"{}\">{}</text>",
                if owner.is_some() { 22 } else { 8 },
                number(y),
                palette.text,
                escape(&text)
            );
            y += 21.0;
        }
    }
}

/// Maximum number of rows of a list that is drawn.
const MAX_ROWS: usize = 14;

/// Returns the lines below the boards, with the role to which each belongs.
fn panel_texts(scene: &Scene) -> Vec<(String, Option<usize>)> {
    let mut lines = Vec::new();
    if let [role] = scene.turn.as_slice() {
        lines.push((format!("{} to move", scene.roles[*role]), Some(*role)));
    }
    for panel in &scene.panels {
        panel_lines(panel, &mut lines);
    }
    if lines.is_empty() && scene.boards.is_empty() {
        lines.push(("no fact holds".to_owned(), None));
    }
    lines
}

fn panel_lines(panel: &Panel, lines: &mut Vec<(String, Option<usize>)>) {
    let text = |entry: &crate::scene::Entry| {
        let values = entry.values.join(", ");
        match (entry.label.as_str(), values.as_str()) {
            (label, "") => label.to_owned(),
            ("", values) => values.to_owned(),
            (label, values) => format!("{label}: {values}"),
        }
    };
    let title = |rest: String| {
        if panel.title.is_empty() { rest } else { format!("{}: {rest}", panel.title) }
    };
    // Entries of roles stand on lines of their own; others share lines.
    if panel.entries.iter().any(|entry| entry.owner.is_some()) {
        for entry in panel.entries.iter().take(MAX_ROWS) {
            lines.push((title(text(entry)), entry.owner));
        }
    } else {
        const WIDTH: usize = 76;
        let mut line = String::new();
        let mut n_lines = 0;
        for entry in &panel.entries {
            let part = text(entry);
            // Spaces alone would be drawn as one.
            let separator = if panel.title.is_empty() { " · " } else { "; " };
            if !line.is_empty() && line.chars().count() + part.chars().count() > WIDTH {
                lines.push((std::mem::take(&mut line), None));
                n_lines += 1;
                if n_lines >= MAX_ROWS {
                    line = "…".to_owned();
                    break;
                }
            }
            if !line.is_empty() {
                line.push_str(separator);
            } else if n_lines == 0 && !panel.title.is_empty() {
                line = format!("{}: ", panel.title);
            }
            line.push_str(&shortened(&part, 100));
        }
        lines.push((line, None));
    }
}

fn shortened(text: &str, at_most: usize) -> String {
    if text.chars().count() <= at_most {
        return text.to_owned();
    }
    text.chars().take(at_most - 1).chain(['…']).collect()
}

fn draw_board(
    out: &mut String,
    board: &Board,
    scene: &Scene,
    options: &SvgOptions,
    palette: &Palette,
) {
    let _ = writeln!(out, "<g class=\"board\" data-board=\"{}\">", escape(&board.id));
    if !board.title.is_empty() {
        let x = board.x + board.width / 2.0;
        text(out, x, board.y - 0.65, 15.0, palette.text, &board.title);
    }
    let draw_lines = |out: &mut String| {
        for line in &board.lines {
            draw_line(out, line, board.kind, palette);
        }
    };
    let is_below = matches!(board.kind, BoardKind::Graph | BoardKind::Plane);
    if is_below {
        draw_lines(out);
    }
    for place in &board.places {
        let is_marked = options.marks.contains(&place.id);
        draw_place(out, place, board.kind, is_marked, scene, palette);
    }
    if !is_below {
        draw_lines(out);
    }
    for frame in &board.frames {
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\" \
             stroke-width=\"3\"/>",
            number(frame.x * UNIT),
            number(frame.y * UNIT),
            number(frame.width * UNIT),
            number(frame.height * UNIT),
            palette.text
        );
    }
    for label in &board.labels {
        text(out, label.x, label.y, 13.0, palette.faint, &label.text);
    }
    out.push_str("</g>\n");
}

fn draw_line(out: &mut String, line: &crate::scene::Line, kind: BoardKind, palette: &Palette) {
    let (x1, y1, x2, y2) = (line.x1 * UNIT, line.y1 * UNIT, line.x2 * UNIT, line.y2 * UNIT);
    if kind == BoardKind::Edges {
        let _ = writeln!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"5\" fill=\"{}\"/>",
            number(x1),
            number(y1),
            palette.text
        );
        return;
    }
    // The grid of a plane is faint, except for the lines through zero.
    let style = match (kind, line.arrow, line.name.is_empty()) {
        (BoardKind::Plane, false, true) => "stroke-width=\"1\" stroke-opacity=\"0.35\"",
        (BoardKind::Plane, false, false) => "stroke-width=\"1.5\"",
        _ => "stroke-width=\"2\"",
    };
    let _ = writeln!(
        out,
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" {style}/>",
        number(x1),
        number(y1),
        number(x2),
        number(y2),
        palette.line
    );
    if line.arrow {
        arrowhead(out, (x1, y1), (x2, y2), 9.0, palette.line);
    }
}

fn arrowhead(out: &mut String, from: (f64, f64), to: (f64, f64), size: f64, colour: &str) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = libm::sqrt(dx * dx + dy * dy).max(1e-6);
    let (ux, uy) = (size * dx / length, size * dy / length);
    let (bx, by) = (to.0 - ux, to.1 - uy);
    let _ = writeln!(
        out,
        "<polygon points=\"{},{} {},{} {},{}\" fill=\"{colour}\"/>",
        number(to.0),
        number(to.1),
        number(bx - uy / 2.0),
        number(by + ux / 2.0),
        number(bx + uy / 2.0),
        number(by - ux / 2.0)
    );
}

fn draw_arrow(out: &mut String, from: &Place, to: &Place, strength: f64, palette: &Palette) {
    let (start, end) = ((from.x * UNIT, from.y * UNIT), (to.x * UNIT, to.y * UNIT));
    let strength = strength.clamp(0.0, 1.0);
    let colour = if palette.theme == Theme::Light { "#1d7a3a" } else { "#6fdc8c" };
    let _ = writeln!(
        out,
        "<g opacity=\"{}\"><line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{colour}\" \
         stroke-width=\"{}\" stroke-linecap=\"round\"/>",
        number(0.35 + 0.5 * strength),
        number(start.0),
        number(start.1),
        number(end.0),
        number(end.1),
        number(3.0 + 4.0 * strength)
    );
    arrowhead(out, start, end, 18.0, colour);
    out.push_str("</g>\n");
}

fn draw_place(
    out: &mut String,
    place: &Place,
    kind: BoardKind,
    is_marked: bool,
    scene: &Scene,
    palette: &Palette,
) {
    if place.shade == Shade::Absent && place.pieces.is_empty() {
        return;
    }
    let names: Vec<&str> = place.pieces.iter().map(|piece| piece.name.as_str()).collect();
    let what = if names.is_empty() { "empty".to_owned() } else { names.join(", ") };
    let _ = write!(
        out,
        "<g class=\"place\" data-place=\"{}\"><title>{}: {}</title>",
        escape(&place.id),
        escape(&place.name),
        escape(&what)
    );
    let fill = match (is_marked, place.shade) {
        (true, _) => palette.mark,
        (false, Shade::Plain | Shade::Absent | Shade::Aim) => palette.cell,
        (false, Shade::Dark) => palette.dark_cell,
        (false, Shade::Unknown) => palette.unknown,
    };
    let (x, y) = (place.x * UNIT, place.y * UNIT);
    match place.shape {
        Shape::Rectangle { width, height } => {
            let (w, h) = (width * UNIT, height * UNIT);
            let stroke = if kind == BoardKind::Edges { "none" } else { palette.line };
            let fill = if kind == BoardKind::Edges && !is_marked { palette.ground } else { fill };
            let _ = write!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" \
                 stroke=\"{stroke}\"/>",
                number(x - w / 2.0),
                number(y - h / 2.0),
                number(w),
                number(h)
            );
        }
        Shape::Hexagon { radius } => {
            let r = radius * UNIT;
            let (side, half) = (r * 0.866_025, r / 2.0);
            let corners =
                [(0.0, -r), (side, -half), (side, half), (0.0, r), (-side, half), (-side, -half)];
            let points: Vec<String> = corners
                .iter()
                .map(|(dx, dy)| format!("{},{}", number(x + dx), number(y + dy)))
                .collect();
            let _ = write!(
                out,
                "<polygon points=\"{}\" fill=\"{fill}\" stroke=\"{}\"/>",
                points.join(" "),
                palette.line
            );
        }
        Shape::Circle { radius } => {
            let own = place.pieces.first().filter(|_| kind == BoardKind::Plane);
            let colours = own.map(|piece| colours(piece, scene, palette));
            let fill = colours.as_ref().map_or(fill, |colours| colours.fill.as_str());
            let _ = write!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\" stroke=\"{}\" \
                 stroke-width=\"2\"/>",
                number(x),
                number(y),
                number(radius * UNIT),
                palette.line
            );
        }
        Shape::Edge { dx, dy } => {
            let (hx, hy) = (dx * UNIT / 2.0, dy * UNIT / 2.0);
            let drawn = place.pieces.first();
            let colour = match drawn.and_then(|piece| piece.owner) {
                Some(role) => role_colour(&scene.roles[role], role, palette.theme),
                None if drawn.is_some() => palette.text,
                None if is_marked => palette.mark,
                None => palette.line,
            };
            let (width, dashes) =
                if drawn.is_some() { (6, "") } else { (12, " stroke-opacity=\"0.18\"") };
            let _ = write!(
                out,
                "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{colour}\" \
                 stroke-width=\"{width}\"{dashes}/>",
                number(x - hx),
                number(y - hy),
                number(x + hx),
                number(y + hy)
            );
        }
    }
    if place.shade == Shade::Aim {
        let radius = number(UNIT * 0.42);
        let _ = write!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" fill=\"none\" stroke=\"{}\" \
             stroke-width=\"3\" stroke-dasharray=\"6 4\"/>",
            number(x),
            number(y),
            palette.mark
        );
    }
    if kind == BoardKind::Plane {
        // The circle of the place is the piece.
    } else if kind == BoardKind::Stacks {
        draw_stack(out, place, scene, palette);
    } else if !matches!(place.shape, Shape::Edge { .. }) {
        draw_pieces(out, place, scene, palette);
    }
    out.push_str("</g>\n");
}

/// Draws the pieces of a place, side by side if there are several.
fn draw_pieces(out: &mut String, place: &Place, scene: &Scene, palette: &Palette) {
    let extent = match place.shape {
        Shape::Rectangle { width, height } => width.min(height),
        Shape::Hexagon { radius } => radius * 1.6,
        Shape::Circle { radius } => radius * 1.9,
        Shape::Edge { .. } => return,
    };
    // Marks and filled places lie under the other pieces and share the middle with them.
    let is_ground = |piece: &&Piece| {
        matches!(piece.symbol, Symbol::Block | Symbol::Dot | Symbol::Light | Symbol::Back)
    };
    let ground: Vec<&Piece> = place.pieces.iter().filter(is_ground).collect();
    let others: Vec<&Piece> = place.pieces.iter().filter(|piece| !is_ground(piece)).collect();
    for piece in &ground {
        let is_beside = piece.symbol == Symbol::Dot && !others.is_empty();
        let (dx, dy) = if is_beside { (0.36 * extent, -0.36 * extent) } else { (0.0, 0.0) };
        let at = ((place.x + dx) * UNIT, (place.y + dy) * UNIT);
        symbols::draw(out, piece, at, extent * UNIT, &colours(piece, scene, palette));
    }
    let per_line = match others.len() {
        0 | 1 => 1,
        2..=4 => 2,
        _ => 3,
    };
    let size = extent / per_line as f64;
    // Of more pieces than fit, the last place says how many are not drawn; the title names them.
    let n_places = others.len().min(MAX_PIECES);
    let n_drawn = if others.len() > MAX_PIECES { MAX_PIECES - 1 } else { n_places };
    let position = |i: usize| {
        let n_lines = n_places.div_ceil(per_line);
        let in_line = per_line.min(n_places - (i / per_line) * per_line);
        let x = place.x + ((i % per_line) as f64 - (in_line - 1) as f64 / 2.0) * size;
        let y = place.y + ((i / per_line) as f64 - (n_lines - 1) as f64 / 2.0) * size;
        (x, y)
    };
    for (i, piece) in others.iter().take(n_drawn).enumerate() {
        let (x, y) = position(i);
        let at = (x * UNIT, y * UNIT);
        symbols::draw(out, piece, at, size * UNIT, &colours(piece, scene, palette));
    }
    if n_drawn < others.len() {
        let (x, y) = position(n_drawn);
        text(out, x, y, 12.0, palette.text, &format!("+{}", others.len() - n_drawn));
    }
}

/// Maximum number of pieces that are drawn on one place.
const MAX_PIECES: usize = 9;

/// Draws the things of a stack on each other.
fn draw_stack(out: &mut String, place: &Place, scene: &Scene, palette: &Palette) {
    let Shape::Rectangle { width, height } = place.shape else { return };
    let (left, bottom) = ((place.x - width / 2.0) * UNIT, (place.y + height / 2.0) * UNIT);
    let (w, h) = (width * UNIT, height * UNIT);
    if let [piece] = place.pieces.as_slice()
        && piece.symbol == Symbol::Disc
    {
        // A heap of equal things: two columns of counters and their number.
        let n_rows = (piece.count.div_ceil(2)).max(5) as f64;
        let step = (h - 26.0) / n_rows;
        let radius = (step / 2.2).min(w / 5.0);
        for i in 0..piece.count.min(60) {
            let column = if piece.count == 1 { 0.5 } else { 0.3 + 0.4 * f64::from(i % 2) };
            let _ = write!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" stroke=\"{}\"/>",
                number(left + w * column),
                number(bottom - step * (f64::from(i / 2) + 0.5)),
                number(radius),
                role_colour("", 4, palette.theme),
                palette.text
            );
        }
        let (x, y) = (place.x, place.y - height / 2.0 + 0.24);
        text(out, x, y, 15.0, palette.text, &piece.count.to_string());
        return;
    }
    let numbers: Vec<f64> =
        place.pieces.iter().map(|piece| piece.text.parse::<f64>().unwrap_or(3.0)).collect();
    let largest = numbers.iter().copied().fold(6.0, f64::max);
    let step = (h / (place.pieces.len().max(7) as f64)).min(34.0);
    for (i, (piece, number_of)) in place.pieces.iter().zip(&numbers).enumerate() {
        let own = w * (0.35 + 0.6 * number_of / largest).min(0.95);
        let colour = role_colour("", piece.tint, palette.theme);
        let y = bottom - step * (i as f64 + 1.0);
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"{colour}\" \
             stroke=\"{}\"/>",
            number(left + (w - own) / 2.0),
            number(y + 1.0),
            number(own),
            number(step - 2.0),
            palette.text
        );
        text(out, place.x, (y + step / 2.0) / UNIT, 14.0, "#ffffff", &piece.text);
    }
    let _ = scene;
}

/// Fill, outline and text colour of a piece.
pub(crate) struct Colours {
    pub(crate) fill: String,
    pub(crate) stroke: String,
    pub(crate) ink: String,
    /// Which shape the owner has, so that pieces differ without colour: 0 to 3.
    pub(crate) form: usize,
    /// Whether lines in the colour of the piece are hard to see on the ground.
    pub(crate) is_faint: bool,
}

fn colours(piece: &Piece, scene: &Scene, palette: &Palette) -> Colours {
    let fill = match piece.owner {
        Some(role) => role_colour(&scene.roles[role], role, palette.theme),
        None if piece.symbol == Symbol::Light => "#f7c531",
        None if piece.symbol == Symbol::Block => palette.line,
        None => word_colour(&piece.name, palette.theme)
            .unwrap_or_else(|| role_colour("", piece.tint + 2, palette.theme)),
    };
    let is_light = luminance(fill) > 0.55;
    let stroke = if palette.theme == Theme::Light || is_light { "#1c1c1e" } else { "#d8d8de" };
    let ink = if is_light { "#1c1c1e" } else { "#ffffff" };
    let form = piece.owner.unwrap_or(0) % 4;
    let is_faint = match palette.theme {
        Theme::Light => luminance(fill) > 0.7,
        Theme::Dark => luminance(fill) < 0.1,
    };
    Colours {
        fill: fill.to_owned(),
        stroke: stroke.to_owned(),
        ink: ink.to_owned(),
        form,
        is_faint,
    }
}

/// Returns the lightness of a colour such as `#1c1c1e`, from 0 to 1.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| {
        let hex = colour.get(at..at + 2).unwrap_or("00");
        f64::from(u8::from_str_radix(hex, 16).unwrap_or(0)) / 255.0
    };
    0.299 * part(1) + 0.587 * part(3) + 0.114 * part(5)
}

/// Writes a text whose middle is at a position in units of cells.
fn text(out: &mut String, x: f64, y: f64, size: f64, colour: &str, content: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"middle\" fill=\"{colour}\">{}</text>",
        number(x * UNIT),
        number(y * UNIT + size * 0.35),
        number(size),
        escape(content)
    );
}

/// Returns a number with at most two decimals.
pub(crate) fn number(value: f64) -> String {
    let rounded = libm::round(value * 100.0) / 100.0;
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// Escapes a text for XML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML 1.0 does not allow other control characters.
            c if (c as u32) < 0x20 && !matches!(c, '\t' | '\n') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_named_after_colours_have_them() {
        assert_eq!(role_colour("redghost", 5, Theme::Light), "#d62728");
        assert_eq!(role_colour("white", 0, Theme::Light), "#ffffff");
        assert_eq!(role_colour("alice", 1, Theme::Light), ROLE_COLOURS[1].0);
    }

    #[test]
    fn pieces_that_do_not_fit_are_counted() {
        let piece = |n: usize| Piece {
            symbol: Symbol::Disc,
            text: n.to_string(),
            glyph: n.to_string(),
            owner: None,
            tint: 0,
            count: 1,
            name: format!("piece {n}"),
            fluent: String::new(),
        };
        let draw = |n_pieces: usize| {
            let place = Place {
                id: "p".to_owned(),
                name: "p".to_owned(),
                shape: Shape::Rectangle { width: 1.0, height: 1.0 },
                x: 0.5,
                y: 0.5,
                shade: Shade::Plain,
                pieces: (0..n_pieces).map(piece).collect(),
            };
            let board = Board {
                id: "b".to_owned(),
                kind: BoardKind::Grid,
                title: String::new(),
                x: 0.0,
                y: 0.0,
                width: 1.0,
                height: 1.0,
                places: vec![place],
                lines: Vec::new(),
                frames: Vec::new(),
                labels: Vec::new(),
            };
            let scene = Scene { width: 1.0, height: 1.0, boards: vec![board], ..Scene::default() };
            svg(&scene, &SvgOptions::default())
        };
        assert!(!draw(9).contains(">+"));
        let crowded = draw(12);
        assert!(crowded.contains(">+4</text>") && crowded.contains("piece 11"), "{crowded}");
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("a<b & \"c\"\u{1}"), "a&lt;b &amp; &quot;c&quot; ");
    }
}
