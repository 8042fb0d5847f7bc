//! Inlay hints and code lenses.

use std::collections::BTreeSet;

use agon_gdl::symbols::keyword;
use agon_gdl::syntax::Rulesheet;
use agon_text::Span;
use agon_text::profile::{Profile, RuleProfile};
use agon_toss::syntax::NameKind;
use serde_json::{Value, json};

use crate::hover::{count, measured as measured_text};
use crate::index::Class;
use crate::slow::Facts;
use crate::snapshot::Snapshot;
use crate::text::Places;

/// Share of the interpreter's steps, in percent, from which on a rule's label shows it.
const LARGE_SHARE: f64 = 10.0;

/// Returns the hints in a range: the size of the circuit at the first clause, and for each rule its
/// cost and whether play used it. They come from the slow path.
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
        add_rules(sheet, facts, &end_of_line, &mut hints);
    }
    for mention in &snapshot.index.mentions {
        if mention.key.class == Class::Toss(NameKind::Rule) && mention.is_definition {
            let name = &mention.key.name;
            let profile = facts.profile.as_deref();
            let measured = profile.and_then(|profile| {
                Some((profile, profile.rules.iter().find(|rule| rule.head == *name)?))
            });
            let in_circuit = facts.moves.get(name).map(|n_moves| {
                (format!("×{n_moves}"), format!("{n_moves} different moves in the circuit"))
            });
            hints.extend(
                rule_hint(in_circuit, measured)
                    .map(|(label, tooltip)| (mention.span.end(), label, tooltip)),
            );
        }
    }
    if let Some(profile) = &facts.profile {
        // The conditions of a rule that is used have been true.
        for (line, condition) in profile.unused().flat_map(|rule| &rule.never_true) {
            let Some(range) = snapshot.source.line_range(*line) else { continue };
            hints.push((
                end_of_line(range.start),
                "never true".to_owned(),
                format!(
                    "{condition} was never true at {} of {}",
                    count(profile.states, "state"),
                    count(profile.plays, "random play")
                ),
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

/// Adds the hints of the rules of a GDL game, one for each line at which rules start.
fn add_rules(
    sheet: &Rulesheet,
    facts: &Facts,
    end_of_line: &dyn Fn(usize) -> usize,
    hints: &mut Vec<(usize, String, String)>,
) {
    let all: usize = facts.costs.values().map(|cost| cost.conditions).sum();
    let mut seen = BTreeSet::new();
    for clause in &sheet.clauses {
        let line = sheet.source.line_of(clause.span.start());
        if clause.body.is_empty() || !seen.insert(line) {
            continue;
        }
        // Rules of relations that never change have no instances in the circuit.
        let cost = facts.costs.get(&line).filter(|cost| cost.instances > 0);
        let in_circuit = cost.map(|cost| {
            let share = 100.0 * cost.conditions as f64 / all.max(1) as f64;
            let instances = count(cost.instances, "ground instance");
            let conditions = count(cost.conditions, "condition");
            let tooltip = format!("{instances} with {conditions}, {share:.1} % of all");
            (format!("×{}", cost.instances), tooltip)
        });
        let profile = facts.profile.as_deref();
        let measured = profile.and_then(|profile| {
            let own = |rule: &&RuleProfile| rule.line == line && rule.is_measured;
            Some((profile, profile.rules.iter().find(own)?))
        });
        hints.extend(
            rule_hint(in_circuit, measured)
                .map(|(label, tooltip)| (end_of_line(clause.head.span.end()), label, tooltip)),
        );
    }
}

/// Returns label and tooltip of a rule: its part of the circuit, its share of the interpreter's
/// steps if that is large, and whether it was used in random play.
fn rule_hint(
    in_circuit: Option<(String, String)>,
    measured: Option<(&Profile, &RuleProfile)>,
) -> Option<(String, String)> {
    let (mut labels, mut tooltips) = (Vec::new(), Vec::new());
    if let Some((label, tooltip)) = in_circuit {
        labels.push(label);
        tooltips.push(tooltip);
    }
    if let Some((profile, rule)) = measured {
        let share = 100.0 * rule.steps as f64 / profile.steps().max(1) as f64;
        if share >= LARGE_SHARE {
            labels.push(format!("{share:.0} %"));
        }
        if rule.used == 0 {
            labels.push("never used".to_owned());
        }
        tooltips.push(measured_text(rule, profile));
    }
    (!labels.is_empty()).then(|| (labels.join(", "), tooltips.join("\n")))
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
    add(first, "play", "agon.play", json!([uri]));
    add(first, "simulate", "agon.simulate", json!([uri]));
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
                // An atom without arguments is written as a word.
                let sentence = match clause.head.arguments.is_empty() {
                    true => sentence.trim_matches(['(', ')']).to_owned(),
                    false => sentence,
                };
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
