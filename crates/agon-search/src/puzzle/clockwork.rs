//! What in a puzzle goes on by itself, whatever is done: a counter of steps.
//!
//! With it every position is new at every step, and a search that knows positions again knows none. Without it the first time
//! that a position is reached is the best: as much is left to do, and more time to do it.

use agon_game::{Position, Rng};

use crate::Meter;
use crate::hash::fold;

/// Plays that are compared, and the steps of each.
const N_PLAYS: usize = 32;
const MAX_STEPS: usize = 100;

/// The features of a game that are the same in all plays after as many steps, but not after all numbers of steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Clockwork {
    /// By feature.
    is_part: Vec<bool>,
    features: Vec<u32>,
}

impl Clockwork {
    /// What a few plays show. None if nothing goes on by itself, or if it cannot be seen. It may be taken in: a feature may
    /// be the same by chance.
    pub(super) fn find<P: Position>(
        position: &mut P,
        rng: &mut Rng,
        meter: &mut Meter<'_>,
    ) -> Option<Clockwork> {
        let home = position.state().clone();
        let mut features = Vec::new();
        // By step: the features of all plays, and of any.
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
        let mut is_part = vec![is_known && always.len() > 2; n_features];
        let mut n_steps = vec![0; n_features];
        for (always, ever) in always.iter().zip(&ever) {
            for &feature in ever {
                n_steps[feature as usize] += 1;
                is_part[feature as usize] &= always.binary_search(&feature).is_ok();
            }
        }
        for feature in 0..n_features {
            // What never changes does no harm, and may change later.
            is_part[feature] &= n_steps[feature] < always.len();
        }
        is_part.contains(&true).then_some(Clockwork { is_part, features })
    }

    /// A hash of all that does not go on by itself.
    pub(super) fn key<P: Position>(&mut self, position: &P) -> u64 {
        let Clockwork { is_part, features } = self;
        position.features(features);
        let own = features
            .iter()
            .filter(|&&feature| !is_part.get(feature as usize).copied().unwrap_or(false));
        own.fold(0x9e37_79b9_7f4a_7c15, |key, &feature| fold(key, u64::from(feature)))
    }
}
