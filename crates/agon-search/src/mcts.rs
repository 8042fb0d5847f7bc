//! Monte Carlo tree search: UCT and its improvements, for any number of roles, simultaneous moves
//! and chance.
//!
//! A call gets a position and a budget, grows a tree from the position, and returns a report. The
//! tree is kept for the next call. With one thread and a budget of iterations or nodes, the same
//! seed gives the same reports.
//!
//! # The tree
//!
//! The [tree] is a graph of positions in flat lists: positions that are reached in several ways
//! share a node. Each node has statistics for every role, and each move of a role that has a choice
//! is an arm with statistics of its own. Proven bounds on every role's payoff are backed up beside
//! the means, so that moves which cannot be better than a proved one are not tried any more. All
//! terminal positions with the same payoffs are one node, and so are all positions whose mover can
//! end the game at once with the maximum. Memory is bounded: when the tree is full, half of the
//! nodes are recycled. Lists reserve address space for a full tree as soon as they are more than
//! small, because all threads would wait while a large list is copied.
//!
//! # An iteration
//!
//! The work goes in batches of leaves (`LeafBatch`).
//!
//! 1. *Selection* ([select]): moves are chosen by UCB1 or UCB1-TUNED from the root down. A leaf is
//!    selected without the results of the leaves in flight: their playouts count as visits that
//!    were lost (virtual loss). A leaf that is in flight already is not selected again. Where roles
//!    choose at the same time, they use decoupled UCT, regret matching or iterated regret
//!    minimisation.
//! 2. *Expansion and simulation* ([simulate]): the new positions are entered, their children are
//!    examined for the end of the game, and playouts are made from them. Neither needs the tree, so
//!    any thread can do that. Where the position offers a batch engine
//!    ([`agon_game::Position::batch`]), each of these is one pass for the whole batch. Playouts
//!    whose moves a heuristic draws run in lockstep, each with its own random stream, so that the
//!    heuristic is asked about many positions at once, as it is for moves in the tree. RAVE, GRAVE,
//!    MAST, PAST and n-grams need the moves of playouts; then playouts are made one by one.
//!    Before the results reach the tree, payoffs are rewritten to utilities (`attitude`): what the
//!    players are assumed to want, as far as their moves have shown it (`evidence`).
//! 3. *Backup* (`Tree::apply_results`): the new positions become nodes, and the results are added
//!    to every node on the path to a leaf.
//!
//! # Threads
//!
//! The number of leaves in flight does not depend on the number of [threads], because each leaf is
//! selected without the results of the others. With bulk playouts, one thread is the coordinator:
//! it alone works on the tree, keeps a batch ready for each helper in a queue, and where the
//! helpers leave it time, simulates a batch of its own a few steps at a time. Where playouts are
//! made one by one, threads take turns at the tree.

mod attitude;
mod average;
mod batch_size;
mod evidence;
mod facts;
mod hashing;
mod heuristic;
mod leaf_batch;
mod numbering;
mod options;
mod preference;
mod report;
mod select;
mod simulate;
mod threads;
mod tree;
mod worker;

pub use heuristic::{ActionHeuristic, ActionValues, HeuristicUse};
pub use options::{
    Amaf, Bandit, Choice, FinalMove, FirstPlay, Leaves, MctsOptions, Others, PlayoutPolicy,
    PlayoutPreference, Simultaneous,
};
pub use simulate::EvaluateLeaves;

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use agon_game::{Position, Role};

use crate::{Budget, Report, Search};
use attitude::{Attitude, Attitudes, RELATIVE_PART, Utilities};
use facts::Facts;
use heuristic::FIRST_K;
use simulate::LeafValues;
use threads::{Coordinator, LeafQueue, Shared};
use tree::{NodeId, Tree};
use worker::{Advisers, Purpose, Worker};

/// Monte Carlo tree search for one game.
///
/// With one thread and a budget of iterations or nodes, the same seed gives the same reports.
pub struct Mcts<P: Position> {
    options: MctsOptions,
    seed: u64,
    tree: Option<Tree<P>>,
    /// The role for which the tree was grown.
    us: Option<Role>,
    /// One for each thread.
    workers: Vec<Worker<P>>,
    heuristic: Option<Box<dyn ActionHeuristic<P>>>,
    leaf_values: Option<LeafValues<P::State>>,
    /// What the other players have shown of what they want.
    attitudes: Option<Attitudes>,
    /// The number of iterations for the last move.
    n_last: Option<u64>,
}

impl<P: Position> Mcts<P> {
    /// Makes a search with an empty tree.
    pub fn new(options: MctsOptions, seed: u64) -> Mcts<P> {
        let options = MctsOptions { heuristic: HeuristicUse::OFF, ..options };
        Mcts::build(options, seed, None)
    }

    /// Makes a search with an empty tree and a heuristic, which is used as the options say.
    pub fn with_heuristic(
        options: MctsOptions,
        seed: u64,
        heuristic: Box<dyn ActionHeuristic<P>>,
    ) -> Mcts<P> {
        Mcts::build(options, seed, Some(heuristic))
    }

    /// Adds an evaluator of leaves. `part` is its part in the value of a leaf, from 0 to 1; the rest
    /// comes from playouts. It needs an engine that runs batches.
    #[must_use]
    pub fn with_evaluator(
        mut self,
        evaluator: Box<dyn EvaluateLeaves<P::State>>,
        part: f64,
    ) -> Mcts<P> {
        self.leaf_values = Some(LeafValues { evaluator, part });
        self
    }

    /// Replaces the evaluator of leaves. The tree is forgotten, because its values are those of the
    /// old one.
    pub fn set_evaluator(&mut self, evaluator: Box<dyn EvaluateLeaves<P::State>>, part: f64) {
        self.leaf_values = Some(LeafValues { evaluator, part });
        self.tree = None;
        self.workers.clear();
    }

    fn build(
        options: MctsOptions,
        seed: u64,
        heuristic: Option<Box<dyn ActionHeuristic<P>>>,
    ) -> Mcts<P> {
        let options = MctsOptions {
            threads: options.threads.max(1),
            // At least 1000, so that there is space for some leaves after recycling.
            max_nodes: options.max_nodes.clamp(1000, u32::MAX as usize / 2),
            ..options
        };
        Mcts {
            options,
            seed,
            tree: None,
            us: None,
            workers: Vec::new(),
            heuristic,
            leaf_values: None,
            attitudes: None,
            n_last: None,
        }
    }

    /// Returns the options, adjusted to what is possible.
    pub fn options(&self) -> &MctsOptions {
        &self.options
    }

    /// Returns the number of nodes in the tree.
    pub fn n_nodes(&self) -> usize {
        self.tree.as_ref().map_or(0, |tree| tree.nodes.len())
    }

    /// Returns the equivalence parameter of the heuristic (Trutman 2015, section 3.4).
    fn prior_k(&self) -> f64 {
        self.n_last
            .map_or(FIRST_K, |n| (n as f64).sqrt() / self.options.heuristic.divisor.max(1e-9))
    }

    /// Makes the workers before the first move, and prepares them for the next one.
    fn prepare_workers(&mut self, position: &P, us: Role, budget: &Budget, purpose: Purpose) {
        if self.workers.is_empty() {
            let seeds = (0..self.options.threads as u64).map(|at| self.seed.wrapping_add(at << 32));
            let worker = |seed| {
                let heuristic = self.heuristic.as_ref().map(|heuristic| heuristic.fork());
                let leaf_values = self.leaf_values.as_ref().map(LeafValues::fork);
                let advisers = Advisers { heuristic, leaf_values };
                Worker::new(position, us, &self.options, seed, advisers)
            };
            self.workers = seeds.map(worker).collect();
        }
        let prior_k = self.prior_k();
        let utilities = self.utilities(us);
        for worker in &mut self.workers {
            worker.utilities.clone_from(&utilities);
            worker.prepare(position, us, (budget, purpose), &self.options, prior_k);
        }
    }

    /// Returns what the players are assumed to want.
    fn utilities(&mut self, us: Role) -> Utilities {
        let facts = &self.workers[0].facts;
        let n_roles = facts.n_roles;
        match self.options.others {
            Others::MaxN => Utilities::plain(facts),
            Others::Paranoid => Utilities::new(facts, us, &vec![Attitude::HOSTILE; n_roles], 0.0),
            // There is nothing to learn where the payoffs add up to a constant for two players.
            Others::Learnt if facts.players.len() == 2 && facts.constant_sum.is_some() => {
                Utilities::plain(facts)
            }
            Others::Learnt => {
                let attitudes =
                    self.attitudes.get_or_insert_with(|| Attitudes::new(Attitude::BEFORE, n_roles));
                Utilities::new(facts, us, attitudes.in_use(), RELATIVE_PART)
            }
        }
    }

    /// Returns the tree with its root where the position stands: the last tree if it has a node for
    /// the position, or a new one.
    fn rooted_tree(&mut self, position: &mut P, us: Role) -> Tree<P> {
        // Utilities depend on the role.
        let is_other_view = self.options.others != Others::MaxN && self.us != Some(us);
        let kept = self.tree.take().filter(|_| self.options.keep_tree && !is_other_view);
        let mut tree = kept.unwrap_or_else(|| Tree::new(Facts::new(position), &self.options));
        let before = tree.root;
        let is_known = self.workers[0].set_root(position, &mut tree, &self.options);
        if is_known && self.has_new_attitudes(&tree, before, us) {
            let utilities = self.utilities(us);
            self.workers.iter_mut().for_each(|worker| worker.utilities.clone_from(&utilities));
            tree = Tree::new(Facts::new(position), &self.options);
            self.workers[0].set_root(position, &mut tree, &self.options);
        }
        tree
    }

    /// Learns from the moves of the other players since the root was at the node `before`. Returns
    /// whether what is assumed of them has changed so much that the tree is out of date.
    fn has_new_attitudes(&mut self, tree: &Tree<P>, before: NodeId, us: Role) -> bool {
        let utilities = &self.workers[0].utilities;
        let Some(attitudes) = self.attitudes.as_mut().filter(|_| before != NodeId::NONE) else {
            return false;
        };
        tree.learn_attitudes((before, tree.root), us, utilities, attitudes);
        attitudes.renew()
    }

    /// Recycles nodes of a tree that is nearly full. Under a deadline that is better done at the
    /// beginning than when time is short.
    fn recycle_early(&self, tree: &mut Tree<P>, budget: &Budget) {
        if budget.deadline.is_some()
            && tree.nodes.len() > self.options.max_nodes / 4 * 3
            && let Some(end) = self.workers[0].upkeep_end()
        {
            let now = Instant::now();
            let half = end.saturating_duration_since(now) / 2;
            if tree.can_recycle_before(Some(now + half)) {
                tree.recycle(self.options.max_nodes / 2);
            }
        }
    }

    /// Moves the root to where the position stands and grows the tree within the budget.
    fn search<'b>(
        &mut self,
        position: &mut P,
        us: Role,
        budget: &'b Budget,
        purpose: Purpose,
    ) -> Shared<'b, P> {
        let meter = budget.start();
        self.prepare_workers(position, us, budget, purpose);
        let mut tree = self.rooted_tree(position, us);
        self.recycle_early(&mut tree, budget);
        self.us = Some(us);
        self.grow(Shared::new(tree, meter, budget, us))
    }

    /// Grows the tree with all threads.
    fn grow<'b>(&mut self, mut shared: Shared<'b, P>) -> Shared<'b, P> {
        let options = &self.options;
        let (worker, others) =
            self.workers.split_first_mut().expect("there is at least one thread");
        if worker.has_coordinator(options) {
            let queue = LeafQueue::new();
            std::thread::scope(|scope| {
                let n_helpers = others.len();
                for other in others {
                    scope.spawn(|| other.help(&queue, options));
                }
                Coordinator::new(worker, &queue, n_helpers, options).run(&mut shared);
            });
            return shared;
        }
        let shared = Mutex::new(shared);
        std::thread::scope(|scope| {
            for other in others {
                scope.spawn(|| other.take_turns(&shared, options));
            }
            worker.take_turns(&shared, options);
        });
        shared.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Position> Search<P> for Mcts<P> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        if has_too_many_joint_moves(position) {
            return report::without_search(position, us);
        }
        let shared = self.search(position, us, budget, Purpose::Move);
        let Worker { rng, utilities, .. } = &mut self.workers[0];
        let answer = shared.tree.answer(position, us, (&self.options, utilities), rng);
        let report = Report {
            best: answer.best,
            us,
            candidates: answer.candidates,
            value: answer.value,
            is_proven: answer.is_proven,
            lines: answer.lines,
            iterations: shared.meter.n_iterations,
            nodes: shared.meter.n_nodes,
            playouts: shared.playouts,
            depth: shared.depth,
            seconds: shared.meter.seconds(),
        };
        self.tree = Some(shared.tree);
        self.n_last = Some(report.iterations);
        report.with_proofs_of(position.shape())
    }

    /// Grows the tree. The next call of `think` finds the nodes of all replies in it.
    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        if self.options.keep_tree && !budget.is_cancelled() && !has_too_many_joint_moves(position) {
            let shared = self.search(position, us, budget, Purpose::Ponder);
            self.tree = Some(shared.tree);
        }
    }
}

/// Returns whether the joint moves at a position cannot be numbered. Their number may grow below
/// the position, so there is a margin to the range of the numbers.
fn has_too_many_joint_moves<P: Position>(position: &P) -> bool {
    const MAX_JOINT_MOVES: f64 = (1_u64 << 56) as f64;
    let roles = position.shape().roles();
    roles.map(|role| position.legal_moves(role).len() as f64).product::<f64>() > MAX_JOINT_MOVES
}

#[cfg(test)]
mod tests;
