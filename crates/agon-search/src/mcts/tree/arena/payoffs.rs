//! The sums of the payoffs of all playouts through each node.

use agon_game::Role;

use super::super::node::NodeId;
use super::super::recycle::Packing;
use super::super::reserve::Growth;

/// By node and role: the sum of the payoffs, and of their squares if variances are needed.
pub(crate) struct PayoffSums {
    n_roles: usize,
    sums: Vec<f64>,
    /// Empty unless `has_squares`.
    squares: Vec<f64>,
    has_squares: bool,
}

impl PayoffSums {
    pub(in crate::mcts::tree) fn new(n_roles: usize, has_squares: bool) -> PayoffSums {
        PayoffSums { n_roles, sums: Vec::new(), squares: Vec::new(), has_squares }
    }

    /// Returns whether variances are known.
    #[inline]
    pub(crate) fn has_squares(&self) -> bool {
        self.has_squares
    }

    #[inline]
    pub(crate) fn sum(&self, id: NodeId, role: Role) -> f64 {
        self.sums[id.index() * self.n_roles + role.index()]
    }

    #[inline]
    pub(crate) fn square(&self, id: NodeId, role: Role) -> f64 {
        self.squares[id.index() * self.n_roles + role.index()]
    }

    /// Adds sums and sums of squares, by role.
    #[inline]
    pub(in crate::mcts::tree) fn add(&mut self, id: NodeId, sums: &[f64], squares: &[f64]) {
        let start = id.index() * self.n_roles;
        for (known, sum) in self.sums[start..start + self.n_roles].iter_mut().zip(sums) {
            *known += sum;
        }
        if self.has_squares {
            for (known, square) in self.squares[start..start + self.n_roles].iter_mut().zip(squares)
            {
                *known += square;
            }
        }
    }

    /// Makes entries for new nodes.
    #[inline]
    pub(in crate::mcts::tree) fn resize(&mut self, n_nodes: usize) {
        self.sums.resize(n_nodes * self.n_roles, 0.0);
        if self.has_squares {
            self.squares.resize(n_nodes * self.n_roles, 0.0);
        }
    }

    pub(in crate::mcts::tree) fn pack(&mut self, packing: &Packing) {
        packing.pack_by_node(&mut self.sums, self.n_roles);
        if self.has_squares {
            packing.pack_by_node(&mut self.squares, self.n_roles);
        }
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.sums);
        growth.reserve(&mut self.squares);
    }

    /// Returns where the sums lie in memory.
    #[cfg(test)]
    pub(crate) fn address(&self) -> usize {
        self.sums.as_ptr().addr()
    }
}
