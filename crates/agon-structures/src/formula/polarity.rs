//! Computes whether a formula is monotone in a relation.

use std::collections::BTreeMap;

use super::walk::Part;
use super::{Formula, Name, Term};

/// The way in which a relation occurs in a formula.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Polarity {
    /// Under an even number of negations: more tuples of the relation never give fewer solutions.
    Positive,
    /// Under an odd number of negations: more tuples of the relation never give more solutions.
    Negative,
    /// Both ways, or inside a term, where nothing is known.
    Both,
}

impl Polarity {
    /// Returns the polarity under one more negation.
    pub(crate) fn negated(self) -> Polarity {
        match self {
            Polarity::Positive => Polarity::Negative,
            Polarity::Negative => Polarity::Positive,
            Polarity::Both => Polarity::Both,
        }
    }

    fn under(self, outer: Polarity) -> Polarity {
        match outer {
            Polarity::Positive => self,
            Polarity::Negative => self.negated(),
            Polarity::Both => Polarity::Both,
        }
    }

    fn joined(self, other: Polarity) -> Polarity {
        if self == other { self } else { Polarity::Both }
    }
}

/// The polarity of each free relation of a formula. Relations that do not occur are absent.
pub(crate) type Polarities = BTreeMap<Name, Polarity>;

impl Formula {
    /// Returns the polarity of each free relation. `let`s are resolved, definitions are not.
    pub(crate) fn polarities(&self) -> Polarities {
        formula_polarities(self)
    }
}

impl Term {
    /// Returns the relations that occur in the term, bound or not, all with [`Polarity::Both`].
    pub(crate) fn polarities(&self) -> Polarities {
        let mut polarities = Polarities::new();
        self.parts(&mut |part| merge(&mut polarities, &part_polarities(part), Polarity::Both));
        polarities
    }
}

fn merge(into: &mut Polarities, from: &Polarities, outer: Polarity) {
    for (name, polarity) in from {
        let polarity = polarity.under(outer);
        into.entry(name.clone())
            .and_modify(|known| *known = known.joined(polarity))
            .or_insert(polarity);
    }
}

fn part_polarities(part: Part<'_>) -> Polarities {
    match part {
        Part::Formula(formula) => formula_polarities(formula),
        Part::Term(term) => stacker::maybe_grow(64 << 10, 1 << 20, || term.polarities()),
    }
}

fn formula_polarities(formula: &Formula) -> Polarities {
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        let mut polarities = Polarities::new();
        match formula {
            Formula::Relation(name, _) => {
                polarities.insert(name.clone(), Polarity::Positive);
            }
            Formula::Equal(..) | Formula::Member(..) => {}
            Formula::Compare(..) => {
                formula.parts(&mut |part| {
                    merge(&mut polarities, &part_polarities(part), Polarity::Both);
                });
            }
            Formula::Not(inner) => {
                merge(&mut polarities, &formula_polarities(inner), Polarity::Negative);
            }
            Formula::And(_)
            | Formula::Or(_)
            | Formula::Exists(..)
            | Formula::All(..)
            | Formula::Closure(_) => {
                formula.parts(&mut |part| {
                    merge(&mut polarities, &part_polarities(part), Polarity::Positive);
                });
            }
            Formula::Fix(fix) => {
                polarities = formula_polarities(&fix.body);
                // Monotone fixed points keep the polarities of their parameters. For others nothing
                // is known.
                if !matches!(polarities.remove(&fix.relation), None | Some(Polarity::Positive)) {
                    polarities.values_mut().for_each(|polarity| *polarity = Polarity::Both);
                }
            }
            Formula::Let(local) => {
                polarities = formula_polarities(&local.body);
                if let Some(outer) = polarities.remove(&local.relation) {
                    merge(&mut polarities, &formula_polarities(&local.definition), outer);
                }
            }
        }
        polarities
    })
}
