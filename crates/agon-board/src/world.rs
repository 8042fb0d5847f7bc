//! The fluents of sampled play, grouped by the shape of their terms.

use std::collections::{BTreeMap, BTreeSet};

use agon_game::kif::tokens;

use crate::axis::{Axis, chain};
use crate::evidence::Evidence;
use crate::fluent::Flat;

/// Maximum number of states that tests of keys look at.
const MAX_STATES: usize = 160;

/// The fluents of one shape.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) skeleton: String,
    pub(crate) relation: String,
    pub(crate) arity: usize,
    /// By argument: the values in all states, and in all fluents that can hold.
    pub(crate) domains: Vec<BTreeSet<String>>,
    /// By argument: the axis of the values, if they are ordered and are not the roles.
    pub(crate) axes: Vec<Option<Axis>>,
    /// The arguments of the fluents, by state.
    pub(crate) states: Vec<Vec<Vec<String>>>,
    /// All tuples of arguments that were seen or can hold.
    pub(crate) tuples: BTreeSet<Vec<String>>,
    /// By argument: the names of variables in the rules, lower case.
    pub(crate) names: Vec<BTreeSet<String>>,
}

/// Everything that inference looks at.
#[derive(Debug)]
pub(crate) struct World<'e> {
    pub(crate) evidence: &'e Evidence,
    pub(crate) roles: BTreeSet<String>,
    pub(crate) patterns: Vec<Pattern>,
    /// Names in an order that the rules define.
    pub(crate) chains: Vec<Vec<String>>,
    /// The static facts, by relation.
    pub(crate) facts: BTreeMap<String, Vec<Vec<String>>>,
    /// Moves that were seen or are possible.
    pub(crate) moves: Vec<Flat>,
}

impl<'e> World<'e> {
    pub(crate) fn new(evidence: &'e Evidence) -> World<'e> {
        let roles: BTreeSet<String> = evidence.roles.iter().cloned().collect();
        let mut facts: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for fact in evidence.facts.iter().filter_map(|fact| Flat::parse(fact)) {
            facts.entry(fact.relation).or_default().push(fact.arguments);
        }
        let chains: Vec<Vec<String>> = facts.values().filter_map(|rows| chain_of(rows)).collect();
        let seen = evidence.plays.iter().flat_map(|play| play.joints.iter().flatten());
        let moves: BTreeSet<&String> = seen.chain(&evidence.moves).collect();
        let moves = moves.into_iter().take(MAX_MOVES).filter_map(|m| Flat::parse(m)).collect();
        let mut world = World { evidence, roles, patterns: Vec::new(), chains, facts, moves };
        world.patterns = world.find_patterns();
        world
    }

    fn find_patterns(&self) -> Vec<Pattern> {
        let mut parsed: BTreeMap<&str, Flat> = BTreeMap::new();
        let states: Vec<&Vec<String>> =
            self.evidence.plays.iter().flat_map(|play| &play.states).collect();
        let known = states.iter().flat_map(|state| state.iter());
        for text in known.chain(&self.evidence.fluents) {
            if !parsed.contains_key(text.as_str())
                && let Some(flat) = Flat::parse(text)
            {
                parsed.insert(text, flat);
            }
        }
        let mut tuples: BTreeMap<&str, BTreeSet<Vec<String>>> = BTreeMap::new();
        for flat in parsed.values() {
            tuples.entry(&flat.skeleton).or_default().insert(flat.arguments.clone());
        }
        // All states count for the values; a part of them is enough for tests of keys.
        let stride = states.len().div_ceil(MAX_STATES).max(1);
        let sampled: Vec<&&Vec<String>> = states.iter().step_by(stride).collect();
        let mut by_state: BTreeMap<&str, Vec<Vec<Vec<String>>>> = BTreeMap::new();
        for (index, state) in sampled.iter().enumerate() {
            for flat in state.iter().filter_map(|text| parsed.get(text.as_str())) {
                let rows = by_state.entry(&flat.skeleton).or_default();
                rows.resize(index + 1, Vec::new());
                rows[index].push(flat.arguments.clone());
            }
        }
        let variables = variable_names(&self.evidence.rules);
        let mut patterns = Vec::new();
        for (skeleton, tuples) in tuples {
            let Some(flat) = parsed.values().find(|flat| flat.skeleton == skeleton) else {
                continue;
            };
            let arity = flat.arguments.len();
            let domain = |i: usize| tuples.iter().map(|tuple| tuple[i].clone()).collect();
            let domains: Vec<BTreeSet<String>> = (0..arity).map(domain).collect();
            let mut states = by_state.remove(skeleton).unwrap_or_default();
            states.resize(sampled.len(), Vec::new());
            patterns.push(Pattern {
                skeleton: skeleton.to_owned(),
                relation: flat.relation.clone(),
                arity,
                axes: domains.iter().map(|domain| self.axis(domain)).collect(),
                domains,
                states,
                names: variables
                    .get(&skeleton.to_lowercase())
                    .cloned()
                    .unwrap_or(vec![BTreeSet::new(); arity]),
                tuples,
            });
        }
        patterns
    }

    /// Returns the axis of some names, unless they are the names of roles.
    pub(crate) fn axis(&self, names: &BTreeSet<String>) -> Option<Axis> {
        let are_roles = !names.is_empty() && names.iter().all(|name| self.roles.contains(name));
        if are_roles { None } else { Axis::new(names, &self.chains) }
    }

    /// Returns whether all values of an argument are roles.
    pub(crate) fn is_role(&self, domain: &BTreeSet<String>) -> bool {
        !domain.is_empty() && domain.iter().all(|name| self.roles.contains(name))
    }
}

/// Maximum number of moves that inference looks at.
const MAX_MOVES: usize = 20_000;

impl Pattern {
    /// Returns whether these arguments identify a fluent of the pattern in every state.
    pub(crate) fn is_key(&self, arguments: &[usize]) -> bool {
        self.states.iter().all(|rows| {
            let mut seen = BTreeSet::new();
            rows.iter()
                .all(|row| seen.insert(arguments.iter().map(|&i| &row[i]).collect::<Vec<_>>()))
        })
    }

    /// Returns the largest number of fluents of the pattern in a state.
    pub(crate) fn max_rows(&self) -> usize {
        self.states.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Returns the smallest number of fluents of the pattern in a state.
    pub(crate) fn min_rows(&self) -> usize {
        self.states.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Returns whether every state gives exactly one fluent to each value of the argument, so
    /// that the pattern is a table of values rather than a set of places.
    pub(crate) fn is_table(&self, argument: usize) -> bool {
        let n_values = self.domains[argument].len();
        let full = self.states.iter().filter(|rows| rows.len() == n_values).count();
        full * 10 >= self.states.len() * 9 && self.is_key(&[argument])
    }

    /// Returns the values of an argument in the sampled states.
    pub(crate) fn seen(&self, argument: usize) -> BTreeSet<String> {
        self.states.iter().flatten().map(|row| row[argument].clone()).collect()
    }

    /// Returns the different values of some arguments together.
    pub(crate) fn projected(&self, arguments: &[usize]) -> BTreeSet<Vec<&str>> {
        self.tuples
            .iter()
            .map(|tuple| arguments.iter().map(|&i| tuple[i].as_str()).collect())
            .collect()
    }

    /// Returns the arguments that are not among `used`.
    pub(crate) fn others(&self, used: &[usize]) -> Vec<usize> {
        (0..self.arity).filter(|i| !used.contains(i)).collect()
    }

    /// Returns whether some variable at an argument has one of these names, or a name that starts
    /// with one of them and goes on with a digit or the name of a part.
    pub(crate) fn is_named(&self, argument: usize, names: &[&str]) -> bool {
        self.names[argument].iter().any(|variable| {
            names.iter().any(|name| {
                variable.strip_prefix(name).is_some_and(|rest| {
                    rest.is_empty()
                        || name.len() >= 3
                        || rest.bytes().all(|b| b.is_ascii_digit())
                        || matches!(rest, "new" | "old" | "pos" | "coord")
                })
            })
        })
    }
}

/// Returns the chain that the rows of a static relation form: pairs, or pairs with a constant
/// third argument.
fn chain_of(rows: &[Vec<String>]) -> Option<Vec<String>> {
    let pairs: Option<Vec<(String, String)>> = rows
        .iter()
        .map(|row| match row.as_slice() {
            [a, b] if a != b => Some((a.clone(), b.clone())),
            _ => None,
        })
        .collect();
    chain(&pairs?)
}

/// Returns by skeleton of a fluent: for each argument the names of variables that the rules have
/// there, in lower case.
fn variable_names(rules: &str) -> BTreeMap<String, Vec<BTreeSet<String>>> {
    const AROUND: [&str; 4] = ["true", "init", "next", "base"];
    let tokens: Vec<&str> = tokens(rules).collect();
    let mut found: BTreeMap<String, Vec<BTreeSet<String>>> = BTreeMap::new();
    for start in 0..tokens.len().saturating_sub(2) {
        let is_fluent = tokens[start] == "("
            && AROUND.iter().any(|name| tokens[start + 1].eq_ignore_ascii_case(name))
            && tokens[start + 2] == "(";
        if !is_fluent {
            continue;
        }
        let mut depth = 0;
        let inside = tokens[start + 2..].iter().take_while(|token| {
            match **token {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            depth > 0
        });
        let text = format!("{} )", inside.copied().collect::<Vec<_>>().join(" "));
        let Some(flat) = Flat::parse(&text) else { continue };
        let sets = found
            .entry(flat.skeleton.to_lowercase())
            .or_insert_with(|| vec![BTreeSet::new(); flat.arguments.len()]);
        for (set, argument) in sets.iter_mut().zip(flat.arguments) {
            if let Some(name) = argument.strip_prefix('?') {
                set.insert(name.to_lowercase());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_name_the_arguments() {
        let rules = "(<= (next (cell ?Row ?col x)) (true (cell ?m ?n b)) (does x (mark ?m ?n)))";
        let names = variable_names(rules);
        let cell = &names["(cell _ _ _)"];
        assert_eq!(cell[0].iter().map(String::as_str).collect::<Vec<_>>(), ["m", "row"]);
        assert!(cell[2].is_empty());
    }
}
