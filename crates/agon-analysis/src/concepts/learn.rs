//! From random plays to heuristics, from heuristics to concepts, and back (004, algorithms 1 to 4).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use agon_game::{Notation, Rng, Role};
use rand::SeedableRng as _;

use super::concept::{Column, Concept};
use super::fact::Facts;

/// Positions in which random plays ended, by who won.
#[derive(Clone, Debug, Default)]
pub struct Endings {
    /// The facts they are made of.
    pub facts: Facts,
    /// By role, and play that it won: the facts that held at the end, ascending.
    pub won: Vec<Vec<Vec<u32>>>,
    /// How many plays were made.
    pub n_plays: u64,
}

/// Plays in which nobody wins are tried again, but not for ever: so many for each win that is wanted.
const MAX_TRIES: u64 = 30;
/// A play is given up after so many steps.
const MAX_STEPS: usize = 1000;
/// Facts of a position beyond this are left out of subsets: their number grows with the cube.
const MAX_FACTS: usize = 150;
/// Different subsets that are counted at most.
const MAX_SUBSETS: usize = 2_000_000;

impl Endings {
    /// Plays at random until each player has won so many plays, or has had its chance.
    pub fn play<P: Notation>(start: &P, n_wins: usize, seed: u64) -> Endings {
        Endings::play_until(start, n_wins, seed, None)
    }

    /// The same, and no longer than until then.
    pub fn play_until<P: Notation>(
        start: &P,
        n_wins: usize,
        seed: u64,
        deadline: Option<Instant>,
    ) -> Endings {
        let mut rng = Rng::seed_from_u64(seed);
        let mut position = start.clone();
        let players: Vec<Role> = start.shape().players().collect();
        let mut endings =
            Endings { won: vec![Vec::new(); start.shape().role_names.len()], ..Endings::default() };
        for _ in 0..MAX_TRIES * n_wins as u64 {
            if players.iter().all(|player| endings.won[player.index()].len() >= n_wins) {
                break;
            }
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                break;
            }
            position.go_to(start.state());
            position.play_out(&mut rng, MAX_STEPS);
            endings.n_plays += 1;
            if !position.is_terminal() {
                continue;
            }
            let payoffs: Vec<f64> = players.iter().map(|&player| position.payoff(player)).collect();
            let best = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut winners = players.iter().zip(&payoffs).filter(|(_, payoff)| **payoff == best);
            // One alone has won if it got all there is to get.
            let is_won = players.len() > 1 || best >= *position.shape().payoffs.end();
            if let (Some((winner, _)), None, true) = (winners.next(), winners.next(), is_won) {
                let won = &mut endings.won[winner.index()];
                if won.len() < n_wins {
                    let texts = position.state_text();
                    let mut held: Vec<u32> =
                        texts.iter().map(|text| endings.facts.number(text)).collect();
                    held.sort_unstable();
                    held.truncate(MAX_FACTS);
                    won.push(held);
                }
            }
        }
        endings
    }
}

/// A rule of a heuristic: where all these facts hold, the position is worth so much more.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Facts by number, ascending.
    pub body: Vec<u32>,
    /// The value.
    pub value: f64,
}

/// The most frequent sets of up to `max_size` facts, the given part of all of them, with their frequencies (004, algorithm 1).
pub fn statistical(positions: &[Vec<u32>], max_size: usize, part: f64) -> Vec<Rule> {
    let mut counts: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for position in positions {
        subsets(position, max_size, &mut |subset| {
            if let Some(count) = counts.get_mut(subset) {
                *count += 1;
            } else if counts.len() < MAX_SUBSETS {
                counts.insert(subset.to_vec(), 1);
            }
        });
    }
    let mut rules: Vec<(u64, Vec<u32>)> =
        counts.into_iter().map(|(body, count)| (count, body)).collect();
    // Frequent ones first; equals by their facts, so that the choice is always the same.
    rules.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let n = (rules.len() as f64 * part).ceil() as usize;
    rules.truncate(n);
    let n_positions = positions.len().max(1) as f64;
    rules
        .into_iter()
        .map(|(count, body)| Rule { body, value: count as f64 / n_positions })
        .collect()
}

/// Calls with every set of 1 to `max_size` (at most 3) of the numbers.
fn subsets(numbers: &[u32], max_size: usize, visit: &mut dyn FnMut(&[u32])) {
    for (a, &first) in numbers.iter().enumerate() {
        visit(&[first]);
        if max_size < 2 {
            continue;
        }
        for (b, &second) in numbers.iter().enumerate().skip(a + 1) {
            visit(&[first, second]);
            if max_size >= 3 {
                for &third in &numbers[b + 1..] {
                    visit(&[first, second, third]);
                }
            }
        }
    }
}

/// The concepts of all pairs of facts in the bodies of rules (004, algorithm 2).
pub fn concepts_of(rules: &[Rule], facts: &Facts) -> BTreeSet<Concept> {
    let mut concepts = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for rule in rules {
        for (at, &first) in rule.body.iter().enumerate() {
            for &second in &rule.body[at + 1..] {
                if seen.insert((first, second)) {
                    concepts.extend(Concept::of(&[facts.fact(first), facts.fact(second)]));
                }
            }
        }
    }
    concepts
}

/// Concepts of three facts from concepts of two that share one (004, algorithm 4).
pub fn ternary(concepts: &BTreeSet<Concept>) -> BTreeSet<Concept> {
    let mut joined = BTreeSet::new();
    for a in concepts {
        for b in concepts {
            for own in 0..2 {
                for others in 0..2 {
                    joined.extend(a.joined(own, b, others));
                }
            }
        }
    }
    joined
}

/// A heuristic rebuilt from concepts: every set of facts that is an instance of one, with how often it was found among the sets that
/// were looked at (004, algorithm 3).
pub fn structured(
    concepts: &BTreeSet<Concept>,
    positions: &[Vec<u32>],
    facts: &Facts,
) -> Vec<Rule> {
    let has = |n: usize| concepts.iter().any(|concept| concept.n_facts == n);
    let mut counts: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    let mut n_looked_at = 0_u64;
    // Whether a set is an instance is the same wherever it is found.
    let mut is_instance: BTreeMap<Vec<u32>, bool> = BTreeMap::new();
    let max_size = if has(3) { 3 } else { 2 };
    for position in positions {
        subsets(position, max_size, &mut |subset| {
            if subset.len() < 2 || !has(subset.len()) {
                return;
            }
            n_looked_at += 1;
            let is_one = match is_instance.get(subset) {
                Some(&known) => known,
                None => {
                    let instance: Vec<_> = subset.iter().map(|&fact| facts.fact(fact)).collect();
                    let is_one =
                        Concept::of(&instance).is_some_and(|concept| concepts.contains(&concept));
                    if is_instance.len() < MAX_SUBSETS {
                        is_instance.insert(subset.to_vec(), is_one);
                    }
                    is_one
                }
            };
            if is_one {
                *counts.entry(subset.to_vec()).or_default() += 1;
            }
        });
    }
    let n = n_looked_at.max(1) as f64;
    counts.into_iter().map(|(body, count)| Rule { body, value: count as f64 / n }).collect()
}

/// Concepts for a game that may call its facts by other names: those of a name that the game does not have are tried with all
/// names of facts that have numbers and symbols in the same places.
pub fn carried(concepts: &BTreeSet<Concept>, facts: &Facts) -> BTreeSet<Concept> {
    // By name: in which places its facts have numbers throughout.
    let mut forms: BTreeMap<(&str, usize), Vec<bool>> = BTreeMap::new();
    for number in 0..facts.len() {
        let fact = facts.fact(number as u32);
        let are_numbers =
            fact.arguments.iter().map(|argument| super::concept::number(argument).is_some());
        let form = forms.entry((fact.name.as_str(), fact.arguments.len()));
        let form = form.or_insert_with(|| vec![true; fact.arguments.len()]);
        form.iter_mut().zip(are_numbers).for_each(|(all, is_number)| *all &= is_number);
    }
    let mut carried = BTreeSet::new();
    for concept in concepts {
        if forms.contains_key(&(concept.name.as_str(), concept.columns.len())) {
            carried.insert(concept.clone());
            continue;
        }
        for ((name, _), form) in
            forms.iter().filter(|((_, arity), _)| *arity == concept.columns.len())
        {
            let fits = |(column, &is_number): (&Column, &bool)| {
                matches!(column, Column::Offsets(_)) == is_number
            };
            if concept.columns.iter().zip(form).all(fits) {
                carried.insert(Concept { name: (*name).to_owned(), ..concept.clone() });
            }
        }
    }
    carried
}
