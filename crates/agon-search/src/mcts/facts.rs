//! The facts about a game that the search needs again and again.

use agon_game::{Position, Role};

use crate::scale::payoff_scale;

/// The roles and the payoff range of a game, copied out of its [`Shape`](agon_game::Shape).
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) n_roles: usize,
    /// The roles that are played, without nature.
    pub(crate) players: Vec<Role>,
    pub(crate) nature: Option<Role>,
    /// The least possible payoff.
    pub(crate) min: f64,
    /// The greatest possible payoff.
    pub(crate) max: f64,
    /// The range of the payoffs in play, to which exploration is scaled: that of all payoffs, or an
    /// estimate of it if the rules do not bound payoffs.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The sum of the payoffs of all players, if it is always the same.
    pub(crate) constant_sum: Option<f64>,
}

impl Facts {
    /// Returns the facts for searches that begin at a position.
    pub(crate) fn new<P: Position>(position: &P) -> Facts {
        let (shape, scale) = (position.shape(), payoff_scale(position));
        Facts {
            low: *scale.start(),
            high: *scale.end(),
            n_roles: shape.role_names.len(),
            players: shape.players().collect(),
            nature: shape.nature,
            min: *shape.payoffs.start(),
            max: *shape.payoffs.end(),
            constant_sum: shape.constant_sum,
        }
    }

    /// Returns the size of the range to which exploration is scaled, which is never zero.
    #[inline]
    pub(crate) fn range(&self) -> f64 {
        (self.high - self.low).max(f64::MIN_POSITIVE)
    }

    #[inline]
    pub(crate) fn is_nature(&self, role: Role) -> bool {
        Some(role) == self.nature
    }
}
