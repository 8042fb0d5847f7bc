//! A concept as one of the heuristics that are combined.

use std::sync::Arc;

use agon_game::Notation;

use super::board::Board;
use super::formula::Concept;
use crate::combination::Expert;
use crate::model::CannotLearn;

/// Says how many instances of a concept each player has.
#[derive(Clone)]
pub struct ConceptExpert {
    board: Arc<Board>,
    concept: Concept,
}

impl ConceptExpert {
    /// Makes experts of concepts.
    ///
    /// # Errors
    /// [`CannotLearn`] if the game is not one of two players with a board, or has no circuit.
    pub fn of_all<P: Notation>(
        start: &P,
        concepts: &[Concept],
        seed: u64,
    ) -> Result<Vec<ConceptExpert>, CannotLearn> {
        let board = Arc::new(Board::of(start, seed)?);
        let make = |concept: &Concept| ConceptExpert {
            board: Arc::clone(&board),
            concept: concept.clone(),
        };
        Ok(concepts.iter().map(make).collect())
    }
}

impl<P: Notation> Expert<P> for ConceptExpert {
    fn name(&self) -> String {
        self.concept.to_string()
    }

    fn is_common(&self) -> bool {
        false
    }

    fn values(&mut self, position: &P, values: &mut [f64]) {
        let Some(words) = P::state_words(position.state()) else { return };
        let views = [self.board.contents(words), self.board.other_contents(words)];
        for (value, contents) in values.iter_mut().zip(&views) {
            *value = f64::from(self.concept.0.cells(&self.board, contents).len());
        }
    }

    fn fork(&self) -> Box<dyn Expert<P>> {
        Box::new(self.clone())
    }
}
