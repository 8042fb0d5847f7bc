//! Conditions of GDL rules to formulas.
//!
//! A variable that stands at a named position, or for a role, is given every value it can have; the others become variables of the
//! formula. Relations that never change are tables, relations that change with the state are defined by formulas, one
//! definition for each way to ask with constants; relations that depend on moves are put in place.

mod ask;
mod unify;

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::{Symbol, TermId};
use agon_gdl::rules::{Condition, Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

use super::domain::{Domain, Functor};
use super::formula::{Form, Relation, TRUE, Val, Var, and, ex, not, same};
use super::{Construct, Untranslatable};

/// So deep relations may be put in place or defined, one in the other.
const MAX_DEPTH: usize = 40;

/// So many relations may be defined.
const MAX_DEFINED: usize = 2000;

/// A table: what never changes.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// What it is called in the text.
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
    /// Whether the body asks for the relation itself.
    pub(super) is_recursive: bool,
}

/// What a role does.
#[derive(Clone, Debug)]
pub(super) enum Does {
    /// A move of this form.
    Form(Functor, Vec<Val>),
    /// Something that is not asked about here: it acts at the same time.
    Foreign,
}

/// What is done, by role.
pub(super) type Doing = Vec<Does>;

/// A condition, and the roles on whose moves it depends: a bit for each.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) form: Form,
    pub(super) roles: u64,
}

/// A rule with its named variables given values.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) locals: Vec<Var>,
    pub(super) parts: Vec<Part>,
}

impl Instance {
    /// All of it as a formula.
    pub(super) fn form(self) -> Form {
        ex(&self.locals, and(self.parts.into_iter().map(|part| part.form)))
    }
}

/// What the variables of a rule stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Binding {
    values: Vec<Option<Val>>,
    locals: Vec<Var>,
    extra: Vec<Form>,
}

/// Makes formulas of conditions.
pub(super) struct Lifter<'d> {
    pub(super) domain: &'d Domain,
    pub(super) tables: Vec<Table>,
    table_ids: BTreeMap<(Symbol, usize), Option<usize>>,
    shape_ids: BTreeMap<Functor, usize>,
    rows: BTreeMap<(Symbol, usize), Vec<Vec<TermId>>>,
    pub(super) defined: Vec<Defined>,
    /// By relation, with its number of arguments, and the constants among those that are asked about.
    defined_ids: BTreeMap<(Symbol, usize, Vec<Option<TermId>>), usize>,
    /// Definitions that are being made.
    open: Vec<usize>,
    /// By relation: its rules.
    by_head: BTreeMap<(Symbol, usize), Vec<usize>>,
    /// Relations that depend on moves.
    moving: BTreeSet<(Symbol, usize)>,
    universe: BTreeSet<TermId>,
    /// What variables are called.
    pub(super) names: Vec<String>,
    /// The rule that is being looked at.
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

    /// A new variable.
    pub(super) fn fresh(&mut self, name: &str) -> Var {
        self.names.push(name.to_owned());
        u32::try_from(self.names.len() - 1).expect("the budget is below 2^32 variables")
    }

    /// The same formula with new bound variables.
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

    /// A refusal that names the rule that is being looked at.
    pub(super) fn refuse(&self, construct: Construct, why: impl Into<String>) -> Untranslatable {
        let sheet = self.domain.game.rules().sheet();
        let place = sheet
            .clauses
            .get(self.rule(self.clause).clause)
            .map(|c| sheet.source.place(c.span.start()));
        let line = place.and_then(|place| u32::try_from(place.line).ok());
        Untranslatable { construct, why: why.into(), line }
    }

    /// A refusal that names a rule.
    pub(super) fn refuse_at(
        &self,
        rule: usize,
        construct: Construct,
        why: impl Into<String>,
    ) -> Untranslatable {
        let sheet = self.domain.game.rules().sheet();
        let span = sheet.clauses[self.rule(rule).clause].span;
        let line = u32::try_from(sheet.source.place(span.start()).line).ok();
        Untranslatable { construct, why: why.into(), line }
    }

    /// Calls the variables of a move as the rule that makes it legal calls them.
    pub(super) fn call_by(&mut self, rule: usize, arguments: &[Val]) {
        let rule = self.rule(rule);
        let Some(RuleTerm::Function(_, patterns)) = rule.head.arguments.get(1) else { return };
        for (pattern, value) in patterns.iter().zip(arguments) {
            if let (RuleTerm::Variable(name), Val::Var(v)) = (pattern, value) {
                self.names[*v as usize] = self.variable_name(rule, *name);
            }
        }
    }

    /// The arguments of all moves of a class that there can be.
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

    /// Whether a static formula without quantifiers holds of terms.
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

    /// A table of one's own.
    pub(super) fn add_table(&mut self, table: Table) -> usize {
        self.tables.push(table);
        self.tables.len() - 1
    }

    /// The table that says which terms have a form, and what their arguments are.
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

    /// The table of a relation that never changes, if it is one that was worked out.
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

    fn intern(&self, symbol: Symbol, arguments: &[TermId]) -> Result<TermId, Untranslatable> {
        let made = self.domain.bank.term(symbol, arguments);
        made.map_err(|_| self.refuse(Construct::Size, "a term is nested too deeply"))
    }

    fn variable_name(&self, rule: &Rule, variable: u32) -> String {
        let sheet = self.domain.game.rules().sheet();
        let clause = &sheet.clauses[rule.clause];
        clause.variables.get(variable as usize).map_or_else(|| "v".to_owned(), |v| v.name.clone())
    }

    /// The ways in which a rule applies, its head having been unified in `b`.
    pub(super) fn instances(
        &mut self,
        index: usize,
        b: Binding,
        doing: Option<&Doing>,
    ) -> Result<Vec<Instance>, Untranslatable> {
        let before = std::mem::replace(&mut self.clause, index);
        let rule = self.rule(index);
        let mut found = Vec::new();
        let choices: Vec<usize> = (0..rule.body.len())
            .filter(|&place| match &rule.body[place] {
                Condition::Holds(atom) => [keyword::TRUE, keyword::DOES].contains(&atom.relation),
                Condition::Fails(_) | Condition::Differ(..) => false,
            })
            .collect();
        self.choose(rule, &choices, b, &mut Vec::new(), doing, &mut found)?;
        self.clause = before;
        Ok(found)
    }

    fn spend(&mut self, conditions: usize) -> Result<(), Untranslatable> {
        let left = self.budget.checked_sub(conditions);
        self.budget =
            left.ok_or_else(|| self.refuse(Construct::Size, "the formulas become too large"))?;
        Ok(())
    }

    /// An empty binding for a rule.
    pub(super) fn binding(&self, index: usize) -> Binding {
        Binding { values: vec![None; self.rule(index).n_variables as usize], ..Binding::default() }
    }

    /// Goes through the values of named positions of the conditions listed, then makes the parts.
    fn choose(
        &mut self,
        rule: &Rule,
        choices: &[usize],
        b: Binding,
        chosen: &mut Vec<(usize, usize)>,
        doing: Option<&Doing>,
        found: &mut Vec<Instance>,
    ) -> Result<(), Untranslatable> {
        self.spend(1)?;
        let Some((&place, rest)) = choices.split_first() else {
            if let Some(instance) = self.finish(rule, b, chosen, doing)? {
                found.push(instance);
                if found.len() > 4000 {
                    return Err(self.refuse(
                        Construct::Size,
                        "the rule has too many instances with values for its names",
                    ));
                }
            }
            return Ok(());
        };
        let Condition::Holds(atom) = &rule.body[place] else {
            unreachable!("only positive conditions are chosen for")
        };
        if atom.relation == keyword::DOES {
            for role in 0..self.domain.moves.len() {
                let mut b = b.clone();
                if self.unify_does(rule, atom, role, &mut b, doing)? {
                    chosen.push((place, role));
                    self.choose(rule, rest, b, chosen, doing, found)?;
                    chosen.pop();
                }
            }
            return Ok(());
        }
        for predicate in self.predicates_of(atom)? {
            let mut b = b.clone();
            if self.unify_names(rule, atom, predicate, &mut b)? {
                chosen.push((place, predicate));
                self.choose(rule, rest, b, chosen, doing, found)?;
                chosen.pop();
            }
        }
        Ok(())
    }

    /// The parts of a rule whose named positions have their values. `None` if one of them cannot hold.
    fn finish(
        &mut self,
        rule: &Rule,
        mut b: Binding,
        chosen: &[(usize, usize)],
        doing: Option<&Doing>,
    ) -> Result<Option<Instance>, Untranslatable> {
        self.spend(rule.body.len() + 1)?;
        let mut parts = Vec::new();
        // State terms first: they say most of what variables stand for.
        for &(place, choice) in chosen {
            let Condition::Holds(atom) = &rule.body[place] else { continue };
            if atom.relation == keyword::TRUE {
                let coordinates = self.coordinates(rule, atom, choice, &mut b)?;
                parts.push(Part {
                    form: Form::Atom(Relation::Fluent(choice), coordinates),
                    roles: 0,
                });
            } else {
                let is_foreign = matches!(doing.map(|doing| &doing[choice]), Some(Does::Foreign));
                let form = if is_foreign { Form::Foreign } else { TRUE };
                parts.push(Part { form, roles: 1 << choice });
            }
        }
        for condition in &rule.body {
            if let Condition::Holds(atom) = condition
                && ![keyword::TRUE, keyword::DOES].contains(&atom.relation)
            {
                parts.push(self.derived(rule, atom, &mut b, doing)?);
            }
        }
        for condition in &rule.body {
            match condition {
                Condition::Holds(_) => {}
                Condition::Fails(atom) => {
                    // None of the ways, each by itself, so that what depends on one role alone can be told.
                    let ways = self.ways(rule, atom, &b, doing)?;
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

/// The relations that depend on moves.
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
