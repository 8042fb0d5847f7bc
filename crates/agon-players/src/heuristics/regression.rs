//! Regressed goals as a heuristic (Trutman 2015).

use std::sync::Arc;

use agon_analysis::Analysis;
use agon_analysis::regression::{
    ActionHeuristics, BatchEvaluator, EQUAL_BELOW, Evaluator, HeuristicRequest, Logic, Network,
    Reader, equalise, normalise_above,
};
use agon_game::{Notation, Role};
use agon_search::{ActionHeuristic, ActionValues, Budget};

use crate::budget::analysis_time;

/// Makes the action heuristic of a game for positions like `position`: regressed goals, evaluated
/// in fuzzy logic. Returns `None` if the goals cannot be regressed in half of the budget's time.
pub fn action_heuristic<P: Notation + 'static>(
    analysis: &Analysis,
    options: impl Into<RegressedGoalOptions>,
    position: &P,
    budget: &Budget,
) -> Option<Box<dyn ActionHeuristic<P>>> {
    let options = options.into();
    let made = analysis.action_heuristics(options.request, analysis_time(budget)).ok()?;
    let heuristics = Arc::new(made.pruned());
    Some(Box::new(RegressedGoals {
        reader: Arc::new(Reader::new(position, &heuristics)),
        folded: Arc::clone(&heuristics),
        heuristics,
        options,
        n_permanent: 0,
        sequential: None,
        batch: Batch::NotYet,
        batch_network: None,
    }))
}

/// Options of a heuristic by regressed goals.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RegressedGoalOptions {
    /// The goals that are regressed, and the number of steps.
    pub request: HeuristicRequest,
    /// The fuzzy logic in which the goals are evaluated. Batches need the product.
    pub logic: Logic,
    /// The part of the highest value below which a difference between moves counts as none.
    pub threshold: f64,
}

impl Default for RegressedGoalOptions {
    fn default() -> RegressedGoalOptions {
        RegressedGoalOptions {
            request: HeuristicRequest::default(),
            logic: Logic::PRODUCT,
            threshold: EQUAL_BELOW,
        }
    }
}

impl From<HeuristicRequest> for RegressedGoalOptions {
    fn from(request: HeuristicRequest) -> RegressedGoalOptions {
        RegressedGoalOptions { request, ..RegressedGoalOptions::default() }
    }
}

/// The regressed goals of the moves of a game, and evaluators that are made when they are first
/// needed.
struct RegressedGoals {
    options: RegressedGoalOptions,
    heuristics: Arc<ActionHeuristics>,
    reader: Arc<Reader>,
    /// The heuristics with the fluents folded in that hold permanently.
    folded: Arc<ActionHeuristics>,
    /// Number of fluents that are folded in.
    n_permanent: usize,
    sequential: Option<Sequential>,
    batch: Batch,
    /// The last network for batches. The next one has the same width.
    batch_network: Option<Arc<Network>>,
}

/// Evaluates one position at a time.
#[derive(Clone)]
struct Sequential {
    evaluator: Evaluator,
    /// The state that the evaluator is set to.
    state: Vec<u64>,
}

/// Evaluates a batch of positions.
#[derive(Clone)]
enum Batch {
    NotYet,
    /// The network is too large for batches.
    Impossible,
    Made(BatchEvaluator),
}

/// Maximum size of formulas that are folded during the match. Folding larger ones takes too long.
const MAX_FOLDED: usize = 2_000_000;

impl RegressedGoals {
    /// Makes the evaluator of batches, unless the network is too large.
    fn make_batch(&mut self) {
        if !matches!(self.options.logic, Logic::Product { .. }) {
            self.batch = Batch::Impossible;
            return;
        }
        let network = match &self.batch_network {
            Some(before) => before.rebuilt(&self.folded),
            None => Network::for_batch(&self.folded, self.options.logic),
        };
        self.batch = BatchEvaluator::new(&network).map_or(Batch::Impossible, Batch::Made);
        self.batch_network = Some(Arc::new(network));
    }

    /// Appends normalised values of the moves of a role, and returns whether they differ.
    fn add_values<P: Notation + 'static>(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        let RegressedGoals { reader, sequential, folded, options, heuristics, .. } = self;
        let Sequential { evaluator, state } = sequential.get_or_insert_with(|| {
            let network = Network::new(folded, options.logic);
            Sequential { evaluator: Evaluator::new(Arc::new(network)), state: Vec::new() }
        });
        reader.update_evaluator(position, state, evaluator);
        let start = values.len();
        values.extend(moves.iter().map(|m| {
            let move_idx = reader.move_idx(position, role, m);
            // A move without a formula brings no goal nearer.
            move_idx.and_then(|move_idx| evaluator.value(role, move_idx)).unwrap_or(0.0)
        }));
        let rating = Rating { reader, heuristics, threshold: options.threshold };
        rating.scale(position, role, moves, &mut values[start..])
    }
}

/// Turns degrees of truth into ratings.
struct Rating<'r> {
    reader: &'r Reader,
    heuristics: &'r ActionHeuristics,
    threshold: f64,
}

impl Rating<'_> {
    /// Makes the values of symmetric moves equal, scales all to the range from 0 to 1, and returns
    /// whether they differ.
    fn scale<P: Notation + 'static>(
        &self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut [f64],
    ) -> bool {
        let symmetries = &self.heuristics.knowledge.symmetries;
        if !symmetries.is_empty() {
            let mut state = Vec::new();
            self.reader.state(position, &mut state);
            let indices = moves.iter().map(|m| self.reader.move_idx(position, role, m));
            equalise(symmetries, &state, role, &indices.collect::<Vec<_>>(), values);
        }
        normalise_above(values, self.threshold);
        values.iter().any(|&value| value > 0.0)
    }
}

impl<P: Notation + 'static> ActionHeuristic<P> for RegressedGoals {
    fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        values.clear();
        self.add_values(position, role, moves, values)
    }

    fn values_of_many(
        &mut self,
        positions: &[P],
        which: &[usize],
        role: Role,
        rated: &mut ActionValues,
    ) {
        rated.clear();
        if matches!(self.batch, Batch::NotYet) {
            self.make_batch();
        }
        for chunk in which.chunks(BatchEvaluator::LANES) {
            if let Batch::Made(batch) = &mut self.batch {
                self.reader.update_lanes(chunk.iter().map(|&at| &positions[at]), role, batch);
                batch.evaluate(role, chunk.len());
            }
            for (lane, &at) in chunk.iter().enumerate() {
                let position = &positions[at];
                rated.push(|all| match &self.batch {
                    Batch::Made(batch) => {
                        let start = all.len();
                        self.reader.add_values(position, role, batch.lane(role, lane), all);
                        let rating = Rating {
                            reader: &self.reader,
                            heuristics: &self.heuristics,
                            threshold: self.options.threshold,
                        };
                        rating.scale(position, role, position.legal_moves(role), &mut all[start..])
                    }
                    Batch::NotYet | Batch::Impossible => {
                        self.add_values(position, role, position.legal_moves(role), all)
                    }
                });
            }
        }
    }

    fn batch_size(&self) -> usize {
        BatchEvaluator::LANES
    }

    fn commit(&mut self, position: &P) {
        if self.heuristics.formulas.size() > MAX_FOLDED {
            return;
        }
        let mut state = Vec::new();
        self.reader.state(position, &mut state);
        let holds = |fluent: usize| state[fluent / 64] >> (fluent % 64) & 1 == 1;
        let n_permanent = self.heuristics.n_permanent(&holds);
        // The number can also be smaller, because a new match may have started.
        if n_permanent != self.n_permanent {
            self.n_permanent = n_permanent;
            self.folded = Arc::new(self.heuristics.folded(&holds));
            (self.sequential, self.batch) = (None, Batch::NotYet);
        }
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(RegressedGoals {
            options: self.options,
            heuristics: Arc::clone(&self.heuristics),
            reader: Arc::clone(&self.reader),
            folded: Arc::clone(&self.folded),
            sequential: self.sequential.clone(),
            batch: self.batch.clone(),
            batch_network: self.batch_network.clone(),
            n_permanent: self.n_permanent,
        })
    }
}

#[cfg(test)]
mod tests;
