//! A player of games with hidden information that follows the match by its percepts.

use std::time::Instant;

use agon_game::{Hidden, Observation, Role};
use agon_match::{Choice, Player, PlayerError};
use agon_search::Budget;
use agon_search::hidden::{HiddenOptions, HiddenPlayer};

use crate::search_player::no_consistent_history;

/// A player that searches the states that its own moves and percepts leave possible
/// ([`HiddenPlayer`]). It knows nothing of the match but its observations.
pub struct PerceptPlayer<P: Hidden> {
    /// A position that converts moves to text. It is at the state that was set last.
    scratch: P,
    role: Role,
    player: HiddenPlayer<P>,
    /// Observations that are not part of the belief yet, because that takes time, and time is
    /// limited by the budget of the next move.
    pending: Vec<Observation>,
}

impl<P: Hidden> PerceptPlayer<P> {
    /// Makes a player of a role in a match that starts at `start`.
    pub fn new(start: P, role: Role, options: HiddenOptions) -> PerceptPlayer<P> {
        let player = HiddenPlayer::new(start.clone(), role, options);
        PerceptPlayer { scratch: start, role, player, pending: Vec::new() }
    }

    /// Sets the scratch position to a possible state in which play goes on, and returns whether
    /// there is one. Any of them will do for the legal moves, because GDL-II requires that a role
    /// knows its legal moves.
    fn go_to_possible_state(&mut self) -> bool {
        self.player.belief().particles().iter().any(|particle| {
            self.scratch.go_to(&particle.state);
            !self.scratch.is_terminal()
        })
    }

    /// Updates the belief by the pending observations, in half of the time of the budget.
    fn update_belief(&mut self, budget: &Budget) -> Result<(), PlayerError> {
        let now = Instant::now();
        let until =
            budget.deadline.map(|deadline| now + deadline.saturating_duration_since(now) / 2);
        for observation in std::mem::take(&mut self.pending) {
            let particles = self.player.belief().particles();
            let own = particles.iter().find_map(|particle| {
                self.scratch.go_to(&particle.state);
                if self.scratch.is_terminal() {
                    None
                } else {
                    self.scratch.parse_move(self.role, &observation.own)
                }
            });
            let Some(own) = own else {
                return Err(PlayerError::Broken(format!(
                    "`{}` is not a legal move in any possible state",
                    observation.own
                )));
            };
            // If no state is consistent, the next observation starts another search for one.
            let _ = self.player.learn(&own, &observation.seen, until);
        }
        Ok(())
    }
}

impl<P: Hidden> Player for PerceptPlayer<P> {
    fn prepare(&mut self, budget: &Budget) -> Result<(), PlayerError> {
        // A budget of 0 iterations means that the match counts iterations, and the first move must
        // cost as much as the others.
        if budget.iterations != Some(0) && !self.scratch.is_terminal() {
            self.player.think(budget).map_err(|lost| PlayerError::Broken(lost.to_string()))?;
        }
        Ok(())
    }

    fn legal_moves(&mut self, budget: &Budget) -> Vec<String> {
        if self.update_belief(budget).is_err() || !self.go_to_possible_state() {
            return Vec::new();
        }
        let moves = self.scratch.legal_moves(self.role);
        moves.iter().map(|m| self.scratch.move_text(m)).collect()
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        self.update_belief(budget)?;
        if !self.go_to_possible_state() {
            return Err(no_consistent_history());
        }
        if let [only] = self.scratch.legal_moves(self.role) {
            return Ok(Choice { text: self.scratch.move_text(only), thought: None });
        }
        let report = self.player.think(budget).map_err(|_| no_consistent_history())?;
        let thought = crate::thought_of(&report, &self.scratch);
        Ok(Choice { text: self.scratch.move_text(&report.best), thought: Some(thought) })
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.pending.push(observation.clone());
        Ok(())
    }
}
