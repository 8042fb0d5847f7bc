//! The polynomials that pool estimates.

use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::super::optimise::{Found, refine, spread};
use super::super::surface::{Estimate, Surface};

/// Returns estimates of a function at random points, from `n` plays each with a noise of ±1.
fn estimates(f: fn(f64, f64) -> f64, n: u32, seed: u64) -> Vec<Estimate> {
    let mut rng = Rng::seed_from_u64(seed);
    let estimate = |point: Vec<f64>| {
        let noise = |_| if rng.random() { 1.0 } else { -1.0 };
        let sum: f64 = (0..n).map(noise).sum();
        let mean = f(point[0], point[1]) + sum / f64::from(n);
        Estimate { point, mean, n: n.into() }
    };
    spread(2, 200, &mut Rng::seed_from_u64(seed + 1)).into_iter().map(estimate).collect()
}

/// Returns the mean squared errors of the estimates and of the pooled estimates.
fn errors(f: fn(f64, f64) -> f64, n: u32, seed: u64) -> (f64, f64) {
    let all = estimates(f, n, seed);
    let surface = Surface::fit(&all, 1.0).expect("there are enough estimates");
    let mean = |error: &dyn Fn(&Estimate) -> f64| {
        all.iter().map(|e| error(e) * error(e)).sum::<f64>() / all.len() as f64
    };
    let truth = |e: &Estimate| f(e.point[0], e.point[1]);
    let pooled = |e: &Estimate| surface.pooled(&e.point, e.mean, e.n);
    (mean(&|e| e.mean - truth(e)), mean(&|e| pooled(e) - truth(e)))
}

#[test]
fn pooling_reduces_the_error_of_smooth_payoffs() {
    for seed in 0..10 {
        let (single, pooled) = errors(|x, y| 3.0 * x * y * y - 2.0 * x * x + y, 4, seed);
        assert!(pooled < single / 5.0, "{pooled} {single}");
    }
}

#[test]
fn pooling_does_not_spoil_payoffs_that_are_not_smooth() {
    let jumps =
        |x: f64, y: f64| if (8.0 * x) as i64 % 2 == (8.0 * y) as i64 % 2 { 5.0 } else { 0.0 };
    for seed in 0..10 {
        let (single, pooled) = errors(jumps, 16, seed);
        assert!(pooled < 1.1 * single, "{pooled} {single}");
    }
}

#[test]
fn few_estimates_are_not_fitted() {
    let few = estimates(|x, _| x, 1, 1)[..5].to_vec();
    assert_eq!(Surface::fit(&few, 1.0), None);
    assert_eq!(Surface::fit(&[], 1.0), None);
}

#[test]
fn refinement_finds_maxima_in_many_dimensions() {
    let mut rng = Rng::seed_from_u64(3);
    for dimension in 1..=8 {
        let target: Vec<f64> = (0..dimension).map(|_| rng.random()).collect();
        let value =
            |point: &[f64]| -point.iter().zip(&target).map(|(x, t)| (x - t) * (x - t)).sum::<f64>();
        let start = vec![0.5; dimension];
        let found = Found { value: value(&start), point: start };
        let found = refine(found, 0.5, 100 * dimension, |point| Some(value(point)));
        assert!(found.value > -1e-6, "{dimension}: {found:?}");
    }
}

#[test]
fn a_refined_point_is_never_worse_and_stays_in_the_cube() {
    let mut rng = Rng::seed_from_u64(4);
    for dimension in 1..5 {
        for start in spread(dimension, 20, &mut rng) {
            let found = Found { point: start, value: 0.5 };
            let refined = refine(found.clone(), 0.3, 50, |point| {
                assert!(point.iter().all(|x| (0.0..=1.0).contains(x)), "{point:?}");
                Some(rng.random::<f64>()).filter(|value| *value > 0.2)
            });
            assert!(refined.value >= found.value);
        }
    }
}
