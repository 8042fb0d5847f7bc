//! Answers of the API: JSON, or an error as JSON.

use std::fmt;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// The answer of the API to a request.
pub(crate) type Answer = Result<Value, ApiError>;

/// Why a request was refused. It is sent as `{"error": …}`, with more keys if there is more to say.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// Further keys of the answer.
    pub(crate) more: Value,
}

impl ApiError {
    fn new(status: StatusCode, message: impl fmt::Display) -> ApiError {
        ApiError { status, message: message.to_string(), more: Value::Null }
    }

    /// The request is malformed. This is a mistake of the sender.
    pub(crate) fn bad(message: impl fmt::Display) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, message)
    }

    /// What the request names does not exist.
    pub(crate) fn missing(message: impl fmt::Display) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, message)
    }

    /// The sender has no right to this.
    pub(crate) fn forbidden(message: impl fmt::Display) -> ApiError {
        ApiError::new(StatusCode::FORBIDDEN, message)
    }

    /// The sender has not said who it is.
    pub(crate) fn unauthorised(message: impl fmt::Display) -> ApiError {
        ApiError::new(StatusCode::UNAUTHORIZED, message)
    }

    /// The request does not fit the current state.
    pub(crate) fn conflict(message: impl fmt::Display) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, message)
    }

    /// The request has too many bytes.
    pub(crate) fn too_large(message: impl fmt::Display) -> ApiError {
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// There is something at this address, but not for this method.
    pub(crate) fn wrong_method() -> ApiError {
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this method is not allowed here")
    }

    /// A limit of the server is reached.
    pub(crate) fn busy(message: impl fmt::Display) -> ApiError {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// The server failed.
    pub(crate) fn broken(message: impl fmt::Display) -> ApiError {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// Adds keys to the answer.
    pub(crate) fn with(mut self, more: Value) -> ApiError {
        self.more = more;
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = json!({"error": self.message});
        if let (Value::Object(body), Value::Object(more)) = (&mut body, self.more) {
            body.extend(more);
        }
        json_response(self.status, &body)
    }
}

/// Returns a response with a JSON body.
pub(crate) fn json_response(status: StatusCode, body: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, Body::from(body.to_string())).into_response()
}

/// Turns an answer into a response.
pub(crate) fn respond(answer: Answer) -> Response {
    match answer {
        Ok(body) => json_response(StatusCode::OK, &body),
        Err(error) => error.into_response(),
    }
}

/// The body of a request: a JSON object.
pub(crate) struct Request(Value);

impl Request {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// [`ApiError`] if it is not a JSON object.
    pub(crate) fn parse(body: &[u8]) -> Result<Request, ApiError> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| ApiError::bad(format!("the body is not JSON: {error}")))?;
        if value.is_object() {
            Ok(Request(value))
        } else {
            Err(ApiError::bad("the body must be a JSON object"))
        }
    }

    /// Returns the value of a key; null if it is missing.
    pub(crate) fn get(&self, key: &str) -> &Value {
        &self.0[key]
    }

    /// Returns a text that must be there.
    pub(crate) fn text(&self, key: &str) -> Result<&str, ApiError> {
        self.0[key].as_str().ok_or_else(|| ApiError::bad(format!("`{key}` must be a text")))
    }

    /// Returns a text, or `None` if it is missing or null.
    pub(crate) fn optional_text(&self, key: &str) -> Result<Option<&str>, ApiError> {
        if self.0[key].is_null() { Ok(None) } else { self.text(key).map(Some) }
    }

    /// Returns a number, or `default` if it is missing or null.
    pub(crate) fn number(&self, key: &str, default: f64) -> Result<f64, ApiError> {
        let value = &self.0[key];
        if value.is_null() {
            return Ok(default);
        }
        value.as_f64().ok_or_else(|| ApiError::bad(format!("`{key}` must be a number")))
    }

    /// Returns a whole number, or `None` if it is missing or null.
    pub(crate) fn whole(&self, key: &str) -> Result<Option<u64>, ApiError> {
        let value = &self.0[key];
        if value.is_null() {
            return Ok(None);
        }
        let bad = || ApiError::bad(format!("`{key}` must be a whole number that is not negative"));
        value.as_u64().map(Some).ok_or_else(bad)
    }

    /// Returns a truth value, or `default` if it is missing or null.
    pub(crate) fn flag(&self, key: &str, default: bool) -> Result<bool, ApiError> {
        let value = &self.0[key];
        if value.is_null() {
            return Ok(default);
        }
        value.as_bool().ok_or_else(|| ApiError::bad(format!("`{key}` must be true or false")))
    }

    /// Returns a list of texts; empty if it is missing or null.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>, ApiError> {
        texts(&self.0[key]).ok_or_else(|| ApiError::bad(format!("`{key}` must be a list of texts")))
    }
}

/// Reads a list of texts; null is the empty list.
pub(crate) fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// Reads a list of joint moves; null is the empty list.
pub(crate) fn joint_moves(value: &Value) -> Option<Vec<Vec<String>>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(steps) => steps.iter().map(texts).collect(),
        _ => None,
    }
}
