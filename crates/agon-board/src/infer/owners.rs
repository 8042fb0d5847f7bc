//! Finds the owners of pieces and the values that mean an empty place.

use std::collections::{BTreeMap, BTreeSet};

use crate::fluent::Flat;
use crate::infer::orient::BLANKS;
use crate::infer::{Builder, place_of};
use crate::layout::{Layer, LayerRole, Use};
use crate::pieces::{Styles, short_texts};
use crate::scene::Symbol;

/// Returns what is known of the contents of places.
pub(crate) fn styles(builder: &Builder<'_>) -> Styles {
    let values = values(builder);
    let mut styles = Styles { blanks: blanks(builder, &values), ..Styles::default() };
    let roles = &builder.world.evidence.roles;
    styles.role_texts = role_texts(roles);
    styles.owners = by_name(&values, &styles.blanks, roles);
    // What happens in play decides where names do not, and where a name is doubtful.
    for (value, role) in by_play(builder, &styles.blanks) {
        styles.owners.entry(value).or_insert(role);
    }
    for value in values.iter().filter(|value| !styles.blanks.contains(*value)) {
        if let Some(&role) = styles.owners.get(value) {
            styles.kinds.insert(value.clone(), without_owner(value, &roles[role]));
        }
    }
    like_counterparts(&mut styles);
    one_kind_each(&mut styles, roles);
    let kind = |value: &String| styles.kinds.get(value).unwrap_or(value).to_lowercase();
    let kinds: BTreeSet<String> =
        values.iter().filter(|value| !styles.blanks.contains(*value)).map(kind).collect();
    let has = |names: &[&str]| names.iter().filter(|name| kinds.contains(**name)).count();
    let is_only_chess =
        kinds.iter().all(|kind| ["p", "n", "b", "r", "q", "k"].contains(&kind.as_str()));
    styles.is_chess = has(&["p", "n", "b", "r", "q", "k"]) >= 3 && has(&["k", "q", "r"]) >= 1
        || kinds.contains("k")
            && has(&["p", "n", "b", "r", "q"]) >= 1
            && is_only_chess
            // Chess has its kings from the start; men of checkers become kings.
            && (has(&["n", "b", "r", "q"]) >= 1 || starts_with(builder, &values, &|v| kind(v) == "k"));
    let is_piece_game = has(&["queen", "bishop", "rook", "knight", "q", "r", "n"]) > 0;
    styles.is_checkers = !styles.is_chess
        && !is_piece_game
        && (has(&["king", "k"]) > 0 && has(&["man", "pawn", "p", "m", "checker", "piece"]) > 0
            || (kinds.contains("k") && kinds.contains("")));
    let is_text = |kind: &&String| {
        matches!(styles.symbol(kind), Symbol::Text | Symbol::Tile) && !kind.is_empty()
    };
    let spelled: BTreeSet<String> = values
        .iter()
        .map(|value| styles.kinds.get(value).unwrap_or(value).clone())
        .filter(|kind| is_text(&kind))
        .collect();
    let numbers_stay = |(kind, text): (String, String)| {
        let is_number = kind.bytes().all(|b| b.is_ascii_digit());
        (kind.clone(), if is_number { kind } else { text })
    };
    styles.texts = short_texts(&spelled).into_iter().map(numbers_stay).collect();
    let without = values
        .iter()
        .filter(|value| !styles.blanks.contains(*value) && !styles.owners.contains_key(*value));
    styles.tints = without.enumerate().map(|(i, value)| (value.clone(), i)).collect();
    for (value, (glyph, owner)) in &builder.world.evidence.hints.pieces {
        let owner = owner.as_ref().and_then(|name| roles.iter().position(|role| role == name));
        styles.hinted.insert(value.clone(), (glyph.clone(), owner));
    }
    styles
}

/// Returns whether one of the values for which a test holds is on the board at the start.
fn starts_with(
    builder: &Builder<'_>,
    values: &BTreeSet<String>,
    test: &dyn Fn(&String) -> bool,
) -> bool {
    let start = builder.world.evidence.plays.first().and_then(|play| play.states.first());
    start.into_iter().flatten().filter_map(|fluent| Flat::parse(fluent)).any(|flat| {
        let Some(Use::Layer(layer)) = builder.uses.get(&flat.skeleton) else { return false };
        let mut contents = layer.contents.iter().map(|&i| &flat.arguments[i]);
        contents.any(|value| values.contains(value) && test(value))
    })
}

fn layers<'b>(builder: &'b Builder<'_>) -> impl Iterator<Item = (usize, &'b Layer)> {
    builder.world.patterns.iter().enumerate().filter_map(|(index, pattern)| {
        match builder.uses.get(&pattern.skeleton) {
            Some(Use::Layer(layer)) => Some((index, layer)),
            _ => None,
        }
    })
}

/// Returns all values that stand for contents of places; for layers without contents the relation.
fn values(builder: &Builder<'_>) -> BTreeSet<String> {
    let mut values = BTreeSet::new();
    for (index, layer) in layers(builder) {
        let pattern = builder.pattern(index);
        let says_owner_only =
            layer.contents.iter().all(|&i| builder.world.is_role(&pattern.domains[i]));
        if says_owner_only && layer.role != LayerRole::Exists {
            values.insert(pattern.relation.clone());
        }
        for &i in &layer.contents {
            let is_role = |value: &&String| builder.world.roles.contains(*value);
            values.extend(pattern.domains[i].iter().filter(|value| !is_role(value)).cloned());
        }
    }
    values
}

/// Returns the values that mean an empty place.
fn blanks(builder: &Builder<'_>, values: &BTreeSet<String>) -> BTreeSet<String> {
    const SURE: [&str; 12] = [
        "blank",
        "empty",
        "nil",
        "none",
        "free",
        "clear",
        "space",
        "nothing",
        "null",
        "vacant",
        "emptycell",
        "unmarked",
    ];
    let Some(start) = builder.world.evidence.plays.first().and_then(|play| play.states.first())
    else {
        return BTreeSet::new();
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut total = 0;
    for fluent in start {
        let Some(flat) = Flat::parse(fluent) else { continue };
        let Some(Use::Layer(layer)) = builder.uses.get(&flat.skeleton) else { continue };
        for &i in &layer.contents {
            *counts.entry(flat.arguments[i].clone()).or_default() += 1;
            total += 1;
        }
    }
    let most = counts.values().copied().max().unwrap_or(0);
    let mut contents: BTreeSet<&String> = BTreeSet::new();
    for (index, layer) in layers(builder) {
        contents.extend(layer.contents.iter().flat_map(|&i| &builder.pattern(index).domains[i]));
    }
    let is_blank = |value: &String| {
        let lower = value.to_lowercase();
        if SURE.contains(&lower.as_str()) {
            return true;
        }
        let count = counts.get(value).copied().unwrap_or(0);
        if !contents.contains(value) {
            return false;
        }
        let is_number = lower == "0";
        // A short name is an empty place only if it is the usual value at the start, or the one
        // value among numbers that is not a number.
        let only_word = values.iter().filter(|v| v.parse::<i64>().is_err()).count() == 1;
        BLANKS.contains(&lower.as_str())
            && ((count == most && count * 3 >= total)
                || (only_word && !is_number && values.len() > 2))
    };
    values.iter().filter(|value| is_blank(value)).cloned().collect()
}

/// Returns the owners that names tell.
fn by_name(
    values: &BTreeSet<String>,
    blanks: &BTreeSet<String>,
    roles: &[String],
) -> BTreeMap<String, usize> {
    let mut owners = BTreeMap::new();
    let lower: Vec<String> = roles.iter().map(|role| role.to_lowercase()).collect();
    let pieces: Vec<&String> = values.iter().filter(|value| !blanks.contains(*value)).collect();
    for value in &pieces {
        let name = value.to_lowercase();
        let whole = lower
            .iter()
            .position(|role| *role == name || (role.len() >= 3 && name.contains(role.as_str())));
        let as_player =
            || lower.iter().position(|role| role.strip_suffix("player") == Some(name.as_str()));
        if let Some(role) = whole.or_else(as_player) {
            owners.insert((*value).clone(), role);
        }
    }
    // First letters count if all roles have different ones and each role has the same pieces.
    let letters: Vec<char> = lower.iter().filter_map(|role| role.chars().next()).collect();
    let different: BTreeSet<&char> = letters.iter().collect();
    if letters.len() >= 2 && different.len() == letters.len() {
        let rest = |letter: char| -> BTreeSet<String> {
            let with = pieces
                .iter()
                .filter_map(|value| value.to_lowercase().strip_prefix(letter).map(str::to_owned));
            with.collect()
        };
        let rests: Vec<BTreeSet<String>> = letters.iter().map(|&letter| rest(letter)).collect();
        // Nature, and roles without pieces, do not count.
        let with: Vec<&BTreeSet<String>> = rests.iter().filter(|set| !set.is_empty()).collect();
        let common: BTreeSet<String> = match with.as_slice() {
            [first, _, ..] => {
                let in_all = |rest: &&String| with.iter().all(|set| set.contains(*rest));
                first.iter().filter(in_all).cloned().collect()
            }
            _ => BTreeSet::new(),
        };
        for value in &pieces {
            let name = value.to_lowercase();
            for (role, &letter) in letters.iter().enumerate() {
                if name.strip_prefix(letter).is_some_and(|rest| common.contains(rest)) {
                    owners.entry((*value).clone()).or_insert(role);
                }
            }
        }
    }
    owners
}

/// Returns the owners that play tells: a role that moves a piece or puts it on the board owns it.
fn by_play(builder: &Builder<'_>, blanks: &BTreeSet<String>) -> BTreeMap<String, usize> {
    const MAX_STEPS: usize = 300;
    let roles = &builder.world.evidence.roles;
    let mut counts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut n_steps = 0;
    for play in &builder.world.evidence.plays {
        let n_steps_known = play.states.len().saturating_sub(1);
        for (index, joint) in play.joints.iter().take(n_steps_known).enumerate() {
            n_steps += 1;
            if n_steps > MAX_STEPS {
                break;
            }
            let after: BTreeSet<&String> = play.states[index + 1].iter().collect();
            let before: BTreeSet<&String> = play.states[index].iter().collect();
            let new: Vec<&String> = after
                .difference(&before)
                .copied()
                .filter(|f| place_of(builder, f).is_some())
                .collect();
            let movers: Vec<usize> = joint
                .iter()
                .enumerate()
                .filter(|(_, text)| Flat::parse(text).is_some_and(|m| !m.arguments.is_empty()))
                .map(|(role, _)| role)
                .collect();
            // With simultaneous moves, only the arguments tell whose piece is new.
            for fluent in new {
                let Some(flat) = Flat::parse(fluent) else { continue };
                let Some(Use::Layer(layer)) = builder.uses.get(&flat.skeleton) else { continue };
                let key: Vec<&String> = layer.key.iter().map(|&i| &flat.arguments[i]).collect();
                let touching: Vec<usize> = movers
                    .iter()
                    .copied()
                    .filter(|&role| {
                        let words = Flat::parse(&joint[role]);
                        movers.len() == 1
                            || words.is_some_and(|m| {
                                m.arguments
                                    .windows(key.len())
                                    .any(|w| w.iter().eq(key.iter().copied()))
                            })
                    })
                    .collect();
                let [role] = touching.as_slice() else { continue };
                let contents = layer.contents.iter().map(|&i| &flat.arguments[i]);
                let mut named: Vec<&String> =
                    contents.filter(|value| !blanks.contains(*value)).collect();
                if layer.contents.is_empty() && layer.role == LayerRole::Main {
                    named.push(&flat.relation);
                }
                for value in named.into_iter().filter(|value| !roles.contains(value)) {
                    let of = counts.entry(value.clone()).or_insert_with(|| vec![0; roles.len()]);
                    of[*role] += 1;
                }
            }
        }
    }
    // One player owns nothing in particular.
    if roles.len() < 2 {
        return BTreeMap::new();
    }
    let sure = counts.into_iter().filter_map(|(value, of)| {
        let total: usize = of.iter().sum();
        let (role, most) = of.into_iter().enumerate().max_by_key(|(_, n)| *n)?;
        (total >= 3 && most * 100 >= total * 97).then_some((value, role))
    });
    let owners: BTreeMap<String, usize> = sure.collect();
    // A thing that only one of several roles can make is no proof: walls belong to nobody. There
    // must be a counterpart of another role.
    let different: BTreeSet<&usize> = owners.values().collect();
    if different.len() >= 2 { owners } else { BTreeMap::new() }
}

/// Returns what is left of a value without the part that names its owner.
fn without_owner(value: &str, role: &str) -> String {
    let (lower, role) = (value.to_lowercase(), role.to_lowercase());
    const MARKS: [&str; 6] = ["x", "o", "cross", "ring", "circle", "nought"];
    if MARKS.contains(&lower.as_str()) {
        return lower;
    }
    let is_letter = lower.len() == 1 && role.starts_with(&lower);
    if lower == role || is_letter || role.strip_suffix("player") == Some(lower.as_str()) {
        // The value says whose piece it is, and nothing else.
        return String::new();
    }
    let rest = if lower.contains(&role) {
        lower.replacen(&role, "", 1)
    } else if lower.chars().next() == role.chars().next() && lower.len() > 1 {
        lower.chars().skip(1).collect()
    } else {
        return value.to_owned();
    };
    rest.trim_matches(['_', '-']).to_owned()
}

/// Pieces may be named by the letter of a colour that is not the name of their role: `wp` of red
/// beside `bp` of black. If what is left of them without that letter are the kinds of the other
/// roles, these are their kinds.
fn like_counterparts(styles: &mut Styles) {
    let roles: BTreeSet<usize> = styles.owners.values().copied().collect();
    let of = |role: usize| {
        styles.owners.iter().filter(move |(_, owner)| **owner == role).map(|(value, _)| value)
    };
    let mut found: Vec<(String, String)> = Vec::new();
    for &role in &roles {
        let others: BTreeSet<&String> = roles
            .iter()
            .filter(|other| **other != role)
            .flat_map(|&other| of(other))
            .filter_map(|value| styles.kinds.get(value).filter(|kind| *kind != value))
            .filter(|kind| !kind.is_empty())
            .collect();
        let rests: Vec<(String, String)> = of(role)
            .map(|value| (value.clone(), value.chars().skip(1).collect::<String>().to_lowercase()))
            .collect();
        let letters: BTreeSet<Option<char>> = of(role).map(|value| value.chars().next()).collect();
        let are_unnamed = of(role).all(|value| styles.kinds.get(value) == Some(value));
        if are_unnamed && letters.len() == 1 && rests.iter().all(|(_, rest)| others.contains(rest))
        {
            found.extend(rests);
        }
    }
    styles.kinds.extend(found);
}

/// Where each role has a single kind of piece, its name says nothing: such pieces are discs, or the
/// mark after which the role is named.
fn one_kind_each(styles: &mut Styles, roles: &[String]) {
    let of = |role: usize| styles.owners.values().filter(|owner| **owner == role).count();
    let counts: Vec<usize> = (0..roles.len()).map(of).collect();
    if counts.iter().any(|n| *n > 1) || counts.iter().filter(|n| **n == 1).count() < 2 {
        return;
    }
    for (value, &role) in &styles.owners {
        let name = roles[role].to_lowercase();
        let mark = name.strip_suffix("player").unwrap_or(&name);
        let is_mark = matches!(mark, "x" | "o" | "cross" | "ring" | "circle");
        let is_letter =
            value.chars().count() == 1 && !matches!(value.as_str(), "x" | "o" | "X" | "O");
        if is_letter || value.eq_ignore_ascii_case(&name) {
            let kind = if is_mark { mark.to_owned() } else { String::new() };
            styles.kinds.insert(value.clone(), kind);
        }
    }
}

/// Returns a short name for each role, different from those of the others.
fn role_texts(roles: &[String]) -> Vec<String> {
    let length = (1..6).find(|&n| {
        let short: BTreeSet<String> =
            roles.iter().map(|role| role.chars().take(n).collect()).collect();
        short.len() == roles.len()
    });
    roles.iter().map(|role| role.chars().take(length.unwrap_or(1)).collect()).collect()
}
