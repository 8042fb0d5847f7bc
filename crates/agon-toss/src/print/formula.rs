//! Prints formulas and terms, with only the parentheses that parsing needs.

use super::names;
use crate::syntax::{
    Aggregate, Comparison, Formula, FormulaKind, ProductSign, SumSign, Term, TermKind,
};

/// Prints a formula.
pub(super) fn write_formula(formula: &Formula, text: &mut String) {
    match &formula.kind {
        FormulaKind::Or(parts) => join(parts, " or ", text, |part, text| match part.kind {
            FormulaKind::And(_) => write_formula(part, text),
            _ => write_single(part, text),
        }),
        FormulaKind::And(parts) => join(parts, " and ", text, write_single),
        _ => write_single(formula, text),
    }
}

fn join<T>(parts: &[T], between: &str, text: &mut String, write: impl Fn(&T, &mut String)) {
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            text.push_str(between);
        }
        write(part, text);
    }
}

fn write_single(formula: &Formula, text: &mut String) {
    match &formula.kind {
        FormulaKind::True => text.push_str("true"),
        FormulaKind::False => text.push_str("false"),
        FormulaKind::Atom(relation, arguments) => {
            text.push_str(&format!("{}({})", relation.text, names(arguments)));
        }
        FormulaKind::Same(left, right) => text.push_str(&format!("{} = {}", left.text, right.text)),
        FormulaKind::Differ(left, right) => {
            text.push_str(&format!("{} != {}", left.text, right.text));
        }
        FormulaKind::Member(element, set) => {
            text.push_str(&format!("{} in {}", element.text, set.text));
        }
        FormulaKind::Compare(left, comparison, right) => {
            write_term(left, text);
            text.push_str(match comparison {
                Comparison::Less => " < ",
                Comparison::AtMost => " <= ",
                Comparison::Equal => " = ",
                Comparison::Unequal => " != ",
                Comparison::AtLeast => " >= ",
                Comparison::Greater => " > ",
            });
            write_term(right, text);
        }
        FormulaKind::Not(inner) => {
            text.push_str("not ");
            write_single(inner, text);
        }
        FormulaKind::And(_) | FormulaKind::Or(_) | FormulaKind::Let { .. } => {
            text.push('(');
            match &formula.kind {
                FormulaKind::Let { relation, parameters, definition, body } => {
                    text.push_str(&format!("let {}({}) = ", relation.text, names(parameters)));
                    write_formula(definition, text);
                    text.push_str(" in ");
                    write_formula(body, text);
                }
                _ => write_formula(formula, text),
            }
            text.push(')');
        }
        FormulaKind::Exists(variables, body) => quantified("ex", variables, body, text),
        FormulaKind::All(variables, body) => quantified("all", variables, body, text),
        FormulaKind::Fixpoint { is_least, relation, parameters, body, arguments } => {
            let word = if *is_least { "lfp" } else { "gfp" };
            let start = format!("{word} {}({}) = ", relation.text, names(parameters));
            asked(&start, body, arguments.as_deref(), text);
        }
        FormulaKind::Closure { bound, from, to, body, arguments } => {
            let bound = bound.map_or(String::new(), |(bound, _)| format!("{bound} "));
            asked(
                &format!("tc {bound}{}, {} ", from.text, to.text),
                body,
                arguments.as_deref(),
                text,
            );
        }
    }
}

/// Prints a fixed point or closure, with its arguments if they are written.
fn asked(
    start: &str,
    body: &Formula,
    arguments: Option<&[crate::syntax::Name]>,
    text: &mut String,
) {
    if arguments.is_some() {
        text.push('(');
    }
    text.push_str(start);
    write_single(body, text);
    if let Some(arguments) = arguments {
        text.push_str(&format!(")({})", names(arguments)));
    }
}

fn quantified(word: &str, variables: &[crate::syntax::Name], body: &Formula, text: &mut String) {
    text.push_str(&format!("{word} {} ", names(variables)));
    // `ex x x = y` would be hard to read.
    if matches!(
        body.kind,
        FormulaKind::Same(..)
            | FormulaKind::Differ(..)
            | FormulaKind::Member(..)
            | FormulaKind::Compare(..)
    ) {
        text.push('(');
        write_single(body, text);
        text.push(')');
    } else {
        write_single(body, text);
    }
}

/// Prints a term.
pub(super) fn write_term(term: &Term, text: &mut String) {
    match &term.kind {
        TermKind::Sum(first, rest) => {
            write_product(first, text);
            for (sign, part) in rest {
                text.push_str(match sign {
                    SumSign::Plus => " + ",
                    SumSign::Minus => " - ",
                });
                write_product(part, text);
            }
        }
        _ => write_product(term, text),
    }
}

fn write_product(term: &Term, text: &mut String) {
    match &term.kind {
        TermKind::Product(first, rest) => {
            write_power(first, text);
            for (sign, part) in rest {
                text.push_str(match sign {
                    ProductSign::Times => " * ",
                    ProductSign::Over => " / ",
                });
                write_power(part, text);
            }
        }
        _ => write_power(term, text),
    }
}

fn write_power(term: &Term, text: &mut String) {
    match &term.kind {
        TermKind::Negative(inner) => {
            text.push('-');
            // `--` separates the ends of an interval.
            match inner.kind {
                TermKind::Negative(_) => write_base(inner, text),
                _ => write_power(inner, text),
            }
        }
        TermKind::Power(base, exponent) => {
            write_base(base, text);
            text.push_str(" ^ ");
            write_power(exponent, text);
        }
        _ => write_base(term, text),
    }
}

fn write_base(term: &Term, text: &mut String) {
    match &term.kind {
        TermKind::Number(number) => text.push_str(&number.text),
        TermKind::Value(function, order, argument) => {
            let strokes = "'".repeat(*order as usize);
            text.push_str(&format!(":{}{strokes}({})", function.text, argument.text));
        }
        TermKind::Apply(function, arguments) => {
            text.push_str(&format!("{}(", function.text));
            for (place, argument) in arguments.iter().enumerate() {
                if place > 0 {
                    text.push_str(", ");
                }
                write_term(argument, text);
            }
            text.push(')');
        }
        TermKind::Least(name, body) => {
            text.push_str(&format!("min :{} (", name.text));
            write_formula(body, text);
            text.push(')');
        }
        TermKind::Variable(name) => text.push_str(&format!(":{}", name.text)),
        TermKind::Index(name) => text.push_str(&format!("&{}", name.text)),
        TermKind::Indicator(formula) => {
            text.push_str(":(");
            write_formula(formula, text);
            text.push(')');
        }
        TermKind::Aggregate { aggregate, variables, guard, value } => {
            let word = match aggregate {
                Aggregate::Sum => "Sum",
                Aggregate::Prod => "Prod",
                Aggregate::Min => "Min",
                Aggregate::Max => "Max",
            };
            text.push_str(&format!("{word} ({} | ", names(variables)));
            write_formula(guard, text);
            text.push_str(" : ");
            write_term(value, text);
            text.push(')');
        }
        TermKind::Let(name, value, body) => {
            text.push_str(&format!("(let :{} = ", name.text));
            write_term(value, text);
            text.push_str(" in ");
            write_term(body, text);
            text.push(')');
        }
        TermKind::Negative(_) | TermKind::Sum(..) | TermKind::Product(..) | TermKind::Power(..) => {
            text.push('(');
            write_term(term, text);
            text.push(')');
        }
    }
}
