//! Playouts one by one, by a policy, with a record of the moves.

use std::time::Instant;

use agon_game::{Position, Rng, Role};

use super::heuristic::{HeuristicUse, Judge};
use super::policy::Policy;
use super::select::draw;

/// The clock is looked at once in so many steps.
const LOOK_STRIDE: u64 = 8;
/// The most promising move weighs e to the 0, and one of less than e to this is lost when the weights are added up.
const NEVER: f64 = -40.0;

/// Plays to the end from where the position stands. The moves of roles that have a choice are told to the policy, which
/// learns from them, and to the record. Cut off after so many steps, and soon after the deadline if there is one.
pub(super) fn play_out<P: Position>(
    position: &mut P,
    mut policy: Option<&mut Policy<P::Move>>,
    mut heuristic: Option<(&mut Judge<P>, HeuristicUse)>,
    rng: &mut Rng,
    (max_steps, deadline): (u64, Option<Instant>),
    record: &mut Vec<(Role, P::Move)>,
    scratch: &mut Scratch<P::Move>,
) -> u64 {
    let nature = position.shape().nature;
    let n_roles = position.shape().role_names.len();
    for step in 0..max_steps {
        if position.is_terminal() {
            return step;
        }
        // Where steps are slow there is no waiting for the end.
        if let Some(deadline) = deadline
            && step % LOOK_STRIDE == LOOK_STRIDE - 1
            && Instant::now() >= deadline
        {
            return step;
        }
        // Draws for all, nature included; players with a choice may choose again.
        position.draw(rng, &mut scratch.joint);
        let n_made = policy.as_ref().map_or(0, |policy| policy.n_made());
        if let Some(policy) = policy.as_deref_mut()
            && policy.wants_features()
        {
            position.features(&mut policy.features);
        }
        for role in (0..n_roles).map(Role::new) {
            let moves = position.legal_moves(role);
            if moves.len() < 2 || Some(role) == nature {
                continue;
            }
            scratch.judged.clear();
            if let Some((heuristic, how)) = &mut heuristic
                && heuristic.values(position, role, moves, &mut scratch.judged)
            {
                scratch.judged.iter_mut().for_each(|value| *value = weight(*value, how));
            } else {
                scratch.judged.clear();
            }
            if let Some(policy) = policy.as_deref_mut() {
                let chosen = policy.choose(role, moves, &scratch.judged, rng, &mut scratch.weights);
                scratch.joint[role.index()] = moves[chosen].clone();
                policy.note(role, &moves[chosen]);
            } else if !scratch.judged.is_empty() {
                scratch.joint[role.index()] = moves[draw(&scratch.judged, rng)].clone();
            }
            record.push((role, scratch.joint[role.index()].clone()));
        }
        if let Some(policy) = policy.as_deref_mut() {
            policy.step(n_made);
        }
        position.advance(&scratch.joint);
    }
    max_steps
}

/// How much a move weighs that is worth so much, beside one that is worth 1.
#[inline]
pub(super) fn weight(value: f64, how: &HeuristicUse) -> f64 {
    let power = (value - 1.0) * how.scale / how.temperature;
    match power {
        // Most moves are one of these two.
        _ if power < NEVER => 0.0,
        0.0 => 1.0,
        _ => libm::exp(power),
    }
}

/// Memory that choices and playouts reuse.
pub(super) struct Scratch<M> {
    pub(super) joint: Vec<M>,
    pub(super) weights: Vec<f64>,
    /// What the moves of a role count in the tree.
    pub(super) totals: Vec<f32>,
    /// What a heuristic says of moves, or what comes of that.
    pub(super) judged: Vec<f64>,
}

impl<M> Default for Scratch<M> {
    fn default() -> Scratch<M> {
        Scratch { joint: Vec::new(), weights: Vec::new(), totals: Vec::new(), judged: Vec::new() }
    }
}
