//! Compiles formulas with names into the [`Program`].

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::formula::{
    Argument, Closure as ClosureFormula, Definitions, Extreme, Fix as FixFormula, Formula, Let,
    Name, Sort, Term, Variable,
};
use crate::structure::Vocabulary;

use super::EvaluationError;
use super::program::{
    Closure, Defined, Fix, Node, NodeId, Program, SetVar, Slot, Source, TermId, TermNode, Var,
};

/// How a defined relation is used.
#[derive(Copy, Clone, Debug)]
pub(super) enum Use {
    /// Computed once per structure, as this entry of the program.
    Once(usize),
    /// Expanded wherever it is used, because on its own it would have too many tuples.
    Inline,
}

/// The meaning of names at a place in a formula.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) variables: Vec<(Variable, Var)>,
    pub(super) reals: Vec<(Variable, TermId)>,
    sets: Vec<(Variable, SetVar)>,
    relations: Vec<(Name, Binding)>,
}

#[derive(Clone)]
enum Binding {
    Fixed {
        slot: usize,
        /// Whether the slot holds the complement of the relation. Greatest fixed points are
        /// complements of least ones.
        complemented: bool,
        parameters: Vec<Var>,
    },
    Local {
        local: Arc<Let>,
        scope: Arc<Scope>,
        parameters: Vec<Var>,
        /// Whether the relation depends on a fixed point that is being computed.
        in_fixed_point: bool,
        /// Whether the relation depends on sets.
        has_sets: bool,
    },
    Once(usize),
}

pub(super) struct Compiler<'a> {
    pub(super) program: &'a mut Program,
    pub(super) uses: &'a mut Vec<Option<Use>>,
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) definitions: &'a Definitions,
    pub(super) scope: Scope,
    /// Maximum number of nodes of the program.
    pub(super) limit: usize,
}

impl Compiler<'_> {
    fn check_size(&self) -> Result<(), EvaluationError> {
        if self.program.size() > self.limit {
            Err(EvaluationError::FormulaTooLarge(self.limit))
        } else {
            Ok(())
        }
    }

    fn slot(&self, argument: &Argument) -> Slot {
        match argument {
            Argument::Variable(variable) => Slot::Variable(self.variable(variable)),
            Argument::Constant(name) => {
                Slot::Constant(self.vocabulary.constant(name).expect("constants are checked"))
            }
        }
    }

    fn variable(&self, variable: &Variable) -> Var {
        let entry = self.scope.variables.iter().rev().find(|entry| &entry.0 == variable);
        entry.expect("checked formulas have no unbound variables").1
    }

    fn real(&self, variable: &Variable) -> TermId {
        let entry = self.scope.reals.iter().rev().find(|entry| &entry.0 == variable);
        entry.expect("checked terms have no unbound variables").1
    }

    fn bind(&mut self, variables: &[Variable]) -> Vec<Var> {
        let bound: Vec<Var> = variables.iter().map(|_| self.program.fresh()).collect();
        self.scope.variables.extend(variables.iter().cloned().zip(bound.iter().copied()));
        bound
    }

    /// Returns the variables around a formula on which it depends directly or indirectly, besides
    /// those listed.
    fn parameters(&self, formula: &Formula, own: &[Variable]) -> Vec<Var> {
        let mut found = BTreeSet::new();
        for variable in formula.free_variables().iter().filter(|variable| !own.contains(variable)) {
            match variable.sort() {
                Sort::Real => found.extend(self.program.term_free(self.real(variable))),
                Sort::Element => {
                    found.insert(self.variable(variable));
                }
                // Sets are no columns of relations.
                Sort::Set | Sort::Relation => {}
            }
        }
        for name in formula.free_relations().keys() {
            match self.binding(name) {
                Some(Binding::Fixed { parameters, .. } | Binding::Local { parameters, .. }) => {
                    found.extend(parameters);
                }
                Some(Binding::Once(_)) | None => {}
            }
        }
        found.into_iter().collect()
    }

    fn binding(&self, name: &Name) -> Option<&Binding> {
        self.scope.relations.iter().rev().find(|entry| &entry.0 == name).map(|entry| &entry.1)
    }

    /// Compiles the formula, or its negation with negations pushed inward.
    pub(super) fn formula(
        &mut self,
        formula: &Formula,
        negated: bool,
    ) -> Result<NodeId, EvaluationError> {
        self.check_size()?;
        stacker::maybe_grow(128 << 10, 1 << 20, || match formula {
            Formula::Relation(name, arguments) => {
                let slots = arguments.iter().map(|argument| self.slot(argument)).collect();
                self.atom(name, slots, negated)
            }
            Formula::Equal(left, right) => {
                let equal = Node::Equal(self.slot(left), self.slot(right));
                let equal = self.program.add(equal);
                Ok(self.signed(equal, negated))
            }
            Formula::Member(element, set) => {
                let entry = self.scope.sets.iter().rev().find(|entry| &entry.0 == set);
                let set = entry.expect("checked formulas have no unbound variables").1;
                let member = Node::Member(self.slot(element), set);
                let member = self.program.add(member);
                Ok(self.signed(member, negated))
            }
            Formula::Compare(left, sign, right) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                self.program.check_countable([left, right])?;
                let comparison = self.program.add(Node::Compare(left, *sign, right));
                Ok(self.signed(comparison, negated))
            }
            Formula::Not(inner) => self.formula(inner, !negated),
            Formula::And(parts) => self.junction(parts, negated, !negated),
            Formula::Or(parts) => self.junction(parts, negated, negated),
            Formula::Exists(variables, inner) => {
                let exists = self.exists(variables, inner, false)?;
                Ok(self.signed(exists, negated))
            }
            Formula::All(variables, inner) => {
                let exception = self.exists(variables, inner, true)?;
                Ok(self.signed(exception, !negated))
            }
            Formula::Fix(fix) => self.fix(fix, negated),
            Formula::Closure(closure) => self.closure(closure, negated),
            Formula::Let(local) => self.local(local, negated),
        })
    }

    fn signed(&mut self, node: NodeId, negated: bool) -> NodeId {
        match self.program.node(node) {
            _ if !negated => node,
            // A quantifier over sets may have become a negation.
            Node::Not(inner) => *inner,
            _ => self.program.add(Node::Not(node)),
        }
    }

    /// Compiles a conjunction or disjunction of parts, each negated or not.
    fn junction(
        &mut self,
        parts: &[Formula],
        negated: bool,
        all: bool,
    ) -> Result<NodeId, EvaluationError> {
        let mut nodes = Vec::new();
        for part in parts {
            let node = self.formula(part, negated)?;
            // Nested lists are flattened, so that more parts can be ordered.
            match (self.program.node(node), all) {
                (Node::And(inner), true) | (Node::Or(inner), false) => nodes.extend(inner.clone()),
                _ => nodes.push(node),
            }
        }
        Ok(match nodes[..] {
            [node] => node,
            _ if all => self.program.add(Node::And(nodes)),
            _ => self.program.add(Node::Or(nodes)),
        })
    }

    fn exists(
        &mut self,
        variables: &[Variable],
        inner: &Formula,
        negated: bool,
    ) -> Result<NodeId, EvaluationError> {
        let (sets, elements): (Vec<Variable>, Vec<Variable>) =
            variables.iter().cloned().partition(|variable| variable.sort() == Sort::Set);
        let (n_variables, n_sets) = (self.scope.variables.len(), self.scope.sets.len());
        let bound = self.bind(&elements);
        let bound_sets: Vec<SetVar> = sets.iter().map(|_| self.program.fresh_set()).collect();
        self.scope.sets.extend(sets.into_iter().zip(bound_sets.iter().copied()));
        let inner = self.formula(inner, negated);
        self.scope.variables.truncate(n_variables);
        self.scope.sets.truncate(n_sets);
        let inner = inner?;
        let inner = if bound.is_empty() { inner } else { self.quantified(bound, inner) };
        Ok(self.program.some_sets(bound_sets, inner))
    }

    fn quantified(&mut self, mut variables: Vec<Var>, inner: NodeId) -> NodeId {
        match self.program.node(inner).clone() {
            Node::Exists(more, inner) => {
                variables.extend(more);
                self.program.add(Node::Exists(variables, inner))
            }
            // An existential quantifier distributes over a disjunction, so each part can be
            // projected on its own.
            Node::Or(parts) => {
                let parts = parts
                    .into_iter()
                    .map(|part| self.quantified(variables.clone(), part))
                    .collect();
                self.program.add(Node::Or(parts))
            }
            _ => self.program.add(Node::Exists(variables, inner)),
        }
    }

    fn atom(
        &mut self,
        name: &Name,
        slots: Vec<Slot>,
        negated: bool,
    ) -> Result<NodeId, EvaluationError> {
        match self.binding(name).cloned() {
            Some(Binding::Fixed { slot, complemented, parameters }) => {
                let all = parameters
                    .into_iter()
                    .map(Slot::Variable)
                    .chain(slots.iter().copied())
                    .collect();
                let atom = self.program.add(Node::Atom(Source::Bound(slot), all));
                if complemented {
                    return Ok(self.complemented(atom, &slots, negated));
                }
                return Ok(self.signed(atom, negated));
            }
            Some(Binding::Local { local, scope, .. }) => {
                return self.inlined(
                    &local.variables,
                    &local.definition,
                    (*scope).clone(),
                    &slots,
                    negated,
                );
            }
            Some(Binding::Once(place)) => {
                let atom = self.program.add(Node::Atom(Source::Defined(place), slots));
                return Ok(self.signed(atom, negated));
            }
            None => {}
        }
        if let Some(place) = self.definitions.place(name) {
            return match self.defined(place)? {
                Use::Once(place) => {
                    let atom = self.program.add(Node::Atom(Source::Defined(place), slots));
                    Ok(self.signed(atom, negated))
                }
                Use::Inline => {
                    let definitions = self.definitions;
                    let definition = &definitions.iter().as_slice()[place];
                    self.inlined(
                        &definition.variables,
                        &definition.body,
                        Scope::default(),
                        &slots,
                        negated,
                    )
                }
            };
        }
        let relation = self.vocabulary.relation(name).expect("relations are checked");
        let atom = self.program.add(Node::Atom(Source::Structure(relation), slots));
        Ok(self.signed(atom, negated))
    }

    fn defined(&mut self, place: usize) -> Result<Use, EvaluationError> {
        if let Some(known) = self.uses[place] {
            return Ok(known);
        }
        let definitions = self.definitions;
        let definition = &definitions.iter().as_slice()[place];
        let outside = std::mem::take(&mut self.scope);
        let found = self.once(&definition.variables, &definition.body);
        self.scope = outside;
        let found = found?.map_or(Use::Inline, Use::Once);
        self.uses[place] = Some(found);
        Ok(found)
    }

    /// Compiles a relation that does not depend on its context as an entry of the program, if it
    /// does not have too many tuples.
    fn once(
        &mut self,
        variables: &[Variable],
        body: &Formula,
    ) -> Result<Option<usize>, EvaluationError> {
        let n_variables = self.scope.variables.len();
        let columns = self.bind(variables);
        let body = self.formula(body, false);
        self.scope.variables.truncate(n_variables);
        let body = body?;
        let restricted = self.program.restricted(body);
        if columns.len() > 1 && !columns.iter().all(|column| restricted.contains(column)) {
            return Ok(None);
        }
        let depends_on = self.program.depends_on(body);
        let uses = self.program.definitions_of(body);
        self.program.defined.push(Defined { columns, body, depends_on, uses });
        Ok(Some(self.program.defined.len() - 1))
    }

    /// Compiles the body of a relation in place of an atom.
    fn inlined(
        &mut self,
        variables: &[Variable],
        body: &Formula,
        scope: Scope,
        slots: &[Slot],
        negated: bool,
    ) -> Result<NodeId, EvaluationError> {
        let outside = std::mem::replace(&mut self.scope, scope);
        let mut constants = Vec::new();
        for (variable, slot) in variables.iter().zip(slots) {
            let bound = match slot {
                Slot::Variable(bound) => *bound,
                Slot::Constant(constant) => {
                    let fresh = self.program.fresh();
                    constants.push((fresh, *constant));
                    fresh
                }
            };
            self.scope.variables.push((variable.clone(), bound));
        }
        let inner = self.formula(body, negated && constants.is_empty());
        self.scope = outside;
        let inner = inner?;
        if constants.is_empty() {
            return Ok(inner);
        }
        let mut parts = vec![inner];
        for &(fresh, constant) in &constants {
            parts.push(
                self.program.add(Node::Equal(Slot::Variable(fresh), Slot::Constant(constant))),
            );
        }
        let all = self.program.add(Node::And(parts));
        let fresh = constants.into_iter().map(|(fresh, _)| fresh).collect();
        let exists = self.quantified(fresh, all);
        Ok(self.signed(exists, negated))
    }

    fn fix(&mut self, fix: &FixFormula, negated: bool) -> Result<NodeId, EvaluationError> {
        let greatest = fix.extreme == Extreme::Greatest;
        // The relation may shadow an outer one whose parameters then do not matter. They do no harm
        // either.
        let parameters = self.parameters(&fix.body, &fix.variables);
        let mut arguments: Vec<Slot> =
            parameters.iter().map(|&parameter| Slot::Variable(parameter)).collect();
        arguments.extend(fix.arguments.iter().map(|argument| self.slot(argument)));
        let slot = self.program.n_slots;
        let delta = slot + 1;
        self.program.n_slots += 2;
        let (n_variables, n_relations) = (self.scope.variables.len(), self.scope.relations.len());
        let mut columns = parameters.clone();
        columns.extend(self.bind(&fix.variables));
        let binding = Binding::Fixed { slot, complemented: greatest, parameters };
        self.scope.relations.push((fix.relation.clone(), binding));
        let body = self.formula(&fix.body, greatest);
        self.scope.variables.truncate(n_variables);
        self.scope.relations.truncate(n_relations);
        let body = body?;
        if !self.program.sets(body).is_empty() {
            return Err(EvaluationError::SetsInside("a fixed point"));
        }
        let derivative = self.program.derivative(body, slot, delta);
        let node = Node::Fix(Fix { slot, delta, columns, body, derivative, arguments });
        let node = self.program.add(node);
        if !greatest {
            return Ok(self.signed(node, negated));
        }
        let asked: Vec<Slot> = fix.arguments.iter().map(|argument| self.slot(argument)).collect();
        Ok(self.complemented(node, &asked, negated))
    }

    /// Compiles an atom, or its negation, from an atom of the complement. Neither atom holds for a
    /// constant without an element.
    fn complemented(&mut self, complement: NodeId, slots: &[Slot], negated: bool) -> NodeId {
        let constants = slots.iter().filter(|slot| matches!(slot, Slot::Constant(_)));
        let present: Vec<NodeId> =
            constants.map(|&slot| self.program.add(Node::Equal(slot, slot))).collect();
        let mut parts = vec![self.signed(complement, !negated)];
        if present.is_empty() {
            return parts[0];
        }
        if negated {
            for part in present {
                parts.push(self.program.add(Node::Not(part)));
            }
            self.program.add(Node::Or(parts))
        } else {
            parts.extend(present);
            self.program.add(Node::And(parts))
        }
    }

    fn closure(
        &mut self,
        closure: &ClosureFormula,
        negated: bool,
    ) -> Result<NodeId, EvaluationError> {
        let variables = [closure.from.clone(), closure.to.clone()];
        let parameters = self.parameters(&closure.body, &variables);
        let arguments = [self.slot(&closure.arguments[0]), self.slot(&closure.arguments[1])];
        let n_variables = self.scope.variables.len();
        let bound = self.bind(&variables);
        let body = self.formula(&closure.body, false);
        self.scope.variables.truncate(n_variables);
        let max_steps =
            closure.bound.map_or(u64::MAX, |bound| 1u64.checked_shl(bound).unwrap_or(u64::MAX));
        let node =
            Closure { max_steps, from: bound[0], to: bound[1], parameters, body: body?, arguments };
        let node = self.program.closure(node)?;
        Ok(self.signed(node, negated))
    }

    fn local(&mut self, local: &Let, negated: bool) -> Result<NodeId, EvaluationError> {
        let parameters = self.parameters(&local.definition, &local.variables);
        let names = local.definition.free_relations();
        let in_fixed_point = names.keys().any(|name| {
            matches!(
                self.binding(name),
                Some(Binding::Fixed { .. } | Binding::Local { in_fixed_point: true, .. })
            )
        });
        // Real variables may have values that only the caller knows.
        let has_reals =
            local.definition.free_variables().iter().any(|variable| variable.sort() == Sort::Real);
        let has_sets =
            local.definition.free_variables().iter().any(|variable| variable.sort() == Sort::Set)
                || names.keys().any(|name| {
                    matches!(self.binding(name), Some(Binding::Local { has_sets: true, .. }))
                });
        let closed = parameters.is_empty() && !in_fixed_point && !has_reals && !has_sets;
        let once = if closed { self.once(&local.variables, &local.definition)? } else { None };
        let binding = match once {
            Some(place) => Binding::Once(place),
            None => Binding::Local {
                local: Arc::new(local.clone()),
                scope: Arc::new(self.scope.clone()),
                parameters,
                in_fixed_point: in_fixed_point || has_reals,
                has_sets,
            },
        };
        self.scope.relations.push((local.relation.clone(), binding));
        let body = self.formula(&local.body, negated);
        self.scope.relations.pop();
        body
    }

    /// Compiles the term. `let`s are replaced by their values, which are shared, not copied.
    pub(super) fn term(&mut self, term: &Term) -> Result<TermId, EvaluationError> {
        self.check_size()?;
        stacker::maybe_grow(128 << 10, 1 << 20, || {
            let node = match term {
                Term::Number(number) => TermNode::Number(*number),
                Term::Variable(variable) => return Ok(self.real(variable)),
                Term::ElementNumber(argument) => TermNode::ElementNumber(self.slot(argument)),
                Term::Function(name, argument) => {
                    let function = self.vocabulary.function(name).expect("functions are checked");
                    TermNode::Function(function, self.slot(argument))
                }
                Term::Characteristic(inner) => {
                    TermNode::Characteristic(self.formula(inner, false)?)
                }
                Term::Binary(operator, left, right) => {
                    TermNode::Binary(*operator, self.term(left)?, self.term(right)?)
                }
                Term::Apply(function, arguments) => {
                    let arguments = arguments.iter().map(|argument| self.term(argument));
                    TermNode::Apply(*function, arguments.collect::<Result<_, _>>()?)
                }
                Term::Least(variable, _) => {
                    return Err(EvaluationError::UnsupportedSort(
                        variable.clone(),
                        variable.sort(),
                    ));
                }
                Term::Aggregate(aggregate) => {
                    let n_variables = self.scope.variables.len();
                    let bound = self.bind(&aggregate.variables);
                    let guard = self.formula(&aggregate.guard, false);
                    let term = guard.and_then(|guard| Ok((guard, self.term(&aggregate.term)?)));
                    self.scope.variables.truncate(n_variables);
                    let (guard, term) = term?;
                    TermNode::Aggregate(aggregate.fold, bound, guard, term)
                }
                Term::Let(variable, value, body) => {
                    let value = self.term(value)?;
                    self.scope.reals.push((variable.clone(), value));
                    let body = self.term(body);
                    self.scope.reals.pop();
                    return body;
                }
            };
            Ok(self.program.add_term(node))
        })
    }
}
