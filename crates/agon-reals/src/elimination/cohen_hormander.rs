//! Elimination of a variable of any degree by the algorithm of Cohen (1969) and Hörmander (1983),
//! after the presentation of Harrison (2009). It rests on the same idea as the proof of Muchnik
//! that Kaiser & Stafiniak (2010) used.
//!
//! The roots of some polynomials in a variable cut the line into points and open intervals. The
//! sign matrix has a row with the signs of all polynomials for each of them, from left to right.
//! The matrix of `p` and others follows from that of the derivative of `p`, the others, and the
//! remainders of `p` by all of them: at a root of a divisor, `p` has the sign of the remainder, and
//! between two such points `p` is monotone. All the latter polynomials have a lower degree. Where
//! the sign of a leading coefficient is not known, the cases are split, and the result is a
//! formula about the coefficients.

use super::formula::{ANY_SIGN, NEGATIVE, POSITIVE, RealFormula, Sign, SignSet, ZERO, mirrored};
use super::limits::{EliminationError, Work};
use super::polynomial::Polynomial;
use super::simplify::{Facts, simplify, simplify_under};
use super::univariate::solutions_within;

/// Rows of signs: an interval, a point, an interval, and so on, to an interval.
type Matrix = Vec<Vec<SignSet>>;

/// What is done with a matrix under the facts of a case.
type Continuation<'a> = &'a dyn Fn(&Case, Matrix) -> Result<RealFormula, EliminationError>;

/// The stack grows if fewer bytes than this are left.
const STACK_RESERVE: usize = 128 * 1024;
/// Number of bytes by which the stack grows.
const STACK_SEGMENT: usize = 1024 * 1024;

/// A case of nested splits.
#[derive(Clone)]
struct Case {
    facts: Facts,
    depth: usize,
}

/// Returns a formula without a variable that holds exactly if the given formula, which must not
/// have negations or quantifiers, holds for some value of it.
pub(crate) fn eliminate_variable(
    formula: &RealFormula,
    variable: u32,
    work: &Work<'_>,
) -> Result<RealFormula, EliminationError> {
    let mut polynomials: Vec<Polynomial> = Vec::new();
    let mut parameters = formula.free_variables();
    parameters.remove(&variable);
    formula.for_each_atom(&mut |polynomial, _| {
        if polynomial.mentions(variable) {
            polynomials.push(polynomial.clone());
        }
    });
    polynomials.sort_unstable();
    polynomials.dedup();
    for polynomial in &polynomials {
        work.check_degree(polynomial.degree(variable))?;
    }
    let parameter = match parameters.len() {
        1 => parameters.first().copied(),
        _ => None,
    };
    let elimination = Elimination { variable, parameter, work };
    let finish = |case: &Case, matrix: Matrix| {
        let mut results: Vec<RealFormula> = Vec::new();
        for row in &matrix {
            work.step(row.len() + 1)?;
            let decided = formula.map_atoms_with_free(variable, &|polynomial, sign| {
                let place = polynomials.binary_search(polynomial).expect("all are in the list");
                RealFormula::truth(row[place] & sign.signs() != 0)
            });
            let decided = simplify_under(&decided, &case.facts);
            if decided == RealFormula::True {
                return Ok(decided);
            }
            if !results.contains(&decided) {
                results.push(decided);
            }
        }
        Ok(simplify_under(&RealFormula::Or(results), &case.facts))
    };
    let start = Case { facts: Facts::default(), depth: 0 };
    let result = elimination.signs_of(&polynomials, &start, &finish)?;
    Ok(simplify(&result))
}

struct Elimination<'a> {
    variable: u32,
    /// The other variable, if there is exactly one.
    parameter: Option<u32>,
    work: &'a Work<'a>,
}

/// A polynomial whose signs are wanted.
enum Column {
    /// It has the same sign on the whole line.
    Constant(SignSet),
    /// It has positive degree, and a leading coefficient of known sign.
    Proper(Polynomial),
}

impl Elimination<'_> {
    /// Computes the sign matrix of polynomials, which may be equal or constant.
    fn signs_of(
        &self,
        polynomials: &[Polynomial],
        case: &Case,
        then: Continuation<'_>,
    ) -> Result<RealFormula, EliminationError> {
        let mut distinct: Vec<Polynomial> = Vec::new();
        let mut places = Vec::with_capacity(polynomials.len());
        for polynomial in polynomials {
            self.work.check(polynomial)?;
            self.work.step_with_numbers(polynomial.n_terms(), polynomial.coefficient_bits())?;
            let (primitive, is_mirrored) = polynomial.primitive();
            let place = distinct.iter().position(|known| *known == primitive);
            let place = place.unwrap_or_else(|| {
                distinct.push(primitive);
                distinct.len() - 1
            });
            places.push((place, is_mirrored));
        }
        let expand = |case: &Case, matrix: Matrix| {
            let sign = |row: &[SignSet], (place, is_mirrored): (usize, bool)| {
                if is_mirrored { mirrored(row[place]) } else { row[place] }
            };
            let expanded =
                |row: Vec<SignSet>| places.iter().map(|place| sign(&row, *place)).collect();
            then(case, matrix.into_iter().map(expanded).collect())
        };
        self.split_cases(&distinct, &mut Vec::new(), case, &expand)
    }

    /// Splits cases until each polynomial is constant or has a leading coefficient of known sign.
    fn split_cases(
        &self,
        todo: &[Polynomial],
        done: &mut Vec<Column>,
        case: &Case,
        then: Continuation<'_>,
    ) -> Result<RealFormula, EliminationError> {
        let Some((first, rest)) = todo.split_first() else {
            return self.constant_columns(done, case, then);
        };
        let known = case.facts.possible_of(first);
        let coefficients = first.coefficients(self.variable);
        if is_single(known) || coefficients.is_empty() {
            let sign = if coefficients.is_empty() { ZERO } else { known };
            return self.with_column(Column::Constant(sign), rest, done, case, then);
        }
        let leading = &coefficients[coefficients.len() - 1];
        let mut results = Vec::new();
        let possible = case.facts.possible_of(leading);
        for sign in [NEGATIVE, ZERO, POSITIVE] {
            if possible & sign == 0 {
                continue;
            }
            let mut case = case.clone();
            if !is_single(possible) {
                case.depth += 1;
                self.work.check_depth(case.depth)?;
                self.work.step(case.facts.n_terms())?;
                if !self.is_feasible(&mut case, leading, sign)? {
                    continue;
                }
            }
            let result = if coefficients.len() == 1 {
                self.with_column(Column::Constant(sign), rest, done, &case, then)?
            } else if sign == ZERO {
                let lower = &coefficients[..coefficients.len() - 1];
                let mut todo = vec![Polynomial::from_coefficients(self.variable, lower)];
                todo.extend_from_slice(rest);
                // The columns before this one are left as they were.
                self.split_cases(&todo, done, &case, then)?
            } else {
                self.with_column(Column::Proper(first.clone()), rest, done, &case, then)?
            };
            results.push((sign, result));
        }
        let result = merged(leading, possible, results);
        self.work.check_size(&result)?;
        Ok(result)
    }

    fn with_column(
        &self,
        column: Column,
        rest: &[Polynomial],
        done: &mut Vec<Column>,
        case: &Case,
        then: Continuation<'_>,
    ) -> Result<RealFormula, EliminationError> {
        done.push(column);
        // Cases nest as deep as there are polynomials, in every round.
        let result = stacker::maybe_grow(STACK_RESERVE, STACK_SEGMENT, || {
            self.split_cases(rest, done, case, then)
        });
        done.pop();
        result
    }

    /// Adds a sign to the facts of a case. Returns whether some values of the parameters may have
    /// all these signs.
    fn is_feasible(
        &self,
        case: &mut Case,
        polynomial: &Polynomial,
        sign: SignSet,
    ) -> Result<bool, EliminationError> {
        if !case.facts.assume(polynomial, sign) {
            return Ok(false);
        }
        // With one parameter the facts are decided exactly, which leaves far fewer cases.
        match self.parameter {
            Some(parameter) => {
                Ok(!solutions_within(&case.facts.formula(), parameter, self.work)?.is_empty())
            }
            None => Ok(true),
        }
    }

    /// Computes the matrix of the proper columns, and adds the constant ones to its rows.
    fn constant_columns(
        &self,
        columns: &[Column],
        case: &Case,
        then: Continuation<'_>,
    ) -> Result<RealFormula, EliminationError> {
        let mut proper = Vec::new();
        let mut layout = Vec::with_capacity(columns.len());
        for column in columns {
            match column {
                Column::Constant(sign) => layout.push(Err(*sign)),
                Column::Proper(polynomial) => {
                    layout.push(Ok(proper.len()));
                    proper.push(polynomial.clone());
                }
            }
        }
        let complete = |case: &Case, matrix: Matrix| {
            let complete_row = |row: Vec<SignSet>| {
                let sign =
                    |place: &Result<usize, SignSet>| place.map_or_else(|sign| sign, |n| row[n]);
                layout.iter().map(sign).collect()
            };
            then(case, matrix.into_iter().map(complete_row).collect())
        };
        self.matrix(proper, case, &complete)
    }

    /// Computes the sign matrix of polynomials of positive degree whose leading coefficients have
    /// known signs.
    fn matrix(
        &self,
        mut polynomials: Vec<Polynomial>,
        case: &Case,
        then: Continuation<'_>,
    ) -> Result<RealFormula, EliminationError> {
        self.work.step(polynomials.len() + 1)?;
        let degrees = polynomials.iter().map(|polynomial| polynomial.degree(self.variable));
        let Some((_, place)) = degrees.zip(0..).max() else {
            return then(case, vec![Vec::new()]);
        };
        let highest: Polynomial = polynomials.remove(place);
        let mut divisors = vec![highest.derivative(self.variable)];
        divisors.append(&mut polynomials);
        let n_divisors = divisors.len();
        let mut all = divisors;
        for divisor in 0..n_divisors {
            let remainder = self.remainder(&highest, &all[divisor], case)?;
            all.push(remainder);
        }
        let case = Case { facts: case.facts.clone(), depth: case.depth + 1 };
        self.work.check_depth(case.depth)?;
        self.signs_of(&all, &case, &|case, matrix| {
            match matrix_with_highest(matrix, n_divisors) {
                Some(matrix) => {
                    let restore = |mut row: Vec<SignSet>| {
                        let sign = row.remove(0);
                        row.insert(place, sign);
                        row
                    };
                    then(case, matrix.into_iter().map(restore).collect())
                }
                // No values of the parameters have all the signs of this case.
                None => Ok(RealFormula::False),
            }
        })
    }

    /// Returns a polynomial of lower degree than the divisor that has the sign of the dividend at
    /// each root of the divisor.
    fn remainder(
        &self,
        dividend: &Polynomial,
        divisor: &Polynomial,
        case: &Case,
    ) -> Result<Polynomial, EliminationError> {
        let divisor = divisor.coefficients(self.variable);
        let mut rest = dividend.coefficients(self.variable);
        let leading = divisor.last().expect("divisors are not zero");
        let leading_sign = case.facts.possible_of(leading);
        let mut is_negative = false;
        while rest.len() >= divisor.len() {
            let last = rest.pop().expect("the divisor is not empty");
            if last.is_zero() {
                continue;
            }
            let shift = rest.len() + 1 - divisor.len();
            if let Some(number) = leading.as_constant() {
                let factor = last.scaled(&(dashu_ratio::RBig::NEG_ONE / number));
                for (own, other) in rest[shift..].iter_mut().zip(&divisor) {
                    *own = &*own + &self.work.times(&factor, other)?;
                }
                continue;
            }
            // The dividend is multiplied by the leading coefficient, which turns signs if it is
            // negative.
            is_negative ^= leading_sign == NEGATIVE;
            for (place, own) in rest.iter_mut().enumerate() {
                *own = self.work.times(own, leading)?;
                if place >= shift {
                    *own = &*own - &self.work.times(&last, &divisor[place - shift])?;
                }
            }
        }
        let remainder = Polynomial::from_coefficients(self.variable, &rest);
        let remainder = if is_negative { -&remainder } else { remainder };
        self.without_known_factors(remainder, case)
    }

    /// Divides by factors that are known not to be zero. Remainders of remainders have powers of
    /// leading coefficients as factors (Collins 1967, Brown & Traub 1971).
    fn without_known_factors(
        &self,
        mut polynomial: Polynomial,
        case: &Case,
    ) -> Result<Polynomial, EliminationError> {
        for (factor, sign) in case.facts.nonzero() {
            while polynomial.total_degree() >= factor.total_degree() {
                let n_products = polynomial.n_terms() * factor.n_terms();
                self.work.step_with_numbers(n_products, polynomial.coefficient_bits())?;
                let Some(quotient) = polynomial.exact_quotient(factor) else { break };
                polynomial = if sign == NEGATIVE { -&quotient } else { quotient };
                if polynomial.is_zero() {
                    return Ok(polynomial);
                }
            }
        }
        Ok(polynomial)
    }
}

/// Returns the formula that the case with the sign of a polynomial holds.
fn merged(
    polynomial: &Polynomial,
    possible: SignSet,
    results: Vec<(SignSet, RealFormula)>,
) -> RealFormula {
    let mut groups: Vec<(SignSet, RealFormula)> = Vec::new();
    let mut seen = 0;
    for (sign, result) in results {
        seen |= sign;
        match groups.iter_mut().find(|(_, known)| *known == result) {
            Some((signs, _)) => *signs |= sign,
            None => groups.push((sign, result)),
        }
    }
    let mut parts = Vec::new();
    for (signs, result) in groups {
        if result == RealFormula::False {
            continue;
        }
        // Signs that are not possible do no harm, and may make the condition superfluous.
        let signs = if signs == seen || signs == possible { ANY_SIGN } else { signs };
        parts.push(match Sign::from_signs(signs) {
            Some(sign) => {
                let condition = RealFormula::Compare(polynomial.clone(), sign);
                RealFormula::And(vec![condition, result])
            }
            None => result,
        });
    }
    match parts.len() {
        0 => RealFormula::False,
        1 => parts.swap_remove(0),
        _ => RealFormula::Or(parts),
    }
}

/// Computes the matrix of a polynomial and others from the matrix of its derivative, the others
/// (together `n_divisors` columns) and its remainders by them. The polynomial is the first column
/// of the result. Returns `None` for matrices that no polynomials have.
fn matrix_with_highest(matrix: Matrix, n_divisors: usize) -> Option<Matrix> {
    // Points where no divisor is zero are only roots of remainders.
    let matrix = condensed(matrix, |row| row[..n_divisors].contains(&ZERO));
    let sign_at = |row: &[SignSet]| {
        let divisor = row[..n_divisors].iter().position(|sign| *sign == ZERO)?;
        Some(row[n_divisors + divisor])
    };
    let first = matrix.first()?;
    let last = matrix.last()?;
    let mut before = mirrored(first[0]);
    let mut result: Matrix = Vec::new();
    for place in (0..matrix.len()).step_by(2) {
        let others = &matrix[place][1..n_divisors];
        let with = |sign: SignSet| -> Vec<SignSet> {
            std::iter::once(sign).chain(others.iter().copied()).collect()
        };
        let after = match matrix.get(place + 1) {
            Some(point) => sign_at(point)?,
            None => last[0],
        };
        match (before, after) {
            (ZERO, ZERO) => return None,
            (ZERO, sign) | (sign, ZERO) => result.push(with(sign)),
            (left, right) if left == right => result.push(with(left)),
            (left, right) => result.extend([with(left), with(ZERO), with(right)]),
        }
        if let Some(point) = matrix.get(place + 1) {
            let row = std::iter::once(after).chain(point[1..n_divisors].iter().copied());
            result.push(row.collect());
        }
        before = after;
    }
    Some(condensed(result, |row| row.contains(&ZERO)))
}

/// Returns the matrix with only those points that are to be kept. The interval right of a removed
/// point is removed with it.
fn condensed(matrix: Matrix, keep: impl Fn(&[SignSet]) -> bool) -> Matrix {
    let mut result: Matrix = Vec::new();
    let mut rows = matrix.into_iter();
    result.extend(rows.next());
    while let (Some(point), Some(interval)) = (rows.next(), rows.next()) {
        if keep(&point) {
            result.extend([point, interval]);
        }
    }
    result
}

fn is_single(signs: SignSet) -> bool {
    signs.count_ones() == 1
}
