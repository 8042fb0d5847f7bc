//! Evaluation of many positions, one after the other.

use std::any::Any;
use std::sync::Arc;

use agon_circuit::ScalarCircuit;
use agon_game::{Notation, Role};

use super::heuristic::ConceptHeuristic;

/// Applies a [`ConceptHeuristic`] to positions. The facts of a position are read once for all
/// roles. For a circuit they are read from its bits instead of from texts.
pub struct ConceptEvaluator {
    heuristic: Arc<ConceptHeuristic>,
    /// By base bit of the circuit: the fact, if the heuristic knows it. Built with the first
    /// position.
    fact_of_bit: Option<Vec<Option<u32>>>,
    key: Option<u64>,
    features: Vec<u32>,
    holds: Vec<bool>,
}

impl ConceptEvaluator {
    /// Creates an evaluator.
    pub fn new(heuristic: Arc<ConceptHeuristic>) -> ConceptEvaluator {
        let holds = vec![false; heuristic.facts().len()];
        ConceptEvaluator { heuristic, fact_of_bit: None, key: None, features: Vec::new(), holds }
    }

    /// Returns the value of a position for a role, equal to [`ConceptHeuristic::value`]. All
    /// positions must be of one game and one engine.
    pub fn value<P: Notation + 'static>(&mut self, position: &P, role: Role) -> f64 {
        let key = position.key();
        if self.key != Some(key) {
            self.key = Some(key);
            self.set_position(position);
        }
        self.heuristic.value_where(&self.holds, role)
    }

    fn set_position<P: Notation + 'static>(&mut self, position: &P) {
        let ConceptEvaluator { heuristic, fact_of_bit, features, holds, .. } = self;
        holds.fill(false);
        let Some(circuit) = (position as &dyn Any).downcast_ref::<ScalarCircuit>() else {
            let texts = position.state_text();
            let known = texts.iter().filter_map(|text| heuristic.facts().find(text));
            known.for_each(|fact| holds[fact as usize] = true);
            return;
        };
        let fact_of_bit = fact_of_bit.get_or_insert_with(|| {
            circuit.circuit().base.iter().map(|text| heuristic.facts().find(text)).collect()
        });
        position.features(features);
        for &bit in &*features {
            if let Some(fact) = fact_of_bit.get(bit as usize).copied().flatten() {
                holds[fact as usize] = true;
            }
        }
    }
}
