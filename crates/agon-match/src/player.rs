//! The interface between the referee and a player.

use std::fmt;

use agon_game::{Budget, Observation, Role};

use crate::Thought;

/// A program or a person that plays one role of a match.
///
/// A player is made from the rules and a seed. During the match it receives nothing but its
/// [`Observation`]s, so in a game with hidden information it cannot know more than its role does.
///
/// The referee calls `prepare` once, then `choose` and `learn` in turns, and `finish` at the end. A
/// player answers within its budget. If it does not, the referee makes a move in its place, and
/// the player still learns which move was made.
///
/// # Example
/// A player that knows one move and always makes it:
///
/// ```
/// use agon_game::{Budget, Observation};
/// use agon_match::{Choice, Player, PlayerError};
///
/// struct Passer;
///
/// impl Player for Passer {
///     fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
///         Ok(())
///     }
///     fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
///         Ok(Choice { text: "pass".to_owned(), thought: None })
///     }
///     fn learn(&mut self, _: &Observation) -> Result<(), PlayerError> {
///         Ok(())
///     }
/// }
///
/// let choice = Passer.choose(&Budget::default())?;
/// assert_eq!(choice.text, "pass");
/// # Ok::<(), PlayerError>(())
/// ```
pub trait Player: Send {
    /// Uses the time before the first move.
    ///
    /// # Errors
    /// If the player cannot play. It is asked for moves all the same.
    fn prepare(&mut self, budget: &Budget) -> Result<(), PlayerError>;

    /// Returns the legal moves of the role as far as the player knows them, in the order to which
    /// the indices of an [`agon_game::Hint`] refer. The list is empty if the player does not know.
    ///
    /// It is called right before `choose`, with the same budget. If `choose` does not return in
    /// time, the owner of the clock makes one of these moves.
    fn legal_moves(&mut self, budget: &Budget) -> Vec<String> {
        let _ = budget;
        Vec::new()
    }

    /// Returns an object that follows the match from the current position on and knows the legal
    /// moves while the player is still busy with an earlier question. Returns `None` if the player
    /// does not support this.
    fn move_tracker(&self) -> Option<Box<dyn MoveTracker>> {
        None
    }

    /// Returns the move that the player wants to make now.
    ///
    /// # Errors
    /// If the player has no move.
    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError>;

    /// Thinks while the other players choose, from the moment at which the own move was sent until
    /// the next message. `own_move` is the move that was sent; `None` before the first one. The
    /// player returns soon after the budget is cancelled ([`Budget::cancel`]).
    ///
    /// It is called after `prepare` or `choose`, at most once for each of them, and never in
    /// matches that count iterations. By default the player waits.
    fn ponder(&mut self, own_move: Option<&str>, budget: &Budget) {
        let _ = (own_move, budget);
    }

    /// Receives what the role observes of a step after which play goes on.
    ///
    /// # Errors
    /// If the player cannot follow.
    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError>;

    /// Receives the end of the match, with the observation of the last step if there was one, and
    /// the payoffs of all roles if the match was finished and they are known. They are told in games
    /// with hidden information, too, because nothing is left to decide.
    fn finish(&mut self, observation: Option<&Observation>, payoffs: Option<&[f64]>) {
        let _ = (observation, payoffs);
    }

    /// Returns whether the player can follow a step only by being asked for a move. Such a player
    /// is asked in given openings too, and its answers there are ignored.
    fn follows_by_being_asked(&self) -> bool {
        false
    }

    /// Receives that the match was aborted.
    fn abort(&mut self) {
        self.finish(None, None);
    }
}

/// Follows a match and knows the legal moves of a role.
pub trait MoveTracker: Send {
    /// Receives what the role observes of a step.
    fn learn(&mut self, observation: &Observation);

    /// Returns the legal moves. The list is empty if an observation could not be followed.
    fn moves(&self) -> Vec<String>;
}

/// A move that a player wants to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The move as text. The referee checks it.
    pub text: String,
    /// The report of the player's search, if it has one.
    pub thought: Option<Thought>,
}

/// Why a player has sent no move. Only `Stop` ends the match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerError {
    /// The player took too long.
    Late,
    /// The player could not be reached, or its connection is lost.
    Unreachable(String),
    /// The player failed, or its answer is malformed.
    Broken(String),
    /// The player wants to end the match, for instance a person who quits.
    Stop,
}

impl PlayerError {
    /// Returns the code that records use: `TO` for time-out, `CE` for connection error, `IN` for
    /// any other invalid answer.
    pub fn code(&self) -> &'static str {
        match self {
            PlayerError::Late => "TO",
            PlayerError::Unreachable(_) => "CE",
            PlayerError::Broken(_) | PlayerError::Stop => "IN",
        }
    }
}

impl fmt::Display for PlayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerError::Late => f.write_str("too late"),
            PlayerError::Unreachable(why) => write!(f, "cannot be reached: {why}"),
            PlayerError::Broken(why) => write!(f, "cannot go on: {why}"),
            PlayerError::Stop => f.write_str("wants to stop"),
        }
    }
}

impl std::error::Error for PlayerError {}

/// Returns the seed of the player of a role in a match. It differs between roles, so that two
/// players of one kind do not draw the same random numbers.
pub fn role_seed(seed: u64, role: Role) -> u64 {
    derive_seed(seed, 2 + role.index() as u64)
}

/// Returns the seed with this number among many that are derived from one, by a step of SplitMix64.
pub(crate) fn derive_seed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
