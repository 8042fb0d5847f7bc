//! Terms against a direct recursive evaluation.

use agon_testkit::seeded;
use proptest::prelude::*;

use super::*;

/// A term as a tree, with a meaning that shares no code with programs.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Number(i64, i64),
    Variable(u32),
    Time,
    Unary(u8, Box<Tree>),
    Binary(u8, Box<Tree>, Box<Tree>),
    /// 1 if the comparison of the first two, joined with its negation or repetition, holds.
    Compared(u8, Box<Tree>, Box<Tree>),
}

pub(crate) const N_VARIABLES: u32 = 3;

pub(crate) fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (-6i64..7, 1i64..4).prop_map(|(above, below)| Tree::Number(above, below)),
        (0..N_VARIABLES).prop_map(Tree::Variable),
        Just(Tree::Time),
    ];
    leaf.prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            (0u8..10, inner.clone()).prop_map(|(kind, a)| Tree::Unary(kind, a.into())),
            (0u8..7, inner.clone(), inner.clone()).prop_map(|(kind, a, b)| Tree::Binary(
                kind,
                a.into(),
                b.into()
            )),
            (0u8..6, inner.clone(), inner).prop_map(|(kind, a, b)| Tree::Compared(
                kind,
                a.into(),
                b.into()
            )),
        ]
    })
}

pub(crate) fn build(tree: &Tree, pool: &mut Pool) -> Result<Expr, PoolFull> {
    match tree {
        Tree::Number(above, below) => pool
            .number(Rational::fraction(i128::from(*above), i128::from(*below)).expect("it fits")),
        Tree::Variable(index) => pool.variable(*index),
        Tree::Time => pool.time(),
        Tree::Unary(kind, a) => {
            let a = build(a, pool)?;
            match kind {
                0 => pool.negate(a),
                1 => pool.sin(a),
                2 => pool.cos(a),
                3 => pool.exp(a),
                4 => pool.ln(a),
                5 => pool.abs(a),
                6 => pool.sqrt(a),
                7 => pool.root(a, 3),
                8 => pool.power_integer(a, 3),
                _ => pool.power_integer(a, -2),
            }
        }
        Tree::Binary(kind, a, b) => {
            let (a, b) = (build(a, pool)?, build(b, pool)?);
            match kind {
                0 => pool.add(a, b),
                1 => pool.subtract(a, b),
                2 => pool.multiply(a, b),
                3 => pool.divide(a, b),
                4 => pool.min(a, b),
                5 => pool.max(a, b),
                _ => pool.power(a, b),
            }
        }
        Tree::Compared(..) => {
            let condition = build_condition(tree, pool)?;
            pool.indicator(condition)
        }
    }
}

pub(crate) fn build_condition(tree: &Tree, pool: &mut Pool) -> Result<Condition, PoolFull> {
    let Tree::Compared(kind, a, b) = tree else { return pool.truth(true) };
    let (a, b) = (build(a, pool)?, build(b, pool)?);
    match kind {
        0 => pool.less(a, b),
        1 => pool.at_most(a, b),
        2 => pool.equal(a, b),
        3 => pool.unequal(a, b),
        4 => {
            let less = pool.less(a, b)?;
            pool.not(less)
        }
        _ => {
            let (less, at_most) = (pool.less(a, b)?, pool.at_most(b, a)?);
            pool.or(less, at_most)
        }
    }
}

/// The value of a tree; `None` if it is undefined.
pub(crate) fn value(tree: &Tree, variables: &[f64], time: f64) -> Option<f64> {
    let result = match tree {
        Tree::Number(above, below) => *above as f64 / *below as f64,
        Tree::Variable(index) => variables[*index as usize],
        Tree::Time => time,
        Tree::Unary(kind, a) => {
            let a = value(a, variables, time)?;
            match kind {
                0 => -a,
                1 => libm::sin(a),
                2 => libm::cos(a),
                3 => libm::exp(a),
                4 => (a > 0.0).then(|| libm::log(a))?,
                5 => a.abs(),
                6 => (a >= 0.0).then(|| libm::sqrt(a))?,
                7 => libm::cbrt(a),
                8 => a * a * a,
                _ => (a != 0.0).then(|| 1.0 / (a * a))?,
            }
        }
        Tree::Binary(kind, a, b) => {
            let (a, b) = (value(a, variables, time)?, value(b, variables, time)?);
            match kind {
                0 => a + b,
                1 => a - b,
                2 => a * b,
                3 => (b != 0.0).then(|| a / b)?,
                4 => a.min(b),
                5 => a.max(b),
                _ if a == 0.0 && b < 0.0 => return None,
                _ => libm::pow(a, b),
            }
        }
        Tree::Compared(..) => f64::from(u8::from(holds(tree, variables, time))),
    };
    (!result.is_nan()).then_some(result)
}

pub(crate) fn holds(tree: &Tree, variables: &[f64], time: f64) -> bool {
    let Tree::Compared(kind, a, b) = tree else { return true };
    let sides = value(a, variables, time).zip(value(b, variables, time));
    let Some((a, b)) = sides else { return *kind == 4 };
    match kind {
        0 => a < b,
        1 => a <= b,
        2 => a == b,
        3 => a != b,
        4 => a >= b,
        _ => true,
    }
}

fn close(left: Option<f64>, right: Option<f64>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            left == right || (left - right).abs() <= 1e-9 * (1.0 + left.abs().max(right.abs()))
        }
        (None, None) => true,
        _ => false,
    }
}

/// Whether a tree has only operations that rounding changes a little: no comparisons, and nothing
/// that is undefined or steep somewhere.
fn is_smooth(tree: &Tree) -> bool {
    match tree {
        Tree::Number(..) | Tree::Variable(_) | Tree::Time => true,
        Tree::Unary(kind, a) => matches!(kind, 0 | 1 | 2 | 5) && is_smooth(a),
        Tree::Binary(kind, a, b) => matches!(kind, 0 | 1 | 4 | 5) && is_smooth(a) && is_smooth(b),
        Tree::Compared(..) => false,
    }
}

proptest! {
    #![proptest_config(seeded(2000))]

    #[test]
    fn smooth_terms_have_the_value_of_their_trees(
        tree in tree().prop_filter("smooth", is_smooth),
        point in prop::array::uniform3(-3.0..3.0f64),
        time in 0.0..3.0f64,
    ) {
        let mut pool = Pool::new();
        let expr = build(&tree, &mut pool).unwrap();
        let truth = value(&tree, &point, time);
        prop_assert!(close(pool.evaluate_f64(expr, &point, time), truth));
        let reals = point.map(Real::from_f64);
        let found = pool.evaluate(expr, &reals, Real::from_f64(time)).map(|real| real.midpoint());
        prop_assert!(close(found, truth));
    }

    /// Simplification may change rounding, so values are compared by an interval of all terms.
    #[test]
    fn intervals_contain_values(
        tree in tree(),
        point in prop::array::uniform3(-3i32..4),
        time in 0i32..4,
    ) {
        let mut pool = Pool::new();
        let expr = build(&tree, &mut pool).unwrap();
        let exact = point.map(|number| Real::whole(i64::from(number)));
        let boxed = point.map(|number| Interval::around(f64::from(number), 0.25));
        let time = Real::whole(i64::from(time));
        // A wide box contains the value at its centre, unless a comparison is decided differently.
        let has_comparison = format!("{tree:?}").contains("Compared");
        if let Some(value) = pool.evaluate(expr, &exact, time)
            && !has_comparison
        {
            let range = pool.evaluate_interval(expr, &boxed, time.to_interval());
            prop_assert!(range.is_some_and(|range| range.intersection(value.to_interval()).is_some()));
        }
    }

    #[test]
    fn equal_trees_have_equal_ids_and_total_terms_are_defined(
        tree in tree(),
        point in prop::array::uniform3(-3.0..3.0f64),
    ) {
        let mut pool = Pool::new();
        let first = build(&tree, &mut pool).unwrap();
        let n_nodes = pool.len();
        prop_assert_eq!(build(&tree, &mut pool).unwrap(), first);
        prop_assert_eq!(pool.len(), n_nodes);
        if pool.is_total(first) {
            let reals = point.map(Real::from_f64);
            prop_assert!(pool.evaluate(first, &reals, Real::ONE).is_some());
        }
        prop_assert!(pool.variables_of(first).iter().all(|index| *index < N_VARIABLES));
        let found = pool.variables_of(first);
        prop_assert!(found.is_sorted() && found.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

#[test]
fn constants_are_computed_exactly() {
    let mut pool = Pool::new();
    let (third, half) = (Rational::fraction(1, 3).unwrap(), Rational::fraction(1, 2).unwrap());
    let (a, b) = (pool.number(third).unwrap(), pool.number(half).unwrap());
    let sum = pool.add(a, b).unwrap();
    assert_eq!(pool.node(sum), Node::Number(Rational::fraction(5, 6).unwrap()));
    let x = pool.variable(0).unwrap();
    let zero = pool.whole(0).unwrap();
    assert_eq!(pool.multiply(zero, x), Ok(zero));
    // But not if the other factor may be undefined.
    let inverse = pool.power_integer(x, -1).unwrap();
    let product = pool.multiply(zero, inverse).unwrap();
    assert_eq!(pool.evaluate(product, &[Real::ZERO], Real::ZERO), None);
    assert_eq!(pool.evaluate(product, &[Real::ONE], Real::ZERO), Some(Real::ZERO));
}

#[test]
fn comparisons_with_undefined_sides_are_false() {
    let mut pool = Pool::new();
    let (x, one) = (pool.variable(0).unwrap(), pool.whole(1).unwrap());
    let inverse = pool.divide(one, x).unwrap();
    let conditions = [
        pool.less(inverse, one).unwrap(),
        pool.at_most(inverse, one).unwrap(),
        pool.at_most(one, inverse).unwrap(),
        pool.equal(inverse, one).unwrap(),
        pool.unequal(inverse, one).unwrap(),
        pool.defined(inverse).unwrap(),
    ];
    for condition in conditions {
        assert!(!pool.holds(condition, &[Real::ZERO], Real::ZERO));
    }
    assert!(pool.holds(conditions[5], &[Real::ONE], Real::ZERO));
    assert!(pool.holds(conditions[3], &[Real::ONE], Real::ZERO));
}

#[test]
fn uncertain_comparisons_are_not_less_and_not_unequal() {
    let mut pool = Pool::new();
    let (x, y) = (pool.variable(0).unwrap(), pool.variable(1).unwrap());
    let values = [Real::Interval(Interval { lo: 0.0, hi: 2.0 }), Real::ONE];
    let (less, at_most) = (pool.less(x, y).unwrap(), pool.at_most(x, y).unwrap());
    let (equal, unequal) = (pool.equal(x, y).unwrap(), pool.unequal(x, y).unwrap());
    let holds = |condition| pool.holds(condition, &values, Real::ZERO);
    assert_eq!(
        [holds(less), holds(at_most), holds(equal), holds(unequal)],
        [false, true, true, false]
    );
}

#[test]
fn polynomials_are_recognised() {
    let mut pool = Pool::new();
    let (x, t, three) = (pool.variable(0).unwrap(), pool.time().unwrap(), pool.whole(3).unwrap());
    let cube = pool.power_integer(x, 3).unwrap();
    let product = pool.multiply(cube, t).unwrap();
    let part = pool.divide(product, three).unwrap();
    assert!(pool.is_polynomial(part));
    let (sine, quotient) = (pool.sin(x).unwrap(), pool.divide(three, x).unwrap());
    assert!(!pool.is_polynomial(sine) && !pool.is_polynomial(quotient));
    assert_eq!(pool.variables_of(part), [0]);
}

#[test]
fn full_pools_and_deep_terms_are_no_problem() {
    let mut small = Pool::with_limit(3);
    let (x, y) = (small.variable(0).unwrap(), small.variable(1).unwrap());
    let sum = small.add(x, y).unwrap();
    assert_eq!(small.multiply(x, y), Err(PoolFull { limit: 3 }));
    assert_eq!(small.add(y, x), Ok(sum));

    let mut pool = Pool::new();
    let x = pool.variable(0).unwrap();
    let mut term = x;
    for _ in 0..200_000 {
        term = pool.sin(term).unwrap();
        term = pool.add(term, x).unwrap();
    }
    assert!(pool.evaluate_f64(term, &[0.5], 0.0).is_some_and(f64::is_finite));
}
