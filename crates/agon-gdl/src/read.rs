//! Text to rulesheet, in KIF or infix.

mod arrow;
pub(crate) mod builder;
mod infix;
pub(crate) mod kif;
mod lexemes;
mod recover;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use std::fmt;
use std::sync::Arc;

use agon_text::{Diagnostics, Source};

use crate::symbols::Case;
use crate::syntax::{Rulesheet, Syntax};
pub use lexemes::{Lexeme, LexemeKind, lexemes};

/// Maximum nesting of lists and terms. The deepest public rulesheet nests 22 deep. The limit keeps
/// the recursive readers within their stack.
pub(crate) const MAX_NESTING: usize = 200;

/// How a text is read.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// Whether names that differ only in capitalisation are equal.
    pub case: Case,
    /// The syntax of the text. By default its content decides.
    pub syntax: Option<Syntax>,
}

impl From<Case> for ReadOptions {
    fn from(case: Case) -> ReadOptions {
        ReadOptions { case, syntax: None }
    }
}

/// Reads a rulesheet. The content decides the syntax, and names that differ only in capitalisation
/// are equal.
///
/// Returns everything that could be read together with the diagnostics. A rulesheet with an error
/// should not be played. Its clauses, and what could be read of the faulty ones
/// ([`Rulesheet::partial`]), are good enough to find names in.
pub fn read(source: Arc<Source>) -> (Rulesheet, Diagnostics) {
    read_with(source, &ReadOptions::default())
}

/// Reads a rulesheet with options. See [`read`] for the result.
pub fn read_with(source: Arc<Source>, options: &ReadOptions) -> (Rulesheet, Diagnostics) {
    match options.syntax.unwrap_or_else(|| guess_syntax(source.text())) {
        Syntax::Kif => kif::read(source, options.case),
        Syntax::Infix => infix::read(source, options.case),
    }
}

/// Guesses the syntax of a text by its first clause that allows to tell.
///
/// KIF starts a clause with a parenthesis, infix never does. A clause may be a bare name in both,
/// so these are skipped. Infix is recognised by `name(`, by `:-`, `<=` or `.` after a name, or by a
/// single quote. A text without any of these is KIF, unless its comments are those of infix.
pub fn guess_syntax(text: &str) -> Syntax {
    let mut rest = text;
    loop {
        let before = rest.trim_start_matches(is_blank);
        rest = skip_blanks_and_comments(rest);
        let word_end = match rest.chars().next() {
            // In KIF the comments of infix would be clauses.
            None if INFIX_COMMENTS.iter().any(|mark| before.starts_with(mark)) => {
                return Syntax::Infix;
            }
            None | Some('(' | ')') => return Syntax::Kif,
            Some('\'' | '~') => return Syntax::Infix,
            Some('"') => rest[1..].find(['"', '\n', '\r']).map_or(rest.len(), |end| end + 2),
            Some(_) => {
                let ends = |c: char| c.is_whitespace() || "();,.:".contains(c);
                rest.find(ends).unwrap_or(rest.len())
            }
        };
        let after = skip_blanks_and_comments(&rest[word_end..]);
        let is_call = rest[word_end..].starts_with('(');
        if is_call || [":-", "<=", ".", ","].iter().any(|mark| after.starts_with(mark)) {
            return Syntax::Infix;
        }
        // An empty word is a character without meaning here. The text after it may tell the syntax.
        rest = &rest[word_end.max(rest.chars().next().map_or(0, char::len_utf8))..];
    }
}

const INFIX_COMMENTS: [&str; 4] = ["%", "//", "#", "/*"];

/// Skips blanks and comments. `;` starts a comment in KIF, the other marks do in infix.
fn skip_blanks_and_comments(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_blank);
        rest = if [";", "%", "//", "#"].iter().any(|mark| rest.starts_with(mark)) {
            rest.find(['\n', '\r']).map_or("", |end| &rest[end..])
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or("", |end| &comment[end + 2..])
        } else {
            return rest;
        };
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Splits a text into the KIF terms that it consists of, such as the moves of a joint move.
///
/// # Errors
/// If a parenthesis or a quotation mark has no partner, or lists nest too deep.
pub fn split_terms(text: &str) -> Result<Vec<String>, TermsError> {
    let mut builder = builder::Builder::default();
    let trees = kif::read_trees(text, &mut builder);
    match builder.findings.0.first() {
        Some(finding) => {
            Err(TermsError { text: text.to_owned(), message: finding.message.clone() })
        }
        None => Ok(trees
            .iter()
            .map(|tree| text[tree.span().start()..tree.span().end()].to_owned())
            .collect()),
    }
}

/// A text that is not a sequence of KIF terms. Returned by [`split_terms`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TermsError {
    text: String,
    message: String,
}

impl fmt::Display for TermsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.text, self.message)
    }
}

impl std::error::Error for TermsError {}
