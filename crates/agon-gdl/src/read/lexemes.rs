//! Text to lexemes with comments, for formatters and editors.
//!
//! Nothing is lost: between two lexemes there are only blanks. Faulty text has lexemes too. What
//! cannot be part of the syntax is a [`LexemeKind::Sign`].

use agon_text::Span;

use super::builder::Builder;
use super::infix::tokens::{TokenKind, tokens};
use super::words::kif_word;
use crate::syntax::Syntax;

/// The kinds of lexemes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LexemeKind {
    /// `(`
    Open,
    /// `)`
    Close,
    /// A bare or quoted name, keywords and numbers included.
    Name,
    /// `?x`, and in infix also `X` and `_`.
    Variable,
    /// A comment, without the end of its line.
    Comment,
    /// Anything else: the connectives and full stops of infix, and characters without meaning.
    Sign,
}

/// A lexeme and its place.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Lexeme {
    /// The kind of lexeme.
    pub kind: LexemeKind,
    /// The place in the text.
    pub span: Span,
}

/// Returns all lexemes of a text, in order.
pub fn lexemes(text: &str, syntax: Syntax) -> Vec<Lexeme> {
    match syntax {
        Syntax::Kif => KifLexemes::new(text, 0).map(|(lexeme, _)| lexeme).collect(),
        Syntax::Infix => infix_lexemes(text),
    }
}

/// Whether a quoted word of KIF is closed on its line.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Quote {
    /// The word is closed, or has no quotation marks.
    Closed,
    /// The closing mark is missing.
    Open,
}

/// Iterates over the lexemes of KIF.
pub(super) struct KifLexemes<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> KifLexemes<'a> {
    /// Starts at a byte, which must not be inside a lexeme.
    pub(super) fn new(text: &'a str, at: usize) -> KifLexemes<'a> {
        KifLexemes { text, at }
    }
}

impl Iterator for KifLexemes<'_> {
    type Item = (Lexeme, Quote);

    fn next(&mut self) -> Option<(Lexeme, Quote)> {
        let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
        let text = self.text;
        self.at = text.len() - text[self.at..].trim_start_matches(is_blank).len();
        let rest = &text[self.at..];
        let mut quote = Quote::Closed;
        let (kind, length) = match rest.chars().next()? {
            '(' => (LexemeKind::Open, 1),
            ')' => (LexemeKind::Close, 1),
            ';' => (LexemeKind::Comment, rest.find(['\n', '\r']).unwrap_or(rest.len())),
            first => {
                // No public rulesheet has quoted words, but some tools write them.
                let length = kif_word(rest).unwrap_or_else(|length| {
                    quote = Quote::Open;
                    length
                });
                let is_variable = first == '?';
                (if is_variable { LexemeKind::Variable } else { LexemeKind::Name }, length)
            }
        };
        let span = Span::new(self.at, self.at + length);
        self.at += length;
        Some((Lexeme { kind, span }, quote))
    }
}

fn infix_lexemes(text: &str) -> Vec<Lexeme> {
    let mut lexemes = Vec::new();
    let mut end = 0;
    for token in tokens(text, &mut Builder::default()) {
        comments(text, Span::new(end, token.span.start()), &mut lexemes);
        end = token.span.end();
        let kind = match token.kind {
            TokenKind::Name(_) | TokenKind::Quoted(_) => LexemeKind::Name,
            TokenKind::Variable(_) | TokenKind::Anonymous => LexemeKind::Variable,
            TokenKind::Open => LexemeKind::Open,
            TokenKind::Close => LexemeKind::Close,
            TokenKind::Comma
            | TokenKind::And
            | TokenKind::Or
            | TokenKind::Not
            | TokenKind::Implies
            | TokenKind::Differ
            | TokenKind::Stop
            | TokenKind::Other
            | TokenKind::Wrong => LexemeKind::Sign,
            TokenKind::End => break,
        };
        lexemes.push(Lexeme { kind, span: token.span });
    }
    lexemes
}

/// Adds the comments between two tokens, where only blanks and comments stand.
fn comments(text: &str, gap: Span, lexemes: &mut Vec<Lexeme>) {
    let mut at = gap.start();
    while let Some(c) = text[at..gap.end()].chars().next() {
        if c.is_whitespace() || c == '\u{feff}' {
            at += c.len_utf8();
            continue;
        }
        let rest = &text[at..gap.end()];
        let end = match rest.strip_prefix("/*") {
            Some(inner) => inner.find("*/").map_or(rest.len(), |end| end + 4),
            None => rest.find(['\n', '\r']).unwrap_or(rest.len()),
        };
        lexemes.push(Lexeme { kind: LexemeKind::Comment, span: Span::new(at, at + end) });
        at += end;
    }
}
