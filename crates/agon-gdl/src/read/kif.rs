//! Prefix KIF: `(<= (next (cell ?x b)) (true (cell ?x b)))`.
//!
//! Text becomes trees of lists and words, and trees become clauses. After a mistake, reading
//! continues with the next clause, so that one run reports all mistakes.

use std::sync::Arc;

use agon_text::{Diagnostic, Edit, Fix, Source, Span};

use super::MAX_NESTING;
use super::builder::Builder;
use super::infix::unterminated_quote;
use super::words::kif_word;
use crate::symbols::Case;
use crate::syntax::{Atom, Clause, Literal, LiteralKind, Rulesheet, Syntax, Term};

pub(super) fn read(source: Arc<Source>, case: Case) -> (Rulesheet, agon_text::Diagnostics) {
    let mut builder = Builder::new(case);
    let trees = read_trees(source.text(), &mut builder);
    let mut clauses = Vec::new();
    for tree in unwrap_description(&trees) {
        if let Some(clause) = read_clause(tree, &mut builder) {
            clauses.push(clause);
        }
    }
    let rulesheet = Rulesheet { source, syntax: Syntax::Kif, clauses, symbols: builder.symbols };
    let mut findings = builder.findings;
    findings.sort();
    (rulesheet, findings)
}

/// Text as lists and words, before their meaning is known.
pub(crate) enum Tree<'a> {
    Word(&'a str, Span),
    List(Vec<Tree<'a>>, Span),
}

impl Tree<'_> {
    pub(crate) fn span(&self) -> Span {
        match self {
            Tree::Word(_, span) | Tree::List(_, span) => *span,
        }
    }
}

/// Unwraps a whole description in one pair of parentheses, `((role a) (role b) …)`, as START
/// messages have it.
fn unwrap_description<'t, 'a>(trees: &'t [Tree<'a>]) -> &'t [Tree<'a>] {
    match trees {
        [Tree::List(inner, _)]
            if inner.len() > 1 && matches!(inner.first(), Some(Tree::List(..))) =>
        {
            inner
        }
        _ => trees,
    }
}

pub(crate) fn read_trees<'a>(text: &'a str, builder: &mut Builder) -> Vec<Tree<'a>> {
    let mut at = 0;
    let mut top: Vec<Tree<'a>> = Vec::new();
    let mut open: Vec<(usize, Vec<Tree<'a>>)> = Vec::new();
    let mut too_deep_reported = false;
    while let Some(c) = text[at..].chars().next() {
        match c {
            ';' => at += text[at..].find(['\n', '\r']).unwrap_or(text.len() - at),
            '(' => {
                if open.len() >= MAX_NESTING && !too_deep_reported {
                    too_deep_reported = true;
                    builder.report(
                        Diagnostic::error(
                            "nested-too-deep",
                            Span::new(at, at + 1),
                            format!("lists nest deeper than {MAX_NESTING}"),
                        )
                        .hint("a closing parenthesis may be missing far above"),
                    );
                }
                open.push((at, Vec::new()));
                at += 1;
            }
            ')' => {
                match open.pop() {
                    // Beyond the limit the content is dropped, so that no later stage recurses that
                    // deep.
                    Some((start, inner)) if open.len() < MAX_NESTING => {
                        let list = Tree::List(inner, Span::new(start, at + 1));
                        open.last_mut().map_or(&mut top, |(_, list)| list).push(list);
                    }
                    Some(_) => {}
                    None => builder.report(
                        Diagnostic::error(
                            "unmatched-parenthesis",
                            Span::new(at, at + 1),
                            "closing parenthesis without an opening one",
                        )
                        .hint("remove it, or add the missing `(` before it"),
                    ),
                }
                at += 1;
            }
            c if c.is_whitespace() || c == '\u{feff}' => at += c.len_utf8(),
            _ => {
                // No public rulesheet has quoted words, but some tools write them.
                let length = kif_word(&text[at..]).unwrap_or_else(|length| {
                    builder.report(unterminated_quote(Span::new(at, at + 1)));
                    length
                });
                let end = at + length;
                let word = Tree::Word(&text[at..end], Span::new(at, end));
                open.last_mut().map_or(&mut top, |(_, list)| list).push(word);
                at = end;
            }
        }
    }
    for (start, _) in open {
        builder.report(
            Diagnostic::error(
                "unmatched-parenthesis",
                Span::new(start, start + 1),
                "opening parenthesis is never closed",
            )
            .hint("add the missing `)`"),
        );
    }
    top
}

fn read_clause(tree: &Tree<'_>, builder: &mut Builder) -> Option<Clause> {
    let span = tree.span();
    let clause = match tree {
        Tree::List(parts, _) if is_word(parts.first(), "<=") => {
            let Some(head) = parts.get(1) else {
                builder.report(
                    Diagnostic::error("empty-rule", span, "a rule needs a head")
                        .hint("write `(<= (head …) (condition …) …)`"),
                );
                return None;
            };
            let head = read_atom(head, builder, Place::Head);
            let body = all_or_none(&parts[2..], |tree| read_literal(tree, builder));
            head.zip(body).map(|(head, body)| (head, body, true))
        }
        _ => read_atom(tree, builder, Place::Head).map(|head| (head, Vec::new(), false)),
    };
    let variables = builder.take_variables();
    clause.map(|(head, body, is_rule)| Clause { head, body, is_rule, variables, span })
}

/// Reads every part, so that each mistake is reported. Returns all parts or nothing.
fn all_or_none<T>(
    trees: &[Tree<'_>],
    mut read: impl FnMut(&Tree<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let parts: Vec<Option<T>> = trees.iter().map(&mut read).collect();
    parts.into_iter().collect()
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Place {
    Head,
    Body,
}

fn read_literal(tree: &Tree<'_>, builder: &mut Builder) -> Option<Literal> {
    let span = tree.span();
    let (word, rest) = match tree {
        Tree::List(parts, _) => match parts.first() {
            Some(Tree::Word(word, _)) => (word.to_ascii_lowercase(), &parts[1..]),
            _ => (String::new(), &[][..]),
        },
        Tree::Word(..) => (String::new(), &[][..]),
    };
    let kind = match word.as_str() {
        "not" => {
            if rest.len() != 1 {
                builder.report(
                    Diagnostic::error(
                        "keyword-arity",
                        span,
                        format!("`not` takes one condition, here it has {}", rest.len()),
                    )
                    .hint("write one `(not …)` for each condition"),
                );
            }
            LiteralKind::Not(Box::new(read_literal(rest.first()?, builder)?))
        }
        "or" => LiteralKind::Or(all_or_none(rest, |tree| read_literal(tree, builder))?),
        "and" => LiteralKind::And(all_or_none(rest, |tree| read_literal(tree, builder))?),
        "distinct" => {
            let terms = all_or_none(rest, |tree| read_term(tree, builder))?;
            if terms.len() != 2 {
                builder.report(
                    Diagnostic::error(
                        "keyword-arity",
                        span,
                        format!("`distinct` compares two terms, here it has {}", terms.len()),
                    )
                    .hint("write one `(distinct a b)` for each pair that must differ"),
                );
            }
            if terms.len() < 2 {
                return None;
            }
            LiteralKind::Distinct(terms)
        }
        _ => LiteralKind::Atom(read_atom(tree, builder, Place::Body)?),
    };
    Some(Literal { kind, span })
}

fn read_atom(tree: &Tree<'_>, builder: &mut Builder, place: Place) -> Option<Atom> {
    let span = tree.span();
    let (name, name_span, rest) = match tree {
        Tree::Word(word, _) => (*word, span, &[][..]),
        Tree::List(parts, _) => match parts.first() {
            Some(Tree::Word(word, word_span)) => (*word, *word_span, &parts[1..]),
            Some(Tree::List(_, inner_span)) => {
                builder.report(list_as_name(
                    span,
                    *inner_span,
                    parts.len(),
                    "a sentence",
                    "a relation",
                ));
                return None;
            }
            None => {
                let problem = Diagnostic::error("empty-list", span, "`()` is not a sentence");
                builder.report(problem.hint("remove it"));
                return None;
            }
        },
    };
    if name.starts_with('?') {
        builder.report(
            Diagnostic::error(
                "variable-as-sentence",
                name_span,
                format!("variable `{name}` cannot be a sentence"),
            )
            .hint("GDL has no variables for relations; name the relation"),
        );
        return None;
    }
    if name == "<=" && !rest.is_empty() && rest.iter().all(|tree| matches!(tree, Tree::Word(..))) {
        let message = "GDL has no arithmetic: `<=` only starts a rule";
        builder.report(
            Diagnostic::error("no-arithmetic", span, message).hint(
                "list the numbers as facts, `(succ 0 1)` `(succ 1 2)` …, and define it by them",
            ),
        );
        return None;
    }
    if let Some((why, hint)) = misplaced_keyword(name, tree, place) {
        builder.report(
            Diagnostic::error("misplaced-keyword", name_span, format!("`{name}` {why}")).hint(hint),
        );
        return None;
    }
    if !builder.accepts_arguments(rest.len(), name, span) {
        return None;
    }
    let arguments = all_or_none(rest, |tree| read_term(tree, builder))?;
    let relation = builder.symbols.intern(name);
    Some(Atom { relation, arguments, span, name_span })
}

fn misplaced_keyword(
    name: &str,
    tree: &Tree<'_>,
    place: Place,
) -> Option<(&'static str, &'static str)> {
    match name.to_ascii_lowercase().as_str() {
        "<=" => Some((
            "cannot stand inside another sentence",
            "a closing parenthesis may be missing before it",
        )),
        "not" | "or" | "and" | "distinct" if place == Place::Head => Some((
            "belongs to conditions and cannot be the head of a rule or fact",
            "move it into the body of a rule",
        )),
        "not" | "or" | "and" | "distinct" if matches!(tree, Tree::Word(..)) => Some((
            "needs its conditions",
            "write `(not (p a))`, with the condition inside the parentheses",
        )),
        _ => None,
    }
}

pub(crate) fn read_term(tree: &Tree<'_>, builder: &mut Builder) -> Option<Term> {
    let (name, name_span, rest, span) = match tree {
        Tree::Word(word, span) => match word.strip_prefix('?') {
            Some(name) => return Some(builder.variable(name, *span)),
            None => (*word, *span, &[][..], *span),
        },
        Tree::List(parts, span) => match parts.first() {
            Some(Tree::Word(word, word_span)) => (*word, *word_span, &parts[1..], *span),
            Some(Tree::List(_, inner_span)) => {
                builder.report(list_as_name(
                    *span,
                    *inner_span,
                    parts.len(),
                    "a term",
                    "a function",
                ));
                return None;
            }
            None => {
                builder.report(
                    Diagnostic::error("empty-list", *span, "`()` is not a term").hint("remove it"),
                );
                return None;
            }
        },
    };
    if name == "<=" {
        builder.report(
            Diagnostic::error("misplaced-keyword", name_span, "`<=` cannot be part of a term")
                .hint("a closing parenthesis may be missing before it"),
        );
        return None;
    }
    if name.starts_with('?') {
        builder.report(
            Diagnostic::error(
                "variable-as-name",
                name_span,
                format!("variable `{name}` cannot be the name of a function"),
            )
            .hint("GDL has no variables for functions; name the function"),
        );
        return None;
    }
    if !builder.accepts_arguments(rest.len(), name, span) {
        return None;
    }
    let arguments = all_or_none(rest, |tree| read_term(tree, builder))?;
    Some(builder.term(name, name_span, arguments, span))
}

/// Reports `((p a))`. The fix removes the extra pair of parentheses if it holds nothing else.
fn list_as_name(outer: Span, inner: Span, n_parts: usize, what: &str, name: &str) -> Diagnostic {
    let problem = Diagnostic::error(
        "list-as-name",
        inner,
        format!("{what} starts with the name of {name}, not with a list"),
    )
    .hint("remove the extra parentheses");
    if n_parts > 1 {
        return problem;
    }
    let cut = |start, end| Edit { span: Span::new(start, end), replacement: String::new() };
    problem.fix(Fix {
        title: "remove the extra parentheses".to_owned(),
        edits: vec![cut(outer.start(), inner.start()), cut(inner.end(), outer.end())],
    })
}

fn is_word(tree: Option<&Tree<'_>>, text: &str) -> bool {
    matches!(tree, Some(Tree::Word(word, _)) if *word == text)
}
