//! Self-play by search: the values that a state should have come from a search of it.
//!
//! Each move is chosen by a short minimax search with the evaluation as it was when the game began.
//! When a game ends, the values of its states are moved towards a λ-return in which the values of
//! searches take the place of those of single states (compare TreeStrap: Veness et al. 2009).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use agon_game::{Budget, Notation, Rng, Role};
use agon_search::{Minimax, MinimaxOptions, Search as _};
use rand::RngExt as _;

use crate::form::{Form, FormScratch};
use crate::model::LearntEvaluator;
use crate::train::SelfPlay;

/// What values are moved towards.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Targets {
    /// Values one step ahead: temporal differences.
    #[default]
    Differences,
    /// Values of searches with this number of positions. Two players alone.
    Search(u64),
}

/// Number of games that are played with the same weights.
const GAMES_PER_SNAPSHOT: u64 = 8;

/// A state of a game with the value that a search found.
struct Searched<S> {
    state: S,
    /// For the first player, from 0 to 1.
    value: f32,
    /// Whether a random move followed, so that what came later says nothing about the state.
    explored: bool,
}

impl<S: Clone + Send + Sync + 'static> SelfPlay<'_, S> {
    /// Plays and learns until the budget is used up. An iteration is a game.
    pub(crate) fn run_by_search<P: Notation<State = S> + 'static>(
        &self,
        start: &P,
        form: &Arc<Form>,
        n_nodes: u64,
        rng: &mut Rng,
    ) {
        let players: Vec<Role> = start.shape().players().collect();
        let first = players[0];
        let mut scratch = FormScratch::default();
        let options = MinimaxOptions { table_entries: 1 << 14, ..MinimaxOptions::default() };
        let budget = Budget::nodes(n_nodes);
        let mut joint = Vec::new();
        while !self.is_over() {
            let weights: Arc<[f32]> = self.learning.weights().into();
            let evaluator = LearntEvaluator::<P>::new(Arc::clone(form), weights);
            let mut search = Minimax::new(options.clone(), evaluator);
            for _ in 0..GAMES_PER_SNAPSHOT {
                if self.is_over() {
                    return;
                }
                let mut position = start.clone();
                let mut steps: Vec<Searched<S>> = Vec::new();
                let mut n_random = rng.random_range(0..=self.options.max_opening);
                while !position.is_terminal() && steps.len() < self.options.max_steps {
                    position.draw(rng, &mut joint);
                    let choosers: Vec<Role> = players
                        .iter()
                        .copied()
                        .filter(|r| position.legal_moves(*r).len() > 1)
                        .collect();
                    let explores = n_random > 0 || rng.random::<f64>() < self.options.exploration;
                    n_random = n_random.saturating_sub(1);
                    let mut value = None;
                    for &role in &choosers {
                        let report = search.think(&mut position, role, &budget);
                        if !explores {
                            joint[role.index()] = report.best;
                        }
                        let payoff = self.players.part(report.value);
                        value = Some(if role == first { payoff } else { 1.0 - payoff });
                    }
                    // A forced step has no value of its own.
                    if let Some(value) = value {
                        let state = position.state().clone();
                        steps.push(Searched { state, value, explored: explores });
                    }
                    self.learning.n_steps.fetch_add(1, Ordering::Relaxed);
                    position.advance(&joint);
                }
                let end = match position.is_terminal() {
                    true => {
                        let payoffs: Vec<f64> = start
                            .shape()
                            .roles()
                            .map(|role| self.payoff(&position, role))
                            .collect();
                        self.players.result(&payoffs, 0)
                    }
                    false => 0.5,
                };
                self.learn_searched::<P>(&steps, end, &mut scratch, rng);
                self.learning.n_games.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Returns the payoff of a role. Nature has none.
    fn payoff<P: Notation>(&self, position: &P, role: Role) -> f64 {
        if position.shape().nature == Some(role) { 0.0 } else { position.payoff(role) }
    }

    fn learn_searched<P: Notation<State = S>>(
        &self,
        steps: &[Searched<S>],
        end: f32,
        scratch: &mut FormScratch,
        rng: &mut Rng,
    ) {
        let lambda = self.options.lambda;
        let weights = self.learning.head(0);
        let mut target = end;
        for step in steps.iter().rev() {
            target = match step.explored {
                true => step.value,
                false => lambda * target + (1.0 - lambda) * step.value,
            };
            let words = P::state_words(&step.state).unwrap_or(&[]);
            scratch.learn(self.form, weights, words, target, self.options, rng);
        }
    }
}
