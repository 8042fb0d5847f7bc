//! A person in front of a page, as a player of a match.

use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use agon_game::{Budget, Observation};
use agon_match::{Choice, Player, PlayerError, View};

use super::{Hosted, Offered};
use crate::secret::now;

/// How often a waiting person is looked after: whether the match was stopped.
const POLL: Duration = Duration::from_millis(50);

/// What a person sends.
pub(crate) enum Word {
    /// A move.
    Move(String),
    /// The person gives up.
    Resign,
}

/// A person in front of a page. It waits until the page sends a move.
pub(crate) struct Person {
    pub(crate) hosted: Weak<Hosted>,
    /// The run of the match to which the person belongs.
    pub(crate) epoch: u64,
    pub(crate) role: usize,
    pub(crate) view: Box<dyn View>,
    pub(crate) inbox: Receiver<Word>,
}

impl Player for Person {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        let mut legal = self.view.legal_moves();
        if legal.len() == 1 {
            // There is nothing to choose, so the person is not asked.
            return Ok(Choice { text: legal.remove(0), thought: None });
        }
        // What was sent before the question does not answer it.
        while let Ok(word) = self.inbox.try_recv() {
            if let Word::Resign = word {
                return Err(PlayerError::Stop);
            }
        }
        let left = budget.deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let deadline = left.map(|left| now() + u64::try_from(left.as_millis()).unwrap_or(0));
        let Some(hosted) = self.hosted.upgrade() else { return Err(PlayerError::Stop) };
        let families = self.view.families();
        hosted.ask(self.epoch, self.role, Offered { legal, families }, deadline);
        drop(hosted);
        loop {
            match self.inbox.recv_timeout(POLL) {
                Ok(Word::Move(text)) => {
                    let text = self.view.find_move(&text).unwrap_or(text);
                    return Ok(Choice { text, thought: None });
                }
                Ok(Word::Resign) => return Err(PlayerError::Stop),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PlayerError::Broken("the match was stopped".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let is_late = budget.deadline.is_some_and(|at| Instant::now() >= at);
                    if is_late || budget.stop.load(Ordering::Relaxed) {
                        return Err(PlayerError::Late);
                    }
                }
            }
        }
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.view.learn(observation).map_err(|error| PlayerError::Broken(error.to_string()))
    }
}
