//! A client in memory.

use std::collections::BTreeMap;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agon_lsp::{Connection, Message, Notification, Options, Request, serve};
use serde_json::{Value, json};

/// Maximum time to wait for a message.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client with a server of its own.
pub(crate) struct Client {
    connection: Option<Connection>,
    thread: Option<JoinHandle<()>>,
    last_id: i32,
    /// The latest diagnostics of each document.
    pub(crate) published: BTreeMap<String, Value>,
    /// All other notifications.
    pub(crate) notes: Vec<(String, Value)>,
    pub(crate) capabilities: Value,
}

impl Client {
    /// Starts a server without the slow path.
    pub(crate) fn start() -> Client {
        Client::start_with(Options { idle: None, ..Options::default() }, json!({}))
    }

    pub(crate) fn start_with(options: Options, capabilities: Value) -> Client {
        Client::start_as(options, json!({"capabilities": capabilities}))
    }

    /// Starts a server with the parameters of `initialize`.
    pub(crate) fn start_as(options: Options, params: Value) -> Client {
        let (server, connection) = Connection::memory();
        let thread = std::thread::spawn(move || serve(&server, options));
        let mut client = Client {
            connection: Some(connection),
            thread: Some(thread),
            last_id: 0,
            published: BTreeMap::new(),
            notes: Vec::new(),
            capabilities: Value::Null,
        };
        client.capabilities = client.ask("initialize", params);
        client.tell("initialized", json!({}));
        client
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("the client is connected until it is dropped")
    }

    /// Sends a request and returns the answer.
    ///
    /// # Panics
    /// If the answer is an error.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params).unwrap_or_else(|why| panic!("{method}: {why}"))
    }

    pub(crate) fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.last_id += 1;
        let request = Request::new(self.last_id.into(), method.to_owned(), params);
        self.connection().sender.send(Message::Request(request)).expect("the server runs");
        loop {
            if let Message::Response(answer) = self.next(Instant::now() + PATIENCE) {
                assert_eq!(answer.id, self.last_id.into());
                return answer.response_result.map_err(|error| error.message);
            }
        }
    }

    /// Sends a notification.
    pub(crate) fn tell(&self, method: &str, params: Value) {
        let note = Notification { method: method.to_owned(), params };
        self.connection().sender.send(Message::Notification(note)).expect("the server runs");
    }

    /// Receives a message and keeps it if it is a notification.
    fn next(&mut self, until: Instant) -> Message {
        let wait = until.saturating_duration_since(Instant::now());
        let message = self.connection().receiver.recv_timeout(wait).expect("the server answers");
        if let Message::Notification(note) = &message {
            if note.method == "textDocument/publishDiagnostics" {
                let uri = note.params["uri"].as_str().expect("an address").to_owned();
                self.published.insert(uri, note.params.clone());
            } else {
                self.notes.push((note.method.clone(), note.params.clone()));
            }
        }
        message
    }

    /// Opens a document and returns its diagnostics.
    pub(crate) fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        let document = json!({"uri": uri, "languageId": "gdl", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
        self.diagnostics(uri, 1)
    }

    /// Changes a document and returns its diagnostics.
    pub(crate) fn change(&mut self, uri: &str, version: i64, changes: Value) -> Vec<Value> {
        let document = json!({"uri": uri, "version": version});
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.tell("textDocument/didChange", params);
        self.diagnostics(uri, version)
    }

    /// Waits for the diagnostics of a version of a document.
    pub(crate) fn diagnostics(&mut self, uri: &str, version: i64) -> Vec<Value> {
        let until = Instant::now() + PATIENCE;
        while self.published.get(uri).is_none_or(|params| params["version"] != version) {
            self.next(until);
        }
        self.published[uri]["diagnostics"].as_array().expect("a list").clone()
    }

    /// Waits for a notification and returns its parameters.
    pub(crate) fn wait_for(&mut self, method: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.notes.iter().position(|(name, _)| name == method) {
                return self.notes.remove(at).1;
            }
            self.next(until);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.connection = None;
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server has panicked");
        }
    }
}
