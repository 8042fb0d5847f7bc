//! Tests of elimination. Random formulas come from [`Random`] with fixed seeds.

mod classic;
mod limits;
mod oracle;
mod polynomials;
mod random;
mod simplifier;
mod univariate;
mod z3;

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{EliminationLimits, Polynomial, RealFormula, Sign};

/// Returns a polynomial in variables that are single letters, where `a` is number 0.
fn polynomial(text: &str) -> Polynomial {
    let mut numbered = String::new();
    for letter in text.chars() {
        if letter.is_ascii_lowercase() {
            numbered.push_str(&format!("x{}", variable(letter)));
        } else {
            numbered.push(letter);
        }
    }
    numbered.parse().expect("tests write polynomials")
}

fn variable(letter: char) -> u32 {
    u32::from(letter) - u32::from('a')
}

/// Returns the comparison that a text such as `x^2 + 1 >= 2*y` writes.
fn atom(text: &str) -> RealFormula {
    let symbols = [Sign::NotEqual, Sign::LessOrEqual, Sign::GreaterOrEqual, Sign::Equal];
    let symbols = symbols.into_iter().chain([Sign::Less, Sign::Greater]);
    for sign in symbols {
        if let Some((left, right)) = text.split_once(sign.symbol()) {
            return RealFormula::compare(&polynomial(left), sign, &polynomial(right));
        }
    }
    panic!("{text} has no comparison")
}

fn and(parts: &[&str]) -> RealFormula {
    RealFormula::And(parts.iter().map(|part| atom(part)).collect())
}

fn or(parts: &[&str]) -> RealFormula {
    RealFormula::Or(parts.iter().map(|part| atom(part)).collect())
}

fn exists(letters: &str, body: RealFormula) -> RealFormula {
    RealFormula::exists(&letters.chars().map(variable).collect::<Vec<_>>(), body)
}

fn all(letters: &str, body: RealFormula) -> RealFormula {
    RealFormula::all(&letters.chars().map(variable).collect::<Vec<_>>(), body)
}

fn generous() -> EliminationLimits {
    EliminationLimits { max_steps: 200_000_000, max_atoms: 200_000, ..Default::default() }
}

/// A source of random numbers, polynomials and formulas.
struct Random(Xoshiro256PlusPlus);

/// What random formulas look like.
#[derive(Copy, Clone)]
struct Shape {
    n_variables: u32,
    degree: u32,
    n_terms: u32,
    n_atoms: u32,
}

impl Random {
    fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn below(&mut self, bound: u32) -> u32 {
        (self.0.next_u64() % u64::from(bound)) as u32
    }

    /// Returns a number from -range to range.
    fn integer(&mut self, range: u32) -> i64 {
        i64::from(self.below(2 * range + 1)) - i64::from(range)
    }

    fn rational(&mut self) -> RBig {
        RBig::from(self.integer(12)) / RBig::from(1 + self.below(4))
    }

    fn values(&mut self, n_variables: u32) -> BTreeMap<u32, RBig> {
        (0..n_variables).map(|variable| (variable, self.rational())).collect()
    }

    fn polynomial(&mut self, shape: Shape) -> Polynomial {
        let mut sum = Polynomial::from(self.integer(5));
        for _ in 0..shape.n_terms {
            let mut term = Polynomial::from(self.integer(4));
            for _ in 0..self.below(shape.degree + 1) {
                term = &term * &Polynomial::variable(self.below(shape.n_variables));
            }
            sum = &sum + &term;
        }
        sum
    }

    fn sign(&mut self) -> Sign {
        Sign::ALL[self.below(6) as usize]
    }

    /// Returns a formula without quantifiers.
    fn formula(&mut self, shape: Shape) -> RealFormula {
        if shape.n_atoms <= 1 {
            let atom = RealFormula::Compare(self.polynomial(shape), self.sign());
            return if self.below(4) == 0 { atom.negation() } else { atom };
        }
        let left = 1 + self.below(shape.n_atoms - 1);
        let parts = vec![
            self.formula(Shape { n_atoms: left, ..shape }),
            self.formula(Shape { n_atoms: shape.n_atoms - left, ..shape }),
        ];
        match self.below(5) {
            0 | 1 => RealFormula::Or(parts),
            2 => RealFormula::And(parts).negation(),
            _ => RealFormula::And(parts),
        }
    }

    fn quantify(&mut self, variable: u32, body: RealFormula) -> RealFormula {
        match self.below(2) {
            0 => RealFormula::Exists(variable, Box::new(body)),
            _ => RealFormula::All(variable, Box::new(body)),
        }
    }
}
