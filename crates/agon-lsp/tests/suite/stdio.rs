//! The server as a process: a script of messages over standard input and output.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::GAME;

/// Returns the program of the example `stdio`, which `cargo test` builds beside the tests.
pub(crate) fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("the test knows its program");
    let folder = tests.ancestors().nth(2).expect("tests are in `deps`");
    folder.join("examples").join(format!("stdio{}", std::env::consts::EXE_SUFFIX))
}

struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start() -> Process {
        let mut child = Command::new(program())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example was built");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Process { child, output }
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.child.stdin.as_mut().expect("a pipe");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server reads");
        input.flush().expect("the server reads");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("the server writes");
            assert!(!line.is_empty(), "the server has ended");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a number"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("the server writes");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn receive_until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.receive();
            if is_wanted(&message) {
                return message;
            }
        }
    }
}

#[test]
fn a_script_of_messages_is_answered() {
    let mut server = Process::start();
    server.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "textDocument/hover", "params": {}}));
    assert_eq!(server.receive()["error"]["code"], -32002);
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"capabilities": {"general": {"positionEncodings": ["utf-8"]}}}}));
    let answer = server.receive();
    assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-8");
    assert_eq!(answer["result"]["serverInfo"]["name"], "agon");
    server.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    let uri = "file:///rules/script.kif";
    let text = GAME.replace("(succ ?m ?n)", "(suc ?m ?n)");
    server.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params":
        {"textDocument": {"uri": uri, "languageId": "gdl", "version": 1, "text": text}}}));
    let shown =
        server.receive_until(|message| message["method"] == "textDocument/publishDiagnostics");
    let found = shown["params"]["diagnostics"].as_array().expect("a list");
    let undefined = found.iter().find(|one| one["code"] == "undefined-relation").expect("found");
    assert_eq!(
        undefined["codeDescription"]["href"],
        "https://example.org/codes/undefined-relation"
    );
    server.send(&json!({"jsonrpc": "2.0", "id": "hover", "method": "textDocument/hover",
        "params": {"textDocument": {"uri": uri}, "position": {"line": 6, "character": 6}}}));
    let hover = server.receive_until(|message| message["id"] == "hover");
    assert!(hover["result"]["contents"]["value"].as_str().is_some_and(|t| t.contains("legal")));
    server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}));
    server.receive_until(|message| message["id"] == 2);
    server.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    let status = server.child.wait().expect("the server ends");
    assert!(status.success(), "{status}");
}

#[test]
fn the_server_ends_with_its_input() {
    let mut server = Process::start();
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}));
    server.receive();
    drop(server.child.stdin.take());
    assert!(server.child.wait().expect("the server ends").success());
}
