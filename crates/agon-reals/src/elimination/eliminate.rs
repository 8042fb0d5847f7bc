//! The order of elimination: innermost quantifiers first, and for each block of equal quantifiers
//! the variable and the method that promise the smallest result.

use std::collections::BTreeSet;

use super::cohen_hormander;
use super::formula::{RealFormula, Sign};
use super::limits::{EliminationError, EliminationLimits, Work};
use super::polynomial::{Polynomial, common_divisor};
use super::simplify::simplify;
use super::univariate::solutions_within;
use super::virtual_substitution::{TestPoint, roots_of_equation, test_points};

/// The algorithms that eliminate a variable. Tests compare them with each other.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Method {
    /// Virtual substitution where the degree allows it, root isolation where only one variable is
    /// left, and the algorithm of Cohen and Hörmander otherwise.
    Best,
    /// The algorithm of Cohen and Hörmander for every variable.
    CohenHormander,
}

/// Returns an equivalent formula without quantifiers. Its variables are the free variables of the
/// given formula.
///
/// # Errors
/// If a limit is reached.
pub fn eliminate(
    formula: &RealFormula,
    limits: &EliminationLimits,
) -> Result<RealFormula, EliminationError> {
    eliminate_by(Method::Best, formula, limits)
}

/// Like [`eliminate`], with a choice of the algorithm.
///
/// # Errors
/// If a limit is reached.
pub fn eliminate_by(
    method: Method,
    formula: &RealFormula,
    limits: &EliminationLimits,
) -> Result<RealFormula, EliminationError> {
    let work = Work::new(limits);
    work.check_formula(formula)?;
    eliminate_within(method, formula, &work)
}

/// Like [`eliminate_by`], but counts steps in the budget of a larger computation. The size of the
/// formula must have been checked.
pub(crate) fn eliminate_within(
    method: Method,
    formula: &RealFormula,
    work: &Work<'_>,
) -> Result<RealFormula, EliminationError> {
    let mut sizes = Ok(());
    formula.for_each_atom(&mut |polynomial, _| {
        if sizes.is_ok() {
            sizes = work.check(polynomial);
        }
    });
    sizes?;
    let simple = simplify(formula);
    Eliminator { method, work }.quantifier_free(&simple)
}

struct Eliminator<'a> {
    method: Method,
    work: &'a Work<'a>,
}

/// How a variable of a block is eliminated, the cheapest first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Plan {
    /// By the root of a linear equation whose leading coefficient is a number.
    Substitute(Polynomial),
    /// By the test points of linear comparisons.
    Linear,
    /// By the roots of a linear or quadratic equation.
    Equation(Polynomial),
    /// By the test points of linear and quadratic comparisons.
    Quadratic,
    /// By a lower degree: all exponents of the variable are multiples of a number.
    DivideExponents(u32),
    CohenHormander,
}

impl Eliminator<'_> {
    /// Eliminates all quantifiers of a formula without negations.
    fn quantifier_free(&self, formula: &RealFormula) -> Result<RealFormula, EliminationError> {
        match formula {
            RealFormula::True | RealFormula::False | RealFormula::Compare(..) => {
                Ok(formula.clone())
            }
            RealFormula::Not(inner) => Ok(simplify(&self.quantifier_free(inner)?.negation())),
            RealFormula::And(parts) => {
                let parts: Result<Vec<_>, _> =
                    parts.iter().map(|part| self.quantifier_free(part)).collect();
                Ok(simplify(&RealFormula::And(parts?)))
            }
            RealFormula::Or(parts) => {
                let parts: Result<Vec<_>, _> =
                    parts.iter().map(|part| self.quantifier_free(part)).collect();
                Ok(simplify(&RealFormula::Or(parts?)))
            }
            RealFormula::Exists(..) => {
                let mut block = BTreeSet::new();
                let mut inner = formula;
                while let RealFormula::Exists(variable, body) = inner {
                    block.insert(*variable);
                    inner = body;
                }
                let body = self.quantifier_free(inner)?;
                self.exists(&block, &simplify(&body))
            }
            RealFormula::All(..) => {
                let mut block = BTreeSet::new();
                let mut inner = formula;
                while let RealFormula::All(variable, body) = inner {
                    block.insert(*variable);
                    inner = body;
                }
                let body = self.quantifier_free(inner)?;
                let exception = self.exists(&block, &simplify(&body.negation()))?;
                Ok(simplify(&exception.negation()))
            }
        }
    }

    /// Eliminates a block of existential quantifiers before a simplified formula without
    /// quantifiers and negations.
    ///
    /// The disjuncts are finished one after the other, each with an order of variables of its own,
    /// and a disjunct that holds everywhere ends the search.
    fn exists(
        &self,
        block: &BTreeSet<u32>,
        body: &RealFormula,
    ) -> Result<RealFormula, EliminationError> {
        self.work.check_size(body)?;
        let free = body.free_variables();
        let block: BTreeSet<u32> = block.intersection(&free).copied().collect();
        if block.is_empty() {
            return Ok(body.clone());
        }
        match body {
            RealFormula::Or(parts) => {
                return self.first_of(&block, parts.iter().map(|part| Ok(part.clone())));
            }
            RealFormula::And(parts) => {
                let is_outside =
                    |part: &&RealFormula| !block.iter().any(|variable| part.mentions(*variable));
                let (outside, inside): (Vec<_>, Vec<_>) = parts.iter().partition(is_outside);
                if !outside.is_empty() {
                    let inside = RealFormula::And(inside.into_iter().cloned().collect());
                    let mut parts: Vec<RealFormula> = outside.into_iter().cloned().collect();
                    parts.push(self.exists(&block, &simplify(&inside))?);
                    return Ok(simplify(&RealFormula::And(parts)));
                }
            }
            _ => {}
        }
        if self.method == Method::Best && free.len() == 1 {
            let variable = *free.first().expect("the formula has one variable");
            let set = solutions_within(body, variable, self.work)?;
            return Ok(RealFormula::truth(!set.is_empty()));
        }
        let plans = block.iter().map(|variable| {
            let (plan, n_atoms) = self.plan(body, *variable);
            (plan, n_atoms, *variable)
        });
        let (plan, _, variable) = plans.min().expect("the block is not empty");
        let mut rest = block.clone();
        rest.remove(&variable);
        match plan {
            Plan::Linear | Plan::Quadratic => {
                let points = test_points(body, variable, self.work)?;
                let points = points.expect("the plan has checked the degree");
                self.test(&rest, body, variable, &points)
            }
            Plan::Substitute(equation) | Plan::Equation(equation) => {
                let points = roots_of_equation(&equation, variable, self.work)?;
                let points = points.expect("the plan has checked the degree");
                let found = self.test(&rest, body, variable, &points)?;
                if found == RealFormula::True {
                    return Ok(found);
                }
                let degenerate = without_equation(body, &equation, variable);
                let otherwise = self.exists(&block, &simplify(&degenerate))?;
                Ok(simplify(&RealFormula::Or(vec![found, otherwise])))
            }
            Plan::DivideExponents(divisor) => {
                let mut lower = body.map_atoms_with_free(variable, &|polynomial, sign| {
                    let divided = polynomial.with_exponents_divided(variable, divisor);
                    RealFormula::Compare(divided, sign)
                });
                if divisor % 2 == 0 {
                    let value = Polynomial::variable(variable);
                    let is_power = RealFormula::Compare(value, Sign::GreaterOrEqual);
                    lower = RealFormula::And(vec![is_power, lower]);
                }
                self.exists(&block, &simplify(&lower))
            }
            Plan::CohenHormander => {
                let result = cohen_hormander::eliminate_variable(body, variable, self.work)?;
                self.exists(&rest, &result)
            }
        }
    }

    /// Eliminates the rest of a block before the disjunction over all test points.
    fn test(
        &self,
        rest: &BTreeSet<u32>,
        body: &RealFormula,
        variable: u32,
        points: &[TestPoint],
    ) -> Result<RealFormula, EliminationError> {
        let cases = points.iter().map(|point| {
            let case = point.substitute(body, variable, self.work)?;
            self.work.check_size(&case)?;
            Ok(simplify(&case))
        });
        self.first_of(rest, cases)
    }

    /// Eliminates a block before a disjunction whose parts are computed on demand.
    fn first_of(
        &self,
        block: &BTreeSet<u32>,
        parts: impl Iterator<Item = Result<RealFormula, EliminationError>>,
    ) -> Result<RealFormula, EliminationError> {
        let mut results = Vec::new();
        let mut n_atoms = 0;
        for part in parts {
            let result = self.exists(block, &part?)?;
            if result == RealFormula::True {
                return Ok(result);
            }
            n_atoms += result.size().n_atoms;
            self.work.check_n_atoms(n_atoms)?;
            results.push(result);
        }
        Ok(simplify(&RealFormula::Or(results)))
    }

    /// Returns how a variable would be eliminated, and the number of comparisons with it.
    fn plan(&self, body: &RealFormula, variable: u32) -> (Plan, usize) {
        let mut n_atoms = 0;
        let mut degree = 0;
        let mut divisor = 0;
        body.for_each_atom(&mut |polynomial, _| {
            let own = polynomial.degree(variable);
            n_atoms += usize::from(own > 0);
            degree = degree.max(own);
            divisor = common_divisor(divisor, polynomial.exponent_divisor(variable));
        });
        if self.method == Method::CohenHormander {
            return (Plan::CohenHormander, n_atoms);
        }
        let conjuncts = match body {
            RealFormula::And(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let equation = conjuncts.iter().filter_map(|part| match part {
            RealFormula::Compare(polynomial, Sign::Equal) => {
                let own = polynomial.degree(variable);
                (own == 1 || own == 2).then(|| {
                    let leading = polynomial.coefficients(variable).pop();
                    let is_number = leading.is_some_and(|leading| leading.as_constant().is_some());
                    (own, !is_number, polynomial)
                })
            }
            _ => None,
        });
        let plan = match equation.min() {
            Some((1, false, polynomial)) => Plan::Substitute(polynomial.clone()),
            _ if degree == 1 => Plan::Linear,
            Some((_, _, polynomial)) => Plan::Equation(polynomial.clone()),
            _ if degree == 2 => Plan::Quadratic,
            _ if divisor > 1 => Plan::DivideExponents(divisor),
            _ => Plan::CohenHormander,
        };
        // Among variables that need the general algorithm, the lowest degree counts first.
        let weight = if plan == Plan::CohenHormander { degree as usize * 1000 } else { 0 };
        (plan, weight + n_atoms)
    }
}

/// Returns the formula for the case that an equation, which is a conjunct, holds for all values of
/// a variable.
fn without_equation(body: &RealFormula, equation: &Polynomial, variable: u32) -> RealFormula {
    let is_equation = |part: &RealFormula| matches!(part, RealFormula::Compare(polynomial, Sign::Equal) if polynomial == equation);
    let coefficients = equation.coefficients(variable).into_iter();
    let mut parts: Vec<RealFormula> =
        coefficients.map(|n| RealFormula::Compare(n, Sign::Equal)).collect();
    if let RealFormula::And(conjuncts) = body {
        parts.extend(conjuncts.iter().filter(|part| !is_equation(part)).cloned());
    }
    RealFormula::And(parts)
}
