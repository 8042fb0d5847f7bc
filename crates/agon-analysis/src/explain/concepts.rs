//! Concepts learned from random plays, as text and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use agon_game::{Notation, Role};
use serde_json::{Value, json};

use crate::concepts::{Axes, Concept, ConceptHeuristic, Drawing};

/// Maximum number of rules that are shown for each role.
const N_RULES: usize = 10;

/// Maximum number of concepts of three facts that are described.
const N_TERNARY: usize = 3;

/// Returns the concepts and, for each role, the sets of facts with the highest values as JSON.
/// `ternary` are concepts of three facts of the same game.
pub fn concepts_json<P: Notation>(
    heuristic: &ConceptHeuristic,
    ternary: Option<&ConceptHeuristic>,
    position: &P,
) -> Value {
    let described =
        |concept: &Concept| json!({"rule": concept.rule(), "sentence": concept.sentence()});
    let concepts = heuristic.concepts.iter().map(described);
    let ternary = ternary.into_iter().flat_map(|ternary| ternary.best_concepts(N_RULES));
    let ternary = ternary.map(|(_, concept)| described(concept));
    let roles = position.shape().players().map(|role| {
        let rules = heuristic.best_rules(role, N_RULES).into_iter();
        let rules = rules.map(|(value, facts)| json!({"value": value, "facts": facts}));
        json!({
            "role": position.shape().role_names[role.index()],
            "value": heuristic.value(position, role),
            "won": heuristic.n_won[role.index()],
            "rules": rules.collect::<Vec<Value>>(),
        })
    });
    json!({
        "plays": heuristic.n_plays,
        "concepts": concepts.collect::<Vec<Value>>(),
        "ternary": ternary.collect::<Vec<Value>>(),
        "roles": roles.collect::<Vec<Value>>(),
    })
}

/// What an explanation of concepts needs besides the concepts.
pub struct ConceptView<'a> {
    /// Concepts of three facts of the same game.
    pub ternary: Option<&'a ConceptHeuristic>,
    /// Where facts are drawn, if the game has a picture.
    pub drawing: Option<&'a Drawing<'a>>,
    /// Maximum number of concepts that are shown.
    pub n_shown: usize,
}

/// Describes the concepts that occur most often and, for each role, the sets of facts that hold at
/// the ends of most plays that it won.
pub fn concepts_text<P: Notation>(
    heuristic: &ConceptHeuristic,
    position: &P,
    view: &ConceptView<'_>,
) -> Vec<String> {
    let n_plays = heuristic.n_plays;
    let plays = |n: u64| if n == 1 { "1 play".to_owned() } else { format!("{n} plays") };
    let mut lines = vec![format!("learned from {} at random", plays(n_plays))];
    if heuristic.is_late {
        lines.push("time ran out before each role had won often enough".to_owned());
    }
    if heuristic.n_won.iter().all(|&n| n == 0) {
        lines.push(match n_plays {
            0 => "no play came to an end in time".to_owned(),
            1 => "the one play was not won by any role, so there is nothing to learn".to_owned(),
            n => format!("none of {n} plays was won, so there is nothing to learn"),
        });
        return lines;
    }
    if heuristic.concepts.is_empty() {
        lines.push(
            "no two facts with the same name occur together often enough to form a concept"
                .to_owned(),
        );
    }
    // What a handful of plays have in common is chance.
    if heuristic.n_won.iter().all(|&n| (n as u64) < MIN_WON) {
        lines.push("too few of them were won to tell what they have in common".to_owned());
        return lines;
    }
    let mut axes = BTreeMap::new();
    let pairs = concept_lines(heuristic, view, &mut axes, view.n_shown);
    if pairs.is_empty() && !heuristic.concepts.is_empty() {
        lines.push("no relation between two facts occurs in a tenth of these plays".to_owned());
    }
    if !pairs.is_empty() {
        lines.push("most often at the ends of the plays that were won:".to_owned());
        lines.extend(pairs.into_iter().map(|line| format!("  {line}")));
    }
    let is_known = |ternary: &&ConceptHeuristic| {
        !ternary.concepts.is_empty() && ternary.n_won.iter().any(|&n| n as u64 >= MIN_WON)
    };
    if let Some(ternary) = view.ternary.filter(is_known) {
        let found = concept_lines(ternary, view, &mut axes, view.n_shown.min(N_TERNARY));
        if !found.is_empty() {
            lines.push("of three facts:".to_owned());
            lines.extend(found.into_iter().map(|line| format!("  {line}")));
        }
    }
    let players: Vec<Role> = position.shape().players().collect();
    for &role in &players {
        let name = &position.shape().role_names[role.index()];
        let n_won = heuristic.n_won[role.index()] as u64;
        if n_won == 0 {
            lines.push(format!("{name} won none of {}", plays(n_plays)));
            continue;
        }
        if n_won < MIN_WON {
            lines.push(format!("{name} won only {n_won} of {}", plays(n_plays)));
            continue;
        }
        let shares = frequent(heuristic, &players, role);
        for (n, facts) in shares.into_iter().take(view.n_shown.min(3)) {
            lines.push(format!(
                "{} held at the end of {:.0} % of the {} that {name} won",
                facts.join(" and "),
                100.0 * n as f64 / n_won as f64,
                plays(n_won)
            ));
        }
    }
    lines
}

/// Maximum number of sets of facts of another role that are compared with those of a role.
const N_COMPARED: usize = 1000;
/// Minimum number of plays that a role has won for percentages of them to mean something.
const MIN_WON: u64 = 20;
/// Minimum number of occurrences of a concept in a won play, on average, for it to be worth a line.
/// What occurs less often differs from other concepts by chance alone.
const MIN_OCCURRENCE: f64 = 0.1;
/// Minimum share of the plays of a winner in which facts must hold to be worth a line.
const MIN_SHARE: f64 = 0.25;

/// Returns the sets of facts that held at the ends of most plays that a role won, with their
/// numbers of plays. Those that held as often where another role won say nothing about winning.
fn frequent(heuristic: &ConceptHeuristic, players: &[Role], role: Role) -> Vec<(u64, Vec<String>)> {
    let share = |role: Role, n: u64| n as f64 / heuristic.n_won[role.index()].max(1) as f64;
    let mut others: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for &other in players.iter().filter(|&&other| other != role) {
        for (n, facts) in heuristic.most_frequent(other, N_COMPARED) {
            let known = others.entry(facts).or_default();
            *known = known.max(share(other, n));
        }
    }
    let mut found = heuristic.most_frequent(role, N_COMPARED);
    found.retain(|(n, facts)| {
        let own = share(role, *n);
        own >= MIN_SHARE && others.get(facts).is_none_or(|&other| own > 1.5 * other)
    });
    found
}

/// Describes the concepts of a heuristic that occur most often, at most `n_shown`. Concepts that
/// differ only in where the second fact lies share a sentence.
fn concept_lines(
    heuristic: &ConceptHeuristic,
    view: &ConceptView<'_>,
    axes: &mut BTreeMap<String, Option<Axes>>,
    n_shown: usize,
) -> Vec<String> {
    let mut sentences: Vec<(String, Vec<String>)> = Vec::new();
    // Concepts that differ in the direction of a diagonal, say, are described alike.
    let mut known = BTreeSet::new();
    let n_won: usize = heuristic.n_won.iter().sum();
    for (n, concept) in heuristic.best_concepts(4 * view.n_shown) {
        if (n as f64) < MIN_OCCURRENCE * n_won as f64 {
            break;
        }
        let axes = axes.entry(concept.name().to_owned()).or_insert_with(|| {
            let facts = heuristic.facts_named(concept.name());
            Axes::of_facts(&facts, heuristic.orders(), view.drawing?)
        });
        let (what, place) = concept.parts_on(axes.as_ref());
        if known.len() >= n_shown || !known.insert((what.clone(), place.clone())) {
            continue;
        }
        match sentences.iter_mut().find(|(other, places)| *other == what && !places.is_empty()) {
            Some((_, places)) if !place.is_empty() => places.push(place),
            _ => {
                let places = if place.is_empty() { Vec::new() } else { vec![place] };
                sentences.push((what, places));
            }
        }
    }
    // The most frequent places come first. A long list of them says no more than its start.
    let sentence = |(what, places): (String, Vec<String>)| match places.as_slice() {
        [] => what,
        [one] => format!("{what} {one}"),
        [one, two] => format!("{what} {one}, or {two}"),
        [one, two, three, ..] => format!("{what} {one}, {two}, or {three}"),
    };
    sentences.into_iter().map(sentence).collect()
}
