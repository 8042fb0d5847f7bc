//! GGP over HTTP, as a player and as a host.
//!
//! A [`PlayerServer`] is a player that any host of the GGP protocol can call. A [`WebPlayer`] is a
//! player over the network that our own referee calls. This crate knows no rule language: rules
//! become players through [`agon_match::PlayerFactory`].
//!
//! HTTP is read and written here, not by a library. Hosts in use send requests that libraries
//! reject: without a length, with a length in characters, or with the message in the path of a
//! `GET`. And a deadline must hold for a whole message even if it arrives byte by byte. All
//! decisions about bytes are in [`http`], which does no IO, so that it can be fuzzed.
//!
//! # Example
//! A server that answers every request with the text of its message:
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpStream};
//! use std::sync::Arc;
//! use std::time::Instant;
//!
//! use agon_server::http::HttpRequest;
//! use agon_server::{Handler, Limits, Response, Server, bind};
//!
//! struct Echo;
//!
//! impl Handler for Echo {
//!     fn respond(&self, request: &HttpRequest, _: Instant) -> Response {
//!         Response { status: 200, body: request.message.clone() }
//!     }
//! }
//!
//! // Port 0 means any free port.
//! let listener = bind(IpAddr::V4(Ipv4Addr::LOCALHOST), 0)?;
//! let server = Server::start(listener, Limits::default(), Arc::new(Echo))?;
//!
//! let mut stream = TcpStream::connect(server.address())?;
//! stream.write_all(b"POST / HTTP/1.0\r\n\r\n( INFO )")?;
//! stream.shutdown(Shutdown::Write)?;
//! let mut response = String::new();
//! stream.read_to_string(&mut response)?;
//! assert!(response.ends_with("\r\n\r\n( INFO )"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # How a request for a move is answered
//! Each connection has its own thread. A match has a thread that opens the rules and follows the
//! match, and the player thinks in another one. The connection waits for them within its clock
//! only, so that rules that explode never block a message. While the player thinks, the match holds
//! a legal move from the [`agon_match::View`] of the role, so that the answer is
//! never late. An [`agon_ggp::Session`] tells new steps from repeated messages.
//!
//! # Modules in reading order
//! - [`http`]: requests and responses as bytes.
//! - `listen`: [`Server`], sockets and threads.
//! - `player`: [`PlayerServer`], the answers to GGP requests.
//! - `hosted`: a match from its `START` to its end, and the thread that does its work.
//! - `running`: a match in progress.
//! - `client`: [`WebPlayer`], a player over the network.
#![forbid(unsafe_code)]

mod client;
mod hosted;
pub mod http;
mod listen;
mod player;
mod running;

pub use client::WebPlayer;
pub use listen::{Handler, Limits, Response, Server, bind};
pub use player::{Exchange, PlayerOptions, PlayerServer};
pub use running::AnsweredMove;
