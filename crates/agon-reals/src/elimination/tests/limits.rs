//! Limits end hopeless eliminations with an error that names the limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Random, Shape, atom, exists, generous};
use crate::elimination::{EliminationError, EliminationLimits, RealFormula, decide, eliminate};
use crate::interrupt::Interrupt;

/// Returns a formula whose elimination would not end in a lifetime.
fn explosive() -> RealFormula {
    let mut random = Random::new(51);
    let shape = Shape { n_variables: 6, degree: 5, n_terms: 8, n_atoms: 8 };
    let mut formula = random.formula(shape);
    for variable in 0..5 {
        formula = if variable % 2 == 0 {
            RealFormula::Exists(variable, Box::new(formula))
        } else {
            RealFormula::All(variable, Box::new(formula))
        };
    }
    formula
}

#[test]
fn explosive_input_is_refused() {
    // The steps that are counted do bounded work, so the count bounds the time.
    let limits = EliminationLimits { max_steps: 100_000, ..Default::default() };
    let result = eliminate(&explosive(), &limits);
    let is_refusal = matches!(
        result,
        Err(EliminationError::TooManySteps
            | EliminationError::TooManyAtoms
            | EliminationError::TooManyTerms
            | EliminationError::TooDeep)
    );
    assert!(is_refusal, "{result:?}");
}

#[test]
fn each_limit_is_named() {
    let quadratic = exists("x", atom("a*x^2 + b*x + c = 0"));
    let limits = EliminationLimits { max_atoms: 2, ..Default::default() };
    assert_eq!(eliminate(&quadratic, &limits), Err(EliminationError::TooManyAtoms));
    let limits = EliminationLimits { max_terms: 2, ..Default::default() };
    assert_eq!(eliminate(&quadratic, &limits), Err(EliminationError::TooManyTerms));
    let limits = EliminationLimits { max_steps: 3, ..Default::default() };
    assert_eq!(eliminate(&quadratic, &limits), Err(EliminationError::TooManySteps));
    let limits = EliminationLimits { max_depth: 1, ..Default::default() };
    assert_eq!(eliminate(&quadratic, &limits), Err(EliminationError::TooDeep));
    let cubic = exists("x", atom("a*x^3 + b*x + c = 0"));
    let limits = EliminationLimits { max_degree: 2, ..Default::default() };
    assert_eq!(eliminate(&cubic, &limits), Err(EliminationError::DegreeTooLarge));
    let large = exists("x", atom("1267650600228229401496703205376*x^2 + b*x + 1 = 0"));
    let limits = EliminationLimits { max_coefficient_bits: 50, ..Default::default() };
    assert_eq!(eliminate(&large, &limits), Err(EliminationError::CoefficientTooLarge));
    assert_eq!(decide(&quadratic, &generous()), Err(EliminationError::FreeVariable(0)));
}

#[test]
fn deep_formulas_are_refused() {
    let mut formula = atom("x > 0");
    for _ in 0..5_000 {
        formula = formula.negation();
    }
    let limits = EliminationLimits::default();
    assert_eq!(eliminate(&formula, &limits), Err(EliminationError::TooDeep));
}

#[test]
fn a_set_flag_stops_elimination() {
    let stop = Arc::new(AtomicBool::new(false));
    let limits = EliminationLimits {
        interrupt: Interrupt { deadline: None, stop: Some(stop.clone()) },
        ..generous()
    };
    let quadratic = exists("x", atom("a*x^2 + b*x + c = 0"));
    assert!(eliminate(&quadratic, &limits).is_ok());
    stop.store(true, Ordering::Relaxed);
    assert_eq!(eliminate(&explosive(), &limits), Err(EliminationError::Stopped));
    let late = Interrupt::at(Some(std::time::Instant::now()));
    let limits = EliminationLimits { interrupt: late, ..generous() };
    assert_eq!(eliminate(&explosive(), &limits), Err(EliminationError::Stopped));
}
