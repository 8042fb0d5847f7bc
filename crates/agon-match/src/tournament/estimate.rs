//! A mean and how well it is known.

/// The quantile of the normal distribution that belongs to 95 %.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// A mean of points with its 95 % interval.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Where the interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// How many independent observations it rests on.
    pub n: usize,
}

impl Estimate {
    /// From independent observations, each from 0 to 1; `None` without any.
    ///
    /// It is Wilson's interval. That is made for wins and losses, so it is told how many of them the observations are worth: where they
    /// scatter less, because of draws or because an observation is the mean of matches with roles swapped, they are worth
    /// more. One observation is always taken to scatter like wins and losses: ten draws out of ten are no proof that there will
    /// never be anything else.
    pub fn of(observations: &[f64]) -> Option<Estimate> {
        let n = observations.len();
        if n == 0 {
            return None;
        }
        let count = n as f64;
        let mean = (observations.iter().sum::<f64>() / count).clamp(0.0, 1.0);
        let of_wins = mean * (1.0 - mean);
        let squares: f64 = observations.iter().map(|x| (x - mean) * (x - mean)).sum();
        let spread = if of_wins > 1e-12 { (squares + of_wins) / (of_wins * count) } else { 1.0 };
        let worth = count / spread;
        let scale = 1.0 + Z * Z / worth;
        let centre = (mean + Z * Z / (2.0 * worth)) / scale;
        let half = Z / scale * (of_wins / worth + Z * Z / (4.0 * worth * worth)).sqrt();
        // The interval holds the mean: rounding must not say otherwise.
        let (low, high) = ((centre - half).max(0.0).min(mean), (centre + half).min(1.0).max(mean));
        Some(Estimate { mean, low, high, n })
    }

    /// The mean of several means that were found independently, each counting the same.
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

    /// Half the width of the interval.
    pub fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}
