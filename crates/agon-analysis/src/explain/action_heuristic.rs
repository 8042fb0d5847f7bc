//! The move heuristic by regressed goals, as text and as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Role};
use agon_gdl::interpreter::{Interpreter, Move};
use serde_json::{Value, json};

use super::properties_text::is_of_places;
use super::prospects::{Literal, Prospect, Prospects};
use super::{abbreviated, listed};
use crate::properties::Properties;
use crate::regression::{
    ActionHeuristics, Aim, Evaluator, Extent, Formula, Logic, Network, Reader, Shape, equalise,
    formula_text, normalise,
};

/// Maximum number of parts of a formula in JSON.
const MAX_PARTS: usize = 80;

/// Maximum number of ways to a goal that are described for one move.
const MAX_WAYS: usize = 3;

/// Maximum number of facts that are missing for a goal and are named.
const MAX_MISSING: usize = 4;

/// Maximum number of facts that are named of those that hold already, besides places.
const MAX_HELD: usize = 3;

/// A legal move with the goals regressed through it.
struct RatedMove {
    role: Role,
    text: String,
    /// The goal values, each with its formula.
    formulas: Vec<(i64, String)>,
    /// By goal value: the ways to it, the nearest first. Empty if there is none.
    prospects: Vec<(i64, Vec<Prospect>)>,
    /// By goal value: whether no state at all lets the move reach it.
    is_never: Vec<bool>,
    /// Whether the game goes on after the move, whatever the others do.
    goes_on: bool,
    /// The degree of truth of the goals after the move.
    raw: f64,
    /// The degree, scaled from 0 for the worst to 1 for the best legal move of the role.
    value: f64,
}

/// Returns the legal moves of a position as JSON, each with the goals regressed through it. The
/// most promising moves come first.
pub fn action_heuristic_json(heuristics: &ActionHeuristics, position: &Interpreter) -> Value {
    let literal = |literal: &Literal| match literal.is_positive {
        true => heuristics.fluents[literal.fluent].clone(),
        false => format!("(not {})", heuristics.fluents[literal.fluent]),
    };
    let moves: Vec<Value> = rated_moves(heuristics, position)
        .into_iter()
        .map(|rated| {
            let formulas = rated.formulas.iter().zip(&rated.prospects);
            let formulas: Vec<Value> = formulas
                .map(|((goal, text), (_, ways))| {
                    let nearest = ways.first().map(|way| {
                        let held = way.held.iter().map(|&fluent| &heuristics.fluents[fluent]);
                        json!({
                            "missing": way.missing.iter().map(literal).collect::<Vec<_>>(),
                            "held": held.collect::<Vec<_>>(),
                        })
                    });
                    json!({"goal": goal, "formula": text, "nearest": nearest})
                })
                .collect();
            json!({
                "role": heuristics.roles[rated.role.index()].name, "move": rated.text,
                "value": rated.value, "raw": rated.raw, "formulas": formulas,
            })
        })
        .collect();
    let Extent { aim, n_steps, max_level } = heuristics.extent;
    let aim = match aim {
        Aim::Reach => "reach",
        Aim::ReachAtEnd => "reach-at-end",
        Aim::AvoidWorst => "avoid-worst",
    };
    json!({
        "moves": moves, "operands": heuristics.formulas.size(),
        "aim": aim, "steps": n_steps, "cut_below_level": max_level,
    })
}

/// Describes what each legal move of a position does for the goals: what it reaches, what it
/// threatens, and what is still missing. At most `n_shown` groups of moves are described, the most
/// promising first. `properties` name the boards of the game, if they are known.
pub fn action_heuristic_text(
    heuristics: &ActionHeuristics,
    properties: Option<&Properties>,
    position: &Interpreter,
    n_shown: usize,
) -> Vec<String> {
    let all = rated_moves(heuristics, position);
    let mut lines = Vec::new();
    if let Some(level) = heuristics.extent.max_level {
        lines.push(format!(
            "the goals are too large to follow in full: conditions nested more than {level} \
             levels deep count as unknown"
        ));
    }
    let words = Words::new(heuristics, properties);
    let choosers: Vec<Role> = position.choosers().collect();
    match choosers.len() {
        0 => lines.push("no role has a choice here".to_owned()),
        1 => {}
        _ => lines.push(
            "several roles choose at the same time: what depends on the moves of the others \
             counts as unknown"
                .to_owned(),
        ),
    }
    for role in choosers {
        if position.shape().nature == Some(role) {
            lines.push("chance decides here".to_owned());
            continue;
        }
        let own: Vec<&RatedMove> = all.iter().filter(|rated| rated.role == role).collect();
        lines.extend(role_lines(&words, role, &own, n_shown));
    }
    lines
}

/// What a move does for a goal, as a verb phrase.
#[derive(Clone, PartialEq, Eq)]
struct Effect {
    text: String,
    /// One of the ways that the text counts. Moves that differ only in it are described together.
    example: Option<String>,
}

impl Effect {
    fn plain(text: String) -> Effect {
        Effect { text, example: None }
    }
}

/// Moves that do the same for the goals and are rated alike.
struct Group<'m> {
    effects: Vec<Effect>,
    moves: Vec<&'m RatedMove>,
}

impl<'m> Group<'m> {
    fn has(&self, effects: &[Effect], rated: &RatedMove, digits: Digits) -> bool {
        let texts = self.effects.iter().map(|effect| &effect.text);
        // What is printed alike is alike.
        let rating = |rated: &RatedMove| (format!("{:.2}", rated.value), digits.degree(rated.raw));
        texts.eq(effects.iter().map(|effect| &effect.text))
            && rating(self.moves[0]) == rating(rated)
    }

    fn add(&mut self, effects: &[Effect], rated: &'m RatedMove) {
        for (known, other) in self.effects.iter_mut().zip(effects) {
            // The example is that of the first move, which then is named.
            let is_first = self.moves.len() == 1;
            if let Some(example) = &mut known.example
                && is_first
                && other.example.as_ref() != Some(example)
            {
                *example = format!("{example} after {}", self.moves[0].text);
            }
        }
        self.moves.push(rated);
    }
}

/// Describes the moves of one role.
fn role_lines(words: &Words<'_>, role: Role, moves: &[&RatedMove], n_shown: usize) -> Vec<String> {
    let Some((first, last)) = moves.first().zip(moves.last()) else { return Vec::new() };
    let name = &words.heuristics.roles[role.index()].name;
    let n = moves.len();
    let common = common_ways(moves);
    let digits = Digits::between(last.raw, first.raw);
    // Moves that do the same and are rated alike are described once.
    let mut groups: Vec<Group<'_>> = Vec::new();
    for &rated in moves {
        let effects = words.effects(rated, &common);
        match groups.iter_mut().find(|group| group.has(&effects, rated, digits)) {
            Some(group) => group.add(&effects, rated),
            None => groups.push(Group { effects, moves: vec![rated] }),
        }
    }
    let effects = &groups[0].effects;
    let is_one_effect = groups.iter().all(|group| group.effects == *effects);
    let is_one_value = first.value == last.value;
    if is_one_effect && is_one_value {
        let subject = match n {
            1 => format!("the only move of {name}, {},", first.text),
            2 => format!("both moves of {name} are alike: each of them"),
            _ => format!("all {n} moves of {name} are alike: each of them"),
        };
        return sentences(&subject, effects);
    }
    // Tiny degrees mean that the goals are far away. Only their order says something.
    let is_far = first.raw < FAR_AWAY;
    let mut lines = vec![match (is_one_value, is_far) {
        (true, true) => format!("the {n} moves of {name} are worth about the same"),
        (true, false) => {
            let degree = digits.degree(first.raw);
            format!("the {n} moves of {name} are worth about the same ({degree})")
        }
        (false, true) => format!(
            "all {n} moves of {name} leave the goals far away; rated from 1.00 for the best to \
             0.00 for the worst, which says little here"
        ),
        (false, false) => {
            let (low, high) = (digits.degree(last.raw), digits.degree(first.raw));
            let range = if low == high { high } else { format!("{low} to {high}") };
            format!(
                "the {n} moves of {name}, rated from 1.00 for the best to 0.00 for the worst; in \
                 brackets the degree of truth of the goals after them, {range}"
            )
        }
    }];
    // What is true of every move is said once, and the moves are only rated.
    if is_one_effect {
        lines.extend(sentences("each of them", effects));
    }
    let n_shown = if is_far { n_shown.min(N_FAR) } else { n_shown };
    for Group { effects, moves: group } in groups.iter().take(n_shown) {
        let texts: Vec<String> = group.iter().map(|rated| rated.text.clone()).collect();
        let raw = digits.degree(group[0].raw);
        let moves = abbreviated(&texts, 4);
        let rated = match (is_one_value, is_far) {
            (true, _) => moves,
            (false, true) => format!("{:.2}  {moves}", group[0].value),
            (false, false) => format!("{:.2} [{raw}]  {moves}", group[0].value),
        };
        if is_one_effect {
            lines.push(rated);
            continue;
        }
        let each = if texts.len() > 1 { ": each" } else { "" };
        lines.extend(sentences(&format!("{rated}{each}"), effects));
    }
    if groups.len() > n_shown {
        let n_more: usize = groups[n_shown..].iter().map(|group| group.moves.len()).sum();
        let moves = if n_more == 1 { "move" } else { "moves" };
        lines.push(format!("… and {n_more} more {moves}"));
    }
    lines
}

/// Returns the ways that are open after all moves but at most one, by goal. They do not depend on
/// the move.
fn common_ways(moves: &[&RatedMove]) -> BTreeSet<(i64, Vec<Literal>)> {
    let mut counts: BTreeMap<(i64, Vec<Literal>), usize> = BTreeMap::new();
    for rated in moves {
        for (goal, ways) in &rated.prospects {
            let missing: BTreeSet<&Vec<Literal>> = ways.iter().map(|way| &way.missing).collect();
            for missing in missing {
                *counts.entry((*goal, missing.clone())).or_default() += 1;
            }
        }
    }
    let is_common = |n: usize| moves.len() > 2 && n + 1 >= moves.len();
    counts.into_iter().filter(|&(_, n)| is_common(n)).map(|(way, _)| way).collect()
}

/// Joins a subject with what it does. Each further effect is a line of its own.
fn sentences(subject: &str, effects: &[Effect]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, Effect { text, example }) in effects.iter().enumerate() {
        let example =
            example.as_ref().map_or_else(String::new, |example| format!(", such as {example}"));
        lines.push(match at {
            0 => format!("{subject} {text}{example}"),
            _ => format!("        it {text}{example}"),
        });
    }
    if lines.is_empty() {
        lines.push(format!("{subject} has no known effect on the goals"));
    }
    lines
}

/// Writes degrees of truth with as many digits as moves need to be told apart.
#[derive(Copy, Clone)]
struct Digits {
    /// Number of digits behind the point.
    n: usize,
}

impl Digits {
    /// Returns the digits for degrees between two bounds.
    fn between(low: f64, high: f64) -> Digits {
        // Two digits of the difference are shown.
        let (mut n, mut step) = (MIN_DIGITS, 0.001);
        while high > low && high - low < step && n < MAX_DIGITS {
            (n, step) = (n + 1, step / 10.0);
        }
        Digits { n }
    }

    /// Formats a degree. What is not quite false does not look as if it were.
    fn degree(self, truth: f64) -> String {
        let shown = format!("{truth:.*}", self.n);
        match truth {
            0.0 => "0".to_owned(),
            _ if shown.bytes().all(|digit| b"0.".contains(&digit)) => {
                format!("<0.{:0>1$}", 1, self.n)
            }
            _ => shown,
        }
    }
}

/// The degree of truth of the goals after the best move below which all of them count as far away.
const FAR_AWAY: f64 = 1e-4;

/// Maximum number of groups of moves that are described if the goals are far away after all moves.
const N_FAR: usize = 3;

/// Number of digits of a degree, at least and at most.
const MIN_DIGITS: usize = 4;
const MAX_DIGITS: usize = 9;

/// Writes fluents and what is missing in words.
struct Words<'a> {
    heuristics: &'a ActionHeuristics,
    /// By name of a fluent: the two arguments that are a place on a board.
    boards: BTreeMap<String, [usize; 2]>,
    /// By fluent: whether it only says which role has a choice, or which step it is.
    is_passing: Vec<bool>,
    /// By fluent: whether it only says which step it is.
    is_step: Vec<bool>,
}

impl<'a> Words<'a> {
    fn new(heuristics: &'a ActionHeuristics, properties: Option<&Properties>) -> Words<'a> {
        let mut boards = BTreeMap::new();
        let (mut passing, mut steps) = (BTreeSet::new(), BTreeSet::new());
        if let Some(properties) = properties {
            let symbols = &properties.game.rules().sheet().symbols;
            for board in properties.boards.iter().filter(|b| is_of_places(properties, b)) {
                boards.insert(symbols.name(board.name).to_owned(), board.arguments);
            }
            let text = |fluent: usize| properties.fluents[fluent].text.clone();
            let controls = properties.turns.roles.iter().filter_map(|role| role.control);
            steps.extend(properties.length.counters.iter().flatten().copied().map(text));
            passing.extend(controls.map(|(fluent, _)| text(fluent)));
            passing.extend(steps.iter().cloned());
        }
        let among = |known: &BTreeSet<String>| {
            heuristics.fluents.iter().map(|text| known.contains(text)).collect()
        };
        let (is_passing, is_step) = (among(&passing), among(&steps));
        Words { heuristics, boards, is_passing, is_step }
    }

    /// Describes what a move does for each goal, as verb phrases.
    fn effects(&self, rated: &RatedMove, common: &BTreeSet<(i64, Vec<Literal>)>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for ((goal, ways), &is_never) in rated.prospects.iter().zip(&rated.is_never).rev() {
            if is_never {
                effects.push(Effect::plain(self.cannot(*goal)));
                continue;
            }
            // What the move adds counts, unless it adds nothing.
            let is_own = |way: &&Prospect| {
                way.missing.is_empty() || !common.contains(&(*goal, way.missing.clone()))
            };
            let own: Vec<Prospect> = ways.iter().filter(is_own).cloned().collect();
            let is_nearest = |way: &Prospect| way.missing.len() <= ways[0].missing.len();
            effects.extend(match own.first() {
                Some(first) if is_nearest(first) => self.effect(rated, *goal, &own),
                _ => self.effect(rated, *goal, ways),
            });
        }
        effects
    }

    fn effect(&self, rated: &RatedMove, goal: i64, ways: &[Prospect]) -> Vec<Effect> {
        let one = |text: String| vec![Effect::plain(text)];
        let extent = self.heuristics.extent;
        let in_two = if extent.n_steps > 1 { " in two steps" } else { "" };
        let reaches = match extent.aim {
            // Many rulesheets define goals at every position, such as who is ahead.
            Aim::Reach if rated.goes_on && extent.n_steps == 1 => {
                format!("meets the condition of goal {goal}, which counts when the game ends")
            }
            Aim::Reach => format!("reaches goal {goal}{in_two}"),
            Aim::ReachAtEnd => format!("ends the game with goal {goal}{in_two}"),
            Aim::AvoidWorst => format!("avoids goal {goal}{in_two}"),
        };
        let ways =
            self.distinct(ways.iter().map(|way| self.about_the_goal(rated.role, way)).collect());
        let Some(nearest) = ways.first() else {
            return one(match extent.aim {
                Aim::Reach | Aim::ReachAtEnd => self.cannot(goal),
                Aim::AvoidWorst => format!("ends the game with goal {goal}"),
            });
        };
        if nearest.has_unknown {
            return one(format!(
                "may bring goal {goal} nearer, but the goal is too complex to say how"
            ));
        }
        if nearest.missing.is_empty() {
            let held = self.held(rated.role, nearest);
            return one(match held.is_empty() {
                true => reaches,
                false => format!("{reaches}: {held}"),
            });
        }
        if extent.aim == Aim::AvoidWorst {
            return one(format!("ends the game with goal {goal}"));
        }
        if nearest.missing.iter().all(|literal| self.is_passing[literal.fluent]) {
            return one(format!("leaves goal {goal} to later steps"));
        }
        let n_missing = nearest.missing.len();
        if n_missing > MAX_MISSING {
            return one(format!(
                "leaves goal {goal} far away: {n_missing} facts would have to change"
            ));
        }
        let near: Vec<&Prospect> =
            ways.iter().filter(|way| !way.has_unknown && way.missing.len() == n_missing).collect();
        if n_missing == 1 && near.len() > 1 && near.iter().all(|way| way.held.is_empty()) {
            let any: Vec<String> = near.iter().map(|way| self.missing(rated.role, way)).collect();
            let any = match any.as_slice() {
                [first, other] => format!("{first} or {other}"),
                any => format!("one of {}", abbreviated(any, MAX_WAYS)),
            };
            return one(format!("needs {any} for goal {goal}"));
        }
        // Ways that need several facts differ little, so one of them is an example of all.
        if n_missing > 1 && near.len() > 1 {
            let n_ways = near.len();
            let held = self.held(rated.role, near[0]);
            let missing = self.missing(rated.role, near[0]);
            return vec![match held.is_empty() {
                true => Effect {
                    text: format!("leaves goal {goal} {n_missing} facts away, in {n_ways} ways"),
                    example: Some(missing),
                },
                false => Effect {
                    text: format!(
                        "works towards goal {goal} in {n_ways} ways with {n_missing} facts missing"
                    ),
                    example: Some(format!("{missing}, where {held}")),
                },
            }];
        }
        let mut effects = Vec::new();
        for way in near.iter().take(MAX_WAYS) {
            let held = self.held(rated.role, way);
            let missing = self.missing(rated.role, way);
            effects.push(Effect::plain(match (n_missing, held.is_empty()) {
                (1, false) if self.are_own_places(rated.role, way) => {
                    format!("threatens {missing}: {held}")
                }
                (1, false) => format!("needs {missing} for goal {goal}: {held}"),
                (1, true) => format!("needs {missing} for goal {goal}"),
                (_, false) => format!("works towards goal {goal}: {held}, {missing} are missing"),
                (_, true) => format!("leaves goal {goal} {n_missing} facts away: {missing}"),
            }));
        }
        match near.len().saturating_sub(MAX_WAYS) {
            0 => {}
            1 => effects.push(Effect::plain("has one more way like these".to_owned())),
            more => effects.push(Effect::plain(format!("has {more} more ways like these"))),
        }
        effects
    }

    /// Says that a move cannot reach a goal, whatever the position.
    fn cannot(&self, goal: i64) -> String {
        match self.heuristics.extent.aim {
            Aim::Reach => format!("cannot reach goal {goal} at once, in any position"),
            Aim::ReachAtEnd => format!("cannot end the game with goal {goal}"),
            Aim::AvoidWorst => format!("cannot avoid goal {goal}"),
        }
    }

    /// Of ways that need the same, keeps the one that has most already. A line that runs through
    /// the place of the move and one that does not may both need one more place.
    fn distinct(&self, ways: Vec<Prospect>) -> Vec<Prospect> {
        let mut kept: Vec<Prospect> = Vec::new();
        for way in ways {
            match kept
                .iter_mut()
                .find(|other| other.missing == way.missing && other.has_unknown == way.has_unknown)
            {
                Some(other) if other.held.len() >= way.held.len() => {}
                Some(other) => *other = way,
                None => kept.push(way),
            }
        }
        kept
    }

    /// Removes the fluents that pass by themselves, unless nothing else is left, and the conditions
    /// of the move itself, such as the disc that carries a dropped one: no goal reads them.
    fn about_the_goal(&self, role: Role, way: &Prospect) -> Prospect {
        let mut way = way.clone();
        way.held.retain(|&fluent| !self.is_passing[fluent]);
        if self.heuristics.extent.n_steps == 1 {
            let read = &self.heuristics.roles[role.index()].goal_fluents;
            way.held.retain(|fluent| read.binary_search(fluent).is_ok());
        }
        if way.missing.iter().any(|literal| self.is_step[literal.fluent]) {
            // Whatever else is missing, the goal cannot be reached before that step.
            way.missing.retain(|literal| self.is_step[literal.fluent]);
        } else if way.missing.iter().any(|literal| !self.is_passing[literal.fluent]) {
            way.missing.retain(|literal| !self.is_passing[literal.fluent]);
        }
        way
    }

    /// Says what a way has already: "(2 2) and (3 3) are yours already". Empty if it has nothing.
    fn held(&self, role: Role, way: &Prospect) -> String {
        let verb = if way.held.len() == 1 { "is" } else { "are" };
        match (way.held.is_empty(), self.are_own_places(role, way)) {
            (true, _) => String::new(),
            (false, true) => {
                let places = way.held.iter().map(|&fluent| self.place(fluent)).collect::<Vec<_>>();
                format!("{} {verb} yours already", listed(&places))
            }
            (false, false) => {
                let texts = way.held.iter().map(|&fluent| self.text(fluent)).collect::<Vec<_>>();
                let verb = if way.held.len() == 1 { "holds" } else { "hold" };
                let texts = match texts.len() {
                    n if n <= MAX_HELD + 1 => listed(&texts),
                    _ => abbreviated(&texts, MAX_HELD),
                };
                format!("{texts} {verb} already")
            }
        }
    }

    /// Lists what is missing for a way.
    fn missing(&self, role: Role, way: &Prospect) -> String {
        let are_places = self.are_own_places(role, way);
        let text = |literal: &Literal| match (literal.is_positive, are_places) {
            (true, true) => self.place(literal.fluent),
            (true, false) => self.text(literal.fluent),
            (false, _) => format!("no {}", self.text(literal.fluent)),
        };
        listed(&way.missing.iter().map(text).collect::<Vec<_>>())
    }

    fn text(&self, fluent: usize) -> String {
        self.heuristics.fluents[fluent].clone()
    }

    /// Returns whether all facts of a way are the same thing of a role at different places of a
    /// board, and some are there already.
    fn are_own_places(&self, role: Role, way: &Prospect) -> bool {
        let fluents = way.missing.iter().map(|literal| literal.fluent);
        let mut kinds = fluents.chain(way.held.iter().copied()).map(|fluent| self.split(fluent));
        let Some(Some((_, first))) = kinds.next() else { return false };
        let name = &self.heuristics.roles[role.index()].name;
        first.iter().skip(1).any(|part| is_of_role(part, name))
            && !way.held.is_empty()
            && kinds.all(|kind| kind.is_some_and(|(_, rest)| rest == first))
            && way.missing.iter().all(|literal| literal.is_positive)
    }

    fn place(&self, fluent: usize) -> String {
        self.split(fluent).map_or_else(|| self.text(fluent), |(place, _)| place)
    }

    /// Splits a fluent into its place on a board and the rest. `None` if it has no place.
    fn split(&self, fluent: usize) -> Option<(String, Vec<&'a str>)> {
        let text = &self.heuristics.fluents[fluent];
        let inside = text.strip_prefix('(')?.strip_suffix(')')?;
        let parts: Vec<&str> = inside.split(' ').collect();
        let [x, y] = *self.boards.get(parts[0])?;
        if inside.contains('(') || parts.len() <= x.max(y) + 1 {
            return None;
        }
        let place = format!("({} {})", parts[x + 1], parts[y + 1]);
        let rest = parts.iter().enumerate().filter(|(at, _)| *at != x + 1 && *at != y + 1);
        Some((place, rest.map(|(_, part)| *part).collect()))
    }
}

/// What an empty place holds, in most rulesheets.
const NOBODYS: [&str; 4] = ["blank", "b", "empty", "free"];

/// Returns whether a symbol names a role, such as `x` the role `xplayer`. Pieces with other symbols
/// may belong to both sides.
fn is_of_role(symbol: &str, role: &str) -> bool {
    !symbol.is_empty()
        && !NOBODYS.contains(&symbol)
        && (role.starts_with(symbol) || role.ends_with(symbol))
}

/// Returns the legal moves of all roles with a choice, those of each role in descending order of
/// value.
fn rated_moves(heuristics: &ActionHeuristics, position: &Interpreter) -> Vec<RatedMove> {
    let reader = Reader::new(position, heuristics);
    let mut evaluator = Evaluator::new(Arc::new(Network::new(heuristics, Logic::PRODUCT)));
    let mut state = Vec::new();
    reader.state(position, &mut state);
    evaluator.go_to(&state);
    let mut holds = vec![false; heuristics.fluents.len()];
    let texts = position.state_text();
    for (fluent, text) in heuristics.fluents.iter().enumerate() {
        holds[fluent] = texts.binary_search(text).is_ok() || texts.contains(text);
    }
    let mut prospects = Prospects::new(&heuristics.formulas, &heuristics.knowledge, holds);
    let mut all = Vec::new();
    let choosers: Vec<Role> = position.choosers().collect();
    let is_alone = choosers.len() == 1;
    for role in choosers {
        let own = &heuristics.roles[role.index()];
        let mut of_role = Vec::new();
        let mut places = Vec::new();
        for m in position.legal_moves(role) {
            let Some(place) = reader.move_idx(position, role, m) else { continue };
            let Some(regressed) = own.regressed.get(place).and_then(Option::as_ref) else {
                continue;
            };
            let formulas = own.goals.iter().zip(regressed).map(|(&goal, &formula)| {
                (goal, formula_text(&heuristics.formulas, formula, &heuristics.fluents, MAX_PARTS))
            });
            let formulas = formulas.collect();
            // What the move itself uses up, such as the empty place that it fills, says nothing
            // about the goal.
            let (used, goes_on) = match is_alone {
                true => outcome(heuristics, position, role, m),
                false => (Vec::new(), false),
            };
            let ways = own.goals.iter().zip(regressed);
            let ways: Vec<(i64, Vec<Prospect>)> =
                ways.map(|(&goal, &formula)| (goal, prospects.without(formula, &used))).collect();
            let is_false = |&formula: &Formula| {
                !formula.is_negated() && matches!(heuristics.formulas.shape(formula), Shape::False)
            };
            let is_never = regressed.iter().map(is_false).collect();
            let raw = evaluator.value(role, place).unwrap_or(0.0);
            places.push(Some(place));
            of_role.push(RatedMove {
                role,
                text: position.move_text(m),
                formulas,
                prospects: ways,
                is_never,
                goes_on,
                raw,
                value: raw,
            });
        }
        let mut values: Vec<f64> = of_role.iter().map(|rated| rated.raw).collect();
        let symmetries = &heuristics.knowledge.symmetries;
        equalise(symmetries, &state, role, &places, &mut values);
        of_role.iter_mut().zip(&values).for_each(|(rated, &value)| rated.raw = value);
        normalise(&mut values);
        of_role.iter_mut().zip(values).for_each(|(rated, value)| rated.value = value);
        of_role.sort_by(|a, b| b.value.total_cmp(&a.value));
        all.extend(of_role);
    }
    all
}

/// Returns the fluents that hold before a move and not after it, and whether the game goes on.
fn outcome(
    heuristics: &ActionHeuristics,
    position: &Interpreter,
    role: Role,
    m: &Move,
) -> (Vec<usize>, bool) {
    let joint: Vec<Move> = position
        .shape()
        .roles()
        .map(|other| if other == role { *m } else { position.legal_moves(other)[0] })
        .collect();
    let mut after = position.clone();
    after.advance(&joint);
    let goes_on = !after.is_terminal();
    let after: BTreeSet<String> = after.state_text().into_iter().collect();
    let used: BTreeSet<String> =
        position.state_text().into_iter().filter(|text| !after.contains(text)).collect();
    let fluents = heuristics.fluents.iter().enumerate();
    let used = fluents.filter(|(_, text)| used.contains(*text)).map(|(fluent, _)| fluent).collect();
    (used, goes_on)
}
