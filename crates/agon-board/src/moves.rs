//! Which places a move touches, so that moves can be made by clicks.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::fluent::{Flat, words};
use crate::layout::BoardPlan;

/// How a person makes a move on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveTarget {
    /// The move as the rules write it.
    pub text: String,
    /// The clicks that make the move, in order. Each step lists the ids of the places that count
    /// as this click, mostly one. Empty if the move touches no place.
    pub steps: Vec<Vec<String>>,
    /// What distinguishes the move from other moves with the same clicks, such as `queen`; may be
    /// empty.
    pub choice: String,
    /// The move in words, for buttons and menus.
    pub label: String,
}

/// What an argument of a move, or several arguments together, mean on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// These arguments together are a place of a board.
    Place { board: usize, prefix: Vec<String>, arguments: Vec<usize> },
    /// The argument selects all places with this value at a position of the lookup key.
    Line { board: usize, position: usize, argument: usize },
    /// The argument is a choice.
    Choice(usize),
}

/// Finds the places of moves.
#[derive(Clone, Debug, Default)]
pub(crate) struct MoveMatcher {
    /// By skeleton of the move: its parts.
    parts: BTreeMap<String, Vec<Part>>,
}

/// How one sampled step changed boards: the places whose fluents changed or were taken from.
pub(crate) type Changed = BTreeSet<(usize, usize)>;

impl MoveMatcher {
    /// Finds out what the arguments of moves mean. `steps` are sampled moves with the places that
    /// changed in the step.
    pub(crate) fn new(
        boards: &[BoardPlan],
        moves: &[Flat],
        steps: &[(Flat, Changed)],
    ) -> MoveMatcher {
        let mut by_skeleton: BTreeMap<&str, Vec<&Flat>> = BTreeMap::new();
        for m in moves {
            by_skeleton.entry(&m.skeleton).or_default().push(m);
        }
        let mut parts = BTreeMap::new();
        for (skeleton, moves) in by_skeleton {
            let own: Vec<&(Flat, Changed)> =
                steps.iter().filter(|(m, _)| m.skeleton == skeleton).collect();
            parts.insert(skeleton.to_owned(), find_parts(boards, &moves, &own));
        }
        MoveMatcher { parts }
    }

    /// Returns for each move the places that it touches.
    pub(crate) fn targets(&self, boards: &[BoardPlan], legal: &[String]) -> Vec<MoveTarget> {
        let mut targets: Vec<MoveTarget> =
            legal.iter().map(|text| self.target(boards, text)).collect();
        shorten(&mut targets);
        // The name of the move is a choice only where the clicks do not tell moves apart.
        let mut same: BTreeMap<&[Vec<String>], usize> = BTreeMap::new();
        for target in &targets {
            *same.entry(&target.steps).or_default() += 1;
        }
        let is_shared: Vec<bool> = targets.iter().map(|t| same[t.steps.as_slice()] > 1).collect();
        targets
            .into_iter()
            .zip(is_shared)
            .map(|(mut target, is_shared)| {
                if is_shared && target.choice.is_empty() {
                    target.choice.clone_from(&target.label);
                }
                target
            })
            .collect()
    }

    /// Returns whether most moves lead from a place to another place.
    pub(crate) fn has_two_places(&self, moves: &[Flat]) -> bool {
        let n_places = |m: &&Flat| {
            let parts = self.parts.get(&m.skeleton).map_or(&[][..], Vec::as_slice);
            parts.iter().filter(|part| matches!(part, Part::Place { .. })).count()
        };
        let with_places: Vec<&Flat> = moves.iter().filter(|m| n_places(m) > 0).collect();
        let two = with_places.iter().filter(|m| n_places(m) > 1).count();
        !with_places.is_empty() && 2 * two > with_places.len()
    }

    fn target(&self, boards: &[BoardPlan], text: &str) -> MoveTarget {
        let label = words(text);
        let mut target =
            MoveTarget { text: text.to_owned(), steps: Vec::new(), choice: String::new(), label };
        let Some(flat) = Flat::parse(text) else { return target };
        let found;
        let parts = match self.parts.get(&flat.skeleton) {
            Some(parts) => parts,
            None => {
                found = find_parts(boards, &[&flat], &[]);
                &found
            }
        };
        let mut choices: Vec<&str> = Vec::new();
        for part in parts {
            match part {
                Part::Place { board, prefix, arguments } => {
                    let key: Vec<String> = prefix
                        .iter()
                        .cloned()
                        .chain(arguments.iter().map(|&i| flat.arguments[i].clone()))
                        .collect();
                    match boards[*board].lookup.get(&key) {
                        Some(&place) => {
                            target.steps.push(vec![boards[*board].places[place].id.clone()]);
                        }
                        None => {
                            choices.extend(arguments.iter().map(|&i| flat.arguments[i].as_str()));
                        }
                    }
                }
                Part::Line { board, position, argument } => {
                    let value = &flat.arguments[*argument];
                    let on_line = boards[*board]
                        .lookup
                        .iter()
                        .filter(|(key, _)| key.get(*position) == Some(value))
                        .map(|(_, &place)| boards[*board].places[place].id.clone());
                    let places: BTreeSet<String> = on_line.collect();
                    if places.is_empty() {
                        choices.push(value);
                    } else {
                        target.steps.push(places.into_iter().collect());
                    }
                }
                Part::Choice(argument) => choices.push(&flat.arguments[*argument]),
            }
        }
        if !target.steps.is_empty() {
            target.choice = choices.join(" ");
        }
        // A move onto the place where it starts is one click.
        target.steps.dedup();
        target
    }
}

/// Leaves out the places between the first and the last one where those two tell the move. Rules of
/// structure rewriting games name every place that they look at.
fn shorten(targets: &mut [MoveTarget]) {
    let ends = |target: &MoveTarget| match target.steps.as_slice() {
        [first, .., last] => vec![first.clone(), last.clone()],
        short => short.to_vec(),
    };
    let mut same: BTreeMap<(Vec<Vec<String>>, String), usize> = BTreeMap::new();
    for target in targets.iter() {
        *same.entry((ends(target), target.choice.clone())).or_default() += 1;
    }
    for target in targets.iter_mut().filter(|target| target.steps.len() > 2) {
        let short = ends(target);
        if same[&(short.clone(), target.choice.clone())] == 1 {
            target.steps = short;
        }
    }
}

/// Finds out what the arguments of moves of one skeleton mean.
fn find_parts(boards: &[BoardPlan], moves: &[&Flat], steps: &[&(Flat, Changed)]) -> Vec<Part> {
    let n_arguments = moves[0].arguments.len();
    let names = moves[0].inner_names();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < n_arguments {
        let found = boards.iter().enumerate().find_map(|(b, board)| {
            let lengths: BTreeSet<usize> = board.lookup.keys().map(Vec::len).collect();
            lengths.into_iter().rev().find_map(|length| {
                place_at(b, board, moves, at, length, &names).filter(|(_, used)| *used > 0)
            })
        });
        if let Some((part, used)) = found {
            parts.push(part);
            at += used;
            continue;
        }
        parts.push(line_at(boards, moves, steps, at).unwrap_or(Part::Choice(at)));
        at += 1;
    }
    // An argument that alone names a line is only sure if nothing else tells the place.
    let has_place = parts.iter().any(|part| matches!(part, Part::Place { .. }));
    if has_place {
        for part in &mut parts {
            if let Part::Line { argument, .. } = part {
                *part = Part::Choice(*argument);
            }
        }
    }
    parts
}

/// Returns the place that the arguments from `at` on name in nearly all moves.
fn place_at(
    board_number: usize,
    board: &BoardPlan,
    moves: &[&Flat],
    at: usize,
    length: usize,
    names: &[&str],
) -> Option<(Part, usize)> {
    // Names inside of the move may be part of the place, as in `(draw (h 1 2))`.
    let prefixes =
        std::iter::once(Vec::new()).chain(names.iter().map(|name| vec![(*name).to_owned()]));
    for prefix in prefixes {
        let Some(used) = length.checked_sub(prefix.len()).filter(|used| *used > 0) else {
            continue;
        };
        let end = at + used;
        if end > moves[0].arguments.len() {
            continue;
        }
        let is_place = |m: &&&Flat| {
            let key: Vec<String> = prefix.iter().chain(&m.arguments[at..end]).cloned().collect();
            board.lookup.contains_key(&key)
        };
        let n_places = moves.iter().filter(is_place).count();
        if n_places * 10 >= moves.len() * 9 {
            let arguments = (at..end).collect();
            return Some((Part::Place { board: board_number, prefix, arguments }, used));
        }
    }
    None
}

/// Returns the line of places that an argument selects, if every sampled step changed only places
/// on that line.
fn line_at(
    boards: &[BoardPlan],
    moves: &[&Flat],
    steps: &[&(Flat, Changed)],
    at: usize,
) -> Option<Part> {
    if steps.len() < 3 {
        return None;
    }
    for (number, board) in boards.iter().enumerate() {
        let longest = board.lookup.keys().map(Vec::len).max().unwrap_or(0);
        for position in 0..longest {
            let values: BTreeSet<&String> =
                board.lookup.keys().filter_map(|key| key.get(position)).collect();
            if !moves.iter().all(|m| values.contains(&m.arguments[at])) {
                continue;
            }
            let mut keys: BTreeMap<usize, &String> = BTreeMap::new();
            for (key, &place) in &board.lookup {
                keys.extend(key.get(position).map(|value| (place, value)));
            }
            let fits = |(m, changed): &&&(Flat, Changed)| {
                let own: Vec<&(usize, usize)> =
                    changed.iter().filter(|(b, _)| *b == number).collect();
                !own.is_empty()
                    && own.iter().any(|(_, place)| keys.get(place) == Some(&&m.arguments[at]))
            };
            let n_fit = steps.iter().filter(fits).count();
            if n_fit * 20 >= steps.len() * 19 {
                return Some(Part::Line { board: number, position, argument: at });
            }
        }
    }
    None
}
