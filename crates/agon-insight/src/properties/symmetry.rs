//! Symmetries of the board, and roles that are interchangeable.

use super::Known;

/// A symmetry of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// What is done, in words.
    pub text: String,
    /// How it is known that play is the same after it.
    pub known: Known,
}
