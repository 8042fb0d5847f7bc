//! Selection: which moves lead from the root to the next leaves.
//!
//! - [`bandit`]: one descent, and the choice of a role that chooses alone.
//! - [`simultaneous`]: the choice of roles that choose at the same time.
//! - [`batch`]: many descents at once.
//! - [`gather`]: the leaves of a batch.
//! - [`rate`]: asks the heuristic about moves in the tree.

mod bandit;
mod batch;
mod gather;
mod rate;
mod simultaneous;

pub(crate) use bandit::draw;
pub(crate) use batch::BatchSelection;
#[cfg(test)]
pub(crate) use batch::SelectedLeaf;

use agon_game::Rng;

use super::options::MctsOptions;
use super::simulate::Policy;

/// Paths longer than this are played out from where they are, as cycles are.
const MAX_DEPTH: usize = 2000;

/// Everything that the choice of moves needs beside the tree.
pub(crate) struct SelectContext<'a, M> {
    pub(crate) options: &'a MctsOptions,
    pub(crate) rng: &'a mut Rng,
    /// The playout policy, if playouts learn from each other: it chooses between untried moves.
    pub(crate) policy: Option<&'a mut Policy<M>>,
    pub(crate) scratch: &'a mut SelectScratch,
    /// The equivalence parameter of the heuristic (Trutman 2015, section 3.4).
    pub(crate) prior_k: f64,
    /// The factor on the usual exploration; see [`exploration_factor`].
    pub(crate) exploration: f32,
}

/// Memory that is used again for every choice.
#[derive(Default)]
pub(crate) struct SelectScratch {
    weights: Vec<f64>,
    totals: Vec<f32>,
}

/// Returns the factor on the exploration constant when `playouts` playouts start from each leaf.
///
/// Many playouts from one leaf tell less than the same number from different leaves. So where there
/// are more than usual, exploration shrinks more slowly: as if only the usual number had been made.
pub(crate) fn exploration_factor(playouts: u32) -> f32 {
    /// Up to this number no difference was measured.
    const USUAL: f32 = 32.0;
    (playouts as f32 / USUAL).max(1.0).sqrt()
}

/// Returns the natural logarithm with an error of about 0.001, which is enough here and much faster
/// than an exact one.
pub(crate) fn fast_ln(x: f32) -> f32 {
    let bits = x.max(1.0).to_bits();
    let exponent = (bits >> 23) as f32 - 127.0;
    let mantissa = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000);
    // The logarithm to base 2 of 1..2, by a cubic that is exact at both ends.
    let t = mantissa - 1.0;
    let log2 = exponent + t * (1.425_1 + t * (-0.585_4 + t * 0.160_3));
    log2 * std::f32::consts::LN_2
}

/// Returns the weight of the heuristic's value at a node with this number of visits (Trutman 2015,
/// section 2.3.3).
fn prior_weight(k: f64, visits: f64) -> f64 {
    (k / (3.0 * visits + k).max(f64::MIN_POSITIVE)).sqrt()
}
