//! Small games in which the best strategy is to mix.

use agon_game::Shape;

use super::table_game::{Place, Table};
use super::think;
use crate::{MctsOptions, Report, Simultaneous};

const PENNIES: &[&[f64]] = &[&[100.0, 0.0], &[0.0, 100.0]];
/// Rows (3/4, 1/4)... of value 42.86: see the test.
const BIASED: &[&[f64]] = &[&[100.0, 20.0], &[0.0, 60.0]];
const ROCK_PAPER_SCISSORS: &[&[f64]] =
    &[&[50.0, 0.0, 100.0], &[100.0, 50.0, 0.0], &[0.0, 100.0, 50.0]];

fn search(payoffs: &[&[f64]], us: usize, simultaneous: Simultaneous) -> Report<u8> {
    let options = MctsOptions { simultaneous, ..MctsOptions::default() };
    think(&mut Table::matrix(payoffs).start(), us, &options, 7, 40_000)
}

/// By move: how likely it is to be made.
fn strategy(report: &Report<u8>) -> Vec<f64> {
    let mut strategy = vec![0.0; report.candidates.len()];
    for candidate in &report.candidates {
        strategy[usize::from(candidate.m)] = candidate.probability;
    }
    strategy
}

#[track_caller]
fn is_near(found: &[f64], wanted: &[f64], within: f64) {
    assert_eq!(found.len(), wanted.len());
    assert!(
        found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < within),
        "{found:?} for {wanted:?}"
    );
}

#[test]
fn regret_matching_finds_the_equilibrium() {
    let method = Simultaneous::REGRET_MATCHING;
    for us in 0..2 {
        let pennies = search(PENNIES, us, method);
        is_near(&strategy(&pennies), &[0.5, 0.5], 0.04);
        assert!((pennies.value - 50.0).abs() < 3.0, "{}", pennies.value);
        is_near(&strategy(&search(ROCK_PAPER_SCISSORS, us, method)), &[1.0 / 3.0; 3], 0.04);
    }
    // The row player is indifferent if the column player plays (2/7, 5/7), the column player if the row player plays
    // (3/7, 4/7): 100 p = 20 p + 60 (1 - p).
    let rows = search(BIASED, 0, method);
    is_near(&strategy(&rows), &[3.0 / 7.0, 4.0 / 7.0], 0.04);
    assert!((rows.value - 300.0 / 7.0).abs() < 4.0, "{}", rows.value);
    is_near(&strategy(&search(BIASED, 1, method)), &[2.0 / 7.0, 5.0 / 7.0], 0.04);
}

#[test]
fn decoupled_bandits_mix_evenly_where_that_is_right() {
    for us in 0..2 {
        is_near(&strategy(&search(PENNIES, us, Simultaneous::DECOUPLED)), &[0.5, 0.5], 0.1);
        is_near(
            &strategy(&search(ROCK_PAPER_SCISSORS, us, Simultaneous::DECOUPLED)),
            &[1.0 / 3.0; 3],
            0.1,
        );
    }
}

#[test]
fn iterated_regret_keeps_what_minimises_regret() {
    let method = Simultaneous::ITERATED_REGRET;
    // All are alike: all stay.
    is_near(&strategy(&search(PENNIES, 0, method)), &[0.5, 0.5], 1e-9);
    is_near(&strategy(&search(ROCK_PAPER_SCISSORS, 1, method)), &[1.0 / 3.0; 3], 1e-9);
    // Regrets of the rows are 40 and 100; then of the columns, given the first row: 80 and 0.
    is_near(&strategy(&search(BIASED, 0, method)), &[1.0, 0.0], 1e-9);
    is_near(&strategy(&search(BIASED, 1, method)), &[0.0, 1.0], 1e-9);
}

#[test]
fn a_dominated_move_is_not_made() {
    // The first row is better whatever the column.
    let payoffs: &[&[f64]] = &[&[70.0, 40.0], &[60.0, 10.0], &[20.0, 30.0]];
    for method in
        [Simultaneous::REGRET_MATCHING, Simultaneous::DECOUPLED, Simultaneous::ITERATED_REGRET]
    {
        let rows = search(payoffs, 0, method);
        assert!(strategy(&rows)[0] > 0.9, "{method:?}: {rows:?}");
        assert!(strategy(&search(payoffs, 1, method))[1] > 0.9, "{method:?}");
    }
}

#[test]
fn what_is_sure_whatever_the_other_does_is_proved() {
    // The first row pays 70 at least and at most, and nothing pays more.
    let payoffs: &[&[f64]] = &[&[70.0, 70.0], &[60.0, 10.0]];
    let report = search(payoffs, 0, Simultaneous::DECOUPLED);
    assert_eq!((report.value, report.is_proven, report.best), (70.0, true, 0));
}

#[test]
fn mixing_works_deeper_down_and_beside_chance() {
    // First nature deals one of two matrices, then both choose at once while nature tosses a coin that pays no one.
    let mut places = vec![Place {
        n_moves: vec![1, 1, 2],
        next: vec![1, 2],
        payoffs: vec![0.0; 3],
        chances: vec![0.25, 0.75],
    }];
    for matrix in 0..2 {
        places.push(Place {
            n_moves: vec![2, 2, 2],
            next: (0..8).map(|at| 3 + 4 * matrix + at / 2).collect(),
            payoffs: vec![0.0; 3],
            chances: vec![0.5, 0.5],
        });
    }
    for payoffs in [PENNIES, BIASED] {
        for &ours in payoffs.iter().flat_map(|row| row.iter()) {
            places.push(Place::end(&[ours, 100.0 - ours, 0.0]));
        }
    }
    let shape = Shape::new(
        vec!["row".into(), "column".into(), "random".into()],
        Some(agon_game::Role::new(2)),
    );
    for has_batch in [false, true] {
        let table = Table { shape: shape.clone(), places: places.clone(), has_batch };
        let options =
            MctsOptions { simultaneous: Simultaneous::REGRET_MATCHING, ..MctsOptions::default() };
        let report = think(&mut table.start(), 0, &options, 3, 60_000);
        let value = 0.25 * 50.0 + 0.75 * 300.0 / 7.0;
        assert!((report.value - value).abs() < 3.0, "{} for {value}", report.value);
    }
}
