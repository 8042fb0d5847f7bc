//! Compares games that stay in lanes with single games.

use std::sync::Arc;

use agon_game::{Position, Rng, Role};
use proptest::prelude::*;
use rand::SeedableRng;

use super::batch::BACKENDS;
use super::{handmade, random};
use crate::{Backend, Circuit, Input, LaneGames, Plane, ScalarCircuit, Signal};

/// More than one block, with unused lanes in the last.
const N_GAMES: usize = 300;

/// Plays all games by drawn moves, each again by a single position, and compares everything.
fn compare(circuit: &Circuit, backend: Backend, seed: u64) {
    let Some(mut games) = LaneGames::new(circuit, N_GAMES, backend) else {
        assert_ne!(circuit.outputs.rejected, Signal::FALSE, "only rejections are refused");
        return;
    };
    let start = ScalarCircuit::new(Arc::new(circuit.clone()));
    let n_roles = circuit.roles.len();
    let mut singles = vec![start.clone(); N_GAMES];
    let mut rng = Rng::seed_from_u64(seed);
    for step in 0..20 {
        games.forget_last();
        let mut ended_now = Vec::new();
        for block in 0..games.n_blocks() {
            let first = block * Plane::LANES;
            let mut moving = games.used(block) & !games.ended(block);
            // Some games wait in some steps.
            (0..Plane::LANES).filter(|lane| (lane + step) % 7 == 0).for_each(|lane| {
                moving.set_lane(lane, false);
            });
            games.begin(block);
            let mut joints = vec![vec![None; n_roles]; Plane::LANES];
            for role in circuit.role_ids().map(Role::index) {
                let all = games.used(block) & !games.ended(block);
                games.draw(block, role, all, &mut rng, |lane, input| {
                    joints[lane][role] = Some(input);
                });
                let choices = games.choices(block, role);
                for lane in all.lanes() {
                    let legal = singles[first + lane].legal_moves(Role::new(role));
                    let drawn = joints[lane][role].expect("a move is drawn in each lane");
                    assert!(legal.contains(&drawn), "{drawn:?} is not one of {legal:?}");
                    assert_eq!(choices.lane(lane), legal.len() > 1);
                    let in_lane = |input: &usize| games.legal(block)[*input].lane(lane);
                    let n_legal = (0..circuit.n_inputs()).filter(in_lane).count();
                    let expected =
                        (0..n_roles).map(|r| singles[first + lane].legal_moves(Role::new(r)).len());
                    assert_eq!(n_legal, expected.sum::<usize>());
                }
                for lane in (choices & moving).lanes() {
                    games.choose(lane, joints[lane][role].expect("a move is drawn"));
                }
            }
            let ended = games.advance(block, moving);
            for lane in moving.lanes() {
                let joint: Vec<Input> = joints[lane].iter().flatten().copied().collect();
                singles[first + lane].advance(&joint);
            }
            let mut payoffs = vec![vec![0.0; n_roles]; Plane::LANES];
            games.payoffs(block, ended, |lane, role, payoff| payoffs[lane][role] = payoff);
            for lane in games.used(block).lanes() {
                let single = &mut singles[first + lane];
                assert_eq!(games.ended(block).lane(lane), single.is_terminal());
                if ended.lane(lane) {
                    for (role, payoff) in payoffs[lane].iter().enumerate() {
                        assert_eq!(*payoff, single.payoff(Role::new(role)));
                    }
                    ended_now.push((first + lane, single.state().clone()));
                    if lane % 2 == 0 {
                        *single = start.clone();
                    }
                }
            }
            let even = Plane([0x5555_5555_5555_5555; 4]);
            games.restart(block, ended & even);
            let mut rows = Vec::new();
            games.copy_states(block, &mut rows);
            let n_words = circuit.base.len().div_ceil(64);
            for lane in games.used(block).lanes() {
                let single = &singles[first + lane];
                assert_eq!(&rows[lane * n_words..(lane + 1) * n_words], single.state().words());
            }
        }
        assert_eq!(games.last_states(), ended_now);
    }
    // A game can be sent to the state of another.
    let state = singles[0].state().clone();
    games.set_state(N_GAMES - 1, &state);
    let (block, lane) = ((N_GAMES - 1) / Plane::LANES, (N_GAMES - 1) % Plane::LANES);
    assert_eq!(games.ended(block).lane(lane), singles[0].is_terminal());
}

#[test]
fn games_by_hand_stay_in_their_lanes() {
    for circuit in handmade() {
        BACKENDS.iter().for_each(|&backend| compare(&circuit, backend, 5));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_games_stay_in_their_lanes(seed: u64, n_gates in 1_usize..150) {
        let circuit = random::circuit(seed, n_gates);
        BACKENDS.iter().for_each(|&backend| compare(&circuit, backend, seed));
    }
}
