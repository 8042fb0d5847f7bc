//! Players, clocks, matches and records, as pure state and messages: no files, no sockets, no processes.
//!
//! A [`Spec`] is a player as a user names it, `mcts(c=0.4)`; [`KINDS`] is the table of all there are; [`build`] makes a
//! [`Player`] of one that needs nothing from outside. A [`Match`] is a game being refereed: it says who is to answer, hears
//! the answers, puts legal moves in the place of bad ones and keeps the [`Record`]. [`drive`] runs one with a thread for
//! each player and a real clock. [`Message`] is what is said to players over the network, [`Board`] a state as a picture.
#![forbid(unsafe_code)]

mod belief;
mod board;
mod build;
mod drive;
mod judged;
mod kif;
mod kinds;
mod percept_player;
mod player;
mod protocol;
mod record;
mod referee;
mod regressed;
mod scramble;
mod search_player;
mod searches;
mod session;
mod simple;
mod spec;
mod stepwise;
mod terms;
mod thought;
pub mod tournament;
mod trial;
mod view;

pub use belief::Belief;
pub use board::{Board, Picture, sample};
pub use build::{
    Rules, action_heuristic_wanted, auto, build, build_with_insight, concepts_file, fuzzy_options,
    goal_options,
};
pub use drive::{Clocks, Event, Seat, Timing, drive, drive_until};
pub use kif::{first_term, joined, spaced};
pub use kinds::{KINDS, Kind, OptionKind, OptionType, Origin, Settings, Value};
pub use percept_player::PerceptPlayer;
pub use player::{Choice, Lapse, Lookout, News, Player, role_seed};
pub use protocol::{ALL_IS_SEEN, Dialect, Heard, Message, Misheard, Told, is_shouted};
pub use record::{Record, Signature, Verdict};
pub use referee::{Ending, Match, MatchOptions, Slip, Step, Substitute};
pub use regressed::action_heuristic;
pub use scramble::Scrambler;
pub use search_player::{HiddenSearchPlayer, SearchPlayer};
pub use session::{Heed, Session};
pub use simple::{FirstLegal, Greedy, Random};
pub use spec::{Address, Spec, SpecKind, parse_list, parse_spec};
pub use terms::MethodChoice;
pub use thought::{Considered, Thought};
pub use view::{View, view};

#[cfg(test)]
mod tests;
