//! Text to lexemes with comments, for formatters and editors.

use agon_text::{Diagnostics, Source, Span};

use super::cursor::{RESERVED, SECTIONS};
use super::lexer::{TokenKind, tokens};

/// The kinds of lexemes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LexemeKind {
    /// A keyword that starts a section.
    Section,
    /// Another word of the language, such as `and` or `emb`.
    Keyword,
    /// A name.
    Name,
    /// A number.
    Number,
    /// A board with its quotation marks.
    Board,
    /// A sign, such as `->`.
    Sign,
    /// A comment, without the end of its line.
    Comment,
}

/// A lexeme and its place.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Lexeme {
    /// The kind of lexeme.
    pub kind: LexemeKind,
    /// The place in the text.
    pub span: Span,
}

/// Words inside of sections that are keywords only there.
const INNER: &[&str] = &[
    "PLAYER", "MOVES", "EDGES", "ELEMS", "MATCH", "RELS", "dynamics", "update", "inf", "as", "Sum",
    "Prod", "Min", "Max",
];

/// Returns all lexemes of a text, in order. Characters without meaning are left out.
pub fn lexemes(source: &Source) -> Vec<Lexeme> {
    let text = source.text();
    let tokens = tokens(source, &mut Diagnostics::default());
    let mut lexemes = Vec::with_capacity(tokens.len());
    let mut end = 0;
    for (index, token) in tokens.iter().enumerate() {
        comments(text, Span::new(end, token.span.start()), &mut lexemes);
        end = token.span.end();
        let word = source.slice(token.span);
        let opens = matches!(tokens.get(index + 1).map(|t| t.kind), Some(TokenKind::Sign("(")));
        let kind = match token.kind {
            TokenKind::Word if SECTIONS.contains(&word) && !opens => LexemeKind::Section,
            TokenKind::Word if RESERVED.contains(&word) || INNER.contains(&word) => {
                LexemeKind::Keyword
            }
            TokenKind::Word => LexemeKind::Name,
            TokenKind::Number => LexemeKind::Number,
            TokenKind::Board => LexemeKind::Board,
            TokenKind::Sign(_) => LexemeKind::Sign,
            TokenKind::End => break,
        };
        lexemes.push(Lexeme { kind, span: token.span });
    }
    lexemes
}

/// Adds the comments between two tokens.
fn comments(text: &str, gap: Span, lexemes: &mut Vec<Lexeme>) {
    let mut at = gap.start();
    while let Some(start) = text[at..gap.end()].find("//") {
        let start = at + start;
        let end = text[start..gap.end()].find(['\n', '\r']).map_or(gap.end(), |end| start + end);
        lexemes.push(Lexeme { kind: LexemeKind::Comment, span: Span::new(start, end) });
        at = end;
    }
}
