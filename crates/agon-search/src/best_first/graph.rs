//! The graph of positions with their values and bounds.

use agon_game::{Batch, Children, Position, Rng, Role, SequentialBatch};
use rand::SeedableRng as _;

use crate::choices::{Choices, chances, decision_order};
use crate::hash::Map;
use crate::{Candidate, Evaluate};

/// The kind of role that chooses among the children of a node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Chooser {
    /// The searching role.
    Us,
    /// Another player.
    Other,
    Nature,
}

/// A position, or a partial step: some of the roles that move at the same time have chosen and
/// others have not.
struct Node<S, M> {
    /// The state, until the children are made. A partial step has none.
    state: Option<S>,
    chooser: Chooser,
    /// Whether it is a partial step.
    is_partial: bool,
    /// Whether others choose at the same time as the searching role. Then upper bounds are not
    /// proved, because in fact the others do not see the move.
    is_blind: bool,
    /// The expected payoff, within `low..=high`.
    value: f64,
    /// The proved bounds.
    low: f64,
    high: f64,
    edges: Vec<Edge<M>>,
    /// Whether nothing more can be learnt: there was no memory for the children, or only unseen
    /// simultaneous moves keep the bounds apart.
    is_stuck: bool,
}

struct Edge<M> {
    child: u32,
    /// The move of the chooser, or `None` where no role has a choice.
    m: Option<M>,
    chance: f64,
    n_chosen: u64,
}

pub(super) struct Graph<P: Position> {
    pub(super) us: Role,
    nodes: Vec<Node<P::State, P::Move>>,
    nodes_by_key: Map<u64, u32>,
    max_nodes: usize,
    range: (f64, f64),
    batch: Box<dyn Batch<State = P::State, Move = P::Move>>,
    children: Children<P::State, P::Move>,
}

impl<P: Position + 'static> Graph<P> {
    pub(super) fn new(position: &P, us: Role, max_nodes: usize, seed: u64) -> Graph<P> {
        let payoffs = &position.shape().payoffs;
        Graph {
            us,
            nodes: Vec::new(),
            nodes_by_key: Map::default(),
            max_nodes: max_nodes.clamp(16, u32::MAX as usize),
            range: (*payoffs.start(), *payoffs.end()),
            batch: position.batch(seed).unwrap_or_else(|| {
                Box::new(SequentialBatch::new(position.clone(), Rng::seed_from_u64(seed)))
            }),
            children: Children::new(position.shape().role_names.len()),
        }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn is_resolved(&self, node: u32) -> bool {
        let node = &self.nodes[node as usize];
        node.low >= node.high
    }

    /// Returns whether nothing more can be learnt about a node.
    pub(super) fn is_done(&self, node: u32) -> bool {
        self.is_resolved(node) || self.nodes[node as usize].is_stuck
    }

    pub(super) fn value(&self, node: u32) -> f64 {
        self.nodes[node as usize].value
    }

    /// Returns the chooser at a node whose children are known.
    pub(super) fn chooser(&self, node: u32) -> Option<Chooser> {
        let node = &self.nodes[node as usize];
        node.edges.first().and_then(|edge| edge.m.as_ref()).map(|_| node.chooser)
    }

    /// Returns the node of a position. If memory is half full, all nodes that cannot be reached
    /// from it are removed.
    pub(super) fn root<E: Evaluate<P>>(&mut self, position: &mut P, evaluator: &mut E) -> u32 {
        let root = self.node_at(position, evaluator);
        if self.nodes.len() * 2 < self.max_nodes {
            return root;
        }
        self.retain_reachable(root);
        let root = self.node_at(position, evaluator);
        for node in &mut self.nodes {
            node.is_stuck = false;
        }
        root
    }

    /// Removes all nodes that cannot be reached from a node, or all nodes if the rest is still too
    /// large.
    fn retain_reachable(&mut self, root: u32) {
        let mut new_indices = vec![u32::MAX; self.nodes.len()];
        let mut order = vec![root];
        new_indices[root as usize] = 0;
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for edge in &self.nodes[node as usize].edges {
                if new_indices[edge.child as usize] == u32::MAX {
                    new_indices[edge.child as usize] = order.len() as u32;
                    order.push(edge.child);
                }
            }
        }
        if order.len() * 4 > self.max_nodes * 3 {
            self.nodes.clear();
            self.nodes_by_key.clear();
            return;
        }
        let mut old: Vec<Option<Node<P::State, P::Move>>> =
            std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        for &node in &order {
            let mut node = old[node as usize].take().expect("each node is taken once");
            for edge in &mut node.edges {
                edge.child = new_indices[edge.child as usize];
            }
            self.nodes.push(node);
        }
        self.nodes_by_key.retain(|_, index| {
            *index = new_indices[*index as usize];
            *index != u32::MAX
        });
    }

    /// Returns the node of the current position, and makes one if there is none.
    fn node_at<E: Evaluate<P>>(&mut self, position: &P, evaluator: &mut E) -> u32 {
        let key = position.key();
        if let Some(&index) = self.nodes_by_key.get(&key) {
            return index;
        }
        let (value, low, high, state) = if position.is_terminal() {
            let payoff = position.payoff(self.us);
            (payoff, payoff, payoff, None)
        } else {
            let value = evaluator.value(position, self.us);
            (value, self.range.0, self.range.1, Some(position.state().clone()))
        };
        let index = self.push(Node {
            state,
            chooser: Chooser::Us,
            is_partial: false,
            is_blind: false,
            value,
            low,
            high,
            edges: Vec::new(),
            is_stuck: false,
        });
        self.nodes_by_key.insert(key, index);
        index
    }

    fn push(&mut self, node: Node<P::State, P::Move>) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// Follows the best line to a position whose children are not known, makes them, and backs up
    /// the values. Returns the length of the line.
    pub(super) fn descend<E: Evaluate<P>>(
        &mut self,
        root: u32,
        position: &mut P,
        evaluator: &mut E,
    ) -> u32 {
        let mut path = vec![root];
        loop {
            let here = path[path.len() - 1];
            if self.nodes[here as usize].edges.is_empty() {
                if !self.is_resolved(here) {
                    self.expand(here, position, evaluator);
                }
                break;
            }
            let Some(edge) = self.select(here, &path) else { break };
            let edge = &mut self.nodes[here as usize].edges[edge];
            edge.n_chosen += 1;
            path.push(edge.child);
        }
        for &node in path.iter().rev() {
            self.back_up(node);
        }
        path.len() as u32 - 1
    }

    /// Returns the edge to follow: the best one for the chooser, among those that are not resolved.
    fn select(&self, here: u32, path: &[u32]) -> Option<usize> {
        let node = &self.nodes[here as usize];
        let rank = |edge: &Edge<P::Move>| match node.chooser {
            Chooser::Us => self.nodes[edge.child as usize].value,
            Chooser::Other => -self.nodes[edge.child as usize].value,
            Chooser::Nature => edge.chance / (1 + edge.n_chosen) as f64,
        };
        let mut best: Option<(usize, f64, u64)> = None;
        for (index, edge) in node.edges.iter().enumerate() {
            if path.contains(&edge.child) || !self.is_open(node, edge) {
                continue;
            }
            let rank = rank(edge);
            // Of equal edges, the one visited least.
            if best.is_none_or(|(_, most, n)| rank > most || (rank == most && edge.n_chosen < n)) {
                best = Some((index, rank, edge.n_chosen));
            }
        }
        best.map(|(index, ..)| index)
    }

    fn expand<E: Evaluate<P>>(&mut self, here: u32, position: &mut P, evaluator: &mut E) {
        let state = self.nodes[here as usize].state.clone().expect("open leaves have states");
        position.go_to(&state);
        let order = decision_order(position, self.us);
        let (choices, chances) = (Choices::at(position), chances(position));
        let n_joints =
            order.iter().try_fold(1_usize, |n, &role| n.checked_mul(choices.count(role)));
        if n_joints.is_none_or(|n| n.saturating_mul(2) + self.nodes.len() > self.max_nodes) {
            self.nodes[here as usize].is_stuck = true;
            return;
        }
        let nature = position.shape().nature;
        let n_players = order.iter().filter(|&&role| Some(role) != nature).count();
        let mut children = std::mem::replace(&mut self.children, Children::new(0));
        self.batch.expand(&[&state], &mut children);
        for child in 0..children.len() {
            let joint = children.joint(child);
            let mut at = here;
            // One level for each role with a choice. Only the last one leads to a position.
            for (level, &role) in order.iter().enumerate() {
                let m = &joint[role.index()];
                let chooser = match role {
                    role if role == self.us => Chooser::Us,
                    role if Some(role) == nature => Chooser::Nature,
                    _ => Chooser::Other,
                };
                let node = &mut self.nodes[at as usize];
                node.chooser = chooser;
                node.is_blind = chooser == Chooser::Us && n_players > 1;
                if level + 1 == order.len() {
                    continue;
                }
                let known = node
                    .edges
                    .iter()
                    .find(|edge| edge.m.as_ref() == Some(m))
                    .map(|edge| edge.child);
                if let Some(known) = known {
                    at = known;
                    continue;
                }
                let value = node.value;
                let next = self.push(Node {
                    state: None,
                    chooser,
                    is_partial: true,
                    is_blind: false,
                    value,
                    low: self.range.0,
                    high: self.range.1,
                    edges: Vec::new(),
                    is_stuck: false,
                });
                let edge = Edge { child: next, m: Some(m.clone()), chance: 1.0, n_chosen: 0 };
                self.nodes[at as usize].edges.push(edge);
                at = next;
            }
            position.go_to(&children.states[child]);
            let index = self.node_at(position, evaluator);
            let last = order.last();
            let m = last.map(|role| joint[role.index()].clone());
            let chance = match last {
                Some(&role) if Some(role) == nature => {
                    let index = choices.of(role).iter().position(|other| Some(other) == m.as_ref());
                    chances[index.expect("nature's moves are legal")]
                }
                _ => 1.0,
            };
            self.nodes[at as usize].edges.push(Edge { child: index, m, chance, n_chosen: 0 });
        }
        self.children = children;
        self.nodes[here as usize].state = None;
        // Partial steps are new, and reachable from this node only.
        self.back_up_below(here);
    }

    /// Backs up the partial steps below a position.
    fn back_up_below(&mut self, here: u32) {
        let partial: Vec<u32> = self.nodes[here as usize]
            .edges
            .iter()
            .map(|edge| edge.child)
            .filter(|&child| self.nodes[child as usize].is_partial)
            .collect();
        for child in partial {
            self.back_up_below(child);
            self.back_up(child);
        }
    }

    /// Updates the value and the bounds of a node from those of its children.
    fn back_up(&mut self, here: u32) {
        let node = &self.nodes[here as usize];
        if node.edges.is_empty() || node.low >= node.high {
            return;
        }
        let children = node.edges.iter().map(|edge| &self.nodes[edge.child as usize]);
        let (value, low, high) = match node.chooser {
            Chooser::Us => children.fold(
                (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
                |best, child| {
                    (best.0.max(child.value), best.1.max(child.low), best.2.max(child.high))
                },
            ),
            Chooser::Other => {
                children.fold((f64::INFINITY, f64::INFINITY, f64::INFINITY), |best, child| {
                    (best.0.min(child.value), best.1.min(child.low), best.2.min(child.high))
                })
            }
            Chooser::Nature => node.edges.iter().fold((0.0, 0.0, 0.0), |sum, edge| {
                let child = &self.nodes[edge.child as usize];
                let chance = edge.chance;
                (
                    sum.0 + chance * child.value,
                    sum.1 + chance * child.low,
                    sum.2 + chance * child.high,
                )
            }),
        };
        let high = if node.is_blind { self.range.1 } else { high };
        let node = &mut self.nodes[here as usize];
        // Bounds only ever get tighter.
        node.low = node.low.max(low);
        node.high = node.high.min(high);
        node.value = value.clamp(node.low, node.high.max(node.low));
        let node = &self.nodes[here as usize];
        let is_stuck =
            node.low < node.high && !node.edges.iter().any(|edge| self.is_open(node, edge));
        self.nodes[here as usize].is_stuck = is_stuck;
    }

    /// Returns whether the child of an edge is not resolved and can still matter to the chooser.
    fn is_open(&self, node: &Node<P::State, P::Move>, edge: &Edge<P::Move>) -> bool {
        let child = &self.nodes[edge.child as usize];
        let matters = match node.chooser {
            Chooser::Us => child.high > node.low,
            Chooser::Other => child.low < node.high,
            Chooser::Nature => true,
        };
        child.low < child.high && !child.is_stuck && matters
    }

    /// Returns the moves of the searching role at the root, the safest first.
    pub(super) fn candidates(&self, root: u32) -> Vec<Candidate<P::Move>> {
        let root = &self.nodes[root as usize];
        let mut candidates: Vec<Candidate<P::Move>> = root
            .edges
            .iter()
            .filter_map(|edge| {
                let child = &self.nodes[edge.child as usize];
                Some(Candidate {
                    m: edge.m.clone()?,
                    visits: edge.n_chosen,
                    value: child.value,
                    probability: 0.0,
                    is_proven: child.low >= child.high
                        && (!root.is_blind || child.low >= self.range.1),
                })
            })
            .collect();
        candidates.sort_by(|a, b| b.visits.cmp(&a.visits).then(b.value.total_cmp(&a.value)));
        // A move that is proved to be worse than another is not safe, however often it was visited.
        let sure = |edge: &Edge<P::Move>, m: &P::Move| edge.m.as_ref() == Some(m);
        let high = |m: &P::Move| {
            let edge = root.edges.iter().find(|edge| sure(edge, m)).expect("candidates are edges");
            self.nodes[edge.child as usize].high
        };
        let low = |m: &P::Move| {
            let edge = root.edges.iter().find(|edge| sure(edge, m)).expect("candidates are edges");
            self.nodes[edge.child as usize].low
        };
        let floor =
            candidates.iter().map(|candidate| low(&candidate.m)).fold(f64::NEG_INFINITY, f64::max);
        candidates.sort_by_key(|candidate| high(&candidate.m) < floor);
        let most_chosen = candidates.first().map_or(f64::INFINITY, |first| first.value);
        let mut best: Option<usize> = None;
        for (index, candidate) in candidates.iter().enumerate() {
            let value = low(&candidate.m);
            let is_at_least = value >= floor && value >= most_chosen;
            if is_at_least && best.is_none() {
                best = Some(index);
            }
        }
        if let Some(index) = best {
            let safest = candidates.remove(index);
            candidates.insert(0, safest);
        }
        candidates
    }

    /// Returns the best line from a move of the searching role on.
    pub(super) fn line(&self, root: u32, best: &P::Move, position: &mut P) -> Vec<Vec<P::Move>> {
        let mut joints = Vec::new();
        let mut at = root;
        while !position.is_terminal() && joints.len() < 100 {
            let mut joint = Choices::at(position).first_joint();
            for role in decision_order(position, self.us) {
                let node = &self.nodes[at as usize];
                let rank = |edge: &Edge<P::Move>| match node.chooser {
                    Chooser::Us if joints.is_empty() && edge.m.as_ref() == Some(best) => {
                        f64::INFINITY
                    }
                    Chooser::Us => self.nodes[edge.child as usize].value,
                    Chooser::Other => -self.nodes[edge.child as usize].value,
                    Chooser::Nature => edge.chance,
                };
                let edge = node.edges.iter().rev().max_by(|a, b| rank(a).total_cmp(&rank(b)));
                let Some((edge, m)) = edge.and_then(|edge| Some((edge, edge.m.clone()?))) else {
                    return joints;
                };
                joint[role.index()] = m;
                at = edge.child;
            }
            if decision_order(position, self.us).is_empty() {
                let Some(edge) = self.nodes[at as usize].edges.first() else { return joints };
                at = edge.child;
            }
            position.advance(&joint);
            joints.push(joint);
        }
        joints
    }
}
