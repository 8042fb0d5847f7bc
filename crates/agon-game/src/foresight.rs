//! Playouts that look ahead, by single steps.

use std::time::Instant;

use rand::RngExt as _;

use crate::{PlayoutKind, Position, Rng, Role, joint_moves};

/// Returns the joint moves that a playout of this kind draws from at a position, in the order of
/// [`joint_moves`]. The position is where it was when the call returns.
///
/// All children are visited, and for [`PlayoutKind::Careful`] their children too. A player looks
/// ahead where it alone has a choice. Its highest payoff is taken to be the upper bound of all
/// payoffs.
pub fn playout_moves<P: Position>(position: &mut P, kind: PlayoutKind) -> Vec<Vec<P::Move>> {
    let joints = joint_moves(position);
    let Some(us) = lone_chooser(position).filter(|_| kind != PlayoutKind::Uniform) else {
        return joints;
    };
    let home = position.state().clone();
    let (mut wins, mut safe) = (Vec::new(), Vec::new());
    for joint in &joints {
        position.go_to(&home);
        position.advance(joint);
        if is_won(position, us) {
            wins.push(joint.clone());
        } else if kind == PlayoutKind::Careful && wins.is_empty() && !is_lost_next(position, us) {
            safe.push(joint.clone());
        }
    }
    position.go_to(&home);
    [wins, safe].into_iter().find(|preferred| !preferred.is_empty()).unwrap_or(joints)
}

/// Plays moves of this kind until play ends, at most `max_steps` of them. Stops soon after the
/// deadline, if there is one. Returns the number of steps that were made.
pub fn play_out_ahead<P: Position>(
    position: &mut P,
    kind: PlayoutKind,
    rng: &mut Rng,
    max_steps: usize,
    deadline: Option<Instant>,
) -> usize {
    let mut joint = Vec::new();
    for step in 0..max_steps {
        if position.is_terminal() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return step;
        }
        if lone_chooser(position).is_some() {
            let joints = playout_moves(position, kind);
            position.advance(&joints[rng.random_range(0..joints.len())]);
        } else {
            // Nature may draw by its chances here.
            position.draw(rng, &mut joint);
            position.advance(&joint);
        }
    }
    max_steps
}

/// Returns the player that has a choice, if no other role has one.
fn lone_chooser<P: Position>(position: &P) -> Option<Role> {
    let mut choosers = position.choosers();
    let first = choosers.next().filter(|&role| Some(role) != position.shape().nature);
    first.filter(|_| choosers.next().is_none())
}

fn is_won<P: Position>(position: &P, role: Role) -> bool {
    position.is_terminal() && position.payoff(role) >= *position.shape().payoffs.end()
}

/// Returns whether another role has a winning move. The position is somewhere else afterwards.
fn is_lost_next<P: Position>(position: &mut P, us: Role) -> bool {
    let choosers: Vec<Role> = position.choosers().collect();
    let others: Vec<Role> = match choosers[..] {
        [] => position.shape().players().filter(|&role| role != us).collect(),
        [other] if other != us && Some(other) != position.shape().nature => vec![other],
        _ => return false,
    };
    let home = position.state().clone();
    joint_moves(position).iter().any(|joint| {
        position.go_to(&home);
        position.advance(joint);
        others.iter().any(|&other| is_won(position, other)) && !is_won(position, us)
    })
}
