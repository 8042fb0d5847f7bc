//! Relations that are the same in every state, as far as they are small.
//!
//! A simple evaluation with a budget, for checks that need to know a few facts. Play uses the
//! [`interpreter`](crate::interpreter) instead.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::Symbol;

use super::dependencies::Dependence;
use super::graph::components;
use super::view::View;
use crate::rules::{Condition, Rule, RuleTerm};
use crate::symbols::keyword;

/// Maximum length of a body. Longer ones are not evaluated, because joining recurses once for each
/// condition.
const MAX_CONDITIONS: usize = 64;

/// The facts of some static relations. A relation is known completely or not at all.
pub(super) struct StaticRelations {
    tables: BTreeMap<Symbol, Table>,
}

/// The rows of a relation. Each is ground.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Vec<RuleTerm>>,
    known: BTreeSet<Vec<RuleTerm>>,
    /// For each argument, the rows that have a given term there.
    by_argument: Vec<BTreeMap<RuleTerm, Vec<usize>>>,
}

/// The values of variables; ground terms only.
pub(super) type Bindings = Vec<Option<RuleTerm>>;

impl StaticRelations {
    /// Evaluates `wanted` and all relations they depend on. A relation stays unknown if it depends
    /// on the state, needs given arguments or exhausts `budget`, which counts rows read and names
    /// written.
    pub(super) fn evaluate(
        view: &View<'_>,
        wanted: &BTreeSet<Symbol>,
        budget: &mut usize,
    ) -> StaticRelations {
        let on_state = Dependence::on(view, keyword::TRUE);
        let on_moves = Dependence::on(view, keyword::DOES);
        let needed = needed(view, wanted);
        let mut successors: Vec<Vec<usize>> = vec![Vec::new(); view.sheet.symbols.len()];
        for &relation in &needed {
            for &index in view.definitions(relation) {
                let used = view.rules[index].body.iter().filter_map(Condition::atom);
                successors[relation.index()].extend(used.map(|atom| atom.relation.index()));
            }
        }
        let component = components(&successors);
        let mut levels: BTreeMap<usize, Vec<Symbol>> = BTreeMap::new();
        for &relation in &needed {
            levels.entry(component[relation.index()]).or_default().push(relation);
        }
        let mut statics = StaticRelations { tables: BTreeMap::new() };
        // Components come after those they depend on.
        for relations in levels.values() {
            if relations.iter().all(|&relation| !on_state.has(relation) && !on_moves.has(relation))
            {
                statics.evaluate_level(view, relations, budget);
            }
        }
        statics
    }

    /// Returns the facts of a relation, if they are known.
    pub(super) fn table(&self, relation: Symbol) -> Option<&Table> {
        self.tables.get(&relation)
    }

    /// Evaluates relations that depend on each other, after all others they depend on.
    fn evaluate_level(&mut self, view: &View<'_>, relations: &[Symbol], budget: &mut usize) {
        relations.iter().for_each(|&relation| {
            self.tables.insert(relation, Table::default());
        });
        let rules: Vec<&Rule> = relations
            .iter()
            .flat_map(|&relation| {
                view.definitions(relation).iter().map(|&index| &view.rules[index])
            })
            .collect();
        let complete = rules.iter().all(|rule| self.is_evaluable(rule, relations))
            && self.run(&rules, relations, budget).is_some();
        if !complete {
            relations.iter().for_each(|relation| {
                self.tables.remove(relation);
            });
        }
    }

    /// Returns whether all relations of the body are known, negated ones completely, and all
    /// variables get values.
    fn is_evaluable(&self, rule: &Rule, own: &[Symbol]) -> bool {
        let bound = rule.bound_variables();
        let mut all_bound = true;
        rule.head.each_variable(&mut |v| all_bound &= bound[v as usize]);
        all_bound
            && rule.body.len() <= MAX_CONDITIONS
            && rule.body.iter().all(|condition| match condition {
                Condition::Holds(atom) => self.tables.contains_key(&atom.relation),
                Condition::Fails(atom) => {
                    self.tables.contains_key(&atom.relation) && !own.contains(&atom.relation)
                }
                Condition::Differ(..) => true,
            })
    }

    /// Applies rules until nothing new is derived. Each new row is joined with all others once.
    /// Returns `None` if the budget is exhausted or a term grows too large.
    fn run(&mut self, rules: &[&Rule], own: &[Symbol], budget: &mut usize) -> Option<()> {
        let mut queue: Vec<(Symbol, Vec<RuleTerm>)> = Vec::new();
        let mut recursive: Vec<(&Rule, usize)> = Vec::new();
        for rule in rules {
            let n_before = recursive.len();
            for (index, condition) in rule.body.iter().enumerate() {
                if matches!(condition, Condition::Holds(atom) if own.contains(&atom.relation)) {
                    recursive.push((rule, index));
                }
            }
            if recursive.len() == n_before {
                let conditions: Vec<&Condition> = rule.body.iter().collect();
                let bindings = vec![None; rule.n_variables as usize];
                self.apply(rule, &conditions, bindings, &mut queue, budget)?;
            }
        }
        while let Some((relation, row)) = queue.pop() {
            for &(rule, index) in &recursive {
                *budget = budget.checked_sub(1)?;
                let mut bindings = vec![None; rule.n_variables as usize];
                let atom = rule.body[index].atom().expect("recursive conditions are atoms");
                if atom.relation == relation && match_all(&atom.arguments, &row, &mut bindings) {
                    let others = rule.body.iter().enumerate().filter(|(other, _)| *other != index);
                    let others: Vec<&Condition> = others.map(|(_, condition)| condition).collect();
                    self.apply(rule, &others, bindings, &mut queue, budget)?;
                }
            }
        }
        Some(())
    }

    /// Adds what `rule` derives where `conditions` hold: those that `bindings` does not yet account
    /// for.
    fn apply(
        &mut self,
        rule: &Rule,
        conditions: &[&Condition],
        mut bindings: Bindings,
        queue: &mut Vec<(Symbol, Vec<RuleTerm>)>,
        budget: &mut usize,
    ) -> Option<()> {
        let mut rows: Vec<Vec<RuleTerm>> = Vec::new();
        let (mut n_names, max_names) = (0, *budget);
        self.join(conditions, &mut bindings, budget, &mut |bindings| {
            n_names += rule.head.arguments.iter().map(|term| size(term, bindings)).sum::<usize>();
            if n_names <= max_names {
                rows.push(
                    rule.head.arguments.iter().filter_map(|term| ground(term, bindings)).collect(),
                );
            }
        })?;
        *budget = budget.checked_sub(n_names)?;
        let relation = rule.head.relation;
        let table = self.tables.entry(relation).or_default();
        for row in rows {
            if table.insert(row.clone()) {
                queue.push((relation, row));
            }
        }
        Some(())
    }

    /// Calls `visit` for each way to satisfy the conditions about known relations. Other conditions
    /// count as satisfied. Returns `None` if the budget is exhausted.
    pub(super) fn join(
        &self,
        conditions: &[&Condition],
        bindings: &mut Bindings,
        budget: &mut usize,
        visit: &mut dyn FnMut(&Bindings),
    ) -> Option<()> {
        // The condition with the fewest unknown arguments leaves the fewest rows.
        let next = conditions.iter().enumerate().filter_map(|(index, condition)| match condition {
            Condition::Holds(atom) => {
                let table = self.table(atom.relation)?;
                let n_unknown =
                    atom.arguments.iter().filter(|term| ground(term, bindings).is_none()).count();
                Some(((n_unknown, table.rows.len()), index, atom, table))
            }
            Condition::Fails(_) | Condition::Differ(..) => None,
        });
        let Some((_, index, atom, table)) = next.min_by_key(|(cost, ..)| *cost) else {
            *budget = budget.checked_sub(1)?;
            if conditions.iter().all(|condition| self.may_be_true(condition, bindings)) {
                visit(bindings);
            }
            return Some(());
        };
        let mut rest = conditions.to_vec();
        rest.remove(index);
        let before = bindings.clone();
        for row in table.candidates(&atom.arguments, bindings) {
            *budget = budget.checked_sub(1)?;
            if match_all(&atom.arguments, row, bindings) {
                self.join(&rest, bindings, budget, visit)?;
            }
            bindings.clone_from(&before);
        }
        Some(())
    }

    /// Returns whether a negated condition or comparison is not known to be false.
    fn may_be_true(&self, condition: &Condition, bindings: &Bindings) -> bool {
        match condition {
            Condition::Holds(_) => true,
            Condition::Fails(atom) => {
                let Some(table) = self.table(atom.relation) else { return true };
                let row: Option<Vec<RuleTerm>> =
                    atom.arguments.iter().map(|term| ground(term, bindings)).collect();
                match row {
                    Some(row) => !table.known.contains(&row),
                    None => table
                        .candidates(&atom.arguments, bindings)
                        .all(|row| !match_all(&atom.arguments, row, &mut bindings.clone())),
                }
            }
            Condition::Differ(a, b, _) => match (ground(a, bindings), ground(b, bindings)) {
                (Some(a), Some(b)) => a != b,
                _ => true,
            },
        }
    }
}

impl Table {
    /// Returns all rows in the order they were found.
    pub(super) fn rows(&self) -> &[Vec<RuleTerm>] {
        &self.rows
    }

    fn insert(&mut self, row: Vec<RuleTerm>) -> bool {
        if !self.known.insert(row.clone()) {
            return false;
        }
        for (position, term) in row.iter().enumerate() {
            if self.by_argument.len() <= position {
                self.by_argument.push(BTreeMap::new());
            }
            self.by_argument[position].entry(term.clone()).or_default().push(self.rows.len());
        }
        self.rows.push(row);
        true
    }

    /// Returns the rows that agree with the first argument whose value is known.
    fn candidates<'t>(
        &'t self,
        arguments: &[RuleTerm],
        bindings: &Bindings,
    ) -> Box<dyn Iterator<Item = &'t Vec<RuleTerm>> + 't> {
        for (position, term) in arguments.iter().enumerate() {
            if let Some(term) = ground(term, bindings) {
                let rows = self.by_argument.get(position).and_then(|index| index.get(&term));
                return Box::new(rows.into_iter().flatten().map(|&row| &self.rows[row]));
            }
        }
        Box::new(self.rows.iter())
    }
}

/// Returns `wanted` and all relations they depend on.
fn needed(view: &View<'_>, wanted: &BTreeSet<Symbol>) -> BTreeSet<Symbol> {
    let mut needed = wanted.clone();
    let mut open: Vec<Symbol> = wanted.iter().copied().collect();
    while let Some(relation) = open.pop() {
        for &index in view.definitions(relation) {
            for atom in view.rules[index].body.iter().filter_map(Condition::atom) {
                if needed.insert(atom.relation) {
                    open.push(atom.relation);
                }
            }
        }
    }
    needed
}

/// Replaces the variables of a term. Returns `None` if one of them has no value.
pub(super) fn ground(term: &RuleTerm, bindings: &Bindings) -> Option<RuleTerm> {
    match term {
        RuleTerm::Variable(v) => bindings[*v as usize].clone(),
        RuleTerm::Function(symbol, arguments) => {
            let arguments = arguments
                .iter()
                .map(|argument| ground(argument, bindings))
                .collect::<Option<_>>()?;
            Some(RuleTerm::Function(*symbol, arguments))
        }
    }
}

/// Returns how many names the term has with its variables replaced.
fn size(term: &RuleTerm, bindings: &Bindings) -> usize {
    match term {
        RuleTerm::Variable(v) => {
            bindings[*v as usize].as_ref().map_or(1, |bound| size(bound, &Vec::new()))
        }
        RuleTerm::Function(_, arguments) => {
            1 + arguments.iter().map(|argument| size(argument, bindings)).sum::<usize>()
        }
    }
}

fn match_all(patterns: &[RuleTerm], row: &[RuleTerm], bindings: &mut Bindings) -> bool {
    patterns.len() == row.len()
        && patterns.iter().zip(row).all(|(pattern, term)| match_term(pattern, term, bindings))
}

fn match_term(pattern: &RuleTerm, term: &RuleTerm, bindings: &mut Bindings) -> bool {
    match (pattern, term) {
        (RuleTerm::Variable(v), term) => match &bindings[*v as usize] {
            Some(bound) => bound == term,
            None => {
                bindings[*v as usize] = Some(term.clone());
                true
            }
        },
        (RuleTerm::Function(f, left), RuleTerm::Function(g, right)) => {
            f == g && match_all(left, right, bindings)
        }
        (RuleTerm::Function(..), RuleTerm::Variable(_)) => false,
    }
}
