//! What came of thinking: the move, and enough to show others what the player thinks.

use agon_game::Role;

/// The answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<M> {
    /// The move to make.
    pub best: M,
    /// For whom.
    pub us: Role,
    /// What is thought of our moves, best first.
    pub candidates: Vec<Candidate<M>>,
    /// What we expect to get, in payoffs.
    pub value: f64,
    /// Whether that value is proved to be what perfect play gives.
    pub is_proven: bool,
    /// The joint moves expected next, the most likely line first.
    pub lines: Vec<Line<M>>,
    /// Iterations made.
    pub iterations: u64,
    /// Positions looked at.
    pub nodes: u64,
    /// Random playouts made.
    pub playouts: u64,
    /// The greatest depth reached.
    pub depth: u32,
    /// How long it took: for rates, never for decisions.
    pub seconds: f64,
}

/// One of our moves, and what is thought of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate<M> {
    /// The move.
    pub m: M,
    /// How often it was tried.
    pub visits: u64,
    /// What it is expected to pay.
    pub value: f64,
    /// How likely we are to play it, where mixing pays; else 1 for the best and 0 for the others.
    pub probability: f64,
    /// Whether the value is proved.
    pub is_proven: bool,
}

/// A line of play.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<M> {
    /// The joint moves, in order.
    pub joints: Vec<Vec<M>>,
    /// What we get at its end.
    pub value: f64,
}
