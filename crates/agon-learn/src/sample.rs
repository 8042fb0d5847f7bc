//! States seen in random play, by which guesses about a game are tested.

use std::time::Instant;

use agon_game::{Position, Rng, Role};

/// States of random plays with what the rules say about them.
pub(crate) struct Sample<S> {
    pub(crate) states: Vec<S>,
    /// By state: the number of the player who chooses, if exactly one has several moves.
    pub(crate) movers: Vec<Option<usize>>,
    /// By state: whether the number of steps before it is odd.
    pub(crate) parities: Vec<bool>,
    /// Maximum number of joint moves at a state.
    pub(crate) max_joint: usize,
    /// Whether all moves of nature were equally likely.
    pub(crate) is_uniform: bool,
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
        let nature = position.shape().nature;
        let mut sample = Sample {
            states: Vec::new(),
            movers: Vec::new(),
            parities: Vec::new(),
            max_joint: 0,
            is_uniform: true,
            mean_length: 0.0,
        };
        let (mut n_plays, mut n_steps) = (0_u32, 0_u32);
        let mut runner = position.clone();
        let mut joint = Vec::new();
        while sample.states.len() < n_states {
            runner.go_to(position.state());
            for step in 0..MAX_STEPS {
                if runner.is_terminal() || sample.states.len() >= n_states {
                    break;
                }
                let n_legal = |player: usize| runner.legal_moves(players[player]).len();
                let mut choosers = (0..players.len()).filter(|&player| n_legal(player) > 1);
                let first = choosers.next();
                let second = choosers.next();
                let chances = nature.map_or(&[][..], |nature| runner.legal_moves(nature));
                let even = 1.0 / chances.len().max(1) as f64;
                sample.is_uniform &= chances.iter().all(|m| (runner.chance(m) - even).abs() < 1e-9);
                // Hundreds of players have more joint moves than can be counted.
                let n_joint = (0..players.len())
                    .map(n_legal)
                    .fold(chances.len().max(1), usize::saturating_mul);
                sample.max_joint = sample.max_joint.max(n_joint);
                sample.states.push(runner.state().clone());
                sample.movers.push(first.filter(|_| second.is_none()));
                sample.parities.push(step % 2 == 1);
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
