//! Properties of a game in words.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;
use agon_gdl::interpreter::Game;

use super::lists::patterns;
use super::{abbreviated, listed};
use crate::properties::{Board, Bound, Fluent, Known, Mode, Properties, RelationKind};

/// Maximum number of items of a list that are shown.
const SHOWN: usize = 6;

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
    symmetry_lines(of, &mut lines);
    part_lines(of, &mut lines);
    once_lines(of, &mut lines);
    for (what, why) in &of.refused {
        lines.push(("not known", format!("{what}: {why}")));
    }
    lines
}

/// Joins what is true of several subjects in the same way: "white and black wait with noop".
fn by_predicate<K: PartialEq>(items: Vec<(String, K)>) -> Vec<(Vec<String>, K)> {
    let mut grouped: Vec<(Vec<String>, K)> = Vec::new();
    for (subject, predicate) in items {
        match grouped.iter_mut().find(|(_, known)| *known == predicate) {
            Some((subjects, _)) => subjects.push(subject),
            None => grouped.push((vec![subject], predicate)),
        }
    }
    grouped
}

fn turn_lines(of: &Properties, lines: &mut Vec<Line>) {
    let names = &of.game.shape().role_names;
    if let Some(known) = of.turns.turn_taking.filter(|_| of.game.shape().players().count() > 1) {
        lines.push(("turns", format!("at most one player has a choice at a time ({known})")));
    }
    let roles = || names.iter().zip(&of.turns.roles);
    let noops = roles().filter_map(|(name, role)| Some((name.clone(), role.noop.clone()?)));
    for (names, (noop, known)) in by_predicate(noops.collect()) {
        let verb = if names.len() == 1 { "waits" } else { "wait" };
        lines.push(("waiting", format!("{} {verb} with {noop} ({known})", listed(&names))));
    }
    // A single player always has the turn.
    if names.len() < 2 {
        return;
    }
    let tokens = roles().filter_map(|(name, role)| {
        let (fluent, known) = role.control?;
        Some((format!("{name} while {}", of.fluents[fluent].text), known))
    });
    for (tokens, known) in by_predicate(tokens.collect()) {
        lines.push(("whose turn", format!("{} holds ({known})", tokens.join(", "))));
    }
}

fn persistence_lines(of: &Properties, lines: &mut Vec<Line>) {
    let all: Vec<String> = of.fluents.iter().map(|fluent| fluent.text.clone()).collect();
    for (known, fluents) in by_known(of, |fluent| fluent.persistent_true) {
        let Some(fluents) = worth_telling(of, known, fluents) else { continue };
        let fluents = abbreviated(&patterns(&fluents, &all), SHOWN);
        lines.push(("stays true", format!("once true, always true: {fluents} ({known})")));
    }
    for (known, fluents) in by_known(of, |fluent| fluent.persistent_false) {
        let Some(fluents) = worth_telling(of, known, fluents) else { continue };
        let fluents = abbreviated(&patterns(&fluents, &all), SHOWN);
        lines.push(("stays false", format!("once false, always false: {fluents} ({known})")));
    }
}

/// Returns the fluents of which it is worth a line that they were never seen to change back. In few
/// plays most fluents change at most once by chance, so an observation counts only if it was made
/// of all fluents of a name.
fn worth_telling(of: &Properties, known: Known, mut fluents: Vec<String>) -> Option<Vec<String>> {
    // That a counter begins with its first value and ends with its last is said of the counter.
    let counters = of.length.counters.iter().filter(|counter| counter.len() > 2).flatten();
    let steps: BTreeSet<&str> = counters.map(|&step| of.fluents[step].text.as_str()).collect();
    fluents.retain(|text| !steps.contains(text.as_str()));
    if known.is_proved() {
        return (!fluents.is_empty()).then_some(fluents);
    }
    let n_of = n_by_name(of.fluents.iter().map(|fluent| fluent.text.as_str()));
    let n_here = n_by_name(fluents.iter().map(String::as_str));
    let is_whole = |text: &&String| {
        let name = name_of(text);
        n_of[name] > 1 && n_of[name] == n_here[name]
    };
    let whole: Vec<String> = fluents.iter().filter(is_whole).cloned().collect();
    (!whole.is_empty()).then_some(whole)
}

/// Counts texts by the name of the fluent or move.
fn n_by_name<'t>(texts: impl Iterator<Item = &'t str>) -> BTreeMap<&'t str, usize> {
    let mut counts = BTreeMap::new();
    texts.for_each(|text| *counts.entry(name_of(text)).or_default() += 1);
    counts
}

/// Returns the name of a fluent or move.
fn name_of(text: &str) -> &str {
    let text = text.trim_start_matches('(');
    text.split([' ', ')']).next().unwrap_or(text)
}

/// Returns the texts of the fluents that have a property, by how it is known.
pub(super) fn by_known(
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

/// Names of the arguments of a mode.
const VARIABLES: [&str; 6] = ["?x", "?y", "?z", "?u", "?v", "?w"];

fn mode_lines(of: &Properties, lines: &mut Vec<Line>) {
    for mode in &of.modes {
        let n_inputs = mode.inputs.iter().filter(|&&input| input).count();
        // Of a single fact at most one holds, whatever the rules.
        if n_inputs == mode.inputs.len() {
            continue;
        }
        let (number, seen) = match mode.exactly_one {
            Some(known) if known == mode.known => ("exactly one", String::new()),
            Some(known) => ("at most one", format!(", and one always did ({known})")),
            None => ("at most one", String::new()),
        };
        let (text, given) = mode_text(&of.game, mode);
        let given =
            if given.is_empty() { String::new() } else { format!(" for each {}", listed(&given)) };
        let known = mode.known;
        lines.push(("facts", format!("{number} {text} holds{given} ({known}){seen}")));
    }
}

/// Writes the facts of a mode with variables, and names the variables that are given.
fn mode_text(game: &Game, mode: &Mode) -> (String, Vec<String>) {
    let name = game.rules().sheet().symbols.name(mode.name);
    let variable = |at: usize| match VARIABLES.get(at) {
        Some(name) => (*name).to_owned(),
        None => format!("?{}", at + 1),
    };
    let variables: Vec<String> = (0..mode.inputs.len()).map(variable).collect();
    let given = variables.iter().zip(&mode.inputs).filter(|(_, is_given)| **is_given);
    let given = given.map(|(name, _)| name.clone()).collect();
    (format!("({name} {})", variables.join(" ")), given)
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
    let steps = if steps == 1 { "one step".to_owned() } else { format!("{steps} steps") };
    lines.push(("length", format!("at most {steps}, {why} (proved)")));
}

fn payoff_lines(of: &Properties, lines: &mut Vec<Line>) {
    let roles = of.game.shape().role_names.iter().zip(&of.payoffs.values);
    let known = roles.filter(|(_, values)| !values.is_empty());
    for (roles, values) in by_predicate(known.map(|(r, v)| (r.clone(), v.clone())).collect()) {
        let all: Vec<String> = values.iter().map(i64::to_string).collect();
        let values = abbreviated(&all, 2 * SHOWN);
        lines.push(("goal values", format!("{}: {values}", listed(&roles))));
    }
    if let Some((sum, known)) =
        of.payoffs.constant_sum.filter(|_| of.game.shape().players().count() > 1)
    {
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
            RelationKind::Successor => format!("leads from each of {n} values to the next"),
            RelationKind::Order => format!("orders {n} values"),
            RelationKind::Graph => {
                format!("connects {n} values by {} pairs", relation.rows.len())
            }
        };
        let name = of.game.rules().sheet().symbols.name(relation.name);
        lines.push(("relation", format!("{name} {what} (proved)")));
    }
}

fn board_lines(of: &Properties, lines: &mut Vec<Line>) {
    let name = |symbol| of.game.rules().sheet().symbols.name(symbol);
    let described = of.boards.iter().filter(|board| is_of_places(of, board)).map(|board| {
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
        let what = format!("form a board of {columns} by {rows}{near} ({})", board.known);
        (name(board.name).to_owned(), (format!("arguments {x} and {y}"), what))
    });
    for (fluents, (arguments, what)) in by_predicate(described.collect()) {
        lines.push(("board", format!("{arguments} of {} {what}", listed(&fluents))));
    }
}

fn symmetry_lines(of: &Properties, lines: &mut Vec<Line>) {
    let (of_roles, of_boards): (Vec<_>, Vec<_>) =
        of.symmetries.iter().partition(|symmetry| symmetry.text.contains("interchangeable"));
    for symmetry in of_roles {
        lines.push(("symmetry", format!("{} ({})", symmetry.text, symmetry.known)));
    }
    let texts = of_boards.iter().map(|symmetry| (symmetry.text.clone(), symmetry.known));
    for (texts, known) in by_predicate(texts.collect()) {
        let all = match texts.as_slice() {
            [first @ .., last] if !first.is_empty() => {
                format!("{}, or {last}", first.join(", "))
            }
            texts => texts.concat(),
        };
        lines.push(("symmetry", format!("the rules stay the same with {all} ({known})")));
    }
}

/// Returns whether the two arguments of a board are coordinates. An argument that is a role tells
/// whose thing it is, not where it is, and names that no relation connects are kinds of things.
pub(super) fn is_of_places(of: &Properties, board: &Board) -> bool {
    let roles = of.game.role_terms();
    let is_coordinate = |term: &TermId| {
        let text = of.game.text(*term);
        text.parse::<i64>().is_ok() || text.chars().count() == 1
    };
    let mut axes = board.axes.iter().zip(&board.along);
    !board.axes.iter().flatten().any(|term| roles.contains(term))
        && (!board.across.is_empty()
            || axes.all(|(axis, along)| !along.is_empty() || axis.iter().all(is_coordinate)))
}

fn part_lines(of: &Properties, lines: &mut Vec<Line>) {
    let all: Vec<String> = of.fluents.iter().map(|fluent| fluent.text.clone()).collect();
    for part in &of.parts {
        let fluents: Vec<String> = part.fluents.iter().map(|&fluent| all[fluent].clone()).collect();
        let fluents = abbreviated(&patterns(&fluents, &all), 3);
        let moves = match part.moves.len() {
            0 => "without moves".to_owned(),
            1 => "with 1 move".to_owned(),
            n => format!("with {n} moves"),
        };
        lines.push(("sub-game", format!("{fluents}, independent of the rest, {moves} (proved)")));
    }
}

fn once_lines(of: &Properties, lines: &mut Vec<Line>) {
    let mut once: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    // Observations are left out: in few plays most moves happen to be made once. So is waiting.
    let is_noop = |role: usize, text: &String| {
        text == "noop" || of.turns.roles[role].noop.as_ref().is_some_and(|(noop, _)| noop == text)
    };
    let told = of.once.iter().filter(|once| once.known.is_proved());
    for of_move in told.filter(|once| !is_noop(once.role, &once.text)) {
        once.entry(of_move.role).or_default().push(of_move.text.clone());
    }
    let described = once.into_iter().filter_map(|(role, moves)| {
        // Single moves that happen to be possible once say nothing about a game. All of a kind do.
        let all = &of.plays.moves[role];
        let n_of = n_by_name(all.iter().map(String::as_str));
        let n_here = n_by_name(moves.iter().map(String::as_str));
        let is_whole = |text: &&String| n_of.get(name_of(text)) == n_here.get(name_of(text));
        let whole: Vec<String> = moves.iter().filter(is_whole).cloned().collect();
        let told = abbreviated(&patterns(&whole, all), SHOWN);
        (!whole.is_empty()).then(|| (of.game.shape().role_names[role].clone(), told))
    });
    for (roles, moves) in by_predicate(described.collect()) {
        let verb = if roles.len() == 1 { "plays" } else { "each play" };
        let roles = listed(&roles);
        lines.push(("made once", format!("{roles} {verb} at most once: {moves} (proved)")));
    }
}
