//! Text to rulesheet, in whichever syntax it is written.

pub(crate) mod builder;
mod infix;
pub(crate) mod kif;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod words;

use std::sync::Arc;

use agon_text::{Diagnostics, Source};

use crate::symbols::Case;
use crate::syntax::{Rulesheet, Syntax};

/// How deep lists and terms may nest. The deepest public rulesheet nests 22 deep; the limit keeps the readers,
/// which recurse, within their stack.
pub const MAX_NESTING: usize = 200;

/// Reads a rulesheet. The syntax is chosen by content. What could be read is returned together with all that is
/// wrong with it; a rulesheet whose findings include an error should not be used further.
pub fn read(source: Arc<Source>) -> (Rulesheet, Diagnostics) {
    read_as(source, Case::Ignored)
}

/// The same with names read with or without regard to their capitalisation. Variables never differ by it.
pub fn read_as(source: Arc<Source>, case: Case) -> (Rulesheet, Diagnostics) {
    let syntax = guess_syntax(source.text());
    read_in(source, case, syntax)
}

/// The same in a syntax that is known beforehand.
pub fn read_in(source: Arc<Source>, case: Case, syntax: Syntax) -> (Rulesheet, Diagnostics) {
    match syntax {
        Syntax::Kif => kif::read(source, case),
        Syntax::Infix => infix::read(source, case),
    }
}

/// Which syntax a text is written in, decided by its first clause that can tell.
///
/// KIF starts a clause with a parenthesis, infix never does. A clause may be a bare name in both, so these are
/// passed over; infix shows itself by `name(`, `:-`, `<=` or `.` after the name, or by a single quote. A text that
/// shows nothing is KIF, unless its comments are those of infix.
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
        // A word that ends at once is a mark without meaning here; what follows it may tell.
        rest = &rest[word_end.max(rest.chars().next().map_or(0, char::len_utf8))..];
    }
}

const INFIX_COMMENTS: [&str; 4] = ["%", "//", "#", "/*"];

/// `;` starts a comment in KIF, the others do in infix.
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

/// Splits a text into the KIF terms that stand in it one after the other, such as the moves of a joint move.
///
/// # Errors
/// If parentheses do not match; the text says so.
pub fn split_terms(text: &str) -> Result<Vec<String>, String> {
    let mut builder = builder::Builder::default();
    let trees = kif::read_trees(text, &mut builder);
    match builder.findings.0.first() {
        Some(finding) => Err(format!("`{text}`: {}", finding.message)),
        None => Ok(trees
            .iter()
            .map(|tree| text[tree.span().start()..tree.span().end()].to_owned())
            .collect()),
    }
}
