//! Byte code of terms and conditions.
//!
//! A [`Program`] computes many terms and conditions at once, and every common part once. It has one
//! register for each instruction, and the operands of an instruction are earlier registers. The
//! same program runs on `f64`, on lanes of `f64`, and over every [`Domain`]: intervals, reals,
//! power series and polynomials.

use crate::domain::{Domain, Intervals, Reals, Truth};
use crate::expression::{Condition, Expr, Node, Pool};
use crate::interval::Interval;
use crate::rational::Rational;
use crate::real::Real;

pub(crate) use bundle::Bundle;

/// Terms and conditions, ready to be evaluated many times.
#[derive(Clone, Debug)]
pub struct Program {
    instructions: Vec<Instruction>,
    values: Vec<u32>,
    truths: Vec<u32>,
    n_variables: usize,
}

/// Values of terms and conditions.
#[derive(Clone, PartialEq, Debug)]
pub struct Outputs<V> {
    /// The values of the terms, in the order in which they were compiled; `None` if undefined.
    pub values: Vec<Option<V>>,
    /// The truth of the conditions, in the order in which they were compiled.
    pub truths: Vec<Truth>,
}

/// An operation on registers. The form of its [`Node`], with operands that are registers.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Instruction {
    Number(Rational, f64),
    Constant(Interval),
    Variable(u32),
    Time,
    Add(u32, u32),
    Subtract(u32, u32),
    Multiply(u32, u32),
    Divide(u32, u32),
    Negate(u32),
    PowerInteger(u32, i32),
    Power(u32, u32),
    Root(u32, u32),
    Sin(u32),
    Cos(u32),
    Exp(u32),
    Ln(u32),
    Abs(u32),
    Min(u32, u32),
    Max(u32, u32),
    Indicator(u32),
    Truth(bool),
    Less(u32, u32),
    AtMost(u32, u32),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
}

enum Register<V> {
    Value(Option<V>),
    Truth(Truth),
}

impl Program {
    /// Compiles terms and conditions.
    pub fn new(pool: &Pool, exprs: &[Expr], conditions: &[Condition]) -> Program {
        let roots: Vec<u32> = exprs
            .iter()
            .map(|expr| expr.0)
            .chain(conditions.iter().map(|condition| condition.0))
            .collect();
        let ids = pool.reachable(&roots);
        let register = |id: u32| {
            ids.binary_search(&id).expect("the parts of a node are reachable from it") as u32
        };
        let mut n_variables = 0;
        let instructions = ids
            .iter()
            .map(|id| {
                let instruction = Instruction::of(pool.node_by_id(*id), &register);
                if let Instruction::Variable(index) = instruction {
                    n_variables = n_variables.max(index as usize + 1);
                }
                instruction
            })
            .collect();
        Program {
            instructions,
            values: exprs.iter().map(|expr| register(expr.0)).collect(),
            truths: conditions.iter().map(|condition| register(condition.0)).collect(),
            n_variables,
        }
    }

    /// Returns the number of instructions.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Returns whether there are no instructions.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// Returns one more than the greatest index of a variable that occurs.
    pub fn n_variables(&self) -> usize {
        self.n_variables
    }

    /// Computes all terms, then all conditions (1 if true, 0 if false), into `results`. Undefined
    /// terms become NaN. `registers` is scratch memory that calls can share.
    ///
    /// # Panics
    /// If there are fewer variables than occur, or `results` is too short.
    pub fn run_f64(
        &self,
        variables: &[f64],
        time: f64,
        results: &mut [f64],
        registers: &mut Vec<f64>,
    ) {
        registers.clear();
        for instruction in &self.instructions {
            let value = instruction.lane(registers, |index| variables[index as usize], time);
            registers.push(value);
        }
        for (result, register) in results.iter_mut().zip(self.values.iter().chain(&self.truths)) {
            *result = registers[*register as usize];
        }
    }

    /// Computes the same as [`Program::run_f64`] for `LANES` points at once.
    ///
    /// # Panics
    /// If there are fewer variables than occur.
    pub fn run_lanes<const LANES: usize>(
        &self,
        variables: &[[f64; LANES]],
        time: [f64; LANES],
        results: &mut [[f64; LANES]],
        registers: &mut Vec<[f64; LANES]>,
    ) {
        registers.clear();
        for instruction in &self.instructions {
            let value = instruction.lanes(registers, variables, time);
            registers.push(value);
        }
        for (result, register) in results.iter_mut().zip(self.values.iter().chain(&self.truths)) {
            *result = registers[*register as usize];
        }
    }

    /// Computes over intervals.
    ///
    /// # Panics
    /// If there are fewer variables than occur.
    pub fn run_interval(&self, variables: &[Interval], time: Interval) -> Outputs<Interval> {
        self.run(&Intervals, variables, &time)
    }

    /// Computes over reals.
    ///
    /// # Panics
    /// If there are fewer variables than occur.
    pub fn run_real(&self, variables: &[Real], time: Real) -> Outputs<Real> {
        self.run(&Reals, variables, &time)
    }

    /// Computes over any domain.
    ///
    /// # Panics
    /// If there are fewer variables than occur.
    pub fn run<D: Domain>(
        &self,
        domain: &D,
        variables: &[D::Value],
        time: &D::Value,
    ) -> Outputs<D::Value> {
        let mut registers: Vec<Register<D::Value>> = Vec::with_capacity(self.instructions.len());
        for instruction in &self.instructions {
            let register = instruction.apply(domain, &registers, variables, time);
            registers.push(register);
        }
        Outputs {
            values: self
                .values
                .iter()
                .map(|register| value(&registers, *register).cloned())
                .collect(),
            truths: self.truths.iter().map(|register| truth(&registers, *register)).collect(),
        }
    }
}

fn value<V>(registers: &[Register<V>], register: u32) -> Option<&V> {
    match &registers[register as usize] {
        Register::Value(value) => value.as_ref(),
        Register::Truth(_) => unreachable!("the ids of terms and conditions have different types"),
    }
}

fn truth<V>(registers: &[Register<V>], register: u32) -> Truth {
    match &registers[register as usize] {
        Register::Truth(truth) => *truth,
        Register::Value(_) => {
            unreachable!("the ids of terms and conditions have different types")
        }
    }
}

impl Instruction {
    fn of(node: Node, at: &impl Fn(u32) -> u32) -> Instruction {
        match node {
            Node::Number(number) => Instruction::Number(number, number.to_f64()),
            Node::Constant(interval) => Instruction::Constant(interval),
            Node::Variable(index) => Instruction::Variable(index),
            Node::Time => Instruction::Time,
            Node::Add(left, right) => Instruction::Add(at(left.0), at(right.0)),
            Node::Subtract(left, right) => Instruction::Subtract(at(left.0), at(right.0)),
            Node::Multiply(left, right) => Instruction::Multiply(at(left.0), at(right.0)),
            Node::Divide(left, right) => Instruction::Divide(at(left.0), at(right.0)),
            Node::Negate(inner) => Instruction::Negate(at(inner.0)),
            Node::PowerInteger(base, exponent) => Instruction::PowerInteger(at(base.0), exponent),
            Node::Power(base, exponent) => Instruction::Power(at(base.0), at(exponent.0)),
            Node::Root(inner, degree) => Instruction::Root(at(inner.0), degree),
            Node::Sin(inner) => Instruction::Sin(at(inner.0)),
            Node::Cos(inner) => Instruction::Cos(at(inner.0)),
            Node::Exp(inner) => Instruction::Exp(at(inner.0)),
            Node::Ln(inner) => Instruction::Ln(at(inner.0)),
            Node::Abs(inner) => Instruction::Abs(at(inner.0)),
            Node::Min(left, right) => Instruction::Min(at(left.0), at(right.0)),
            Node::Max(left, right) => Instruction::Max(at(left.0), at(right.0)),
            Node::Indicator(condition) => Instruction::Indicator(at(condition.0)),
            Node::True => Instruction::Truth(true),
            Node::False => Instruction::Truth(false),
            Node::Less(left, right) => Instruction::Less(at(left.0), at(right.0)),
            Node::AtMost(left, right) => Instruction::AtMost(at(left.0), at(right.0)),
            Node::Not(condition) => Instruction::Not(at(condition.0)),
            Node::And(left, right) => Instruction::And(at(left.0), at(right.0)),
            Node::Or(left, right) => Instruction::Or(at(left.0), at(right.0)),
        }
    }

    fn apply<D: Domain>(
        self,
        domain: &D,
        registers: &[Register<D::Value>],
        variables: &[D::Value],
        time: &D::Value,
    ) -> Register<D::Value> {
        let at = |register: u32| value(registers, register);
        let both = |left: u32, right: u32| at(left).zip(at(right));
        let compared = |left: u32, right: u32, compare: &dyn Fn(&D::Value, &D::Value) -> Truth| {
            Register::Truth(both(left, right).map_or(D::UNDEFINED, |(l, r)| compare(l, r)))
        };
        Register::Value(match self {
            Instruction::Number(number, _) => domain.number(number),
            Instruction::Constant(interval) => domain.interval(interval),
            Instruction::Variable(index) => Some(variables[index as usize].clone()),
            Instruction::Time => Some(time.clone()),
            Instruction::Add(left, right) => both(left, right).and_then(|(l, r)| domain.add(l, r)),
            Instruction::Subtract(left, right) => {
                both(left, right).and_then(|(l, r)| domain.subtract(l, r))
            }
            Instruction::Multiply(left, right) => {
                both(left, right).and_then(|(l, r)| domain.multiply(l, r))
            }
            Instruction::Divide(left, right) => {
                both(left, right).and_then(|(l, r)| domain.divide(l, r))
            }
            Instruction::Negate(inner) => at(inner).and_then(|inner| domain.negate(inner)),
            Instruction::PowerInteger(base, exponent) => {
                at(base).and_then(|base| domain.power_integer(base, exponent))
            }
            Instruction::Power(base, exponent) => {
                both(base, exponent).and_then(|(b, e)| domain.power(b, e))
            }
            Instruction::Root(inner, degree) => {
                at(inner).and_then(|inner| domain.root(inner, degree))
            }
            Instruction::Sin(inner) => at(inner).and_then(|inner| domain.sin(inner)),
            Instruction::Cos(inner) => at(inner).and_then(|inner| domain.cos(inner)),
            Instruction::Exp(inner) => at(inner).and_then(|inner| domain.exp(inner)),
            Instruction::Ln(inner) => at(inner).and_then(|inner| domain.ln(inner)),
            Instruction::Abs(inner) => at(inner).and_then(|inner| domain.abs(inner)),
            Instruction::Min(left, right) => both(left, right).and_then(|(l, r)| domain.min(l, r)),
            Instruction::Max(left, right) => both(left, right).and_then(|(l, r)| domain.max(l, r)),
            Instruction::Indicator(condition) => domain.indicator(truth(registers, condition)),
            Instruction::Truth(holds) => return Register::Truth(Truth::of(holds)),
            Instruction::Less(left, right) => {
                return compared(left, right, &|l, r| domain.less(l, r));
            }
            Instruction::AtMost(left, right) => {
                return compared(left, right, &|l, r| domain.at_most(l, r));
            }
            Instruction::Not(condition) => {
                return Register::Truth(truth(registers, condition).not());
            }
            Instruction::And(left, right) => {
                return Register::Truth(truth(registers, left).and(truth(registers, right)));
            }
            Instruction::Or(left, right) => {
                return Register::Truth(truth(registers, left).or(truth(registers, right)));
            }
        })
    }
}

mod bundle;
mod lanes;
#[cfg(test)]
mod tests;
