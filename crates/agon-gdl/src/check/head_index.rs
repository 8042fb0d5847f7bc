//! An index of rule heads, to find the rules that a condition can lead to.

use std::collections::BTreeMap;

use agon_datalog::Symbol;

use crate::rules::{RuleAtom, RuleTerm};

/// Rule heads by the names in their arguments, so that a ground condition finds its rules quickly.
pub(super) struct HeadIndex {
    by_relation: BTreeMap<(Symbol, usize), Vec<usize>>,
    /// By relation, number of arguments, position and the name there; `None` for variables.
    by_argument: BTreeMap<(Symbol, usize, usize, Option<Symbol>), Vec<usize>>,
}

impl HeadIndex {
    /// Indexes the heads. Their numbers are their positions in the iterator.
    pub(super) fn new<'a>(all: impl Iterator<Item = &'a RuleAtom>) -> HeadIndex {
        let mut heads = HeadIndex { by_relation: BTreeMap::new(), by_argument: BTreeMap::new() };
        for (index, head) in all.enumerate() {
            let (relation, arity) = (head.relation, head.arguments.len());
            heads.by_relation.entry((relation, arity)).or_default().push(index);
            for (position, term) in head.arguments.iter().enumerate() {
                let name = match term {
                    RuleTerm::Variable(_) => None,
                    RuleTerm::Function(name, _) => Some(*name),
                };
                heads.by_argument.entry((relation, arity, position, name)).or_default().push(index);
            }
        }
        heads
    }

    /// Returns a small superset of the heads that unify with `atom`.
    pub(super) fn candidates(&self, atom: &RuleAtom) -> Vec<usize> {
        let (relation, arity) = (atom.relation, atom.arguments.len());
        let all = self.by_relation.get(&(relation, arity)).map_or(&[][..], Vec::as_slice);
        let mut best: Option<(&[usize], &[usize])> = None;
        for (position, term) in atom.arguments.iter().enumerate() {
            let RuleTerm::Function(name, _) = term else { continue };
            let list = |name| {
                self.by_argument
                    .get(&(relation, arity, position, name))
                    .map_or(&[][..], Vec::as_slice)
            };
            let found = (list(Some(*name)), list(None));
            if best.is_none_or(|(same, any)| found.0.len() + found.1.len() < same.len() + any.len())
            {
                best = Some(found);
            }
        }
        best.map_or_else(|| all.to_vec(), |(same, any)| [same, any].concat())
    }
}
