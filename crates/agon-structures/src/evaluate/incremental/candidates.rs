//! Where a formula may have changed its truth.

use super::Updating;
use crate::evaluate::Refusal;
use crate::evaluate::program::{Node, NodeId, Slot, Source, TermId, TermNode, Var};
use crate::evaluate::table::Table;
use crate::structure::Element;

impl Updating<'_, '_> {
    /// Whether a sentence that was false holds now, if that can be told from what has changed: a witness must then be
    /// among the candidates.
    pub(super) fn came_true(&mut self, id: NodeId) -> Result<Option<bool>, Refusal> {
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
                    match self.came_true(part)? {
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

    /// Partial assignments such that all assignments for which the formula has changed its truth extend one of them.
    /// One without columns says that nothing is known.
    fn candidates(&mut self, id: NodeId) -> Result<Vec<Table>, Refusal> {
        let program = self.run.program;
        self.run.spend(1)?;
        stacker::maybe_grow(64 << 10, 1 << 20, || match program.node(id) {
            Node::Atom(source, slots) => match self.delta(*source).cloned() {
                Some(delta) => {
                    let changed = self.run.join(Table::unit(), &delta, slots)?;
                    Ok(if changed.is_empty() { Vec::new() } else { vec![changed] })
                }
                None => Ok(Vec::new()),
            },
            Node::Equal(..) => Ok(Vec::new()),
            Node::Compare(left, _, right) => {
                let mut found = self.term_candidates(*left)?;
                found.extend(self.term_candidates(*right)?);
                Ok(found)
            }
            Node::Not(inner) => self.candidates(*inner),
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
                let is_same = self.since.moved.is_empty() && self.candidates(fix.body)?.is_empty();
                Ok(if is_same { Vec::new() } else { vec![Table::unit()] })
            }
        })
    }

    /// The same where these variables are bound, so that they are no longer what they were in elements that came or went. Where an atom
    /// binds a variable, nothing more has changed than what the atom tells.
    pub(super) fn candidates_within(
        &mut self,
        variables: &[Var],
        id: NodeId,
    ) -> Result<Vec<Table>, Refusal> {
        let mut found = self.candidates(id)?;
        if self.since.moved.is_empty() {
            return Ok(found);
        }
        let program = self.run.program;
        for &variable in variables {
            if self.is_bound(variable, id) {
                continue;
            }
            let mut moved = Table::empty(vec![variable]);
            moved.cells.extend_from_slice(&self.since.moved);
            moved.n_rows = self.since.moved.len();
            found.push(match program.node(id) {
                Node::And(parts) => self.narrowed(moved, parts)?,
                _ => moved,
            });
        }
        found.retain(|candidate| !candidate.is_empty());
        Ok(found)
    }

    /// Whether an atom that must hold speaks of the variable.
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
            Node::Equal(..)
            | Node::Compare(..)
            | Node::Not(_)
            | Node::Closure(_)
            | Node::Fix(_) => false,
        }
    }

    /// Without the rows that have elements which are no more.
    pub(super) fn living(&self, table: Table) -> Table {
        let structure = self.run.structure;
        let is_dead = |id: &u32| !structure.has(Element::new(*id));
        if table.width() == 0 || !self.since.moved.iter().any(is_dead) {
            return table;
        }
        let mut kept = Table::empty(table.columns.clone());
        for row in table.cells.chunks_exact(table.width()).filter(|row| !row.iter().any(is_dead)) {
            kept.cells.extend_from_slice(row);
            kept.n_rows += 1;
        }
        kept
    }

    fn term_candidates(&mut self, id: TermId) -> Result<Vec<Table>, Refusal> {
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
            TermNode::Aggregate(_, variables, guard, term) => {
                let mut found = self.candidates_within(variables, *guard)?;
                found.extend(self.term_candidates(*term)?);
                Ok(found.into_iter().map(|candidate| without(&candidate, variables)).collect())
            }
        })
    }

    /// A conjunction changes only where its parts that do not change hold: atoms among them that touch what is known
    /// tell more of where that can be.
    fn narrowed(&mut self, candidate: Table, parts: &[NodeId]) -> Result<Table, Refusal> {
        let program = self.run.program;
        let mut table = candidate;
        let mut left: Vec<NodeId> = parts.to_vec();
        loop {
            let next = left.iter().position(|&part| match program.node(part) {
                Node::Atom(source, slots) => {
                    let touches = slots.iter().any(
                        |slot| matches!(slot, Slot::Variable(variable) if table.column(*variable).is_some()),
                    );
                    touches && !matches!(source, Source::Bound(_)) && self.delta(*source).is_none()
                }
                _ => false,
            });
            let Some(next) = next else { return Ok(table) };
            table = self.run.extend(left.remove(next), table)?;
        }
    }
}

/// Those with the same columns in one, so that each is looked at once.
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
