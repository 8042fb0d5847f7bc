//! `agon fmt`, `agon lsp`, and the language server over a WebSocket of `agon serve`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::super::games::Scratch;
use super::run::{agon, agon_reading};
use super::serve::Server;

const UNTIDY: &str = "; a rule\n(<= (p ?x)   ; why\n(q ?x) )\n( q  a )\n";
const TIDY: &str = "; a rule\n(<= (p ?x)   ; why\n    (q ?x))\n(q a)\n";

#[test]
fn fmt_writes_files_and_keeps_comments() {
    let scratch = Scratch::new("fmt");
    let file = scratch.file("x.kif", UNTIDY);
    let checked = agon(&["fmt", &file, "--check"]).fails_with(1);
    assert!(checked.out.contains("would change"), "{}", checked.out);
    let shown = agon(&["fmt", &file, "--diff"]).succeeds();
    assert!(shown.out.contains("+(q a)"), "{}", shown.out);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), UNTIDY, "nothing is written");
    agon(&["fmt", &file]).succeeds();
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), TIDY);
    agon(&["fmt", &file, "--check"]).succeeds();
    let json = agon(&["fmt", &file, "--json"]).succeeds();
    let json: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((&json["changed"], &json["written"]), (&json!(false), &json!(false)));
    assert_eq!(agon_reading(&["fmt", "-"], UNTIDY).succeeds().out, TIDY);
}

#[test]
fn fmt_refuses_what_it_cannot_lay_out() {
    let scratch = Scratch::new("fmt-refuses");
    let open = scratch.file("open.kif", "(role a\n");
    agon(&["fmt", &open]).complains(1, "unmatched-parenthesis");
    let latin = scratch.file("latin.kif", b"; \xe4\n(role  a)\n");
    agon(&["fmt", &latin]).complains(2, "not in UTF-8");
    agon(&["fmt", "/no/such/file.kif"]).complains(2, "cannot read");
    agon(&["fmt", "tic-tac-toe", "--check"]).succeeds();
}

#[test]
fn files_in_the_usual_layout_pass_the_check() {
    let root = super::super::games::root();
    let game = root.join("games/gdl/tic-tac-toe.kif").display().to_string();
    let other = root.join("games/toss/breakthrough.toss").display().to_string();
    agon(&["fmt", "--check", &game, &other]).succeeds();
}

fn framed(message: &Value) -> String {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

#[test]
fn lsp_answers_over_standard_input_and_output() {
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let open = json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument":
        {"uri": "file:///x.kif", "languageId": "gdl", "version": 1, "text": "(role a"}}});
    let shutdown = json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"});
    let exit = json!({"jsonrpc": "2.0", "method": "exit"});
    let input: String = [initialize, open, shutdown, exit].iter().map(framed).collect();
    let run = agon_reading(&["lsp", "--no-play", "--code-pages", "none"], input).succeeds();
    for part in ["hoverProvider", "unmatched-parenthesis", "\"id\":2"] {
        assert!(run.out.contains(part), "{part} is missing in {}", run.out);
    }
}

/// Sends one text message of a WebSocket. Messages of a client are masked.
fn send(stream: &mut TcpStream, message: &Value) {
    let text = message.to_string();
    let mut frame = vec![0x81, 0x80 | 126];
    frame.extend(u16::try_from(text.len()).expect("short").to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(text.as_bytes());
    stream.write_all(&frame).expect("the server reads");
}

/// Receives one text message of a WebSocket.
fn receive(stream: &mut TcpStream) -> Value {
    let mut head = [0; 2];
    stream.read_exact(&mut head).expect("a message");
    assert_eq!(head[0], 0x81, "a whole text");
    let length = match head[1] {
        126 => {
            let mut bytes = [0; 2];
            stream.read_exact(&mut bytes).expect("a length");
            usize::from(u16::from_be_bytes(bytes))
        }
        127 => {
            let mut bytes = [0; 8];
            stream.read_exact(&mut bytes).expect("a length");
            usize::try_from(u64::from_be_bytes(bytes)).expect("it fits")
        }
        short => usize::from(short),
    };
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).expect("a message");
    serde_json::from_slice(&bytes).expect("JSON")
}

#[test]
fn the_language_server_is_reached_over_a_websocket() {
    let scratch = Scratch::new("websocket");
    let server = Server::start(&scratch);
    let mut stream = TcpStream::connect(&server.address).expect("a connection");
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("a timeout");
    let request = format!(
        "GET /api/v1/lsp HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: agon-lsp\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a response");
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(head.contains("sec-websocket-protocol: agon-lsp"), "{head}");
    send(&mut stream, &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}));
    assert_eq!(receive(&mut stream)["result"]["serverInfo"]["name"], "agon");
    send(
        &mut stream,
        &json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params":
        {"textDocument": {"uri": "web:/x.kif", "version": 1, "text": "(role a"}}}),
    );
    let shown = receive(&mut stream);
    let first = &shown["params"]["diagnostics"][0];
    assert_eq!(first["code"], "unmatched-parenthesis");
    assert_eq!(first["codeDescription"]["href"], "/api/v1/codes/unmatched-parenthesis");
}
