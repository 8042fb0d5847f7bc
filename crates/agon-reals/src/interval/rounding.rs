//! Operations on numbers, rounded outward.

use super::Interval;

/// Widens the interval between two computed values by a number of units on each side. An undefined
/// value gives an infinite end.
pub(super) fn outward(lo: f64, hi: f64, units: u32) -> Interval {
    let (mut lo, mut hi) = (
        if lo.is_nan() { f64::NEG_INFINITY } else { lo },
        if hi.is_nan() { f64::INFINITY } else { hi },
    );
    for _ in 0..units {
        (lo, hi) = (lo.next_down(), hi.next_up());
    }
    Interval { lo: lo + 0.0, hi: hi + 0.0 }
}

/// Returns an interval that contains the sum of two numbers.
pub(super) fn sum(left: f64, right: f64) -> Interval {
    let near = left + right;
    if !near.is_finite() {
        return limit(near);
    }
    // The error of the rounded sum, which is itself exact (Knuth 1969).
    let shadow = near - left;
    let error = (left - (near - shadow)) + (right - shadow);
    rounded(near, error)
}

/// Returns an interval that contains the product of two numbers. Zero times infinity is zero,
/// because an infinite end stands for arbitrarily large members.
pub(super) fn product(left: f64, right: f64) -> Interval {
    if left == 0.0 || right == 0.0 {
        return Interval::ZERO;
    }
    let near = left * right;
    if !near.is_finite() {
        return if left.is_infinite() || right.is_infinite() {
            Interval::point(near)
        } else {
            limit(near)
        };
    }
    // The error of a product is a number only if the product is far from the smallest ones.
    if near.abs() < 1e-280 {
        return outward(near, near, 1);
    }
    rounded(near, left.mul_add(right, -near))
}

pub(super) fn divided(above: f64, below: f64) -> Interval {
    if above == 0.0 {
        return Interval::ZERO;
    }
    let near = above / below;
    if near.is_nan() {
        // An infinity divided by an infinity: the members are of one sign.
        let positive = (above > 0.0) == (below > 0.0);
        return if positive {
            Interval { lo: 0.0, hi: f64::INFINITY }
        } else {
            Interval { lo: f64::NEG_INFINITY, hi: 0.0 }
        };
    }
    if !near.is_finite() {
        return if above.is_infinite() { Interval::point(near) } else { limit(near) };
    }
    if below.is_infinite() {
        return Interval::ZERO;
    }
    if near.abs() < 1e-280 || above.abs() < 1e-280 {
        return outward(near, near, 1);
    }
    // The remainder of a rounded quotient is exact.
    let remainder = -near.mul_add(below, -above);
    rounded(near, if below > 0.0 { remainder } else { -remainder })
}

/// Returns the interval between a rounded result and its neighbour on the side of its error.
fn rounded(near: f64, error: f64) -> Interval {
    if error == 0.0 {
        Interval::point(near)
    } else if error > 0.0 {
        Interval { lo: near + 0.0, hi: near.next_up() + 0.0 }
    } else {
        Interval { lo: near.next_down() + 0.0, hi: near + 0.0 }
    }
}

/// Returns the interval of a result that is too large for an `f64`.
pub(super) fn limit(infinite: f64) -> Interval {
    if infinite.is_nan() {
        Interval::WHOLE
    } else if infinite > 0.0 {
        Interval { lo: f64::MAX, hi: f64::INFINITY }
    } else {
        Interval { lo: f64::NEG_INFINITY, hi: f64::MIN }
    }
}

/// Returns an interval that contains the n-th root of a number of at least zero.
pub(super) fn positive_root(number: f64, degree: u32) -> Interval {
    if number == 0.0 || number == f64::INFINITY {
        return Interval::point(number);
    }
    let near = match degree {
        2 => libm::sqrt(number),
        3 => libm::cbrt(number),
        _ => libm::pow(number, 1.0 / f64::from(degree)),
    };
    // The exponent 1/n is itself rounded, so the guess is corrected by comparing exact powers.
    let (mut lo, mut hi) = (near, near);
    let mut step = 0u32;
    while Interval::point(lo).power(degree).hi > number && step < 4096 {
        lo = if step < 8 { lo.next_down() } else { lo * (1.0 - 1e-15 * f64::from(step)) };
        step += 1;
    }
    step = 0;
    while Interval::point(hi).power(degree).lo < number && step < 4096 {
        hi = if step < 8 { hi.next_up() } else { hi * (1.0 + 1e-15 * f64::from(step)) };
        step += 1;
    }
    Interval { lo, hi }
}

pub(super) fn clipped(values: Interval) -> Interval {
    Interval { lo: values.lo.clamp(-1.0, 1.0), hi: values.hi.clamp(-1.0, 1.0) }
}
