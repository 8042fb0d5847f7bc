//! Random moves and the chances of nature.

use agon_game::{Position as _, Rng, Role, draw_listed};
use agon_structures::rational::Rational;
use rand::RngExt as _;

use super::chance::quantile;
use super::moves::Move;
use super::position::Interpreter;
use super::state::Phase;

impl Interpreter {
    /// Draws a move of a role as Kaiser & Stafiniak 2010 do: a discrete choice and the numbers
    /// uniformly, nature by its chances.
    pub(super) fn draw_move(&self, role: Role, rng: &mut Rng) -> Move {
        let derived = self.derived();
        let listed = &derived.legal[role.index()];
        if self.state.content().phase == Phase::Draw && listed.len() > 1 {
            let location = self.game.arena().location(self.state.location());
            let numbers: Vec<f64> = location
                .draws
                .iter()
                .map(|draw| quantile(draw.distribution, rng.random::<f64>()))
                .collect();
            return Move::Draw(numbers.into());
        }
        let choices = &derived.choices[role.index()];
        let choice = if Some(role) == self.shape().nature || choices.is_empty() {
            // Nature's edges have chances. Within an edge its choices are as likely as their
            // samples.
            let drawn = draw_listed(self, role, rng);
            match self.choice_of(role, &drawn) {
                Some((_, choice)) => choice,
                None => return drawn,
            }
        } else {
            &choices[rng.random_range(0..choices.len())]
        };
        /// Number of attempts to find numbers that the post-condition allows.
        const ATTEMPTS: usize = 8;
        for _ in 0..ATTEMPTS {
            let numbers: Vec<f64> = choice
                .intervals
                .iter()
                .map(|&(low, high)| (low + rng.random::<f64>() * (high - low)).clamp(low, high))
                .collect();
            if let Some(m) = choice.with(&numbers)
                && self.post_allows(&m).unwrap_or(false)
            {
                return m;
            }
        }
        listed[rng.random_range(0..listed.len())].clone()
    }

    /// Returns the probability of a listed move of nature.
    pub(super) fn chance_of(&self, nature_move: &Move) -> f64 {
        let arena = self.game.arena();
        let Some(nature) = arena.nature() else { return 0.0 };
        let moves = &self.derived().legal[nature];
        if !moves.contains(nature_move) {
            return 0.0;
        }
        let location = arena.location(self.state.location());
        match nature_move {
            Move::Noop => 1.0,
            Move::Outcome { branch, outcome } => {
                branch.outcomes(arena)[*outcome as usize].1.to_f64()
            }
            Move::Draw(_) => 1.0 / moves.len() as f64,
            Move::Apply { edge, .. } => {
                let edges = &location.edges[nature];
                let of_edge = |index: usize| {
                    let is_of_edge = |m: &&Move| match m {
                        Move::Apply { edge, .. } => edge.index as usize == index,
                        Move::Noop | Move::Outcome { .. } | Move::Draw(_) => false,
                    };
                    moves.iter().filter(is_of_edge).count()
                };
                let Some(weight) = edges[edge.index as usize].weight else {
                    return 1.0 / moves.len() as f64;
                };
                // The probability of edges that cannot be taken is distributed among the others.
                let total: f64 = (0..edges.len())
                    .filter(|&other| of_edge(other) > 0)
                    .filter_map(|other| edges[other].weight)
                    .map(Rational::to_f64)
                    .sum();
                weight.to_f64() / total / of_edge(edge.index as usize) as f64
            }
        }
    }
}
