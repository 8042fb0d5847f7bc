//! Carries the messages of matches over the network: a [`PlayerServer`] is a player that any host of the GGP protocol can call, a
//! [`WebPlayer`] is a player elsewhere that our own referee calls.
//!
//! HTTP is read and written here, not by a library: hosts in use send requests that libraries refuse (no length, a length in
//! characters, a message in the path of a `GET`), and a deadline must hold for a whole message however it trickles. All that is
//! decided about bytes is in [`http`], which does no IO.
#![forbid(unsafe_code)]

mod client;
pub mod http;
mod listen;
mod player;
mod running;

pub use client::{Invitation, WebPlayer};
pub use listen::{Answer, Handler, Limits, Server, bind};
pub use player::{Note, Opening, PlayerOptions, PlayerServer, Recruit};
