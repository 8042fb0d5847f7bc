//! Evaluation functions in words, and as lists of addends.

use agon_structures::formula::{Aggregate, Fold, Operator, Term, Variable};
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
    let mut lines = Vec::new();
    for (factor, addend) in addends(term) {
        let is_number = matches!(addend, Term::Number(_));
        let start = match (factor == Rational::whole(1), factor == Rational::whole(-1)) {
            (true, _) => String::new(),
            (_, true) => "less, ".to_owned(),
            _ if is_number => format!("{factor} times "),
            _ => format!("{factor} times, "),
        };
        say(addend, &start, 0, &mut lines);
    }
    lines
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
        Term::Characteristic(formula) => lines.push(format!("{indent}{start}1 if {formula}")),
        other => lines.push(format!("{indent}{start}{}", plainly(other))),
    }
}

fn every(aggregate: &Aggregate) -> String {
    let names: Vec<&str> = aggregate.variables.iter().map(Variable::name).collect();
    if aggregate.guard.is_truth() {
        format!("every {}", names.join(", "))
    } else {
        format!("every {} with {}", names.join(", "), aggregate.guard)
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
                Some(formula.to_string())
            }
            _ => None,
        })
        .collect();
    match formulas?.as_slice() {
        [one] => Some(format!("1 if {one}")),
        many => Some(format!("how many of {} hold", many.join(", "))),
    }
}
