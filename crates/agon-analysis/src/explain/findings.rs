//! Properties in words and as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::some;
use crate::properties::{Bound, Fluent, Known, Properties, Relation, RelationKind};

/// How many of many things are shown to people.
const SHOWN: usize = 6;

/// Properties as JSON. Every property has a key `known`: `proved`, or `observed` with the number of plays.
pub fn properties_json(of: &Properties) -> Value {
    let text = |fluent: usize| of.fluents[fluent].text.clone();
    let texts = |fluents: &[usize]| fluents.iter().map(|&fluent| text(fluent)).collect::<Vec<_>>();
    let name = |symbol| of.game.rules().sheet().symbols.name(symbol).to_owned();
    let persistent = |pick: &dyn Fn(&Fluent) -> Option<Known>| {
        let mut by_known: BTreeMap<Known, Vec<String>> = BTreeMap::new();
        for fluent in &of.fluents {
            pick(fluent)
                .into_iter()
                .for_each(|k| by_known.entry(k).or_default().push(fluent.text.clone()));
        }
        by_known
            .into_iter()
            .map(|(k, fluents)| json!({"known": known(k), "fluents": fluents}))
            .collect::<Vec<_>>()
    };
    let roles: Vec<Value> = of
        .game
        .shape()
        .roles()
        .map(|role| {
            let turns = &of.turns.roles[role.index()];
            json!({
                "role": of.game.shape().role_names[role.index()],
                "noop": turns.noop.as_ref().map(|(text, k)| json!({"move": text, "known": known(*k)})),
                "control": turns.control.map(|(bit, k)| json!({"fluent": text(bit), "known": known(k)})),
                "goal_values": of.payoffs.values[role.index()],
            })
        })
        .collect();
    let relations: Vec<Value> =
        of.relations.iter().map(|relation| relation_json(of, relation)).collect();
    let boards: Vec<Value> = of
        .boards
        .iter()
        .map(|board| {
            let axis =
                |axis: &Vec<agon_datalog::TermId>| axis.iter().map(|&t| of.game.text(t)).collect::<Vec<_>>();
            let names =
                |symbols: &Vec<agon_datalog::Symbol>| symbols.iter().map(|&s| name(s)).collect::<Vec<_>>();
            json!({
                "fluent": name(board.name), "arguments": board.arguments.map(|argument| argument + 1),
                "axes": [axis(&board.axes[0]), axis(&board.axes[1])],
                "along": [names(&board.along[0]), names(&board.along[1])],
                "neighbours": names(&board.across), "known": known(board.known),
            })
        })
        .collect();
    let bound = of.length.bound.map(|(steps, why)| {
        let why = match why {
            Bound::Counter(_) => "a step counter",
            Bound::Progress => "each step changes a fluent for ever",
        };
        json!({"steps": steps, "because": why, "known": known(Known::Proved)})
    });
    let role_name = |role: usize| &of.game.shape().role_names[role];
    json!({
        "plays": of.plays.n_plays(),
        "fluents": of.fluents.len(),
        "all_fluents_known": of.is_complete,
        "persistent_true": persistent(&|fluent| fluent.persistent_true),
        "persistent_false": persistent(&|fluent| fluent.persistent_false),
        "modes": of.modes.iter().map(|mode| json!({
            "mode": mode.text(&of.game), "known": known(mode.known),
            "exactly_one": mode.exactly_one.map(known),
        })).collect::<Vec<_>>(),
        "groups": of.groups.iter().map(|group| json!({
            "fluents": texts(&group.fluents), "known": known(group.at_most_one),
            "exactly_one": group.exactly_one.map(known),
        })).collect::<Vec<_>>(),
        "turn_taking": of.turns.turn_taking.map(known),
        "roles": roles,
        "constant_sum": of.payoffs.constant_sum.map(|(sum, k)| json!({"sum": sum, "known": known(k)})),
        "step_counters": of.length.counters.iter().map(|counter| texts(counter)).collect::<Vec<_>>(),
        "length": {"bound": bound, "longest_seen": of.length.longest_seen},
        "relations": relations,
        "boards": boards,
        "symmetries": of.symmetries.iter().map(|symmetry| json!({
            "text": symmetry.text, "known": known(symmetry.known),
        })).collect::<Vec<_>>(),
        "parts": of.parts.iter().map(|part| json!({
            "fluents": texts(&part.fluents),
            "moves": part.moves.iter().map(|&(role, m)| json!([role_name(role), of.plays.moves[role][m]]))
                .collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "once": of.once.iter().map(|once| json!({
            "role": role_name(once.role), "move": once.text, "known": known(once.known),
        })).collect::<Vec<_>>(),
        "not_known": of.refused.iter().map(|(what, why)| json!({"what": what, "why": why})).collect::<Vec<_>>(),
    })
}

fn known(known: Known) -> Value {
    match known {
        Known::Proved => json!({"how": "proved"}),
        Known::Observed { plays } => json!({"how": "observed", "plays": plays}),
    }
}

fn relation_json(of: &Properties, relation: &Relation) -> Value {
    json!({
        "relation": of.game.rules().sheet().symbols.name(relation.name),
        "kind": kind(relation.kind()),
        "functional": relation.is_functional, "injective": relation.is_injective,
        "antisymmetric": relation.is_antisymmetric, "irreflexive": relation.is_irreflexive,
        "transitive": relation.is_transitive, "total": relation.is_total,
        "elements": relation.elements.len(), "rows": relation.rows.len(),
        "known": known(Known::Proved),
    })
}

fn kind(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Successor => "successor",
        RelationKind::Order => "order",
        RelationKind::Graph => "graph",
    }
}

/// Properties in words: what each is about, and what is known of it.
pub fn properties_text(of: &Properties) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let names = &of.game.shape().role_names;
    let name = |symbol| of.game.rules().sheet().symbols.name(symbol);
    let text = |fluent: usize| of.fluents[fluent].text.clone();
    if let Some(known) = of.turns.turn_taking {
        lines.push(("turns", format!("at most one player has a choice at a time ({known})")));
    }
    let noops: Vec<String> = names
        .iter()
        .zip(&of.turns.roles)
        .filter_map(|(name, role)| {
            role.noop.as_ref().map(|(noop, known)| format!("{name} by {noop} ({known})"))
        })
        .collect();
    if !noops.is_empty() {
        lines.push(("waiting", noops.join(", ")));
    }
    let tokens: Vec<String> = names
        .iter()
        .zip(&of.turns.roles)
        .filter_map(|(name, role)| {
            role.control.map(|(bit, known)| format!("{name} has {} ({known})", text(bit)))
        })
        .collect();
    if !tokens.is_empty() {
        lines.push(("whose turn", tokens.join(", ")));
    }
    for (what, pick) in [
        (
            "for ever true",
            (|fluent: &Fluent| fluent.persistent_true) as fn(&Fluent) -> Option<Known>,
        ),
        ("for ever false", |fluent: &Fluent| fluent.persistent_false),
    ] {
        let mut by_known: BTreeMap<Known, Vec<String>> = BTreeMap::new();
        for fluent in &of.fluents {
            pick(fluent)
                .into_iter()
                .for_each(|k| by_known.entry(k).or_default().push(fluent.text.clone()));
        }
        for (known, fluents) in by_known {
            lines.push((what, format!("once so: {} ({known})", some(&fluents, SHOWN))));
        }
    }
    for mode in &of.modes {
        let always = match mode.exactly_one {
            Some(known) if known == mode.known => "exactly one".to_owned(),
            Some(known) => format!("at most one, and always one ({known}),"),
            None => "at most one".to_owned(),
        };
        let mode_text = mode.text(&of.game);
        let inputs = mode.inputs.iter().filter(|&&input| input).count();
        let given = match inputs {
            0 => String::new(),
            1 => " for each value of the argument +".to_owned(),
            _ => " for all values of the arguments +".to_owned(),
        };
        lines.push((
            "fluents",
            format!("{mode_text}: {always} holds at a time{given} ({})", mode.known),
        ));
    }
    for counter in &of.length.counters {
        let (first, last) = (text(counter[0]), text(counter[counter.len() - 1]));
        lines.push((
            "step counter",
            format!("from {first} to {last}, one further with each step (proved)"),
        ));
    }
    match of.length.bound {
        Some((steps, Bound::Counter(number))) => {
            let first = text(of.length.counters[number][0]);
            lines.push((
                "length",
                format!("at most {steps} steps, by the counter that begins with {first} (proved)"),
            ));
        }
        Some((steps, Bound::Progress)) => {
            let why = "because each step changes a fluent for ever";
            lines.push(("length", format!("at most {steps} steps, {why} (proved)")));
        }
        None => {}
    }
    for (role, values) in
        names.iter().zip(&of.payoffs.values).filter(|(_, values)| !values.is_empty())
    {
        let all: Vec<String> = values.iter().map(i64::to_string).collect();
        lines.push(("goal values", format!("{role}: {}", some(&all, 2 * SHOWN))));
    }
    if let Some((sum, known)) = of.payoffs.constant_sum {
        lines.push(("sum", format!("payoffs add up to {sum} at the end ({known})")));
    }
    for relation in &of.relations {
        let n = relation.elements.len();
        let what = match relation.kind() {
            RelationKind::Successor => format!("leads from each of {n} elements to the next"),
            RelationKind::Order => format!("is a total order of {n} elements"),
            RelationKind::Graph => {
                format!("is a graph of {n} elements and {} edges", relation.rows.len())
            }
        };
        lines.push(("relation", format!("{} {what} (proved)", name(relation.name))));
    }
    for board in &of.boards {
        let [x, y] = board.arguments.map(|argument| argument + 1);
        let [columns, rows] = board.axes.each_ref().map(Vec::len);
        let all = board.along.iter().flatten().chain(&board.across);
        let mut near: Vec<String> = Vec::new();
        for symbol in all.map(|&symbol| name(symbol).to_owned()) {
            if !near.contains(&symbol) {
                near.push(symbol);
            }
        }
        let near = if near.is_empty() {
            String::new()
        } else {
            format!("; neighbours by {}", near.join(", "))
        };
        let board_name = name(board.name);
        let known = board.known;
        lines.push((
            "board",
            format!("arguments {x} and {y} of {board_name}: {columns} by {rows}{near} ({known})"),
        ));
    }
    for symmetry in &of.symmetries {
        lines.push(("symmetry", format!("{} ({})", symmetry.text, symmetry.known)));
    }
    for part in &of.parts {
        let fluents: Vec<String> = part.fluents.iter().map(|&fluent| text(fluent)).collect();
        let moves = part.moves.len();
        lines.push((
            "sub-game",
            format!("{} with {moves} moves of its own (proved)", some(&fluents, 3)),
        ));
    }
    let mut once: BTreeMap<(usize, Known), Vec<String>> = BTreeMap::new();
    // What is only observed is likely to be chance: most moves are made once in few plays.
    for of_move in of.once.iter().filter(|once| once.known.is_proved()) {
        once.entry((of_move.role, of_move.known)).or_default().push(of_move.text.clone());
    }
    for ((role, known), moves) in once {
        lines.push(("made once", format!("by {}: {} ({known})", names[role], some(&moves, SHOWN))));
    }
    for (what, why) in &of.refused {
        lines.push(("not known", format!("{what}: {why}")));
    }
    lines
}
