//! Parses text into a syntax tree, and reports everything that cannot be parsed with its place.
//!
//! After an error, parsing continues at the next section, so that one run reports many errors. The
//! names that were read before the error stay known. Nothing else is checked here.

mod board;
mod cursor;
mod formula;
mod game;
mod lexemes;
mod lexer;
mod rule;
mod structure;
mod term;

use std::sync::Arc;

use agon_text::{Diagnostics, Source};

use crate::syntax::{Formula, GameSheet, Structure, Term};
use cursor::Cursor;

pub use cursor::{RESERVED, SECTIONS};
pub use lexemes::{Lexeme, LexemeKind, lexemes};
pub use term::FUNCTIONS;

/// Parses a game. The tree contains everything that could be parsed, even if there are errors.
pub fn read(source: Arc<Source>) -> (GameSheet, Diagnostics) {
    let mut cursor = Cursor::new(&source);
    let sheet = game::sheet(&mut cursor, Arc::clone(&source));
    let mut findings = cursor.findings;
    findings.sort();
    (sheet, findings)
}

/// Returns whether a text looks like a game of this language: its first word, after comments,
/// starts a section.
pub fn looks_like_game(text: &str) -> bool {
    let lines = text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.is_empty() && !line.starts_with("//"));
    let first = lines.map(|line| line.trim_start_matches('\u{feff}')).next().unwrap_or_default();
    let word =
        first.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    cursor::SECTIONS.contains(&word)
}

/// Returns whether a source is a game of this language and not of GDL, by the ending of its name, or
/// else by its first word.
pub fn is_game(source: &Source) -> bool {
    let ending = std::path::Path::new(source.name()).extension().unwrap_or_default();
    ending == "toss" || (ending != "kif" && looks_like_game(source.text()))
}

/// Parses a formula that is a text of its own.
///
/// # Errors
/// All syntax errors.
pub fn read_formula(source: &Source) -> Result<Formula, Diagnostics> {
    alone(source, formula::formula)
}

/// Parses a term that is a text of its own.
///
/// # Errors
/// All syntax errors.
pub fn read_term(source: &Source) -> Result<Term, Diagnostics> {
    alone(source, term::term)
}

/// Parses a structure that is a text of its own.
///
/// # Errors
/// All syntax errors.
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
