//! The evolution of real variables along differential equations, up to the first moment at which a
//! guard ceases to hold.
//!
//! There are three tiers:
//!
//! 1. [`Method::Polynomial`]: where Picard iteration ends, the solution is a polynomial in time. It
//!    is computed exactly, and the state at a rational time is exact.
//! 2. [`Method::DormandPrince`] and its relatives: Runge-Kutta methods with control of the local
//!    error. The radius of a result is an estimate: the radius at the start plus the sum of the
//!    estimated local errors.
//! 3. [`Method::Enclosure`]: interval Taylor series with a verified remainder. Results certainly
//!    contain the solution. Slow, meant as an oracle.
//!
//! # Guards
//!
//! An evolution ends at the infimum of the times at which some guard is false. Between two steps
//! the sign of every compared difference is followed with interval arithmetic, so that two
//! crossings within one step are found. A difference that may be zero at the start counts with the
//! sign that it has immediately afterwards, which is the sign of its first Taylor coefficient that
//! is certainly not zero. A ball that has just bounced may thus fly on although its height is only
//! known to be about zero. A difference whose first Taylor coefficients all may be zero counts as
//! zero throughout.
//!
//! The moment of the event is that of the trajectory of the midpoints of the start state; the
//! radii of the start do not enter it, except with [`Method::Enclosure`]. It is as accurate as the
//! trajectory: the search for the event itself adds only rounding errors.
//!
//! ```
//! use agon_reals::evolve::{EvolveOptions, System, evolve};
//! use agon_reals::expression::Pool;
//! use agon_reals::real::Real;
//!
//! // A ball falls from a height of 20 under a gravity of 10, until it is on the floor.
//! let mut pool = Pool::new();
//! let (height, speed) = (pool.variable(0)?, pool.variable(1)?);
//! let (gravity, floor) = (pool.whole(-10)?, pool.whole(0)?);
//! let above = pool.at_most(floor, height)?;
//! let system = System { derivatives: vec![speed, gravity] };
//! let start = [Real::whole(20), Real::ZERO];
//! let options = EvolveOptions::default();
//! let fall = evolve(&pool, &system, &start, Real::whole(60), &[above], &options)?;
//! assert_eq!(fall.time, Real::whole(2));
//! assert_eq!(fall.state, [Real::ZERO, Real::whole(-20)]);
//! assert_eq!(fall.failed, [0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use crate::expression::{Condition, Expr, Pool};
use crate::interrupt::Interrupt;
use crate::real::Real;

pub use trajectory::Trajectory;

/// A system of differential equations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct System {
    /// The derivative of every variable. May mention the variables and the time since the start.
    pub derivatives: Vec<Expr>,
}

/// A method of solving differential equations.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Method {
    /// [`Method::Polynomial`] if it applies, and otherwise [`Method::DormandPrince`].
    Auto,
    /// Exact polynomials in time.
    Polynomial,
    /// The method of Dormand & Prince (1980) of order 5(4), with the dense output of Hairer,
    /// Nørsett & Wanner (1993).
    DormandPrince,
    /// The method of Cash & Karp (1990) of order 5(4).
    CashKarp,
    /// The classical method of order 4 with fixed steps. Its errors are not estimated.
    RungeKutta4 {
        /// The length of a step.
        step: f64,
    },
    /// Interval Taylor series with verified remainders (Moore 1966).
    Enclosure,
}

/// How to evolve.
#[derive(Clone, Debug)]
pub struct EvolveOptions {
    /// The method.
    pub method: Method,
    /// Aim for the error of the result, relative to 1 + |x|. The estimated error of one step is kept
    /// below a hundredth of it, because the errors of steps add up. Over long times, and where the
    /// system magnifies errors, the result is less accurate.
    pub tolerance: f64,
    /// Maximum number of steps, rejected ones included.
    pub max_steps: usize,
    /// Whether the trajectory is kept for pictures. Searches turn this off.
    pub keep_trajectory: bool,
    /// Ends the evolution with an error.
    pub interrupt: Interrupt,
}

impl Default for EvolveOptions {
    fn default() -> EvolveOptions {
        EvolveOptions {
            method: Method::Auto,
            tolerance: 1e-9,
            max_steps: 100_000,
            keep_trajectory: true,
            interrupt: Interrupt::NEVER,
        }
    }
}

/// The result of an evolution.
#[derive(Clone, Debug)]
pub struct Evolution {
    /// The time at which it ended.
    pub time: Real,
    /// The values of the variables at this time.
    pub state: Vec<Real>,
    /// The indices of the guards that fail at this time, in increasing order. Empty if the duration
    /// has passed.
    pub failed: Vec<usize>,
    /// The states on the way.
    pub trajectory: Trajectory,
    /// The number of steps taken. 0 for exact polynomials.
    pub n_steps: usize,
}

/// A reason why a system could not be evolved.
#[derive(Clone, PartialEq, Debug)]
pub enum EvolveError {
    /// The system is stiff: explicit methods need tiny steps for stability, not for accuracy.
    Stiff {
        /// When this was detected.
        time: f64,
    },
    /// More steps than [`EvolveOptions::max_steps`] are needed.
    Steps {
        /// How far the evolution got.
        time: f64,
    },
    /// A variable or its derivative is undefined or grows beyond all bounds.
    Undefined {
        /// The variable.
        variable: usize,
        /// When this happens.
        time: f64,
    },
    /// Picard iteration does not end, so [`Method::Polynomial`] does not apply.
    NotPolynomial,
    /// An enclosure is too wide to tell whether a guard holds.
    Undecided {
        /// Since when.
        time: f64,
    },
    /// The caller stopped the evolution, or the deadline passed.
    Stopped,
    /// The request makes no sense: its parts have different sizes, or a number is out of range.
    Invalid(&'static str),
}

impl fmt::Display for EvolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvolveError::Stiff { time } => write!(
                f,
                "the equations are stiff at time {time}: some parts change much faster than others"
            ),
            EvolveError::Steps { time } => {
                write!(f, "the number of steps is used up at time {time}")
            }
            EvolveError::Undefined { variable, time } => write!(
                f,
                "variable {variable} or its derivative is undefined or unbounded at time {time}"
            ),
            EvolveError::NotPolynomial => {
                write!(f, "the solution is not a polynomial in time")
            }
            EvolveError::Undecided { time } => {
                write!(f, "the enclosure is too wide at time {time} to decide the guards")
            }
            EvolveError::Stopped => write!(f, "the evolution was stopped"),
            EvolveError::Invalid(reason) => write!(f, "{reason}"),
        }
    }
}

impl std::error::Error for EvolveError {}

/// Evolves a system from a state until a guard ceases to hold or a duration has passed.
///
/// # Errors
/// See [`EvolveError`].
pub fn evolve(
    pool: &Pool,
    system: &System,
    start: &[Real],
    duration: Real,
    guards: &[Condition],
    options: &EvolveOptions,
) -> Result<Evolution, EvolveError> {
    let problem = Problem { pool, system, start, duration, guards, options };
    match problem.begin() {
        Begun::Ended(outcome) => outcome,
        Begun::Steps(scheme) => adaptive::evolve(&problem, scheme),
    }
}

/// Evolves many systems, each like [`evolve`]. Systems that are solved in steps and differ only in
/// their constants, such as those of a move with different parameters, are solved side by side.
/// The results are the same, bit by bit, as those of single evolutions.
pub fn evolve_many(problems: &[Problem<'_>]) -> Vec<Result<Evolution, EvolveError>> {
    let mut outcomes = Vec::with_capacity(problems.len());
    let mut stepped = Vec::new();
    for problem in problems {
        outcomes.push(match problem.begin() {
            Begun::Ended(outcome) => Some(outcome),
            Begun::Steps(scheme) => {
                stepped.push((problem, scheme));
                None
            }
        });
    }
    let mut stepped = lanes::evolve(&stepped).into_iter();
    outcomes
        .into_iter()
        .map(|outcome| {
            outcome.or_else(|| stepped.next()).expect("every stepped problem has an outcome")
        })
        .collect()
}

/// A system with the state and the conditions from which it evolves: the arguments of [`evolve`].
#[derive(Copy, Clone)]
pub struct Problem<'a> {
    /// The pool of the terms and guards.
    pub pool: &'a Pool,
    /// The differential equations.
    pub system: &'a System,
    /// The state at the start.
    pub start: &'a [Real],
    /// The time after which the evolution ends if no guard fails.
    pub duration: Real,
    /// The conditions that must hold.
    pub guards: &'a [Condition],
    /// How to evolve.
    pub options: &'a EvolveOptions,
}

/// What is known before the first step.
enum Begun {
    /// The outcome.
    Ended(Result<Evolution, EvolveError>),
    /// The system must be solved in steps of a Runge-Kutta method.
    Steps(adaptive::Scheme),
}

impl Problem<'_> {
    /// Solves the problem unless that takes steps of a Runge-Kutta method.
    fn begin(&self) -> Begun {
        let Problem { pool, system, start, duration, guards, options } = *self;
        if let Err(error) = check(pool, system, start, duration, guards, options) {
            return Begun::Ended(Err(error));
        }
        match options.method {
            Method::Polynomial => Begun::Ended(exact::evolve(self)),
            Method::Auto => match exact::evolve(self) {
                Err(EvolveError::NotPolynomial) => Begun::Steps(adaptive::Scheme::DormandPrince),
                outcome => Begun::Ended(outcome),
            },
            Method::DormandPrince => Begun::Steps(adaptive::Scheme::DormandPrince),
            Method::CashKarp => Begun::Steps(adaptive::Scheme::CashKarp),
            Method::RungeKutta4 { step } => Begun::Steps(adaptive::Scheme::RungeKutta4 { step }),
            Method::Enclosure => Begun::Ended(enclosure::evolve(self)),
        }
    }

    /// Reports whether the caller wants to stop.
    fn check_stop(&self) -> Result<(), EvolveError> {
        if self.options.interrupt.is_due() { Err(EvolveError::Stopped) } else { Ok(()) }
    }
}

fn check(
    pool: &Pool,
    system: &System,
    start: &[Real],
    duration: Real,
    guards: &[Condition],
    options: &EvolveOptions,
) -> Result<(), EvolveError> {
    let invalid = |reason| Err(EvolveError::Invalid(reason));
    if system.derivatives.len() != start.len() {
        return invalid("the number of derivatives differs from the number of start values");
    }
    let roots: Vec<u32> = system
        .derivatives
        .iter()
        .map(|expr| expr.0)
        .chain(guards.iter().map(|guard| guard.0))
        .collect();
    if roots.iter().any(|id| *id as usize >= pool.len()) {
        return invalid("a term belongs to another pool");
    }
    if pool.variables(&roots).last().is_some_and(|variable| *variable as usize >= start.len()) {
        return invalid("a term mentions a variable that has no start value");
    }
    let length = duration.to_interval();
    if !length.is_finite() || length.hi < 0.0 {
        return invalid("the duration is negative or infinite");
    }
    if !(options.tolerance > 0.0 && options.tolerance.is_finite()) {
        return invalid("the tolerance is not positive");
    }
    if let Method::RungeKutta4 { step } = options.method
        && !(step > 0.0 && step.is_finite())
    {
        return invalid("the step is not positive");
    }
    if let Some(variable) = start.iter().position(|value| !value.to_interval().is_finite()) {
        return Err(EvolveError::Undefined { variable, time: 0.0 });
    }
    Ok(())
}

mod adaptive;
mod enclosure;
mod exact;
mod guards;
mod lanes;
mod picard;
mod polynomial;
mod roots;
mod schemes;
mod series;
#[cfg(test)]
mod tests;
mod trajectory;
