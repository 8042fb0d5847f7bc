//! Infix text to tokens.
//!
//! A character that cannot be part of a token becomes [`TokenKind::Other`], which the parser
//! reports where it meets it. Unterminated comments and quotes are reported here.

use std::borrow::Cow;

use agon_text::{Diagnostic, Span};

use crate::read::builder::Builder;
use crate::read::words::{infix_word, is_infix_variable, quoted_name};

/// A token and its place.
pub(in crate::read) struct Token<'a> {
    pub(in crate::read) kind: TokenKind<'a>,
    pub(in crate::read) span: Span,
    /// Number of bytes between the start of the line and the token.
    pub(super) column: usize,
    /// Whether no other token stands before it on its line.
    pub(super) is_first: bool,
}

/// The kinds of tokens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::read) enum TokenKind<'a> {
    /// A bare word that is not a variable, keywords included.
    Name(&'a str),
    /// A quoted name, as the rules know it.
    Quoted(Cow<'a, str>),
    /// `X` or `?x`, without the `?`.
    Variable(&'a str),
    /// A bare `_`.
    Anonymous,
    Open,
    Close,
    Comma,
    /// `&`
    And,
    /// `|` or `;`
    Or,
    /// `~`
    Not,
    /// `:-` or `<=`
    Implies,
    /// `!=` or `\=`
    Differ,
    Stop,
    /// A character without meaning in infix.
    Other,
    /// A word with a mistake that has been reported.
    Wrong,
    /// The end of the text.
    End,
}

/// Returns all tokens of `text`. The last one, and only the last, is [`TokenKind::End`].
pub(in crate::read) fn tokens<'a>(text: &'a str, builder: &mut Builder) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line_start = 0;
    let mut is_first = true;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c == '\n' || c == '\r' {
            at += 1;
            (line_start, is_first) = (at, true);
        } else if c.is_whitespace() || c == '\u{feff}' {
            at += c.len_utf8();
        } else if let Some(inner) = rest.strip_prefix("/*") {
            let end = inner.find("*/").map(|end| end + 4);
            if end.is_none() {
                builder.report(
                    Diagnostic::error(
                        "unterminated-comment",
                        Span::new(at, at + 2),
                        "comment is never closed",
                    )
                    .hint("add the missing `*/`"),
                );
            }
            let comment = &rest[..end.unwrap_or(rest.len())];
            if let Some(line_end) = comment.rfind(['\n', '\r']) {
                (line_start, is_first) = (at + line_end + 1, true);
            }
            at += comment.len();
        } else if starts_line_comment(rest, is_first) {
            at += rest.find(['\n', '\r']).unwrap_or(rest.len());
        } else {
            let (kind, length) = token(rest, at, builder);
            let span = Span::new(at, at + length);
            tokens.push(Token { kind, span, column: at - line_start, is_first });
            is_first = false;
            at += length;
        }
    }
    let span = Span::new(at, at);
    tokens.push(Token { kind: TokenKind::End, span, column: at - line_start, is_first });
    tokens
}

/// Returns whether a comment up to the end of the line starts here. A single `;` is `or`, also at
/// the start of a line.
fn starts_line_comment(rest: &str, is_first: bool) -> bool {
    rest.starts_with('%')
        || rest.starts_with("//")
        || (is_first && (rest.starts_with('#') || rest.starts_with(";;")))
}

/// Returns the token at the start of `rest`, which is not empty, and its length.
fn token<'a>(rest: &'a str, at: usize, builder: &mut Builder) -> (TokenKind<'a>, usize) {
    let two = |mark| rest.starts_with(mark);
    match rest.as_bytes()[0] {
        b'(' => (TokenKind::Open, 1),
        b')' => (TokenKind::Close, 1),
        b',' => (TokenKind::Comma, 1),
        b'&' => (TokenKind::And, 1),
        b'|' | b';' => (TokenKind::Or, 1),
        b'~' => (TokenKind::Not, 1),
        b'.' => (TokenKind::Stop, 1),
        b':' | b'<' if two(":-") || two("<=") => (TokenKind::Implies, 2),
        b'!' | b'\\' if two("!=") || two("\\=") => (TokenKind::Differ, 2),
        b'\'' => single_quoted(rest, at, builder),
        b'"' => match rest[1..].find(['"', '\n', '\r']) {
            Some(end) if rest[1 + end..].starts_with('"') => {
                (TokenKind::Quoted(Cow::Borrowed(&rest[..end + 2])), end + 2)
            }
            end => not_closed(end.map_or(rest.len(), |end| end + 1), at, builder),
        },
        b'?' => match infix_word(&rest[1..]) {
            0 => (TokenKind::Other, 1),
            length => (TokenKind::Variable(&rest[1..1 + length]), 1 + length),
        },
        _ => match infix_word(rest) {
            0 => (TokenKind::Other, rest.chars().next().map_or(1, char::len_utf8)),
            length => match &rest[..length] {
                "_" => (TokenKind::Anonymous, length),
                word if is_infix_variable(word) => (TokenKind::Variable(word), length),
                word => (TokenKind::Name(word), length),
            },
        },
    }
}

/// Reads `'…'`, with `\'` and `\\` inside. Any other `\` stands for itself.
fn single_quoted<'a>(rest: &'a str, at: usize, builder: &mut Builder) -> (TokenKind<'a>, usize) {
    let mut name = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((place, c)) = chars.next() {
        match c {
            '\n' | '\r' => return not_closed(place, at, builder),
            '\'' => {
                let length = place + 1;
                let Some(name) = quoted_name(&name) else {
                    builder.report(
                        Diagnostic::error(
                            "unexpected-token",
                            Span::new(at, at + length),
                            "a name with blanks or parentheses cannot contain both `\"` and `|`",
                        )
                        .hint("KIF cannot quote such a name; remove one of the two marks"),
                    );
                    return (TokenKind::Wrong, length);
                };
                return (TokenKind::Quoted(Cow::Owned(name.into_owned())), length);
            }
            '\\' => {
                let escaped = chars.next_if(|(_, c)| matches!(c, '\'' | '\\'));
                name.push(escaped.map_or('\\', |(_, c)| c));
            }
            _ => name.push(c),
        }
    }
    not_closed(rest.len(), at, builder)
}

fn not_closed<'a>(length: usize, at: usize, builder: &mut Builder) -> (TokenKind<'a>, usize) {
    builder.report(unterminated_quote(Span::new(at, at + 1)));
    (TokenKind::Wrong, length)
}

/// Creates the error about a quote that is never closed, for both syntaxes.
pub(in crate::read) fn unterminated_quote(mark: Span) -> Diagnostic {
    Diagnostic::error("unterminated-quote", mark, "quotation mark is not closed on this line")
        .hint("add the missing mark; a quoted name ends on the line it starts on")
}
