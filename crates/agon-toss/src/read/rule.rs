//! Parses rules, which are written as two structures or as a formula.

use agon_text::Span;

use super::cursor::Cursor;
use super::formula::formula;
use super::structure::structure;
use super::term::{strokes, term};
use crate::syntax::{Change, Effect, Equation, Formula, Name, NameKind, Rule};

/// Parses a rule after its keyword.
pub(super) fn rule(cursor: &mut Cursor<'_>, start: Span) -> Option<Rule> {
    let name = cursor.name("the name of a rule")?;
    cursor.definition(NameKind::Rule);
    cursor.expect(":")?;
    let change = if cursor.is_word("ELEMS") || cursor.is_word("MATCH") {
        by_formula(cursor)?
    } else {
        by_structures(cursor)?
    };
    let mut rule = Rule {
        name,
        change,
        embedded: Vec::new(),
        pre: None,
        post: None,
        inv: None,
        dynamics: Vec::new(),
        updates: Vec::new(),
        history: Vec::new(),
        span: start,
    };
    conditions(cursor, &mut rule)?;
    rule.span = cursor.since(start);
    Some(rule)
}

fn by_structures(cursor: &mut Cursor<'_>) -> Option<Change> {
    let left = structure(cursor)?;
    cursor.expect("->")?;
    let right = structure(cursor)?;
    let map = if cursor.take_word("with") { Some(map(cursor)?) } else { None };
    Some(Change::Rewrite { left, right, map })
}

/// Parses `[r <- l, r <- l]`: the elements of the right side with the elements that they replace.
fn map(cursor: &mut Cursor<'_>) -> Option<Vec<(Name, Name)>> {
    cursor.expect("[")?;
    let mut pairs = Vec::new();
    while !cursor.is_sign("]") {
        let right = cursor.name_or_number("an element of the right side")?;
        cursor.expect("<-")?;
        pairs.push((right, cursor.name_or_number("an element of the left side")?));
        if !cursor.take_sign(",") {
            break;
        }
    }
    cursor.expect("]")?;
    Some(pairs)
}

fn by_formula(cursor: &mut Cursor<'_>) -> Option<Change> {
    let mut elements = Vec::new();
    if cursor.take_word("ELEMS") && !cursor.is_word("MATCH") {
        elements = cursor.names("an element")?;
    }
    if !cursor.take_word("MATCH") {
        cursor.unexpected("`MATCH`");
        return None;
    }
    let condition = formula(cursor)?;
    let mut effects = Vec::new();
    if cursor.take_word("RELS") && !cursor.take_sign("-") {
        effects.push(effect(cursor)?);
        while cursor.take_sign(";") {
            effects.push(effect(cursor)?);
        }
    }
    Some(Change::Formula { elements, condition, effects })
}

fn effect(cursor: &mut Cursor<'_>) -> Option<Effect> {
    let start = cursor.span();
    let holds = !cursor.take_word("not");
    let relation = cursor.name("a relation")?;
    cursor.mention(NameKind::Relation);
    let arguments = cursor.arguments()?;
    Some(Effect { holds, relation, arguments, span: cursor.since(start) })
}

/// Parses the clauses after the change, in any order.
fn conditions(cursor: &mut Cursor<'_>, rule: &mut Rule) -> Option<()> {
    loop {
        if cursor.take_word("emb") {
            if !cursor.take_sign("-") {
                let first = cursor.mentions.len();
                rule.embedded.extend(cursor.names("a relation")?);
                cursor.mentions_since(first, NameKind::Relation);
            }
        } else if cursor.take_word("pre") {
            let more = formula(cursor)?;
            add(&mut rule.pre, more);
        } else if cursor.take_word("post") {
            let more = formula(cursor)?;
            add(&mut rule.post, more);
        } else if cursor.take_word("inv") {
            let more = formula(cursor)?;
            add(&mut rule.inv, more);
        } else if cursor.take_word("before") {
            loop {
                let holds = !cursor.take_word("not");
                rule.history.push((cursor.name("a rule")?, holds));
                cursor.mention(NameKind::Rule);
                if !cursor.take_sign(",") {
                    break;
                }
            }
        } else if cursor.take_word("dynamics") {
            equations(cursor, &mut rule.dynamics)?;
        } else if cursor.take_word("update") {
            equations(cursor, &mut rule.updates)?;
        } else if cursor.is_section() || cursor.is_at_end() {
            return Some(());
        } else {
            cursor.unexpected(
                "`emb`, `pre`, `inv`, `post`, `dynamics`, `update`, `before` or the next section",
            );
            return None;
        }
    }
}

/// Adds a further condition as a conjunct.
fn add(condition: &mut Option<Formula>, more: Formula) {
    *condition = Some(match condition.take() {
        None => more,
        Some(first) => {
            let span = first.span.to(more.span);
            Formula { kind: crate::syntax::FormulaKind::And(vec![first, more]), span }
        }
    });
}

/// Parses `:f(a)' = term; :g(b) = term`.
fn equations(cursor: &mut Cursor<'_>, equations: &mut Vec<Equation>) -> Option<()> {
    loop {
        let start = cursor.expect_or(":", "the value of a function is written `:f(a)`")?;
        let function = cursor.name("a function")?;
        cursor.mention(NameKind::Function);
        let mut order = strokes(cursor);
        cursor.expect("(")?;
        let element = cursor.name_or_number("an element")?;
        cursor.expect(")")?;
        order += strokes(cursor);
        cursor.expect_or(
            "=",
            "write `:f(a) = term` for an update, `:f(a)' = term` for a derivative",
        )?;
        let term = term(cursor)?;
        let span = cursor.since(start);
        equations.push(Equation { function, order, element, term, span });
        if !cursor.take_sign(";") || !cursor.is_sign(":") {
            return Some(());
        }
    }
}
