//! Playouts one by one, by a policy or a heuristic, with a record of the moves.

use std::time::Instant;

use agon_game::{Position, Rng, Role};

use super::policy::Policy;
use crate::mcts::heuristic::{ActionHeuristic, HeuristicUse};
use crate::mcts::select::draw;

/// The clock is read once in this number of steps.
const CLOCK_STRIDE: u64 = 8;
/// A move whose weight is less than e to this power, when the best move weighs 1, is lost by
/// rounding when the weights are added up.
const MIN_POWER: f64 = -40.0;

/// When a playout is cut off.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PlayoutLimits {
    pub(crate) max_steps: u64,
    /// Playouts stop soon after it.
    pub(crate) deadline: Option<Instant>,
}

/// Everything that a playout needs beside the position.
pub(crate) struct PlayoutTools<'a, P: Position> {
    pub(crate) policy: Option<&'a mut Policy<P::Move>>,
    pub(crate) heuristic: Option<(&'a mut (dyn ActionHeuristic<P> + 'static), HeuristicUse)>,
    pub(crate) rng: &'a mut Rng,
    /// The moves of the roles that have a choice are added here.
    pub(crate) record: &'a mut Vec<(Role, P::Move)>,
    pub(crate) scratch: &'a mut PlayoutScratch<P::Move>,
}

/// Memory that is used again for every playout.
pub(crate) struct PlayoutScratch<M> {
    joint: Vec<M>,
    weights: Vec<f64>,
    /// The values that a heuristic gives to moves, then the weights made from them.
    rated: Vec<f64>,
}

impl<M> Default for PlayoutScratch<M> {
    fn default() -> PlayoutScratch<M> {
        PlayoutScratch { joint: Vec::new(), weights: Vec::new(), rated: Vec::new() }
    }
}

impl<P: Position> PlayoutTools<'_, P> {
    /// Plays to the end of the game from where the position stands. The moves are
    /// passed to the policy, so that it can learn from them.
    pub(crate) fn play_out(&mut self, position: &mut P, limits: PlayoutLimits) {
        for step in 0..limits.max_steps {
            if position.is_terminal() {
                return;
            }
            // In games with slow steps it would take too long to wait for the end.
            if let Some(deadline) = limits.deadline
                && step % CLOCK_STRIDE == CLOCK_STRIDE - 1
                && Instant::now() >= deadline
            {
                return;
            }
            self.step(position);
        }
    }

    fn step(&mut self, position: &mut P) {
        let nature = position.shape().nature;
        let n_roles = position.shape().role_names.len();
        // Draws for all roles, nature included; players with a choice may choose again.
        position.draw(self.rng, &mut self.scratch.joint);
        let n_made = self.policy.as_ref().map_or(0, |policy| policy.n_made());
        if let Some(policy) = self.policy.as_deref_mut() {
            policy.read_features(position);
        }
        for role in (0..n_roles).map(Role::new) {
            if Some(role) != nature && position.legal_moves(role).len() > 1 {
                self.choose(position, role);
            }
        }
        if let Some(policy) = self.policy.as_deref_mut() {
            policy.step(n_made);
        }
        position.advance(&self.scratch.joint);
    }

    /// Chooses the move of a role that has a choice.
    fn choose(&mut self, position: &P, role: Role) {
        let PlayoutScratch { joint, weights, rated } = &mut *self.scratch;
        let moves = position.legal_moves(role);
        rated.clear();
        if let Some((heuristic, how)) = &mut self.heuristic
            && heuristic.playout_values(position, role, moves, rated)
        {
            rated.iter_mut().for_each(|value| *value = gibbs_weight(*value, how));
        } else {
            rated.clear();
        }
        if let Some(policy) = self.policy.as_deref_mut() {
            let chosen = policy.choose(role, moves, rated, self.rng, weights);
            joint[role.index()] = moves[chosen].clone();
            policy.note(role, &moves[chosen]);
        } else if !rated.is_empty() {
            joint[role.index()] = moves[draw(rated, self.rng)].clone();
        }
        self.record.push((role, joint[role.index()].clone()));
    }
}

/// Returns the weight of a move with this value, relative to a move with value 1.
#[inline]
pub(super) fn gibbs_weight(value: f64, how: &HeuristicUse) -> f64 {
    let power = (value - 1.0) * how.scale / how.temperature;
    match power {
        // Most moves are one of these two cases.
        _ if power < MIN_POWER => 0.0,
        0.0 => 1.0,
        _ => libm::exp(power),
    }
}
