//! What the server is started with.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use agon::models::ModelStore;
use agon_match::{Invitation, Player, View};

/// Starts a program as a player. The words are the program and its arguments.
pub type StartProgram =
    dyn Fn(&[String], Invitation, Box<dyn View>) -> Result<Box<dyn Player>, String> + Send + Sync;

/// What the server is started with.
#[derive(Clone)]
pub struct Config {
    /// The address to listen at.
    pub address: IpAddr,
    /// The port to listen at; 0 for any free port.
    pub port: u16,
    /// The token that requests to the API must carry. `None` only on a loopback address.
    pub token: Option<String>,
    /// Folders whose rulesheets are part of the library.
    pub games: Vec<PathBuf>,
    /// The store of models that players use. `None`: they use none.
    pub models: Option<ModelStore>,
    /// The file in which matches are stored. `None`: they are lost when the server ends.
    pub store: Option<PathBuf>,
    /// The `agon` program, which runs checks, proofs and tournaments in processes of their own.
    /// `None`: these parts of the API refuse to work.
    pub worker: Option<PathBuf>,
    /// Starts programs as players. `None`: `cmd:` players are refused.
    pub start_program: Option<Arc<StartProgram>>,
    /// The limits of the server.
    pub limits: Limits,
}

impl Config {
    /// Returns the configuration of a server on a loopback address that stores nothing.
    pub fn loopback() -> Config {
        Config {
            address: IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
            port: 0,
            token: None,
            games: Vec::new(),
            models: None,
            store: None,
            worker: None,
            start_program: None,
            limits: Limits::default(),
        }
    }
}

/// The limits of the server. Everything that a request can make grow has one.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum number of bytes of a request's body, and so of a rulesheet.
    pub body: usize,
    /// Maximum number of connections at a time.
    pub connections: usize,
    /// Maximum number of matches that are being played at a time.
    pub matches: usize,
    /// Number of processors for searches: analyses and matches between computers.
    pub cores: usize,
    /// Maximum number of worker processes at a time.
    pub workers: usize,
    /// Maximum number of editors that are connected to a language server at a time.
    pub editors: usize,
    /// Maximum number of games that are kept ready to be played.
    pub open_games: usize,
    /// Maximum number of rulesheets that were sent by the page and are kept.
    pub uploads: usize,
    /// Maximum number of drafts of an editor that are kept. The oldest ones are forgotten.
    pub drafts: usize,
    /// Maximum number of seconds of one analysis.
    pub analysis_seconds: f64,
    /// Maximum number of seconds that a worker process may take.
    pub worker_seconds: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Limits {
            body: 2 << 20,
            connections: 512,
            matches: 64,
            cores,
            workers: cores,
            editors: 16,
            open_games: 24,
            uploads: 200,
            drafts: 64,
            analysis_seconds: 120.0,
            worker_seconds: 60,
        }
    }
}
