//! Concepts as formulas: statements about the cells of a board, in first-order logic with counting,
//! that say who is ahead. They go on from the concepts of two and three facts of Sato & Cazenave
//! (2016).
//!
//! A concept counts the cells of which a formula holds, such as "an own piece with an empty cell on
//! its right, and with at least two own pieces in its column". It may relate any number of facts.
//! The relations are those of the board: a step in one of eight directions, neighbourhood, rows,
//! columns and lines. The contents of a cell are classes that every board game has: a piece of the
//! player, a piece of the opponent, nothing. So a concept of one game has a meaning in another.
//!
//! 1. `positions`: positions of plays, each with a value from a search.
//! 2. `search`: beam search by minimum description length. A formula must save more bits in
//!    describing the values of these positions than its own description takes. Formulas are found
//!    one after another, each for what the ones before do not explain.
//! 3. `words`: a formula as a sentence.
//!
//! What a concept says about a player, less what it says about the other one, is a number for a
//! position. The other player sees the board as the symmetry that exchanges the players turns it.
//! Without such a symmetry, the same formula is asked with the pieces exchanged.

mod board;
mod expert;
mod formula;
mod positions;
mod search;
#[cfg(test)]
mod tests;
mod words;

use std::time::Instant;

use agon_game::Notation;

use crate::model::CannotLearn;
pub(crate) use board::Board;
pub use expert::ConceptExpert;
pub use formula::{Concept, ConceptError};
use positions::Labelled;
use search::Columns;

/// How concepts are found.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConceptOptions {
    /// Maximum number of concepts.
    pub n_concepts: usize,
    /// Number of positions. One half finds concepts, the other tests them.
    pub n_positions: usize,
    /// Number of iterations of the search that gives a position its value.
    pub iterations: u64,
    /// Number of formulas that are kept at each size.
    pub beam: usize,
    /// The seed of plays and searches.
    pub seed: u64,
}

impl Default for ConceptOptions {
    fn default() -> ConceptOptions {
        ConceptOptions { n_concepts: 6, n_positions: 800, iterations: 200, beam: 8, seed: 1 }
    }
}

/// A concept with what it is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The concept.
    pub concept: Concept,
    /// How much the expected result of the first player, from 0 to 1, rises with each instance more
    /// than the opponent has, beside the other concepts.
    pub weight: f64,
    /// The bits that the formula saves in describing the values, less those of its description.
    pub saved: f64,
    /// Whether who has more instances is better off, if nothing else is known. Beside other
    /// concepts, the weight may have the other sign.
    pub is_good: bool,
    /// Number of positions of the test in which one player has more instances.
    pub n: usize,
    /// The mean value of these positions for the player for whom the concept speaks.
    pub value: f64,
    /// The mean value of the same players in all positions of the test.
    pub usual: f64,
    /// An example: a position with an instance, as the numbers of its facts, and the text of the
    /// facts of the cell where it is.
    pub example: Option<Example>,
}

/// A position in which a concept has an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The facts that hold, as text.
    pub facts: Vec<String>,
    /// The cell of an instance: what its facts have in common, such as `(cell 1 2 ?)`.
    pub place: String,
}

/// Concepts of a game, the one that saves most first.
#[derive(Clone, Debug, PartialEq)]
pub struct Concepts {
    /// The concepts.
    pub found: Vec<Measured>,
    /// Number of positions that found concepts, and of those that tested them.
    pub n_positions: [usize; 2],
    /// The part of the variance of the values that the concepts explain, where they were found and
    /// where they were tested.
    pub explained: [f64; 2],
    /// Number of formulas that were tried.
    pub n_tried: usize,
    /// Whether the deadline passed before all positions had values and all concepts were found.
    /// Without a deadline, or if it does not pass, the result is the same on every machine.
    pub is_late: bool,
}

/// Finds concepts of a game.
///
/// # Errors
/// [`CannotLearn`] if the game is not one of two players with a board, or has no circuit.
pub fn find_concepts<P: Notation + 'static>(
    start: &P,
    options: &ConceptOptions,
    deadline: Option<Instant>,
) -> Result<Concepts, CannotLearn> {
    let board = Board::of(start, options.seed)?;
    let labelled = Labelled::play(start, &board, options, deadline)?;
    let has_too_few = labelled.is_late;
    let [chosen, tested] = labelled.halves();
    let (found, n_tried, is_late) = search::find(&board, &chosen, options, deadline);
    let list: Vec<Concept> = found.iter().map(|(concept, _)| concept.clone()).collect();
    let mut measured = measure(start, &board, &list, [&chosen, &tested]);
    for (measured, (_, saved)) in measured.found.iter_mut().zip(found) {
        measured.saved = saved;
    }
    Ok(Concepts { n_tried, is_late: is_late || has_too_few, ..measured })
}

/// Measures concepts that were found elsewhere, such as in another game: their weights are learnt
/// from one half of the positions, and the other half tests them.
///
/// # Errors
/// [`CannotLearn`] if the game is not one of two players with a board, or has no circuit.
pub fn measure_concepts<P: Notation + 'static>(
    start: &P,
    concepts: &[Concept],
    options: &ConceptOptions,
    deadline: Option<Instant>,
) -> Result<Concepts, CannotLearn> {
    let board = Board::of(start, options.seed)?;
    let labelled = Labelled::play(start, &board, options, deadline)?;
    let is_late = labelled.is_late;
    let [chosen, tested] = labelled.halves();
    let measured = measure(start, &board, concepts, [&chosen, &tested]);
    Ok(Concepts { is_late, ..measured })
}

fn measure<P: Notation>(
    start: &P,
    board: &Board,
    concepts: &[Concept],
    [chosen, tested]: [&Labelled; 2],
) -> Concepts {
    let columns = |positions: &Labelled| -> Vec<Vec<f64>> {
        concepts.iter().map(|concept| positions.column(board, concept)).collect()
    };
    let (own, other) = (columns(chosen), columns(tested));
    let fitted = Columns::fit(&own, &chosen.values);
    let texts = start.feature_texts();
    let mean = tested.mean();
    let of_concept = |(number, concept): (usize, &Concept)| {
        let (mut n, mut value, mut usual) = (0, 0.0, 0.0);
        // Where the concept speaks is decided by the positions that found it.
        let is_good = fitted.slopes[number] >= 0.0;
        let sign = if is_good { 1.0 } else { -1.0 };
        for (count, of_first) in other[number].iter().zip(&tested.values) {
            if *count != 0.0 {
                let is_first = count * sign > 0.0;
                n += 1;
                value += if is_first { *of_first } else { 1.0 - of_first };
                usual += if is_first { mean } else { 1.0 - mean };
            }
        }
        let count = f64::from(n).max(1.0);
        Measured {
            concept: concept.clone(),
            weight: fitted.weights[number],
            saved: 0.0,
            is_good,
            n: n as usize,
            value: value / count,
            usual: usual / count,
            example: tested.example(board, concept, &texts),
        }
    };
    Concepts {
        found: concepts.iter().enumerate().map(of_concept).collect(),
        n_positions: [chosen.values.len(), tested.values.len()],
        explained: [
            fitted.explained(&own, &chosen.values),
            fitted.explained(&other, &tested.values),
        ],
        n_tried: concepts.len(),
        is_late: false,
    }
}
