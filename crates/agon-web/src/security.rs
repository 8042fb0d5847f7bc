//! What every request must satisfy, and the headers of every response.
//!
//! - Without a token the server listens on a loopback address only, and answers only requests that
//!   name a loopback host. So a page of the web cannot reach it under a name of its own that
//!   resolves to this machine (DNS rebinding).
//! - A request from a page of another origin is refused, and so is a body that is not JSON: forms
//!   of other pages cannot send one without asking first.
//! - With a token, requests to the API carry it, or the secret of the match that they are about. A
//!   WebSocket carries it as the name of a protocol, `agon-token.TOKEN`.
//! - Pages run no script but their own, load nothing from elsewhere, and cannot be framed.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::answer::ApiError;
use crate::api;
use crate::app::App;
use crate::secret::is_same;

/// The beginning of the name of a protocol that carries the token to a WebSocket.
const SOCKET_TOKEN: &str = "agon-token.";

/// The policy of every page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// Checks a request and adds the headers of every response.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = match check(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    // The library that serves HTTP refuses these in words of its own; an API refuses in JSON.
    match response.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let limit = app.config.limits.body;
            response = ApiError::too_large(format!("the body is larger than {limit} bytes"))
                .into_response();
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            response = ApiError::wrong_method().into_response();
        }
        _ => {}
    }
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

fn check(app: &App, request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    let host = text(headers, header::HOST.as_str()).unwrap_or("");
    if app.config.token.is_none() && !is_loopback(host) {
        return Err(ApiError::forbidden(format!(
            "`{host}` is not this machine: use http://127.0.0.1, or start the server with --listen"
        )));
    }
    if let Some(origin) = text(headers, header::ORIGIN.as_str())
        && !is_own_origin(origin, host)
    {
        return Err(ApiError::forbidden(format!("requests from pages of {origin} are refused")));
    }
    let is_api = request.uri().path().starts_with("/api/");
    if is_api && text(headers, "sec-fetch-site") == Some("cross-site") {
        return Err(ApiError::forbidden("requests from pages of other sites are refused"));
    }
    if request.method() == Method::POST && has_body(headers) {
        let kind = text(headers, header::CONTENT_TYPE.as_str()).unwrap_or("");
        if kind.split(';').next().map(str::trim) != Some("application/json") {
            return Err(ApiError::bad("the body must be of the type application/json"));
        }
    }
    if is_api { check_token(app, request) } else { Ok(()) }
}

fn check_token(app: &App, request: &Request) -> Result<(), ApiError> {
    let Some(token) = &app.config.token else { return Ok(()) };
    let headers = request.headers();
    let bearer = text(headers, header::AUTHORIZATION.as_str())
        .and_then(|value| value.strip_prefix("Bearer "));
    if bearer.is_some_and(|given| is_same(given.trim(), token)) {
        return Ok(());
    }
    // A script cannot set headers of a WebSocket, but it can offer names of protocols.
    let offered = text(headers, header::SEC_WEBSOCKET_PROTOCOL.as_str()).unwrap_or("");
    let mut tokens = offered.split(',').filter_map(|name| name.trim().strip_prefix(SOCKET_TOKEN));
    if request.uri().path() == "/api/v1/lsp" && tokens.any(|given| is_same(given, token)) {
        return Ok(());
    }
    // The holder of a secret of a match may use the routes of this match, and no others.
    let path = request.uri().path();
    let id = path.strip_prefix("/api/v1/matches/").and_then(|rest| rest.split('/').next());
    if let Some(hosted) = id.and_then(|id| app.find_match(id).ok()) {
        let query = request.uri().query().unwrap_or("");
        let parameters: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        if hosted.viewer(&api::keys(headers, &parameters)).is_known() {
            return Ok(());
        }
    }
    Err(ApiError::unauthorised(
        "this server needs its token: open the link that it printed when it was started",
    ))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = text(headers, header::CONTENT_LENGTH.as_str());
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|length| length != "0")
}

/// Tells whether a host, with or without a port, is a name of this machine itself.
fn is_loopback(host: &str) -> bool {
    let name = if let Some(rest) = host.strip_prefix('[') {
        rest.split(']').next().unwrap_or("")
    } else {
        host.split(':').next().unwrap_or("")
    };
    matches!(name, "localhost" | "127.0.0.1" | "::1")
}

/// Tells whether an origin is the server itself, under the name by which it was asked.
fn is_own_origin(origin: &str, host: &str) -> bool {
    let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    name == Some(host)
}
