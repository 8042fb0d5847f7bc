//! What the moves of other players show of what they want.

use std::collections::BTreeSet;

use agon_game::{Position, Role};

use super::attitude::{Attitudes, Utilities};
use super::tree::{NodeId, NodeKind, Tree};

/// Maximum number of steps between two requests that are looked for in the tree.
const MAX_STEPS: usize = 8;
/// Maximum number of nodes that are looked at to find these steps.
const MAX_NODES: usize = 50_000;
/// Minimum number of playouts through a move that is compared with others.
const MIN_VISITS: u64 = 16;

/// A step in the tree.
#[derive(Copy, Clone, Debug)]
struct Step {
    node: NodeId,
    choice: u64,
}

impl<P: Position> Tree<P> {
    /// Learns from the moves that were made between two nodes.
    pub(super) fn learn_attitudes(
        &self,
        (from, to): (NodeId, NodeId),
        us: Role,
        utilities: &Utilities,
        attitudes: &mut Attitudes,
    ) {
        for step in self.steps(from, to) {
            let groups = self.groups.of(self.node(step.node));
            for group in groups {
                let is_other = group.role != us && !self.facts.is_nature(group.role);
                if is_other && group.n > 1 {
                    let (moves, made) = self.compared(step, group.role, utilities);
                    if let Some(made) = made.filter(|_| moves.len() > 1) {
                        attitudes.learn(&self.facts, us, group.role, &moves, made);
                    }
                }
            }
        }
    }

    /// Returns the payoffs of all roles after each move of a role that has been tried often enough,
    /// and the index of the move that was made among them. The other roles do what they did.
    fn compared(
        &self,
        step: Step,
        role: Role,
        utilities: &Utilities,
    ) -> (Vec<Vec<f64>>, Option<usize>) {
        // In a choice the last group's digit changes fastest.
        let groups = self.groups.of(self.node(step.node));
        let later = groups.iter().rev().take_while(|group| group.role != role);
        let scale: u64 = later.map(|group| u64::from(group.n)).product();
        let own = groups.iter().find(|group| group.role == role);
        let n = own.map_or(0, |group| u64::from(group.n));
        let digit = step.choice / scale % n.max(1);
        let (mut moves, mut made) = (Vec::new(), None);
        for other in 0..n {
            let choice = step.choice - digit * scale + other * scale;
            let child = self.child(step.node, choice);
            if let Some(payoffs) = self.expected_payoffs(child, utilities) {
                if other == digit {
                    made = Some(moves.len());
                }
                moves.push(payoffs);
            }
        }
        (moves, made)
    }

    /// Returns the expected payoffs of all roles at a node, if enough is known of it.
    fn expected_payoffs(&self, id: NodeId, utilities: &Utilities) -> Option<Vec<f64>> {
        if id == NodeId::NONE || (self.node(id).visits < MIN_VISITS && !self.is_solved(id)) {
            return None;
        }
        let means: Vec<f64> =
            (0..self.facts.n_roles).map(|role| self.mean(id, Role::new(role))).collect();
        utilities.payoffs_of(&means)
    }

    /// Returns the expected payoff of a role at a node. The node stores utilities; where they do not
    /// determine payoffs, the utility is returned.
    pub(super) fn expected_payoff(&self, id: NodeId, role: Role, utilities: &Utilities) -> f64 {
        let mean = self.mean(id, role);
        if utilities.is_payoff(role) {
            return mean;
        }
        let means: Vec<f64> =
            (0..self.facts.n_roles).map(|role| self.mean(id, Role::new(role))).collect();
        let payoffs = utilities.payoffs_of(&means);
        payoffs.map_or(mean, |payoffs| payoffs[role.index()].clamp(self.facts.min, self.facts.max))
    }

    /// Returns the steps from one node to another; none if they are not found nearby.
    fn steps(&self, from: NodeId, to: NodeId) -> Vec<Step> {
        // Breadth first. By node that was reached: the step to it, and the index of its parent.
        let mut reached: Vec<(NodeId, Option<(Step, usize)>)> = vec![(from, None)];
        let mut seen = BTreeSet::from([from.0]);
        let (mut next, mut n_steps) = (0, 0);
        while next < reached.len() && n_steps < MAX_STEPS && reached.len() < MAX_NODES {
            let end = reached.len();
            while next < end {
                let (id, _) = reached[next];
                if id == to {
                    return path(&reached, next);
                }
                for choice in 0..self.n_choices(id) {
                    let child = self.child(id, choice);
                    if child != NodeId::NONE && seen.insert(child.0) {
                        reached.push((child, Some((Step { node: id, choice }, next))));
                    }
                }
                next += 1;
            }
            n_steps += 1;
        }
        let found = (next..reached.len()).find(|&at| reached[at].0 == to);
        found.map_or_else(Vec::new, |at| path(&reached, at))
    }

    /// Returns the number of choices at a node whose children are in a table.
    fn n_choices(&self, id: NodeId) -> u64 {
        let node = self.node(id);
        match node.kind {
            _ if !node.has_arms() => 0,
            NodeKind::Terminal | NodeKind::Sparse => 0,
            NodeKind::Alone(_) => u64::from(node.n_arms),
            NodeKind::Joint => u64::from(node.n_joint),
        }
    }
}

/// Returns the steps that lead to a node.
fn path(reached: &[(NodeId, Option<(Step, usize)>)], mut at: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let (_, Some((step, parent))) = reached[at] {
        steps.push(step);
        at = parent;
    }
    steps.reverse();
    steps
}
