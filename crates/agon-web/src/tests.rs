//! Tests of the routes without a socket.

mod documented;
mod games;
mod hosting;
mod security;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::app::App;
use crate::config::Config;
use crate::router;

/// A server without a socket.
struct Server {
    app: Arc<App>,
    runtime: tokio::runtime::Runtime,
}

impl Server {
    fn new() -> Server {
        Server::with(Config::loopback())
    }

    fn with(config: Config) -> Server {
        let (app, remarks) = App::new(config).expect("the server starts");
        assert!(remarks.is_empty(), "{remarks:?}");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        Server { app, runtime }
    }

    fn send(&self, request: Request<Body>) -> (StatusCode, String) {
        self.runtime.block_on(async {
            let response = router(&self.app).oneshot(request).await.expect("routes never fail");
            let status = response.status();
            let body = to_bytes(response.into_body(), 64 << 20).await.expect("the body");
            (status, String::from_utf8(body.to_vec()).expect("text"))
        })
    }

    fn get(&self, path: &str, key: &str) -> (StatusCode, String) {
        let request = Request::get(path).header("host", "localhost").header("agon-key", key);
        self.send(request.body(Body::empty()).expect("a request"))
    }

    fn get_json(&self, path: &str, key: &str) -> Value {
        let (status, text) = self.get(path, key);
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    fn post(&self, path: &str, key: &str, body: &Value) -> (StatusCode, Value) {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header("host", "localhost")
            .header("agon-key", key)
            .header("content-type", "application/json")
            .header("content-length", "1");
        let (status, text) = self.send(request.body(Body::from(body.to_string())).expect("valid"));
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    fn post_ok(&self, path: &str, key: &str, body: &Value) -> Value {
        let (status, answer) = self.post(path, key, body);
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        answer
    }

    /// Creates a match and returns the answer.
    fn create(&self, body: &Value) -> Value {
        self.post_ok("/api/v1/matches", "", body)
    }

    /// Waits until a match satisfies a condition, and returns it.
    fn wait(&self, id: &str, key: &str, what: &str, is_met: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let view = self.get_json(&format!("/api/v1/matches/{id}"), key);
            if is_met(&view) {
                return view;
            }
            assert!(Instant::now() < until, "waited for {what} in vain: {view}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn play(&self, id: &str, key: &str, text: &str) {
        let path = format!("/api/v1/matches/{id}/moves");
        self.post_ok(&path, key, &json!({"move": text}));
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn is_asked(view: &Value, role: u64) -> bool {
    let asked = view["asked"].as_array().expect("a list");
    asked.iter().any(|one| one["role"] == role && one["moves"].is_array())
}
