//! Derives bounds of payoffs from their terms. Players scale their exploration by these bounds, so
//! narrow ones matter.

use std::collections::BTreeMap;

use agon_structures::formula::{Aggregate, Fold, Operator, RealFunction, Term, Variable};
use agon_structures::structure::Structure;

/// The lower and the upper bound of a number. An end about which nothing is known is infinite.
pub(super) type Bounds = (f64, f64);

const UNKNOWN: Bounds = (f64::NEG_INFINITY, f64::INFINITY);

/// Largest exponent for which bounds of a power are computed.
const MAX_EXPONENT: u32 = 16;

/// What is known about all states of a game.
pub(super) struct Known {
    /// Maximum number of elements.
    n_elements: f64,
    /// Bounds of the functions that never change.
    functions: BTreeMap<String, Bounds>,
}

impl Known {
    /// Gathers what is known. A function that never changes keeps its values of the start, and 0
    /// where the start gives none. If the universe can grow, new elements have the value 0 too.
    pub(super) fn new(
        start: &Structure,
        is_changing_function: &[bool],
        n_elements: usize,
        keeps_universe: bool,
    ) -> Known {
        let vocabulary = start.vocabulary();
        let mut functions = BTreeMap::new();
        for function in vocabulary.functions().filter(|f| !is_changing_function[f.index()]) {
            let values = start.values(function);
            let has_default = !keeps_universe || values.len() < start.n_elements();
            let zero = has_default.then_some(0.0);
            let numbers = values.iter().map(|(_, value)| value.to_f64()).chain(zero);
            let bounds = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
                (low.min(number), high.max(number))
            });
            functions.insert(vocabulary.function_name(function).to_string(), bounds);
        }
        Known { n_elements: n_elements as f64, functions }
    }

    /// Returns bounds of a term without free variables.
    pub(super) fn of(&self, term: &Term) -> Bounds {
        self.bounds(term, &mut Vec::new())
    }

    /// Returns bounds of a term. `scope` has the variables that an enclosing `let` binds.
    fn bounds(&self, term: &Term, scope: &mut Vec<(Variable, Bounds)>) -> Bounds {
        let found = match term {
            Term::Number(number) => (number.to_f64(), number.to_f64()),
            Term::Characteristic(_) => (0.0, 1.0),
            Term::ElementNumber(_) => (1.0, self.n_elements),
            Term::Least(..) => UNKNOWN,
            Term::Function(name, _) => {
                self.functions.get::<str>(name.as_ref()).copied().unwrap_or(UNKNOWN)
            }
            Term::Variable(variable) => {
                let bound = scope.iter().rev().find(|(name, _)| name == variable);
                bound.map_or(UNKNOWN, |(_, bounds)| *bounds)
            }
            Term::Let(variable, value, body) => {
                let value = self.bounds(value, scope);
                scope.push((variable.clone(), value));
                let body = self.bounds(body, scope);
                scope.pop();
                body
            }
            Term::Binary(operator, left, right) => {
                binary(*operator, self.bounds(left, scope), self.bounds(right, scope))
            }
            Term::Apply(function, arguments) => {
                let arguments: Vec<Bounds> =
                    arguments.iter().map(|argument| self.bounds(argument, scope)).collect();
                apply(*function, &arguments)
            }
            Term::Aggregate(aggregate) => {
                let value = self.bounds(&aggregate.term, scope);
                self.fold(aggregate, value)
            }
        };
        // Numbers beyond the range of `f64` leave nothing known.
        if found.0.is_nan() || found.1.is_nan() { UNKNOWN } else { found }
    }

    fn fold(&self, aggregate: &Aggregate, (low, high): Bounds) -> Bounds {
        match aggregate.fold {
            Fold::Min | Fold::Max => (low, high),
            Fold::Sum => {
                let n = power(self.n_elements, aggregate.variables.len().min(8) as u32);
                (times(low, n).min(0.0), times(high, n).max(0.0))
            }
            // A product of numbers in the unit interval, or of nothing, lies in it.
            Fold::Product if low >= 0.0 && high <= 1.0 => (0.0, 1.0),
            Fold::Product if low >= 0.0 => (0.0, f64::INFINITY),
            Fold::Product => UNKNOWN,
        }
    }
}

fn binary(operator: Operator, (a, b): Bounds, (c, d): Bounds) -> Bounds {
    match operator {
        Operator::Plus => (a + c, b + d),
        Operator::Minus => (a - d, b - c),
        Operator::Times => hull(&[times(a, c), times(a, d), times(b, c), times(b, d)]),
        Operator::Divide if c > 0.0 || d < 0.0 => {
            let (least, greatest) = (1.0 / d, 1.0 / c);
            let products = [(a, least), (a, greatest), (b, least), (b, greatest)];
            hull(&products.map(|(x, y)| times(x, y)))
        }
        Operator::Divide => UNKNOWN,
        Operator::Power => {
            let exponent = (0..=MAX_EXPONENT).find(|&n| c == d && c == f64::from(n));
            match exponent {
                Some(0) => (1.0, 1.0),
                Some(n) if a >= 0.0 || n % 2 == 1 => (power(a, n), power(b, n)),
                Some(n) if b <= 0.0 => (power(b, n), power(a, n)),
                Some(n) => (0.0, power(a, n).max(power(b, n))),
                None if a >= 0.0 => (0.0, f64::INFINITY),
                None => UNKNOWN,
            }
        }
    }
}

fn apply(function: RealFunction, arguments: &[Bounds]) -> Bounds {
    let (low, high) = arguments.first().copied().unwrap_or(UNKNOWN);
    match function {
        RealFunction::Min => arguments[1..]
            .iter()
            .fold((low, high), |(low, high), other| (low.min(other.0), high.min(other.1))),
        RealFunction::Max => arguments[1..]
            .iter()
            .fold((low, high), |(low, high), other| (low.max(other.0), high.max(other.1))),
        RealFunction::Abs if low >= 0.0 => (low, high),
        RealFunction::Abs if high <= 0.0 => (-high, -low),
        RealFunction::Abs => (0.0, high.max(-low)),
        RealFunction::Sin | RealFunction::Cos => (-1.0, 1.0),
        RealFunction::Exp => (libm::exp(low), libm::exp(high)),
        RealFunction::Log if low > 0.0 => (libm::log(low), libm::log(high)),
        RealFunction::Log if high > 0.0 => (f64::NEG_INFINITY, libm::log(high)),
        RealFunction::Log => UNKNOWN,
        // Where an even root is defined, its argument is not negative.
        RealFunction::Root(n) if n > 0 && n % 2 == 0 => {
            (root(low.max(0.0), n), root(high.max(0.0), n))
        }
        RealFunction::Root(n) if n > 0 => (root(low, n), root(high, n)),
        RealFunction::Root(_) => UNKNOWN,
    }
}

/// Multiplies ends of intervals. Here 0 times infinity is 0, because the infinite end stands for
/// arbitrarily large numbers only.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

fn hull(corners: &[f64]) -> Bounds {
    // A number that is not comparable must not get lost, as it would in `f64::min`.
    if corners.iter().any(|corner| corner.is_nan()) {
        return UNKNOWN;
    }
    (
        corners.iter().copied().fold(f64::INFINITY, f64::min),
        corners.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    )
}

fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

fn root(number: f64, n: u32) -> f64 {
    let size = number.abs();
    let root = if n == 2 { libm::sqrt(size) } else { libm::pow(size, 1.0 / f64::from(n)) };
    if number < 0.0 { -root } else { root }
}
