//! Comparison of two rulesheets.

use agon_datalog::Symbol;

use crate::syntax::{Atom, Clause, Literal, LiteralKind, Rulesheet, Term, TermKind, VariableId};

/// Returns whether two rulesheets have the same clauses in the same order, regardless of syntax,
/// layout and comments.
///
/// Names are compared without regard to case, and variables up to renaming within each clause.
/// Structure counts: `(and p q)` in a body differs from `p` and `q` beside each other, although it
/// means the same. Both syntaxes can express the difference, and printing keeps it.
pub fn same_rules(a: &Rulesheet, b: &Rulesheet) -> bool {
    same_lists(&a.clauses, &b.clauses, |left, right| {
        Comparison {
            a,
            b,
            forth: vec![None; left.variables.len()],
            back: vec![None; right.variables.len()],
        }
        .clauses(left, right)
    })
}

fn same_lists<T>(left: &[T], right: &[T], mut same: impl FnMut(&T, &T) -> bool) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
}

/// The comparison of two clauses.
struct Comparison<'a> {
    a: &'a Rulesheet,
    b: &'a Rulesheet,
    /// The correspondence of the variables of both clauses, as far as known, in both directions.
    forth: Vec<Option<VariableId>>,
    back: Vec<Option<VariableId>>,
}

impl Comparison<'_> {
    fn clauses(&mut self, left: &Clause, right: &Clause) -> bool {
        left.is_rule == right.is_rule
            && self.atoms(&left.head, &right.head)
            && same_lists(&left.body, &right.body, |l, r| self.literals(l, r))
    }

    fn literals(&mut self, left: &Literal, right: &Literal) -> bool {
        match (&left.kind, &right.kind) {
            (LiteralKind::Atom(left), LiteralKind::Atom(right)) => self.atoms(left, right),
            (LiteralKind::Not(left), LiteralKind::Not(right)) => self.literals(left, right),
            (LiteralKind::And(left), LiteralKind::And(right))
            | (LiteralKind::Or(left), LiteralKind::Or(right)) => {
                same_lists(left, right, |l, r| self.literals(l, r))
            }
            (LiteralKind::Distinct(left), LiteralKind::Distinct(right)) => {
                same_lists(left, right, |l, r| self.terms(l, r))
            }
            (
                LiteralKind::Atom(_)
                | LiteralKind::Not(_)
                | LiteralKind::And(_)
                | LiteralKind::Or(_)
                | LiteralKind::Distinct(_),
                _,
            ) => false,
        }
    }

    fn atoms(&mut self, left: &Atom, right: &Atom) -> bool {
        self.names(left.relation, right.relation)
            && same_lists(&left.arguments, &right.arguments, |l, r| self.terms(l, r))
    }

    fn terms(&mut self, left: &Term, right: &Term) -> bool {
        match (&left.kind, &right.kind) {
            (TermKind::Variable(left), TermKind::Variable(right)) => self.variables(*left, *right),
            (TermKind::Constant(left), TermKind::Constant(right)) => self.names(*left, *right),
            (TermKind::Function(f, left), TermKind::Function(g, right)) => {
                self.names(*f, *g) && same_lists(left, right, |l, r| self.terms(l, r))
            }
            (TermKind::Variable(_) | TermKind::Constant(_) | TermKind::Function(..), _) => false,
        }
    }

    fn variables(&mut self, left: VariableId, right: VariableId) -> bool {
        let partner = *self.forth[left.0 as usize].get_or_insert(right);
        let back = *self.back[right.0 as usize].get_or_insert(left);
        partner == right && back == left
    }

    fn names(&self, left: Symbol, right: Symbol) -> bool {
        self.b.symbols.find(self.a.symbols.name(left)) == Some(right)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_text::Source;

    use super::same_rules;
    use crate::read::read;

    fn same(a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(|text| {
            let (sheet, findings) = read(Arc::new(Source::new("test", text)));
            assert!(!findings.has_errors(), "{text}: {findings:?}");
            sheet
        });
        let answer = same_rules(&a, &b);
        assert_eq!(answer, same_rules(&b, &a), "the comparison is symmetric");
        answer
    }

    #[test]
    fn layout_syntax_case_and_variable_names_do_not_count() {
        assert!(same("(<= (p ?x ?y) (q ?y ?x))", "(<= (P ?a ?b) (Q ?B ?A)) ; comment"));
        assert!(same("(<= (p ?x) (not (q ?x)) (distinct ?x a))", "p(X) :- ~q(X), X != a."));
        assert!(same("(f a) (open2)", "f(a). open2()."));
    }

    #[test]
    fn order_structure_and_sharing_of_variables_count() {
        assert!(!same("(p a) (p b)", "(p b) (p a)"));
        assert!(!same("(p a)", "(p a) (p a)"));
        assert!(!same("(p a)", "(<= (p a))"));
        assert!(!same("(<= p (and q r))", "(<= p q r)"));
        assert!(!same("(<= p (or q r))", "(<= p (and q r))"));
        assert!(!same("(<= (p ?x ?y) (q ?x ?y))", "(<= (p ?x ?x) (q ?x ?x))"));
        assert!(!same("(<= (p ?x) (q ?x))", "(<= (p ?x) (q a))"));
        assert!(!same("(p a)", "(p (a b))"));
    }
}
