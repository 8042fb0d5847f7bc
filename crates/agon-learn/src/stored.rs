//! Models: what is kept of a learner, for other sessions and for games with other names.

use std::sync::Arc;

use agon_game::{Notation, Role};

use crate::file::ModelError;
use crate::form::{Form, ModelKind};
use crate::labels::Labels;
use crate::model::{CannotLearn, Learner, LearnerFacts, LearntEvaluator};
use crate::train::{Players, TrainOptions};
use crate::units::holds;
use crate::weights::LearntWeight;

/// A learnt evaluation with its history. Facts and players are in the order of their labels, so
/// that the model fits the same game with other names.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Where the model comes from.
    pub history: ModelHistory,
    pub(crate) facts: LearnerFacts,
    /// Number of players.
    pub(crate) n_players: usize,
    /// By fact: whether it holds at the start of a game.
    pub(crate) start: Vec<bool>,
    pub(crate) form: Form,
    pub(crate) weights: Vec<f32>,
    /// By weight: the sum of all errors, and the sum of their sizes. Empty in a model that is only
    /// used, not learnt on.
    pub(crate) errors: Vec<[f32; 2]>,
}

/// Where a model comes from, and what it is worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelHistory {
    /// The name of the game that was learnt.
    pub game: String,
    /// The key of its rules.
    pub key: u128,
    /// Version of agon that wrote the model.
    pub version: String,
    /// Time at which the model was written, in seconds since 1970.
    pub written: u64,
    /// Seconds of learning, matches included.
    pub seconds: f64,
    /// Number of games learnt from.
    pub n_games: u64,
    /// Number of steps of these games.
    pub n_steps: u64,
    /// Strength against the same search without an evaluation.
    pub elo: Option<EloEstimate>,
    /// Checkpoints, in order.
    pub progress: Vec<Progress>,
}

/// A difference in strength, measured by matches.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct EloEstimate {
    /// The difference in Elo. It is infinite if every match had the same winner.
    pub elo: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Number of matches.
    pub n_matches: u32,
}

/// A checkpoint of learning.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Progress {
    /// Seconds of learning until then.
    pub seconds: f64,
    /// Number of games until then.
    pub n_games: u64,
    /// Strength against the best checkpoint before.
    pub step: EloEstimate,
    /// Whether it became the best checkpoint.
    pub is_kept: bool,
    /// The form of the evaluation.
    pub kind: ModelKind,
}

impl Model {
    /// Returns the form of the evaluation.
    pub fn kind(&self) -> ModelKind {
        self.form.kind()
    }

    /// Returns the size of the model in weights.
    pub fn n_weights(&self) -> usize {
        self.weights.len()
    }

    /// Returns what the learner found out about the game.
    pub fn facts(&self) -> &LearnerFacts {
        &self.facts
    }

    /// Returns whether learning can go on exactly where it ended.
    pub fn has_training_state(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns the model without what is needed only to learn on.
    #[must_use]
    pub fn without_training_state(mut self) -> Model {
        self.errors = Vec::new();
        self
    }

    /// Fits the model to a game, given its start position and the labels of its names.
    ///
    /// # Errors
    /// [`ModelError::OtherGame`] if the model is one of another game.
    pub fn for_game<P: Notation>(
        &self,
        start: &P,
        labels: &Labels,
    ) -> Result<GameModel, ModelError> {
        let order = Order::of(start, labels).ok_or(ModelError::OtherGame)?;
        let fits = self.start.len() == order.facts.len()
            && self.n_players == order.players.len()
            && self.weights.len() == self.form.n_weights() * Players::new(start.shape()).n_heads()
            && order.start_facts(start).is_some_and(|facts| facts == self.start);
        if !fits {
            return Err(ModelError::OtherGame);
        }
        // From places in the order of labels to the numbers of this game.
        let mut facts = vec![0; order.facts.len()];
        for (fact, &place) in (0..).zip(&order.facts) {
            facts[place as usize] = fact;
        }
        let mut form = self.form.reordered(&facts);
        let weights = order.heads_to_game(&self.weights, &mut form);
        Ok(GameModel {
            history: self.history.clone(),
            facts: self.facts.clone(),
            errors: order.heads_to_game(&self.errors, &mut form.clone()),
            form: Arc::new(form),
            weights: weights.into(),
            n_facts: facts.len(),
        })
    }
}

/// A model that was fitted to a game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameModel {
    history: ModelHistory,
    facts: LearnerFacts,
    pub(crate) form: Arc<Form>,
    pub(crate) weights: Arc<[f32]>,
    errors: Vec<[f32; 2]>,
    n_facts: usize,
}

impl GameModel {
    /// Returns where the model comes from.
    pub fn history(&self) -> &ModelHistory {
        &self.history
    }

    /// Returns the form of the evaluation.
    pub fn kind(&self) -> ModelKind {
        self.form.kind()
    }

    /// Returns what the learner found out about the game.
    pub fn facts(&self) -> &LearnerFacts {
        &self.facts
    }

    /// Returns the model for files. `start` is the start position of the game. `None` if the engine
    /// does not keep states as bits, or a name of the game has no label.
    pub fn to_model<P: Notation + 'static>(&self, start: &P, labels: &Labels) -> Option<Model> {
        let learner = self.learner(start, TrainOptions::default()).ok()?;
        let model = learner.model(start, labels, self.history.clone())?;
        Some(if self.errors.is_empty() { model.without_training_state() } else { model })
    }

    /// Returns the evaluation for an engine of the game. `None` if the engine does not keep states
    /// as bits.
    pub fn evaluator<P: Notation>(&self, position: &P) -> Option<LearntEvaluator<P>> {
        let has_bits = P::state_words(position.state()).is_some()
            && position.feature_texts().len() == self.n_facts;
        has_bits.then(|| LearntEvaluator::new(Arc::clone(&self.form), Arc::clone(&self.weights)))
    }

    /// Returns a learner that goes on where the model ends. Without a training state, it starts
    /// with the weights of the model and without knowledge of its errors.
    ///
    /// # Errors
    /// [`CannotLearn`] if the engine does not keep states as bits.
    pub fn learner<P: Notation + 'static>(
        &self,
        start: &P,
        options: TrainOptions,
    ) -> Result<Learner<P>, CannotLearn> {
        if self.evaluator(start).is_none() {
            return Err(CannotLearn::NoBits);
        }
        let form = Arc::clone(&self.form);
        let mut learner = Learner::with_form(start, form, options, self.facts.clone())?;
        learner.go_on_from(self.history.n_games, self.history.n_steps);
        let errors = self.errors.iter().copied().chain(std::iter::repeat([0.0; 2]));
        for (at, weight) in self.weights.iter().copied().zip(errors).enumerate() {
            learner.learning.set(at, weight);
        }
        Ok(learner)
    }
}

impl<P: Notation + 'static> Learner<P> {
    /// Replaces the weights by those of a model of the game. Unlike [`GameModel::learner`] this
    /// keeps what the learner has found out about the game. Returns whether the model has the same
    /// patterns; if not, nothing has changed.
    pub fn take_weights(&mut self, model: &GameModel) -> bool {
        let fits = *self.form == *model.form && self.learning.len() == model.weights.len();
        if fits {
            for (at, &weight) in model.weights.iter().enumerate() {
                self.learning.set(at, (weight, [0.0; 2]));
            }
        }
        fits
    }

    /// Returns what was learnt so far as a model that is fitted to the game already.
    pub fn game_model(&self, start: &P, history: ModelHistory) -> GameModel {
        let (weights, errors): (Vec<f32>, Vec<[f32; 2]>) = self.learning.all().unzip();
        GameModel {
            history: ModelHistory { n_games: self.n_games(), n_steps: self.n_steps(), ..history },
            facts: self.facts().clone(),
            form: Arc::clone(&self.form),
            weights: weights.into(),
            errors,
            n_facts: start.feature_texts().len(),
        }
    }

    /// Returns what was learnt so far as a model. `start` is the start position of the game.
    /// Returns `None` if a name of the game has no label.
    pub fn model(&self, start: &P, labels: &Labels, history: ModelHistory) -> Option<Model> {
        let order = Order::of(start, labels)?;
        let mut form = self.form.reordered(&order.facts);
        let (weights, errors): (Vec<f32>, Vec<[f32; 2]>) = self.learning.all().unzip();
        let learnt: Vec<LearntWeight> = weights.into_iter().zip(errors).collect();
        let learnt = order.heads_to_labels(&learnt, &mut form);
        let (weights, errors) = learnt.into_iter().unzip();
        Some(Model {
            history: ModelHistory { n_games: self.n_games(), n_steps: self.n_steps(), ..history },
            facts: self.facts().clone(),
            n_players: order.players.len(),
            start: order.start_facts(start)?,
            form,
            weights,
            errors,
        })
    }
}

/// The facts and players of a game in the order of their labels.
struct Order {
    /// By fact: its place.
    facts: Vec<u32>,
    /// By player: its place.
    players: Vec<u32>,
    n_heads: usize,
}

impl Order {
    fn of<P: Notation>(start: &P, labels: &Labels) -> Option<Order> {
        let shape = start.shape();
        let names = shape.players().map(|role: Role| shape.role_names[role.index()].clone());
        let facts = labels.order(&start.feature_texts())?;
        let players = labels.order(&names.collect::<Vec<_>>())?;
        Some(Order { facts, players, n_heads: Players::new(shape).n_heads() })
    }

    /// Returns by place of a fact whether it holds at the start.
    fn start_facts<P: Notation>(&self, start: &P) -> Option<Vec<bool>> {
        let words = P::state_words(start.state())?;
        let mut facts = vec![false; self.facts.len()];
        for (fact, &place) in (0..).zip(&self.facts) {
            facts[place as usize] = holds(words, fact);
        }
        Some(facts)
    }

    /// Puts the values of players into the order of labels. Where one value is enough for two
    /// players, its sign changes if they change places.
    fn heads_to_labels<T: Clone>(&self, weights: &[T], form: &mut Form) -> Vec<T> {
        let mut players = vec![0; self.players.len()];
        for (player, &place) in self.players.iter().enumerate() {
            players[place as usize] = player;
        }
        self.heads(&players, weights, form)
    }

    /// Puts the values of players into the order of the game.
    fn heads_to_game<T: Clone>(&self, weights: &[T], form: &mut Form) -> Vec<T> {
        let places: Vec<usize> = self.players.iter().map(|&place| place as usize).collect();
        self.heads(&places, weights, form)
    }

    /// Returns the weights of the heads in another order. `from` has the old number of each.
    fn heads<T: Clone>(&self, from: &[usize], weights: &[T], form: &mut Form) -> Vec<T> {
        if self.n_heads == 1 {
            if from.first() == Some(&1) {
                form.negate();
            }
            return weights.to_vec();
        }
        let n = weights.len() / self.n_heads;
        from.iter().flat_map(|&head| weights[head * n..(head + 1) * n].to_vec()).collect()
    }
}
