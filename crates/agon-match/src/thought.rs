//! The report of a player's search as text, to be shown or recorded.

use serde_json::{Value, json};

/// A search report with moves as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Thought {
    /// The payoff that the player expects; `None` if the search has no estimate.
    pub value: Option<f64>,
    /// Whether the value is proved.
    pub is_proven: bool,
    /// The first few candidate moves, best first.
    pub considered: Vec<Considered>,
    /// The expected line of play: joint moves.
    pub line: Vec<Vec<String>>,
    /// Number of iterations made.
    pub iterations: u64,
    /// Number of positions visited.
    pub nodes: u64,
    /// Number of random playouts made.
    pub playouts: u64,
    /// Maximum depth reached.
    pub depth: u32,
    /// Duration of the search in seconds.
    pub seconds: f64,
    /// How the player searches and why, if it chose between several ways.
    pub method: Option<String>,
}

/// A candidate move.
#[derive(Clone, Debug, PartialEq)]
pub struct Considered {
    /// The move.
    pub text: String,
    /// Number of visits.
    pub visits: u64,
    /// The expected payoff.
    pub value: f64,
    /// The probability with which the player plays the move.
    pub probability: f64,
    /// Whether the value is proved.
    pub is_proven: bool,
    /// The line that is expected after the move, which is its first step: joint moves. Empty if the
    /// search does not know it.
    pub line: Vec<Vec<String>>,
}

impl Thought {
    /// Returns the number of playouts per second, or `None` if there were no playouts.
    pub fn playouts_per_second(&self) -> Option<f64> {
        (self.playouts > 0 && self.seconds > 0.0).then(|| self.playouts as f64 / self.seconds)
    }

    /// Returns the report as JSON without the duration, so that equal searches give equal text.
    pub fn to_json(&self) -> Value {
        let considered = self.considered.iter().map(|c| {
            json!({
                "move": c.text,
                "visits": c.visits,
                "value": c.value,
                "probability": c.probability,
                "proven": c.is_proven,
            })
        });
        let mut json = json!({
            "value": self.value,
            "proven": self.is_proven,
            "considered": considered.collect::<Vec<_>>(),
            "line": self.line,
            "iterations": self.iterations,
            "nodes": self.nodes,
            "playouts": self.playouts,
            "depth": self.depth,
        });
        if let (Some(object), Some(method)) = (json.as_object_mut(), &self.method) {
            object.insert("method".to_owned(), json!(method));
        }
        json
    }
}
