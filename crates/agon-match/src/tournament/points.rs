//! From goals to points.

/// What a player gets against another for a match, from 0 to 1: half, and more by half the difference of their goals. A win by
/// 100 to 0 is 1, a draw is 0.5 whatever both got, and 75 to 25 is 0.75.
///
/// Goals are compared, not taken as they are: in a game that pays both players 100 nobody has won.
pub fn points(ours: f64, theirs: f64) -> f64 {
    let points = 0.5 + (ours - theirs) / 200.0;
    if points.is_nan() { 0.5 } else { points.clamp(0.0, 1.0) }
}
