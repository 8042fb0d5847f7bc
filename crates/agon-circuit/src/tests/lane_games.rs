//! Compares games that stay in lanes with single games.

use std::sync::Arc;

use agon_game::{Hidden as _, Position, Role};
use proptest::prelude::*;

use super::batch::BACKENDS;
use super::{handmade, random};
use crate::{Backend, Circuit, Input, LaneGames, Plane, ScalarCircuit, Signal};

/// More than one block, with unused lanes in the last.
const N_GAMES: usize = 300;

/// Plays all games by drawn moves, each again by a single position, and compares everything.
fn compare(circuit: &Circuit, backend: Backend, seed: u64) {
    // The number of a move is its place among the moves of its role.
    let numbers: Vec<u32> =
        circuit.roles.iter().flat_map(|role| 0..role.moves.len() as u32).collect();
    let circuit = &Arc::new(circuit.clone());
    let Some(mut games) = LaneGames::new(circuit, &numbers, N_GAMES, seed, backend) else {
        assert_ne!(circuit.outputs.rejected, Signal::FALSE, "only rejections are refused");
        return;
    };
    let start = ScalarCircuit::new(Arc::clone(circuit));
    let n_roles = circuit.roles.len();
    let mut singles = vec![start.clone(); N_GAMES];
    let firsts: Vec<u32> = circuit
        .roles
        .iter()
        .scan(0, |first, role| {
            *first += role.moves.len() as u32;
            Some(*first - role.moves.len() as u32)
        })
        .collect();
    let mut perceived = vec![vec![Vec::<String>::new(); n_roles]; N_GAMES];
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
                let codes = games.draw_numbers(block, role, all);
                let mut drawn = [0; Plane::LANES];
                LaneGames::write_numbers(&codes, &mut drawn);
                assert_eq!(LaneGames::codes(&drawn), codes);
                for lane in all.lanes() {
                    joints[lane][role] = Some(Input(firsts[role] + u32::from(drawn[lane])));
                }
                let choices = games.choices(block, role);
                // Numbers without a legal move are refused in just their lanes.
                let other = drawn.map(|number| number.wrapping_add(1 + (seed % 3) as u16));
                let bad = games.give(block, role, all, &LaneGames::codes(&other));
                for (lane, &number) in other.iter().enumerate() {
                    let input = (firsts[role] as usize) + usize::from(number);
                    let is_own = usize::from(number) < circuit.roles[role].moves.len();
                    let is_legal = is_own && games.legal(block)[input].lane(lane);
                    assert_eq!(bad.lane(lane), all.lane(lane) && !is_legal);
                }
                assert!(games.give(block, role, all, &codes).is_zero());
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
            }
            let ended = games.advance(block, moving);
            let mut memories = Vec::new();
            games.copy_memories(block, &mut memories);
            let n_words = games.memory_layout().len().div_ceil(64);
            for lane in moving.lanes() {
                let joint: Vec<Input> = joints[lane].iter().flatten().copied().collect();
                for (role, seen) in perceived[first + lane].iter_mut().enumerate() {
                    *seen = singles[first + lane].percepts(&joint, Role::new(role));
                }
                singles[first + lane].advance(&joint);
            }
            let mut payoffs = vec![vec![0.0; n_roles]; Plane::LANES];
            games.payoffs(block, ended, |lane, role, payoff| payoffs[lane][role] = payoff);
            for lane in games.used(block).lanes() {
                let single = &mut singles[first + lane];
                assert_eq!(games.ended(block).lane(lane), single.is_terminal());
                let memory = &memories[lane * n_words..(lane + 1) * n_words];
                let mut bit = games.memory_layout().n_percepts;
                for (role, percepts) in circuit.outputs.percepts.iter().enumerate() {
                    for (text, _) in percepts {
                        let was_seen = memory[bit / 64] >> (bit % 64) & 1 == 1;
                        assert_eq!(was_seen, perceived[first + lane][role].contains(text));
                        bit += 1;
                    }
                }
                if ended.lane(lane) {
                    for (role, payoff) in payoffs[lane].iter().enumerate() {
                        assert_eq!(*payoff, single.payoff(Role::new(role)));
                    }
                    ended_now.push((first + lane, single.state().clone()));
                    if lane % 2 == 0 {
                        *single = start.clone();
                        perceived[first + lane].iter_mut().for_each(Vec::clear);
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
    games.set_state(N_GAMES - 1, &state, |_| false);
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

/// Each legal move is drawn about as often as any other, as a move and as a number.
#[test]
fn moves_are_drawn_uniformly() {
    for circuit in handmade() {
        let numbers: Vec<u32> =
            circuit.roles.iter().flat_map(|role| 0..role.moves.len() as u32).collect();
        let circuit = Arc::new(circuit);
        let made = LaneGames::new(&circuit, &numbers, 256, 3, Backend::default());
        let Some(mut games) = made else { continue };
        if games.ended(0) == Plane::ONES {
            continue;
        }
        let role = 0;
        let n_moves = circuit.roles[role].moves.len();
        let legal: Vec<usize> = (0..n_moves).filter(|&m| games.legal(0)[m].lane(0)).collect();
        let mut counts = vec![0_u32; n_moves];
        for _ in 0..400 {
            let mut drawn = [0; 256];
            LaneGames::write_numbers(&games.draw_numbers(0, role, Plane::ONES), &mut drawn);
            drawn.iter().for_each(|&number| counts[usize::from(number)] += 1);
        }
        let (n, p) = (400.0 * 256.0, 1.0 / legal.len() as f64);
        let slack = 5.0 * (n * p * (1.0 - p)).sqrt() + 1.0;
        for (m, &count) in counts.iter().enumerate() {
            let expected = if legal.contains(&m) { n * p } else { 0.0 };
            let slack = if legal.contains(&m) { slack } else { 0.5 };
            assert!((f64::from(count) - expected).abs() < slack, "{m}: {count}, not {expected}");
        }
    }
}

/// The numbers of the player to move are drawn uniformly, whether players have numbers in common or
/// not. Lanes in which no player is to move get 0.
#[test]
fn numbers_of_the_player_to_move_are_drawn_uniformly() {
    let n_draws = 400;
    for circuit in handmade() {
        let by_role: Vec<u32> =
            circuit.roles.iter().flat_map(|role| 0..role.moves.len() as u32).collect();
        let all_different: Vec<u32> = (0..circuit.n_inputs() as u32).collect();
        let circuit = Arc::new(circuit);
        for numbers in [by_role, all_different] {
            let made = LaneGames::new(&circuit, &numbers, 256, 3, Backend::default());
            let Some(mut games) = made.filter(|games| games.ended(0) != Plane::ONES) else {
                continue;
            };
            let mut first = 0;
            let mut players = Vec::new();
            for role in &circuit.roles {
                let own = first..first + role.moves.len();
                first = own.end;
                if !role.is_nature {
                    players.push(own);
                }
            }
            let player_of = |lane: usize| lane % (players.len() + 1);
            let mut turns = vec![Plane::ZERO; players.len()];
            for lane in (0..256).filter(|&lane| player_of(lane) < players.len()) {
                turns[player_of(lane)].set_lane(lane, true);
            }
            let mut counts = vec![0_u32; circuit.n_inputs()];
            for _ in 0..n_draws {
                let mut drawn = [0; 256];
                LaneGames::write_numbers(&games.draw_numbers_of_turns(0, &turns), &mut drawn);
                for (lane, &number) in drawn.iter().enumerate() {
                    let Some(own) = players.get(player_of(lane)) else {
                        assert_eq!(number, 0, "nothing is drawn in lane {lane}");
                        continue;
                    };
                    let input = own.clone().find(|&input| numbers[input] == u32::from(number));
                    counts[input.expect("a player draws its own moves")] += 1;
                }
            }
            for (player, own) in players.iter().enumerate() {
                let is_legal = |input: &usize| games.legal(0)[*input].lane(0);
                let n = f64::from(n_draws * turns[player].lanes().count() as u32);
                let p = 1.0 / own.clone().filter(is_legal).count() as f64;
                let slack = 5.0 * (n * p * (1.0 - p)).sqrt() + 1.0;
                for input in own.clone() {
                    let expected = if is_legal(&input) { n * p } else { 0.0 };
                    let slack = if is_legal(&input) { slack } else { 0.5 };
                    let count = f64::from(counts[input]);
                    assert!((count - expected).abs() < slack, "{input}: {count}, not {expected}");
                }
            }
        }
    }
}
