//! What is learnt from the moves of other players.

use agon_game::{Position, Role, Shape};

use super::table_game::{At, Like, Place, Table, random_table};
use super::{check_report, think};
use crate::mcts::{Mcts, MctsOptions, Others};
use crate::{Budget, Search};

/// Number of moves by which the other player shows what it wants.
const N_ROUNDS: usize = 4;

/// Returns a game in which the other player first makes some moves. Each may cost us 15 and the
/// other player 5. Then we choose between a payoff of 5, and to trust the other player: it may then
/// give us what is left of 100, or nothing at a cost of 30 for itself.
///
/// The place after `round` moves, `n_bad` of them bad ones, is `round * (N_ROUNDS + 1) + n_bad`.
fn trust() -> Table {
    let place = |mover: usize, next: [usize; 2]| {
        let mut n_moves = vec![1; 2];
        n_moves[mover] = 2;
        Place { n_moves, next: next.to_vec(), payoffs: vec![0.0; 2], chances: Vec::new() }
    };
    let width = N_ROUNDS + 1;
    let mut places = Vec::new();
    for round in 0..N_ROUNDS {
        for n_bad in 0..width {
            let next = (round + 1) * width + n_bad;
            places.push(place(1, [next, (next + 1).min((round + 2) * width - 1)]));
        }
    }
    let ends = (N_ROUNDS + 2) * width;
    for n_bad in 0..width {
        places.push(place(0, [ends + 3 * n_bad, (N_ROUNDS + 1) * width + n_bad]));
    }
    for n_bad in 0..width {
        places.push(place(1, [ends + 3 * n_bad + 1, ends + 3 * n_bad + 2]));
    }
    for n_bad in 0..width {
        let (ours, theirs) = (100.0 - 15.0 * n_bad as f64, 60.0 - 5.0 * n_bad as f64);
        let payoffs = [[5.0, theirs - 30.0], [ours, theirs], [0.0, theirs - 30.0]];
        places.extend(payoffs.map(|payoffs| Place::end(&payoffs)));
    }
    Table { shape: Shape::new(vec!["us".into(), "other".into()], None), places, has_batch: true }
}

/// Plays the rounds with a search that thinks before each of them if `thinks`, and returns the move
/// that it makes then: 0 for the safe payoff, 1 to trust.
fn answer(others: Others, bad: bool, thinks: bool) -> u8 {
    let options = MctsOptions { others, ..MctsOptions::default() };
    let mut search = Mcts::new(options, 1);
    let mut position: At = trust().start();
    let us = Role::new(0);
    for round in 0..N_ROUNDS {
        if thinks || round == 0 {
            let report = search.think(&mut position, us, &Budget::iterations(600));
            check_report(&position, &report);
        }
        position.advance(&[0, u8::from(bad)]);
    }
    let report = search.think(&mut position, us, &Budget::iterations(600));
    check_report(&position, &report);
    report.best
}

#[test]
fn a_hostile_player_is_not_trusted() {
    for thinks in [true, false] {
        assert_eq!(answer(Others::Learnt, true, thinks), 0, "it did us harm at its own cost");
        assert_eq!(answer(Others::Learnt, false, thinks), 1, "it did what pays it most");
    }
    assert_eq!(answer(Others::MaxN, true, true), 1, "selfish players are assumed");
    assert_eq!(answer(Others::Paranoid, false, true), 0, "hostile players are assumed");
}

#[test]
fn duels_are_searched_as_before() {
    for seed in 0..20 {
        let mut table = random_table(Like::Duel, 60, seed);
        table.shape.constant_sum = Some(100.0);
        let mut start = table.start();
        let plain = think(&mut start, 0, &MctsOptions::default(), seed, 300);
        let options = MctsOptions { others: Others::Learnt, ..MctsOptions::default() };
        let learnt = think(&mut start, 0, &options, seed, 300);
        assert_eq!((plain.best, plain.value), (learnt.best, learnt.value));
        assert_eq!(plain.nodes, learnt.nodes);
    }
}

/// Reports have payoffs, not utilities: in a game that is proved, the value of the move is what it
/// pays if all players want what they are assumed to want.
#[test]
fn reports_have_payoffs() {
    for seed in 0..40 {
        let table = random_table(Like::Trio, 40, seed);
        let payoffs: Vec<Vec<f64>> =
            table.places.iter().map(|place| place.payoffs.clone()).collect();
        let mut start = table.start();
        let options = MctsOptions { others: Others::Learnt, ..MctsOptions::default() };
        let report = think(&mut start, 1, &options, seed, 4000);
        if report.is_proven {
            let is_paid = payoffs.iter().any(|of| (of[1] - report.value).abs() < 1e-3);
            assert!(is_paid, "seed {seed}: no end pays {}", report.value);
        }
    }
}
