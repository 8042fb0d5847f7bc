//! Atoms of relations that rules derive: tables where they never change, definitions where they change with the state, and put in
//! place where they depend on moves.

use agon_datalog::{Symbol, TermId};
use agon_gdl::rules::{Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

use super::{Binding, Defined, Does, Doing, Instance, Lifter, MAX_DEFINED, MAX_DEPTH, Part};
use crate::to_toss::domain::Functor;
use crate::to_toss::formula::{FALSE, Form, Relation, TRUE, Val, and, ex, or};
use crate::to_toss::{Construct, Untranslatable};

impl Lifter<'_> {
    /// An atom of a relation that rules derive, under a binding that it may add to.
    pub(super) fn derived(
        &mut self,
        rule: &Rule,
        atom: &RuleAtom,
        b: &mut Binding,
        doing: Option<&Doing>,
    ) -> Result<Part, Untranslatable> {
        let mut values = Vec::new();
        if is_about_any_move(rule, atom)
            && self.table(atom.relation, atom.arguments.len()).is_none()
        {
            let role = self.value(rule, &atom.arguments[0], b)?;
            return self.ask_first(atom.relation, atom.arguments.len(), vec![role]);
        }
        if let Some((functor, patterns)) = move_form(atom)
            && self.table(atom.relation, atom.arguments.len()).is_none()
        {
            let role = self.value(rule, &atom.arguments[0], b)?;
            for pattern in patterns {
                values.push(self.value(rule, pattern, b)?);
            }
            return self.ask_move(role, functor, &values);
        }
        for argument in &atom.arguments {
            values.push(self.value(rule, argument, b)?);
        }
        self.ask(atom.relation, values, doing)
    }

    /// Whether a role may make a move of a form, said by the rules. So a move with many arguments need be neither an element nor
    /// a row of a table.
    fn ask_move(
        &mut self,
        role: Val,
        functor: Functor,
        arguments: &[Val],
    ) -> Result<Part, Untranslatable> {
        if self.depth > MAX_DEPTH {
            return Err(self.refuse(Construct::Recursion, "what is legal depends on what is legal"));
        }
        self.depth += 1;
        let before = self.clause;
        let mut ways = Vec::new();
        for index in self.rules_of(keyword::LEGAL, 2) {
            self.clause = index;
            let rule = self.rule(index);
            let mut b = self.binding(index);
            if self.unify(rule, &rule.head.arguments[0], role, &mut b)?
                && self.unify_move(rule, &rule.head.arguments[1], functor, arguments, &mut b)?
            {
                ways.extend(self.instances(index, b, None)?.into_iter().map(Instance::form));
            }
        }
        self.clause = before;
        self.depth -= 1;
        Ok(Part { form: or(ways), roles: 0 })
    }

    /// The ways for an atom to hold, variables without a value being its own.
    pub(super) fn ways(
        &mut self,
        rule: &Rule,
        atom: &RuleAtom,
        b: &Binding,
        doing: Option<&Doing>,
    ) -> Result<Vec<Part>, Untranslatable> {
        let own = || Binding { values: b.values.clone(), locals: Vec::new(), extra: Vec::new() };
        let closed = |inner: Binding, form: Form| {
            ex(&inner.locals, and(inner.extra.into_iter().chain([form])))
        };
        let mut ways = Vec::new();
        match atom.relation {
            keyword::TRUE => {
                for predicate in self.predicates_of(atom)? {
                    let mut inner = own();
                    if self.unify_names(rule, atom, predicate, &mut inner)? {
                        let coordinates = self.coordinates(rule, atom, predicate, &mut inner)?;
                        let atom = Form::Atom(Relation::Fluent(predicate), coordinates);
                        ways.push(Part { form: closed(inner, atom), roles: 0 });
                    }
                }
            }
            keyword::DOES => {
                for role in 0..self.domain.moves.len() {
                    let mut inner = own();
                    if self.unify_does(rule, atom, role, &mut inner, doing)? {
                        let is_foreign =
                            matches!(doing.map(|doing| &doing[role]), Some(Does::Foreign));
                        let form = if is_foreign { Form::Foreign } else { TRUE };
                        ways.push(Part { form: closed(inner, form), roles: 1 << role });
                    }
                }
            }
            relation if self.moving.contains(&(relation, atom.arguments.len())) => {
                let mut inner = own();
                let mut values = Vec::new();
                for argument in &atom.arguments {
                    values.push(self.value(rule, argument, &mut inner)?);
                }
                for way in self.put_in_place(relation, &values, doing)? {
                    ways.push(Part { form: closed(inner.clone(), way.form), roles: way.roles });
                }
            }
            _ => {
                let mut inner = own();
                let part = self.derived(rule, atom, &mut inner, doing)?;
                ways.push(Part { form: closed(inner, part.form), roles: part.roles });
            }
        }
        Ok(ways)
    }

    /// An atom of a relation that rules derive.
    pub(in crate::to_toss) fn ask(
        &mut self,
        relation: Symbol,
        values: Vec<Val>,
        doing: Option<&Doing>,
    ) -> Result<Part, Untranslatable> {
        if let Some(table) = self.table(relation, values.len()) {
            return Ok(Part { form: self.table_atom(table, values), roles: 0 });
        }
        if self.moving.contains(&(relation, values.len())) {
            let ways = self.put_in_place(relation, &values, doing)?;
            let roles = ways.iter().fold(0, |roles, way| roles | way.roles);
            return Ok(Part { form: or(ways.into_iter().map(|way| way.form)), roles });
        }
        let arity = values.len();
        self.ask_first(relation, arity, values)
    }

    /// An atom of a relation that changes with the state alone, of its first arguments: there are others with which it holds.
    fn ask_first(
        &mut self,
        relation: Symbol,
        arity: usize,
        values: Vec<Val>,
    ) -> Result<Part, Untranslatable> {
        let id = self.define(relation, arity, &values)?;
        let body = &self.defined[id].body;
        if !self.open.contains(&id) && (body.is_true() || body.is_false()) {
            return Ok(Part { form: body.clone(), roles: 0 });
        }
        let arguments = values.into_iter().filter(|value| matches!(value, Val::Var(_))).collect();
        Ok(Part { form: Form::Atom(Relation::Defined(id), arguments), roles: 0 })
    }

    /// An atom of a table; where it is ground, the table says whether it holds.
    pub(in crate::to_toss) fn table_atom(&self, table: usize, values: Vec<Val>) -> Form {
        let rows = &self.tables[table].rows;
        let ground: Option<Vec<TermId>> = values
            .iter()
            .map(|value| match value {
                Val::Term(term) => Some(*term),
                Val::Var(_) => None,
            })
            .collect();
        match ground {
            Some(row) if rows.contains(&row) => TRUE,
            Some(_) => FALSE,
            None => {
                let fits = |row: &Vec<TermId>| {
                    row.iter().zip(&values).all(|(cell, value)| match value {
                        Val::Term(term) => term == cell,
                        Val::Var(_) => true,
                    })
                };
                if rows.iter().any(fits) {
                    Form::Atom(Relation::Static(table), values)
                } else {
                    FALSE
                }
            }
        }
    }

    /// A relation that depends on moves, said by its rules.
    fn put_in_place(
        &mut self,
        relation: Symbol,
        values: &[Val],
        doing: Option<&Doing>,
    ) -> Result<Vec<Part>, Untranslatable> {
        if self.depth > MAX_DEPTH {
            return Err(self.refuse(
                Construct::Recursion,
                "a relation that depends on moves depends on itself",
            ));
        }
        self.depth += 1;
        let mut ways = Vec::new();
        for index in self.rules_of(relation, values.len()) {
            for instance in self.answers(index, values, doing)? {
                let roles = instance.parts.iter().fold(0, |roles, part| roles | part.roles);
                ways.push(Part { form: instance.form(), roles });
            }
        }
        self.depth -= 1;
        Ok(ways)
    }

    /// The instances of a rule with its head, or the first arguments of it, made to stand for values.
    pub(in crate::to_toss) fn answers(
        &mut self,
        index: usize,
        values: &[Val],
        doing: Option<&Doing>,
    ) -> Result<Vec<Instance>, Untranslatable> {
        let before = std::mem::replace(&mut self.clause, index);
        let rule = self.rule(index);
        let mut b = self.binding(index);
        for (pattern, &value) in rule.head.arguments.iter().zip(values) {
            if !self.unify(rule, pattern, value, &mut b)? {
                self.clause = before;
                return Ok(Vec::new());
            }
        }
        let found = self.instances(index, b, doing);
        self.clause = before;
        found
    }

    /// The definition of a relation asked of its first arguments with these constants.
    fn define(
        &mut self,
        relation: Symbol,
        arity: usize,
        values: &[Val],
    ) -> Result<usize, Untranslatable> {
        let pattern: Vec<Option<TermId>> = values
            .iter()
            .map(|value| match value {
                Val::Term(term) => Some(*term),
                Val::Var(_) => None,
            })
            .collect();
        let key = (relation, arity, pattern.clone());
        if let Some(&known) = self.defined_ids.get(&key) {
            if let Some(place) = self.open.iter().position(|&open| open == known) {
                if place + 1 != self.open.len() {
                    let name = self.symbol_name(relation);
                    let why = format!("`{name}` and other relations depend on each other");
                    return Err(self.refuse(Construct::Recursion, why));
                }
                self.defined[known].is_recursive = true;
            }
            return Ok(known);
        }
        let id = self.defined.len();
        // Each is made within the one that asks for it, on the stack of the caller.
        if self.open.len() > MAX_DEPTH {
            return Err(self.refuse(
                Construct::Size,
                "relations depend on each other through too many others",
            ));
        }
        if id > MAX_DEFINED {
            return Err(self.refuse(Construct::Size, "too many relations are to be defined"));
        }
        let mut parameters = Vec::new();
        let mut arguments = Vec::new();
        for value in &pattern {
            arguments.push(match value {
                Some(term) => Val::Term(*term),
                None => {
                    let fresh = self.fresh("v");
                    parameters.push(fresh);
                    Val::Var(fresh)
                }
            });
        }
        let constants = pattern.iter().flatten().map(|&term| format!("_{}", self.term_name(term)));
        let name =
            std::iter::once(self.symbol_name(relation).to_owned()).chain(constants).collect();
        self.defined.push(Defined { name, parameters, body: FALSE, is_recursive: false });
        self.defined_ids.insert(key, id);
        self.open.push(id);
        let mut ways = Vec::new();
        let rules = self.rules_of(relation, arity);
        for &index in &rules {
            for instance in self.answers(index, &arguments, None)? {
                ways.push(instance.form());
            }
        }
        self.open.pop();
        // Parameters are called as the rules call them.
        if let Some(&first) = rules.first() {
            let rule = self.rule(first);
            let open =
                rule.head.arguments.iter().zip(&pattern).filter(|(_, value)| value.is_none());
            let names: Vec<Option<String>> = open
                .map(|(argument, _)| match argument {
                    RuleTerm::Variable(v) => Some(self.variable_name(rule, *v)),
                    RuleTerm::Function(..) => None,
                })
                .collect();
            for (index, name) in names.into_iter().enumerate() {
                if let (Some(name), Some(&v)) = (name, self.defined[id].parameters.get(index)) {
                    self.names[v as usize] = name;
                }
            }
        }
        self.defined[id].body = or(ways);
        Ok(id)
    }
}

/// Whether an atom asks if a role may do anything at all. Then a move is no element: there are as many moves as all pieces and places
/// together make.
fn is_about_any_move(rule: &Rule, atom: &RuleAtom) -> bool {
    let [_, RuleTerm::Variable(v)] = atom.arguments.as_slice() else { return false };
    let mut n_seen = 0;
    let mut note = |seen: u32| n_seen += usize::from(seen == *v);
    rule.head.each_variable(&mut note);
    rule.body.iter().for_each(|condition| condition.each_variable(&mut note));
    atom.relation == keyword::LEGAL && n_seen == 1
}

/// The form of the move that an atom asks about, if it asks whether one with arguments is legal.
fn move_form(atom: &RuleAtom) -> Option<(Functor, &[RuleTerm])> {
    match atom.arguments.as_slice() {
        [_, RuleTerm::Function(symbol, arguments)]
            if atom.relation == keyword::LEGAL && !arguments.is_empty() =>
        {
            Some(((*symbol, arguments.len()), arguments))
        }
        _ => None,
    }
}
