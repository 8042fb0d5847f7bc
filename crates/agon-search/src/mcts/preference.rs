//! Preferred moves of playouts, learnt from the tree.
//!
//! The move-average sampling technique (MAST, Björnsson & Finnsson 2009) draws good moves more often
//! in playouts. Here the values of moves come from the arms of the tree alone (tree-only MAST,
//! Finnsson & Björnsson 2010), because an engine that makes hundreds of playouts at once does not
//! tell which moves they made. From time to time the moves of every role are ranked by value and
//! given levels, and the engine prefers moves of a high level ([`agon_game::Preferences`]).

use std::collections::VecDeque;
use std::sync::Arc;

use agon_game::{Position, Preferences};

use super::average::Average;
use super::facts::Facts;
use super::numbering::Numbering;
use super::options::PlayoutPreference;
use super::tree::{NodeId, NodeKind, Tree};

/// Iterations after a change of the root before moves are ranked again. The interval doubles.
const FIRST_INTERVAL: u64 = 2048;
/// Maximum number of iterations between two rankings.
const MAX_INTERVAL: u64 = 1 << 18;
/// Maximum number of arms that are read for a ranking, nodes near the root first: a few
/// milliseconds.
const MAX_ARMS: usize = 50_000;
/// Minimum number of playouts through a node that counts.
const MIN_NODE_VISITS: u64 = 32;
/// Maximum number of playouts with which an arm counts, so that no single node outweighs the rest.
const MAX_WEIGHT: u32 = 64;
/// Minimum weight of a move that is ranked. Others have the usual level.
const MIN_WEIGHT: f32 = 32.0;
/// The level of moves that are not ranked.
const USUAL: u8 = 1;
/// By level, from the highest to the lowest but one: the part of the ranked moves of a role that
/// have this level or a higher one.
const PARTS: [f64; 3] = [0.15, 0.4, 0.7];

/// Ranks moves by the statistics of a tree, from time to time.
pub(crate) struct PreferenceLearner<M> {
    method: PlayoutPreference,
    numbering: Numbering<M>,
    /// By number of a move: its value.
    values: Vec<Average>,
    /// Number of iterations since the root has changed, at the next ranking, and until the one after
    /// it.
    n_iterations: u64,
    next: u64,
    interval: u64,
    current: Option<Arc<Preferences<M>>>,
}

impl<M: Clone + Eq + std::hash::Hash> PreferenceLearner<M> {
    pub(crate) fn new(method: PlayoutPreference) -> PreferenceLearner<M> {
        PreferenceLearner {
            method,
            numbering: Numbering::new(),
            values: Vec::new(),
            n_iterations: 0,
            next: FIRST_INTERVAL,
            interval: FIRST_INTERVAL,
            current: None,
        }
    }

    /// Begins a search from another root.
    pub(crate) fn begin(&mut self) {
        (self.n_iterations, self.next, self.interval) = (0, FIRST_INTERVAL, FIRST_INTERVAL);
    }

    /// Returns the preferences for the next batch, whose playouts are `n_iterations`. They are
    /// computed again if the tree has grown enough.
    pub(crate) fn next_batch<P: Position<Move = M>>(
        &mut self,
        tree: &Tree<P>,
        n_iterations: u64,
    ) -> Option<Arc<Preferences<M>>> {
        if self.method == PlayoutPreference::Off {
            return None;
        }
        self.n_iterations += n_iterations;
        if self.n_iterations >= self.next {
            self.interval = (2 * self.interval).min(MAX_INTERVAL);
            self.next = self.n_iterations + self.interval;
            self.average(tree);
            self.current = Some(Arc::new(self.rank(&tree.facts)));
        }
        self.current.clone()
    }

    /// Averages the arms of the nodes near the root, by move.
    fn average<P: Position<Move = M>>(&mut self, tree: &Tree<P>) {
        self.values.clear();
        let mut queue = VecDeque::from([tree.root]);
        let mut is_queued = vec![false; tree.nodes.len()];
        is_queued[tree.root.index()] = true;
        let mut n_arms = 0;
        while let Some(id) = queue.pop_front() {
            let node = tree.node(id);
            if !node.has_arms() || node.kind == NodeKind::Terminal {
                continue;
            }
            n_arms += node.n_arms as usize;
            if n_arms > MAX_ARMS {
                break;
            }
            self.add_node(tree, id);
            if let NodeKind::Alone(_) = node.kind {
                for score in tree.arms.scores(node.arms()) {
                    enqueue(tree, score.child, &mut queue, &mut is_queued);
                }
            } else if node.kind == NodeKind::Joint {
                for choice in 0..u64::from(node.n_joint) {
                    enqueue(tree, tree.child(id, choice), &mut queue, &mut is_queued);
                }
            }
        }
    }

    /// Adds the arms of one node.
    fn add_node<P: Position<Move = M>>(&mut self, tree: &Tree<P>, id: NodeId) {
        let node = tree.node(id);
        let moves = tree.moves.of_arms(node);
        for group in tree.groups.of(node) {
            if tree.facts.is_nature(group.role) || group.n < 2 {
                continue;
            }
            let first = node.first_arm as usize;
            let arms = &tree.arms[first + group.range().start..first + group.range().end];
            let tried = arms.iter().filter(|arm| arm.visits > 0);
            let (n, sum) = tried.fold((0.0, 0.0), |(n, sum), arm| (n + 1.0, sum + arm.mean));
            let base = match self.method {
                PlayoutPreference::Advantage => sum / f32::max(n, 1.0),
                PlayoutPreference::Average | PlayoutPreference::Off => 0.0,
            };
            for (arm, m) in arms.iter().zip(&moves[group.range()]) {
                if arm.visits > 0 {
                    let number = self.numbering.number(group.role, m) as usize;
                    if number >= self.values.len() {
                        self.values.resize(number + 1, Average::default());
                    }
                    let weight = arm.visits.min(MAX_WEIGHT) as f32;
                    let value = &mut self.values[number];
                    value.n += weight;
                    value.mean += (arm.mean - base - value.mean) * weight / value.n;
                }
            }
        }
    }

    /// Ranks the moves of each role by value, and returns their levels.
    fn rank(&self, facts: &Facts) -> Preferences<M> {
        let mut levels = Vec::new();
        for &role in &facts.players {
            let is_ranked = |number: &u32| {
                self.numbering.role(*number) == role
                    && self.values[*number as usize].n >= MIN_WEIGHT
            };
            let mut ranked: Vec<u32> = (0..self.values.len() as u32).filter(is_ranked).collect();
            // The sort is stable, so equal moves stay in the order in which they were met.
            let mean = |number: &u32| self.values[*number as usize].mean;
            ranked.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
            for (rank, &number) in ranked.iter().enumerate() {
                let part = rank as f64 / ranked.len() as f64;
                let below = PARTS.iter().filter(|&&limit| part >= limit).count();
                let level = (PARTS.len() - below) as u8;
                if level != USUAL {
                    levels.push((role, self.numbering.get(number).clone(), level));
                }
            }
        }
        Preferences { usual: USUAL, levels }
    }
}

fn enqueue<P: Position>(
    tree: &Tree<P>,
    child: NodeId,
    queue: &mut VecDeque<NodeId>,
    is_queued: &mut [bool],
) {
    if child != NodeId::NONE
        && tree.node(child).visits >= MIN_NODE_VISITS
        && !std::mem::replace(&mut is_queued[child.index()], true)
    {
        queue.push_back(child);
    }
}
