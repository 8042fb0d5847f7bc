//! Parts of budgets, and budgets counted in other units.

use std::time::{Duration, Instant};

use agon_analysis::DEFAULT_TIME;
use agon_game::{Position, Role};
use agon_search::{Budget, Report, Search};

/// Number of positions that a solver or planner may visit for an iteration, which is a playout in
/// other searches.
const NODES_PER_ITERATION: u64 = 100;

/// Returns the budget with positions instead of iterations, for searches that make few playouts.
pub(crate) fn as_nodes(budget: &Budget) -> Budget {
    let nodes = budget.iterations.map(|n| n.saturating_mul(NODES_PER_ITERATION));
    Budget { nodes: nodes.or(budget.nodes), iterations: None, ..budget.clone() }
}

/// Returns `percent` hundredths of the rest of a budget.
pub(crate) fn share(budget: &Budget, percent: u32) -> Budget {
    let now = Instant::now();
    let deadline = budget.deadline.map(|deadline| {
        let left = deadline.saturating_duration_since(now);
        now + left / 100 * percent
    });
    Budget { deadline, ..share_of_counts(budget, percent) }
}

/// Returns `percent` hundredths of the iterations and positions of a budget, and all of its time.
pub(crate) fn share_of_counts(budget: &Budget, percent: u32) -> Budget {
    let count = |amount: u64| (amount.saturating_mul(percent.into()) / 100).max(1);
    Budget {
        iterations: budget.iterations.map(count),
        nodes: budget.nodes.map(count),
        ..budget.clone()
    }
}

/// Returns the time for an analysis of the rules: half of the rest of the budget, and at most
/// [`DEFAULT_TIME`].
pub(crate) fn analysis_time(budget: &Budget) -> Duration {
    let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()) / 2;
    budget.deadline.map_or(DEFAULT_TIME, left).min(DEFAULT_TIME)
}

/// A search that counts a position where the match counts an iteration.
pub(crate) struct IterationsAsNodes<S>(pub(crate) S);

impl<P: Position, S: Search<P>> Search<P> for IterationsAsNodes<S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let nodes = budget.nodes.or(budget.iterations);
        self.0.think(position, us, &Budget { nodes, iterations: None, ..budget.clone() })
    }

    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        let nodes = budget.nodes.or(budget.iterations);
        self.0.ponder(position, us, &Budget { nodes, iterations: None, ..budget.clone() });
    }
}
