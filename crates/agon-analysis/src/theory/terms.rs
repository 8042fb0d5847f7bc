//! Variables and what they stand for.

use std::collections::BTreeMap;

use agon_gdl::rules::{Condition, RuleAtom, RuleTerm};

use super::{map_atom, map_condition};

/// What variables stand for. Invariant: following bindings ends.
#[derive(Clone, Debug, Default)]
pub struct Bindings(BTreeMap<u32, RuleTerm>);

/// Terms that nest deeper are not unified; no rulesheet has them.
const MAX_DEPTH: usize = 200;

impl Bindings {
    /// Lets a variable stand for a term. The variable is free, and the term does not contain it.
    pub fn bind(&mut self, variable: u32, term: RuleTerm) {
        self.0.insert(variable, term);
    }

    /// The term with all that is bound filled in.
    pub fn fill(&self, term: &RuleTerm) -> RuleTerm {
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

    /// The term with each variable replaced once and shifted back by so much.
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

    /// An atom with all that is bound filled in.
    pub fn fill_atom(&self, atom: &RuleAtom) -> RuleAtom {
        map_atom(atom, &|term| self.fill(term))
    }

    /// Conditions with all that is bound filled in.
    pub fn fill_all(&self, conditions: &[Condition]) -> Vec<Condition> {
        conditions
            .iter()
            .map(|condition| map_condition(condition, &|term| self.fill(term)))
            .collect()
    }

    /// Makes two terms the same, if that can be. If not, some variables may be bound all the same.
    pub fn unify(&mut self, a: &RuleTerm, b: &RuleTerm) -> bool {
        self.unify_within(a, b, MAX_DEPTH)
    }

    /// Makes two lists of terms the same.
    pub fn unify_all(&mut self, a: &[RuleTerm], b: &[RuleTerm]) -> bool {
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
