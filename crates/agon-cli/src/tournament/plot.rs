//! Draws plots as SVG. Colours come from the style sheet of the page, light or dark.

use std::fmt::{self, Write as _};

use agon_match::tournament::{Estimate, Rating};

/// Returns a text escaped for HTML.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Control characters are not allowed in HTML.
            c if c.is_control() && c != '\n' && c != '\t' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// The measures of a plot. Letters have the same size in all frames, so a plot for a narrow screen
/// is drawn again rather than scaled.
#[derive(Copy, Clone)]
pub(super) struct Frame {
    width: f64,
    /// Left margin, for names.
    left: f64,
    /// Maximum length of a name in the left margin, in letters.
    max_letters: usize,
    /// Maximum number of intervals between the labels of a scale.
    max_steps: f64,
    class: &'static str,
}

/// For wide screens and paper.
pub(super) const WIDE: Frame =
    Frame { width: 760.0, left: 190.0, max_letters: 23, max_steps: 8.0, class: "wide" };
/// For screens of 400 pixels.
pub(super) const NARROW: Frame =
    Frame { width: 356.0, left: 116.0, max_letters: 14, max_steps: 5.0, class: "narrow" };

/// Draws a plot for wide and for narrow screens. The style sheet of the page shows one of them.
pub(super) fn both(draw: impl Fn(Frame) -> Plot) -> String {
    format!("{}{}", draw(WIDE), draw(NARROW))
}

const RIGHT: f64 = 24.0;
const ROW: f64 = 30.0;

struct Canvas {
    body: String,
    frame: Frame,
    width: f64,
    height: f64,
}

#[derive(Copy, Clone)]
enum Anchor {
    Start,
    Middle,
}

impl Canvas {
    fn new(frame: Frame, height: f64) -> Canvas {
        Canvas { body: String::new(), frame, width: frame.width, height }
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
        };
        let text = escape(text);
        let _ = write!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" \
             class=\"{class}\">{text}</text>"
        );
    }

    /// Draws a name to the left of a row. A long name is shortened, with the whole name as tooltip.
    fn name(&mut self, y: f64, name: &str) {
        let short = shortened(name, self.frame.max_letters);
        let (short, whole) = (escape(&short), escape(name));
        let x = self.frame.left - 12.0;
        let _ = write!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\" \
             class=\"name\">{short}<title>{whole}</title></text>"
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = write!(
            self.body,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>"
        );
    }

    fn rect(&mut self, corner: (f64, f64), size: (f64, f64), style: &str, title: &str) {
        let ((x, y), (w, h)) = (corner, size);
        let title = escape(title);
        let _ = write!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" \
             {style}><title>{title}</title></rect>",
            w.max(0.5),
            h.max(0.5)
        );
    }

    fn dot(&mut self, x: f64, y: f64, class: &str, title: &str) {
        let title = escape(title);
        let _ = write!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" \
             class=\"{class}\"><title>{title}</title></circle>"
        );
    }

    /// Draws a scale along the bottom: lines and numbers.
    fn scale(&mut self, scale: &Scale, label: impl Fn(f64) -> String) {
        let bottom = self.height - 24.0;
        for at in scale.ticks() {
            let x = scale.x(at);
            self.line((x, 4.0), (x, bottom), "grid");
            self.text(x, bottom + 16.0, Anchor::Middle, "tick", &label(at));
        }
    }

    fn finish(self, label: &str) -> Plot {
        Plot { canvas: self, label: label.to_owned() }
    }
}

/// A finished plot. It is displayed as an element of a page.
pub(super) struct Plot {
    canvas: Canvas,
    label: String,
}

impl Plot {
    /// Returns the plot as a file of its own, with lines of small print below it.
    pub(super) fn into_file(mut self, style: &str, small_print: &str) -> String {
        /// Letters in a line of small print that certainly fit the width of [`WIDE`].
        const LETTERS: usize = 120;
        let y = self.canvas.height + 8.0;
        let lines = wrapped(small_print, LETTERS);
        for (number, line) in lines.iter().enumerate() {
            self.canvas.text(8.0, y + 12.0 * number as f64, Anchor::Start, "small", line);
        }
        self.canvas.height = y + 12.0 * lines.len() as f64;
        let text = self.to_string();
        let head = text.find('>').map_or(0, |at| at + 1);
        let (opening, rest) = text.split_at(head);
        let opening = opening.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
        format!("{opening}<desc>{}</desc><style>{style}</style>{rest}", escape(small_print))
    }
}

impl fmt::Display for Plot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plot { canvas: Canvas { body, frame, width, height }, label } = self;
        let (label, class) = (escape(label), frame.class);
        // A plot that does not fit is scrolled: letters must stay readable.
        let least = match *width > frame.width {
            true => format!(" style=\"min-width: {width:.0}px\""),
            false => String::new(),
        };
        writeln!(
            f,
            "<svg class=\"{class}\"{least} viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             aria-label=\"{label}\">{body}</svg>"
        )
    }
}

/// Splits a text into lines at blanks. A word that is longer than a line is cut.
fn wrapped(text: &str, n_letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut n_last = 0;
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        for part in letters.chunks(n_letters) {
            match lines.last_mut() {
                Some(line) if n_last + 1 + part.len() <= n_letters => {
                    line.push(' ');
                    line.extend(part);
                    n_last += 1 + part.len();
                }
                _ => {
                    lines.push(part.iter().collect());
                    n_last = part.len();
                }
            }
        }
    }
    lines
}

pub(super) fn shortened(name: &str, n_letters: usize) -> String {
    if name.chars().count() <= n_letters {
        return name.to_owned();
    }
    name.chars().take(n_letters - 1).chain(['…']).collect()
}

/// A linear scale from numbers to horizontal places.
struct Scale {
    frame: Frame,
    low: f64,
    high: f64,
}

impl Scale {
    /// Returns a scale that contains all the numbers and is never a single point.
    fn holding(frame: Frame, numbers: impl Iterator<Item = f64>) -> Scale {
        let finite = numbers.filter(|x| x.is_finite());
        let (low, high) =
            finite.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return Scale { frame, low: 0.0, high: 1.0 };
        }
        let spare = ((high - low) * 0.05).max(1.0);
        Scale { frame, low: low - spare, high: high + spare }
    }

    fn x(&self, at: f64) -> f64 {
        let share = ((at - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let Frame { width, left, .. } = self.frame;
        left + share * (width - left - RIGHT)
    }

    /// Returns at most ten round numbers for the labels of the scale.
    fn ticks(&self) -> Vec<f64> {
        let span = self.high - self.low;
        let mut step = 1e-3;
        let mut factors = [2.0, 2.5, 2.0].into_iter().cycle();
        while span / step > self.frame.max_steps {
            step *= factors.next().unwrap_or(2.0);
        }
        let first = (self.low / step).ceil();
        (0..10)
            .map(|n| (first + f64::from(n)) * step)
            .take_while(|at| *at <= self.high + 1e-9)
            .collect()
    }
}

/// Draws Elo ratings with error bars, one row for each player, in the order given.
pub(super) fn ratings(frame: Frame, players: &[(String, Option<Rating>)]) -> Plot {
    let ends = players.iter().filter_map(|(_, rating)| *rating);
    let ends = ends.flat_map(|r| [r.elo - r.half, r.elo + r.half]);
    let scale = Scale::holding(frame, ends.chain([0.0]));
    let mut canvas = Canvas::new(frame, players.len() as f64 * ROW + 34.0);
    canvas.scale(&scale, |at| if at == 0.0 { "0".to_owned() } else { format!("{at:+.0}") });
    canvas.line((scale.x(0.0), 4.0), (scale.x(0.0), canvas.height - 24.0), "zero");
    for (at, (name, rating)) in players.iter().enumerate() {
        let y = at as f64 * ROW + ROW / 2.0 + 4.0;
        canvas.name(y + 4.5, name);
        if let Some(Rating { elo, half }) = rating {
            bar(&mut canvas, scale.x(elo - half), scale.x(elo + half), y, "s0");
            canvas.dot(scale.x(*elo), y, "s0", &format!("{name}: {elo:+.0} Elo ± {half:.0}"));
        }
    }
    canvas.finish("Elo of each player with 95 % intervals")
}

fn bar(canvas: &mut Canvas, from: f64, to: f64, y: f64, class: &str) {
    canvas.line((from, y), (to, y), &format!("bar {class}"));
    canvas.line((from, y - 4.0), (from, y + 4.0), &format!("bar {class}"));
    canvas.line((to, y - 4.0), (to, y + 4.0), &format!("bar {class}"));
}

/// Number of colours for series.
pub(super) const N_SERIES: usize = 6;

/// Draws the points of at most [`N_SERIES`] players in each game, as dots with error bars.
pub(super) fn points_by_game(
    frame: Frame,
    players: &[String],
    games: &[(String, Vec<Option<Estimate>>)],
) -> Plot {
    let gap = 13.0;
    let row = 16.0 + gap * players.len() as f64;
    let head = 30.0;
    let mut canvas = Canvas::new(frame, head + games.len() as f64 * row + 30.0);
    let scale = Scale { frame, low: 0.0, high: 100.0 };
    let bottom = canvas.height - 24.0;
    for percent in [0.0, 25.0, 50.0, 75.0, 100.0] {
        let x = scale.x(percent);
        canvas.line((x, head), (x, bottom), if percent == 50.0 { "zero" } else { "grid" });
        canvas.text(x, bottom + 16.0, Anchor::Middle, "tick", &format!("{percent:.0} %"));
    }
    // Two long names would not fit beside each other on a narrow screen, so the legend begins at
    // the margin there.
    let from = if frame.width < 500.0 { 0.0 } else { frame.left };
    let room = (frame.width - from) / players.len().max(1) as f64;
    for (at, player) in players.iter().enumerate() {
        let x = from + at as f64 * room;
        canvas.dot(x + 5.0, 12.0, &format!("s{at}"), player);
        let letters = ((room - 24.0) / 7.0).max(4.0) as usize;
        canvas.text(x + 16.0, 16.5, Anchor::Start, "tick", &shortened(player, letters));
    }
    for (number, (game, points)) in games.iter().enumerate() {
        let top = head + number as f64 * row;
        canvas.line((0.0, top), (frame.width, top), "grid");
        canvas.name(top + row / 2.0 + 4.5, game);
        for (at, points) in points.iter().enumerate() {
            let Some(points) = points else { continue };
            let y = top + 8.0 + gap * (at as f64 + 0.5);
            bar(
                &mut canvas,
                scale.x(100.0 * points.low),
                scale.x(100.0 * points.high),
                y,
                &format!("s{at}"),
            );
            canvas.dot(
                scale.x(100.0 * points.mean),
                y,
                &format!("s{at}"),
                &tooltip(&players[at], game, points),
            );
        }
    }
    canvas.finish("points of each player in each game with 95 % intervals")
}

fn tooltip(row: &str, column: &str, points: &Estimate) -> String {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    format!(
        "{row}, {column}: {} % ({} to {})",
        percent(points.mean),
        percent(points.low),
        percent(points.high)
    )
}

/// Draws points as colours, rows against columns: blue above one half and orange below.
pub(super) fn heat_map(
    frame: Frame,
    rows: &[String],
    columns: &[String],
    cells: &[Vec<Option<Estimate>>],
    label: &str,
) -> Plot {
    let Frame { left, max_letters, .. } = frame;
    let room = frame.width - left - RIGHT;
    let size = (room / columns.len().max(1) as f64).clamp(34.0, 110.0);
    let tall = 40.0;
    let letters = (size / 7.2) as usize;
    // Long names are rotated.
    let longest = columns.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let is_rotated = longest > letters.max(4);
    let head =
        if is_rotated { (longest.min(max_letters) as f64 * 7.4 + 16.0).max(28.0) } else { 28.0 };
    let mut canvas = Canvas::new(frame, head + rows.len() as f64 * tall + 8.0);
    canvas.width = (left + columns.len() as f64 * size + RIGHT).max(frame.width);
    for (at, name) in columns.iter().enumerate() {
        let x = left + (at as f64 + 0.5) * size;
        let shown = escape(&shortened(name, max_letters));
        let y = head - 9.0;
        let place = if is_rotated {
            format!(
                "transform=\"translate({:.1} {y:.1}) rotate(-90)\" text-anchor=\"start\"",
                x + 4.0
            )
        } else {
            format!("x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\"")
        };
        let _ = write!(canvas.body, "<text {place} class=\"name\">{shown}</text>");
    }
    for (at, (name, cells)) in rows.iter().zip(cells).enumerate() {
        let y = head + at as f64 * tall;
        canvas.name(y + tall / 2.0 + 4.5, name);
        for (column, points) in cells.iter().enumerate() {
            let corner = (left + column as f64 * size, y);
            let inner = (size - 3.0, tall - 3.0);
            match points {
                Some(points) => {
                    let title = tooltip(name, &columns[column], points);
                    heat_cell(&mut canvas, corner, inner, points, &title);
                }
                None => canvas.rect(corner, inner, "class=\"empty\"", ""),
            }
        }
    }
    canvas.finish(label)
}

fn heat_cell(
    canvas: &mut Canvas,
    (x, y): (f64, f64),
    inner: (f64, f64),
    points: &Estimate,
    title: &str,
) {
    let class = if points.mean >= 0.5 { "good" } else { "bad" };
    let strength = 0.06 + 0.74 * (points.mean - 0.5).abs() * 2.0;
    let style = format!("class=\"{class}\" fill-opacity=\"{strength:.2}\"");
    canvas.rect((x, y), inner, &style, title);
    let suffix = if strength > 0.5 { " strong" } else { "" };
    let middle = x + inner.0 / 2.0;
    let mean = format!("{:.0}", 100.0 * points.mean);
    canvas.text(middle, y + 17.0, Anchor::Middle, &format!("cell{suffix}"), &mean);
    let half = format!("±{:.0}", 100.0 * points.half());
    canvas.text(middle, y + 30.0, Anchor::Middle, &format!("half{suffix}"), &half);
}

/// Draws the lengths of the matches of each game: from the shortest to the longest, with the middle
/// half as a box and the median.
pub(super) fn lengths(frame: Frame, games: &[(String, Vec<usize>)]) -> Plot {
    let longest = games.iter().flat_map(|(_, steps)| steps).copied().max().unwrap_or(1);
    let scale = Scale { frame, low: 0.0, high: longest as f64 * 1.04 };
    let mut canvas = Canvas::new(frame, games.len() as f64 * ROW + 34.0);
    canvas.scale(&scale, |at| format!("{at:.0}"));
    for (at, (game, steps)) in games.iter().enumerate() {
        let y = at as f64 * ROW + ROW / 2.0 + 4.0;
        canvas.name(y + 4.5, game);
        let mut steps = steps.clone();
        steps.sort_unstable();
        let Some(last) = steps.len().checked_sub(1) else { continue };
        let quantile = |share: f64| scale.x(steps[(last as f64 * share).round() as usize] as f64);
        bar(&mut canvas, quantile(0.0), quantile(1.0), y, "s0");
        let (from, to) = (quantile(0.25), quantile(0.75));
        let title = format!(
            "{game}: {} to {} steps, median {}, {} matches",
            steps[0],
            steps[last],
            steps[last / 2],
            steps.len()
        );
        canvas.rect((from, y - 8.0), (to - from, 16.0), "class=\"box\"", &title);
        canvas.line((quantile(0.5), y - 8.0), (quantile(0.5), y + 8.0), "median");
    }
    canvas.finish("steps of the matches of each game")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_contain_all_numbers_and_have_round_ticks() {
        for numbers in [
            vec![],
            vec![5.0],
            vec![-312.0, 40.0, 977.0],
            vec![0.0, f64::INFINITY],
            vec![1e6, -1e6],
        ] {
            for frame in [WIDE, NARROW] {
                let scale = Scale::holding(frame, numbers.iter().copied());
                let ticks = scale.ticks();
                assert!(ticks.len() <= 10 && ticks.len() >= 2, "{numbers:?} {ticks:?}");
                assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
                let inside = frame.left..=frame.width;
                assert!(ticks.iter().all(|at| inside.contains(&scale.x(*at))));
            }
        }
    }

    #[test]
    fn small_print_is_wrapped() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefgh i", 3), ["abc", "def", "gh", "i"]);
        assert!(wrapped("  ", 3).is_empty());
        let plot = lengths(WIDE, &[("nim".to_owned(), vec![3, 4])]);
        let file = plot.into_file("svg {}", &"a <word> ".repeat(30));
        assert!(file.starts_with("<svg xmlns=") && file.matches("class=\"small\"").count() == 3);
        assert!(!file.contains("<word>"), "{file}");
    }

    #[test]
    fn names_are_escaped() {
        let name = "<script>alert(\"x\")</script>&'\u{1}".to_owned();
        let estimate = Estimate { mean: 1.0, low: 0.9, high: 1.0, n: 3 };
        let rating = Rating { elo: 5.0, half: f64::NAN };
        let one = std::slice::from_ref(&name);
        let all = [
            ratings(WIDE, &[(name.clone(), Some(rating)), (name.clone(), None)]),
            points_by_game(NARROW, one, &[(name.clone(), vec![Some(estimate)])]),
            heat_map(NARROW, one, one, &[vec![Some(estimate)]], &name),
            lengths(WIDE, &[(name.clone(), vec![3, 4]), (name.clone(), vec![])]),
        ];
        for svg in all.map(|plot| plot.to_string()) {
            assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
            assert!(
                !svg.contains("<script")
                    && !svg.contains('\u{1}')
                    && svg.contains("&lt;script&gt;"),
                "{svg}"
            );
        }
    }
}
