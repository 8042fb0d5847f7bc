//! Pictures of states with real numbers: points in a plane or on a line, and values in panels.

mod view;

use std::collections::{BTreeMap, BTreeSet};

use crate::fluent::{Flat, words};
use crate::panels::Panels;
use crate::scene::{Board, BoardKind, Label, Line, Piece, Place, Shade, Shape, Symbol};
use view::View;

/// How function values of a continuous game are drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reals {
    /// The functions whose values are real numbers that change.
    pub(crate) functions: BTreeSet<String>,
    /// The functions that are coordinates: none, one, or two with the horizontal one first.
    pub(crate) axes: Vec<Axis>,
    /// By element: the relations of the rules that hold for it always.
    pub(crate) fixed_kinds: BTreeMap<String, Vec<String>>,
    /// The relations of one element that change. They are words beside the point.
    pub(crate) kinds: BTreeSet<String>,
    /// By element: the only role whose moves name it.
    pub(crate) movers: BTreeMap<String, usize>,
    /// Functions and elements whose value was not zero in some sampled state.
    pub(crate) shown: BTreeSet<(String, String)>,
    /// The largest speed in sampled play.
    pub(crate) speed: f64,
}

/// A function that is a coordinate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) is_vertical: bool,
    /// The function that is its derivative, if the state has it.
    pub(crate) velocity: Option<String>,
    /// The least and the greatest value in sampled play.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The real numbers of one state while they are collected.
#[derive(Default)]
pub(crate) struct Collected {
    /// By element and function.
    values: BTreeMap<String, BTreeMap<String, f64>>,
    kinds: BTreeMap<String, Vec<String>>,
    time: Option<f64>,
}

/// An element with a position.
struct Point {
    element: String,
    label: String,
    owner: Option<usize>,
    tint: usize,
    /// By axis.
    at: Vec<f64>,
    velocity: Vec<f64>,
}

/// Radius of a point, in cells.
const RADIUS: f64 = 0.19;

/// Length of the arrow of the fastest point, in cells.
const ARROW: f64 = 1.3;

/// Width of a character of a label, in cells.
const CHARACTER: f64 = 0.152;

impl Reals {
    /// Takes a fluent of a state if it is drawn here.
    pub(crate) fn take(&self, flat: &Flat, collected: &mut Collected) -> bool {
        match flat.arguments.as_slice() {
            [number] if flat.relation == TIME => {
                collected.time = parse(number);
                collected.time.is_some()
            }
            [element, number] if self.functions.contains(&flat.relation) => {
                let Some(number) = parse(number) else { return false };
                let values = collected.values.entry(element.clone()).or_default();
                values.insert(flat.relation.clone(), number);
                true
            }
            [element] if self.kinds.contains(&flat.relation) => {
                let kinds = collected.kinds.entry(element.clone()).or_default();
                if flat.relation != "element" {
                    kinds.push(flat.relation.clone());
                }
                // Without a plane, other pictures show the word.
                !self.axes.is_empty()
            }
            _ => false,
        }
    }

    /// Returns the coordinates of all points of a state.
    pub(crate) fn positions(&self, state: &[String]) -> Vec<Vec<f64>> {
        let mut collected = Collected::default();
        for flat in state.iter().filter_map(|fluent| Flat::parse(fluent)) {
            self.take(&flat, &mut collected);
        }
        self.points(&collected, &[]).into_iter().map(|point| point.at).collect()
    }

    /// Returns the board of a state, and adds the values that are not coordinates to the panels.
    /// The points `inside` are shown, too, if the view must be changed for them.
    pub(crate) fn finish(
        &self,
        collected: &Collected,
        roles: &[String],
        inside: &[Vec<f64>],
        panels: &mut Panels<'_>,
    ) -> Option<Board> {
        let points = self.points(collected, roles);
        let names = self.labels(collected);
        for function in &self.functions {
            if self.axes.iter().any(|axis| axis.name == *function) {
                continue;
            }
            let mut entries = Vec::new();
            for (element, values) in &collected.values {
                let Some(&value) = values.get(function) else { continue };
                let is_known = self.shown.contains(&(function.clone(), element.clone()));
                if value != 0.0 || is_known {
                    entries.push((names[element].clone(), short(value)));
                }
            }
            panels.add_values(&words(function), entries);
        }
        if let Some(time) = collected.time {
            panels.add_values(TIME, vec![(String::new(), short(time))]);
        }
        (!self.axes.is_empty()).then(|| self.board(&points, inside))
    }

    fn points(&self, collected: &Collected, roles: &[String]) -> Vec<Point> {
        let names = self.labels(collected);
        let mut tints: Vec<Vec<String>> = Vec::new();
        let mut points = Vec::new();
        for (element, values) in &collected.values {
            let at: Vec<f64> =
                self.axes.iter().filter_map(|axis| values.get(&axis.name).copied()).collect();
            if at.len() < self.axes.len() || self.is_elsewhere(element, &at) {
                continue;
            }
            let velocity = self.axes.iter().map(|axis| {
                let name = axis.velocity.as_ref();
                name.and_then(|name| values.get(name)).copied().unwrap_or(0.0)
            });
            let kinds = self.kinds_of(element, collected);
            let tint = tints.iter().position(|known| *known == kinds).unwrap_or(tints.len());
            if tint == tints.len() {
                tints.push(kinds);
            }
            points.push(Point {
                element: element.clone(),
                label: names[element].clone(),
                owner: self.owner(element, collected, roles),
                tint,
                at,
                velocity: velocity.collect(),
            });
        }
        points
    }

    /// Returns whether an element has no position in the plane: its coordinates are always 0,
    /// although others of its values change. A man who runs along a shore may be given by an angle.
    fn is_elsewhere(&self, element: &str, at: &[f64]) -> bool {
        let is_axis = |function: &str| self.axes.iter().any(|axis| axis.name == function);
        let mut own = self.shown.iter().filter(|(_, other)| other == element).peekable();
        at.iter().all(|value| *value == 0.0)
            && own.peek().is_some()
            && own.all(|(function, _)| !is_axis(function))
    }

    fn kinds_of(&self, element: &str, collected: &Collected) -> Vec<String> {
        let fixed = self.fixed_kinds.get(element).into_iter().flatten();
        fixed.chain(collected.kinds.get(element).into_iter().flatten()).cloned().collect()
    }

    /// Returns what elements are called: their relations, without those that all elements have,
    /// and their name where that says too little.
    fn labels(&self, collected: &Collected) -> BTreeMap<String, String> {
        let all: Vec<(&String, Vec<String>)> = collected
            .values
            .keys()
            .map(|element| (element, self.kinds_of(element, collected)))
            .collect();
        let is_common = |kind: &String| all.iter().all(|(_, kinds)| kinds.contains(kind));
        let mut labels = BTreeMap::new();
        for (element, kinds) in &all {
            let mut own: Vec<&String> = kinds.iter().filter(|kind| !is_common(kind)).collect();
            if own.is_empty() && all.len() == 1 {
                own = kinds.iter().collect();
            }
            let text: Vec<String> = own.iter().map(|kind| spaced(kind)).collect();
            labels.insert((*element).clone(), text.join(" "));
        }
        let counted = labels.values().cloned().collect::<Vec<String>>();
        for (element, label) in &mut labels {
            let is_shared = counted.iter().filter(|other| *other == label).count() > 1;
            if label.is_empty() {
                label.clone_from(element);
            } else if is_shared {
                *label = format!("{label} {element}");
            }
        }
        labels
    }

    /// Returns the role that owns an element: the one in the name of its relation, or the only one
    /// that moves it.
    fn owner(&self, element: &str, collected: &Collected, roles: &[String]) -> Option<usize> {
        let kinds: Vec<String> =
            self.kinds_of(element, collected).iter().map(|kind| kind.to_lowercase()).collect();
        let find = |fits: &dyn Fn(&str, &str) -> bool| {
            roles.iter().position(|role| kinds.iter().any(|kind| fits(kind, &role.to_lowercase())))
        };
        find(&|kind, role| kind == role)
            .or_else(|| find(&|kind, role| role.len() > 1 && kind.starts_with(role)))
            .or_else(|| self.movers.get(element).copied().filter(|&role| role < roles.len()))
    }

    fn board(&self, points: &[Point], inside: &[Vec<f64>]) -> Board {
        let mut lanes: Vec<Option<usize>> = Vec::new();
        if self.axes.len() == 1 {
            lanes.extend(points.iter().map(|point| point.owner));
            lanes.sort_unstable_by_key(|owner| owner.map_or(usize::MAX, |role| role));
            lanes.dedup();
        }
        let own = points.iter().map(|point| &point.at[..]);
        let all = own.chain(inside.iter().map(Vec::as_slice));
        let view = View::new(&self.axes, all, lanes.len());
        let (lines, labels) = view.grid();
        let mut board = Board {
            id: "plane".to_owned(),
            kind: BoardKind::Plane,
            title: String::new(),
            x: 0.0,
            y: 0.0,
            width: view.width,
            height: view.height,
            places: Vec::new(),
            lines,
            frames: Vec::new(),
            labels,
        };
        for point in points {
            let lane = lanes.iter().position(|lane| *lane == point.owner).unwrap_or(0);
            let (x, y) = view.place(&point.at, lane);
            self.add_arrow(&mut board, point, (x, y));
            let values: Vec<String> = self
                .axes
                .iter()
                .zip(&point.at)
                .map(|(axis, value)| format!("{} {}", axis.name, short(*value)))
                .collect();
            board.places.push(Place {
                id: format!("plane/{}", point.element),
                name: point.label.clone(),
                shape: Shape::Circle { radius: RADIUS },
                x,
                y,
                shade: Shade::Plain,
                pieces: vec![Piece {
                    symbol: Symbol::Dot,
                    text: point.label.chars().take(3).collect(),
                    glyph: point.label.chars().take(1).collect(),
                    owner: point.owner,
                    tint: point.tint,
                    count: 1,
                    name: values.join(", "),
                    fluent: String::new(),
                }],
            });
        }
        for (index, point) in points.iter().enumerate() {
            let values: Vec<String> = point.at.iter().map(|value| short(*value)).collect();
            let values = values.join(", ");
            let text = match self.axes.len() {
                1 => format!("{} {values}", point.label),
                _ => format!("{} ({values})", point.label),
            };
            add_label(&mut board, index, text);
        }
        board
    }

    /// Adds the velocity of a point as an arrow. Its length says how fast the point is compared
    /// with the fastest one in sampled play.
    fn add_arrow(&self, board: &mut Board, point: &Point, (x, y): (f64, f64)) {
        let (mut dx, mut dy) = (0.0, 0.0);
        for (axis, speed) in self.axes.iter().zip(&point.velocity) {
            if axis.is_vertical {
                dy = -speed;
            } else {
                dx = *speed;
            }
        }
        let speed = libm::hypot(dx, dy);
        if self.speed > 0.0 && speed > 1e-6 * self.speed && speed.is_finite() {
            let length = RADIUS + ARROW * (speed / self.speed).clamp(0.12, 1.2);
            board.lines.push(Line {
                x1: x,
                y1: y,
                x2: x + dx / speed * length,
                y2: y + dy / speed * length,
                arrow: true,
                name: format!("velocity of {}", point.label),
            });
        }
    }
}

/// Returns a name in words: `RedHand` is `red hand`.
fn spaced(name: &str) -> String {
    let mut text = String::new();
    let mut was_lower = false;
    for c in words(name).chars() {
        if c.is_uppercase() && was_lower {
            text.push(' ');
        }
        was_lower = c.is_lowercase();
        text.extend(c.to_lowercase());
    }
    text
}

/// The fluent that says how much time has passed.
pub(crate) const TIME: &str = "time";

/// Writes the name of a point beside it, where it covers no other point and no other name. A name
/// for which there is no room is left to the tooltip.
fn add_label(board: &mut Board, index: usize, text: String) {
    let (x, y) = (board.places[index].x, board.places[index].y);
    let half = text.chars().count() as f64 * CHARACTER / 2.0;
    let beside = RADIUS + 0.1 + half;
    let candidates = [(0.0, -0.42), (0.0, 0.42), (beside, 0.0), (-beside, 0.0), (0.0, 0.75)];
    let is_free = |(cx, cy): (f64, f64)| {
        let is_inside = cx - half >= -0.3
            && cx + half <= board.width + 0.3
            && cy >= 0.1
            && cy <= board.height - 0.1;
        let points = board.places.iter().map(|place| (place.x, place.y, RADIUS, RADIUS));
        let names = board.labels.iter().map(|label| {
            (label.x, label.y, label.text.chars().count() as f64 * CHARACTER / 2.0, 0.15)
        });
        let heads =
            board.lines.iter().filter(|line| line.arrow).map(|line| (line.x2, line.y2, 0.1, 0.1));
        is_inside
            && points
                .chain(names)
                .chain(heads)
                .all(|(ox, oy, w, h)| (cx - ox).abs() >= half + w || (cy - oy).abs() >= 0.15 + h)
    };
    let shifted = [0.0, half * 0.9, -half * 0.9];
    let found = shifted
        .iter()
        .flat_map(|shift| candidates.iter().map(move |(dx, dy)| (x + dx + shift, y + dy)))
        .find(|at| is_free(*at));
    if let Some((x, y)) = found {
        board.labels.push(Label { x, y, text });
    }
}

/// Largest number that is drawn. Spans of larger ones could overflow.
const MAX: f64 = 1e100;

/// Reads a number as states write it: a decimal or a fraction. Returns `None` if it is too large.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let number = match text.split_once('/') {
        Some((above, below)) => above.parse::<f64>().ok()? / below.parse::<f64>().ok()?,
        None => text.parse().ok()?,
    };
    (number.abs() <= MAX).then_some(number)
}

/// Writes a number with four significant digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if (1e-4..1e7).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let texts = [0.0, -0.0, 194.4, 0.123_456, -12_345.678, 1.0 / 3.0, 1e-9, 2e12].map(short);
        assert_eq!(texts, ["0", "0", "194.4", "0.1235", "-12350", "0.3333", "1e-9", "2e12"]);
        assert_eq!((parse("1/4"), parse("1/0"), parse("a")), (Some(0.25), None, None));
    }
}
