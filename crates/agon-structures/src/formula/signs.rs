//! Whether a formula can only gain, or only lose, when a relation grows.

use std::collections::BTreeMap;

use super::walk::Part;
use super::{Definitions, Formula, Name, Term};

/// How a relation occurs in a formula.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Polarity {
    /// Under an even number of negations: the formula gains when the relation grows.
    Positive,
    /// Under an odd number of negations: the formula loses when the relation grows.
    Negative,
    /// Both ways, or within a term, where nothing is known.
    Both,
}

impl Polarity {
    /// Under one more negation.
    pub fn negated(self) -> Polarity {
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

/// How each free relation of a formula occurs in it. Relations that do not occur are absent.
pub type Signs = BTreeMap<Name, Polarity>;

impl Formula {
    /// How each free relation occurs, looking through `let`s but not into definitions.
    pub fn signs(&self) -> Signs {
        formula_signs(self)
    }

    /// How each relation of the structure occurs, looking into definitions as well. Defined relations are told too.
    pub fn signs_through(&self, definitions: &Definitions) -> Signs {
        through(self.signs(), definitions)
    }
}

impl Term {
    /// The relations that occur in the term, whether bound or not within formulas: all of them
    /// [both ways](Polarity::Both).
    pub fn signs(&self) -> Signs {
        let mut signs = Signs::new();
        self.parts(&mut |part| merge(&mut signs, &part_signs(part), Polarity::Both));
        signs
    }

    /// The same, looking into definitions.
    pub fn signs_through(&self, definitions: &Definitions) -> Signs {
        through(self.signs(), definitions)
    }
}

fn through(mut signs: Signs, definitions: &Definitions) -> Signs {
    // Later definitions use earlier ones only, so one pass backwards meets all uses before each definition.
    for definition in definitions.iter().rev() {
        if let Some(&outer) = signs.get(&definition.name) {
            merge(&mut signs, &definition.body.signs(), outer);
        }
    }
    signs
}

fn merge(into: &mut Signs, from: &Signs, outer: Polarity) {
    for (name, polarity) in from {
        let polarity = polarity.under(outer);
        into.entry(name.clone())
            .and_modify(|known| *known = known.joined(polarity))
            .or_insert(polarity);
    }
}

fn part_signs(part: Part<'_>) -> Signs {
    match part {
        Part::Formula(formula) => formula_signs(formula),
        Part::Term(term) => stacker::maybe_grow(64 << 10, 1 << 20, || term.signs()),
    }
}

fn formula_signs(formula: &Formula) -> Signs {
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        let mut signs = Signs::new();
        match formula {
            Formula::Relation(name, _) => {
                signs.insert(name.clone(), Polarity::Positive);
            }
            Formula::Equal(..) => {}
            Formula::Compare(..) => {
                formula.parts(&mut |part| merge(&mut signs, &part_signs(part), Polarity::Both));
            }
            Formula::Not(inner) => merge(&mut signs, &formula_signs(inner), Polarity::Negative),
            Formula::And(_)
            | Formula::Or(_)
            | Formula::Exists(..)
            | Formula::All(..)
            | Formula::Closure(_) => {
                formula.parts(&mut |part| merge(&mut signs, &part_signs(part), Polarity::Positive));
            }
            Formula::Fix(fix) => {
                signs = formula_signs(&fix.body);
                // Monotone fixed points keep the signs of their parameters; of others nothing is known.
                if !matches!(signs.remove(&fix.relation), None | Some(Polarity::Positive)) {
                    signs.values_mut().for_each(|polarity| *polarity = Polarity::Both);
                }
            }
            Formula::Let(local) => {
                signs = formula_signs(&local.body);
                if let Some(outer) = signs.remove(&local.relation) {
                    merge(&mut signs, &formula_signs(&local.definition), outer);
                }
            }
        }
        signs
    })
}
