//! Lets time pass for several rules at once, by Kaiser & Stafiniak 2010: the system of differential
//! equations is the sum of the equations of all rules that act.

use std::collections::BTreeMap;

use agon_reals::evolve::{
    self, Evolution, EvolveError, EvolveOptions, Problem, System, Trajectory,
};
use agon_reals::expression::{Condition, Expr, Pool};
use agon_reals::real::Real;
use agon_structures::formula::Variable;
use agon_structures::structure::{Element, FunctionId};

use super::ContinuousError;
use super::direct::Moment;
use super::symbolic::{Leaf, Symbolic};
use super::walk::Walker;
use crate::arena::{ArenaRule, CheckedArena};
use crate::interpreter::Values;

/// Evaluation steps that one step of a solver counts as, for each value that moves.
const EVOLVE_STEP: u64 = 32;

/// Maximum number of parts of the expressions of one step.
const MAX_PARTS: usize = 1 << 20;

/// A rule that acts on an embedding while time passes.
#[derive(Clone)]
pub(crate) struct Act<'a> {
    pub(crate) rule: &'a ArenaRule,
    pub(crate) embedding: &'a [Element],
    /// The chosen duration.
    pub(crate) time: Real,
    /// The chosen parameters.
    pub(crate) parameters: Vec<(Variable, Real)>,
}

impl Act<'_> {
    /// Returns the elements of the embedding by their names in the rule.
    pub(crate) fn elements(&self) -> Vec<(Variable, Element)> {
        self.rule.elements.iter().cloned().zip(self.embedding.iter().copied()).collect()
    }

    /// Returns the parameters and the time since the rule was chosen.
    pub(crate) fn numbers(&self, elapsed: Real) -> Vec<(Variable, Real)> {
        let mut numbers = self.parameters.clone();
        numbers.push((time_variable(), elapsed));
        numbers
    }
}

/// The result of letting time pass.
pub(crate) struct Evolved {
    /// The values at the end.
    pub(crate) values: Values,
    /// The time since the rules were chosen.
    pub(crate) elapsed: Real,
    /// The acts whose moment has come: those whose invariant fails and those whose duration is
    /// over.
    pub(crate) due: Vec<usize>,
    /// Whether an invariant failed.
    pub(crate) is_event: bool,
    /// What moved, and how.
    pub(crate) motion: Motion,
}

/// The changes of values during one stretch of time.
#[derive(Clone, Debug)]
pub struct Motion {
    /// The values that changed, in the order of the trajectory's components.
    pub moving: Vec<(FunctionId, Element)>,
    /// The values by time, from 0 to the duration of the stretch.
    pub trajectory: Trajectory,
    /// Whether an invariant failed at the end.
    pub is_event: bool,
}

/// Lets time pass from `elapsed` on, until the first invariant fails or the shortest duration is
/// over. There must be at least one act.
pub(crate) fn evolve(
    arena: &CheckedArena,
    moment: Moment<'_>,
    acts: &[Act<'_>],
    elapsed: Real,
    options: &EvolveOptions,
) -> Result<Evolved, ContinuousError> {
    let stretch = Stretch::new(arena, moment, acts, elapsed)?;
    let evolution = evolve::evolve_many(&[stretch.problem(options)]).pop();
    stretch.end(moment, acts, evolution.expect("an evolution for each problem"))
}

/// A stretch of time that several acts share: the system of differential equations with its guards.
pub(crate) struct Stretch {
    pool: Pool,
    system: System,
    start: Vec<Real>,
    guards: Vec<Condition>,
    /// The act of each guard.
    guarded: Vec<usize>,
    moving: Vec<(FunctionId, Element)>,
    /// The time since the rules were chosen, and that at which the stretch ends.
    elapsed: Real,
    bound: Real,
}

impl Stretch {
    /// Returns the problem to be solved.
    pub(crate) fn problem<'a>(&'a self, options: &'a EvolveOptions) -> Problem<'a> {
        Problem {
            pool: &self.pool,
            system: &self.system,
            start: &self.start,
            duration: self.bound - self.elapsed,
            guards: &self.guards,
            options,
        }
    }

    /// Returns what has changed at the end of the stretch.
    pub(crate) fn end(
        self,
        moment: Moment<'_>,
        acts: &[Act<'_>],
        evolution: Result<Evolution, EvolveError>,
    ) -> Result<Evolved, ContinuousError> {
        let evolution = evolution.map_err(|error| self.named(moment, error))?;
        let n_steps = (evolution.n_steps as u64).saturating_mul(self.moving.len() as u64);
        moment.watch.spend(n_steps.saturating_mul(EVOLVE_STEP))?;
        let mut values = moment.values.clone();
        for (&(function, element), value) in self.moving.iter().zip(&evolution.state) {
            values.set(function, element, value.shrunk());
        }
        let is_event = !evolution.failed.is_empty();
        let (elapsed, due) = if is_event {
            let elapsed = (self.elapsed + evolution.time).shrunk();
            let mut due: Vec<usize> =
                evolution.failed.iter().map(|&guard| self.guarded[guard]).collect();
            // A duration that is over at the moment of the event counts as over.
            if !Real::certainly_less(&elapsed, &self.bound) {
                due.extend((0..acts.len()).filter(|&act| acts[act].time == self.bound));
                due.sort_unstable();
                due.dedup();
            }
            (elapsed, due)
        } else {
            let due = (0..acts.len()).filter(|&act| acts[act].time == self.bound).collect();
            (self.bound, due)
        };
        let motion = Motion { moving: self.moving, trajectory: evolution.trajectory, is_event };
        Ok(Evolved { values, elapsed, due, is_event, motion })
    }

    /// Returns an error with the name of the value that it is about.
    fn named(&self, moment: Moment<'_>, error: EvolveError) -> ContinuousError {
        let EvolveError::Undefined { variable, time } = error else { return error.into() };
        let Some(&(function, element)) = self.moving.get(variable) else { return error.into() };
        let structure = moment.structure;
        let name = structure.vocabulary().function_name(function);
        let value = format!(":{name}({})", structure.name(element));
        ContinuousError::Undefined { value, time: self.elapsed.midpoint() + time }
    }

    /// Joins the equations and invariants of acts from `elapsed` on. There must be at least one act.
    pub(crate) fn new(
        arena: &CheckedArena,
        moment: Moment<'_>,
        acts: &[Act<'_>],
        elapsed: Real,
    ) -> Result<Stretch, ContinuousError> {
        let moving = moving(arena, moment.values, acts);
        let index: BTreeMap<(FunctionId, Element), u32> =
            moving.iter().zip(0..).map(|(&place, index)| (place, index)).collect();
        let leaf = |function: FunctionId, element: Element| match index.get(&(function, element)) {
            Some(&index) => Leaf::Variable(index),
            None => Leaf::Number(moment.values.get(function, element)),
        };
        let mut pool = Pool::with_limit(MAX_PARTS);
        let mut sums: BTreeMap<(FunctionId, Element), Expr> = BTreeMap::new();
        let (mut guards, mut guarded) = (Vec::new(), Vec::new());
        for (number, act) in acts.iter().enumerate() {
            let now = pool.time()?;
            let since = pool.real(elapsed)?;
            let now = pool.add(now, since)?;
            let mut numbers = Vec::with_capacity(act.parameters.len() + 1);
            for (name, value) in &act.parameters {
                numbers.push((name.clone(), pool.real(*value)?));
            }
            numbers.push((time_variable(), now));
            // Bound variables have numbers beyond those of the values.
            let next_bound = u32::try_from(moving.len()).unwrap_or(u32::MAX / 2) + 1;
            let algebra = Symbolic { pool: &mut pool, leaf: &leaf, next_bound };
            let mut walker = Walker::new(
                algebra,
                moment.structure,
                moment.definitions,
                moment.max_steps,
                moment.watch,
            );
            walker.elements = act.elements();
            walker.numbers = numbers;
            for equation in &act.rule.dynamics {
                let term = walker.term(&equation.term)?;
                let place = (equation.function, act.embedding[equation.element]);
                let sum = match sums.get(&place) {
                    Some(&sum) => walker.algebra.pool.add(sum, term)?,
                    None => term,
                };
                sums.insert(place, sum);
            }
            if let Some(invariant) = &act.rule.invariant {
                guards.push(walker.formula(&invariant.formula)?);
                guarded.push(number);
            }
        }
        let mut derivatives = Vec::with_capacity(moving.len());
        for &(function, element) in &moving {
            let own = sums.get(&(function, element)).copied();
            let higher = arena.derivative(function).map(|higher| (higher, element));
            let drift = match higher {
                Some(place) if own.is_none() || sums.contains_key(&place) => {
                    Some(match leaf(place.0, place.1) {
                        Leaf::Variable(index) => pool.variable(index)?,
                        Leaf::Number(number) => pool.real(number)?,
                    })
                }
                _ => None,
            };
            derivatives.push(match (own, drift) {
                (Some(own), Some(drift)) => pool.add(own, drift)?,
                (Some(only), None) | (None, Some(only)) => only,
                (None, None) => pool.real(Real::ZERO)?,
            });
        }
        let bound = acts
            .iter()
            .map(|act| act.time)
            .reduce(|least, next| if Real::certainly_less(&next, &least) { next } else { least })
            .unwrap_or(elapsed);
        let start: Vec<Real> = moving.iter().map(|&(f, e)| moment.values.get(f, e)).collect();
        let system = System { derivatives };
        Ok(Stretch { pool, system, start, guards, guarded, moving, elapsed, bound })
    }
}

/// Returns the values that change: those with an equation, and those whose derivative changes or
/// is not zero.
pub(super) fn moving(
    arena: &CheckedArena,
    values: &Values,
    acts: &[Act<'_>],
) -> Vec<(FunctionId, Element)> {
    let mut moving: BTreeMap<(FunctionId, Element), ()> = BTreeMap::new();
    for act in acts {
        for equation in &act.rule.dynamics {
            moving.insert((equation.function, act.embedding[equation.element]), ());
        }
    }
    let functions: Vec<FunctionId> = arena.vocabulary().functions().collect();
    // A derivative comes after its function in the vocabulary, so that a chain is complete when
    // functions are visited from the last one.
    for &function in functions.iter().rev() {
        let Some(higher) = arena.derivative(function) else { continue };
        for element in values.elements() {
            let value = values.get(higher, element);
            let rests = value == Real::ZERO && !moving.contains_key(&(higher, element));
            if !rests {
                moving.insert((function, element), ());
            }
        }
    }
    moving.into_keys().collect()
}

/// The variable `:t`.
pub(crate) fn time_variable() -> Variable {
    Variable::new(":t")
}
