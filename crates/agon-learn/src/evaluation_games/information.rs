//! A policy by information gain, with a significance test and minimum description length.

use super::construction::{Construction, Finding, GameId, Policy};
use super::examples::{Example, Examples};
use super::grow::{Grown, GrowthLimits, grow};
use super::words;

/// Chooses the conjunction that tells the most about payoffs among moves from the same state, so
/// that it says which move is good instead of which state is. A formula must save more bits than
/// its description takes, and its gain must be significant for the number of formulas tried.
#[derive(Clone, Debug)]
pub struct Information {
    /// Limits of the conjunctions.
    pub limits: GrowthLimits,
    /// Maximum number of formulas of a game.
    pub formulas: usize,
    /// Probability of an accidental formula, over all formulas that are tried.
    pub significance: f64,
    findings: Vec<Finding>,
}

impl Default for Information {
    fn default() -> Information {
        Information {
            limits: GrowthLimits::default(),
            formulas: 6,
            significance: 0.01,
            findings: Vec::new(),
        }
    }
}

impl Information {
    fn best(&self, examples: &Examples, among: &[usize]) -> Option<Grown> {
        let strata = Strata::new(examples, among);
        let score = |holds: &[usize], bits: f64| {
            // The lottery of the formula has a parameter (Rissanen 1978).
            let parameter = 0.5 * libm::log2(holds.len() as f64);
            strata.gain(examples, holds) - bits - parameter
        };
        let (found, n_tried) = grow(examples, among, &self.limits, &score);
        let found = found?;
        // Twice the gain in nats has a chi-squared distribution if the formula says nothing. Its
        // tail is bounded as in Laurent & Massart (2000), for all formulas together.
        let statistic = 2.0 * std::f64::consts::LN_2 * strata.gain(examples, &found.holds);
        let tail = libm::log(n_tried.max(1) as f64 / self.significance);
        let bound = 1.0 + 2.0 * tail.sqrt() + 2.0 * tail;
        (found.score > 0.0 && statistic > bound).then_some(found)
    }
}

/// A part of the moves, for which a game is constructed.
struct Part<'a> {
    moves: &'a [usize],
    /// The word that leads to the part: "if", or "otherwise, if".
    lead: &'static str,
    /// What its moves have in common, in words.
    context: String,
    /// The lottery of the part, if nothing more is found.
    lottery: Vec<(Vec<f64>, f64)>,
}

impl Information {
    /// Constructs a game for a part of the moves: a test with a game for each side, or a lottery.
    fn split(&mut self, sets: &mut Construction, examples: &Examples, part: &Part<'_>) -> GameId {
        let is_full = self.findings.len() >= self.formulas;
        let found = if is_full { None } else { self.best(examples, part.moves) };
        let Some(mut found) = found else { return sets.lottery(&part.lottery) };
        let holds = std::mem::take(&mut found.holds);
        let others: Vec<usize> =
            part.moves.iter().filter(|at| holds.binary_search(at).is_err()).copied().collect();
        // States in which all moves are alike would mix the worth of states with that of moves.
        let mixed = mixed_states(examples, part.moves, &holds);
        let compared = |moves: &[usize]| -> Vec<usize> {
            let is_mixed = |at: &&usize| mixed[examples.moves[**at].siblings];
            moves.iter().filter(is_mixed).copied().collect()
        };
        let other = compared(&others);
        found.holds = compared(&holds);
        let mut finding = words::finding(examples, &found, &other);
        let context = format!("{}{}", part.context, finding.words);
        finding.words = format!("{} {context}", part.lead);
        self.findings.push(finding);
        let condition = sets.add_formula(found.conjunction.formula(&examples.view));
        let then = Part {
            moves: &holds,
            lead: part.lead,
            context: format!("{context}, and "),
            lottery: examples.lottery(&found.holds),
        };
        let otherwise = Part {
            moves: &others,
            lead: "otherwise, if",
            context: part.context.clone(),
            lottery: examples.lottery(&other),
        };
        let then = self.split(sets, examples, &then);
        let otherwise = self.split(sets, examples, &otherwise);
        sets.test(condition, then, otherwise)
    }
}

impl Policy for Information {
    fn construct(&mut self, sets: &mut Construction, examples: &Examples) -> GameId {
        self.findings.clear();
        let all: Vec<usize> = (0..examples.len()).collect();
        let lottery = examples.lottery(&all);
        self.split(
            sets,
            examples,
            &Part { moves: &all, lead: "if", context: String::new(), lottery },
        )
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Returns for each state whether a conjunction holds of some of its moves and not of others.
fn mixed_states(examples: &Examples, among: &[usize], holds: &[usize]) -> Vec<bool> {
    let n_states = examples.moves.iter().map(|example| example.siblings + 1).max().unwrap_or(0);
    let (mut n_all, mut n_true) = (vec![0_usize; n_states], vec![0_usize; n_states]);
    among.iter().for_each(|&at| n_all[examples.moves[at].siblings] += 1);
    holds.iter().for_each(|&at| n_true[examples.moves[at].siblings] += 1);
    n_all.iter().zip(&n_true).map(|(all, holds)| (1..*all).contains(holds)).collect()
}

/// The mean payoffs of moves, state by state.
struct Strata {
    /// By state: the number of its moves, and the mean and variance of their payoffs.
    states: Vec<(f64, f64, f64)>,
}

impl Strata {
    fn new(examples: &Examples, among: &[usize]) -> Strata {
        let n_states = examples.moves.iter().map(|example| example.siblings + 1).max();
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); n_states.unwrap_or(0)];
        for &at in among {
            values[examples.moves[at].siblings].push(examples.moves[at].value);
        }
        let moments = |values: &Vec<f64>| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n.max(1.0);
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            (n, mean, squares / n.max(1.0))
        };
        Strata { states: values.iter().map(moments).collect() }
    }

    /// Returns the information in bits that a conjunction gives about the mean payoffs of moves if
    /// the state before the move is known. It is half of the statistic of Mantel (1963), which
    /// compares moves from the same state with each other and takes the variance from them, so
    /// neither the worth of states nor the number of plays through a move matters.
    fn gain(&self, examples: &Examples, holds: &[usize]) -> f64 {
        let mut n_true = vec![0.0; self.states.len()];
        let mut difference = 0.0;
        for &at in holds {
            let Example { siblings, value, .. } = examples.moves[at];
            n_true[siblings] += 1.0;
            difference += value - self.states[siblings].1;
        }
        let mut variance = 0.0;
        for ((n, _, of_moves), n_true) in self.states.iter().zip(&n_true) {
            if *n > 1.0 {
                variance += n_true * (n - n_true) / (n - 1.0) * of_moves;
            }
        }
        if variance > 0.0 {
            difference * difference / variance / (2.0 * std::f64::consts::LN_2)
        } else {
            0.0
        }
    }
}
