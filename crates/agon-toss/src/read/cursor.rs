//! A place among the tokens, and what every part of the reader asks of it.

use agon_text::{Diagnostic, Diagnostics, Source, Span};

use super::lexer::{Token, TokenKind, tokens};
use crate::syntax::Name;

/// Formulas and terms may nest so deep: far deeper than people write, and shallow enough for recursion.
const MAX_DEPTH: usize = 100;

/// Reading stops after so many mistakes: the first are mostly the cause.
const MAX_FINDINGS: usize = 200;

/// Words that start a section of a game.
pub(super) const SECTIONS: &[&str] = &[
    "PLAYERS", "REL", "RULE", "LOC", "MODEL", "START", "STATE", "TIME", "DATA", "PAYOFF",
    "HISTORY", "PATTERN", "CONST",
];

/// Words that are no names of variables.
const RESERVED: &[&str] = &[
    "and", "or", "not", "ex", "all", "true", "false", "in", "let", "tc", "lfp", "gfp", "emb",
    "pre", "post", "inv", "with", "before",
];

pub(super) struct Cursor<'a> {
    source: &'a Source,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    pub(super) findings: Diagnostics,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source) -> Cursor<'a> {
        let mut findings = Diagnostics::default();
        let tokens = tokens(source, &mut findings);
        Cursor { source, tokens, at: 0, depth: 0, findings }
    }

    pub(super) fn source(&self) -> &'a Source {
        self.source
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// Where the next token stands.
    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The next token as it is written.
    pub(super) fn text(&self) -> &'a str {
        self.source.slice(self.span())
    }

    /// From a place to the last token read.
    pub(super) fn since(&self, start: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        if last.end() < start.start() { start } else { start.to(last) }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.kind() == TokenKind::End
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.sign_after(0) == Some(sign)
    }

    /// The sign some tokens ahead, if there is one.
    pub(super) fn sign_after(&self, ahead: usize) -> Option<&'static str> {
        match self.tokens.get(self.at + ahead)?.kind {
            TokenKind::Sign(sign) => Some(sign),
            TokenKind::Word | TokenKind::Number | TokenKind::Board | TokenKind::End => None,
        }
    }

    /// Whether the next token is this word, or the sign that stands for it.
    pub(super) fn is_word(&self, word: &str) -> bool {
        match self.kind() {
            TokenKind::Word => self.text() == word,
            TokenKind::Sign(sign) => sign == word,
            TokenKind::Number | TokenKind::Board | TokenKind::End => false,
        }
    }

    pub(super) fn word_after(&self, ahead: usize) -> Option<&'a str> {
        let token = self.tokens.get(self.at + ahead)?;
        (token.kind == TokenKind::Word).then(|| self.source.slice(token.span))
    }

    pub(super) fn skip(&mut self) -> Span {
        let span = self.span();
        if !self.is_at_end() {
            self.at += 1;
        }
        span
    }

    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let is_here = self.is_sign(sign);
        if is_here {
            self.skip();
        }
        is_here
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_here = self.is_word(word);
        if is_here {
            self.skip();
        }
        is_here
    }

    /// Reads a sign that must be here.
    pub(super) fn expect(&mut self, sign: &str) -> Option<Span> {
        if self.is_sign(sign) {
            return Some(self.skip());
        }
        self.unexpected(&format!("`{sign}`"));
        None
    }

    /// Reads a name: a word that is not reserved.
    pub(super) fn name(&mut self, what: &str) -> Option<Name> {
        if self.kind() == TokenKind::Word && !RESERVED.contains(&self.text()) {
            let text = self.text().to_owned();
            return Some(Name { text, span: self.skip() });
        }
        self.unexpected(what);
        None
    }

    /// Reads a name that may be a number: elements and locations.
    pub(super) fn name_or_number(&mut self, what: &str) -> Option<Name> {
        if self.kind() == TokenKind::Number && self.text().bytes().all(|b| b.is_ascii_digit()) {
            let text = self.text().to_owned();
            return Some(Name { text, span: self.skip() });
        }
        self.name(what)
    }

    /// Reads names with commas between them.
    pub(super) fn names(&mut self, what: &str) -> Option<Vec<Name>> {
        let mut names = vec![self.name_or_number(what)?];
        while self.take_sign(",") {
            names.push(self.name_or_number(what)?);
        }
        Some(names)
    }

    /// Reads `(x, y)` or `()`.
    pub(super) fn arguments(&mut self) -> Option<Vec<Name>> {
        self.expect("(")?;
        if self.take_sign(")") {
            return Some(Vec::new());
        }
        let names = self.names("a variable or an element")?;
        self.expect(")")?;
        Some(names)
    }

    /// Reports that something else should stand here.
    pub(super) fn unexpected(&mut self, wanted: &str) {
        let found = if self.is_at_end() {
            "the text ends".to_owned()
        } else {
            format!("`{}` stands", self.text())
        };
        self.report(Diagnostic::error(
            "toss-unexpected",
            self.span(),
            format!("{found} where {wanted} is expected"),
        ));
    }

    /// Reports something that is understood and cannot be played yet.
    pub(super) fn unsupported(&mut self, span: Span, what: &str) {
        self.report(
            Diagnostic::error("toss-not-supported", span, format!("{what} cannot be played yet"))
                .hint("it is read so that nothing is silently ignored; leave it out"),
        );
    }

    pub(super) fn report(&mut self, finding: Diagnostic) {
        if self.findings.0.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.at = self.tokens.len() - 1;
        }
    }

    /// Goes one level deeper for the while of `part`.
    pub(super) fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.report(
                Diagnostic::error(
                    "toss-nested-too-deep",
                    self.span(),
                    format!("formulas nest deeper than {MAX_DEPTH} levels"),
                )
                .hint("give parts of it names by `REL`"),
            );
            self.skip_to_section();
            return None;
        }
        self.depth += 1;
        let read = part(self);
        self.depth -= 1;
        read
    }

    /// Skips to where a section starts. Words of sections are upper case and long, so that they are no names by accident.
    pub(super) fn skip_to_section(&mut self) {
        while !self.is_at_end() && !self.is_section() {
            self.skip();
        }
    }

    pub(super) fn is_section(&self) -> bool {
        let is_keyword = self.kind() == TokenKind::Word && SECTIONS.contains(&self.text());
        // `START(x)` and `LOC(x)` are atoms.
        is_keyword && self.sign_after(1) != Some("(")
    }

    /// The sign after the parenthesis that closes the one here, if any: it tells a term from a formula.
    pub(super) fn sign_after_parenthesis(&self) -> Option<&'static str> {
        let mut depth = 0usize;
        for (ahead, token) in self.tokens[self.at..].iter().enumerate() {
            match token.kind {
                TokenKind::Sign("(") => depth += 1,
                TokenKind::Sign(")") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return self.sign_after(ahead + 1);
                    }
                }
                _ if self.is_section_at(ahead) => return None,
                _ => {}
            }
        }
        None
    }

    fn is_section_at(&self, ahead: usize) -> bool {
        self.word_after(ahead).is_some_and(|word| SECTIONS.contains(&word))
    }
}
