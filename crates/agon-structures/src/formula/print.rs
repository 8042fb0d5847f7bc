//! Prints formulas in the syntax of Toss, with only the parentheses that are needed.
//!
//! Binding strength of formulas, from loose to tight: `let … in` (as far to the right as possible)
//! and `lfp`/`gfp`, then `or`, `and`, then `not`, `ex`, `all` and `tc` (only the next part). Of
//! terms: `let`, `+ -`, `* /`, `^`. `^` associates to the right, the others to the left. A fixed
//! point or closure with other arguments than its own variables is written `(lfp R(x) = phi)(y)`,
//! `(tc x, y phi)(u, v)`.

use std::fmt;

use super::{Argument, Extreme, Fold, Formula, Operator, RealFunction, Sign, Term, Variable};

/// The binding strength at the place where a formula is printed.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Loose,
    Or,
    And,
    Prefix,
}

/// The binding strength at the place where a term is printed.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum TermPlace {
    Loose,
    Sum,
    Product,
    Power,
    Tight,
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        formula(f, self, Place::Loose)
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        formula(f, self, Place::Loose)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        term(f, self, TermPlace::Loose)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        term(f, self, TermPlace::Loose)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Variable(variable) => write!(f, "{variable}"),
            Argument::Constant(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sign::Equal => "=",
            Sign::Unequal => "!=",
            Sign::Less => "<",
            Sign::AtMost => "<=",
            Sign::Greater => ">",
            Sign::AtLeast => ">=",
        })
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fold::Sum => "Sum",
            Fold::Product => "Prod",
            Fold::Min => "Min",
            Fold::Max => "Max",
        })
    }
}

fn listed<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (place, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if place == 0 { "" } else { ", " })?;
    }
    Ok(())
}

fn formula(f: &mut fmt::Formatter<'_>, shown: &Formula, place: Place) -> fmt::Result {
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        let own = match shown {
            Formula::Or(parts) if parts.len() > 1 => Place::Or,
            Formula::And(parts) if parts.len() > 1 => Place::And,
            Formula::Let(_) => Place::Loose,
            Formula::Fix(fix) if asks_itself(&fix.arguments, &fix.variables) => Place::Loose,
            _ => Place::Prefix,
        };
        // A comparison directly after `ex x` would be hard to read.
        let bare = match shown {
            Formula::Compare(..) | Formula::Equal(..) | Formula::Member(..) => {
                place == Place::Prefix
            }
            Formula::Not(inner) => place == Place::Prefix && matches!(**inner, Formula::Equal(..)),
            _ => false,
        };
        if own < place || bare {
            write!(f, "(")?;
            unparenthesised(f, shown)?;
            write!(f, ")")
        } else {
            unparenthesised(f, shown)
        }
    })
}

fn asks_itself(arguments: &[Argument], variables: &[Variable]) -> bool {
    arguments.len() == variables.len()
        && arguments
            .iter()
            .zip(variables)
            .all(|(argument, variable)| argument.variable() == Some(variable))
}

fn unparenthesised(f: &mut fmt::Formatter<'_>, shown: &Formula) -> fmt::Result {
    match shown {
        Formula::Relation(name, arguments) => {
            write!(f, "{name}(")?;
            listed(f, arguments)?;
            write!(f, ")")
        }
        Formula::Equal(left, right) => write!(f, "{left} = {right}"),
        Formula::Member(element, set) => write!(f, "{element} in {set}"),
        Formula::Compare(left, sign, right) => {
            term(f, left, TermPlace::Sum)?;
            write!(f, " {sign} ")?;
            term(f, right, TermPlace::Sum)
        }
        Formula::Not(inner) => {
            if let Formula::Equal(left, right) = &**inner {
                return write!(f, "{left} != {right}");
            }
            write!(f, "not ")?;
            formula(f, inner, Place::Prefix)
        }
        Formula::And(parts) => joined(f, parts, "true", " and ", Place::And),
        Formula::Or(parts) => joined(f, parts, "false", " or ", Place::Or),
        Formula::Exists(variables, inner) => quantified(f, "ex", variables, inner),
        Formula::All(variables, inner) => quantified(f, "all", variables, inner),
        Formula::Fix(fix) => {
            let own = asks_itself(&fix.arguments, &fix.variables);
            let keyword = match fix.extreme {
                Extreme::Least => "lfp",
                Extreme::Greatest => "gfp",
            };
            write!(f, "{}{keyword} {}(", if own { "" } else { "(" }, fix.relation)?;
            listed(f, &fix.variables)?;
            write!(f, ") = ")?;
            // In parentheses unless it is one part, so that its extent is clear.
            formula(f, &fix.body, Place::Prefix)?;
            if own { Ok(()) } else { asked(f, &fix.arguments) }
        }
        Formula::Closure(closure) => {
            let variables = [closure.from.clone(), closure.to.clone()];
            let own = asks_itself(&closure.arguments, &variables);
            write!(f, "{}tc ", if own { "" } else { "(" })?;
            if let Some(bound) = closure.bound {
                write!(f, "{bound} ")?;
            }
            write!(f, "{}, {} ", closure.from, closure.to)?;
            formula(f, &closure.body, Place::Prefix)?;
            if own { Ok(()) } else { asked(f, &closure.arguments) }
        }
        Formula::Let(local) => {
            write!(f, "let {}(", local.relation)?;
            listed(f, &local.variables)?;
            write!(f, ") = ")?;
            formula(f, &local.definition, Place::Loose)?;
            write!(f, " in ")?;
            formula(f, &local.body, Place::Loose)
        }
    }
}

fn asked(f: &mut fmt::Formatter<'_>, arguments: &[Argument]) -> fmt::Result {
    write!(f, ")(")?;
    listed(f, arguments)?;
    write!(f, ")")
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    parts: &[Formula],
    none: &str,
    word: &str,
    place: Place,
) -> fmt::Result {
    match parts {
        [] => f.write_str(none),
        // One part alone needs no connective; its parentheses separate it from the context.
        [part] => formula(f, part, Place::Prefix),
        _ => {
            // A nested list of the same kind keeps its parentheses.
            let inner = if place == Place::Or { Place::And } else { Place::Prefix };
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    f.write_str(word)?;
                }
                // Comparisons need no parentheses between `and`s.
                let bare = matches!(
                    part,
                    Formula::Compare(..) | Formula::Equal(..) | Formula::Member(..)
                ) || matches!(part, Formula::Not(inner) if matches!(**inner, Formula::Equal(..)));
                formula(f, part, if bare { Place::Loose } else { inner })?;
            }
            Ok(())
        }
    }
}

fn quantified(
    f: &mut fmt::Formatter<'_>,
    word: &str,
    variables: &[Variable],
    inner: &Formula,
) -> fmt::Result {
    write!(f, "{word} ")?;
    listed(f, variables)?;
    write!(f, " ")?;
    formula(f, inner, Place::Prefix)
}

fn term(f: &mut fmt::Formatter<'_>, shown: &Term, place: TermPlace) -> fmt::Result {
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        let own = match shown {
            Term::Let(..) => TermPlace::Loose,
            Term::Binary(Operator::Plus | Operator::Minus, ..) => TermPlace::Sum,
            Term::Binary(Operator::Times | Operator::Divide, ..) => TermPlace::Product,
            Term::Binary(Operator::Power, ..) => TermPlace::Power,
            // A sign or a fraction bar must not be split by the context.
            Term::Number(number) if number.signum() < 0 || number.to_string().contains('/') => {
                TermPlace::Sum
            }
            _ => TermPlace::Tight,
        };
        let parentheses = own < place;
        if parentheses {
            write!(f, "(")?;
        }
        match shown {
            Term::Number(number) => write!(f, "{number}"),
            Term::Variable(variable) => write!(f, "{variable}"),
            Term::ElementNumber(argument) => write!(f, "&{argument}"),
            Term::Function(name, argument) => write!(f, ":{name}({argument})"),
            Term::Characteristic(inner) => {
                write!(f, ":(")?;
                formula(f, inner, Place::Loose)?;
                write!(f, ")")
            }
            Term::Binary(operator, left, right) => {
                let (sign, left_place, right_place) = match operator {
                    Operator::Plus => (" + ", TermPlace::Sum, TermPlace::Product),
                    Operator::Minus => (" - ", TermPlace::Sum, TermPlace::Product),
                    Operator::Times => (" * ", TermPlace::Product, TermPlace::Power),
                    Operator::Divide => (" / ", TermPlace::Product, TermPlace::Power),
                    Operator::Power => (" ^ ", TermPlace::Tight, TermPlace::Power),
                };
                term(f, left, left_place)?;
                f.write_str(sign)?;
                term(f, right, right_place)
            }
            Term::Aggregate(aggregate) => {
                write!(f, "{} (", aggregate.fold)?;
                listed(f, &aggregate.variables)?;
                write!(f, " | ")?;
                formula(f, &aggregate.guard, Place::Loose)?;
                write!(f, " : ")?;
                term(f, &aggregate.term, TermPlace::Loose)?;
                write!(f, ")")
            }
            Term::Let(variable, value, body) => {
                write!(f, "let {variable} = ")?;
                term(f, value, TermPlace::Sum)?;
                write!(f, " in ")?;
                term(f, body, TermPlace::Loose)
            }
            Term::Least(variable, inner) => {
                write!(f, "min {variable} (")?;
                formula(f, inner, Place::Loose)?;
                write!(f, ")")
            }
            Term::Apply(function, arguments) => {
                write!(f, "{}(", function.name())?;
                if let RealFunction::Root(degree) = function
                    && *degree != 2
                {
                    write!(f, "{degree}, ")?;
                }
                for (place, argument) in arguments.iter().enumerate() {
                    f.write_str(if place == 0 { "" } else { ", " })?;
                    term(f, argument, TermPlace::Loose)?;
                }
                write!(f, ")")
            }
        }?;
        if parentheses { write!(f, ")") } else { Ok(()) }
    })
}
