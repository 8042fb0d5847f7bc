//! Tokens to clauses, by recursive descent. No token is read twice, so the time is linear.

mod errors;
mod recover;

use agon_text::Span;

use self::errors::{Misplaced, Unreadable};
use super::tokens::{Token, TokenKind};
use crate::read::MAX_NESTING;
use crate::read::builder::Builder;
use crate::symbols::keyword;
use crate::syntax::{Atom, Clause, Literal, LiteralKind, PartialClause, Term, TermKind};

/// Returns all clauses that could be read from the tokens of `text`, and the readable parts of the
/// others.
pub(super) fn clauses(
    text: &str,
    tokens: &[Token<'_>],
    builder: &mut Builder,
) -> (Vec<Clause>, Vec<PartialClause>) {
    let mut parser =
        Parser { text, tokens, at: 0, builder, clause_column: 0, depth: 0, is_wrong: false };
    let (mut clauses, mut partial) = (Vec::new(), Vec::new());
    while *parser.kind() != TokenKind::End {
        let start = parser.at;
        match parser.clause() {
            Some(clause) => clauses.push(clause),
            None => partial.extend(parser.recover(start)),
        }
    }
    (clauses, partial)
}

/// The meaning of a comma between conditions.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Comma {
    /// `p, q` is `p & q`.
    Joins,
    /// `or(p, q)` has two conditions.
    Separates,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Connective {
    And,
    Or,
}

struct Parser<'t, 'a> {
    text: &'t str,
    /// Ends with [`TokenKind::End`], which is never passed.
    tokens: &'t [Token<'a>],
    at: usize,
    builder: &'t mut Builder,
    /// The column in which the clause being read starts.
    clause_column: usize,
    /// Number of open parentheses and `not`s.
    depth: usize,
    /// Whether the clause has a mistake that did not stop its reading.
    is_wrong: bool,
}

impl<'t, 'a> Parser<'t, 'a> {
    fn clause(&mut self) -> Option<Clause> {
        let start = self.at;
        (self.clause_column, self.depth, self.is_wrong) = (self.peek().column, 0, false);
        let parts = self.head_and_body();
        if parts.is_err() {
            self.skip_clause(start);
        }
        let variables = self.builder.take_variables();
        let (head, body, is_rule) = parts.ok()?;
        let span = self.tokens[start].span.to(self.tokens[self.at - 1].span);
        let clause = Clause { head, body, is_rule, variables, span };
        // KIF needs a list for each `&` between `|`s as well. A text that one syntax accepts must
        // be acceptable in the other.
        if !self.is_wrong && kif_depth(&clause) > MAX_NESTING {
            self.report_too_deep(span);
        }
        (!self.is_wrong).then_some(clause)
    }

    /// Goes to where the next clause seems to begin, at least one token after `start`.
    fn skip_clause(&mut self, start: usize) {
        loop {
            match self.kind() {
                TokenKind::End => return,
                TokenKind::Stop => {
                    self.at += 1;
                    return;
                }
                _ if self.at > start && self.begins_clause() => return,
                _ => self.at += 1,
            }
        }
    }

    /// Returns whether the next token may begin a clause although the clause before has no full
    /// stop.
    fn begins_clause(&self) -> bool {
        let token = self.peek();
        token.is_first && token.column <= self.clause_column && is_word(&token.kind)
    }

    fn head_and_body(&mut self) -> Result<(Atom, Vec<Literal>, bool), Unreadable> {
        let head = self.head()?;
        if *self.kind() != TokenKind::Implies {
            match self.kind() {
                TokenKind::Stop => self.at += 1,
                TokenKind::End => {}
                kind if is_word(kind) && self.connective(Comma::Joins).is_none() => {}
                _ => return Err(self.unexpected("`:-` or `.`")),
            }
            return Ok((head, Vec::new(), false));
        }
        self.at += 1;
        let mut body = Vec::new();
        if !matches!(self.kind(), TokenKind::Stop | TokenKind::End) {
            let mut alternatives = self.conditions(Comma::Joins)?;
            match alternatives.as_mut_slice() {
                [only] => body.append(only),
                _ => body.push(disjunction(alternatives)),
            }
        }
        match self.kind() {
            TokenKind::Stop => self.at += 1,
            TokenKind::End => {}
            _ if self.begins_clause() => {}
            _ => return Err(self.unexpected("`&`, `|` or `.`")),
        }
        Ok((head, body, true))
    }

    fn head(&mut self) -> Result<Atom, Unreadable> {
        match self.kind() {
            TokenKind::Implies => return Err(self.rule_without_head()),
            TokenKind::Variable(_) | TokenKind::Anonymous => {
                self.report_variable_as_sentence(self.peek().span);
                return Err(Unreadable);
            }
            TokenKind::Not => {
                self.report_misplaced(self.peek().span, Misplaced::InHead);
                self.at += 1;
            }
            _ => {}
        }
        let head = self.term("a fact or the head of a rule")?;
        let (name_span, span) = (head.name_span, head.span);
        let Some(head) = atom(head) else {
            self.report_variable_as_sentence(span);
            return Err(Unreadable);
        };
        if [keyword::NOT, keyword::OR, keyword::AND, keyword::DISTINCT].contains(&head.relation) {
            self.report_misplaced(name_span, Misplaced::InHead);
        }
        Ok(head)
    }

    /// Reads alternatives, each a list of conditions that must all hold. Neither list is empty.
    fn conditions(&mut self, comma: Comma) -> Result<Vec<Vec<Literal>>, Unreadable> {
        let mut alternatives = Vec::new();
        let mut together = vec![self.condition()?];
        while let Some(connective) = self.connective(comma) {
            self.at += 1;
            let condition = self.condition()?;
            match connective {
                Connective::And => together.push(condition),
                Connective::Or => {
                    alternatives.push(std::mem::replace(&mut together, vec![condition]));
                }
            }
        }
        alternatives.push(together);
        Ok(alternatives)
    }

    fn connective(&self, comma: Comma) -> Option<Connective> {
        match self.kind() {
            TokenKind::And => Some(Connective::And),
            TokenKind::Comma if comma == Comma::Joins => Some(Connective::And),
            TokenKind::Name(name) if name.eq_ignore_ascii_case("and") => Some(Connective::And),
            TokenKind::Or => Some(Connective::Or),
            TokenKind::Name(name) if name.eq_ignore_ascii_case("or") => Some(Connective::Or),
            _ => None,
        }
    }

    fn condition(&mut self) -> Result<Literal, Unreadable> {
        let start = self.peek().span;
        match *self.kind() {
            TokenKind::Not => {
                self.at += 1;
                self.negation(start)
            }
            TokenKind::Name(name) if name.eq_ignore_ascii_case("not") => {
                self.at += 1;
                if *self.kind() == TokenKind::Open
                    && self.tokens[self.at + 1].kind == TokenKind::Close
                {
                    self.at += 2;
                    self.report_arity(
                        start.to(self.last_span()),
                        "`not` takes one condition, here it has 0",
                    );
                    return Ok(placeholder(start));
                }
                self.negation(start)
            }
            TokenKind::Name(name)
                if (name.eq_ignore_ascii_case("and") || name.eq_ignore_ascii_case("or"))
                    && self.tokens[self.at + 1].kind == TokenKind::Open =>
            {
                self.at += 1;
                let parts = self.nested(Parser::condition_list)?;
                let kind = match name.eq_ignore_ascii_case("and") {
                    true => LiteralKind::And(parts),
                    false => LiteralKind::Or(parts),
                };
                Ok(Literal { kind, span: start.to(self.last_span()) })
            }
            TokenKind::Open => {
                let mut inner = self.nested(|parser| {
                    parser.at += 1;
                    let alternatives = parser.conditions(Comma::Joins)?;
                    parser.close(start, "`&`, `|` or `)`")?;
                    Ok(disjunction(alternatives))
                })?;
                if matches!(inner.kind, LiteralKind::And(_) | LiteralKind::Or(_)) {
                    inner.span = start.to(self.last_span());
                }
                Ok(inner)
            }
            _ => self.atom_or_difference(),
        }
    }

    fn negation(&mut self, start: Span) -> Result<Literal, Unreadable> {
        if !is_word(self.kind()) && !matches!(self.kind(), TokenKind::Not | TokenKind::Open) {
            self.report_misplaced(start, Misplaced::WithoutConditions);
            return Err(Unreadable);
        }
        let inner = self.nested(Parser::condition)?;
        let span = start.to(self.last_span());
        Ok(Literal { kind: LiteralKind::Not(Box::new(inner)), span })
    }

    /// Reads `(p, q & r, …)`.
    fn condition_list(&mut self) -> Result<Vec<Literal>, Unreadable> {
        let open = self.peek().span;
        self.at += 1;
        let mut parts = Vec::new();
        if *self.kind() != TokenKind::Close {
            parts.push(disjunction(self.conditions(Comma::Separates)?));
            while *self.kind() == TokenKind::Comma {
                self.at += 1;
                parts.push(disjunction(self.conditions(Comma::Separates)?));
            }
        }
        self.close(open, "`,` or `)`")?;
        Ok(parts)
    }

    /// Reads `p(X)`, `distinct(X,Y)` or `X != Y`. The first term tells which.
    fn atom_or_difference(&mut self) -> Result<Literal, Unreadable> {
        if matches!(self.kind(), TokenKind::Variable(_) | TokenKind::Anonymous)
            && self.tokens[self.at + 1].kind == TokenKind::Open
        {
            self.report_variable_as_sentence(self.peek().span);
            self.at += 1;
            self.nested(Parser::arguments)?;
            return Ok(placeholder(self.last_span()));
        }
        let left = self.term("a condition")?;
        if *self.kind() == TokenKind::Differ {
            self.at += 1;
            let right = self.term("a term")?;
            let span = left.span.to(right.span);
            return Ok(Literal { kind: LiteralKind::Distinct(vec![left, right]), span });
        }
        let (span, name_span) = (left.span, left.name_span);
        let Some(atom) = atom(left) else {
            self.report_variable_as_sentence(span);
            return Ok(placeholder(span));
        };
        let kind = match atom.relation {
            keyword::DISTINCT if span == name_span => {
                self.report_misplaced(name_span, Misplaced::WithoutConditions);
                return Ok(placeholder(span));
            }
            keyword::DISTINCT => {
                let n_terms = atom.arguments.len();
                if n_terms != 2 {
                    self.report_arity(
                        span,
                        &format!("`distinct` compares two terms, here it has {n_terms}"),
                    );
                }
                LiteralKind::Distinct(atom.arguments)
            }
            keyword::NOT | keyword::OR | keyword::AND => {
                self.report_misplaced(name_span, Misplaced::WithoutConditions);
                return Ok(placeholder(span));
            }
            _ => LiteralKind::Atom(atom),
        };
        Ok(Literal { kind, span })
    }

    /// Reads a term. If there is none, `expected` describes it in the error.
    fn term(&mut self, expected: &str) -> Result<Term, Unreadable> {
        // The tokens outlive the borrow of `self`.
        let Token { kind, span, .. } = &self.tokens[self.at];
        let span = *span;
        let name = match kind {
            TokenKind::Name(name) => name,
            TokenKind::Quoted(name) => name.as_ref(),
            TokenKind::Variable(name) => {
                self.at += 1;
                self.forbid_arguments(span)?;
                return Ok(self.builder.variable(name, span));
            }
            TokenKind::Anonymous => {
                self.at += 1;
                self.forbid_arguments(span)?;
                return Ok(self.builder.anonymous_variable(span));
            }
            _ => return Err(self.unexpected(expected)),
        };
        self.at += 1;
        let has_arguments = *self.kind() == TokenKind::Open;
        let mut arguments =
            if has_arguments { self.nested(Parser::arguments)? } else { Vec::new() };
        if !self.builder.accepts_arguments(arguments.len(), name, span) {
            arguments.clear();
        }
        Ok(self.builder.term(name, span, arguments, span.to(self.last_span())))
    }

    /// Reports arguments after a variable, which cannot be the name of a function.
    fn forbid_arguments(&mut self, name: Span) -> Result<(), Unreadable> {
        if *self.kind() == TokenKind::Open {
            self.report_variable_as_name(name);
            self.nested(Parser::arguments)?;
        }
        Ok(())
    }

    /// Reads `(a, X, …)`, possibly empty.
    fn arguments(&mut self) -> Result<Vec<Term>, Unreadable> {
        let open = self.peek().span;
        self.at += 1;
        let mut arguments = Vec::new();
        if *self.kind() != TokenKind::Close {
            arguments.push(self.term("a term or `)`")?);
            while *self.kind() == TokenKind::Comma {
                self.at += 1;
                arguments.push(self.term("a term")?);
            }
        }
        self.close(open, "`,` or `)`")?;
        Ok(arguments)
    }

    /// Passes the `)` that belongs to `open`.
    fn close(&mut self, open: Span, expected: &str) -> Result<(), Unreadable> {
        match self.kind() {
            TokenKind::Close => {
                self.at += 1;
                Ok(())
            }
            TokenKind::End | TokenKind::Stop | TokenKind::Implies => Err(self.never_closed(open)),
            _ if self.begins_clause() => Err(self.never_closed(open)),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Runs `read` one level deeper, if that is not too deep.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Unreadable>,
    ) -> Result<T, Unreadable> {
        if self.depth == MAX_NESTING {
            self.report_too_deep(self.peek().span);
            return Err(Unreadable);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn peek(&self) -> &'t Token<'a> {
        &self.tokens[self.at]
    }

    fn kind(&self) -> &'t TokenKind<'a> {
        &self.peek().kind
    }

    /// Returns the place of the token before the current one.
    fn last_span(&self) -> Span {
        self.tokens[self.at - 1].span
    }
}

/// Returns whether a term, and therefore a clause, may begin with the token.
fn is_word(kind: &TokenKind<'_>) -> bool {
    matches!(
        kind,
        TokenKind::Name(_) | TokenKind::Quoted(_) | TokenKind::Variable(_) | TokenKind::Anonymous
    )
}

/// Turns a term into a sentence; `None` for variables.
fn atom(term: Term) -> Option<Atom> {
    let (relation, arguments) = match term.kind {
        TermKind::Variable(_) => return None,
        TermKind::Constant(name) => (name, Vec::new()),
        TermKind::Function(name, arguments) => (name, arguments),
    };
    Some(Atom { relation, arguments, span: term.span, name_span: term.name_span })
}

/// Creates a condition in place of one that was reported, so that reading can continue with the
/// next.
fn placeholder(span: Span) -> Literal {
    Literal { kind: LiteralKind::And(Vec::new()), span }
}

/// Turns the result of [`Parser::conditions`] into one condition.
fn disjunction(alternatives: Vec<Vec<Literal>>) -> Literal {
    join(
        alternatives.into_iter().map(|together| join(together, LiteralKind::And)).collect(),
        LiteralKind::Or,
    )
}

fn join(mut parts: Vec<Literal>, kind: fn(Vec<Literal>) -> LiteralKind) -> Literal {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let span = parts
        .iter()
        .map(|part| part.span)
        .reduce(Span::to)
        .expect("conditions are never empty lists");
    Literal { kind: kind(parts), span }
}

/// Returns how deep the lists of a clause nest in KIF.
fn kif_depth(clause: &Clause) -> usize {
    fn of_list<T>(parts: &[T], depth: fn(&T) -> usize) -> usize {
        1 + parts.iter().map(depth).max().unwrap_or(0)
    }
    fn of_term(term: &Term) -> usize {
        match &term.kind {
            TermKind::Variable(_) | TermKind::Constant(_) => 0,
            TermKind::Function(_, arguments) => of_list(arguments, of_term),
        }
    }
    fn of_atom(atom: &Atom) -> usize {
        if atom.arguments.is_empty() { 0 } else { of_list(&atom.arguments, of_term) }
    }
    fn of_literal(literal: &Literal) -> usize {
        match &literal.kind {
            LiteralKind::Atom(atom) => of_atom(atom),
            LiteralKind::Not(inner) => 1 + of_literal(inner),
            LiteralKind::And(parts) | LiteralKind::Or(parts) => of_list(parts, of_literal),
            LiteralKind::Distinct(terms) => of_list(terms, of_term),
        }
    }
    let body = clause.body.iter().map(of_literal).max().unwrap_or(0);
    usize::from(clause.is_rule) + of_atom(&clause.head).max(body)
}
