//! Quantifiers over sets in the program: their simplification, and their relation to reachability.

use super::linear::refused;
use crate::evaluate::EvaluationError;
use crate::evaluate::program::{Closure, Node, NodeId, Program, SetVar, Slot, TermId, Var};

impl Program {
    /// Adds the formula that there are sets for which a formula holds.
    pub(in crate::evaluate) fn some_sets(
        &mut self,
        mut sets: Vec<SetVar>,
        inner: NodeId,
    ) -> NodeId {
        sets.retain(|set| self.sets(inner).binary_search(set).is_ok());
        if sets.is_empty() {
            // There are always sets.
            return inner;
        }
        match self.node(inner).clone() {
            Node::And(parts) => {
                // Parts about other things restrict the assignments before any set is considered.
                let is_about =
                    |part: &NodeId| self.sets(*part).iter().any(|set| sets.contains(set));
                let (about, mut others): (Vec<NodeId>, Vec<NodeId>) =
                    parts.into_iter().partition(is_about);
                if !others.is_empty() {
                    let about = match about[..] {
                        [part] => part,
                        _ => self.add(Node::And(about)),
                    };
                    others.push(self.some_sets(sets, about));
                    return self.add(Node::And(others));
                }
            }
            Node::Sets(more, deeper) => {
                sets.extend(more);
                return self.some_sets(sets, deeper);
            }
            _ => {}
        }
        match self.unreachable_end(&sets, inner) {
            Some((present, closure)) => {
                let closure = self.add(Node::Closure(closure));
                let missing = self.add(Node::Not(closure));
                match present {
                    Some(present) => {
                        let present = self.add(Node::Equal(present, present));
                        self.add(Node::And(vec![present, missing]))
                    }
                    None => missing,
                }
            }
            None => self.add(Node::Sets(sets, inner)),
        }
    }

    /// Recognises the formula that a set contains `s`, does not contain `t`, and is closed under
    /// steps, which says that no steps lead from `s` to `t`. Returns the closure of the steps, and
    /// `s` if it is a constant, which must have an element.
    fn unreachable_end(
        &mut self,
        sets: &[SetVar],
        inner: NodeId,
    ) -> Option<(Option<Slot>, Closure)> {
        let ([set], Node::And(parts)) = (sets, self.node(inner).clone()) else { return None };
        let (mut start, mut end, mut steps) = (None, None, None);
        for part in parts {
            let place = match self.node(part) {
                Node::Member(slot, _) => start.replace(*slot).map(|_| ()),
                Node::Not(negated) => match self.node(*negated) {
                    Node::Member(slot, _) => end.replace(*slot).map(|_| ()),
                    Node::Exists(..) => steps.replace(*negated).map(|_| ()),
                    _ => return None,
                },
                _ => return None,
            };
            if place.is_some() {
                return None;
            }
        }
        let (start, end) = (start?, end?);
        let (mut variables, mut conditions) = (Vec::new(), Vec::new());
        self.gather_step(steps?, &mut variables, &mut conditions);
        let (mut from, mut to, mut body) = (None, None, Vec::new());
        for &condition in &conditions {
            let earlier = match self.node(condition) {
                Node::Member(Slot::Variable(variable), of) if of == set => from.replace(*variable),
                Node::Not(negated) => match self.node(*negated) {
                    Node::Member(Slot::Variable(variable), of) if of == set => {
                        to.replace(*variable)
                    }
                    _ => {
                        body.push(condition);
                        None
                    }
                },
                _ => {
                    body.push(condition);
                    None
                }
            };
            if earlier.is_some() {
                return None;
            }
        }
        let (from, to) = (from?, to?);
        let body = match body[..] {
            [condition] => condition,
            _ => self.add(Node::And(body)),
        };
        let bound = [from, to];
        let is_bound = |variable: &Var| bound.contains(variable);
        let is_step = from != to
            && variables.len() == 2
            && variables.iter().all(is_bound)
            && bound.iter().all(|variable| self.free(body).contains(variable))
            && self.sets(body).is_empty();
        if !is_step {
            return None;
        }
        let parameters = self.free(body).iter().copied().filter(|free| !is_bound(free)).collect();
        let arguments = [start, end];
        let closure = Closure { max_steps: u64::MAX, from, to, parameters, body, arguments };
        Some((matches!(start, Slot::Constant(_)).then_some(start), closure))
    }

    /// Collects the variables and conditions of nested existential quantifiers and conjunctions.
    fn gather_step(&self, id: NodeId, variables: &mut Vec<Var>, conditions: &mut Vec<NodeId>) {
        match self.node(id) {
            Node::Exists(own, inner) => {
                variables.extend(own);
                self.gather_step(*inner, variables, conditions);
            }
            Node::And(parts) => {
                parts.iter().for_each(|&part| self.gather_step(part, variables, conditions));
            }
            _ => conditions.push(id),
        }
    }

    /// Adds a transitive closure. If its steps depend on sets, it becomes the statement that every
    /// set with the start that is closed under steps has the end.
    ///
    /// # Errors
    /// If such a closure has a maximum number of steps.
    pub(in crate::evaluate) fn closure(
        &mut self,
        closure: Closure,
    ) -> Result<NodeId, EvaluationError> {
        if self.sets(closure.body).is_empty() {
            return Ok(self.add(Node::Closure(closure)));
        }
        if closure.max_steps != u64::MAX {
            return Err(EvaluationError::SetsInside("a closure with a bound"));
        }
        let set = self.fresh_set();
        let [start, end] = closure.arguments;
        let from = self.add(Node::Member(Slot::Variable(closure.from), set));
        let to = self.add(Node::Member(Slot::Variable(closure.to), set));
        let outside = self.add(Node::Not(to));
        let step = self.add(Node::And(vec![from, closure.body, outside]));
        let leaves = self.add(Node::Exists(vec![closure.from, closure.to], step));
        let closed = self.add(Node::Not(leaves));
        let starts = self.add(Node::Member(start, set));
        let ends = self.add(Node::Member(end, set));
        let misses = self.add(Node::Not(ends));
        let separates = self.add(Node::And(vec![starts, misses, closed]));
        let separated = self.add(Node::Sets(vec![set], separates));
        let mut parts = vec![self.add(Node::Not(separated))];
        for slot in closure.arguments {
            if matches!(slot, Slot::Constant(_)) {
                parts.push(self.add(Node::Equal(slot, slot)));
            }
        }
        Ok(match parts[..] {
            [part] => part,
            _ => self.add(Node::And(parts)),
        })
    }

    /// Checks that the terms of a comparison depend on sets only in ways that can be counted.
    pub(in crate::evaluate) fn check_countable(
        &self,
        terms: [TermId; 2],
    ) -> Result<(), EvaluationError> {
        match terms.iter().find_map(|&term| refused(self, term)) {
            Some(construct) => Err(EvaluationError::SetsInside(construct)),
            None => Ok(()),
        }
    }
}
