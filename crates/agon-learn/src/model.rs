//! Learnt evaluations and how they are made.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use agon_game::{Batch, Budget, Notation, Position, Rng, Role, Shape};
use agon_search::{EvaluateChildren, EvaluateLeaves};
use rand::SeedableRng as _;

use crate::network::{Network, Scratch};
use crate::patterns::Patterns;
use crate::sample::Sample;
use crate::symmetry::{Subject, Symmetries};
use crate::train::{TrainOptions, Trainer, logistic};
use crate::units::{self, holds};

/// An evaluation of the states of a game that is learnt by self-play.
pub struct Learner<P: Position> {
    position: P,
    batch: Box<dyn Batch<State = P::State, Move = P::Move>>,
    network: Arc<Network>,
    trainer: Trainer,
    options: TrainOptions,
    facts: LearnerFacts,
}

/// What was found out about a game before learning began.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnerFacts {
    /// Number of units: groups of facts of which one holds at a time.
    pub n_units: usize,
    /// Number of units that are cells of a board.
    pub n_cells: usize,
    /// Number of patterns that are looked up for a state.
    pub n_patterns: usize,
    /// Number of weights.
    pub n_weights: usize,
    /// Number of symmetries of the board.
    pub n_symmetries: usize,
    /// Whether the players can be exchanged by a symmetry.
    pub exchanges_players: bool,
    /// Whether a fact says who is to move.
    pub has_turn_fact: bool,
    /// Mean number of steps of a random play.
    pub mean_length: f64,
}

/// Why an evaluation cannot be learnt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CannotLearn {
    /// The game does not have two players, or it has chance or hidden information.
    Kind,
    /// Both players choose at the same time from too many moves.
    TooManyJointMoves,
    /// The engine does not keep states as bits, because the game has no circuit.
    NoBits,
    /// The game has ended.
    Ended,
}

impl std::fmt::Display for CannotLearn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CannotLearn::Kind => {
                "the game is not one of two players without chance and hidden information"
            }
            CannotLearn::TooManyJointMoves => {
                "both players choose at the same time from too many moves"
            }
            CannotLearn::NoBits => "the game has no circuit",
            CannotLearn::Ended => "the game has ended",
        })
    }
}

impl std::error::Error for CannotLearn {}

/// Bytes are not what a learner of this game has saved.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NotSaved;

impl std::fmt::Display for NotSaved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the data was not saved by a learner of this game with this version of agon")
    }
}

impl std::error::Error for NotSaved {}

/// Maximum number of joint moves where both players choose: all of them are evaluated.
const MAX_JOINT: usize = 2000;
/// Number of states of random play that are looked at.
const N_SAMPLED: usize = 3000;

impl<P: Notation> Learner<P> {
    /// Prepares to learn the game that starts at a position.
    ///
    /// # Errors
    /// If the game is not of a kind that can be learnt.
    pub fn new(
        position: &P,
        options: TrainOptions,
        deadline: Option<Instant>,
    ) -> Result<Learner<P>, CannotLearn> {
        let shape = position.shape();
        if position.is_terminal() {
            return Err(CannotLearn::Ended);
        }
        if shape.players().count() != 2 || shape.nature.is_some() || shape.hidden {
            return Err(CannotLearn::Kind);
        }
        let mut batch = position.batch(options.seed).ok_or(CannotLearn::NoBits)?;
        let texts = position.feature_texts();
        let mut rng = Rng::seed_from_u64(options.seed);
        let sample = Sample::draw(position, N_SAMPLED, &mut rng, deadline);
        if !shape.turn_taking && sample.max_joint > MAX_JOINT {
            return Err(CannotLearn::TooManyJointMoves);
        }
        let words: Option<Vec<&[u64]>> = sample.states.iter().map(P::state_words).collect();
        let words = words.filter(|_| !texts.is_empty()).ok_or(CannotLearn::NoBits)?;
        let units = units::find(&texts, &words);
        let turn = turn_fact(texts.len(), &words, &sample);
        let mut subject = Subject {
            position,
            batch: batch.as_mut(),
            texts: &texts,
            units: &units,
            states: &sample.states,
        };
        let Symmetries { of_board, of_players } = subject.find();
        let of_board: Vec<Vec<usize>> =
            of_board.into_iter().map(|symmetry| symmetry.units).collect();
        // The second perspective is the first one with the players exchanged, so the exchange must
        // lead from one to the other.
        let of_players = of_players.filter(|symmetry| {
            turn.is_some_and(|turn| {
                words.iter().all(|state| holds(&symmetry.apply(state), turn) != holds(state, turn))
            })
        });
        let patterns = Patterns::new(&units, &of_board, options.max_cells);
        let network = Network::new(texts.len(), &units, &patterns, turn, of_players.as_ref());
        let facts = LearnerFacts {
            n_units: units.len(),
            n_cells: units.iter().filter(|unit| unit.cell.is_some()).count(),
            n_patterns: network.n_patterns(),
            n_weights: network.n_weights,
            n_symmetries: of_board.len(),
            exchanges_players: of_players.is_some(),
            has_turn_fact: turn.is_some(),
            mean_length: sample.mean_length,
        };
        let trainer = Trainer::new(&network, options.seed);
        let network = Arc::new(network);
        Ok(Learner { position: position.clone(), batch, network, trainer, options, facts })
    }

    /// Returns what was found out about the game.
    pub fn facts(&self) -> &LearnerFacts {
        &self.facts
    }

    /// Plays and learns until the budget is used up, where an iteration is a game. It may be called
    /// again to learn more.
    pub fn learn(&mut self, budget: &Budget) {
        let Learner { position, batch, network, trainer, options, .. } = self;
        trainer.run(position, batch.as_mut(), network, options, budget);
    }

    /// Returns the number of games learnt from so far.
    pub fn n_games(&self) -> u64 {
        self.trainer.n_games
    }

    /// Returns the number of steps of all games so far.
    pub fn n_steps(&self) -> u64 {
        self.trainer.n_steps
    }

    /// Returns what was learnt so far, as bytes that [`Learner::restore`] reads.
    pub fn save(&self) -> Vec<u8> {
        self.trainer.save()
    }

    /// Replaces what was learnt by what another learner of the same game, with the same options and
    /// no deadline, has saved. Learning goes on with other random moves than there.
    ///
    /// # Errors
    /// [`NotSaved`] if the bytes do not fit the game. Then nothing has changed.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), NotSaved> {
        self.trainer.restore(bytes, self.options.seed).ok_or(NotSaved)
    }

    /// Returns the evaluation as learnt so far.
    pub fn evaluator(&self) -> LearntEvaluator<P> {
        LearntEvaluator {
            network: Arc::clone(&self.network),
            weights: self.trainer.weights.as_slice().into(),
            scratch: Scratch::default(),
            position: PhantomData,
        }
    }
}

/// A learnt evaluation. A clone shares the weights.
pub struct LearntEvaluator<P> {
    network: Arc<Network>,
    weights: Arc<[f32]>,
    scratch: Scratch,
    position: PhantomData<fn(P)>,
}

impl<P> Clone for LearntEvaluator<P> {
    fn clone(&self) -> LearntEvaluator<P> {
        LearntEvaluator {
            network: Arc::clone(&self.network),
            weights: Arc::clone(&self.weights),
            scratch: self.scratch.clone(),
            position: PhantomData,
        }
    }
}

impl<P: Position> LearntEvaluator<P> {
    /// Returns the expected result of the first player at a state, from 0 to 1.
    pub fn value(&mut self, state: &P::State) -> f32 {
        let words = P::state_words(state).unwrap_or(&[]);
        self.scratch.set_parent(words);
        logistic(self.scratch.sum(&self.network, &self.weights, words))
    }
}

impl<P: Position> EvaluateChildren<P::State> for LearntEvaluator<P> {
    fn set_parent(&mut self, parent: &P::State) {
        self.scratch.set_parent(P::state_words(parent).unwrap_or(&[]));
    }

    fn child_value(&mut self, child: &P::State) -> f32 {
        let words = P::state_words(child).unwrap_or(&[]);
        2.0 * logistic(self.scratch.sum(&self.network, &self.weights, words)) - 1.0
    }
}

/// A learnt evaluation of the leaves of a tree, in payoffs.
pub struct LearntLeaves<P> {
    evaluator: LearntEvaluator<P>,
    players: [usize; 2],
    least: f64,
    range: f64,
}

impl<P: Position> LearntLeaves<P> {
    /// Returns the evaluation of the leaves of a game of two players. What one player gains, the
    /// other loses.
    pub fn new(evaluator: LearntEvaluator<P>, shape: &Shape) -> LearntLeaves<P> {
        let mut players = shape.players().map(Role::index);
        let first = players.next().unwrap_or(0);
        let players = [first, players.next().unwrap_or(first)];
        let (least, most) = (*shape.payoffs.start(), *shape.payoffs.end());
        LearntLeaves { evaluator, players, least, range: most - least }
    }
}

impl<P: Position + 'static> EvaluateLeaves<P::State> for LearntLeaves<P> {
    fn fork(&self) -> Box<dyn EvaluateLeaves<P::State>> {
        Box::new(LearntLeaves { evaluator: self.evaluator.clone(), ..*self })
    }

    fn evaluate(&mut self, state: &P::State, payoffs: &mut [f64]) {
        let value = f64::from(self.evaluator.value(state));
        let [first, second] = self.players;
        payoffs[second] = self.least + self.range * (1.0 - value);
        payoffs[first] = self.least + self.range * value;
    }
}

/// Returns a fact that holds in exactly those sampled states in which the second player chooses. If
/// both always choose together, it holds after an odd number of steps.
fn turn_fact<S>(n_facts: usize, states: &[&[u64]], sample: &Sample<S>) -> Option<u32> {
    let has_movers = sample.movers.iter().any(Option::is_some);
    let expected = |state: usize| match sample.movers[state] {
        Some(mover) => Some(mover == 1),
        None if has_movers => None,
        None => Some(sample.parities[state]),
    };
    (0..n_facts as u32).find(|&fact| {
        let fits =
            |state| expected(state).is_none_or(|is_turn| holds(states[state], fact) == is_turn);
        (0..states.len()).all(fits)
    })
}
