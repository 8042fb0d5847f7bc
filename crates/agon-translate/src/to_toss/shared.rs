//! Conditions that rules have in common, as relations of their own.
//!
//! A move whose effect depends on the state has a rule for each case, and each rule says again when the move is legal and what each
//! condition asks. Said once, as a definition, such a condition is worked out once a state and is once in the text.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

use super::arena::Arena;
use super::domain::Domain;
use super::formula::{Form, Relation, Val, Var};
use super::lift::{Defined, Table};

/// So many elements a shared condition may be about.
const MAX_WIDTH: usize = 6;

/// So many tuples it may be expected to have: it is worked out as a whole, whatever a rule asks.
const MAX_TUPLES: f64 = 20_000.0;

/// What is supposed of a relation of which nothing is known.
const SOME_TUPLES: f64 = 1000.0;

/// Gives conditions that stand in several places of rules a name.
pub(super) fn share(arena: &mut Arena<'_>) {
    let mut counts: BTreeMap<Form, usize> = BTreeMap::new();
    for (_, _, ruling) in &arena.rulings {
        each_part(&ruling.condition, &mut |part| *counts.entry(numbered(part).0).or_default() += 1);
    }
    counts.retain(|_, count| *count > 1);
    let sizes = Sizes::of(arena);
    counts.retain(|form, _| sizes.is_worthwhile(form));
    let mut known: BTreeMap<Form, usize> = BTreeMap::new();
    let mut rulings = std::mem::take(&mut arena.rulings);
    for (_, _, ruling) in &mut rulings {
        let name = format!("{}_if", arena.lifter.symbol_name(ruling.functor.0));
        ruling.condition = parted(&ruling.condition, &mut |part| {
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
                // No two quantifiers share a variable, so the definition has variables of its own.
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
    arena.rulings = rulings;
}

/// Calls `visit` on the parts of a condition that could be relations.
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

/// The condition with parts replaced, outermost first.
pub(super) fn parted(form: &Form, change: &mut dyn FnMut(&Form) -> Option<Form>) -> Form {
    match form {
        Form::Atom(..) | Form::Same(..) | Form::Before(..) | Form::Foreign => form.clone(),
        Form::Not(inner) => Form::Not(Box::new(parted(inner, change))),
        Form::And(parts) => Form::And(parts.iter().map(|part| parted(part, change)).collect()),
        Form::Or(parts) => change(form)
            .unwrap_or_else(|| Form::Or(parts.iter().map(|part| parted(part, change)).collect())),
        Form::Ex(variables, body) => change(form)
            .unwrap_or_else(|| Form::Ex(variables.clone(), Box::new(parted(body, change)))),
    }
}

/// The formula with its variables numbered as they come, and the variables in that order: formulas that differ in names alone become the
/// same.
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

/// How many tuples relations have.
pub(super) struct Sizes<'a> {
    domain: &'a Domain,
    tables: &'a [Table],
    /// By predicate: in a sampled state.
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

    /// Whether it is no atom, has all its variables bound and not too many tuples.
    fn is_worthwhile(&self, form: &Form) -> bool {
        let mut n_atoms = 0;
        form.each_atom(&mut |_, _| n_atoms += 1);
        let free = form.free();
        n_atoms > 1
            && free.len() <= MAX_WIDTH
            && free.is_subset(&bound(form))
            && self.n_tuples(form, &mut BTreeSet::new()) <= MAX_TUPLES
    }

    /// About how many tuples extend one of what is known; what is bound then is known.
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
                // Columns have about as many values as there would be in a square.
                let n_values = f64::min(root(n_rows, arguments.len()), self.n_elements);
                let found = (0..n_given).fold(n_rows, |n, _| n / n_values);
                known.extend(form.free());
                found
            }
            Form::Same(..) | Form::Before(..) | Form::Foreign | Form::Not(_) => 1.0,
            Form::And(parts) => {
                // What has most of its variables known comes next, as when it is worked out.
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

/// The whole part of a root, at least one; by multiplication alone, which is the same on every machine.
fn root(n: f64, degree: usize) -> f64 {
    let power = |base: u32| (0..degree).fold(1.0, |product, _| product * f64::from(base));
    let (mut low, mut high) = (1, 1 << 24);
    while degree > 0 && high - low > 1 {
        let middle = low + (high - low) / 2;
        if power(middle) <= n { low = middle } else { high = middle }
    }
    f64::from(low)
}

/// The variables that an atom binds wherever the formula holds.
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
