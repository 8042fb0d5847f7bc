//! The readable parts of KIF clauses with mistakes.

use super::builder::Builder;
use super::kif::Tree;
use crate::syntax::{Atom, Literal, LiteralKind, PartialClause, Term};

/// Keeps the sentences of a clause that cannot be read as a whole. Nothing is reported.
pub(super) fn recover(tree: &Tree<'_>, builder: &mut Builder) -> Option<PartialClause> {
    let (head, body) = match tree {
        Tree::List(parts, _) if matches!(parts.first(), Some(Tree::Word("<=", _))) => {
            (parts.get(1), parts.get(2..).unwrap_or(&[]))
        }
        Tree::List(..) | Tree::Word(..) => (Some(tree), &[][..]),
    };
    let head = head.and_then(|head| atom(head, builder));
    let mut conditions = Vec::new();
    body.iter().for_each(|tree| literal(tree, builder, &mut conditions));
    let variables = builder.take_variables();
    let is_readable = head.is_some() || !conditions.is_empty();
    let span = tree.span();
    is_readable.then_some(PartialClause { head, body: conditions, variables, span })
}

fn literal(tree: &Tree<'_>, builder: &mut Builder, found: &mut Vec<Literal>) {
    let span = tree.span();
    if let Tree::List(parts, _) = tree
        && let Some(Tree::Word(word, _)) = parts.first()
    {
        match word.to_ascii_lowercase().as_str() {
            // A rule inside of another: a parenthesis is missing, and its parts are sentences.
            "not" | "and" | "or" | "<=" => {
                parts[1..].iter().for_each(|part| literal(part, builder, found));
                return;
            }
            "distinct" => {
                let terms = parts[1..].iter().filter_map(|part| term(part, builder)).collect();
                found.push(Literal { kind: LiteralKind::Distinct(terms), span });
                return;
            }
            _ => {}
        }
    }
    found.extend(atom(tree, builder).map(|atom| Literal { kind: LiteralKind::Atom(atom), span }));
}

fn atom(tree: &Tree<'_>, builder: &mut Builder) -> Option<Atom> {
    let (name, name_span, rest) = named(tree)?;
    let arguments = rest.iter().filter_map(|part| term(part, builder)).collect();
    let relation = builder.symbols.intern(name);
    Some(Atom { relation, arguments, span: tree.span(), name_span })
}

fn term(tree: &Tree<'_>, builder: &mut Builder) -> Option<Term> {
    if let Tree::Word(word, span) = tree
        && let Some(name) = word.strip_prefix('?')
    {
        return Some(builder.variable(name, *span));
    }
    let (name, name_span, rest) = named(tree)?;
    let arguments = rest.iter().filter_map(|part| term(part, builder)).collect();
    Some(builder.term(name, name_span, arguments, tree.span()))
}

/// Returns the name of a sentence or term, its place, and the arguments.
fn named<'t, 'a>(tree: &'t Tree<'a>) -> Option<(&'a str, agon_text::Span, &'t [Tree<'a>])> {
    let (name, span, rest) = match tree {
        Tree::Word(word, span) => (*word, *span, &[][..]),
        Tree::List(parts, _) => match parts.first()? {
            Tree::Word(word, span) => (*word, *span, &parts[1..]),
            Tree::List(..) => return None,
        },
    };
    (!name.starts_with('?') && name != "<=").then_some((name, span, rest))
}
