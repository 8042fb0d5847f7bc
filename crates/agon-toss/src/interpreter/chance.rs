//! Random numbers of locations: quantiles of their distributions.

use crate::arena::Distribution;

/// Number of quantiles that stand for a distribution among the legal moves of nature.
pub(super) const N_QUANTILES: usize = 5;

/// Returns the number below which a random number lies with a probability between 0 and 1.
pub(super) fn quantile(distribution: Distribution, probability: f64) -> f64 {
    let p = probability.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON);
    match distribution {
        Distribution::Uniform { low, high } => (low + p * (high - low)).clamp(low, high),
        Distribution::Exponential { rate } => -libm::log1p(-p) / rate,
        Distribution::Normal { mean, deviation } => mean + deviation * standard_normal(p),
    }
}

/// Returns the joint samples of several random numbers that stand for them among the legal moves.
/// Each takes every quantile once, and no two take them in the same order.
pub(super) fn samples(distributions: &[Distribution]) -> Vec<Vec<f64>> {
    let at = |rank: usize| (rank as f64 + 0.5) / N_QUANTILES as f64;
    // The strides 1, 2, 3 and 4 have no factor in common with the number of quantiles.
    let rank = |row: usize, column: usize| (row * (1 + column % (N_QUANTILES - 1))) % N_QUANTILES;
    (0..N_QUANTILES)
        .map(|row| {
            let columns = distributions.iter().enumerate();
            columns.map(|(column, &d)| quantile(d, at(rank(row, column)))).collect()
        })
        .collect()
}

/// Returns a quantile of the standard normal distribution: the rational approximation of Acklam
/// (2003) with one step of Halley's method, which gives nearly full precision.
fn standard_normal(p: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] = [
        0.007_784_695_709_041_462,
        0.322_467_129_070_039_8,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
    ];
    const LOW: f64 = 0.024_25;
    let horner = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |q: f64| horner(&C, q) / (horner(&D, q) * q + 1.0);
    let x = if p < LOW {
        tail(libm::sqrt(-2.0 * libm::log(p)))
    } else if p > 1.0 - LOW {
        -tail(libm::sqrt(-2.0 * libm::log1p(-p)))
    } else {
        let q = p - 0.5;
        horner(&A, q * q) * q / (horner(&B, q * q) * (q * q) + 1.0)
    };
    let error = 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2) - p;
    let step = error * libm::sqrt(2.0 * std::f64::consts::PI) * libm::exp(x * x / 2.0);
    x - step / (1.0 + x * step / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_the_distribution_functions() {
        for step in 1..1000 {
            let p = f64::from(step) / 1000.0;
            let x = quantile(Distribution::Normal { mean: 3.0, deviation: 2.0 }, p);
            let back = 0.5 * libm::erfc(-(x - 3.0) / 2.0 / std::f64::consts::SQRT_2);
            assert!((back - p).abs() < 1e-12, "normal at {p}: {x} gives {back}");
            let x = quantile(Distribution::Exponential { rate: 0.5 }, p);
            assert!((1.0 - libm::exp(-0.5 * x) - p).abs() < 1e-12, "exponential at {p}");
            let x = quantile(Distribution::Uniform { low: -1.0, high: 3.0 }, p);
            assert!(((x + 1.0) / 4.0 - p).abs() < 1e-12, "uniform at {p}");
        }
    }

    #[test]
    fn samples_use_every_quantile_of_every_number_once() {
        let uniform = Distribution::Uniform { low: 0.0, high: 1.0 };
        let rows = samples(&[uniform; 3]);
        for column in 0..3 {
            let mut ranks: Vec<i64> = rows.iter().map(|row| (row[column] * 10.0) as i64).collect();
            ranks.sort_unstable();
            assert_eq!(ranks, [1, 3, 5, 7, 9]);
        }
        assert_ne!(rows[1][0], rows[1][1]);
    }
}
