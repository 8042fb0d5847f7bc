//! The sequential probability ratio test: when two players need not play on.
//!
//! Two hypotheses say what the first player is to expect, in Elo against the second. Match by match it is asked how much more likely what
//! has been seen is under the one than under the other; beyond a bound the question is settled. Wald's bounds keep both ways to
//! err as seldom as asked for.
//!
//! The test counts blocks, not matches: matches with one seed, one opening and swapped roles are not independent, and to count them
//! as if they were (the trinomial model) gives wrong error rates and takes longer where openings favour a role. For two roles and games that are
//! won, lost or drawn that is the pentanomial model of chess testing; here the points of a block may be any numbers, since goals are. Under each
//! hypothesis the most likely distribution over the values seen is used (M. Van den Bergh's generalised likelihood ratio).

use super::points_of_elo;

/// What is to be decided between two players.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sprt {
    /// The first hypothesis: the first player is stronger by so much.
    pub elo0: f64,
    /// The second.
    pub elo1: f64,
    /// How often the second may be accepted although the first is true.
    pub alpha: f64,
    /// How often the first may be accepted although the second is true.
    pub beta: f64,
}

/// What was decided.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is `elo0` rather than `elo1`.
    First,
    /// It is `elo1` rather than `elo0`.
    Second,
}

/// How far a test has come.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SprtState {
    /// The logarithm of the likelihood ratio.
    pub llr: f64,
    /// At or below it, the first hypothesis is accepted.
    pub lower: f64,
    /// At or above it, the second.
    pub upper: f64,
    /// How many blocks were counted: to the decision, if there is one.
    pub n_blocks: usize,
    /// What was decided.
    pub decision: Option<Decision>,
}

/// A little of every result, so that the first few blocks do not seem to exclude what has not been seen yet.
const PRIOR: f64 = 1e-3;

/// The tallies of points of blocks: values with how often each was seen.
#[derive(Clone, Debug)]
struct Tally {
    values: Vec<(f64, f64)>,
}

impl Sprt {
    /// Runs the test over blocks in the order in which they were scheduled, each the mean points of the first player. It ends at
    /// the first decision: what comes later changes nothing.
    pub fn run(&self, blocks: impl IntoIterator<Item = f64>) -> SprtState {
        let lower = libm::log(self.beta / (1.0 - self.alpha));
        let upper = libm::log((1.0 - self.beta) / self.alpha);
        let mut state = SprtState { llr: 0.0, lower, upper, n_blocks: 0, decision: None };
        let mut tally =
            Tally { values: [0.0, 0.25, 0.5, 0.75, 1.0].map(|value| (value, PRIOR)).to_vec() };
        let (points0, points1) = (points_of_elo(self.elo0), points_of_elo(self.elo1));
        for points in blocks {
            tally.add(points);
            state.n_blocks += 1;
            state.llr = tally.log_likelihood(points1) - tally.log_likelihood(points0);
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

impl Tally {
    fn add(&mut self, points: f64) {
        match self.values.iter_mut().find(|(value, _)| (*value - points).abs() < 1e-9) {
            Some((_, count)) => *count += 1.0,
            None => self.values.push((points, 1.0)),
        }
    }

    /// The largest log-likelihood of what was seen under a distribution whose mean is `mean`, without a summand that does not depend
    /// on the mean. With frequencies f the best probabilities are f/(1 + t (x - mean)) for the t that gives the mean.
    fn log_likelihood(&self, mean: f64) -> f64 {
        let slope = |t: f64| -> f64 {
            self.values.iter().map(|(x, count)| count * (x - mean) / (1.0 + t * (x - mean))).sum()
        };
        // Both ends of the values are in the tally, so the mean lies between them, all denominators are positive in
        // between, and the slope falls from plus to minus infinity.
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
