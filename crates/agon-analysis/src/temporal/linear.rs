//! Formulas about single plays.
//!
//! A formula of this form is violated if and only if one play violates it, so that a play can be
//! watched for it (Maidl 2000: the common fragment of CTL and LTL). Formulas that are not of this
//! form have bounds that are.

use super::formula::{Condition, Formula, Tree};

/// A formula that is required of all plays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Linear {
    /// The condition holds now.
    State(Condition),
    /// All hold.
    And(Vec<Linear>),
    /// The formula holds unless the condition does.
    Unless(Condition, Box<Linear>),
    /// The formula holds from now on.
    Always(Box<Linear>),
    /// The formula holds until the condition does.
    Until(Box<Linear>, Condition),
}

/// What stands in for parts that are not about single plays.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    /// Nothing: there is no such form.
    Exact,
    /// A stronger condition: if all plays obey the result, the formula holds.
    Lower,
    /// A weaker condition: if a play violates the result, the formula does not hold.
    Upper,
}

impl Linear {
    /// Returns a formula, or its negation, as one about single plays.
    pub(super) fn new(formula: &Formula, is_positive: bool, bound: Bound) -> Option<Linear> {
        let again = |inner: &Formula, is_positive| Linear::new(inner, is_positive, bound);
        let exact = match (formula, is_positive) {
            (Formula::Condition(condition), _) => {
                Some(Linear::State(signed(condition.clone(), is_positive)))
            }
            (Formula::Not(inner), _) => again(inner, !is_positive),
            (Formula::And(parts), true) | (Formula::Or(parts), false) => {
                let parts: Option<Vec<Linear>> =
                    parts.iter().map(|part| again(part, is_positive)).collect();
                parts.map(Linear::And)
            }
            (Formula::Or(parts), true) | (Formula::And(parts), false) => {
                some_of(parts, is_positive, bound)
            }
            (Formula::Always(inner), true) | (Formula::Reachable(inner), false) => {
                again(inner, is_positive).map(|inner| Linear::Always(Box::new(inner)))
            }
            (Formula::Until(first, second), true) => {
                let goal = match again(second, true) {
                    Some(Linear::State(condition)) => Some(condition),
                    _ if bound == Bound::Exact => None,
                    _ => Some(at_state(second, true, bound)),
                };
                again(first, true)
                    .zip(goal)
                    .map(|(first, goal)| Linear::Until(Box::new(first), goal))
            }
            (Formula::Always(_) | Formula::Until(..), false) | (Formula::Reachable(_), true) => {
                None
            }
        };
        match (exact, bound) {
            (Some(linear), _) => Some(linear),
            (None, Bound::Exact) => None,
            (None, bound) => Some(Linear::State(at_state(formula, is_positive, bound))),
        }
    }
}

/// Returns the form of a disjunction. At most one part may be about more than a state.
fn some_of(parts: &[Formula], is_positive: bool, bound: Bound) -> Option<Linear> {
    let (mut conditions, mut last) = (Vec::new(), None);
    for part in parts {
        match Linear::new(part, is_positive, bound)? {
            Linear::State(condition) => conditions.push(condition),
            _ if last.is_some() && bound == Bound::Exact => return None,
            _ if last.is_some() => conditions.push(at_state(part, is_positive, bound)),
            other => last = Some(other),
        }
    }
    let conditions = Condition::Or(conditions);
    Some(match last {
        None => Linear::State(conditions),
        Some(last) => Linear::Unless(conditions, Box::new(last)),
    })
}

/// Returns a condition on a state that is stronger or weaker than a formula or its negation.
fn at_state(formula: &Formula, is_positive: bool, bound: Bound) -> Condition {
    let again = |inner: &Formula, is_positive| at_state(inner, is_positive, bound);
    let terminal = || Condition::Atom(Tree::Word("terminal".to_owned()));
    let open = || Condition::Not(Box::new(terminal()));
    let is_lower = bound == Bound::Lower;
    match (formula, is_positive) {
        (Formula::Condition(condition), _) => signed(condition.clone(), is_positive),
        (Formula::Not(inner), _) => again(inner, !is_positive),
        (Formula::And(parts), true) | (Formula::Or(parts), false) => {
            Condition::And(parts.iter().map(|part| again(part, is_positive)).collect())
        }
        (Formula::Or(parts), true) | (Formula::And(parts), false) => {
            Condition::Or(parts.iter().map(|part| again(part, is_positive)).collect())
        }
        // At the end of play, the state is all that is left.
        (Formula::Always(inner), true) | (Formula::Reachable(inner), false) => {
            match (is_lower, again(inner, is_positive)) {
                (true, inner) => Condition::And(vec![terminal(), inner]),
                (false, inner) => inner,
            }
        }
        (Formula::Reachable(inner), true) | (Formula::Always(inner), false) => {
            match (is_lower, again(inner, is_positive)) {
                (true, inner) => inner,
                (false, inner) => Condition::Or(vec![open(), inner]),
            }
        }
        (Formula::Until(first, second), true) => match is_lower {
            true => again(second, true),
            false => {
                let first = Condition::And(vec![open(), again(first, true)]);
                Condition::Or(vec![again(second, true), first])
            }
        },
        (Formula::Until(first, second), false) => match is_lower {
            true => {
                let first = Condition::Or(vec![terminal(), again(first, false)]);
                Condition::And(vec![again(second, false), first])
            }
            false => again(second, false),
        },
    }
}

fn signed(condition: Condition, is_positive: bool) -> Condition {
    match is_positive {
        true => condition,
        false => Condition::Not(Box::new(condition)),
    }
}
