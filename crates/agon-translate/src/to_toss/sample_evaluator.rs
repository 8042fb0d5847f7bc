//! Evaluation of formulas in the sampled states.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_datalog::TermId;
use agon_structures::evaluate::{Assignment, Evaluator, Limits};
use agon_structures::formula::{Argument, Definitions, Extreme, Formula, Sign, Term, Variable};
use agon_structures::structure::{Element, RelationId, Structure, Tuples, Vocabulary};

use super::formula::{Form, Relation, Val, Var};
use super::lift::Lifter;
use super::sampling::Sample;
use super::{Construct, ToTossError};

/// Limits for one query.
const LIMITS: Limits = Limits {
    steps: 20_000_000,
    cells: 20_000_000,
    parts: 200_000,
    gates: 1 << 20,
    conflicts: 10_000,
};

/// Evaluates formulas in the sampled states.
pub(super) struct SampleEvaluator {
    /// One structure for each sample.
    structures: Vec<Structure>,
    definitions: Arc<Definitions>,
    elements: BTreeMap<TermId, Element>,
    /// The index of each term, which is part of its constant's name.
    numbers: BTreeMap<TermId, usize>,
    /// The evaluator of previous queries, whose table indexes are most of the work, with its number
    /// of queries. An evaluator never drops a query.
    kept: RefCell<Option<(Evaluator, usize)>>,
}

/// Maximum number of queries of one evaluator.
const MAX_QUESTIONS: usize = 100;

impl SampleEvaluator {
    /// Builds the structures from the current tables, definitions and samples.
    pub(super) fn new(lifter: &Lifter<'_>) -> Result<SampleEvaluator, ToTossError> {
        let domain = lifter.domain;
        let mut terms: BTreeSet<TermId> = BTreeSet::new();
        terms.extend(lifter.tables.iter().flat_map(|table| table.rows.iter().flatten()));
        terms
            .extend(domain.predicates.iter().flat_map(|predicate| predicate.rows.iter().flatten()));
        for shape in domain.moves.iter().flat_map(BTreeMap::values) {
            terms.extend(shape.values.iter().flatten());
        }
        let mut note = |form: &Form| constants(form, &mut terms);
        lifter.defined.iter().for_each(|defined| note(&defined.body));
        terms.extend(domain.game.role_terms());
        let mut vocabulary = Vocabulary::new();
        let clash = |_| ToTossError {
            construct: Construct::Size,
            why: "too many relations".to_owned(),
            line: None,
        };
        let mut tables: Vec<RelationId> = Vec::new();
        for (index, table) in lifter.tables.iter().enumerate() {
            tables.push(vocabulary.add_relation(&format!("S{index}"), table.arity).map_err(clash)?);
        }
        let mut fluents: Vec<RelationId> = Vec::new();
        for (index, predicate) in domain.predicates.iter().enumerate() {
            let width = predicate.rows.first().map_or(0, Vec::len);
            fluents.push(vocabulary.add_relation(&format!("F{index}"), width).map_err(clash)?);
        }
        let names: Vec<(TermId, String)> =
            terms.iter().enumerate().map(|(index, &term)| (term, format!("c{index}"))).collect();
        let constants: Vec<_> =
            names.iter().map(|(_, name)| vocabulary.add_constant(name)).collect();
        let mut base = Structure::new(Arc::new(vocabulary));
        let mut elements = BTreeMap::new();
        let broken = |_| ToTossError {
            construct: Construct::Size,
            why: "too many terms".to_owned(),
            line: None,
        };
        for ((term, name), constant) in names.iter().zip(constants) {
            let element = base.create(Some(name)).map_err(broken)?;
            base.set_constant(constant, Some(element)).map_err(broken)?;
            elements.insert(*term, element);
        }
        for (table, &relation) in lifter.tables.iter().zip(&tables) {
            for row in &table.rows {
                let row: Vec<Element> = row.iter().map(|term| elements[term]).collect();
                base.add(relation, &row).map_err(broken)?;
            }
        }
        let mut structures = Vec::new();
        for Sample { fluents: held, .. } in &domain.samples {
            let mut structure = base.clone();
            for &term in held {
                if let Some((predicate, coordinates)) = domain.place(term) {
                    let row: Vec<Element> = coordinates.iter().map(|term| elements[term]).collect();
                    structure.add(fluents[predicate], &row).map_err(broken)?;
                }
            }
            structures.push(structure);
        }
        let numbers = terms.iter().enumerate().map(|(index, &term)| (term, index)).collect();
        let definitions = Arc::new(Definitions::new());
        let mut evaluator = SampleEvaluator {
            structures,
            definitions,
            elements,
            numbers,
            kept: RefCell::default(),
        };
        evaluator.definitions = Arc::new(evaluator.translated_definitions(lifter)?);
        Ok(evaluator)
    }

    fn translated_definitions(&self, lifter: &Lifter<'_>) -> Result<Definitions, ToTossError> {
        let mut definitions = Definitions::new();
        for index in order(lifter) {
            let defined = &lifter.defined[index];
            let name = format!("D{index}");
            let variables: Vec<Variable> =
                defined.parameters.iter().map(|&v| variable(v)).collect();
            let mut body = self.formula(&defined.body);
            if defined.is_recursive {
                body = Formula::fix(Extreme::Least, &name, variables.clone(), body);
            }
            definitions.add(&name, variables, body).map_err(|fault| ToTossError {
                construct: Construct::Recursion,
                why: format!("`{}` cannot be defined by a formula: {fault}", defined.name),
                line: None,
            })?;
        }
        Ok(definitions)
    }

    fn evaluator(&self) -> Option<Evaluator> {
        let first = self.structures.first()?;
        Some(Evaluator::new(Arc::clone(first.vocabulary()), Arc::clone(&self.definitions), LIMITS))
    }

    /// Returns for each listed sample and each row of terms for `given` the number of values of
    /// `extra` that satisfy the formula.
    pub(super) fn counts(
        &self,
        form: &Form,
        given: &[Var],
        extra: &[Var],
        rows: &[(usize, Vec<Vec<TermId>>)],
    ) -> Result<Vec<Vec<usize>>, String> {
        let Some(mut fresh) = self.evaluator() else { return Ok(Vec::new()) };
        let variables: Vec<Variable> = given.iter().chain(extra).map(|&v| variable(v)).collect();
        let formula = self.formula(form);
        let kept = self.kept.borrow_mut().take().filter(|(_, n_asked)| *n_asked < MAX_QUESTIONS);
        let known = kept.and_then(|(mut evaluator, n_asked)| {
            let query = evaluator.formula(&formula, &variables).ok()?;
            Some((evaluator, n_asked, query))
        });
        let (mut evaluator, n_asked, query) = match known {
            Some(known) => known,
            // There is no evaluator, or the query is too large for one with many queries.
            None => {
                let query =
                    fresh.formula(&formula, &variables).map_err(|error| error.to_string())?;
                (fresh, 0, query)
            }
        };
        let mut all = Vec::new();
        for (sample, rows) in rows {
            let structure = &self.structures[*sample];
            if given.is_empty() {
                let found = evaluator.solve(query, structure, &Assignment::new());
                let found = found.map_err(|error| error.to_string())?;
                all.push(vec![found.len(); rows.len()]);
                continue;
            }
            let cells: Vec<Vec<Element>> = rows
                .iter()
                .map(|row| row.iter().map(|term| self.elements[term]).collect())
                .collect();
            let tuples = Tuples::of(given.len(), cells.iter().map(Vec::as_slice));
            let found = evaluator.solve_from(query, structure, &variables[..given.len()], &tuples);
            let found = found.map_err(|error| error.to_string())?;
            let mut counts: BTreeMap<Vec<Element>, usize> = BTreeMap::new();
            for tuple in found.iter() {
                *counts.entry(tuple[..given.len()].to_vec()).or_default() += 1;
            }
            all.push(cells.iter().map(|row| counts.get(row).copied().unwrap_or(0)).collect());
        }
        *self.kept.borrow_mut() = Some((evaluator, n_asked + 1));
        Ok(all)
    }

    fn formula(&self, form: &Form) -> Formula {
        match form {
            Form::Atom(relation, arguments) => {
                let name = match relation {
                    Relation::Fluent(index) => format!("F{index}"),
                    Relation::Static(index) => format!("S{index}"),
                    Relation::Defined(index) => format!("D{index}"),
                };
                Formula::atom(&name, arguments.iter().map(|value| self.argument(value)))
            }
            Form::Same(a, b) => Formula::equal(self.argument(a), self.argument(b)),
            Form::Before(Val::Var(a), Val::Var(b)) => Formula::compare(
                Term::ElementNumber(variable(*a).into()),
                Sign::Less,
                Term::ElementNumber(variable(*b).into()),
            ),
            Form::Before(..) | Form::Foreign => Formula::falsity(),
            Form::Not(inner) => Formula::not(self.formula(inner)),
            Form::And(parts) => Formula::And(parts.iter().map(|part| self.formula(part)).collect()),
            Form::Or(parts) => Formula::Or(parts.iter().map(|part| self.formula(part)).collect()),
            Form::Ex(variables, body) => {
                let variables: Vec<Variable> = variables.iter().map(|&v| variable(v)).collect();
                Formula::exists(variables, self.formula(body))
            }
        }
    }

    fn argument(&self, value: &Val) -> Argument {
        match value {
            Val::Var(v) => (&variable(*v)).into(),
            Val::Term(term) => {
                let index = self.numbers.get(term).copied().unwrap_or(0);
                Argument::Constant(format!("c{index}").into())
            }
        }
    }
}

fn variable(v: Var) -> Variable {
    Variable::new(&format!("v{v}"))
}

/// Returns the definitions in an order in which each comes after those that it uses.
pub(super) fn order(lifter: &Lifter<'_>) -> Vec<usize> {
    fn visit(lifter: &Lifter<'_>, index: usize, done: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut done[index], true) {
            return;
        }
        lifter.defined[index].body.each_atom(&mut |relation, _| {
            if let Relation::Defined(used) = relation {
                visit(lifter, used, done, order);
            }
        });
        order.push(index);
    }
    let mut order = Vec::new();
    let mut done = vec![false; lifter.defined.len()];
    for index in 0..lifter.defined.len() {
        visit(lifter, index, &mut done, &mut order);
    }
    order
}

fn constants(form: &Form, terms: &mut BTreeSet<TermId>) {
    match form {
        Form::Atom(_, arguments) => terms.extend(arguments.iter().filter_map(|value| value.term())),
        Form::Same(a, b) | Form::Before(a, b) => {
            terms.extend([a, b].into_iter().filter_map(|value| value.term()));
        }
        Form::Foreign => {}
        Form::Not(inner) | Form::Ex(_, inner) => constants(inner, terms),
        Form::And(parts) | Form::Or(parts) => parts.iter().for_each(|part| constants(part, terms)),
    }
}
