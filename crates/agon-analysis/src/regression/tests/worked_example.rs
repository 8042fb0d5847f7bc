//! Tic-tac-toe with only its diagonals: formulas 3.13 and 3.15 and table 3.1 of Trutman 2015.

use std::sync::Arc;

use agon_circuit::prove_turns;
use agon_game::Role;

use super::super::*;
use super::{game, ground};

const DIAGONALS: &str = "
(role xplayer) (role oplayer)
(index 1) (index 2) (index 3)
(mark-of xplayer x) (mark-of oplayer o)
(other xplayer oplayer) (other oplayer xplayer)
(<= (init (cell ?x ?y b)) (index ?x) (index ?y))
(init (control xplayer))
(<= (legal ?p (mark ?x ?y)) (true (control ?p)) (true (cell ?x ?y b)))
(<= (legal ?p noop) (true (control ?q)) (other ?p ?q))
(<= (next (cell ?x ?y ?m)) (does ?p (mark ?x ?y)) (mark-of ?p ?m) (true (cell ?x ?y b)))
(<= (next (cell ?x ?y ?m)) (true (cell ?x ?y ?m)) (mark-of ?p ?m))
(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)) (not (marked ?x ?y)))
(<= (marked ?x ?y) (does ?p (mark ?x ?y)))
(<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
(<= (diagonal ?m) (true (cell 1 1 ?m)) (true (cell 2 2 ?m)) (true (cell 3 3 ?m)))
(<= (diagonal ?m) (true (cell 1 3 ?m)) (true (cell 2 2 ?m)) (true (cell 3 1 ?m)))
(<= open (true (cell ?x ?y b)))
(<= terminal (diagonal x))
(<= terminal (diagonal o))
(<= terminal (not open))
(<= (goal ?p 100) (mark-of ?p ?m) (diagonal ?m))
(<= (goal ?p 50) (role ?p) (not (diagonal x)) (not (diagonal o)))
(<= (goal ?p 0) (mark-of ?p ?m) (mark-of ?q ?n) (other ?p ?q) (diagonal ?n))
";

fn heuristics(options: &RegressOptions) -> ActionHeuristics {
    let game = game("diagonals", DIAGONALS);
    let circuit = ground(&game).circuit;
    let knowledge = Knowledge { turns: prove_turns(&circuit), ..Knowledge::default() };
    assert!(knowledge.turns.is_some(), "the players take turns");
    regress(&circuit, knowledge, options).expect("it is a small game")
}

fn text(heuristics: &ActionHeuristics, m: &str) -> String {
    let formula = heuristics.formula(Role::new(0), m).expect("the move is regressed");
    formula_text(&heuristics.formulas, formula, &heuristics.fluents, 1000)
}

#[test]
fn the_goal_is_regressed_as_in_formula_3_13() {
    let heuristics =
        heuristics(&RegressOptions { preconditions: false, ..RegressOptions::default() });
    let found = text(&heuristics, "(mark 1 1)");
    let wanted = "(or \
        (and (cell 1 3 x) (cell 2 2 x) (cell 3 1 x)) \
        (and (cell 2 2 x) (cell 3 3 x) (or (cell 1 1 b) (cell 1 1 x))))";
    assert_eq!(sorted(&found), sorted(wanted), "{found}");
    // As the text below formula 3.12 says, every other fluent is replaced by itself.
    let found = text(&heuristics, "(mark 1 2)");
    let wanted = "(or (and (cell 1 1 x) (cell 2 2 x) (cell 3 3 x)) (and (cell 1 3 x) (cell 2 2 x) (cell 3 1 x)))";
    assert_eq!(sorted(&found), sorted(wanted), "{found}");
}

#[test]
fn preconditions_simplify_it_to_formula_3_15() {
    let heuristics = heuristics(&RegressOptions::default());
    let found = text(&heuristics, "(mark 1 1)");
    let wanted =
        "(or (and (cell 1 3 x) (cell 2 2 x) (cell 3 1 x)) (and (cell 2 2 x) (cell 3 3 x)))";
    assert_eq!(sorted(&found), sorted(wanted), "{found}");
}

/// Returns the parts of a formula in a fixed order, because the order of operands is irrelevant.
fn sorted(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split_inclusive(')').collect();
    parts.sort_unstable();
    parts
}

#[test]
fn the_values_are_those_of_table_3_1() {
    for options in [
        RegressOptions::default(),
        RegressOptions { preconditions: false, ..RegressOptions::default() },
    ] {
        let heuristics = heuristics(&options);
        let mut evaluator = Evaluator::new(Arc::new(Network::new(&heuristics, Logic::PRODUCT)));
        let mut state = vec![0_u64; heuristics.fluents.len().div_ceil(64)];
        for (fluent, name) in heuristics.fluents.iter().enumerate() {
            if name.ends_with(" b)") || name == "(control xplayer)" {
                state[fluent / 64] |= 1 << (fluent % 64);
            }
        }
        evaluator.go_to(&state);
        let moves = &heuristics.roles[0].moves;
        let mut known: Vec<(String, f64)> = Vec::new();
        for (at, m) in moves.iter().enumerate() {
            if let Some(value) = evaluator.value(Role::new(0), at) {
                known.push((m.clone(), value));
            }
        }
        assert_eq!(known.len(), 9, "the noop has no value");
        let mut values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
        normalise(&mut values);
        for ((m, _), value) in known.iter().zip(values) {
            let wanted = match m.as_str() {
                "(mark 2 2)" => 50.0,
                "(mark 1 1)" | "(mark 1 3)" | "(mark 3 1)" | "(mark 3 3)" => 25.0,
                _ => 0.0,
            };
            // The table has no decimals.
            assert!((50.0 * value - wanted).abs() < 0.5, "{m}: {value} of 50 is not {wanted}");
        }
    }
}
