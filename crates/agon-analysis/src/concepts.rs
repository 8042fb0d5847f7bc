//! Heuristics from random plays, and concepts that can be carried to other games (004).
//!
//! Random plays show which facts are there when a player has won. The most frequent sets of them make a heuristic; what two
//! facts of such a set have to do with one another, whichever they are, is a concept: "a cell and its right neighbour hold the
//! same mark". From concepts a heuristic can be built again, in the same game or in another one.

mod concept;
mod fact;
mod judge;
mod learn;
mod reader;
mod words;

pub use concept::{Column, Concept};
pub use fact::{Fact, Facts};
pub use judge::{
    ConceptJudge, Kind, LearnOptions, SharedJudge, concepts_of_tic_tac_toe, learn_concepts,
    read_concepts, write_concepts,
};
pub use learn::{Endings, Rule, carried, concepts_of, statistical, structured, ternary};
pub use reader::ConceptReader;

#[cfg(test)]
mod tests;
