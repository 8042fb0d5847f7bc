//! Substitutions and unification of rule terms.

use std::collections::BTreeMap;

use agon_gdl::rules::{Condition, RuleAtom, RuleTerm};

use super::{map_atom, map_condition};

/// A substitution of terms for variables. Invariant: following bindings terminates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings(BTreeMap<u32, RuleTerm>);

/// Maximum nesting of terms that are unified. Terms of real rulesheets are far below it.
const MAX_DEPTH: usize = 200;

impl Bindings {
    /// Binds a free variable to a term that does not contain it.
    pub(crate) fn bind(&mut self, variable: u32, term: RuleTerm) {
        self.0.insert(variable, term);
    }

    /// Applies the substitution to a term, repeatedly.
    pub(crate) fn fill(&self, term: &RuleTerm) -> RuleTerm {
        match term {
            RuleTerm::Variable(v) => match self.0.get(v) {
                Some(bound) => self.fill(bound),
                None => RuleTerm::Variable(*v),
            },
            RuleTerm::Function(symbol, arguments) => RuleTerm::Function(
                *symbol,
                arguments.iter().map(|argument| self.fill(argument)).collect(),
            ),
        }
    }

    /// Replaces each variable once, and subtracts `by` from the number of its replacement.
    pub(super) fn shift(&self, term: &RuleTerm, by: u32) -> RuleTerm {
        match term {
            RuleTerm::Variable(v) => match self.0.get(v) {
                Some(RuleTerm::Variable(to)) => RuleTerm::Variable(to - by),
                Some(other) => other.clone(),
                None => RuleTerm::Variable(*v),
            },
            RuleTerm::Function(symbol, arguments) => RuleTerm::Function(
                *symbol,
                arguments.iter().map(|argument| self.shift(argument, by)).collect(),
            ),
        }
    }

    /// Applies the substitution to an atom.
    pub(crate) fn fill_atom(&self, atom: &RuleAtom) -> RuleAtom {
        map_atom(atom, &|term| self.fill(term))
    }

    /// Applies the substitution to conditions.
    pub(crate) fn fill_all(&self, conditions: &[Condition]) -> Vec<Condition> {
        conditions
            .iter()
            .map(|condition| map_condition(condition, &|term| self.fill(term)))
            .collect()
    }

    /// Unifies two terms. On failure some variables may have been bound.
    pub(crate) fn unify(&mut self, a: &RuleTerm, b: &RuleTerm) -> bool {
        self.unify_within(a, b, MAX_DEPTH)
    }

    /// Unifies two lists of terms. On failure some variables may have been bound.
    pub(crate) fn unify_all(&mut self, a: &[RuleTerm], b: &[RuleTerm]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| self.unify(x, y))
    }

    fn unify_within(&mut self, a: &RuleTerm, b: &RuleTerm, depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        let (a, b) = (self.walk(a), self.walk(b));
        match (&a, &b) {
            (RuleTerm::Variable(v), RuleTerm::Variable(w)) if v == w => true,
            (RuleTerm::Variable(v), other) | (other, RuleTerm::Variable(v)) => {
                let other = self.fill(other);
                if other.mentions(*v) {
                    return false;
                }
                self.0.insert(*v, other);
                true
            }
            (RuleTerm::Function(f, xs), RuleTerm::Function(g, ys)) => {
                f == g
                    && xs.len() == ys.len()
                    && xs.iter().zip(ys).all(|(x, y)| self.unify_within(x, y, depth - 1))
            }
        }
    }

    fn walk(&self, term: &RuleTerm) -> RuleTerm {
        let mut term = term;
        while let RuleTerm::Variable(v) = term
            && let Some(bound) = self.0.get(v)
        {
            term = bound;
        }
        term.clone()
    }
}
