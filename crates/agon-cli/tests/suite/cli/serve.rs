//! `agon serve` as a process: storage across kills, worker processes, many viewers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::games::{self, Scratch};

/// Longest time to wait for anything.
const PATIENCE: Duration = Duration::from_secs(90);

/// A running server. It is killed when dropped.
pub(super) struct Server {
    child: Child,
    pub(super) address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The signal is SIGKILL, so nothing can be saved on the way out.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub(super) fn start(scratch: &Scratch) -> Server {
        let store = scratch.path("web.db");
        let mut child = games::program()
            .args(["serve", "--port", "0", "--store"])
            .arg(store)
            .env("NO_COLOR", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("Agon is at http://").expect("an address");
        Server { child, address: address.trim_end_matches('/').to_owned() }
    }

    fn request(&self, method: &str, path: &str, key: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAgon-Key: {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("it is sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        let status = response[9..12].parse().expect("a status");
        let body = response.split_once("\r\n\r\n").expect("headers").1;
        (status, body.to_owned())
    }

    fn json(&self, method: &str, path: &str, key: &str, body: &Value) -> Value {
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let (status, text) = self.request(method, path, key, &body);
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
    }

    fn get(&self, path: &str, key: &str) -> Value {
        self.json("GET", path, key, &Value::Null)
    }

    fn post(&self, path: &str, key: &str, body: &Value) -> Value {
        self.json("POST", path, key, body)
    }

    fn wait(&self, path: &str, key: &str, is_met: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let view = self.get(path, key);
            if is_met(&view) {
                return view;
            }
            assert!(Instant::now() < until, "waited in vain: {view}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

#[test]
fn a_killed_server_continues_its_matches() {
    let scratch = Scratch::new("serve-killed");
    let server = Server::start(&scratch);
    let body = json!({"game": "tic-tac-toe", "players": ["human", "human"]});
    let made = server.post("/api/v1/matches", "", &body);
    let keys = [text(&made["role_keys"][0]), text(&made["role_keys"][1])];
    let path = format!("/api/v1/matches/{}", text(&made["id"]));
    let moves = format!("{path}/moves");
    let is_asked = |view: &Value| view["asked"][0]["moves"].is_array();
    for (step, text) in ["(mark 2 2)", "(mark 1 1)", "(mark 3 3)"].iter().enumerate() {
        server.wait(&path, &keys[step % 2], is_asked);
        server.post(&moves, &keys[step % 2], &json!({"move": text}));
        server.wait(&path, "", |view| view["n_steps"] == step + 1);
    }
    // A step that a viewer has seen is stored, however the server ends.
    drop(server);
    let server = Server::start(&scratch);
    let view = server.wait(&path, &keys[1], is_asked);
    assert_eq!(view["n_steps"], 3);
    assert_eq!(view["steps"][2]["joint"], json!(["(mark 3 3)", "noop"]));
    server.post(&moves, &keys[1], &json!({"move": "(mark 1 2)"}));
    server.wait(&path, &keys[0], |view| view["n_steps"] == 4 && is_asked(view));
}

#[test]
fn rules_are_checked_questions_answered_and_tournaments_played_by_workers() {
    let scratch = Scratch::new("serve-workers");
    let server = Server::start(&scratch);
    // Terms that grow for ever: refused by a budget, not by an endless computation.
    let endless = "(role r) (init (n 0)) (big 0) (<= (big (s ?x)) (big ?x)) \
        (<= (legal r (go ?x)) (big ?x)) (<= (next (n ?x)) (does r (go ?x))) \
        (<= terminal (true (n 1))) (goal r 0)";
    let body = json!({"name": "endless.kif", "rules": endless}).to_string();
    let (status, answer) = server.request("POST", "/api/v1/games", "", &body);
    assert_eq!(status, 400, "{answer}");
    let why = json!({"game": "tic-tac-toe", "moves": [["(mark 1 1)"]],
        "sentence": "(legal oplayer (mark 1 1))"});
    assert_eq!(server.post("/api/v1/why", "", &why)["holds"], false);
    let formula = json!({"game": "toss-tic-tac-toe", "sentence": "R(x, y)"});
    let answer = server.post("/api/v1/why", "", &formula);
    assert_eq!(answer["holds"], true);
    assert!(answer["witnesses"][0]["x"].is_string(), "{answer}");
    // What looks like an option is a sentence.
    let option = json!({"game": "tic-tac-toe", "sentence": "--help"});
    assert_eq!(server.post("/api/v1/why", "", &option)["holds"], false);
    let facts = server.get("/api/v1/games/nim/properties", "");
    assert_eq!(facts["language"], "GDL");
    let spec = "games = [\"tic-tac-toe\"]\nplayers = [\"random\", \"legal\"]\niterations = 1\n";
    let made = server.post("/api/v1/tournaments", "", &json!({"spec": spec}));
    let path = format!("/api/v1/tournaments/{}", text(&made["id"]));
    let view = server.wait(&path, "", |view| view["standings"]["is_complete"] == true);
    let played = text(&view["matches"][0]["id"]);
    let found = server.get(&format!("{path}/matches/{played}"), "");
    assert_eq!(found["game"], "tic-tac-toe");
    assert!(found["moves"].as_array().is_some_and(|moves| moves.len() >= 5));
    let spec = json!({"spec": "games = [\"/etc/passwd\"]\nplayers = [\"random\", \"legal\"]\n\
        iterations = 1\n"});
    let (status, _) = server.request("POST", "/api/v1/tournaments", "", &spec.to_string());
    assert_ne!(status, 200, "no file outside of the library is read");
}

#[test]
fn a_hundred_viewers_hear_of_a_move() {
    let scratch = Scratch::new("serve-viewers");
    let server = Server::start(&scratch);
    let body = json!({"game": "tic-tac-toe", "players": ["human", "human"]});
    let made = server.post("/api/v1/matches", "", &body);
    let key = text(&made["role_keys"][0]);
    let path = format!("/api/v1/matches/{}", text(&made["id"]));
    server.wait(&path, &key, |view| view["asked"][0]["moves"].is_array());
    let viewers: Vec<BufReader<TcpStream>> = (0..100)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.address).expect("a connection");
            stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
            let request = format!("GET {path}/events HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
            stream.write_all(request.as_bytes()).expect("it is sent");
            BufReader::new(stream)
        })
        .collect();
    let next = |viewer: &mut BufReader<TcpStream>, is_met: &dyn Fn(&Value) -> bool| loop {
        let mut line = String::new();
        assert!(viewer.read_line(&mut line).expect("a line") > 0, "the stream has ended");
        if let Some(data) = line.strip_prefix("data: ")
            && is_met(&serde_json::from_str(data).expect("JSON"))
        {
            return;
        }
    };
    let mut viewers = viewers;
    viewers.iter_mut().for_each(|viewer| next(viewer, &|view| view["n_steps"] == 0));
    let began = Instant::now();
    server.post(&format!("{path}/moves"), &key, &json!({"move": "(mark 2 2)"}));
    viewers.iter_mut().for_each(|viewer| next(viewer, &|view| view["n_steps"] == 1));
    let took = began.elapsed();
    eprintln!("100 viewers heard of a move within {} ms", took.as_millis());
    assert!(took < Duration::from_secs(5), "{took:?}");
}
