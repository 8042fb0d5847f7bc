//! How the move is chosen when the search ends.

use agon_game::{Position as _, Role};

use super::table_game::{Like, random_table};
use super::think;
use crate::{FinalMove, MctsOptions};

const ALL: [FinalMove; 3] = [FinalMove::Visits, FinalMove::Value, FinalMove::LowerBound];

#[test]
fn every_choice_keeps_the_value_of_a_solved_game() {
    for seed in 0..40 {
        let table = random_table(Like::Duel, 40, seed);
        let values = table.solve();
        let mut start = table.start();
        let us = start.choosers().next().unwrap_or(Role::new(0)).index();
        for final_move in ALL {
            let options = MctsOptions { final_move, ..MctsOptions::default() };
            let report = think(&mut start, us, &options, seed, 3000);
            let next: Vec<u8> =
                (0..2).map(|role| if role == us { report.best } else { 0 }).collect();
            let mut after = start.clone();
            after.advance(&next);
            assert_eq!(values[after.state][us], values[0][us], "{final_move:?} {seed}");
        }
    }
}

#[test]
fn a_high_mean_of_few_visits_is_not_chosen() {
    // Without proofs, at the root of a game of chance: the means of arms differ by luck.
    for seed in 0..20 {
        let table = random_table(Like::DuelWithChance, 60, seed);
        let mut start = table.start();
        let us = match start.choosers().find(|role| role.index() < 2) {
            Some(role) if start.legal_moves(role).len() > 1 => role.index(),
            _ => continue,
        };
        for final_move in ALL {
            let options = MctsOptions { final_move, solver: false, ..MctsOptions::plain() };
            let report = think(&mut start, us, &options, seed, 500);
            let most = report.candidates.iter().map(|candidate| candidate.visits).max();
            let own = report.candidates[0].visits;
            assert!(10 * own >= most.unwrap_or(0) - 9, "{final_move:?} {seed}: {own} of {most:?}");
            if final_move == FinalMove::Value {
                let enough =
                    report.candidates.iter().filter(|c| 10 * c.visits >= most.unwrap_or(0));
                let best = enough.map(|c| c.value).fold(f64::NEG_INFINITY, f64::max);
                assert!(report.candidates[0].value >= best, "{seed}");
            }
        }
    }
}
