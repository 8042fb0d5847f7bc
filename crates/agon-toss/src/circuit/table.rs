//! Sets of assignments with signals.

use std::collections::BTreeMap;

use agon_circuit::{Builder, Signal};
use agon_structures::formula::Variable;

/// Assignments to the columns. Each has a signal that is true when the assignment is in the set;
/// the signal is not constantly false.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) columns: Vec<Variable>,
    pub(super) rows: BTreeMap<Vec<u32>, Signal>,
}

impl Table {
    /// Returns the table with the one empty assignment.
    pub(super) fn unit() -> Table {
        Table { columns: Vec::new(), rows: BTreeMap::from([(Vec::new(), Signal::TRUE)]) }
    }

    pub(super) fn column(&self, variable: &Variable) -> Option<usize> {
        self.columns.iter().position(|column| column == variable)
    }

    /// Returns the same assignments with constantly true signals.
    pub(super) fn always(&self) -> Table {
        Table {
            columns: self.columns.clone(),
            rows: self.rows.keys().map(|row| (row.clone(), Signal::TRUE)).collect(),
        }
    }

    /// Projects the assignments to the columns at these places. An assignment is in the result when
    /// one of its preimages is in the table.
    pub(super) fn projected(&self, places: &[usize], builder: &mut Builder) -> Table {
        let mut ways: BTreeMap<Vec<u32>, Vec<Signal>> = BTreeMap::new();
        for (row, &signal) in &self.rows {
            ways.entry(places.iter().map(|&place| row[place]).collect()).or_default().push(signal);
        }
        let rows = ways.into_iter().map(|(row, mut signals)| (row, any(builder, &mut signals)));
        let columns = places.iter().map(|&place| self.columns[place].clone()).collect();
        Table { columns, rows: rows.collect() }
    }

    /// Restricts a wider table, whose columns begin with those of this table, to the assignments in
    /// this table.
    pub(super) fn narrowed_by(&self, wider: Table, builder: &mut Builder) -> Table {
        let width = self.columns.len();
        debug_assert_eq!(
            wider.columns[..width],
            self.columns,
            "the wider table begins with the columns"
        );
        let mut rows = BTreeMap::new();
        for (row, signal) in wider.rows {
            let both = builder.and(self.rows[&row[..width]], signal);
            if both != Signal::FALSE {
                rows.insert(row, both);
            }
        }
        Table { columns: wider.columns, rows }
    }
}

/// Returns the disjunction of signals. The tree follows the binary representation of the literals,
/// so that lists that differ in few signals share most gates.
pub(super) fn any(builder: &mut Builder, ways: &mut Vec<Signal>) -> Signal {
    fn tree(builder: &mut Builder, ways: &[Signal]) -> Signal {
        if ways.len() == 1 {
            return ways[0];
        }
        let (first, last) = (ways[0].literal(), ways[ways.len() - 1].literal());
        let bit = (first ^ last).ilog2();
        let half = ways.partition_point(|way| way.literal() >> bit == first >> bit);
        let (low, high) = (tree(builder, &ways[..half]), tree(builder, &ways[half..]));
        builder.or(low, high)
    }
    ways.sort_unstable();
    ways.dedup();
    if ways.len() < 8 { builder.or_all(ways) } else { tree(builder, ways) }
}
