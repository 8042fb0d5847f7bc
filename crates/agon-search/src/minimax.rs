//! Minimax for two players: principal variation search over a batch engine.
//!
//! All children of a position are made in one pass of the engine ([`Batch::expand`]), so the search
//! never makes or takes back a single move. The children of an inner node are ordered by the
//! evaluator before they are searched; those of a node at the horizon are evaluated until one of
//! them causes a cutoff.
//!
//! The techniques are those of chess programs: iterative deepening, aspiration windows, null windows
//! for all moves but the first (Marsland & Campbell 1982), a transposition table, killer moves,
//! history and late move reductions. Several threads share the table (lazy SMP).
//!
//! The search is for games of two players in which what one player gains the other loses. Payoffs
//! that do not add up to a constant are compared by their difference. Players need not alternate.
//! Where both choose at the same time, the searching player is assumed to reveal its choice first.
//! That is no loss where the moves of a step do not interfere, and a lower bound elsewhere.
//! [`Minimax::suits`] says whether a game is of this kind.
//!
//! # Modules
//! - `score`: integers that order results by value, then quick wins before slow ones.
//! - `table`: the transposition table, which threads share without locks.
//! - `order`: killers and history.
//! - `worker`: the recursive search of one thread.
//! - `horizon`: positions whose children are evaluated; siblings are expanded together.
//! - `grid`: positions at which both players choose.

mod grid;
mod horizon;
mod order;
mod score;
mod table;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_game::{Batch, Position, Role};

use crate::{Budget, Candidate, Line, Report, Search};
use score::{Payoffs, Score};
use table::Table;
use worker::{Outcome, Worker};

/// An evaluator of states that are one step away from a common parent.
///
/// A search looks at all children of a position together. An evaluator may therefore compute what
/// the children have in common once.
pub trait EvaluateChildren<S>: Clone + Send {
    /// Sets the state whose children are evaluated next.
    fn set_parent(&mut self, parent: &S);

    /// Returns the expected result of the first player at a state that is one step away from the
    /// parent, from -1 for a loss to 1 for a win.
    fn child_value(&mut self, child: &S) -> f32;
}

/// The evaluator that regards all states as equal, so that only the ends of play count.
#[derive(Copy, Clone, Debug, Default)]
pub struct NoEvaluation;

impl<S> EvaluateChildren<S> for NoEvaluation {
    fn set_parent(&mut self, _: &S) {}

    fn child_value(&mut self, _: &S) -> f32 {
        0.0
    }
}

/// The options of [`Minimax`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimaxOptions {
    /// Maximum depth.
    pub max_depth: u32,
    /// Maximum number of entries of the transposition table.
    pub table_entries: usize,
    /// Whether late moves in the order are searched with a smaller depth first.
    pub late_move_reductions: bool,
    /// Whether a position at the horizon counts as lost if the reply to it wins at once.
    pub looks_for_replies: bool,
    /// Number of threads of a search with a clock. A search without a clock has one thread, so that
    /// it can be repeated.
    pub threads: usize,
}

impl Default for MinimaxOptions {
    fn default() -> MinimaxOptions {
        MinimaxOptions {
            max_depth: 200,
            table_entries: 1 << 21,
            late_move_reductions: true,
            looks_for_replies: true,
            threads: 1,
        }
    }
}

/// Principal variation search. It keeps its transposition table from move to move.
pub struct Minimax<P: Position, E> {
    options: MinimaxOptions,
    evaluator: E,
    table: Option<Arc<Table>>,
    workers: Vec<Worker<P, E>>,
}

/// Maximum number of joint moves at a position where both players choose. All of them are made.
const MAX_GRID: usize = 4096;
/// Time between two looks at the stop flag of the caller, in nodes.
const STRIDE: u32 = 64;

impl<P: Position, E: EvaluateChildren<P::State>> Minimax<P, E> {
    /// Returns a search with an evaluator.
    pub fn new(options: MinimaxOptions, evaluator: E) -> Minimax<P, E> {
        Minimax { options, evaluator, table: None, workers: Vec::new() }
    }

    /// Returns whether the search is made for games of this kind: two players without chance and
    /// hidden information, who take turns or have few joint moves at the position.
    pub fn suits(position: &P) -> bool {
        let shape = position.shape();
        let n_joint: usize = shape.players().map(|role| position.legal_moves(role).len()).product();
        shape.players().count() == 2
            && shape.nature.is_none()
            && !shape.hidden
            && (shape.turn_taking || n_joint <= MAX_GRID)
    }

    /// Replaces the evaluator. Results that depend on the old one are forgotten.
    pub fn set_evaluator(&mut self, evaluator: E) {
        self.evaluator = evaluator;
        self.table = None;
        self.workers.clear();
    }
}

impl<P: Position + 'static, E: EvaluateChildren<P::State>> Search<P> for Minimax<P, E> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let table =
            self.table.get_or_insert_with(|| Arc::new(Table::new(self.options.table_entries)));
        table.next_generation();
        let n_threads = if budget.deadline.is_some() { self.options.threads.max(1) } else { 1 };
        while self.workers.len() < n_threads {
            let seed = self.workers.len() as u64;
            self.workers.push(Worker::new(position, self.evaluator.clone(), seed));
        }
        let (first, others) = self.workers.split_first_mut().expect("there is a worker");
        let helpers_stop = Arc::new(AtomicBool::new(false));
        let options = &self.options;
        let outcome = std::thread::scope(|scope| {
            for (number, worker) in others[..n_threads - 1].iter_mut().enumerate() {
                let table = Arc::clone(table);
                let state = position.state().clone();
                let budget = Budget { stop: Arc::clone(&helpers_stop), ..Budget::default() };
                scope.spawn(move || {
                    // Helpers start at other depths, so that they are not all at the same node.
                    let depth = 2 + number as u32 % 2;
                    worker.deepen(&state, us, &table, options, &budget, depth);
                });
            }
            let state = position.state().clone();
            let outcome = first.deepen(&state, us, table, options, budget, 1);
            helpers_stop.store(true, Ordering::Relaxed);
            outcome
        });
        report(position, us, outcome)
    }
}

/// Describes the result of a search.
fn report<P: Position>(position: &P, us: Role, outcome: Outcome<P::Move>) -> Report<P::Move> {
    let legal = position.legal_moves(us);
    let payoffs = Payoffs::new(position.shape());
    let payoff = |score: Score| payoffs.payoff_of(score);
    let best = outcome.moves.first();
    let value = best.map_or(payoff(Score::EVEN), |best| payoff(best.score));
    let candidates = outcome.moves.iter().enumerate().map(|(rank, scored)| Candidate {
        m: scored.m.clone(),
        visits: 1,
        value: payoff(scored.score),
        probability: if rank == 0 { 1.0 } else { 0.0 },
        is_proven: scored.is_certain,
    });
    let lines = outcome.lines.into_iter().enumerate().map(|(rank, joints)| {
        let score = outcome.moves.get(rank).map(|scored| scored.score);
        Line { joints, value: score.map_or(value, payoff) }
    });
    let report = Report {
        best: best.map_or_else(|| legal[0].clone(), |best| best.m.clone()),
        us,
        candidates: candidates.collect(),
        value,
        is_proven: outcome.is_proven || best.is_some_and(|best| best.is_certain),
        lines: lines.collect(),
        iterations: outcome.depth.into(),
        nodes: outcome.n_nodes,
        playouts: 0,
        depth: outcome.depth,
        seconds: outcome.seconds,
    };
    report.with_proofs_of(position.shape())
}

/// Returns the engine of a position that makes all children of a state at once.
fn batch_of<P: Position + 'static>(
    position: &P,
    seed: u64,
) -> Box<dyn Batch<State = P::State, Move = P::Move>> {
    use agon_game::{Rng, SequentialBatch};
    use rand::SeedableRng as _;

    position.batch(seed).unwrap_or_else(|| {
        Box::new(SequentialBatch::new(position.clone(), Rng::seed_from_u64(seed)))
    })
}
