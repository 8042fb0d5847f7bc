//! Matches: the referee, players as a trait, clocks, and tournaments.
//!
//! This crate knows neither a rule language nor a search. A game is an [`agon_game::Table`], a
//! player is anything that implements [`Player`], and rules that arrive as text become players
//! through a [`PlayerFactory`].
//!
//! # Example
//! A player that counts to three, playing a match of one role:
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//!
//! use agon_game::{Budget, Notation, Observation, Position, PositionTable, Role, Shape};
//! use agon_match::{
//!     Choice, Clocks, Ending, Match, MatchOptions, Player, PlayerError, RunOptions, Seat, Timing,
//!     run_match,
//! };
//!
//! # #[derive(Clone)]
//! # struct CountToThree { shape: Shape, count: u64 }
//! # impl Position for CountToThree {
//! #     type Move = u64;
//! #     type State = u64;
//! #     fn shape(&self) -> &Shape { &self.shape }
//! #     fn is_terminal(&self) -> bool { self.count >= 3 }
//! #     fn legal_moves(&self, _: Role) -> &[u64] { if self.count >= 3 { &[] } else { &[1, 2] } }
//! #     fn payoff(&self, _: Role) -> f64 { if self.count == 3 { 100.0 } else { 0.0 } }
//! #     fn advance(&mut self, joint: &[u64]) { self.count += joint[0]; }
//! #     fn state(&self) -> &u64 { &self.count }
//! #     fn go_to(&mut self, state: &u64) { self.count = *state; }
//! #     fn key(&self) -> u64 { self.count }
//! # }
//! # impl Notation for CountToThree {
//! #     fn move_text(&self, m: &u64) -> String { m.to_string() }
//! #     fn parse_move(&self, role: Role, text: &str) -> Option<u64> {
//! #         let number = text.trim().parse().ok()?;
//! #         self.legal_moves(role).contains(&number).then_some(number)
//! #     }
//! #     fn state_text(&self) -> Vec<String> { vec![format!("count {}", self.count)] }
//! # }
//! // `CountToThree` is a game in which each move adds 1 or 2, and exactly 3 wins.
//! let start = CountToThree { shape: Shape::new(vec!["counter".to_owned()], None), count: 0 };
//! let table = Box::new(PositionTable::open(start));
//!
//! struct AlwaysOne;
//!
//! impl Player for AlwaysOne {
//!     fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
//!         Ok(())
//!     }
//!     fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
//!         Ok(Choice { text: "1".to_owned(), thought: None })
//!     }
//!     fn learn(&mut self, _: &Observation) -> Result<(), PlayerError> {
//!         Ok(())
//!     }
//! }
//!
//! let mut game = Match::new(table, MatchOptions::default(), 0);
//! let timing = Timing::Iterations(1);
//! let seat = Seat { role: Role::new(0), player: Box::new(AlwaysOne), timing };
//! let second = Duration::from_secs(1);
//! let options = RunOptions {
//!     clocks: Clocks { start: second, play: second },
//!     now: &|| 0,
//!     is_aborted: &AtomicBool::new(false),
//!     ponder: false,
//! };
//! run_match(&mut game, vec![seat], &options, &mut |_, _| {});
//! assert_eq!(game.ending(), Some(&Ending::Finished(vec![100.0])));
//! assert_eq!(game.steps().len(), 3);
//! ```
//!
//! # How a match is played
//! A player receives after each step what its role observes: the joint move, or its own move and
//! percepts. It never sees the referee's table, so it cannot know more than its role. Which states
//! are possible it computes itself, with [`Belief`]. The referee ([`Match`]) reads no clock;
//! [`run_match`] gives each player a thread and a deadline.
//!
//! # Modules in reading order
//! - `player`: [`Player`], the interface between the referee and a player.
//! - `thought`: [`Thought`], the report of a player's search.
//! - `referee`: [`Match`], the state machine.
//! - `seat`: [`PlayerThread`], a player in a thread.
//! - `run_match`: [`run_match`], which runs a match with clocks.
//! - `belief`: [`Belief`], the possible states in a game with hidden information.
//! - `view`: [`View`], what a role knows, for players outside of this process.
//! - `invitation`: [`Invitation`], the data that such a player receives at the start.
//! - `factory`: [`PlayerFactory`], players for rules that arrive as text.
//! - `record`: [`fill_record`], the record of a match in the format of ggp.org.
//! - [`tournament`]: schedules and statistics of many matches.
#![forbid(unsafe_code)]

mod belief;
mod factory;
mod invitation;
mod player;
mod record;
mod referee;
mod run_match;
mod seat;
mod thought;
pub mod tournament;
mod view;

pub use belief::Belief;
pub use factory::{FactoryError, PlayerFactory, PreparedGame, WorkLimits};
pub use invitation::Invitation;
pub use player::{Choice, MoveTracker, Player, PlayerError, role_seed};
pub use record::fill_record;
pub use referee::{
    Ending, Match, MatchOptions, MoveError, Step, Substitute, find_legal, find_move,
};
pub use run_match::{Clocks, Event, RunOptions, Seat, Timing, run_match};
pub use seat::{Answer, PlayerThread, Question, Reply};
pub use thought::{Considered, Thought};
pub use view::{View, ViewError, view};
