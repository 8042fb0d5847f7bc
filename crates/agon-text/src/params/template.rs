//! A parametrised text as pieces, and the plain text that is written from them.

use super::expression::{self, Braces, Expression, Fault};
use super::{MAX_BYTES, Notation, Param, Part};
use crate::{Diagnostic, Diagnostics, Span, did_you_mean};

/// A piece of a parametrised text.
#[derive(Debug)]
pub(super) enum Piece {
    /// Text that is copied.
    Text(Span),
    /// A comment without its line end. Copies of a clause that stand on one line leave it out.
    Comment(Span),
    /// A number.
    Value(Expression, Span),
    /// A number of a range, which repeats the clause.
    Range(Binding, Span),
    /// Pieces that are repeated at their place.
    Block(Binding, Vec<Piece>, Span),
    /// A clause.
    Clause(Vec<Piece>),
}

/// A range of numbers and the name by which expressions use the current one.
#[derive(Debug)]
pub(super) struct Binding {
    name: Option<String>,
    low: Expression,
    high: Expression,
}

/// Maximum nesting of braces and number of ranges of a clause.
const MAX_DEPTH: usize = 20;

/// Maximum number of copies and numbers that are written.
const MAX_WRITTEN: usize = 2_000_000;

/// Splits a text into pieces.
pub(super) fn read(
    text: &str,
    params: &[Param],
    notation: Notation,
) -> Result<Vec<Piece>, Diagnostics> {
    let names = params.iter().map(|param| param.name.clone()).collect();
    let mut reader = Reader { text, notation, names, findings: Diagnostics::default() };
    let whole = Span::new(0, text.len());
    let pieces = match notation {
        Notation::Kif | Notation::Infix => reader.clauses(whole, 0),
        Notation::Toss => reader.pieces(whole, 0, false),
    };
    check_names(&pieces, params, &mut Vec::new(), &mut reader.findings);
    if reader.findings.has_errors() { Err(reader.findings) } else { Ok(pieces) }
}

/// Returns whether the text has no braces.
pub(super) fn is_plain(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| match piece {
        Piece::Text(_) | Piece::Comment(_) => true,
        Piece::Clause(inner) => is_plain(inner),
        Piece::Value(..) | Piece::Range(..) | Piece::Block(..) => false,
    })
}

struct Reader<'a> {
    text: &'a str,
    notation: Notation,
    /// The names of parameters and of the blocks around the current place.
    names: Vec<String>,
    findings: Diagnostics,
}

impl Reader<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Returns the end of the comment that starts here, if one does.
    fn comment_end(&self, at: usize, end: usize) -> Option<usize> {
        let rest = &self.text.as_bytes()[at..end];
        let starts = match self.notation {
            Notation::Kif => rest.starts_with(b";"),
            Notation::Infix => rest.starts_with(b"%") || rest.starts_with(b"//"),
            Notation::Toss => rest.starts_with(b"//"),
        };
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        starts.then(|| at + rest.iter().position(is_end).unwrap_or(rest.len()))
    }

    /// Returns the end of the quoted name that starts here, if one does.
    fn quote_end(&self, at: usize, end: usize) -> Option<usize> {
        let mark = self.byte(at).filter(|byte| matches!(byte, b'"' | b'|' | b'\''))?;
        let is_quote = match self.notation {
            Notation::Kif => mark != b'\'',
            Notation::Infix => true,
            // Quotation marks are around boards, in which rows may be repeated.
            Notation::Toss => false,
        };
        if !is_quote {
            return None;
        }
        let rest = &self.text[at + 1..end];
        let length = rest.find([mark as char, '\n', '\r'])?;
        (rest.as_bytes()[length] == mark).then_some(at + 1 + length + 1)
    }

    /// Returns the end of the braces that start here, if they are closed.
    fn braces_end(&self, start: usize, end: usize) -> Option<usize> {
        let (mut at, mut depth) = (start, 0_usize);
        while at < end {
            if let Some(after) = self.comment_end(at, end).or_else(|| self.quote_end(at, end)) {
                at = after;
                continue;
            }
            match self.byte(at) {
                Some(b'{') => depth += 1,
                Some(b'}') if depth == 1 => return Some(at + 1),
                Some(b'}') => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Splits a part of the text into clauses and what stands between them.
    fn clauses(&mut self, span: Span, depth: usize) -> Vec<Piece> {
        let (mut pieces, mut at) = (Vec::new(), span.start());
        let mut gap = at;
        while at < span.end() {
            let is_blank = self.byte(at).is_some_and(|byte| byte.is_ascii_whitespace());
            if is_blank || !self.text.is_char_boundary(at) {
                at += 1;
                continue;
            }
            let comment = self.comment_end(at, span.end());
            let clause_end = match comment {
                Some(end) => end,
                None => self.clause_end(at, span.end()),
            };
            push_text(&mut pieces, gap, at);
            let whole = Span::new(at, clause_end);
            match comment {
                Some(_) => pieces.push(Piece::Comment(whole)),
                None => {
                    let inner = self.pieces(whole, depth, true);
                    pieces.push(Piece::Clause(inner));
                }
            }
            at = clause_end;
            gap = at;
        }
        push_text(&mut pieces, gap, span.end());
        pieces
    }

    /// Returns the end of the clause that starts here. It is at least one character long.
    fn clause_end(&self, start: usize, end: usize) -> usize {
        let (mut at, mut depth) = (start, 0_usize);
        while at < end {
            if let Some(after) = self.comment_end(at, end).or_else(|| self.quote_end(at, end)) {
                at = after;
                continue;
            }
            let byte = self.byte(at).unwrap_or(b' ');
            match byte {
                b'{' => {
                    at = self.braces_end(at, end).unwrap_or(end);
                    // Braces around whole clauses are a clause of their own.
                    let is_whole = depth == 0 && self.text[start..].starts_with('{');
                    if is_whole && self.notation == Notation::Kif {
                        return at;
                    }
                    continue;
                }
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                b'.' if self.notation == Notation::Infix && depth == 0 => return at + 1,
                _ => {}
            }
            at += 1;
            if self.notation == Notation::Kif && depth == 0 {
                let next = self.byte(at);
                let ends = |byte: u8| byte.is_ascii_whitespace() || b"();".contains(&byte);
                if byte == b')' || next.is_none_or(ends) {
                    return at.min(end);
                }
            }
        }
        end
    }

    /// Splits a clause, or the body of a block, into pieces.
    fn pieces(&mut self, span: Span, depth: usize, is_clause: bool) -> Vec<Piece> {
        let (mut pieces, mut at, mut gap) = (Vec::new(), span.start(), span.start());
        let mut n_ranges = 0;
        while at < span.end() {
            if let Some(end) = self.comment_end(at, span.end()) {
                push_text(&mut pieces, gap, at);
                pieces.push(Piece::Comment(Span::new(at, end)));
                (at, gap) = (end, end);
            } else if let Some(end) = self.quote_end(at, span.end()) {
                at = end;
            } else if self.byte(at) == Some(b'{') {
                if !self.are_ours(at, span.end()) {
                    at += 1;
                    continue;
                }
                let Some(end) = self.braces_end(at, span.end()) else {
                    self.findings.push(unclosed(at));
                    break;
                };
                push_text(&mut pieces, gap, at);
                let piece = self.braces(Span::new(at, end), depth, is_clause && at == span.start());
                n_ranges += usize::from(matches!(piece, Some(Piece::Range(..))));
                pieces.extend(piece);
                (at, gap) = (end, end);
            } else {
                at += 1;
            }
        }
        if n_ranges > MAX_DEPTH {
            self.findings.push(
                Diagnostic::error(
                    "param-expression",
                    span,
                    format!("a clause has at most {MAX_DEPTH} ranges"),
                )
                .hint("use a block: `{i=1..3: …}`"),
            );
        }
        push_text(&mut pieces, gap, span.end());
        pieces
    }

    /// Returns whether the braces that start here hold an expression, and not a part of the rules.
    fn are_ours(&self, start: usize, end: usize) -> bool {
        if self.notation != Notation::Toss {
            return true;
        }
        let Some(end) = self.braces_end(start, end) else { return false };
        match expression::braces(&self.text[start + 1..end - 1]) {
            Ok(Braces::Value(value)) => value.names().iter().any(|name| self.names.contains(name)),
            Ok(Braces::Range { .. }) => true,
            Err(_) => false,
        }
    }

    /// Reads what stands between braces.
    fn braces(&mut self, span: Span, depth: usize, is_whole: bool) -> Option<Piece> {
        let inside = Span::new(span.start() + 1, span.end() - 1);
        let fault = if depth >= MAX_DEPTH {
            Fault(format!("braces nest at most {MAX_DEPTH} deep"))
        } else {
            match expression::braces(&self.text[inside.start()..inside.end()]) {
                Ok(Braces::Value(value)) => return Some(Piece::Value(value, span)),
                Ok(Braces::Range { body: None, .. }) if self.notation == Notation::Toss => {
                    Fault("a range repeats a clause of GDL, and here is none".to_owned())
                }
                Ok(Braces::Range { name, low, high, body: None }) => {
                    return Some(Piece::Range(Binding { name, low, high }, span));
                }
                Ok(Braces::Range { name, low, high, body: Some(body) }) => {
                    let body = Span::new(inside.start() + body.start, inside.start() + body.end);
                    let n_names = self.names.len();
                    self.names.extend(name.clone());
                    let pieces = match is_whole && self.notation == Notation::Kif {
                        true => self.clauses(body, depth + 1),
                        false => self.pieces(body, depth + 1, false),
                    };
                    self.names.truncate(n_names);
                    return Some(Piece::Block(Binding { name, low, high }, pieces, span));
                }
                Err(fault) => fault,
            }
        };
        self.findings.push(
            Diagnostic::error("param-expression", span, fault.0)
                .hint("write for example `{size-1}`, `{1..size}` or `{i=1..size: …}`"),
        );
        None
    }
}

fn unclosed(at: usize) -> Diagnostic {
    let place = Span::new(at, at + 1);
    Diagnostic::error("param-expression", place, "this brace is not closed")
        .hint("close it with `}`, or put a name with braces between quotation marks")
}

fn push_text(pieces: &mut Vec<Piece>, start: usize, end: usize) {
    if start < end {
        pieces.push(Piece::Text(Span::new(start, end)));
    }
}

/// Reports names that are neither parameters nor names of ranges, so that an expression is wrong
/// whatever the values are.
fn check_names(
    pieces: &[Piece],
    params: &[Param],
    bound: &mut Vec<String>,
    findings: &mut Diagnostics,
) {
    let n_bound = bound.len();
    for piece in pieces {
        match piece {
            Piece::Range(binding, span) => {
                check_binding(binding, *span, params, bound, findings);
                bound.extend(binding.name.clone());
            }
            Piece::Text(_)
            | Piece::Comment(_)
            | Piece::Value(..)
            | Piece::Block(..)
            | Piece::Clause(_) => {}
        }
    }
    for piece in pieces {
        match piece {
            Piece::Value(value, span) => check_expression(value, *span, params, bound, findings),
            Piece::Block(binding, inner, span) => {
                check_binding(binding, *span, params, bound, findings);
                let n_bound = bound.len();
                bound.extend(binding.name.clone());
                check_names(inner, params, bound, findings);
                bound.truncate(n_bound);
            }
            Piece::Clause(inner) => check_names(inner, params, bound, findings),
            Piece::Text(_) | Piece::Comment(_) | Piece::Range(..) => {}
        }
    }
    bound.truncate(n_bound);
}

fn check_binding(
    binding: &Binding,
    span: Span,
    params: &[Param],
    bound: &[String],
    findings: &mut Diagnostics,
) {
    check_expression(&binding.low, span, params, bound, findings);
    check_expression(&binding.high, span, params, bound, findings);
    let name = binding.name.as_deref().unwrap_or_default();
    if params.iter().any(|param| param.name == name) || bound.iter().any(|other| other == name) {
        findings.push(
            Diagnostic::error("param-expression", span, format!("`{name}` has a value already"))
                .hint("choose another name for the range"),
        );
    }
}

fn check_expression(
    expression: &Expression,
    span: Span,
    params: &[Param],
    bound: &[String],
    findings: &mut Diagnostics,
) {
    match expression {
        Expression::Number(_) => {}
        Expression::Negative(inner) => check_expression(inner, span, params, bound, findings),
        Expression::Binary(_, left, right) => {
            check_expression(left, span, params, bound, findings);
            check_expression(right, span, params, bound, findings);
        }
        Expression::Name(name) => {
            let known = || {
                let params = params.iter().map(|param| param.name.as_str());
                params.chain(bound.iter().map(String::as_str))
            };
            if known().any(|other| other == name) {
                return;
            }
            let finding = Diagnostic::error(
                "param-expression",
                span,
                format!("there is no parameter `{name}`"),
            );
            findings.push(match did_you_mean(name, known()) {
                Some(meant) => finding.hint(format!("did you mean `{meant}`?")),
                None => finding.hint(format!("declare it: `;; param {name} = 8`")),
            });
        }
    }
}

/// Writes the plain text.
pub(super) struct Writer<'a> {
    text: &'a str,
    notation: Notation,
    params: &'a [Param],
    out: String,
    parts: Vec<Part>,
    /// The names of ranges with their current values, innermost last.
    bound: Vec<(Option<String>, i64)>,
    n_written: usize,
}

/// Whether line ends and comments are kept. Of several copies only the last one keeps them, so that
/// the number of lines does not change.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Lines {
    Kept,
    Joined,
}

impl<'a> Writer<'a> {
    pub(super) fn new(text: &'a str, params: &'a [Param], notation: Notation) -> Writer<'a> {
        Writer {
            text,
            notation,
            params,
            out: String::new(),
            parts: Vec::new(),
            bound: Vec::new(),
            n_written: 0,
        }
    }

    pub(super) fn finish(self) -> (String, Vec<Part>) {
        (self.out, self.parts)
    }

    /// Writes all pieces of a text.
    pub(super) fn write(&mut self, pieces: &[Piece]) -> Result<(), Diagnostics> {
        self.each(pieces, Lines::Kept)
    }

    fn each(&mut self, pieces: &[Piece], lines: Lines) -> Result<(), Diagnostics> {
        let mut ranges = 0;
        for piece in pieces {
            match piece {
                Piece::Text(span) => self.copy(*span, lines),
                Piece::Comment(span) => self.comment(*span, lines),
                Piece::Value(value, span) => {
                    let number = self.value(value, *span)?;
                    self.number(number, *span)?;
                }
                Piece::Range(_, span) => {
                    // The ranges of the clause are bound last, in their order.
                    let first = self.bound.len() - n_ranges(pieces);
                    let number = self.bound[first + ranges].1;
                    ranges += 1;
                    self.number(number, *span)?;
                }
                Piece::Block(binding, inner, span) => {
                    self.block(binding, inner, *span, lines)?;
                }
                Piece::Clause(inner) => self.repeat(inner, lines)?,
            }
        }
        Ok(())
    }

    /// Writes a block: its pieces once for each number of its range.
    fn block(
        &mut self,
        binding: &Binding,
        inner: &[Piece],
        span: Span,
        lines: Lines,
    ) -> Result<(), Diagnostics> {
        let (low, high) = (self.value(&binding.low, span)?, self.value(&binding.high, span)?);
        if low > high {
            self.line_ends(span, lines);
        }
        for number in low..=high {
            // Copies in Toss are written as they stand.
            let is_exact = number == high || self.notation == Notation::Toss;
            self.bound.push((binding.name.clone(), number));
            self.repeat(inner, if is_exact { lines } else { Lines::Joined })?;
            self.bound.pop();
            if !is_exact {
                self.space(span)?;
            }
        }
        Ok(())
    }

    /// Writes pieces once for each choice of numbers from their ranges.
    fn repeat(&mut self, pieces: &[Piece], lines: Lines) -> Result<(), Diagnostics> {
        let mut choices: Vec<Vec<i64>> = Vec::new();
        self.choices(pieces, &mut Vec::new(), &mut choices)?;
        if choices.is_empty() {
            pieces.iter().for_each(|piece| self.line_ends(span_of(piece), lines));
        }
        let bindings: Vec<&Binding> = bindings(pieces).map(|(binding, _)| binding).collect();
        for (index, numbers) in choices.iter().enumerate() {
            let is_last = index + 1 == choices.len();
            let n_bound = self.bound.len();
            let names = bindings.iter().map(|binding| binding.name.clone());
            self.bound.extend(names.zip(numbers.iter().copied()));
            self.each(pieces, if is_last { lines } else { Lines::Joined })?;
            self.bound.truncate(n_bound);
            if !is_last {
                self.space(pieces.first().map_or_else(Span::default, span_of))?;
            }
        }
        Ok(())
    }

    /// Lists all choices of numbers from the ranges of some pieces. A range may depend on the ones
    /// before it.
    fn choices(
        &mut self,
        pieces: &[Piece],
        chosen: &mut Vec<i64>,
        all: &mut Vec<Vec<i64>>,
    ) -> Result<(), Diagnostics> {
        let Some((binding, span)) = bindings(pieces).nth(chosen.len()) else {
            all.push(chosen.clone());
            return self.count(bindings(pieces).next().map_or_else(Span::default, |(_, s)| s));
        };
        let (low, high) = (self.value(&binding.low, span)?, self.value(&binding.high, span)?);
        for number in low..=high {
            self.count(span)?;
            self.bound.push((binding.name.clone(), number));
            chosen.push(number);
            self.choices(pieces, chosen, all)?;
            chosen.pop();
            self.bound.pop();
        }
        Ok(())
    }

    fn value(&self, expression: &Expression, span: Span) -> Result<i64, Diagnostics> {
        let look_up = |name: &str| {
            let bound = self.bound.iter().rev().find(|(bound, _)| bound.as_deref() == Some(name));
            let param = || self.params.iter().find(|param| param.name == name);
            bound.map(|&(_, value)| value).or_else(|| param().map(|param| param.value))
        };
        expression.value(&look_up).map_err(|Fault(message)| {
            let finding = Diagnostic::error("param-expression", span, message);
            finding.hint("change the expression or the value of the parameter").into()
        })
    }

    fn number(&mut self, number: i64, span: Span) -> Result<(), Diagnostics> {
        self.parts.push(Part { start: self.out.len(), from: span, is_copy: false });
        self.out.push_str(&number.to_string());
        self.count(span)
    }

    fn space(&mut self, span: Span) -> Result<(), Diagnostics> {
        self.parts.push(Part { start: self.out.len(), from: span, is_copy: false });
        self.out.push(' ');
        self.count(span)
    }

    /// Counts what is written, so that a range from 1 to a billion is refused at once.
    fn count(&mut self, span: Span) -> Result<(), Diagnostics> {
        self.n_written += 1;
        if self.n_written <= MAX_WRITTEN && self.out.len() <= MAX_BYTES {
            return Ok(());
        }
        let message = "the rules become too large with these values of the parameters";
        Err(Diagnostic::error("param-value", span, message).hint("choose smaller values").into())
    }

    fn copy(&mut self, span: Span, lines: Lines) {
        self.parts.push(Part { start: self.out.len(), from: span, is_copy: true });
        let text = &self.text[span.start()..span.end()];
        match lines {
            Lines::Kept => self.out.push_str(text),
            Lines::Joined => {
                self.out.extend(text.chars().map(|c| if is_line_end(c) { ' ' } else { c }));
            }
        }
    }

    /// Copies a comment. A declaration gets the value that its parameter has.
    fn comment(&mut self, span: Span, lines: Lines) {
        if lines == Lines::Joined {
            return;
        }
        let inside = |place: Span| span.start() <= place.start() && place.end() <= span.end();
        match self.params.iter().find(|param| inside(param.value_span)) {
            Some(param) => {
                self.copy(Span::new(span.start(), param.value_span.start()), lines);
                let start = self.out.len();
                self.parts.push(Part { start, from: param.value_span, is_copy: false });
                self.out.push_str(&param.value.to_string());
                self.copy(Span::new(param.value_span.end(), span.end()), lines);
            }
            None => self.copy(span, lines),
        }
    }

    /// Writes only the line ends of a part that has no copies.
    fn line_ends(&mut self, span: Span, lines: Lines) {
        if lines == Lines::Kept {
            self.parts.push(Part { start: self.out.len(), from: span, is_copy: false });
            let text = &self.text[span.start()..span.end()];
            self.out.extend(text.chars().filter(|&c| is_line_end(c)));
        }
    }
}

fn is_line_end(c: char) -> bool {
    c == '\n' || c == '\r'
}

/// Returns the ranges that repeat the whole of some pieces.
fn bindings(pieces: &[Piece]) -> impl Iterator<Item = (&Binding, Span)> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Range(binding, span) => Some((binding, *span)),
        Piece::Text(_)
        | Piece::Comment(_)
        | Piece::Value(..)
        | Piece::Block(..)
        | Piece::Clause(_) => None,
    })
}

fn n_ranges(pieces: &[Piece]) -> usize {
    bindings(pieces).count()
}

fn span_of(piece: &Piece) -> Span {
    match piece {
        Piece::Text(span)
        | Piece::Comment(span)
        | Piece::Value(_, span)
        | Piece::Range(_, span)
        | Piece::Block(_, _, span) => *span,
        Piece::Clause(inner) => match (inner.first(), inner.last()) {
            (Some(first), Some(last)) => span_of(first).to(span_of(last)),
            _ => Span::default(),
        },
    }
}
