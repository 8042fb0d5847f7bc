//! Making room: positions that matter least are forgotten, and the arenas are packed.

use std::time::Instant;

use agon_game::Position;
use hashbrown::HashTable;

use super::node::{Kind, NO_ARMS, NO_BOUNDS, NO_TABLE, NodeId, Score};
use super::tree::Tree;

/// What making room takes for a position, before that is known.
const SECONDS_PER_NODE: f64 = 3e-7;

impl<P: Position> Tree<P> {
    /// Keeps at most so many positions: those that can be reached from the root, by positions that are kept, and of those the
    /// most visited ones. What moves were worth is kept where the moves are; only where they lead is forgotten.
    pub(super) fn recycle(&mut self, n_kept: usize) {
        let began = Instant::now();
        self.forget(n_kept);
        self.recycle_seconds = began.elapsed().as_secs_f64();
    }

    /// Whether making room is likely to be done by then.
    pub(super) fn is_recycled_by(&self, deadline: Option<Instant>) -> bool {
        deadline.is_none_or(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
            let guess = self.nodes.len() as f64 * SECONDS_PER_NODE;
            left > if self.recycle_seconds > 0.0 { 1.5 * self.recycle_seconds } else { guess }
        })
    }

    fn forget(&mut self, n_kept: usize) {
        let mut sparse: Vec<(NodeId, NodeId)> =
            self.sparse.iter().map(|entry| (entry.node, entry.child)).collect();
        sparse.sort_unstable_by_key(|&(node, _)| node.0);
        let mut reached = self.reachable(0, &sparse);
        let n_reached = reached.iter().filter(|&&reached| reached).count();
        if n_reached > n_kept {
            let visits_of = |(at, _): (usize, _)| self.nodes[at].visits;
            let mut visits: Vec<u64> = reached
                .iter()
                .enumerate()
                .filter(|&(_, &reached)| reached)
                .map(visits_of)
                .collect();
            let (_, &mut most_lost, _) = visits.select_nth_unstable(n_reached - n_kept);
            reached = self.reachable(most_lost + 1, &sparse);
        }
        // They are found to be due again when somebody comes by.
        self.due.clear();
        self.pack(&reached);
        // Lists were made anew.
        self.has_room = false;
        self.see_to_room();
    }

    /// By position: whether it can be reached from the root by positions with at least so many visits.
    fn reachable(&self, min_visits: u64, sparse: &[(NodeId, NodeId)]) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        reached[self.root.index()] = true;
        let mut open = vec![self.root];
        let mut children = Vec::new();
        while let Some(id) = open.pop() {
            children.clear();
            let node = self.node(id);
            match node.kind {
                _ if node.first_arm == NO_ARMS => {}
                Kind::Ended => {}
                Kind::Alone(_) => {
                    children.extend(self.scores[self.arms_of(id)].iter().map(|score| score.child));
                }
                Kind::Joint => {
                    children
                        .extend(&self.joints[node.first_joint as usize..][..node.n_joint as usize]);
                }
                Kind::Sparse => {
                    let start = sparse.partition_point(|&(node, _)| node.0 < id.0);
                    let own = sparse[start..].iter().take_while(|&&(node, _)| node == id);
                    children.extend(own.map(|&(_, child)| child));
                }
            }
            for &child in children.iter().filter(|&&child| child != NodeId::NONE) {
                if !reached[child.index()] && self.node(child).visits >= min_visits {
                    reached[child.index()] = true;
                    open.push(child);
                }
            }
        }
        reached
    }

    fn pack(&mut self, kept: &[bool]) {
        let n_roles = self.facts.n_roles;
        let mut new_ids = vec![NodeId::NONE; kept.len()];
        for (n, (id, _)) in kept.iter().enumerate().filter(|&(_, &kept)| kept).enumerate() {
            new_ids[id] = NodeId(n as u32);
        }
        let renew =
            |child: NodeId| if child == NodeId::NONE { child } else { new_ids[child.index()] };

        let nodes = std::mem::take(&mut self.nodes);
        let mut states = std::mem::take(&mut self.states);
        let sums = std::mem::take(&mut self.sums);
        let squares = std::mem::take(&mut self.squares);
        let bounds = std::mem::take(&mut self.bounds);
        let groups = std::mem::take(&mut self.groups);
        let arms = std::mem::take(&mut self.arms);
        let scores = std::mem::take(&mut self.scores);
        let arm_bounds = std::mem::take(&mut self.arm_bounds);
        let chances = std::mem::take(&mut self.chances);
        let moves = std::mem::take(&mut self.moves);
        let joints = std::mem::take(&mut self.joints);
        let mixes = std::mem::take(&mut self.mixes);
        let numbers = std::mem::take(&mut self.numbers);
        let amaf = std::mem::take(&mut self.amaf);
        let priors = std::mem::take(&mut self.priors);
        let implicit = std::mem::take(&mut self.implicit);
        let mut tables = std::mem::take(&mut self.tables);
        for (id, mut node) in nodes.into_iter().enumerate().filter(|&(id, _)| kept[id]) {
            self.states.push(states[id].take());
            let roles = id * n_roles..(id + 1) * n_roles;
            self.sums.extend_from_slice(&sums[roles.clone()]);
            if self.wants_variance {
                self.squares.extend_from_slice(&squares[roles.clone()]);
            }
            if self.has_implicit {
                self.implicit.extend_from_slice(&implicit[roles]);
            }
            if node.first_bound != NO_BOUNDS {
                let own = node.first_bound as usize..node.first_bound as usize + n_roles;
                node.first_bound = self.bounds.len() as u32;
                self.bounds.extend_from_slice(&bounds[own]);
            }
            let own_groups =
                node.first_group as usize..node.first_group as usize + node.n_groups as usize;
            node.first_group = self.groups.len() as u32;
            for mut group in groups[own_groups].iter().copied() {
                let own = group.first_more as usize..group.first_more as usize + group.n as usize;
                if Some(group.role) == self.facts.nature {
                    group.first_more = self.chances.len() as u32;
                    self.chances.extend_from_slice(&chances[own]);
                } else if self.has_mixes && node.kind == Kind::Joint && node.first_arm != NO_ARMS {
                    group.first_more = self.mixes.len() as u32;
                    self.mixes.extend_from_slice(&mixes[own]);
                }
                self.groups.push(group);
            }
            if node.kind != Kind::Ended {
                let first = node.first_move as usize;
                node.first_move = self.moves.len() as u32;
                self.moves.extend_from_slice(&moves[first..first + n_roles + node.n_arms as usize]);
            }
            if node.table != NO_TABLE {
                let table = std::mem::take(&mut tables[node.table as usize]);
                node.table = self.tables.len() as u16;
                self.tables.push(table);
            }
            if node.first_arm == NO_ARMS {
                self.nodes.push(node);
                continue;
            }
            let own_arms = node.first_arm as usize..node.first_arm as usize + node.n_arms as usize;
            node.first_arm = self.arms.len() as u32;
            self.arms.extend_from_slice(&arms[own_arms.clone()]);
            self.scores.extend(
                scores[own_arms.clone()]
                    .iter()
                    .map(|score| Score { child: renew(score.child), ..*score }),
            );
            if self.has_priors {
                self.priors.extend_from_slice(&priors[own_arms.clone()]);
            }
            if self.has_amaf {
                self.numbers.extend_from_slice(&numbers[own_arms.clone()]);
                self.amaf.extend_from_slice(&amaf[own_arms]);
            }
            let first = node.first_joint as usize;
            if node.kind == Kind::Joint {
                node.first_joint = self.joints.len() as u32;
                let own_joints = &joints[first..first + node.n_joint as usize];
                self.joints.extend(own_joints.iter().map(|&child| renew(child)));
            } else if node.first_joint != NO_BOUNDS {
                node.first_joint = self.arm_bounds.len() as u32;
                self.arm_bounds.extend_from_slice(&arm_bounds[first..first + node.n_arms as usize]);
            }
            self.nodes.push(node);
        }
        for score in self.scores.iter_mut().filter(|score| score.child != NodeId::NONE) {
            score.child_arms = self.nodes[score.child.index()].first_arm;
        }
        // Who has lost a child has to take it in again.
        self.root = renew(self.root);
        self.ends.iter_mut().for_each(|end| *end = renew(*end));
        self.ends.retain(|&end| end != NodeId::NONE);
        let entries = std::mem::take(&mut self.sparse);
        self.sparse_index = HashTable::new();
        for entry in entries {
            let (node, child) = (renew(entry.node), renew(entry.child));
            if node != NodeId::NONE && child != NodeId::NONE {
                self.set_child(node, entry.joint, child);
            }
        }
        self.index.clear();
        for (id, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.kind != Kind::Ended)
        {
            self.index.insert(node.key, NodeId(id as u32));
        }
    }
}
