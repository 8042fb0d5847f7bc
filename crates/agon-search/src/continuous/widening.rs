//! Progressive widening where one player chooses among moves with real parameters.

use agon_game::{Continuous, Rng};
use rand::RngExt as _;

use super::actions::{Arm, distance};
use super::tree::Chooser;

/// Returns the number of arms of a node after `n_plays` plays: `factor` n^0.4, rounded up.
pub(super) fn n_arms(n_plays: f64, factor: f64) -> usize {
    libm::ceil(factor * libm::pow(n_plays.max(1.0), 0.4)) as usize
}

/// Number of points that are tried within the same radius.
const TRIES_PER_RADIUS: usize = 8;
/// Number of times that the radius is halved.
const N_RADII: usize = 12;

/// Returns a new arm of a chooser. Half of the new arms lie in the Voronoi cell of the best arm,
/// which are the points that are nearer to it than to all other arms (Kim et al. 2020). The others
/// are drawn uniformly.
pub(super) fn new_arm<P: Continuous>(
    chooser: &Chooser<P::Move>,
    position: &P,
    best: Option<usize>,
    rng: &mut Rng,
) -> Arm<P::Move> {
    let Chooser { role, actions, arms, .. } = chooser;
    let near = best.filter(|&arm| !arms[arm].point.is_empty()).filter(|_| rng.random());
    if let Some(best) = near {
        let centre = &arms[best];
        let rivals: Vec<&Arm<P::Move>> = arms
            .iter()
            .enumerate()
            .filter(|&(index, arm)| index != best && arm.group == centre.group)
            .map(|(_, arm)| arm)
            .collect();
        let mut radius = 1.0;
        for _ in 0..N_RADII {
            for _ in 0..TRIES_PER_RADIUS {
                let near = |&x: &f64| {
                    let (low, high) = ((x - radius).max(0.0), (x + radius).min(1.0));
                    low + rng.random::<f64>() * (high - low)
                };
                let point: Vec<f64> = centre.point.iter().map(near).collect();
                let own = distance(&point, &centre.point);
                if rivals.iter().all(|rival| own <= distance(&point, &rival.point))
                    && let Some(arm) = actions.arm(position, *role, centre.group, &point)
                {
                    return arm;
                }
            }
            radius /= 2.0;
        }
    }
    let wide: Vec<usize> =
        (0..actions.n_groups()).filter(|&group| actions.n_parameters(group) > 0).collect();
    for _ in 0..TRIES_PER_RADIUS {
        let group = wide[rng.random_range(0..wide.len())];
        let point: Vec<f64> = (0..actions.n_parameters(group)).map(|_| rng.random()).collect();
        if let Some(arm) = actions.arm(position, *role, group, &point) {
            return arm;
        }
    }
    actions.draw(position, *role, rng)
}
