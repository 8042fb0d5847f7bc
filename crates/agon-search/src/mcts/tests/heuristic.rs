//! Searches with a heuristic.

use agon_circuit::ScalarCircuit;
use agon_game::{Position as _, Role};

use super::check_report;
use crate::sample::shipped;
use crate::{
    ActionHeuristic, Amaf, Budget, HeuristicUse, Mcts, MctsOptions, PlayoutPolicy, Report,
    Search as _,
};

type Move = <ScalarCircuit as agon_game::Position>::Move;

/// Gives the last legal move the value 1, and all others 0.
#[derive(Clone)]
struct LikesLast;

impl ActionHeuristic<ScalarCircuit> for LikesLast {
    fn values(
        &mut self,
        _: &ScalarCircuit,
        _: Role,
        moves: &[Move],
        values: &mut Vec<f64>,
    ) -> bool {
        values.clear();
        values.resize(moves.len(), 0.0);
        *values.last_mut().expect("a role has a move") = 1.0;
        true
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<ScalarCircuit>> {
        Box::new(self.clone())
    }
}

fn report(game: &str, options: &MctsOptions, n: u64) -> Report<Move> {
    seeded_report(game, options, n, 5)
}

fn seeded_report(game: &str, options: &MctsOptions, n: u64, seed: u64) -> Report<Move> {
    let mut position = shipped(game);
    let mut search = Mcts::with_heuristic(options.clone(), seed, Box::new(LikesLast));
    let report = search.think(&mut position, Role::new(0), &Budget::iterations(n));
    check_report(&position, &report);
    Report { seconds: 0.0, ..report }
}

fn visits_of_last(game: &str, report: &Report<Move>) -> u64 {
    let last = *shipped(game).legal_moves(Role::new(0)).last().expect("it has moves");
    report
        .candidates
        .iter()
        .find(|candidate| candidate.m == last)
        .expect("it is a candidate")
        .visits
}

fn by(playout: bool, tree: bool) -> MctsOptions {
    MctsOptions {
        heuristic: HeuristicUse { playout, tree, ..HeuristicUse::OFF },
        ..MctsOptions::plain()
    }
}

#[test]
fn a_move_with_a_high_value_is_tried_more_often_in_the_tree() {
    for game in ["tic-tac-toe", "connect-four"] {
        // The heuristic has little weight beside 200 playouts, so one search tells nothing.
        let visits = |options: &MctsOptions| -> u64 {
            (0..40).map(|seed| visits_of_last(game, &seeded_report(game, options, 200, seed))).sum()
        };
        let without = visits(&by(false, false));
        let with = visits(&by(false, true));
        assert!(with > without, "{game}: {with} visits with it and {without} without");
        // With a scale of 0 all moves have the same value.
        let options = MctsOptions {
            heuristic: HeuristicUse { tree: true, scale: 0.0, ..HeuristicUse::OFF },
            ..MctsOptions::plain()
        };
        assert!(visits(&options) < with, "{game}: a scale of 0 has no effect");
    }
}

#[test]
fn playouts_follow_the_heuristic() {
    // At this low temperature all playouts from one position are the same, so all values are
    // payoffs of terminal positions.
    let cold = HeuristicUse { playout: true, temperature: 0.01, ..HeuristicUse::OFF };
    let options = MctsOptions { heuristic: cold, ..MctsOptions::plain() };
    let report = report("tic-tac-toe", &options, 10);
    for candidate in report.candidates.iter().filter(|candidate| candidate.visits == 1) {
        assert!([0.0, 50.0, 100.0].contains(&candidate.value), "{candidate:?}");
    }
    assert!(report.playouts > 0);
}

#[test]
fn a_heuristic_works_with_all_options_and_is_deterministic() {
    for game in ["tic-tac-toe", "rock-paper-scissors", "bidding-tic-tac-toe"] {
        for amaf in [Amaf::Off, Amaf::RAVE, Amaf::GRAVE] {
            for policy in [PlayoutPolicy::Uniform, PlayoutPolicy::Mast, PlayoutPolicy::NST] {
                for (playout, tree) in [(true, false), (false, true), (true, true)] {
                    let options = MctsOptions { amaf, policy, ..by(playout, tree) };
                    assert_eq!(
                        report(game, &options, 60),
                        report(game, &options, 60),
                        "{game} {options:?}"
                    );
                }
            }
        }
    }
}

/// Values a position at 100 for the first role if a fact is true, and at 0 otherwise. Playouts do
/// not depend on that fact.
#[derive(Clone)]
struct LikesAFact(u32);

impl ActionHeuristic<ScalarCircuit> for LikesAFact {
    fn values(&mut self, _: &ScalarCircuit, _: Role, _: &[Move], _: &mut Vec<f64>) -> bool {
        false
    }

    fn worth(&mut self, position: &ScalarCircuit, role: Role) -> Option<f64> {
        let mut facts = Vec::new();
        position.features(&mut facts);
        let liked = if facts.contains(&self.0) { 100.0 } else { 0.0 };
        Some(if role == Role::new(0) { liked } else { 100.0 - liked })
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<ScalarCircuit>> {
        Box::new(self.clone())
    }
}

#[test]
fn implicit_minimax_values_count_beside_playouts() {
    let mut position = shipped("tic-tac-toe");
    let home = position.state().clone();
    let (us, wait) = (Role::new(0), position.legal_moves(Role::new(1))[0]);
    // Every move of tic-tac-toe makes a fact true that no other move makes true.
    let before = facts(&position);
    let moves: Vec<Move> = position.legal_moves(us).to_vec();
    for &liked in &moves {
        position.advance(&[liked, wait]);
        let made = facts(&position).into_iter().filter(|fact| !before.contains(fact));
        let others: Vec<u32> = moves
            .iter()
            .filter(|m| **m != liked)
            .flat_map(|m| {
                position.go_to(&home);
                position.advance(&[*m, wait]);
                facts(&position)
            })
            .collect();
        position.go_to(&home);
        let mark = made
            .into_iter()
            .find(|fact| !others.contains(fact))
            .expect("each move makes its own mark");
        let think = |implicit: f64| {
            let heuristic = HeuristicUse { implicit, ..HeuristicUse::OFF };
            let options = MctsOptions { heuristic, ..MctsOptions::plain() };
            let mut search = Mcts::with_heuristic(options, 5, Box::new(LikesAFact(mark)));
            let report = search.think(&mut position.clone(), us, &Budget::iterations(400));
            check_report(&position, &report);
            report
        };
        let report = think(0.9);
        assert_eq!(report.best, liked, "the fact has nearly all the weight");
        let again = think(0.9);
        assert_eq!(
            report.candidates.iter().map(|c| c.visits).collect::<Vec<_>>(),
            again.candidates.iter().map(|c| c.visits).collect::<Vec<_>>(),
            "the search is deterministic"
        );
    }
}

fn facts(position: &ScalarCircuit) -> Vec<u32> {
    let mut facts = Vec::new();
    position.features(&mut facts);
    facts
}
