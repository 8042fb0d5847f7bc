//! Tier 3: certain enclosures by interval Taylor series (Moore 1966).
//!
//! Every step has two parts. First a box is found that certainly contains the solution during the
//! step: the Picard operator maps it into itself. Then the solution is expanded at the start of the
//! step, and the remainder is the next Taylor coefficient over the box.
//!
//! The enclosures are boxes and the expansion is not centred, so they widen exponentially with time
//! (the wrapping effect). This suffices for an oracle over moderate times.

use crate::domain::Truth;
use crate::interval::Interval;
use crate::program::Program;
use crate::real::Real;

use super::guards::{Guards, Start};
use super::series::{PowerSeries, solution_series};
use super::trajectory::{Segment, Trajectory};
use super::{Evolution, EvolveError, Problem};

/// The power of time of the remainder.
const ORDER: usize = 14;

/// Attempts to widen a box until the Picard operator maps it into itself.
const MAX_INFLATIONS: usize = 8;

/// Fraction of a step below which parts are not halved further in the search for events.
const LEAST_PART: f64 = 1.0 / (1u64 << 42) as f64;

pub(super) fn evolve(problem: &Problem<'_>) -> Result<Evolution, EvolveError> {
    let program = Program::new(problem.pool, &problem.system.derivatives, &[]);
    let guards = Guards::new(problem.pool, problem.guards);
    let mut run = Run {
        problem,
        program,
        time: 0.0,
        length: 0.0,
        state: problem.start.iter().map(Real::to_interval).collect(),
        starts: vec![Start::Plain; guards.n_comparisons()],
        guards,
        doubt: None,
        n_steps: 0,
        trajectory: Trajectory::default(),
    };
    run.evolve()
}

struct Run<'a> {
    problem: &'a Problem<'a>,
    program: Program,
    guards: Guards,
    starts: Vec<Start>,
    time: f64,
    /// The length of the next step.
    length: f64,
    state: Vec<Interval>,
    /// Since when some guard may fail, and the states since then.
    doubt: Option<Doubt>,
    n_steps: usize,
    trajectory: Trajectory,
}

struct Doubt {
    since: f64,
    states: Vec<Interval>,
}

/// A verified step: polynomials in the time since its start, with interval coefficients.
struct Step {
    length: f64,
    states: Vec<Vec<Interval>>,
    /// The differences of the guards; `None` where they have kinks or may be undefined.
    differences: Vec<Option<Vec<Interval>>>,
}

/// A moment at which a guard fails.
struct Event {
    time: Interval,
    states: Vec<Interval>,
    failed: Vec<usize>,
}

impl Run<'_> {
    fn evolve(&mut self) -> Result<Evolution, EvolveError> {
        let duration = self.problem.duration.to_interval();
        self.length = duration.hi;
        if let Some(variable) = self.undefined_at_start() {
            return Err(EvolveError::Undefined { variable, time: 0.0 });
        }
        if let Some(series) =
            solution_series(&self.program, &self.state, Interval::ZERO, super::guards::START_ORDER)
        {
            self.starts = self.guards.starts(&series);
        }
        loop {
            let rest = duration.hi - self.time;
            // An evolution of no duration has a direction, which decides guards at zero.
            let step = if duration.hi == 0.0 { self.step(1e-9)? } else { self.step(rest)? };
            let last = step.length >= rest;
            let event = self.event(&step)?;
            let event = event.filter(|event| duration.hi > 0.0 || event.time == Interval::ZERO);
            if self.problem.options.keep_trajectory {
                self.trajectory.push(segment(&step, self.time));
            }
            if let Some(event) = event {
                return Ok(self.finish(event.time.into(), event.states, event.failed));
            }
            if last {
                if let Some(doubt) = &self.doubt {
                    return Err(EvolveError::Undecided { time: doubt.since });
                }
                let since = duration - Interval::point(self.time);
                if since.lo < -1e-12 * duration.hi {
                    return Err(EvolveError::Undecided { time: self.time });
                }
                let since = Interval { lo: since.lo.max(0.0), hi: since.hi.max(0.0) };
                let states = step.at(since);
                return Ok(self.finish(self.problem.duration, states, Vec::new()));
            }
            let next = self.time + step.length;
            self.state = step.at(Interval::point(next) - Interval::point(self.time));
            self.time = next;
            self.length = 1.5 * step.length;
        }
    }

    /// Returns a step of a length that can be verified, at most `rest`.
    fn step(&mut self, rest: f64) -> Result<Step, EvolveError> {
        let mut length = self.length.min(rest);
        loop {
            self.problem.check_stop()?;
            if self.n_steps >= self.problem.options.max_steps {
                return Err(EvolveError::Steps { time: self.time });
            }
            self.n_steps += 1;
            if let Some(step) = self.verified(length) {
                return Ok(step);
            }
            length *= 0.5;
            if length <= 16.0 * f64::EPSILON * self.time || length < f64::MIN_POSITIVE {
                let widest = |left: &usize, right: &usize| {
                    self.state[*left].magnitude().total_cmp(&self.state[*right].magnitude())
                };
                let variable = (0..self.state.len()).max_by(widest).unwrap_or(0);
                return Err(EvolveError::Undefined { variable, time: self.time });
            }
        }
    }

    fn verified(&self, length: f64) -> Option<Step> {
        // The end of the step is rounded, so the box covers a little more.
        let length_up = length + 4.0 * f64::EPSILON * (self.time + length);
        let during = Interval { lo: 0.0, hi: length_up };
        let clock = Interval::point(self.time) + during;
        let bounds = self.bounds(during, clock)?;
        let start = Interval::point(self.time);
        let mut states = solution_series(&self.program, &self.state, start, ORDER - 1)?;
        let remainder = solution_series(&self.program, &bounds, clock, ORDER)?;
        let scale = Interval::point(length_up).powi(ORDER as i32)?;
        for ((coefficients, remainder), state) in states.iter_mut().zip(&remainder).zip(&self.state)
        {
            let last = remainder[ORDER];
            // The remainder must not dominate the error of the step.
            let allowed = 1e-3 * self.problem.options.tolerance * (1.0 + state.magnitude());
            if (last * scale).width() > allowed || !last.is_finite() {
                return None;
            }
            coefficients.push(last);
        }
        let differences = self.differences(&states, &remainder, start, clock);
        Some(Step { length, states, differences })
    }

    /// Returns a box that certainly contains the solution during a step.
    fn bounds(&self, during: Interval, clock: Interval) -> Option<Vec<Interval>> {
        let picard = |bounds: &[Interval]| -> Option<Vec<Interval>> {
            let bounds: Vec<Vec<Interval>> = bounds.iter().map(|range| vec![*range]).collect();
            let slopes = self.program.run(&PowerSeries { order: 0 }, &bounds, &vec![clock]).values;
            self.state
                .iter()
                .zip(slopes)
                .map(|(state, slope)| Some(*state + during * slope?[0]))
                .collect()
        };
        let mut bounds = picard(&self.state)?;
        for _ in 0..MAX_INFLATIONS {
            let wider: Vec<Interval> = bounds
                .iter()
                .map(|range| {
                    let margin = 0.1 * range.width() + 1e-15 * range.magnitude() + 1e-290;
                    *range + Interval { lo: -margin, hi: margin }
                })
                .collect();
            let image = picard(&wider)?;
            if image.iter().any(|range| !range.is_finite()) {
                return None;
            }
            if wider.iter().zip(&image).all(|(wider, image)| wider.encloses(*image)) {
                return Some(image);
            }
            bounds = image.iter().zip(&wider).map(|(image, wider)| image.hull(*wider)).collect();
        }
        None
    }

    fn differences(
        &self,
        states: &[Vec<Interval>],
        remainder: &[Vec<Interval>],
        start: Interval,
        clock: Interval,
    ) -> Vec<Option<Vec<Interval>>> {
        if self.guards.n_comparisons() == 0 {
            return Vec::new();
        }
        let series = |order: usize, states: &[Vec<Interval>], time: Interval| {
            self.guards.differences(&PowerSeries { order }, states, &vec![time, Interval::ONE])
        };
        let at_start = series(ORDER - 1, states, start);
        let during = series(ORDER, remainder, clock);
        at_start
            .into_iter()
            .zip(during)
            .map(|(at_start, during)| {
                let mut coefficients = at_start?;
                coefficients.resize(ORDER, Interval::ZERO);
                coefficients.push(during?.get(ORDER).copied().unwrap_or(Interval::ZERO));
                Some(coefficients)
            })
            .collect()
    }

    /// Looks for the first failure of a guard during a step.
    ///
    /// # Errors
    /// If a guard may fail for a while but then certainly holds.
    fn event(&mut self, step: &Step) -> Result<Option<Event>, EvolveError> {
        let mut from = 0.0;
        if self.doubt.is_none() {
            let mut open = vec![(0.0, step.length)];
            loop {
                let Some((lo, hi)) = open.pop() else { return Ok(None) };
                let part = Interval { lo, hi };
                let truths = self.truths(step, part);
                if truths.iter().all(|truth| truth.is_true()) {
                    continue;
                }
                let failed = indices(&truths, Truth::False);
                if !failed.is_empty() {
                    let time = Interval::point(self.time) + Interval::point(lo);
                    let states = step.at(Interval::point(lo));
                    return Ok(Some(Event { time, states, failed }));
                }
                let middle = 0.5 * (lo + hi);
                if hi - lo > LEAST_PART * step.length {
                    open.push((middle, hi));
                    open.push((lo, middle));
                    continue;
                }
                let since = (Interval::point(self.time) + Interval::point(lo)).lo;
                self.doubt = Some(Doubt { since, states: step.at(part) });
                from = hi;
                break;
            }
        }
        // From here on some guard may have failed. The event is over when one certainly fails.
        let mut advance = LEAST_PART * step.length;
        let mut place = from;
        loop {
            let next = (place + advance).min(step.length);
            let reached = step.at(Interval { lo: place, hi: next });
            let time = Interval::point(self.time) + Interval::point(next);
            let truths = self.truths(step, Interval::point(next));
            let Some(doubt) = &mut self.doubt else { return Ok(None) };
            for (all, now) in doubt.states.iter_mut().zip(reached) {
                *all = all.hull(now);
            }
            if indices(&truths, Truth::False).is_empty() {
                if truths.iter().all(|truth| truth.is_true()) {
                    return Err(EvolveError::Undecided { time: doubt.since });
                }
            } else {
                let mut failed = indices(&truths, Truth::False);
                failed.extend(indices(&truths, Truth::Unknown));
                failed.sort_unstable();
                let time = Interval { lo: doubt.since, hi: time.hi };
                let states = std::mem::take(&mut doubt.states);
                return Ok(Some(Event { time, states, failed }));
            }
            if next >= step.length {
                return Ok(None);
            }
            place = next;
            advance *= 2.0;
        }
    }

    /// Returns the truth of the guards on a part of a step.
    fn truths(&self, step: &Step, part: Interval) -> Vec<Truth> {
        let mut terms = None;
        let ranges: Vec<Option<Interval>> = (0..self.guards.n_comparisons())
            .map(|comparison| match (self.starts[comparison], &step.differences[comparison]) {
                (Start::Stays, _) => Some(Interval::ZERO),
                // Divided by the power of time that is common to all coefficients if the first ones
                // are zero, which leaves the sign.
                (Start::Leaves { order, .. }, Some(coefficients)) if self.time == 0.0 => {
                    Some(horner(&coefficients[order..], part))
                }
                (_, Some(coefficients)) => Some(horner(coefficients, part)),
                (_, None) => terms.get_or_insert_with(|| self.terms(step, part))[comparison],
            })
            .collect();
        self.guards.truths_of_ranges(&ranges)
    }

    /// Returns the ranges of all differences from those of the states.
    fn terms(&self, step: &Step, part: Interval) -> Vec<Option<Interval>> {
        let states: Vec<Vec<Interval>> =
            step.at(part).into_iter().map(|range| vec![range]).collect();
        let clock = vec![Interval::point(self.time) + part];
        self.guards
            .differences(&PowerSeries { order: 0 }, &states, &clock)
            .into_iter()
            .map(|difference| difference.map(|series| series[0]))
            .collect()
    }

    fn undefined_at_start(&self) -> Option<usize> {
        let state: Vec<Vec<Interval>> = self.state.iter().map(|range| vec![*range]).collect();
        let clock = vec![Interval::ZERO];
        let slopes = self.program.run(&PowerSeries { order: 0 }, &state, &clock).values;
        slopes.iter().position(|slope| slope.as_ref().is_none_or(|slope| !slope[0].is_finite()))
    }

    fn finish(&mut self, time: Real, states: Vec<Interval>, failed: Vec<usize>) -> Evolution {
        let mut trajectory = std::mem::take(&mut self.trajectory);
        trajectory.finish(time.midpoint());
        let time = if time.to_interval() == Interval::ZERO { Real::ZERO } else { time };
        let state = if time == Real::ZERO {
            self.problem.start.to_vec()
        } else {
            states.into_iter().map(Real::Interval).collect()
        };
        Evolution { time, state, failed, trajectory, n_steps: self.n_steps }
    }
}

impl Step {
    /// Returns the states during a part of the step.
    fn at(&self, part: Interval) -> Vec<Interval> {
        self.states.iter().map(|coefficients| horner(coefficients, part)).collect()
    }
}

fn horner(coefficients: &[Interval], place: Interval) -> Interval {
    coefficients
        .iter()
        .rev()
        .fold(Interval::ZERO, |value, coefficient| value * place + *coefficient)
}

fn indices(truths: &[Truth], wanted: Truth) -> Vec<usize> {
    (0..truths.len()).filter(|guard| truths[*guard] == wanted).collect()
}

fn segment(step: &Step, start: f64) -> Segment {
    let coefficients = step
        .states
        .iter()
        .map(|coefficients| {
            let mut scale = 1.0;
            coefficients
                .iter()
                .map(|coefficient| {
                    let scaled = coefficient.midpoint() * scale;
                    scale *= step.length;
                    scaled
                })
                .collect()
        })
        .collect();
    Segment { start, length: step.length, coefficients }
}
