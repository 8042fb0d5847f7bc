//! Evaluation functions in words, and as lists of addends.

use agon_structures::formula::{Aggregate, Fold, Formula, Operator, Term, Variable};
use agon_structures::rational::Rational;

/// Returns the addends of a term, each with its factor.
pub fn addends(term: &Term) -> Vec<(Rational, &Term)> {
    let mut found = Vec::new();
    collect(term, Rational::whole(1), &mut found);
    found
}

fn collect<'t>(term: &'t Term, factor: Rational, found: &mut Vec<(Rational, &'t Term)>) {
    match term {
        Term::Binary(Operator::Plus, left, right) => {
            collect(left, factor, found);
            collect(right, factor, found);
        }
        Term::Binary(Operator::Minus, left, right) => {
            collect(left, factor, found);
            collect(right, factor.negated(), found);
        }
        Term::Binary(Operator::Times, left, right) => match (&**left, &**right) {
            (Term::Number(number), other) | (other, Term::Number(number)) => {
                match factor.times(*number) {
                    Ok(factor) => collect(other, factor, found),
                    Err(_) => found.push((factor, term)),
                }
            }
            _ => found.push((factor, term)),
        },
        other => found.push((factor, other)),
    }
}

/// Returns the term in words: a line for each addend, with the parts of an addend indented below
/// it.
pub fn in_words(term: &Term) -> Vec<String> {
    addends(term).into_iter().flat_map(|(factor, addend)| addend_in_words(factor, addend)).collect()
}

/// Returns an addend with its factor in words: a line, and further lines for its parts.
pub fn addend_in_words(factor: Rational, addend: &Term) -> Vec<String> {
    let is_number = matches!(addend, Term::Number(_));
    let start = match (factor == Rational::whole(1), factor == Rational::whole(-1)) {
        (true, _) => String::new(),
        (_, true) => "less, ".to_owned(),
        _ if is_number => format!("{factor} times "),
        _ => format!("{factor} times, "),
    };
    let mut lines = Vec::new();
    say(addend, &start, 0, &mut lines);
    lines
}

/// Returns a formula in words. What has no simple words keeps its notation.
pub fn formula_in_words(formula: &Formula) -> String {
    let names = |variables: &[Variable]| {
        variables.iter().map(Variable::name).collect::<Vec<_>>().join(", ")
    };
    let verb = |variables: &[Variable]| if variables.len() == 1 { "has" } else { "have" };
    match formula {
        Formula::Not(inner) => match &**inner {
            Formula::Relation(..) | Formula::Member(..) => format!("not {inner}"),
            Formula::Equal(left, right) => format!("{left} is not {right}"),
            Formula::Exists(variables, inner) => {
                let verb = verb(variables);
                format!("no {} {verb} {}", names(variables), formula_in_words(inner))
            }
            other => format!("not ({})", formula_in_words(other)),
        },
        Formula::Equal(left, right) => format!("{left} is {right}"),
        Formula::And(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| in_place(part, true)).collect();
            parts.join(" and ")
        }
        Formula::Or(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| in_place(part, false)).collect();
            parts.join(" or ")
        }
        Formula::Exists(variables, inner) => {
            format!("some {} {} {}", names(variables), verb(variables), formula_in_words(inner))
        }
        Formula::All(variables, inner) => match &**inner {
            Formula::Not(inner) => {
                let verb = verb(variables);
                format!("no {} {verb} {}", names(variables), formula_in_words(inner))
            }
            Formula::Or(parts) if parts.iter().any(|part| matches!(part, Formula::Not(_))) => {
                implication(&names(variables), parts)
            }
            inner => format!("{} for every {}", in_place(inner, true), names(variables)),
        },
        other => other.to_string(),
    }
}

/// Returns a disjunction with negated parts in words, for all values of variables: every thing with
/// what is negated has one of the others.
fn implication(names: &str, parts: &[Formula]) -> String {
    let mut given = Vec::new();
    let mut wanted = Vec::new();
    for part in parts {
        match part {
            Formula::Not(inner) => given.push(in_place(inner, true)),
            other => wanted.push(in_place(other, false)),
        }
    }
    match wanted.is_empty() {
        true => format!("no {names} has {}", given.join(" and ")),
        false => {
            format!("for every {names} with {}: {}", given.join(" and "), wanted.join(" or "))
        }
    }
}

/// Returns a part of a conjunction or disjunction in words, in brackets where it would be
/// misunderstood.
fn in_place(formula: &Formula, is_in_and: bool) -> String {
    let text = formula_in_words(formula);
    match formula {
        Formula::Or(_) if is_in_and => format!("({text})"),
        Formula::Exists(..) | Formula::All(..) => format!("({text})"),
        Formula::Not(inner) if matches!(**inner, Formula::Exists(..)) => format!("({text})"),
        _ => text,
    }
}

fn say(term: &Term, start: &str, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    match term {
        Term::Aggregate(aggregate) if aggregate.fold == Fold::Sum => {
            let own = addends(&aggregate.term);
            let (plain, further): (Vec<_>, Vec<_>) =
                own.into_iter().partition(|(_, part)| !matches!(part, Term::Aggregate(_)));
            // A count of formulas is described as a whole.
            let counts = if further.is_empty() {
                plainly(&aggregate.term)
            } else {
                let counts: Vec<String> =
                    plain.iter().map(|(factor, part)| scaled(*factor, part)).collect();
                if counts.is_empty() { "0".to_owned() } else { counts.join(" + ") }
            };
            lines.push(format!("{indent}{start}for {}: {counts}", every(aggregate)));
            for (factor, part) in further {
                let start = if factor == Rational::whole(1) {
                    "and further, ".to_owned()
                } else {
                    format!("and further {factor} times, ")
                };
                say(part, &start, depth + 1, lines);
            }
        }
        Term::Characteristic(formula) => {
            lines.push(format!("{indent}{start}1 if {}", formula_in_words(formula)));
        }
        other => lines.push(format!("{indent}{start}{}", plainly(other))),
    }
}

fn every(aggregate: &Aggregate) -> String {
    let names: Vec<&str> = aggregate.variables.iter().map(Variable::name).collect();
    if aggregate.guard.is_truth() {
        format!("every {}", names.join(", "))
    } else {
        format!("every {} with {}", names.join(", "), formula_in_words(&aggregate.guard))
    }
}

fn scaled(factor: Rational, term: &Term) -> String {
    if factor == Rational::whole(1) {
        plainly(term)
    } else {
        format!("{factor} * ({})", plainly(term))
    }
}

/// Returns the text of a number or of a count of formulas, possibly raised to a power.
fn plainly(term: &Term) -> String {
    if let Term::Binary(Operator::Power, base, exponent) = term
        && let Some(count) = how_many(base)
    {
        return format!("{count}, to the power of {exponent}");
    }
    how_many(term).unwrap_or_else(|| term.to_string())
}

fn how_many(term: &Term) -> Option<String> {
    let parts = addends(term);
    let formulas: Option<Vec<String>> = parts
        .iter()
        .map(|(factor, part)| match part {
            Term::Characteristic(formula) if *factor == Rational::whole(1) => {
                Some(formula_in_words(formula))
            }
            _ => None,
        })
        .collect();
    match formulas?.as_slice() {
        [one] => Some(format!("1 if {one}")),
        many => Some(format!("how many of {} hold", many.join(", "))),
    }
}
