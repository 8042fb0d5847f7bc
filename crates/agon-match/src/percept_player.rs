//! Hidden information, played from percepts alone.

use std::time::Instant;

use agon_game::{Hidden, Role};
use agon_search::Budget;
use agon_search::hidden::{HiddenOptions, HiddenPlayer};

use crate::{Choice, Lapse, News, Player, Thought};

/// A player that searches over what its own moves and percepts leave possible ([`HiddenPlayer`]). The news are its only source.
pub struct PerceptPlayer<P: Hidden> {
    /// Stands where it was last put: for texts.
    scratch: P,
    role: Role,
    player: HiddenPlayer<P>,
    /// News that were not thought about yet: that takes time, and the time to think is when asked.
    unread: Vec<News>,
}

impl<P: Hidden> PerceptPlayer<P> {
    /// A player of the role in a match that begins where `start` stands.
    pub fn new(start: P, role: Role, options: HiddenOptions) -> PerceptPlayer<P> {
        let player = HiddenPlayer::new(start.clone(), role, options);
        PerceptPlayer { scratch: start, role, player, unread: Vec::new() }
    }

    /// Puts the scratch position where the player may be, if it knows of such a place. By the rules of the language a role knows
    /// its legal moves: they are the same wherever it may be.
    fn go_where_it_may_be(&mut self) -> bool {
        self.player.belief().particles().iter().any(|particle| {
            self.scratch.go_to(&particle.state);
            !self.scratch.is_terminal()
        })
    }

    /// Takes in what was told, in half of the time.
    fn read(&mut self, budget: &Budget) -> Result<(), Lapse> {
        let now = Instant::now();
        let until =
            budget.deadline.map(|deadline| now + deadline.saturating_duration_since(now) / 2);
        for news in std::mem::take(&mut self.unread) {
            let particles = self.player.belief().particles();
            let own = particles.iter().find_map(|particle| {
                self.scratch.go_to(&particle.state);
                if self.scratch.is_terminal() {
                    None
                } else {
                    self.scratch.parse_move(self.role, &news.own)
                }
            });
            let Some(own) = own else {
                return Err(Lapse::Broken(format!(
                    "`{}` is no move where the player may stand",
                    news.own
                )));
            };
            // If nothing fits, later percepts start another search for what does.
            let _ = self.player.learn_until(&own, &news.seen, until);
        }
        Ok(())
    }
}

impl<P: Hidden> Player for PerceptPlayer<P> {
    fn prepare(&mut self, budget: &Budget) -> Result<(), Lapse> {
        // No iterations: the match is counted, not timed, and the first move is to cost what the others do.
        if budget.iterations != Some(0) && !self.scratch.is_terminal() {
            self.player.think(budget).map_err(|lost| Lapse::Broken(lost.to_string()))?;
        }
        Ok(())
    }

    fn look(&mut self, budget: &Budget) -> Vec<String> {
        if self.read(budget).is_err() || !self.go_where_it_may_be() {
            return Vec::new();
        }
        let moves = self.scratch.legal_moves(self.role);
        moves.iter().map(|m| self.scratch.move_text(m)).collect()
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse> {
        self.read(budget)?;
        let broken = || Lapse::Broken("found no history that fits what was perceived".to_owned());
        if !self.go_where_it_may_be() {
            return Err(broken());
        }
        if let [only] = self.scratch.legal_moves(self.role) {
            return Ok(Choice { text: self.scratch.move_text(only), thought: None });
        }
        let report = self.player.think(budget).map_err(|_| broken())?;
        let thought = Thought::new(&report, &self.scratch);
        Ok(Choice { text: self.scratch.move_text(&report.best), thought: Some(thought) })
    }

    fn learn(&mut self, news: &News) -> Result<(), Lapse> {
        self.unread.push(news.clone());
        Ok(())
    }
}
