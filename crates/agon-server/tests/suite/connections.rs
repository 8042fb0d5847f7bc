//! Connections that send nothing do not keep others out.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_server::http::HttpRequest;
use agon_server::{Handler, Limits, Response, Server, bind};

struct Echo;

impl Handler for Echo {
    fn respond(&self, request: &HttpRequest, _: Instant) -> Response {
        Response { status: 200, body: request.message.clone() }
    }
}

fn server(limits: Limits) -> Server {
    let listener = bind(IpAddr::V4(Ipv4Addr::LOCALHOST), 0).expect("a port is free");
    Server::start(listener, limits, Arc::new(Echo)).expect("a thread can be started")
}

/// Sends a request and returns the response.
fn ask(server: &Server, head: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket has time-outs");
    let request = format!("POST / HTTP/1.0\r\n{head}Content-Length: 6\r\n\r\n(INFO)");
    // A connection that is rejected may be closed before everything is sent.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn idle_connections_give_way_to_new_ones() {
    let limits = Limits { connections: 8, connections_per_peer: 4, ..Limits::default() };
    let server = server(limits);
    let idle: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address()).expect("the server listens");
            // Some have begun with a request.
            let _ = stream.write_all(b"POST / HT");
            stream
        })
        .collect();
    for _ in 0..5 {
        let began = Instant::now();
        let answer = ask(&server, "");
        assert!(answer.ends_with("(INFO)"), "{answer}");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
    drop(idle);
}

#[test]
fn a_connection_without_a_request_ends_after_seconds() {
    let limits = Limits {
        idle: Duration::from_millis(150),
        head: Duration::from_millis(400),
        ..Limits::default()
    };
    let server = server(limits);
    // Nothing at all, and one byte after the other.
    for bytes in ["", "POST / HTTP/1.0 and so on without an end"] {
        let began = Instant::now();
        let mut stream = TcpStream::connect(server.address()).expect("the server listens");
        let mut sender = stream.try_clone().expect("a socket can be cloned");
        let text = bytes.to_owned();
        let drip = std::thread::spawn(move || {
            for byte in text.bytes() {
                if sender.write_all(&[byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket has time-outs");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.0 408"), "{answer}");
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        drop(stream);
        drip.join().expect("it does not panic");
    }
}

#[test]
fn web_pages_are_refused_unless_their_origin_is_allowed() {
    let server = server(Limits::default());
    let answer = ask(&server, "Origin: http://evil.example\r\n");
    assert!(answer.starts_with("HTTP/1.0 403"), "{answer}");
    let answer = ask(&server, "");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    assert!(!answer.contains("Access-Control"), "{answer}");

    struct Open;
    impl Handler for Open {
        fn respond(&self, request: &HttpRequest, _: Instant) -> Response {
            Response { status: 200, body: request.message.clone() }
        }
        fn allowed_origin(&self) -> Option<&str> {
            Some("http://good.example")
        }
    }
    let listener = bind(IpAddr::V4(Ipv4Addr::LOCALHOST), 0).expect("a port is free");
    let server = Server::start(listener, Limits::default(), Arc::new(Open)).expect("it starts");
    assert!(ask(&server, "Origin: http://evil.example\r\n").starts_with("HTTP/1.0 403"));
    let answer = ask(&server, "Origin: http://good.example\r\n");
    assert!(answer.contains("Access-Control-Allow-Origin: http://good.example\r\n"), "{answer}");
}

/// Browsers leave the origin out of requests for images and of links, and of requests of a page
/// whose domain name points at this machine.
#[test]
fn web_pages_without_an_origin_are_refused() {
    let get = |server: &Server, head: &str| {
        let mut stream = TcpStream::connect(server.address()).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket has time-outs");
        let request = format!("GET /%28ABORT%20m%29 HTTP/1.1\r\n{head}\r\n");
        let _ = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let server = server(Limits::default());
    let pages = [
        "Sec-Fetch-Site: cross-site\r\n",
        "Host: 127.0.0.1\r\nsec-fetch-site: same-origin\r\n",
        "Host: evil.example:9147\r\n",
        "Host: evil.example.\r\n",
    ];
    for head in pages {
        let answer = get(&server, head);
        assert!(answer.starts_with("HTTP/1.0 403"), "{head:?}: {answer}");
    }
    let programs = [
        "",
        "Sec-Fetch-Site: none\r\n",
        "Host: localhost:9147\r\n",
        "Host: 127.0.0.1:9147\r\n",
        "Host: [::1]:9147\r\n",
        "Host: my-machine:9147\r\n",
    ];
    for head in programs {
        let answer = get(&server, head);
        assert!(answer.ends_with("(ABORT m)"), "{head:?}: {answer}");
    }
}
