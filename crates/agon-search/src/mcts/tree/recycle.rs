//! Recycling: when the tree is full, the least important nodes are removed and the lists packed.

use std::ops::Range;
use std::time::Instant;

use agon_game::Position;

use super::Tree;
use super::node::{Node, NodeId, NodeKind};

/// The estimated time to recycle a node, before it was measured.
const SECONDS_PER_NODE: f64 = 3e-7;

impl<P: Position> Tree<P> {
    /// Keeps at most `n_kept` nodes: those that can be reached from the root through nodes that are
    /// kept, and of those the most visited ones. The statistics of arms are kept with their nodes;
    /// only the links to removed children are lost.
    pub(crate) fn recycle(&mut self, n_kept: usize) {
        let began = Instant::now();
        let kept = self.nodes_to_keep(n_kept);
        self.pack(&kept);
        // The lists are new ones.
        self.is_reserved = false;
        self.reserve_if_large();
        self.recycle_seconds = began.elapsed().as_secs_f64();
    }

    /// Returns whether recycling is likely to be finished before the deadline.
    pub(crate) fn can_recycle_before(&self, deadline: Option<Instant>) -> bool {
        deadline.is_none_or(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
            let guess = self.nodes.len() as f64 * SECONDS_PER_NODE;
            left > if self.recycle_seconds > 0.0 { 1.5 * self.recycle_seconds } else { guess }
        })
    }

    /// Returns for each node whether it is kept.
    fn nodes_to_keep(&self, n_kept: usize) -> Vec<bool> {
        let mut sparse: Vec<(NodeId, NodeId)> = self.joint_children.sparse_pairs().collect();
        sparse.sort_unstable_by_key(|&(node, _)| node.0);
        let reached = self.reachable(0, &sparse);
        let n_reached = reached.iter().filter(|&&reached| reached).count();
        if n_reached <= n_kept {
            return reached;
        }
        let nodes = self.nodes.as_slice().iter().zip(&reached);
        let mut visits: Vec<u64> =
            nodes.filter(|&(_, &reached)| reached).map(|(node, _)| node.visits).collect();
        let (_, &mut most_lost, _) = visits.select_nth_unstable(n_reached - n_kept);
        self.reachable(most_lost + 1, &sparse)
    }

    /// Returns for each node whether it can be reached from the root through nodes with at least
    /// `min_visits` visits. `sparse` are the children of sparse nodes, sorted by node.
    fn reachable(&self, min_visits: u64, sparse: &[(NodeId, NodeId)]) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        reached[self.root.index()] = true;
        let mut open = vec![self.root];
        let mut children = Vec::new();
        while let Some(id) = open.pop() {
            children.clear();
            self.list_children(id, sparse, &mut children);
            for &child in children.iter().filter(|&&child| child != NodeId::NONE) {
                if !reached[child.index()] && self.nodes[child].visits >= min_visits {
                    reached[child.index()] = true;
                    open.push(child);
                }
            }
        }
        reached
    }

    fn list_children(&self, id: NodeId, sparse: &[(NodeId, NodeId)], children: &mut Vec<NodeId>) {
        let node = &self.nodes[id];
        match node.kind {
            _ if !node.has_arms() => {}
            NodeKind::Terminal => {}
            NodeKind::Alone(_) => {
                children.extend(self.arms.scores(node.arms()).iter().map(|score| score.child));
            }
            NodeKind::Joint => children.extend(self.joint_children.of(node)),
            NodeKind::Sparse => {
                let start = sparse.partition_point(|&(node, _)| node.0 < id.0);
                let own = sparse[start..].iter().take_while(|&&(node, _)| node == id);
                children.extend(own.map(|&(_, child)| child));
            }
        }
    }

    /// Removes the nodes that are not kept: each part packs its own lists.
    fn pack(&mut self, kept: &[bool]) {
        let packing = Packing::new(kept, self.nodes.as_slice());
        let nodes = self.nodes.pack(&packing);
        self.payoffs.pack(&packing);
        self.bounds.pack(nodes);
        self.groups.pack(nodes);
        self.moves.pack(nodes);
        self.joint_children.pack(nodes, &packing);
        self.amaf.pack(nodes, &packing);
        self.priors.pack(&packing);
        self.implicit.pack(&packing);
        self.arms.pack(nodes, &packing);

        self.root = packing.new_id(self.root);
        self.terminals.iter_mut().for_each(|id| *id = packing.new_id(*id));
        self.terminals.retain(|&id| id != NodeId::NONE);
        self.index.clear();
        for (at, node) in self.nodes.as_slice().iter().enumerate() {
            if node.kind != NodeKind::Terminal {
                self.index.insert(node.key, NodeId(at as u32));
            }
        }
    }
}

/// Which nodes are kept, and what their new numbers are.
pub(crate) struct Packing {
    /// By old number. [`NodeId::NONE`] for nodes that are removed.
    new_ids: Vec<NodeId>,
    /// The old arms of the nodes that are kept, in their order.
    arms: Vec<Range<usize>>,
}

impl Packing {
    fn new(kept: &[bool], nodes: &[Node]) -> Packing {
        let mut new_ids = vec![NodeId::NONE; kept.len()];
        let mut arms = Vec::new();
        let kept_nodes = nodes.iter().enumerate().filter(|&(at, _)| kept[at]);
        for (new, (at, node)) in kept_nodes.enumerate() {
            new_ids[at] = NodeId(new as u32);
            if node.has_arms() {
                arms.push(node.arms());
            }
        }
        Packing { new_ids, arms }
    }

    /// Returns the new number of a node; [`NodeId::NONE`] if it is removed, and for itself.
    pub(super) fn new_id(&self, id: NodeId) -> NodeId {
        if id == NodeId::NONE { id } else { self.new_ids[id.index()] }
    }

    pub(super) fn is_kept(&self, id: NodeId) -> bool {
        self.new_ids[id.index()] != NodeId::NONE
    }

    /// Packs a list with `n_each` entries for each node.
    pub(super) fn pack_by_node<T: Clone>(&self, list: &mut Vec<T>, n_each: usize) {
        let old = std::mem::take(list);
        for (at, own) in old.chunks(n_each.max(1)).enumerate() {
            if self.is_kept(NodeId(at as u32)) {
                list.extend_from_slice(own);
            }
        }
    }

    /// Packs a list with an entry for each arm.
    pub(super) fn pack_by_arm<T: Clone>(&self, list: &mut Vec<T>) {
        let old = std::mem::take(list);
        for arms in &self.arms {
            list.extend_from_slice(&old[arms.clone()]);
        }
    }
}
