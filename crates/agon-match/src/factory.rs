//! Players for rules that arrive as text, such as over the GGP protocol.
//!
//! A server that receives rules knows no rule language. It uses a [`PlayerFactory`], which the
//! `agon` library implements.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use agon_game::{Role, Shape};

use crate::{Player, View};

/// Makes players from the text of rules.
pub trait PlayerFactory: Send + Sync {
    /// Checks rules and finds a role in them. Does not take long; expensive work is left to
    /// [`PreparedGame::player`].
    ///
    /// # Errors
    /// [`FactoryError`] if the rules cannot be played or have no such role.
    fn open(&self, rules: &str, role: &str) -> Result<Box<dyn PreparedGame>, FactoryError>;

    /// Like [`PlayerFactory::open`], but for rules from strangers: returns soon after the deadline,
    /// or after another thread has set the flag. The flag also cancels all later work of the game
    /// and its player, in every thread.
    ///
    /// # Errors
    /// [`FactoryError`] as for [`PlayerFactory::open`], and if there is not enough time or memory.
    fn open_within(
        &self,
        rules: &str,
        role: &str,
        limits: &WorkLimits,
    ) -> Result<Box<dyn PreparedGame>, FactoryError> {
        let _ = limits;
        self.open(rules, role)
    }

    /// Like [`PlayerFactory::preview`], and ends soon after another thread has set the flag.
    fn preview_within(&self, rules: &str, limits: &WorkLimits) {
        self.preview(rules, limits.deadline);
    }

    /// Receives rules that may be played soon. Expensive work may be done until the given moment.
    fn preview(&self, rules: &str, until: Instant) {
        let _ = (rules, until);
    }
}

/// Limits on the work for rules from strangers.
#[derive(Clone, Debug)]
pub struct WorkLimits {
    /// The moment at which the work must have ended.
    pub deadline: Instant,
    /// Set by another thread to cancel the work.
    pub stop: Arc<AtomicBool>,
}

/// A game whose rules were checked, before any expensive work was done.
pub trait PreparedGame: Send {
    /// Returns the static facts about the game.
    fn shape(&self) -> &Shape;
    /// Returns the role of the player.
    fn role(&self) -> Role;
    /// Returns the view of the role, from which a legal move can be taken at any time.
    fn view(&self) -> Box<dyn View>;
    /// Makes the player. May take long, but not beyond the given moment.
    fn player(self: Box<Self>, until: Instant) -> Box<dyn Player>;
}

/// Why a [`PlayerFactory`] cannot play.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FactoryError {
    /// The rules cannot be played. Contains the diagnostics as text.
    Rules(String),
    /// The rules have no such role for a player.
    Role {
        /// The role that was asked for.
        asked: String,
        /// The roles that the rules have.
        roles: Vec<String>,
    },
}

impl fmt::Display for FactoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactoryError::Rules(why) => f.write_str(why),
            FactoryError::Role { asked, roles } => {
                write!(f, "the rules have no role `{asked}`, only {}", roles.join(" "))
            }
        }
    }
}

impl std::error::Error for FactoryError {}
