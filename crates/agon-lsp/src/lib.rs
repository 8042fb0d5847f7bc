//! The language server of Agon, for GDL and GDL-II (KIF and infix) and structure rewriting games.
//!
//! The server speaks the Language Server Protocol (version 3.17) over any pair of channels:
//! standard input and output, or memory. It answers from the text as it stands, also while it has
//! mistakes.
//!
//! ```
//! use agon_lsp::{Connection, Message, Options, Request, serve};
//!
//! let (server, client) = Connection::memory();
//! let thread = std::thread::spawn(move || serve(&server, Options::default()));
//! let request = Request::new(1.into(), "initialize".into(), serde_json::json!({}));
//! client.sender.send(Message::Request(request))?;
//! let Message::Response(answer) = client.receiver.recv()? else { panic!("not an answer") };
//! let result = answer.response_result.expect("the server starts");
//! assert_eq!(result["capabilities"]["renameProvider"]["prepareProvider"], true);
//! drop(client);
//! thread.join().expect("the server ends with its client");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Two paths
//!
//! The *fast path* runs on every change: read, check, index, publish. It takes some milliseconds.
//! The *slow path* runs in a thread of its own when the text has not changed for a moment: open the
//! game, play it, ground it, prove properties. Its results arrive one after the other, and a newer
//! version of the text cancels it.
//!
//! # Modules, in reading order
//! - `server`: [`serve`], the loop; `session`: the state, and which request goes where.
//! - `text`: documents and positions; `snapshot`: the fast path; `index`: names and their places;
//!   `context`: what stands around the cursor.
//! - `slow`: the slow path.
//! - `diagnostics`, `actions`, `hover`, `keywords`, `complete`, `navigate`, `outline`, `tokens`,
//!   `hints`, `commands`: one file for each group of requests.
//!
//! Messages are JSON values, which are made and read where they are used.
#![forbid(unsafe_code)]

mod actions;
mod commands;
mod complete;
mod context;
mod diagnostics;
mod hints;
mod hover;
mod index;
mod keywords;
mod navigate;
mod outline;
mod server;
mod session;
mod slow;
mod snapshot;
mod text;
mod tokens;

pub use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};

pub use server::{serve, serve_stdio};

use std::path::PathBuf;
use std::time::Duration;

/// How the server works.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where diagnostics link to for the explanation of their codes.
    pub code_pages: CodePages,
    /// Time without a change after which the slow path starts. `None` switches it off.
    pub idle: Option<Duration>,
    /// Maximum time that the slow path spends on one version of a text.
    pub slow_time: Duration,
    /// Maximum size of a text in bytes. Longer ones are not analysed.
    pub max_bytes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            code_pages: CodePages::Nowhere,
            idle: Some(Duration::from_millis(400)),
            slow_time: Duration::from_secs(20),
            max_bytes: 4 << 20,
        }
    }
}

/// Where the explanations of diagnostic codes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodePages {
    /// Diagnostics have no links.
    Nowhere,
    /// The server writes the page of each code that it reports into this folder, as `CODE.md`.
    Folder(PathBuf),
    /// Pages at this address, followed by the code.
    Address(String),
}
