//! Values of functions as polynomials in the numbers of moves (Kaiser & Stafiniak 2010).
//!
//! Where differential equations are solved by polynomials in time, the values after a move are
//! polynomials in its duration and its parameters, until an event comes up. Where a term takes the
//! lesser of two numbers or asks for a comparison, the case is that of given numbers, so that the
//! result is one piece of a function that consists of polynomial pieces.

use std::collections::BTreeMap;

use agon_reals::elimination::{Polynomial, RBig};
use agon_reals::real::Real;
use agon_structures::formula::{Formula, Operator, RealFunction, Sign, Term, Variable};
use agon_structures::structure::{Element, FunctionId};

use super::ContinuousError;
use super::direct::Moment;
use super::evolve::{Act, moving, time_variable};
use super::quantify::constant;
use super::walk::{Algebra, TwoValued, Walker, small_exponent};
use crate::arena::CheckedArena;
use crate::interpreter::Values;

/// Maximum number of terms of a polynomial.
const MAX_TERMS: usize = 2000;

/// The variable of time. The numbers of moves are counted from 0.
const TIME: u32 = u32::MAX;

/// A polynomial with its value for the given numbers. The value is not a number while time passes.
#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    pub(crate) polynomial: Polynomial,
    pub(crate) near: f64,
}

impl Tracked {
    /// Returns a constant.
    pub(crate) fn number(number: Real) -> Tracked {
        Tracked { polynomial: constant(number), near: number.midpoint() }
    }
}

/// The values of functions at a position that a line of moves leads to.
pub(crate) struct Pieces {
    /// The given numbers of the moves.
    numbers: Vec<f64>,
    /// The values that have changed on the way.
    changed: BTreeMap<(FunctionId, Element), Tracked>,
}

/// The numbers that the terms of an act may use.
pub(crate) type Numbers = Vec<(Variable, Tracked)>;

impl Pieces {
    pub(crate) fn new(numbers: Vec<f64>) -> Pieces {
        Pieces { numbers, changed: BTreeMap::new() }
    }

    /// Returns the number with an index as a variable.
    pub(crate) fn variable(&self, index: usize) -> Tracked {
        let variable = u32::try_from(index).unwrap_or(TIME - 1);
        let near = self.numbers.get(index).copied().unwrap_or(f64::NAN);
        Tracked { polynomial: Polynomial::variable(variable), near }
    }

    /// Sets a value.
    pub(crate) fn set(&mut self, place: (FunctionId, Element), value: Tracked) {
        self.changed.insert(place, value);
    }

    fn get(&self, values: &Values, place: (FunctionId, Element)) -> Tracked {
        match self.changed.get(&place) {
            Some(tracked) => tracked.clone(),
            None => Tracked::number(values.get(place.0, place.1)),
        }
    }

    /// Returns a term for elements and numbers.
    pub(crate) fn term(
        &self,
        moment: Moment<'_>,
        term: &Term,
        elements: Vec<(Variable, Element)>,
        numbers: &Numbers,
    ) -> Result<Option<Tracked>, ContinuousError> {
        let value = |function, element| self.get(moment.values, (function, element));
        walker(moment, &value, elements, numbers).term(term)
    }

    /// Lets time pass. `numbers` has the parameters of each act. Refuses systems whose solutions
    /// are not polynomials.
    pub(crate) fn pass_time(
        &mut self,
        arena: &CheckedArena,
        moment: Moment<'_>,
        acts: &[Act<'_>],
        numbers: &[Numbers],
        duration: &Tracked,
    ) -> Result<(), ContinuousError> {
        let mut places = moving(arena, moment.values, acts);
        // A derivative may be zero for the given numbers only.
        for function in arena.vocabulary().functions().collect::<Vec<_>>().into_iter().rev() {
            let Some(higher) = arena.derivative(function) else { continue };
            for element in moment.values.elements() {
                let is_still = self.get(moment.values, (higher, element)).polynomial.is_zero();
                if !is_still && !places.contains(&(function, element)) {
                    places.push((function, element));
                }
            }
        }
        let start: Vec<Polynomial> =
            places.iter().map(|&place| self.get(moment.values, place).polynomial).collect();
        let mut solution = start.clone();
        // A system without cycles ends after a round for each value, and one more shows it.
        for _ in 0..places.len() + 2 {
            let derivatives = self.derivatives(arena, moment, acts, numbers, &places, &solution)?;
            let next: Vec<Polynomial> =
                start.iter().zip(&derivatives).map(|(from, d)| from + &integral(d)).collect();
            if next == solution {
                for (place, polynomial) in places.into_iter().zip(solution) {
                    let end = polynomial.substitute(TIME, &duration.polynomial, MAX_TERMS);
                    let polynomial = end.ok_or_else(too_large)?;
                    let near = self.value(&polynomial);
                    self.changed.insert(place, Tracked { polynomial, near });
                }
                return Ok(());
            }
            if next.iter().any(|polynomial| polynomial.n_terms() > MAX_TERMS) {
                return Err(too_large());
            }
            solution = next;
        }
        Err(ContinuousError::NotPolynomial("a solution".to_owned()))
    }

    /// Returns the derivatives of moving values along a tentative solution.
    fn derivatives(
        &self,
        arena: &CheckedArena,
        moment: Moment<'_>,
        acts: &[Act<'_>],
        numbers: &[Numbers],
        places: &[(FunctionId, Element)],
        solution: &[Polynomial],
    ) -> Result<Vec<Polynomial>, ContinuousError> {
        let value = |function: FunctionId, element: Element| {
            let place = (function, element);
            match places.iter().position(|other| *other == place) {
                Some(index) => Tracked { polynomial: solution[index].clone(), near: f64::NAN },
                None => self.get(moment.values, place),
            }
        };
        let mut sums: BTreeMap<(FunctionId, Element), Polynomial> = BTreeMap::new();
        for (act, numbers) in acts.iter().zip(numbers) {
            let mut numbers = numbers.clone();
            let clock = Tracked { polynomial: Polynomial::variable(TIME), near: f64::NAN };
            numbers.push((time_variable(), clock));
            let mut walker = walker(moment, &value, act.elements(), &numbers);
            for equation in &act.rule.dynamics {
                let Some(term) = walker.term(&equation.term)? else {
                    return Err(ContinuousError::NotPolynomial("an equation".to_owned()));
                };
                let place = (equation.function, act.embedding[equation.element]);
                let sum = sums.remove(&place).unwrap_or_default();
                sums.insert(place, &sum + &term.polynomial);
            }
        }
        let derivative = |&(function, element): &(FunctionId, Element)| {
            let own = sums.get(&(function, element));
            let higher = arena.derivative(function).map(|higher| (higher, element));
            // As in `evolve`: inertia, unless an equation gives this derivative alone.
            let drift = higher.filter(|place| own.is_none() || sums.contains_key(place));
            let drift = drift.map(|(function, element)| value(function, element).polynomial);
            &own.cloned().unwrap_or_default() + &drift.unwrap_or_default()
        };
        Ok(places.iter().map(derivative).collect())
    }

    /// Returns the value of a polynomial for the given numbers.
    fn value(&self, polynomial: &Polynomial) -> f64 {
        let number = |variable: u32| self.numbers.get(variable as usize).copied();
        let term = |(monomial, coefficient): (&[(u32, u32)], &RBig)| {
            let powers = monomial.iter().map(|&(variable, exponent)| {
                libm::pow(number(variable).unwrap_or(f64::NAN), f64::from(exponent))
            });
            coefficient.to_f64().value() * powers.product::<f64>()
        };
        polynomial.terms().map(term).sum()
    }
}

/// Returns the coefficients of a polynomial in the numbers of moves, with all exponents.
pub(crate) fn in_numbers(polynomial: &Polynomial, n_numbers: usize) -> agon_game::Polynomial {
    let term = |(monomial, coefficient): (&[(u32, u32)], &RBig)| {
        let mut exponents = vec![0; n_numbers];
        for &(variable, exponent) in monomial {
            exponents[variable as usize] = exponent;
        }
        (coefficient.to_f64().value(), exponents)
    };
    agon_game::Polynomial { terms: polynomial.terms().map(term).collect() }
}

/// Returns the integral over time from 0 on.
fn integral(polynomial: &Polynomial) -> Polynomial {
    let clock = Polynomial::variable(TIME);
    let mut result = Polynomial::zero();
    for (power, coefficient) in polynomial.coefficients(TIME).iter().enumerate().rev() {
        let share = RBig::ONE / RBig::from(power as u64 + 1);
        result = &(&result + &coefficient.scaled(&share)) * &clock;
    }
    result
}

fn too_large() -> ContinuousError {
    ContinuousError::Elimination("a polynomial is too large".to_owned())
}

fn refuse<T>(what: &str) -> Result<T, ContinuousError> {
    Err(ContinuousError::NotPolynomial(what.to_owned()))
}

fn walker<'a>(
    moment: Moment<'a>,
    value: &'a dyn Fn(FunctionId, Element) -> Tracked,
    elements: Vec<(Variable, Element)>,
    numbers: &Numbers,
) -> Walker<'a, Cases<'a>> {
    let algebra = Cases { value };
    let mut walker =
        Walker::new(algebra, moment.structure, moment.definitions, moment.max_steps, moment.watch);
    walker.elements = elements;
    walker.numbers =
        numbers.iter().map(|(name, number)| (name.clone(), Some(number.clone()))).collect();
    walker
}

/// The algebra of polynomials in which cases are decided by given numbers.
struct Cases<'a> {
    value: &'a dyn Fn(FunctionId, Element) -> Tracked,
}

impl TwoValued for Cases<'_> {}

impl Algebra for Cases<'_> {
    type Number = Option<Tracked>;

    fn number(&mut self, number: Real) -> Result<Option<Tracked>, ContinuousError> {
        Ok(Some(Tracked::number(number)))
    }

    fn undefined(&mut self) -> Result<Option<Tracked>, ContinuousError> {
        Ok(None)
    }

    fn value(
        &mut self,
        function: FunctionId,
        element: Element,
    ) -> Result<Option<Tracked>, ContinuousError> {
        Ok(Some((self.value)(function, element)))
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: Option<Tracked>,
        right: Option<Tracked>,
    ) -> Result<Option<Tracked>, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
        let (a, b) = (&left.polynomial, &right.polynomial);
        let (polynomial, near) = match operator {
            Operator::Plus => (a + b, left.near + right.near),
            Operator::Minus => (a - b, left.near - right.near),
            Operator::Times => {
                (a.times(b, MAX_TERMS).ok_or_else(too_large)?, left.near * right.near)
            }
            Operator::Divide => match b.as_constant() {
                Some(divisor) if divisor.is_zero() => return Ok(None),
                Some(divisor) => (a.scaled(&(RBig::ONE / divisor)), left.near / right.near),
                None => return refuse("a quotient"),
            },
            Operator::Power => {
                let exponent = b.as_constant().and_then(|e| e.to_string().parse().ok());
                match exponent.and_then(small_exponent) {
                    Some(exponent @ 0..=64) => {
                        let power = a.power(exponent.unsigned_abs(), MAX_TERMS);
                        let near = libm::pow(left.near, f64::from(exponent));
                        (power.ok_or_else(too_large)?, near)
                    }
                    _ => return refuse("a power"),
                }
            }
        };
        Ok(Some(Tracked { polynomial, near }))
    }

    fn apply(
        &mut self,
        function: RealFunction,
        arguments: Vec<Option<Tracked>>,
    ) -> Result<Option<Tracked>, ContinuousError> {
        let Some(arguments) = arguments.into_iter().collect::<Option<Vec<Tracked>>>() else {
            return Ok(None);
        };
        let is_constant = arguments.iter().all(|a| a.polynomial.as_constant().is_some());
        if arguments.iter().any(|argument| argument.near.is_nan()) && !is_constant {
            return refuse("a function of changing values");
        }
        let pick = |is_better: fn(f64, f64) -> bool| {
            arguments
                .iter()
                .cloned()
                .reduce(|best, next| if is_better(next.near, best.near) { next } else { best })
        };
        match function {
            RealFunction::Min => return Ok(pick(|next, best| next < best)),
            RealFunction::Max => return Ok(pick(|next, best| next > best)),
            RealFunction::Abs => {
                let first = arguments.into_iter().next();
                return Ok(first.map(|first| match first.near < 0.0 {
                    true => Tracked { polynomial: -&first.polynomial, near: -first.near },
                    false => first,
                }));
            }
            _ if !is_constant => return refuse("a function"),
            _ => {}
        }
        let Some(first) = arguments.first() else { return Ok(None) };
        let number = Real::from_f64(first.near);
        let result = match function {
            RealFunction::Root(degree) => number.root(degree),
            RealFunction::Sin => Some(number.sin()),
            RealFunction::Cos => Some(number.cos()),
            RealFunction::Exp => Some(number.exp()),
            RealFunction::Log => number.ln(),
            RealFunction::Abs | RealFunction::Min | RealFunction::Max => None,
        };
        Ok(result.map(Tracked::number))
    }

    fn indicator(&mut self, truth: bool) -> Result<Option<Tracked>, ContinuousError> {
        Ok(Some(Tracked::number(if truth { Real::ONE } else { Real::ZERO })))
    }

    fn select(
        &mut self,
        truth: bool,
        then: Option<Tracked>,
        otherwise: Option<Tracked>,
    ) -> Result<Option<Tracked>, ContinuousError> {
        Ok(if truth { then } else { otherwise })
    }

    fn compare(
        &mut self,
        left: Option<Tracked>,
        sign: Sign,
        right: Option<Tracked>,
    ) -> Result<bool, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(false) };
        match left.near.partial_cmp(&right.near) {
            Some(order) => Ok(sign.admits(order)),
            None => refuse("a comparison of changing values"),
        }
    }

    fn quantify(
        _: &mut Walker<'_, Self>,
        _: bool,
        _: &Variable,
        _: &Formula,
    ) -> Result<bool, ContinuousError> {
        refuse("a quantifier over real numbers")
    }

    fn least(
        _: &mut Walker<'_, Self>,
        _: &Variable,
        _: &Formula,
    ) -> Result<Option<Tracked>, ContinuousError> {
        refuse("the least real number")
    }
}
