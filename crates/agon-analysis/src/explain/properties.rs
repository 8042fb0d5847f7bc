//! Properties of a game as JSON.

use agon_datalog::{Symbol, TermId};
use agon_game::Role;
use serde_json::{Value, json};

use super::properties_text::by_known;
use crate::properties::{Board, Bound, Fluent, Known, Properties, Relation, RelationKind, SubGame};

/// Returns the properties as JSON. Every property has a key `known`: `proved`, or `observed` with
/// the number of plays.
pub fn properties_json(of: &Properties) -> Value {
    let text = |fluent: usize| of.fluents[fluent].text.clone();
    let texts = |fluents: &[usize]| fluents.iter().map(|&fluent| text(fluent)).collect::<Vec<_>>();
    let persistent = |pick: fn(&Fluent) -> Option<Known>| {
        by_known(of, pick)
            .into_iter()
            .map(|(k, fluents)| json!({"known": known(k), "fluents": fluents}))
            .collect::<Vec<_>>()
    };
    let roles: Vec<Value> = of.game.shape().roles().map(|role| role_json(of, role)).collect();
    let relations: Vec<Value> =
        of.relations.iter().map(|relation| relation_json(of, relation)).collect();
    let boards: Vec<Value> = of.boards.iter().map(|board| board_json(of, board)).collect();
    let bound = of.length.bound.map(|(steps, why)| {
        let why = match why {
            Bound::Counter(_) => "a step counter",
            Bound::Progress => "each step changes a fluent for ever",
        };
        json!({"steps": steps, "because": why, "known": known(Known::Proved)})
    });
    let sum = of.payoffs.constant_sum.map(|(sum, k)| json!({"sum": sum, "known": known(k)}));
    let counters: Vec<Vec<String>> = of.length.counters.iter().map(|c| texts(c)).collect();
    let role_name = |role: usize| &of.game.shape().role_names[role];
    let part = |part: &SubGame| {
        let moves = part.moves.iter();
        let moves: Vec<Value> =
            moves.map(|&(role, m)| json!([role_name(role), of.plays.moves[role][m]])).collect();
        json!({"fluents": texts(&part.fluents), "moves": moves})
    };
    let refused = of.refused.iter();
    let refused: Vec<Value> =
        refused.map(|(what, why)| json!({"what": what, "why": why})).collect();
    json!({
        "plays": of.plays.n_plays(),
        "fluents": of.fluents.len(),
        "all_fluents_known": of.is_complete,
        "persistent_true": persistent(|fluent| fluent.persistent_true),
        "persistent_false": persistent(|fluent| fluent.persistent_false),
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
        "constant_sum": sum,
        "step_counters": counters,
        "length": {"bound": bound, "longest_seen": of.length.longest_seen},
        "relations": relations,
        "boards": boards,
        "symmetries": of.symmetries.iter().map(|symmetry| json!({
            "text": symmetry.text, "known": known(symmetry.known),
        })).collect::<Vec<_>>(),
        "parts": of.parts.iter().map(part).collect::<Vec<_>>(),
        "once": of.once.iter().map(|once| json!({
            "role": role_name(once.role), "move": once.text, "known": known(once.known),
        })).collect::<Vec<_>>(),
        "not_known": refused,
    })
}

fn known(known: Known) -> Value {
    match known {
        Known::Proved => json!({"how": "proved"}),
        Known::Observed { plays } => json!({"how": "observed", "plays": plays}),
    }
}

fn role_json(of: &Properties, role: Role) -> Value {
    let turns = &of.turns.roles[role.index()];
    let noop = turns.noop.as_ref().map(|(text, k)| json!({"move": text, "known": known(*k)}));
    let control = turns
        .control
        .map(|(fluent, k)| json!({"fluent": of.fluents[fluent].text, "known": known(k)}));
    json!({
        "role": of.game.shape().role_names[role.index()],
        "noop": noop,
        "control": control,
        "goal_values": of.payoffs.values[role.index()],
    })
}

fn board_json(of: &Properties, board: &Board) -> Value {
    let name = |symbol: Symbol| of.game.rules().sheet().symbols.name(symbol).to_owned();
    let axis = |axis: &Vec<TermId>| axis.iter().map(|&t| of.game.text(t)).collect::<Vec<_>>();
    let names = |symbols: &Vec<Symbol>| symbols.iter().map(|&s| name(s)).collect::<Vec<_>>();
    json!({
        "fluent": name(board.name), "arguments": board.arguments.map(|argument| argument + 1),
        "axes": [axis(&board.axes[0]), axis(&board.axes[1])],
        "along": [names(&board.along[0]), names(&board.along[1])],
        "neighbours": names(&board.across), "known": known(board.known),
    })
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
