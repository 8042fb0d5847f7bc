//! Networks as matrices, for programs that learn elsewhere.

use std::sync::Arc;

use agon_game::Notation;

use crate::form::Form;
use crate::labels::Labels;
use crate::model::{CannotLearn, Learner, LearnerFacts};
use crate::neural::{MAX_HIDDEN, MAX_ROWS, MAX_WEIGHT, NO_CEILING, Neural};
use crate::stored::{GameModel, Model, ModelHistory};
use crate::train::{Players, TrainOptions};

/// A network with one hidden layer over the facts of a game. It gives the expected result of the
/// first of two players alone, otherwise that of each player, as a logistic function of its
/// outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// Number of facts of the game, which are the inputs.
    pub n_facts: usize,
    /// Number of hidden units.
    pub n_hidden: usize,
    /// Number of outputs.
    pub n_outputs: usize,
    /// By fact and hidden unit.
    pub hidden_weights: Vec<f32>,
    /// By hidden unit.
    pub hidden_biases: Vec<f32>,
    /// By hidden unit and output.
    pub output_weights: Vec<f32>,
    /// By output.
    pub output_biases: Vec<f32>,
    /// The activation of a hidden unit is its sum, but at least 0 and at most this. `None`: it has
    /// no upper end.
    pub ceiling: Option<f32>,
    /// The exchange of players, if the network sees states through it.
    pub exchange: Option<Exchange>,
}

/// How a network sees states in which the second player is to move: with the players exchanged, and
/// with outputs of the opposite sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The fact that holds in these states.
    pub turn: u32,
    /// By fact: the fact as which the network sees it. Each fact occurs once.
    pub images: Vec<u32>,
}

/// Why matrices are not a network of a game.
#[derive(Clone, Debug, PartialEq)]
pub enum LayersError {
    /// A size is not that of the game, or sizes do not fit each other.
    Size {
        /// What has the size.
        what: &'static str,
        /// The size that it should have.
        wanted: usize,
        /// The size that it has.
        found: usize,
    },
    /// There are too many hidden units, or none.
    Hidden(usize),
    /// A weight is not a number, or too large for the integers of searches.
    Weight(f32),
    /// The upper end of the activation is not a positive number.
    Ceiling(f32),
    /// The exchange of players does not lead each fact to another one.
    Exchange,
    /// The game cannot have a network.
    Game(CannotLearn),
}

impl std::fmt::Display for LayersError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LayersError::Size { what, wanted, found } => {
                write!(f, "the number of {what} is {found}, and it should be {wanted}")
            }
            LayersError::Hidden(n) => {
                write!(f, "{n} hidden units: there must be 1 to {MAX_HIDDEN}")
            }
            LayersError::Weight(weight) if weight.is_nan() => f.write_str("a weight is NaN"),
            LayersError::Weight(weight) => {
                write!(f, "a weight is {weight}: the largest that is exact is {MAX_WEIGHT}")
            }
            LayersError::Ceiling(end) => {
                write!(f, "the ceiling is {end}: it must be above 0 and at most {NO_CEILING}")
            }
            LayersError::Exchange => f.write_str(
                "the exchange of players must have each fact once, and one for the turn",
            ),
            LayersError::Game(why) => write!(f, "the game cannot have a network: {why}"),
        }
    }
}

impl std::error::Error for LayersError {}

impl Layers {
    /// Checks sizes and numbers.
    fn check(&self, n_facts: usize, n_outputs: usize) -> Result<(), LayersError> {
        let size = |what, wanted, found| match wanted == found {
            true => Ok(()),
            false => Err(LayersError::Size { what, wanted, found }),
        };
        if !(1..=MAX_HIDDEN).contains(&self.n_hidden) {
            return Err(LayersError::Hidden(self.n_hidden));
        }
        size("inputs", n_facts, self.n_facts)?;
        size("outputs", n_outputs, self.n_outputs)?;
        size("hidden weights", n_facts * self.n_hidden, self.hidden_weights.len())?;
        size("hidden biases", self.n_hidden, self.hidden_biases.len())?;
        size("output weights", self.n_hidden * n_outputs, self.output_weights.len())?;
        size("output biases", n_outputs, self.output_biases.len())?;
        if let Some(end) = self.ceiling
            && !(end > 0.0 && end <= NO_CEILING)
        {
            return Err(LayersError::Ceiling(end));
        }
        let first = self.hidden_weights.iter().chain(&self.hidden_biases);
        let mut all = first.chain(&self.output_weights).chain(&self.output_biases);
        if let Some(&weight) = all.find(|weight| weight.is_nan() || weight.abs() > MAX_WEIGHT) {
            return Err(LayersError::Weight(weight));
        }
        if let Some(Exchange { turn, images }) = &self.exchange {
            let mut seen = vec![false; n_facts];
            images.iter().for_each(|&fact| {
                if let Some(seen) = seen.get_mut(fact as usize) {
                    *seen = true;
                }
            });
            let is_one_to_one = images.len() == n_facts && seen.iter().all(|&seen| seen);
            if !is_one_to_one || *turn as usize >= n_facts {
                return Err(LayersError::Exchange);
            }
        }
        Ok(())
    }

    /// Returns the number of hidden units for each output, and the weights in the order that
    /// [`Neural`] defines, one output after another. The hidden units of each output are its own,
    /// so units that an output does not use are left out where there are several.
    pub(crate) fn heads(&self) -> (usize, Vec<f32>) {
        let Layers { n_hidden, n_outputs, .. } = *self;
        let weight = |unit: usize, output: usize| self.output_weights[unit * n_outputs + output];
        let used: Vec<Vec<usize>> = (0..n_outputs)
            .map(|output| {
                let units = 0..n_hidden;
                units.filter(|&unit| n_outputs == 1 || weight(unit, output) != 0.0).collect()
            })
            .collect();
        let n_used = used.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut weights = Vec::new();
        for (output, used) in used.iter().enumerate() {
            let n_missing = n_used - used.len();
            let mut put = |of_unit: &dyn Fn(usize) -> f32| {
                weights.extend(used.iter().map(|&unit| of_unit(unit)));
                weights.extend(std::iter::repeat_n(0.0, n_missing));
            };
            for fact in 0..self.n_facts {
                put(&|unit| self.hidden_weights[fact * n_hidden + unit]);
            }
            put(&|unit| self.hidden_biases[unit]);
            put(&|unit| weight(unit, output));
            weights.push(self.output_biases[output]);
        }
        (n_used, weights)
    }
}

impl Model {
    /// Makes a model of a network that was learnt elsewhere. `start` is the start position of the
    /// game.
    ///
    /// # Errors
    /// [`LayersError`] if it is not a network of the game.
    pub fn from_layers<P: Notation + 'static>(
        layers: &Layers,
        start: &P,
        labels: &Labels,
        history: ModelHistory,
    ) -> Result<Model, LayersError> {
        let n_facts = start.feature_texts().len();
        if n_facts == 0 || P::state_words(start.state()).is_none() {
            return Err(LayersError::Game(CannotLearn::NoBits));
        }
        if n_facts > MAX_ROWS {
            return Err(LayersError::Game(CannotLearn::TooManyFacts));
        }
        layers.check(n_facts, Players::new(start.shape()).n_heads())?;
        let own: Vec<u32> = (0..n_facts as u32).collect();
        let (mut rows, mut signs) = (vec![own], vec![1.0]);
        if let Some(exchange) = &layers.exchange {
            rows.push(exchange.images.clone());
            signs.push(-1.0);
        }
        let (n_hidden, weights) = layers.heads();
        let net = Neural {
            n_hidden,
            n_rows: n_facts,
            ceiling: layers.ceiling.unwrap_or(NO_CEILING),
            rows,
            signs,
            turn: layers.exchange.as_ref().map(|exchange| exchange.turn),
            symmetries: Vec::new(),
        };
        Model::of_network(net, &weights, start, labels, history).map_err(LayersError::Game)
    }

    /// Makes a model of a network. `weights` has those of all outputs.
    pub(crate) fn of_network<P: Notation + 'static>(
        net: Neural,
        weights: &[f32],
        start: &P,
        labels: &Labels,
        history: ModelHistory,
    ) -> Result<Model, CannotLearn> {
        let facts = LearnerFacts {
            n_units: 0,
            n_cells: 0,
            n_patterns: net.n_hidden,
            n_weights: weights.len(),
            n_symmetries: net.symmetries.len(),
            exchanges_players: net.turn.is_some(),
            has_turn_fact: net.turn.is_some(),
            mean_length: 0.0,
        };
        let form = Arc::new(Form::Neural(net));
        let learner = Learner::with_form(start, form, TrainOptions::default(), facts)?;
        for (at, &weight) in weights.iter().enumerate() {
            learner.learning.set(at, (weight, [0.0; 2]));
        }
        let model = learner.model(start, labels, history).ok_or(CannotLearn::NoBits)?;
        Ok(model.without_training_state())
    }
}

impl GameModel {
    /// Returns the network as matrices. `None` if the model has tables. Outputs that have the same
    /// hidden units share them.
    pub fn layers(&self) -> Option<Layers> {
        let Form::Neural(net) = &*self.form else { return None };
        let (n_facts, n_hidden) = (net.rows[0].len(), net.n_hidden);
        let heads: Vec<&[f32]> = self.weights.chunks_exact(net.n_weights()).collect();
        let first = |head: &[f32]| head[..net.outputs()].to_vec();
        let are_shared = heads.iter().all(|head| first(head) == first(heads[0]));
        let blocks = if are_shared { &heads[..1] } else { &heads[..] };
        let (n_outputs, n_all) = (heads.len(), n_hidden * blocks.len());
        let mut layers = Layers {
            n_facts,
            n_hidden: n_all,
            n_outputs,
            hidden_weights: vec![0.0; n_facts * n_all],
            hidden_biases: Vec::new(),
            output_weights: vec![0.0; n_all * n_outputs],
            output_biases: Vec::new(),
            ceiling: (net.ceiling < NO_CEILING).then_some(net.ceiling),
            exchange: None,
        };
        for (number, block) in blocks.iter().enumerate() {
            for (fact, &row) in net.rows[0].iter().enumerate() {
                let from = &block[row as usize * n_hidden..][..n_hidden];
                layers.hidden_weights[fact * n_all + number * n_hidden..][..n_hidden]
                    .copy_from_slice(from);
            }
            layers.hidden_biases.extend_from_slice(&block[net.biases()..net.outputs()]);
        }
        let sign = net.signs[0];
        for (output, head) in heads.iter().enumerate() {
            let block = if are_shared { 0 } else { output };
            for unit in 0..n_hidden {
                let weight = sign * head[net.outputs() + unit];
                layers.output_weights[(block * n_hidden + unit) * n_outputs + output] = weight;
            }
            layers.output_biases.push(sign * head[net.outputs() + n_hidden]);
        }
        if let (Some(turn), Some(rows)) = (net.turn, net.rows.get(1)) {
            let mut fact_of_row = vec![0; net.n_rows];
            for (fact, &row) in (0..).zip(&net.rows[0]) {
                fact_of_row[row as usize] = fact;
            }
            let images = rows.iter().map(|&row| fact_of_row[row as usize]).collect();
            layers.exchange = Some(Exchange { turn, images });
        }
        Some(layers)
    }
}
