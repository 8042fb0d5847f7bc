//! Formulas of evaluation games as conditions that are evaluated on the bits of two states.

use std::collections::BTreeMap;

use agon_structures::formula::{Argument, Formula, Sort, Variable};

use super::conjunction::{Conjunction, Literal, MAX_VARIABLES, Matcher, When};
use super::view::{OLD, View};

/// A Boolean combination of existentially quantified conjunctions.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Exists(Matcher),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
}

impl Condition {
    /// Returns a closed formula as a condition, or `None` if it has another form.
    pub(super) fn of(formula: &Formula, view: &View) -> Option<Condition> {
        let all = |parts: &[Formula]| -> Option<Vec<Condition>> {
            parts.iter().map(|part| Condition::of(part, view)).collect()
        };
        match formula {
            Formula::Not(inner) => Some(Condition::Not(Box::new(Condition::of(inner, view)?))),
            Formula::And(parts) => Some(Condition::And(all(parts)?)),
            Formula::Or(parts) => Some(Condition::Or(all(parts)?)),
            Formula::Exists(..) | Formula::Relation(..) => {
                let mut variables = BTreeMap::new();
                let mut conjunction = Conjunction::default();
                collect(formula, view, &mut variables, &mut conjunction)?;
                conjunction.n_variables = variables.len() as u8;
                conjunction.literals.sort_unstable();
                Some(Condition::Exists(Matcher::new(&conjunction, view)))
            }
            _ => None,
        }
    }

    /// Returns whether the condition holds of a move from one state to another.
    pub(super) fn holds(&self, view: &View, before: &[u64], after: &[u64]) -> bool {
        match self {
            Condition::Exists(matcher) => matcher.holds(view, before, after),
            Condition::Not(inner) => !inner.holds(view, before, after),
            Condition::And(parts) => parts.iter().all(|part| part.holds(view, before, after)),
            Condition::Or(parts) => parts.iter().any(|part| part.holds(view, before, after)),
        }
    }
}

/// Adds the literals of a conjunction. Each quantifier must bind a new name, so that all of them
/// can be moved to the front.
fn collect(
    formula: &Formula,
    view: &View,
    variables: &mut BTreeMap<Variable, u8>,
    conjunction: &mut Conjunction,
) -> Option<()> {
    match formula {
        Formula::Exists(bound, body) => {
            for variable in bound {
                let number = variables.len();
                let is_new = variables.insert(variable.clone(), number as u8).is_none();
                if !is_new || number >= MAX_VARIABLES || variable.sort() != Sort::Element {
                    return None;
                }
            }
            collect(body, view, variables, conjunction)
        }
        Formula::And(parts) => {
            parts.iter().try_for_each(|part| collect(part, view, variables, conjunction))
        }
        Formula::Relation(..) => {
            conjunction.literals.push(literal(formula, true, view, variables)?);
            Some(())
        }
        Formula::Not(inner) => {
            conjunction.literals.push(literal(inner, false, view, variables)?);
            Some(())
        }
        _ => None,
    }
}

fn literal(
    atom: &Formula,
    is_positive: bool,
    view: &View,
    variables: &BTreeMap<Variable, u8>,
) -> Option<Literal> {
    let Formula::Relation(name, arguments) = atom else { return None };
    let find = |name: &str| view.relations.iter().position(|relation| relation.name == name);
    let (relation, when) = match find(name) {
        Some(relation) => (relation, When::Now),
        None => (find(name.strip_suffix(OLD)?)?, When::Before),
    };
    let number = |argument: &Argument| variables.get(argument.variable()?).copied();
    let arguments: Vec<u8> = arguments.iter().map(number).collect::<Option<_>>()?;
    let fits = arguments.len() == view.relations[relation].arity && arguments.len() <= 8;
    fits.then_some(Literal { relation, when, is_positive, arguments })
}
