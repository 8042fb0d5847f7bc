//! Parses structures:
//! `[a, b | P(a); R {(a, b); (b, a)}; Q:1 {} | x { a -> 1.5 } | home = a ] "board"`.

use agon_text::{Diagnostic, Span};

use super::board;
use super::cursor::Cursor;
use super::lexer::TokenKind;
use crate::syntax::{FunctionValues, Name, NameKind, Number, RelationTuples, Structure, Tuple};

/// The prefix of tuples that may be present or not.
const OPTIONAL: &str = "_opt_";

/// Parses a structure.
pub(super) fn structure(cursor: &mut Cursor<'_>) -> Option<Structure> {
    let start = cursor.expect("[")?;
    let elements = if cursor.is_sign("|") || cursor.is_sign("]") || cursor.take_sign("-") {
        Vec::new()
    } else {
        cursor.names("an element")?
    };
    let (mut relations, mut functions, mut constants) = (Vec::new(), Vec::new(), Vec::new());
    if cursor.take_sign("|") {
        if !is_empty_part(cursor) {
            relations.push(relation(cursor)?);
            while cursor.take_sign(";") {
                if is_empty_part(cursor) {
                    break;
                }
                relations.push(relation(cursor)?);
            }
        }
        if cursor.take_sign("|") {
            if !is_empty_part(cursor) {
                functions.push(function(cursor)?);
                while cursor.take_sign(";") {
                    if is_empty_part(cursor) {
                        break;
                    }
                    functions.push(function(cursor)?);
                }
            }
            if cursor.take_sign("|") && !is_empty_part(cursor) {
                constants.push(constant(cursor)?);
                while cursor.take_sign(";") || cursor.take_sign(",") {
                    if is_empty_part(cursor) {
                        break;
                    }
                    constants.push(constant(cursor)?);
                }
            }
        }
    }
    cursor.expect("]")?;
    let board = if cursor.kind() == TokenKind::Board { Some(board::board(cursor)?) } else { None };
    Some(Structure { elements, relations, functions, constants, board, span: cursor.since(start) })
}

/// Returns whether the part between two bars is empty. A lone `-`, which is skipped, also means
/// empty.
fn is_empty_part(cursor: &mut Cursor<'_>) -> bool {
    cursor.take_sign("-");
    cursor.is_sign("|") || cursor.is_sign("]")
}

fn relation(cursor: &mut Cursor<'_>) -> Option<RelationTuples> {
    let mut name = cursor.name("a relation")?;
    cursor.mention(NameKind::Relation);
    let mut is_optional = false;
    if let Some(plain) = name.text.strip_prefix(OPTIONAL) {
        is_optional = true;
        if plain.is_empty() {
            // `_opt_ R(a)` with a space between them.
            cursor.mentions.pop();
            name = cursor.name("a relation")?;
            cursor.mention(NameKind::Relation);
        } else {
            name.text = plain.to_owned();
            if let Some(mention) = cursor.mentions.last_mut() {
                let start = name.span.start() + OPTIONAL.len();
                let span = Span::new(start, name.span.end());
                mention.name = Name { text: name.text.clone(), span };
            }
        }
    }
    if cursor.is_sign("(") {
        let tuple = tuple(cursor)?;
        return Some(RelationTuples { name, is_optional, arity: None, tuples: vec![tuple] });
    }
    let arity = if cursor.take_sign(":") { Some(arity(cursor)?) } else { None };
    cursor.expect("{")?;
    let mut tuples = Vec::new();
    while !cursor.is_sign("}") {
        tuples.push(if cursor.is_sign("(") {
            tuple(cursor)?
        } else {
            // The parentheses of a unary tuple may be omitted.
            let element = cursor.name_or_number("a tuple or `}`")?;
            Tuple { span: element.span, elements: vec![element] }
        });
        if !cursor.take_sign(";") && !cursor.take_sign(",") {
            break;
        }
    }
    cursor.expect("}")?;
    Some(RelationTuples { name, is_optional, arity, tuples })
}

fn arity(cursor: &mut Cursor<'_>) -> Option<(usize, Span)> {
    if cursor.kind() != TokenKind::Number {
        cursor.unexpected("a number of arguments");
        return None;
    }
    let (text, span) = (cursor.text(), cursor.skip());
    match text.parse() {
        Ok(arity) => Some((arity, span)),
        Err(_) => {
            let finding = Diagnostic::error(
                "toss-unexpected",
                span,
                format!("`{text}` is not a valid number of arguments"),
            );
            cursor.report(finding);
            None
        }
    }
}

fn tuple(cursor: &mut Cursor<'_>) -> Option<Tuple> {
    let start = cursor.span();
    let elements: Vec<Name> = cursor.arguments()?;
    Some(Tuple { elements, span: cursor.since(start) })
}

fn function(cursor: &mut Cursor<'_>) -> Option<FunctionValues> {
    let name = cursor.name("a function")?;
    cursor.mention(NameKind::Function);
    let order = super::term::strokes(cursor);
    cursor.expect("{")?;
    let mut values = Vec::new();
    while !cursor.is_sign("}") {
        let element = cursor.name_or_number("an element")?;
        cursor.expect("->")?;
        values.push((element, number(cursor)?));
        if !cursor.take_sign(",") && !cursor.take_sign(";") {
            break;
        }
    }
    cursor.expect("}")?;
    Some(FunctionValues { name, order, values })
}

/// Parses `home = a1`.
fn constant(cursor: &mut Cursor<'_>) -> Option<(Name, Name)> {
    let name = cursor.name("a constant")?;
    cursor.definition(NameKind::Constant);
    cursor.expect("=")?;
    Some((name, cursor.name_or_number("an element")?))
}

/// Parses a number, possibly with a sign or as a fraction.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Option<Number> {
    let start = cursor.span();
    let minus = if cursor.take_sign("-") { "-" } else { "" };
    if cursor.kind() != TokenKind::Number {
        cursor.unexpected("a number");
        return None;
    }
    let mut text = format!("{minus}{}", cursor.text());
    cursor.skip();
    if cursor.take_sign("/") {
        if cursor.kind() != TokenKind::Number {
            cursor.unexpected("a number");
            return None;
        }
        text = format!("{text}/{}", cursor.text());
        cursor.skip();
    }
    Some(Number { text, span: cursor.since(start) })
}
