//! What action heuristics cost: to make, and of the time of a search.
//!
//! Time is that of the thread, which stands still while others have the processor, and all ways of searching think about the same
//! position in turn: so a busy machine makes a measurement slow, but not wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_game::Role;
use agon_gdl::engine::{GdlPosition, GdlTask, Opened};
use agon_insight::regression::Wanted;
use agon_insight::{Subject, USUAL_TIME};
use agon_match::action_heuristic;
use agon_search::{ActionHeuristic, Budget, HeuristicUse, Mcts, MctsOptions, Search as _};

use crate::usage::thread_seconds;

/// What the heuristic of one game costs.
pub(crate) struct Costs {
    /// Seconds to make it, without grounding for play; none if it was refused, for this reason.
    pub(crate) making: Result<f64, String>,
    /// For playouts, the tree, and both: the part of the time of a search, and its playouts in the time of as many of a search
    /// without it.
    pub(crate) shares: Vec<(&'static str, f64, f64)>,
}

/// Thinks about the first moves of a match, with and without the heuristic.
pub(crate) fn costs(opened: &Opened, iterations: u64, n_moves: u64) -> Costs {
    let subject = Subject::of(opened);
    // Properties are found for other reasons, too.
    let _ = subject.properties(USUAL_TIME / 3);
    let began = thread_seconds();
    let made = subject.action_heuristics(Wanted::default(), USUAL_TIME);
    let making = made.map(|_| thread_seconds() - began).map_err(|why| why.to_string());
    let shares = if making.is_ok() {
        opened.run(Thinking { subject: &subject, iterations, n_moves })
    } else {
        Vec::new()
    };
    Costs { making, shares }
}

struct Thinking<'a> {
    subject: &'a Subject,
    iterations: u64,
    n_moves: u64,
}

/// A way of searching, and how long it has taken.
struct Way<P: GdlPosition> {
    search: Mcts<P>,
    spent: Arc<Spent>,
    seconds: f64,
}

impl GdlTask for Thinking<'_> {
    type Output = Vec<(&'static str, f64, f64)>;

    fn run<P: GdlPosition + 'static>(self, start: P) -> Self::Output {
        let names = ["playout", "tree", "combined"];
        let uses = [(false, false), (true, false), (false, true), (true, true)];
        let mut ways =
            uses.map(|(playout, tree)| self.way(&start, HeuristicUse { playout, tree, ..HeuristicUse::OFF }));
        let budget = Budget::iterations(self.iterations);
        let mut position = start.clone();
        for _ in 0..self.n_moves {
            let Some(us) = position.choosers().next().filter(|_| !position.is_terminal()) else { break };
            let mut best = None;
            for way in &mut ways {
                let began = thread_seconds();
                let report = way.search.think(&mut position, us, &budget);
                way.seconds += thread_seconds() - began;
                // The match is that of the search without a heuristic.
                best.get_or_insert(report.best);
            }
            let first = |role| position.legal_moves(role)[0].clone();
            let best = best.expect("there is more than one way");
            let roles = position.shape().roles();
            let joint: Vec<P::Move> =
                roles.map(|role| if role == us { best.clone() } else { first(role) }).collect();
            position.advance(&joint);
        }
        let idle = idle_seconds();
        // Looking at the clock takes time, too, and no search would do it.
        let all = ways.each_ref().map(|way| (way.seconds - way.spent.n_looks() * idle).max(1e-9));
        let share = |at: usize| (names[at - 1], ways[at].spent.seconds(idle) / all[at], all[0] / all[at]);
        [1, 2, 3].map(share).to_vec()
    }
}

impl Thinking<'_> {
    fn way<P: GdlPosition + 'static>(&self, start: &P, heuristic: HeuristicUse) -> Way<P> {
        let options = MctsOptions { heuristic, keep_tree: false, ..MctsOptions::plain() };
        let spent = Arc::new(Spent::default());
        let judge = || action_heuristic(self.subject, Wanted::default(), start, &Budget::iterations(1));
        let judge = if heuristic.playout || heuristic.tree { judge() } else { None };
        let search = match judge {
            Some(inner) => {
                let timed = Timed { inner, spent: Arc::clone(&spent), draw: 1, is_fresh: true };
                Mcts::with_heuristic(options, 1, Box::new(timed))
            }
            None => Mcts::new(options, 1),
        };
        Way { search, spent, seconds: 0.0 }
    }
}

/// One call of about so many is timed, drawn at random: with every n-th call it could always be the same role's.
const TIMED: u64 = 8;

/// What was spent on a heuristic, by all threads.
#[derive(Default)]
struct Spent {
    /// Calls about moves, and those of them that were timed, with their nanoseconds.
    n_calls: AtomicU64,
    n_timed: AtomicU64,
    nanos: AtomicU64,
    /// What is done once for each move of the match is timed each time, and so is the first call afterwards, which finds nothing
    /// worked out and takes far longer than others.
    n_settled: AtomicU64,
    settling_nanos: AtomicU64,
}

impl Spent {
    fn settled(&self, seconds: f64) {
        self.n_settled.fetch_add(1, Ordering::Relaxed);
        self.settling_nanos.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
    }

    /// How often the clock was looked at.
    fn n_looks(&self) -> f64 {
        let n_spans = self.n_timed.load(Ordering::Relaxed) + self.n_settled.load(Ordering::Relaxed);
        2.0 * n_spans as f64
    }

    /// The seconds of all calls, by those that were timed. A look at the clock takes `idle` seconds.
    fn seconds(&self, idle: f64) -> f64 {
        let [n_calls, n_timed, nanos, n_settled, settling] =
            [&self.n_calls, &self.n_timed, &self.nanos, &self.n_settled, &self.settling_nanos]
                .map(|number| number.load(Ordering::Relaxed) as f64);
        let timed = (nanos * 1e-9 - n_timed * idle).max(0.0);
        let settling = (settling * 1e-9 - n_settled * idle).max(0.0);
        timed * n_calls / n_timed.max(1.0) + settling
    }
}

/// The seconds between two looks at the clock with nothing between them: the median of many.
fn idle_seconds() -> f64 {
    let mut spans: Vec<f64> = (0..1001)
        .map(|_| {
            let began = thread_seconds();
            thread_seconds() - began
        })
        .collect();
    spans.sort_by(f64::total_cmp);
    spans[spans.len() / 2]
}

/// A heuristic whose time is taken.
struct Timed<P: GdlPosition> {
    inner: Box<dyn ActionHeuristic<P>>,
    spent: Arc<Spent>,
    /// For the choice of calls that are timed.
    draw: u64,
    is_fresh: bool,
}

impl<P: GdlPosition + 'static> ActionHeuristic<P> for Timed<P> {
    fn values(&mut self, position: &P, role: Role, moves: &[P::Move], values: &mut Vec<f64>) -> bool {
        if std::mem::take(&mut self.is_fresh) {
            let began = thread_seconds();
            let knows = self.inner.values(position, role, moves, values);
            self.spent.settled(thread_seconds() - began);
            return knows;
        }
        self.spent.n_calls.fetch_add(1, Ordering::Relaxed);
        // Marsaglia's xorshift.
        self.draw ^= self.draw << 13;
        self.draw ^= self.draw >> 7;
        self.draw ^= self.draw << 17;
        if !(self.draw >> 32).is_multiple_of(TIMED) {
            return self.inner.values(position, role, moves, values);
        }
        let began = thread_seconds();
        let knows = self.inner.values(position, role, moves, values);
        let nanos = (thread_seconds() - began) * 1e9;
        self.spent.n_timed.fetch_add(1, Ordering::Relaxed);
        self.spent.nanos.fetch_add(nanos as u64, Ordering::Relaxed);
        knows
    }

    fn settle(&mut self, position: &P) {
        let began = thread_seconds();
        self.inner.settle(position);
        self.spent.settled(thread_seconds() - began);
        self.is_fresh = true;
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        let spent = Arc::clone(&self.spent);
        Box::new(Timed { inner: self.inner.fork(), spent, draw: self.draw, is_fresh: true })
    }
}
