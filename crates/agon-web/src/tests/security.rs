//! Origins, hosts, tokens, sizes, headers.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::json;
use tower::ServiceExt as _;

use super::{Server, text};
use crate::config::Config;
use crate::router;

fn status(server: &Server, headers: &[(&str, &str)], path: &str, body: Option<&str>) -> StatusCode {
    let mut request = Request::builder().uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(body) = body {
        request = request.method("POST").header("content-length", body.len().to_string());
    }
    let body = Body::from(body.unwrap_or_default().to_owned());
    server.send(request.body(body).expect("a request")).0
}

#[test]
fn other_hosts_and_origins_are_refused() {
    let server = Server::new();
    let (ok, no) = (StatusCode::OK, StatusCode::FORBIDDEN);
    let path = "/api/v1";
    assert_eq!(status(&server, &[("host", "localhost:8000")], path, None), ok);
    assert_eq!(status(&server, &[("host", "127.0.0.1:8000")], path, None), ok);
    assert_eq!(status(&server, &[("host", "[::1]:8000")], path, None), ok);
    assert_eq!(status(&server, &[("host", "evil.example:8000")], path, None), no);
    assert_eq!(status(&server, &[], path, None), no);
    let own = [("host", "localhost:8000"), ("origin", "http://localhost:8000")];
    assert_eq!(status(&server, &own, path, None), ok);
    let other = [("host", "localhost:8000"), ("origin", "http://localhost:9000")];
    assert_eq!(status(&server, &other, path, None), no);
    let null = [("host", "localhost:8000"), ("origin", "null")];
    assert_eq!(status(&server, &null, path, None), no);
    let site = [("host", "localhost:8000"), ("sec-fetch-site", "cross-site")];
    assert_eq!(status(&server, &site, path, None), no);
}

#[test]
fn bodies_must_be_json_and_small() {
    let server = Server::new();
    let host = ("host", "localhost");
    let form = [host, ("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(status(&server, &form, "/api/v1/check", Some("{}")), StatusCode::BAD_REQUEST);
    let json = [host, ("content-type", "application/json")];
    assert_eq!(status(&server, &json, "/api/v1/check", Some("[1]")), StatusCode::BAD_REQUEST);
    let large = format!("{{\"rules\": \"{}\"}}", "x".repeat(3 << 20));
    assert_eq!(
        status(&server, &json, "/api/v1/check", Some(&large)),
        StatusCode::PAYLOAD_TOO_LARGE
    );
}

#[test]
fn a_token_is_needed_where_there_is_one_except_for_a_match_with_its_secret() {
    let token = "0123456789abcdef";
    let config = Config { token: Some(token.to_owned()), ..Config::loopback() };
    let server = Server::with(config);
    let bearer = format!("Bearer {token}");
    let host = ("host", "agon.example");
    let with = [host, ("authorization", bearer.as_str())];
    assert_eq!(status(&server, &[host], "/api/v1/games", None), StatusCode::UNAUTHORIZED);
    assert_eq!(status(&server, &with, "/api/v1/games", None), StatusCode::OK);
    let wrong = [host, ("authorization", "Bearer 0123456789abcdeF")];
    assert_eq!(status(&server, &wrong, "/api/v1/games", None), StatusCode::UNAUTHORIZED);
    assert_eq!(status(&server, &[host], "/", None), StatusCode::OK, "pages have no secrets");
    let request = Request::post("/api/v1/matches")
        .header("host", "agon.example")
        .header("authorization", &bearer)
        .header("content-type", "application/json")
        .body(Body::from(json!({"game": "nim", "players": ["human"]}).to_string()))
        .expect("a request");
    let (_, made) = server.send(request);
    let made: serde_json::Value = serde_json::from_str(&made).expect("JSON");
    let path = format!("/api/v1/matches/{}", text(&made["id"]));
    assert_eq!(status(&server, &[host], &path, None), StatusCode::UNAUTHORIZED);
    let key = text(&made["role_keys"][0]);
    let keyed = [host, ("agon-key", key.as_str())];
    assert_eq!(status(&server, &keyed, &path, None), StatusCode::OK);
    assert_eq!(status(&server, &keyed, "/api/v1/games", None), StatusCode::UNAUTHORIZED);
    assert_eq!(status(&server, &[host], &format!("{path}?key={key}"), None), StatusCode::OK);
}

#[test]
fn addresses_of_other_machines_need_a_token() {
    let config = Config { address: "0.0.0.0".parse().expect("valid"), ..Config::loopback() };
    let refused = crate::WebServer::start(config).err().expect("it is refused");
    assert!(refused.contains("token"), "{refused}");
}

#[test]
fn work_is_told_to_stop_when_its_client_goes() {
    let server = Server::new();
    let (started, has_started) = tokio::sync::oneshot::channel();
    let (ended, has_ended) = std::sync::mpsc::channel();
    server.runtime.block_on(async {
        let work = crate::api::stoppable(move |stop| {
            let _ = started.send(());
            while !stop.is_set() {
                std::thread::yield_now();
            }
            let _ = ended.send(());
            Ok(json!({}))
        });
        // As the server does when a connection is closed, the work is dropped half-way.
        tokio::select! {
            _ = work => panic!("the work never ends by itself"),
            _ = has_started => {}
        }
    });
    let waited = has_ended.recv_timeout(std::time::Duration::from_secs(60));
    assert!(waited.is_ok(), "the work was not stopped");
}

#[test]
fn every_response_has_a_strict_policy() {
    let server = Server::new();
    for path in ["/", "/game/nim", "/api/v1/games/nim", "/assets/app.js", "/api/v1/nothing"] {
        let request = Request::get(path).header("host", "localhost").body(Body::empty());
        let response = server
            .runtime
            .block_on(router(&server.app).oneshot(request.expect("a request")))
            .expect("routes never fail");
        let policy = response.headers()["content-security-policy"].to_str().expect("text");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    }
}

#[test]
fn the_page_has_no_inline_script_or_style_and_is_small() {
    let page = include_str!("../../assets/index.html");
    assert!(page.contains("<script type=\"module\""), "the page was built");
    assert!(!page.contains("<style") && !page.contains("style="));
    for script in page.split("<script").skip(1) {
        let body = script.split_once('>').expect("a tag").1;
        assert!(body.starts_with("</script>"), "inline script");
    }
    assert!(crate::compressed_size() < 300_000, "{} bytes", crate::compressed_size());
}

#[test]
fn files_outside_of_the_page_are_not_served() {
    let server = Server::new();
    for path in ["/../Cargo.toml", "/assets/../../Cargo.toml", "/etc/passwd.txt", "/.git/config.x"]
    {
        let host = [("host", "localhost")];
        assert_eq!(status(&server, &host, path, None), StatusCode::NOT_FOUND, "{path}");
    }
}
