//! The sequential probability ratio test (SPRT), which decides when two players need not play on.
//!
//! Two hypotheses state the strength of the first player in Elo against the second. After each
//! block the test computes the likelihood ratio of the results under the two hypotheses. It ends
//! when the ratio passes a bound. Wald's bounds keep both error rates as low as requested.
//!
//! The test counts blocks, not matches, because matches with one seed, one opening and swapped
//! roles are not independent. Counting single matches (the trinomial model) gives wrong error rates
//! and takes longer where openings favour a role. For games with two roles that are won, lost or
//! drawn this is the pentanomial model of chess testing. Here the points of a block may be any
//! number, because goal values are. Under each hypothesis the most likely distribution over the
//! observed values is used (the generalised likelihood ratio of M. Van den Bergh).

use super::points_of_elo;

/// A sequential test between two players.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sprt {
    /// The first hypothesis: the first player is stronger by this many Elo points.
    pub elo0: f64,
    /// The second hypothesis, in Elo points.
    pub elo1: f64,
    /// Maximum probability of accepting the second hypothesis if the first is true.
    pub alpha: f64,
    /// Maximum probability of accepting the first hypothesis if the second is true.
    pub beta: f64,
}

/// The decision of a test.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The first hypothesis, `elo0`, is accepted.
    First,
    /// The second hypothesis, `elo1`, is accepted.
    Second,
}

/// The state of a test.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SprtState {
    /// The logarithm of the likelihood ratio.
    pub llr: f64,
    /// Bound at or below which the first hypothesis is accepted.
    pub lower: f64,
    /// Bound at or above which the second hypothesis is accepted.
    pub upper: f64,
    /// Number of blocks counted, up to the decision if there is one.
    pub n_blocks: usize,
    /// The decision, if there is one.
    pub decision: Option<Decision>,
}

/// Initial count of each common value, so that the first few blocks do not exclude values that have
/// not been observed yet.
const PRIOR: f64 = 1e-3;

/// The observed points of blocks: each value with its count.
#[derive(Clone, Debug)]
struct Histogram {
    values: Vec<(f64, f64)>,
}

impl Sprt {
    /// Runs the test over blocks in the order of the schedule. Each block is given by the mean
    /// points of the first player. The test ends at the first decision; later blocks change
    /// nothing.
    pub fn run(&self, blocks: impl IntoIterator<Item = f64>) -> SprtState {
        let lower = libm::log(self.beta / (1.0 - self.alpha));
        let upper = libm::log((1.0 - self.beta) / self.alpha);
        let mut state = SprtState { llr: 0.0, lower, upper, n_blocks: 0, decision: None };
        let mut histogram =
            Histogram { values: [0.0, 0.25, 0.5, 0.75, 1.0].map(|value| (value, PRIOR)).to_vec() };
        let (points0, points1) = (points_of_elo(self.elo0), points_of_elo(self.elo1));
        for points in blocks {
            histogram.add(points);
            state.n_blocks += 1;
            state.llr = histogram.log_likelihood(points1) - histogram.log_likelihood(points0);
            state.decision = match state.llr {
                llr if llr <= lower => Some(Decision::First),
                llr if llr >= upper => Some(Decision::Second),
                _ => None,
            };
            if state.decision.is_some() {
                break;
            }
        }
        state
    }
}

impl Histogram {
    fn add(&mut self, points: f64) {
        match self.values.iter_mut().find(|(value, _)| (*value - points).abs() < 1e-9) {
            Some((_, count)) => *count += 1.0,
            None => self.values.push((points, 1.0)),
        }
    }

    /// Returns the maximum log-likelihood of the observed values under a distribution with this
    /// mean, without a summand that does not depend on the mean. With frequencies f the best
    /// probabilities are f / (1 + t (x - mean)), for the t that gives the mean.
    fn log_likelihood(&self, mean: f64) -> f64 {
        let slope = |t: f64| -> f64 {
            self.values.iter().map(|(x, count)| count * (x - mean) / (1.0 + t * (x - mean))).sum()
        };
        // The histogram contains 0 and 1, so the mean lies between the observed values. Therefore
        // all denominators are positive on this interval, and the slope falls from plus to minus
        // infinity.
        let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if slope(middle) > 0.0 { low = middle } else { high = middle }
        }
        let t = f64::midpoint(low, high);
        let log = |(x, count): &(f64, f64)| -count * libm::log(1.0 + t * (x - mean));
        self.values.iter().map(log).sum::<f64>()
    }
}
