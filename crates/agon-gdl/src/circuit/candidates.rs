//! Groups of fluents of which possibly at most one holds at a time.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::{TermBank, TermId};

/// Fluents with more arguments than this are grouped by all arguments but one, others by every
/// subset of the arguments.
const MANY_ARGUMENTS: usize = 4;

/// Returns the groups worth a proof, as indices into `base`: fluents of one form that agree in some
/// arguments and differ in the others. So `(cell 1 1 x)` is grouped with `(cell 1 1 o)`, because a
/// cell may have one content, and with `(cell 2 1 x)`, because a piece may be at one place.
/// `initial` tells which fluents hold initially; a group contains at most one of them.
pub(super) fn candidates(bank: &TermBank, base: &[TermId], initial: &[bool]) -> Vec<Vec<usize>> {
    let mut forms: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (bit, &fluent) in base.iter().enumerate() {
        forms.entry((bank.symbol(fluent), bank.arity(fluent))).or_default().push(bit);
    }
    let mut found = BTreeSet::new();
    for ((_, arity), bits) in forms {
        for key in keys(arity) {
            let mut groups: BTreeMap<Vec<TermId>, Vec<usize>> = BTreeMap::new();
            for &bit in &bits {
                let arguments = bank.arguments(base[bit]).zip(&key).filter(|(_, in_key)| **in_key);
                groups
                    .entry(arguments.map(|(argument, _)| argument).collect())
                    .or_default()
                    .push(bit);
            }
            let is_worth_a_proof = |group: &Vec<usize>| {
                group.len() > 1 && group.iter().filter(|&&bit| initial[bit]).count() <= 1
            };
            found.extend(groups.into_values().filter(is_worth_a_proof));
        }
    }
    found.into_iter().collect()
}

/// Returns the sets of arguments to group by: every set except that of all arguments.
fn keys(arity: usize) -> Vec<Vec<bool>> {
    if arity > MANY_ARGUMENTS {
        return (0..arity)
            .map(|value| (0..arity).map(|argument| argument != value).collect())
            .collect();
    }
    let all = (1_usize << arity) - 1;
    (0..all).map(|key| (0..arity).map(|argument| key >> argument & 1 == 1).collect()).collect()
}
