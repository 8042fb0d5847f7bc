//! Starts the server from a program of one's own, without the command `agon`.
//!
//!     cargo run -p agon-web --example serve -- 8000 matches.db target/release/agon

use std::path::PathBuf;

use agon_web::{Config, WebServer};

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map_or(Ok(8000), |text| text.parse()).map_err(|_| "a port")?;
    let store = arguments.next().map(PathBuf::from);
    // Proofs, properties and tournaments run in processes of this program.
    let worker = arguments.next().map(PathBuf::from);
    let server = WebServer::start(Config { port, store, worker, ..Config::loopback() })?;
    println!("Agon is at {}", server.link());
    loop {
        std::thread::park();
    }
}
