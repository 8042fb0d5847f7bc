//! The intermediate formulas between GDL and structure rewriting. Variables range over ground
//! terms, and ground terms may occur themselves.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

/// A variable. No two quantifiers of a translation share one.
pub(super) type Var = u32;

/// An argument of an atom.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Val {
    Var(Var),
    Term(TermId),
}

impl Val {
    /// Returns the term, if the value is one.
    pub(super) fn term(self) -> Option<TermId> {
        match self {
            Val::Term(term) => Some(term),
            Val::Var(_) => None,
        }
    }
}

/// A relation: an index into the table of its kind.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Relation {
    /// A predicate of the state.
    Fluent(usize),
    /// A relation that never changes.
    Static(usize),
    /// A relation that is defined by a formula.
    Defined(usize),
}

/// A formula. True and false are the empty conjunction and the empty disjunction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Form {
    Atom(Relation, Vec<Val>),
    Same(Val, Val),
    /// The element number of the first argument is smaller.
    Before(Val, Val),
    /// A condition on the simultaneous move of another role.
    Foreign,
    Not(Box<Form>),
    And(Vec<Form>),
    Or(Vec<Form>),
    Ex(Vec<Var>, Box<Form>),
}

pub(super) const TRUE: Form = Form::And(Vec::new());
pub(super) const FALSE: Form = Form::Or(Vec::new());

/// Returns the conjunction: flat, without duplicates, false if one part is false.
pub(super) fn and(parts: impl IntoIterator<Item = Form>) -> Form {
    let mut flat: Vec<Form> = Vec::new();
    for part in parts {
        match part {
            Form::And(inner) => {
                for part in inner {
                    if !flat.contains(&part) {
                        flat.push(part);
                    }
                }
            }
            Form::Or(inner) if inner.is_empty() => return FALSE,
            other if flat.contains(&other) => {}
            other => flat.push(other),
        }
    }
    if flat.iter().any(|part| matches!(part, Form::Not(inner) if flat.contains(inner))) {
        return FALSE;
    }
    if flat.len() == 1 { flat.remove(0) } else { Form::And(flat) }
}

/// Returns the disjunction: flat, without duplicates, true if one part is true.
pub(super) fn or(parts: impl IntoIterator<Item = Form>) -> Form {
    let mut flat: Vec<Form> = Vec::new();
    for part in parts {
        match part {
            Form::Or(inner) => {
                for part in inner {
                    if !flat.contains(&part) {
                        flat.push(part);
                    }
                }
            }
            Form::And(inner) if inner.is_empty() => return TRUE,
            other if flat.contains(&other) => {}
            other => flat.push(other),
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Form::Or(flat) }
}

/// Returns the negation.
pub(super) fn not(form: Form) -> Form {
    match form {
        Form::Not(inner) => *inner,
        Form::And(parts) if parts.is_empty() => FALSE,
        Form::Or(parts) if parts.is_empty() => TRUE,
        other => Form::Not(Box::new(other)),
    }
}

/// Returns the equality of two values.
pub(super) fn same(a: Val, b: Val) -> Form {
    match (a, b) {
        (a, b) if a == b => TRUE,
        (Val::Term(_), Val::Term(_)) => FALSE,
        (a, b) => Form::Same(a.min(b), a.max(b)),
    }
}

/// Returns the existential quantification. Equations are solved, and parts without the variables
/// are moved out.
pub(super) fn ex(variables: &[Var], form: Form) -> Form {
    let mut form = form;
    let mut left: Vec<Var> = variables.to_vec();
    if let Form::Or(parts) = form {
        return or(parts.into_iter().map(|part| ex(variables, part)));
    }
    // An equation between a variable and a value determines the variable.
    loop {
        let solved = match &form {
            Form::Same(a, b) => solution(&left, *a, *b),
            Form::And(parts) => parts.iter().find_map(|part| match part {
                Form::Same(a, b) => solution(&left, *a, *b),
                _ => None,
            }),
            _ => None,
        };
        let Some((variable, value)) = solved else { break };
        form = form.replace(&BTreeMap::from([(variable, value)]));
        left.retain(|&v| v != variable);
    }
    if let Form::Or(_) = form {
        return if left.len() < variables.len() { ex(&left, form) } else { form };
    }
    let free = form.free();
    left.retain(|v| free.contains(v));
    if left.is_empty() {
        return form;
    }
    if let Form::And(parts) = form {
        let (inside, outside): (Vec<Form>, Vec<Form>) =
            parts.into_iter().partition(|part| part.free().iter().any(|v| left.contains(v)));
        let inner = match and(inside) {
            Form::Ex(more, body) => {
                left.extend(more);
                Form::Ex(left, body)
            }
            other => Form::Ex(left, Box::new(other)),
        };
        return and(outside.into_iter().chain([inner]));
    }
    match form {
        Form::Ex(more, body) => {
            left.extend(more);
            Form::Ex(left, body)
        }
        other => Form::Ex(left, Box::new(other)),
    }
}

/// Removes the parts of a conjunction that other parts imply, such as an existential statement with
/// an explicit witness.
pub(super) fn without_implied(parts: Vec<Form>) -> Vec<Form> {
    let mut left: Vec<Form> = and(parts).conjuncts();
    let mut at = 0;
    while at < left.len() {
        let is_implied = match &left[at] {
            Form::Ex(variables, body) => {
                let wanted = match &**body {
                    Form::And(parts) => parts.clone(),
                    other => vec![other.clone()],
                };
                let others: Vec<&Form> = left
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| *place != at)
                    .map(|(_, part)| part)
                    .collect();
                is_witnessed(&wanted, variables, &others, &BTreeMap::new(), &mut 2000)
            }
            _ => false,
        };
        if is_implied {
            left.remove(at);
        } else {
            at += 1;
        }
    }
    left
}

/// Returns whether there are values of the variables for which each wanted part is among the
/// others.
fn is_witnessed(
    wanted: &[Form],
    variables: &[Var],
    others: &[&Form],
    found: &BTreeMap<Var, Val>,
    fuel: &mut usize,
) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    let first = first.replace(found);
    others.iter().any(|other| {
        let mut found = found.clone();
        let fits = match (&first, other) {
            (Form::Atom(relation, mine), Form::Atom(known, theirs)) => {
                relation == known
                    && mine.iter().zip(theirs).all(|(mine, theirs)| match mine {
                        Val::Var(v) if variables.contains(v) => {
                            *found.entry(*v).or_insert(*theirs) == *theirs
                        }
                        mine => mine == theirs,
                    })
            }
            (first, other) => first == *other,
        };
        // If no witness is found within the budget, a redundant condition remains, which is
        // harmless.
        *fuel = fuel.saturating_sub(1);
        fits && *fuel > 0 && is_witnessed(rest, variables, others, &found, fuel)
    })
}

fn solution(variables: &[Var], a: Val, b: Val) -> Option<(Var, Val)> {
    match (a, b) {
        (a, b) if a == b => None,
        (Val::Var(v), other) if variables.contains(&v) => Some((v, other)),
        (other, Val::Var(v)) if variables.contains(&v) => Some((v, other)),
        _ => None,
    }
}

impl Form {
    pub(super) fn is_true(&self) -> bool {
        matches!(self, Form::And(parts) if parts.is_empty())
    }

    pub(super) fn is_false(&self) -> bool {
        matches!(self, Form::Or(parts) if parts.is_empty())
    }

    /// Returns the parts of a conjunction, or the formula itself as the only part.
    pub(super) fn conjuncts(self) -> Vec<Form> {
        match self {
            Form::And(parts) => parts,
            other => vec![other],
        }
    }

    /// Returns the free variables.
    pub(super) fn free(&self) -> BTreeSet<Var> {
        let mut free = BTreeSet::new();
        self.add_free(&mut free);
        free
    }

    fn add_free(&self, free: &mut BTreeSet<Var>) {
        let mut note = |val: &Val| {
            if let Val::Var(v) = val {
                free.insert(*v);
            }
        };
        match self {
            Form::Atom(_, arguments) => arguments.iter().for_each(note),
            Form::Same(a, b) | Form::Before(a, b) => {
                note(a);
                note(b);
            }
            Form::Foreign => {}
            Form::Not(inner) => inner.add_free(free),
            Form::And(parts) | Form::Or(parts) => parts.iter().for_each(|part| part.add_free(free)),
            Form::Ex(variables, body) => {
                // No two quantifiers share a variable, so a bound variable is not free elsewhere.
                let mut inner = body.free();
                inner.retain(|v| !variables.contains(v));
                free.extend(inner);
            }
        }
    }

    /// Substitutes variables and simplifies the result.
    pub(super) fn replace(&self, by: &BTreeMap<Var, Val>) -> Form {
        let value = |val: &Val| match val {
            Val::Var(v) => by.get(v).copied().unwrap_or(*val),
            Val::Term(_) => *val,
        };
        match self {
            Form::Atom(relation, arguments) => {
                Form::Atom(*relation, arguments.iter().map(value).collect())
            }
            Form::Same(a, b) => same(value(a), value(b)),
            Form::Before(a, b) => Form::Before(value(a), value(b)),
            Form::Foreign => Form::Foreign,
            Form::Not(inner) => not(inner.replace(by)),
            Form::And(parts) => and(parts.iter().map(|part| part.replace(by))),
            Form::Or(parts) => or(parts.iter().map(|part| part.replace(by))),
            Form::Ex(variables, body) => ex(variables, body.replace(by)),
        }
    }

    /// Applies a function to every subformula, bottom-up.
    pub(super) fn rewrite(&self, change: &mut dyn FnMut(Form) -> Form) -> Form {
        let inner = match self {
            Form::Not(inner) => not(inner.rewrite(change)),
            Form::And(parts) => {
                and(parts.iter().map(|part| part.rewrite(change)).collect::<Vec<_>>())
            }
            Form::Or(parts) => {
                or(parts.iter().map(|part| part.rewrite(change)).collect::<Vec<_>>())
            }
            Form::Ex(variables, body) => ex(variables, body.rewrite(change)),
            Form::Same(a, b) => same(*a, *b),
            other => other.clone(),
        };
        change(inner)
    }

    /// Calls `visit` on every atom.
    pub(super) fn each_atom(&self, visit: &mut dyn FnMut(Relation, &[Val])) {
        match self {
            Form::Atom(relation, arguments) => visit(*relation, arguments),
            Form::Same(..) | Form::Before(..) | Form::Foreign => {}
            Form::Not(inner) | Form::Ex(_, inner) => inner.each_atom(visit),
            Form::And(parts) | Form::Or(parts) => {
                parts.iter().for_each(|part| part.each_atom(visit));
            }
        }
    }

    /// Renames bound variables to new ones, so that the formula can be used a second time.
    pub(super) fn renamed(&self, fresh: &mut dyn FnMut(Var) -> Var) -> Form {
        match self {
            Form::Ex(variables, body) => {
                let new: BTreeMap<Var, Val> =
                    variables.iter().map(|&v| (v, Val::Var(fresh(v)))).collect();
                let names = variables.iter().map(|v| match new[v] {
                    Val::Var(n) => n,
                    Val::Term(_) => *v,
                });
                let names: Vec<Var> = names.collect();
                Form::Ex(names, Box::new(body.renamed(fresh).replace(&new)))
            }
            Form::Not(inner) => Form::Not(Box::new(inner.renamed(fresh))),
            Form::And(parts) => Form::And(parts.iter().map(|part| part.renamed(fresh)).collect()),
            Form::Or(parts) => Form::Or(parts.iter().map(|part| part.renamed(fresh)).collect()),
            other => other.clone(),
        }
    }
}
