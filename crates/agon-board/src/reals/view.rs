//! The part of a plane or line that is shown, and its grid.

use super::{Axis, short};
use crate::scene::{Label, Line};

/// The part of a plane or line that is shown.
pub(crate) struct View {
    /// Width in cells.
    pub(crate) width: f64,
    /// Height in cells.
    pub(crate) height: f64,
    /// Least and greatest value of the horizontal and of the vertical axis.
    horizontal: Option<(f64, f64)>,
    vertical: Option<(f64, f64)>,
    n_lanes: usize,
    /// Distance of the lines of the grid.
    step: f64,
}

/// Length of the longer side of a plane, in cells.
const LONG: f64 = 9.0;
/// Least length of the shorter side of a plane.
const SHORT: f64 = 3.5;
/// Number of lines of a grid along the longer side, about.
const N_LINES: f64 = 10.0;
/// Most times that a view is doubled. It bounds the work if numbers are huge.
const MAX_DOUBLINGS: usize = 700;

impl View {
    /// Returns a view that shows what sampled play needs. If a point lies outside, the view is
    /// doubled around its middle until all points are inside, so that it changes rarely in a match.
    pub(crate) fn new<'p>(
        axes: &[Axis],
        points: impl Iterator<Item = &'p [f64]> + Clone,
        n_lanes: usize,
    ) -> View {
        let mut bounds: Vec<(f64, f64)> = axes.iter().map(margins).collect();
        let is_outside = |bounds: &[(f64, f64)]| {
            points.clone().any(|point| {
                point.iter().zip(bounds).any(|(value, (low, high))| value < low || value > high)
            })
        };
        for _ in 0..MAX_DOUBLINGS {
            if !is_outside(&bounds) {
                break;
            }
            for (low, high) in &mut bounds {
                let half = (*high - *low) / 2.0;
                (*low, *high) = (*low - half, *high + half);
            }
        }
        let of = |is_vertical: bool| {
            let place = axes.iter().position(|axis| axis.is_vertical == is_vertical);
            place.map(|place| bounds[place])
        };
        let (mut horizontal, mut vertical) = (of(false), of(true));
        let span = |range: Option<(f64, f64)>| range.map_or(0.0, |(low, high)| high - low);
        let longest = span(horizontal).max(span(vertical));
        let lanes = n_lanes.max(1) as f64;
        let (width, height) = match (horizontal.is_some(), vertical.is_some()) {
            (true, true) => {
                // The scale is the same on both axes; the shorter one shows more if it is short.
                for range in [&mut horizontal, &mut vertical].into_iter().flatten() {
                    let missing = (longest * SHORT / LONG - (range.1 - range.0)).max(0.0) / 2.0;
                    (range.0, range.1) = (range.0 - missing, range.1 + missing);
                }
                (span(horizontal) / longest * LONG, span(vertical) / longest * LONG)
            }
            (true, false) => (LONG + 1.0, 1.3 * lanes),
            _ => ((2.6 * lanes).max(3.6), LONG - 1.0),
        };
        View { width, height, horizontal, vertical, n_lanes, step: step(longest / N_LINES) }
    }

    /// Returns the position of a point in cells. On a line, lanes lie side by side.
    pub(crate) fn place(&self, point: &[f64], lane: usize) -> (f64, f64) {
        let along = |(low, high): (f64, f64), value: f64| (value - low) / (high - low);
        let lane = (lane as f64 + 0.5) / self.n_lanes.max(1) as f64;
        match (self.horizontal, self.vertical, point) {
            (Some(x), Some(y), [px, py, ..]) => {
                (along(x, *px) * self.width, (1.0 - along(y, *py)) * self.height)
            }
            (Some(x), _, [px, ..]) => (along(x, *px) * self.width, lane * self.height),
            (None, Some(y), [py, ..]) => (lane * self.width, (1.0 - along(y, *py)) * self.height),
            _ => (0.0, 0.0),
        }
    }

    /// Returns the lines of the grid and the numbers beside them.
    pub(crate) fn grid(&self) -> (Vec<Line>, Vec<Label>) {
        let (mut lines, mut labels) = (Vec::new(), Vec::new());
        let line = |x1, y1, x2, y2, name: &str| Line {
            x1,
            y1,
            x2,
            y2,
            arrow: false,
            name: name.to_owned(),
        };
        let (w, h) = (self.width, self.height);
        for (value, at) in self.ticks(self.horizontal) {
            let x = at * w;
            lines.push(line(x, 0.0, x, h, if value == 0.0 { ZERO } else { "" }));
            labels.push(Label { x, y: h + 0.3, text: short(value) });
        }
        for (value, at) in self.ticks(self.vertical) {
            let y = (1.0 - at) * h;
            lines.push(line(0.0, y, w, y, if value == 0.0 { ZERO } else { "" }));
            labels.push(Label { x: -0.35, y, text: short(value) });
        }
        let corners = [(0.0, 0.0), (w, 0.0), (w, h), (0.0, h), (0.0, 0.0)];
        for pair in corners.windows(2) {
            lines.push(line(pair[0].0, pair[0].1, pair[1].0, pair[1].1, ""));
        }
        (lines, labels)
    }

    /// Returns the multiples of the step within a range, and where they lie from 0 to 1.
    fn ticks(&self, range: Option<(f64, f64)>) -> Vec<(f64, f64)> {
        let Some((low, high)) = range else { return Vec::new() };
        let first = libm::ceil(low / self.step);
        let n = (libm::floor(high / self.step) - first).clamp(0.0, 60.0) as usize;
        (0..=n)
            .map(|i| (first + i as f64) * self.step)
            .filter(|value| *value >= low && *value <= high)
            .map(|value| (value, (value - low) / (high - low)))
            .collect()
    }
}

/// The name of the line on which a coordinate is zero.
pub(crate) const ZERO: &str = "0";

/// Returns the range of an axis with a margin on both sides. It is never empty.
fn margins(axis: &Axis) -> (f64, f64) {
    let span = axis.high - axis.low;
    let margin = if span > 0.0 { 0.08 * span } else { 0.5 * axis.low.abs().max(1.0) };
    (axis.low - margin, axis.high + margin)
}

/// Returns 1, 2 or 5 times a power of ten, at least as large as a number.
fn step(at_least: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(at_least.max(1e-300))));
    let fits = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= at_least);
    fits.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(is_vertical: bool, low: f64, high: f64) -> Axis {
        Axis { name: String::new(), is_vertical, velocity: None, low, high }
    }

    #[test]
    fn both_axes_have_the_same_scale() {
        let axes = [axis(false, -3.0, 9.0), axis(true, 0.0, 5.0)];
        let view = View::new(&axes, std::iter::empty(), 0);
        let origin = view.place(&[0.0, 0.0], 0);
        let (right, up) = (view.place(&[1.0, 0.0], 0), view.place(&[0.0, 1.0], 0));
        assert!((right.0 - origin.0 - (origin.1 - up.1)).abs() < 1e-9);
        assert!(right.0 > origin.0 && up.1 < origin.1);
    }

    #[test]
    fn every_point_is_inside_and_the_view_changes_only_if_it_must() {
        let axes = [axis(false, 0.0, 4.0), axis(true, 0.0, 4.0)];
        let plain = View::new(&axes, std::iter::empty(), 0);
        for far in [1.0, 4.0, 5.0, -40.0, 1e6, 1e100] {
            let point = [far, 2.0];
            let view = View::new(&axes, std::iter::once(&point[..]), 0);
            let (x, y) = view.place(&point, 0);
            assert!((0.0..=view.width).contains(&x) && (0.0..=view.height).contains(&y));
            let is_same = view.horizontal == plain.horizontal;
            assert_eq!(is_same, (0.0..=4.0).contains(&far), "{far}");
            assert!(view.grid().1.len() <= 60);
        }
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([0.7, 1.0, 1.1, 3.0, 28.0].map(step), [1.0, 1.0, 2.0, 5.0, 50.0]);
    }
}
