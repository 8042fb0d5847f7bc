//! States seen in random play, by which guesses about a game are tested.

use std::time::Instant;

use agon_game::{Position, Rng, Role};

/// States of random plays with what the rules say about them.
pub(crate) struct Sample<S> {
    pub(crate) states: Vec<S>,
    /// By state: the player who chooses, 0 or 1, if exactly one has several moves.
    pub(crate) movers: Vec<Option<usize>>,
    /// Whether some state had two choosers.
    pub(crate) is_simultaneous: bool,
    /// Mean number of steps of a play.
    pub(crate) mean_length: f64,
}

/// Maximum number of steps of a play.
const MAX_STEPS: usize = 500;

impl<S: Clone> Sample<S> {
    /// Plays at random from a position until there are `n_states` states or the deadline passes.
    pub(crate) fn draw<P: Position<State = S>>(
        position: &P,
        n_states: usize,
        rng: &mut Rng,
        deadline: Option<Instant>,
    ) -> Sample<S> {
        let players: Vec<Role> = position.shape().players().collect();
        let mut sample = Sample {
            states: Vec::new(),
            movers: Vec::new(),
            is_simultaneous: false,
            mean_length: 0.0,
        };
        let (mut n_plays, mut n_steps) = (0_u32, 0_u32);
        let mut runner = position.clone();
        let mut joint = Vec::new();
        while sample.states.len() < n_states {
            runner.go_to(position.state());
            for _ in 0..MAX_STEPS {
                if runner.is_terminal() || sample.states.len() >= n_states {
                    break;
                }
                let mut choosers =
                    (0..players.len()).filter(|&p| runner.legal_moves(players[p]).len() > 1);
                let first = choosers.next();
                let second = choosers.next();
                sample.is_simultaneous |= second.is_some();
                sample.states.push(runner.state().clone());
                sample.movers.push(first.filter(|_| second.is_none()));
                runner.draw(rng, &mut joint);
                runner.advance(&joint);
                n_steps += 1;
            }
            n_plays += 1;
            if position.is_terminal() || deadline.is_some_and(|end| Instant::now() >= end) {
                break;
            }
        }
        sample.mean_length = f64::from(n_steps) / f64::from(n_plays.max(1));
        sample
    }
}
