//! Formulas in the syntax of SMT-LIB 2, which other solvers such as z3 read. Tests and
//! measurements compare the answers.

use std::fmt::Write;

use dashu_base::{Abs, Signed};
use dashu_ratio::RBig;

use super::formula::{RealFormula, Sign};
use super::polynomial::Polynomial;

/// Returns a script that asks whether a formula has a solution. A sentence is true if the answer
/// is `sat`, and false if it is `unsat`.
pub fn script(formula: &RealFormula) -> String {
    let mut script = String::new();
    for variable in formula.free_variables() {
        let _ = writeln!(script, "(declare-const x{variable} Real)");
    }
    let _ = writeln!(script, "(assert {})", term(formula));
    script.push_str("(check-sat)\n");
    script
}

/// Returns a formula as a term of sort `Bool`.
pub fn term(formula: &RealFormula) -> String {
    match formula {
        RealFormula::True => "true".to_owned(),
        RealFormula::False => "false".to_owned(),
        RealFormula::Compare(polynomial, Sign::NotEqual) => {
            format!("(not (= {} 0.0))", polynomial_term(polynomial))
        }
        RealFormula::Compare(polynomial, sign) => {
            format!("({} {} 0.0)", sign.symbol(), polynomial_term(polynomial))
        }
        RealFormula::Not(inner) => format!("(not {})", term(inner)),
        RealFormula::And(parts) => connected("and", "true", parts),
        RealFormula::Or(parts) => connected("or", "false", parts),
        RealFormula::Exists(variable, inner) => {
            format!("(exists ((x{variable} Real)) {})", term(inner))
        }
        RealFormula::All(variable, inner) => {
            format!("(forall ((x{variable} Real)) {})", term(inner))
        }
    }
}

fn connected(connective: &str, empty: &str, parts: &[RealFormula]) -> String {
    if parts.is_empty() {
        return empty.to_owned();
    }
    let terms: Vec<String> = parts.iter().map(term).collect();
    format!("({connective} {})", terms.join(" "))
}

fn polynomial_term(polynomial: &Polynomial) -> String {
    let mut sum = String::from("(+ 0.0");
    for (powers, number) in polynomial.terms() {
        let _ = write!(sum, " (* {}", number_term(number));
        for (variable, exponent) in powers {
            for _ in 0..*exponent {
                let _ = write!(sum, " x{variable}");
            }
        }
        // A product needs two factors.
        sum.push_str(" 1.0)");
    }
    sum.push(')');
    sum
}

fn number_term(number: &RBig) -> String {
    let size = number.clone().abs();
    let quotient = format!("(/ {}.0 {}.0)", size.numerator(), size.denominator());
    if number.is_negative() { format!("(- {quotient})") } else { quotient }
}
