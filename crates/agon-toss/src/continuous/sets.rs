//! Decides quantifiers over sets at a structure with numbers.
//!
//! The evaluator of exact formulas grounds such quantifiers and asks SAT solvers, but it knows
//! neither values that change nor real numbers. So the parts of a formula that mention no set are
//! computed first: conditions become relations of a wider structure, terms become functions. The
//! rest is about sets alone, and the evaluator decides it.
//!
//! This is not possible if a condition has no truth value yet because time passes, or if members of
//! sets are counted with numbers that are not exact.

use std::sync::Arc;

use agon_structures::evaluate::{Assignment, EvaluationError, Evaluator, Limits};
use agon_structures::formula::{
    Aggregate, Argument, Closure, Definitions, Fix, Formula, Let, Name, Operator, RealFunction,
    Sign, Sort, Term, Variable,
};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, Structure, Vocabulary};

use super::ContinuousError;
use super::walk::{Algebra, MAX_SET_ELEMENTS, Walker, is_discrete};

#[cfg(test)]
mod tests;

/// Maximum number of arguments of a condition that is computed for all elements.
const MAX_COLUMNS: usize = 3;

/// Decides a formula that quantifies over sets. Returns `None` if it is beyond the evaluator.
pub(super) fn decide<A: Algebra>(
    walker: &mut Walker<'_, A>,
    quantified: &Formula,
) -> Result<Option<bool>, ContinuousError> {
    let mut reduction = Reduction {
        definitions: discrete_definitions(walker),
        walker,
        elements: Vec::new(),
        sets: Vec::new(),
        locals: Vec::new(),
        relations: Vec::new(),
        functions: Vec::new(),
    };
    let Some(reduced) = reduction.formula(quantified)? else { return Ok(None) };
    let Reduction { definitions, relations, functions, .. } = reduction;
    let variables: Vec<Variable> = reduced.free_variables().into_iter().collect();
    let mut assignment = Assignment::new();
    for variable in &variables {
        if variable.sort() != Sort::Element {
            return Ok(None);
        }
        let Some(element) = walker.element(&Argument::Variable(variable.clone()))? else {
            return Ok(None);
        };
        assignment = assignment.with(variable, element);
    }
    let structure = wider(walker.structure, &relations, &functions);
    let limits = Limits { steps: walker.max_steps, ..Limits::default() };
    let mut evaluator =
        Evaluator::new(structure.vocabulary().clone(), Arc::new(definitions), limits);
    evaluator.set_interrupt(walker.watch.interrupt().clone());
    evaluator.allow(walker.watch.left());
    let holds = evaluator
        .formula(&reduced, &variables)
        .and_then(|query| evaluator.holds(query, &structure, &assignment));
    walker.watch.spend(evaluator.spent())?;
    match holds {
        Ok(holds) => Ok(Some(holds)),
        Err(EvaluationError::Interrupted) => Err(ContinuousError::Interrupted),
        Err(EvaluationError::Steps(limit)) => Err(ContinuousError::Steps(limit)),
        // All sets can be tried.
        Err(_) if structure.n_elements() <= MAX_SET_ELEMENTS => Ok(None),
        Err(error) => Err(ContinuousError::Sets(error.to_string())),
    }
}

/// Returns the definitions that the evaluator of exact formulas can use: those without numbers.
fn discrete_definitions<A: Algebra>(walker: &Walker<'_, A>) -> Definitions {
    let mut kept = Definitions::new();
    let has = |name: &str| walker.structure.vocabulary().relation(name).is_some();
    for definition in walker.definitions.iter().filter(|definition| !has(&definition.name)) {
        let is_known = |name: &str| has(name) || kept.get(name).is_some();
        if is_discrete(&definition.body, &is_known, &|_| true) {
            // The definition was accepted before, and the relations it uses come first.
            let _ =
                kept.add(&definition.name, definition.variables.clone(), definition.body.clone());
        }
    }
    kept
}

/// A relation of the wider structure: its name, the number of its arguments and its tuples.
type Table = (Name, usize, Vec<Vec<Element>>);

/// Returns the structure with additional relations and functions.
fn wider(
    structure: &Structure,
    relations: &[Table],
    functions: &[(Name, Vec<(Element, Rational)>)],
) -> Structure {
    const LIVING: &str = "conditions are computed for living elements";
    let mut vocabulary: Vocabulary = (**structure.vocabulary()).clone();
    for (name, arity, _) in relations {
        vocabulary.add_relation(name, *arity).expect("the name is new");
    }
    for (name, _) in functions {
        vocabulary.add_function(name);
    }
    let vocabulary = Arc::new(vocabulary);
    let mut wider = structure.extended(Arc::clone(&vocabulary));
    for (name, _, tuples) in relations {
        let relation = vocabulary.relation(name).expect("the relation was added");
        for tuple in tuples {
            wider.add(relation, tuple).expect(LIVING);
        }
    }
    for (name, values) in functions {
        let function = vocabulary.function(name).expect("the function was added");
        for &(element, value) in values {
            wider.set_value(function, element, Some(value)).expect(LIVING);
        }
    }
    wider
}

/// Replaces the parts of a formula that mention no set.
struct Reduction<'w, 'a, A: Algebra> {
    walker: &'w mut Walker<'a, A>,
    definitions: Definitions,
    /// The variables and relations that the formula binds around the current part.
    elements: Vec<Variable>,
    sets: Vec<Variable>,
    locals: Vec<Name>,
    relations: Vec<Table>,
    functions: Vec<(Name, Vec<(Element, Rational)>)>,
}

impl<A: Algebra> Reduction<'_, '_, A> {
    /// Returns the formula over the wider structure; `None` if there is none.
    fn formula(&mut self, formula: &Formula) -> Result<Option<Formula>, ContinuousError> {
        Ok(Some(match formula {
            Formula::Relation(name, _) => {
                let is_plain = self.locals.contains(name)
                    || !self.walker.has_local(name)
                        && (self.walker.structure.vocabulary().relation(name).is_some()
                            || self.definitions.get(name).is_some());
                if !is_plain {
                    return self.table(formula);
                }
                formula.clone()
            }
            Formula::Equal(..) => formula.clone(),
            Formula::Member(_, set) if self.sets.contains(set) => formula.clone(),
            Formula::Member(..) => return self.table(formula),
            Formula::Compare(left, sign, right) => {
                if !self.mentions_bound(formula) {
                    return self.table(formula);
                }
                let (Some(left), Some(right)) = (self.term(left)?, self.term(right)?) else {
                    return Ok(None);
                };
                Formula::compare(left, *sign, right)
            }
            Formula::Not(inner) => match self.formula(inner)? {
                Some(inner) => Formula::Not(Box::new(inner)),
                None => return Ok(None),
            },
            Formula::And(parts) | Formula::Or(parts) => {
                let mut reduced = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.formula(part)? {
                        Some(part) => reduced.push(part),
                        None => return Ok(None),
                    }
                }
                match formula {
                    Formula::And(_) => Formula::And(reduced),
                    _ => Formula::Or(reduced),
                }
            }
            Formula::Exists(variables, body) | Formula::All(variables, body) => {
                if variables.iter().any(|v| matches!(v.sort(), Sort::Real | Sort::Relation)) {
                    return self.table(formula);
                }
                let Some(body) = self.below(variables, None, |inner| inner.formula(body))? else {
                    return Ok(None);
                };
                let (variables, body) = (variables.clone(), Box::new(body));
                match formula {
                    Formula::Exists(..) => Formula::Exists(variables, body),
                    _ => Formula::All(variables, body),
                }
            }
            Formula::Fix(fix) => {
                let name = Some(&fix.relation);
                let body = self.below(&fix.variables, name, |inner| inner.formula(&fix.body))?;
                let Some(body) = body else { return Ok(None) };
                Formula::Fix(Box::new(Fix { body, ..(**fix).clone() }))
            }
            Formula::Closure(closure) => {
                let ends = [closure.from.clone(), closure.to.clone()];
                let body = self.below(&ends, None, |inner| inner.formula(&closure.body))?;
                let Some(body) = body else { return Ok(None) };
                Formula::Closure(Box::new(Closure { body, ..(**closure).clone() }))
            }
            Formula::Let(bound) => {
                let definition =
                    self.below(&bound.variables, None, |inner| inner.formula(&bound.definition))?;
                let name = Some(&bound.relation);
                let body = self.below(&[], name, |inner| inner.formula(&bound.body))?;
                let (Some(definition), Some(body)) = (definition, body) else { return Ok(None) };
                Formula::Let(Box::new(Let { definition, body, ..(**bound).clone() }))
            }
        }))
    }

    /// Returns the term over the wider structure; `None` if there is none.
    fn term(&mut self, term: &Term) -> Result<Option<Term>, ContinuousError> {
        let as_formula = || Formula::compare(term.clone(), Sign::Equal, Term::whole(0));
        if !self.mentions_bound(&as_formula()) && self.columns(&as_formula()).len() < 2 {
            return self.values(term);
        }
        Ok(Some(match term {
            Term::Binary(operator, left, right) => {
                let (Some(left), Some(right)) = (self.term(left)?, self.term(right)?) else {
                    return Ok(None);
                };
                Term::Binary(*operator, Box::new(left), Box::new(right))
            }
            Term::Characteristic(formula) => match self.formula(formula)? {
                Some(formula) => Term::Characteristic(Box::new(formula)),
                None => return Ok(None),
            },
            Term::Aggregate(aggregate) => {
                let Aggregate { fold, variables, guard, term } = &**aggregate;
                let reduced = self.below(variables, None, |inner| {
                    let (guard, term) = (inner.formula(guard)?, inner.term(term)?);
                    Ok(guard.zip(term))
                })?;
                let Some((guard, term)) = reduced else { return Ok(None) };
                let (fold, variables) = (*fold, variables.clone());
                Term::Aggregate(Box::new(Aggregate { fold, variables, guard, term }))
            }
            Term::Apply(
                function @ (RealFunction::Abs | RealFunction::Min | RealFunction::Max),
                arguments,
            ) => {
                let mut reduced = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    match self.term(argument)? {
                        Some(argument) => reduced.push(argument),
                        None => return Ok(None),
                    }
                }
                Term::Apply(*function, reduced)
            }
            _ => return Ok(None),
        }))
    }

    /// Reduces a part in which these variables and this relation are bound.
    fn below<T>(
        &mut self,
        variables: &[Variable],
        relation: Option<&Name>,
        reduce: impl FnOnce(&mut Self) -> Result<Option<T>, ContinuousError>,
    ) -> Result<Option<T>, ContinuousError> {
        let before = (self.elements.len(), self.sets.len(), self.locals.len());
        for variable in variables {
            match variable.sort() {
                Sort::Set => self.sets.push(variable.clone()),
                _ => self.elements.push(variable.clone()),
            }
        }
        self.locals.extend(relation.cloned());
        let reduced = reduce(self);
        self.elements.truncate(before.0);
        self.sets.truncate(before.1);
        self.locals.truncate(before.2);
        reduced
    }

    /// Returns whether a formula mentions a set or a relation that is bound around it.
    fn mentions_bound(&self, formula: &Formula) -> bool {
        formula.free_variables().iter().any(|variable| self.sets.contains(variable))
            || formula.free_relations().keys().any(|name| self.locals.contains(name))
    }

    /// Returns the variables for elements of a formula that are bound around it.
    fn columns(&self, formula: &Formula) -> Vec<Variable> {
        let free = formula.free_variables().into_iter();
        free.filter(|variable| self.elements.contains(variable)).collect()
    }

    /// Computes a condition without sets for all elements, and returns the atom for it.
    fn table(&mut self, formula: &Formula) -> Result<Option<Formula>, ContinuousError> {
        let columns = self.columns(formula);
        if self.mentions_bound(formula) || columns.len() > MAX_COLUMNS {
            return Ok(None);
        }
        let mut tuples = Vec::new();
        for (tuple, truth) in self.walker.table(&columns, formula)? {
            match self.walker.algebra.known(&truth) {
                Some(true) => tuples.push(tuple),
                Some(false) => {}
                None => return Ok(None),
            }
        }
        // A name with spaces is no name of the game.
        let name: Name = format!("condition number {}", self.relations.len()).into();
        self.relations.push((name.clone(), columns.len(), tuples));
        Ok(Some(Formula::atom(&name, &columns)))
    }

    /// Computes a term without sets for all elements, and returns the term for it.
    fn values(&mut self, term: &Term) -> Result<Option<Term>, ContinuousError> {
        let columns = self.columns(&Formula::compare(term.clone(), Sign::Equal, Term::whole(0)));
        let Some(column) = columns.first() else {
            let number = self.walker.term(term)?;
            return Ok(self.walker.algebra.exact(&number).map(|number| match number {
                Some(number) => Term::Number(number),
                // A division by zero is undefined too.
                None => Term::Binary(
                    Operator::Divide,
                    Box::new(Term::whole(1)),
                    Box::new(Term::whole(0)),
                ),
            }));
        };
        let structure = self.walker.structure;
        let mut values = Vec::new();
        for element in structure.elements() {
            self.walker.elements.push((column.clone(), element));
            let number = self.walker.term(term);
            self.walker.elements.pop();
            match self.walker.algebra.exact(&number?) {
                Some(Some(number)) => values.push((element, number)),
                Some(None) => {}
                None => return Ok(None),
            }
        }
        let name: Name = format!("term number {}", self.functions.len()).into();
        self.functions.push((name.clone(), values));
        Ok(Some(Term::Function(name, Argument::Variable(column.clone()))))
    }
}
