//! Sets and real functions: printing, free variables, substitution, and values.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::evaluate::{Assignment, EvaluationError, Evaluator, Limits, Model, Naive};
use crate::formula::{
    Definition, Definitions, Formula, Operator, RealFunction, Sign, Term, Variable,
};
use crate::rational::Rational;
use crate::structure::{Structure, Vocabulary};

fn apply(function: RealFunction, arguments: impl IntoIterator<Item = Term>) -> Term {
    Term::Apply(function, arguments.into_iter().collect())
}

#[test]
fn sets_and_functions_are_printed_as_they_are_read() {
    let [x, set, real] = ["x", "X", ":a"].map(Variable::new);
    let member = Formula::member(&x, &set);
    let both = Formula::And(vec![member.clone(), Formula::not(member.clone())]);
    let large = Formula::compare(Term::Variable(real.clone()), Sign::Greater, Term::whole(2));
    let least = Term::Least(real.clone(), Box::new(large.clone()));
    let more = Term::binary(Operator::Plus, least.clone(), Term::whole(1));
    let two = || Term::whole(2);
    for (shown, text) in [
        (both.to_string(), "x in X and not (x in X)"),
        (Formula::exists([&set, &x], member.clone()).to_string(), "ex X, x (x in X)"),
        (Formula::all([&real], large).to_string(), "all :a (:a > 2)"),
        (least.to_string(), "min :a (:a > 2)"),
        (apply(RealFunction::Root(2), [more]).to_string(), "sqrt(min :a (:a > 2) + 1)"),
        (apply(RealFunction::Root(3), [two()]).to_string(), "root(3, 2)"),
        (apply(RealFunction::Max, [two(), two()]).to_string(), "max(2, 2)"),
        (apply(RealFunction::Log, [two()]).to_string(), "log(2)"),
    ] {
        assert_eq!(shown, text);
    }
    assert_eq!(both.free_variables().into_iter().collect::<Vec<_>>(), [x.clone(), set.clone()]);
    assert!(least.free_variables().is_empty());
    assert_eq!(least.quantified_beyond_elements(), Some(real));
    assert_eq!(Formula::exists([&x], both.clone()).quantified_beyond_elements(), None);
    assert_eq!(Formula::all([&set], both).quantified_beyond_elements(), Some(set));
}

#[test]
fn bound_sets_and_numbers_do_not_capture() {
    let [x, y, set, real, limit] = ["x", "y", "X", ":a", ":b"].map(Variable::new);
    // The relation stands for a set that is free in its definition.
    let body = Formula::member(&y, &set);
    let definition = Definition { name: "P".into(), variables: vec![y], body };
    let inner = Formula::And(vec![Formula::atom("P", [&x]), Formula::member(&x, &set)]);
    let formula = Formula::exists([&set], inner);
    let replaced = formula.with_relation(&definition, 100).unwrap();
    assert_eq!(replaced.to_string(), "ex X1 (x in X and x in X1)");
    let other = Variable::new("Y");
    let swapped = replaced.substituted(&BTreeMap::from([(set, (&other).into())]));
    assert_eq!(swapped.to_string(), "ex X1 (x in Y and x in X1)");
    // A number of a `let` is not the number that `min` looks for.
    let of_real = Term::Variable(real.clone());
    let above = Formula::compare(of_real.clone(), Sign::Greater, Term::Variable(limit.clone()));
    let least = Term::Least(real.clone(), Box::new(above));
    let named = Term::Let(limit, Box::new(of_real), Box::new(least));
    let plain = named.without_lets(100).unwrap();
    assert_eq!(plain.to_string(), "min :a1 (:a1 > :a)");
    assert_eq!(plain.free_variables().into_iter().collect::<Vec<_>>(), [real]);
}

/// Returns the value by both evaluators, which must agree.
fn value(term: &Term) -> Result<Option<Rational>, EvaluationError> {
    let structure = Structure::new(Arc::new(Vocabulary::new()));
    let definitions = Definitions::new();
    let model = Model { structure: &structure, definitions: &definitions };
    let expected = Naive::new(model, Limits::default()).value(term, &Assignment::new());
    let mut evaluator =
        Evaluator::new(structure.vocabulary().clone(), Arc::default(), Limits::default());
    let query = evaluator.term(term, &[])?;
    assert_eq!(evaluator.value(query, &structure, &Assignment::new()), expected);
    expected
}

#[test]
fn roots_of_powers_are_exact() {
    for numerator in -7..=7i64 {
        for denominator in 1..=4i64 {
            let base = Rational::fraction(numerator.into(), denominator.into()).unwrap();
            for degree in 1..=5u32 {
                let power = base.power(Rational::whole(degree.into())).unwrap().unwrap();
                let root = value(&apply(RealFunction::Root(degree), [Term::Number(power)]));
                let is_even = degree % 2 == 0;
                let expected = if is_even && base.signum() < 0 { base.negated() } else { base };
                assert_eq!(root, Ok(Some(expected)), "{base} {degree}");
                // Powers of positive integers are not next to each other.
                let next = power.plus(Rational::ONE).unwrap();
                if degree > 1 && base.is_whole() && power.signum() > 0 {
                    let function = RealFunction::Root(degree);
                    let root = value(&apply(function, [Term::Number(next)]));
                    assert_eq!(root, Err(EvaluationError::Inexact(function)), "{next} {degree}");
                }
            }
        }
    }
}

#[test]
fn other_functions_are_exact_or_refused() {
    let whole = |number| Term::whole(number);
    let exact = |number| Ok(Some(Rational::whole(number)));
    let no_value = Term::binary(Operator::Divide, whole(1), whole(0));
    for (function, arguments, expected) in [
        (RealFunction::Abs, vec![whole(-3)], exact(3)),
        (RealFunction::Min, vec![whole(4), whole(-3), whole(0)], exact(-3)),
        (RealFunction::Max, vec![whole(4), whole(-3)], exact(4)),
        (RealFunction::Max, vec![whole(4), no_value], Ok(None)),
        (RealFunction::Sin, vec![whole(0)], exact(0)),
        (RealFunction::Cos, vec![whole(0)], exact(1)),
        (RealFunction::Exp, vec![whole(0)], exact(1)),
        (RealFunction::Log, vec![whole(1)], exact(0)),
        (RealFunction::Log, vec![whole(0)], Ok(None)),
        (RealFunction::Root(2), vec![whole(-1)], Ok(None)),
        (RealFunction::Root(0), vec![whole(1)], Ok(None)),
        (RealFunction::Sin, vec![whole(1)], Err(EvaluationError::Inexact(RealFunction::Sin))),
        (RealFunction::Exp, vec![whole(2)], Err(EvaluationError::Inexact(RealFunction::Exp))),
        (RealFunction::Abs, vec![], Err(EvaluationError::WrongArguments(RealFunction::Abs, 0))),
    ] {
        assert_eq!(value(&Term::Apply(function, arguments)), expected, "{function:?}");
    }
}
