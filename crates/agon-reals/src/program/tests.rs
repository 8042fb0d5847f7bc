//! Programs against the direct evaluation of trees, and lanes against single points.

use agon_testkit::seeded;
use proptest::prelude::*;

use super::*;
use crate::expression::tests::{N_VARIABLES, Tree, build, build_condition, holds, tree, value};

/// Points that hit special cases often.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), Just(-1.0), -4.0..4.0f64]
}

/// Whether the tree has no constants that the pool would compute, so that rounding is the same.
fn keeps_rounding(tree: &Tree) -> bool {
    match tree {
        Tree::Number(_, below) => *below == 1,
        Tree::Variable(_) | Tree::Time => true,
        Tree::Unary(kind, a) => {
            // Double negation and negated differences are simplified without rounding; functions of
            // constants are computed as intervals.
            !matches!(**a, Tree::Number(..)) && *kind != 8 && *kind != 9 && keeps_rounding(a)
        }
        Tree::Binary(kind, a, b) => {
            let constants = matches!(**a, Tree::Number(..)) || matches!(**b, Tree::Number(..));
            let vanishes = *kind == 1 && same(a, b);
            !constants && !vanishes && *kind != 6 && keeps_rounding(a) && keeps_rounding(b)
        }
        // A decided comparison is a constant.
        Tree::Compared(_, a, b) => {
            !same(a, b) && (is_open(a) || is_open(b)) && keeps_rounding(a) && keeps_rounding(b)
        }
    }
}

fn same(a: &Tree, b: &Tree) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

/// Whether a variable occurs.
fn is_open(tree: &Tree) -> bool {
    match tree {
        Tree::Number(..) => false,
        Tree::Variable(_) | Tree::Time => true,
        Tree::Unary(_, a) => is_open(a),
        Tree::Binary(_, a, b) | Tree::Compared(_, a, b) => is_open(a) || is_open(b),
    }
}

proptest! {
    #![proptest_config(seeded(3000))]

    #[test]
    fn programs_equal_direct_evaluation(
        trees in prop::collection::vec(tree().prop_filter("as is", keeps_rounding), 1..4),
        point in prop::array::uniform3(coordinate()),
        time in coordinate(),
    ) {
        let mut pool = Pool::new();
        let exprs: Vec<_> = trees.iter().map(|tree| build(tree, &mut pool).unwrap()).collect();
        let conditions: Vec<_> =
            trees.iter().map(|tree| build_condition(tree, &mut pool).unwrap()).collect();
        let program = Program::new(&pool, &exprs, &conditions);
        prop_assert!(program.n_variables() <= N_VARIABLES as usize);
        let mut results = vec![0.0; 2 * trees.len()];
        program.run_f64(&point, time, &mut results, &mut Vec::new());
        for (index, tree) in trees.iter().enumerate() {
            let truth = value(tree, &point, time).unwrap_or(f64::NAN);
            let found = results[index];
            prop_assert!(found == truth || (found.is_nan() && truth.is_nan()), "{} {}", found, truth);
            prop_assert_eq!(results[trees.len() + index] == 1.0, holds(tree, &point, time));
        }
    }

    #[test]
    fn lanes_equal_single_points(
        trees in prop::collection::vec(tree(), 1..4),
        points in prop::collection::vec((prop::array::uniform3(coordinate()), coordinate()), 16),
    ) {
        let mut pool = Pool::new();
        let exprs: Vec<_> = trees.iter().map(|tree| build(tree, &mut pool).unwrap()).collect();
        let conditions: Vec<_> =
            trees.iter().map(|tree| build_condition(tree, &mut pool).unwrap()).collect();
        let program = Program::new(&pool, &exprs, &conditions);
        let variables: Vec<[f64; 16]> = (0..N_VARIABLES as usize)
            .map(|index| std::array::from_fn(|lane| points[lane].0[index]))
            .collect();
        let times: [f64; 16] = std::array::from_fn(|lane| points[lane].1);
        let n_results = 2 * trees.len();
        let mut together = vec![[0.0; 16]; n_results];
        program.run_lanes(&variables, times, &mut together, &mut Vec::new());
        for (lane, (point, time)) in points.iter().enumerate() {
            let mut alone = vec![0.0; n_results];
            program.run_f64(point, *time, &mut alone, &mut Vec::new());
            for (index, expected) in alone.iter().enumerate() {
                let found = together[index][lane];
                prop_assert!(found == *expected || (found.is_nan() && expected.is_nan()));
            }
        }
    }
}

#[test]
fn common_parts_are_computed_once() {
    let mut pool = Pool::new();
    let x = pool.variable(0).unwrap();
    let square = pool.multiply(x, x).unwrap();
    let (sine, cosine) = (pool.sin(square).unwrap(), pool.cos(square).unwrap());
    assert_eq!(Program::new(&pool, &[sine, cosine, square], &[]).len(), 4);
    assert!(Program::new(&pool, &[], &[]).is_empty());
}
