//! Limits of elimination, and the errors that report them.

use std::cell::Cell;
use std::fmt;

use dashu_base::BitTest;
use dashu_int::IBig;

use super::formula::RealFormula;
use super::polynomial::Polynomial;
use crate::interrupt::Interrupt;

/// Limits of one elimination. The size of a result can grow doubly exponentially with the number
/// of quantifiers (Davenport & Heintz 1988), so every caller needs some.
#[derive(Clone, Debug)]
pub struct EliminationLimits {
    /// Maximum number of comparisons in a formula, intermediate ones included.
    pub max_atoms: usize,
    /// Maximum number of terms of a polynomial.
    pub max_terms: usize,
    /// Maximum degree of a polynomial in one variable.
    pub max_degree: u32,
    /// Maximum number of bits of a coefficient.
    pub max_coefficient_bits: usize,
    /// Maximum number of formulas inside each other, and of case splits inside each other.
    pub max_depth: usize,
    /// Maximum number of steps. A step is a product of two terms, a visit of a comparison, or a
    /// bisection of an interval.
    pub max_steps: u64,
    /// Ends the elimination with an error.
    pub interrupt: Interrupt,
}

/// Limits for rules of games. Most refusals take less than a second; the worst of 40 random
/// sentences in up to six variables and of degree up to six took some seconds.
impl Default for EliminationLimits {
    fn default() -> EliminationLimits {
        EliminationLimits {
            max_atoms: 20_000,
            max_terms: 5_000,
            max_degree: 64,
            max_coefficient_bits: 20_000,
            max_depth: 200,
            max_steps: 1_000_000,
            interrupt: Interrupt::NEVER,
        }
    }
}

/// The reasons why a formula is refused. All but the last two name a limit that was reached.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum EliminationError {
    /// A formula had more than [`EliminationLimits::max_atoms`] comparisons.
    TooManyAtoms,
    /// A polynomial had more than [`EliminationLimits::max_terms`] terms.
    TooManyTerms,
    /// A polynomial had a degree above [`EliminationLimits::max_degree`].
    DegreeTooLarge,
    /// A coefficient had more than [`EliminationLimits::max_coefficient_bits`] bits.
    CoefficientTooLarge,
    /// Formulas or case splits were inside each other more than
    /// [`EliminationLimits::max_depth`] times.
    TooDeep,
    /// More than [`EliminationLimits::max_steps`] steps were needed.
    TooManySteps,
    /// [`EliminationLimits::interrupt`] ended it.
    Stopped,
    /// The caller passed a formula with a quantifier to a function for formulas without.
    Quantified,
    /// The caller passed a formula with another free variable than expected.
    FreeVariable(u32),
}

impl fmt::Display for EliminationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EliminationError::TooManyAtoms => write!(f, "too many comparisons in a formula"),
            EliminationError::TooManyTerms => write!(f, "too many terms in a polynomial"),
            EliminationError::DegreeTooLarge => {
                write!(f, "the degree of a polynomial is too large")
            }
            EliminationError::CoefficientTooLarge => {
                write!(f, "a coefficient of a polynomial is too large")
            }
            EliminationError::TooDeep => write!(f, "formulas or cases are nested too deeply"),
            EliminationError::TooManySteps => write!(f, "elimination takes too many steps"),
            EliminationError::Stopped => write!(f, "elimination was stopped"),
            EliminationError::Quantified => write!(f, "the formula has a quantifier"),
            EliminationError::FreeVariable(variable) => {
                write!(f, "the variable x{variable} is free")
            }
        }
    }
}

impl std::error::Error for EliminationError {}

/// The budget of one elimination: counts steps and checks sizes. The count is in a cell, because
/// the continuations of case splits share the budget.
pub(crate) struct Work<'a> {
    limits: &'a EliminationLimits,
    n_steps: Cell<u64>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(limits: &'a EliminationLimits) -> Work<'a> {
        Work { limits, n_steps: Cell::new(0) }
    }

    /// Counts steps.
    pub(crate) fn step(&self, n: usize) -> Result<(), EliminationError> {
        let before = self.n_steps.get();
        let after = before.saturating_add(n as u64);
        self.n_steps.set(after);
        if after > self.limits.max_steps {
            return Err(EliminationError::TooManySteps);
        }
        // Reading the clock is cheap, but not as cheap as most steps.
        if before / 256 != after / 256 && self.limits.interrupt.is_due() {
            return Err(EliminationError::Stopped);
        }
        Ok(())
    }

    /// Counts operations on numbers of a given length: long ones take more than one step.
    pub(crate) fn step_with_numbers(&self, n: usize, bits: usize) -> Result<(), EliminationError> {
        self.step(n.saturating_mul(1 + bits / 512))
    }

    /// Returns a product within the limits.
    pub(crate) fn times(
        &self,
        left: &Polynomial,
        right: &Polynomial,
    ) -> Result<Polynomial, EliminationError> {
        let n_products = left.n_terms().saturating_mul(right.n_terms());
        self.step_with_numbers(n_products, left.coefficient_bits() + right.coefficient_bits())?;
        // The limit on terms is one of the result. Equal monomials of the product are merged, so
        // the raw product may be larger.
        let max_products = self.limits.max_terms.saturating_mul(16);
        let product = left.times(right, max_products).ok_or(EliminationError::TooManyTerms)?;
        self.check(&product)?;
        Ok(product)
    }

    /// Returns an error if a polynomial is beyond the limits, its degrees excepted.
    pub(crate) fn check(&self, polynomial: &Polynomial) -> Result<(), EliminationError> {
        if polynomial.n_terms() > self.limits.max_terms {
            return Err(EliminationError::TooManyTerms);
        }
        if polynomial.coefficient_bits() > self.limits.max_coefficient_bits {
            return Err(EliminationError::CoefficientTooLarge);
        }
        Ok(())
    }

    /// Returns an error if a coefficient is beyond the limits.
    pub(crate) fn check_number(&self, number: &IBig) -> Result<(), EliminationError> {
        if number.bit_len() > self.limits.max_coefficient_bits {
            return Err(EliminationError::CoefficientTooLarge);
        }
        Ok(())
    }

    /// Returns an error if the degree in one variable is beyond the limits.
    pub(crate) fn check_degree(&self, degree: u32) -> Result<(), EliminationError> {
        if degree > self.limits.max_degree {
            return Err(EliminationError::DegreeTooLarge);
        }
        Ok(())
    }

    /// Returns an error if case splits are too deep.
    pub(crate) fn check_depth(&self, depth: usize) -> Result<(), EliminationError> {
        if depth > self.limits.max_depth {
            return Err(EliminationError::TooDeep);
        }
        Ok(())
    }

    /// Returns an error if a formula of the caller is beyond the limits.
    pub(crate) fn check_formula(&self, formula: &RealFormula) -> Result<(), EliminationError> {
        self.check_depth(formula.size().depth)?;
        self.check_size(formula)
    }

    /// Returns an error if a formula has too many comparisons.
    pub(crate) fn check_size(&self, formula: &RealFormula) -> Result<(), EliminationError> {
        let size = formula.size();
        self.step(size.n_atoms)?;
        self.check_n_atoms(size.n_atoms)
    }

    /// Returns an error if a number of comparisons is beyond the limits.
    pub(crate) fn check_n_atoms(&self, n_atoms: usize) -> Result<(), EliminationError> {
        if n_atoms > self.limits.max_atoms {
            return Err(EliminationError::TooManyAtoms);
        }
        Ok(())
    }
}
