//! The loop of the server.

use std::time::{Duration, Instant};

use crossbeam_channel::{never, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Response};
use serde_json::{Value, json};

use crate::Options;
use crate::session::Session;

/// Serves one client over standard input and output until it says goodbye.
///
/// # Errors
/// If the streams cannot be used.
pub fn serve_stdio(options: Options) -> std::io::Result<()> {
    let (connection, threads) = Connection::stdio();
    serve(&connection, options);
    drop(connection);
    threads.join()
}

/// Serves one client until it sends `exit` or its end of the channels is gone.
pub fn serve(connection: &Connection, options: Options) {
    let Some(params) = initialise(connection) else { return };
    let (outcomes, results) = unbounded();
    let (id, params) = params;
    let mut session = Session::new(options, &params, connection.sender.clone(), outcomes);
    let answer = json!({
        "capabilities": session.capabilities(),
        "serverInfo": {"name": "agon", "version": env!("CARGO_PKG_VERSION")},
    });
    if connection.sender.send(Message::Response(Response::new_ok(id, answer))).is_err() {
        return;
    }
    let mut is_shut_down = false;
    loop {
        // Changes that have arrived meanwhile are taken in before anything is published.
        if connection.receiver.is_empty() {
            session.publish_dirty();
        }
        let timer = match session.next_due() {
            Some(due) => crossbeam_channel::after(wait_until(due)),
            None => never(),
        };
        select! {
            recv(connection.receiver) -> message => match message {
                Err(_) => return,
                Ok(Message::Notification(note)) if note.method == "exit" => return,
                Ok(Message::Notification(note)) => session.notified(&note),
                Ok(Message::Request(request)) if request.method == "shutdown" => {
                    is_shut_down = true;
                    let answer = Response::new_ok(request.id, Value::Null);
                    let _ = connection.sender.send(Message::Response(answer));
                }
                Ok(Message::Request(request)) if is_shut_down => {
                    let code = ErrorCode::InvalidRequest as i32;
                    let answer = Response::new_err(request.id, code, "shut down".to_owned());
                    let _ = connection.sender.send(Message::Response(answer));
                }
                Ok(Message::Request(request)) => session.asked(request),
                // Answers to requests to refresh.
                Ok(Message::Response(_)) => {}
            },
            recv(results) -> outcome => {
                if let Ok(outcome) = outcome {
                    session.take_outcome(outcome);
                }
            }
            recv(timer) -> _ => session.start_due(),
        }
    }
}

fn wait_until(due: Instant) -> Duration {
    due.saturating_duration_since(Instant::now())
}

/// Waits for `initialize`. Other requests before it are refused. `None` if the client leaves.
fn initialise(connection: &Connection) -> Option<(lsp_server::RequestId, Value)> {
    loop {
        match connection.receiver.recv().ok()? {
            Message::Request(request) if request.method == "initialize" => {
                return Some((request.id, request.params));
            }
            Message::Request(request) => {
                let code = ErrorCode::ServerNotInitialized as i32;
                let why = "`initialize` comes first".to_owned();
                let answer = Response::new_err(request.id, code, why);
                connection.sender.send(Message::Response(answer)).ok()?;
            }
            Message::Notification(note) if note.method == "exit" => return None,
            Message::Notification(_) | Message::Response(_) => {}
        }
    }
}
