//! Learnt evaluations and how they are made.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use agon_game::{Batch, Budget, Notation, Position, Rng, Role, Shape};
use agon_search::{EvaluateChildren, EvaluateLeaves, Minimax, NoEvaluation};
use rand::SeedableRng as _;

use crate::form::{Form, ModelKind};
use crate::network::{Network, Scratch};
use crate::neural::{MAX_ROWS, Neural};
use crate::patterns::Patterns;
use crate::quantised::{Quantised, QuantisedScratch};
use crate::sample::Sample;
use crate::search_targets::Targets;
use crate::symmetry::{Subject, Symmetries};
use crate::train::{Players, SelfPlay, TrainOptions, logistic};
use crate::units::{self, holds};
use crate::weights::Learning;

/// An evaluation of the states of a game that is learnt by self-play.
pub struct Learner<P: Position> {
    position: P,
    players: Players,
    pub(crate) form: Arc<Form>,
    pub(crate) learning: Learning,
    workers: Vec<Worker<P>>,
    options: TrainOptions,
    facts: LearnerFacts,
    /// What the patterns are made of. A learner that goes on from a model does not know it.
    pub(crate) shapes: Option<Shapes>,
}

/// What patterns are made of.
pub(crate) struct Shapes {
    pub(crate) units: Vec<units::Unit>,
    pub(crate) patterns: Patterns,
}

/// A thread that plays and learns.
struct Worker<P: Position> {
    batch: Box<dyn Batch<State = P::State, Move = P::Move>>,
    rng: Rng,
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
    /// The game has hidden information.
    Hidden,
    /// Players choose at the same time from too many moves.
    TooManyJointMoves,
    /// The moves of nature are not equally likely.
    UnevenChances,
    /// A network would have too many inputs.
    TooManyFacts,
    /// The game is not one that minimax search plays, so searches give no targets.
    NoSearch,
    /// Something is only for games of two players without chance.
    NotTwoPlayers,
    /// The engine does not keep states as bits, because the game has no circuit.
    NoBits,
    /// The game has no board with pieces of both players.
    NoBoard,
    /// The game has ended.
    Ended,
}

impl std::fmt::Display for CannotLearn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CannotLearn::Hidden => "the game has hidden information",
            CannotLearn::TooManyJointMoves => "players choose at the same time from too many moves",
            CannotLearn::UnevenChances => "the moves of chance are not equally likely",
            CannotLearn::TooManyFacts => "a network would have too many inputs",
            CannotLearn::NoSearch => "targets by search need a game for minimax search",
            CannotLearn::NotTwoPlayers => "it is not a game of two players alone",
            CannotLearn::NoBits => "the game has no circuit",
            CannotLearn::NoBoard => "no board with pieces of both players was found",
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

/// Maximum number of joint moves where several players choose: all of them are evaluated.
const MAX_JOINT: usize = 2000;
/// Maximum number of weights of a game with several perspectives.
const MAX_WEIGHTS: usize = 12_000_000;
/// Separates the random numbers of threads.
const WORKER_STREAM: u64 = 0x9e37_79b9_7f4a_7c15;
/// Number of states of random play that are looked at.
const N_SAMPLED: usize = 3000;

impl<P: Notation + 'static> Learner<P> {
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
        if shape.hidden && !options.is_open {
            return Err(CannotLearn::Hidden);
        }
        let players = Players::new(shape);
        let mut batch = position.batch(options.seed).ok_or(CannotLearn::NoBits)?;
        let texts = position.feature_texts();
        let mut rng = Rng::seed_from_u64(options.seed);
        let sample = Sample::draw(position, N_SAMPLED, &mut rng, deadline);
        if !shape.turn_taking && sample.max_joint > MAX_JOINT {
            return Err(CannotLearn::TooManyJointMoves);
        }
        if !sample.is_uniform {
            return Err(CannotLearn::UnevenChances);
        }
        let words: Option<Vec<&[u64]>> = sample.states.iter().map(P::state_words).collect();
        let words = words.filter(|_| !texts.is_empty()).ok_or(CannotLearn::NoBits)?;
        let units = units::find(&texts, &words);
        let turns = turn_facts(texts.len(), &words, &sample, shape);
        let mut subject = Subject {
            position,
            batch: batch.as_mut(),
            texts: &texts,
            units: &units,
            states: &sample.states,
        };
        let Symmetries { of_board, of_players } = subject.find();
        // The second perspective is the first one with the players exchanged, so the exchange must
        // lead from one to the other.
        let of_players = of_players.filter(|symmetry| {
            turns.first().is_some_and(|&turn| {
                words.iter().all(|state| holds(&symmetry.apply(state), turn) != holds(state, turn))
            })
        });
        let unit_maps: Vec<Vec<usize>> =
            of_board.iter().map(|symmetry| symmetry.units.clone()).collect();
        let patterns = Patterns::new(&units, &unit_maps, options.max_cells);
        let has_turn_fact = !turns.is_empty();
        // Perspectives multiply the weights, so they must not be too many.
        let n_weights = |turns: &[u32]| {
            patterns.table_sizes.iter().sum::<usize>() * (turns.len() + 1) * players.n_heads()
        };
        let fits = turns.len() < 2 || n_weights(&turns) <= MAX_WEIGHTS;
        let turns = if fits { turns } else { Vec::new() };
        let form = match options.kind {
            ModelKind::Tables => {
                let n_facts = texts.len();
                Form::Tables(Network::new(n_facts, &units, &patterns, turns, of_players.as_ref()))
            }
            ModelKind::Network if texts.len() > MAX_ROWS => return Err(CannotLearn::TooManyFacts),
            ModelKind::Network => {
                let exchange = of_players.as_ref().zip(turns.first());
                let exchange = exchange.map(|(symmetry, &turn)| (turn, &symmetry.facts[..]));
                let images = of_board.iter().map(|symmetry| symmetry.facts.clone()).collect();
                Form::Neural(Neural::new(texts.len(), exchange, images))
            }
        };
        let facts = LearnerFacts {
            n_units: units.len(),
            n_cells: units.iter().filter(|unit| unit.cell.is_some()).count(),
            n_patterns: form.n_patterns(),
            n_weights: form.n_weights() * players.n_heads(),
            n_symmetries: of_board.len(),
            exchanges_players: of_players.is_some(),
            has_turn_fact,
            mean_length: sample.mean_length,
        };
        drop(batch);
        let n_active = words.iter().map(|words| count_ones(words)).sum::<usize>() / words.len();
        let mut learner = Learner::with_form(position, Arc::new(form), options, facts)?;
        match &*learner.form {
            Form::Tables(_) => learner.shapes = Some(Shapes { units, patterns }),
            Form::Neural(net) => {
                for head in 0..players.n_heads() {
                    let weights = net.initial_weights(n_active, &mut rng);
                    for (at, weight) in (head * weights.len()..).zip(weights) {
                        learner.learning.set(at, (weight, [0.0; 2]));
                    }
                }
            }
        }
        Ok(learner)
    }

    /// Makes a learner whose weights are all zero.
    pub(crate) fn with_form(
        position: &P,
        form: Arc<Form>,
        options: TrainOptions,
        facts: LearnerFacts,
    ) -> Result<Learner<P>, CannotLearn> {
        let searches = options.targets != Targets::Differences;
        if searches && !Minimax::<P, NoEvaluation>::suits(position) {
            return Err(CannotLearn::NoSearch);
        }
        let players = Players::new(position.shape());
        let workers: Option<Vec<Worker<P>>> = (0..options.threads.max(1) as u64)
            .map(|number| {
                let seed = options.seed ^ number.wrapping_mul(WORKER_STREAM);
                let batch = position.batch(seed)?;
                Some(Worker { batch, rng: Rng::seed_from_u64(seed) })
            })
            .collect();
        let workers = workers.ok_or(CannotLearn::NoBits)?;
        let learning = Learning::new(players.n_heads(), form.n_weights());
        let position = position.clone();
        let shapes = None;
        Ok(Learner { position, players, form, learning, workers, options, facts, shapes })
    }

    /// Returns the form of the evaluation.
    pub fn kind(&self) -> ModelKind {
        self.form.kind()
    }

    /// Returns what was found out about the game.
    pub fn facts(&self) -> &LearnerFacts {
        &self.facts
    }

    /// Plays and learns until the budget is used up, where an iteration is a game. It may be called
    /// again to learn more.
    pub fn learn(&mut self, budget: &Budget) {
        let Learner { position, players, form, learning, workers, options, .. } = self;
        let (shape, start) = (position.shape().clone(), position.state().clone());
        let play = SelfPlay {
            start: &start,
            shape: &shape,
            players,
            form,
            learning,
            options,
            budget,
            n_before: learning.n_games(),
        };
        let run = |worker: &mut Worker<P>, position: &P| match options.targets {
            Targets::Differences => play.run::<P>(worker.batch.as_mut(), &mut worker.rng),
            Targets::Search(n) => play.run_by_search(position, form, n.max(1), &mut worker.rng),
        };
        match &mut workers[..] {
            [worker] => run(worker, position),
            workers => std::thread::scope(|scope| {
                for worker in workers {
                    // Positions are not shared between threads.
                    let (run, position) = (&run, position.clone());
                    scope.spawn(move || run(worker, &position));
                }
            }),
        }
    }

    /// Returns the number of games learnt from so far.
    pub fn n_games(&self) -> u64 {
        self.learning.n_games()
    }

    /// Returns the number of steps of all games so far.
    pub fn n_steps(&self) -> u64 {
        self.learning.n_steps()
    }

    /// Returns what was learnt so far, as bytes that [`Learner::restore`] reads: the numbers of
    /// games and of steps, then for each weight the weight and its errors, all in little-endian
    /// order.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 + 12 * self.learning.len());
        bytes.extend(self.n_games().to_le_bytes());
        bytes.extend(self.n_steps().to_le_bytes());
        for (weight, [sum, size]) in self.learning.all() {
            [weight, sum, size].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        }
        bytes
    }

    /// Replaces what was learnt by what another learner of the same game, with the same options and
    /// no deadline, has saved. Learning goes on with other random moves than there.
    ///
    /// # Errors
    /// [`NotSaved`] if the bytes do not fit the game. Then nothing has changed.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), NotSaved> {
        let (n_games, rest) = bytes.split_first_chunk().ok_or(NotSaved)?;
        let (n_steps, rest) = rest.split_first_chunk().ok_or(NotSaved)?;
        let (weights, []) = rest.as_chunks::<12>() else { return Err(NotSaved) };
        if weights.len() != self.learning.len() {
            return Err(NotSaved);
        }
        self.go_on_from(u64::from_le_bytes(*n_games), u64::from_le_bytes(*n_steps));
        for (at, saved) in weights.iter().enumerate() {
            let (numbers, _) = saved.as_chunks::<4>();
            let number = |place: usize| f32::from_le_bytes(numbers[place]);
            self.learning.set(at, (number(0), [number(1), number(2)]));
        }
        Ok(())
    }

    /// Sets the numbers of games and steps so far. The random numbers of the learner that counted
    /// them are not drawn again.
    pub(crate) fn go_on_from(&mut self, n_games: u64, n_steps: u64) {
        self.learning.n_games.store(n_games, Ordering::Relaxed);
        self.learning.n_steps.store(n_steps, Ordering::Relaxed);
        let seed = self.options.seed ^ n_games.wrapping_mul(WORKER_STREAM);
        for (number, worker) in (0_u64..).zip(&mut self.workers) {
            let stream = number.wrapping_mul(WORKER_STREAM).rotate_left(32);
            worker.rng = Rng::seed_from_u64(seed ^ stream);
        }
    }

    /// Returns the evaluation as learnt so far.
    pub fn evaluator(&self) -> LearntEvaluator<P> {
        LearntEvaluator::new(Arc::clone(&self.form), self.learning.weights().into())
    }
}

/// A learnt evaluation. A clone shares the weights.
pub struct LearntEvaluator<P> {
    form: Arc<Form>,
    weights: Arc<[f32]>,
    heads: Vec<HeadScratch>,
    position: PhantomData<fn(P)>,
}

/// Memory for one value, with the weights of a network in integers.
#[derive(Clone)]
enum HeadScratch {
    Tables(Scratch),
    Neural(Arc<Quantised>, QuantisedScratch),
}

impl<P> Clone for LearntEvaluator<P> {
    fn clone(&self) -> LearntEvaluator<P> {
        LearntEvaluator {
            form: Arc::clone(&self.form),
            weights: Arc::clone(&self.weights),
            heads: self.heads.clone(),
            position: PhantomData,
        }
    }
}

impl<P> LearntEvaluator<P> {
    pub(crate) fn new(form: Arc<Form>, weights: Arc<[f32]>) -> LearntEvaluator<P> {
        let heads = weights.chunks_exact(form.n_weights().max(1)).map(|weights| match &*form {
            Form::Tables(_) => HeadScratch::Tables(Scratch::default()),
            Form::Neural(net) => {
                let quantised = Arc::new(Quantised::new(net, weights));
                HeadScratch::Neural(quantised, QuantisedScratch::default())
            }
        });
        LearntEvaluator { heads: heads.collect(), form, weights, position: PhantomData }
    }

    /// Returns the form of the evaluation.
    pub fn kind(&self) -> ModelKind {
        self.form.kind()
    }
}

impl<P: Position> LearntEvaluator<P> {
    /// Returns the expected result of the first player at a state, from 0 to 1.
    pub fn value(&mut self, state: &P::State) -> f32 {
        self.value_of(0, state)
    }

    /// Returns the number of values: 1 in a game of two players alone, because one gains what the
    /// other loses, otherwise one for each player.
    pub fn n_values(&self) -> usize {
        self.heads.len()
    }

    /// Returns the expected result of a player at a state, from 0 to 1. Players are numbered
    /// without nature, and there are [`LearntEvaluator::n_values`] of them.
    pub fn value_of(&mut self, player: usize, state: &P::State) -> f32 {
        let words = P::state_words(state).unwrap_or(&[]);
        self.heads[player].set_parent(words);
        self.sum(player, words)
    }

    fn sum(&mut self, head: usize, words: &[u64]) -> f32 {
        logistic(match (&mut self.heads[head], &*self.form) {
            (HeadScratch::Tables(scratch), Form::Tables(network)) => {
                let n_weights = network.n_weights;
                let weights = &self.weights[head * n_weights..(head + 1) * n_weights];
                scratch.sum(network, weights, words)
            }
            (HeadScratch::Neural(weights, scratch), Form::Neural(net)) => {
                scratch.output(net, weights, words)
            }
            _ => unreachable!("heads are made for their form"),
        })
    }
}

impl HeadScratch {
    fn set_parent(&mut self, words: &[u64]) {
        match self {
            HeadScratch::Tables(scratch) => scratch.set_parent(words),
            HeadScratch::Neural(_, scratch) => scratch.set_parent(words),
        }
    }
}

fn count_ones(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

impl<P: Position> EvaluateChildren<P::State> for LearntEvaluator<P> {
    fn set_parent(&mut self, parent: &P::State) {
        self.heads[0].set_parent(P::state_words(parent).unwrap_or(&[]));
    }

    fn child_value(&mut self, child: &P::State) -> f32 {
        2.0 * self.sum(0, P::state_words(child).unwrap_or(&[])) - 1.0
    }
}

/// A learnt evaluation of the leaves of a tree, in payoffs.
pub struct LearntLeaves<P> {
    evaluator: LearntEvaluator<P>,
    /// By player: its role.
    players: Vec<usize>,
    least: f64,
    range: f64,
}

impl<P: Position> LearntLeaves<P> {
    /// Returns the evaluation of the leaves of a game.
    pub fn new(evaluator: LearntEvaluator<P>, shape: &Shape) -> LearntLeaves<P> {
        let players = shape.players().map(Role::index).collect();
        let (least, most) = (*shape.payoffs.start(), *shape.payoffs.end());
        LearntLeaves { evaluator, players, least, range: most - least }
    }
}

impl<P: Position + 'static> EvaluateLeaves<P::State> for LearntLeaves<P> {
    fn fork(&self) -> Box<dyn EvaluateLeaves<P::State>> {
        Box::new(LearntLeaves {
            evaluator: self.evaluator.clone(),
            players: self.players.clone(),
            ..*self
        })
    }

    fn evaluate(&mut self, state: &P::State, payoffs: &mut [f64]) {
        let LearntLeaves { evaluator, players, least, range } = self;
        let payoff = |value: f64| *least + *range * value;
        match players[..] {
            // What one player gains, the other loses.
            [first, second] if evaluator.n_values() == 1 => {
                let value = f64::from(evaluator.value(state));
                payoffs[second] = payoff(1.0 - value);
                payoffs[first] = payoff(value);
            }
            _ => {
                for (player, &role) in players.iter().enumerate() {
                    payoffs[role] = payoff(f64::from(evaluator.value_of(player, state)));
                }
            }
        }
    }
}

/// Returns facts that say who is to move: by player after the first, a fact that holds in exactly
/// those sampled states in which that player chooses alone. If two players always choose together,
/// it holds after an odd number of steps. The list is empty if a player has no such fact.
fn turn_facts<S>(n_facts: usize, states: &[&[u64]], sample: &Sample<S>, shape: &Shape) -> Vec<u32> {
    let n_players = shape.players().count();
    let has_movers = sample.movers.iter().any(Option::is_some);
    if n_players > 2 && !has_movers {
        return Vec::new();
    }
    let fact = |player: usize| {
        let expected = |state: usize| match sample.movers[state] {
            Some(mover) => Some(mover == player),
            None if has_movers => None,
            None => Some(sample.parities[state]),
        };
        (0..n_facts as u32).find(|&fact| {
            let fits =
                |state| expected(state).is_none_or(|is_turn| holds(states[state], fact) == is_turn);
            (0..states.len()).all(fits)
        })
    };
    (1..n_players).map(fact).collect::<Option<_>>().unwrap_or_default()
}
