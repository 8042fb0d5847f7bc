//! Concepts of a game as formulas with counting over the cells of its board.

use std::time::Instant;

use agon_learn::CannotLearn;
pub use agon_learn::concepts::{
    Concept, ConceptError, ConceptOptions, Concepts, Example, Measured,
};

use crate::engine::{GamePosition, GameTask};
use crate::game::Game;

/// Finds concepts of a game.
///
/// # Errors
/// [`CannotLearn`] if the game is not one of two players with a board, or has no circuit.
pub fn find_concepts(
    game: &Game,
    options: &ConceptOptions,
    deadline: Option<Instant>,
) -> Result<Concepts, CannotLearn> {
    game.run(Work { concepts: None, options, deadline })
}

/// Measures concepts that were found elsewhere, such as in another game. Their weights are learnt
/// for this game.
///
/// # Errors
/// [`CannotLearn`] if the game is not one of two players with a board, or has no circuit.
pub fn measure_concepts(
    game: &Game,
    concepts: &[Concept],
    options: &ConceptOptions,
    deadline: Option<Instant>,
) -> Result<Concepts, CannotLearn> {
    game.run(Work { concepts: Some(concepts), options, deadline })
}

struct Work<'a> {
    /// The concepts that are measured. `None`: they are found first.
    concepts: Option<&'a [Concept]>,
    options: &'a ConceptOptions,
    deadline: Option<Instant>,
}

impl GameTask for Work<'_> {
    type Output = Result<Concepts, CannotLearn>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
        let Work { concepts, options, deadline } = self;
        match concepts {
            None => agon_learn::concepts::find_concepts(&start, options, deadline),
            Some(concepts) => {
                agon_learn::concepts::measure_concepts(&start, concepts, options, deadline)
            }
        }
    }
}
