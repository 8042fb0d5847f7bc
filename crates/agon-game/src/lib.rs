//! The traits between rules and search: what an engine offers that plays a game.
//!
//! A rule language provides a type that is a [`Position`]. A search is generic over it. Referees,
//! user interfaces and records use the type-erased [`Table`], in which moves and states are text.
//! This crate knows neither a rule language nor a search.
//!
//! # Example
//! A game of one player that counts to three, tested against the laws and then played as text:
//!
//! ```
//! use agon_game::{Notation, Position, PositionTable, Role, Shape, Table, laws};
//!
//! #[derive(Clone)]
//! struct CountToThree {
//!     shape: Shape,
//!     count: u64,
//! }
//!
//! impl Position for CountToThree {
//!     type Move = u64;
//!     type State = u64;
//!
//!     fn shape(&self) -> &Shape {
//!         &self.shape
//!     }
//!     fn is_terminal(&self) -> bool {
//!         self.count >= 3
//!     }
//!     fn legal_moves(&self, _: Role) -> &[u64] {
//!         if self.is_terminal() { &[] } else { &[1, 2] }
//!     }
//!     fn payoff(&self, _: Role) -> f64 {
//!         if self.count == 3 { 100.0 } else { 0.0 }
//!     }
//!     fn advance(&mut self, joint: &[u64]) {
//!         self.count += joint[0];
//!     }
//!     fn state(&self) -> &u64 {
//!         &self.count
//!     }
//!     fn go_to(&mut self, state: &u64) {
//!         self.count = *state;
//!     }
//!     fn key(&self) -> u64 {
//!         self.count
//!     }
//! }
//!
//! impl Notation for CountToThree {
//!     fn move_text(&self, m: &u64) -> String {
//!         format!("add {m}")
//!     }
//!     fn parse_move(&self, role: Role, text: &str) -> Option<u64> {
//!         let words: Vec<&str> = text.split_whitespace().collect();
//!         let text = words.join(" ").to_ascii_lowercase();
//!         self.legal_moves(role).iter().copied().find(|m| self.move_text(m) == text)
//!     }
//!     fn state_text(&self) -> Vec<String> {
//!         vec![format!("count {}", self.count)]
//!     }
//! }
//!
//! let start = CountToThree { shape: Shape::new(vec!["counter".to_owned()], None), count: 0 };
//! laws::check(&start, &laws::Plan::default())?;
//!
//! let mut table = PositionTable::open(start);
//! table.advance(&["add 1"])?;
//! assert!(table.advance(&["add 7"]).is_err());
//! table.advance(&["add 2"])?;
//! assert!(table.is_terminal());
//! assert_eq!(table.payoff(Role::new(0)), 100.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules in reading order
//! - `shape`: [`Role`] and [`Shape`], the static facts about a game.
//! - `position`: [`Position`] with its laws, [`Notation`], [`Hidden`].
//! - `continuous`: [`Continuous`], games whose moves have real parameters.
//! - `passage`: [`Passage`], how numbers change while a move is made.
//! - `batch`, `children`, `sequential`: [`Batch`], which steps and plays out many games at once.
//! - `foresight`: playouts that look ahead ([`PlayoutKind`]), by single steps.
//! - `table`: [`Table`], the type-erased game in text.
//! - `budget`: [`Budget`], the limits of a search.
//! - `observation`: [`Observation`], what a role learns from one step.
//! - `secrets`: [`hides_information`], whether players know the state all the same.
//! - [`kif`]: terms in KIF notation as other programs write them.
//! - [`laws`]: tests of the laws for any engine.
//! - [`lockstep`]: comparison of two engines of the same game.
#![forbid(unsafe_code)]

mod batch;
mod budget;
mod children;
mod continuous;
mod foresight;
pub mod kif;
pub mod laws;
pub mod lockstep;
mod observation;
mod passage;
mod position;
mod secrets;
mod sequential;
mod shape;
mod table;

pub use batch::{Batch, PlayoutKind, PlayoutRequest, PlayoutStats, Preferences};
pub use budget::{Budget, Hint, Meter, play_out_in_time};
pub use children::{Children, LegalMoves, TerminalChildren};
pub use continuous::{Continuous, Family, Parameter, Polynomial, normal, split_numbers};
pub use foresight::{play_out_ahead, playout_moves};
pub use observation::Observation;
pub use passage::{MovingValue, Passage};
pub use position::{Fault, Hidden, Notation, Position, draw_listed};
pub use secrets::{SecretPlan, hides_information};
pub use sequential::{SequentialBatch, joint_moves};
pub use shape::{Role, Shape};
pub use table::{IllegalMove, PositionTable, Table};

/// The random generator that Agon uses everywhere. It is small and fast and gives the same numbers
/// on every machine. Seeds are always parameters.
pub type Rng = rand_xoshiro::Xoshiro256PlusPlus;

#[cfg(test)]
mod tests;
