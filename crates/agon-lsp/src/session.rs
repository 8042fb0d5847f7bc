//! The state of a session: open documents, and which request goes where.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agon_text::Source;
use crossbeam_channel::Sender;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use crate::slow::{Facts, Job, Outcome};
use crate::snapshot::Snapshot;
use crate::text::{Encoding, Places, changed, path_of};
use crate::{
    Options, actions, commands, complete, diagnostics, hints, hover, navigate, outline, tokens,
};

/// Maximum number of threads of the slow path that run at once.
const MAX_JOBS: usize = 4;

/// An open document.
struct Document {
    version: i64,
    snapshot: Snapshot,
    /// Whether the diagnostics of this version are still to be published.
    is_dirty: bool,
    /// What the slow path knows of this version.
    facts: Option<Facts>,
    /// What the slow path knew of an earlier version. Good enough for hovers.
    old_facts: Option<Facts>,
    /// When the slow path starts.
    due: Option<Instant>,
    /// The number of the latest job, and the flag that cancels it.
    job: Option<(u64, Arc<AtomicBool>)>,
}

impl Document {
    fn cancel(&mut self) {
        if let Some((_, stop)) = self.job.take() {
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn facts(&self) -> Option<&Facts> {
        self.facts.as_ref().or(self.old_facts.as_ref())
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// A session with a client.
pub(crate) struct Session {
    options: Options,
    encoding: Encoding,
    /// Whether the client can be asked to refresh hints and lenses.
    refreshes: Vec<&'static str>,
    /// Whether the results of commands are also shown as messages.
    has_command_messages: bool,
    documents: BTreeMap<String, Document>,
    sender: Sender<Message>,
    outcomes: Sender<Outcome>,
    /// Number of jobs that run.
    n_jobs: usize,
    /// Number of jobs that were started.
    n_started: u64,
    n_requests: i32,
}

/// What a request needs: the document and its places.
struct Asked<'a> {
    uri: &'a str,
    document: &'a Document,
    places: Places<'a>,
}

impl Session {
    /// Creates a session for a client that sent `params` with `initialize`.
    pub(crate) fn new(
        options: Options,
        params: &Value,
        sender: Sender<Message>,
        outcomes: Sender<Outcome>,
    ) -> Session {
        let supports = |path: &str| params.pointer(path).and_then(Value::as_bool) == Some(true);
        let refreshes = [
            ("/capabilities/workspace/inlayHint/refreshSupport", "workspace/inlayHint/refresh"),
            ("/capabilities/workspace/codeLens/refreshSupport", "workspace/codeLens/refresh"),
        ];
        let refreshes =
            refreshes.into_iter().filter(|(path, _)| supports(path)).map(|(_, method)| method);
        let messages = params.pointer("/initializationOptions/commandMessages");
        Session {
            encoding: Encoding::choose(params),
            refreshes: refreshes.collect(),
            has_command_messages: messages.and_then(Value::as_bool).unwrap_or(true),
            documents: BTreeMap::new(),
            options,
            sender,
            outcomes,
            n_jobs: 0,
            n_started: 0,
            n_requests: 0,
        }
    }

    /// Returns what the server can do.
    pub(crate) fn capabilities(&self) -> Value {
        json!({
            "positionEncoding": self.encoding.name(),
            "textDocumentSync": {"openClose": true, "change": 2},
            "hoverProvider": true,
            "completionProvider": {"triggerCharacters": ["(", "?", " ", ","]},
            "definitionProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "documentSymbolProvider": true,
            "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll.agon"]},
            "codeLensProvider": {"resolveProvider": false},
            "documentFormattingProvider": true,
            "renameProvider": {"prepareProvider": true},
            "foldingRangeProvider": true,
            "selectionRangeProvider": true,
            "inlayHintProvider": true,
            "semanticTokensProvider": {
                "legend": {"tokenTypes": tokens::TYPES, "tokenModifiers": tokens::MODIFIERS},
                "full": true,
            },
            "executeCommandProvider": {"commands": commands::COMMANDS},
        })
    }

    /// Handles a notification of the client.
    pub(crate) fn notified(&mut self, note: &Notification) {
        let document = &note.params["textDocument"];
        let Some(uri) = document["uri"].as_str() else { return };
        let version = document["version"].as_i64().unwrap_or(0);
        match note.method.as_str() {
            "textDocument/didOpen" => {
                let text = document["text"].as_str().unwrap_or_default();
                self.set(uri, version, text.to_owned());
            }
            "textDocument/didChange" => {
                let Some(open) = self.documents.get(uri) else { return };
                let (name, old) = (path_of(uri), open.snapshot.source.text());
                let text = changed(&name, old, &note.params["contentChanges"], self.encoding);
                self.set(uri, version, text);
            }
            "textDocument/didClose" => {
                self.documents.remove(uri);
                self.publish(uri, None, Vec::new());
            }
            _ => {}
        }
    }

    /// Sets the text of a document and runs the fast path.
    fn set(&mut self, uri: &str, version: i64, text: String) {
        let is_too_long = text.len() > self.options.max_bytes;
        let analysed = if is_too_long { String::new() } else { text };
        let source = Arc::new(Source::new(path_of(uri), analysed));
        let snapshot = Snapshot::new(source);
        let old_facts = self.documents.get_mut(uri).and_then(|document| {
            document.cancel();
            document.facts.take().or_else(|| document.old_facts.take())
        });
        let due = self.options.idle.map(|idle| Instant::now() + idle);
        let document =
            Document { version, snapshot, is_dirty: true, facts: None, old_facts, due, job: None };
        self.documents.insert(uri.to_owned(), document);
        if is_too_long {
            let bytes = self.options.max_bytes;
            self.show(2, &format!("{} is longer than {bytes} bytes: not checked", path_of(uri)));
        }
    }

    /// Publishes the diagnostics of changed documents.
    pub(crate) fn publish_dirty(&mut self) {
        let dirty = self.documents.iter_mut().filter(|(_, document)| document.is_dirty);
        let mut changed = Vec::new();
        for (uri, document) in dirty {
            document.is_dirty = false;
            changed.push(uri.clone());
        }
        for uri in changed {
            self.publish_document(&uri);
        }
    }

    fn publish_document(&self, uri: &str) {
        let Some(document) = self.documents.get(uri) else { return };
        let by_play = document.facts.iter().flat_map(|facts| &facts.findings);
        let findings = document.snapshot.findings.iter().chain(by_play);
        let places = Places { source: &document.snapshot.source, encoding: self.encoding };
        let shown = diagnostics::to_json(findings, places, uri, &self.options.code_pages);
        self.publish(uri, Some(document.version), shown);
    }

    fn publish(&self, uri: &str, version: Option<i64>, diagnostics: Vec<Value>) {
        let mut params = json!({"uri": uri, "diagnostics": diagnostics});
        if let Some(version) = version {
            params["version"] = json!(version);
        }
        self.notify("textDocument/publishDiagnostics", params);
    }

    fn notify(&self, method: &str, params: Value) {
        let note = Notification { method: method.to_owned(), params };
        // The client may be gone.
        let _ = self.sender.send(Message::Notification(note));
    }

    /// Shows a message to the user: 1 is an error, 2 a warning, 3 information.
    fn show(&self, kind: u32, text: &str) {
        self.notify("window/showMessage", json!({"type": kind, "message": text}));
    }

    /// Returns when the next job of the slow path is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.documents.values().filter_map(|document| document.due).min()
    }

    /// Starts the jobs that are due.
    pub(crate) fn start_due(&mut self) {
        let now = Instant::now();
        for (uri, document) in &mut self.documents {
            if document.due.is_none_or(|due| due > now) {
                continue;
            }
            if self.n_jobs >= MAX_JOBS {
                // A cancelled job ends soon and makes room.
                document.due = self.options.idle.map(|idle| now + idle);
                continue;
            }
            document.due = None;
            let stop = Arc::new(AtomicBool::new(false));
            let job = Job {
                uri: uri.clone(),
                number: self.n_started,
                source: Arc::clone(&document.snapshot.source),
                stop: Arc::clone(&stop),
                deadline: now + self.options.slow_time,
                outcomes: self.outcomes.clone(),
            };
            if job.start() {
                document.job = Some((self.n_started, stop));
                self.n_jobs += 1;
                self.n_started += 1;
            }
        }
    }

    /// Takes over a result of the slow path, unless the text has changed since.
    pub(crate) fn take_outcome(&mut self, outcome: Outcome) {
        if outcome.is_done {
            self.n_jobs = self.n_jobs.saturating_sub(1);
        }
        let Some(document) = self.documents.get_mut(&outcome.uri) else { return };
        if document.job.as_ref().is_none_or(|(number, _)| *number != outcome.job) {
            return;
        }
        let version = document.version;
        let before = document.facts.as_ref().map_or(0, |facts| facts.findings.len());
        let is_new = outcome.facts.findings.len() != before;
        document.facts = Some(outcome.facts);
        if is_new {
            self.publish_document(&outcome.uri);
        }
        for method in self.refreshes.clone() {
            self.n_requests += 1;
            let id = RequestId::from(format!("agon-{}", self.n_requests));
            let request = Request { id, method: method.to_owned(), params: Value::Null };
            let _ = self.sender.send(Message::Request(request));
        }
        if outcome.is_done {
            self.notify("agon/analysed", json!({"uri": outcome.uri, "version": version}));
        }
    }

    /// Answers a request. A command answers later, from a thread of its own.
    pub(crate) fn asked(&mut self, request: Request) {
        let Request { id, method, params } = request;
        if method == "workspace/executeCommand" {
            self.execute(id, &params);
            return;
        }
        // A broken invariant must not take the other answers with it.
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(&method, &params)));
        let response = match answer {
            Ok(Some(Ok(result))) => Response::new_ok(id, result),
            Ok(Some(Err(why))) => Response::new_err(id, ErrorCode::InvalidParams as i32, why),
            Ok(None) => {
                let why = format!("this server does not know `{method}`");
                Response::new_err(id, ErrorCode::MethodNotFound as i32, why)
            }
            Err(_) => {
                let why = format!("`{method}` failed; please report it");
                Response::new_err(id, ErrorCode::InternalError as i32, why)
            }
        };
        let _ = self.sender.send(Message::Response(response));
    }

    /// Returns the answer to a request. `None` if there is no such request.
    fn answer(&self, method: &str, params: &Value) -> Option<Result<Value, String>> {
        let is_known = method.starts_with("textDocument/");
        if !is_known {
            return None;
        }
        let Some(asked) = self.asked_about(params) else {
            return Some(Err("the document is not open".to_owned()));
        };
        let Asked { uri, document, places } = asked;
        let snapshot = &document.snapshot;
        let byte = places.byte(&params["position"]);
        Some(Ok(match method.strip_prefix("textDocument/").unwrap_or_default() {
            "hover" => hover::hover(snapshot, document.facts(), places, byte),
            "completion" => complete::complete(snapshot, places, byte),
            "definition" => navigate::definition(snapshot, places, uri, byte),
            "references" => {
                let with = params.pointer("/context/includeDeclaration");
                let with = with.and_then(Value::as_bool).unwrap_or(true);
                navigate::references(snapshot, places, uri, byte, with)
            }
            "documentHighlight" => navigate::highlights(snapshot, places, byte),
            "prepareRename" => navigate::prepare_rename(snapshot, places, byte),
            "rename" => {
                let new = params["newName"].as_str().unwrap_or_default();
                return Some(navigate::rename(snapshot, places, uri, byte, new));
            }
            "documentSymbol" => outline::symbols(snapshot, places),
            "foldingRange" => outline::folding(snapshot, places),
            "selectionRange" => outline::selections(snapshot, places, &params["positions"]),
            "semanticTokens/full" => tokens::tokens(snapshot, places),
            "formatting" => actions::format(snapshot, places),
            "codeAction" => {
                actions::actions(snapshot, places, uri, params, &self.options.code_pages)
            }
            "codeLens" => hints::lenses(snapshot, places, uri),
            "inlayHint" => {
                let range = places.span(&params["range"]);
                hints::inlay_hints(snapshot, document.facts.as_ref(), places, range)
            }
            _ => return None,
        }))
    }

    fn asked_about<'a>(&'a self, params: &'a Value) -> Option<Asked<'a>> {
        let uri = params.pointer("/textDocument/uri")?.as_str()?;
        let document = self.documents.get(uri)?;
        let places = Places { source: &document.snapshot.source, encoding: self.encoding };
        Some(Asked { uri, document, places })
    }

    fn execute(&self, id: RequestId, params: &Value) {
        let command = params["command"].as_str().unwrap_or_default().to_owned();
        let argument = |at: usize| params["arguments"][at].as_str().map(str::to_owned);
        let (first, second) = (argument(0).unwrap_or_default(), argument(1));
        let source =
            self.documents.get(&first).map(|document| Arc::clone(&document.snapshot.source));
        let (sender, is_shown) = (self.sender.clone(), self.has_command_messages);
        let work = move || {
            let result = match source {
                _ if !commands::COMMANDS.contains(&command.as_str()) => {
                    Err(format!("there is no command `{command}`"))
                }
                _ if command == "agon.explainCode" => commands::explain_code(&first),
                Some(source) => commands::execute(&command, &first, &source, second.as_deref()),
                None => Err("the document is not open".to_owned()),
            };
            let (kind, text, response) = match result {
                Ok(done) => (3, done.text, Response::new_ok(id, done.value)),
                Err(why) => {
                    let code = ErrorCode::RequestFailed as i32;
                    (1, why.clone(), Response::new_err(id, code, why))
                }
            };
            if is_shown {
                let params = json!({"type": kind, "message": text});
                let method = "window/showMessage".to_owned();
                let _ = sender.send(Message::Notification(Notification { method, params }));
            }
            let _ = sender.send(Message::Response(response));
        };
        // Without a thread the command would block the session; the client gets no answer then.
        let builder = std::thread::Builder::new().name("agon-lsp-command".to_owned());
        let _ = builder.stack_size(32 << 20).spawn(work);
    }
}
