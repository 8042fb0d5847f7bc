//! Points in which an evaluation must agree with Michulke 2011: coordinates, domains of distances,
//! recursive goals, counting, certainty, and limits.

use std::time::Instant;

use super::fuzzy::{evaluator, fuzzy, fuzzy_with, goal, is_close};
use super::{compiled, game, shipped};
use crate::explain::{evaluation_json, evaluation_text};
use crate::fuzzy::{Cardinality, FuzzyEvaluation, FuzzyOptions, Logic, Node};
use crate::properties::{Properties, PropertyLimits};

/// Returns the arguments along which the distances of an evaluation are measured.
fn distance_arguments(fuzzy: &FuzzyEvaluation) -> Vec<Vec<usize>> {
    let of_target = |id| {
        let target = fuzzy.target_distances.get(&id)?;
        Some(target.arguments.iter().map(|(argument, ..)| *argument).collect())
    };
    fuzzy.used_nodes().into_iter().filter_map(of_target).collect()
}

/// A capture mentions the pawn that arrives and the one that was there. The colour of the second
/// is not a coordinate.
#[test]
fn the_colour_of_a_captured_pawn_is_not_a_coordinate() {
    let fuzzy = fuzzy(&shipped("pawn-whopping"));
    let arguments = distance_arguments(&fuzzy);
    assert!(!arguments.is_empty(), "pawns have a distance to the last row");
    assert!(arguments.iter().all(|of| !of.contains(&2)), "{arguments:?}");
    let mut without = evaluator(&fuzzy, &["(pawn 1 7 black)", "(control white)"]);
    let (white, black) = (without.value(0), without.value(1));
    assert!(white < 25.0 && black > 75.0, "white without pawns: {white} and {black}");
}

/// Bishops that move only to capture. Every move has two readings: a bishop moves, or a square
/// changes its colour.
const CAPTURES: &str = "
(role white) (role black)
(init (square 1 1 white)) (init (square 1 2 empty)) (init (square 2 1 empty))
(init (square 2 2 black)) (init (square 3 3 green)) (init (square 1 3 empty))
(init (square 2 3 empty)) (init (square 3 1 empty)) (init (square 3 2 empty))
(init (control white))
(<= (legal ?p (take ?x ?y ?u ?v)) (true (control ?p)) (true (square ?x ?y ?p))
  (diagonal ?x ?y ?u ?v) (true (square ?u ?v ?c)) (after ?c ?p))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (legal ?p rest) (true (control ?p)))
(<= (next (square ?u ?v ?p)) (does ?p (take ?x ?y ?u ?v)))
(<= (next (square ?x ?y empty)) (does ?p (take ?x ?y ?u ?v)))
(<= (next (square ?x ?y ?c)) (true (square ?x ?y ?c)) (not (changed ?x ?y)))
(<= (changed ?x ?y) (does ?p (take ?x ?y ?u ?v)))
(<= (changed ?u ?v) (does ?p (take ?x ?y ?u ?v)))
(<= (next (control white)) (true (control black)))
(<= (next (control black)) (true (control white)))
(<= terminal (true (square 3 3 white)))
(<= (goal white 100) (true (square 3 3 white)))
(<= (goal black 0) (true (square 3 3 white)))
(<= (goal ?p 50) (role ?p) (not (true (square 3 3 white))))
(after black white) (after white black) (after green white) (after green black)
(<= (diagonal ?x ?y ?u ?v) (beside ?x ?u) (beside ?y ?v))
(<= (beside ?x ?u) (succ ?x ?u)) (<= (beside ?x ?u) (succ ?u ?x))
(succ 1 2) (succ 2 3)
";

#[test]
fn a_piece_that_moves_only_to_capture_moves_along_its_place() {
    let fuzzy = fuzzy(&game(CAPTURES));
    let arguments = distance_arguments(&fuzzy);
    assert!(!arguments.is_empty(), "there is a distance to the far corner");
    assert!(arguments.iter().all(|of| *of == [0, 1]), "{arguments:?}");
}

/// One relation counts to twenty and gives a board of four columns.
const MAZE: &str = "
(role explorer)
(init (at 1)) (init (step 1))
(<= (legal explorer right) (true (at ?x)) (succ ?x ?u) (column ?u))
(<= (legal explorer stay))
(<= (next (at ?u)) (does explorer right) (true (at ?x)) (succ ?x ?u) (column ?u))
(<= (next (at ?x)) (does explorer stay) (true (at ?x)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= terminal (true (step 20)))
(<= terminal (true (at 4)))
(<= (goal explorer 100) (true (at 4)))
(<= (goal explorer 0) (not (true (at 4))))
(<= (base (at ?x)) (column ?x))
(<= (base (step ?n)) (number ?n))
(<= (input explorer right)) (<= (input explorer stay))
(column 1) (column 2) (column 3) (column 4)
(<= (number 1)) (<= (number ?n) (succ ?m ?n))
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9) (succ 9 10)
(succ 10 11) (succ 11 12) (succ 12 13) (succ 13 14) (succ 14 15) (succ 15 16) (succ 16 17)
(succ 17 18) (succ 18 19) (succ 19 20)
";

#[test]
fn distances_are_divided_by_the_domain_of_the_argument() {
    let fuzzy = fuzzy(&game(MAZE));
    let there = goal(&fuzzy, 0, 100);
    let at = |x: u8| evaluator(&fuzzy, &[&format!("(at {x})"), "(step 1)"]).truth(there);
    is_close(at(1), 1.0 - 3.0 / 4.0);
    is_close(at(3), 1.0 - 1.0 / 4.0);
}

/// A wall after the fourth column, which only play knows: the numbers go on to twenty.
const WALLED: &str = "
(role explorer)
(init (at 1)) (init (step 1)) (init (wall 4))
(<= (legal explorer right) (true (at ?x)) (not (true (wall ?x))))
(<= (legal explorer stay))
(<= (next (at ?u)) (does explorer right) (true (at ?x)) (succ ?x ?u))
(<= (next (at ?x)) (does explorer stay) (true (at ?x)))
(<= (next (wall ?x)) (true (wall ?x)) (true (step ?n)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= terminal (true (step 20)))
(<= (goal explorer 100) (true (at 4)) (true (step 20)))
(<= (goal explorer 0) (not (true (at 4))))
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9) (succ 9 10)
(succ 10 11) (succ 11 12) (succ 12 13) (succ 13 14) (succ 14 15) (succ 15 16) (succ 16 17)
(succ 17 18) (succ 18 19) (succ 19 20)
";

#[test]
fn what_lies_behind_a_wall_is_not_part_of_the_domain() {
    let fuzzy = fuzzy(&game(WALLED));
    let lengths: Vec<f64> = fuzzy
        .target_distances
        .values()
        .flat_map(|target| target.arguments.iter().map(|(_, _, domain)| domain.norm))
        .collect();
    assert!(lengths.contains(&4.0), "{lengths:?}");
}

/// A hunter who makes two steps at a time, and a hare who makes one. Walls that only play knows
/// surround a board of eight columns, and the numbers go on to twenty.
const TWO_STEPS: &str = "
(role hunter) (role hare)
(init (at hunter 1)) (init (at hare 8)) (init (wall 8)) (init (wall 0)) (init (step 1))
(<= (legal hunter (go ?a ?b)) (way ?a) (way ?b)) (<= (legal hare (go ?a)) (way ?a))
(way left) (way right)
(<= (next (at hunter ?w)) (does hunter (go ?a ?b)) (true (at hunter ?x)) (to ?x ?a ?u)
  (to ?u ?b ?w))
(<= (next (at hare ?u)) (does hare (go ?a)) (true (at hare ?x)) (to ?x ?a ?u))
(<= (to ?x right ?u) (succ ?x ?u) (not (true (wall ?x))))
(<= (to ?x right ?x) (true (wall ?x)))
(<= (to ?x left ?u) (succ ?u ?x) (not (true (wall ?u))))
(<= (to ?x left ?x) (succ ?u ?x) (true (wall ?u)))
(<= (next (wall ?x)) (true (wall ?x)) (true (step ?n)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= caught (true (at hunter ?x)) (true (at hare ?x)))
(<= terminal caught) (<= terminal (true (step 20)))
(<= (goal hunter 100) caught) (<= (goal hunter 0) (not caught))
(<= (goal hare 0) caught) (<= (goal hare 100) (not caught))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9)
(succ 9 10) (succ 10 11) (succ 11 12) (succ 12 13) (succ 13 14) (succ 14 15) (succ 15 16)
(succ 16 17) (succ 17 18) (succ 18 19) (succ 19 20)
";

/// As in mummy maze: the two steps of the hunter are not a line of numbers, but the board ends at
/// the same walls. From end to end the two pieces are as far from each other as they can be.
#[test]
fn distances_between_pieces_are_divided_by_what_they_can_reach() {
    let fuzzy = fuzzy(&game(TWO_STEPS));
    let caught = goal(&fuzzy, 0, 100);
    assert!(matches!(fuzzy.tree.get(caught), Node::PairDistance(_)));
    let at = |hunter: u8, hare: u8| {
        let facts = [format!("(at hunter {hunter})"), format!("(at hare {hare})")];
        evaluator(&fuzzy, &facts.each_ref().map(String::as_str)).truth(caught)
    };
    is_close(at(1, 8), 1.0 - 7.0 / 8.0);
    // One pair of steps of four.
    is_close(at(6, 8), 1.0 - 1.0 / 4.0);
}

/// A goal of zero that is defined by the goal of a hundred.
const LOSER: &str = "
(role white) (role black)
(init (cell 1 blank)) (init (cell 2 blank)) (init (control white))
(<= (legal ?p (mark ?x)) (true (control ?p)) (true (cell ?x blank)))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (next (cell ?x ?p)) (does ?p (mark ?x)))
(<= (next (cell ?x ?c)) (true (cell ?x ?c)) (does ?p (mark ?y)) (distinct ?x ?y))
(<= (next (control white)) (true (control black)))
(<= (next (control black)) (true (control white)))
(<= terminal (not open))
(<= open (true (cell ?x blank)))
(<= (goal ?p 100) (role ?p) (true (cell 1 ?p)) (not open))
(<= (goal ?p 0) (role ?p) (not (goal ?p 100)))
";

#[test]
fn goals_defined_by_other_goals_are_expanded() {
    let fuzzy = fuzzy(&game(LOSER));
    for role in 0..2 {
        for value in [0, 100] {
            let nodes = fuzzy.tree.below(goal(&fuzzy, role, value));
            let is_query =
                |id: &&crate::fuzzy::NodeId| matches!(fuzzy.tree.get(**id), Node::Query(_));
            assert_eq!(nodes.iter().find(is_query), None, "goal {value} of role {role}");
        }
    }
    let mut at = evaluator(&fuzzy, &["(cell 1 white)", "(cell 2 black)"]);
    assert!(at.value(0) > 80.0 && at.value(1) < 20.0, "{} and {}", at.value(0), at.value(1));
}

#[test]
fn solutions_count_by_the_formula_of_the_paper() {
    let options = FuzzyOptions::default();
    assert_eq!(options.logic.cardinality, Cardinality::Disjunction);
    assert_eq!(Logic::YAGER.cardinality, Cardinality::Disjunction);
    // Nine cells of which two are blank: 1 - 0.1^2 * 0.9^7.
    let open = Logic::PRODUCT.generalised_or(2, 9);
    is_close(open.truth, 1.0 - libm::pow(0.1, 2.0) * libm::pow(0.9, 7.0));
    // The falsity of large counts is exact, and never zero.
    let [many, more] = [200, 5_000].map(|n| Logic::PRODUCT.generalised_or(n, n));
    assert!(many.falsity > 0.0 && more.falsity > 0.0, "{many:?} {more:?}");
    assert!(many.falsity > more.falsity);
    assert!(Logic::YAGER.generalised_or(400, 400).falsity > 0.0);
}

/// A robot that may leave the place it has reached.
const VISIT: &str = "
(role robot)
(init (at 1)) (init (lamp off))
(<= (legal robot (go ?u)) (true (at ?x)) (beside ?x ?u))
(<= (legal robot switch))
(<= (next (at ?u)) (does robot (go ?u)))
(<= (next (at ?x)) (does robot switch) (true (at ?x)))
(<= (next (lamp on)) (does robot switch))
(<= (next (lamp ?l)) (true (lamp ?l)) (does robot (go ?u)))
(<= terminal (true (at 4)) (true (lamp on)))
(<= (goal robot 100) (true (lamp on)) (not (true (at 4))))
(<= (goal robot 0) (true (at 4)))
(<= (beside ?x ?u) (succ ?x ?u)) (<= (beside ?x ?u) (succ ?u ?x))
(succ 1 2) (succ 2 3) (succ 3 4)
";

#[test]
fn only_what_is_proved_to_last_decides_a_conjunction() {
    let fuzzy = fuzzy(&game(VISIT));
    let wins = goal(&fuzzy, 0, 100);
    let truth = |lamp: &str, x: u8| evaluator(&fuzzy, &[&format!("(at {x})"), lamp]).truth(wins);
    // At the forbidden place the lamp still makes a difference, because the robot may leave.
    assert!(truth("(lamp on)", 4) > truth("(lamp off)", 4), "the distance 0 decides alone");
    assert!(truth("(lamp on)", 4) < truth("(lamp on)", 3));
    let there = evaluator(&fuzzy, &["(at 4)"]).truth(goal(&fuzzy, 0, 0));
    let beside = evaluator(&fuzzy, &["(at 3)"]).truth(goal(&fuzzy, 0, 0));
    is_close(there, 1.0 - 1.0 / 8.0);
    is_close(beside, 1.0 - 1.0 / 4.0);
}

/// In tic-tac-toe a line with a mark of the opponent is lost. Before, it had the degree 0.01.
#[test]
fn a_line_with_a_mark_of_the_opponent_is_dead() {
    let fuzzy = fuzzy(&shipped("tic-tac-toe"));
    let Node::Or(lines) = fuzzy.tree.get(goal(&fuzzy, 0, 100)).clone() else {
        panic!("eight lines")
    };
    let mut at = evaluator(
        &fuzzy,
        &["(cell 1 1 x)", "(cell 1 2 x)", "(cell 1 3 o)", "(cell 2 1 blank)", "(cell 3 1 blank)"],
    );
    let truths: Vec<f64> = lines.iter().map(|&line| at.truth(line)).collect();
    let of = |cells: [&str; 3]| {
        let cells = cells.map(|cell| fuzzy.game.parse(cell).expect("a fluent"));
        let is_line = |line: &&crate::fuzzy::NodeId| {
            let Node::And(parts) = fuzzy.tree.get(**line) else { return false };
            let texts: Vec<_> = parts.iter().map(|&part| fuzzy.tree.get(part)).collect();
            cells.iter().all(|&cell| {
                texts.iter().any(|node| {
                    matches!(node, Node::Fluent(f)
                        if fuzzy.fluent_text(*f as usize) == fuzzy.game.text(cell))
                })
            })
        };
        truths[lines.iter().position(|line| is_line(&line)).expect("a line")]
    };
    assert_eq!(of(["(cell 1 1 x)", "(cell 1 2 x)", "(cell 1 3 x)"]), 0.0);
    is_close(of(["(cell 1 1 x)", "(cell 2 1 x)", "(cell 3 1 x)"]), 0.01);
}

#[test]
fn an_evaluation_that_ran_out_of_time_says_what_was_left() {
    let game = shipped("checkers");
    let compiled = compiled(&game);
    let known = Properties::find(&game, Some(&compiled), &PropertyLimits::default());
    let late = FuzzyOptions { deadline: Some(Instant::now()), ..FuzzyOptions::default() };
    let fuzzy = FuzzyEvaluation::new(&game, Some(&compiled), &known, &late).expect("it has goals");
    let left = fuzzy.unfinished.as_ref().expect("the time had run out before");
    assert!(left.is_time && !left.goals.is_empty());
    let text = evaluation_text(&fuzzy, None, 8);
    let warning = text.iter().find(|line| line.starts_with("time ran out"));
    let warning = warning.unwrap_or_else(|| panic!("{text:#?}"));
    let (role, value) = left.goals[0];
    let role = &game.shape().role_names[role];
    assert!(warning.contains(&format!("{role} {value}")), "{warning}");
    assert_eq!(evaluation_json(&fuzzy, None)["unfinished"]["reason"], "time");
    let whole = fuzzy_with(&shipped("tic-tac-toe"), &FuzzyOptions::default());
    assert_eq!(whole.unfinished, None);
    assert!(evaluation_json(&whole, None)["unfinished"].is_null());
}

/// The box that is pushed and another box have only the direction of the push in common, so the one
/// does not move to where the other was.
#[test]
fn boxes_that_share_a_direction_are_not_neighbours() {
    let game = shipped("sokoban");
    let fuzzy = fuzzy(&game);
    let target = fuzzy
        .target_distances
        .values()
        .find(|target| target.arguments.iter().any(|(_, goal, _)| game.text(*goal) == "6"))
        .expect("a mark in column 6 is a place to be reached");
    let text = |fluent: &usize| fuzzy.fluent_text(*fluent);
    let near = target.fluents.iter().find(|(fluent, _)| text(fluent) == "(cell 3 3 box)");
    let &(fluent, _) = near.expect("the box can be there");
    let steps = fuzzy.steps_to(target, fluent).expect("there is a path");
    assert!(steps >= 3, "{steps} steps from column 3 to column 6");
}
