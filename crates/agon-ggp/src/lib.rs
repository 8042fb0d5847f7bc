//! The GGP protocol and its match records as pure data and text, without sockets and files.
//!
//! General game playing (GGP) programs talk to each other in KIF over HTTP. The host sends
//! [`Message`]s; each player parses them as [`Request`]s. This crate reads and writes these
//! messages in all forms that hosts are known to use, and the records of matches in the JSON format
//! of ggp.org. It knows no rule language: rules and moves are texts.
//!
//! # Example
//! A host asks for a move, and the player reads the request:
//!
//! ```
//! use agon_game::Observation;
//! use agon_ggp::{Dialect, LastStep, Message, Request};
//!
//! let seen = vec!["(mark 2 2)".to_owned(), "noop".to_owned()];
//! let observation = Observation { step: 1, own: "noop".to_owned(), seen: seen.clone() };
//! let message =
//!     Message::Play { id: "m1", observation: Some(&observation), dialect: Dialect::Moves };
//! assert_eq!(message.to_string(), "( PLAY m1 (( mark 2 2 ) noop ) )");
//!
//! let request = Request::parse(&message.to_string())?;
//! assert_eq!(request, Request::Play { id: "m1".to_owned(), last_step: LastStep::Terms(seen) });
//! # Ok::<(), agon_ggp::ParseError>(())
//! ```
//!
//! # Modules in reading order
//! - `message`: [`Message`], what a host sends.
//! - `request`: [`Request`], what a player receives.
//! - `session`: [`Session`], which tells new steps from repeated messages.
//! - `address`: [`Address`], where a player listens.
//! - `scramble`: [`Scrambler`], which replaces the names in rules.
//! - `record`: [`Record`], a match in the JSON format of ggp.org; its signature; XML for Dresden's
//!   GameController.
#![forbid(unsafe_code)]

mod address;
mod message;
mod record;
mod request;
mod scramble;
mod session;

pub use address::{Address, AddressError};
pub use message::{ALL_MOVES_VISIBLE, Dialect, Message};
pub use record::{Record, RecordError, Signature, Verdict, rules_hash};
pub use request::{LastStep, ParseError, Request, is_upper_case};
pub use scramble::Scrambler;
pub use session::{Session, TurnUpdate};

#[cfg(test)]
mod tests;
