//! Players that live outside of this process, or in front of it.

mod command;
mod human;
mod web;

pub(crate) use command::Program;
pub(crate) use human::{Console, Human, Wish};
pub(crate) use web::WebPlayer;

use agon_game::{Role, Shape};

/// What a player outside is told when a match begins.
#[derive(Clone)]
pub(crate) struct Invitation {
    /// The match.
    pub(crate) id: String,
    pub(crate) role: Role,
    pub(crate) shape: Shape,
    /// The rules in KIF.
    pub(crate) rules: String,
    /// In seconds, as the user gave them.
    pub(crate) start_clock: f64,
    pub(crate) play_clock: f64,
}

impl Invitation {
    pub(crate) fn role_name(&self) -> &str {
        &self.shape.role_names[self.role.index()]
    }
}
