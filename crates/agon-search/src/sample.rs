//! Games for the tests of searches: random ones of every kind, and shipped ones; and plain judges of them.

mod random;
mod shipped;

pub(crate) use random::{Kind, RandomGame};
pub(crate) use shipped::shipped;

use agon_game::{Position, Role, joint_moves};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// As many cases, the same in each run unless `PROPTEST_RNG_SEED` says otherwise.
pub(crate) fn seeded(n_cases: u32) -> ProptestConfig {
    let config = ProptestConfig::with_cases(n_cases);
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(7),
        RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
    };
    ProptestConfig { rng_seed, failure_persistence: None, ..config }
}

/// What the role gets when it and all others play perfectly, and the others only want it to get little: plain minimax, without any
/// trick, for games that take turns. Nature averages.
pub(crate) fn minimax<P: Position>(position: &mut P, us: Role) -> f64 {
    if position.is_terminal() {
        return position.payoff(us);
    }
    let here = position.state().clone();
    let nature = position.shape().nature;
    let choosers: Vec<Role> = position.choosers().filter(|&role| Some(role) != nature).collect();
    assert!(choosers.len() <= 1, "this judge knows no simultaneous moves");
    let chooser = choosers.first().copied().unwrap_or(us);
    let mut best: Option<f64> = None;
    for m in position.legal_moves(chooser).to_vec() {
        let mut expected = 0.0;
        for joint in joint_moves(position) {
            if joint[chooser.index()] == m {
                let chance = nature.map_or(1.0, |nature| position.chance(&joint[nature.index()]));
                position.advance(&joint);
                expected += chance * minimax(position, us);
                position.go_to(&here);
            }
        }
        let is_better =
            |before: f64| if chooser == us { expected > before } else { expected < before };
        if best.is_none_or(is_better) {
            best = Some(expected);
        }
    }
    best.expect("somebody has a move")
}

/// By role: what everybody gets if everybody goes for the own best, the first of equal moves.
pub(crate) fn max_n<P: Position>(position: &mut P) -> Vec<f64> {
    let roles: Vec<Role> = position.shape().roles().collect();
    if position.is_terminal() {
        return roles.iter().map(|&role| position.payoff(role)).collect();
    }
    let here = position.state().clone();
    let chooser = position.choosers().next().unwrap_or(roles[0]);
    let mut best: Option<Vec<f64>> = None;
    for joint in joint_moves(position) {
        position.advance(&joint);
        let values = max_n(position);
        position.go_to(&here);
        if best.as_ref().is_none_or(|before| values[chooser.index()] > before[chooser.index()]) {
            best = Some(values);
        }
    }
    best.expect("somebody has a move")
}
