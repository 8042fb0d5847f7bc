//! Atoms of derived relations: tables if they are static, definitions if they depend on the state,
//! and inlined if they depend on moves.

use agon_datalog::{Symbol, TermId};
use agon_gdl::rules::{Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

use super::{Action, Actions, Binding, Defined, Instance, Lifter, MAX_DEFINED, MAX_DEPTH, Part};
use crate::to_toss::domain::Functor;
use crate::to_toss::formula::{FALSE, Form, Relation, TRUE, Val, and, ex, or};
use crate::to_toss::{Construct, ToTossError};

impl Lifter<'_> {
    /// Translates an atom of a derived relation. The binding may grow.
    pub(super) fn derived(
        &mut self,
        rule: &Rule,
        atom: &RuleAtom,
        b: &mut Binding,
        actions: Option<&Actions>,
    ) -> Result<Part, ToTossError> {
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
        self.ask(atom.relation, values, actions)
    }

    /// Expresses by the rules whether a role has a legal move of a form. So a move with many
    /// arguments need not be an element or a row of a table.
    fn ask_move(
        &mut self,
        role: Val,
        functor: Functor,
        arguments: &[Val],
    ) -> Result<Part, ToTossError> {
        if self.depth > MAX_DEPTH {
            return Err(self.error(Construct::Recursion, "the legality of moves depends on itself"));
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

    /// Returns the alternatives under which an atom holds. Variables without a value are local to
    /// them.
    pub(super) fn ways(
        &mut self,
        rule: &Rule,
        atom: &RuleAtom,
        b: &Binding,
        actions: Option<&Actions>,
    ) -> Result<Vec<Part>, ToTossError> {
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
                    if self.unify_does(rule, atom, role, &mut inner, actions)? {
                        let is_foreign =
                            matches!(actions.map(|actions| &actions[role]), Some(Action::Foreign));
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
                for way in self.put_in_place(relation, &values, actions)? {
                    ways.push(Part { form: closed(inner.clone(), way.form), roles: way.roles });
                }
            }
            _ => {
                let mut inner = own();
                let part = self.derived(rule, atom, &mut inner, actions)?;
                ways.push(Part { form: closed(inner, part.form), roles: part.roles });
            }
        }
        Ok(ways)
    }

    /// Translates an atom of a derived relation with the given arguments.
    pub(in crate::to_toss) fn ask(
        &mut self,
        relation: Symbol,
        values: Vec<Val>,
        actions: Option<&Actions>,
    ) -> Result<Part, ToTossError> {
        if let Some(table) = self.table(relation, values.len()) {
            return Ok(Part { form: self.table_atom(table, values), roles: 0 });
        }
        if self.moving.contains(&(relation, values.len())) {
            let ways = self.put_in_place(relation, &values, actions)?;
            let roles = ways.iter().fold(0, |roles, way| roles | way.roles);
            return Ok(Part { form: or(ways.into_iter().map(|way| way.form)), roles });
        }
        let arity = values.len();
        self.ask_first(relation, arity, values)
    }

    /// Translates an atom of a state-dependent relation, given its first arguments. The other
    /// arguments are existentially quantified.
    fn ask_first(
        &mut self,
        relation: Symbol,
        arity: usize,
        values: Vec<Val>,
    ) -> Result<Part, ToTossError> {
        let id = self.define(relation, arity, &values)?;
        let body = &self.defined[id].body;
        if !self.open.contains(&id) && (body.is_true() || body.is_false()) {
            return Ok(Part { form: body.clone(), roles: 0 });
        }
        let arguments = values.into_iter().filter(|value| matches!(value, Val::Var(_))).collect();
        Ok(Part { form: Form::Atom(Relation::Defined(id), arguments), roles: 0 })
    }

    /// Returns an atom of a table. A ground atom is evaluated.
    pub(in crate::to_toss) fn table_atom(&self, table: usize, values: Vec<Val>) -> Form {
        let rows = &self.tables[table].rows;
        let ground: Option<Vec<TermId>> = values.iter().map(|value| value.term()).collect();
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

    /// Inlines a relation that depends on moves.
    fn put_in_place(
        &mut self,
        relation: Symbol,
        values: &[Val],
        actions: Option<&Actions>,
    ) -> Result<Vec<Part>, ToTossError> {
        if self.depth > MAX_DEPTH {
            return Err(self.error(
                Construct::Recursion,
                "a relation that depends on moves depends on itself",
            ));
        }
        self.depth += 1;
        let mut ways = Vec::new();
        for index in self.rules_of(relation, values.len()) {
            for instance in self.answers(index, values, actions)? {
                let roles = instance.parts.iter().fold(0, |roles, part| roles | part.roles);
                ways.push(Part { form: instance.form(), roles });
            }
        }
        self.depth -= 1;
        Ok(ways)
    }

    /// Returns the instances of a rule whose head, or its first arguments, are unified with values.
    pub(in crate::to_toss) fn answers(
        &mut self,
        index: usize,
        values: &[Val],
        actions: Option<&Actions>,
    ) -> Result<Vec<Instance>, ToTossError> {
        let before = std::mem::replace(&mut self.clause, index);
        let rule = self.rule(index);
        let mut b = self.binding(index);
        for (pattern, &value) in rule.head.arguments.iter().zip(values) {
            if !self.unify(rule, pattern, value, &mut b)? {
                self.clause = before;
                return Ok(Vec::new());
            }
        }
        let found = self.instances(index, b, actions);
        self.clause = before;
        found
    }

    /// Returns the definition of a relation for its first arguments with these constants.
    fn define(
        &mut self,
        relation: Symbol,
        arity: usize,
        values: &[Val],
    ) -> Result<usize, ToTossError> {
        let pattern: Vec<Option<TermId>> = values.iter().map(|value| value.term()).collect();
        let key = (relation, arity, pattern.clone());
        if let Some(&known) = self.defined_ids.get(&key) {
            if let Some(place) = self.open.iter().position(|&open| open == known) {
                if place + 1 != self.open.len() {
                    let name = self.symbol_name(relation);
                    let why = format!("`{name}` and other relations depend on each other");
                    return Err(self.error(Construct::Recursion, why));
                }
                self.defined[known].is_recursive = true;
            }
            return Ok(known);
        }
        let id = self.defined.len();
        // Definitions are built recursively, on the stack of the caller.
        if self.open.len() > MAX_DEPTH {
            return Err(
                self.error(Construct::Size, "the definitions of relations are nested too deeply")
            );
        }
        if id > MAX_DEFINED {
            return Err(self.error(Construct::Size, "too many relations have to be defined"));
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
        if let Some(&first) = rules.first() {
            self.name_parameters(id, self.rule(first), &pattern);
        }
        self.defined[id].body = or(ways);
        Ok(id)
    }

    /// Names the parameters of a definition like the variables of a rule's head.
    fn name_parameters(&mut self, id: usize, rule: &Rule, pattern: &[Option<TermId>]) {
        let open = rule.head.arguments.iter().zip(pattern).filter(|(_, value)| value.is_none());
        for (index, (argument, _)) in open.enumerate() {
            if let (RuleTerm::Variable(v), Some(&parameter)) =
                (argument, self.defined[id].parameters.get(index))
            {
                self.names[parameter as usize] = self.variable_name(rule, *v);
            }
        }
    }
}

/// Returns whether an atom only asks if a role has any legal move. The move is then not an element,
/// because there may be as many moves as combinations of pieces and places.
fn is_about_any_move(rule: &Rule, atom: &RuleAtom) -> bool {
    let [_, RuleTerm::Variable(v)] = atom.arguments.as_slice() else { return false };
    let mut n_seen = 0;
    let mut note = |seen: u32| n_seen += usize::from(seen == *v);
    rule.head.each_variable(&mut note);
    rule.body.iter().for_each(|condition| condition.each_variable(&mut note));
    atom.relation == keyword::LEGAL && n_seen == 1
}

/// Returns the form of the move in a `legal` atom, if the move has arguments.
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
