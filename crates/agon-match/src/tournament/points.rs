//! From goal values to points.

/// Returns the points of a player against another for a match, from 0 to 1: one half plus half the
/// difference of their goal values, divided by 100. A win by 100 to 0 gives 1, 75 to 25 gives 0.75,
/// and equal goal values give 0.5.
///
/// Goal values are compared, not used directly: in a game that pays both players 100, neither has
/// won.
pub fn points(own: f64, other: f64) -> f64 {
    let points = 0.5 + (own - other) / 200.0;
    if points.is_nan() { 0.5 } else { points.clamp(0.0, 1.0) }
}
