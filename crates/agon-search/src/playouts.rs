//! Evaluation of a position by random playouts.

use agon_game::{Batch, PlayoutRequest, PlayoutStats, Position, Rng, Role, SequentialBatch};
use rand::SeedableRng as _;

use crate::Evaluate;

/// The evaluator that returns the mean payoff of random playouts. Equal seeds and equal sequences
/// of positions give equal values.
pub struct Playouts<P: Position> {
    n_playouts: u64,
    max_steps: u64,
    seed: u64,
    /// Made for the first position.
    batch: Option<Box<dyn Batch<State = P::State, Move = P::Move>>>,
    /// The key of the last position and its playouts, because a position is evaluated for several
    /// roles.
    last: Option<(u64, PlayoutStats)>,
    /// Number of playouts so far.
    pub n_made: u64,
}

impl<P: Position> Playouts<P> {
    /// Returns an evaluator with `n_playouts` playouts for each position, which are cut off soon
    /// after `max_steps` steps.
    pub fn new(n_playouts: u64, max_steps: u64, seed: u64) -> Playouts<P> {
        Playouts {
            n_playouts: n_playouts.max(1),
            max_steps,
            seed,
            batch: None,
            last: None,
            n_made: 0,
        }
    }
}

impl<P: Position + 'static> Evaluate<P> for Playouts<P> {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        if position.is_terminal() {
            return position.payoff(role);
        }
        let key = position.key();
        if let Some((last, stats)) = &self.last
            && *last == key
        {
            return stats.mean_payoff(role);
        }
        let seed = self.seed;
        let batch = self.batch.get_or_insert_with(|| {
            position.batch(seed).unwrap_or_else(|| {
                Box::new(SequentialBatch::new(position.clone(), Rng::seed_from_u64(seed)))
            })
        });
        let request = PlayoutRequest {
            state: position.state().clone(),
            n_playouts: self.n_playouts,
            expected_steps: 0,
        };
        let stats =
            batch.play_out(&[request], self.max_steps).pop().expect("a result for each request");
        self.n_made += stats.n_playouts;
        let value = stats.mean_payoff(role);
        self.last = Some((key, stats));
        value
    }
}
