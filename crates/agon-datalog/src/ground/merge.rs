//! Merging of rules that differ in one condition.
//!
//! Each `(or a b)` in a rule has become two rules before this stage, so a rule with three of them
//! has become eight. Grounding each rule would repeat the common conditions. Here the differing
//! conditions become a relation of their own, so that the common part occurs once.

use std::collections::BTreeMap;

use super::MAX_REWRITTEN;
use crate::program::{Atom, Goal, Pattern, PredicateId, Program, Rule};

/// Merges the rules of each relation. The rows of existing relations stay the same.
pub fn merge(program: &mut Program) {
    // Equal sets of merged conditions share one relation. So a rule with several alternatives
    // becomes one rule in the end.
    let mut merged = BTreeMap::new();
    for predicate in 0..program.predicates.len() {
        while let Some(group) = largest_group(program, predicate) {
            merge_group(program, predicate, &group, &mut merged);
        }
    }
}

/// Rules that are equal except for the condition at one position.
struct Group {
    rules: Vec<u32>,
    place: usize,
    /// Variables that the condition shares with the rest. They are the same in all rules.
    shared: Vec<u32>,
}

fn largest_group(program: &Program, predicate: usize) -> Option<Group> {
    let rules = &program.predicates[predicate].rules;
    if rules.len() < 2 {
        return None;
    }
    let mut alike: BTreeMap<String, Group> = BTreeMap::new();
    for &index in rules {
        let rule = &program.rules[index as usize];
        if rule.body.len() > MAX_REWRITTEN {
            continue;
        }
        let conditions: Vec<String> = rule.body.iter().map(|goal| format!("{goal:?}")).collect();
        for place in
            (0..rule.body.len()).filter(|&place| matches!(rule.body[place], Goal::Holds(_)))
        {
            let shared = shared(rule, place);
            let (before, after) = (&conditions[..place], &conditions[place + 1..]);
            let key = format!("{:?} {before:?} {after:?} {shared:?}", rule.head);
            let group =
                alike.entry(key).or_insert_with(|| Group { rules: Vec::new(), place, shared });
            group.rules.push(index);
        }
    }
    // The first of equal candidates, so that the result depends only on the rules.
    alike.into_values().filter(|group| group.rules.len() > 1).min_by_key(|group| {
        (std::cmp::Reverse(group.rules.len()), group.rules.clone(), group.place)
    })
}

/// Returns the variables that a condition shares with the head and the other conditions.
fn shared(rule: &Rule, place: usize) -> Vec<u32> {
    let n = rule.n_variables as usize;
    let (mut inside, mut outside) = (vec![false; n], vec![false; n]);
    rule.head.each_variable(&mut |v| outside[v as usize] = true);
    for (other, goal) in rule.body.iter().enumerate() {
        let side = if other == place { &mut inside } else { &mut outside };
        goal.each_variable(&mut |v| side[v as usize] = true);
    }
    (0..rule.n_variables).filter(|&v| inside[v as usize] && outside[v as usize]).collect()
}

fn merge_group(
    program: &mut Program,
    predicate: usize,
    group: &Group,
    merged: &mut BTreeMap<String, PredicateId>,
) {
    let arguments: Vec<Pattern> = group.shared.iter().map(|&v| Pattern::Variable(v)).collect();
    let conditions =
        group.rules.iter().map(|&rule| &program.rules[rule as usize].body[group.place]);
    let key = format!("{:?} {:?}", group.shared, conditions.collect::<Vec<_>>());
    let either = match merged.get(&key) {
        Some(&known) => known,
        None => {
            let either = program.derived(arguments.len());
            for &rule in &group.rules {
                let rule = &program.rules[rule as usize];
                let way = Rule {
                    head: Atom { predicate: either, arguments: arguments.clone() },
                    body: vec![rule.body[group.place].clone()],
                    n_variables: rule.n_variables,
                    origin: rule.origin,
                };
                program.rule(way);
            }
            merged.insert(key, either);
            either
        }
    };
    let first = group.rules[0];
    program.rules[first as usize].body[group.place] =
        Goal::Holds(Atom { predicate: either, arguments });
    program.predicates[predicate]
        .rules
        .retain(|rule| *rule == first || !group.rules.contains(rule));
}
