//! Games for tests of searches, random and shipped ones, and slow searches that serve as oracles.

mod random;
mod shipped;

pub(crate) use random::{Kind, RandomGame};
pub(crate) use shipped::shipped;

use agon_game::{Position, Role, joint_moves};

pub(crate) use agon_testkit::seeded;

/// Returns the payoff of a role under perfect play if all others minimise it: plain minimax for
/// turn-taking games. Moves of nature are averaged.
pub(crate) fn minimax<P: Position>(position: &mut P, us: Role) -> f64 {
    if position.is_terminal() {
        return position.payoff(us);
    }
    let here = position.state().clone();
    let nature = position.shape().nature;
    let choosers: Vec<Role> = position.choosers().filter(|&role| Some(role) != nature).collect();
    assert!(choosers.len() <= 1, "this oracle does not support simultaneous moves");
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
    best.expect("every role has a legal move")
}

/// Returns the payoffs by role if every role maximises its own payoff and takes the first of equal
/// moves.
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
    best.expect("every role has a legal move")
}
