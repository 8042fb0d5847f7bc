//! The intermediate form between formulas and clauses: variables are resolved, negations stand
//! before atoms, and fixed points are relations.

use std::collections::BTreeSet;

use super::clauses::{Atom, Expression, Literal, Var};

/// Whether a formula is translated itself or negated.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Polarity {
    Positive,
    Negative,
}

impl Polarity {
    pub(super) fn flipped(self) -> Polarity {
        match self {
            Polarity::Positive => Polarity::Negative,
            Polarity::Negative => Polarity::Positive,
        }
    }
}

impl std::ops::Mul for Polarity {
    type Output = Polarity;

    /// Multiplies like signs: a negation of a negation is positive.
    fn mul(self, other: Polarity) -> Polarity {
        if self == other { Polarity::Positive } else { Polarity::Negative }
    }
}

/// A formula in negation normal form over GDL atoms. No two quantifiers bind the same variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Node {
    Literal(Literal),
    Same(Var, Var),
    And(Vec<Node>),
    Or(Vec<Node>),
    Exists(Vec<Var>, Box<Node>),
    All(Vec<Var>, Box<Node>),
}

impl Node {
    pub(super) fn truth() -> Node {
        Node::And(Vec::new())
    }

    pub(super) fn falsity() -> Node {
        Node::Or(Vec::new())
    }

    pub(super) fn holds(atom: Atom) -> Node {
        Node::Literal(Literal::Holds(atom))
    }

    pub(super) fn fails(atom: Atom) -> Node {
        Node::Literal(Literal::Fails(atom))
    }

    /// Returns an atom or its negation.
    pub(super) fn of(atom: Atom, polarity: Polarity) -> Node {
        match polarity {
            Polarity::Positive => Node::holds(atom),
            Polarity::Negative => Node::fails(atom),
        }
    }

    pub(super) fn is_truth(&self) -> bool {
        matches!(self, Node::And(parts) if parts.is_empty())
    }

    pub(super) fn is_falsity(&self) -> bool {
        matches!(self, Node::Or(parts) if parts.is_empty())
    }

    /// Returns the simplified conjunction.
    pub(super) fn and(parts: impl IntoIterator<Item = Node>) -> Node {
        let mut flat: Vec<Node> = Vec::new();
        for part in parts {
            match part {
                Node::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.iter().any(Node::is_falsity) {
            return Node::falsity();
        }
        flat.dedup();
        if flat.len() == 1 { flat.remove(0) } else { Node::And(flat) }
    }

    /// Returns the simplified disjunction.
    pub(super) fn or(parts: impl IntoIterator<Item = Node>) -> Node {
        let mut flat: Vec<Node> = Vec::new();
        for part in parts {
            match part {
                Node::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if flat.iter().any(Node::is_truth) {
            return Node::truth();
        }
        flat.dedup();
        if flat.len() == 1 { flat.remove(0) } else { Node::Or(flat) }
    }

    /// Returns the negation, in negation normal form.
    pub(super) fn negated(&self) -> Node {
        match self {
            Node::Literal(Literal::Holds(atom)) => Node::fails(atom.clone()),
            Node::Literal(Literal::Fails(atom)) => Node::holds(atom.clone()),
            Node::Literal(Literal::Differ(Expression::Variable(a), Expression::Variable(b))) => {
                Node::Same(*a, *b)
            }
            // Only rewriting rules compare with names, and their nodes are never negated.
            Node::Literal(Literal::Differ(..)) => unreachable!("only variables are compared"),
            Node::Same(a, b) => {
                Node::Literal(Literal::Differ(Expression::Variable(*a), Expression::Variable(*b)))
            }
            Node::And(parts) => Node::or(parts.iter().map(Node::negated)),
            Node::Or(parts) => Node::and(parts.iter().map(Node::negated)),
            Node::Exists(vars, inner) => Node::All(vars.clone(), Box::new(inner.negated())),
            Node::All(vars, inner) => Node::Exists(vars.clone(), Box::new(inner.negated())),
        }
    }

    /// Returns the free variables, in order of first appearance.
    pub(super) fn free(&self) -> Vec<Var> {
        let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
        let mut bound = BTreeSet::new();
        self.visit(&mut |var| {
            if seen.insert(var) {
                order.push(var);
            }
        });
        self.each_bound(&mut |var| {
            bound.insert(var);
        });
        // A variable is never both free and bound, because quantifiers have their own variables.
        order.retain(|var| !bound.contains(var));
        order
    }

    fn visit(&self, visit: &mut dyn FnMut(Var)) {
        match self {
            Node::Literal(literal) => literal.each_variable(visit),
            Node::Same(a, b) => [*a, *b].into_iter().for_each(visit),
            Node::And(parts) | Node::Or(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Node::Exists(_, inner) | Node::All(_, inner) => inner.visit(visit),
        }
    }

    fn each_bound(&self, visit: &mut dyn FnMut(Var)) {
        match self {
            Node::Literal(_) | Node::Same(..) => {}
            Node::And(parts) | Node::Or(parts) => {
                parts.iter().for_each(|part| part.each_bound(visit));
            }
            Node::Exists(vars, inner) | Node::All(vars, inner) => {
                vars.iter().for_each(|var| visit(*var));
                inner.each_bound(visit);
            }
        }
    }

    /// Returns whether the relation of some atom is in the set.
    pub(super) fn mentions(&self, relations: &BTreeSet<String>) -> bool {
        match self {
            Node::Literal(Literal::Holds(atom) | Literal::Fails(atom)) => {
                relations.contains(&atom.relation)
            }
            Node::Literal(Literal::Differ(..)) | Node::Same(..) => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().any(|part| part.mentions(relations)),
            Node::Exists(_, inner) | Node::All(_, inner) => inner.mentions(relations),
        }
    }
}
