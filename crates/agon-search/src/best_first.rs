//! Unbounded best-first minimax with completion (Cohen-Solal 2020; the search of Descent and Athenan).
//!
//! Again and again the line that looks best to everybody is followed to its end, and all children of the position there are
//! made in one pass ([`agon_game::Batch::expand`]). Values are backed up by minimax, and with them what is proved: at least so much and
//! at most so much. A position where both meet is resolved and not looked at again; moves that are proved to be
//! no better than another are not either. At the end the safest move is played: the one chosen most often, unless a
//! resolved one is worth at least as much.
//!
//! One role is looked after; all others are taken to want it to get little, and to see its move when they move at the same time.
//! Nature's moves are averaged, the one looked at least for its chance first. Memory is bounded: when it is full, what
//! can no longer be reached is given up at the next move, and till then nothing new is made.

mod graph;
#[cfg(test)]
mod tests;

use agon_game::{Position, Role};

use crate::{Budget, Candidate, Evaluate, GoalValues, Line, Report, Search};
use graph::{Chooser, Graph};

/// How to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestFirstOptions {
    /// Positions remembered at most.
    pub max_nodes: usize,
    /// For the engine that makes children; it draws nothing, but wants a seed.
    pub seed: u64,
}

impl Default for BestFirstOptions {
    fn default() -> BestFirstOptions {
        BestFirstOptions { max_nodes: 1 << 20, seed: 0 }
    }
}

/// Unbounded best-first minimax. Keeps what it has found from move to move.
pub struct BestFirst<P: Position, E = GoalValues> {
    options: BestFirstOptions,
    evaluator: E,
    graph: Option<Graph<P>>,
}

impl<P: Position + 'static> BestFirst<P, GoalValues> {
    /// Judges positions by the goals that the rules give there.
    pub fn new(options: BestFirstOptions) -> BestFirst<P, GoalValues> {
        BestFirst::with_evaluator(options, GoalValues)
    }
}

impl<P: Position + 'static, E: Evaluate<P>> BestFirst<P, E> {
    /// Judges positions by an evaluator.
    pub fn with_evaluator(options: BestFirstOptions, evaluator: E) -> BestFirst<P, E> {
        BestFirst { options, evaluator, graph: None }
    }
}

/// So many descents without a new position, because everything is full or goes in circles, are enough.
const MAX_IDLE: u32 = 1000;
/// Under a deadline the best move so far is told after so many descents.
const TELL_AGAIN: u64 = 64;

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
            if meter.deadline().is_some() && meter.n_iterations.is_multiple_of(TELL_AGAIN) {
                position.go_to(&home);
                let best = graph.candidates(root).into_iter().next();
                let legal = position.legal_moves(us);
                let place = best.and_then(|best| legal.iter().position(|m| *m == best.m));
                if let Some(move_idx) = place {
                    meter.tell(move_idx);
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
        let joints = graph.line(root, &best, position);
        position.go_to(&home);
        self.graph = Some(graph);
        Report {
            best,
            us,
            candidates,
            value,
            is_proven,
            lines: vec![Line { joints, value }],
            iterations: meter.n_iterations,
            nodes: meter.n_nodes,
            playouts: 0,
            depth,
            seconds: meter.seconds(),
        }
    }
}
