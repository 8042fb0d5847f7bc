//! Unification of rule terms with values.

use agon_datalog::TermId;
use agon_gdl::rules::{Rule, RuleAtom, RuleTerm};

use super::super::domain::Functor;
use super::super::formula::{Form, Relation, Val, same};
use super::super::{Construct, ToTossError};
use super::{Action, Actions, Binding, Lifter};

impl Lifter<'_> {
    /// Returns the value of a rule term. An unbound variable gets a new variable of the formula.
    pub(super) fn value(
        &mut self,
        rule: &Rule,
        term: &RuleTerm,
        b: &mut Binding,
    ) -> Result<Val, ToTossError> {
        match term {
            RuleTerm::Variable(v) => {
                if let Some(value) = b.values[*v as usize] {
                    return Ok(value);
                }
                let name = self.variable_name(rule, *v);
                let fresh = self.fresh(&name);
                b.locals.push(fresh);
                b.values[*v as usize] = Some(Val::Var(fresh));
                Ok(Val::Var(fresh))
            }
            RuleTerm::Function(symbol, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(rule, argument, b)?);
                }
                let ground: Option<Vec<TermId>> = values.iter().map(|value| value.term()).collect();
                if let Some(ground) = ground {
                    return Ok(Val::Term(self.intern(*symbol, &ground)?));
                }
                let table = self.shape_table((*symbol, arguments.len()));
                let name = self.symbol_name(*symbol).to_owned();
                let whole = self.fresh(&name);
                b.locals.push(whole);
                let row = std::iter::once(Val::Var(whole)).chain(values).collect();
                b.extra.push(Form::Atom(Relation::Static(table), row));
                Ok(Val::Var(whole))
            }
        }
    }

    /// Unifies a rule term with a value. Returns `false` if that is impossible.
    pub(in crate::to_toss) fn unify(
        &mut self,
        rule: &Rule,
        pattern: &RuleTerm,
        value: Val,
        b: &mut Binding,
    ) -> Result<bool, ToTossError> {
        match pattern {
            RuleTerm::Variable(v) => {
                match b.values[*v as usize] {
                    None => b.values[*v as usize] = Some(value),
                    Some(known) => {
                        let equation = same(known, value);
                        if equation.is_false() {
                            return Ok(false);
                        }
                        b.extra.push(equation);
                        // A constant is more specific than a variable.
                        if matches!(value, Val::Term(_)) {
                            b.values[*v as usize] = Some(value);
                        }
                    }
                }
                Ok(true)
            }
            RuleTerm::Function(symbol, arguments) => match value {
                Val::Term(term) => {
                    if !self.domain.bank.has_form(term, *symbol, arguments.len()) {
                        return Ok(false);
                    }
                    for (index, argument) in arguments.iter().enumerate() {
                        let part = Val::Term(self.domain.bank.argument(term, index));
                        if !self.unify(rule, argument, part, b)? {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                }
                Val::Var(_) => {
                    let own = self.value(rule, pattern, b)?;
                    let equation = same(own, value);
                    b.extra.push(equation);
                    Ok(true)
                }
            },
        }
    }

    /// Returns the predicates that a state term of a rule may refer to.
    pub(in crate::to_toss) fn predicates_of(
        &self,
        atom: &RuleAtom,
    ) -> Result<Vec<usize>, ToTossError> {
        match &atom.arguments[0] {
            RuleTerm::Variable(_) => {
                Err(self
                    .error(Construct::StateVariable, "a variable stands for a whole state term"))
            }
            RuleTerm::Function(symbol, arguments) => {
                let functor = (*symbol, arguments.len());
                let all = self.domain.predicates.iter().enumerate();
                Ok(all.filter(|(_, p)| p.functor == functor).map(|(index, _)| index).collect())
            }
        }
    }

    /// Unifies the named positions of a state term with the values of a predicate.
    pub(in crate::to_toss) fn unify_names(
        &mut self,
        rule: &Rule,
        atom: &RuleAtom,
        predicate: usize,
        b: &mut Binding,
    ) -> Result<bool, ToTossError> {
        let domain = self.domain;
        let predicate = &domain.predicates[predicate];
        let RuleTerm::Function(_, arguments) = &atom.arguments[0] else { return Ok(false) };
        let named = &domain.state[&predicate.functor].named;
        let positions = arguments.iter().zip(named).filter(|(_, named)| **named);
        for ((pattern, _), &value) in positions.zip(&predicate.names) {
            if !self.unify(rule, pattern, Val::Term(value), b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the coordinates of a state term.
    pub(super) fn coordinates(
        &mut self,
        rule: &Rule,
        atom: &RuleAtom,
        predicate: usize,
        b: &mut Binding,
    ) -> Result<Vec<Val>, ToTossError> {
        let domain = self.domain;
        let RuleTerm::Function(_, arguments) = &atom.arguments[0] else { return Ok(Vec::new()) };
        let named = &domain.state[&domain.predicates[predicate].functor].named;
        let positions = arguments.iter().zip(named).filter(|(_, named)| !**named);
        positions.map(|(argument, _)| self.value(rule, argument, b)).collect()
    }

    /// Unifies the coordinates of a state term with values.
    pub(in crate::to_toss) fn unify_coordinates(
        &mut self,
        rule: &Rule,
        atom: &RuleAtom,
        predicate: usize,
        values: &[Val],
        b: &mut Binding,
    ) -> Result<bool, ToTossError> {
        let domain = self.domain;
        let RuleTerm::Function(_, arguments) = &atom.arguments[0] else { return Ok(false) };
        let named = &domain.state[&domain.predicates[predicate].functor].named;
        let positions = arguments.iter().zip(named).filter(|(_, named)| !**named);
        for ((pattern, _), &value) in positions.zip(values) {
            if !self.unify(rule, pattern, value, b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Unifies a condition on moves with the action of a role. Returns `false` if the role does
    /// something else.
    pub(super) fn unify_does(
        &mut self,
        rule: &Rule,
        atom: &RuleAtom,
        role: usize,
        b: &mut Binding,
        actions: Option<&Actions>,
    ) -> Result<bool, ToTossError> {
        let term = self.domain.game.role_terms()[role];
        if !self.unify(rule, &atom.arguments[0], Val::Term(term), b)? {
            return Ok(false);
        }
        let Some(actions) = actions else {
            return Err(self.error(
                Construct::MoveOutOfPlace,
                "a condition depends on moves where no moves are made",
            ));
        };
        match &actions[role] {
            Action::Foreign => Ok(true),
            Action::Form(functor, arguments) => {
                let functor = *functor;
                let arguments = arguments.clone();
                self.unify_move(rule, &atom.arguments[1], functor, &arguments, b)
            }
        }
    }

    /// Unifies a move of a rule with a form.
    pub(in crate::to_toss) fn unify_move(
        &mut self,
        rule: &Rule,
        pattern: &RuleTerm,
        functor: Functor,
        arguments: &[Val],
        b: &mut Binding,
    ) -> Result<bool, ToTossError> {
        match pattern {
            RuleTerm::Variable(_) => {
                let ground: Option<Vec<TermId>> =
                    arguments.iter().map(|value| value.term()).collect();
                let whole = match ground {
                    Some(ground) => Val::Term(self.intern(functor.0, &ground)?),
                    None => {
                        let table = self.shape_table(functor);
                        let whole = self.fresh("move");
                        b.locals.push(whole);
                        let row = std::iter::once(Val::Var(whole))
                            .chain(arguments.iter().copied())
                            .collect();
                        b.extra.push(Form::Atom(Relation::Static(table), row));
                        Val::Var(whole)
                    }
                };
                self.unify(rule, pattern, whole, b)
            }
            RuleTerm::Function(symbol, patterns) => {
                if (*symbol, patterns.len()) != functor {
                    return Ok(false);
                }
                for (pattern, &argument) in patterns.iter().zip(arguments) {
                    if !self.unify(rule, pattern, argument, b)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}
