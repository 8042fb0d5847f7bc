//! Evaluation games, as search sees them: the assessment of a move by payoffs.

use agon_game::{Continuous, Position, Rng};
use rand::RngExt as _;

use super::actions::draw_joint;
use crate::Budget;

/// Assesses moves. In the words of Kaiser & Stafiniak (2010) this is an evaluation game: a
/// statistical model that is played once for each assessment, and whose outcome is a sample of the
/// payoffs that players expect after a move.
pub trait MoveEvaluator<P: Position>: Send {
    /// Plays the evaluation game of a joint move once. Returns the payoff of each role, nature
    /// included, or `None` where there is no evaluation game.
    ///
    /// `after` is the position that the joint move leads to from `before`. Searches do not ask
    /// about terminal positions, because their payoffs are known.
    fn assess(
        &mut self,
        before: &P,
        joint: &[P::Move],
        after: &P,
        rng: &mut Rng,
    ) -> Option<Vec<f64>>;

    /// Returns the mean outcome of the evaluation game of a joint move if it is known, otherwise
    /// the outcome of one play. `None` where there is no evaluation game.
    fn expected(
        &mut self,
        before: &P,
        joint: &[P::Move],
        after: &P,
        rng: &mut Rng,
    ) -> Option<Vec<f64>> {
        self.assess(before, joint, after, rng)
    }

    /// Returns whether the outcomes are the payoffs at the position after the move.
    fn gives_payoffs(&self) -> bool {
        false
    }

    /// Tells the limits of the search that starts now, so that long assessments can stop in time.
    fn begin(&mut self, budget: &Budget) {
        let _ = budget;
    }
}

impl<P: Position> MoveEvaluator<P> for Box<dyn MoveEvaluator<P>> {
    fn assess(
        &mut self,
        before: &P,
        joint: &[P::Move],
        after: &P,
        rng: &mut Rng,
    ) -> Option<Vec<f64>> {
        self.as_mut().assess(before, joint, after, rng)
    }

    fn expected(
        &mut self,
        before: &P,
        joint: &[P::Move],
        after: &P,
        rng: &mut Rng,
    ) -> Option<Vec<f64>> {
        self.as_mut().expected(before, joint, after, rng)
    }

    fn gives_payoffs(&self) -> bool {
        self.as_ref().gives_payoffs()
    }

    fn begin(&mut self, budget: &Budget) {
        self.as_mut().begin(budget);
    }
}

/// The payoffs of all roles at a position, 0 for nature.
pub(super) fn payoffs<P: Position>(position: &P) -> Vec<f64> {
    let shape = position.shape();
    let payoff = |role| if Some(role) == shape.nature { 0.0 } else { position.payoff(role) };
    shape.roles().map(payoff).collect()
}

/// No evaluation game. Actions and parameters are then drawn uniformly, and the nodes of a tree
/// start without payoffs.
#[derive(Copy, Clone, Debug, Default)]
pub struct NoEvaluationGame;

impl<P: Position> MoveEvaluator<P> for NoEvaluationGame {
    fn assess(&mut self, _: &P, _: &[P::Move], _: &P, _: &mut Rng) -> Option<Vec<f64>> {
        None
    }
}

/// The evaluation game whose outcome is always 0 for all roles. Choices by it are uniform, as
/// without an evaluation game, but the nodes of a tree start with recorded payoffs of 0.
#[derive(Copy, Clone, Debug, Default)]
pub struct ZeroOutcome;

impl<P: Position> MoveEvaluator<P> for ZeroOutcome {
    fn assess(&mut self, before: &P, _: &[P::Move], _: &P, _: &mut Rng) -> Option<Vec<f64>> {
        Some(vec![0.0; before.shape().role_names.len()])
    }
}

/// The evaluation game whose outcome is the payoff that the rules give at the position after the
/// move, terminal or not. In many games the payoffs before the end are informative, such as a
/// distance that a pursuer makes smaller.
#[derive(Copy, Clone, Debug, Default)]
pub struct CurrentPayoffs;

impl<P: Position> MoveEvaluator<P> for CurrentPayoffs {
    fn assess(&mut self, _: &P, _: &[P::Move], after: &P, _: &mut Rng) -> Option<Vec<f64>> {
        Some(payoffs(after))
    }

    fn gives_payoffs(&self) -> bool {
        true
    }
}

/// The evaluation game whose outcome is the payoff at terminal positions. There is no evaluation
/// game at the others.
#[derive(Copy, Clone, Debug, Default)]
pub struct TerminalPayoffs;

impl<P: Position> MoveEvaluator<P> for TerminalPayoffs {
    fn assess(&mut self, _: &P, _: &[P::Move], after: &P, _: &mut Rng) -> Option<Vec<f64>> {
        after.is_terminal().then(|| payoffs(after))
    }
}

/// The game itself as its evaluation game: it is played to the end with actions and parameters
/// drawn uniformly, because these plays are without evaluation games (Kaiser & Stafiniak 2010).
#[derive(Clone, Debug)]
pub struct RandomPlays {
    /// Maximum number of steps. A longer play is cut off and counts as the payoffs there.
    pub max_steps: usize,
    limits: Budget,
}

impl RandomPlays {
    /// Returns an evaluator whose plays are cut off after `max_steps` steps.
    pub fn new(max_steps: usize) -> RandomPlays {
        RandomPlays { max_steps, limits: Budget::default() }
    }
}

impl<P: Continuous> MoveEvaluator<P> for RandomPlays {
    fn assess(&mut self, _: &P, _: &[P::Move], after: &P, rng: &mut Rng) -> Option<Vec<f64>> {
        let mut position = after.clone();
        // Only deadlines and cancellation matter here: the caller counts iterations.
        let limits = Budget { iterations: None, nodes: None, ..self.limits.clone() };
        let mut meter = limits.start();
        for _ in 0..self.max_steps {
            if position.is_terminal() || meter.is_over(16) {
                break;
            }
            let joint = draw_joint(&position, rng);
            position.advance(&joint);
        }
        Some(payoffs(&position))
    }

    fn begin(&mut self, budget: &Budget) {
        self.limits = budget.clone();
    }
}

/// Returns an index of a list of length `n`, drawn uniformly.
pub(super) fn draw_index(n: usize, rng: &mut Rng) -> usize {
    rng.random_range(0..n)
}
