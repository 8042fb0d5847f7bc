//! Properties of a game, as text and as JSON.

use std::collections::BTreeMap;

use agon_datalog::{Symbol, TermId};
use agon_game::Role;
use serde_json::{Value, json};

use super::abbreviated;
use crate::properties::{Board, Bound, Fluent, Known, Properties, Relation, RelationKind, SubGame};

/// Maximum number of items of a list that are shown.
const SHOWN: usize = 6;

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

/// A line of text: what it is about, and what is known of it.
type Line = (&'static str, String);

/// Describes the properties in words. Each line has a short title and a sentence, which ends with
/// how the property is known.
pub fn properties_text(of: &Properties) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    turn_lines(of, &mut lines);
    persistence_lines(of, &mut lines);
    mode_lines(of, &mut lines);
    length_lines(of, &mut lines);
    payoff_lines(of, &mut lines);
    relation_lines(of, &mut lines);
    board_lines(of, &mut lines);
    for symmetry in &of.symmetries {
        let (text, known) = (&symmetry.text, symmetry.known);
        let sentence = match text.contains("interchangeable") {
            true => text.clone(),
            false => format!("the rules stay the same with {text}"),
        };
        lines.push(("symmetry", format!("{sentence} ({known})")));
    }
    part_lines(of, &mut lines);
    once_lines(of, &mut lines);
    for (what, why) in &of.refused {
        lines.push(("not known", format!("{what}: {why}")));
    }
    lines
}

fn turn_lines(of: &Properties, lines: &mut Vec<Line>) {
    if let Some(known) = of.turns.turn_taking {
        lines.push(("turns", format!("at most one player has a choice at a time ({known})")));
    }
    let roles = || of.game.shape().role_names.iter().zip(&of.turns.roles);
    let noops: Vec<String> = roles()
        .filter_map(|(name, role)| {
            let (noop, known) = role.noop.as_ref()?;
            Some(format!("{name} waits with {noop} ({known})"))
        })
        .collect();
    if !noops.is_empty() {
        lines.push(("waiting", noops.join(", ")));
    }
    let tokens: Vec<String> = roles()
        .filter_map(|(name, role)| {
            let (fluent, known) = role.control?;
            let fluent = &of.fluents[fluent].text;
            Some(format!("{name} has a choice only while {fluent} holds ({known})"))
        })
        .collect();
    if !tokens.is_empty() {
        lines.push(("whose turn", tokens.join(", ")));
    }
}

fn persistence_lines(of: &Properties, lines: &mut Vec<Line>) {
    for (known, fluents) in by_known(of, |fluent| fluent.persistent_true) {
        let Some(fluents) = worth_telling(of, known, fluents) else { continue };
        let fluents = abbreviated(&fluents, SHOWN);
        lines.push(("stays true", format!("once true, always true: {fluents} ({known})")));
    }
    for (known, fluents) in by_known(of, |fluent| fluent.persistent_false) {
        let Some(fluents) = worth_telling(of, known, fluents) else { continue };
        let fluents = abbreviated(&fluents, SHOWN);
        lines.push(("stays false", format!("once false, always false: {fluents} ({known})")));
    }
}

/// Returns the fluents of which it is worth a line that they were never seen to change back. In few
/// plays most fluents change at most once by chance, so an observation counts only if it was made
/// of all fluents of a name.
fn worth_telling(of: &Properties, known: Known, fluents: Vec<String>) -> Option<Vec<String>> {
    if known.is_proved() {
        return Some(fluents);
    }
    let name = |text: &str| -> String {
        text.trim_start_matches('(').chars().take_while(|c| !" )".contains(*c)).collect()
    };
    let mut n_of: BTreeMap<String, usize> = BTreeMap::new();
    of.fluents.iter().for_each(|fluent| *n_of.entry(name(&fluent.text)).or_default() += 1);
    let mut n_here: BTreeMap<String, usize> = BTreeMap::new();
    fluents.iter().for_each(|text| *n_here.entry(name(text)).or_default() += 1);
    let whole: Vec<String> = fluents
        .into_iter()
        .filter(|text| n_of[&name(text)] > 1 && n_of[&name(text)] == n_here[&name(text)])
        .collect();
    (!whole.is_empty()).then_some(whole)
}

/// Returns the texts of the fluents that have a property, by how it is known.
fn by_known(
    of: &Properties,
    property: impl Fn(&Fluent) -> Option<Known>,
) -> BTreeMap<Known, Vec<String>> {
    let mut by_known: BTreeMap<Known, Vec<String>> = BTreeMap::new();
    for fluent in &of.fluents {
        if let Some(known) = property(fluent) {
            by_known.entry(known).or_default().push(fluent.text.clone());
        }
    }
    by_known
}

fn mode_lines(of: &Properties, lines: &mut Vec<Line>) {
    for mode in &of.modes {
        let (number, seen) = match mode.exactly_one {
            Some(known) if known == mode.known => ("exactly one", String::new()),
            Some(known) => ("at most one", format!(", and one always did ({known})")),
            None => ("at most one", String::new()),
        };
        let given = match mode.inputs.iter().filter(|&&input| input).count() {
            0 => "",
            1 => " for each value of the argument marked +",
            _ => " for all values of the arguments marked +",
        };
        let (text, known) = (mode.text(&of.game), mode.known);
        lines.push(("fluents", format!("{text}: {number} holds at a time{given} ({known}){seen}")));
    }
}

fn length_lines(of: &Properties, lines: &mut Vec<Line>) {
    let text = |fluent: usize| of.fluents[fluent].text.as_str();
    // What holds in two states only is a phase, not a counter.
    for counter in of.length.counters.iter().filter(|counter| counter.len() > 2) {
        let (first, last) = (text(counter[0]), text(counter[counter.len() - 1]));
        lines.push((
            "step counter",
            format!("advances by one with each step, from {first} to {last} (proved)"),
        ));
    }
    let Some((steps, bound)) = of.length.bound else { return };
    let why = match bound {
        Bound::Counter(number) => {
            let first = text(of.length.counters[number][0]);
            format!("because the step counter that starts at {first} ends the game")
        }
        Bound::Progress => "because each step changes a fluent permanently".to_owned(),
    };
    lines.push(("length", format!("at most {steps} steps, {why} (proved)")));
}

fn payoff_lines(of: &Properties, lines: &mut Vec<Line>) {
    let roles = of.game.shape().role_names.iter().zip(&of.payoffs.values);
    for (role, values) in roles.filter(|(_, values)| !values.is_empty()) {
        let all: Vec<String> = values.iter().map(i64::to_string).collect();
        lines.push(("goal values", format!("{role}: {}", abbreviated(&all, 2 * SHOWN))));
    }
    if let Some((sum, known)) = of.payoffs.constant_sum {
        lines.push(("sum", format!("payoffs add up to {sum} at the end ({known})")));
    }
}

fn relation_lines(of: &Properties, lines: &mut Vec<Line>) {
    for relation in &of.relations {
        let n = relation.elements.len();
        // Pairs of which no element is on both sides, or of two elements, are not worth a line.
        let is_on_both_sides = |element: &TermId| {
            relation.rows.iter().any(|(a, _)| a == element)
                && relation.rows.iter().any(|(_, b)| b == element)
        };
        let is_plain_graph = relation.kind() == RelationKind::Graph
            && (n < 3 || !relation.elements.iter().any(is_on_both_sides));
        if is_plain_graph {
            continue;
        }
        let what = match relation.kind() {
            RelationKind::Successor => format!("leads from each of {n} elements to the next"),
            RelationKind::Order => format!("is a total order of {n} elements"),
            RelationKind::Graph => {
                format!("is a graph of {n} elements and {} edges", relation.rows.len())
            }
        };
        let name = of.game.rules().sheet().symbols.name(relation.name);
        lines.push(("relation", format!("{name} {what} (proved)")));
    }
}

fn board_lines(of: &Properties, lines: &mut Vec<Line>) {
    let name = |symbol| of.game.rules().sheet().symbols.name(symbol);
    for board in of.boards.iter().filter(|board| is_of_places(of, board)) {
        let mut near: Vec<&str> = Vec::new();
        for symbol in board.along.iter().flatten().chain(&board.across) {
            let symbol = name(*symbol);
            if !near.contains(&symbol) {
                near.push(symbol);
            }
        }
        let near = match near.is_empty() {
            true => String::new(),
            false => format!("; neighbours are related by {}", near.join(", ")),
        };
        let [x, y] = board.arguments.map(|argument| argument + 1);
        let [columns, rows] = board.axes.each_ref().map(Vec::len);
        let (fluent, known) = (name(board.name), board.known);
        lines.push((
            "board",
            format!(
                "arguments {x} and {y} of {fluent} form a board of {columns} by {rows}{near} \
                 ({known})"
            ),
        ));
    }
}

/// Returns whether the two arguments of a board are coordinates. An argument that is a role tells
/// whose thing it is, not where it is.
pub(super) fn is_of_places(of: &Properties, board: &Board) -> bool {
    let roles = of.game.role_terms();
    !board.axes.iter().flatten().any(|term| roles.contains(term))
}

fn part_lines(of: &Properties, lines: &mut Vec<Line>) {
    for part in &of.parts {
        let fluents: Vec<String> =
            part.fluents.iter().map(|&fluent| of.fluents[fluent].text.clone()).collect();
        let fluents = abbreviated(&fluents, 3);
        let n_moves = part.moves.len();
        lines.push((
            "sub-game",
            format!("{fluents}, independent of the rest, with {n_moves} moves (proved)"),
        ));
    }
}

fn once_lines(of: &Properties, lines: &mut Vec<Line>) {
    let mut once: BTreeMap<(usize, Known), Vec<String>> = BTreeMap::new();
    // Observations are left out: in few plays most moves happen to be made once.
    for of_move in of.once.iter().filter(|once| once.known.is_proved()) {
        once.entry((of_move.role, of_move.known)).or_default().push(of_move.text.clone());
    }
    for ((role, known), moves) in once {
        let role = &of.game.shape().role_names[role];
        let moves = abbreviated(&moves, SHOWN);
        lines.push(("made once", format!("{role} plays at most once: {moves} ({known})")));
    }
}
