//! Features of a puzzle that count steps, whatever the player does.
//!
//! With a counter, every position is new at every step, so a table of positions finds nothing
//! again. Without the counter, the first time that a position is reached is the best one: as much
//! is left to do, with more time to do it.

use agon_game::{Position, Rng};

use crate::Meter;
use crate::hash::fold;

/// Number of random games that are compared.
const N_PLAYS: usize = 32;
/// Maximum number of steps of these games.
const MAX_STEPS: usize = 100;

/// The features of a game that depend on the number of steps alone and are not constant.
#[derive(Clone, Debug, Default)]
pub(super) struct StepCounters {
    /// By feature: whether it counts steps.
    is_counter: Vec<bool>,
    features: Vec<u32>,
}

impl StepCounters {
    /// Returns the counters as far as a few random games show them, or `None` if there are none or
    /// if the engine has no features. The result may be wrong: a feature may look like a counter by
    /// chance.
    pub(super) fn find<P: Position>(
        position: &mut P,
        rng: &mut Rng,
        meter: &mut Meter<'_>,
    ) -> Option<StepCounters> {
        let home = position.state().clone();
        let mut features = Vec::new();
        // By step: the features of all games, and of any game.
        let mut always: Vec<Vec<u32>> = Vec::new();
        let mut ever: Vec<Vec<u32>> = Vec::new();
        let mut is_known = true;
        for _ in 0..N_PLAYS {
            position.go_to(&home);
            for step in 0..MAX_STEPS {
                position.features(&mut features);
                if features.is_empty() || meter.is_over(64) {
                    is_known = false;
                    break;
                }
                features.sort_unstable();
                match always.get_mut(step) {
                    None => {
                        always.push(features.clone());
                        ever.push(features.clone());
                    }
                    Some(always) => {
                        always.retain(|feature| features.binary_search(feature).is_ok());
                        ever[step].extend(&features);
                        ever[step].sort_unstable();
                        ever[step].dedup();
                    }
                }
                meter.n_nodes += 1;
                if position.is_terminal() || position.play_out(rng, 1) == 0 {
                    break;
                }
            }
        }
        position.go_to(&home);
        let n_features = ever.iter().flatten().max().map_or(0, |&most| most as usize + 1);
        let mut is_counter = vec![is_known && always.len() > 2; n_features];
        let mut n_steps = vec![0; n_features];
        for (always, ever) in always.iter().zip(&ever) {
            for &feature in ever {
                n_steps[feature as usize] += 1;
                is_counter[feature as usize] &= always.binary_search(&feature).is_ok();
            }
        }
        for feature in 0..n_features {
            // A constant feature is harmless, and may change later.
            is_counter[feature] &= n_steps[feature] < always.len();
        }
        is_counter.contains(&true).then_some(StepCounters { is_counter, features })
    }

    /// Returns a hash of all features that are not counters.
    pub(super) fn key<P: Position>(&mut self, position: &P) -> u64 {
        let StepCounters { is_counter, features } = self;
        position.features(features);
        let own = features
            .iter()
            .filter(|&&feature| !is_counter.get(feature as usize).copied().unwrap_or(false));
        own.fold(0x9e37_79b9_7f4a_7c15, |key, &feature| fold(key, u64::from(feature)))
    }
}
