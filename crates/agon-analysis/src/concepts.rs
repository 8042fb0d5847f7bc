//! Heuristics learned from random plays, and concepts that can be transferred to other games
//! (Sato & Cazenave 2016).
//!
//! 1. Random plays show which facts hold at the end when a role has won ([`Endings`]).
//! 2. The most frequent sets of these facts form a statistical heuristic (algorithm 1 of the
//!    paper).
//! 3. The relation between two facts of such a set, independent of where they are, is a
//!    [`Concept`]: "a cell holds the same mark as its right neighbour" (algorithm 2).
//! 4. A heuristic can be rebuilt from concepts, in the same game or in another one (algorithm 3).
//! 5. Two concepts that share a fact form a concept of three facts (algorithm 4).
//!
//! A [`ConceptHeuristic`] holds the rules of all roles. A [`ConceptEvaluator`] applies it to many
//! positions. [`Concept::sentence`] describes a concept in words.

mod concept;
mod evaluator;
mod fact;
mod heuristic;
mod learn;
mod words;

pub use concept::Concept;
pub use evaluator::ConceptEvaluator;
pub use fact::Orders;
pub(crate) use heuristic::concepts_of_tic_tac_toe;
pub use heuristic::{
    ConceptHeuristic, ConceptParseError, HeuristicKind, LearnOptions, learn_concepts,
    read_concepts, write_concepts,
};
pub use learn::{EndingOptions, Endings};
pub(crate) use words::Axes;
pub use words::Drawing;

#[cfg(test)]
mod tests;
