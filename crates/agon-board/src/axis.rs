//! An axis of a board.

use std::collections::{BTreeMap, BTreeSet};

/// The coordinates along one side of a board, in order and without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    values: Vec<String>,
}

impl Axis {
    /// Returns the axis that contains these names: numbers, letters, names that end with numbers,
    /// or names in an order that the rules define. Returns `None` if there is no such order.
    pub(crate) fn new(names: &BTreeSet<String>, chains: &[Vec<String>]) -> Option<Axis> {
        if names.len() < 2 || names.len() > MAX_RANGE as usize {
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

    /// Returns whether all coordinates are numbers.
    pub(crate) fn is_numbers(&self) -> bool {
        self.values.iter().all(|value| value.parse::<i64>().is_ok())
    }
}

/// Maximum range of numbers on an axis. Larger numbers are counters, not coordinates.
const MAX_RANGE: i64 = 40;

/// Returns the axis of numbered names: `1 2 3`, or `x1 x2 x3`.
fn numbered(names: &BTreeSet<&str>) -> Option<Vec<String>> {
    let parts = names.iter().map(|name| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = name.split_at(name.len() - digits);
        // `007` is a name, not a number: it would not be written like that again.
        let number = Some(number).filter(|n| n.len() == 1 || !n.starts_with('0'))?;
        Some((prefix, number.parse::<i64>().ok()?))
    });
    let parts: Vec<(&str, i64)> = parts.collect::<Option<_>>()?;
    let prefix = parts[0].0;
    let (low, high) = (parts.iter().map(|p| p.1).min()?, parts.iter().map(|p| p.1).max()?);
    let is_alike = parts.iter().all(|(other, _)| *other == prefix);
    (is_alike && high - low < MAX_RANGE && (high - low) < 3 * i64::try_from(parts.len()).ok()?)
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
    let is_dense = letters.len() >= 3
        && (low.eq_ignore_ascii_case(&b'a') || usize::from(high - low) + 1 == letters.len())
        && usize::from(high - low) < 2 * letters.len();
    let is_alike = low.is_ascii_lowercase() == high.is_ascii_lowercase();
    (is_dense && is_alike)
        .then(|| (low..=high).map(|letter| char::from(letter).to_string()).collect())
}

/// Returns the axis of names that all belong to one chain: the part of the chain from the first to
/// the last of them.
fn chained(names: &BTreeSet<&str>, chains: &[Vec<String>]) -> Option<Vec<String>> {
    if names.len() < 3 {
        return None;
    }
    let chain =
        chains.iter().find(|chain| names.iter().all(|name| chain.iter().any(|c| c == name)))?;
    let is_named = |name: &String| names.contains(name.as_str());
    let (from, to) = (chain.iter().position(is_named)?, chain.iter().rposition(is_named)?);
    (to - from < MAX_RANGE as usize).then(|| chain[from..=to].to_vec())
}

/// Returns the names that a set of pairs puts in a line, as in `(succ a b) (succ b c)`. Returns
/// `None` if the pairs branch. A cycle is cut where it was started.
pub(crate) fn chain(pairs: &[(String, String)]) -> Option<Vec<String>> {
    let after: BTreeMap<&str, &str> = pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let targets: BTreeSet<&str> = pairs.iter().map(|(_, b)| b.as_str()).collect();
    if after.len() != pairs.len() || targets.len() != pairs.len() || pairs.len() < 2 {
        return None;
    }
    let start = pairs.iter().map(|(a, _)| a.as_str()).find(|a| !targets.contains(a));
    let mut names = vec![start.unwrap_or(pairs[0].0.as_str())];
    while let Some(next) = after.get(names.last()?) {
        if *next == names[0] {
            break;
        }
        names.push(next);
    }
    let n_names = pairs.len() + usize::from(start.is_some());
    (names.len() == n_names).then(|| names.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &str) -> BTreeSet<String> {
        names.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn orders_numbers_letters_and_chains() {
        let values = |names: &str| Axis::new(&set(names), &[]).map(|axis| axis.values.join(" "));
        assert_eq!(values("1 2 10 9 8 3 4 5 6 7").as_deref(), Some("1 2 3 4 5 6 7 8 9 10"));
        assert_eq!(values("x1 x3").as_deref(), Some("x1 x2 x3"));
        assert_eq!(values("a b d").as_deref(), Some("a b c d"));
        assert_eq!(values("x o"), None);
        assert_eq!(values("1 500"), None);
        let pairs = [("low", "mid"), ("mid", "high")];
        let pairs = pairs.map(|(a, b)| (a.to_owned(), b.to_owned()));
        let line = chain(&pairs).expect("the pairs are a line");
        let axis = Axis::new(&set("high low mid"), &[line]).expect("the chain orders them");
        assert_eq!(axis.values(), ["low", "mid", "high"]);
        assert_eq!(axis.index("high"), Some(2));
    }

    #[test]
    fn branches_are_not_chains_and_cycles_are_cut() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(chain(&[pair("a", "b"), pair("a", "c")]), None);
        let cycle = chain(&[pair("a", "b"), pair("b", "c"), pair("c", "a")]);
        assert_eq!(cycle.map(|names| names.join("")).as_deref(), Some("abc"));
    }
}
