//! What can be read out of the rules of a game: properties, evaluation functions, concepts and explanations.
#![forbid(unsafe_code)]

pub mod properties;
pub mod prove;
pub mod regression;

#[cfg(test)]
mod tests;
