//! The signs of functions on the unit interval.
//!
//! A polynomial is written in the basis of Bernstein, in which its values lie between the least and
//! the greatest coefficient. Where the coefficients have one sign, the polynomial has it. Where
//! their differences have one sign, it is monotone and has at most one root. Elsewhere the interval
//! is halved (de Casteljau 1959; Lane & Riesenfeld 1981). All coefficients are intervals, so that
//! rounding cannot hide a root.

use crate::interval::Interval;

/// The sign of a function on a piece.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Sign {
    /// Below zero.
    Negative,
    /// Zero, or not distinguishable from zero.
    Zero,
    /// Above zero.
    Positive,
    /// The function is undefined.
    Undefined,
}

/// A part of the unit interval on which a function has one sign.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Piece {
    pub(super) lo: f64,
    pub(super) hi: f64,
    pub(super) sign: Sign,
}

/// What is known about a function on a part of the unit interval.
pub(super) enum Range {
    /// It is undefined everywhere.
    Undefined,
    /// It may be defined in some places and not in others.
    Unknown,
    /// It is defined everywhere.
    Defined {
        /// Its values.
        values: Interval,
        /// Its derivative, if known.
        slope: Option<Interval>,
    },
}

/// Maximum number of parts that are looked at. The rest counts as zero.
const MAX_PARTS: usize = 20_000;

/// Width of the smallest part. Its inverse is a power of two well below the precision of `f64`.
const MIN_WIDTH: f64 = 1.0 / (1u64 << 46) as f64;

/// Returns the sign of a number.
pub(super) fn sign_of(number: f64) -> Sign {
    if number > 0.0 {
        Sign::Positive
    } else if number < 0.0 {
        Sign::Negative
    } else if number == 0.0 {
        Sign::Zero
    } else {
        Sign::Undefined
    }
}

/// Returns the sign of all members of an interval; `None` if they differ.
pub(super) fn sign_of_all(values: Interval) -> Option<Sign> {
    if values.lo > 0.0 {
        Some(Sign::Positive)
    } else if values.hi < 0.0 {
        Some(Sign::Negative)
    } else if values == Interval::ZERO {
        Some(Sign::Zero)
    } else {
        None
    }
}

/// Returns the signs of a polynomial on the unit interval, in order. Neighbouring pieces share an
/// end and have different signs. A root at which the sign changes is a piece of width zero.
///
/// The coefficients are those of the powers, lowest first.
pub(super) fn polynomial_pieces(coefficients: &[Interval]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let degree = coefficients.len().saturating_sub(1);
    let scale = coefficients.iter().map(|value| value.magnitude()).fold(0.0, f64::max);
    // Values below the rounding errors of the conversion are not distinguishable from zero.
    let noise = 8.0 * (degree + 1) as f64 * f64::EPSILON * scale;
    let mut open = vec![(0.0, 1.0, bernstein(coefficients))];
    let mut n_parts = 0;
    while let Some((lo, hi, values)) = open.pop() {
        n_parts += 1;
        if let Some(sign) = common_sign(&values) {
            push(&mut pieces, lo, hi, sign);
        } else if values.iter().all(|value| value.magnitude() <= noise)
            || hi - lo <= MIN_WIDTH
            || n_parts > MAX_PARTS
        {
            push(&mut pieces, lo, hi, Sign::Zero);
        } else if is_monotone(&values) {
            let middles: Vec<f64> = values.iter().map(|value| value.midpoint()).collect();
            let value = |part: f64| de_casteljau(&middles, part);
            push_monotone(&mut pieces, lo, hi, noise, value);
        } else {
            let middle = 0.5 * (lo + hi);
            let (left, right) = halves(values);
            open.push((middle, hi, right));
            open.push((lo, middle, left));
        }
    }
    narrow(&mut pieces, coefficients);
    pieces
}

/// Replaces each piece that is zero only because of rounding by the root of the polynomial or, if
/// the sign is the same on both sides, by the place of its extremum.
fn narrow(pieces: &mut [Piece], coefficients: &[Interval]) {
    if pieces.len() < 2 {
        return;
    }
    let value =
        |place: f64| coefficients.iter().rev().fold(0.0, |value, c| value * place + c.midpoint());
    let slope = |place: f64| {
        let terms = coefficients.iter().enumerate().skip(1).rev();
        terms.fold(0.0, |value, (power, c)| value * place + power as f64 * c.midpoint())
    };
    for index in 0..pieces.len() {
        let Piece { lo, hi, sign } = pieces[index];
        if sign != Sign::Zero || lo == hi {
            continue;
        }
        let at = |part: f64| lo + part * (hi - lo);
        let touches = index > 0
            && pieces.get(index + 1).is_some_and(|next| next.sign == pieces[index - 1].sign);
        let ends_differ = |left: f64, right: f64| left * right < 0.0;
        let place = if touches && ends_differ(slope(lo), slope(hi)) {
            at(crossing(&|part| slope(at(part))))
        } else if ends_differ(value(lo), value(hi)) {
            at(crossing(&|part| value(at(part))))
        } else if value(lo).abs() < value(hi).abs() {
            lo
        } else {
            hi
        };
        pieces[index] = Piece { lo: place, hi: place, sign };
        if index > 0 {
            pieces[index - 1].hi = place;
        }
        if let Some(next) = pieces.get_mut(index + 1) {
            next.lo = place;
        }
    }
    // A zero at an end of the unit interval reaches to it.
    let last = pieces.len() - 1;
    pieces[0].lo = 0.0;
    pieces[last].hi = 1.0;
}

/// Returns the signs of any function on the unit interval, from its ranges on parts and its values
/// at points. Like [`polynomial_pieces`].
pub(super) fn function_pieces(
    range: &dyn Fn(Interval) -> Range,
    value: &dyn Fn(f64) -> f64,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open = vec![(0.0, 1.0)];
    let mut n_parts = 0;
    while let Some((lo, hi)) = open.pop() {
        n_parts += 1;
        let last = hi - lo <= MIN_WIDTH || n_parts > MAX_PARTS;
        match range(Interval { lo, hi }) {
            Range::Undefined => push(&mut pieces, lo, hi, Sign::Undefined),
            Range::Unknown if last => push(&mut pieces, lo, hi, Sign::Undefined),
            Range::Defined { values, .. } if let Some(sign) = sign_of_all(values) => {
                push(&mut pieces, lo, hi, sign);
            }
            Range::Defined { slope: Some(slope), .. }
                if matches!(sign_of_all(slope), Some(Sign::Positive | Sign::Negative)) =>
            {
                push_monotone(&mut pieces, lo, hi, 0.0, |part| value(lo + part * (hi - lo)));
            }
            Range::Defined { .. } if last => push(&mut pieces, lo, hi, Sign::Zero),
            Range::Unknown | Range::Defined { .. } => {
                let middle = 0.5 * (lo + hi);
                open.push((middle, hi));
                open.push((lo, middle));
            }
        }
    }
    pieces
}

/// Adds a piece, joined with the one before if both have the same sign.
fn push(pieces: &mut Vec<Piece>, lo: f64, hi: f64, sign: Sign) {
    match pieces.last_mut() {
        Some(last) if last.sign == sign => last.hi = hi,
        _ => pieces.push(Piece { lo, hi, sign }),
    }
}

/// Adds the pieces of a monotone function, which is given on the unit interval. Values up to `noise`
/// at its ends may be touches of zero.
fn push_monotone(
    pieces: &mut Vec<Piece>,
    lo: f64,
    hi: f64,
    noise: f64,
    value: impl Fn(f64) -> f64,
) {
    let (at_lo, at_hi) = (value(0.0), value(1.0));
    let (first, last) = (sign_of(at_lo), sign_of(at_hi));
    if first == last {
        if at_lo.abs() <= noise {
            push(pieces, lo, lo, Sign::Zero);
        }
        push(pieces, lo, hi, first);
        if at_hi.abs() <= noise {
            push(pieces, hi, hi, Sign::Zero);
        }
        return;
    }
    let part = match (first, last) {
        (Sign::Zero, _) => 0.0,
        (_, Sign::Zero) => 1.0,
        _ => crossing(&value),
    };
    let root = (lo + part * (hi - lo)).clamp(lo, hi);
    if root > lo {
        push(pieces, lo, root, first);
    }
    push(pieces, root, root, Sign::Zero);
    if root < hi {
        push(pieces, root, hi, last);
    }
}

/// Returns the root of a function on the unit interval at whose ends the signs differ: false
/// position with halved weights (the Illinois method), and halving where it is slow.
fn crossing(value: &impl Fn(f64) -> f64) -> f64 {
    let (mut lo, mut hi) = (0.0f64, 1.0f64);
    let (mut at_lo, mut at_hi) = (value(lo), value(hi));
    let mut side = 0;
    for round in 0..200 {
        if hi - lo <= f64::EPSILON * hi.max(f64::MIN_POSITIVE) {
            break;
        }
        let mut middle = (lo * at_hi - hi * at_lo) / (at_hi - at_lo);
        if round % 8 == 7 || !(middle > lo && middle < hi) {
            middle = 0.5 * (lo + hi);
        }
        if middle <= lo || middle >= hi {
            break;
        }
        let at_middle = value(middle);
        if at_middle == 0.0 {
            return middle;
        }
        if (at_middle > 0.0) == (at_hi > 0.0) {
            (hi, at_hi) = (middle, at_middle);
            if side == 1 {
                at_lo *= 0.5;
            }
            side = 1;
        } else {
            (lo, at_lo) = (middle, at_middle);
            if side == -1 {
                at_hi *= 0.5;
            }
            side = -1;
        }
    }
    // The weights were halved, so the values are not those of the function; the middle will do.
    0.5 * (lo + hi)
}

/// Returns the Bernstein coefficients of a polynomial on the unit interval.
fn bernstein(coefficients: &[Interval]) -> Vec<Interval> {
    if coefficients.is_empty() {
        return vec![Interval::ZERO];
    }
    // Divided by the binomial coefficients and summed like a table of differences, in which every
    // entry is the sum of two.
    let degree = coefficients.len() - 1;
    let mut column: Vec<Interval> = Vec::with_capacity(degree + 1);
    let mut binomial = 1.0;
    for (power, coefficient) in coefficients.iter().enumerate() {
        // Exact, because the degree is small enough.
        column.push(coefficient.div(Interval::point(binomial)).unwrap_or(Interval::WHOLE));
        binomial = binomial * (degree - power) as f64 / (power + 1) as f64;
    }
    for round in 0..degree {
        for power in (round + 1..=degree).rev() {
            column[power] = column[power] + column[power - 1];
        }
    }
    column
}

fn common_sign(values: &[Interval]) -> Option<Sign> {
    let first = sign_of_all(values[0])?;
    values[1..].iter().all(|value| sign_of_all(*value) == Some(first)).then_some(first)
}

fn is_monotone(values: &[Interval]) -> bool {
    let rises = |pair: &[Interval]| pair[1].lo > pair[0].hi;
    let falls = |pair: &[Interval]| pair[1].hi < pair[0].lo;
    values.windows(2).all(rises) || values.windows(2).all(falls)
}

/// Returns the Bernstein coefficients on both halves.
fn halves(mut values: Vec<Interval>) -> (Vec<Interval>, Vec<Interval>) {
    let degree = values.len() - 1;
    let half = Interval::point(0.5);
    let mut left = Vec::with_capacity(values.len());
    left.push(values[0]);
    for round in 1..=degree {
        for index in 0..=degree - round {
            values[index] = (values[index] + values[index + 1]) * half;
        }
        left.push(values[0]);
    }
    (left, values)
}

fn de_casteljau(values: &[f64], part: f64) -> f64 {
    let mut column = values.to_vec();
    for round in 1..column.len() {
        for index in 0..column.len() - round {
            column[index] = (1.0 - part) * column[index] + part * column[index + 1];
        }
    }
    column[0]
}

#[cfg(test)]
mod tests;
