//! Checks once whether a formula is valid in a model, so that evaluators need not check again.

use std::collections::BTreeSet;

use crate::formula::{Argument, Definitions, Formula, Name, Polarity, Sort, Term, Variable};
use crate::structure::Vocabulary;

use super::EvaluationError;

/// Checks a formula with the given free variables, and all definitions that it uses.
pub(crate) fn check_formula(
    vocabulary: &Vocabulary,
    definitions: &Definitions,
    formula: &Formula,
    free: &[Variable],
) -> Result<(), EvaluationError> {
    let mut check = Check::new(vocabulary, definitions, free);
    check.formula(formula)?;
    check.open_definitions()
}

/// Checks a term with the given free variables, and all definitions that it uses.
pub(crate) fn check_term(
    vocabulary: &Vocabulary,
    definitions: &Definitions,
    term: &Term,
    free: &[Variable],
) -> Result<(), EvaluationError> {
    let mut check = Check::new(vocabulary, definitions, free);
    check.term(term)?;
    check.open_definitions()
}

struct Check<'a> {
    vocabulary: &'a Vocabulary,
    definitions: &'a Definitions,
    bound: Vec<Variable>,
    relations: Vec<(Name, usize)>,
    /// The places of definitions that are used and not yet checked.
    open: BTreeSet<usize>,
}

impl<'a> Check<'a> {
    fn new(
        vocabulary: &'a Vocabulary,
        definitions: &'a Definitions,
        free: &[Variable],
    ) -> Check<'a> {
        Check {
            vocabulary,
            definitions,
            bound: free.to_vec(),
            relations: Vec::new(),
            open: BTreeSet::new(),
        }
    }

    fn open_definitions(&mut self) -> Result<(), EvaluationError> {
        // From last to first, because each definition uses only earlier ones.
        while let Some(place) = self.open.pop_last() {
            let definition = self.definitions.iter().as_slice()[place].clone();
            self.bound = definition.variables;
            self.relations.clear();
            self.formula(&definition.body)?;
        }
        Ok(())
    }

    fn variable(&self, variable: &Variable, sort: Sort) -> Result<(), EvaluationError> {
        if variable.sort() != sort {
            Err(EvaluationError::UnsupportedSort(variable.clone(), variable.sort()))
        } else if self.bound.contains(variable) {
            Ok(())
        } else {
            Err(EvaluationError::UnboundVariable(variable.clone()))
        }
    }

    fn arguments(&self, arguments: &[Argument]) -> Result<(), EvaluationError> {
        arguments.iter().try_for_each(|argument| match argument {
            Argument::Variable(variable) => self.variable(variable, Sort::Element),
            Argument::Constant(name) => match self.vocabulary.constant(name) {
                Some(_) => Ok(()),
                None => Err(EvaluationError::UnknownConstant(name.clone())),
            },
        })
    }

    fn arity(relation: &Name, arity: usize, given: usize) -> Result<(), EvaluationError> {
        if arity == given {
            Ok(())
        } else {
            Err(EvaluationError::WrongArity { relation: relation.clone(), arity, given })
        }
    }

    fn under(
        &mut self,
        variables: &[Variable],
        inside: impl FnOnce(&mut Check<'a>) -> Result<(), EvaluationError>,
    ) -> Result<(), EvaluationError> {
        self.under_sorts(variables, &[Sort::Element], inside)
    }

    /// Checks a part in the scope of variables, which must be of one of these sorts.
    fn under_sorts(
        &mut self,
        variables: &[Variable],
        sorts: &[Sort],
        inside: impl FnOnce(&mut Check<'a>) -> Result<(), EvaluationError>,
    ) -> Result<(), EvaluationError> {
        for (place, variable) in variables.iter().enumerate() {
            if !sorts.contains(&variable.sort()) {
                return Err(EvaluationError::UnsupportedSort(variable.clone(), variable.sort()));
            }
            if variables[..place].contains(variable) {
                return Err(EvaluationError::RepeatedVariable(variable.clone()));
            }
        }
        let n_bound = self.bound.len();
        self.bound.extend_from_slice(variables);
        let answer = inside(self);
        self.bound.truncate(n_bound);
        answer
    }

    fn formula(&mut self, formula: &Formula) -> Result<(), EvaluationError> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
            Formula::Relation(name, arguments) => {
                self.arguments(arguments)?;
                if let Some((_, arity)) = self.relations.iter().rev().find(|entry| &entry.0 == name)
                {
                    Check::arity(name, *arity, arguments.len())
                } else if let Some(place) = self.definitions.place(name) {
                    self.open.insert(place);
                    let arity = self.definitions.iter().as_slice()[place].variables.len();
                    Check::arity(name, arity, arguments.len())
                } else if let Some(id) = self.vocabulary.relation(name) {
                    Check::arity(name, self.vocabulary.arity(id), arguments.len())
                } else {
                    Err(EvaluationError::UnknownRelation(name.clone()))
                }
            }
            Formula::Equal(left, right) => self.arguments(&[left.clone(), right.clone()]),
            Formula::Member(element, set) => {
                self.arguments(std::slice::from_ref(element))?;
                self.variable(set, Sort::Set)
            }
            Formula::Compare(left, _, right) => {
                self.term(left)?;
                self.term(right)
            }
            Formula::Not(inner) => self.formula(inner),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().try_for_each(|part| self.formula(part))
            }
            Formula::Exists(variables, inner) | Formula::All(variables, inner) => {
                self.under_sorts(variables, &[Sort::Element, Sort::Set], |check| {
                    check.formula(inner)
                })
            }
            Formula::Fix(fix) => {
                self.arguments(&fix.arguments)?;
                Check::arity(&fix.relation, fix.variables.len(), fix.arguments.len())?;
                if !matches!(
                    fix.body.polarities().get(&fix.relation),
                    None | Some(Polarity::Positive)
                ) {
                    return Err(EvaluationError::NotMonotone(fix.relation.clone()));
                }
                self.relations.push((fix.relation.clone(), fix.variables.len()));
                let answer = self.under(&fix.variables, |check| check.formula(&fix.body));
                self.relations.pop();
                answer
            }
            Formula::Closure(closure) => {
                self.arguments(&closure.arguments)?;
                let variables = [closure.from.clone(), closure.to.clone()];
                self.under(&variables, |check| check.formula(&closure.body))
            }
            Formula::Let(local) => {
                self.under(&local.variables, |check| check.formula(&local.definition))?;
                self.relations.push((local.relation.clone(), local.variables.len()));
                let answer = self.formula(&local.body);
                self.relations.pop();
                answer
            }
        })
    }

    fn term(&mut self, term: &Term) -> Result<(), EvaluationError> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match term {
            Term::Number(_) => Ok(()),
            Term::Variable(variable) => self.variable(variable, Sort::Real),
            Term::ElementNumber(argument) => self.arguments(std::slice::from_ref(argument)),
            Term::Function(name, argument) => {
                if self.vocabulary.function(name).is_none() {
                    return Err(EvaluationError::UnknownFunction(name.clone()));
                }
                self.arguments(std::slice::from_ref(argument))
            }
            Term::Characteristic(inner) => self.formula(inner),
            Term::Binary(_, left, right) => {
                self.term(left)?;
                self.term(right)
            }
            Term::Aggregate(aggregate) => self.under(&aggregate.variables, |check| {
                check.formula(&aggregate.guard)?;
                check.term(&aggregate.term)
            }),
            Term::Let(variable, value, body) => {
                if variable.sort() != Sort::Real {
                    return Err(EvaluationError::UnsupportedSort(
                        variable.clone(),
                        variable.sort(),
                    ));
                }
                self.term(value)?;
                self.bound.push(variable.clone());
                let answer = self.term(body);
                self.bound.pop();
                answer
            }
            // Solving for a real number belongs to the engine for continuous games.
            Term::Least(variable, _) => {
                Err(EvaluationError::UnsupportedSort(variable.clone(), variable.sort()))
            }
            Term::Apply(function, arguments) => {
                if !function.takes(arguments.len()) {
                    return Err(EvaluationError::WrongArguments(*function, arguments.len()));
                }
                arguments.iter().try_for_each(|argument| self.term(argument))
            }
        })
    }
}
