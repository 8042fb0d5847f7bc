//! Formulas brought into shapes in which they are easier to work with.
//!
//! - [`nnf`]: negations only at literals, through quantifiers, fixed points and `let`s;
//! - [`dnf`], [`cnf`]: the Boolean part as a disjunction of conjunctions, or the other way round;
//! - [`pnf`]: quantifiers in front;
//! - [`tnf`]: quantifiers as deep inside as they can be (Kaiser and Stafiniak 2011, definition 5 and procedure TNF);
//! - [`simplified`], [`irredundant`]: what can be left out is left out, the latter with a SAT solver to prove it.
//!
//! Each has a predicate for its shape. All but [`nnf`] and [`dnf`], [`cnf`] take for granted that structures have an
//! element at least: where there is none, `ex x true` is false, and a quantifier without its variable cannot be dropped.
//! Literals are atoms and their negations, where comparisons, closures and fixed points count as atoms: what is
//! inside of terms, closures and fixed points is not touched, except by [`nnf`], which goes into the latter two.
//! Normal forms can be exponentially larger, so each stops at a size that the caller sets.

mod boolean;
mod negation;
mod prenex;
mod simplify;
mod type_form;

#[cfg(test)]
mod tests;

use crate::formula::Formula;

pub use crate::formula::Oversize;
pub use boolean::{cnf, dnf, is_cnf, is_dnf};
pub use negation::{is_nnf, nnf};
pub use prenex::{is_pnf, pnf};
pub use simplify::{irredundant, simplified};
pub use type_form::{SplitFirst, is_tnf, tnf};

/// Whether it is neither a connective nor a quantifier nor a `let`: an atom, a comparison, a closure or a fixed point.
fn is_atom(formula: &Formula) -> bool {
    match formula {
        Formula::Relation(..)
        | Formula::Equal(..)
        | Formula::Compare(..)
        | Formula::Fix(_)
        | Formula::Closure(_) => true,
        Formula::Not(_)
        | Formula::And(_)
        | Formula::Or(_)
        | Formula::Exists(..)
        | Formula::All(..)
        | Formula::Let(_) => false,
    }
}

/// Whether it is an atom or a negated one.
fn is_literal(formula: &Formula) -> bool {
    match formula {
        Formula::Not(inner) => is_atom(inner),
        other => is_atom(other),
    }
}

/// A conjunction without needless lists: parts that are conjunctions are taken apart, one part stands alone, and what is
/// listed twice is once.
fn conjunction(parts: impl IntoIterator<Item = Formula>) -> Formula {
    let mut flat: Vec<Formula> = Vec::new();
    for part in parts {
        match part {
            Formula::And(inner) => inner.into_iter().for_each(|part| push_new(&mut flat, part)),
            other => push_new(&mut flat, other),
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Formula::And(flat) }
}

/// A disjunction without needless lists.
fn disjunction(parts: impl IntoIterator<Item = Formula>) -> Formula {
    let mut flat: Vec<Formula> = Vec::new();
    for part in parts {
        match part {
            Formula::Or(inner) => inner.into_iter().for_each(|part| push_new(&mut flat, part)),
            other => push_new(&mut flat, other),
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Formula::Or(flat) }
}

fn push_new(list: &mut Vec<Formula>, part: Formula) {
    if !list.contains(&part) {
        list.push(part);
    }
}

/// The parts made so far, and how many there may be.
struct Budget {
    limit: usize,
    made: usize,
}

impl Budget {
    fn new(limit: usize) -> Budget {
        Budget { limit, made: 0 }
    }

    fn make(&mut self, parts: usize) -> Result<(), Oversize> {
        self.made = self.made.saturating_add(parts);
        if self.made > self.limit { Err(Oversize { limit: self.limit }) } else { Ok(()) }
    }
}
