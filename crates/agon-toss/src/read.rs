//! Text to tree: what can be read is read, and what cannot is reported with its place.
//!
//! After a mistake reading goes on at the next section, so that one run reports many mistakes. Nothing is judged here but
//! whether it can be read.

mod board;
mod cursor;
mod formula;
mod game;
mod lexer;
mod rule;
mod structure;
mod term;

use std::sync::Arc;

use agon_text::{Diagnostics, Source};

use crate::syntax::{Formula, GameSheet, Structure, Term};
use cursor::Cursor;

/// Reads a game. The tree holds what could be read even if there are findings.
pub fn read(source: Arc<Source>) -> (GameSheet, Diagnostics) {
    let mut cursor = Cursor::new(&source);
    let sheet = game::sheet(&mut cursor, Arc::clone(&source));
    let mut findings = cursor.findings;
    findings.sort();
    (sheet, findings)
}

/// Whether a text looks like a game of this language: its first word, after comments, starts a section.
pub fn is_like(text: &str) -> bool {
    let lines = text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.is_empty() && !line.starts_with("//"));
    let first = lines.map(|line| line.trim_start_matches('\u{feff}')).next().unwrap_or_default();
    let word =
        first.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    cursor::SECTIONS.contains(&word)
}

/// Reads a formula that stands alone.
///
/// # Errors
/// All that cannot be read in it.
pub fn read_formula(source: &Source) -> Result<Formula, Diagnostics> {
    alone(source, formula::formula)
}

/// Reads a term that stands alone.
///
/// # Errors
/// All that cannot be read in it.
pub fn read_term(source: &Source) -> Result<Term, Diagnostics> {
    alone(source, term::term)
}

/// Reads a structure that stands alone.
///
/// # Errors
/// All that cannot be read in it.
pub fn read_structure(source: &Source) -> Result<Structure, Diagnostics> {
    alone(source, structure::structure)
}

fn alone<T>(source: &Source, part: fn(&mut Cursor<'_>) -> Option<T>) -> Result<T, Diagnostics> {
    let mut cursor = Cursor::new(source);
    let read = part(&mut cursor);
    if read.is_some() && !cursor.is_at_end() {
        cursor.unexpected("the end");
    }
    let mut findings = cursor.findings;
    findings.sort();
    match read {
        Some(read) if !findings.has_errors() => Ok(read),
        _ => Err(findings),
    }
}
