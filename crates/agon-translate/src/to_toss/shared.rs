//! Definitions of conditions that rules have in common.
//!
//! A move whose effect depends on the state has one rule for each case, and each rule repeats the
//! legality of the move and the conditions of the cases. As a definition, such a condition is
//! evaluated once in each state and printed once.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

use super::arena::Arena;
use super::domain::Domain;
use super::formula::{Form, Relation, Val, Var};
use super::lift::{Defined, Table};

/// Maximum number of free variables of a shared condition.
const MAX_WIDTH: usize = 6;

/// Maximum estimated number of tuples. A definition is evaluated as a whole, whatever a rule needs
/// of it.
const MAX_TUPLES: f64 = 20_000.0;

/// Assumed size of a relation without further information.
const SOME_TUPLES: f64 = 1000.0;

/// Names the conditions that occur several times in rules.
pub(super) fn share(arena: &mut Arena<'_>) {
    let mut counts: BTreeMap<Form, usize> = BTreeMap::new();
    for (_, _, translated_rule) in &arena.translated_rules {
        each_part(&translated_rule.condition, &mut |part| {
            *counts.entry(numbered(part).0).or_default() += 1;
        });
    }
    counts.retain(|_, count| *count > 1);
    let sizes = Sizes::of(arena);
    counts.retain(|form, _| sizes.is_worthwhile(form));
    let mut known: BTreeMap<Form, usize> = BTreeMap::new();
    let mut translated_rules = std::mem::take(&mut arena.translated_rules);
    for (_, _, translated_rule) in &mut translated_rules {
        let name = format!("{}_if", arena.lifter.symbol_name(translated_rule.functor.0));
        translated_rule.condition = replace_parts(&translated_rule.condition, &mut |part| {
            let (key, order) = numbered(part);
            if !counts.contains_key(&key) {
                return None;
            }
            let free = part.free();
            let arguments: Vec<Var> = order.into_iter().filter(|v| free.contains(v)).collect();
            let id = *known.entry(key).or_insert_with(|| {
                let mut by: BTreeMap<Var, Val> = BTreeMap::new();
                let mut parameters = Vec::new();
                for &v in &arguments {
                    let called = arena.lifter.names[v as usize].clone();
                    let parameter = arena.lifter.fresh(&called);
                    by.insert(v, Val::Var(parameter));
                    parameters.push(parameter);
                }
                // No two quantifiers share a variable, so the definition gets its own variables.
                let body = arena.lifter.renamed(part).replace(&by);
                arena.lifter.defined.push(Defined {
                    name: name.clone(),
                    parameters,
                    body,
                    is_recursive: false,
                });
                arena.lifter.defined.len() - 1
            });
            let arguments = arguments.into_iter().map(Val::Var).collect();
            Some(Form::Atom(Relation::Defined(id), arguments))
        });
    }
    arena.translated_rules = translated_rules;
}

/// Calls `visit` on the parts of a condition that could become relations.
fn each_part(form: &Form, visit: &mut dyn FnMut(&Form)) {
    match form {
        Form::Atom(..) | Form::Same(..) | Form::Before(..) | Form::Foreign => {}
        Form::Not(inner) => each_part(inner, visit),
        Form::And(parts) => parts.iter().for_each(|part| each_part(part, visit)),
        Form::Or(parts) => {
            visit(form);
            parts.iter().for_each(|part| each_part(part, visit));
        }
        Form::Ex(_, body) => {
            visit(form);
            each_part(body, visit);
        }
    }
}

/// Replaces parts of a condition, outermost first.
pub(super) fn replace_parts(form: &Form, change: &mut dyn FnMut(&Form) -> Option<Form>) -> Form {
    match form {
        Form::Atom(..) | Form::Same(..) | Form::Before(..) | Form::Foreign => form.clone(),
        Form::Not(inner) => Form::Not(Box::new(replace_parts(inner, change))),
        Form::And(parts) => {
            Form::And(parts.iter().map(|part| replace_parts(part, change)).collect())
        }
        Form::Or(parts) => change(form).unwrap_or_else(|| {
            Form::Or(parts.iter().map(|part| replace_parts(part, change)).collect())
        }),
        Form::Ex(variables, body) => change(form)
            .unwrap_or_else(|| Form::Ex(variables.clone(), Box::new(replace_parts(body, change)))),
    }
}

/// Numbers the variables of a formula in order of appearance, and returns them in that order.
/// Formulas that differ only in variable names become equal.
pub(super) fn numbered(form: &Form) -> (Form, Vec<Var>) {
    fn number(v: Var, order: &mut Vec<Var>, by: &mut BTreeMap<Var, Var>) -> Var {
        *by.entry(v).or_insert_with(|| {
            order.push(v);
            u32::try_from(order.len() - 1).unwrap_or(u32::MAX)
        })
    }
    fn value(val: &Val, order: &mut Vec<Var>, by: &mut BTreeMap<Var, Var>) -> Val {
        match val {
            Val::Var(v) => Val::Var(number(*v, order, by)),
            Val::Term(_) => *val,
        }
    }
    fn visit(form: &Form, order: &mut Vec<Var>, by: &mut BTreeMap<Var, Var>) -> Form {
        match form {
            Form::Atom(relation, arguments) => {
                Form::Atom(*relation, arguments.iter().map(|val| value(val, order, by)).collect())
            }
            Form::Same(a, b) => {
                let (a, b) = (value(a, order, by), value(b, order, by));
                Form::Same(a, b)
            }
            Form::Before(a, b) => {
                let (a, b) = (value(a, order, by), value(b, order, by));
                Form::Before(a, b)
            }
            Form::Foreign => Form::Foreign,
            Form::Not(inner) => Form::Not(Box::new(visit(inner, order, by))),
            Form::And(parts) => {
                Form::And(parts.iter().map(|part| visit(part, order, by)).collect())
            }
            Form::Or(parts) => Form::Or(parts.iter().map(|part| visit(part, order, by)).collect()),
            Form::Ex(variables, body) => {
                let body = visit(body, order, by);
                let mut bound: Vec<Var> = variables.iter().map(|&v| number(v, order, by)).collect();
                bound.sort_unstable();
                Form::Ex(bound, Box::new(body))
            }
        }
    }
    let (mut order, mut by) = (Vec::new(), BTreeMap::new());
    let form = visit(form, &mut order, &mut by);
    (form, order)
}

/// Estimated sizes of relations.
pub(super) struct Sizes<'a> {
    domain: &'a Domain,
    tables: &'a [Table],
    /// Average number of tuples of each predicate in a sampled state.
    fluents: Vec<f64>,
    n_elements: f64,
}

impl<'a> Sizes<'a> {
    pub(super) fn of(arena: &'a Arena<'_>) -> Sizes<'a> {
        let domain = arena.lifter.domain;
        let mut fluents = vec![0.0; domain.predicates.len()];
        for sample in &domain.samples {
            for (predicate, _) in sample.fluents.iter().filter_map(|&term| domain.place(term)) {
                fluents[predicate] += 1.0;
            }
        }
        let n_samples = domain.samples.len().max(1) as f64;
        fluents.iter_mut().for_each(|n| *n /= n_samples);
        let mut values: BTreeSet<TermId> = BTreeSet::new();
        for table in &arena.lifter.tables {
            values.extend(table.rows.iter().filter_map(|row| row.first()));
        }
        Sizes {
            domain,
            tables: &arena.lifter.tables,
            fluents,
            n_elements: values.len().max(1) as f64,
        }
    }

    /// Returns whether a formula has several atoms, binds all its variables and has few tuples.
    fn is_worthwhile(&self, form: &Form) -> bool {
        let mut n_atoms = 0;
        form.each_atom(&mut |_, _| n_atoms += 1);
        let free = form.free();
        n_atoms > 1
            && free.len() <= MAX_WIDTH
            && free.is_subset(&bound(form))
            && self.n_tuples(form, &mut BTreeSet::new()) <= MAX_TUPLES
    }

    /// Estimates the number of tuples that extend one assignment of the known variables. Marks the
    /// bound variables as known.
    pub(super) fn n_tuples(&self, form: &Form, known: &mut BTreeSet<Var>) -> f64 {
        match form {
            Form::Atom(relation, arguments) => {
                let n_rows = match relation {
                    Relation::Static(table) => self.tables[*table].rows.len() as f64,
                    Relation::Fluent(predicate) => {
                        let n_possible = self.domain.predicates[*predicate].rows.len() as f64;
                        self.fluents[*predicate].max(1.0).min(n_possible.max(1.0))
                    }
                    Relation::Defined(_) => SOME_TUPLES,
                };
                let is_given = |val: &&Val| match val {
                    Val::Var(v) => known.contains(v),
                    Val::Term(_) => true,
                };
                let n_given = arguments.iter().filter(is_given).count();
                // Assumes that the columns of a relation have equally many values.
                let n_values = f64::min(root(n_rows, arguments.len()), self.n_elements);
                let found = (0..n_given).fold(n_rows, |n, _| n / n_values);
                known.extend(form.free());
                found
            }
            Form::Same(..) | Form::Before(..) | Form::Foreign | Form::Not(_) => 1.0,
            Form::And(parts) => {
                // Takes the cheapest part next, as the evaluator does.
                let mut left: Vec<&Form> = parts.iter().collect();
                let mut n = 1.0;
                while !left.is_empty() {
                    let cost = |part: &Form| self.n_tuples(part, &mut known.clone());
                    let best =
                        (0..left.len()).min_by(|&a, &b| cost(left[a]).total_cmp(&cost(left[b])));
                    n *= self.n_tuples(left.remove(best.unwrap_or(0)), known);
                }
                n
            }
            Form::Or(parts) => {
                let before = known.clone();
                let n = parts.iter().map(|part| self.n_tuples(part, &mut before.clone())).sum();
                known.extend(form.free());
                n
            }
            Form::Ex(_, body) => self.n_tuples(body, known),
        }
    }
}

/// Returns the integer part of a root, at least one. Uses only multiplication, which gives the same
/// result on every machine.
fn root(n: f64, degree: usize) -> f64 {
    let power = |base: u32| (0..degree).fold(1.0, |product, _| product * f64::from(base));
    let (mut low, mut high) = (1, 1 << 24);
    while degree > 0 && high - low > 1 {
        let middle = low + (high - low) / 2;
        if power(middle) <= n { low = middle } else { high = middle }
    }
    f64::from(low)
}

/// Returns the variables that are bound by an atom wherever the formula holds.
pub(super) fn bound(form: &Form) -> BTreeSet<Var> {
    match form {
        Form::Atom(..) => form.free(),
        Form::Same(Val::Var(v), Val::Term(_)) | Form::Same(Val::Term(_), Val::Var(v)) => {
            BTreeSet::from([*v])
        }
        Form::Same(..) | Form::Before(..) | Form::Foreign | Form::Not(_) => BTreeSet::new(),
        Form::And(parts) => parts.iter().flat_map(bound).collect(),
        Form::Or(parts) => {
            let mut parts = parts.iter().map(bound);
            let first = parts.next().unwrap_or_default();
            parts.fold(first, |common, part| common.intersection(&part).copied().collect())
        }
        Form::Ex(variables, body) => {
            let mut inner = bound(body);
            inner.retain(|v| !variables.contains(v));
            inner
        }
    }
}
