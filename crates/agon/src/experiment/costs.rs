//! What action heuristics cost: to make, and of the time of a search.
//!
//! Time is that of the thread, which stands still while others have the processor, and all ways of searching think about the same
//! position in turn: so a busy machine makes a measurement slow, but not wrong. What a heuristic takes of it is found by doing the
//! same search without it, with its words read off a tape.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_analysis::regression::Wanted;
use agon_analysis::{Subject, USUAL_TIME};
use agon_game::Role;
use agon_gdl::engine::{GdlPosition, GdlTask, Opened};
use agon_match::action_heuristic;
use agon_search::{
    ActionHeuristic, Budget, HeuristicUse, Judgements, Mcts, MctsOptions, Search as _,
};

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

/// A way of searching, and how long it has taken, with its heuristic and with what that said read off a tape.
struct Way<P: GdlPosition> {
    search: Mcts<P>,
    again: Option<Mcts<P>>,
    tape: Tape,
    seconds: f64,
    seconds_again: f64,
}

impl<P: GdlPosition> Way<P> {
    /// Thinks once with the heuristic, and once more with the tape. Both searches do the same, so what one takes longer than the
    /// other is what the heuristic takes. With a clock at the calls it came out above the whole: a look at it is a call of the
    /// system, and those calls are short.
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> P::Move {
        let began = thread_seconds();
        let best = self.search.think(position, us, budget).best;
        self.seconds += thread_seconds() - began;
        if let Some(again) = &mut self.again {
            lock(&self.tape).rewind();
            let began = thread_seconds();
            again.think(position, us, budget);
            self.seconds_again += thread_seconds() - began;
            lock(&self.tape).clear();
        }
        best
    }
}

impl GdlTask for Thinking<'_> {
    type Output = Vec<(&'static str, f64, f64)>;

    fn run<P: GdlPosition + 'static>(self, start: P) -> Self::Output {
        let names = ["playout", "tree", "combined"];
        let uses = [(false, false), (true, false), (false, true), (true, true)];
        let mut ways = uses.map(|(playout, tree)| {
            self.way(&start, HeuristicUse { playout, tree, ..HeuristicUse::OFF })
        });
        let budget = Budget::iterations(self.iterations);
        let mut position = start.clone();
        for _ in 0..self.n_moves {
            let Some(us) = position.choosers().next().filter(|_| !position.is_terminal()) else {
                break;
            };
            let mut best = None;
            for way in &mut ways {
                let found = way.think(&mut position, us, &budget);
                // The match is that of the search without a heuristic.
                best.get_or_insert(found);
            }
            let first = |role| position.legal_moves(role)[0].clone();
            let best = best.expect("there is more than one way");
            let roles = position.shape().roles();
            let joint: Vec<P::Move> =
                roles.map(|role| if role == us { best.clone() } else { first(role) }).collect();
            position.advance(&joint);
        }
        let plain = ways[0].seconds;
        let shares = names.iter().zip(&ways[1..]).map(|(&name, way)| {
            let all = way.seconds.max(1e-9);
            // Measured twice: what costs next to nothing may come out below nothing.
            (name, (1.0 - way.seconds_again / all).max(0.0), plain / all)
        });
        shares.collect()
    }
}

impl Thinking<'_> {
    fn way<P: GdlPosition + 'static>(&self, start: &P, heuristic: HeuristicUse) -> Way<P> {
        let options = MctsOptions { heuristic, keep_tree: false, ..MctsOptions::plain() };
        let tape = Tape::default();
        let judge =
            || action_heuristic(self.subject, Wanted::default(), start, &Budget::iterations(1));
        let judge = if heuristic.playout || heuristic.tree { judge() } else { None };
        let (search, again) = match judge {
            Some(inner) => {
                let played = Box::new(Played { tape: Arc::clone(&tape), abreast: inner.abreast() });
                let taped = Box::new(Taped { inner, tape: Arc::clone(&tape) });
                let search = Mcts::with_heuristic(options.clone(), 1, taped);
                (search, Some(Mcts::with_heuristic(options, 1, played)))
            }
            None => (Mcts::new(options, 1), None),
        };
        Way { search, again, tape, seconds: 0.0, seconds_again: 0.0 }
    }
}

/// What a heuristic has said, call by call.
#[derive(Default)]
struct Said {
    /// By call: whether there was anything to say, and where its values end.
    calls: Vec<(bool, usize)>,
    values: Vec<f64>,
    /// The next call and value to be read.
    at: (usize, usize),
}

impl Said {
    fn rewind(&mut self) {
        self.at = (0, 0);
    }

    fn take_down(&mut self, values: &[f64], knows: bool) {
        self.values.extend_from_slice(values);
        self.calls.push((knows, self.values.len()));
    }

    /// What was said next, and whether there was anything to say; nothing at the end of the tape.
    fn read(&mut self) -> (bool, &[f64]) {
        let (call, start) = self.at;
        let Some(&(knows, end)) = self.calls.get(call) else { return (false, &[]) };
        self.at = (call + 1, end);
        (knows, &self.values[start..end])
    }

    /// Forgets everything, but not the memory it took.
    fn clear(&mut self) {
        self.calls.clear();
        self.values.clear();
        self.rewind();
    }
}

/// Values that are taken down for one move: 256 MB. Beyond that nothing is said, in both searches.
const MAX_SAID: usize = 1 << 25;

/// Shared by the search that writes it and the one that reads it, one after the other.
type Tape = Arc<Mutex<Said>>;

fn lock(tape: &Tape) -> MutexGuard<'_, Said> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A heuristic whose words are taken down.
struct Taped<P: GdlPosition> {
    inner: Box<dyn ActionHeuristic<P>>,
    tape: Tape,
}

impl<P: GdlPosition + 'static> ActionHeuristic<P> for Taped<P> {
    fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        if lock(&self.tape).values.len() > MAX_SAID {
            return false;
        }
        let knows = self.inner.values(position, role, moves, values);
        lock(&self.tape).take_down(values, knows);
        knows
    }

    fn values_of_many(
        &mut self,
        positions: &[P],
        which: &[usize],
        role: Role,
        said: &mut Judgements,
    ) {
        if lock(&self.tape).values.len() > MAX_SAID {
            said.clear();
            which.iter().for_each(|_| said.push(|_| false));
            return;
        }
        self.inner.values_of_many(positions, which, role, said);
        let mut tape = lock(&self.tape);
        (0..said.len()).for_each(|at| tape.take_down(said.of(at), !said.of(at).is_empty()));
    }

    fn abreast(&self) -> usize {
        self.inner.abreast()
    }

    fn settle(&mut self, position: &P) {
        self.inner.settle(position);
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(Taped { inner: self.inner.fork(), tape: Arc::clone(&self.tape) })
    }
}

/// What another heuristic has said in the same search.
struct Played {
    tape: Tape,
    /// That of the other.
    abreast: usize,
}

impl<P: GdlPosition + 'static> ActionHeuristic<P> for Played {
    fn values(&mut self, _: &P, _: Role, _: &[P::Move], values: &mut Vec<f64>) -> bool {
        let mut tape = lock(&self.tape);
        let (knows, taken_down) = tape.read();
        values.clear();
        values.extend_from_slice(taken_down);
        knows
    }

    fn values_of_many(&mut self, _: &[P], which: &[usize], _: Role, said: &mut Judgements) {
        said.clear();
        let mut tape = lock(&self.tape);
        for _ in which {
            said.push(|values| {
                let (knows, taken_down) = tape.read();
                values.extend_from_slice(taken_down);
                knows
            });
        }
    }

    fn abreast(&self) -> usize {
        self.abreast
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(Played { tape: Arc::clone(&self.tape), abreast: self.abreast })
    }
}
