//! Judging a position by a few random plays.

use agon_game::{Batch, OneByOne, Order, Position, Rng, Role, Tally};
use rand::SeedableRng as _;

use crate::Evaluate;

/// The mean payoff of random plays from the position. The same seed and the same questions give the same answers.
pub struct Playouts<P: Position> {
    n_playouts: u64,
    max_steps: u64,
    seed: u64,
    /// Made at the first question.
    batch: Option<Box<dyn Batch<State = P::State, Move = P::Move>>>,
    /// The position last asked about, and what came out: it is asked about for several roles.
    last: Option<(u64, Tally)>,
    /// Plays made so far.
    pub n_made: u64,
}

impl<P: Position> Playouts<P> {
    /// So many plays for each position, none longer than so many steps or a little more.
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
        if let Some((last, tally)) = &self.last
            && *last == key
        {
            return tally.mean_payoff(role);
        }
        let seed = self.seed;
        let batch = self.batch.get_or_insert_with(|| {
            position.batch(seed).unwrap_or_else(|| {
                Box::new(OneByOne::new(position.clone(), Rng::seed_from_u64(seed)))
            })
        });
        let order = Order {
            state: position.state().clone(),
            n_playouts: self.n_playouts,
            expected_steps: 0,
        };
        let tally =
            batch.play_out(&[order], self.max_steps).pop().expect("an answer for each order");
        self.n_made += tally.n_playouts;
        let value = tally.mean_payoff(role);
        self.last = Some((key, tally));
        value
    }
}
