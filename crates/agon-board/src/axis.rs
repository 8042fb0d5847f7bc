//! An axis of a board.

use std::collections::BTreeSet;

/// The coordinates along one side of a board, in order and without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    values: Vec<String>,
}

impl Axis {
    /// Returns the axis that contains these names: numbers, letters, names that end with numbers,
    /// or names in an order that the rules define. Returns `None` if there is no such order.
    pub(crate) fn new(names: &BTreeSet<String>, chains: &[Vec<String>]) -> Option<Axis> {
        if names.len() < 2 {
            return None;
        }
        let names: &BTreeSet<&str> = &names.iter().map(String::as_str).collect();
        let values =
            numbered(names).or_else(|| lettered(names)).or_else(|| chained(names, chains))?;
        Some(Axis { values })
    }

    pub(crate) fn values(&self) -> &[String] {
        &self.values
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the position of a coordinate.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.values.iter().position(|value| value == name)
    }

    /// Returns whether all coordinates are single letters.
    pub(crate) fn is_letters(&self) -> bool {
        self.values
            .iter()
            .all(|value| value.len() == 1 && value.as_bytes()[0].is_ascii_alphabetic())
    }
}

/// Maximum range of numbers on an axis. Larger numbers are counters, not coordinates.
const MAX_RANGE: i64 = 60;

/// Returns the axis of numbered names: `1 2 3`, or `x1 x2 x3`.
fn numbered(names: &BTreeSet<&str>) -> Option<Vec<String>> {
    let parts = names.iter().map(|name| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = name.split_at(name.len() - digits);
        Some((prefix, number.parse::<i64>().ok()?))
    });
    let parts: Vec<(&str, i64)> = parts.collect::<Option<_>>()?;
    let prefix = parts[0].0;
    let (low, high) = (parts.iter().map(|p| p.1).min()?, parts.iter().map(|p| p.1).max()?);
    let is_alike = parts.iter().all(|(other, _)| *other == prefix);
    (is_alike && high - low < MAX_RANGE)
        .then(|| (low..=high).map(|n| format!("{prefix}{n}")).collect())
}

/// Returns the axis of letters: `a b c`. There must be at least three, because two letters are more
/// often the names of the players.
fn lettered(names: &BTreeSet<&str>) -> Option<Vec<String>> {
    let letters = names.iter().map(|name| match name.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    });
    let letters: Vec<u8> = letters.collect::<Option<_>>()?;
    let (low, high) = (*letters.first()?, *letters.last()?);
    let is_dense = letters.len() >= 3 && usize::from(high - low) < 2 * letters.len();
    let is_alike = low.is_ascii_lowercase() == high.is_ascii_lowercase();
    (is_dense && is_alike)
        .then(|| (low..=high).map(|letter| char::from(letter).to_string()).collect())
}

/// Returns the axis of names that all belong to one chain: the part of the chain from the first to
/// the last of them.
fn chained(names: &BTreeSet<&str>, chains: &[Vec<String>]) -> Option<Vec<String>> {
    let chain =
        chains.iter().find(|chain| names.iter().all(|name| chain.iter().any(|c| c == name)))?;
    let is_named = |name: &String| names.contains(name.as_str());
    let (from, to) = (chain.iter().position(is_named)?, chain.iter().rposition(is_named)?);
    Some(chain[from..=to].to_vec())
}
