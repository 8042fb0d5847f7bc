//! Unification of terms and atoms.

use crate::rules::{RuleAtom, RuleTerm};

/// Returns whether two atoms of different rules have a common instance.
pub(super) fn may_be_same(a: &RuleAtom, b: &RuleAtom) -> bool {
    a.relation == b.relation
        && a.arguments.len() == b.arguments.len()
        && Unifier::default().all(&a.arguments, Side::Left, &b.arguments, Side::Right)
}

/// Returns whether two terms of one rule have a common instance.
pub(super) fn can_be_equal(a: &RuleTerm, b: &RuleTerm) -> bool {
    Unifier::default().unify(a, Side::Left, b, Side::Left)
}

/// The rule that a term comes from. Variables with the same number on different sides are
/// different.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A triangular substitution: the terms bound to variables may contain variables that are bound as
/// well.
#[derive(Default)]
struct Unifier<'a> {
    left: Vec<Option<(&'a RuleTerm, Side)>>,
    right: Vec<Option<(&'a RuleTerm, Side)>>,
    /// Steps taken. Unification without sharing can take exponential time. Beyond the limit terms
    /// count as unifiable, which is the safe answer for all callers.
    steps: usize,
}

/// Maximum number of steps. It also bounds the recursion depth.
const MAX_STEPS: usize = 2_000;

impl<'a> Unifier<'a> {
    fn all(&mut self, a: &'a [RuleTerm], of_a: Side, b: &'a [RuleTerm], of_b: Side) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.unify(a, of_a, b, of_b))
    }

    fn unify(&mut self, a: &'a RuleTerm, of_a: Side, b: &'a RuleTerm, of_b: Side) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return true;
        }
        let (a, of_a) = self.resolve(a, of_a);
        let (b, of_b) = self.resolve(b, of_b);
        match (a, b) {
            (RuleTerm::Variable(v), RuleTerm::Variable(w)) if v == w && of_a == of_b => true,
            (RuleTerm::Variable(v), other) => self.bind(*v, of_a, other, of_b),
            (other, RuleTerm::Variable(v)) => self.bind(*v, of_b, other, of_a),
            (RuleTerm::Function(f, left), RuleTerm::Function(g, right)) => {
                f == g && self.all(left, of_a, right, of_b)
            }
        }
    }

    fn resolve(&self, mut term: &'a RuleTerm, mut side: Side) -> (&'a RuleTerm, Side) {
        while let RuleTerm::Variable(v) = term {
            match self.table(side).get(*v as usize) {
                Some(Some((bound, of_bound))) => (term, side) = (bound, *of_bound),
                Some(None) | None => break,
            }
        }
        (term, side)
    }

    fn bind(&mut self, v: u32, of_v: Side, term: &'a RuleTerm, of_term: Side) -> bool {
        if self.occurs(v, of_v, term, of_term) {
            return false;
        }
        let table = match of_v {
            Side::Left => &mut self.left,
            Side::Right => &mut self.right,
        };
        if table.len() <= v as usize {
            table.resize(v as usize + 1, None);
        }
        table[v as usize] = Some((term, of_term));
        true
    }

    fn occurs(&mut self, v: u32, of_v: Side, term: &'a RuleTerm, of_term: Side) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        let (term, of_term) = self.resolve(term, of_term);
        match term {
            RuleTerm::Variable(w) => v == *w && of_v == of_term,
            RuleTerm::Function(_, arguments) => {
                arguments.iter().any(|a| self.occurs(v, of_v, a, of_term))
            }
        }
    }

    fn table(&self, side: Side) -> &[Option<(&'a RuleTerm, Side)>] {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }
}
