//! The simplifier: shorter formulas with the same meaning.
//!
//! Comparisons are collected per polynomial, up to a factor, as sets of possible signs. Inside a
//! conjunction, all other parts are simplified under the signs that its comparisons allow; inside
//! a disjunction, under the signs that they exclude (Dolzmann & Sturm 1997).

use std::collections::BTreeMap;

use super::formula::{ANY_SIGN, NEGATIVE, POSITIVE, RealFormula, Sign, SignSet, ZERO, mirrored};
use super::polynomial::Polynomial;

/// Returns a formula with the same meaning and at most as many comparisons: without negations,
/// constants, duplicates, and comparisons that others decide. Quantifiers are kept.
pub fn simplify(formula: &RealFormula) -> RealFormula {
    simplify_under(&formula.without_negations(), &Facts::default())
}

/// Returns a formula that has the same meaning wherever the facts hold. The formula must not have
/// negations.
pub(crate) fn simplify_under(formula: &RealFormula, facts: &Facts) -> RealFormula {
    match formula {
        RealFormula::True | RealFormula::False => formula.clone(),
        RealFormula::Compare(polynomial, sign) => {
            let atom = Atom::new(polynomial, sign.signs());
            let possible = facts.possible(&atom.polynomial);
            atom.within(possible).formula()
        }
        RealFormula::And(parts) => Junction::And.simplify(parts, facts),
        RealFormula::Or(parts) => Junction::Or.simplify(parts, facts),
        RealFormula::Not(inner) => {
            simplify_under(&inner.clone().negation().without_negations(), facts)
        }
        RealFormula::Exists(variable, inner) => {
            let inner = simplify_under(inner, &facts.without(*variable));
            quantified(*variable, inner, RealFormula::Exists)
        }
        RealFormula::All(variable, inner) => {
            let inner = simplify_under(inner, &facts.without(*variable));
            quantified(*variable, inner, RealFormula::All)
        }
    }
}

/// What is known about signs of polynomials. Keys are primitive, see [`Polynomial::primitive`].
#[derive(Clone, Default)]
pub(crate) struct Facts {
    signs: BTreeMap<Polynomial, SignSet>,
}

impl Facts {
    /// Returns the signs that a primitive polynomial can have.
    pub(crate) fn possible(&self, primitive: &Polynomial) -> SignSet {
        let known = self.signs.get(primitive).copied().unwrap_or(ANY_SIGN);
        if known & (known - 1) == 0 {
            return known;
        }
        let of_variable = |variable: u32| {
            if self.signs.is_empty() {
                return ANY_SIGN;
            }
            self.signs.get(&Polynomial::variable(variable)).copied().unwrap_or(ANY_SIGN)
        };
        known & primitive.possible_signs(&of_variable)
    }

    /// Returns the signs that a polynomial can have.
    pub(crate) fn possible_of(&self, polynomial: &Polynomial) -> SignSet {
        let atom = Atom::plain(polynomial, ANY_SIGN);
        let signs = self.possible(&atom.polynomial);
        if atom.is_mirrored { mirrored(signs) } else { signs }
    }

    /// Adds that a polynomial has one of the given signs. Returns whether signs are left.
    pub(crate) fn assume(&mut self, polynomial: &Polynomial, signs: SignSet) -> bool {
        self.assume_atom(&Atom::plain(polynomial, signs))
    }

    /// Returns the polynomials with variables that are known to be positive, and those that are
    /// known to be negative.
    pub(crate) fn nonzero(&self) -> impl Iterator<Item = (&Polynomial, SignSet)> {
        let pairs = self.signs.iter().map(|(polynomial, signs)| (polynomial, *signs));
        pairs.filter(|(_, signs)| *signs == POSITIVE || *signs == NEGATIVE)
    }

    /// Returns the number of terms of all polynomials, which is what a copy costs.
    pub(crate) fn n_terms(&self) -> usize {
        self.signs.keys().map(Polynomial::n_terms).sum()
    }

    /// Returns the conjunction of all facts.
    pub(crate) fn formula(&self) -> RealFormula {
        let atom = |(polynomial, signs): (&Polynomial, &SignSet)| {
            signs_formula(polynomial.clone(), *signs)
        };
        RealFormula::And(self.signs.iter().map(atom).collect())
    }

    fn assume_atom(&mut self, atom: &Atom) -> bool {
        let left = self.possible(&atom.polynomial) & atom.signs;
        self.signs.insert(atom.polynomial.clone(), left);
        left != 0
    }

    fn without(&self, variable: u32) -> Facts {
        let kept = self.signs.iter().filter(|(polynomial, _)| !polynomial.mentions(variable));
        Facts { signs: kept.map(|(polynomial, signs)| (polynomial.clone(), *signs)).collect() }
    }
}

/// A comparison of a primitive polynomial.
struct Atom {
    polynomial: Polynomial,
    signs: SignSet,
    /// Whether the primitive polynomial has the opposite signs of the original one.
    is_mirrored: bool,
}

impl Atom {
    /// Returns a comparison in the form that is best for comparing it with others.
    fn new(polynomial: &Polynomial, signs: SignSet) -> Atom {
        let mut atom = Atom::plain(polynomial, signs);
        let possible = atom.polynomial.possible_signs(&|_| ANY_SIGN);
        atom.signs &= possible;
        if atom.signs == possible & !ZERO {
            atom.signs = NEGATIVE | POSITIVE;
        }
        // Sets that treat both nonzero signs alike are about zeros only.
        if mirrored(atom.signs) == atom.signs && possible != ZERO {
            atom.polynomial = atom.polynomial.with_lowered_factors(true);
        }
        atom
    }

    /// Returns a comparison whose polynomial does not depend on the signs.
    fn plain(polynomial: &Polynomial, signs: SignSet) -> Atom {
        let (primitive, is_mirrored) = polynomial.primitive();
        Atom {
            polynomial: primitive.with_lowered_factors(false),
            signs: if is_mirrored { mirrored(signs) } else { signs },
            is_mirrored,
        }
    }

    /// Returns the comparison without the signs that are impossible, or with all signs if no
    /// other is possible.
    fn within(mut self, possible: SignSet) -> Atom {
        self.signs &= possible;
        if self.signs == possible {
            self.signs = ANY_SIGN;
        }
        self
    }

    fn formula(self) -> RealFormula {
        signs_formula(self.polynomial, self.signs)
    }
}

fn signs_formula(polynomial: Polynomial, signs: SignSet) -> RealFormula {
    match Sign::from_signs(signs) {
        Some(sign) => RealFormula::Compare(polynomial, sign),
        None => RealFormula::truth(signs == ANY_SIGN),
    }
}

fn quantified(
    variable: u32,
    inner: RealFormula,
    quantifier: fn(u32, Box<RealFormula>) -> RealFormula,
) -> RealFormula {
    if inner.mentions(variable) { quantifier(variable, Box::new(inner)) } else { inner }
}

/// Maximum number of rounds in which parts of a formula are simplified by what the round before
/// found. More rounds would hardly find more.
const MAX_ROUNDS: usize = 3;

/// The two connectives, which are simplified alike because each is the other's dual.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Junction {
    And,
    Or,
}

impl Junction {
    /// Returns the truth value that decides the whole.
    fn dominant(self) -> RealFormula {
        RealFormula::truth(self == Junction::Or)
    }

    fn neutral(self) -> RealFormula {
        RealFormula::truth(self == Junction::And)
    }

    /// Returns the parts of a formula that has the same connective, and the formula itself
    /// otherwise.
    fn flatten(self, formula: RealFormula, into: &mut Vec<RealFormula>) {
        match (self, formula) {
            (Junction::And, RealFormula::And(parts)) | (Junction::Or, RealFormula::Or(parts)) => {
                for part in parts {
                    self.flatten(part, into);
                }
            }
            (_, other) => into.push(other),
        }
    }

    fn simplify(self, parts: &[RealFormula], outer: &Facts) -> RealFormula {
        let mut pending = Vec::new();
        for part in parts {
            self.flatten(part.clone(), &mut pending);
        }
        let mut facts = outer.clone();
        let mut own = BTreeMap::new();
        let mut compound: Vec<RealFormula> = Vec::new();
        for round in 0..MAX_ROUNDS {
            let mut is_new = round == 0;
            for part in std::mem::take(&mut pending) {
                match part {
                    RealFormula::Compare(polynomial, sign) => {
                        is_new = true;
                        let atom = Atom::new(&polynomial, sign.signs());
                        if !self.assume(atom, outer, &mut facts, &mut own) {
                            return self.dominant();
                        }
                    }
                    other if other == self.dominant() => return other,
                    other if other == self.neutral() => {}
                    other => compound.push(other),
                }
            }
            if !is_new || round + 1 == MAX_ROUNDS {
                break;
            }
            // The parts that are not comparisons may become some, which then decide others.
            for part in std::mem::take(&mut compound) {
                self.flatten(simplify_under(&part, &facts), &mut pending);
            }
        }
        self.collect(outer, own, compound)
    }

    /// Adds to the facts what all other parts may assume about a comparison of this connective.
    fn assume(
        self,
        mut atom: Atom,
        outer: &Facts,
        facts: &mut Facts,
        own: &mut BTreeMap<Polynomial, SignSet>,
    ) -> bool {
        if self == Junction::Or {
            atom.signs = ANY_SIGN & !atom.signs;
        }
        own.entry(atom.polynomial.clone()).or_insert_with(|| outer.possible(&atom.polynomial));
        facts.assume_atom(&atom)
            && own.get_mut(&atom.polynomial).is_some_and(|signs| {
                *signs &= atom.signs;
                *signs != 0
            })
    }

    fn collect(
        self,
        outer: &Facts,
        own: BTreeMap<Polynomial, SignSet>,
        mut compound: Vec<RealFormula>,
    ) -> RealFormula {
        compound.sort_unstable();
        compound.dedup();
        let mut parts = Vec::new();
        for (polynomial, signs) in own {
            let possible = outer.possible(&polynomial);
            if signs == possible {
                continue;
            }
            // A conjunction allows these signs, a disjunction the others that are possible.
            let signs = match self {
                Junction::And => signs,
                Junction::Or => possible & !signs,
            };
            parts.push(signs_formula(polynomial, signs));
        }
        parts.extend(compound);
        match (parts.len(), self) {
            (0, _) => self.neutral(),
            (1, _) => parts.swap_remove(0),
            (_, Junction::And) => RealFormula::And(parts),
            (_, Junction::Or) => RealFormula::Or(parts),
        }
    }
}
