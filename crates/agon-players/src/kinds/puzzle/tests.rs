//! Tests that puzzles of independent sub-games are solved apart.

use std::sync::Arc;

use agon_analysis::Analysis;
use agon_game::{Budget, Position, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_search::{PuzzleOptions, Search};
use agon_text::Source;

use super::PuzzleParts;

/// Rows of lamps, each with three switches. A switch works only after the one before it, and the
/// wrong one puts its whole row out. `n` rows must shine at step `6 n`, when play ends.
fn lamps(n: usize) -> String {
    let n_steps = 6 * n;
    let mut text = String::from(
        "(role player) (init (step 0)) (before none a) (before a b) (before b c)
         (<= (row ?r) (init (reached ?r none)))
         (<= (legal player (press ?r ?s)) (row ?r) (before ?p ?s))
         (legal player wait)
         (<= (next (reached ?r ?s)) (does player (press ?r ?s)) (true (reached ?r ?p))
             (before ?p ?s))
         (<= (next (reached ?r none)) (does player (press ?r ?s)) (not (follows ?r ?s)))
         (<= (follows ?r ?s) (true (reached ?r ?p)) (before ?p ?s))
         (<= (next (reached ?r ?s)) (true (reached ?r ?s)) (not (pressed ?r)))
         (<= (pressed ?r) (does player (press ?r ?s)))
         (<= (next (step ?j)) (true (step ?i)) (succ ?i ?j))
         (<= (goal player 0) (not (goal player 100)))\n",
    );
    for row in 0..n {
        text += &format!("(init (reached r{row} none))\n");
    }
    for step in 0..n_steps {
        text += &format!("(succ {step} {})\n", step + 1);
    }
    let all: String = (0..n).map(|row| format!(" (true (reached r{row} c))")).collect();
    text + &format!("(<= terminal (true (step {n_steps})))\n(<= (goal player 100){all})\n")
}

#[test]
fn sub_games_are_planned_apart() {
    let source = Arc::new(Source::new("lamps", lamps(8)));
    let rules = agon_gdl::check::check(source).rules.expect("the rules have no errors");
    let game = Game::open(rules, Options::default()).expect("the rules can be played");
    let compiled = Arc::new(game.compile(&CircuitLimits::default()).expect("the game is small"));
    let mut position = compiled.start();
    let rules = Analysis::new(game, Some(compiled));
    let us = Role::new(0);
    let budget = Budget::nodes(4_000);

    let mut alone = agon_search::Puzzle::new(PuzzleOptions::default());
    assert!(alone.think(&mut position, us, &budget).value < 100.0, "the budget is small");

    let parts = PuzzleParts::find(&rules, &position, &budget).expect("the rows are independent");
    let mut search = agon_search::Puzzle::new(PuzzleOptions::default());
    search.set_sub_games(Box::new(parts));
    let report = search.think(&mut position, us, &budget);
    assert_eq!(report.value, 100.0);
    assert!(report.nodes < 4_000, "{} positions", report.nodes);
    let line = &report.lines[0].joints;
    assert_eq!(line.len(), 48, "play ends at step 48");
    for joint in line {
        assert!(!position.is_terminal());
        position.advance(joint);
    }
    assert!(position.is_terminal());
    assert_eq!(position.payoff(us), 100.0);
}
