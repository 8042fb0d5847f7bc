//! The two forms of an evaluation: pattern tables and a neural network.

use agon_game::Rng;

use crate::network::{Network, Scratch};
use crate::neural::{Neural, NeuralScratch};
use crate::train::{TrainOptions, logistic};
use crate::weights::{Head, Weights};

/// Which form an evaluation has.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelKind {
    /// Tables of weights for patterns.
    Tables,
    /// A neural network over the facts of a state.
    Network,
}

impl ModelKind {
    /// Returns the name of the form: `tables` or `network`.
    pub fn name(self) -> &'static str {
        match self {
            ModelKind::Tables => "tables",
            ModelKind::Network => "network",
        }
    }
}

/// The fixed part of an evaluation: what its weights mean.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Tables(Network),
    Neural(Neural),
}

impl Form {
    pub(crate) fn kind(&self) -> ModelKind {
        match self {
            Form::Tables(_) => ModelKind::Tables,
            Form::Neural(_) => ModelKind::Network,
        }
    }

    /// Returns the number of weights for one value.
    pub(crate) fn n_weights(&self) -> usize {
        match self {
            Form::Tables(network) => network.n_weights,
            Form::Neural(net) => net.n_weights(),
        }
    }

    /// Returns the number of weights that a state selects, or of hidden units.
    pub(crate) fn n_patterns(&self) -> usize {
        match self {
            Form::Tables(network) => network.n_patterns(),
            Form::Neural(net) => net.n_hidden,
        }
    }

    /// Returns the form for facts in another order. `to` has the new number of each fact.
    pub(crate) fn reordered(&self, to: &[u32]) -> Form {
        match self {
            Form::Tables(network) => Form::Tables(network.reordered(to)),
            Form::Neural(net) => Form::Neural(net.reordered(to)),
        }
    }

    /// Makes the value one for the other of two players.
    pub(crate) fn negate(&mut self) {
        match self {
            Form::Tables(network) => network.negate(),
            Form::Neural(net) => net.signs.iter_mut().for_each(|sign| *sign *= -1.0),
        }
    }
}

/// Memory for learning with an evaluation of either form.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormScratch {
    tables: Scratch,
    neural: NeuralScratch,
    indices: Vec<u32>,
}

impl FormScratch {
    /// Sets the state whose children are evaluated next.
    pub(crate) fn set_parent(&mut self, form: &Form, words: &[u64]) {
        match form {
            Form::Tables(_) => self.tables.set_parent(words),
            Form::Neural(_) => self.neural.set_parent(words),
        }
    }

    /// Returns the value of a state for the first player, from 0 to 1.
    pub(crate) fn value<W: Weights + ?Sized>(
        &mut self,
        form: &Form,
        weights: &W,
        words: &[u64],
    ) -> f32 {
        logistic(match form {
            Form::Tables(network) => self.tables.sum(network, weights, words),
            Form::Neural(net) => self.neural.sum(net, weights, words),
        })
    }

    /// Moves the value of a state towards a target. Returns the value before.
    pub(crate) fn learn(
        &mut self,
        form: &Form,
        weights: Head<'_>,
        words: &[u64],
        target: f32,
        options: &TrainOptions,
        rng: &mut Rng,
    ) -> f32 {
        match form {
            Form::Tables(network) => {
                let sign = network.select(words, &mut self.indices);
                let sum: f32 = self.indices.iter().map(|&index| weights.weight(index)).sum();
                let value = logistic(sign * sum);
                weights.update(&self.indices, sign * (target - value), options.rate);
                value
            }
            Form::Neural(net) => {
                self.neural.learn(net, weights, words, target, options.network_rate, rng)
            }
        }
    }
}
