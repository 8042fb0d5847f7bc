//! Whether players know the whole state, although they are told of moves by percepts only.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _};

use crate::{Hidden, Rng, Role};

/// How many plays look for hidden information, and how far.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SecretPlan {
    /// Number of random plays.
    pub plays: usize,
    /// Maximum number of steps of a play.
    pub steps: usize,
    /// Maximum number of joint moves that are compared at a state.
    pub joints: usize,
    /// Seed of the plays.
    pub seed: u64,
}

impl Default for SecretPlan {
    fn default() -> SecretPlan {
        SecretPlan { plays: 2, steps: 30, joints: 64, seed: 1 }
    }
}

/// Looks for a state at which a player cannot tell the next state: two joint moves with the same
/// own move and the same percepts lead to different states.
///
/// If there is no such state, every player always knows the state, because it knows the first one.
/// A game with chance alone, in which each throw is seen, has none. Random plays are tried, so
/// `false` means that nothing hidden was met.
pub fn hides_information<P: Hidden>(start: &P, plan: &SecretPlan) -> bool {
    let mut rng = Rng::seed_from_u64(plan.seed);
    let players: Vec<Role> = start.shape().players().collect();
    for _ in 0..plan.plays {
        let mut position = start.clone();
        for _ in 0..plan.steps {
            if position.is_terminal() {
                break;
            }
            let joints = some_joints(&position, plan.joints, &mut rng);
            if joints.is_empty() {
                break;
            }
            if players.iter().any(|&role| is_ambiguous(&position, role, &joints)) {
                return true;
            }
            position.advance(&joints[rng.random_range(0..joints.len())]);
        }
    }
    false
}

/// Returns joint moves: all of them if there are few, otherwise some at random.
fn some_joints<P: Hidden>(position: &P, max: usize, rng: &mut Rng) -> Vec<Vec<P::Move>> {
    let shape = position.shape();
    let legal: Vec<&[P::Move]> = shape.roles().map(|role| position.legal_moves(role)).collect();
    let n_joints = legal.iter().fold(1_usize, |n, moves| n.saturating_mul(moves.len()));
    if n_joints <= max {
        let choose = |number: usize| {
            let mut left = number;
            let mut choice = |moves: &&[P::Move]| {
                let chosen = moves[left % moves.len()].clone();
                left /= moves.len();
                chosen
            };
            legal.iter().map(&mut choice).collect()
        };
        return (0..n_joints).map(choose).collect();
    }
    let draw = |rng: &mut Rng| {
        legal.iter().map(|moves| moves[rng.random_range(0..moves.len())].clone()).collect()
    };
    (0..max).map(|_| draw(rng)).collect()
}

fn is_ambiguous<P: Hidden>(position: &P, role: Role, joints: &[Vec<P::Move>]) -> bool {
    // By what the role knows after the step: the key of the state.
    let mut states: BTreeMap<(String, Vec<String>), u64> = BTreeMap::new();
    joints.iter().any(|joint| {
        let own = position.move_text(&joint[role.index()]);
        let known = (own, position.percepts(joint, role));
        let mut next = position.clone();
        next.advance(joint);
        let key = next.key();
        *states.entry(known).or_insert(key) != key
    })
}
