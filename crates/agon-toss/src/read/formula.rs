//! Parses formulas.
//!
//! `not`, `ex`, `all`, `tc`, `lfp` and `gfp` apply to the shortest formula after them, so
//! `ex x P(x) and Q()` is `(ex x P(x)) and Q()`. `and` binds more tightly than `or`.

use agon_text::Span;

use super::cursor::Cursor;
use super::lexer::TokenKind;
use super::term;
use crate::syntax::{Comparison, Formula, FormulaKind, Name, NameKind};

/// Parses a formula.
pub(super) fn formula(cursor: &mut Cursor<'_>) -> Option<Formula> {
    cursor.nested(|cursor| chain(cursor, "or", conjunction, FormulaKind::Or))
}

fn conjunction(cursor: &mut Cursor<'_>) -> Option<Formula> {
    chain(cursor, "and", single, FormulaKind::And)
}

/// Parses parts separated by a word; a single part is returned as it is.
fn chain(
    cursor: &mut Cursor<'_>,
    word: &str,
    part: fn(&mut Cursor<'_>) -> Option<Formula>,
    join: fn(Vec<Formula>) -> FormulaKind,
) -> Option<Formula> {
    let start = cursor.span();
    let first = part(cursor)?;
    if !cursor.is_word(word) {
        return Some(first);
    }
    let mut parts = vec![first];
    while cursor.take_word(word) {
        parts.push(part(cursor)?);
    }
    Some(Formula { kind: join(parts), span: cursor.since(start) })
}

/// Parses the shortest formula that starts here.
fn single(cursor: &mut Cursor<'_>) -> Option<Formula> {
    cursor.nested(|cursor| {
        let start = cursor.span();
        let kind = single_kind(cursor, start)?;
        Some(Formula { kind, span: cursor.since(start) })
    })
}

fn single_kind(cursor: &mut Cursor<'_>, start: Span) -> Option<FormulaKind> {
    if cursor.take_word("true") {
        return Some(FormulaKind::True);
    }
    if cursor.take_word("false") {
        return Some(FormulaKind::False);
    }
    if cursor.take_word("not") {
        return Some(FormulaKind::Not(Box::new(single(cursor)?)));
    }
    if cursor.is_word("ex") || cursor.is_word("all") {
        return quantified(cursor);
    }
    if cursor.is_word("lfp") || cursor.is_word("gfp") {
        return fixed_point(cursor);
    }
    if cursor.take_word("tc") {
        return closure(cursor);
    }
    if cursor.is_word("let") && cursor.sign_after(1) != Some(":") {
        return local_definition(cursor);
    }
    if cursor.is_sign("(") && !starts_term(cursor) {
        cursor.skip();
        let inner = formula(cursor)?;
        cursor.expect(")")?;
        let mut kind = inner.kind;
        if let FormulaKind::Fixpoint { arguments, .. } | FormulaKind::Closure { arguments, .. } =
            &mut kind
            && arguments.is_none()
            && cursor.is_sign("(")
        {
            *arguments = Some(cursor.arguments()?);
        }
        return Some(kind);
    }
    if cursor.is_sign("|") {
        cursor.unsupported(start, "a relation variable");
        return None;
    }
    let is_name = cursor.kind() == TokenKind::Word && cursor.sign_after(1) == Some("(");
    // A function of numbers starts a comparison unless a relation has its name.
    let is_least = cursor.is_word("min") && cursor.sign_after(1) == Some(":");
    let is_aggregate = (term::aggregate(cursor.text()).is_some() && is_name)
        || (term::is_function(cursor.text()) && is_name && compares_after(cursor))
        || is_least;
    if is_name && !is_aggregate {
        let relation = cursor.name("a formula")?;
        cursor.mention(NameKind::Relation);
        return Some(FormulaKind::Atom(relation, cursor.arguments()?));
    }
    let is_variable =
        matches!(cursor.kind(), TokenKind::Word) && !is_aggregate && !cursor.is_word("let");
    if is_variable {
        return about_variables(cursor);
    }
    comparison(cursor)
}

/// Parses `ex x, y formula` or `all x, y formula`.
fn quantified(cursor: &mut Cursor<'_>) -> Option<FormulaKind> {
    let exists = cursor.is_word("ex");
    cursor.skip();
    let variables = bound_variables(cursor)?;
    let body = Box::new(single(cursor)?);
    Some(if exists {
        FormulaKind::Exists(variables, body)
    } else {
        FormulaKind::All(variables, body)
    })
}

/// Parses `lfp R(x) = formula` or `gfp R(x) = formula`.
fn fixed_point(cursor: &mut Cursor<'_>) -> Option<FormulaKind> {
    let is_least = cursor.is_word("lfp");
    cursor.skip();
    let relation = cursor.name("the name of a relation")?;
    cursor.definition(NameKind::Relation);
    let parameters = cursor.arguments()?;
    cursor.expect("=")?;
    let body = Box::new(single(cursor)?);
    Some(FormulaKind::Fixpoint { is_least, relation, parameters, body, arguments: None })
}

/// Parses `let R(x) = formula in formula`.
fn local_definition(cursor: &mut Cursor<'_>) -> Option<FormulaKind> {
    cursor.skip();
    let relation = cursor.name("the name of a relation")?;
    cursor.definition(NameKind::Relation);
    let parameters = cursor.arguments()?;
    cursor.expect("=")?;
    let definition = Box::new(formula(cursor)?);
    if !cursor.take_word("in") {
        cursor.unexpected("`in`");
        return None;
    }
    let body = Box::new(formula(cursor)?);
    Some(FormulaKind::Let { relation, parameters, definition, body })
}

/// Returns whether the parenthesis here belongs to a term: an arithmetic sign follows the matching
/// one.
fn starts_term(cursor: &Cursor<'_>) -> bool {
    let after = cursor.sign_after_parenthesis();
    matches!(after, Some("+" | "-" | "*" | "/" | "^" | "<" | ">" | "=" | "<=" | ">=" | "!="))
}

/// Returns whether the word here and the parentheses after it belong to a term: an arithmetic sign
/// or a comparison follows.
fn compares_after(cursor: &Cursor<'_>) -> bool {
    matches!(
        cursor.sign_after_word(),
        Some("+" | "-" | "*" | "/" | "^" | "<" | ">" | "=" | "<=" | ">=" | "!=")
    )
}

/// Parses `x = y`, `x != y` or `x in X`.
fn about_variables(cursor: &mut Cursor<'_>) -> Option<FormulaKind> {
    let left = cursor.name("a formula")?;
    if cursor.take_word("in") {
        return Some(FormulaKind::Member(left, cursor.name("a set")?));
    }
    let is_same = cursor.is_sign("=");
    if !is_same && !cursor.is_sign("!=") {
        cursor.unexpected(&format!(
            "`=` or `!=` after the variable `{}`, or `(` after a relation,",
            left.text
        ));
        return None;
    }
    cursor.skip();
    let right = cursor.name_or_number("a variable")?;
    Some(if is_same { FormulaKind::Same(left, right) } else { FormulaKind::Differ(left, right) })
}

/// Parses the variables of a quantifier.
pub(super) fn bound_variables(cursor: &mut Cursor<'_>) -> Option<Vec<Name>> {
    let mut variables = vec![bound_variable(cursor)?];
    while cursor.take_sign(",") {
        variables.push(bound_variable(cursor)?);
    }
    Some(variables)
}

fn bound_variable(cursor: &mut Cursor<'_>) -> Option<Name> {
    if cursor.is_sign("|") {
        let span = cursor.span();
        cursor.unsupported(span, "a quantifier over relations");
        return None;
    }
    let start = cursor.span();
    if cursor.take_sign(":") {
        let name = cursor.name("a name for a number")?;
        cursor.definition(NameKind::Number);
        return Some(Name { text: format!(":{}", name.text), span: start.to(name.span) });
    }
    let name = cursor.name_or_number("a variable")?;
    cursor.definition(NameKind::Variable);
    Some(name)
}

fn closure(cursor: &mut Cursor<'_>) -> Option<FormulaKind> {
    let bound = if cursor.kind() == TokenKind::Number {
        let text = cursor.text();
        let span = cursor.skip();
        // A bound that does not fit exceeds the number of elements, so it is no restriction.
        Some((text.parse().unwrap_or(u32::MAX), span))
    } else {
        None
    };
    let from = cursor.name("a variable")?;
    cursor.expect(",")?;
    let to = cursor.name("a variable")?;
    let body = Box::new(single(cursor)?);
    Some(FormulaKind::Closure { bound, from, to, body, arguments: None })
}

fn comparison(cursor: &mut Cursor<'_>) -> Option<FormulaKind> {
    let is_term = matches!(cursor.kind(), TokenKind::Number)
        || matches!(cursor.sign_after(0), Some("(" | ":" | "&" | "-"))
        || cursor.is_word("let")
        || term::aggregate(cursor.text()).is_some()
        || term::is_function(cursor.text());
    if !is_term {
        cursor.unexpected("a formula");
        return None;
    }
    let left = term::term(cursor)?;
    let comparison = match cursor.sign_after(0) {
        Some("<") => Comparison::Less,
        Some("<=") => Comparison::AtMost,
        Some("=") => Comparison::Equal,
        Some("!=") => Comparison::Unequal,
        Some(">=") => Comparison::AtLeast,
        Some(">") => Comparison::Greater,
        _ => {
            cursor.unexpected("a comparison such as `<` or `=`");
            return None;
        }
    };
    cursor.skip();
    let right = term::term(cursor)?;
    Some(FormulaKind::Compare(Box::new(left), comparison, Box::new(right)))
}
