//! A player that goes on playing after a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use agon_game::{Budget, Observation};
use agon_match::{Choice, MoveTracker, Player, PlayerError};

/// Makes a player that depends on as little of the program as possible.
type MakeSpare = Box<dyn FnOnce() -> Box<dyn Player> + Send>;

/// A player that is replaced by another one when it panics. A panic is a mistake in this program,
/// but the match goes on, and a plain search loses fewer matches than the first legal move.
///
/// The other player is made at that moment and told what was observed so far.
pub(super) struct Guarded {
    /// `None` once it has panicked.
    player: Option<Box<dyn Player>>,
    /// `None` once it was called.
    make_spare: Option<MakeSpare>,
    spare: Option<Box<dyn Player>>,
    observed: Vec<Observation>,
    warn: Box<dyn Fn(&str) + Send>,
}

impl Guarded {
    /// Guards the player that `make` makes.
    pub(super) fn new(
        make: impl FnOnce() -> Box<dyn Player>,
        make_spare: MakeSpare,
        warn: Box<dyn Fn(&str) + Send>,
    ) -> Guarded {
        let player = catch_unwind(AssertUnwindSafe(make)).ok();
        let is_lost = player.is_none();
        let make_spare = Some(make_spare);
        let mut guarded = Guarded { player, make_spare, spare: None, observed: Vec::new(), warn };
        if is_lost {
            guarded.replace();
        }
        guarded
    }

    fn replace(&mut self) {
        // Freeing a player in an unknown state may panic too.
        let player = self.player.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(player)));
        let Some(make) = self.make_spare.take() else { return };
        (self.warn)("the player has crashed; plain search plays on");
        let mut spare = make();
        // A spare player that cannot follow fails again when it is asked for a move.
        let _ = spare.prepare(&Budget::nodes(1));
        for observation in &self.observed {
            let _ = spare.learn(observation);
        }
        self.spare = Some(spare);
    }

    /// Asks the player, or the spare player if the player has panicked or panics now.
    fn ask<T>(&mut self, question: impl Fn(&mut dyn Player) -> T) -> T {
        if let Some(player) = &mut self.player {
            let player = player.as_mut();
            if let Ok(answer) = catch_unwind(AssertUnwindSafe(|| question(player))) {
                return answer;
            }
            self.replace();
        }
        let spare = self.spare.as_mut().expect("it is made when the player is lost");
        question(spare.as_mut())
    }
}

impl Player for Guarded {
    fn prepare(&mut self, budget: &Budget) -> Result<(), PlayerError> {
        self.ask(|player| player.prepare(budget))
    }

    fn legal_moves(&mut self, budget: &Budget) -> Vec<String> {
        self.ask(|player| player.legal_moves(budget))
    }

    fn move_tracker(&self) -> Option<Box<dyn MoveTracker>> {
        self.player.as_ref().or(self.spare.as_ref())?.move_tracker()
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        self.ask(|player| player.choose(budget))
    }

    fn ponder(&mut self, own_move: Option<&str>, budget: &Budget) {
        self.ask(|player| player.ponder(own_move, budget));
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        let answer = self.ask(|player| player.learn(observation));
        self.observed.push(observation.clone());
        answer
    }

    fn finish(&mut self, observation: Option<&Observation>, payoffs: Option<&[f64]>) {
        self.ask(|player| player.finish(observation, payoffs));
    }

    fn follows_by_being_asked(&self) -> bool {
        let player = self.player.as_ref().or(self.spare.as_ref());
        player.is_some_and(|player| player.follows_by_being_asked())
    }

    fn abort(&mut self) {
        self.ask(|player| player.abort());
    }
}
