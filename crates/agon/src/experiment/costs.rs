//! What action heuristics cost: to make, and of the time of a search.

use std::time::Instant;

use agon_gdl::engine::{GdlPosition, GdlTask, Opened};
use agon_insight::regression::Wanted;
use agon_insight::{Subject, USUAL_TIME};
use agon_match::action_heuristic;
use agon_search::{Budget, HeuristicUse, Mcts, MctsOptions, Search as _};

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
    let began = Instant::now();
    let made = subject.action_heuristics(Wanted::default(), USUAL_TIME);
    let making = made.map(|_| began.elapsed().as_secs_f64()).map_err(|why| why.to_string());
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

impl GdlTask for Thinking<'_> {
    type Output = Vec<(&'static str, f64, f64)>;

    fn run<P: GdlPosition + 'static>(self, start: P) -> Self::Output {
        let (plain, _) = self.think(&start, HeuristicUse::OFF);
        let ways = [("playout", true, false), ("tree", false, true), ("combined", true, true)];
        let timed = ways.map(|(name, playout, tree)| {
            let (all, own) = self.think(&start, HeuristicUse { playout, tree, ..HeuristicUse::OFF });
            (name, own / all.max(1e-9), plain / all.max(1e-9))
        });
        timed.to_vec()
    }
}

impl Thinking<'_> {
    /// The seconds of the search, and those of the heuristic in it.
    fn think<P: GdlPosition + 'static>(&self, start: &P, heuristic: HeuristicUse) -> (f64, f64) {
        let options = MctsOptions { heuristic, keep_tree: false, ..MctsOptions::plain() };
        let budget = Budget::iterations(self.iterations);
        let judge = action_heuristic(self.subject, Wanted::default(), start, &budget);
        let mut search = match judge {
            Some(judge) if heuristic.playout || heuristic.tree => Mcts::with_heuristic(options, 1, judge),
            _ => Mcts::new(options, 1),
        };
        let mut position = start.clone();
        let mut seconds = 0.0;
        for _ in 0..self.n_moves {
            let Some(us) = position.choosers().next().filter(|_| !position.is_terminal()) else { break };
            let report = search.think(&mut position, us, &budget);
            seconds += report.seconds;
            let roles = position.shape().roles();
            let first = |role| position.legal_moves(role)[0].clone();
            let joint: Vec<P::Move> =
                roles.map(|role| if role == us { report.best.clone() } else { first(role) }).collect();
            position.advance(&joint);
        }
        (seconds, search.heuristic_seconds())
    }
}
