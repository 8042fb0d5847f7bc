//! Evolutions with known answers, guards in all positions, and refusals.

use super::*;
use crate::interval::Interval;
use crate::rational::Rational;

mod closed_forms;
mod events;
mod lanes;
mod oracles;
mod refusals;

/// A system that is built from texts of numbers and closures over its pool.
struct Setting {
    pool: Pool,
    variables: Vec<Expr>,
    derivatives: Vec<Expr>,
    guards: Vec<Condition>,
}

impl Setting {
    fn new(n_variables: u32) -> Setting {
        let mut pool = Pool::new();
        let variables: Vec<Expr> =
            (0..n_variables).map(|index| pool.variable(index).expect("there is room")).collect();
        Setting { pool, variables, derivatives: Vec::new(), guards: Vec::new() }
    }

    fn derivative(
        &mut self,
        build: impl FnOnce(&mut Pool, &[Expr]) -> Result<Expr, crate::expression::PoolFull>,
    ) {
        let expr = build(&mut self.pool, &self.variables).expect("there is room");
        self.derivatives.push(expr);
    }

    fn guard(
        &mut self,
        build: impl FnOnce(&mut Pool, &[Expr]) -> Result<Condition, crate::expression::PoolFull>,
    ) {
        let guard = build(&mut self.pool, &self.variables).expect("there is room");
        self.guards.push(guard);
    }

    fn run(&self, start: &[Real], duration: Real, options: &EvolveOptions) -> Outcome {
        let system = System { derivatives: self.derivatives.clone() };
        evolve(&self.pool, &system, start, duration, &self.guards, options)
    }
}

type Outcome = Result<Evolution, EvolveError>;

fn real(text: &str) -> Real {
    text.parse().expect("a number")
}

fn reals(texts: &[&str]) -> Vec<Real> {
    texts.iter().map(|text| real(text)).collect()
}

fn rational(text: &str) -> Rational {
    text.parse().expect("a number")
}

fn with(method: Method) -> EvolveOptions {
    EvolveOptions { method, ..EvolveOptions::default() }
}

fn precise(method: Method) -> EvolveOptions {
    EvolveOptions { method, tolerance: 1e-11, ..EvolveOptions::default() }
}

/// A ball above the floor: height and speed under a gravity of 10, and the guard that it is not
/// below the floor.
fn ball() -> Setting {
    let mut ball = Setting::new(2);
    ball.derivative(|_, v| Ok(v[1]));
    ball.derivative(|pool, _| pool.whole(-10));
    ball.guard(|pool, v| {
        let zero = pool.whole(0)?;
        pool.at_most(zero, v[0])
    });
    ball
}

/// A harmonic oscillator of frequency 1.
fn oscillator() -> Setting {
    let mut oscillator = Setting::new(2);
    oscillator.derivative(|_, v| Ok(v[1]));
    oscillator.derivative(|pool, v| pool.negate(v[0]));
    oscillator
}

/// Two bodies: position and velocity of one, with the other in the origin.
fn orbit() -> Setting {
    let mut orbit = Setting::new(4);
    orbit.derivative(|_, v| Ok(v[2]));
    orbit.derivative(|_, v| Ok(v[3]));
    for axis in 0..2 {
        orbit.derivative(|pool, v| {
            let (x, y) = (pool.power_integer(v[0], 2)?, pool.power_integer(v[1], 2)?);
            let square = pool.add(x, y)?;
            let distance = pool.sqrt(square)?;
            let cube = pool.power_integer(distance, 3)?;
            let force = pool.divide(v[axis], cube)?;
            pool.negate(force)
        });
    }
    orbit
}
