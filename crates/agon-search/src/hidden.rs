//! Search in games with hidden information (GDL-II), from percepts alone.
//!
//! A [`HiddenPlayer`] gets its own moves and percepts as input and nothing else. The position that
//! it is made with is the start of the game, which every role knows. The states that are consistent
//! with the percepts are kept as a [`Belief`]. Moves are chosen by information-set Monte Carlo tree
//! search over the belief (`tree`).
//!
//! So a role makes the same moves in two matches that differ only in what it cannot perceive. A
//! test checks this.

mod belief;
#[cfg(test)]
mod tests;
mod tree;

pub use belief::{Belief, NoConsistentState, Particle};
pub use tree::Bandit;

use std::time::Instant;

use agon_game::{Hidden, Rng, Role};
use rand::SeedableRng as _;

use crate::{Budget, Report};

/// The options of a [`HiddenPlayer`].
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenOptions {
    /// The seed. Equal seeds and iterations give equal moves.
    pub seed: u64,
    /// Maximum number of states of the belief. Up to this number the belief is exact.
    pub max_particles: usize,
    /// Maximum number of joint moves tried in one update of the belief.
    pub max_proposals: usize,
    /// Maximum number of positions visited to find a consistent history when no state is left.
    pub repair_nodes: u64,
    /// The selection of moves in the tree.
    pub bandit: Bandit,
    /// The exploration constant of UCB, for payoffs scaled to 0..1.
    pub exploration: f64,
    /// The choice of the move from the visits.
    pub choice: Choice,
    /// Maximum number of steps of a playout.
    pub max_steps: usize,
    /// Maximum number of remembered information sets.
    pub max_nodes: usize,
}

impl Default for HiddenOptions {
    fn default() -> HiddenOptions {
        HiddenOptions {
            seed: 0,
            max_particles: 1000,
            max_proposals: 20_000,
            repair_nodes: 50_000,
            bandit: Bandit::Smooth,
            exploration: 0.7,
            choice: Choice::MostVisited,
            max_steps: 500,
            max_nodes: 200_000,
        }
    }
}

/// The choice of the move from the visits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The move with the most visits.
    MostVisited,
    /// A random move in proportion to the visits, which approximate an equilibrium. Moves with less
    /// than a tenth of the visits of the best are left out, because they were only explored.
    Mixed,
}

/// A player of one role in a game with hidden information.
pub struct HiddenPlayer<P: Hidden> {
    us: Role,
    belief: Belief<P>,
    tree: tree::Tree<P>,
    options: HiddenOptions,
    rng: Rng,
}

impl<P: Hidden> HiddenPlayer<P> {
    /// Returns a player at the start of the game.
    pub fn new(start: P, us: Role, options: HiddenOptions) -> HiddenPlayer<P> {
        HiddenPlayer {
            us,
            belief: Belief::new(start.clone(), us, &options),
            tree: tree::Tree::new(start, us, &options),
            rng: Rng::seed_from_u64(options.seed),
            options,
        }
    }

    /// Updates the belief after a step, from the own move and the percepts. With a deadline, only a
    /// part of the belief may be updated, but never nothing.
    ///
    /// # Errors
    /// If no history is found that is consistent with the percepts, within the budget for repairs.
    /// The player may continue: the next call searches for a history again.
    pub fn learn(
        &mut self,
        own_move: &P::Move,
        percepts: &[String],
        deadline: Option<Instant>,
    ) -> Result<(), NoConsistentState> {
        self.belief.learn(own_move, percepts, deadline)
    }

    /// Returns the belief.
    pub fn belief(&self) -> &Belief<P> {
        &self.belief
    }

    /// Chooses a move. As far as the caller knows, the game has not ended.
    ///
    /// # Errors
    /// If no consistent state is known in which play continues.
    pub fn think(&mut self, budget: &Budget) -> Result<Report<P::Move>, NoConsistentState> {
        let particles = self.belief.open_particles()?;
        let mut meter = budget.start();
        Ok(self.tree.think(&particles, self.us, &self.options, &mut self.rng, &mut meter))
    }
}
