//! Agon in the browser: the HTTP API and the pages of `agon serve`.
//!
//! The pages are a client of the API like any other: whatever they can do, a program can do. The
//! front end is in the folder `web/` of the project; its built files are part of this crate.
//!
//! ```
//! use agon_web::{Config, WebServer};
//!
//! let server = WebServer::start(Config::loopback())?;
//! assert!(server.link().starts_with("http://127.0.0.1:"));
//! # Ok::<(), String>(())
//! ```
//!
//! # Modules in reading order
//! - `config`: [`Config`], what the server is started with, and its [`Limits`].
//! - `security`: what every request must satisfy.
//! - `assets`: the files of the page.
//! - `api`: the routes under `/api/v1`.
//! - `library`: games, shipped and not.
//! - `matches`: matches that the server hosts.
//! - `store`: the SQLite file in which they are kept.
//! - `worker`: processes for work that must be stoppable.
//! - `runs`, `tournaments`, `experiments`: what runs for long in processes of its own.
#![forbid(unsafe_code)]

mod answer;
mod api;
mod app;
mod assets;
mod config;
mod diagnostics;
mod experiments;
mod library;
mod listen;
mod matches;
mod runs;
mod secret;
mod security;
mod store;
mod tournaments;
mod worker;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::middleware::from_fn_with_state;

pub use assets::compressed_size;
pub use config::{Config, Limits, StartProgram};
pub use secret::new_token;

use app::App;
use listen::LimitedListener;

/// A running server. It ends when the value is dropped.
pub struct WebServer {
    address: SocketAddr,
    token: Option<String>,
    remarks: Vec<String>,
    // Dropping the runtime ends all connections.
    _runtime: tokio::runtime::Runtime,
}

impl WebServer {
    /// Opens the store, continues the matches in it, and starts to listen.
    ///
    /// # Errors
    /// A sentence if the address cannot be used, the store cannot be opened, or the address is not
    /// a loopback address and there is no token.
    pub fn start(config: Config) -> Result<WebServer, String> {
        if !config.address.is_loopback() && config.token.is_none() {
            return Err(format!(
                "{} can be reached from other machines: a token is needed",
                config.address
            ));
        }
        let wanted = SocketAddr::new(config.address, config.port);
        let token = config.token.clone();
        let max_connections = config.limits.connections;
        let (app, mut remarks) = App::new(config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(64)
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start threads: {error}"))?;
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind(wanted))
            .map_err(|error| format!("cannot listen at {wanted}: {error}"))?;
        let address =
            listener.local_addr().map_err(|error| format!("cannot listen at {wanted}: {error}"))?;
        remarks.extend(app.resume());
        let router = router(&app);
        runtime.spawn(async move {
            let listener = LimitedListener::new(listener, max_connections);
            // The only error of serving is a failure of the listener, which never gives up.
            let _ = axum::serve(listener, router).await;
        });
        Ok(WebServer { address, token, remarks, _runtime: runtime })
    }

    /// Returns the address at which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the link to the page, with the token if there is one. If the server listens at all
    /// addresses of this machine, the link has the one by which other machines reach it.
    pub fn link(&self) -> String {
        let mut address = self.address;
        if let Some(own) = listen::reachable(address.ip()) {
            address.set_ip(own);
        }
        match &self.token {
            Some(token) => format!("http://{address}/#token={token}"),
            None => format!("http://{address}/"),
        }
    }

    /// Returns remarks for the person who started the server.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

/// Returns all routes: the API, and the pages for everything else.
fn router(app: &Arc<App>) -> Router {
    api::router(app)
        .fallback(assets::serve)
        .layer(from_fn_with_state(Arc::clone(app), security::guard))
        .with_state(Arc::clone(app))
}

/// Locks a mutex whose data is valid even if a thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
