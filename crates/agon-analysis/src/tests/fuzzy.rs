//! The worked examples of Michulke 2011 on small rulesheets, and laws of evaluations.

use std::sync::Arc;

use agon_game::Position as _;
use agon_gdl::interpreter::Game;

use super::{compiled, game, shipped};
use crate::fuzzy::{
    Cardinality, Degree, DistanceAggregation, DomainKind, Features, FluentSet, FuzzyEvaluation,
    FuzzyEvaluator, FuzzyOptions, Logic, Node, NodeId, TNorm,
};
use crate::properties::{Properties, PropertyLimits};

pub(super) fn fuzzy_with(game: &Arc<Game>, options: &FuzzyOptions) -> Arc<FuzzyEvaluation> {
    let compiled = compiled(game);
    let known = Properties::find(game, Some(&compiled), &PropertyLimits::default());
    Arc::new(
        FuzzyEvaluation::new(game, Some(&compiled), &known, options)
            .expect("the goals can be evaluated"),
    )
}

pub(super) fn fuzzy(game: &Arc<Game>) -> Arc<FuzzyEvaluation> {
    fuzzy_with(game, &FuzzyOptions::default())
}

/// Returns an evaluator at the state in which these fluents hold.
pub(super) fn evaluator(fuzzy: &Arc<FuzzyEvaluation>, fluents: &[&str]) -> FuzzyEvaluator {
    let parse =
        |text: &&str| fuzzy.game.parse(text).unwrap_or_else(|| panic!("{text} is a fluent"));
    let terms: Vec<_> = fluents.iter().map(parse).collect();
    let mut evaluator = FuzzyEvaluator::new(fuzzy);
    evaluator.set_fluents(FluentSet::Terms(&terms));
    evaluator
}

/// Returns the root of the tree of a goal of a role.
pub(super) fn goal(fuzzy: &FuzzyEvaluation, role: usize, value: i64) -> NodeId {
    let found = fuzzy.goals[role].iter().find(|&&(other, _)| other == value);
    found.unwrap_or_else(|| panic!("role {role} has a goal of {value}")).1
}

#[track_caller]
pub(super) fn is_close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

/// Two counters that the players raise, at most to five. The player with the larger one wins.
const RACE: &str = "
(role white) (role black)
(init (count white 0)) (init (count black 0)) (init (step 0))
(<= (legal ?p raise) (role ?p)) (<= (legal ?p rest) (role ?p))
(<= (next (count ?p ?m)) (true (count ?p ?n)) (does ?p raise) (succ ?n ?m))
(<= (next (count ?p ?n)) (true (count ?p ?n)) (does ?p raise) (not (raised ?n)))
(<= (next (count ?p ?n)) (true (count ?p ?n)) (does ?p rest))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= (raised ?n) (succ ?n ?m))
(<= terminal (true (step 5)))
(<= (goal white 100) (true (count white ?w)) (true (count black ?b)) (greater ?w ?b))
(<= (goal black 100) (true (count white ?w)) (true (count black ?b)) (greater ?b ?w))
(<= (goal ?p 0) (role ?p) timeout)
(<= timeout (true (step 5)))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(<= (greater ?a ?b) (succ ?b ?a))
(<= (greater ?a ?c) (succ ?b ?a) (greater ?b ?c))
";

#[test]
fn a_comparison_along_an_order_has_degrees() {
    let fuzzy = fuzzy(&game(RACE));
    let white = goal(&fuzzy, 0, 100);
    assert!(matches!(fuzzy.tree.get(white), Node::Order(_)), "{:?}", fuzzy.tree.get(white));
    let value = |w: u8, b: u8, node| {
        let (w, b) = (format!("(count white {w})"), format!("(count black {b})"));
        evaluator(&fuzzy, &[&w, &b, "(step 0)"]).truth(node)
    };
    // 0.5 + (W - B) / (2 * Size), with six elements in the order.
    is_close(value(3, 3, white), 0.5);
    is_close(value(5, 3, white), 0.5 + 2.0 / 12.0);
    is_close(value(0, 5, white), 0.5 - 5.0 / 12.0);
    is_close(value(5, 3, goal(&fuzzy, 1, 100)), 0.5 - 2.0 / 12.0);
}

#[test]
fn the_value_of_a_timeout_rises_with_each_step() {
    let fuzzy = fuzzy(&game(RACE));
    let timeout = goal(&fuzzy, 0, 0);
    assert_eq!(fuzzy.target_distances[&timeout].kind(), DomainKind::Natural);
    let mut last = 0.0;
    for step in 0..=5 {
        let at = evaluator(&fuzzy, &[&format!("(step {step})")]).truth(timeout);
        // The last step is proved to last, so that it has the degree 1.
        is_close(at, (1.0 - f64::from(5 - step) / 6.0).max(0.1));
        assert!(at > last, "step {step}");
        last = at;
    }
}

/// A hunter and a hare on a board of four by four. The hare moves only to the right and up.
const HUNT: &str = "
(role hunter) (role hare)
(init (at hunter 1 1)) (init (at hare 2 3))
(<= (legal ?p stay) (role ?p))
(<= (legal ?p (go ?u ?v)) (true (at ?p ?x ?y)) (way ?p ?x ?y ?u ?v))
(<= (next (at ?p ?u ?v)) (does ?p (go ?u ?v)))
(<= (next (at ?p ?x ?y)) (does ?p stay) (true (at ?p ?x ?y)))
(<= (way ?p ?x ?y ?u ?y) (role ?p) (succ ?x ?u) (index ?y))
(<= (way ?p ?x ?y ?x ?v) (role ?p) (succ ?y ?v) (index ?x))
(<= (way hunter ?x ?y ?u ?y) (succ ?u ?x) (index ?y))
(<= (way hunter ?x ?y ?x ?v) (succ ?v ?y) (index ?x))
(<= caught (true (at hunter ?x ?y)) (true (at hare ?x ?y)))
(<= terminal caught)
(<= terminal (true (at hare 4 4)))
(<= (goal hunter 100) caught)
(<= (goal hunter 0) (not caught))
(<= (goal hare 100) (true (at hare 4 4)))
(<= (goal hare 0) caught)
(index 1) (index 2) (index 3) (index 4)
(succ 1 2) (succ 2 3) (succ 3 4)
";

#[test]
fn two_fluents_are_valued_by_their_distance() {
    let fuzzy = fuzzy(&game(HUNT));
    let caught = goal(&fuzzy, 0, 100);
    assert!(
        matches!(fuzzy.tree.get(caught), Node::PairDistance(_)),
        "{:?}",
        fuzzy.tree.get(caught)
    );
    let value = |hunter: &str, hare: &str| evaluator(&fuzzy, &[hunter, hare]).truth(caught);
    // Each coordinate has four values, and each of the two distances counts one half.
    is_close(value("(at hunter 1 1)", "(at hare 2 3)"), 1.0 - (1.0 / 4.0 + 2.0 / 4.0) / 2.0);
    // Having met counts as half a step, the smallest distance being a quarter of one half.
    is_close(value("(at hunter 2 3)", "(at hare 2 3)"), 1.0 - 1.0 / 16.0);
    // The hunter can move in all directions, so he can come from the far corner.
    is_close(value("(at hunter 4 4)", "(at hare 2 3)"), 1.0 - (2.0 / 4.0 + 1.0 / 4.0) / 2.0);
}

#[test]
fn distances_respect_the_direction_of_movement() {
    let fuzzy = fuzzy(&game(HUNT));
    let escape = goal(&fuzzy, 1, 100);
    let target = &fuzzy.target_distances[&escape];
    assert_eq!(target.arguments.iter().map(|(argument, ..)| *argument).collect::<Vec<_>>(), [1, 2]);
    is_close(
        evaluator(&fuzzy, &["(at hare 2 3)"]).truth(escape),
        1.0 - (2.0 / 4.0 + 1.0 / 4.0) / 2.0,
    );
    // The hare is proved never to leave the corner.
    is_close(evaluator(&fuzzy, &["(at hare 4 4)"]).truth(escape), 1.0);
    // The hunter cannot become the hare, and without the hare the goal cannot be reached.
    is_close(evaluator(&fuzzy, &["(at hunter 4 4)"]).truth(escape), 0.0);
    let without = FuzzyOptions {
        features: Features { natural: false, ..Features::ALL },
        ..FuzzyOptions::default()
    };
    let plain = fuzzy_with(&game(HUNT), &without);
    is_close(evaluator(&plain, &["(at hare 2 3)"]).truth(goal(&plain, 1, 100)), 0.1);
}

/// Most places are part of the goal, so none is a place to be reached: discs do not climb.
const DISCS: &str = "
(role red)
(init (disc 1 1))
(<= (legal red (put ?x)) (index ?x))
(<= (next (disc ?x ?v)) (does red (put ?x)) (true (disc ?x ?y)) (succ ?y ?v))
(<= (next (disc ?x ?y)) (true (disc ?x ?y)))
(<= (next (disc ?x 1)) (does red (put ?x)))
(<= (row ?y) (index ?y) (true (disc 1 ?y)) (true (disc 2 ?y)) (true (disc 3 ?y)))
(<= terminal (row 3))
(<= (goal red 100) (row ?y))
(<= (goal red 0) (not (row 1)))
(index 1) (index 2) (index 3)
(succ 1 2) (succ 2 3)
";

#[test]
fn places_are_not_targets_if_most_occur_in_the_goal() {
    let fuzzy = fuzzy(&game(DISCS));
    assert!(fuzzy.target_distances.is_empty(), "{:?}", fuzzy.target_distances.keys());
}

#[test]
fn pawns_are_valued_by_their_distance_to_the_last_row() {
    // The column is a variable and the row is given: there is a distance in the row, and no
    // counting.
    let fuzzy = fuzzy(&shipped("breakthrough"));
    let wins = goal(&fuzzy, 0, 100);
    let rows: Vec<_> = fuzzy
        .tree
        .below(wins)
        .into_iter()
        .filter_map(|node| fuzzy.target_distances.get(&node))
        .collect();
    let [row] = rows.as_slice() else { panic!("one distance, not {}", rows.len()) };
    assert_eq!(row.arguments.iter().map(|(argument, ..)| *argument).collect::<Vec<_>>(), [1]);
    let at = |fluents: &[&str]| evaluator(&fuzzy, fluents).value(0);
    let others = "(pawn 5 7 black)";
    assert!(at(&["(pawn 1 6 white)", others]) > at(&["(pawn 1 5 white)", others]));
    assert!(at(&["(pawn 1 6 white)"]) > at(&["(pawn 1 6 white)", others]));
}

#[test]
fn lines_are_expanded_to_cells() {
    let fuzzy = fuzzy(&shipped("tic-tac-toe"));
    let line = goal(&fuzzy, 0, 100);
    let Node::Or(lines) = fuzzy.tree.get(line) else { panic!("{:?}", fuzzy.tree.get(line)) };
    assert_eq!(lines.len(), 8);
    for &line in lines {
        assert!(matches!(fuzzy.tree.get(line), Node::And(cells) if cells.len() == 3));
    }
    // Marks are persistent. So a line with two marks and a blank has the degree 0.1, and each
    // missing mark of the seven other lines is a factor of 0.1.
    let two = evaluator(&fuzzy, &["(cell 1 1 x)", "(cell 2 2 x)", "(cell 3 3 blank)"]).truth(line);
    let others = [0.01, 0.01, 0.01, 0.01, 0.01, 0.001, 0.001];
    is_close(two, 1.0 - 0.9 * others.iter().fold(1.0, |product, other| product * (1.0 - other)));
}

#[test]
fn the_generalised_disjunction_equals_repeated_disjunction() {
    let paper = Logic { cardinality: Cardinality::Disjunction, ..Logic::PRODUCT };
    let yager = Logic { cardinality: Cardinality::Disjunction, ..Logic::YAGER };
    for logic in [paper, yager] {
        for n in 0..=9 {
            let one_by_one = (0..9).fold(Degree::FALSE, |sum, place| {
                logic.or(sum, Degree::of(logic.fuzzy(place < n)))
            });
            is_close(logic.generalised_or(n, 9).truth, one_by_one.truth);
        }
    }
    for cardinality in [Cardinality::Graded, Cardinality::Share, Cardinality::Disjunction] {
        for norm in [TNorm::Product, TNorm::Yager { q: 15.0 }] {
            let logic = Logic { norm, truth: 0.9, cardinality };
            let values: Vec<f64> = (0..=9).map(|n| logic.generalised_or(n, 9).truth).collect();
            assert!(
                values.windows(2).all(|pair| pair[0] <= pair[1]),
                "{cardinality:?} {norm:?}: {values:?}"
            );
        }
    }
}

#[test]
fn solutions_are_counted() {
    let fuzzy = fuzzy(&shipped("breakthrough"));
    let pattern = fuzzy.tree.nodes().find(|(id, node)| {
        matches!(node, Node::Pattern(_)) && !fuzzy.target_distances.contains_key(id)
    });
    let (alive, _) = pattern.expect("whether a pawn is alive is a fluent with variables");
    let mut evaluator = FuzzyEvaluator::new(&fuzzy);
    assert_eq!(evaluator.solutions(alive), Some(16));
    let off = Features { cardinality: false, ..Features::ALL };
    let plain = fuzzy_with(
        &shipped("breakthrough"),
        &FuzzyOptions { features: off, ..FuzzyOptions::default() },
    );
    assert_eq!(plain.counts().fluent_cardinality, 0);
}

/// Won terminal states are valued higher than lost ones, also with features switched off.
#[test]
fn won_states_are_valued_higher_than_lost_ones() {
    let handicaps = [
        Features::ALL,
        Features::NONE,
        Features { persistence: false, ..Features::ALL },
        Features { cardinality: false, ..Features::ALL },
    ];
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "pawn-whopping", "knightthrough"] {
        let game = shipped(name);
        let compiled = compiled(&game);
        let known = Properties::find(&game, Some(&compiled), &PropertyLimits::default());
        for (features, logic) in
            handicaps.into_iter().flat_map(|f| [(f, Logic::PRODUCT), (f, Logic::YAGER)])
        {
            let options = FuzzyOptions {
                features,
                logic,
                aggregation: DistanceAggregation::Nearest,
                ..FuzzyOptions::default()
            };
            let fuzzy = Arc::new(
                FuzzyEvaluation::new(&game, Some(&compiled), &known, &options).expect(name),
            );
            let mut evaluator = FuzzyEvaluator::new(&fuzzy);
            let (mut won, mut lost) = (Vec::new(), Vec::new());
            for seen in known.plays.states().filter(|seen| seen.is_terminal) {
                evaluator.set_fluents(FluentSet::Bits(&seen.fluents));
                let value = evaluator.value(0);
                assert!((0.0..=100.0).contains(&value), "{name}: {value}");
                if seen.payoffs[0] == 100.0 {
                    won.push(value);
                } else if seen.payoffs[0] == 0.0 {
                    lost.push(value);
                }
            }
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
            assert!(
                mean(&won) > mean(&lost),
                "{name} {features:?}: {} and {}",
                mean(&won),
                mean(&lost)
            );
        }
    }
}

/// The value does not depend on how the state is given.
#[test]
fn bits_and_terms_give_the_same_values() {
    for name in ["connect-four", "breakthrough", "checkers", "hanoi"] {
        let game = shipped(name);
        let compiled = compiled(&game);
        let known = Properties::find(&game, Some(&compiled), &PropertyLimits::default());
        let fuzzy = FuzzyEvaluation::new(&game, Some(&compiled), &known, &FuzzyOptions::default())
            .expect(name);
        let fuzzy = Arc::new(fuzzy);
        let (mut by_bits, mut by_terms) =
            (FuzzyEvaluator::new(&fuzzy), FuzzyEvaluator::new(&fuzzy));
        for seen in known.plays.states().take(60) {
            by_bits.set_fluents(FluentSet::Bits(&seen.fluents));
            let terms: Vec<_> =
                seen.fluents.iter().map(|&f| known.fluents[f as usize].term).collect();
            by_terms.set_fluents(FluentSet::Terms(&terms));
            for role in game.shape().players() {
                assert_eq!(by_bits.value(role.index()), by_terms.value(role.index()), "{name}");
            }
        }
    }
}

/// With degree 1 for true fluents and no features, the trees agree with the rules.
#[test]
fn crisp_evaluations_equal_the_goals() {
    let logic = Logic { truth: 1.0, ..Logic::PRODUCT };
    let options = FuzzyOptions { logic, features: Features::NONE, ..FuzzyOptions::default() };
    for name in [
        "tic-tac-toe",
        "connect-four",
        "breakthrough",
        "checkers",
        "nim",
        "hanoi",
        "pursuit",
        "hex",
    ] {
        let game = shipped(name);
        let compiled = compiled(&game);
        let known = Properties::find(&game, Some(&compiled), &PropertyLimits::default());
        let fuzzy =
            Arc::new(FuzzyEvaluation::new(&game, Some(&compiled), &known, &options).expect(name));
        let mut evaluator = FuzzyEvaluator::new(&fuzzy);
        let mut position = game.start();
        let mut rng = rand::SeedableRng::seed_from_u64(3);
        let mut joint = Vec::new();
        for _ in 0..200 {
            evaluator.set_fluents(FluentSet::Terms(position.state().fluents()));
            for role in game.shape().players() {
                let values = position.goal_values(role);
                for &(value, root) in &fuzzy.goals[role.index()] {
                    let holds = evaluator.truth(root) == 1.0;
                    assert_eq!(
                        holds,
                        values.contains(&value),
                        "{name}: goal {value} of role {}",
                        role.index()
                    );
                }
            }
            if position.is_terminal() {
                position.go_to(game.start().state());
            }
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
    }
}

/// Counting discs one by one is compiled to formulas. Connections on a board may be cyclic, and are
/// left to the reasoner.
#[test]
fn recursion_is_unfolded_unless_it_is_cyclic() {
    for (name, n_reasoner_queries) in [("othello", 0), ("hex", 2)] {
        let game = shipped(name);
        let compiled = compiled(&game);
        let known = Properties::find(&game, Some(&compiled), &PropertyLimits::default());
        let fuzzy = FuzzyEvaluation::new(&game, Some(&compiled), &known, &FuzzyOptions::default())
            .expect(name);
        assert_eq!(fuzzy.n_reasoner_queries(), n_reasoner_queries, "{name}");
    }
}

/// Compiled queries have as many solutions as the reasoner finds.
#[test]
fn compiled_queries_agree_with_the_reasoner() {
    let slow = FuzzyOptions { is_compiled: false, ..FuzzyOptions::default() };
    for name in [
        "checkers",
        "hanoi",
        "othello",
        "pawn-whopping",
        "chinese-checkers",
        "lights-out",
        "blocker",
    ] {
        let game = shipped(name);
        let compiled = compiled(&game);
        let known = Properties::find(&game, Some(&compiled), &PropertyLimits::default());
        let made = |options| {
            Arc::new(FuzzyEvaluation::new(&game, Some(&compiled), &known, options).expect(name))
        };
        let (fast, slow) = (made(&FuzzyOptions::default()), made(&slow));
        let (mut fast, mut slow) = (FuzzyEvaluator::new(&fast), FuzzyEvaluator::new(&slow));
        let queries: Vec<NodeId> = slow.fuzzy().tree.nodes().map(|(id, _)| id).collect();
        for seen in known.plays.states().step_by(7).take(20) {
            fast.set_fluents(FluentSet::Bits(&seen.fluents));
            slow.set_fluents(FluentSet::Bits(&seen.fluents));
            for &id in &queries {
                assert_eq!(
                    fast.solutions(id),
                    slow.solutions(id),
                    "{name}: {:?}",
                    slow.fuzzy().tree.get(id)
                );
            }
        }
    }
}
