//! The data that a player outside of this process receives when a match starts.

use agon_game::{Role, Shape};

/// The data that a player outside of this process receives when a match starts.
#[derive(Clone)]
pub struct Invitation {
    /// The id of the match.
    pub id: String,
    /// The role of the player.
    pub role: Role,
    /// The static facts about the game.
    pub shape: Shape,
    /// The rules in KIF.
    pub rules: String,
    /// The start clock in seconds, as the user gave it.
    pub start_clock: f64,
    /// The play clock in seconds, as the user gave it.
    pub play_clock: f64,
}

impl Invitation {
    /// Returns the name of the player's role.
    pub fn role_name(&self) -> &str {
        &self.shape.role_names[self.role.index()]
    }
}
