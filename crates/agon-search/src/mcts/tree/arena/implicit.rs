//! The values of implicit minimax backups (Lanctot, Winands, Pepels and Sturtevant 2014).

use agon_game::Role;

use super::super::node::NodeId;
use super::super::recycle::Packing;
use super::super::reserve::Growth;

/// By node and role: the value that a heuristic gave to the position, backed up by minimax. Empty
/// if implicit minimax backups are not used.
pub(crate) struct ImplicitValues {
    n_roles: usize,
    values: Vec<f32>,
    is_used: bool,
}

impl ImplicitValues {
    pub(in crate::mcts::tree) fn new(n_roles: usize, is_used: bool) -> ImplicitValues {
        ImplicitValues { n_roles, values: Vec::new(), is_used }
    }

    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used
    }

    #[inline]
    pub(crate) fn value(&self, id: NodeId, role: Role) -> f32 {
        self.values[id.index() * self.n_roles + role.index()]
    }

    /// Adds the values of the next node by role, if they are used.
    #[inline]
    pub(in crate::mcts::tree) fn push(&mut self, values: &[f64]) {
        if self.is_used {
            self.values.extend(values.iter().map(|&value| value as f32));
        }
    }

    /// Copies the values of the best child of the role that chooses.
    pub(in crate::mcts::tree) fn back_up_best(
        &mut self,
        id: NodeId,
        role: Role,
        children: impl Iterator<Item = NodeId>,
    ) {
        let better = |best: NodeId, child: NodeId| {
            if self.value(child, role) > self.value(best, role) { child } else { best }
        };
        if let Some(best) = children.reduce(better) {
            let from = best.index() * self.n_roles;
            self.values.copy_within(from..from + self.n_roles, id.index() * self.n_roles);
        }
    }

    /// Sets the values of a node of nature to the mean of its known children by chance.
    pub(in crate::mcts::tree) fn back_up_mean(
        &mut self,
        id: NodeId,
        children: impl Iterator<Item = (NodeId, f32)>,
    ) {
        let mut total = 0.0;
        let mut sums = vec![0.0; self.n_roles];
        for (child, chance) in children {
            total += chance;
            let own = &self.values[child.index() * self.n_roles..][..self.n_roles];
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += chance * own);
        }
        if total > 0.0 {
            let home = id.index() * self.n_roles;
            for (place, sum) in self.values[home..home + self.n_roles].iter_mut().zip(sums) {
                *place = sum / total;
            }
        }
    }

    pub(in crate::mcts::tree) fn pack(&mut self, packing: &Packing) {
        if self.is_used {
            packing.pack_by_node(&mut self.values, self.n_roles);
        }
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.values);
    }
}
