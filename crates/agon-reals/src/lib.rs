//! Real numbers for the rules of games: exact rationals, and what games with continuous time and
//! real parameters need beyond them. The crate knows nothing about games or structures.
//!
//! ```
//! use agon_reals::rational::Rational;
//! let third: Rational = "1/3".parse()?;
//! assert_eq!(third.times(Rational::whole(3)), Ok(Rational::ONE));
//! # Ok::<(), agon_reals::rational::ParseRationalError>(())
//! ```
//!
//! # Modules, in reading order
//!
//! 1. [`interrupt`]: deadlines and cancellation of long work.
//! 2. [`rational`]: exact numbers of bounded size.
//! 3. [`interval`]: intervals of `f64` with outward rounding.
//! 4. [`real`]: numbers that are exact or an interval.
//! 5. [`expression`]: terms and conditions over variables and time.
//! 6. [`domain`]: the number systems in which terms are evaluated.
//! 7. [`program`]: byte code of terms and conditions.
//! 8. [`evolve`]: differential equations, up to the first moment at which a guard fails.
//! 9. [`elimination`]: polynomials and formulas over the reals, quantifier elimination, and the
//!    solution sets of formulas in one variable.
#![forbid(unsafe_code)]

pub mod domain;
pub mod elimination;
pub mod evolve;
pub mod expression;
pub mod interrupt;
pub mod interval;
pub mod program;
pub mod rational;
pub mod real;
