//! Temporal difference learning by self-play.
//!
//! Many games are played side by side. At each step the children of all current states are made in
//! one pass and evaluated; the mover takes the best one, and now and then a random one. Players who
//! choose at the same time follow an equilibrium of the values of the children. When a game
//! ends, the values of its states are moved towards the λ-return (Sutton 1988). Each weight has a
//! step size of its own, which shrinks where updates disagree in sign (temporal coherence: Beal &
//! Smith 1999).

use std::time::Instant;

use agon_game::{Batch, Budget, Children, Position, Rng};
use agon_search::solve::matrix_game;
use rand::{RngExt as _, SeedableRng as _};

use crate::network::{Network, Scratch};

/// The options of learning.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainOptions {
    /// Maximum number of cells of a pattern. Larger patterns know more and take longer to learn.
    pub max_cells: usize,
    /// The weight of later values in a target, from 0 to 1.
    pub lambda: f32,
    /// The probability of a random move.
    pub exploration: f64,
    /// The size of a step: how far the sum of weights moves for an error of 1.
    pub rate: f32,
    /// Number of games that are played side by side.
    pub n_games: usize,
    /// Maximum number of random moves at the beginning of a game.
    pub max_opening: u32,
    /// Maximum number of steps of a game. Longer games count as they stand.
    pub max_steps: usize,
    /// The seed of random moves.
    pub seed: u64,
}

impl Default for TrainOptions {
    fn default() -> TrainOptions {
        TrainOptions {
            max_cells: 6,
            lambda: 0.7,
            exploration: 0.1,
            rate: 10.0,
            n_games: 64,
            max_opening: 4,
            max_steps: 400,
            seed: 1,
        }
    }
}

/// The weights of a model while they are learnt.
pub(crate) struct Trainer {
    pub(crate) weights: Vec<f32>,
    /// By weight: the sum of all errors, and the sum of their sizes.
    errors: Vec<[f32; 2]>,
    rng: Rng,
    indices: Vec<u32>,
    pub(crate) n_games: u64,
    pub(crate) n_steps: u64,
}

/// A game that is being played.
struct Play<S> {
    state: S,
    /// The states that were reached by moves, with the sums of their weights.
    steps: Vec<Step<S>>,
    /// Number of random moves left of the opening.
    n_random: u32,
}

/// A state of a game.
struct Step<S> {
    state: S,
    /// Where the next move was a random one: the value of the best move in its place.
    instead: Option<f32>,
}

/// What the players choose at a state, by the values of its children for the first player.
pub(crate) struct Turn {
    /// The chosen child.
    pub(crate) chosen: usize,
    /// The value of the state for the first player.
    pub(crate) value: f32,
    /// Whether the choice ends play with a win for certain.
    wins: bool,
}

impl Turn {
    /// Chooses the best child for the player whose moves differ. If both players choose, they follow
    /// an equilibrium of the values.
    pub(crate) fn of<'c, M: PartialEq + 'c>(
        values: &[f32],
        ended: &[bool],
        [first, second]: [usize; 2],
        joint: impl Fn(usize) -> &'c [M],
        rng: &mut Rng,
    ) -> Turn {
        let slow = first.min(second);
        let n_columns = (1..values.len())
            .find(|&child| joint(child)[slow] != joint(0)[slow])
            .unwrap_or(values.len());
        if n_columns > 1 && n_columns < values.len() {
            let payoffs: Vec<f64> = values
                .iter()
                .map(|&value| f64::from(if slow == first { value } else { 1.0 - value }))
                .collect();
            let solution = matrix_game(&payoffs, n_columns);
            let row = draw(&solution.rows, rng);
            let column = draw(&solution.columns, rng);
            let value = solution.value as f32;
            let value = if slow == first { value } else { 1.0 - value };
            return Turn { chosen: row * n_columns + column, value, wins: false };
        }
        let is_second = joint(0)[second] != joint(values.len() - 1)[second];
        let own = |child: usize| if is_second { 1.0 - values[child] } else { values[child] };
        let best = (0..values.len()).fold(
            0,
            |best, child| {
                if own(child) > own(best) { child } else { best }
            },
        );
        let value = if is_second { 1.0 - own(best) } else { own(best) };
        Turn { chosen: best, value, wins: own(best) >= 1.0 && ended[best] }
    }
}

/// Draws an index by its probability.
fn draw(probabilities: &[f64], rng: &mut Rng) -> usize {
    let mut mark = rng.random::<f64>();
    let place = probabilities.iter().position(|probability| {
        mark -= probability;
        mark < 0.0
    });
    place.unwrap_or(0)
}

impl Trainer {
    pub(crate) fn new(network: &Network, seed: u64) -> Trainer {
        Trainer {
            weights: vec![0.0; network.n_weights],
            errors: vec![[0.0; 2]; network.n_weights],
            rng: Rng::seed_from_u64(seed),
            indices: Vec::new(),
            n_games: 0,
            n_steps: 0,
        }
    }

    /// Returns the numbers of games and of steps, then for each weight the weight and its errors,
    /// all in little-endian order.
    pub(crate) fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 + 12 * self.weights.len());
        bytes.extend(self.n_games.to_le_bytes());
        bytes.extend(self.n_steps.to_le_bytes());
        for (weight, [sum, size]) in self.weights.iter().zip(&self.errors) {
            [weight, sum, size].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        }
        bytes
    }

    /// Reads what was saved. Returns `None` if the number of weights is another one.
    pub(crate) fn restore(&mut self, bytes: &[u8], seed: u64) -> Option<()> {
        let (n_games, rest) = bytes.split_first_chunk()?;
        let (n_steps, rest) = rest.split_first_chunk()?;
        let (weights, []) = rest.as_chunks::<12>() else { return None };
        if weights.len() != self.weights.len() {
            return None;
        }
        self.n_games = u64::from_le_bytes(*n_games);
        self.n_steps = u64::from_le_bytes(*n_steps);
        for (at, saved) in weights.iter().enumerate() {
            let number = |place: usize| {
                f32::from_le_bytes([
                    saved[place],
                    saved[place + 1],
                    saved[place + 2],
                    saved[place + 3],
                ])
            };
            self.weights[at] = number(0);
            self.errors[at] = [number(4), number(8)];
        }
        // The generator of the other learner is not kept; its numbers must not be drawn again.
        self.rng = Rng::seed_from_u64(seed ^ self.n_games.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Some(())
    }

    /// Plays and learns until the budget is used up. An iteration is a game.
    pub(crate) fn run<P: Position>(
        &mut self,
        position: &P,
        batch: &mut dyn Batch<State = P::State, Move = P::Move>,
        network: &Network,
        options: &TrainOptions,
        budget: &Budget,
    ) {
        let shape = position.shape();
        let players: Vec<usize> = shape.players().map(agon_game::Role::index).collect();
        let [first, second] = players[..] else { return };
        let range = (shape.payoffs.end() - shape.payoffs.start()).max(f64::MIN_POSITIVE);
        let result =
            |payoffs: &[f64]| (0.5 + (payoffs[first] - payoffs[second]) / range / 2.0) as f32;
        let mut children = Children::new(shape.role_names.len());
        let mut scratch = Scratch::default();
        let mut values = Vec::new();
        let start = position.state().clone();
        let new_play = |rng: &mut Rng| Play {
            state: start.clone(),
            steps: Vec::new(),
            n_random: rng.random_range(0..=options.max_opening),
        };
        let mut plays: Vec<Play<P::State>> =
            (0..options.n_games).map(|_| new_play(&mut self.rng)).collect();
        let words = |state: &P::State| P::state_words(state).unwrap_or(&[]).to_vec();
        let n_before = self.n_games;
        let is_over = |trainer: &Trainer| {
            budget.iterations.is_some_and(|n| trainer.n_games - n_before >= n)
                || budget.deadline.is_some_and(|end| Instant::now() >= end)
                || budget.is_cancelled()
        };
        while !is_over(self) {
            let states: Vec<P::State> = plays.iter().map(|play| play.state.clone()).collect();
            let states: Vec<&P::State> = states.iter().collect();
            batch.expand(&states, &mut children);
            for (number, play) in plays.iter_mut().enumerate() {
                let range = children.children_of(number);
                if range.is_empty() {
                    *play = new_play(&mut self.rng);
                    continue;
                }
                self.n_steps += 1;
                scratch.set_parent(P::state_words(&play.state).unwrap_or(&[]));
                values.clear();
                values.extend(range.clone().map(|child| {
                    if children.ended[child] {
                        result(children.payoffs(child))
                    } else {
                        let words = P::state_words(&children.states[child]).unwrap_or(&[]);
                        logistic(scratch.sum(network, &self.weights, words))
                    }
                }));
                let ended = &children.ended[range.clone()];
                let joint = |child: usize| children.joint(range.start + child);
                let turn = Turn::of(&values, ended, [first, second], joint, &mut self.rng);
                let explores = !turn.wins
                    && range.len() > 1
                    && (play.n_random > 0 || self.rng.random::<f64>() < options.exploration);
                play.n_random = play.n_random.saturating_sub(1);
                let chosen = if explores {
                    self.rng.random_range(range.clone())
                } else {
                    range.start + turn.chosen
                };
                if explores && let Some(last) = play.steps.last_mut() {
                    last.instead = Some(turn.value);
                }
                let ended = children.ended[chosen];
                if ended || play.steps.len() + 1 >= options.max_steps {
                    let end = if ended { result(children.payoffs(chosen)) } else { 0.5 };
                    self.learn(network, &play.steps, end, options, &words);
                    self.n_games += 1;
                    *play = new_play(&mut self.rng);
                } else {
                    play.state = children.states[chosen].clone();
                    play.steps.push(Step { state: play.state.clone(), instead: None });
                }
            }
        }
    }

    /// Moves the values of the states of a game towards their targets, the last one first.
    fn learn<S>(
        &mut self,
        network: &Network,
        steps: &[Step<S>],
        end: f32,
        options: &TrainOptions,
        words: &dyn Fn(&S) -> Vec<u64>,
    ) {
        let mut target = end;
        for step in steps.iter().rev() {
            if let Some(instead) = step.instead {
                target = instead;
            }
            let mut indices = std::mem::take(&mut self.indices);
            let sign = network.select(&words(&step.state), &mut indices);
            let sum: f32 =
                indices.iter().filter_map(|&index| self.weights.get(index as usize)).sum();
            let value = logistic(sign * sum);
            self.update(&indices, sign * (target - value), options.rate);
            self.indices = indices;
            target = options.lambda * target + (1.0 - options.lambda) * value;
        }
    }

    /// Changes weights by an error.
    fn update(&mut self, indices: &[u32], error: f32, rate: f32) {
        let step = rate * error / indices.len() as f32;
        for &index in indices {
            let index = index as usize;
            if index >= self.weights.len() {
                continue;
            }
            let [sum, size] = &mut self.errors[index];
            let coherence = if *size > 0.0 { sum.abs() / *size } else { 1.0 };
            self.weights[index] += step * coherence;
            *sum += error;
            *size += error.abs();
        }
    }
}

/// Returns the logistic function.
pub(crate) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}
