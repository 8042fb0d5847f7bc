//! Tier 2: explicit Runge-Kutta methods with control of the local error.

use crate::interval::Interval;
use crate::program::Program;
use crate::real::Real;

use super::guards::{Difference, Failure, Guards, START_ORDER, Start};
use super::schemes::{NotFinite, Stepper};
use super::series::solution_series;
use super::trajectory::{Segment, Trajectory};
use super::{Evolution, EvolveError, Problem};

pub(super) use super::schemes::Scheme;

/// Number of consecutive suspicious steps after which a system counts as stiff, and the number of
/// steps between two tests (Hairer & Wanner 1996, IV.2).
const STIFF_STEPS: usize = 15;
const STIFFNESS_PERIOD: usize = 1000;

/// Bound of the step length times the largest eigenvalue beyond which Dormand-Prince is not stable.
const STABILITY: f64 = 3.25;

/// The step length times the largest eigenvalue beyond which stability limits a step, because
/// accuracy needs far shorter ones. Steps that hover below [`STABILITY`] are above it.
const LIMITED: f64 = 1.0;

/// The step lengths of PI control (Gustafsson 1991): safety factor, exponent of the last error,
/// least and greatest change.
const SAFETY: f64 = 0.9;
const BETA: f64 = 0.04;
const ALPHA: f64 = 0.2 - BETA * 0.75;
const LEAST_FACTOR: f64 = 0.2;
const GREATEST_FACTOR: f64 = 10.0;

/// Fraction of the tolerance that one step may use, and the least such error, because estimates
/// below it are rounding errors.
const STEP_SHARE: f64 = 0.01;
const LEAST_ERROR: f64 = 32.0 * f64::EPSILON;

/// Least length of a step, relative to the time.
const LEAST_STEP: f64 = 16.0 * f64::EPSILON;

/// Number of steps between two looks at the clock.
const CLOCK_PERIOD: usize = 64;

pub(super) fn evolve(problem: &Problem<'_>, scheme: Scheme) -> Result<Evolution, EvolveError> {
    Run::new(problem, scheme, program(problem)).evolve()
}

/// Returns the program of the derivatives.
pub(super) fn program(problem: &Problem<'_>) -> Program {
    Program::new(problem.pool, &problem.system.derivatives, &[])
}

/// Returns what the Taylor coefficients at the start say about the signs of the differences.
fn starts(problem: &Problem<'_>, program: &Program, guards: &Guards) -> Vec<Start> {
    if guards.n_comparisons() == 0 {
        return Vec::new();
    }
    let state: Vec<Interval> = problem.start.iter().map(Real::to_interval).collect();
    // Where the derivatives have kinks, fewer coefficients are known.
    for order in [START_ORDER, 1] {
        if let Some(series) = solution_series(program, &state, Interval::ZERO, order) {
            let starts = guards.starts(&series);
            if order == START_ORDER {
                return starts;
            }
            // One coefficient cannot tell that a difference stays zero.
            let plain = |start| if start == Start::Stays { Start::Plain } else { start };
            return starts.into_iter().map(plain).collect();
        }
    }
    vec![Start::Plain; guards.n_comparisons()]
}

/// An evolution in progress. Its own stepper computes all steps, or those of an event only if the
/// others are computed in lanes.
pub(super) struct Run<'a> {
    problem: &'a Problem<'a>,
    pub(super) program: Program,
    pub(super) stepper: Stepper<1>,
    scheme: Scheme,
    guards: Guards,
    starts: Vec<Start>,
    pub(super) time: f64,
    pub(super) state: Vec<f64>,
    /// The sum of the estimated errors of all steps.
    error: Vec<f64>,
    trajectory: Trajectory,
    n_steps: usize,
    /// The length of the next step.
    length: f64,
    /// The error of the last accepted step, relative to the tolerance.
    last_error: f64,
    /// Whether the last step was rejected.
    rejected: bool,
    n_accepted: usize,
    n_stiff: usize,
    n_mild: usize,
    /// The number of tests of stiffness, and of those in which stability limited the step.
    n_tests: usize,
    n_limited: usize,
}

/// What follows from a step.
pub(super) enum Judgement {
    /// The step is repeated with another length.
    Rejected,
    /// The evolution goes on from the end of the step.
    Accepted,
    /// The evolution has ended.
    Ended(Evolution),
}

impl<'a> Run<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, scheme: Scheme, program: Program) -> Run<'a> {
        let guards = Guards::new(problem.pool, problem.guards);
        let start: Vec<f64> = problem.start.iter().map(Real::midpoint).collect();
        Run {
            problem,
            stepper: Stepper::new(&program, scheme, start.len()),
            scheme,
            starts: starts(problem, &program, &guards),
            guards,
            program,
            time: 0.0,
            error: vec![0.0; start.len()],
            state: start,
            trajectory: Trajectory::default(),
            n_steps: 0,
            length: 0.0,
            last_error: 1e-4,
            rejected: false,
            n_accepted: 0,
            n_stiff: 0,
            n_mild: 0,
            n_tests: 0,
            n_limited: 0,
        }
    }

    pub(super) fn evolve(&mut self) -> Result<Evolution, EvolveError> {
        if let Some(ended) = self.begin()? {
            return Ok(ended);
        }
        loop {
            let Some(length) = self.propose()? else { return Ok(self.finish_in_time()) };
            let outcome = self.step_alone(self.time, length);
            let judgement = self.judge(length, outcome, |_| ())?;
            match judgement {
                Judgement::Ended(ended) => return Ok(ended),
                Judgement::Accepted => self.stepper.advance(),
                Judgement::Rejected => {}
            }
        }
    }

    /// Prepares the first step. Returns the result if a guard fails at once.
    pub(super) fn begin(&mut self) -> Result<Option<Evolution>, EvolveError> {
        let duration = self.duration();
        self.stepper.start([0.0], self.state.as_chunks().0);
        self.stepper
            .outcome(0)
            .map_err(|NotFinite(variable)| EvolveError::Undefined { variable, time: 0.0 })?;
        if let Some(failed) = self.failed_at_start(duration) {
            return Ok(Some(self.finish(Real::ZERO, failed)));
        }
        self.length = match self.scheme {
            Scheme::RungeKutta4 { step } => step,
            Scheme::DormandPrince | Scheme::CashKarp => self.first_length(duration),
        };
        Ok(None)
    }

    fn duration(&self) -> f64 {
        self.problem.duration.midpoint().max(0.0)
    }

    /// Returns the length of the next step; `None` if the duration has passed.
    pub(super) fn propose(&mut self) -> Result<Option<f64>, EvolveError> {
        let duration = self.duration();
        if self.time >= duration {
            return Ok(None);
        }
        if self.n_steps >= self.problem.options.max_steps {
            // Steps that are short for stability only use up their number in a stiff system.
            let is_stiff = self.n_tests > 0 && self.n_limited * 2 > self.n_tests;
            let time = self.time;
            return Err(match is_stiff {
                true => EvolveError::Stiff { time },
                false => EvolveError::Steps { time },
            });
        }
        if self.n_steps.is_multiple_of(CLOCK_PERIOD) {
            self.problem.check_stop()?;
        }
        self.n_steps += 1;
        let rest = duration - self.time;
        // A last step that is a little longer avoids a tiny one after it.
        let length = if self.length * 1.01 >= rest { rest } else { self.length };
        // Steps that no longer move the time lead into a pole.
        if length < rest && length <= LEAST_STEP * self.time {
            let variable = self.worst_variable();
            return Err(EvolveError::Undefined { variable, time: self.time });
        }
        Ok(Some(length))
    }

    /// Decides about a step whose result and error are in the stepper. `take_stages` brings its
    /// stages there too, if they are needed.
    pub(super) fn judge(
        &mut self,
        length: f64,
        outcome: Result<(), NotFinite>,
        take_stages: impl FnOnce(&mut Stepper<1>),
    ) -> Result<Judgement, EvolveError> {
        if matches!(self.scheme, Scheme::RungeKutta4 { .. }) {
            outcome.map_err(|NotFinite(variable)| EvolveError::Undefined {
                variable,
                time: self.time,
            })?;
        } else {
            let error = outcome.map(|()| self.scaled_error());
            match error {
                Ok(error) if error <= 1.0 => {
                    let factor = SAFETY / libm::pow(error.max(1e-10), ALPHA)
                        * libm::pow(self.last_error, BETA);
                    let greatest = if self.rejected { 1.0 } else { GREATEST_FACTOR };
                    self.length = length * factor.clamp(LEAST_FACTOR, greatest);
                    self.last_error = error.max(1e-4);
                    self.rejected = false;
                }
                rejection => {
                    self.reject(length, rejection)?;
                    return Ok(Judgement::Rejected);
                }
            }
        }
        self.n_accepted += 1;
        let is_tested = self.n_accepted.is_multiple_of(STIFFNESS_PERIOD) || self.n_stiff > 0;
        if is_tested || self.needs_dense() {
            take_stages(&mut self.stepper);
        }
        if is_tested {
            self.test_stiffness(length)?;
        }
        Ok(match self.accept(length, self.duration()) {
            Some(ended) => Judgement::Ended(ended),
            None => Judgement::Accepted,
        })
    }

    /// Shortens the next step after one that failed or was too inaccurate.
    fn reject(
        &mut self,
        length: f64,
        rejection: Result<f64, NotFinite>,
    ) -> Result<(), EvolveError> {
        self.rejected = true;
        let factor = match rejection {
            Ok(error) if error.is_finite() => {
                (SAFETY / libm::pow(error, ALPHA)).clamp(LEAST_FACTOR, 1.0)
            }
            _ => 0.1,
        };
        self.length = length * factor;
        if self.length <= LEAST_STEP * self.time || self.length < 1e-290 {
            let variable = match rejection {
                Err(NotFinite(variable)) => variable,
                Ok(_) => self.worst_variable(),
            };
            return Err(EvolveError::Undefined { variable, time: self.time });
        }
        Ok(())
    }

    fn test_stiffness(&mut self, length: f64) -> Result<(), EvolveError> {
        let Some(stiffness) = self.stepper.stiffness(length) else { return Ok(()) };
        self.n_tests += 1;
        self.n_limited += usize::from(stiffness > LIMITED);
        if stiffness > STABILITY {
            self.n_mild = 0;
            self.n_stiff += 1;
            if self.n_stiff >= STIFF_STEPS {
                return Err(EvolveError::Stiff { time: self.time });
            }
        } else {
            self.n_mild += 1;
            if self.n_mild == 6 {
                self.n_stiff = 0;
            }
        }
        Ok(())
    }

    /// Computes a step from the state by the run's own stepper.
    fn step_alone(&mut self, time: f64, length: f64) -> Result<(), NotFinite> {
        self.stepper.step([time], self.state.as_chunks().0, [length]);
        self.stepper.outcome(0)
    }

    /// Returns whether the dense output of every step is needed.
    fn needs_dense(&self) -> bool {
        self.problem.options.keep_trajectory || self.guards.n_comparisons() > 0
    }

    /// Moves to the end of a step, or returns the result if a guard fails on the way.
    fn accept(&mut self, length: f64, duration: f64) -> Option<Evolution> {
        if self.needs_dense() {
            let coefficients = self.stepper.dense(&self.state, length);
            let segment = Segment { start: self.time, length, coefficients };
            let failure = self.failure(&segment);
            if let Some(failure) = failure {
                let part = self.refined(&segment, &failure);
                if self.problem.options.keep_trajectory {
                    self.trajectory.push(segment);
                }
                return Some(self.finish_within(length, part, failure.guards));
            }
            if self.problem.options.keep_trajectory {
                self.trajectory.push(segment);
            }
        }
        let end = self.time + length;
        // Rounding must not leave a rest that no step can cover.
        self.time = if duration - end <= 4.0 * f64::EPSILON * duration { duration } else { end };
        self.state.copy_from_slice(self.stepper.result.as_flattened());
        for (sum, [error]) in self.error.iter_mut().zip(&self.stepper.error) {
            *sum += error.abs();
        }
        None
    }

    fn failure(&self, segment: &Segment) -> Option<Failure> {
        let differences = self.guards.along(segment);
        let pieces = self.guards.pieces(segment, &differences, Some(&self.starts));
        self.guards.first_failure(segment, &pieces)
    }

    /// Returns the guards that fail at once; `None` if there are none. The direction is that of the
    /// Taylor coefficients, not that of a step.
    fn failed_at_start(&self, duration: f64) -> Option<Vec<usize>> {
        if self.guards.n_comparisons() == 0 {
            let constants: Vec<Difference> = Vec::new();
            let segment = Segment { start: 0.0, length: 1.0, coefficients: Vec::new() };
            let pieces = self.guards.pieces(&segment, &constants, None);
            return self.guards.first_failure(&segment, &pieces).map(|failure| failure.guards);
        }
        // A straight line in the direction of the derivative, so short that it ends before any
        // event but a failure at once.
        let length = 1e-9f64.min(if duration > 0.0 { duration } else { 1.0 });
        let coefficients = self
            .state
            .iter()
            .zip(self.stepper.first_slope())
            .map(|(value, slope)| vec![*value, slope * length])
            .collect();
        let segment = Segment { start: 0.0, length, coefficients };
        let failure = self.failure(&segment)?;
        (failure.part == 0.0).then_some(failure.guards)
    }

    /// Returns the fraction of a step after which a guard fails, corrected for the error of the
    /// dense output: the state is computed by a shorter step, and the time is moved along the
    /// secant until the difference vanishes.
    fn refined(&mut self, segment: &Segment, failure: &Failure) -> f64 {
        let part = failure.part;
        let Some(&comparison) = failure.comparisons.first() else { return part };
        let length = segment.length;
        let difference = |run: &mut Self, part: f64| {
            let time = run.time;
            run.step_alone(time, part * length).ok().map(|()| {
                let result = run.stepper.result.as_flattened();
                run.guards.difference_at(comparison, result, time + part * length)
            })
        };
        let dense = |run: &Self, part: f64| {
            let time = segment.start + part * length;
            run.guards.difference_at(comparison, &segment.at_part(part), time)
        };
        let width = 1e-4f64;
        let (left, right) = ((part - width).max(0.0), (part + width).min(1.0));
        let mut slope = (dense(self, right) - dense(self, left)) / (right - left);
        let (mut place, mut last) = (part, None::<(f64, f64)>);
        for _ in 0..6 {
            let Some(value) = difference(self, place) else { return part };
            if let Some((last_place, last_value)) = last
                && place != last_place
                && value != last_value
            {
                slope = (value - last_value) / (place - last_place);
            }
            let next = place - value / slope;
            // A touch without crossing has no slope; the place in the dense output will do.
            if !next.is_finite() || (next - part).abs() > 1e-3 || !(0.0..=1.0).contains(&next) {
                return if last.is_some() { place } else { part };
            }
            last = Some((place, value));
            if (next - place).abs() * length <= f64::EPSILON * (segment.start + length) {
                return next;
            }
            place = next;
        }
        place
    }

    /// Ends after a fraction of a step.
    fn finish_within(&mut self, length: f64, part: f64, failed: Vec<usize>) -> Evolution {
        let (time, rest) = (self.time, part * length);
        // A shorter step has the same stages, which were finite in the longer one; should they not
        // be, the state is that at the start of the step.
        if self.step_alone(time, rest).is_ok() {
            self.state.copy_from_slice(self.stepper.result.as_flattened());
            let margin: Vec<f64> = self.stepper.first_slope().iter().map(|v| v.abs()).collect();
            for (variable, sum) in self.error.iter_mut().enumerate() {
                // The event time is rounded, which moves the state along its derivative.
                let moved = 4.0 * f64::EPSILON * (time + rest) * margin[variable];
                *sum += self.stepper.error[variable][0].abs() + moved;
            }
        }
        let end = time + rest;
        let radius = 4.0 * f64::EPSILON * end;
        let moment = if end == 0.0 { Real::ZERO } else { Interval::around(end, radius).into() };
        self.finish(moment, failed)
    }

    /// Ends when the duration has passed.
    pub(super) fn finish_in_time(&mut self) -> Evolution {
        self.finish(self.problem.duration, Vec::new())
    }

    fn finish(&mut self, time: Real, failed: Vec<usize>) -> Evolution {
        let state = self
            .problem
            .start
            .iter()
            .enumerate()
            .map(|(variable, start)| {
                if time == Real::ZERO {
                    return *start;
                }
                let value = self.state[variable];
                let rounding = (self.n_steps + 4) as f64 * f64::EPSILON * value.abs();
                let radius = start.radius() + self.error[variable] + rounding;
                Real::Interval(Interval::around(value, radius))
            })
            .collect();
        let mut trajectory = std::mem::take(&mut self.trajectory);
        if self.problem.options.keep_trajectory && trajectory.is_empty() {
            let coefficients = self.state.iter().map(|value| vec![*value]).collect();
            trajectory.push(Segment { start: 0.0, length: 0.0, coefficients });
        }
        trajectory.finish(time.midpoint());
        Evolution { time, state, failed, trajectory, n_steps: self.n_steps }
    }

    fn scale(&self, variable: usize) -> f64 {
        let size = self.state[variable].abs().max(self.stepper.result[variable][0].abs());
        self.step_tolerance() * (1.0 + size)
    }

    /// Returns the bound of the estimated error of one step, relative to 1 + |x|.
    fn step_tolerance(&self) -> f64 {
        (STEP_SHARE * self.problem.options.tolerance).max(LEAST_ERROR)
    }

    /// Returns the root mean square of the estimated errors relative to the tolerance.
    fn scaled_error(&self) -> f64 {
        if self.state.is_empty() {
            return 0.0;
        }
        let sum: f64 = self
            .stepper
            .error
            .iter()
            .enumerate()
            .map(|(variable, [error])| {
                let ratio = error / self.scale(variable);
                ratio * ratio
            })
            .sum();
        libm::sqrt(sum / self.state.len() as f64)
    }

    fn worst_variable(&self) -> usize {
        let ratio = |variable: usize| self.stepper.error[variable][0].abs() / self.scale(variable);
        (0..self.state.len())
            .max_by(|left, right| ratio(*left).total_cmp(&ratio(*right)))
            .unwrap_or(0)
    }

    /// Returns the length of the first step, from the sizes of the first two derivatives (Hairer,
    /// Nørsett & Wanner 1993, II.4).
    fn first_length(&mut self, duration: f64) -> f64 {
        let norm = |run: &Self, values: &[f64]| {
            let sum: f64 = values
                .iter()
                .enumerate()
                .map(|(variable, value)| {
                    let scale = run.step_tolerance() * (1.0 + run.state[variable].abs());
                    (value / scale) * (value / scale)
                })
                .sum();
            libm::sqrt(sum / values.len().max(1) as f64)
        };
        let slope = self.stepper.first_slope();
        let (size, speed) = (norm(self, &self.state), norm(self, &slope));
        let mut length = if size <= 1e-10 || speed <= 1e-10 { 1e-6 } else { 0.01 * size / speed };
        length = length.min(duration).max(1e-12 * duration);
        let bend = {
            match self.step_alone(0.0, length) {
                Ok(()) => {
                    self.stepper.advance();
                    let change: Vec<f64> =
                        self.stepper.first_slope().iter().zip(&slope).map(|(l, r)| l - r).collect();
                    let bend = norm(self, &change) / length;
                    // Restores the derivative at the start.
                    self.stepper.advance();
                    bend
                }
                Err(_) => 0.0,
            }
        };
        let fastest = speed.max(bend);
        let better = if fastest <= 1e-15 {
            1e-6f64.max(length * 1e-3)
        } else {
            libm::pow(0.01 / fastest, 0.2)
        };
        (100.0 * length).min(better).min(duration)
    }
}
