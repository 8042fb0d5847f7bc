//! What can be read out of the rules of a game: properties, evaluation functions, concepts and explanations.
#![forbid(unsafe_code)]

pub mod explain;
pub mod fuzzy;
pub mod properties;
pub mod prove;
pub mod theory;

#[cfg(test)]
mod tests;
