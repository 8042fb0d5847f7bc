//! What a role gets to know of a step.

/// What a role observes of one step of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Number of steps made so far, including this one.
    pub step: usize,
    /// The role's own move as it was made. It differs from the chosen move if that was not legal.
    pub own: String,
    /// In a game of perfect information: the joint move, in the order of the roles. In a game with
    /// hidden information: the percepts of the role, sorted.
    pub seen: Vec<String>,
}
