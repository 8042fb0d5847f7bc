//! The tree: the positions that the search remembers, with their statistics and proofs.
//!
//! It is a graph, in fact: positions with the same key share a node. A node has a *group* for each
//! role that chooses there, and the group has an *arm* for each of the role's moves. Where one role
//! chooses alone (turn-taking games, or nature), the arm leads to the child. Where several roles
//! choose, the children are in a table over the joint moves. Where that table would be too large,
//! they are in a hash table.
//!
//! A joint move is a number, the *choice*: the arms of all groups as the digits of a mixed-radix
//! number, with the last group's digit changing fastest. Where one role chooses, it is the number
//! of the arm, counted from the first one of the node.
//!
//! - [`node`]: what is stored of a position, in exactly one cache line.
//! - [`arena`]: the parts of the tree as flat lists; each part packs itself and reserves its
//!   memory.
//! - [`index`]: finds a node by the key of its position.
//! - [`pending`]: positions that were reached and are not in the tree yet.
//! - [`apply_results`] and [`backup`]: put the results of playouts into the tree.
//! - [`bounds`]: what is proved of a position from what is proved of its children.
//! - [`prefetch`]: reads from memory what is needed soon.
//! - [`recycle`] and [`reserve`]: memory that is bounded and does not move.

mod apply_results;
mod arena;
mod backup;
mod bounds;
mod index;
mod node;
mod pending;
mod prefetch;
mod recycle;
mod reserve;

pub(crate) use apply_results::BackupScratch;
pub(crate) use arena::{Arm, Group, Prospect, RegretEntry, Score};
#[cfg(test)]
pub(crate) use node::Proof;
pub(crate) use node::{NO_TABLE, Node, NodeId, NodeKind};
pub(crate) use pending::{MAX_EXAMINED, PendingNodes};

use agon_game::{Position, Role};

use self::arena::{
    AmafStats, Arms, BoundTable, Bounds, Groups, ImplicitValues, JointChildren, MoveTable, Nodes,
    PayoffSums, Priors,
};
use self::index::Index;
use self::node::{NO_ARMS, NO_BOUNDS, Proof as NodeProof};
use self::pending::{PendingNode, n_joint_moves};
use super::facts::Facts;
use super::options::{Amaf, Bandit, MctsOptions, Simultaneous};

/// Maximum number of joint moves that are tabled, and of which something is proved.
pub(crate) const MAX_JOINT: usize = 4096;

/// Maximum number of terminal nodes that are shared by all ends of the game with the same payoffs.
const MAX_SHARED_TERMINALS: usize = 16;

/// All positions that are remembered, each part in a struct of its own.
pub(crate) struct Tree<P: Position> {
    pub(crate) facts: Facts,
    pub(crate) root: NodeId,
    pub(crate) nodes: Nodes<P::State>,
    pub(crate) payoffs: PayoffSums,
    pub(crate) bounds: BoundTable,
    pub(crate) groups: Groups,
    pub(crate) arms: Arms,
    pub(crate) moves: MoveTable<P::Move>,
    pub(crate) joint_children: JointChildren,
    pub(crate) amaf: AmafStats<P::Move>,
    pub(crate) priors: Priors,
    pub(crate) implicit: ImplicitValues,
    index: Index,
    /// Terminal nodes that are shared by all ends of the game with the same payoffs.
    terminals: Vec<NodeId>,
    /// Whether bounds are proved.
    pub(crate) is_solving: bool,
    max_nodes: usize,
    /// Whether the lists have address space for `max_nodes` nodes.
    is_reserved: bool,
    /// The time that recycling took the last time; 0 if there was no need yet.
    recycle_seconds: f64,
    /// Memory for bounds while they are computed.
    new_bounds: Vec<Bounds>,
}

impl<P: Position> Tree<P> {
    pub(crate) fn new(facts: Facts, options: &MctsOptions) -> Tree<P> {
        let n_roles = facts.n_roles;
        let needs_variance = matches!(options.bandit, Bandit::Ucb1Tuned { .. })
            || matches!(options.simultaneous, Simultaneous::IteratedRegret { .. });
        let has_regrets = matches!(options.simultaneous, Simultaneous::RegretMatching { .. });
        Tree {
            root: NodeId::NONE,
            nodes: Nodes::new(),
            payoffs: PayoffSums::new(n_roles, needs_variance),
            bounds: BoundTable::new(n_roles, [facts.min, facts.max]),
            groups: Groups::new(facts.nature, has_regrets),
            arms: Arms::new(options.virtual_loss as f32, facts.low as f32),
            moves: MoveTable::new(n_roles),
            joint_children: JointChildren::new(),
            amaf: AmafStats::new(options.amaf != Amaf::Off),
            priors: Priors::new(options.heuristic.tree),
            implicit: ImplicitValues::new(n_roles, options.heuristic.implicit > 0.0),
            index: Index::default(),
            terminals: Vec::new(),
            is_solving: options.solver,
            max_nodes: options.max_nodes,
            is_reserved: false,
            recycle_seconds: 0.0,
            new_bounds: Vec::new(),
            facts,
        }
    }

    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// Returns the proved bounds of a role's payoff.
    #[inline]
    pub(crate) fn bound(&self, id: NodeId, role: Role) -> Bounds {
        self.bounds.of_node(&self.nodes[id], role)
    }

    /// Returns the proved bounds of what an arm pays the role that chooses alone.
    #[inline]
    pub(crate) fn arm_bound(&self, id: NodeId, arm: usize) -> Bounds {
        self.bounds.of_arm(&self.nodes[id], arm)
    }

    /// Returns whether the payoffs of all players are known.
    #[inline]
    pub(crate) fn is_solved(&self, id: NodeId) -> bool {
        self.nodes[id].proof == NodeProof::Complete
    }

    /// Returns the mean payoff of a role, clamped to the proved bounds. A node that was never
    /// visited has the middle of its bounds.
    #[inline(always)]
    pub(crate) fn mean(&self, id: NodeId, role: Role) -> f64 {
        let node = &self.nodes[id];
        if node.visits == 0 || node.proof != NodeProof::None {
            let [lo, hi] = self.bound(id, role);
            let mean = if node.visits == 0 {
                (lo + hi) / 2.0
            } else {
                self.payoffs.sum(id, role) / node.visits as f64
            };
            return mean.clamp(lo, hi);
        }
        self.payoffs.sum(id, role) / node.visits as f64
    }

    /// Returns the variance of a role's payoff, with payoffs scaled to 0..1.
    pub(crate) fn variance(&self, id: NodeId, role: Role) -> f64 {
        let visits = self.nodes[id].visits.max(1) as f64;
        let mean = self.payoffs.sum(id, role) / visits;
        let range = self.facts.range();
        ((self.payoffs.square(id, role) / visits - mean * mean) / (range * range)).max(0.0)
    }

    /// Calls `visit` with each group and the arm that it contributes to a choice, last group first.
    #[inline]
    pub(crate) fn visit_choice(
        &self,
        id: NodeId,
        choice: u64,
        mut visit: impl FnMut(&Group, usize),
    ) {
        let node = &self.nodes[id];
        let mut left = choice;
        for group in self.groups.of(node).iter().rev() {
            let digit = left % u64::from(group.n);
            left /= u64::from(group.n);
            visit(group, node.first_arm as usize + group.first as usize + digit as usize);
        }
    }

    /// Adds the moves of all roles in a choice to a list.
    pub(crate) fn push_joint(&self, id: NodeId, choice: u64, joint: &mut Vec<P::Move>) {
        let node = &self.nodes[id];
        let start = joint.len();
        joint.extend_from_slice(self.moves.first_of_roles(node));
        let moves = self.moves.of_arms(node);
        self.visit_choice(id, choice, |group, arm| {
            joint[start + group.role.index()] = moves[arm - node.first_arm as usize].clone();
        });
    }

    /// Returns the child that a choice leads to; [`NodeId::NONE`] if there is none yet.
    #[inline(always)]
    pub(crate) fn child(&self, id: NodeId, choice: u64) -> NodeId {
        let node = &self.nodes[id];
        if !node.has_arms() {
            return NodeId::NONE;
        }
        match node.kind {
            NodeKind::Terminal => NodeId::NONE,
            NodeKind::Alone(_) => self.arms.child(node.first_arm as usize + choice as usize),
            NodeKind::Joint => self.joint_children.dense(node, choice),
            NodeKind::Sparse => self.joint_children.sparse(id, choice),
        }
    }

    /// Makes a choice lead to a child.
    pub(crate) fn set_child(&mut self, id: NodeId, choice: u64, child: NodeId) {
        let node = &self.nodes[id];
        match node.kind {
            NodeKind::Terminal => unreachable!("no move is made at a terminal node"),
            NodeKind::Alone(_) => {
                let arm = node.first_arm as usize + choice as usize;
                self.arms.set_child(arm, child, self.nodes[child].first_arm);
            }
            NodeKind::Joint => self.joint_children.set_dense(node, choice, child),
            NodeKind::Sparse => self.joint_children.set_sparse(id, choice, child),
        }
    }

    /// Returns the node of a position. The number of moves is compared, too, because a game may
    /// give the same key to different positions.
    pub(crate) fn find(&self, pending: &PendingNodes<P>, at: usize) -> Option<NodeId> {
        let PendingNode { key, .. } = *pending.get(at);
        let (n_arms, n_groups) = (pending.moves_of(at).len(), pending.groups_of(at).len());
        let is_it = |&id: &NodeId| {
            let node = &self.nodes[id];
            node.key == key
                && node.n_arms as usize == n_arms
                && usize::from(node.n_groups) == n_groups
        };
        // Without transpositions there may be several: the one with the most visits is meant.
        let found = self.index.candidates(key).filter(is_it);
        found.max_by_key(|&id| (self.nodes[id].visits, std::cmp::Reverse(id.0)))
    }

    /// Adds a node for a position that is not the root. If its mover can end the game at once with
    /// the maximum, a terminal node stands for it.
    pub(crate) fn add_inner(&mut self, pending: &PendingNodes<P>, at: usize) -> NodeId {
        match pending.winning_payoffs(at) {
            Some(payoffs) if self.is_solving => self.add_terminal(payoffs, 1),
            _ => self.add(pending, at),
        }
    }

    /// Adds a node for a position. Its terminal children are added and linked.
    pub(crate) fn add(&mut self, pending: &PendingNodes<P>, at: usize) -> NodeId {
        let groups = pending.groups_of(at);
        let n_joint = n_joint_moves(groups);
        let kind = match groups {
            [] => return self.add_terminal(pending.payoffs_of(at), 0),
            [group] => NodeKind::Alone(group.role),
            _ if n_joint <= MAX_JOINT => NodeKind::Joint,
            _ => NodeKind::Sparse,
        };
        self.implicit.push(pending.worths_of(at));
        let (seen, moves) = (pending.get(at), pending.moves_of(at));
        let node = Node {
            key: seen.key,
            n_arms: moves.len() as u32,
            n_groups: groups.len() as u16,
            n_joint: if kind == NodeKind::Joint { n_joint as u16 } else { 0 },
            kind,
            proof: NodeProof::None,
            has_open_arm: true,
            ..self.empty_node()
        };
        let id = self.nodes.push(node, seen.state.clone());
        self.payoffs.resize(self.nodes.len());
        for group in groups {
            let chances = pending.chances_of(at).get(group.range()).unwrap_or(&[]);
            self.groups.push(group, chances);
        }
        self.moves.push(pending.first_moves_of(at), moves);
        self.index.insert(seen.key, id);
        self.reserve_if_large();
        self.link_terminal_children(id, pending, at);
        id
    }

    /// Adds nodes for the terminal children of a new node, and proves what follows from them.
    fn link_terminal_children(&mut self, id: NodeId, pending: &PendingNodes<P>, at: usize) {
        let children = pending.terminal_children_of(at);
        if children.is_empty() {
            return;
        }
        self.ensure_arms(id);
        for child in children {
            let terminal = self.add_terminal(pending.terminal_payoffs(child), 0);
            self.set_child(id, pending.terminal_choice(child), terminal);
        }
        if self.is_solving && self.may_prove_new(id) {
            self.tighten(id);
        }
    }

    /// Returns the node for positions where the game is over with these payoffs, or will be after
    /// `plies` steps. One node stands for all of them, unless there are many different payoffs.
    fn add_terminal(&mut self, payoffs: &[f64], plies: u16) -> NodeId {
        let is_it = |id: &&NodeId| {
            let node = &self.nodes[**id];
            let bounds = self.bounds.by_role(node);
            node.plies == plies && bounds.iter().zip(payoffs).all(|(known, pays)| known[0] == *pays)
        };
        if let Some(&known) = self.terminals.iter().find(is_it) {
            return known;
        }
        let node = Node {
            first_bound: self.bounds.push_exact(payoffs),
            plies,
            kind: NodeKind::Terminal,
            proof: NodeProof::Complete,
            has_open_arm: false,
            ..self.empty_node()
        };
        let id = self.nodes.push(node, None);
        if self.terminals.len() < MAX_SHARED_TERMINALS {
            self.terminals.push(id);
        }
        self.payoffs.resize(self.nodes.len());
        self.implicit.push(payoffs);
        id
    }

    /// Returns a node without moves, whose lists would begin at the present ends of the lists.
    fn empty_node(&self) -> Node {
        Node {
            key: 0,
            visits: 0,
            pending: 0,
            first_arm: NO_ARMS,
            n_arms: 0,
            first_group: self.groups.len() as u32,
            n_groups: 0,
            plies: 0,
            first_move: self.moves.len() as u32,
            first_joint: NO_BOUNDS,
            n_joint: 0,
            playout_length: 0,
            stamp: 0,
            amaf_table: NO_TABLE,
            first_bound: NO_BOUNDS,
            kind: NodeKind::Terminal,
            proof: NodeProof::None,
            has_open_arm: false,
        }
    }

    /// Makes the arms of a node if it has none: to be called before a move is chosen there.
    #[inline]
    pub(crate) fn ensure_arms(&mut self, id: NodeId) {
        let node = &self.nodes[id];
        if !node.has_arms() && node.kind != NodeKind::Terminal {
            self.make_arms(id);
        }
    }

    fn make_arms(&mut self, id: NodeId) {
        let node = self.nodes.get_mut(id);
        self.arms.make(node);
        self.priors.resize(self.arms.len());
        if node.kind == NodeKind::Joint {
            self.joint_children.make(node);
        }
        self.groups.make_regrets(node);
        let moves = self.moves.of_arms(node);
        for group in self.groups.of(node) {
            self.amaf.push_arms(group.role, &moves[group.range()]);
        }
    }
}
