//! Batches agree with single positions, restart at the end and refuse illegal actions.

use agon_circuit::Bits;
use agon_game::{Position as _, Role};

use super::{AtEnd, BatchError, GameBatch, RANDOM};
use crate::Game;
use crate::numbered::{NumberedPosition, Numbers, ToMove};

fn numbers(name: &str) -> std::sync::Arc<Numbers> {
    Numbers::of(&Game::open(name).expect("it ships")).expect("it has a circuit")
}

/// Plays every game of a batch again by single positions and compares everything.
#[test]
fn batches_agree_with_single_positions() {
    for name in ["connect-four", "breakthrough", "bidding-tic-tac-toe", "dice-race", "othello"] {
        let numbers = numbers(name);
        let players: Vec<Role> = numbers.shape().players().collect();
        let n = 300;
        let mut batch = GameBatch::new(&numbers, n, 7, AtEnd::Stay);
        let n_actions = numbers.actions().len();
        let per_game = if batch.is_sequential() { 1 } else { players.len() };
        let mut masks = vec![0; n * per_game * n_actions];
        let mut actions = vec![0; n * per_game];
        let mut n_done = 0;
        for _ in 0..40 {
            batch.draw_actions(&mut actions);
            batch.write_masks(&mut masks);
            for (place, &action) in actions.iter().enumerate() {
                let row = &masks[place * n_actions..(place + 1) * n_actions];
                let game = place / per_game;
                assert_eq!(row[action as usize] == 1, !batch.ended()[game], "{name}");
            }
            let before = batch.states();
            batch.step(&actions).expect("drawn actions are legal");
            n_done += batch.done().iter().filter(|done| **done).count();
            let after = batch.states();
            for game in [0, 1, 255, 256, n - 1] {
                if before[game] == after[game] {
                    continue;
                }
                let mut cursor = numbers.game().compiled().expect("it has a circuit").start();
                cursor.go_to(&after[game]);
                assert_eq!(cursor.is_terminal(), batch.ended()[game], "{name}");
                for (player, &role) in players.iter().enumerate() {
                    let reward = batch.rewards()[game * players.len() + player];
                    let expected = if batch.done()[game] { cursor.payoff(role) } else { 0.0 };
                    assert_eq!(f64::from(reward), expected, "{name}");
                    let mut mask = vec![0; n * n_actions];
                    batch.write_masks_of(player, &mut mask);
                    let mut legal: Vec<usize> = cursor
                        .legal_moves(role)
                        .iter()
                        .map(|&input| numbers.action_of(input) as usize)
                        .collect();
                    legal.sort_unstable();
                    let row = &mask[game * n_actions..(game + 1) * n_actions];
                    let found: Vec<usize> = (0..n_actions).filter(|&a| row[a] == 1).collect();
                    assert_eq!(found, legal, "{name}");
                }
            }
        }
        assert!(n_done > 0 || name == "othello" || name == "breakthrough", "{name}");
    }
}

/// Both kinds of batches do the same, whatever the number of games.
#[test]
fn lanes_agree_with_rows() {
    for (name, at_end) in [
        ("connect-four", AtEnd::Restart),
        ("breakthrough", AtEnd::Stay),
        ("bidding-tic-tac-toe", AtEnd::Restart),
        ("pursuit", AtEnd::Stay),
        ("three-way-tic-tac-toe", AtEnd::Restart),
        ("hanoi", AtEnd::Restart),
        ("toss/connect-four", AtEnd::Restart),
    ] {
        let numbers = numbers(name);
        let n = 300;
        let mut lanes = GameBatch::new(&numbers, n, 7, at_end);
        let mut rows = GameBatch {
            numbers: std::sync::Arc::clone(&numbers),
            games: Box::new(super::RowBatch::new(&numbers, n, 7, at_end)),
            rows: Vec::new(),
        };
        let mut actions = vec![0; lanes.n_actions_of_a_step()];
        for step in 0..60 {
            lanes.draw_actions(&mut actions);
            for batch in [&mut lanes, &mut rows] {
                batch.step(&actions).expect("drawn actions are legal");
            }
            assert_eq!(lanes.states(), rows.states(), "{name}");
            assert_eq!(lanes.to_move(), rows.to_move(), "{name}");
            assert_eq!(lanes.rewards(), rows.rewards(), "{name}");
            assert_eq!(lanes.done(), rows.done(), "{name}");
            assert_eq!(lanes.ended(), rows.ended(), "{name}");
            assert_eq!(lanes.n_steps(), rows.n_steps(), "{name}");
            assert_eq!(lanes.last_states(), rows.last_states(), "{name}");
            let size = lanes.n_actions_of_a_step() * numbers.actions().len();
            let mut masks = [vec![0; size], vec![1; size]];
            lanes.write_masks(&mut masks[0]);
            rows.write_masks(&mut masks[1]);
            assert_eq!(masks[0], masks[1], "{name}");
            if step % 20 == 19 {
                lanes.reset(|game| game % 3 == 0);
                rows.reset(|game| game % 3 == 0);
            }
        }
    }
}

#[test]
fn equal_seeds_give_equal_games() {
    let numbers = numbers("dice-race");
    let mut batches = [0, 1].map(|_| GameBatch::new(&numbers, 64, 3, AtEnd::Restart));
    batches.iter_mut().for_each(|batch| batch.step_randomly(30));
    let [first, second] = &mut batches;
    assert_eq!(first.states(), second.states());
    let mut other = GameBatch::new(&numbers, 64, 4, AtEnd::Restart);
    other.step_randomly(30);
    assert_ne!(first.states(), other.states());
}

#[test]
fn games_start_again_where_they_end() {
    let numbers = numbers("tic-tac-toe");
    let mut batch = GameBatch::new(&numbers, 256, 1, AtEnd::Restart);
    let mut n_done = 0;
    for _ in 0..100 {
        batch.step(&[RANDOM; 256]).expect("random moves are legal");
        let done = batch.done().to_vec();
        for (game, _) in done.iter().enumerate().filter(|(_, done)| **done) {
            n_done += 1;
            let rewards = &batch.rewards()[2 * game..2 * game + 2];
            assert_eq!(rewards[0] + rewards[1], 100.0);
            assert_eq!(batch.n_steps()[game], 0);
            assert_eq!(batch.to_move()[game], 0);
        }
        assert_eq!(batch.last_states().len(), batch.done().iter().filter(|d| **d).count());
    }
    // A game has 5 to 9 steps.
    assert!((256 * 100 / 9..256 * 100 / 5).contains(&n_done), "{n_done} games ended");
}

#[test]
fn one_player_can_play_against_random_others() {
    let numbers = numbers("tic-tac-toe");
    let mut batch = GameBatch::new(&numbers, 64, 1, AtEnd::Restart);
    batch.wait_for(1);
    let mut actions = vec![0; 64];
    for _ in 0..50 {
        assert!(batch.to_move().iter().all(|&player| player == 1));
        batch.draw_actions(&mut actions);
        batch.step_as(1, &actions).expect("drawn actions are legal");
    }
}

#[test]
fn an_illegal_action_changes_nothing() {
    let numbers = numbers("tic-tac-toe");
    let mut batch = GameBatch::new(&numbers, 2, 1, AtEnd::Restart);
    let corner = numbers.action(Role::new(0), "(mark 1 1)").expect("a move") as i32;
    batch.step(&[corner, corner]).expect("legal");
    let before = batch.states().to_vec();
    let refused = batch.step(&[RANDOM, corner]).expect_err("the corner is taken");
    assert_eq!(
        refused.to_string(),
        format!("game 1 of the batch: action {corner}, (mark 1 1), is not legal for oplayer")
    );
    assert_eq!(batch.states(), before);
    assert!(matches!(batch.step(&[0]), Err(BatchError::Length { expected: 2, given: 1 })));
    assert!(batch.step(&[9999, 0]).is_err());
}

#[test]
fn games_can_be_sent_to_positions() {
    let numbers = numbers("connect-four");
    let mut position = numbers.start();
    let (red, black) = (Role::new(0), Role::new(1));
    let drop = numbers.action(red, "(drop 4)").expect("a move");
    let wait = numbers.action(black, "noop").expect("a move");
    position.play(&[drop, wait]).expect("legal");
    assert_eq!(position.to_move(), ToMove::One(black));
    let mut batch = GameBatch::new(&numbers, 3, 1, AtEnd::Restart);
    batch.load(1, &position);
    let mut words = vec![0; 3 * batch.n_state_words()];
    batch.write_bits(&mut words);
    let row = words[batch.n_state_words()..2 * batch.n_state_words()].to_vec();
    assert_eq!(row, position.bits().words());
    assert_eq!(batch.to_move(), [0, 1, 0]);
    let mut rows = vec![0u8; 3 * numbers.fluents().len()];
    batch.write_fluents(1, &mut rows);
    let n_facts: usize = rows[numbers.fluents().len()..2 * numbers.fluents().len()]
        .iter()
        .map(|&one| usize::from(one))
        .sum();
    assert_eq!(n_facts, position.facts().len());
}

/// Returns what a player knows at a position, computed from the texts of its percepts.
fn knowledge(position: &NumberedPosition, role: Role, width: usize) -> Vec<f32> {
    let numbers = position.numbers();
    let texts: Vec<&str> = numbers.percepts(role).collect();
    let mut row = vec![0.0; width];
    for step in 0..position.n_steps() {
        for seen in position.percepts(step, role) {
            let at = texts.iter().position(|text| *text == seen).expect("it is in the list");
            row[at] = 1.0;
            if step + 1 == position.n_steps() {
                row[texts.len() + at] = 1.0;
            }
        }
    }
    if let Some(last) = position.history().last() {
        row[2 * texts.len() + last[role.index()] as usize] = 1.0;
    }
    row[2 * texts.len() + numbers.actions().len()] = (position.n_steps() as f32 / 100.0).min(1.0);
    row
}

/// What roles know in lanes is what they have perceived in single positions. Nature's move is found
/// by its effect.
#[test]
fn lanes_know_what_roles_have_perceived() {
    for name in ["kuhn-poker", "krieg-tic-tac-toe", "liars-dice", "mastermind", "hide-and-seek"] {
        let numbers = numbers(name);
        let shape = numbers.shape().clone();
        let players: Vec<Role> = shape.players().collect();
        let n = 270;
        let mut batch = GameBatch::new(&numbers, n, 5, AtEnd::Restart);
        assert!(batch.knows(), "{name}");
        let mut singles: Vec<NumberedPosition> = (0..n).map(|_| numbers.start()).collect();
        let mut actions = vec![0; batch.n_actions_of_a_step()];
        let per_game = actions.len() / n;
        let widths: Vec<usize> =
            (0..players.len()).map(|player| batch.n_knowledge(Some(player))).collect();
        assert_eq!(batch.n_knowledge(None), *widths.iter().max().expect("there are players"));
        for _ in 0..25 {
            batch.draw_actions(&mut actions);
            let movers = batch.to_move().to_vec();
            batch.step(&actions).expect("drawn actions are legal");
            let states = batch.states();
            let last: std::collections::BTreeMap<usize, Bits> =
                batch.last_states().into_iter().collect();
            let rows: Vec<Vec<f32>> = (0..players.len())
                .map(|player| {
                    let mut rows = vec![0.0; n * widths[player]];
                    batch.write_knowledge(Some(player), &mut rows);
                    rows
                })
                .collect();
            let ends: Vec<std::collections::BTreeMap<usize, Vec<f32>>> = (0..players.len())
                .map(|player| batch.last_knowledge(Some(player), &|_| 0).into_iter().collect())
                .collect();
            for (game, single) in singles.iter_mut().enumerate() {
                let known = |player: usize| match ends[player].get(&game) {
                    Some(row) => row.clone(),
                    None => rows[player][game * widths[player]..][..widths[player]].to_vec(),
                };
                let after = last.get(&game).unwrap_or(&states[game]);
                let given = |player: usize, role: Role| {
                    let is_asked = per_game > 1 || movers[game] == player as i32;
                    let place = if per_game > 1 { game * per_game + player } else { game };
                    let only = single.legal(role).next().expect("play has not ended");
                    if is_asked { actions[place] as u32 } else { only }
                };
                let natures: Vec<u32> = match shape.nature {
                    Some(nature) => single.legal(nature).collect(),
                    None => vec![0],
                };
                let consistent = natures.into_iter().find_map(|nature| {
                    let mut joint = vec![nature; shape.role_names.len()];
                    for (player, &role) in players.iter().enumerate() {
                        joint[role.index()] = given(player, role);
                    }
                    let mut child = single.clone();
                    child.play(&joint).expect("these moves are legal");
                    let is_known = |(player, &role): (usize, &Role)| {
                        knowledge(&child, role, widths[player]) == known(player)
                    };
                    let agrees = child.bits() == after && players.iter().enumerate().all(is_known);
                    agrees.then_some(child)
                });
                *single = consistent.unwrap_or_else(|| panic!("{name}: game {game} differs"));
                if single.is_terminal() {
                    *single = numbers.start();
                }
            }
            // A position that is loaded brings its past with it.
            batch.load(3, &singles[7]);
            singles[3] = singles[7].clone();
            let mut rows = vec![0.0; n * widths[0]];
            batch.write_knowledge(Some(0), &mut rows);
            let row = &rows[3 * widths[0]..4 * widths[0]];
            assert_eq!(row, knowledge(&singles[3], players[0], widths[0]), "{name}");
        }
    }
    assert!(!GameBatch::new(&numbers("tic-tac-toe"), 4, 1, AtEnd::Stay).knows());
}
