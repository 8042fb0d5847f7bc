//! Monte Carlo tree search: UCT and what has been found to improve it, for any number of roles, simultaneous moves and
//! chance, on one leaf at a time or on batches of leaves.
//!
//! A position goes in, with a budget; a tree is grown from it; a report of what was found comes out. The tree stays for the
//! next call. Positions are shared in a graph, proven bounds are backed up, and memory is bounded by recycling.

mod backup;
mod bounds;
mod gather;
mod heuristic;
mod implicit;
mod index;
mod joint;
mod judging;
mod keep;
mod leaves;
mod leisure;
mod lockstep;
mod node;
mod number;
mod options;
mod patience;
mod playout;
mod policy;
mod recycle;
mod relay;
mod report;
mod room;
mod round;
mod run;
mod select;
mod settle;
mod spread;
mod sprout;
mod tree;
mod worker;

pub use heuristic::{ActionHeuristic, HeuristicUse, Judgements};
pub use options::{
    Amaf, Bandit, Choice, FirstPlay, Leaves, MctsOptions, Others, PlayoutPolicy, Simultaneous,
};

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use agon_game::{Position, Role};

use crate::{Budget, Report, Search};
use heuristic::{FIRST_K, Judge};
use options::Others as OthersWant;
use relay::Relay;
use tree::{Facts, Tree};
use worker::{Shared, Worker};

/// Monte Carlo tree search for one game. With one thread and a budget of iterations or nodes, the same seed gives the same
/// reports.
pub struct Mcts<P: Position> {
    options: MctsOptions,
    seed: u64,
    tree: Option<Tree<P>>,
    /// For whom the tree was grown.
    us: Option<Role>,
    workers: Vec<Worker<P>>,
    heuristic: Option<Judge<P>>,
    /// Iterations made for the last move.
    n_last: Option<u64>,
}

impl<P: Position> Mcts<P> {
    /// A search that has seen nothing yet.
    pub fn new(options: MctsOptions, seed: u64) -> Mcts<P> {
        let options = MctsOptions { heuristic: HeuristicUse::OFF, ..options };
        Mcts::made(options, seed, None)
    }

    /// A search that has seen nothing yet, with moves judged before they are tried; the options say what for.
    pub fn with_heuristic(
        options: MctsOptions,
        seed: u64,
        heuristic: Box<dyn ActionHeuristic<P>>,
    ) -> Mcts<P> {
        Mcts::made(options, seed, Some(Judge::new(heuristic)))
    }

    fn made(options: MctsOptions, seed: u64, heuristic: Option<Judge<P>>) -> Mcts<P> {
        let options = MctsOptions {
            threads: options.threads.max(1),
            // Room for some leaves after recycling.
            max_nodes: options.max_nodes.clamp(1000, u32::MAX as usize / 2),
            ..options
        };
        Mcts { options, seed, tree: None, us: None, workers: Vec::new(), heuristic, n_last: None }
    }

    /// How it searches.
    pub fn options(&self) -> &MctsOptions {
        &self.options
    }

    /// The positions that are remembered.
    pub fn n_nodes(&self) -> usize {
        self.tree.as_ref().map_or(0, |tree| tree.nodes.len())
    }

    /// The equivalence parameter of 003, 3.4.
    fn k(&self) -> f64 {
        self.n_last
            .map_or(FIRST_K, |n| (n as f64).sqrt() / self.options.heuristic.divisor.max(1e-9))
    }

    /// The tree, with its root where the position stands: what is left of the last one, if anything is.
    fn rooted_tree(&mut self, position: &mut P, us: Role) -> Tree<P> {
        let is_other_view = self.options.others == OthersWant::Paranoid && self.us != Some(us);
        let kept = self.tree.take().filter(|_| self.options.keep_tree && !is_other_view);
        let mut tree =
            kept.unwrap_or_else(|| Tree::new(Facts::new(position.shape()), &self.options));
        self.workers[0].plant_root(position, &mut tree, &self.options);
        tree
    }

    /// Has all threads grow the tree.
    fn grow<'b>(&mut self, mut shared: Shared<'b, P>) -> Shared<'b, P> {
        let options = &self.options;
        let (worker, others) = self.workers.split_first_mut().expect("there is a thread at least");
        if worker.is_kept(options) {
            let relay = Relay::new();
            std::thread::scope(|scope| {
                let n_helpers = others.len();
                for other in others {
                    scope.spawn(|| other.help(&relay, options));
                }
                worker.keep(&mut shared, &relay, n_helpers, options);
            });
            return shared;
        }
        let meeting = Mutex::new(shared);
        std::thread::scope(|scope| {
            for other in others {
                scope.spawn(|| other.take_turns(&meeting, options));
            }
            worker.take_turns(&meeting, options);
        });
        meeting.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Position> Search<P> for Mcts<P> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let meter = budget.start();
        if self.workers.is_empty() {
            let seeds = (0..self.options.threads as u64).map(|at| self.seed.wrapping_add(at << 32));
            let worker = |seed| {
                let heuristic = self.heuristic.as_ref().map(Judge::fork);
                Worker::new(position, us, &self.options, seed, heuristic)
            };
            self.workers = seeds.map(worker).collect();
        }
        let k = self.k();
        for worker in &mut self.workers {
            worker.serve(position, us, budget, &self.options, k);
        }
        let mut tree = self.rooted_tree(position, us);
        if let Some(deadline) = budget.deadline
            && tree.nodes.len() > self.options.max_nodes / 4 * 3
        {
            // Room is better made now than when time is short.
            let now = Instant::now();
            let half = deadline.saturating_duration_since(now) / 2;
            if tree.is_recycled_by(Some(now + half)) {
                tree.recycle(self.options.max_nodes / 2);
            }
        }
        self.us = Some(us);
        let shared = Shared { tree, meter, budget, us, playouts: 0, depth: 0, n_in_flight: 0 };
        let shared = self.grow(shared);
        let rng = self.workers[0].rng();
        let answer = shared.tree.answer(position, us, &self.options, rng);
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
        report
    }
}

#[cfg(test)]
mod tests;
