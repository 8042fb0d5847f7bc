//! Evaluation functions as sentences, and taken apart.

use agon_logic::formula::{Aggregate, Fold, Operator, Term, Variable};

/// The addends of a term, those that are taken away with a minus sign (-1) before them.
pub fn addends(term: &Term) -> Vec<(i32, &Term)> {
    let mut found = Vec::new();
    collect(term, 1, &mut found);
    found
}

fn collect<'t>(term: &'t Term, sign: i32, found: &mut Vec<(i32, &'t Term)>) {
    match term {
        Term::Binary(Operator::Plus, left, right) => {
            collect(left, sign, found);
            collect(right, sign, found);
        }
        Term::Binary(Operator::Minus, left, right) => {
            collect(left, sign, found);
            collect(right, -sign, found);
        }
        other => found.push((sign, other)),
    }
}

/// The term in words: a line for each thing that counts, indented below what it is a part of.
pub fn in_words(term: &Term) -> Vec<String> {
    let mut lines = Vec::new();
    for (sign, addend) in addends(term) {
        let start = if sign < 0 { "less, " } else { "" };
        say(addend, start, 0, &mut lines);
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
            let counts: Vec<String> = plain.iter().map(|(sign, part)| signed(*sign, part)).collect();
            let counts = if counts.is_empty() { "0".to_owned() } else { counts.join(" + ") };
            lines.push(format!("{indent}{start}for {}: {counts}", every(aggregate)));
            for (sign, part) in further {
                let start = if sign < 0 { "less, " } else { "and further, " };
                say(part, start, depth + 1, lines);
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

fn signed(sign: i32, term: &Term) -> String {
    if sign < 0 { format!("-({})", plainly(term)) } else { plainly(term) }
}

/// A number, or how many of some formulas hold, perhaps to a power.
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
        .map(|(sign, part)| match part {
            Term::Characteristic(formula) if *sign > 0 => Some(formula.to_string()),
            _ => None,
        })
        .collect();
    match formulas?.as_slice() {
        [one] => Some(format!("1 if {one}")),
        many => Some(format!("how many of {} hold", many.join(", "))),
    }
}
