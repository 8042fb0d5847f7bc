//! Replaces variables and relations without capture: a replacement keeps the meaning that it had at
//! its origin. Bound names that would capture are renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::{
    Aggregate, Argument, Closure, Definition, Definitions, Fix, Formula, Let, Name, Sort, Term,
    Variable,
};

/// The error that a formula exceeds a size limit. Expansions and normal forms can be exponentially
/// larger than their input.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Oversize {
    /// The allowed number of formulas and terms.
    pub limit: usize,
}

impl fmt::Display for Oversize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the formula grows beyond {} parts", self.limit)
    }
}

impl std::error::Error for Oversize {}

/// A source of names that are not in use.
#[derive(Clone, Default, Debug)]
pub struct Fresh {
    used: BTreeSet<Name>,
}

impl Fresh {
    /// Creates a source that avoids these names, and the names that it has returned.
    pub fn avoiding(names: BTreeSet<Name>) -> Fresh {
        Fresh { used: names }
    }

    /// Adds names to avoid.
    pub fn avoid(&mut self, names: BTreeSet<Name>) {
        self.used.extend(names);
    }

    /// Returns a new name that begins like the given one.
    pub fn name(&mut self, like: &str) -> Name {
        let stem = like.trim_end_matches(|last: char| last.is_ascii_digit());
        let stem = if stem.is_empty() { "x" } else { stem };
        let mut number = 1u64;
        loop {
            let name: Name = format!("{stem}{number}").into();
            if self.used.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }

    /// Returns a new variable of the same sort.
    pub fn variable(&mut self, like: &Variable) -> Variable {
        Variable(self.name(like.name()))
    }
}

impl Formula {
    /// Replaces free element variables, and free set variables by others.
    #[must_use]
    pub fn substituted(&self, replacements: &BTreeMap<Variable, Argument>) -> Formula {
        let mut fresh = Fresh::avoiding(self.all_names());
        let mut rewriting = Rewriting::new(&mut fresh, usize::MAX);
        rewriting.replace_elements(replacements);
        rewriting.formula(self).expect("there is no limit")
    }

    /// Replaces free occurrences of a relation by its definition.
    ///
    /// # Errors
    /// If more than `limit` parts would be created.
    pub fn with_relation(
        &self,
        definition: &Definition,
        limit: usize,
    ) -> Result<Formula, Oversize> {
        let mut fresh = Fresh::avoiding(self.all_names());
        fresh.avoid(definition.body.all_names());
        let mut rewriting = Rewriting::new(&mut fresh, limit);
        rewriting.replace_relation(&definition.name, &definition.variables, &definition.body);
        rewriting.formula(self)
    }

    /// Replaces all defined relations by their definitions, down to relations of the structure.
    ///
    /// # Errors
    /// If more than `limit` parts would be created.
    pub fn expanded(&self, definitions: &Definitions, limit: usize) -> Result<Formula, Oversize> {
        let mut formula = self.clone();
        // The last one first, because its definition may introduce earlier ones, but not vice
        // versa.
        for definition in definitions.iter().rev() {
            if formula.free_relations().contains_key(&definition.name) {
                formula = formula.with_relation(definition, limit)?;
            }
        }
        Ok(formula)
    }

    /// Expands every `let`, of relations and of numbers.
    ///
    /// # Errors
    /// If more than `limit` parts would be created.
    pub fn without_lets(&self, limit: usize) -> Result<Formula, Oversize> {
        let mut fresh = Fresh::avoiding(self.all_names());
        let mut rewriting = Rewriting::new(&mut fresh, limit);
        rewriting.expands_lets = true;
        rewriting.formula(self)
    }

    /// Renames bound variables so that none is bound twice and none is both bound and free.
    #[must_use]
    pub fn with_distinct_binders(&self, fresh: &mut Fresh) -> Formula {
        fresh.avoid(self.free_variables().into_iter().map(|variable| variable.0).collect());
        let mut rewriting = Rewriting::new(fresh, usize::MAX);
        rewriting.separates_binders = true;
        rewriting.formula(self).expect("there is no limit")
    }
}

impl Term {
    /// Replaces free element variables, and free set variables by others.
    #[must_use]
    pub fn substituted(&self, replacements: &BTreeMap<Variable, Argument>) -> Term {
        let mut fresh = Fresh::avoiding(self.all_names());
        let mut rewriting = Rewriting::new(&mut fresh, usize::MAX);
        rewriting.replace_elements(replacements);
        rewriting.term(self).expect("there is no limit")
    }

    /// Replaces free occurrences of a relation by its definition.
    ///
    /// # Errors
    /// If more than `limit` parts would be created.
    pub fn with_relation(&self, definition: &Definition, limit: usize) -> Result<Term, Oversize> {
        let mut fresh = Fresh::avoiding(self.all_names());
        fresh.avoid(definition.body.all_names());
        let mut rewriting = Rewriting::new(&mut fresh, limit);
        rewriting.replace_relation(&definition.name, &definition.variables, &definition.body);
        rewriting.term(self)
    }

    /// Replaces all defined relations by their definitions, down to relations of the structure.
    ///
    /// # Errors
    /// If more than `limit` parts would be created.
    pub fn expanded(&self, definitions: &Definitions, limit: usize) -> Result<Term, Oversize> {
        let mut term = self.clone();
        for definition in definitions.iter().rev() {
            if term.free_relations().contains_key(&definition.name) {
                term = term.with_relation(definition, limit)?;
            }
        }
        Ok(term)
    }

    /// Expands every `let`, of relations and of numbers.
    ///
    /// # Errors
    /// If more than `limit` parts would be created.
    pub fn without_lets(&self, limit: usize) -> Result<Term, Oversize> {
        let mut fresh = Fresh::avoiding(self.all_names());
        let mut rewriting = Rewriting::new(&mut fresh, limit);
        rewriting.expands_lets = true;
        rewriting.term(self)
    }
}

#[derive(Clone)]
enum Replacement {
    Rename(Name),
    Formula(Arc<(Vec<Variable>, Formula)>),
}

/// The replacements at a place in a formula.
#[derive(Clone, Default)]
struct Replacements {
    elements: BTreeMap<Variable, Argument>,
    reals: BTreeMap<Variable, Term>,
    relations: BTreeMap<Name, Replacement>,
    /// The free names of all replacements. Binders of these names are renamed.
    free: BTreeSet<Name>,
}

struct Rewriting<'f> {
    fresh: &'f mut Fresh,
    now: Replacements,
    expands_lets: bool,
    separates_binders: bool,
    limit: usize,
    made: usize,
}

impl<'f> Rewriting<'f> {
    fn new(fresh: &'f mut Fresh, limit: usize) -> Rewriting<'f> {
        Rewriting {
            fresh,
            now: Replacements::default(),
            expands_lets: false,
            separates_binders: false,
            limit,
            made: 0,
        }
    }

    fn replace_elements(&mut self, replacements: &BTreeMap<Variable, Argument>) {
        for (variable, argument) in replacements {
            let name = match argument {
                Argument::Variable(variable) => &variable.0,
                Argument::Constant(name) => name,
            };
            self.fresh.avoid(BTreeSet::from([name.clone()]));
            self.now.free.insert(name.clone());
            self.now.elements.insert(variable.clone(), argument.clone());
        }
    }

    fn replace_relation(&mut self, name: &Name, variables: &[Variable], body: &Formula) {
        let free =
            body.free_variables().into_iter().filter(|variable| !variables.contains(variable));
        self.now.free.extend(free.map(|variable| variable.0));
        self.now.free.extend(body.free_relations().into_keys());
        let replacement = Replacement::Formula(Arc::new((variables.to_vec(), body.clone())));
        self.now.relations.insert(name.clone(), replacement);
    }

    fn count(&mut self) -> Result<(), Oversize> {
        self.made += 1;
        if self.made > self.limit { Err(Oversize { limit: self.limit }) } else { Ok(()) }
    }

    fn argument(&self, argument: &Argument) -> Argument {
        match argument {
            Argument::Variable(variable) => {
                self.now.elements.get(variable).unwrap_or(argument).clone()
            }
            Argument::Constant(_) => argument.clone(),
        }
    }

    /// Returns the set variable, renamed if its binder is. Sets have no constants.
    fn set(&self, set: &Variable) -> Variable {
        let renamed = self.now.elements.get(set).and_then(Argument::variable);
        renamed.unwrap_or(set).clone()
    }

    fn arguments(&self, arguments: &[Argument]) -> Vec<Argument> {
        arguments.iter().map(|argument| self.argument(argument)).collect()
    }

    /// Enters the scope of variables and returns their names there.
    fn bind(&mut self, variables: &[Variable]) -> Vec<Variable> {
        let mut bound = Vec::with_capacity(variables.len());
        for variable in variables {
            self.now.elements.remove(variable);
            self.now.reals.remove(variable);
            let clashes = self.now.free.contains(&variable.0);
            let taken = self.separates_binders && !self.fresh.used.insert(variable.0.clone());
            if !clashes && !taken {
                bound.push(variable.clone());
                continue;
            }
            let renamed = self.fresh.variable(variable);
            self.now.free.insert(renamed.0.clone());
            if variable.sort() == Sort::Real {
                self.now.reals.insert(variable.clone(), Term::Variable(renamed.clone()));
            } else {
                self.now.elements.insert(variable.clone(), Argument::Variable(renamed.clone()));
            }
            bound.push(renamed);
        }
        bound
    }

    fn bind_relation(&mut self, relation: &Name) -> Name {
        self.now.relations.remove(relation);
        if !self.now.free.contains(relation) {
            return relation.clone();
        }
        let renamed = self.fresh.name(relation);
        self.now.free.insert(renamed.clone());
        self.now.relations.insert(relation.clone(), Replacement::Rename(renamed.clone()));
        renamed
    }

    /// Returns a replacing formula for the arguments.
    fn instance(
        &mut self,
        definition: &(Vec<Variable>, Formula),
        given: &[Argument],
    ) -> Result<Formula, Oversize> {
        let outside = std::mem::take(&mut self.now);
        let map: BTreeMap<Variable, Argument> =
            definition.0.iter().cloned().zip(given.iter().cloned()).collect();
        self.replace_elements(&map);
        let expands_lets = std::mem::replace(&mut self.expands_lets, false);
        let answer = self.formula(&definition.1);
        self.expands_lets = expands_lets;
        self.now = outside;
        // An atom does not hold for a constant without an element, whatever its definition says.
        let constants = given.iter().filter(|argument| argument.variable().is_none());
        let mut parts: Vec<Formula> =
            constants.map(|constant| Formula::equal(constant, constant)).collect();
        if parts.is_empty() {
            return answer;
        }
        parts.push(answer?);
        Ok(Formula::And(parts))
    }

    fn formula(&mut self, formula: &Formula) -> Result<Formula, Oversize> {
        self.count()?;
        stacker::maybe_grow(128 << 10, 1 << 20, || {
            let outside = match formula {
                Formula::Exists(..)
                | Formula::All(..)
                | Formula::Fix(_)
                | Formula::Closure(_)
                | Formula::Let(_) => Some(self.now.clone()),
                _ => None,
            };
            let rewritten = match formula {
                Formula::Relation(name, arguments) => {
                    let arguments = self.arguments(arguments);
                    match self.now.relations.get(name).cloned() {
                        None => Formula::Relation(name.clone(), arguments),
                        Some(Replacement::Rename(name)) => Formula::Relation(name, arguments),
                        Some(Replacement::Formula(definition)) => {
                            self.instance(&definition, &arguments)?
                        }
                    }
                }
                Formula::Equal(left, right) => {
                    Formula::Equal(self.argument(left), self.argument(right))
                }
                Formula::Member(element, set) => {
                    Formula::Member(self.argument(element), self.set(set))
                }
                Formula::Exists(variables, inner) => {
                    let variables = self.bind(variables);
                    Formula::Exists(variables, Box::new(self.formula(inner)?))
                }
                Formula::All(variables, inner) => {
                    let variables = self.bind(variables);
                    Formula::All(variables, Box::new(self.formula(inner)?))
                }
                Formula::Fix(fix) => {
                    let arguments = self.arguments(&fix.arguments);
                    let variables = self.bind(&fix.variables);
                    let relation = self.bind_relation(&fix.relation);
                    let body = self.formula(&fix.body)?;
                    Formula::Fix(Box::new(Fix {
                        extreme: fix.extreme,
                        relation,
                        variables,
                        body,
                        arguments,
                    }))
                }
                Formula::Closure(closure) => {
                    let [from, to] = &closure.arguments;
                    let arguments = [self.argument(from), self.argument(to)];
                    let bound = self.bind(&[closure.from.clone(), closure.to.clone()]);
                    let body = self.formula(&closure.body)?;
                    Formula::Closure(Box::new(Closure {
                        bound: closure.bound,
                        from: bound[0].clone(),
                        to: bound[1].clone(),
                        body,
                        arguments,
                    }))
                }
                Formula::Let(local) => self.local(local)?,
                Formula::Compare(..) | Formula::Not(_) | Formula::And(_) | Formula::Or(_) => {
                    let rewriting = std::cell::RefCell::new(&mut *self);
                    formula
                        .rebuilt(&mut |part| rewriting.borrow_mut().formula(part), &mut |part| {
                            rewriting.borrow_mut().term(part)
                        })?
                }
            };
            if let Some(outside) = outside {
                self.now = outside;
            }
            Ok(rewritten)
        })
    }

    fn local(&mut self, local: &Let) -> Result<Formula, Oversize> {
        let outside = self.now.clone();
        let variables = self.bind(&local.variables);
        let definition = self.formula(&local.definition)?;
        self.now = outside;
        if self.expands_lets {
            self.replace_relation(&local.relation, &variables, &definition);
            return self.formula(&local.body);
        }
        let relation = self.bind_relation(&local.relation);
        let body = self.formula(&local.body)?;
        Ok(Formula::Let(Box::new(Let { relation, variables, definition, body })))
    }

    fn term(&mut self, term: &Term) -> Result<Term, Oversize> {
        self.count()?;
        stacker::maybe_grow(128 << 10, 1 << 20, || {
            Ok(match term {
                Term::Number(_) => term.clone(),
                Term::Variable(variable) => self.now.reals.get(variable).unwrap_or(term).clone(),
                Term::ElementNumber(argument) => Term::ElementNumber(self.argument(argument)),
                Term::Function(name, argument) => {
                    Term::Function(name.clone(), self.argument(argument))
                }
                Term::Characteristic(_) | Term::Binary(..) | Term::Apply(..) => {
                    let rewriting = std::cell::RefCell::new(&mut *self);
                    term.rebuilt(&mut |part| rewriting.borrow_mut().formula(part), &mut |part| {
                        rewriting.borrow_mut().term(part)
                    })?
                }
                Term::Aggregate(aggregate) => {
                    let outside = self.now.clone();
                    let variables = self.bind(&aggregate.variables);
                    let guard = self.formula(&aggregate.guard)?;
                    let term = self.term(&aggregate.term)?;
                    self.now = outside;
                    Term::Aggregate(Box::new(Aggregate {
                        fold: aggregate.fold,
                        variables,
                        guard,
                        term,
                    }))
                }
                Term::Least(variable, inner) => {
                    let outside = self.now.clone();
                    let variable = self.bind(std::slice::from_ref(variable)).remove(0);
                    let inner = self.formula(inner)?;
                    self.now = outside;
                    Term::Least(variable, Box::new(inner))
                }
                Term::Let(variable, value, body) => {
                    let value = self.term(value)?;
                    let outside = self.now.clone();
                    let answer = if self.expands_lets {
                        self.made = self.made.saturating_add(value.size());
                        self.now.free.extend(value.free_variables().into_iter().map(|free| free.0));
                        self.now.free.extend(value.free_relations().into_keys());
                        self.now.reals.insert(variable.clone(), value);
                        self.term(body)?
                    } else {
                        let variable = self.bind(std::slice::from_ref(variable)).remove(0);
                        Term::Let(variable, Box::new(value), Box::new(self.term(body)?))
                    };
                    self.now = outside;
                    answer
                }
            })
        })
    }
}
