//! The facts about a game that the search needs again and again.

use agon_game::{Role, Shape};

/// The roles and the payoff range of a game, copied out of its [`Shape`].
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
    /// The sum of the payoffs of all players as the search sees them, if it is always the same.
    pub(crate) constant_sum: Option<f64>,
    /// The weight of our loss in what the other players are assumed to want, from 0 to 1.
    pub(crate) opposition: f64,
}

impl Facts {
    /// Copies the facts of a game. `opposition` is the weight of our loss in what the other
    /// players are assumed to want, from 0 to 1.
    pub(crate) fn new(shape: &Shape, opposition: f64) -> Facts {
        let total = shape.payoffs.start() + shape.payoffs.end();
        // Where two players share a constant sum, their goals are opposite in every model.
        let is_duel = shape.players().count() == 2 && shape.constant_sum == Some(total);
        Facts {
            n_roles: shape.role_names.len(),
            players: shape.players().collect(),
            nature: shape.nature,
            min: *shape.payoffs.start(),
            max: *shape.payoffs.end(),
            constant_sum: shape.constant_sum.filter(|_| is_duel || opposition == 0.0),
            opposition: if is_duel { 0.0 } else { opposition },
        }
    }

    /// Returns the size of the payoff range, which is never zero.
    #[inline]
    pub(crate) fn range(&self) -> f64 {
        (self.max - self.min).max(f64::MIN_POSITIVE)
    }

    #[inline]
    pub(crate) fn is_nature(&self, role: Role) -> bool {
        Some(role) == self.nature
    }

    /// Replaces the payoffs of the other players at one position by what they are assumed to want
    /// ([`Others`](super::Others)).
    pub(crate) fn oppose(&self, us: Role, payoffs: &mut [f64]) {
        if self.opposition == 0.0 {
            return;
        }
        let against = self.min + self.max - payoffs[us.index()];
        for player in self.players.iter().filter(|&&player| player != us) {
            let payoff = &mut payoffs[player.index()];
            *payoff += self.opposition * (against - *payoff);
        }
    }

    /// Replaces the sums of the payoffs of `n` playouts, and of their squares, by those of what the
    /// other players are assumed to want. The squares are upper bounds, because the products of
    /// the payoffs of two players are not known.
    pub(crate) fn oppose_sums(&self, us: Role, n: f64, sums: &mut [f64], squares: &mut [f64]) {
        if self.opposition == 0.0 {
            return;
        }
        let (sum, square) = (sums[us.index()], squares[us.index()]);
        let total = self.min + self.max;
        let against = total * n - sum;
        let against_square = total * total * n - 2.0 * total * sum + square;
        for player in self.players.iter().filter(|&&player| player != us) {
            let (sum, square) = (&mut sums[player.index()], &mut squares[player.index()]);
            *sum += self.opposition * (against - *sum);
            *square += self.opposition * (against_square - *square);
        }
    }

    /// Returns the own payoff of another player, given what it is assumed to want and our payoff.
    /// Returns `None` if nothing of its own payoff is left in that.
    pub(crate) fn own_payoff(&self, wanted: f64, ours: f64) -> Option<f64> {
        let share = 1.0 - self.opposition;
        let against = self.min + self.max - ours;
        (share > 0.0).then(|| (wanted - self.opposition * against) / share)
    }
}
