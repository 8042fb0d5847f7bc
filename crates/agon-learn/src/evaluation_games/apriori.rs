//! The policy of Kaiser & Stafiniak (2010): the best selectors among conjunctions.

use super::construction::{Construction, Finding, GameId, Policy};
use super::examples::Examples;
use super::grow::{Grown, GrowthLimits, grow};
use super::words;

/// Extends conjunctions by a literal and keeps the best selectors, as in the Apriori algorithm. A
/// transaction is a move, and the moves whose mean payoff lies in an interval are to be selected.
/// A formula becomes the condition of a lottery that has the payoffs of the moves that satisfy it.
#[derive(Clone, Debug)]
pub struct Apriori {
    /// Limits of the conjunctions.
    pub limits: GrowthLimits,
    /// Number of intervals of payoffs, each with the same number of moves.
    pub intervals: usize,
    /// Maximum number of formulas of a game. The paper selected only the best.
    pub formulas: usize,
    /// Least number of standard deviations by which a formula selects more moves of the interval
    /// than chance would.
    pub selectivity: f64,
    findings: Vec<Finding>,
}

impl Default for Apriori {
    fn default() -> Apriori {
        Apriori {
            limits: GrowthLimits::default(),
            intervals: 3,
            formulas: 2,
            selectivity: 5.0,
            findings: Vec::new(),
        }
    }
}

impl Apriori {
    /// Returns the best selector of an interval of payoffs.
    fn best(&self, examples: &Examples, among: &[usize]) -> Option<Grown> {
        let value = |at: usize| examples.moves[at].value;
        let mut values: Vec<f64> = among.iter().map(|&at| value(at)).collect();
        values.sort_by(f64::total_cmp);
        let cuts = cuts(&values, self.intervals.max(2));
        let mut best: Option<Grown> = None;
        for interval in 0..=cuts.len() {
            let from = interval.checked_sub(1).map_or(f64::NEG_INFINITY, |at| cuts[at]);
            let to = cuts.get(interval).copied().unwrap_or(f64::INFINITY);
            let is_inside = |at: usize| from <= value(at) && value(at) < to;
            let n_inside = among.iter().filter(|&&at| is_inside(at)).count();
            let base = n_inside as f64 / among.len().max(1) as f64;
            if n_inside == 0 || n_inside == among.len() {
                continue;
            }
            let score = |holds: &[usize], _bits: f64| {
                let n_hits = holds.iter().filter(|&&at| is_inside(at)).count() as f64;
                let n = holds.len() as f64;
                (n_hits - n * base) / (n * base * (1.0 - base)).sqrt()
            };
            let (found, _) = grow(examples, among, &self.limits, &score);
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| found.score > best.score)
            {
                best = Some(found);
            }
        }
        best.filter(|found| found.score >= self.selectivity)
    }
}

impl Policy for Apriori {
    fn construct(&mut self, sets: &mut Construction, examples: &Examples) -> GameId {
        let mut rest: Vec<usize> = (0..examples.len()).collect();
        let mut chosen: Vec<(Grown, GameId)> = Vec::new();
        self.findings.clear();
        for _ in 0..self.formulas {
            let Some(found) = self.best(examples, &rest) else { break };
            let others: Vec<usize> =
                rest.iter().filter(|at| found.holds.binary_search(at).is_err()).copied().collect();
            let mut finding = words::finding(examples, &found, &others);
            let lead = if self.findings.is_empty() { "if" } else { "otherwise, if" };
            finding.words = format!("{lead} {}", finding.words);
            self.findings.push(finding);
            let lottery = sets.lottery(&examples.lottery(&found.holds));
            chosen.push((found, lottery));
            rest = others;
        }
        let otherwise = sets.lottery(&examples.lottery(&rest));
        decision_list(sets, examples, &chosen, otherwise)
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Returns the lower ends of intervals of sorted values, without that of the first interval. Each
/// interval has about the same number of values, and equal values are in the same interval.
fn cuts(values: &[f64], n_intervals: usize) -> Vec<f64> {
    let is_cut = |&at: &usize| values[at - 1] < values[at];
    let places: Vec<usize> = (1..values.len()).filter(is_cut).collect();
    let nearest = |wanted: usize| places.iter().min_by_key(|place| place.abs_diff(wanted));
    let wanted = (1..n_intervals).map(|interval| interval * values.len() / n_intervals);
    let mut cuts: Vec<f64> = wanted.filter_map(nearest).map(|&place| values[place]).collect();
    cuts.dedup();
    cuts
}

/// Composes tests of conjunctions into a game: the first that holds decides.
fn decision_list(
    sets: &mut Construction,
    examples: &Examples,
    chosen: &[(Grown, GameId)],
    otherwise: GameId,
) -> GameId {
    chosen.iter().rev().fold(otherwise, |otherwise, (found, then)| {
        let condition = sets.add_formula(found.conjunction.formula(&examples.view));
        sets.test(condition, *then, otherwise)
    })
}
