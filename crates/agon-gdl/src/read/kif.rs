//! Prefix KIF: `(<= (next (cell ?x b)) (true (cell ?x b)))`.
//!
//! Text becomes trees of lists and words, and trees become clauses. After a mistake, reading
//! continues with the next clause, so that one run reports all mistakes.

use std::sync::Arc;

use agon_text::{Diagnostic, Edit, Fix, Source, Span};

use super::MAX_NESTING;
use super::arrow::arrow_after_head;
use super::builder::Builder;
use super::infix::unterminated_quote;
use super::lexemes::{KifLexemes, Lexeme, LexemeKind, Quote};
use super::recover::recover;
use crate::symbols::Case;
use crate::syntax::{Atom, Clause, Literal, LiteralKind, Rulesheet, Syntax, Term};

pub(super) fn read(source: Arc<Source>, case: Case) -> (Rulesheet, agon_text::Diagnostics) {
    let mut builder = Builder::new(case);
    let Trees { whole, unfinished } = read_all_trees(source.text(), &mut builder);
    let (mut clauses, mut partial) = (Vec::new(), Vec::new());
    let mut trees = unwrap_description(&whole);
    while let [tree, rest @ ..] = trees {
        if let Some((rule, n)) = arrow_after_head(source.text(), trees, &mut builder) {
            partial.extend(recover(&rule, &mut builder));
            trees = &trees[n..];
            continue;
        }
        match read_clause(tree, &mut builder) {
            Some(clause) => clauses.push(clause),
            None => partial.extend(recover(tree, &mut builder)),
        }
        trees = rest;
    }
    partial.extend(unfinished.iter().filter_map(|tree| recover(tree, &mut builder)));
    partial.sort_by_key(|clause| clause.span);
    let symbols = builder.symbols;
    let rulesheet = Rulesheet { source, syntax: Syntax::Kif, clauses, partial, symbols };
    let mut findings = builder.findings;
    findings.sort();
    (rulesheet, findings)
}

/// Text as lists and words, before their meaning is known.
#[derive(Clone)]
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

/// The trees of a text.
struct Trees<'a> {
    /// The trees whose parentheses match.
    whole: Vec<Tree<'a>>,
    /// The trees that are never closed, as if they were closed where the next clause begins.
    unfinished: Vec<Tree<'a>>,
}

/// Reads the trees of a text whose parentheses match.
pub(crate) fn read_trees<'a>(text: &'a str, builder: &mut Builder) -> Vec<Tree<'a>> {
    read_all_trees(text, builder).whole
}

/// Reads all trees of a text.
///
/// If some list is never closed, the text is read again from there. Then a parenthesis at the start
/// of a line begins a new clause, unless the author writes conditions there too. So a clause that is
/// being written does not hide the clauses after it.
fn read_all_trees<'a>(text: &'a str, builder: &mut Builder) -> Trees<'a> {
    let mut reader = TreeReader::new(text, LineStart::Continues);
    reader.read(0, builder);
    let Some(&(start, ..)) = reader.open.first() else { return reader.trees };
    if reader.first_inner_line_start.is_none_or(|inner| inner > start) {
        builder.findings.0.truncate(reader.n_findings_before);
        let whole = std::mem::take(&mut reader.trees.whole);
        reader = TreeReader::new(text, LineStart::BeginsClause);
        reader.trees.whole = whole;
        reader.read(start, builder);
    }
    reader.close_all(text.trim_end().len(), builder);
    reader.trees
}

/// The meaning of an opening parenthesis at the start of a line while a list is open.
#[derive(Copy, Clone, PartialEq, Eq)]
enum LineStart {
    Continues,
    BeginsClause,
}

struct TreeReader<'a> {
    text: &'a str,
    line_start: LineStart,
    trees: Trees<'a>,
    /// The open lists, each with its start and its content so far.
    open: Vec<(usize, Vec<Tree<'a>>)>,
    too_deep_reported: bool,
    /// The first parenthesis at the start of a line inside of a list.
    first_inner_line_start: Option<usize>,
    /// Number of diagnostics when the outermost open list began.
    n_findings_before: usize,
    /// The end of the last word or parenthesis. Comments may follow it.
    last_word_end: usize,
}

impl<'a> TreeReader<'a> {
    fn new(text: &'a str, line_start: LineStart) -> TreeReader<'a> {
        TreeReader {
            text,
            line_start,
            trees: Trees { whole: Vec::new(), unfinished: Vec::new() },
            open: Vec::new(),
            too_deep_reported: false,
            first_inner_line_start: None,
            n_findings_before: 0,
            last_word_end: 0,
        }
    }

    fn read(&mut self, start: usize, builder: &mut Builder) {
        let mut last_end = start;
        for (Lexeme { kind, span }, quote) in KifLexemes::new(self.text, start) {
            match kind {
                LexemeKind::Comment | LexemeKind::Sign => {}
                LexemeKind::Open => self.open(span, last_end, builder),
                LexemeKind::Close => self.close(span, builder),
                LexemeKind::Name | LexemeKind::Variable => {
                    if quote == Quote::Open {
                        let mark = Span::new(span.start(), span.start() + 1);
                        builder.report(unterminated_quote(mark));
                    }
                    let word = &self.text[span.start()..span.end()];
                    self.push(Tree::Word(word, span));
                }
            }
            last_end = span.end();
            if !matches!(kind, LexemeKind::Comment | LexemeKind::Sign) {
                self.last_word_end = last_end;
            }
        }
    }

    fn push(&mut self, tree: Tree<'a>) {
        self.open.last_mut().map_or(&mut self.trees.whole, |(_, list)| list).push(tree);
    }

    fn open(&mut self, span: Span, last_end: usize, builder: &mut Builder) {
        let at = span.start();
        let is_line_start = at == 0 || self.text[..at].ends_with(['\n', '\r']);
        if is_line_start && !self.open.is_empty() {
            self.first_inner_line_start.get_or_insert(at);
            if self.line_start == LineStart::BeginsClause {
                self.close_all(last_end, builder);
            }
        }
        if self.open.is_empty() {
            self.n_findings_before = builder.findings.0.len();
        }
        if self.open.len() >= MAX_NESTING && !self.too_deep_reported {
            self.too_deep_reported = true;
            builder.report(
                Diagnostic::error(
                    "nested-too-deep",
                    span,
                    format!("lists nest deeper than {MAX_NESTING}"),
                )
                .hint("a closing parenthesis may be missing far above"),
            );
        }
        self.open.push((at, Vec::new()));
    }

    fn close(&mut self, span: Span, builder: &mut Builder) {
        match self.open.pop() {
            // Beyond the limit the content is dropped, so that no later stage recurses that deep.
            Some((start, inner)) if self.open.len() < MAX_NESTING => {
                self.push(Tree::List(inner, Span::new(start, span.end())));
            }
            Some(_) => {}
            None => builder.report(
                Diagnostic::error(
                    "unmatched-parenthesis",
                    span,
                    "closing parenthesis without an opening one",
                )
                .hint("remove it, or add the missing `(` before it"),
            ),
        }
    }

    /// Reports all open lists and closes them at a place.
    fn close_all(&mut self, end: usize, builder: &mut Builder) {
        for (n_outside, (start, _)) in self.open.iter().enumerate() {
            let mut finding = Diagnostic::error(
                "unmatched-parenthesis",
                Span::new(*start, start + 1),
                "opening parenthesis is never closed",
            )
            .hint("add the missing `)`");
            if n_outside == 0 {
                let at = self.last_word_end.max(start + 1);
                let missing = ")".repeat(self.open.len());
                let title = format!("add `{missing}` at the end of the clause");
                finding = finding.suggest(Fix::replace(title, Span::new(at, at), missing));
            }
            builder.report(finding);
        }
        while let Some((start, inner)) = self.open.pop() {
            let list = Tree::List(inner, Span::new(start, end.max(start + 1)));
            let n_open = self.open.len();
            match self.open.last_mut() {
                Some((_, outer)) if n_open < MAX_NESTING => outer.push(list),
                Some(_) => {}
                None => self.trees.unfinished.push(list),
            }
        }
    }
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
