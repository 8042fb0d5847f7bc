//! Heuristics of facts and concepts, for positions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use agon_game::{Notation, Role};

use super::concept::Concept;
use super::fact::Facts;
use super::learn::{Endings, Rule, carried, concepts_of, statistical, structured, ternary};

/// What a heuristic is made of.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Frequent sets of facts (004, section 3).
    Statistical,
    /// Concepts of two facts (section 5).
    Concepts,
    /// Concepts of three facts (section 6).
    Ternary,
}

/// How a heuristic is learnt. Plain data.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LearnOptions {
    /// What it is made of.
    pub kind: Kind,
    /// The most facts to a set, 1 to 3.
    pub max_size: usize,
    /// Random plays that each player is to win.
    pub n_wins: usize,
    /// For the random plays.
    pub seed: u64,
}

impl Default for LearnOptions {
    fn default() -> LearnOptions {
        LearnOptions { kind: Kind::Statistical, max_size: 2, n_wins: 1000, seed: 0 }
    }
}

/// The most frequent sets that are kept: the top tenth.
const PART: f64 = 0.1;

/// What positions are worth by the facts that hold in them.
#[derive(Clone, Debug)]
pub struct ConceptJudge {
    facts: Facts,
    /// By role.
    pub rules: Vec<Vec<Rule>>,
    /// By role: the values of all its rules together.
    totals: Vec<f64>,
    /// The concepts behind it, if it is made of any.
    pub concepts: BTreeSet<Concept>,
    /// How many plays were made.
    pub n_plays: u64,
}

impl ConceptJudge {
    /// Learns from random plays that begin where the position stands. Concepts come from the game itself, unless some are given.
    pub fn learn<P: Notation>(
        start: &P,
        options: &LearnOptions,
        given: Option<&BTreeSet<Concept>>,
        deadline: Option<Instant>,
    ) -> ConceptJudge {
        let endings = Endings::play_until(start, options.n_wins, options.seed, deadline);
        let max_size = options.max_size.clamp(1, 3);
        let mut concepts = BTreeSet::new();
        if options.kind != Kind::Statistical {
            concepts = match given {
                Some(given) => carried(given, &endings.facts),
                None => learn_concepts(&endings, max_size),
            };
            if options.kind == Kind::Ternary {
                concepts =
                    ternary(&concepts.into_iter().filter(|concept| concept.n_facts == 2).collect());
            }
        }
        let of_role = |won: &Vec<Vec<u32>>| match options.kind {
            Kind::Statistical => statistical(won, max_size, PART),
            Kind::Concepts | Kind::Ternary => structured(&concepts, won, &endings.facts),
        };
        let rules: Vec<Vec<Rule>> = endings.won.iter().map(of_role).collect();
        let totals = rules.iter().map(|rules| rules.iter().map(|rule| rule.value).sum()).collect();
        ConceptJudge { facts: endings.facts, rules, totals, concepts, n_plays: endings.n_plays }
    }

    /// What a position is worth to a role: the values of the rules that match it, from 0 to 1 for all of them. Who asks about many
    /// positions asks a [`super::ConceptReader`].
    pub fn value<P: Notation>(&self, position: &P, role: Role) -> f64 {
        let mut holds = vec![false; self.facts.len()];
        for text in position.state_text() {
            if let Some(fact) = self.facts.find(&text) {
                holds[fact as usize] = true;
            }
        }
        self.value_where(&holds, role)
    }

    /// The same where these facts hold, by number.
    pub(super) fn value_where(&self, holds: &[bool], role: Role) -> f64 {
        let matching = self.rules[role.index()]
            .iter()
            .filter(|rule| rule.body.iter().all(|&fact| holds[fact as usize]));
        let sum: f64 = matching.map(|rule| rule.value).sum();
        if self.totals[role.index()] > 0.0 { sum / self.totals[role.index()] } else { 0.0 }
    }

    /// The facts that were seen at the ends of plays.
    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The rules of a role, the most valuable first, as text: `evaluation 0.238: (cell 3 1 o) (cell 2 2 o)`.
    pub fn best_rules(&self, role: Role, n: usize) -> Vec<(f64, String)> {
        let mut rules: Vec<&Rule> = self.rules[role.index()].iter().collect();
        rules.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.body.cmp(&b.body)));
        let text = |rule: &Rule| {
            let facts: Vec<String> =
                rule.body.iter().map(|&fact| self.facts.fact(fact).to_string()).collect();
            facts.join(" ")
        };
        rules.into_iter().take(n).map(|rule| (rule.value, text(rule))).collect()
    }
}

/// The concepts in the frequent sets of facts of all roles.
pub fn learn_concepts(endings: &Endings, max_size: usize) -> BTreeSet<Concept> {
    let of_role =
        |won: &Vec<Vec<u32>>| concepts_of(&statistical(won, max_size, PART), &endings.facts);
    endings.won.iter().flat_map(of_role).collect()
}

/// Concepts as a file keeps them: a rule to a line, each with its sentence above it.
pub fn write_concepts(concepts: &BTreeSet<Concept>) -> String {
    let mut text = String::new();
    for concept in concepts {
        text.push_str(&format!("; {}\n{}\n", concept.sentence(), concept.kept()));
    }
    text
}

/// Concepts from the text of a file.
///
/// # Errors
/// The number of the first line that is neither a concept nor a comment nor empty, counted from 1.
pub fn read_concepts(text: &str) -> Result<BTreeSet<Concept>, usize> {
    let mut concepts = BTreeSet::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with(';') {
            concepts.insert(Concept::parse(line).ok_or(at + 1)?);
        }
    }
    Ok(concepts)
}

/// A judge that several share.
pub type SharedJudge = Arc<ConceptJudge>;

/// Concepts that were learnt from tic-tac-toe: 10000 random plays won by each player, sets of up to three facts. The example
/// `learn_concepts` of this crate writes the file.
pub fn concepts_of_tic_tac_toe() -> BTreeSet<Concept> {
    read_concepts(include_str!("tic-tac-toe.concepts")).expect("the file is part of the program")
}
