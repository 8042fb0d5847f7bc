//! Monte Carlo tree search that chooses its number of threads and its heuristic when the match
//! starts.

use agon_game::{Notation, Position, Role, Shape};
use agon_search::{Budget, Mcts, MctsOptions, Report, Search};

use crate::heuristics::MoveHeuristic;

/// The number of threads of a player.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Threads {
    /// A fixed number.
    Fixed(usize),
    /// A number that suits the match.
    Adaptive,
}

impl Threads {
    /// Maximum number of threads that a player uses without being asked to.
    pub(crate) const MAX_ADAPTIVE: usize = 2;

    /// Returns the meaning of the option `threads`: 0 is adaptive.
    pub(crate) fn of_option(threads: usize) -> Threads {
        if threads == 0 { Threads::Adaptive } else { Threads::Fixed(threads) }
    }

    /// Returns the number of threads in a match with a clock. It is adaptive only if the player
    /// thinks alone, because otherwise the other players keep the processors busy.
    pub fn with_clock(self, shape: &Shape, n_processors: usize) -> usize {
        let thinks_alone = shape.turn_taking || shape.players().count() == 1;
        match self {
            Threads::Fixed(n) => n,
            Threads::Adaptive if thinks_alone => n_processors.clamp(1, Threads::MAX_ADAPTIVE),
            Threads::Adaptive => 1,
        }
    }

    /// Returns the number of threads in a match that counts iterations. It does not depend on the
    /// machine, so that the match can be repeated.
    pub fn without_clock(self) -> usize {
        match self {
            Threads::Fixed(n) => n,
            Threads::Adaptive => 1,
        }
    }
}

/// Returns the number of threads of a search: that of the option, or one that suits the game and the
/// budget if it is 0.
pub(crate) fn threads_for<P: Position>(option: usize, position: &P, budget: &Budget) -> usize {
    let threads = Threads::of_option(option);
    if budget.deadline.is_some() {
        let n_processors = std::thread::available_parallelism().map_or(1, usize::from);
        threads.with_clock(position.shape(), n_processors)
    } else {
        threads.without_clock()
    }
}

/// Monte Carlo tree search with a number of threads that suits the budget of its first move, and
/// with an optional heuristic that is made during that move.
pub(crate) struct AdaptiveMcts<P: Position> {
    options: MctsOptions,
    seed: u64,
    heuristic: Option<MoveHeuristic>,
    search: Option<Mcts<P>>,
}

impl<P: Position> AdaptiveMcts<P> {
    /// Makes a search. 0 threads in the options means that their number is adaptive.
    pub(crate) fn new(options: MctsOptions, seed: u64) -> AdaptiveMcts<P> {
        AdaptiveMcts { options, seed, heuristic: None, search: None }
    }

    /// Adds a heuristic that evaluates moves before they are tried.
    pub(crate) fn with_heuristic(self, heuristic: MoveHeuristic) -> AdaptiveMcts<P> {
        AdaptiveMcts { heuristic: Some(heuristic), ..self }
    }
}

impl<P: Notation + 'static> Search<P> for AdaptiveMcts<P> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let AdaptiveMcts { options, seed, heuristic, search } = self;
        let search = search.get_or_insert_with(|| {
            let threads = threads_for(options.threads, position, budget);
            let options = MctsOptions { threads, ..options.clone() };
            let heuristic = heuristic.as_ref().and_then(|source| source.make(position, budget));
            match heuristic {
                Some(heuristic) => Mcts::with_heuristic(options, *seed, heuristic),
                None => Mcts::new(options, *seed),
            }
        });
        search.think(position, us, budget)
    }

    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        if let Some(search) = &mut self.search {
            search.ponder(position, us, budget);
        }
    }
}
