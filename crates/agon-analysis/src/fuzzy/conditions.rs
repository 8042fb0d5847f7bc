//! Conditions and their variables: which variables occur, and which conditions share them.

use std::collections::BTreeSet;

use agon_datalog::TermId;
use agon_gdl::rules::{Condition, RuleTerm};

use crate::theory::Theory;

/// Returns the variables of conditions in the order of their first occurrence.
pub(super) fn variables(conditions: &[Condition]) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for condition in conditions {
        condition.each_variable(&mut |v| {
            if seen.insert(v) {
                found.push(v);
            }
        });
    }
    found
}

/// Returns whether a variable occurs in a condition.
pub(super) fn mentions(condition: &Condition, variable: u32) -> bool {
    let mut found = false;
    condition.each_variable(&mut |v| found |= v == variable);
    found
}

/// Splits conditions into parts that share no variables, ordered by their first conditions.
pub(super) fn components(conditions: &[Condition]) -> Vec<Vec<Condition>> {
    let mut parts: Vec<(BTreeSet<u32>, Vec<usize>)> = Vec::new();
    for (index, condition) in conditions.iter().enumerate() {
        let mut own = BTreeSet::new();
        condition.each_variable(&mut |v| {
            own.insert(v);
        });
        let mut members = vec![index];
        // All parts that share a variable with the condition become one part.
        let (touched, others): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|(variables, _)| !variables.is_disjoint(&own));
        parts = others;
        for (variables, more) in touched {
            own.extend(variables);
            members.extend(more);
        }
        members.sort_unstable();
        parts.push((own, members));
    }
    parts.sort_by_key(|(_, members)| members[0]);
    let pick =
        |members: Vec<usize>| members.into_iter().map(|index| conditions[index].clone()).collect();
    parts.into_iter().map(|(_, members)| pick(members)).collect()
}

/// Returns the arguments of a fluent, `None` for those with variables.
pub(super) fn known_arguments(theory: &Theory, arguments: &[RuleTerm]) -> Vec<Option<TermId>> {
    arguments.iter().map(|argument| theory.ground(argument)).collect()
}
