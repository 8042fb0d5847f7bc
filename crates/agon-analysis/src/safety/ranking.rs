//! Bounds on the length of play by ranking functions.
//!
//! A *ranking function* (Floyd 1967) is a number that every step increases and that cannot grow for
//! ever. Here it is a sum of weights: each fluent that holds adds its weight. In Connect Four the
//! discs are counted, in Breakthrough every pawn adds its row, less what a captured pawn costs.
//!
//! Weights are found from examples and then proved. A perceptron (Rosenblatt 1958) looks for
//! weights that grow by at least one in all example steps. A SAT solver looks for a step that they
//! do not fit, which becomes an example, too. If there is none, that is a proof. Fluents of the
//! same name share weights at first, then those that also agree in one argument, or in two. So
//! weights fit steps that no example has shown, and few examples are needed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

use agon_circuit::{Circuit, Signal};
use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::SafetyLimits;
use super::evaluate::{Evaluator, State};
use crate::properties::{Group, Known};
use crate::prove::{Answer, Literal, ProofLimits, Prover};

/// Maximum number of base bits of a circuit.
const MAX_BITS: usize = 5_000;
/// Maximum number of example steps from random plays, and of steps of one play.
const MAX_EXAMPLES: usize = 3_000;
const MAX_PLAY: usize = 500;
/// Maximum number of steps that refute weights, for each way of sharing weights.
const MAX_ROUNDS: usize = 60;
/// Maximum number of corrections of the perceptron.
const MAX_CORRECTIONS: usize = 50_000;
/// Maximum divisor of proved weights, and maximum number of divided weights that are refuted.
const MAX_DIVISOR: u64 = 1_000;
const MAX_REDUCTIONS: usize = 5;
/// Maximum number of conflicts for one question to the solver.
const MAX_CONFLICTS: u64 = 200_000;
/// Maximum number of arguments by which weights are shared.
const MAX_PLACES: usize = 6;

/// The change that a step makes to the base bits, both lists in ascending order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Change {
    gained: Vec<usize>,
    lost: Vec<usize>,
}

/// Returns a number of steps that no play exceeds, if a ranking function is found and proved.
pub(crate) fn longest_play(
    circuit: &Circuit,
    groups: &[Group],
    limits: &SafetyLimits,
) -> Option<u64> {
    if !circuit.is_exact() || circuit.base.len() > MAX_BITS {
        return None;
    }
    let mut changes = examples(circuit, limits);
    let proof = ProofLimits {
        gates: limits.gates,
        conflicts: MAX_CONFLICTS,
        conflicts_in_all: u64::MAX / 4,
        deadline: limits.deadline,
    };
    let mut verifier = Verifier::new(circuit, groups, &proof)?;
    for sharing in Sharing::all(circuit) {
        let features = Features::new(circuit, &sharing);
        for _ in 0..MAX_ROUNDS {
            let Some(weights) = features.weights(&changes, limits.deadline) else { break };
            match verifier.refute(&weights) {
                Refutation::None => {
                    let weights = smaller(weights, &changes, &mut verifier);
                    return bound(circuit, groups, &weights);
                }
                Refutation::By(change) => {
                    changes.insert(change);
                }
                Refutation::Undecided => return None,
            }
        }
    }
    None
}

/// Returns the changes of the steps of random plays.
fn examples(circuit: &Circuit, limits: &SafetyLimits) -> BTreeSet<Change> {
    let mut rng = Rng::seed_from_u64(limits.seed);
    let mut evaluator = Evaluator::new(circuit);
    let mut changes = BTreeSet::new();
    let mut n_left = MAX_EXAMPLES;
    let is_late = || limits.deadline.is_some_and(|deadline| Instant::now() > deadline);
    for _ in 0..limits.plays {
        let mut state = evaluator.initial();
        for _ in 0..MAX_PLAY {
            evaluator.go_to(&state);
            let legal = evaluator.legal();
            let is_over =
                evaluator.holds(circuit.outputs.terminal) || legal.iter().any(Vec::is_empty);
            if is_over {
                break;
            }
            if n_left == 0 || is_late() {
                return changes;
            }
            n_left -= 1;
            let joint: Vec<usize> =
                legal.iter().map(|moves| moves[rng.random_range(0..moves.len())]).collect();
            evaluator.moves(std::slice::from_ref(&joint));
            let next = evaluator.next(0);
            let holds = |state: &State, bit: usize| state[bit / 64] >> (bit % 64) & 1 == 1;
            changes.insert(Change::new(
                circuit.base.len(),
                |bit| holds(&state, bit),
                |bit| holds(&next, bit),
            ));
            state = next;
        }
    }
    changes
}

impl Change {
    fn new(n_bits: usize, before: impl Fn(usize) -> bool, after: impl Fn(usize) -> bool) -> Change {
        let bits = |wanted: (bool, bool)| {
            (0..n_bits).filter(|&bit| (before(bit), after(bit)) == wanted).collect()
        };
        Change { gained: bits((false, true)), lost: bits((true, false)) }
    }
}

/// Which fluents share weights.
enum Sharing {
    /// Those of a name that agree in the arguments at these places, from 1.
    Places(Vec<usize>),
    /// Weights are sums: of one for the name, and of one for each argument and each pair of them.
    All,
}

impl Sharing {
    /// Returns the ways to try, the simplest first. Simple ways need few examples and give small
    /// weights.
    fn all(circuit: &Circuit) -> Vec<Sharing> {
        let longest = circuit.base.iter().map(|text| words(text).len()).max().unwrap_or(0);
        let n_places = longest.saturating_sub(1).min(MAX_PLACES);
        let mut all = vec![Sharing::Places(Vec::new())];
        all.extend((1..=n_places).map(|place| Sharing::Places(vec![place])));
        for one in 1..=n_places {
            all.extend((one + 1..=n_places).map(|other| Sharing::Places(vec![one, other])));
        }
        all.push(Sharing::All);
        all
    }
}

/// The features of base bits. The weight of a bit is the sum of the weights of its features.
struct Features {
    of_bit: Vec<Vec<usize>>,
    n_features: usize,
}

impl Features {
    /// Returns the features for a way of sharing weights.
    fn new(circuit: &Circuit, sharing: &Sharing) -> Features {
        let mut numbers: BTreeMap<Vec<(usize, &str)>, usize> = BTreeMap::new();
        let mut of_bit = Vec::new();
        for text in &circuit.base {
            let words = words(text);
            // A feature is a name with its number of arguments, and some arguments by place.
            let form = [(words.len(), ""), (0, words.first().copied().unwrap_or_default())];
            let with = |places: &[usize]| -> Vec<(usize, &str)> {
                let arguments =
                    places.iter().filter_map(|&place| Some((place, *words.get(place)?)));
                form.into_iter().chain(arguments).collect()
            };
            let keys: Vec<Vec<(usize, &str)>> = match sharing {
                Sharing::Places(places) => vec![with(places)],
                Sharing::All => {
                    let pairs = (1..words.len())
                        .flat_map(|one| (one..words.len()).map(move |other| [one, other]));
                    pairs.map(|places| with(&places)).chain([with(&[])]).collect()
                }
            };
            let number = |key| {
                let n_known = numbers.len();
                *numbers.entry(key).or_insert(n_known)
            };
            of_bit.push(keys.into_iter().map(number).collect());
        }
        Features { of_bit, n_features: numbers.len() }
    }

    /// Returns weights of bits with which every change adds at least one, or `None` if none were
    /// found.
    fn weights(&self, changes: &BTreeSet<Change>, deadline: Option<Instant>) -> Option<Vec<i64>> {
        let mut vectors: BTreeSet<Vec<(usize, i64)>> = BTreeSet::new();
        for change in changes {
            let mut sums: BTreeMap<usize, i64> = BTreeMap::new();
            for (bits, sign) in [(&change.gained, 1), (&change.lost, -1)] {
                for &feature in bits.iter().flat_map(|&bit| &self.of_bit[bit]) {
                    *sums.entry(feature).or_default() += sign;
                }
            }
            sums.retain(|_, sum| *sum != 0);
            if sums.is_empty() {
                return None;
            }
            vectors.insert(sums.into_iter().collect());
        }
        let mut weights = vec![0_i64; self.n_features];
        let mut n_left = MAX_CORRECTIONS;
        loop {
            let mut is_changed = false;
            for vector in &vectors {
                let sum: i64 = vector.iter().map(|&(feature, n)| n * weights[feature]).sum();
                if sum < 1 {
                    vector.iter().for_each(|&(feature, n)| weights[feature] += n);
                    is_changed = true;
                    n_left -= 1;
                    if n_left == 0 {
                        return None;
                    }
                }
            }
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return None;
            }
            if !is_changed {
                let weight = |features: &Vec<usize>| features.iter().map(|&f| weights[f]).sum();
                return Some(self.of_bit.iter().map(weight).collect());
            }
        }
    }
}

/// Returns smaller weights that are proved too, if there are some: they give a better bound. The
/// perceptron adds up corrections, so its weights have a common scale that is not needed.
fn smaller(
    mut weights: Vec<i64>,
    changes: &BTreeSet<Change>,
    verifier: &mut Verifier<'_>,
) -> Vec<i64> {
    let mut n_left = MAX_REDUCTIONS;
    let largest = weights.iter().map(|weight| weight.unsigned_abs()).max().unwrap_or(0);
    for divisor in (2..=largest.min(MAX_DIVISOR)).rev() {
        let divided: Vec<i64> = weights
            .iter()
            .map(|&weight| {
                let size = (weight.unsigned_abs() + divisor / 2) / divisor;
                weight.signum() * i64::try_from(size).expect("it is smaller than the weight")
            })
            .collect();
        let fits = |change: &Change| {
            let sum = |bits: &[usize]| bits.iter().map(|&bit| divided[bit]).sum::<i64>();
            sum(&change.gained) > sum(&change.lost)
        };
        if !changes.iter().all(fits) {
            continue;
        }
        if let Refutation::None = verifier.refute(&divided) {
            weights = divided;
            break;
        }
        n_left -= 1;
        if n_left == 0 {
            break;
        }
    }
    weights
}

/// Returns the name of a fluent and its arguments, each as it is written.
fn words(text: &str) -> Vec<&str> {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
    let (mut words, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => {
                words.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(&inner[start..]);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns by how much the weights can grow from the start.
fn bound(circuit: &Circuit, groups: &[Group], weights: &[i64]) -> Option<u64> {
    let at_start: i64 =
        weights.iter().zip(&circuit.initial).filter(|(_, holds)| **holds).map(|(w, _)| w).sum();
    let mut is_counted = vec![false; weights.len()];
    let mut most = 0;
    for group in groups.iter().filter(|group| group.at_most_one.is_proved()) {
        let free = group.fluents.iter().all(|&bit| !is_counted[bit]);
        let Some(largest) = group.fluents.iter().map(|&bit| weights[bit]).max() else { continue };
        if free {
            group.fluents.iter().for_each(|&bit| is_counted[bit] = true);
            let is_some = group.exactly_one.is_some_and(Known::is_proved);
            most += if is_some { largest } else { largest.max(0) };
        }
    }
    let others = weights.iter().zip(&is_counted).filter(|(_, is_counted)| !**is_counted);
    most += others.map(|(weight, _)| (*weight).max(0)).sum::<i64>();
    u64::try_from(most - at_start).ok()
}

/// Whether some step does not increase the weights.
enum Refutation {
    /// No step. This is a proof.
    None,
    /// A step with this change, possibly from a state that no play reaches.
    By(Change),
    Undecided,
}

/// The clauses of a step, with a literal for each bit that the step makes true or false.
struct Verifier<'a> {
    circuit: &'a Circuit,
    prover: Prover<'a>,
    gained: Vec<Literal>,
    lost: Vec<Literal>,
}

impl<'a> Verifier<'a> {
    fn new(circuit: &'a Circuit, groups: &[Group], limits: &ProofLimits) -> Option<Verifier<'a>> {
        let mut prover = Prover::new(circuit, limits)?;
        for group in groups {
            if group.at_most_one.is_proved() {
                prover.add_lemma_at_most_one(&group.fluents);
            }
            if group.exactly_one.is_some_and(Known::is_proved) {
                prover.add_lemma_some(&group.fluents);
            }
        }
        let bits = 0..circuit.base.len();
        let both = |prover: &mut Prover<'_>, a: Literal, b: Literal| {
            let both = prover.fresh();
            prover.clause(&[!both, a]);
            prover.clause(&[!both, b]);
            prover.clause(&[both, !a, !b]);
            both
        };
        let mut change = |bit: usize| {
            let (now, next) = (prover.base(bit), prover.next(bit));
            (both(&mut prover, !now, next), both(&mut prover, now, !next))
        };
        let (gained, lost) = bits.map(&mut change).unzip();
        Some(Verifier { circuit, prover, gained, lost })
    }

    /// Looks for a step whose gains are at most its losses.
    fn refute(&mut self, weights: &[i64]) -> Refutation {
        let (mut gains, mut losses) = (Vec::new(), Vec::new());
        for (bit, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0) {
            let (more, less) = (self.gained[bit], self.lost[bit]);
            let (up, down) = if weight > 0 { (more, less) } else { (less, more) };
            gains.push((up, weight.unsigned_abs()));
            losses.push((down, weight.unsigned_abs()));
        }
        let (gains, losses) = (self.sum(&gains), self.sum(&losses));
        let is_at_most = self.at_most(&gains, &losses);
        let step = self.prover.step();
        match self.prover.ask(&[step, is_at_most]) {
            Answer::Impossible => Refutation::None,
            Answer::Undecided => Refutation::Undecided,
            Answer::Possible => Refutation::By(Change::new(
                self.circuit.base.len(),
                |bit| self.prover.value(self.prover.base(bit)),
                |bit| self.prover.value(self.prover.next(bit)),
            )),
        }
    }

    /// Returns the sum of the weights of the true literals as a binary number, lowest bit first.
    fn sum(&mut self, terms: &[(Literal, u64)]) -> Vec<Literal> {
        let mut columns: Vec<VecDeque<Literal>> = vec![VecDeque::new(); 65];
        for &(literal, weight) in terms {
            for (place, column) in columns.iter_mut().enumerate().take(64) {
                if weight >> place & 1 == 1 {
                    column.push_back(literal);
                }
            }
        }
        let mut sum = Vec::new();
        let nothing = self.prover.now(Signal::FALSE);
        for place in 0..columns.len() - 1 {
            while columns[place].len() > 1 {
                let column = &mut columns[place];
                let a = column.pop_front().expect("there are two");
                let b = column.pop_front().expect("there are two");
                let c = column.pop_front().unwrap_or(nothing);
                let (low, carry) = self.add(a, b, c);
                columns[place].push_back(low);
                columns[place + 1].push_back(carry);
            }
            sum.push(columns[place].pop_front().unwrap_or(nothing));
        }
        let n_used = sum.iter().rposition(|&bit| bit != nothing).map_or(0, |last| last + 1);
        sum.truncate(n_used);
        sum
    }

    /// Adds three bits. Returns the low bit and the carry.
    fn add(&mut self, a: Literal, b: Literal, c: Literal) -> (Literal, Literal) {
        let (low, carry) = (self.prover.fresh(), self.prover.fresh());
        for signs in 0..8_u32 {
            let of = |literal: Literal, place: u32| match signs >> place & 1 {
                1 => !literal,
                _ => literal,
            };
            // The clause is about the case in which the inputs are as the signs say.
            let (x, y, z) = (of(a, 0), of(b, 1), of(c, 2));
            let low = if signs.count_ones() % 2 == 1 { low } else { !low };
            self.prover.clause(&[x, y, z, low]);
        }
        for (x, y) in [(a, b), (a, c), (b, c)] {
            self.prover.clause(&[!x, !y, carry]);
            self.prover.clause(&[x, y, !carry]);
        }
        (low, carry)
    }

    /// Returns a literal that is true only if the first number is at most the second.
    fn at_most(&mut self, first: &[Literal], second: &[Literal]) -> Literal {
        let nothing = self.prover.now(Signal::FALSE);
        let mut so_far = !nothing;
        for place in 0..first.len().max(second.len()) {
            let a = first.get(place).copied().unwrap_or(nothing);
            let b = second.get(place).copied().unwrap_or(nothing);
            let with = self.prover.fresh();
            // The higher bit decides, unless both are equal.
            self.prover.clause(&[!with, !a, b]);
            self.prover.clause(&[!with, so_far, b]);
            self.prover.clause(&[!with, so_far, !a]);
            so_far = with;
        }
        so_far
    }
}
