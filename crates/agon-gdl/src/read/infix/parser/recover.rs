//! The readable parts of infix clauses with mistakes.

use super::{Comma, Parser, TokenKind, atom};
use crate::syntax::{Atom, Literal, LiteralKind, PartialClause, Term};

impl Parser<'_, '_> {
    /// Reads the tokens from `start` up to the current one again and keeps the sentences among
    /// them. Nothing is reported, because the mistakes are known. The time is linear: a sentence
    /// that cannot be read is not tried again inside.
    pub(super) fn recover(&mut self, start: usize) -> Option<PartialClause> {
        let end = self.at;
        self.builder.is_quiet = true;
        self.at = start;
        let (mut head, mut body) = (None, Vec::new());
        let mut is_body = false;
        while self.at < end {
            self.depth = 0;
            let here = self.at;
            match self.kind() {
                TokenKind::Implies => {
                    is_body = true;
                    self.at += 1;
                }
                TokenKind::Name(_) | TokenKind::Quoted(_) if !is_body => {
                    is_body = true;
                    head = match self.term("") {
                        Ok(term) => atom(term),
                        Err(_) => self.names_since(here),
                    };
                }
                TokenKind::Name(_)
                | TokenKind::Quoted(_)
                | TokenKind::Variable(_)
                | TokenKind::Anonymous
                    if self.connective(Comma::Joins).is_none() =>
                {
                    match self.atom_or_difference() {
                        Ok(literal) => body.push(literal),
                        Err(_) => body.extend(self.names_since(here).map(|atom| Literal {
                            span: atom.span,
                            kind: LiteralKind::Atom(atom),
                        })),
                    }
                }
                _ => self.at += 1,
            }
            self.at = self.at.max(here + 1);
        }
        self.at = end;
        self.builder.is_quiet = false;
        let variables = self.builder.take_variables();
        body.retain(
            |literal| !matches!(&literal.kind, LiteralKind::And(parts) if parts.is_empty()),
        );
        let span = self.tokens[start].span.to(self.tokens[end.max(start + 1) - 1].span);
        (head.is_some() || !body.is_empty()).then_some(PartialClause {
            head,
            body,
            variables,
            span,
        })
    }

    /// Makes a sentence of the name at `start` with all names and variables up to the current token
    /// as its arguments. `None` if it starts with a variable.
    fn names_since(&mut self, start: usize) -> Option<Atom> {
        let mut terms = Vec::new();
        for token in &self.tokens[start..self.at.max(start + 1)] {
            let term: Term = match &token.kind {
                TokenKind::Name(name) => self.builder.term(name, token.span, vec![], token.span),
                TokenKind::Quoted(name) => self.builder.term(name, token.span, vec![], token.span),
                TokenKind::Variable(name) => self.builder.variable(name, token.span),
                _ => continue,
            };
            terms.push(term);
        }
        if terms.is_empty() {
            return None;
        }
        let span = terms.iter().map(|term| term.span).reduce(agon_text::Span::to)?;
        let mut sentence = atom(terms.remove(0))?;
        sentence.arguments = terms;
        sentence.span = span;
        Some(sentence)
    }
}
