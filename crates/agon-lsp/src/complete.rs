//! Completion: keywords, relations with their numbers of arguments, and the names that an argument
//! can have.

use std::collections::BTreeMap;

use agon_gdl::check::ArgumentPlace;
use agon_toss::syntax::NameKind;
use serde_json::{Value, json};

use crate::context::Context;
use crate::index::{Class, Key};
use crate::keywords::{GDL, Help, TOSS};
use crate::snapshot::{Snapshot, WordKind};
use crate::text::Places;

/// The kinds of completion items, as the protocol numbers them.
const FUNCTION: u32 = 3;
const VARIABLE: u32 = 6;
const KEYWORD: u32 = 14;
const CONSTANT: u32 = 21;

/// Returns what can be written at a byte.
pub(crate) fn complete(snapshot: &Snapshot, places: Places<'_>, byte: usize) -> Value {
    let context = Context::at(snapshot, byte);
    if context.is_comment {
        return json!({"isIncomplete": false, "items": []});
    }
    let mut list = List { range: places.range(context.word), items: BTreeMap::new() };
    if snapshot.rules().is_some() {
        gdl(snapshot, &context, byte, &mut list);
    } else {
        toss(snapshot, byte, &mut list);
    }
    let items: Vec<Value> = list.items.into_values().collect();
    json!({"isIncomplete": false, "items": items})
}

struct List {
    range: Value,
    items: BTreeMap<(u8, String), Value>,
}

impl List {
    /// Adds an item. Items of a lower rank come first.
    fn add(&mut self, rank: u8, label: &str, kind: u32, detail: &str) {
        let item = json!({
            "label": label, "kind": kind, "detail": detail,
            "sortText": format!("{rank}{label}"),
            "textEdit": {"range": self.range, "newText": label},
        });
        self.items.entry((rank, label.to_owned())).or_insert(item);
    }

    fn keywords(&mut self, rank: u8, table: &[Help], wanted: impl Fn(&str) -> bool) {
        for help in table.iter().filter(|help| wanted(help.word)) {
            self.add(rank, help.word, KEYWORD, help.form);
        }
    }
}

fn gdl(snapshot: &Snapshot, context: &Context, byte: usize, list: &mut List) {
    let is_infix = snapshot.is_infix();
    let is_connective = |name: &str| matches!(name, "<=" | "not" | "and" | "or");
    // In KIF the last open list may be waiting for its name.
    let waits_for_name = !is_infix && context.open.last().is_some_and(|open| open.name.is_none());
    let depth = context.open.len() - usize::from(waits_for_name);
    let parent = context.open[..depth].last();
    let parent_name = parent.and_then(|open| open.name.as_deref());
    match parent_name.filter(|name| !is_connective(name)) {
        None => {
            // A clause, a head or a condition.
            let is_condition = if is_infix {
                context.is_body
            } else {
                parent.is_some_and(|open| open.name.as_deref() != Some("<=") || open.argument > 0)
            };
            let is_clause = parent.is_none() && !is_infix;
            list.keywords(2, GDL, |word| match word {
                ":-" | "random" => false,
                "<=" => is_clause && waits_for_name,
                "true" | "does" | "distinct" | "not" | "or" | "and" => is_condition,
                "init" | "next" | "base" | "input" | "percept" | "sees" => !is_condition,
                _ => true,
            });
            relations(snapshot, byte, list);
        }
        Some(name) => {
            let argument = parent.map_or(0, |open| open.argument);
            let is_sentence = context.is_sentence(depth - 1);
            names(snapshot, name, is_sentence, argument, waits_for_name, list);
            if !waits_for_name {
                variables(snapshot, byte, list);
            }
        }
    }
}

/// Adds the relations of the rules with their numbers of arguments, apart from the word that is
/// being written.
fn relations(snapshot: &Snapshot, byte: usize, list: &mut List) {
    let mut arities: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for mention in &snapshot.index.mentions {
        let is_here = mention.span.start() <= byte && byte <= mention.span.end();
        if mention.key.class == Class::Relation && !is_here {
            let known = arities.entry(&mention.key.name).or_default();
            if !known.contains(&mention.arity) {
                known.push(mention.arity);
            }
        }
    }
    for (name, arities) in arities {
        let shown: Vec<String> = arities.iter().map(|arity| format!("{name}/{arity}")).collect();
        list.add(1, name, FUNCTION, &shown.join(", "));
    }
}

/// Adds the names that an argument can have: functions after a parenthesis, otherwise constants.
fn names(
    snapshot: &Snapshot,
    name: &str,
    is_sentence: bool,
    argument: usize,
    wants_functions: bool,
    list: &mut List,
) {
    let Some(sheet) = snapshot.rules() else { return };
    let Some((symbol, domains)) = sheet.symbols.find(name).zip(snapshot.domains()) else { return };
    let class = if is_sentence { Class::Relation } else { Class::Term };
    let mut arities: Vec<usize> = snapshot
        .index
        .mentions
        .iter()
        .filter(|mention| mention.symbol == Some(symbol))
        .filter(|mention| {
            mention.key.class == class || (is_sentence && mention.key.class == Class::Keyword)
        })
        .map(|mention| mention.arity)
        .collect();
    arities.sort_unstable();
    arities.dedup();
    for arity in arities.into_iter().filter(|&arity| argument < arity) {
        let place = if is_sentence {
            ArgumentPlace::Relation(symbol, arity, argument)
        } else {
            ArgumentPlace::Function(symbol, arity, argument)
        };
        for (name, n_arguments) in domains.at(place).into_iter().flatten() {
            let name = sheet.symbols.name(name);
            let of = format!("argument {} of {}", argument + 1, sheet.symbols.name(symbol));
            match n_arguments {
                0 if !wants_functions => list.add(1, name, CONSTANT, &of),
                0 => {}
                n => list.add(0, name, FUNCTION, &format!("{name}/{n}, {of}")),
            }
        }
    }
}

/// Adds the variables of the clause around a byte.
fn variables(snapshot: &Snapshot, byte: usize, list: &mut List) {
    let Some(clause) = snapshot.clause_around(byte) else { return };
    let text = snapshot.source.text();
    let end = clause.end().max(byte);
    for word in &snapshot.words {
        let span = word.span;
        let is_inside = clause.start() <= span.start() && span.end() <= end;
        let is_here = span.start() <= byte && byte <= span.end();
        if is_inside && !is_here && word.kind == WordKind::Variable {
            list.add(0, &text[span.start()..span.end()], VARIABLE, "variable of this clause");
        }
    }
}

fn toss(snapshot: &Snapshot, byte: usize, list: &mut List) {
    let clauses = snapshot.clauses();
    let section = clauses.partition_point(|span| span.start() <= byte).saturating_sub(1);
    let start = clauses.get(section).map_or(0, |span| span.start());
    let wanted = wanted_name(snapshot, start, byte);
    if wanted.is_none() {
        list.keywords(2, TOSS, |_| true);
    }
    for mention in &snapshot.index.mentions {
        let Key { class: Class::Toss(kind), name, scope } = &mention.key else { continue };
        let is_here = mention.span.start() <= byte && byte <= mention.span.end();
        if is_here || wanted.is_some_and(|wanted| wanted != *kind) {
            continue;
        }
        match kind {
            NameKind::Relation => {
                list.add(1, name, FUNCTION, &format!("relation {name}/{}", mention.arity));
            }
            NameKind::Rule => list.add(1, name, FUNCTION, "rule"),
            NameKind::Function => list.add(1, name, FUNCTION, "function"),
            NameKind::Player => list.add(1, name, CONSTANT, "player"),
            NameKind::Location => list.add(1, name, CONSTANT, "location"),
            NameKind::Constant => list.add(1, name, CONSTANT, "constant"),
            NameKind::Variable | NameKind::Number | NameKind::Parameter
                if *scope == Some(section) =>
            {
                list.add(0, name, VARIABLE, "variable of this section");
            }
            NameKind::Variable
            | NameKind::Number
            | NameKind::Parameter
            | NameKind::BuiltIn
            | NameKind::Label
            | NameKind::Key => {}
        }
    }
}

/// Returns the only kind of name that can stand at a byte, if the words before it in its section
/// leave no choice.
fn wanted_name(snapshot: &Snapshot, start: usize, byte: usize) -> Option<NameKind> {
    let first = snapshot.words.partition_point(|word| word.span.start() < start);
    let mut before: Vec<(WordKind, &str)> = Vec::new();
    for word in &snapshot.words[first..] {
        let is_name = matches!(word.kind, WordKind::Name | WordKind::Number | WordKind::Keyword);
        if word.span.end() > byte || (is_name && word.span.end() == byte) {
            break;
        }
        if word.kind != WordKind::Comment {
            before.push((word.kind, snapshot.source.slice(word.span)));
        }
    }
    let (_, section) = *before.first()?;
    let (_, last) = *before.last()?;
    match (section, last) {
        ("LOC", "PLAYER") => Some(NameKind::Player),
        ("LOC", "->") => Some(NameKind::Location),
        ("LOC", "[") | ("RULE", "before") => Some(NameKind::Rule),
        ("RULE", "emb" | ",") => {
            // A list of names after `emb`.
            let mut outside =
                before.iter().rev().filter(|(kind, word)| *kind != WordKind::Name && *word != ",");
            outside.next().is_some_and(|(_, word)| *word == "emb").then_some(NameKind::Relation)
        }
        _ => None,
    }
}
