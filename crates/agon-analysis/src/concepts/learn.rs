//! From random plays to heuristics, from heuristics to concepts, and back: algorithms 1 to 4 of
//! Sato & Cazenave 2016.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use agon_game::{Notation, Rng, Role};
use rand::SeedableRng as _;

use super::concept::{Column, Concept};
use super::fact::{Facts, Orders};

/// The terminal positions of random plays, by the role that won.
#[derive(Clone, Debug, Default)]
pub struct Endings {
    /// The facts that hold in these positions.
    pub(super) facts: Facts,
    /// By role and play that it won: the facts that held at the end, in ascending order.
    pub(super) won: Vec<Vec<Vec<u32>>>,
    /// The number of plays, won by a role or not.
    pub(super) n_plays: u64,
    /// Whether playing stopped at the deadline.
    pub(super) is_late: bool,
}

/// Maximum number of plays for each requested win. Plays without a winner are repeated.
const MAX_TRIES: u64 = 30;
/// Maximum number of steps of a play.
const MAX_STEPS: usize = 1000;
/// Maximum number of facts of a position. The number of subsets grows with its cube.
const MAX_FACTS: usize = 150;
/// Maximum number of different subsets that are counted.
const MAX_SUBSETS: usize = 2_000_000;

/// Options of [`Endings::play`].
#[derive(Clone, Debug, Default)]
pub struct EndingOptions {
    /// The number of plays that each role has to win.
    pub n_wins: usize,
    /// The seed of the random moves.
    pub seed: u64,
    /// Time at which playing stops.
    pub deadline: Option<Instant>,
    /// The order of symbols other than numbers.
    pub orders: Orders,
}

impl Endings {
    /// Plays at random until each role has won `n_wins` plays, but only a limited number of plays.
    /// Facts that hold at the start and at every end, such as walls, are left out.
    pub fn play<P: Notation>(start: &P, options: &EndingOptions) -> Endings {
        let &EndingOptions { n_wins, seed, deadline, .. } = options;
        let mut rng = Rng::seed_from_u64(seed);
        let mut position = start.clone();
        let players: Vec<Role> = start.shape().players().collect();
        let mut endings = Endings {
            facts: Facts::with_orders(options.orders.clone()),
            won: vec![Vec::new(); start.shape().role_names.len()],
            ..Endings::default()
        };
        let mut constant: BTreeSet<String> = start.state_text().into_iter().collect();
        for _ in 0..MAX_TRIES * n_wins as u64 {
            if players.iter().all(|player| endings.won[player.index()].len() >= n_wins) {
                break;
            }
            if is_over(deadline) {
                endings.is_late = true;
                break;
            }
            position.go_to(start.state());
            position.play_out(&mut rng, MAX_STEPS);
            endings.n_plays += 1;
            let texts: BTreeSet<String> = position.state_text().into_iter().collect();
            constant.retain(|fact| texts.contains(fact));
            if let Some(winner) = winner(&position, &players)
                && endings.won[winner.index()].len() < n_wins
            {
                let texts = position.state_text();
                let mut held: Vec<u32> =
                    texts.iter().map(|text| endings.facts.number(text)).collect();
                held.sort_unstable();
                endings.won[winner.index()].push(held);
            }
        }
        let constant: BTreeSet<u32> =
            constant.iter().filter_map(|fact| endings.facts.find(fact)).collect();
        for held in endings.won.iter_mut().flatten() {
            held.retain(|fact| !constant.contains(fact));
            held.truncate(MAX_FACTS);
        }
        endings
    }
}

/// Returns the role that alone has the highest payoff at a terminal position. A single player wins
/// if it reaches the highest possible payoff.
fn winner<P: Notation>(position: &P, players: &[Role]) -> Option<Role> {
    if !position.is_terminal() {
        return None;
    }
    let payoffs: Vec<f64> = players.iter().map(|&player| position.payoff(player)).collect();
    let best = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut winners = players.iter().zip(&payoffs).filter(|(_, payoff)| **payoff == best);
    let is_won = players.len() > 1 || best >= *position.shape().payoffs.end();
    match (winners.next(), winners.next()) {
        (Some((&winner, _)), None) if is_won => Some(winner),
        _ => None,
    }
}

/// A rule of a heuristic: a set of facts and the value that it adds to a position in which all of
/// them hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WeightedFacts {
    /// The numbers of the facts, in ascending order.
    pub(super) body: Vec<u32>,
    /// The value that the facts add.
    pub(super) value: f64,
    /// The number of won plays at whose end the facts held.
    pub(super) n_plays: u64,
}

/// Returns the most frequent sets of up to `max_size` facts with their frequencies (algorithm 1).
/// `share` is the share of all sets that is returned.
pub(super) fn frequent_sets(
    positions: &[Vec<u32>],
    max_size: usize,
    share: f64,
) -> Vec<WeightedFacts> {
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
    // The most frequent sets first. Ties are broken by the facts, so that the choice is
    // deterministic.
    rules.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let n = (rules.len() as f64 * share).ceil() as usize;
    rules.truncate(n);
    let n_positions = positions.len().max(1) as f64;
    rules
        .into_iter()
        .map(|(count, body)| WeightedFacts {
            body,
            value: count as f64 / n_positions,
            n_plays: count,
        })
        .collect()
}

/// Calls `visit` with every subset of 1 to `max_size` numbers, at most 3.
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

/// Returns the concepts of all pairs of facts in rules (algorithm 2).
pub(super) fn pair_concepts(rules: &[WeightedFacts], facts: &Facts) -> BTreeSet<Concept> {
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

/// Returns whether a deadline has passed.
fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}

/// Returns the concepts of three facts that are made of two concepts of two facts with a shared
/// fact (algorithm 4). Their number grows with the square of that of the given ones. Returns `None`
/// if the time does not suffice.
pub(super) fn joined_concepts(
    concepts: &BTreeSet<Concept>,
    deadline: Option<Instant>,
) -> Option<BTreeSet<Concept>> {
    let mut joined = BTreeSet::new();
    for a in concepts {
        if is_over(deadline) {
            return None;
        }
        for b in concepts {
            for own in 0..2 {
                for others in 0..2 {
                    joined.extend(a.joined(own, b, others));
                }
            }
        }
    }
    Some(joined)
}

/// Rebuilds a heuristic from concepts (algorithm 3). Returns every set of facts that is an instance
/// of a concept, with its frequency among all sets of the same sizes. Positions are left out once
/// the time is over.
pub(super) fn concept_instances(
    concepts: &BTreeSet<Concept>,
    positions: &[Vec<u32>],
    facts: &Facts,
    deadline: Option<Instant>,
) -> Vec<WeightedFacts> {
    let has = |n: usize| concepts.iter().any(|concept| concept.n_facts == n);
    let mut counts: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    let mut n_sets = 0_u64;
    // A set is an instance or not, independent of the position. The answers are cached.
    let mut is_instance: BTreeMap<Vec<u32>, bool> = BTreeMap::new();
    let max_size = if has(3) { 3 } else { 2 };
    for position in positions {
        if is_over(deadline) {
            break;
        }
        subsets(position, max_size, &mut |subset| {
            if subset.len() < 2 || !has(subset.len()) {
                return;
            }
            n_sets += 1;
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
    let n = n_sets.max(1) as f64;
    counts
        .into_iter()
        .map(|(body, count)| WeightedFacts { body, value: count as f64 / n, n_plays: count })
        .collect()
}

/// Transfers concepts to a game with other facts. A concept whose name the game does not have gets
/// every name of facts that have numbers and symbols in the same arguments.
pub(super) fn transferred(concepts: &BTreeSet<Concept>, facts: &Facts) -> BTreeSet<Concept> {
    // By name and number of arguments: which arguments are numbers in all facts.
    let mut forms: BTreeMap<(&str, usize), Vec<bool>> = BTreeMap::new();
    for number in 0..facts.len() {
        let fact = facts.fact(number as u32);
        let are_numbers = fact.ranks.iter().map(Option::is_some);
        let form = forms.entry((fact.name.as_str(), fact.arguments.len()));
        let form = form.or_insert_with(|| vec![true; fact.arguments.len()]);
        form.iter_mut().zip(are_numbers).for_each(|(all, is_number)| *all &= is_number);
    }
    let mut transferred = BTreeSet::new();
    for concept in concepts {
        if forms.contains_key(&(concept.name.as_str(), concept.columns.len())) {
            transferred.insert(concept.clone());
            continue;
        }
        for ((name, _), form) in
            forms.iter().filter(|((_, arity), _)| *arity == concept.columns.len())
        {
            let fits = |(column, &is_number): (&Column, &bool)| {
                matches!(column, Column::Offsets(_)) == is_number
            };
            if concept.columns.iter().zip(form).all(fits) {
                transferred.insert(Concept { name: (*name).to_owned(), ..concept.clone() });
            }
        }
    }
    transferred
}
