//! Laws of the search: on random games that are solved by brute force, on small games with known
//! equilibria, and on shipped games.

mod attitudes;
mod bounds;
mod evaluated;
mod heuristic;
mod lockstep;
mod mixing;
mod random_games;
mod select_batch;
mod shipped;
mod signature;
mod table_game;
mod threads;

use crate::{Budget, MctsOptions, Report, Search};
use agon_game::{Position, Role};

use super::Mcts;

/// Searches once with an empty tree.
fn think<P: Position>(
    position: &mut P,
    us: usize,
    options: &MctsOptions,
    seed: u64,
    n: u64,
) -> Report<P::Move> {
    let mut search = Mcts::new(options.clone(), seed);
    let report = search.think(position, Role::new(us), &Budget::iterations(n));
    check_report(position, &report);
    report
}

/// Asserts what every report promises.
fn check_report<P: Position>(position: &P, report: &Report<P::Move>) {
    let legal = position.legal_moves(report.us);
    assert!(legal.contains(&report.best));
    assert_eq!(report.candidates.len(), legal.len());
    assert!(report.candidates.iter().all(|candidate| legal.contains(&candidate.m)));
    assert_eq!(report.candidates[0].m, report.best, "the best move is the first candidate");
    assert!(report.candidates[0].probability > 0.0);
    let total: f64 = report.candidates.iter().map(|candidate| candidate.probability).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    let range = &position.shape().payoffs;
    assert!(range.contains(&report.value), "{}", report.value);
    for candidate in &report.candidates {
        assert!(range.contains(&candidate.value), "{}", candidate.value);
    }
    for line in &report.lines {
        let mut along = position.clone();
        for joint in &line.joints {
            assert!(!along.is_terminal(), "a line goes on after the end");
            for (role, m) in along.shape().roles().zip(joint) {
                assert!(along.is_legal(role, m), "a line has an illegal move");
            }
            along.advance(joint);
        }
    }
}
