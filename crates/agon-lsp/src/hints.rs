//! Inlay hints and code lenses.

use agon_gdl::symbols::keyword;
use agon_text::Span;
use agon_toss::syntax::NameKind;
use serde_json::{Value, json};

use crate::index::Class;
use crate::slow::Facts;
use crate::snapshot::Snapshot;
use crate::text::Places;

/// Returns the hints in a range: the size of the circuit at the first clause, and the cost of each
/// rule. They come from the slow path.
pub(crate) fn inlay_hints(
    snapshot: &Snapshot,
    facts: Option<&Facts>,
    places: Places<'_>,
    range: Span,
) -> Value {
    let Some(facts) = facts else { return json!([]) };
    let mut hints: Vec<(usize, String, String)> = Vec::new();
    let end_of_line = |byte: usize| {
        let line = snapshot.source.line_range(snapshot.source.line_of(byte)).unwrap_or(byte..byte);
        line.start + snapshot.source.text()[line].trim_end().len()
    };
    if let Some(first) = snapshot.clauses().first() {
        match &facts.circuit {
            Some(Ok(circuit)) => hints.push((
                end_of_line(first.start()),
                format!("circuit: {} gates", circuit.gates),
                format!(
                    "The game is a circuit of {} gates with {} fluents and {} moves.",
                    circuit.gates, circuit.fluents, circuit.moves
                ),
            )),
            Some(Err(why)) => hints.push((
                end_of_line(first.start()),
                "no circuit".to_owned(),
                format!("The interpreter plays this game: {why}"),
            )),
            None => {}
        }
    }
    if let Some(sheet) = snapshot.rules() {
        let all: usize = facts.costs.values().map(|cost| cost.conditions).sum();
        for (&clause, cost) in facts.costs.iter() {
            let Some(clause) = sheet.clauses.get(clause) else { continue };
            let share = 100.0 * cost.conditions as f64 / all.max(1) as f64;
            hints.push((
                end_of_line(clause.head.span.end()),
                format!("×{}", cost.instances),
                format!(
                    "{} ground instances with {} conditions, {share:.1} % of all",
                    cost.instances, cost.conditions
                ),
            ));
        }
    }
    for mention in &snapshot.index.mentions {
        if mention.key.class == Class::Toss(NameKind::Rule)
            && mention.is_definition
            && let Some(n_moves) = facts.moves.get(&mention.key.name)
        {
            hints.push((
                mention.span.end(),
                format!("×{n_moves}"),
                format!("{n_moves} different moves in the circuit"),
            ));
        }
    }
    hints.retain(|(byte, ..)| range.start() <= *byte && *byte <= range.end());
    hints.sort();
    hints
        .into_iter()
        .map(|(byte, label, tooltip)| {
            json!({"position": places.position(byte), "label": label, "tooltip": tooltip,
                "paddingLeft": true})
        })
        .collect()
}

/// Returns the lenses: "play" and "simulate" above the first clause, and "why" above what can be
/// explained at the start.
pub(crate) fn lenses(snapshot: &Snapshot, places: Places<'_>, uri: &str) -> Value {
    let mut lenses = Vec::new();
    let mut add = |span: Span, title: &str, command: &str, arguments: Value| {
        lenses.push(json!({
            "range": places.range(Span::new(span.start(), span.start())),
            "command": {"title": title, "command": command, "arguments": arguments},
        }));
    };
    let Some(&first) = snapshot.clauses().first() else { return json!([]) };
    add(first, "▶ play", "agon.play", json!([uri]));
    add(first, "⏩ simulate", "agon.simulate", json!([uri]));
    if let Some(sheet) = snapshot.rules() {
        let mut seen = Vec::new();
        for clause in &sheet.clauses {
            let relation = clause.head.relation;
            let is_explained =
                [keyword::LEGAL, keyword::GOAL, keyword::TERMINAL].contains(&relation);
            if is_explained && !seen.contains(&relation) {
                let printer = agon_gdl::print::Printer::new(
                    &sheet.symbols,
                    &clause.variables,
                    agon_gdl::syntax::Syntax::Kif,
                );
                let head = agon_gdl::syntax::Clause {
                    head: clause.head.clone(),
                    body: Vec::new(),
                    is_rule: false,
                    variables: Vec::new(),
                    span: clause.span,
                };
                let sentence = printer.clause(&head);
                seen.push(relation);
                add(clause.span, "why", "agon.why", json!([uri, sentence]));
            }
        }
    }
    if let Some(game) = snapshot.game() {
        for rule in &game.rules {
            add(rule.span, "why", "agon.why", json!([uri, rule.name.text]));
        }
        for relation in game.relations.iter().filter(|relation| relation.parameters.is_empty()) {
            let sentence = format!("{}()", relation.name.text);
            add(relation.span, "why", "agon.why", json!([uri, sentence]));
        }
    }
    json!(lenses)
}
