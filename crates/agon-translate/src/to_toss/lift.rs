//! Conditions of GDL rules to formulas.
//!
//! A variable at a named position, or for a role, is instantiated with every possible value. The
//! others become variables of the formula. Static relations become tables. Relations that depend on
//! the state become definitions, one for each pattern of constants in their arguments. Relations
//! that depend on moves are inlined.

mod ask;
mod unify;

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::{Symbol, TermId};
use agon_gdl::rules::{Condition, Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

use super::domain::{Domain, Functor};
use super::formula::{Form, Relation, TRUE, Val, Var, and, ex, not, same};
use super::{Construct, ToTossError};

/// Maximum nesting depth of inlined or defined relations.
const MAX_DEPTH: usize = 40;

/// Maximum number of instances of one rule.
const MAX_INSTANCES: usize = 4000;

/// Maximum number of defined relations.
const MAX_DEFINED: usize = 2000;

/// A static relation.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Name in the text.
    pub(super) name: String,
    pub(super) arity: usize,
    pub(super) rows: BTreeSet<Vec<TermId>>,
}

/// A relation defined by a formula.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub(super) name: String,
    pub(super) parameters: Vec<Var>,
    pub(super) body: Form,
    /// Whether the body refers to the relation itself.
    pub(super) is_recursive: bool,
}

/// The action of a role.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// A move of this form.
    Form(Functor, Vec<Val>),
    /// A simultaneous move that is not considered here.
    Foreign,
}

/// Actions by role.
pub(super) type Actions = Vec<Action>;

/// A condition, and a bit set of the roles on whose moves it depends.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) form: Form,
    pub(super) roles: u64,
}

/// A rule with values for its named variables.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) locals: Vec<Var>,
    pub(super) parts: Vec<Part>,
}

impl Instance {
    /// Returns the instance as one formula.
    pub(super) fn form(self) -> Form {
        ex(&self.locals, and(self.parts.into_iter().map(|part| part.form)))
    }
}

/// Values of the variables of a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Binding {
    values: Vec<Option<Val>>,
    locals: Vec<Var>,
    extra: Vec<Form>,
}

/// State of the enumeration of a rule's instances.
struct Choice<'c> {
    rule: &'c Rule,
    actions: Option<&'c Actions>,
    /// The conditions decided so far, with their predicates or roles.
    chosen: Vec<(usize, usize)>,
    found: Vec<Instance>,
}

/// Translates conditions to formulas.
pub(super) struct Lifter<'d> {
    pub(super) domain: &'d Domain,
    pub(super) tables: Vec<Table>,
    table_ids: BTreeMap<(Symbol, usize), Option<usize>>,
    shape_ids: BTreeMap<Functor, usize>,
    rows: BTreeMap<(Symbol, usize), Vec<Vec<TermId>>>,
    pub(super) defined: Vec<Defined>,
    /// Definitions by relation, arity and the constants among the arguments.
    defined_ids: BTreeMap<(Symbol, usize, Vec<Option<TermId>>), usize>,
    /// Definitions under construction.
    open: Vec<usize>,
    /// Rules by the relation of the head.
    by_head: BTreeMap<(Symbol, usize), Vec<usize>>,
    /// Relations that depend on moves.
    moving: BTreeSet<(Symbol, usize)>,
    universe: BTreeSet<TermId>,
    /// Names of variables.
    pub(super) names: Vec<String>,
    /// The current rule, for error messages.
    clause: usize,
    budget: usize,
    depth: usize,
}

impl<'d> Lifter<'d> {
    pub(super) fn new(domain: &'d Domain, budget: usize) -> Lifter<'d> {
        let rules = domain.game.rules().rules();
        let mut by_head: BTreeMap<(Symbol, usize), Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            by_head.entry((rule.head.relation, rule.head.arguments.len())).or_default().push(index);
        }
        let rows: BTreeMap<(Symbol, usize), Vec<Vec<TermId>>> =
            domain.game.static_rows().into_iter().collect();
        let mut universe = BTreeSet::new();
        let bank = &domain.bank;
        let mut note = |term: TermId| add_subterms(bank, term, &mut universe);
        domain.state.values().flat_map(|shape| &shape.terms).for_each(|&term| note(term));
        domain
            .moves
            .iter()
            .flat_map(BTreeMap::values)
            .flat_map(|shape| &shape.terms)
            .for_each(|&t| note(t));
        rows.values().flatten().flatten().for_each(|&term| note(term));
        Lifter {
            moving: moving(rules),
            domain,
            tables: Vec::new(),
            table_ids: BTreeMap::new(),
            shape_ids: BTreeMap::new(),
            rows,
            defined: Vec::new(),
            defined_ids: BTreeMap::new(),
            open: Vec::new(),
            by_head,
            universe,
            names: Vec::new(),
            clause: 0,
            budget,
            depth: 0,
        }
    }

    /// Returns a new variable.
    pub(super) fn fresh(&mut self, name: &str) -> Var {
        self.names.push(name.to_owned());
        u32::try_from(self.names.len() - 1).expect("the budget is below 2^32 variables")
    }

    /// Renames the bound variables of a formula to new ones.
    pub(super) fn renamed(&mut self, form: &Form) -> Form {
        form.renamed(&mut |v| {
            let name = self.names[v as usize].clone();
            self.fresh(&name)
        })
    }

    pub(super) fn rules_of(&self, relation: Symbol, arity: usize) -> Vec<usize> {
        self.by_head.get(&(relation, arity)).cloned().unwrap_or_default()
    }

    pub(super) fn rule(&self, index: usize) -> &'d Rule {
        &self.domain.game.rules().rules()[index]
    }

    /// Returns an error at the current rule.
    pub(super) fn error(&self, construct: Construct, why: impl Into<String>) -> ToTossError {
        let sheet = self.domain.game.rules().sheet();
        let place = sheet
            .clauses
            .get(self.rule(self.clause).clause)
            .map(|c| sheet.source.place(c.span.start()));
        let line = place.and_then(|place| u32::try_from(place.line).ok());
        ToTossError { construct, why: why.into(), line }
    }

    /// Returns an error at a rule.
    pub(super) fn error_at(
        &self,
        rule: usize,
        construct: Construct,
        why: impl Into<String>,
    ) -> ToTossError {
        let sheet = self.domain.game.rules().sheet();
        let span = sheet.clauses[self.rule(rule).clause].span;
        let line = u32::try_from(sheet.source.place(span.start()).line).ok();
        ToTossError { construct, why: why.into(), line }
    }

    /// Names the variables of a move like the rule that makes it legal.
    pub(super) fn name_arguments(&mut self, rule: usize, arguments: &[Val]) {
        let rule = self.rule(rule);
        let Some(RuleTerm::Function(_, patterns)) = rule.head.arguments.get(1) else { return };
        for (pattern, value) in patterns.iter().zip(arguments) {
            if let (RuleTerm::Variable(name), Val::Var(v)) = (pattern, value) {
                self.names[*v as usize] = self.variable_name(rule, *name);
            }
        }
    }

    /// Returns the arguments of all possible moves of a class.
    pub(super) fn moves_of(&self, class: &super::effects::Class) -> Vec<Vec<TermId>> {
        let shape = &self.domain.moves[class.role][&class.functor];
        let all = shape
            .terms
            .iter()
            .map(|&term| self.domain.bank.arguments(term).collect::<Vec<TermId>>());
        all.filter(|arguments| {
            arguments.iter().zip(&class.arguments).all(|(cell, value)| match value {
                Val::Term(term) => term == cell,
                Val::Var(_) => true,
            })
        })
        .collect()
    }

    /// Returns whether a static formula without quantifiers holds for terms.
    pub(super) fn holds_statically(&self, form: &Form, assigned: &BTreeMap<Var, TermId>) -> bool {
        let value = |value: &Val| match value {
            Val::Var(v) => assigned.get(v).copied(),
            Val::Term(term) => Some(*term),
        };
        match form {
            Form::Atom(Relation::Static(table), arguments) => {
                let row: Option<Vec<TermId>> = arguments.iter().map(value).collect();
                row.is_some_and(|row| self.tables[*table].rows.contains(&row))
            }
            Form::Same(a, b) => value(a) == value(b),
            Form::Not(inner) => !self.holds_statically(inner, assigned),
            Form::And(parts) => parts.iter().all(|part| self.holds_statically(part, assigned)),
            Form::Or(parts) => parts.iter().any(|part| self.holds_statically(part, assigned)),
            Form::Atom(..) | Form::Before(..) | Form::Foreign | Form::Ex(..) => false,
        }
    }

    pub(super) fn term_name(&self, term: TermId) -> String {
        self.domain.game.text(term)
    }

    pub(super) fn symbol_name(&self, symbol: Symbol) -> &str {
        self.domain.game.rules().sheet().symbols.name(symbol)
    }

    /// Adds a table and returns its index.
    pub(super) fn add_table(&mut self, table: Table) -> usize {
        self.tables.push(table);
        self.tables.len() - 1
    }

    /// Returns the table of all terms with a functor and their arguments.
    fn shape_table(&mut self, functor: Functor) -> usize {
        if let Some(&known) = self.shape_ids.get(&functor) {
            return known;
        }
        let bank = &self.domain.bank;
        let of_form =
            self.universe.iter().filter(|&&term| bank.has_form(term, functor.0, functor.1));
        let rows = of_form
            .map(|&term| std::iter::once(term).chain(bank.arguments(term)).collect())
            .collect();
        let name = format!("form_{}", self.symbol_name(functor.0));
        let id = self.add_table(Table { name, arity: functor.1 + 1, rows });
        self.shape_ids.insert(functor, id);
        id
    }

    /// Returns the table of a static relation, if its rows are known.
    fn table(&mut self, relation: Symbol, arity: usize) -> Option<usize> {
        if let Some(known) = self.table_ids.get(&(relation, arity)) {
            return *known;
        }
        let rows: Option<BTreeSet<Vec<TermId>>> = if relation == keyword::ROLE {
            Some(self.domain.game.role_terms().iter().map(|&role| vec![role]).collect())
        } else {
            self.rows.get(&(relation, arity)).map(|rows| rows.iter().cloned().collect())
        };
        let id = rows.map(|rows| {
            let name = self.symbol_name(relation).to_owned();
            self.add_table(Table { name, arity, rows })
        });
        self.table_ids.insert((relation, arity), id);
        id
    }

    fn intern(&self, symbol: Symbol, arguments: &[TermId]) -> Result<TermId, ToTossError> {
        let made = self.domain.bank.term(symbol, arguments);
        made.map_err(|_| self.error(Construct::Size, "a term is nested too deeply"))
    }

    fn variable_name(&self, rule: &Rule, variable: u32) -> String {
        let sheet = self.domain.game.rules().sheet();
        let clause = &sheet.clauses[rule.clause];
        clause.variables.get(variable as usize).map_or_else(|| "v".to_owned(), |v| v.name.clone())
    }

    /// Returns the instances of a rule whose head is unified in `b`.
    pub(super) fn instances(
        &mut self,
        index: usize,
        b: Binding,
        actions: Option<&Actions>,
    ) -> Result<Vec<Instance>, ToTossError> {
        let before = std::mem::replace(&mut self.clause, index);
        let rule = self.rule(index);
        let choices: Vec<usize> = (0..rule.body.len())
            .filter(|&place| match &rule.body[place] {
                Condition::Holds(atom) => [keyword::TRUE, keyword::DOES].contains(&atom.relation),
                Condition::Fails(_) | Condition::Differ(..) => false,
            })
            .collect();
        let mut choice = Choice { rule, actions, chosen: Vec::new(), found: Vec::new() };
        self.choose(&mut choice, &choices, b)?;
        self.clause = before;
        Ok(choice.found)
    }

    fn spend(&mut self, conditions: usize) -> Result<(), ToTossError> {
        let left = self.budget.checked_sub(conditions);
        self.budget =
            left.ok_or_else(|| self.error(Construct::Size, "the formulas are too large"))?;
        Ok(())
    }

    /// Returns an empty binding for a rule.
    pub(super) fn binding(&self, index: usize) -> Binding {
        Binding { values: vec![None; self.rule(index).n_variables as usize], ..Binding::default() }
    }

    /// Enumerates the values at named positions of the listed conditions, then builds the
    /// instances.
    fn choose(
        &mut self,
        choice: &mut Choice<'_>,
        places: &[usize],
        b: Binding,
    ) -> Result<(), ToTossError> {
        self.spend(1)?;
        let (rule, actions) = (choice.rule, choice.actions);
        let Some((&place, rest)) = places.split_first() else {
            if let Some(instance) = self.finish(rule, b, &choice.chosen, actions)? {
                choice.found.push(instance);
                if choice.found.len() > MAX_INSTANCES {
                    return Err(self.error(
                        Construct::Size,
                        "the rule has too many instances for the values of its named variables",
                    ));
                }
            }
            return Ok(());
        };
        let Condition::Holds(atom) = &rule.body[place] else {
            unreachable!("only positive conditions are listed")
        };
        if atom.relation == keyword::DOES {
            for role in 0..self.domain.moves.len() {
                let mut b = b.clone();
                if self.unify_does(rule, atom, role, &mut b, actions)? {
                    choice.chosen.push((place, role));
                    self.choose(choice, rest, b)?;
                    choice.chosen.pop();
                }
            }
            return Ok(());
        }
        for predicate in self.predicates_of(atom)? {
            let mut b = b.clone();
            if self.unify_names(rule, atom, predicate, &mut b)? {
                choice.chosen.push((place, predicate));
                self.choose(choice, rest, b)?;
                choice.chosen.pop();
            }
        }
        Ok(())
    }

    /// Builds an instance after all named positions have values. Returns `None` if one of the parts
    /// is false.
    fn finish(
        &mut self,
        rule: &Rule,
        mut b: Binding,
        chosen: &[(usize, usize)],
        actions: Option<&Actions>,
    ) -> Result<Option<Instance>, ToTossError> {
        self.spend(rule.body.len() + 1)?;
        let mut parts = Vec::new();
        // State terms first, because they bind most of the variables.
        for &(place, choice) in chosen {
            let Condition::Holds(atom) = &rule.body[place] else { continue };
            if atom.relation == keyword::TRUE {
                let coordinates = self.coordinates(rule, atom, choice, &mut b)?;
                parts.push(Part {
                    form: Form::Atom(Relation::Fluent(choice), coordinates),
                    roles: 0,
                });
            } else {
                let is_foreign =
                    matches!(actions.map(|actions| &actions[choice]), Some(Action::Foreign));
                let form = if is_foreign { Form::Foreign } else { TRUE };
                parts.push(Part { form, roles: 1 << choice });
            }
        }
        for condition in &rule.body {
            if let Condition::Holds(atom) = condition
                && ![keyword::TRUE, keyword::DOES].contains(&atom.relation)
            {
                parts.push(self.derived(rule, atom, &mut b, actions)?);
            }
        }
        for condition in &rule.body {
            match condition {
                Condition::Holds(_) => {}
                Condition::Fails(atom) => {
                    // The negation of each alternative is a part of its own, so that parts that
                    // depend on one role only can be recognised.
                    let ways = self.ways(rule, atom, &b, actions)?;
                    parts.extend(
                        ways.into_iter().map(|way| Part { form: not(way.form), roles: way.roles }),
                    );
                }
                Condition::Differ(left, right, _) => {
                    let mut inner =
                        Binding { values: b.values.clone(), locals: Vec::new(), extra: Vec::new() };
                    let left = self.value(rule, left, &mut inner)?;
                    let right = self.value(rule, right, &mut inner)?;
                    let equal = and(inner.extra.into_iter().chain([same(left, right)]));
                    parts.push(Part { form: not(ex(&inner.locals, equal)), roles: 0 });
                }
            }
        }
        parts.extend(b.extra.drain(..).map(|form| Part { form, roles: 0 }));
        if parts.iter().any(|part| part.form.is_false()) {
            return Ok(None);
        }
        parts.retain(|part| !part.form.is_true() || part.roles != 0);
        Ok(Some(Instance { locals: b.locals, parts }))
    }
}

fn add_subterms(bank: &agon_datalog::TermBank, term: TermId, universe: &mut BTreeSet<TermId>) {
    if universe.insert(term) {
        bank.arguments(term).for_each(|argument| add_subterms(bank, argument, universe));
    }
}

/// Returns the relations that depend on moves.
fn moving(rules: &[Rule]) -> BTreeSet<(Symbol, usize)> {
    let mut moving = BTreeSet::from([(keyword::DOES, 2)]);
    loop {
        let before = moving.len();
        for rule in rules {
            let asks = |atom: &RuleAtom| moving.contains(&(atom.relation, atom.arguments.len()));
            if rule.body.iter().filter_map(Condition::atom).any(asks) {
                moving.insert((rule.head.relation, rule.head.arguments.len()));
            }
        }
        if moving.len() == before {
            return moving;
        }
    }
}
