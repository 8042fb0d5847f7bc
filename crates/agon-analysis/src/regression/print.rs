//! Formulas as text.

use std::collections::BTreeSet;

use super::formula::{Formula, Formulas, Shape};

/// Returns a formula as text with `(and …)`, `(or …)`, `(not …)` and fluents. Formulas with more
/// than `limit` parts are cut short with `…`.
pub fn formula_text(
    formulas: &Formulas,
    formula: Formula,
    names: &[String],
    limit: usize,
) -> String {
    let mut text = String::new();
    let mut left = limit;
    write(formulas, formula, names, &mut left, 0, &mut text);
    text
}

/// Maximum depth of the text. Deeper parts are cut short.
const MAX_DEPTH: usize = 200;

fn write(
    formulas: &Formulas,
    formula: Formula,
    names: &[String],
    left: &mut usize,
    depth: usize,
    text: &mut String,
) {
    if *left == 0 || depth > MAX_DEPTH {
        text.push('…');
        return;
    }
    *left -= 1;
    match formulas.shape(formula) {
        Shape::False if formula.is_negated() => text.push_str("true"),
        Shape::False => text.push_str("false"),
        Shape::Unknown => text.push_str("unknown"),
        Shape::Fluent(fluent) if formula.is_negated() => {
            text.push_str("(not ");
            text.push_str(&names[fluent]);
            text.push(')');
        }
        Shape::Fluent(fluent) => text.push_str(&names[fluent]),
        Shape::And(_) => {
            // A negated conjunction is printed as a disjunction.
            text.push_str(if formula.is_negated() { "(or" } else { "(and" });
            for operand in flat_operands(formulas, formula) {
                if *left == 0 {
                    text.push_str(" …");
                    break;
                }
                text.push(' ');
                write(formulas, operand, names, left, depth + 1, text);
            }
            text.push(')');
        }
    }
}

/// Returns the operands of a conjunction or disjunction. Nested ones of the same kind are
/// flattened, and fluents come first in the order of the rulesheet.
pub(crate) fn flat_operands(formulas: &Formulas, formula: Formula) -> Vec<Formula> {
    let mut flat = Vec::new();
    let mut left = vec![formula];
    // A shared part is expanded once.
    let mut seen = BTreeSet::new();
    while let Some(part) = left.pop() {
        match formulas.shape(part) {
            Shape::And(operands) if part.is_negated() == formula.is_negated() => {
                if seen.insert(part) {
                    left.extend(
                        operands.iter().map(|operand| operand.negated_if(formula.is_negated())),
                    );
                }
            }
            Shape::False | Shape::Unknown | Shape::Fluent(_) | Shape::And(_) => flat.push(part),
        }
    }
    flat.sort_unstable_by_key(|part| (part.node(), part.is_negated()));
    flat.dedup();
    flat
}
