//! What a player thought, as text for others to show.

use agon_game::Notation;
use agon_search::Report;
use serde_json::{Value, json};

/// A search's report with its moves as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Thought {
    /// What the player expects to get; `None` if it has no opinion.
    pub value: Option<f64>,
    /// Whether that is proved.
    pub is_proven: bool,
    /// Its moves, best first; only the first few.
    pub considered: Vec<Considered>,
    /// The line of play expected: joint moves.
    pub line: Vec<Vec<String>>,
    /// Iterations made.
    pub iterations: u64,
    /// Positions looked at.
    pub nodes: u64,
    /// Random playouts made.
    pub playouts: u64,
    /// The greatest depth reached.
    pub depth: u32,
    /// How long it took.
    pub seconds: f64,
}

/// A move that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Considered {
    /// The move.
    pub text: String,
    /// How often it was tried.
    pub visits: u64,
    /// What it is expected to pay.
    pub value: f64,
    /// How likely it is to be played.
    pub probability: f64,
    /// Whether the value is proved.
    pub is_proven: bool,
}

/// As many moves as a thought keeps, and as many steps of the line expected.
const MAX_CONSIDERED: usize = 8;
const MAX_LINE: usize = 12;

impl Thought {
    /// A report in text. The moves must be moves of the position's game.
    pub fn new<P: Notation>(report: &Report<P::Move>, position: &P) -> Thought {
        let considered =
            report.candidates.iter().take(MAX_CONSIDERED).map(|candidate| Considered {
                text: position.move_text(&candidate.m),
                visits: candidate.visits,
                value: candidate.value,
                probability: candidate.probability,
                is_proven: candidate.is_proven,
            });
        let line = report.lines.first().map_or(&[][..], |line| &line.joints);
        Thought {
            value: (!report.candidates.is_empty()).then_some(report.value),
            is_proven: report.is_proven,
            considered: considered.collect(),
            line: line
                .iter()
                .take(MAX_LINE)
                .map(|joint| joint.iter().map(|m| position.move_text(m)).collect())
                .collect(),
            iterations: report.iterations,
            nodes: report.nodes,
            playouts: report.playouts,
            depth: report.depth,
            seconds: report.seconds,
        }
    }

    /// Playouts in a second, if there were any.
    pub fn playouts_per_second(&self) -> Option<f64> {
        (self.playouts > 0 && self.seconds > 0.0).then(|| self.playouts as f64 / self.seconds)
    }

    /// As JSON, without the times, so that the same thoughts are the same text.
    pub fn to_json(&self) -> Value {
        let considered = self.considered.iter().map(|c| {
            json!({"move": c.text, "visits": c.visits, "value": c.value, "probability": c.probability,
                   "proven": c.is_proven})
        });
        json!({
            "value": self.value, "proven": self.is_proven, "considered": considered.collect::<Vec<_>>(),
            "line": self.line, "iterations": self.iterations, "nodes": self.nodes,
            "playouts": self.playouts, "depth": self.depth,
        })
    }
}
