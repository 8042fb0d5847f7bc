//! What can be read out of the rules of a game: properties, evaluation functions, concepts and explanations.
#![forbid(unsafe_code)]

pub mod concepts;
pub mod explain;
pub mod fuzzy;
pub mod goal_formulas;
pub mod properties;
pub mod prove;
pub mod regression;
mod subject;
pub mod theory;

pub use subject::{ConceptsFrom, Subject, USUAL_TIME};

#[cfg(test)]
mod tests;
