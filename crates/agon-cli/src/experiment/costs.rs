//! Measures the cost of action heuristics: the time to make them, and their share of a search.
//!
//! Times are processor times of the thread, and all variants search the same positions in turn, so
//! a busy machine does not distort the result. The share of a heuristic is found by recording its
//! values in one search and replaying them in a second, equal search: the difference in time is its
//! cost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon::Game;
use agon::engine::{GamePosition, GameTask};
use agon_analysis::regression::{HeuristicRequest, RegressError};
use agon_analysis::{Analysis, DEFAULT_TIME};
use agon_game::Role;
use agon_players::action_heuristic;
use agon_search::{
    ActionHeuristic, ActionValues, Budget, HeuristicUse, Mcts, MctsOptions, Search as _,
};

use crate::resources::thread_seconds;

/// The cost of the heuristic of one game.
pub(crate) struct Costs {
    /// Seconds to make the heuristic, without grounding, or the reason why there is none.
    pub(crate) making: Result<f64, RegressError>,
    /// For use in playouts, in the tree, and in both: the share of the search time, and the number
    /// of playouts relative to a search without the heuristic in the same time.
    pub(crate) shares: Vec<(&'static str, f64, f64)>,
}

/// Searches the first moves of a match, with and without the heuristic.
pub(crate) fn costs(game: &Game, iterations: u64, n_moves: u64) -> Costs {
    let analysis = game.analysis().expect("costs are measured for GDL only");
    // Properties are needed without a heuristic as well, so their time is not counted.
    let _ = analysis.properties(DEFAULT_TIME / 3);
    let began = thread_seconds();
    let made = analysis.action_heuristics(HeuristicRequest::default(), DEFAULT_TIME);
    let making = made.map(|_| thread_seconds() - began);
    let shares = if making.is_ok() {
        game.run(Thinking { analysis, iterations, n_moves })
    } else {
        Vec::new()
    };
    Costs { making, shares }
}

struct Thinking<'a> {
    analysis: &'a Analysis,
    iterations: u64,
    n_moves: u64,
}

/// A variant of the search, with its time: with the heuristic, and with recorded values.
struct Variant<P: GamePosition> {
    search: Mcts<P>,
    again: Option<Mcts<P>>,
    recording: SharedRecording,
    seconds: f64,
    seconds_again: f64,
}

impl<P: GamePosition> Variant<P> {
    /// Searches once with the heuristic and once with the recorded values. Both searches do the
    /// same work, so the difference in time is the cost of the heuristic. Timing each call instead
    /// would cost more than the calls themselves.
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> P::Move {
        let began = thread_seconds();
        let best = self.search.think(position, us, budget).best;
        self.seconds += thread_seconds() - began;
        if let Some(again) = &mut self.again {
            lock(&self.recording).rewind();
            let began = thread_seconds();
            again.think(position, us, budget);
            self.seconds_again += thread_seconds() - began;
            lock(&self.recording).clear();
        }
        best
    }
}

impl GameTask for Thinking<'_> {
    type Output = Vec<(&'static str, f64, f64)>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
        let names = ["playout", "tree", "combined"];
        let uses = [(false, false), (true, false), (false, true), (true, true)];
        let mut variants = uses.map(|(playout, tree)| {
            self.variant(&start, HeuristicUse { playout, tree, ..HeuristicUse::OFF })
        });
        let budget = Budget::iterations(self.iterations);
        let mut position = start.clone();
        for _ in 0..self.n_moves {
            let Some(us) = position.choosers().next().filter(|_| !position.is_terminal()) else {
                break;
            };
            let mut best = None;
            for variant in &mut variants {
                let found = variant.think(&mut position, us, &budget);
                // The match follows the search without a heuristic, which is the first variant.
                best.get_or_insert(found);
            }
            let first = |role| position.legal_moves(role)[0].clone();
            let best = best.expect("there is at least one variant");
            let roles = position.shape().roles();
            let joint: Vec<P::Move> =
                roles.map(|role| if role == us { best.clone() } else { first(role) }).collect();
            position.advance(&joint);
        }
        let plain = variants[0].seconds;
        let shares = names.iter().zip(&variants[1..]).map(|(&name, variant)| {
            let all = variant.seconds.max(1e-9);
            // The difference of two measurements may be slightly negative.
            (name, (1.0 - variant.seconds_again / all).max(0.0), plain / all)
        });
        shares.collect()
    }
}

impl Thinking<'_> {
    fn variant<P: GamePosition + 'static>(&self, start: &P, heuristic: HeuristicUse) -> Variant<P> {
        let options = MctsOptions { heuristic, keep_tree: false, ..MctsOptions::plain() };
        let recording = SharedRecording::default();
        let is_used = heuristic.playout || heuristic.tree;
        let inner = is_used.then(|| {
            let request = HeuristicRequest::default();
            action_heuristic(self.analysis, request, start, &Budget::iterations(1))
        });
        let (search, again) = match inner.flatten() {
            Some(inner) => {
                let replayed = Box::new(ReplayedHeuristic {
                    recording: Arc::clone(&recording),
                    batch_size: inner.batch_size(),
                });
                let recorded =
                    Box::new(RecordedHeuristic { inner, recording: Arc::clone(&recording) });
                let search = Mcts::with_heuristic(options.clone(), 1, recorded);
                (search, Some(Mcts::with_heuristic(options, 1, replayed)))
            }
            None => (Mcts::new(options, 1), None),
        };
        Variant { search, again, recording, seconds: 0.0, seconds_again: 0.0 }
    }
}

/// The recorded values of a heuristic, call by call.
#[derive(Default)]
struct Recording {
    /// For each call: whether the heuristic had values, and where they end.
    calls: Vec<(bool, usize)>,
    values: Vec<f64>,
    /// The next call and the next value to read.
    at: (usize, usize),
}

impl Recording {
    fn rewind(&mut self) {
        self.at = (0, 0);
    }

    fn record(&mut self, values: &[f64], knows: bool) {
        self.values.extend_from_slice(values);
        self.calls.push((knows, self.values.len()));
    }

    /// Returns whether the heuristic had values in the next call, and the values. At the end of the
    /// recording there are none.
    fn read(&mut self) -> (bool, &[f64]) {
        let (call, start) = self.at;
        let Some(&(knows, end)) = self.calls.get(call) else { return (false, &[]) };
        self.at = (call + 1, end);
        (knows, &self.values[start..end])
    }

    /// Removes everything, but keeps the memory.
    fn clear(&mut self) {
        self.calls.clear();
        self.values.clear();
        self.rewind();
    }
}

/// Maximum number of recorded values for one move: 256 MB. Beyond that, both searches go without
/// values.
const MAX_VALUES: usize = 1 << 25;

/// A recording, shared by the search that writes it and the one that reads it afterwards.
type SharedRecording = Arc<Mutex<Recording>>;

fn lock(recording: &SharedRecording) -> MutexGuard<'_, Recording> {
    recording.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A heuristic whose values are recorded.
struct RecordedHeuristic<P: GamePosition> {
    inner: Box<dyn ActionHeuristic<P>>,
    recording: SharedRecording,
}

impl<P: GamePosition + 'static> ActionHeuristic<P> for RecordedHeuristic<P> {
    fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        if lock(&self.recording).values.len() > MAX_VALUES {
            return false;
        }
        let knows = self.inner.values(position, role, moves, values);
        lock(&self.recording).record(values, knows);
        knows
    }

    fn values_of_many(
        &mut self,
        positions: &[P],
        which: &[usize],
        role: Role,
        said: &mut ActionValues,
    ) {
        if lock(&self.recording).values.len() > MAX_VALUES {
            said.clear();
            which.iter().for_each(|_| said.push(|_| false));
            return;
        }
        self.inner.values_of_many(positions, which, role, said);
        let mut recording = lock(&self.recording);
        (0..said.len()).for_each(|at| recording.record(said.of(at), !said.of(at).is_empty()));
    }

    fn batch_size(&self) -> usize {
        self.inner.batch_size()
    }

    fn commit(&mut self, position: &P) {
        self.inner.commit(position);
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(RecordedHeuristic {
            inner: self.inner.fork(),
            recording: Arc::clone(&self.recording),
        })
    }
}

/// A heuristic that returns recorded values.
struct ReplayedHeuristic {
    recording: SharedRecording,
    /// The batch size of the recorded heuristic.
    batch_size: usize,
}

impl<P: GamePosition + 'static> ActionHeuristic<P> for ReplayedHeuristic {
    fn values(&mut self, _: &P, _: Role, _: &[P::Move], values: &mut Vec<f64>) -> bool {
        let mut recording = lock(&self.recording);
        let (knows, recorded) = recording.read();
        values.clear();
        values.extend_from_slice(recorded);
        knows
    }

    fn values_of_many(&mut self, _: &[P], which: &[usize], _: Role, said: &mut ActionValues) {
        said.clear();
        let mut recording = lock(&self.recording);
        for _ in which {
            said.push(|values| {
                let (knows, recorded) = recording.read();
                values.extend_from_slice(recorded);
                knows
            });
        }
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(ReplayedHeuristic {
            recording: Arc::clone(&self.recording),
            batch_size: self.batch_size,
        })
    }
}
