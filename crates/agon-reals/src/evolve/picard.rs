//! Solutions that are polynomials in time.
//!
//! Picard iteration replaces a guess x(t) by the start plus the integral of the derivative at the
//! guess. It ends for systems in which no variable depends on itself: the variables are integrated
//! in the order of their dependence. It may also end for other systems, such as nilpotent linear
//! ones, or from a state at rest.

use crate::domain::Reals;
use crate::program::Program;
use crate::rational::Rational;
use crate::real::Real;

use super::Problem;
use super::polynomial::Polynomials;

/// Maximum degree in time of an exact solution. Higher ones are solved numerically, because exact
/// coefficients would no longer fit.
pub(super) const MAX_DEGREE: usize = 24;

/// Returns the solution as a polynomial in time for each variable; `None` if there is none or it is
/// not found.
pub(super) fn solve(problem: &Problem<'_>) -> Option<Vec<Vec<Real>>> {
    match dependence_order(problem) {
        Some(order) => integrate_in_order(problem, &order),
        None => iterate(problem),
    }
}

/// Returns the domain in which terms are evaluated along a polynomial solution.
pub(super) fn domain() -> Polynomials<Reals> {
    Polynomials { coefficients: Reals, max_degree: MAX_DEGREE }
}

/// Returns the polynomial `t`.
pub(super) fn time() -> Vec<Real> {
    vec![Real::ZERO, Real::ONE]
}

/// Returns the variables such that each depends only on earlier ones; `None` if some variable
/// depends on itself by way of others.
fn dependence_order(problem: &Problem<'_>) -> Option<Vec<usize>> {
    let depends: Vec<Vec<u32>> = problem
        .system
        .derivatives
        .iter()
        .map(|derivative| problem.pool.variables_of(*derivative))
        .collect();
    let mut users = vec![Vec::new(); depends.len()];
    for (variable, needed) in depends.iter().enumerate() {
        for other in needed {
            users[*other as usize].push(variable);
        }
    }
    let mut missing: Vec<usize> = depends.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..depends.len()).filter(|v| missing[*v] == 0).collect();
    let mut next = 0;
    while let Some(&variable) = order.get(next) {
        next += 1;
        for &user in &users[variable] {
            missing[user] -= 1;
            if missing[user] == 0 {
                order.push(user);
            }
        }
    }
    (order.len() == depends.len()).then_some(order)
}

fn integrate_in_order(problem: &Problem<'_>, order: &[usize]) -> Option<Vec<Vec<Real>>> {
    let mut solution: Vec<Vec<Real>> = problem.start.iter().map(|start| vec![*start]).collect();
    for &variable in order {
        let program = Program::new(problem.pool, &[problem.system.derivatives[variable]], &[]);
        let derivative = program.run(&domain(), &solution, &time()).values.pop()??;
        solution[variable] = integral(problem.start[variable], &derivative)?;
    }
    Some(solution)
}

/// Iterates from the constant solution and checks whether the iteration ends. Only from exact
/// states, because equality of intervals proves nothing.
fn iterate(problem: &Problem<'_>) -> Option<Vec<Vec<Real>>> {
    if !problem.start.iter().all(Real::is_exact) {
        return None;
    }
    let program = Program::new(problem.pool, &problem.system.derivatives, &[]);
    let mut solution: Vec<Vec<Real>> = problem.start.iter().map(|start| vec![*start]).collect();
    // A nilpotent system ends after as many rounds as there are variables, and one more shows it.
    for _ in 0..(problem.start.len() + 1).min(MAX_DEGREE) {
        let derivatives = program.run(&domain(), &solution, &time()).values;
        let next = problem
            .start
            .iter()
            .zip(derivatives)
            .map(|(start, derivative)| integral(*start, &derivative?))
            .collect::<Option<Vec<_>>>()?;
        if next.iter().flatten().any(|coefficient| !coefficient.is_exact()) {
            return None;
        }
        if next == solution {
            return Some(solution);
        }
        solution = next;
    }
    None
}

/// Returns the polynomial with a given start and derivative, without leading zeros.
fn integral(start: Real, derivative: &[Real]) -> Option<Vec<Real>> {
    let mut result = vec![start];
    for (power, coefficient) in (1i64..).zip(derivative) {
        result.push(coefficient.div(Real::Exact(Rational::whole(power)))?);
    }
    while result.len() > 1 && result.last() == Some(&Real::ZERO) {
        result.pop();
    }
    (result.len() <= MAX_DEGREE + 1).then_some(result)
}
