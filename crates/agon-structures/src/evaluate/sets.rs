//! Quantifiers over sets: monadic second-order logic.
//!
//! A formula below a quantifier over sets is ground over the structure (`ground`): it becomes a
//! propositional formula with a variable for each set and element. Parts that mention no set are
//! evaluated as usual and restrict the assignments that are ground at all. Sums that count members
//! of sets become decision diagrams (`linear`). The formula is a network of gates without
//! duplicates (`network`), which SAT solvers decide (`search`). A quantifier that says no more than
//! reachability never comes here (`pattern`).

mod ground;
mod linear;
mod network;
mod pattern;
mod search;

#[cfg(test)]
mod tests;

use super::EvaluationError;
use super::program::{NodeId, SetVar, Slot};
use super::solve::Run;
use super::store::Rows;
use super::table::Table;
use ground::Grounder;
use search::Search;

impl Run<'_> {
    /// Extends the assignments to those for which there are sets such that the formula holds.
    pub(super) fn sets(
        &mut self,
        sets: &[SetVar],
        inner: NodeId,
        assignments: Table,
    ) -> Result<Table, EvaluationError> {
        let free = self.program.free(inner);
        let places: Vec<usize> = (0..assignments.width())
            .filter(|&place| free.binary_search(&assignments.columns[place]).is_ok())
            .collect();
        let asked = assignments.projected(&places);
        let mut grounder = Grounder::new(self);
        // All assignments share the variables of the sets, because each is asked on its own.
        grounder.bind(sets)?;
        let found = grounder.ground(inner, &asked)?;
        let n_elements = grounder.n_elements();
        let network = grounder.network;
        let (conflicts, steps) = (self.limits.conflicts, self.limits.steps);
        let left = [conflicts.saturating_sub(self.conflicts), self.steps_left()];
        let limits = [[left[0], conflicts], [left[1], steps]];
        let mut search = Search::new(network, n_elements, limits, self.interrupt.clone());
        let mut kept = Table::empty(found.table.columns.clone());
        for (place, &signal) in found.signals.iter().enumerate() {
            if search.satisfiable(signal)? {
                kept.cells.extend_from_slice(found.table.row(place));
                kept.n_rows += 1;
            }
        }
        let [conflicts_left, steps_left] = search.left();
        self.conflicts += left[0] - conflicts_left;
        self.spend(usize::try_from(left[1] - steps_left).unwrap_or(usize::MAX))?;
        let slots: Vec<Slot> = kept.columns.iter().map(|&column| Slot::Variable(column)).collect();
        let kept = kept.sorted();
        let rows = Rows::new(kept.width(), kept.n_rows, kept.cells);
        self.join(assignments, &rows, &slots)
    }
}
