//! Recorded payoffs and their upper confidence bounds.

use std::ops::RangeInclusive;

use agon_game::Role;

/// The recorded payoffs of plays through a joint action: their number, means and variances.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statistics {
    n: f64,
    /// By role: the mean and the mean of squared differences from it (Welford 1962).
    moments: Vec<(f64, f64)>,
}

impl Statistics {
    pub(super) fn new(n_roles: usize) -> Statistics {
        Statistics { n: 0.0, moments: vec![(0.0, 0.0); n_roles] }
    }

    /// Records the payoffs of one play.
    pub(super) fn record(&mut self, payoffs: &[f64]) {
        self.n += 1.0;
        for ((mean, variance), payoff) in self.moments.iter_mut().zip(payoffs) {
            let change = payoff - *mean;
            *mean += change / self.n;
            *variance += (change * (payoff - *mean) - *variance) / self.n;
        }
    }

    /// Lets the recorded payoffs count as `n` plays with the same mean and variance.
    pub(super) fn weigh_as(&mut self, n: f64) {
        if self.n > 0.0 {
            self.n = n;
        }
    }

    /// Returns the number of plays.
    pub(super) fn n(&self) -> f64 {
        self.n
    }

    /// Returns the mean payoff of a role.
    pub(super) fn mean(&self, role: Role) -> f64 {
        self.moments[role.index()].0
    }

    /// Returns the mean payoff of a role and the variance of the mean.
    pub(super) fn mean_and_error(&self, role: Role) -> (f64, f64) {
        let (mean, variance) = self.moments[role.index()];
        (mean, variance.max(0.0) / self.n.max(1.0))
    }

    fn variance(&self, role: Role) -> f64 {
        self.moments[role.index()].1
    }
}

/// Returns the variance of the payoff of one play, pooled over joint actions.
pub(super) fn pooled_variance<'s>(all: impl Iterator<Item = &'s Statistics>, role: Role) -> f64 {
    let (mut squares, mut n_free) = (0.0, 0.0);
    for statistics in all.filter(|statistics| statistics.n > 1.0) {
        squares += statistics.n * statistics.variance(role);
        n_free += statistics.n - 1.0;
    }
    if n_free > 0.0 { (squares / n_free).max(0.0) } else { 0.0 }
}

/// The formula of upper confidence bounds.
///
/// Kaiser & Stafiniak (2010) give UCB1-TUNED for payoffs with a range Δ:
/// μ' = μ + C Δ √(ln n(v) / n(w) · s) with s = min(1/4, V / Δ²), where
/// V = σ² + Δ² √(2 ln n(v) / n(w)) is an upper bound of the variance. Their text has Δ in place of
/// both Δ², which is the same for Δ = 1. With the squares, a change of the unit of payoffs does not
/// change the choices, and s is the variance of payoffs scaled to 0..1, which is at most 1/4.
#[derive(Copy, Clone, Debug)]
pub(super) struct Confidence {
    exploration: f64,
    /// The payoff range Δ.
    range: f64,
    /// The highest payoff.
    most: f64,
}

impl Confidence {
    pub(super) fn new(payoffs: &RangeInclusive<f64>, exploration: f64) -> Confidence {
        let range = payoffs.end() - payoffs.start();
        Confidence { exploration, range, most: *payoffs.end() }
    }

    /// Returns the upper confidence bound μ' of a joint action at a node with `n_plays` plays. It
    /// is the highest payoff if nothing is recorded.
    pub(super) fn bound(&self, statistics: &Statistics, role: Role, n_plays: f64) -> f64 {
        if statistics.n == 0.0 || self.range <= 0.0 {
            return if statistics.n == 0.0 { self.most } else { statistics.mean(role) };
        }
        let rate = libm::log(n_plays.max(1.0)) / statistics.n;
        let variance = statistics.variance(role) / (self.range * self.range);
        let scaled = (variance + (2.0 * rate).sqrt()).min(0.25);
        statistics.mean(role) + self.exploration * self.range * (rate * scaled).sqrt()
    }
}
