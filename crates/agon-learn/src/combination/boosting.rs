//! Boosting of thresholds (Freund & Schapire 1995, with the confidences of Schapire & Singer 1999).
//!
//! Each round weights the examples by how badly they are predicted so far, and adds the threshold
//! on one feature that separates wins from losses best under these weights. A result between a loss
//! and a win counts as a part of both.

use super::{Examples, Scales};

/// Thresholds on features, whose sum is the logarithm of the odds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Boosted {
    scales: Scales,
    stumps: Vec<Stump>,
}

/// A threshold on one feature.
#[derive(Clone, Debug, PartialEq)]
struct Stump {
    feature: usize,
    threshold: f64,
    /// What is added to the logarithm of the odds up to the threshold, and above it.
    added: [f64; 2],
}

/// Number of rounds.
const N_ROUNDS: usize = 100;
/// Number of thresholds that are tried for each feature, which divide its values evenly.
const N_THRESHOLDS: usize = 16;
/// The part of a step that is made, so that one example does not decide.
const RATE: f64 = 0.3;

impl Boosted {
    pub(super) fn fit(examples: &Examples<'_>) -> Boosted {
        let scales = Scales::of(examples);
        let thresholds: Vec<Vec<f64>> =
            (0..scales.0.len()).map(|feature| thresholds(examples, feature)).collect();
        // By feature and example: the number of thresholds below the value.
        let bins: Vec<Vec<u8>> = thresholds
            .iter()
            .enumerate()
            .map(|(feature, thresholds)| {
                let bin = |row: &&[f64]| thresholds.partition_point(|&t| t < row[feature]) as u8;
                examples.rows.iter().map(bin).collect()
            })
            .collect();
        let mut model = Boosted { scales, stumps: Vec::new() };
        let mut sums = vec![0.0; examples.rows.len()];
        let n = examples.rows.len().max(1) as f64;
        for _ in 0..N_ROUNDS {
            // The weights of AdaBoost with half of the logarithm of the odds as the prediction.
            let weights: Vec<[f64; 2]> = examples
                .results
                .iter()
                .zip(&sums)
                .map(|(result, sum)| {
                    [(1.0 - result) * libm::exp(sum / 2.0), result * libm::exp(-sum / 2.0)]
                })
                .collect();
            let total: f64 = weights.iter().flatten().sum();
            // Smoothing: a side without losses is not certain.
            let least = total / n;
            let mut best: Option<(f64, Stump, usize)> = None;
            for (feature, bins) in bins.iter().enumerate() {
                let mut by_bin = [[0.0; 2]; N_THRESHOLDS + 1];
                for (&bin, weight) in bins.iter().zip(&weights) {
                    let sum = &mut by_bin[usize::from(bin)];
                    *sum = [sum[0] + weight[0], sum[1] + weight[1]];
                }
                let all = by_bin.iter().fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
                let mut below = [0.0; 2];
                for (at, &threshold) in thresholds[feature].iter().enumerate() {
                    below = [below[0] + by_bin[at][0], below[1] + by_bin[at][1]];
                    let above = [all[0] - below[0], all[1] - below[1]];
                    let sides = [below, above].map(|side| side.map(|x: f64| x.max(0.0) + least));
                    let loss: f64 = sides.iter().map(|side| 2.0 * (side[0] * side[1]).sqrt()).sum();
                    if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                        let added = sides.map(|side| RATE * libm::log(side[1] / side[0]));
                        best = Some((loss, Stump { feature, threshold, added }, at));
                    }
                }
            }
            let Some((_, stump, at)) = best else { break };
            for (sum, &bin) in sums.iter_mut().zip(&bins[stump.feature]) {
                *sum += stump.added[usize::from(usize::from(bin) > at)];
            }
            model.stumps.push(stump);
        }
        model
    }

    /// Returns the logarithm of the odds.
    pub(super) fn sum(&self, features: &[f64]) -> f64 {
        let added = |stump: &Stump| {
            let is_above = features[stump.feature] > stump.threshold;
            stump.added[usize::from(is_above)]
        };
        self.stumps.iter().map(added).sum()
    }

    /// Returns how much the logarithm of the odds rises from one standard deviation below the mean
    /// of a feature to one above it, divided by two: what compares with a weight.
    pub(super) fn weight(&self, feature: usize) -> f64 {
        let (mean, deviation) = self.scales.0[feature];
        let sum = |value: f64| -> f64 {
            let own = self.stumps.iter().filter(|stump| stump.feature == feature);
            own.map(|stump| stump.added[usize::from(value > stump.threshold)]).sum()
        };
        (sum(mean + deviation) - sum(mean - deviation)) / 2.0
    }

    pub(super) fn usual(&self, feature: usize) -> f64 {
        self.scales.0[feature].0
    }
}

/// Returns thresholds between values of a feature, in rising order.
fn thresholds(examples: &Examples<'_>, feature: usize) -> Vec<f64> {
    let mut values: Vec<f64> = examples.rows.iter().map(|row| row[feature]).collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let mut found: Vec<f64> = (1..=N_THRESHOLDS)
        .filter_map(|part| {
            let value = values[(n * part / (N_THRESHOLDS + 1)).min(n.checked_sub(1)?)];
            // The threshold is half-way to the next larger value.
            let next = values[values.partition_point(|&other| other <= value)..].first()?;
            Some(value + (next - value) / 2.0)
        })
        .collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combination::squash;

    #[test]
    fn thresholds_are_between_values() {
        let rows = [[1.0], [1.0], [2.0], [4.0]];
        let examples =
            Examples { rows: rows.iter().map(<[f64; 1]>::as_slice).collect(), results: vec![] };
        assert_eq!(thresholds(&examples, 0), [1.5, 3.0]);
    }

    #[test]
    fn what_is_no_sum_of_weights_can_be_learnt() {
        // The result is good in the middle of the range only.
        let rows: Vec<[f64; 1]> = (0..90).map(|n| [f64::from(n)]).collect();
        let results = (0..90).map(|n| f64::from(u8::from((30..60).contains(&n)))).collect();
        let examples = Examples { rows: rows.iter().map(|row| &row[..]).collect(), results };
        let model = Boosted::fit(&examples);
        for (row, result) in examples.rows.iter().zip(&examples.results) {
            // The thresholds need not meet the borders.
            if [30.0, 60.0].iter().all(|border| (row[0] - border).abs() > 6.0) {
                let value = squash(model.sum(row));
                assert!((value - result).abs() < 0.3, "{row:?}: {value}, not {result}");
            }
        }
    }
}
