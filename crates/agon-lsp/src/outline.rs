//! The structure of a text: symbols, folding and selection.

use agon_text::Span;
use agon_toss::syntax::NameKind;
use serde_json::{Value, json};

use crate::index::Class;
use crate::snapshot::{Snapshot, WordKind};
use crate::text::Places;

/// Returns the symbols of a text: each relation with its clauses, or each section.
pub(crate) fn symbols(snapshot: &Snapshot, places: Places<'_>) -> Value {
    if snapshot.rules().is_some() {
        relations(snapshot, places)
    } else {
        sections(snapshot, places)
    }
}

fn relations(snapshot: &Snapshot, places: Places<'_>) -> Value {
    // Heads are the definitions among relations and keywords; the clause around each is its range.
    let clauses = snapshot.clauses();
    let mut groups: Vec<(&str, Vec<(Span, Span)>)> = Vec::new();
    for mention in &snapshot.index.mentions {
        if !mention.is_definition || !matches!(mention.key.class, Class::Relation | Class::Keyword)
        {
            continue;
        }
        let at = clauses.partition_point(|span| span.start() <= mention.span.start());
        let clause = clauses[..at].last().copied().unwrap_or(mention.whole);
        let clause = if clause.end() < mention.span.end() { mention.whole } else { clause };
        let entry = (clause, mention.whole);
        match groups.iter_mut().find(|(name, _)| *name == mention.key.name) {
            Some((_, heads)) => heads.push(entry),
            None => groups.push((&mention.key.name, vec![entry])),
        }
    }
    let symbol = |name: &str, detail: &str, kind: u32, range: Span, inner: Span| {
        json!({"name": name, "detail": detail, "kind": kind, "range": places.range(range),
            "selectionRange": places.range(inner)})
    };
    let mut symbols = Vec::new();
    for (name, heads) in groups {
        let n_clauses = heads.len();
        let detail = format!("{n_clauses} clause{}", if n_clauses == 1 { "" } else { "s" });
        let (first, head) = heads[0];
        let mut group = symbol(name, &detail, 12, first, head);
        let children: Vec<Value> = heads
            .iter()
            .map(|&(clause, head)| {
                let shown = snapshot.source.slice(head);
                let shown: String = shown
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .chars()
                    .take(80)
                    .collect();
                symbol(&shown, "", if clause == head { 14 } else { 6 }, clause, head)
            })
            .collect();
        if n_clauses > 1 {
            group["children"] = json!(children);
        }
        symbols.push(group);
    }
    json!(symbols)
}

fn sections(snapshot: &Snapshot, places: Places<'_>) -> Value {
    let mut symbols = Vec::new();
    for section in snapshot.clauses() {
        let text = snapshot.source.slice(section);
        let keyword = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let wanted = match keyword {
            "RULE" => Some((NameKind::Rule, 6)),
            "REL" => Some((NameKind::Relation, 12)),
            "LOC" => Some((NameKind::Location, 3)),
            _ => None,
        };
        let named = wanted.and_then(|(kind, number)| {
            let mention = snapshot.index.mentions.iter().find(|mention| {
                mention.key.class == Class::Toss(kind)
                    && section.start() <= mention.span.start()
                    && mention.span.end() <= section.end()
            })?;
            Some((mention.key.name.clone(), number, mention.span))
        });
        let start = Span::new(section.start(), section.start() + keyword.len());
        let (name, kind, inner) = named.unwrap_or_else(|| (keyword.to_owned(), 2, start));
        if name.is_empty() {
            continue;
        }
        symbols.push(json!({
            "name": name, "detail": keyword, "kind": kind, "range": places.range(section),
            "selectionRange": places.range(inner),
        }));
    }
    json!(symbols)
}

/// Returns what can be folded: clauses, sections and blocks of comments over several lines.
pub(crate) fn folding(snapshot: &Snapshot, places: Places<'_>) -> Value {
    let line = |byte: usize| places.line_and_character(byte).0;
    let mut ranges = Vec::new();
    for clause in snapshot.clauses() {
        let (start, end) = (line(clause.start()), line(clause.end()));
        if end > start {
            ranges.push(json!({"startLine": start, "endLine": end}));
        }
    }
    // Comments on lines that follow each other.
    let mut block: Option<(usize, usize)> = None;
    let mut last_code_line = None;
    let mut close = |block: &mut Option<(usize, usize)>| {
        if let Some((start, end)) = block.take()
            && end > start
        {
            ranges.push(json!({"startLine": start, "endLine": end, "kind": "comment"}));
        }
    };
    for word in &snapshot.words {
        let (start, end) = (line(word.span.start()), line(word.span.end()));
        if word.kind != WordKind::Comment || last_code_line == Some(start) {
            close(&mut block);
            last_code_line = Some(end);
            continue;
        }
        match &mut block {
            Some((_, last)) if start <= *last + 1 => *last = end,
            _ => {
                close(&mut block);
                block = Some((start, end));
            }
        }
    }
    close(&mut block);
    json!(ranges)
}

/// Returns the nested ranges around each position: word, brackets, sentence, clause, text.
pub(crate) fn selections(snapshot: &Snapshot, places: Places<'_>, positions: &Value) -> Value {
    let positions = positions.as_array().map_or(&[][..], Vec::as_slice);
    positions
        .iter()
        .map(|position| {
            let spans = around(snapshot, places.byte(position));
            let mut nested = Value::Null;
            for span in spans.into_iter().rev() {
                let mut range = json!({"range": places.range(span)});
                if !nested.is_null() {
                    range["parent"] = nested;
                }
                nested = range;
            }
            nested
        })
        .collect()
}

/// Returns the spans around a byte, the smallest first. Each contains the one before.
fn around(snapshot: &Snapshot, byte: usize) -> Vec<Span> {
    let mut spans = Vec::new();
    if let Some(word) = snapshot.word_at(byte) {
        spans.push(word.span);
    }
    let mut open: Vec<(Span, Option<Span>)> = Vec::new();
    let mut before: Option<(WordKind, Span)> = None;
    for word in &snapshot.words {
        match word.kind {
            WordKind::Open => {
                // `p(` of infix and structure rewriting games: the name belongs to the brackets.
                let name = before.filter(|(kind, span)| {
                    *kind == WordKind::Name && span.end() == word.span.start()
                });
                open.push((word.span, name.map(|(_, span)| span)));
            }
            WordKind::Close => {
                if let Some((start, name)) = open.pop() {
                    let whole = start.to(word.span);
                    let inner = Span::new(start.end(), word.span.start());
                    spans.extend([inner, whole]);
                    spans.extend(name.map(|name| name.to(whole)));
                }
            }
            _ => {}
        }
        before = Some((word.kind, word.span));
    }
    spans.extend(snapshot.clauses());
    spans.push(Span::new(0, snapshot.source.text().len()));
    spans.retain(|span| span.start() <= byte && byte <= span.end());
    spans.sort_by_key(|span| span.end() - span.start());
    let mut nested: Vec<Span> = Vec::new();
    for span in spans {
        let contains_last = nested
            .last()
            .is_none_or(|last| span.start() <= last.start() && last.end() <= span.end());
        if contains_last && nested.last() != Some(&span) {
            nested.push(span);
        }
    }
    nested
}
