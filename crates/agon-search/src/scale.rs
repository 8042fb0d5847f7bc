//! The scale of payoffs: how far apart they are in play, where the rules do not bound them.

use std::ops::RangeInclusive;

use agon_game::{Position, Rng};
use rand::SeedableRng as _;

/// Size of a range of payoffs from which on it says nothing about the payoffs in play. Payoffs
/// without known bounds have ranges of a thousand million.
const UNKNOWN: f64 = 1e8;

/// Number of random plays that show the scale, and the number of their steps together.
const N_PLAYS: usize = 32;
const MAX_STEPS: usize = 1000;

/// Returns the range to which exploration is scaled: that of all payoffs if the rules bound them,
/// otherwise that of a few random plays from here, with a quarter of it on both sides. It is the
/// same whenever it is asked for at a position.
pub(crate) fn payoff_scale<P: Position>(position: &P) -> RangeInclusive<f64> {
    let all = position.shape().payoffs.clone();
    if all.end() - all.start() < UNKNOWN {
        return all;
    }
    let mut rng = Rng::seed_from_u64(0);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut play, mut steps_left) = (position.clone(), MAX_STEPS);
    for _ in 0..N_PLAYS {
        play.go_to(position.state());
        steps_left -= play.play_out(&mut rng, steps_left);
        for player in position.shape().players() {
            let payoff = play.payoff(player);
            (low, high) = (low.min(payoff), high.max(payoff));
        }
        if steps_left == 0 {
            break;
        }
    }
    if low > high {
        return all;
    }
    let margin = if low < high { (high - low) / 4.0 } else { 0.5 };
    (low - margin).max(*all.start())..=(high + margin).min(*all.end())
}

#[cfg(test)]
mod tests;
