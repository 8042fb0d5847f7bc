//! A mean with its confidence interval.

/// The quantile of the normal distribution for a two-sided 95 % interval.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// A mean of points with its 95 % confidence interval.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of independent observations.
    pub n: usize,
}

impl Estimate {
    /// Returns the estimate from independent observations, each from 0 to 1, or `None` if there
    /// are none.
    ///
    /// The interval is Wilson's score interval. It is made for wins and losses, so it is computed
    /// with an effective number of observations: where the variance is smaller than that of wins
    /// and losses, because of draws or because an observation is the mean of matches with swapped
    /// roles, the effective number is larger. One observation with the variance of wins and losses
    /// is added, because ten draws out of ten do not prove that every game is a draw.
    pub fn of(observations: &[f64]) -> Option<Estimate> {
        let n = observations.len();
        if n == 0 {
            return None;
        }
        let count = n as f64;
        let mean = (observations.iter().sum::<f64>() / count).clamp(0.0, 1.0);
        let binomial_variance = mean * (1.0 - mean);
        let squares: f64 = observations.iter().map(|x| (x - mean) * (x - mean)).sum();
        let variance_ratio = if binomial_variance > 1e-12 {
            (squares + binomial_variance) / (binomial_variance * count)
        } else {
            1.0
        };
        let n_effective = count / variance_ratio;
        let scale = 1.0 + Z * Z / n_effective;
        let centre = (mean + Z * Z / (2.0 * n_effective)) / scale;
        let half = Z / scale
            * (binomial_variance / n_effective + Z * Z / (4.0 * n_effective * n_effective)).sqrt();
        // The interval contains the mean, also after rounding.
        let (low, high) = ((centre - half).max(0.0).min(mean), (centre + half).min(1.0).max(mean));
        Some(Estimate { mean, low, high, n })
    }

    /// Returns the mean of several independent means with equal weights, or `None` if there are
    /// none.
    pub fn of_means(parts: &[Estimate]) -> Option<Estimate> {
        let count = parts.len() as f64;
        let [first, rest @ ..] = parts else { return None };
        if rest.is_empty() {
            return Some(*first);
        }
        let mean = parts.iter().map(|part| part.mean).sum::<f64>() / count;
        let reach = |side: fn(&Estimate) -> f64| {
            let squares = parts.iter().map(|part| side(part) * side(part));
            squares.sum::<f64>().sqrt() / count
        };
        let low = (mean - reach(|part| part.mean - part.low)).max(0.0);
        let high = (mean + reach(|part| part.high - part.mean)).min(1.0);
        Some(Estimate { mean, low, high, n: parts.iter().map(|part| part.n).sum() })
    }

    /// Returns half the width of the interval.
    pub fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}
