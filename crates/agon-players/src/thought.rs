//! Reports of searches as text.

use agon_game::{Notation, Role};
use agon_match::{Considered, Thought};
use agon_search::Report;

/// Maximum number of moves that a thought keeps.
const MAX_CONSIDERED: usize = 8;
/// Maximum number of joint moves of the expected line that a thought keeps.
const MAX_LINE: usize = 12;

/// Converts a report to text. Its moves must be moves of the position's game.
pub fn thought_of<P: Notation>(report: &Report<P::Move>, position: &P) -> Thought {
    let text_of = |joints: &[Vec<P::Move>]| -> Vec<Vec<String>> {
        let text = |joint: &Vec<P::Move>| joint.iter().map(|m| position.move_text(m)).collect();
        joints.iter().take(MAX_LINE).map(text).collect()
    };
    let line_of = |first: &P::Move| {
        let starts = |joints: &[Vec<P::Move>]| {
            joints.first().is_some_and(|joint| joint[report.us.index()] == *first)
        };
        let line = report.lines.iter().find(|line| starts(&line.joints));
        line.map_or_else(Vec::new, |line| text_of(&line.joints))
    };
    let considered = report.candidates.iter().take(MAX_CONSIDERED).map(|candidate| Considered {
        text: position.move_text(&candidate.m),
        visits: candidate.visits,
        value: candidate.value,
        probability: candidate.probability,
        is_proven: candidate.is_proven,
        line: line_of(&candidate.m),
    });
    Thought {
        value: (!report.candidates.is_empty()).then_some(report.value),
        is_proven: report.is_proven,
        considered: considered.collect(),
        line: report.lines.first().map_or_else(Vec::new, |line| text_of(&line.joints)),
        iterations: report.iterations,
        nodes: report.nodes,
        playouts: report.playouts,
        depth: report.depth,
        seconds: report.seconds,
        method: None,
    }
}

/// Returns the report of a move that was chosen without a search.
pub(crate) fn report_without_search<M>(best: M, us: Role) -> Report<M> {
    Report {
        best,
        us,
        candidates: Vec::new(),
        value: 0.0,
        is_proven: false,
        lines: Vec::new(),
        iterations: 0,
        nodes: 0,
        playouts: 0,
        depth: 0,
        seconds: 0.0,
    }
}
