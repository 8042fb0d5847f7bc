//! Small games whose equilibrium is a mixed strategy.

use agon_game::Shape;

use super::table_game::{Place, Table};
use super::think;
use crate::{MctsOptions, Report, Simultaneous};

const PENNIES: &[&[f64]] = &[&[100.0, 0.0], &[0.0, 100.0]];
/// The equilibrium of the rows is (3/7, 4/7), with the value 300/7.
const BIASED: &[&[f64]] = &[&[100.0, 20.0], &[0.0, 60.0]];
const ROCK_PAPER_SCISSORS: &[&[f64]] =
    &[&[50.0, 0.0, 100.0], &[100.0, 50.0, 0.0], &[0.0, 100.0, 50.0]];

fn search(payoffs: &[&[f64]], us: usize, simultaneous: Simultaneous) -> Report<u8> {
    let options = MctsOptions { simultaneous, ..MctsOptions::default() };
    think(&mut Table::matrix(payoffs).start(), us, &options, 7, 40_000)
}

/// Returns the probability of each move.
fn strategy(report: &Report<u8>) -> Vec<f64> {
    let mut strategy = vec![0.0; report.candidates.len()];
    for candidate in &report.candidates {
        strategy[usize::from(candidate.m)] = candidate.probability;
    }
    strategy
}

#[track_caller]
fn assert_near(found: &[f64], wanted: &[f64], within: f64) {
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
        assert_near(&strategy(&pennies), &[0.5, 0.5], 0.04);
        assert!((pennies.value - 50.0).abs() < 3.0, "{}", pennies.value);
        assert_near(&strategy(&search(ROCK_PAPER_SCISSORS, us, method)), &[1.0 / 3.0; 3], 0.04);
    }
    // The row player is indifferent if the column player plays (2/7, 5/7), and the column player if
    // the row player plays (3/7, 4/7): 100 p = 20 p + 60 (1 - p).
    let rows = search(BIASED, 0, method);
    assert_near(&strategy(&rows), &[3.0 / 7.0, 4.0 / 7.0], 0.04);
    assert!((rows.value - 300.0 / 7.0).abs() < 4.0, "{}", rows.value);
    assert_near(&strategy(&search(BIASED, 1, method)), &[2.0 / 7.0, 5.0 / 7.0], 0.04);
}

#[test]
fn decoupled_bandits_mix_uniformly_in_symmetric_games() {
    for us in 0..2 {
        assert_near(&strategy(&search(PENNIES, us, Simultaneous::DECOUPLED)), &[0.5, 0.5], 0.1);
        assert_near(
            &strategy(&search(ROCK_PAPER_SCISSORS, us, Simultaneous::DECOUPLED)),
            &[1.0 / 3.0; 3],
            0.1,
        );
    }
}

#[test]
fn iterated_regret_keeps_the_moves_that_minimise_regret() {
    let method = Simultaneous::ITERATED_REGRET;
    // All moves have the same regret, so all of them stay.
    assert_near(&strategy(&search(PENNIES, 0, method)), &[0.5, 0.5], 1e-9);
    assert_near(&strategy(&search(ROCK_PAPER_SCISSORS, 1, method)), &[1.0 / 3.0; 3], 1e-9);
    // Regrets of the rows are 40 and 100; then of the columns, given the first row: 80 and 0.
    assert_near(&strategy(&search(BIASED, 0, method)), &[1.0, 0.0], 1e-9);
    assert_near(&strategy(&search(BIASED, 1, method)), &[0.0, 1.0], 1e-9);
}

#[test]
fn a_dominated_move_is_not_made() {
    // The first row is better in each column.
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
fn a_payoff_that_a_move_secures_is_proved() {
    // The first row pays exactly 70, and no other row pays more.
    let payoffs: &[&[f64]] = &[&[70.0, 70.0], &[60.0, 10.0]];
    let report = search(payoffs, 0, Simultaneous::DECOUPLED);
    assert_eq!((report.value, report.is_proven, report.best), (70.0, true, 0));
}

#[test]
fn strategies_are_mixed_below_the_root_and_with_chance() {
    // First nature chooses one of two matrices. Then both players choose at once, while nature
    // tosses a coin that has no effect on the payoffs.
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
