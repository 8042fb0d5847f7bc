//! Play by an evaluation, one step ahead.

use agon_game::{Batch, Children, Notation, Rng};

use crate::model::{CannotLearn, LearntEvaluator};
use crate::train::{Players, Turn, choose_among_many};

/// Chooses moves by an evaluation of the states after them, as learning does.
pub struct OneStep<P: Notation> {
    evaluator: LearntEvaluator<P>,
    players: Players,
    batch: Box<dyn Batch<State = P::State, Move = P::Move>>,
    children: Children<P::State, P::Move>,
    values: Vec<f32>,
}

impl<P: Notation + 'static> OneStep<P> {
    /// Prepares to play a game.
    ///
    /// # Errors
    /// [`CannotLearn::NoBits`] if the engine does not keep states as bits.
    pub fn new(
        start: &P,
        evaluator: LearntEvaluator<P>,
        seed: u64,
    ) -> Result<OneStep<P>, CannotLearn> {
        Ok(OneStep {
            evaluator,
            players: Players::new(start.shape()),
            batch: start.batch(seed).ok_or(CannotLearn::NoBits)?,
            children: Children::new(start.shape().role_names.len()),
            values: Vec::new(),
        })
    }

    /// Returns the joint move that is played at a state. Two players alone play the best move, or an
    /// equilibrium if both choose; others play the best move on average over the moves of the
    /// others. The move of nature is drawn. Returns `None` if play has ended.
    pub fn joint(&mut self, state: &P::State, rng: &mut Rng) -> Option<Vec<P::Move>> {
        let OneStep { evaluator, players, batch, children, values } = self;
        batch.expand(&[state], children);
        if children.is_empty() {
            return None;
        }
        values.clear();
        for head in 0..players.n_heads() {
            values.extend((0..children.len()).map(|child| match children.ended[child] {
                true => players.result(children.payoffs(child), head),
                false => evaluator.value_of(head, &children.states[child]),
            }));
        }
        let joint = |child: usize| children.joint(child);
        let chosen = match players.opponents() {
            Some(pair) => Turn::of(values, &children.ended, pair, joint, rng).chosen,
            None => choose_among_many(values, &children.ended, players, joint, rng).0,
        };
        Some(children.joint(chosen).to_vec())
    }
}
