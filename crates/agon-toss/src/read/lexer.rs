//! Splits text into tokens.

use agon_text::{Diagnostic, Diagnostics, Source, Span};

/// A token with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or a keyword.
    Word,
    /// Digits, possibly with a decimal point.
    Number,
    /// A text in quotation marks: a board.
    Board,
    /// A sign in its canonical spelling: `and` for `∧`, `<=` for `=<`.
    Sign(&'static str),
    End,
}

/// The spellings of signs, longer ones first, with their canonical spelling.
const SIGNS: &[(&str, &str)] = &[
    ("->", "->"),
    ("<-", "<-"),
    ("--", "--"),
    ("<=", "<="),
    ("=<", "<="),
    (">=", ">="),
    ("!=", "!="),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("∧", "and"),
    ("∨", "or"),
    ("¬", "not"),
    ("∃", "ex"),
    ("∀", "all"),
    ("·", "*"),
    ("→", "->"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    ("{", "{"),
    ("}", "}"),
    ("|", "|"),
    (",", ","),
    (";", ";"),
    (":", ":"),
    ("&", "&"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("^", "^"),
    ("<", "<"),
    (">", ">"),
    ("=", "="),
    ("'", "'"),
    ("~", "~"),
];

/// Returns the tokens of a text, followed by [`TokenKind::End`]. Characters that do not belong to a
/// token are reported and skipped.
pub(super) fn tokens(source: &Source, findings: &mut Diagnostics) -> Vec<Token> {
    let text = source.text();
    let mut tokens = Vec::new();
    let mut at = 0;
    let run = |from: usize, is_part: &dyn Fn(char) -> bool| {
        text[from..].find(|c: char| !is_part(c)).map_or(text.len(), |length| from + length)
    };
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() || first == '\u{feff}' {
            at += first.len_utf8();
            continue;
        }
        if text[at..].starts_with("//") {
            at = run(at, &|c| c != '\n' && c != '\r');
            continue;
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let end = run(at, &|c| c.is_ascii_alphanumeric() || c == '_');
            tokens.push(Token { kind: TokenKind::Word, span: Span::new(at, end) });
            at = end;
            continue;
        }
        if first.is_ascii_digit() {
            let mut end = run(at, &|c| c.is_ascii_digit());
            let decimals = text[end..]
                .strip_prefix('.')
                .is_some_and(|t| t.starts_with(|c: char| c.is_ascii_digit()));
            if decimals {
                end = run(end + 1, &|c| c.is_ascii_digit());
            }
            tokens.push(Token { kind: TokenKind::Number, span: Span::new(at, end) });
            at = end;
            continue;
        }
        if first == '"' {
            let Some(length) = text[at + 1..].find('"') else {
                findings.push(
                    Diagnostic::error(
                        "toss-open-board",
                        Span::new(at, at + 1),
                        "the board is never closed",
                    )
                    .hint("close the board with a quotation mark"),
                );
                break;
            };
            let end = at + length + 2;
            tokens.push(Token { kind: TokenKind::Board, span: Span::new(at, end) });
            at = end;
            continue;
        }
        if let Some((spelling, sign)) =
            SIGNS.iter().find(|(spelling, _)| text[at..].starts_with(spelling))
        {
            let end = at + spelling.len();
            tokens.push(Token { kind: TokenKind::Sign(sign), span: Span::new(at, end) });
            at = end;
            continue;
        }
        let end = at + first.len_utf8();
        let mut finding = Diagnostic::error(
            "toss-unknown-sign",
            Span::new(at, end),
            format!("`{first}` means nothing here"),
        );
        match first {
            '#' | '%' => finding = finding.hint("comments start with `//`"),
            '.' => finding = finding.hint("an interval is written `0 -- 1`, a number `0.5`"),
            _ => {}
        }
        findings.push(finding);
        at = end;
    }
    tokens.push(Token { kind: TokenKind::End, span: Span::new(text.len(), text.len()) });
    tokens
}
