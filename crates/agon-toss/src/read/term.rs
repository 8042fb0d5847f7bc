//! Parses terms, which denote numbers.

use agon_text::Diagnostic;

use super::cursor::Cursor;
use super::formula::{bound_variables, formula};
use super::lexer::TokenKind;
use crate::syntax::{Aggregate, NameKind, Number, ProductSign, SumSign, Term, TermKind};

/// Maximum number of parts of a sum or product.
const MAX_PARTS: usize = 1000;

/// Returns the aggregate with this name.
pub(super) fn aggregate(word: &str) -> Option<Aggregate> {
    match word {
        "Sum" => Some(Aggregate::Sum),
        "Prod" => Some(Aggregate::Prod),
        "Min" => Some(Aggregate::Min),
        "Max" => Some(Aggregate::Max),
        _ => None,
    }
}

/// The functions of real numbers.
pub const FUNCTIONS: &[&str] = &["sqrt", "root", "sin", "cos", "exp", "log", "abs", "min", "max"];

/// Returns whether a word is a function of real numbers.
pub(super) fn is_function(word: &str) -> bool {
    FUNCTIONS.contains(&word)
}

/// Parses the strokes of a derivative and returns their number.
pub(super) fn strokes(cursor: &mut Cursor<'_>) -> u32 {
    let mut order = 0;
    while cursor.take_sign("'") {
        order += 1;
    }
    order
}

/// Parses a term.
pub(super) fn term(cursor: &mut Cursor<'_>) -> Option<Term> {
    cursor.nested(|cursor| {
        let start = cursor.span();
        let first = product(cursor)?;
        let mut rest = Vec::new();
        loop {
            let sign = match cursor.sign_after(0) {
                Some("+") => SumSign::Plus,
                Some("-") => SumSign::Minus,
                _ => break,
            };
            cursor.skip();
            rest.push((sign, product(cursor)?));
            check_length(cursor, rest.len())?;
        }
        if rest.is_empty() {
            return Some(first);
        }
        Some(Term { kind: TermKind::Sum(Box::new(first), rest), span: cursor.since(start) })
    })
}

fn product(cursor: &mut Cursor<'_>) -> Option<Term> {
    let start = cursor.span();
    let first = power(cursor)?;
    let mut rest = Vec::new();
    loop {
        let sign = match cursor.sign_after(0) {
            Some("*") => ProductSign::Times,
            Some("/") => ProductSign::Over,
            _ => break,
        };
        cursor.skip();
        rest.push((sign, power(cursor)?));
        check_length(cursor, rest.len())?;
    }
    if rest.is_empty() {
        return Some(first);
    }
    Some(Term { kind: TermKind::Product(Box::new(first), rest), span: cursor.since(start) })
}

fn check_length(cursor: &mut Cursor<'_>, n_parts: usize) -> Option<()> {
    if n_parts < MAX_PARTS {
        return Some(());
    }
    let finding = Diagnostic::error(
        "toss-nested-too-deep",
        cursor.span(),
        format!("a sum or product has more than {MAX_PARTS} parts"),
    );
    cursor.report(finding.hint("use `Sum (x | f : t)`"));
    None
}

fn power(cursor: &mut Cursor<'_>) -> Option<Term> {
    cursor.nested(|cursor| {
        let start = cursor.span();
        if cursor.take_sign("-") {
            let inner = power(cursor)?;
            return Some(Term {
                kind: TermKind::Negative(Box::new(inner)),
                span: cursor.since(start),
            });
        }
        let base = single(cursor)?;
        if !cursor.take_sign("^") {
            return Some(base);
        }
        let exponent = power(cursor)?;
        Some(Term {
            kind: TermKind::Power(Box::new(base), Box::new(exponent)),
            span: cursor.since(start),
        })
    })
}

fn single(cursor: &mut Cursor<'_>) -> Option<Term> {
    let start = cursor.span();
    let kind = single_kind(cursor)?;
    Some(Term { kind, span: cursor.since(start) })
}

fn single_kind(cursor: &mut Cursor<'_>) -> Option<TermKind> {
    if cursor.kind() == TokenKind::Number {
        let text = cursor.text().to_owned();
        return Some(TermKind::Number(Number { text, span: cursor.skip() }));
    }
    if cursor.take_sign("(") {
        let inner = term(cursor)?;
        cursor.expect(")")?;
        return Some(inner.kind);
    }
    if cursor.take_sign("&") {
        return Some(TermKind::Index(cursor.name_or_number("a variable")?));
    }
    if cursor.is_sign(":") {
        cursor.skip();
        if cursor.take_sign("(") {
            let inner = formula(cursor)?;
            cursor.expect(")")?;
            return Some(TermKind::Indicator(Box::new(inner)));
        }
        let name = cursor.name("a function, a number's name or `(`")?;
        cursor.mention(NameKind::Number);
        let order = strokes(cursor);
        if order > 0 || cursor.is_sign("(") {
            cursor.mention(NameKind::Function);
            cursor.expect("(")?;
            let argument = cursor.name_or_number("a variable")?;
            cursor.expect(")")?;
            // The strokes may stand behind the argument, as on the left of an equation.
            let order = order + strokes(cursor);
            return Some(TermKind::Value(name, order, argument));
        }
        return Some(TermKind::Variable(name));
    }
    if cursor.is_word("min") && cursor.sign_after(1) == Some(":") {
        cursor.skip();
        cursor.expect(":")?;
        let name = cursor.name("a name for a number")?;
        cursor.definition(NameKind::Number);
        cursor.expect("(")?;
        let body = formula(cursor)?;
        cursor.expect(")")?;
        return Some(TermKind::Least(name, Box::new(body)));
    }
    if cursor.kind() == TokenKind::Word
        && is_function(cursor.text())
        && cursor.sign_after(1) == Some("(")
    {
        let name = cursor.name("a function")?;
        cursor.mention(NameKind::BuiltIn);
        cursor.expect("(")?;
        let mut arguments = vec![term(cursor)?];
        while cursor.take_sign(",") {
            arguments.push(term(cursor)?);
            check_length(cursor, arguments.len())?;
        }
        cursor.expect(")")?;
        return Some(TermKind::Apply(name, arguments));
    }
    if cursor.take_word("let") {
        cursor.expect(":")?;
        let name = cursor.name("a name for a number")?;
        cursor.definition(NameKind::Number);
        cursor.expect("=")?;
        let value = term(cursor)?;
        if !cursor.take_word("in") {
            cursor.unexpected("`in`");
            return None;
        }
        let body = term(cursor)?;
        return Some(TermKind::Let(name, Box::new(value), Box::new(body)));
    }
    if cursor.kind() == TokenKind::Word
        && let Some(aggregate) = aggregate(cursor.text())
    {
        cursor.skip();
        cursor.expect("(")?;
        let variables = bound_variables(cursor)?;
        cursor.expect_or("|", "write `Sum (x | condition : term)`; the condition may be `true`")?;
        let guard = Box::new(formula(cursor)?);
        cursor.expect_or(":", "write `Sum (x | condition : term)`")?;
        let value = Box::new(term(cursor)?);
        cursor.expect(")")?;
        return Some(TermKind::Aggregate { aggregate, variables, guard, value });
    }
    if cursor.takes_bare_numbers
        && cursor.kind() == TokenKind::Word
        && cursor.sign_after(1) != Some("(")
    {
        let name = cursor.name("a number")?;
        cursor.mention(NameKind::Parameter);
        return Some(TermKind::Variable(name));
    }
    no_number(cursor);
    None
}

/// Reports what stands where a number is needed.
fn no_number(cursor: &mut Cursor<'_>) {
    let word = match cursor.kind() {
        TokenKind::Word if !cursor.is_section() => cursor.text(),
        _ => return cursor.unexpected("a number"),
    };
    let hint = match word {
        "infinity" | "inf" => "numbers are finite; write a large one".to_owned(),
        "true" | "false" | "not" | "ex" | "all" => {
            "the number 1 or 0 for a condition is written `:(condition)`".to_owned()
        }
        _ if is_function(word) => {
            format!("write `{word}(…)`; the least number is `min :a (condition)`")
        }
        _ if cursor.sign_after(1) == Some("(") => format!(
            "the value of a function at an element is written `:{word}(x)`; the functions of \
             numbers are {}",
            FUNCTIONS.join(", ")
        ),
        _ if word.chars().all(|c| c.is_ascii_uppercase()) => {
            return cursor.unexpected("a number");
        }
        _ => format!(
            "a name for a number is written `:{word}`, the value of a function `:f({word})`, the \
             number of an element `&{word}`"
        ),
    };
    cursor.unexpected_with("a number", hint);
}
