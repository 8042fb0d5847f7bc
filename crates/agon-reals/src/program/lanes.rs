//! Instructions on `f64` and on lanes of `f64`. Undefined is NaN, true is 1 and false is 0.

use super::Instruction;

impl Instruction {
    /// Computes one instruction for one point.
    #[inline]
    pub(super) fn lane(self, registers: &[f64], variable: impl Fn(u32) -> f64, time: f64) -> f64 {
        let at = |register: u32| registers[register as usize];
        match self {
            Instruction::Number(_, near) => near,
            Instruction::Constant(interval) => interval.midpoint(),
            Instruction::Variable(index) => variable(index),
            Instruction::Time => time,
            Instruction::Add(left, right) => at(left) + at(right),
            Instruction::Subtract(left, right) => at(left) - at(right),
            Instruction::Multiply(left, right) => at(left) * at(right),
            Instruction::Divide(left, right) => quotient(at(left), at(right)),
            Instruction::Negate(inner) => -at(inner),
            Instruction::PowerInteger(base, exponent) => power_integer(at(base), exponent),
            Instruction::Power(base, exponent) => power(at(base), at(exponent)),
            Instruction::Root(inner, degree) => root(at(inner), degree),
            Instruction::Sin(inner) => libm::sin(at(inner)),
            Instruction::Cos(inner) => libm::cos(at(inner)),
            Instruction::Exp(inner) => libm::exp(at(inner)),
            Instruction::Ln(inner) => logarithm(at(inner)),
            Instruction::Abs(inner) => at(inner).abs(),
            Instruction::Min(left, right) => least(at(left), at(right)),
            Instruction::Max(left, right) => greatest(at(left), at(right)),
            Instruction::Indicator(condition) => at(condition),
            Instruction::Truth(holds) => truth(holds),
            Instruction::Less(left, right) => truth(at(left) < at(right)),
            Instruction::AtMost(left, right) => truth(at(left) <= at(right)),
            Instruction::Not(condition) => 1.0 - at(condition),
            Instruction::And(left, right) => at(left) * at(right),
            Instruction::Or(left, right) => at(left).max(at(right)),
        }
    }

    /// Computes one instruction for all lanes. The match is outside the loops, so that the compiler
    /// can use vector instructions.
    #[inline]
    pub(super) fn lanes<const LANES: usize>(
        self,
        registers: &[[f64; LANES]],
        variables: &[[f64; LANES]],
        time: [f64; LANES],
    ) -> [f64; LANES] {
        let at = |register: u32| &registers[register as usize];
        let one = |inner: u32, apply: &dyn Fn(f64) -> f64| at(inner).map(apply);
        match self {
            Instruction::Number(_, near) => [near; LANES],
            Instruction::Constant(interval) => [interval.midpoint(); LANES],
            Instruction::Variable(index) => variables[index as usize],
            Instruction::Time => time,
            Instruction::Add(left, right) => zip(at(left), at(right), |l, r| l + r),
            Instruction::Subtract(left, right) => zip(at(left), at(right), |l, r| l - r),
            Instruction::Multiply(left, right) => zip(at(left), at(right), |l, r| l * r),
            Instruction::Divide(left, right) => zip(at(left), at(right), quotient),
            Instruction::Negate(inner) => at(inner).map(|inner| -inner),
            Instruction::PowerInteger(base, 2) => at(base).map(|base| base * base),
            Instruction::PowerInteger(base, exponent) => {
                one(base, &|base| power_integer(base, exponent))
            }
            Instruction::Power(base, exponent) => zip(at(base), at(exponent), power),
            Instruction::Root(inner, degree) => one(inner, &|inner| root(inner, degree)),
            Instruction::Sin(inner) => one(inner, &libm::sin),
            Instruction::Cos(inner) => one(inner, &libm::cos),
            Instruction::Exp(inner) => one(inner, &libm::exp),
            Instruction::Ln(inner) => one(inner, &logarithm),
            Instruction::Abs(inner) => at(inner).map(f64::abs),
            Instruction::Min(left, right) => zip(at(left), at(right), least),
            Instruction::Max(left, right) => zip(at(left), at(right), greatest),
            Instruction::Indicator(condition) => *at(condition),
            Instruction::Truth(holds) => [truth(holds); LANES],
            Instruction::Less(left, right) => zip(at(left), at(right), |l, r| truth(l < r)),
            Instruction::AtMost(left, right) => zip(at(left), at(right), |l, r| truth(l <= r)),
            Instruction::Not(condition) => at(condition).map(|holds| 1.0 - holds),
            Instruction::And(left, right) => zip(at(left), at(right), |l, r| l * r),
            Instruction::Or(left, right) => zip(at(left), at(right), f64::max),
        }
    }
}

#[inline]
fn zip<const LANES: usize>(
    left: &[f64; LANES],
    right: &[f64; LANES],
    apply: impl Fn(f64, f64) -> f64,
) -> [f64; LANES] {
    std::array::from_fn(|lane| apply(left[lane], right[lane]))
}

fn truth(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

fn quotient(above: f64, below: f64) -> f64 {
    if below == 0.0 { f64::NAN } else { above / below }
}

/// Returns a power by repeated squaring, which is the same on every machine.
fn power_integer(base: f64, exponent: i32) -> f64 {
    let (mut result, mut square) = (1.0, base);
    let mut rest = exponent.unsigned_abs();
    while rest > 0 {
        if rest % 2 == 1 {
            result *= square;
        }
        rest /= 2;
        if rest > 0 {
            square *= square;
        }
    }
    if base.is_nan() {
        f64::NAN
    } else if exponent < 0 {
        quotient(1.0, result)
    } else {
        result
    }
}

fn power(base: f64, exponent: f64) -> f64 {
    // The function of the standard is 1 where one argument is undefined and the other is special.
    if base.is_nan() || exponent.is_nan() || (base == 0.0 && exponent < 0.0) {
        return f64::NAN;
    }
    libm::pow(base, exponent)
}

fn root(number: f64, degree: u32) -> f64 {
    let positive = |number: f64| match degree {
        0 => f64::NAN,
        1 => number,
        2 => libm::sqrt(number),
        3 => libm::cbrt(number),
        _ => libm::pow(number, 1.0 / f64::from(degree)),
    };
    if number >= 0.0 {
        positive(number)
    } else if degree % 2 == 1 {
        -positive(-number)
    } else {
        f64::NAN
    }
}

fn logarithm(number: f64) -> f64 {
    if number > 0.0 { libm::log(number) } else { f64::NAN }
}

/// Returns the lesser number, and NaN if one is undefined, unlike `f64::min`.
fn least(left: f64, right: f64) -> f64 {
    if left.is_nan() || left < right { left } else { right }
}

fn greatest(left: f64, right: f64) -> f64 {
    if left.is_nan() || left > right { left } else { right }
}
