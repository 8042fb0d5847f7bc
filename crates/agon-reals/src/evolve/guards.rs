//! The first failure of guards along a step.

use crate::domain::{Domain, Intervals, Truth};
use crate::expression::{Condition, Expr, Node, Pool};
use crate::interval::Interval;
use crate::program::Program;

use super::polynomial::Polynomials;
use super::roots::{Piece, Range, Sign, function_pieces, polynomial_pieces, sign_of_all};
use super::series::PowerSeries;
use super::trajectory::Segment;

/// Events that differ by at most this fraction of max(1, time) count as simultaneous.
const SIMULTANEOUS: f64 = 1e-11;

/// Maximum degree of a guard as a polynomial in the fraction of a step.
const MAX_DEGREE: usize = 24;

/// Number of Taylor coefficients that decide the sign of a difference right after the start.
pub(super) const START_ORDER: usize = 8;

/// Conditions, as Boolean combinations of signs of differences.
pub(super) struct Guards {
    /// Both sides of every comparison: left of the first, right of the first, left of the second…
    sides: Program,
    /// Whether equality fails, for every comparison `left < right` or `left <= right`.
    strict: Vec<bool>,
    connectives: Vec<Connective>,
    /// The connective that is the value of each guard.
    roots: Vec<usize>,
}

enum Connective {
    Truth(bool),
    Comparison(usize),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
}

/// What is known about the sign of a difference right after the start.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) enum Start {
    /// The difference is not zero at the start, or nothing better than its values is known.
    Plain,
    /// It may be zero at the start and has a known sign afterwards.
    Leaves {
        /// The sign of the first Taylor coefficient that is certainly not zero.
        sign: Sign,
        /// The index of this coefficient. The earlier ones are taken to be zero.
        order: usize,
        /// Signs before this time are effects of rounding.
        settled: f64,
    },
    /// It cannot be told from zero by its first Taylor coefficients.
    Stays,
}

/// The difference `right - left` of a comparison along a step.
pub(super) enum Difference {
    /// A polynomial in the fraction of the step that has passed.
    Polynomial(Vec<Interval>),
    /// Any other function; its values are those of the term.
    Term,
}

/// A failure of guards.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Failure {
    /// The fraction of the step after which the first guard fails.
    pub(super) part: f64,
    /// The guards that fail then, in increasing order.
    pub(super) guards: Vec<usize>,
    /// The comparisons whose sign changes then.
    pub(super) comparisons: Vec<usize>,
}

impl Guards {
    pub(super) fn new(pool: &Pool, guards: &[Condition]) -> Guards {
        // Only the Boolean skeleton: conditions inside terms are not comparisons of the guard.
        let mut skeleton = std::collections::BTreeSet::new();
        let mut open: Vec<Condition> = guards.to_vec();
        while let Some(condition) = open.pop() {
            if !skeleton.insert(condition) {
                continue;
            }
            match pool.condition_node(condition) {
                Node::Not(inner) => open.push(inner),
                Node::And(left, right) | Node::Or(left, right) => open.extend([left, right]),
                _ => {}
            }
        }
        let skeleton: Vec<Condition> = skeleton.into_iter().collect();
        let at = |condition: &Condition| {
            skeleton.binary_search(condition).expect("the skeleton has the parts of its members")
        };
        let (mut sides, mut strict) = (Vec::<Expr>::new(), Vec::new());
        let connectives = skeleton
            .iter()
            .map(|condition| match pool.condition_node(*condition) {
                Node::True => Connective::Truth(true),
                Node::Less(left, right) | Node::AtMost(left, right) => {
                    sides.extend([left, right]);
                    strict.push(matches!(pool.condition_node(*condition), Node::Less(..)));
                    Connective::Comparison(strict.len() - 1)
                }
                Node::Not(inner) => Connective::Not(at(&inner)),
                Node::And(left, right) => Connective::And(at(&left), at(&right)),
                Node::Or(left, right) => Connective::Or(at(&left), at(&right)),
                _ => Connective::Truth(false),
            })
            .collect();
        Guards {
            sides: Program::new(pool, &sides, &[]),
            strict,
            connectives,
            roots: guards.iter().map(at).collect(),
        }
    }

    /// Returns the number of comparisons.
    pub(super) fn n_comparisons(&self) -> usize {
        self.strict.len()
    }

    /// Returns the differences of all comparisons in some domain; `None` where undefined.
    pub(super) fn differences<D: Domain>(
        &self,
        domain: &D,
        variables: &[D::Value],
        time: &D::Value,
    ) -> Vec<Option<D::Value>> {
        let sides = self.sides.run(domain, variables, time).values;
        sides.chunks(2).map(|pair| domain.subtract(pair[1].as_ref()?, pair[0].as_ref()?)).collect()
    }

    /// Returns the difference of one comparison at a point; NaN if it is undefined.
    pub(super) fn difference_at(&self, comparison: usize, state: &[f64], time: f64) -> f64 {
        let mut sides = vec![0.0; 2 * self.strict.len()];
        self.sides.run_f64(state, time, &mut sides, &mut Vec::new());
        sides[2 * comparison + 1] - sides[2 * comparison]
    }

    /// Returns the differences along a step as polynomials in the fraction of the step that has
    /// passed, where they are.
    pub(super) fn along(&self, segment: &Segment) -> Vec<Difference> {
        let domain = Polynomials { coefficients: Intervals, max_degree: MAX_DEGREE };
        let states: Vec<Vec<Interval>> = segment
            .coefficients
            .iter()
            .map(|coefficients| coefficients.iter().map(|c| Interval::point(*c)).collect())
            .collect();
        let time = vec![Interval::point(segment.start), Interval::point(segment.length)];
        self.differences(&domain, &states, &time)
            .into_iter()
            .map(|difference| match difference {
                Some(coefficients) => Difference::Polynomial(coefficients),
                None => Difference::Term,
            })
            .collect()
    }

    /// Returns the signs of all differences right after the start, from the Taylor coefficients of
    /// the state.
    pub(super) fn starts(&self, series: &[Vec<Interval>]) -> Vec<Start> {
        let clock = vec![Interval::ZERO, Interval::ONE];
        self.differences(&PowerSeries { order: START_ORDER }, series, &clock)
            .into_iter()
            .map(|difference| difference.map_or(Start::Plain, |series| start_of(&series)))
            .collect()
    }

    /// Returns the signs of every difference along a step. `starts` is given for the first step.
    pub(super) fn pieces(
        &self,
        segment: &Segment,
        differences: &[Difference],
        starts: Option<&[Start]>,
    ) -> Vec<Vec<Piece>> {
        differences
            .iter()
            .enumerate()
            .map(|(comparison, difference)| {
                let start = starts.map_or(Start::Plain, |starts| starts[comparison]);
                if start == Start::Stays {
                    return vec![Piece { lo: 0.0, hi: 1.0, sign: Sign::Zero }];
                }
                let leaving = match start {
                    Start::Leaves { sign, order, settled } if segment.start == 0.0 => {
                        Some((sign, order, settled))
                    }
                    _ => None,
                };
                match (difference, leaving) {
                    (Difference::Polynomial(coefficients), None) => polynomial_pieces(coefficients),
                    // Divided by the power of time that all coefficients have in common, if the
                    // first ones are taken to be zero. The signs after the start are the same.
                    (Difference::Polynomial(coefficients), Some((_, order, _)))
                        if order < coefficients.len() =>
                    {
                        polynomial_pieces(&coefficients[order..])
                    }
                    (Difference::Polynomial(_), Some((sign, ..))) => {
                        vec![Piece { lo: 0.0, hi: 1.0, sign }]
                    }
                    (Difference::Term, None) => self.term_pieces(comparison, segment),
                    (Difference::Term, Some((sign, _, settled))) => {
                        let mut pieces = self.term_pieces(comparison, segment);
                        settle(&mut pieces, sign, settled / segment.length);
                        pieces
                    }
                }
            })
            .collect()
    }

    /// Returns the first failure of a guard along a step; `None` if all hold throughout.
    pub(super) fn first_failure(
        &self,
        segment: &Segment,
        pieces: &[Vec<Piece>],
    ) -> Option<Failure> {
        // The common case: no sign changes.
        if pieces.iter().all(|pieces| pieces.len() == 1)
            && self.truths(|comparison| pieces[comparison][0].sign).iter().all(|truth| *truth)
        {
            return None;
        }
        let mut ends: Vec<f64> = pieces
            .iter()
            .flatten()
            .flat_map(|piece| [piece.lo, piece.hi])
            .chain([0.0, 1.0])
            .collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let mut failure: Option<Failure> = None;
        for (index, &end) in ends.iter().enumerate() {
            if let Some(failure) = &failure {
                let time = segment.start + failure.part * segment.length;
                let allowed = SIMULTANEOUS * time.max(1.0) / segment.length;
                if end > failure.part + allowed {
                    break;
                }
            }
            let at_end = self.truths(|comparison| sign_at(&pieces[comparison], end));
            let after = ends.get(index + 1).map(|next| {
                let middle = 0.5 * (end + next);
                self.truths(|comparison| sign_at(&pieces[comparison], middle))
            });
            for (guard, holds) in at_end.iter().enumerate() {
                let holds_after = after.as_ref().is_none_or(|after| after[guard]);
                if *holds && holds_after {
                    continue;
                }
                let failure = failure.get_or_insert_with(|| Failure {
                    part: end,
                    guards: Vec::new(),
                    comparisons: changing(pieces, end),
                });
                if !failure.guards.contains(&guard) {
                    failure.guards.push(guard);
                }
            }
        }
        if let Some(failure) = &mut failure {
            failure.guards.sort_unstable();
        }
        failure
    }

    /// Returns the truth of every guard from the signs of the differences.
    fn truths(&self, sign: impl Fn(usize) -> Sign) -> Vec<bool> {
        let values = self.connective_values(|comparison| {
            Truth::of(match sign(comparison) {
                Sign::Positive => true,
                Sign::Zero => !self.strict[comparison],
                Sign::Negative | Sign::Undefined => false,
            })
        });
        self.roots.iter().map(|root| values[*root].is_true()).collect()
    }

    /// Returns the truth of every guard from ranges of the differences; `None` is an unknown range.
    pub(super) fn truths_of_ranges(&self, ranges: &[Option<Interval>]) -> Vec<Truth> {
        let values = self.connective_values(|comparison| match ranges[comparison] {
            None => Truth::Unknown,
            Some(range) => match (sign_of_all(range), self.strict[comparison]) {
                (Some(Sign::Positive), _) | (Some(Sign::Zero), false) => Truth::True,
                (Some(_), _) => Truth::False,
                (None, true) if range.hi <= 0.0 => Truth::False,
                (None, false) if range.lo >= 0.0 => Truth::True,
                (None, _) => Truth::Unknown,
            },
        });
        self.roots.iter().map(|root| values[*root]).collect()
    }

    fn connective_values(&self, comparison: impl Fn(usize) -> Truth) -> Vec<Truth> {
        let mut values: Vec<Truth> = Vec::with_capacity(self.connectives.len());
        for connective in &self.connectives {
            values.push(match connective {
                Connective::Truth(holds) => Truth::of(*holds),
                Connective::Comparison(index) => comparison(*index),
                Connective::Not(inner) => values[*inner].not(),
                Connective::And(left, right) => values[*left].and(values[*right]),
                Connective::Or(left, right) => values[*left].or(values[*right]),
            });
        }
        values
    }

    /// Returns the signs of a difference that is not a polynomial.
    fn term_pieces(&self, comparison: usize, segment: &Segment) -> Vec<Piece> {
        let time = |part: Interval| {
            Interval::point(segment.start) + Interval::point(segment.length) * part
        };
        let range = |part: Interval| {
            let states: Vec<Vec<Interval>> = segment
                .coefficients
                .iter()
                .map(|coefficients| value_and_slope(coefficients, part))
                .collect();
            let values: Vec<Interval> = states.iter().map(|state| state[0]).collect();
            if self.differences(&Intervals, &values, &time(part))[comparison].is_none() {
                return Range::Undefined;
            }
            let clock = vec![time(part), Interval::point(segment.length)];
            let certain = self.differences(&PowerSeries { order: 0 }, &states, &clock);
            let Some(values) = &certain[comparison] else { return Range::Unknown };
            let sloped = self.differences(&PowerSeries { order: 1 }, &states, &clock);
            let slope = sloped[comparison]
                .as_ref()
                .map(|series| series.get(1).copied().unwrap_or(Interval::ZERO));
            Range::Defined { values: values[0], slope }
        };
        let value = |part: f64| {
            let time = segment.start + part * segment.length;
            self.difference_at(comparison, &segment.at_part(part), time)
        };
        function_pieces(&range, &value)
    }
}

/// Returns what the Taylor coefficients of a difference say about its sign after the start.
pub(super) fn start_of(series: &[Interval]) -> Start {
    let Some(order) = series.iter().position(|coefficient| !coefficient.contains(0.0)) else {
        return Start::Stays;
    };
    if order == 0 {
        return Start::Plain;
    }
    let leading = series[order];
    let sign = if leading.lo > 0.0 { Sign::Positive } else { Sign::Negative };
    let least = leading.lo.abs().min(leading.hi.abs());
    let n_terms = series.len() as f64;
    let balance = |power: usize, ratio: f64| libm::pow(ratio, 1.0 / (order.abs_diff(power)) as f64);
    // From here on the leading term is greater than all earlier ones together…
    let earlier = (0..order)
        .map(|power| balance(power, 2.0 * n_terms * series[power].magnitude() / least))
        .fold(0.0, f64::max);
    // … and until here it is greater than all later ones.
    let later = (order + 1..series.len())
        .filter(|power| series[*power] != Interval::ZERO)
        .map(|power| balance(power, least / (2.0 * n_terms * series[power].magnitude())))
        .fold(f64::INFINITY, f64::min);
    Start::Leaves { sign, order, settled: earlier.min(later) }
}

/// Gives everything before a place the sign that the difference has right after the start.
fn settle(pieces: &mut Vec<Piece>, sign: Sign, place: f64) {
    let place = place.min(1.0);
    let mut rest: Vec<Piece> = Vec::with_capacity(pieces.len() + 1);
    rest.push(Piece { lo: 0.0, hi: 0.0, sign });
    for piece in pieces.iter() {
        let last = rest.last_mut().expect("it starts with one piece");
        // A piece that starts later, or has the sign anyway, is as computed.
        if piece.sign == last.sign || (piece.lo <= place && piece.hi <= place) {
            last.hi = piece.hi;
        } else if piece.lo <= place && rest.len() == 1 {
            rest[0].hi = place;
            rest.push(Piece { lo: place, ..*piece });
        } else {
            rest.push(*piece);
        }
    }
    *pieces = rest;
}

/// Returns the sign at a place. A place between two pieces has the sign of the later one, unless
/// one of them is zero or undefined.
fn sign_at(pieces: &[Piece], place: f64) -> Sign {
    let first = pieces.partition_point(|piece| piece.hi < place);
    let touching = pieces[first..].iter().take_while(|piece| piece.lo <= place);
    let mut result = Sign::Undefined;
    for piece in touching {
        result = piece.sign;
        if matches!(piece.sign, Sign::Zero | Sign::Undefined) {
            break;
        }
    }
    result
}

/// Returns the comparisons whose sign changes at a place inside a step.
fn changing(pieces: &[Vec<Piece>], place: f64) -> Vec<usize> {
    pieces
        .iter()
        .enumerate()
        .filter(|(_, pieces)| {
            pieces.iter().any(|piece| {
                (piece.lo == place && place > 0.0) || (piece.hi == place && place < 1.0)
            })
        })
        .map(|(comparison, _)| comparison)
        .collect()
}

/// Returns the values of a polynomial and of its derivative on an interval, around its middle.
fn value_and_slope(coefficients: &[f64], part: Interval) -> Vec<Interval> {
    let horner = |place: Interval| {
        coefficients
            .iter()
            .rev()
            .fold(Interval::ZERO, |value, c| value * place + Interval::point(*c))
    };
    let slope =
        coefficients.iter().enumerate().skip(1).rev().fold(Interval::ZERO, |value, (power, c)| {
            value * part + Interval::point(*c) * Interval::point(power as f64)
        });
    // The mean value form is tighter on narrow intervals than the polynomial itself.
    let middle = Interval::point(part.midpoint());
    let mean = horner(middle) + slope * (part - middle);
    let plain = horner(part);
    vec![mean.intersection(plain).unwrap_or(plain), slope]
}
