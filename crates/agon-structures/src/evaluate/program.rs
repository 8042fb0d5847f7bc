//! Formulas prepared for evaluation: names are resolved and negations are pushed inward.

use std::collections::BTreeSet;

use crate::formula::{Fold, Operator, RealFunction, Sign};
use crate::rational::Rational;
use crate::structure::{ConstantId, FunctionId, RelationId};

/// A variable. Different binders have different variables, so there is no shadowing.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Var(pub(super) u32);

/// A variable for a set of elements. Different binders have different variables.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct SetVar(pub(super) u32);

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct NodeId(pub(super) u32);

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct TermId(pub(super) u32);

/// An argument of an atom.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    Variable(Var),
    Constant(ConstantId),
}

/// The relation of an atom.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Structure(RelationId),
    /// Computed once per structure: a definition, or a `let` that does not depend on its context.
    Defined(usize),
    /// A fixed point that is being computed: all tuples so far, or those of the last round.
    Bound(usize),
}

/// A formula. Universal quantifiers are negated existential ones, greatest fixed points complements
/// of least ones.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Atom(Source, Vec<Slot>),
    Equal(Slot, Slot),
    Compare(TermId, Sign, TermId),
    Not(NodeId),
    And(Vec<NodeId>),
    Or(Vec<NodeId>),
    Exists(Vec<Var>, NodeId),
    Member(Slot, SetVar),
    /// There are sets for which a formula holds.
    Sets(Vec<SetVar>, NodeId),
    Closure(Closure),
    Fix(Fix),
}

#[derive(Clone, Debug)]
pub(super) struct Closure {
    /// Maximum number of steps of a path.
    pub(super) max_steps: u64,
    pub(super) from: Var,
    pub(super) to: Var,
    /// The other free variables of the body.
    pub(super) parameters: Vec<Var>,
    pub(super) body: NodeId,
    pub(super) arguments: [Slot; 2],
}

/// A least fixed point. Its parameters are columns of the relation.
#[derive(Clone, Debug)]
pub(super) struct Fix {
    /// The slot with all tuples so far.
    pub(super) slot: usize,
    /// The slot with the tuples of the last round.
    pub(super) delta: usize,
    pub(super) columns: Vec<Var>,
    pub(super) body: NodeId,
    /// A formula for the tuples that follow from those of the last round. It may include tuples
    /// that are not new. `None` if the body does not use the relation.
    pub(super) derivative: Option<NodeId>,
    /// The arguments of the atom, column by column.
    pub(super) arguments: Vec<Slot>,
}

#[derive(Clone, Debug)]
pub(super) enum TermNode {
    Number(Rational),
    /// A real variable with a value from the caller.
    Given(usize),
    ElementNumber(Slot),
    Function(FunctionId, Slot),
    Characteristic(NodeId),
    Binary(Operator, TermId, TermId),
    Aggregate(Fold, Vec<Var>, NodeId, TermId),
    Apply(RealFunction, Vec<TermId>),
}

/// A relation that is computed once per structure.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub(super) columns: Vec<Var>,
    pub(super) body: NodeId,
    /// The parts of a structure that it depends on.
    pub(super) depends_on: Dependencies,
    /// The definitions that its body uses directly.
    pub(super) uses: Vec<usize>,
}

/// The parts of a structure on which a result depends, besides the universe.
#[derive(Clone, Default, Debug)]
pub(super) struct Dependencies {
    pub(super) relations: BTreeSet<RelationId>,
    /// Whether values of functions matter.
    pub(super) functions: bool,
    /// Whether constants matter.
    pub(super) constants: bool,
}

/// All formulas of an evaluator. Formulas are added and never removed.
#[derive(Clone, Default, Debug)]
pub(super) struct Program {
    nodes: Vec<Node>,
    free: Vec<Vec<Var>>,
    /// The free set variables of each formula, sorted.
    sets: Vec<Vec<SetVar>>,
    lookups: Vec<bool>,
    terms: Vec<TermNode>,
    term_free: Vec<Vec<Var>>,
    term_sets: Vec<Vec<SetVar>>,
    pub(super) defined: Vec<Defined>,
    pub(super) n_variables: u32,
    n_set_variables: u32,
    pub(super) n_slots: usize,
}

impl Program {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn term(&self, id: TermId) -> &TermNode {
        &self.terms[id.0 as usize]
    }

    /// Returns the free variables of a formula, sorted.
    pub(super) fn free(&self, id: NodeId) -> &[Var] {
        &self.free[id.0 as usize]
    }

    /// Returns the free set variables of a formula, sorted.
    pub(super) fn sets(&self, id: NodeId) -> &[SetVar] {
        &self.sets[id.0 as usize]
    }

    /// Returns the free set variables of a term, sorted.
    pub(super) fn term_sets(&self, id: TermId) -> &[SetVar] {
        &self.term_sets[id.0 as usize]
    }

    /// Returns whether a formula whose variables are all known is evaluated by look-up, without
    /// iteration.
    pub(super) fn is_lookup(&self, id: NodeId) -> bool {
        self.lookups[id.0 as usize]
    }

    /// Returns whether a term is a number or a value of one element.
    fn is_plain(&self, id: TermId) -> bool {
        match self.term(id) {
            TermNode::Number(_)
            | TermNode::Given(_)
            | TermNode::ElementNumber(_)
            | TermNode::Function(..) => true,
            TermNode::Binary(_, left, right) => self.is_plain(*left) && self.is_plain(*right),
            TermNode::Apply(_, arguments) => {
                arguments.iter().all(|&argument| self.is_plain(argument))
            }
            TermNode::Characteristic(_) | TermNode::Aggregate(..) => false,
        }
    }

    /// Returns the free variables of a term, sorted.
    pub(super) fn term_free(&self, id: TermId) -> &[Var] {
        &self.term_free[id.0 as usize]
    }

    pub(super) fn size(&self) -> usize {
        self.nodes.len() + self.terms.len()
    }

    pub(super) fn fresh(&mut self) -> Var {
        self.n_variables += 1;
        Var(self.n_variables - 1)
    }

    pub(super) fn fresh_set(&mut self) -> SetVar {
        self.n_set_variables += 1;
        SetVar(self.n_set_variables - 1)
    }

    pub(super) fn add(&mut self, node: Node) -> NodeId {
        let free = match &node {
            Node::Atom(_, slots) => of_slots(slots),
            Node::Equal(left, right) => of_slots(&[*left, *right]),
            Node::Compare(left, _, right) => union([self.term_free(*left), self.term_free(*right)]),
            Node::Not(inner) => self.free(*inner).to_vec(),
            Node::And(parts) | Node::Or(parts) => union(parts.iter().map(|&part| self.free(part))),
            Node::Exists(variables, inner) => without(self.free(*inner), variables),
            Node::Member(slot, _) => of_slots(&[*slot]),
            Node::Sets(_, inner) => self.free(*inner).to_vec(),
            Node::Closure(closure) => {
                union([&of_slots(&closure.arguments)[..], &closure.parameters])
            }
            // Parameters are among the arguments.
            Node::Fix(fix) => of_slots(&fix.arguments),
        };
        let sets = match &node {
            Node::Atom(..) | Node::Equal(..) => Vec::new(),
            Node::Member(_, set) => vec![*set],
            Node::Compare(left, _, right) => union([self.term_sets(*left), self.term_sets(*right)]),
            Node::Not(inner) | Node::Exists(_, inner) => self.sets(*inner).to_vec(),
            Node::And(parts) | Node::Or(parts) => union(parts.iter().map(|&part| self.sets(part))),
            Node::Sets(bound, inner) => without(self.sets(*inner), bound),
            Node::Closure(closure) => self.sets(closure.body).to_vec(),
            Node::Fix(fix) => self.sets(fix.body).to_vec(),
        };
        let is_lookup = match &node {
            Node::Atom(..) | Node::Equal(..) | Node::Member(..) => true,
            Node::Compare(left, _, right) => [left, right].iter().all(|&&side| self.is_plain(side)),
            Node::Not(inner) => self.is_lookup(*inner),
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|&part| self.is_lookup(part)),
            Node::Exists(..) | Node::Sets(..) | Node::Closure(_) | Node::Fix(_) => false,
        };
        self.nodes.push(node);
        self.free.push(free);
        self.sets.push(sets);
        self.lookups.push(is_lookup);
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(super) fn add_term(&mut self, term: TermNode) -> TermId {
        let free = match &term {
            TermNode::Number(_) | TermNode::Given(_) => Vec::new(),
            TermNode::ElementNumber(slot) | TermNode::Function(_, slot) => of_slots(&[*slot]),
            TermNode::Characteristic(inner) => self.free(*inner).to_vec(),
            TermNode::Binary(_, left, right) => {
                union([self.term_free(*left), self.term_free(*right)])
            }
            TermNode::Apply(_, arguments) => {
                union(arguments.iter().map(|&argument| self.term_free(argument)))
            }
            TermNode::Aggregate(_, variables, guard, term) => {
                without(&union([self.free(*guard), self.term_free(*term)]), variables)
            }
        };
        let sets = match &term {
            TermNode::Number(_)
            | TermNode::Given(_)
            | TermNode::ElementNumber(_)
            | TermNode::Function(..) => Vec::new(),
            TermNode::Characteristic(inner) => self.sets(*inner).to_vec(),
            TermNode::Binary(_, left, right) => {
                union([self.term_sets(*left), self.term_sets(*right)])
            }
            TermNode::Apply(_, arguments) => {
                union(arguments.iter().map(|&argument| self.term_sets(argument)))
            }
            TermNode::Aggregate(_, _, guard, term) => {
                union([self.sets(*guard), self.term_sets(*term)])
            }
        };
        self.terms.push(term);
        self.term_free.push(free);
        self.term_sets.push(sets);
        TermId(self.terms.len() as u32 - 1)
    }

    /// Returns the variables whose values are restricted by a relation, so that the formula can be
    /// evaluated without iterating over all elements for them.
    pub(super) fn restricted(&self, id: NodeId) -> BTreeSet<Var> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.node(id) {
            Node::Atom(_, slots) => of_slots(slots).into_iter().collect(),
            Node::Equal(Slot::Variable(variable), Slot::Constant(_))
            | Node::Equal(Slot::Constant(_), Slot::Variable(variable)) => {
                BTreeSet::from([*variable])
            }
            Node::Equal(..)
            | Node::Member(..)
            | Node::Compare(..)
            | Node::Not(_)
            | Node::Closure(_) => BTreeSet::new(),
            Node::Sets(_, inner) => self.restricted(*inner),
            Node::And(parts) => {
                let mut restricted: BTreeSet<Var> =
                    parts.iter().flat_map(|&part| self.restricted(part)).collect();
                // Equalities propagate the restriction. As many rounds as there are parts reach the
                // end of any chain.
                for _ in 0..parts.len() {
                    for &part in parts {
                        if let Node::Equal(Slot::Variable(left), Slot::Variable(right)) =
                            self.node(part)
                            && (restricted.contains(left) || restricted.contains(right))
                        {
                            restricted.extend([*left, *right]);
                        }
                    }
                }
                restricted
            }
            Node::Or(parts) => {
                let mut parts = parts.iter().map(|&part| self.restricted(part));
                let first = parts.next().unwrap_or_default();
                parts.fold(first, |common, part| common.intersection(&part).copied().collect())
            }
            Node::Exists(variables, inner) => {
                let mut restricted = self.restricted(*inner);
                restricted.retain(|variable| !variables.contains(variable));
                restricted
            }
            Node::Fix(fix) => {
                let restricted = self.restricted(fix.body);
                let pairs = fix.columns.iter().zip(&fix.arguments);
                pairs
                    .filter_map(|(column, argument)| match argument {
                        Slot::Variable(variable) if restricted.contains(column) => Some(*variable),
                        _ => None,
                    })
                    .collect()
            }
        })
    }

    /// Returns the dependencies of a formula.
    pub(super) fn depends_on(&self, id: NodeId) -> Dependencies {
        let mut depends_on = Dependencies::default();
        self.gather_dependencies(id, &mut depends_on);
        depends_on
    }

    fn gather_dependencies(&self, id: NodeId, depends_on: &mut Dependencies) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.node(id) {
            Node::Atom(source, slots) => {
                match source {
                    Source::Structure(relation) => {
                        depends_on.relations.insert(*relation);
                    }
                    Source::Defined(place) => {
                        let inner = &self.defined[*place].depends_on;
                        depends_on.relations.extend(&inner.relations);
                        depends_on.functions |= inner.functions;
                        depends_on.constants |= inner.constants;
                    }
                    Source::Bound(_) => {}
                }
                depends_on.constants |= slots.iter().any(|slot| matches!(slot, Slot::Constant(_)));
            }
            Node::Equal(left, right) => {
                depends_on.constants |=
                    [left, right].iter().any(|slot| matches!(slot, Slot::Constant(_)));
            }
            Node::Compare(left, _, right) => {
                self.gather_term_dependencies(*left, depends_on);
                self.gather_term_dependencies(*right, depends_on);
            }
            Node::Member(slot, _) => {
                depends_on.constants |= matches!(slot, Slot::Constant(_));
            }
            Node::Not(inner) | Node::Exists(_, inner) | Node::Sets(_, inner) => {
                self.gather_dependencies(*inner, depends_on);
            }
            Node::And(parts) | Node::Or(parts) => {
                parts.iter().for_each(|&part| self.gather_dependencies(part, depends_on));
            }
            Node::Closure(closure) => {
                depends_on.constants |=
                    closure.arguments.iter().any(|slot| matches!(slot, Slot::Constant(_)));
                self.gather_dependencies(closure.body, depends_on);
            }
            Node::Fix(fix) => {
                depends_on.constants |=
                    fix.arguments.iter().any(|slot| matches!(slot, Slot::Constant(_)));
                self.gather_dependencies(fix.body, depends_on);
            }
        });
    }

    fn gather_term_dependencies(&self, id: TermId, depends_on: &mut Dependencies) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.term(id) {
            TermNode::Number(_) | TermNode::Given(_) => {}
            TermNode::ElementNumber(slot) => {
                depends_on.constants |= matches!(slot, Slot::Constant(_));
            }
            TermNode::Function(_, slot) => {
                depends_on.functions = true;
                depends_on.constants |= matches!(slot, Slot::Constant(_));
            }
            TermNode::Characteristic(inner) => self.gather_dependencies(*inner, depends_on),
            TermNode::Binary(_, left, right) => {
                self.gather_term_dependencies(*left, depends_on);
                self.gather_term_dependencies(*right, depends_on);
            }
            TermNode::Apply(_, arguments) => {
                arguments
                    .iter()
                    .for_each(|&argument| self.gather_term_dependencies(argument, depends_on));
            }
            TermNode::Aggregate(_, _, guard, term) => {
                self.gather_dependencies(*guard, depends_on);
                self.gather_term_dependencies(*term, depends_on);
            }
        });
    }

    /// Returns the definitions that a formula uses directly, in order.
    pub(super) fn definitions_of(&self, id: NodeId) -> Vec<usize> {
        let mut found = BTreeSet::new();
        self.gather_definitions(id, &mut found);
        found.into_iter().collect()
    }

    fn gather_definitions(&self, id: NodeId, found: &mut BTreeSet<usize>) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.node(id) {
            Node::Atom(Source::Defined(place), _) => {
                found.insert(*place);
            }
            Node::Atom(..) | Node::Equal(..) | Node::Member(..) => {}
            Node::Compare(left, _, right) => {
                self.gather_term_definitions(*left, found);
                self.gather_term_definitions(*right, found);
            }
            Node::Not(inner) | Node::Exists(_, inner) | Node::Sets(_, inner) => {
                self.gather_definitions(*inner, found);
            }
            Node::And(parts) | Node::Or(parts) => {
                parts.iter().for_each(|&part| self.gather_definitions(part, found));
            }
            Node::Closure(closure) => self.gather_definitions(closure.body, found),
            Node::Fix(fix) => self.gather_definitions(fix.body, found),
        });
    }

    fn gather_term_definitions(&self, id: TermId, found: &mut BTreeSet<usize>) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.term(id) {
            TermNode::Number(_)
            | TermNode::Given(_)
            | TermNode::ElementNumber(_)
            | TermNode::Function(..) => {}
            TermNode::Characteristic(inner) => self.gather_definitions(*inner, found),
            TermNode::Binary(_, left, right) => {
                self.gather_term_definitions(*left, found);
                self.gather_term_definitions(*right, found);
            }
            TermNode::Apply(_, arguments) => {
                arguments
                    .iter()
                    .for_each(|&argument| self.gather_term_definitions(argument, found));
            }
            TermNode::Aggregate(_, _, guard, term) => {
                self.gather_definitions(*guard, found);
                self.gather_term_definitions(*term, found);
            }
        });
    }

    /// Returns the derivative of a formula with respect to a bound relation: a formula that holds
    /// at least for what follows from the relation's latest tuples, and only where the original
    /// holds. `None` if the relation does not occur.
    pub(super) fn derivative(&mut self, id: NodeId, slot: usize, delta: usize) -> Option<NodeId> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.node(id).clone() {
            Node::Atom(Source::Bound(bound), slots) if bound == slot => {
                Some(self.add(Node::Atom(Source::Bound(delta), slots)))
            }
            Node::Atom(..) | Node::Equal(..) | Node::Member(..) => None,
            Node::And(parts) => {
                let mut cases = Vec::new();
                for (place, &part) in parts.iter().enumerate() {
                    if let Some(changed) = self.derivative(part, slot, delta) {
                        let mut case = parts.clone();
                        case[place] = changed;
                        cases.push(self.add(Node::And(case)));
                    }
                }
                self.any(cases)
            }
            Node::Or(parts) => {
                let cases =
                    parts.iter().filter_map(|&part| self.derivative(part, slot, delta)).collect();
                self.any(cases)
            }
            Node::Exists(variables, inner) => {
                let changed = self.derivative(inner, slot, delta)?;
                Some(self.add(Node::Exists(variables, changed)))
            }
            // These are evaluated from scratch, because one step of a closure or one case less of a
            // negation changes too much.
            Node::Compare(..) | Node::Not(_) | Node::Sets(..) | Node::Closure(_) | Node::Fix(_) => {
                self.mentions(id, slot).then_some(id)
            }
        })
    }

    fn any(&mut self, cases: Vec<NodeId>) -> Option<NodeId> {
        match cases[..] {
            [] => None,
            [case] => Some(case),
            _ => {
                // Cases without a variable of another case are padded when they are united.
                Some(self.add(Node::Or(cases)))
            }
        }
    }

    fn mentions(&self, id: NodeId, slot: usize) -> bool {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.node(id) {
            Node::Atom(source, _) => *source == Source::Bound(slot),
            // It was checked that the relation of a fixed point does not occur in a term.
            Node::Equal(..) | Node::Compare(..) | Node::Member(..) => false,
            Node::Not(inner) | Node::Exists(_, inner) | Node::Sets(_, inner) => {
                self.mentions(*inner, slot)
            }
            Node::And(parts) | Node::Or(parts) => {
                parts.iter().any(|&part| self.mentions(part, slot))
            }
            Node::Closure(closure) => self.mentions(closure.body, slot),
            Node::Fix(fix) => self.mentions(fix.body, slot),
        })
    }
}

fn of_slots(slots: &[Slot]) -> Vec<Var> {
    let mut variables: Vec<Var> = slots
        .iter()
        .filter_map(|slot| match slot {
            Slot::Variable(variable) => Some(*variable),
            Slot::Constant(_) => None,
        })
        .collect();
    variables.sort_unstable();
    variables.dedup();
    variables
}

fn union<'a, V: Copy + Ord + 'a>(lists: impl IntoIterator<Item = &'a [V]>) -> Vec<V> {
    let mut all: Vec<V> = lists.into_iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn without<V: Copy + Eq>(list: &[V], removed: &[V]) -> Vec<V> {
    list.iter().copied().filter(|variable| !removed.contains(variable)).collect()
}
