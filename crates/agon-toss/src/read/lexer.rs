//! Text to tokens.

use agon_text::{Diagnostic, Diagnostics, Source, Span};

/// A piece of text that belongs together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or a keyword.
    Word,
    /// Digits, with a point perhaps.
    Number,
    /// A text in quotation marks: a board.
    Board,
    /// A sign, in its first spelling: `and` for `∧`, `<=` for `=<`.
    Sign(&'static str),
    End,
}

/// Signs, the longer ones first, and what they are taken for.
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

/// The tokens of a text, at last [`TokenKind::End`]. What is no token is reported and left out.
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
                    .hint("a board ends with a quotation mark, as it begins"),
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
        if first == '#' || first == '%' {
            finding = finding.hint("comments start with `//`");
        }
        findings.push(finding);
        at = end;
    }
    tokens.push(Token { kind: TokenKind::End, span: Span::new(text.len(), text.len()) });
    tokens
}
