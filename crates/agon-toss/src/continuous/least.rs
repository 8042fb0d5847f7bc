//! Comparisons with `min :a (…)` as quantified formulas.
//!
//! The least number that satisfies a formula is below `t` if and only if a number below `t`
//! satisfies it. So a comparison can be followed while time passes, and stand under a quantifier,
//! although the least number itself has no value there. The equivalences hold for infima that are
//! not reached, and for infinite ones.

use agon_structures::formula::{Formula, Sign, Term, Variable};

/// A name that no variable of a game has, because it has a space.
const BOUND: &str = ":the bound";

/// Returns a comparison without `min :a (…)` as a whole side. Returns `None` if no side is one.
pub(super) fn by_quantifiers(left: &Term, sign: Sign, right: &Term) -> Option<Formula> {
    match (left, right) {
        (Term::Least(variable, body), bound) => Some(compared(variable, body, sign, bound)),
        (bound, Term::Least(variable, body)) => {
            let mirrored = match sign {
                Sign::Less => Sign::Greater,
                Sign::AtMost => Sign::AtLeast,
                Sign::Greater => Sign::Less,
                Sign::AtLeast => Sign::AtMost,
                Sign::Equal | Sign::Unequal => sign,
            };
            Some(compared(variable, body, mirrored, bound))
        }
        _ => None,
    }
}

/// Returns the comparison of `min :variable (body)` with a bound.
fn compared(variable: &Variable, body: &Formula, sign: Sign, bound: &Term) -> Formula {
    if bound.free_variables().contains(variable) {
        // The variable has another meaning in the bound, which therefore gets a name first.
        let name = Variable::new(BOUND);
        let known = Formula::compare(Term::Variable(name.clone()), Sign::Equal, bound.clone());
        let inner = compared(variable, body, sign, &Term::Variable(name.clone()));
        return Formula::exists([name], Formula::And(vec![known, inner]));
    }
    // Some number below `limit` satisfies the formula.
    let below = |limit: Term| {
        let is_below = Formula::compare(Term::Variable(variable.clone()), Sign::Less, limit);
        Formula::exists([variable.clone()], Formula::And(vec![is_below, body.clone()]))
    };
    let is_less = || below(bound.clone());
    // Every number above the bound has such numbers below it.
    let is_at_most = || {
        let above = Variable::new(":above the bound");
        let is_above =
            Formula::compare(Term::Variable(above.clone()), Sign::Greater, bound.clone());
        let reached = below(Term::Variable(above.clone()));
        Formula::all([above], Formula::Or(vec![Formula::not(is_above), reached]))
    };
    // Comparisons with an undefined number do not hold.
    let is_defined = || match bound {
        // An infimum always has a value, which may be infinite.
        Term::Least(..) => Formula::And(Vec::new()),
        _ => Formula::compare(bound.clone(), Sign::Equal, bound.clone()),
    };
    match sign {
        Sign::Less => is_less(),
        Sign::AtMost => Formula::And(vec![is_defined(), is_at_most()]),
        Sign::Greater => Formula::And(vec![is_defined(), Formula::not(is_at_most())]),
        Sign::AtLeast => Formula::And(vec![is_defined(), Formula::not(is_less())]),
        Sign::Equal => Formula::And(vec![is_defined(), is_at_most(), Formula::not(is_less())]),
        Sign::Unequal => Formula::And(vec![
            is_defined(),
            Formula::Or(vec![is_less(), Formula::not(is_at_most())]),
        ]),
    }
}
