//! The peers of these tests: `agon player` as a process, raw requests, and faulty players.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// A running `agon player` that is killed at the end of the test.
pub(super) struct Player {
    process: Child,
    pub(super) url: String,
    address: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Player {
    pub(super) fn start(arguments: &[&str]) -> Player {
        let mut process = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(["player", "--port", "0", "--json"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be run");
        let mut out = BufReader::new(process.stdout.take().expect("its output is piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("it says where it listens");
        // The rest of the output is read all the time, so that the player does not block.
        let log = Arc::<Mutex<Vec<String>>>::default();
        let lines = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                lines.lock().expect("no thread panics").push(line);
            }
        });
        let first: Value = serde_json::from_str(&line).expect("the line is JSON");
        let url = first["url"].as_str().expect("the line has an address").to_owned();
        let address = url.trim_start_matches("http://").to_owned();
        Player { process, url, address, log }
    }

    /// Returns the JSON objects of a type in the log, once there are at least `n`.
    pub(super) fn logged(&self, kind: &str, n: usize) -> Vec<Value> {
        for _ in 0..600 {
            let lines = self.log.lock().expect("no thread panics").clone();
            let objects = lines.iter().map(|line| serde_json::from_str(line).expect("it is JSON"));
            let found: Vec<Value> =
                objects.filter(|object: &Value| object["type"] == kind).collect();
            if found.len() >= n {
                return found;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the player logs fewer than {n} objects of the type {kind}");
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("the player listens");
        // A limit against hanging, far above what any test takes.
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket has time-outs");
        stream
    }

    /// Sends bytes and returns the whole response.
    pub(super) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("the player reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the player answers and closes");
        answer
    }

    /// Sends bytes, closes the sending side, and returns the whole response.
    pub(super) fn raw_to_the_end(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("the player reads");
        stream.shutdown(std::net::Shutdown::Write).expect("half of a connection can be closed");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the player answers and closes");
        answer
    }

    /// Sends a message in the form of ggp-base and returns the body of the response.
    pub(super) fn say(&self, message: &str) -> String {
        let length = message.chars().count();
        let request = format!(
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\n\
             Sender: GAMESERVER\r\nReceiver: \r\n\
             Content-Type: text/acl\r\nContent-Length: {length}\r\n\r\n{message}"
        );
        body(&self.raw(request.as_bytes()))
    }

    /// Sends a message in the form of Dresden's GameController: without a host header. The response
    /// ends with the connection.
    pub(super) fn say_like_dresden(&self, message: &str) -> String {
        let length = message.len();
        let request = format!(
            "POST / HTTP/1.0\r\nSender: Gamecontroller\r\nReceiver: localhost\r\n\
             Content-type: text/acl\r\n\
             Content-length: {length}\r\n\r\n{message}"
        );
        body(&self.raw(request.as_bytes()))
    }
}

/// Returns the body of a successful response.
#[track_caller]
pub(super) fn body(answer: &str) -> String {
    assert!(answer.starts_with("HTTP/1.0 200 OK\r\n"), "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").expect("there is a blank line");
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-length: "))
        .and_then(|length| length.parse().ok())
        .expect("the answer has a length");
    assert_eq!(body.len(), length, "the length is that of the body, and nothing comes after it");
    body.to_owned()
}

/// Returns the rules of a shipped game in one line without comments, as they are sent.
pub(super) fn rules(game: &str) -> String {
    // Values of parameters are in place.
    let text = agon::Game::open(game).expect("the game ships").rules_text();
    let lines = text.lines().map(|line| line.split(';').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What a faulty player does when it is asked for a move.
#[derive(Copy, Clone, Debug)]
pub(super) enum Vice {
    Hang,
    Lie,
    Crash,
    Trickle,
    Flood,
    Babble,
}

/// Starts a faulty player and returns its address. It answers START like any other player.
pub(super) fn bad_player(vice: Vice) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let url = format!("http://{}", listener.local_addr().expect("the line has an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || misbehave(stream, vice));
        }
    });
    url
}

fn misbehave(mut stream: TcpStream, vice: Vice) {
    let mut request = Vec::new();
    let mut buffer = [0; 65536];
    // The host sends a request in one piece, or nearly.
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        request.extend_from_slice(&buffer[..n]);
        if request.ends_with(b")") {
            break;
        }
    }
    let text = String::from_utf8_lossy(&request);
    if !text.contains("( PLAY ") {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nready");
        return;
    }
    let _ = match vice {
        Vice::Hang => {
            std::thread::sleep(Duration::from_secs(30));
            Ok(())
        }
        Vice::Lie => stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 10\r\n\r\n(mark 9 9)"),
        Vice::Crash => Ok(()),
        Vice::Trickle => {
            let answer = b"HTTP/1.0 200 OK\r\nContent-Length: 10000\r\n\r\n";
            let spaces = std::iter::repeat_n(&b' ', 10_000);
            answer.iter().chain(spaces).try_for_each(|&byte| {
                std::thread::sleep(Duration::from_millis(20));
                stream.write_all(&[byte])
            })
        }
        Vice::Flood => {
            let line = [b'('; 65536];
            let head = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n");
            (0..10_000).try_fold(head, |so_far, _| so_far.is_ok().then(|| stream.write_all(&line)));
            Ok(())
        }
        Vice::Babble => stream.write_all(b"\x16\x03\x01\xff\xff garbage \xf0\x9f"),
    };
}
