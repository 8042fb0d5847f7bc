//! Formulas made ready for evaluation: names resolved, negations pushed down to where they are cheap.

use std::collections::BTreeSet;

use crate::formula::{Fold, Operator, Sign};
use crate::rational::Rational;
use crate::structure::{ConstantId, FunctionId, RelationId};

/// A variable. No two binders have the same, so there is no shadowing.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Var(pub(super) u32);

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct NodeId(pub(super) u32);

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct TermId(pub(super) u32);

/// What stands in an atom.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    Variable(Var),
    Constant(ConstantId),
}

/// Where the tuples of an atom are.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Structure(RelationId),
    /// Worked out once per structure: a definition, or a `let` that depends on nothing around it.
    Defined(usize),
    /// A fixed point on its way: all tuples so far, or those of the last round.
    Bound(usize),
}

/// A formula. Universal quantifiers are negated existential ones, greatest fixed points negated least ones.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Atom(Source, Vec<Slot>),
    Equal(Slot, Slot),
    Compare(TermId, Sign, TermId),
    Not(NodeId),
    And(Vec<NodeId>),
    Or(Vec<NodeId>),
    Exists(Vec<Var>, NodeId),
    Closure(Closure),
    Fix(Fix),
}

#[derive(Clone, Debug)]
pub(super) struct Closure {
    /// Paths of at most so many steps.
    pub(super) max_steps: u64,
    pub(super) from: Var,
    pub(super) to: Var,
    /// The other free variables of the body.
    pub(super) parameters: Vec<Var>,
    pub(super) body: NodeId,
    pub(super) arguments: [Slot; 2],
}

/// A least fixed point. Parameters are columns of the relation like the others.
#[derive(Clone, Debug)]
pub(super) struct Fix {
    /// Where the body finds all tuples so far.
    pub(super) slot: usize,
    /// Where the derivative finds the tuples of the last round.
    pub(super) delta: usize,
    pub(super) columns: Vec<Var>,
    pub(super) body: NodeId,
    /// What is new because of the last round's tuples, and perhaps some that is not. None if the body does not
    /// use the relation.
    pub(super) derivative: Option<NodeId>,
    /// What is asked, column by column.
    pub(super) arguments: Vec<Slot>,
}

#[derive(Clone, Debug)]
pub(super) enum TermNode {
    Number(Rational),
    /// A real variable that the caller assigns.
    Given(usize),
    ElementNumber(Slot),
    Function(FunctionId, Slot),
    Characteristic(NodeId),
    Binary(Operator, TermId, TermId),
    Aggregate(Fold, Vec<Var>, NodeId, TermId),
}

/// A relation that is worked out once per structure.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub(super) columns: Vec<Var>,
    pub(super) body: NodeId,
    /// What it is made from.
    pub(super) needs: Needs,
    /// Others that its body speaks of itself.
    pub(super) uses: Vec<usize>,
}

/// Parts of a structure on which something depends, besides the universe.
#[derive(Clone, Default, Debug)]
pub(super) struct Needs {
    pub(super) relations: BTreeSet<RelationId>,
    /// Whether values of functions matter.
    pub(super) functions: bool,
    /// Whether constants matter.
    pub(super) constants: bool,
}

/// All formulas that an evaluator knows. Grows, never shrinks.
#[derive(Clone, Default, Debug)]
pub(super) struct Program {
    nodes: Vec<Node>,
    free: Vec<Vec<Var>>,
    lookups: Vec<bool>,
    terms: Vec<TermNode>,
    term_free: Vec<Vec<Var>>,
    pub(super) defined: Vec<Defined>,
    pub(super) n_variables: u32,
    pub(super) n_slots: usize,
}

impl Program {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn term(&self, id: TermId) -> &TermNode {
        &self.terms[id.0 as usize]
    }

    /// The free variables of a formula, sorted.
    pub(super) fn free(&self, id: NodeId) -> &[Var] {
        &self.free[id.0 as usize]
    }

    /// Whether a formula without unknown variables is only looked up, with nothing to be gone through.
    pub(super) fn is_lookup(&self, id: NodeId) -> bool {
        self.lookups[id.0 as usize]
    }

    /// Whether a term is read off an element, or is a number.
    fn is_plain(&self, id: TermId) -> bool {
        match self.term(id) {
            TermNode::Number(_)
            | TermNode::Given(_)
            | TermNode::ElementNumber(_)
            | TermNode::Function(..) => true,
            TermNode::Binary(_, left, right) => self.is_plain(*left) && self.is_plain(*right),
            TermNode::Characteristic(_) | TermNode::Aggregate(..) => false,
        }
    }

    /// The free variables of a term, sorted.
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

    pub(super) fn add(&mut self, node: Node) -> NodeId {
        let free = match &node {
            Node::Atom(_, slots) => of_slots(slots),
            Node::Equal(left, right) => of_slots(&[*left, *right]),
            Node::Compare(left, _, right) => union([self.term_free(*left), self.term_free(*right)]),
            Node::Not(inner) => self.free(*inner).to_vec(),
            Node::And(parts) | Node::Or(parts) => union(parts.iter().map(|&part| self.free(part))),
            Node::Exists(variables, inner) => without(self.free(*inner), variables),
            Node::Closure(closure) => {
                union([&of_slots(&closure.arguments)[..], &closure.parameters])
            }
            // Parameters are among the arguments.
            Node::Fix(fix) => of_slots(&fix.arguments),
        };
        let is_lookup = match &node {
            Node::Atom(..) | Node::Equal(..) => true,
            Node::Compare(left, _, right) => [left, right].iter().all(|&&side| self.is_plain(side)),
            Node::Not(inner) => self.is_lookup(*inner),
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|&part| self.is_lookup(part)),
            Node::Exists(..) | Node::Closure(_) | Node::Fix(_) => false,
        };
        self.nodes.push(node);
        self.free.push(free);
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
            TermNode::Aggregate(_, variables, guard, term) => {
                without(&union([self.free(*guard), self.term_free(*term)]), variables)
            }
        };
        self.terms.push(term);
        self.term_free.push(free);
        TermId(self.terms.len() as u32 - 1)
    }

    /// Variables that can take only values that some relation holds, so that the formula can be worked out
    /// without going through all elements for them.
    pub(super) fn limited(&self, id: NodeId) -> BTreeSet<Var> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.node(id) {
            Node::Atom(_, slots) => of_slots(slots).into_iter().collect(),
            Node::Equal(Slot::Variable(variable), Slot::Constant(_))
            | Node::Equal(Slot::Constant(_), Slot::Variable(variable)) => {
                BTreeSet::from([*variable])
            }
            Node::Equal(..) | Node::Compare(..) | Node::Not(_) | Node::Closure(_) => {
                BTreeSet::new()
            }
            Node::And(parts) => {
                let mut limited: BTreeSet<Var> =
                    parts.iter().flat_map(|&part| self.limited(part)).collect();
                // Equalities pass it on; as many rounds as there are parts reach the end of any chain.
                for _ in 0..parts.len() {
                    for &part in parts {
                        if let Node::Equal(Slot::Variable(left), Slot::Variable(right)) =
                            self.node(part)
                            && (limited.contains(left) || limited.contains(right))
                        {
                            limited.extend([*left, *right]);
                        }
                    }
                }
                limited
            }
            Node::Or(parts) => {
                let mut parts = parts.iter().map(|&part| self.limited(part));
                let first = parts.next().unwrap_or_default();
                parts.fold(first, |common, part| common.intersection(&part).copied().collect())
            }
            Node::Exists(variables, inner) => {
                let mut limited = self.limited(*inner);
                limited.retain(|variable| !variables.contains(variable));
                limited
            }
            Node::Fix(fix) => {
                let limited = self.limited(fix.body);
                let pairs = fix.columns.iter().zip(&fix.arguments);
                pairs
                    .filter_map(|(column, argument)| match argument {
                        Slot::Variable(variable) if limited.contains(column) => Some(*variable),
                        _ => None,
                    })
                    .collect()
            }
        })
    }

    /// What a formula depends on.
    pub(super) fn needs(&self, id: NodeId) -> Needs {
        let mut needs = Needs::default();
        self.gather_needs(id, &mut needs);
        needs
    }

    fn gather_needs(&self, id: NodeId, needs: &mut Needs) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.node(id) {
            Node::Atom(source, slots) => {
                match source {
                    Source::Structure(relation) => {
                        needs.relations.insert(*relation);
                    }
                    Source::Defined(place) => {
                        let inner = &self.defined[*place].needs;
                        needs.relations.extend(&inner.relations);
                        needs.functions |= inner.functions;
                        needs.constants |= inner.constants;
                    }
                    Source::Bound(_) => {}
                }
                needs.constants |= slots.iter().any(|slot| matches!(slot, Slot::Constant(_)));
            }
            Node::Equal(left, right) => {
                needs.constants |=
                    [left, right].iter().any(|slot| matches!(slot, Slot::Constant(_)));
            }
            Node::Compare(left, _, right) => {
                self.gather_term_needs(*left, needs);
                self.gather_term_needs(*right, needs);
            }
            Node::Not(inner) | Node::Exists(_, inner) => self.gather_needs(*inner, needs),
            Node::And(parts) | Node::Or(parts) => {
                parts.iter().for_each(|&part| self.gather_needs(part, needs));
            }
            Node::Closure(closure) => {
                needs.constants |=
                    closure.arguments.iter().any(|slot| matches!(slot, Slot::Constant(_)));
                self.gather_needs(closure.body, needs);
            }
            Node::Fix(fix) => {
                needs.constants |=
                    fix.arguments.iter().any(|slot| matches!(slot, Slot::Constant(_)));
                self.gather_needs(fix.body, needs);
            }
        });
    }

    fn gather_term_needs(&self, id: TermId, needs: &mut Needs) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.term(id) {
            TermNode::Number(_) | TermNode::Given(_) => {}
            TermNode::ElementNumber(slot) => needs.constants |= matches!(slot, Slot::Constant(_)),
            TermNode::Function(_, slot) => {
                needs.functions = true;
                needs.constants |= matches!(slot, Slot::Constant(_));
            }
            TermNode::Characteristic(inner) => self.gather_needs(*inner, needs),
            TermNode::Binary(_, left, right) => {
                self.gather_term_needs(*left, needs);
                self.gather_term_needs(*right, needs);
            }
            TermNode::Aggregate(_, _, guard, term) => {
                self.gather_needs(*guard, needs);
                self.gather_term_needs(*term, needs);
            }
        });
    }

    /// The definitions that a formula uses itself, in order.
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
            Node::Atom(..) | Node::Equal(..) => {}
            Node::Compare(left, _, right) => {
                self.gather_term_definitions(*left, found);
                self.gather_term_definitions(*right, found);
            }
            Node::Not(inner) | Node::Exists(_, inner) => self.gather_definitions(*inner, found),
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
            TermNode::Aggregate(_, _, guard, term) => {
                self.gather_definitions(*guard, found);
                self.gather_term_definitions(*term, found);
            }
        });
    }

    /// The derivative of a formula by a bound relation: what holds because of the relation's latest tuples, at least,
    /// and only what holds. None if the relation does not occur.
    pub(super) fn derivative(&mut self, id: NodeId, slot: usize, delta: usize) -> Option<NodeId> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.node(id).clone() {
            Node::Atom(Source::Bound(bound), slots) if bound == slot => {
                Some(self.add(Node::Atom(Source::Bound(delta), slots)))
            }
            Node::Atom(..) | Node::Equal(..) => None,
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
            // These are worked out anew: a step of a closure, or one case less of a negation, changes too much.
            Node::Compare(..) | Node::Not(_) | Node::Closure(_) | Node::Fix(_) => {
                self.mentions(id, slot).then_some(id)
            }
        })
    }

    fn any(&mut self, cases: Vec<NodeId>) -> Option<NodeId> {
        match cases[..] {
            [] => None,
            [case] => Some(case),
            _ => {
                // Cases that lack a variable of another are padded when they are united.
                Some(self.add(Node::Or(cases)))
            }
        }
    }

    fn mentions(&self, id: NodeId, slot: usize) -> bool {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.node(id) {
            Node::Atom(source, _) => *source == Source::Bound(slot),
            // The relation of a fixed point is in no term: that is checked.
            Node::Equal(..) | Node::Compare(..) => false,
            Node::Not(inner) | Node::Exists(_, inner) => self.mentions(*inner, slot),
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

fn union<'a>(lists: impl IntoIterator<Item = &'a [Var]>) -> Vec<Var> {
    let mut all: Vec<Var> = lists.into_iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn without(list: &[Var], removed: &[Var]) -> Vec<Var> {
    list.iter().copied().filter(|variable| !removed.contains(variable)).collect()
}
