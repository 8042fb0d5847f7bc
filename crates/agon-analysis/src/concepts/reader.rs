//! Judging many positions one after the other.

use std::any::Any;
use std::sync::Arc;

use agon_circuit::ScalarCircuit;
use agon_game::{Notation, Role};

use super::judge::ConceptJudge;

/// A judge and the position that it looks at: all roles ask about one reading, and of a circuit facts are read off its bits
/// instead of texts.
pub struct ConceptReader {
    judge: Arc<ConceptJudge>,
    /// By base bit of the circuit that plays: the fact, if it was seen at the end of a play. Made with the first position.
    fact_of_bit: Option<Vec<Option<u32>>>,
    key: Option<u64>,
    features: Vec<u32>,
    holds: Vec<bool>,
}

impl ConceptReader {
    /// Of this judge.
    pub fn new(judge: Arc<ConceptJudge>) -> ConceptReader {
        let holds = vec![false; judge.facts().len()];
        ConceptReader { judge, fact_of_bit: None, key: None, features: Vec::new(), holds }
    }

    /// What a position is worth to a role, as [`ConceptJudge::value`] says. All positions are of one game and one engine.
    pub fn value<P: Notation + 'static>(&mut self, position: &P, role: Role) -> f64 {
        let key = position.key();
        if self.key != Some(key) {
            self.key = Some(key);
            self.look_at(position);
        }
        self.judge.value_where(&self.holds, role)
    }

    fn look_at<P: Notation + 'static>(&mut self, position: &P) {
        let ConceptReader { judge, fact_of_bit, features, holds, .. } = self;
        holds.fill(false);
        let Some(circuit) = (position as &dyn Any).downcast_ref::<ScalarCircuit>() else {
            let texts = position.state_text();
            let known = texts.iter().filter_map(|text| judge.facts().find(text));
            known.for_each(|fact| holds[fact as usize] = true);
            return;
        };
        let fact_of_bit = fact_of_bit.get_or_insert_with(|| {
            circuit.circuit().base.iter().map(|text| judge.facts().find(text)).collect()
        });
        position.features(features);
        for &bit in &*features {
            if let Some(fact) = fact_of_bit.get(bit as usize).copied().flatten() {
                holds[fact as usize] = true;
            }
        }
    }
}
