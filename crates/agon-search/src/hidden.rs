//! Play in games with hidden information (GDL-II), from percepts alone.
//!
//! A [`HiddenPlayer`] is told its own moves and what it perceived, and nothing else: the position it is made with is the
//! start of the game, which everybody knows, and it is never shown another. What may have happened is kept as a
//! [`Belief`]; moves are chosen by information-set Monte Carlo tree search over it (`tree`).
//!
//! Two matches that differ only in what a role cannot perceive therefore give it the same moves; a test looks.

mod belief;
#[cfg(test)]
mod tests;
mod tree;

pub use belief::{Belief, LostTrack, Particle};
pub use tree::Bandit;

use std::time::Instant;

use agon_game::{Hidden, Rng, Role};
use rand::SeedableRng as _;

use crate::{Budget, Report};

/// How to play from percepts.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenOptions {
    /// The same seed and iterations give the same play.
    pub seed: u64,
    /// So many different states at most are believed possible; up to this the belief is exact.
    pub max_particles: usize,
    /// Joint moves tried for one step of the belief.
    pub max_proposals: usize,
    /// Positions looked at to find a history that fits, when none is left.
    pub repair_nodes: u64,
    /// How moves are tried in the search.
    pub bandit: Bandit,
    /// How much is tried what is not known well: the constant of UCB, for payoffs scaled to 0..1.
    pub exploration: f64,
    /// How the move to make is taken from the visits.
    pub choice: Choice,
    /// Playouts are cut off after so many steps.
    pub max_steps: usize,
    /// Information sets remembered.
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

/// How the move to make is taken from the visits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The move tried most often.
    MostVisited,
    /// Drawn in proportion to the visits, which approach a mixture that cannot be read; moves with less than a tenth of
    /// the visits of the best, which were tried to learn about them, are left out.
    Mixed,
}

/// Plays one role of a game with hidden information.
pub struct HiddenPlayer<P: Hidden> {
    us: Role,
    belief: Belief<P>,
    tree: tree::Tree<P>,
    options: HiddenOptions,
    rng: Rng,
}

impl<P: Hidden> HiddenPlayer<P> {
    /// A player at the start of the game.
    pub fn new(start: P, us: Role, options: HiddenOptions) -> HiddenPlayer<P> {
        HiddenPlayer {
            us,
            belief: Belief::new(start.clone(), us, &options),
            tree: tree::Tree::new(start, us, &options),
            rng: Rng::seed_from_u64(options.seed),
            options,
        }
    }

    /// A step was made: what we did and what we perceived. If no history fits any more, the next step starts the search
    /// for one anew.
    ///
    /// # Errors
    /// If no history was found that fits what was perceived, within the budget for repairs. The player may go on: later
    /// percepts start another search.
    pub fn learn(&mut self, own_move: &P::Move, percepts: &[String]) -> Result<(), LostTrack> {
        self.belief.learn(own_move, percepts, None)
    }

    /// The same, in a hurry: what cannot be looked at until then is not. Something is, always.
    ///
    /// # Errors
    /// As for [`HiddenPlayer::learn`].
    pub fn learn_until(
        &mut self,
        own_move: &P::Move,
        percepts: &[String],
        deadline: Option<Instant>,
    ) -> Result<(), LostTrack> {
        self.belief.learn(own_move, percepts, deadline)
    }

    /// What is believed.
    pub fn belief(&self) -> &Belief<P> {
        &self.belief
    }

    /// Chooses a move. The game has not ended, as far as the caller can tell.
    ///
    /// # Errors
    /// If no state is known in which we could be.
    pub fn think(&mut self, budget: &Budget) -> Result<Report<P::Move>, LostTrack> {
        let particles = self.belief.open_particles()?;
        let mut meter = budget.start();
        Ok(self.tree.think(&particles, self.us, &self.options, &mut self.rng, &mut meter))
    }
}
