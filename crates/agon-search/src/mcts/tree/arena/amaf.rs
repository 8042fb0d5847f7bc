//! All moves as first (AMAF): what a move pays when it is made at any later time.

use std::hash::Hash;

use agon_game::Role;

use super::super::node::{NO_TABLE, Node};
use super::super::recycle::Packing;
use super::super::reserve::Growth;
use crate::mcts::average::Average;
use crate::mcts::numbering::Numbering;

/// A node gets an AMAF table when it has this number of visits: most nodes are never visited again.
const TABLE_FROM: u64 = 5;
/// Maximum number of AMAF tables.
const MAX_TABLES: usize = 10_000;
const _: () = assert!(MAX_TABLES < NO_TABLE as usize);

/// AMAF statistics: for RAVE an average for each arm, for GRAVE a table of all moves for each node
/// that is visited often enough. Empty if AMAF is off.
pub(crate) struct AmafStats<M> {
    is_used: bool,
    /// By arm: the number of its move.
    numbers: Vec<u32>,
    /// By arm.
    averages: Vec<Average>,
    /// By node with a table and number of a move plus one. The first entry counts the playouts.
    tables: Vec<Vec<Average>>,
    numbering: Numbering<M>,
}

impl<M: Clone + Eq + Hash> AmafStats<M> {
    pub(in crate::mcts::tree) fn new(is_used: bool) -> AmafStats<M> {
        AmafStats {
            is_used,
            numbers: Vec::new(),
            averages: Vec::new(),
            tables: Vec::new(),
            numbering: Numbering::new(),
        }
    }

    /// Returns the RAVE average of an arm.
    #[inline]
    pub(crate) fn average(&self, arm: usize) -> Average {
        self.averages[arm]
    }

    /// Returns the average of an arm's move in an AMAF table.
    #[inline]
    pub(crate) fn average_in(&self, table: u16, arm: usize) -> Average {
        let entry = self.tables[table as usize].get(self.numbers[arm] as usize + 1);
        entry.copied().unwrap_or_default()
    }

    /// Returns the number of playouts that an AMAF table was made from.
    #[inline]
    pub(crate) fn n_playouts(&self, table: u16) -> f32 {
        self.tables[table as usize][0].n
    }

    /// Makes entries for new arms, which belong to a role.
    pub(in crate::mcts::tree) fn push_arms(&mut self, role: Role, moves: &[M]) {
        if self.is_used {
            for m in moves {
                self.numbers.push(self.numbering.number(role, m));
                self.averages.push(Average::default());
            }
        }
    }

    /// Begins a set of moves with those of a playout.
    pub(in crate::mcts::tree) fn begin(&mut self, record: &[(Role, M)], made: &mut NumberSet) {
        made.clear();
        for (role, m) in record {
            made.insert(self.numbering.number(*role, m));
        }
    }

    /// Adds the move of an arm to a set.
    pub(in crate::mcts::tree) fn add_move(&self, arm: usize, made: &mut NumberSet) {
        made.insert(self.numbers[arm]);
    }

    /// Updates the averages of those arms of a node whose moves were made later in a playout.
    pub(in crate::mcts::tree) fn learn_rave(
        &mut self,
        node: &Node,
        made: &NumberSet,
        payoffs: &[f64],
    ) {
        for arm in node.arms() {
            let number = self.numbers[arm];
            if made.contains(number) {
                let role = self.numbering.role(number);
                self.averages[arm].add(payoffs[role.index()]);
            }
        }
    }

    /// Updates the table of a node with the moves that were made later in a playout. Gives the node
    /// a table if it should have one.
    pub(in crate::mcts::tree) fn learn_grave(
        &mut self,
        node: &mut Node,
        made: &NumberSet,
        payoffs: &[f64],
    ) {
        if node.amaf_table == NO_TABLE
            && node.visits >= TABLE_FROM
            && self.tables.len() < MAX_TABLES
        {
            node.amaf_table = self.tables.len() as u16;
            self.tables.push(vec![Average::default()]);
        }
        if node.amaf_table == NO_TABLE {
            return;
        }
        let table = &mut self.tables[node.amaf_table as usize];
        table.resize(self.numbering.len() + 1, Average::default());
        table[0].n += 1.0;
        for &number in &made.list {
            let role = self.numbering.role(number);
            table[number as usize + 1].add(payoffs[role.index()]);
        }
    }

    pub(in crate::mcts::tree) fn pack(&mut self, nodes: &mut [Node], packing: &Packing) {
        if !self.is_used {
            return;
        }
        packing.pack_by_arm(&mut self.numbers);
        packing.pack_by_arm(&mut self.averages);
        let mut tables = std::mem::take(&mut self.tables);
        for node in nodes.iter_mut().filter(|node| node.amaf_table != NO_TABLE) {
            let table = std::mem::take(&mut tables[node.amaf_table as usize]);
            node.amaf_table = self.tables.len() as u16;
            self.tables.push(table);
        }
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.numbers);
        growth.reserve(&mut self.averages);
    }
}

/// A set of numbers that is cleared in constant time.
#[derive(Default)]
pub(crate) struct NumberSet {
    stamps: Vec<u32>,
    stamp: u32,
    list: Vec<u32>,
}

impl NumberSet {
    fn clear(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.stamps.clear();
            self.stamp = 1;
        }
        self.list.clear();
    }

    fn insert(&mut self, number: u32) {
        let at = number as usize;
        if at >= self.stamps.len() {
            self.stamps.resize(at + 1, 0);
        }
        if self.stamps[at] != self.stamp {
            self.stamps[at] = self.stamp;
            self.list.push(number);
        }
    }

    fn contains(&self, number: u32) -> bool {
        self.stamps.get(number as usize) == Some(&self.stamp)
    }
}
