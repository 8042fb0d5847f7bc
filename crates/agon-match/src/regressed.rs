//! Action heuristics from regressed goals, as a search wants them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::regression::{
    Abreast, ActionHeuristics, Evaluator, Logic, Network, Reader, Wanted, normalise,
};
use agon_analysis::{Subject, USUAL_TIME};
use agon_game::{Notation, Role};
use agon_search::{ActionHeuristic, Budget, Judgements};

/// The regressed goals of a game's moves, and those who work out what they say. These are made when they are first needed.
pub(crate) struct Regressed {
    heuristics: Arc<ActionHeuristics>,
    reader: Arc<Reader>,
    /// The same without what has come to stay.
    folded: Arc<ActionHeuristics>,
    /// Fluents that had come to stay when it was made.
    n_settled: usize,
    alone: Option<Alone>,
    many: Many,
    /// The last network for many positions: the next will be as wide.
    wide: Option<Arc<Network>>,
}

/// For one position after the other.
#[derive(Clone)]
struct Alone {
    evaluator: Evaluator,
    /// What the evaluator has seen of the state.
    seen: Vec<u64>,
}

/// For many positions at once.
#[derive(Clone)]
enum Many {
    NotYet,
    /// The network is too large for that.
    Never,
    Made(Abreast),
}

/// Formulas larger than this are not folded as the match goes on: it would take too long.
const MAX_FOLDED: usize = 2_000_000;

impl Regressed {
    /// Of a game, within half of the time that a budget leaves. None if it is refused: the search then does without.
    pub(crate) fn new<P: Notation + 'static>(
        subject: &Subject,
        wanted: Wanted,
        position: &P,
        budget: &Budget,
    ) -> Option<Regressed> {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()) / 2;
        let time: Duration = budget.deadline.map_or(USUAL_TIME, left).min(USUAL_TIME);
        let heuristics = Arc::new(subject.action_heuristics(wanted, time).ok()?.pruned());
        let reader = Arc::new(Reader::new(position, &heuristics));
        Some(Regressed {
            folded: Arc::clone(&heuristics),
            heuristics,
            reader,
            n_settled: 0,
            alone: None,
            many: Many::NotYet,
            wide: None,
        })
    }

    /// Makes what judges many positions at once, if there can be such a thing.
    fn make_many(&mut self) {
        let network = match &self.wide {
            Some(before) => before.again(&self.folded),
            None => Network::for_many(&self.folded, Logic::PRODUCT),
        };
        self.many = Abreast::new(&network).map_or(Many::Never, Many::Made);
        self.wide = Some(Arc::new(network));
    }

    /// Adds what the moves of a role are worth in comparison, and says whether they differ.
    fn add_values<P: Notation + 'static>(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        let Regressed { reader, alone, folded, .. } = self;
        let Alone { evaluator, seen } = alone.get_or_insert_with(|| {
            let network = Network::new(folded, Logic::PRODUCT);
            Alone { evaluator: Evaluator::new(Arc::new(network)), seen: Vec::new() }
        });
        reader.lead(position, seen, evaluator);
        let start = values.len();
        values.extend(moves.iter().map(|m| {
            let move_idx = reader.move_idx(position, role, m);
            // A move that nothing is said of brings no goal nearer.
            move_idx.and_then(|move_idx| evaluator.value(role, move_idx)).unwrap_or(0.0)
        }));
        compared(&mut values[start..])
    }
}

/// Makes values of moves comparable, and says whether they differ.
fn compared(values: &mut [f64]) -> bool {
    normalise(values);
    values.iter().any(|&value| value > 0.0)
}

impl<P: Notation + 'static> ActionHeuristic<P> for Regressed {
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
        said: &mut Judgements,
    ) {
        said.clear();
        if matches!(self.many, Many::NotYet) {
            self.make_many();
        }
        for some in which.chunks(Abreast::LANES) {
            if let Many::Made(abreast) = &mut self.many {
                self.reader.lead_lanes(some.iter().map(|&at| &positions[at]), role, abreast);
                abreast.work_out(role, some.len());
            }
            for (lane, &at) in some.iter().enumerate() {
                let position = &positions[at];
                said.push(|all| match &self.many {
                    Many::Made(abreast) => {
                        let start = all.len();
                        self.reader.add_values(position, role, abreast.lane(role, lane), all);
                        compared(&mut all[start..])
                    }
                    Many::NotYet | Many::Never => {
                        self.add_values(position, role, position.legal_moves(role), all)
                    }
                });
            }
        }
    }

    fn abreast(&self) -> usize {
        Abreast::LANES
    }

    fn settle(&mut self, position: &P) {
        if self.heuristics.formulas.size() > MAX_FOLDED {
            return;
        }
        let mut state = Vec::new();
        self.reader.state(position, &mut state);
        let holds = |fluent: usize| state[fluent / 64] >> (fluent % 64) & 1 == 1;
        let n_settled = self.heuristics.n_settled(&holds);
        // A new match begins with fewer than the last one ended with.
        if n_settled != self.n_settled {
            self.n_settled = n_settled;
            self.folded = Arc::new(self.heuristics.folded(&holds));
            (self.alone, self.many) = (None, Many::NotYet);
        }
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(Regressed {
            heuristics: Arc::clone(&self.heuristics),
            reader: Arc::clone(&self.reader),
            folded: Arc::clone(&self.folded),
            alone: self.alone.clone(),
            many: self.many.clone(),
            wide: self.wide.clone(),
            n_settled: self.n_settled,
        })
    }
}

/// The action heuristic of a game for positions like this one, if there is one: regressed goals, in fuzzy logic. For those who
/// drive a search themselves.
pub fn action_heuristic<P: Notation + 'static>(
    subject: &Subject,
    wanted: Wanted,
    position: &P,
    budget: &Budget,
) -> Option<Box<dyn ActionHeuristic<P>>> {
    Some(Box::new(Regressed::new(subject, wanted, position, budget)?))
}
