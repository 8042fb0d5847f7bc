//! The token stream of the parser, with the operations that all its parts use.

use agon_text::{Diagnostic, Diagnostics, Source, Span};

use super::lexer::{Token, TokenKind, tokens};
use crate::syntax::{Mention, Name, NameKind};

/// Maximum nesting of formulas and terms: far deeper than people write, and shallow enough for
/// recursion.
const MAX_DEPTH: usize = 100;

/// Maximum number of diagnostics, after which parsing stops. Later errors are mostly consequences
/// of the first.
const MAX_FINDINGS: usize = 200;

/// The keywords that start a section of a game.
pub const SECTIONS: &[&str] = &[
    "PLAYERS", "REL", "RULE", "LOC", "MODEL", "START", "STATE", "TIME", "DATA", "PAYOFF",
    "HISTORY", "PATTERN", "CONST",
];

/// The words that cannot be names of variables.
pub const RESERVED: &[&str] = &[
    "and", "or", "not", "ex", "all", "true", "false", "in", "let", "tc", "lfp", "gfp", "emb",
    "pre", "post", "inv", "with", "before",
];

pub(super) struct Cursor<'a> {
    source: &'a Source,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// Whether a name without a colon may stand for a number, as at the ends of intervals.
    pub(super) takes_bare_numbers: bool,
    /// Number of the section that is being read.
    pub(super) section: usize,
    pub(super) mentions: Vec<Mention>,
    pub(super) findings: Diagnostics,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source) -> Cursor<'a> {
        let mut findings = Diagnostics::default();
        let tokens = tokens(source, &mut findings);
        Cursor {
            source,
            tokens,
            at: 0,
            depth: 0,
            takes_bare_numbers: false,
            section: 0,
            mentions: Vec::new(),
            findings,
        }
    }

    pub(super) fn source(&self) -> &'a Source {
        self.source
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// Returns the place of the next token.
    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Returns the text of the next token.
    pub(super) fn text(&self) -> &'a str {
        self.source.slice(self.span())
    }

    /// Returns the span from a place to the last token that was read.
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

    /// Returns the sign a number of tokens ahead, if that token is a sign.
    pub(super) fn sign_after(&self, ahead: usize) -> Option<&'static str> {
        match self.tokens.get(self.at + ahead)?.kind {
            TokenKind::Sign(sign) => Some(sign),
            TokenKind::Word | TokenKind::Number | TokenKind::Board | TokenKind::End => None,
        }
    }

    /// Returns whether the next token is this word, or the sign with the same meaning.
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

    /// Skips the number 1, if it is here.
    pub(super) fn take_one(&mut self) {
        if self.kind() == TokenKind::Number && self.text() == "1" {
            self.skip();
        }
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_here = self.is_word(word);
        if is_here {
            self.skip();
        }
        is_here
    }

    /// Reads a required sign.
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
            return Some(self.take_name());
        }
        self.unexpected(what);
        None
    }

    /// Reads the token here as a name, and notes it as a variable until it is classified.
    fn take_name(&mut self) -> Name {
        let text = self.text().to_owned();
        let name = Name { text, span: self.skip() };
        let (kind, section) = (NameKind::Variable, self.section);
        self.mentions.push(Mention { name: name.clone(), kind, is_definition: false, section });
        name
    }

    /// Says what the last name stands for.
    pub(super) fn mention(&mut self, kind: NameKind) {
        let last = self.mentions.len().saturating_sub(1);
        self.mentions_since(last, kind);
    }

    /// Says what the last name stands for, and that it is introduced here.
    pub(super) fn definition(&mut self, kind: NameKind) {
        self.mention(kind);
        if let Some(last) = self.mentions.last_mut() {
            last.is_definition = true;
        }
    }

    /// Says what all names since a number of names stand for.
    pub(super) fn mentions_since(&mut self, start: usize, kind: NameKind) {
        self.mentions[start..].iter_mut().for_each(|mention| mention.kind = kind);
    }

    /// Reads a name or a number: elements and locations may be numbers.
    pub(super) fn name_or_number(&mut self, what: &str) -> Option<Name> {
        if self.kind() == TokenKind::Number && self.text().bytes().all(|b| b.is_ascii_digit()) {
            return Some(self.take_name());
        }
        self.name(what)
    }

    /// Reads a list of names separated by commas.
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

    /// Reports an unexpected token.
    pub(super) fn unexpected(&mut self, wanted: &str) {
        let finding = self.surprise(wanted);
        self.report(finding);
    }

    /// Reports an unexpected token, and says how to write what was probably meant.
    pub(super) fn unexpected_with(&mut self, wanted: &str, hint: impl Into<String>) {
        let finding = self.surprise(wanted).hint(hint);
        self.report(finding);
    }

    fn surprise(&self, wanted: &str) -> Diagnostic {
        let found = if self.is_at_end() {
            "unexpected end of the text".to_owned()
        } else {
            format!("found `{}`", self.text())
        };
        Diagnostic::error("toss-unexpected", self.span(), format!("{found}, expected {wanted}"))
    }

    /// Reads a required sign, and otherwise reports how to write what was probably meant.
    pub(super) fn expect_or(&mut self, sign: &str, hint: &str) -> Option<Span> {
        if self.is_sign(sign) {
            return Some(self.skip());
        }
        self.unexpected_with(&format!("`{sign}`"), hint);
        None
    }

    /// Reports a construct that is parsed but cannot be played yet.
    pub(super) fn unsupported(&mut self, span: Span, what: &str) {
        self.report(
            Diagnostic::error("toss-not-supported", span, format!("{what} cannot be played yet"))
                .hint("remove it; it is reported so that nothing is ignored silently"),
        );
    }

    pub(super) fn report(&mut self, finding: Diagnostic) {
        if self.findings.0.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.at = self.tokens.len() - 1;
        }
    }

    /// Runs `part` one nesting level deeper.
    pub(super) fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.report(
                Diagnostic::error(
                    "toss-nested-too-deep",
                    self.span(),
                    format!("formulas nest deeper than {MAX_DEPTH} levels"),
                )
                .hint("define parts of it with `REL`"),
            );
            self.skip_to_section();
            return None;
        }
        self.depth += 1;
        let read = part(self);
        self.depth -= 1;
        read
    }

    /// Skips to the start of the next section. Section keywords are long and upper case, so names
    /// seldom coincide with them.
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

    /// Returns the sign after the parenthesis that matches the one here, if any. It distinguishes a
    /// term from a formula.
    pub(super) fn sign_after_parenthesis(&self) -> Option<&'static str> {
        self.sign_after_parentheses(0)
    }

    /// Returns the sign after the parentheses that follow the word here, if any.
    pub(super) fn sign_after_word(&self) -> Option<&'static str> {
        self.sign_after_parentheses(1)
    }

    fn sign_after_parentheses(&self, start: usize) -> Option<&'static str> {
        let mut depth = 0usize;
        for (ahead, token) in self.tokens[self.at..].iter().enumerate().skip(start) {
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
