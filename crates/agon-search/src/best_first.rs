//! Unbounded best-first minimax with completion (Cohen-Solal 2020; the search of Descent and
//! Athenan).
//!
//! Each iteration follows the best line for all players to its end and makes all children of the
//! position there in one pass ([`agon_game::Batch::expand`]). Values are backed up by minimax,
//! together with proved lower and upper bounds. A position where both bounds meet is resolved and
//! not searched again. The same holds for moves that are proved not to be better than another one.
//! At the end the safest move is played: the one chosen most often, unless a resolved move is worth
//! at least as much.
//!
//! All other players are assumed to minimise the payoff of the searching role, and to see its move
//! when they move at the same time. Moves of nature are averaged; the one visited least for its
//! chance is visited first. Memory is bounded. When it is full, no position is added until the next
//! move, when all positions that can no longer be reached are removed.

mod graph;
#[cfg(test)]
mod tests;

use agon_game::{Position, Role};

use crate::report::MAX_LINES;
use crate::{Budget, Candidate, Evaluate, GoalValues, Line, Report, Search};
use graph::{Chooser, Graph};

/// The options of a best-first search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestFirstOptions {
    /// Maximum number of remembered positions.
    pub max_nodes: usize,
    /// The seed of the engine that makes children. It has no effect on the result.
    pub seed: u64,
}

impl Default for BestFirstOptions {
    fn default() -> BestFirstOptions {
        BestFirstOptions { max_nodes: 1 << 20, seed: 0 }
    }
}

/// Unbounded best-first minimax. It keeps its graph of positions from move to move.
pub struct BestFirst<P: Position, E = GoalValues> {
    options: BestFirstOptions,
    evaluator: E,
    graph: Option<Graph<P>>,
}

impl<P: Position + 'static> BestFirst<P, GoalValues> {
    /// Returns a search that evaluates positions by the payoffs that the rules give there.
    pub fn new(options: BestFirstOptions) -> BestFirst<P, GoalValues> {
        BestFirst::with_evaluator(options, GoalValues)
    }
}

impl<P: Position + 'static, E: Evaluate<P>> BestFirst<P, E> {
    /// Returns a search that evaluates positions by an evaluator.
    pub fn with_evaluator(options: BestFirstOptions, evaluator: E) -> BestFirst<P, E> {
        BestFirst { options, evaluator, graph: None }
    }
}

/// Maximum number of consecutive descents without a new position, which happen when memory is full
/// or positions repeat.
const MAX_IDLE: u32 = 1000;
/// Number of descents between two updates of the best move so far, in a search with a deadline.
const HINT_INTERVAL: u64 = 64;

impl<P: Position + 'static, E: Evaluate<P>> Search<P> for BestFirst<P, E> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let mut meter = budget.start();
        let home = position.state().clone();
        let old = self.graph.take().filter(|graph| graph.us == us);
        let options = &self.options;
        let mut graph =
            old.unwrap_or_else(|| Graph::new(position, us, options.max_nodes, options.seed));
        let root = graph.root(position, &mut self.evaluator);
        let (mut depth, mut n_idle) = (0, 0);
        while !graph.is_done(root) && n_idle < MAX_IDLE && !meter.is_over(16) {
            let before = graph.n_nodes();
            depth = depth.max(graph.descend(root, position, &mut self.evaluator));
            let n_new = graph.n_nodes() - before;
            meter.n_nodes += n_new as u64;
            meter.n_iterations += 1;
            n_idle = if n_new > 0 { 0 } else { n_idle + 1 };
            if meter.deadline().is_some() && meter.n_iterations.is_multiple_of(HINT_INTERVAL) {
                position.go_to(&home);
                let best = graph.candidates(root).into_iter().next();
                let legal = position.legal_moves(us);
                let place = best.and_then(|best| legal.iter().position(|m| *m == best.m));
                if let Some(move_idx) = place {
                    meter.suggest(move_idx);
                }
            }
        }
        position.go_to(&home);
        let (value, is_proven) = (graph.value(root), graph.is_resolved(root));
        let mut candidates: Vec<Candidate<P::Move>> = graph.candidates(root);
        if graph.chooser(root) != Some(Chooser::Us) || candidates.is_empty() {
            let m = position.legal_moves(us)[0].clone();
            let visits = meter.n_iterations;
            candidates = vec![Candidate { m, visits, value, probability: 0.0, is_proven }];
        }
        candidates[0].probability = 1.0;
        let best = candidates[0].m.clone();
        let mut lines = Vec::new();
        for (rank, candidate) in candidates.iter().take(MAX_LINES).enumerate() {
            let joints = graph.line(root, &candidate.m, position);
            lines.push(Line { joints, value: if rank == 0 { value } else { candidate.value } });
            position.go_to(&home);
        }
        self.graph = Some(graph);
        let report = Report {
            best,
            us,
            candidates,
            value,
            is_proven,
            lines,
            iterations: meter.n_iterations,
            nodes: meter.n_nodes,
            playouts: 0,
            depth,
            seconds: meter.seconds(),
        };
        report.with_proofs_of(position.shape())
    }
}
