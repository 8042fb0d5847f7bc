//! Explanations: what the rules say about a game, and why a position is worth what it is.

mod gdl;
mod position;
mod toss;

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use agon_gdl::interpreter::Interpreter;
use serde_json::{Map, Value};

pub use gdl::{concepts_for_explanation, explain_gdl};
pub use toss::explain_toss;

use crate::game::Game;
use crate::position::Position;

/// How much is explained.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// Maximum number of parts of a goal, and of moves, that are shown.
    pub n_parts: usize,
    /// Time for all computations together.
    pub time: Duration,
}

impl Default for ExplainOptions {
    fn default() -> ExplainOptions {
        ExplainOptions { n_parts: 8, time: Duration::from_secs(30) }
    }
}

/// An explanation of a game and one of its positions. It displays as text with a title per section.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The sections, in reading order.
    pub sections: Vec<Section>,
    /// The content of the sections as JSON, for programs.
    pub json: Map<String, Value>,
}

/// A titled part of an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The title.
    pub title: String,
    /// The lines, without indentation.
    pub lines: Vec<Line>,
}

/// A line of an explanation, with an optional label before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What the line is about; empty if it has no label.
    pub label: String,
    /// The text.
    pub text: String,
}

impl Section {
    pub(crate) fn new(title: &str, lines: impl IntoIterator<Item = String>) -> Section {
        let line = |text| Line { label: String::new(), text };
        Section { title: title.to_owned(), lines: lines.into_iter().map(line).collect() }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, section) in self.sections.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}", section.title)?;
            for line in &section.lines {
                match line.label.as_str() {
                    "" => writeln!(f, "  {}", line.text)?,
                    label => writeln!(f, "  {label:14}  {}", line.text)?,
                }
            }
        }
        Ok(())
    }
}

/// Why a position cannot be explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainError(String);

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExplainError {}

impl Game {
    /// Explains the game and a position of it.
    ///
    /// # Errors
    /// [`ExplainError`] if the position cannot be reached by the interpreter.
    pub fn explain(&self, position: &Position) -> Result<Explanation, ExplainError> {
        self.explain_with(position, &ExplainOptions::default())
    }

    /// Explains the game and a position of it, with options.
    ///
    /// # Errors
    /// [`ExplainError`] if the position cannot be reached by the interpreter.
    pub fn explain_with(
        &self,
        position: &Position,
        options: &ExplainOptions,
    ) -> Result<Explanation, ExplainError> {
        let fail = |why: &dyn fmt::Display| ExplainError(why.to_string());
        if let Some(toss) = self.toss() {
            let mut table = agon_game::PositionTable::open(toss.start());
            follow(&mut table, position).map_err(|why| fail(&why))?;
            return Ok(explain_toss(toss, table.position(), options));
        }
        let gdl = self.gdl().expect("a game is of one of the two languages");
        let mut table = agon_game::PositionTable::<Interpreter>::hidden(gdl.start());
        follow(&mut table, position).map_err(|why| fail(&why))?;
        let analysis = self.analysis().map_err(|why| fail(why))?;
        Ok(explain_gdl(analysis, table.position(), options))
    }
}

/// Plays the moves that led to a position.
fn follow(
    table: &mut dyn agon_game::Table,
    position: &Position,
) -> Result<(), agon_game::IllegalMove> {
    for joint in position.history() {
        let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
        table.advance(&joint)?;
    }
    Ok(())
}
