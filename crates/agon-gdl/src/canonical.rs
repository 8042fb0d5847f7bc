//! Canonical labels: a key of rules that does not depend on names and order.
//!
//! Rules that differ only in the names of constants, relations, functions and variables, in the
//! order of rules, or in the order of conditions have the same key. So a game is recognised when a
//! host sends it with scrambled names. The labels of names say which names of two such rulesheets
//! correspond.
//!
//! Names get colours, which are refined by the colours of the rules in which they occur until no
//! more names are told apart (Weisfeiler & Leman 1968). Where several names have the same colour,
//! one of them is singled out and the colours are refined again. Of the names that could be
//! singled out, those count whose refined colours have the smallest sum; usually a symmetry of the
//! rules maps them onto each other, so that it does not matter which one is taken. If it does
//! matter, the same rules with other names may have another key. Equal keys of rules with different
//! meanings would need a collision of 128-bit hashes, or rules that refinement cannot tell apart
//! although every name in them has a colour of its own.
//!
//! Keywords keep their meaning, and so do numbers that are goal values.

mod graph;

use std::collections::BTreeMap;

use crate::check::CheckedRules;
use graph::Graph;

/// Maximum number of steps for finding labels, which take about a second.
const MAX_STEPS: u64 = 40_000_000;

/// A key of rules and a label for each of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// The key. Rules that differ only in names and order have the same one.
    pub key: u128,
    /// By name, in its first spelling: the label. Corresponding names of such rules have the same
    /// one.
    pub labels: BTreeMap<String, u32>,
}

/// Finds canonical labels of the names in rules. Returns `None` if that takes too many steps.
///
/// ```
/// use std::sync::Arc;
/// use agon_gdl::{canonical::canonical, check::check};
/// use agon_text::Source;
///
/// let labels = |text: &str| {
///     let rules = check(Arc::new(Source::new("light.kif", text))).rules.expect("they are sound");
///     canonical(&rules).expect("the rules are small")
/// };
/// let one = labels("(role robot) (init (light off)) (legal robot switch)
///     (<= (next (light on)) (does robot switch)) (<= terminal (true (light on)))
///     (<= (goal robot 100) (true (light on))) (<= (goal robot 0) (true (light off)))");
/// let two = labels("(<= terminal (true (a b))) (<= (goal c 100) (true (a b)))
///     (<= (next (a b)) (does c d)) (<= (goal c 0) (true (a e)))
///     (init (a e)) (legal c d) (role c)");
/// assert_eq!(one.key, two.key);
/// assert_eq!(one.labels["light"], two.labels["a"]);
/// ```
pub fn canonical(rules: &CheckedRules) -> Option<Canonical> {
    let graph = Graph::new(rules);
    let mut left = MAX_STEPS;
    let colours = graph.distinct_colours(&mut left)?;
    let mut order: Vec<usize> = (0..graph.n_names()).collect();
    order.sort_unstable_by_key(|&name| colours[name]);
    let labels = (0..).zip(order).map(|(label, name)| (graph.names[name].clone(), label));
    Some(Canonical { key: graph.key(&colours), labels: labels.collect() })
}

/// Returns a key of a text, for rules without canonical labels.
pub fn key_of_text(text: &str) -> u128 {
    text.bytes().fold(graph::mix(0, text.len() as u128), |key, byte| graph::mix(key, byte.into()))
}

#[cfg(test)]
mod tests;
