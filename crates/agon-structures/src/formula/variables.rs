//! Computes the variables and relations of a formula, and its size.

use std::collections::{BTreeMap, BTreeSet};

use super::walk::Part;
use super::{Argument, Formula, Name, Sort, Term, Variable};

impl Formula {
    /// Returns the free variables of all sorts.
    pub fn free_variables(&self) -> BTreeSet<Variable> {
        let mut free = Free::default();
        free.formula(self);
        free.found
    }

    /// Returns the relations that are not bound by a `let` or a fixed point, each with the arities
    /// of its occurrences.
    pub fn free_relations(&self) -> BTreeMap<Name, BTreeSet<usize>> {
        let mut free = Free::default();
        free.formula(self);
        free.relations
    }

    /// Returns all names of variables, relations, functions and constants, bound or free.
    pub fn all_names(&self) -> BTreeSet<Name> {
        all_names(Part::Formula(self))
    }

    /// Returns a variable of another sort than elements over which the formula or one of its terms
    /// quantifies, if there is one. Variables bound by `let` do not count.
    pub fn quantified_beyond_elements(&self) -> Option<Variable> {
        quantified_beyond_elements(Part::Formula(self))
    }

    /// Returns the number of formulas and terms that it consists of.
    pub fn size(&self) -> usize {
        let mut size = 0;
        Part::Formula(self).descend(&mut |_| size += 1);
        size
    }
}

impl Term {
    /// Returns the free variables of all sorts.
    pub fn free_variables(&self) -> BTreeSet<Variable> {
        let mut free = Free::default();
        free.term(self);
        free.found
    }

    /// Returns the relations that are not bound by a `let` or a fixed point, each with the arities
    /// of its occurrences.
    pub fn free_relations(&self) -> BTreeMap<Name, BTreeSet<usize>> {
        let mut free = Free::default();
        free.term(self);
        free.relations
    }

    /// Returns all names of variables, relations, functions and constants, bound or free.
    pub fn all_names(&self) -> BTreeSet<Name> {
        all_names(Part::Term(self))
    }

    /// Returns a variable of another sort than elements over which a formula within the term
    /// quantifies, if there is one. Variables bound by `let` do not count.
    pub fn quantified_beyond_elements(&self) -> Option<Variable> {
        quantified_beyond_elements(Part::Term(self))
    }

    /// Returns the number of formulas and terms that it consists of.
    pub fn size(&self) -> usize {
        let mut size = 0;
        Part::Term(self).descend(&mut |_| size += 1);
        size
    }
}

fn quantified_beyond_elements(part: Part<'_>) -> Option<Variable> {
    let mut found = None;
    part.descend(&mut |part| {
        let bound = match part {
            Part::Formula(Formula::Exists(bound, _) | Formula::All(bound, _)) => bound.as_slice(),
            Part::Term(Term::Least(variable, _)) => std::slice::from_ref(variable),
            Part::Formula(_) | Part::Term(_) => &[],
        };
        let other = bound.iter().find(|variable| variable.sort() != Sort::Element);
        found = found.take().or_else(|| other.cloned());
    });
    found
}

fn all_names(part: Part<'_>) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    let arguments = |names: &mut BTreeSet<Name>, arguments: &[Argument]| {
        for argument in arguments {
            names.insert(match argument {
                Argument::Variable(variable) => variable.0.clone(),
                Argument::Constant(name) => name.clone(),
            });
        }
    };
    let variables = |names: &mut BTreeSet<Name>, variables: &[Variable]| {
        names.extend(variables.iter().map(|variable| variable.0.clone()));
    };
    part.descend(&mut |part| match part {
        Part::Formula(formula) => match formula {
            Formula::Relation(name, given) => {
                names.insert(name.clone());
                arguments(&mut names, given);
            }
            Formula::Equal(left, right) => arguments(&mut names, &[left.clone(), right.clone()]),
            Formula::Member(element, set) => {
                arguments(&mut names, std::slice::from_ref(element));
                names.insert(set.0.clone());
            }
            Formula::Exists(bound, _) | Formula::All(bound, _) => variables(&mut names, bound),
            Formula::Fix(fix) => {
                names.insert(fix.relation.clone());
                variables(&mut names, &fix.variables);
                arguments(&mut names, &fix.arguments);
            }
            Formula::Closure(closure) => {
                variables(&mut names, &[closure.from.clone(), closure.to.clone()]);
                arguments(&mut names, &closure.arguments);
            }
            Formula::Let(local) => {
                names.insert(local.relation.clone());
                variables(&mut names, &local.variables);
            }
            Formula::Compare(..) | Formula::Not(_) | Formula::And(_) | Formula::Or(_) => {}
        },
        Part::Term(term) => match term {
            Term::Variable(variable) | Term::Let(variable, _, _) | Term::Least(variable, _) => {
                names.insert(variable.0.clone());
            }
            Term::ElementNumber(argument) => arguments(&mut names, std::slice::from_ref(argument)),
            Term::Function(name, argument) => {
                names.insert(name.clone());
                arguments(&mut names, std::slice::from_ref(argument));
            }
            Term::Aggregate(aggregate) => variables(&mut names, &aggregate.variables),
            Term::Number(_) | Term::Characteristic(_) | Term::Binary(..) | Term::Apply(..) => {}
        },
    });
    names
}

/// Collects free variables and relations, with the scopes of bound ones.
#[derive(Default)]
struct Free {
    bound: Vec<Variable>,
    bound_relations: Vec<Name>,
    found: BTreeSet<Variable>,
    relations: BTreeMap<Name, BTreeSet<usize>>,
}

impl Free {
    fn variable(&mut self, variable: &Variable) {
        if !self.bound.contains(variable) {
            self.found.insert(variable.clone());
        }
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        arguments
            .iter()
            .filter_map(Argument::variable)
            .for_each(|variable| self.variable(variable));
    }

    fn under(&mut self, variables: &[Variable], inside: impl FnOnce(&mut Free)) {
        let n_bound = self.bound.len();
        self.bound.extend_from_slice(variables);
        inside(self);
        self.bound.truncate(n_bound);
    }

    fn under_relation(&mut self, relation: &Name, inside: impl FnOnce(&mut Free)) {
        self.bound_relations.push(relation.clone());
        inside(self);
        self.bound_relations.pop();
    }

    fn formula(&mut self, formula: &Formula) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
            Formula::Relation(name, arguments) => {
                self.arguments(arguments);
                if !self.bound_relations.contains(name) {
                    self.relations.entry(name.clone()).or_default().insert(arguments.len());
                }
            }
            Formula::Equal(left, right) => self.arguments(&[left.clone(), right.clone()]),
            Formula::Member(element, set) => {
                self.arguments(std::slice::from_ref(element));
                self.variable(set);
            }
            Formula::Compare(left, _, right) => {
                self.term(left);
                self.term(right);
            }
            Formula::Not(inner) => self.formula(inner),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| self.formula(part));
            }
            Formula::Exists(variables, inner) | Formula::All(variables, inner) => {
                self.under(variables, |free| free.formula(inner));
            }
            Formula::Fix(fix) => {
                self.arguments(&fix.arguments);
                self.under(&fix.variables, |free| {
                    free.under_relation(&fix.relation, |free| free.formula(&fix.body));
                });
            }
            Formula::Closure(closure) => {
                self.arguments(&closure.arguments);
                self.under(&[closure.from.clone(), closure.to.clone()], |free| {
                    free.formula(&closure.body);
                });
            }
            Formula::Let(local) => {
                self.under(&local.variables, |free| free.formula(&local.definition));
                self.under_relation(&local.relation, |free| free.formula(&local.body));
            }
        });
    }

    fn term(&mut self, term: &Term) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match term {
            Term::Number(_) => {}
            Term::Variable(variable) => self.variable(variable),
            Term::ElementNumber(argument) | Term::Function(_, argument) => {
                self.arguments(std::slice::from_ref(argument));
            }
            Term::Characteristic(inner) => self.formula(inner),
            Term::Binary(_, left, right) => {
                self.term(left);
                self.term(right);
            }
            Term::Aggregate(aggregate) => self.under(&aggregate.variables, |free| {
                free.formula(&aggregate.guard);
                free.term(&aggregate.term);
            }),
            Term::Let(variable, value, body) => {
                self.term(value);
                self.under(std::slice::from_ref(variable), |free| free.term(body));
            }
            Term::Least(variable, inner) => {
                self.under(std::slice::from_ref(variable), |free| free.formula(inner));
            }
            Term::Apply(_, arguments) => arguments.iter().for_each(|argument| self.term(argument)),
        });
    }
}
