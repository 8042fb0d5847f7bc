//! What a player is to the referee.

use agon_game::Role;
use agon_search::Budget;

use crate::Thought;

/// Whoever sits at a role. It is made from the rules alone and hears of the match only what [`News`] tells it, so in a game with
/// hidden information it cannot know what its role does not.
///
/// The referee calls `prepare` once, then `choose` and `learn` in turns, and `finish` at the end. A player answers within the
/// budget; one that does not is played for, and still learns what was done.
pub trait Player: Send {
    /// The time before the first move.
    ///
    /// # Errors
    /// If it cannot play. It is asked for moves all the same.
    fn prepare(&mut self, budget: &Budget) -> Result<(), Lapse>;

    /// Its legal moves, as far as it can tell, in the order that a [`agon_search::Hint`] counts. Asked right before
    /// `choose`, with the same budget: whoever keeps the clock can then make a move for it if it does not come back. None
    /// if it cannot tell.
    fn look(&mut self, budget: &Budget) -> Vec<String> {
        let _ = budget;
        Vec::new()
    }

    /// Somebody who follows the match for the player, from where it stands, and knows its legal moves while the player is still busy
    /// with an earlier question. None if nobody can.
    fn lookout(&self) -> Option<Box<dyn Lookout>> {
        None
    }

    /// The move it wants to make now.
    ///
    /// # Errors
    /// If it has none.
    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse>;

    /// What it gets to know of the step that was made. Play goes on.
    ///
    /// # Errors
    /// If it cannot follow.
    fn learn(&mut self, news: &News) -> Result<(), Lapse>;

    /// The match is over; the news are those of the last step, if there was one.
    fn finish(&mut self, news: Option<&News>) {
        let _ = news;
    }

    /// Whether it can only follow a step by being asked for a move: then it is asked in given openings too, and its answers there
    /// mean nothing.
    fn follows_by_being_asked(&self) -> bool {
        false
    }

    /// The match was broken off.
    fn abort(&mut self) {
        self.finish(None);
    }
}

/// Follows a match and knows the legal moves of a role.
pub trait Lookout: Send {
    /// What the role gets to know of a step.
    fn learn(&mut self, news: &News);

    /// The legal moves; none if it has lost track.
    fn moves(&self) -> Vec<String>;
}

/// What a player gets to know of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// How many steps have been made with this one.
    pub step: usize,
    /// Its own move, as it was made: another than it chose if that could not be made.
    pub own: String,
    /// In a game where everybody sees every move: the joint move in the order of the roles. In one with hidden information: what
    /// the role perceives, sorted.
    pub seen: Vec<String>,
}

/// A move that a player wants to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The move as text. The referee checks it.
    pub text: String,
    /// What the player thought, if it tells.
    pub thought: Option<Thought>,
}

/// Why there is no move from a player. Never the end of the match, but for `Stop`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// It took too long.
    Late,
    /// It could not be reached, or is gone.
    Unreachable(String),
    /// What it said makes no sense, or it fell over.
    Broken(String),
    /// It wants the match to end here: a person who has had enough.
    Stop,
}

impl Lapse {
    /// As records write it: `TO` for time-out, `CE` for connection error, `IN` for anything else that is invalid.
    pub fn code(&self) -> &'static str {
        match self {
            Lapse::Late => "TO",
            Lapse::Unreachable(_) => "CE",
            Lapse::Broken(_) | Lapse::Stop => "IN",
        }
    }
}

impl std::fmt::Display for Lapse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lapse::Late => f.write_str("too late"),
            Lapse::Unreachable(why) => write!(f, "cannot be reached: {why}"),
            Lapse::Broken(why) => write!(f, "cannot go on: {why}"),
            Lapse::Stop => f.write_str("wants to stop"),
        }
    }
}

/// The seed of the player of a role in a match: other for each role, so that two players of one kind do not think alike.
pub fn role_seed(seed: u64, role: Role) -> u64 {
    stream(seed, 2 + role.index() as u64)
}

/// One of many seeds that come of one, by a step of SplitMix64.
pub(crate) fn stream(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
