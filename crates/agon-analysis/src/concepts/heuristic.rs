//! Heuristics made of sets of facts, and the concepts behind them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Instant;

use agon_game::{Notation, Role};

use super::concept::Concept;
use super::fact::{Fact, Facts, Orders};
use super::learn::{
    EndingOptions, Endings, WeightedFacts, concept_instances, frequent_sets, joined_concepts,
    pair_concepts, transferred,
};

/// The kind of rules that a heuristic consists of (Sato & Cazenave 2016).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeuristicKind {
    /// Frequent sets of facts (section 3 of the paper).
    Statistical,
    /// Concepts of two facts (section 5).
    Concepts,
    /// Concepts of three facts (section 6).
    Ternary,
}

/// Options of learning a heuristic.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LearnOptions {
    /// The kind of rules.
    pub kind: HeuristicKind,
    /// Maximum number of facts in a set, 1 to 3.
    pub max_size: usize,
    /// The number of random plays that each role has to win.
    pub n_wins: usize,
    /// The seed of the random plays.
    pub seed: u64,
}

impl Default for LearnOptions {
    fn default() -> LearnOptions {
        LearnOptions { kind: HeuristicKind::Statistical, max_size: 2, n_wins: 1000, seed: 0 }
    }
}

/// Share of the sets of facts that are kept: the most frequent tenth.
const SHARE: f64 = 0.1;

/// A heuristic that values positions by the sets of facts that hold in them.
#[derive(Clone, Debug)]
pub struct ConceptHeuristic {
    facts: Facts,
    /// By role: the sets of facts and their values.
    pub(super) rules: Vec<Vec<WeightedFacts>>,
    /// By role: the sum of the values of all its rules.
    totals: Vec<f64>,
    /// The concepts that the rules are instances of. Empty for a statistical heuristic.
    pub concepts: BTreeSet<Concept>,
    /// The number of random plays.
    pub n_plays: u64,
    /// By role: the number of these plays that it won and that were learned from.
    pub n_won: Vec<usize>,
    /// Whether learning stopped because the time ran out.
    pub is_late: bool,
}

impl ConceptHeuristic {
    /// Learns a heuristic from random plays that start at a position. Concepts are learned from the
    /// same plays, unless `given` holds concepts of another game. The plays end at the deadline.
    pub fn learn<P: Notation>(
        start: &P,
        options: &LearnOptions,
        given: Option<&BTreeSet<Concept>>,
        deadline: Option<Instant>,
    ) -> ConceptHeuristic {
        ConceptHeuristic::learn_ordered(start, options, given, deadline, &Orders::new())
    }

    /// Learns a heuristic like [`ConceptHeuristic::learn`]. Symbols in `orders` count as
    /// coordinates, like numbers.
    pub fn learn_ordered<P: Notation>(
        start: &P,
        options: &LearnOptions,
        given: Option<&BTreeSet<Concept>>,
        deadline: Option<Instant>,
        orders: &Orders,
    ) -> ConceptHeuristic {
        let LearnOptions { n_wins, seed, .. } = *options;
        let orders = orders.clone();
        // As much time as for the plays is left for the work after them.
        let late =
            deadline.and_then(|at| at.checked_add(at.saturating_duration_since(Instant::now())));
        let mut endings = Endings::play(start, &EndingOptions { n_wins, seed, deadline, orders });
        let max_size = options.max_size.clamp(1, 3);
        let mut concepts = BTreeSet::new();
        if options.kind != HeuristicKind::Statistical {
            concepts = match given {
                Some(given) => transferred(given, &endings.facts),
                None => learn_concepts(&endings, max_size),
            };
            if options.kind == HeuristicKind::Ternary {
                let pairs = concepts.into_iter().filter(|concept| concept.n_facts == 2).collect();
                let joined = joined_concepts(&pairs, late);
                endings.is_late |= joined.is_none();
                concepts = joined.unwrap_or_default();
            }
        }
        let of_role = |won: &Vec<Vec<u32>>| match options.kind {
            HeuristicKind::Statistical => frequent_sets(won, max_size, SHARE),
            HeuristicKind::Concepts | HeuristicKind::Ternary => {
                concept_instances(&concepts, won, &endings.facts, late)
            }
        };
        let rules: Vec<Vec<WeightedFacts>> = endings.won.iter().map(of_role).collect();
        let totals = rules.iter().map(|rules| rules.iter().map(|rule| rule.value).sum()).collect();
        ConceptHeuristic {
            n_won: endings.won.iter().map(Vec::len).collect(),
            facts: endings.facts,
            rules,
            totals,
            concepts,
            n_plays: endings.n_plays,
            is_late: endings.is_late,
        }
    }

    /// Returns the `n` concepts that occur most often, each with the number of its occurrences at
    /// the ends of won plays.
    pub fn best_concepts(&self, n: usize) -> Vec<(u64, &Concept)> {
        let mut counts: BTreeMap<&Concept, u64> = BTreeMap::new();
        for rule in self.rules.iter().flatten() {
            let instance: Vec<&Fact> =
                rule.body.iter().map(|&fact| self.facts.fact(fact)).collect();
            let concept = Concept::of(&instance);
            if let Some(concept) = concept.and_then(|concept| self.concepts.get(&concept)) {
                *counts.entry(concept).or_default() += rule.n_plays;
            }
        }
        let mut best: Vec<(u64, &Concept)> = counts.into_iter().map(|(c, n)| (n, c)).collect();
        best.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        best.truncate(n);
        best
    }

    /// Returns the texts of known facts with a name.
    pub(crate) fn facts_named(&self, name: &str) -> Vec<String> {
        let facts = (0..self.facts.len()).map(|fact| self.facts.fact(fact as u32));
        facts.filter(|fact| fact.name == name).map(ToString::to_string).collect()
    }

    /// Returns the order of symbols that count as numbers.
    pub(crate) fn orders(&self) -> &Orders {
        self.facts.orders()
    }

    /// Returns the `n` rules of a role that held at the ends of most plays, each with the number of
    /// these plays and its facts as text.
    pub fn most_frequent(&self, role: Role, n: usize) -> Vec<(u64, Vec<String>)> {
        let mut rules: Vec<&WeightedFacts> = self.rules[role.index()].iter().collect();
        rules.sort_by(|a, b| b.n_plays.cmp(&a.n_plays).then_with(|| a.body.cmp(&b.body)));
        let texts = |rule: &WeightedFacts| {
            rule.body.iter().map(|&fact| self.facts.fact(fact).to_string()).collect()
        };
        rules.into_iter().take(n).map(|rule| (rule.n_plays, texts(rule))).collect()
    }

    /// Returns the number of roles that have at least one rule.
    pub fn n_roles_with_rules(&self) -> usize {
        self.rules.iter().filter(|rules| !rules.is_empty()).count()
    }

    /// Returns the value of a position for a role: the share of the rules that match it, weighted
    /// by their values, from 0 to 1. For many positions a [`super::ConceptEvaluator`] is faster.
    pub fn value<P: Notation>(&self, position: &P, role: Role) -> f64 {
        let mut holds = vec![false; self.facts.len()];
        for text in position.state_text() {
            if let Some(fact) = self.facts.find(&text) {
                holds[fact as usize] = true;
            }
        }
        self.value_where(&holds, role)
    }

    /// Returns the value of a position for a role. `holds` says by number which facts hold.
    pub(super) fn value_where(&self, holds: &[bool], role: Role) -> f64 {
        let matching = self.rules[role.index()]
            .iter()
            .filter(|rule| rule.body.iter().all(|&fact| holds[fact as usize]));
        let sum: f64 = matching.map(|rule| rule.value).sum();
        if self.totals[role.index()] > 0.0 { sum / self.totals[role.index()] } else { 0.0 }
    }

    /// Returns the facts that held at the ends of plays.
    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the `n` rules of a role with the highest values, each with its facts as text:
    /// `(0.238, "(cell 3 1 o) (cell 2 2 o)")`.
    pub fn best_rules(&self, role: Role, n: usize) -> Vec<(f64, String)> {
        let mut rules: Vec<&WeightedFacts> = self.rules[role.index()].iter().collect();
        rules.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.body.cmp(&b.body)));
        let text = |rule: &WeightedFacts| {
            let facts: Vec<String> =
                rule.body.iter().map(|&fact| self.facts.fact(fact).to_string()).collect();
            facts.join(" ")
        };
        rules.into_iter().take(n).map(|rule| (rule.value, text(rule))).collect()
    }
}

/// Returns the concepts in the frequent sets of facts of all roles.
pub fn learn_concepts(endings: &Endings, max_size: usize) -> BTreeSet<Concept> {
    let of_role =
        |won: &Vec<Vec<u32>>| pair_concepts(&frequent_sets(won, max_size, SHARE), &endings.facts);
    endings.won.iter().flat_map(of_role).collect()
}

/// Writes concepts in the format of concept files: each as a rule on one line, below its
/// description.
pub fn write_concepts(concepts: &BTreeSet<Concept>) -> String {
    let mut text = String::new();
    for concept in concepts {
        text.push_str(&format!("; {}\n{}\n", concept.sentence(), concept.file_rule()));
    }
    text
}

/// A line of a concept file that is neither a concept, nor a comment, nor empty.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ConceptParseError {
    /// The number of the line, counted from 1.
    pub line: usize,
}

impl fmt::Display for ConceptParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is not a concept", self.line)
    }
}

impl std::error::Error for ConceptParseError {}

/// Reads concepts from the text of a concept file.
///
/// # Errors
/// [`ConceptParseError`] for the first line that is neither a concept, nor a comment, nor empty.
pub fn read_concepts(text: &str) -> Result<BTreeSet<Concept>, ConceptParseError> {
    let mut concepts = BTreeSet::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with(';') {
            concepts.insert(Concept::parse(line).ok_or(ConceptParseError { line: at + 1 })?);
        }
    }
    Ok(concepts)
}

/// Returns concepts learned from tic-tac-toe: 10000 random plays won by each role, sets of up to
/// three facts. The example `learn_concepts` of this crate writes the file.
pub(crate) fn concepts_of_tic_tac_toe() -> BTreeSet<Concept> {
    read_concepts(include_str!("tic-tac-toe.concepts")).expect("the shipped concept file is valid")
}
