//! Normal forms of formulas.
//!
//! - [`nnf`]: negations only at literals, through quantifiers, fixed points and `let`s;
//! - [`dnf`]: the Boolean part as a disjunction of conjunctions;
//! - [`pnf`]: quantifiers in front;
//! - [`tnf`]: quantifiers as far inside as possible (Kaiser & Stafiniak 2011, Definition 5 and
//!   procedure TNF);
//! - [`simplified`]: the formula without parts that are obviously redundant.
//!
//! All except [`nnf`] and [`dnf`] assume that structures have at least one element. In an empty
//! structure `ex x true` is false, so a quantifier over an unused variable could not be dropped.
//!
//! Literals are atoms and their negations. Comparisons, closures and fixed points count as atoms.
//! The inside of terms, closures and fixed points is not changed, except by [`nnf`], which enters
//! the latter two. Normal forms can be exponentially larger than their input, so each stops at a
//! size limit of the caller.

mod boolean;
mod negation;
mod prenex;
mod simplify;
mod type_form;

#[cfg(test)]
mod tests;

use crate::formula::Formula;

pub use crate::formula::Oversize;
pub use boolean::dnf;
pub use negation::nnf;
pub use prenex::pnf;
pub use simplify::simplified;
pub use type_form::{SplitFirst, tnf};

/// Returns a flat conjunction: nested conjunctions are merged, duplicates are removed, and a single
/// part is returned as it is.
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

/// Returns a flat disjunction: nested disjunctions are merged, duplicates are removed, and a single
/// part is returned as it is.
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

/// The number of parts created so far, and its limit.
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
