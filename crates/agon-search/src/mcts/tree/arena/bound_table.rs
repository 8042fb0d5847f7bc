//! The proved bounds on the payoffs of nodes and arms.

use agon_game::Role;

use super::super::node::{NO_BOUNDS, Node, NodeKind};
use super::super::reserve::Growth;

/// The least and the greatest payoff that is possible.
pub(crate) type Bounds = [f64; 2];

/// Bounds of those nodes, and of the arms of those nodes, of which something is proved. All others
/// have the range of the game's payoffs.
pub(crate) struct BoundTable {
    n_roles: usize,
    range: Bounds,
    /// By node with bounds and role.
    of_nodes: Vec<Bounds>,
    /// By arm of the nodes with bounds where one role chooses: bounds on the payoff of that role.
    of_arms: Vec<Bounds>,
}

impl BoundTable {
    pub(in crate::mcts::tree) fn new(n_roles: usize, range: Bounds) -> BoundTable {
        BoundTable { n_roles, range, of_nodes: Vec::new(), of_arms: Vec::new() }
    }

    /// Returns the range of the game's payoffs.
    #[inline]
    pub(crate) fn range(&self) -> Bounds {
        self.range
    }

    /// Returns the bounds of a role's payoff at a node.
    #[inline]
    pub(crate) fn of_node(&self, node: &Node, role: Role) -> Bounds {
        match node.first_bound {
            NO_BOUNDS => self.range,
            first => self.of_nodes[first as usize + role.index()],
        }
    }

    /// Returns the bounds by role of a node that has them.
    #[inline]
    pub(crate) fn by_role(&self, node: &Node) -> &[Bounds] {
        &self.of_nodes[node.first_bound as usize..][..self.n_roles]
    }

    /// Returns the bounds of what an arm pays the role that chooses alone at a node.
    #[inline]
    pub(crate) fn of_arm(&self, node: &Node, arm: usize) -> Bounds {
        match node.first_joint {
            NO_BOUNDS => self.range,
            first => self.of_arms[first as usize + arm - node.first_arm as usize],
        }
    }

    /// Adds the bounds of a node whose payoffs are known. Returns where they begin.
    pub(in crate::mcts::tree) fn push_exact(&mut self, payoffs: &[f64]) -> u32 {
        let first = self.of_nodes.len() as u32;
        self.of_nodes.extend(payoffs.iter().map(|&payoff| [payoff, payoff]));
        first
    }

    /// Returns the bounds of a node by role. Gives it entries if it has none.
    pub(in crate::mcts::tree) fn of_node_mut(&mut self, node: &mut Node) -> &mut [Bounds] {
        if node.first_bound == NO_BOUNDS {
            node.first_bound = self.of_nodes.len() as u32;
            self.of_nodes.resize(self.of_nodes.len() + self.n_roles, self.range);
        }
        &mut self.of_nodes[node.first_bound as usize..][..self.n_roles]
    }

    /// Gives the arms of a node entries if they have none.
    pub(in crate::mcts::tree) fn make_arm_entries(&mut self, node: &mut Node) {
        if node.first_joint == NO_BOUNDS {
            node.first_joint = self.of_arms.len() as u32;
            self.of_arms.resize(self.of_arms.len() + node.n_arms as usize, self.range);
        }
    }

    /// Tightens the bounds of an arm, which has an entry. Returns the new ones. They never get
    /// looser and never cross.
    pub(in crate::mcts::tree) fn tighten_arm(
        &mut self,
        node: &Node,
        arm: usize,
        [lo, hi]: Bounds,
    ) -> Bounds {
        let at = node.first_joint as usize + arm - node.first_arm as usize;
        let [known_lo, known_hi] = &mut self.of_arms[at];
        *known_hi = known_hi.min(hi);
        *known_lo = known_lo.max(lo).min(*known_hi);
        [*known_lo, *known_hi]
    }

    pub(in crate::mcts::tree) fn pack(&mut self, nodes: &mut [Node]) {
        let of_nodes = std::mem::take(&mut self.of_nodes);
        let of_arms = std::mem::take(&mut self.of_arms);
        for node in nodes {
            if node.first_bound != NO_BOUNDS {
                let own = &of_nodes[node.first_bound as usize..][..self.n_roles];
                node.first_bound = self.of_nodes.len() as u32;
                self.of_nodes.extend_from_slice(own);
            }
            if node.kind != NodeKind::Joint && node.first_joint != NO_BOUNDS {
                let own = &of_arms[node.first_joint as usize..][..node.n_arms as usize];
                node.first_joint = self.of_arms.len() as u32;
                self.of_arms.extend_from_slice(own);
            }
        }
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.of_nodes);
        growth.reserve(&mut self.of_arms);
    }

    /// Returns where the bounds of nodes lie in memory.
    #[cfg(test)]
    pub(crate) fn address(&self) -> usize {
        self.of_nodes.as_ptr().addr()
    }
}
