//! What a role knows about a match, computed for players that do not compute it themselves: people
//! and programs outside of this process.

use std::fmt;
use std::time::Instant;

use agon_game::{Continuous, Family, Hidden, IllegalMove, Observation, PositionTable, Role, Table};

use crate::Belief;
use crate::referee::{find_legal, find_move};

/// What a role knows about a match. It is made from the rules and receives only the observations of
/// its role.
pub trait View: Send {
    /// Updates the view by the observation of a step after which play goes on.
    ///
    /// # Errors
    /// [`ViewError`] if the observation does not fit the position. The view is then unchanged.
    fn learn(&mut self, observation: &Observation) -> Result<(), ViewError>;

    /// Returns the legal moves of the role. In a game with hidden information these are the moves
    /// that follow from what the role knows.
    fn legal_moves(&mut self) -> Vec<String>;

    /// Returns the legal moves of the role like [`View::legal_moves`], but does not look for them
    /// beyond a moment. If the time does not suffice, the list has those that were found.
    fn legal_moves_until(&mut self, until: Instant) -> Vec<String> {
        let _ = until;
        self.legal_moves()
    }

    /// Returns the families of moves with real parameters of the role. The list is empty if the
    /// game is discrete.
    fn families(&mut self) -> Vec<Family> {
        Vec::new()
    }

    /// Returns the text of the legal move that a text names. In a game with real parameters it
    /// need not be in the list of legal moves.
    fn find_move(&mut self, text: &str) -> Option<String> {
        find_move(&self.legal_moves(), text).cloned()
    }

    /// Returns why the position could not be computed, if that is so. There are no legal moves
    /// then.
    fn fault(&mut self) -> Option<String> {
        None
    }

    /// Returns a joint move in the spelling of the rules. Returns `None` if the joint move is not
    /// legal here, or if the game has hidden information.
    fn find_joint_move(&mut self, texts: &[String]) -> Option<Vec<String>>;

    /// Returns the parts of the state as sorted texts, or `None` in a game with hidden information.
    fn state(&self) -> Option<Vec<String>>;
}

/// Why a [`View`] could not follow a step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewError {
    /// The observed joint move cannot be made at the position of the view.
    Illegal(IllegalMove),
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewError::Illegal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ViewError {}

/// Returns the view of a role at the start of a match. `seed` is used to sample possible states in
/// a game with hidden information.
pub fn view<P: Hidden + Continuous + 'static>(start: P, role: Role, seed: u64) -> Box<dyn View> {
    if start.shape().hidden {
        Box::new(HiddenView { belief: Belief::new(start, role, seed) })
    } else {
        let table = Box::new(PositionTable::open(start).with_families());
        Box::new(OpenView { table, role })
    }
}

/// The view in a game of perfect information: the position itself.
struct OpenView {
    table: Box<dyn Table>,
    role: Role,
}

impl View for OpenView {
    fn learn(&mut self, observation: &Observation) -> Result<(), ViewError> {
        let joint: Vec<&str> = observation.seen.iter().map(String::as_str).collect();
        self.table.advance(&joint).map_err(ViewError::Illegal)
    }

    fn legal_moves(&mut self) -> Vec<String> {
        self.table.legal_moves(self.role)
    }

    fn legal_moves_until(&mut self, until: Instant) -> Vec<String> {
        self.table.list_legal_moves_until(self.role, until);
        self.table.legal_moves(self.role)
    }

    fn families(&mut self) -> Vec<Family> {
        self.table.families(self.role)
    }

    fn find_move(&mut self, text: &str) -> Option<String> {
        find_legal(self.table.as_ref(), self.role, text)
    }

    fn fault(&mut self) -> Option<String> {
        self.table.fault().map(ToString::to_string)
    }

    fn find_joint_move(&mut self, texts: &[String]) -> Option<Vec<String>> {
        let roles = self.table.shape().roles();
        let found =
            roles.zip(texts).map(|(role, text)| find_legal(self.table.as_ref(), role, text));
        let joint: Vec<String> = found.collect::<Option<_>>()?;
        (joint.len() == texts.len() && joint.len() == self.table.shape().role_names.len())
            .then_some(joint)
    }

    fn state(&self) -> Option<Vec<String>> {
        Some(self.table.state())
    }
}

/// The view in a game with hidden information: the states that are possible.
struct HiddenView<P: Hidden> {
    belief: Belief<P>,
}

impl<P: Hidden> View for HiddenView<P> {
    fn learn(&mut self, observation: &Observation) -> Result<(), ViewError> {
        self.belief.learn(observation);
        Ok(())
    }

    fn legal_moves(&mut self) -> Vec<String> {
        self.belief.legal_moves()
    }

    fn find_joint_move(&mut self, _: &[String]) -> Option<Vec<String>> {
        None
    }

    fn state(&self) -> Option<Vec<String>> {
        None
    }
}
