//! Finds the assignments for which a formula may have changed its truth.

use super::Updater;
use crate::evaluate::EvaluationError;
use crate::evaluate::program::{Node, NodeId, Slot, Source, TermId, TermNode, Var};
use crate::evaluate::table::Table;
use crate::structure::Element;

impl Updater<'_, '_> {
    /// Returns whether a sentence that was false holds now, if the changes tell. A witness must
    /// then be among the candidates.
    pub(super) fn became_true(&mut self, id: NodeId) -> Result<Option<bool>, EvaluationError> {
        let program = self.run.program;
        match program.node(id) {
            Node::Exists(variables, inner) => {
                for candidate in grouped(self.candidates_within(variables, *inner)?) {
                    if candidate.width() == 0 {
                        return Ok(None);
                    }
                    let candidate = self.living(candidate);
                    if !self.run.extend(*inner, candidate)?.is_empty() {
                        return Ok(Some(true));
                    }
                }
                Ok(Some(false))
            }
            Node::Or(parts) => {
                for &part in parts {
                    match self.became_true(part)? {
                        Some(false) => {}
                        other => return Ok(other),
                    }
                }
                Ok(Some(false))
            }
            _ if self.candidates(id)?.is_empty() => Ok(Some(false)),
            _ => Ok(None),
        }
    }

    /// Returns partial assignments such that every assignment for which the formula has changed its
    /// truth extends one of them. A table without columns means that nothing is known.
    fn candidates(&mut self, id: NodeId) -> Result<Vec<Table>, EvaluationError> {
        let program = self.run.program;
        self.run.spend(1)?;
        stacker::maybe_grow(64 << 10, 1 << 20, || match program.node(id) {
            Node::Atom(source, slots) => match self.changed_rows(*source).cloned() {
                Some(delta) => {
                    let changed = self.run.join(Table::unit(), &delta, slots)?;
                    Ok(if changed.is_empty() { Vec::new() } else { vec![changed] })
                }
                None => Ok(Vec::new()),
            },
            Node::Equal(..) | Node::Member(..) => Ok(Vec::new()),
            Node::Compare(left, _, right) => {
                let mut found = self.term_candidates(*left)?;
                found.extend(self.term_candidates(*right)?);
                Ok(found)
            }
            // Sets are not changed: for each of them, the inner formula changes only there.
            Node::Not(inner) | Node::Sets(_, inner) => self.candidates(*inner),
            Node::And(parts) => {
                let mut found = Vec::new();
                for &part in parts {
                    for candidate in self.candidates(part)? {
                        found.push(self.narrowed(candidate, parts)?);
                    }
                }
                found.retain(|candidate| !candidate.is_empty());
                Ok(found)
            }
            Node::Or(parts) => {
                let mut found = Vec::new();
                for &part in parts {
                    found.extend(self.candidates(part)?);
                }
                Ok(found)
            }
            Node::Exists(variables, inner) => {
                let found = self.candidates_within(variables, *inner)?;
                Ok(found.into_iter().map(|candidate| without(&candidate, variables)).collect())
            }
            Node::Closure(closure) => {
                let found = self.candidates_within(&[closure.from, closure.to], closure.body)?;
                Ok(if found.is_empty() { Vec::new() } else { vec![Table::unit()] })
            }
            Node::Fix(fix) => {
                let is_same =
                    self.delta.changed_elements.is_empty() && self.candidates(fix.body)?.is_empty();
                Ok(if is_same { Vec::new() } else { vec![Table::unit()] })
            }
        })
    }

    /// Returns the candidates of a node under a binder of these variables: those of `candidates`,
    /// and created and deleted elements for each variable. If an atom binds a variable, the atom's
    /// own changes suffice.
    pub(super) fn candidates_within(
        &mut self,
        variables: &[Var],
        id: NodeId,
    ) -> Result<Vec<Table>, EvaluationError> {
        let mut found = self.candidates(id)?;
        if self.delta.changed_elements.is_empty() {
            return Ok(found);
        }
        let program = self.run.program;
        for &variable in variables {
            if self.is_bound(variable, id) {
                continue;
            }
            let mut moved = Table::empty(vec![variable]);
            moved.cells.extend_from_slice(&self.delta.changed_elements);
            moved.n_rows = self.delta.changed_elements.len();
            found.push(match program.node(id) {
                Node::And(parts) => self.narrowed(moved, parts)?,
                _ => moved,
            });
        }
        found.retain(|candidate| !candidate.is_empty());
        Ok(found)
    }

    /// Returns whether a positive atom mentions the variable.
    fn is_bound(&self, variable: Var, id: NodeId) -> bool {
        match self.run.program.node(id) {
            Node::Atom(_, slots) => {
                slots.iter().any(|slot| matches!(slot, Slot::Variable(other) if *other == variable))
            }
            Node::And(parts) => parts.iter().any(|&part| self.is_bound(variable, part)),
            Node::Or(parts) => {
                !parts.is_empty() && parts.iter().all(|&part| self.is_bound(variable, part))
            }
            Node::Exists(variables, inner) => {
                !variables.contains(&variable) && self.is_bound(variable, *inner)
            }
            Node::Sets(_, inner) => self.is_bound(variable, *inner),
            Node::Equal(..)
            | Node::Member(..)
            | Node::Compare(..)
            | Node::Not(_)
            | Node::Closure(_)
            | Node::Fix(_) => false,
        }
    }

    /// Removes the rows with elements that no longer exist.
    pub(super) fn living(&self, table: Table) -> Table {
        let structure = self.run.structure;
        let is_dead = |id: &u32| !structure.has(Element::new(*id));
        if table.width() == 0 || !self.delta.changed_elements.iter().any(is_dead) {
            return table;
        }
        let mut kept = Table::empty(table.columns.clone());
        for row in table.cells.chunks_exact(table.width()).filter(|row| !row.iter().any(is_dead)) {
            kept.cells.extend_from_slice(row);
            kept.n_rows += 1;
        }
        kept
    }

    fn term_candidates(&mut self, id: TermId) -> Result<Vec<Table>, EvaluationError> {
        let program = self.run.program;
        stacker::maybe_grow(64 << 10, 1 << 20, || match program.term(id) {
            TermNode::Number(_)
            | TermNode::Given(_)
            | TermNode::ElementNumber(_)
            | TermNode::Function(..) => Ok(Vec::new()),
            TermNode::Characteristic(inner) => self.candidates(*inner),
            TermNode::Binary(_, left, right) => {
                let mut found = self.term_candidates(*left)?;
                found.extend(self.term_candidates(*right)?);
                Ok(found)
            }
            TermNode::Apply(_, arguments) => {
                let mut found = Vec::new();
                for &argument in arguments {
                    found.extend(self.term_candidates(argument)?);
                }
                Ok(found)
            }
            TermNode::Aggregate(_, variables, guard, term) => {
                let mut found = self.candidates_within(variables, *guard)?;
                found.extend(self.term_candidates(*term)?);
                Ok(found.into_iter().map(|candidate| without(&candidate, variables)).collect())
            }
        })
    }

    /// Narrows a candidate of a conjunction. Unchanged conjuncts must hold, so their atoms that
    /// mention known variables restrict the candidate.
    fn narrowed(&mut self, candidate: Table, parts: &[NodeId]) -> Result<Table, EvaluationError> {
        let program = self.run.program;
        let mut table = candidate;
        let mut left: Vec<NodeId> = parts.to_vec();
        loop {
            let next = left.iter().position(|&part| match program.node(part) {
                Node::Atom(source, slots) => {
                    let is_known = |slot: &Slot| match slot {
                        Slot::Variable(variable) => table.column(*variable).is_some(),
                        Slot::Constant(_) => false,
                    };
                    slots.iter().any(is_known)
                        && !matches!(source, Source::Bound(_))
                        && self.changed_rows(*source).is_none()
                }
                _ => false,
            });
            let Some(next) = next else { return Ok(table) };
            table = self.run.extend(left.remove(next), table)?;
        }
    }
}

/// Unites candidates with the same columns, so that each is examined once.
pub(super) fn grouped(candidates: Vec<Table>) -> Vec<Table> {
    let mut groups: Vec<Table> = Vec::new();
    for candidate in candidates {
        let same = groups.iter().position(|group| {
            group.width() == candidate.width()
                && candidate.columns.iter().all(|&column| group.column(column).is_some())
        });
        match same {
            Some(place) => {
                let group = std::mem::replace(&mut groups[place], Table::unit());
                groups[place] = group.united(&candidate);
            }
            None => groups.push(candidate),
        }
    }
    groups
}

fn without(table: &Table, variables: &[Var]) -> Table {
    let kept: Vec<usize> =
        (0..table.width()).filter(|&place| !variables.contains(&table.columns[place])).collect();
    table.projected(&kept)
}
