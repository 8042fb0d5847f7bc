//! The language server for the editor of the page, over a WebSocket.
//!
//! Each connection has a process of its own, `agon lsp`, which ends with the connection. A message
//! of the socket is one message of the protocol as JSON, without the header of the stream.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::answer::ApiError;
use crate::app::App;

/// The name of the protocol on the socket.
pub(crate) const PROTOCOL: &str = "agon-lsp";

/// A connection without a message for this time is closed. The page connects again when needed.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// Maximum number of bytes of a message of the language server.
const MAX_MESSAGE: usize = 64 << 20;

/// Maximum number of messages that wait for a slow side.
const QUEUE: usize = 64;

/// Opens a session with the language server.
pub(crate) async fn connect(
    State(app): State<Arc<App>>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(_) => return ApiError::bad("this path needs a WebSocket").into_response(),
    };
    let program = match app.workers.program() {
        Ok(program) => program.clone(),
        Err(error) => return error.into_response(),
    };
    let Ok(permit) = Arc::clone(&app.editors).try_acquire_owned() else {
        return ApiError::busy("too many editors are open; close one").into_response();
    };
    let limit = app.config.limits.body.saturating_mul(2);
    upgrade
        .protocols([PROTOCOL])
        .max_message_size(limit)
        .max_frame_size(limit)
        .on_upgrade(move |socket| session(socket, program, permit))
}

/// Ends a process when it is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Passes messages on in both directions until one side ends.
async fn session(mut socket: WebSocket, program: PathBuf, _permit: OwnedSemaphorePermit) {
    let started = Command::new(program)
        .args(["lsp", "--code-pages", "/api/v1/codes/"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else { return };
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { return };
    // Dropping the process at the end closes its pipes, which ends both threads.
    let _child = Ended(child);
    let (to_server, from_page) = mpsc::channel::<String>(QUEUE);
    let (to_page, mut from_server) = mpsc::channel::<String>(QUEUE);
    std::thread::spawn(move || write_messages(stdin, from_page));
    std::thread::spawn(move || read_messages(stdout, &to_page));
    loop {
        tokio::select! {
            message = tokio::time::timeout(IDLE, socket.recv()) => match message {
                Ok(Some(Ok(Message::Text(text)))) => {
                    if to_server.send(text.as_str().to_owned()).await.is_err() {
                        return;
                    }
                }
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_)))) => {}
                Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) | Err(_) => return,
            },
            message = from_server.recv() => {
                let Some(text) = message else { return };
                if socket.send(Message::Text(text.into())).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Writes messages with their headers to the language server.
fn write_messages(mut stdin: ChildStdin, mut messages: mpsc::Receiver<String>) {
    while let Some(text) = messages.blocking_recv() {
        let header = format!("Content-Length: {}\r\n\r\n", text.len());
        let written =
            stdin.write_all(header.as_bytes()).and_then(|()| stdin.write_all(text.as_bytes()));
        if written.and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Reads messages of the language server until it ends or says something unreadable.
fn read_messages(stdout: ChildStdout, messages: &mpsc::Sender<String>) {
    let mut stdout = BufReader::new(stdout);
    while let Some(text) = read_message(&mut stdout) {
        if messages.blocking_send(text).is_err() {
            return;
        }
    }
}

fn read_message(stdout: &mut BufReader<ChildStdout>) -> Option<String> {
    let mut length: Option<usize> = None;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            header => {
                if let Some(number) = header.strip_prefix("Content-Length:") {
                    length = number.trim().parse().ok();
                }
            }
        }
    }
    let mut bytes = vec![0; length.filter(|length| *length <= MAX_MESSAGE)?];
    stdout.read_exact(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}
