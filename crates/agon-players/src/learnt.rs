//! Searches with an evaluation that is learnt before the first move, or that a store has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::{Notation, Role};
use agon_learn::{GameModel, Learner, LearntEvaluator, LearntLeaves, TrainOptions};
use agon_search::{
    AlphaBeta, AlphaBetaOptions, Budget, EvaluateChildren, Leaves, Mcts, MctsOptions, Minimax,
    MinimaxOptions, NoEvaluation, Report, Search,
};

use crate::adaptive_mcts::{Threads, threads_for};
use crate::budget::{IterationsAsNodes, share};
use crate::thought::report_without_search;

/// How an evaluation is learnt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LearnPlan {
    /// Part of the first budget that is for learning, in percent. 0: nothing is learnt.
    pub(crate) percent: u32,
    /// Number of games to learn from in a match without a clock.
    pub(crate) n_games: u64,
}

/// The part of a learnt evaluation in the value of a leaf. The rest comes from playouts.
pub(crate) const LEAF_PART: f64 = 0.5;

/// A search that learns an evaluation when it thinks for the first time, unless there is a model.
pub(crate) struct LearntSearch<P: Notation> {
    plan: LearnPlan,
    method: Method,
    model: Option<Arc<GameModel>>,
    seed: u64,
    search: Option<Box<dyn Search<P>>>,
    /// What evaluates positions, if it is a model.
    used: Option<String>,
}

/// The search that uses what was learnt. 0 threads in its options means that their number is
/// adaptive.
pub(crate) enum Method {
    /// Minimax search. In games that are not of its kind it is alpha-beta search by the payoffs of
    /// the rules.
    Minimax(MinimaxOptions),
    /// Monte Carlo tree search with this part of the evaluation in the value of a leaf. Games that
    /// cannot be learnt are searched with playouts alone.
    Mcts(MctsOptions, f64),
}

impl<P: Notation + 'static> LearntSearch<P> {
    pub(crate) fn new(
        plan: LearnPlan,
        method: Method,
        model: Option<Arc<GameModel>>,
        seed: u64,
    ) -> LearntSearch<P> {
        // Without learning, the search shall have no evaluation at all.
        let model = model.filter(|_| plan.percent > 0);
        LearntSearch { plan, method, model, seed, search: None, used: None }
    }

    /// Makes the search, and learns its evaluation in a part of the budget.
    fn prepare(&mut self, position: &P, budget: &Budget) -> Box<dyn Search<P>> {
        let stored = self.model.as_ref().and_then(|model| model.evaluator(position));
        let name = match &self.method {
            Method::Minimax(_) => "minimax",
            Method::Mcts(..) => "mcts",
        };
        let described = |model: &Arc<GameModel>| format!("{name} with {}", description(model));
        self.used = self.model.as_ref().filter(|_| stored.is_some()).map(described);
        match &self.method {
            Method::Minimax(_) if !Minimax::<P, NoEvaluation>::suits(position) => {
                let options = AlphaBetaOptions { seed: self.seed, ..AlphaBetaOptions::default() };
                Box::new(IterationsAsNodes(AlphaBeta::new(options)))
            }
            Method::Minimax(options) => {
                let search = match stored {
                    Some(stored) => LearningSearch::with_stored(options.clone(), stored),
                    None => LearningSearch::new(options.clone(), self.learn(position, budget)),
                };
                Box::new(search)
            }
            Method::Mcts(options, part) => {
                let learn = || self.learn(position, budget).map(|learner| learner.evaluator());
                let evaluator = stored.or_else(learn);
                let threads = threads_for(options.threads, position, budget);
                let options = MctsOptions { threads, ..options.clone() };
                Box::new(mcts_with(options, self.seed, position, evaluator, *part))
            }
        }
    }

    /// Learns an evaluation in a part of the budget, if there is one and the game can be learnt.
    fn learn(&self, position: &P, budget: &Budget) -> Option<Learner<P>> {
        if self.plan.percent == 0 {
            return None;
        }
        let time = share(budget, self.plan.percent);
        let mut learner = new_learner(position, self.seed, time.deadline)?;
        let n_games = time.deadline.is_none().then_some(self.plan.n_games);
        learner.learn(&Budget { iterations: n_games, nodes: None, ..time });
        Some(learner)
    }
}

impl<P: Notation + 'static> Search<P> for LearntSearch<P> {
    fn method(&self) -> Option<String> {
        self.used.clone()
    }

    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        // A budget with both a count and a clock is that of a preparation before the start clock.
        let is_preparation =
            budget.deadline.is_some() && (budget.iterations.is_some() || budget.nodes.is_some());
        if self.search.is_none() && is_preparation {
            return report_without_search(position.legal_moves(us)[0].clone(), us);
        }
        if self.search.is_none() {
            self.search = Some(self.prepare(position, budget));
        }
        self.search.as_mut().expect("it was made above").think(position, us, budget)
    }

    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        if let Some(search) = &mut self.search {
            search.ponder(position, us, budget);
        }
    }
}

/// Makes a tree search with an evaluation of its leaves, if one was learnt.
pub(crate) fn mcts_with<P: Notation + 'static>(
    options: MctsOptions,
    seed: u64,
    position: &P,
    evaluator: Option<LearntEvaluator<P>>,
    part: f64,
) -> Mcts<P> {
    let Some(evaluator) = evaluator else { return Mcts::new(options, seed) };
    let leaves = LearntLeaves::new(evaluator, position.shape());
    Mcts::new(with_leaf_values(options, part), seed).with_evaluator(Box::new(leaves), part)
}

/// Returns options for leaves that have this part of their value from an evaluation.
pub(crate) fn with_leaf_values(options: MctsOptions, part: f64) -> MctsOptions {
    // Without playouts, a leaf has one value, however often it is asked for.
    let playouts = if part < 1.0 { options.leaves.playouts } else { 1 };
    let leaves = Leaves { playouts, ..options.leaves };
    MctsOptions { leaves, ..options }
}

/// Describes a stored model in words.
pub(crate) fn description(model: &GameModel) -> String {
    let history = model.history();
    let minutes = history.seconds / 60.0;
    format!("the stored model of {} games in {minutes:.1} minutes", history.n_games)
}

/// Prepares to learn a game. Returns `None` if it cannot be learnt.
pub(crate) fn new_learner<P: Notation + 'static>(
    position: &P,
    seed: u64,
    deadline: Option<Instant>,
) -> Option<Learner<P>> {
    let options = TrainOptions { seed, ..TrainOptions::default() };
    Learner::new(position, options, deadline).ok()
}

/// Minimax search that goes on learning while the opponent thinks.
pub(crate) struct LearningSearch<P: Notation> {
    learner: Option<Learner<P>>,
    search: IterationsAsNodes<Minimax<P, AnyEvaluator<P>>>,
    /// Time spent on learning while the opponent thought.
    learnt_later: Duration,
}

/// Maximum time for learning while the opponent thinks. After that the search itself uses this
/// time.
const MAX_LATER: Duration = Duration::from_secs(60);

impl<P: Notation + 'static> LearningSearch<P> {
    /// Makes a search with what was learnt so far, if anything.
    pub(crate) fn new(options: MinimaxOptions, learner: Option<Learner<P>>) -> LearningSearch<P> {
        let evaluator = learner.as_ref().map(Learner::evaluator);
        LearningSearch {
            learner,
            search: minimax_with(options, evaluator),
            learnt_later: Duration::ZERO,
        }
    }

    /// Makes a search with a stored evaluation, which is not learnt on.
    pub(crate) fn with_stored(
        options: MinimaxOptions,
        stored: LearntEvaluator<P>,
    ) -> LearningSearch<P> {
        let search = minimax_with(options, Some(stored));
        LearningSearch { learner: None, search, learnt_later: Duration::ZERO }
    }
}

impl<P: Notation + 'static> Search<P> for LearningSearch<P> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        self.search.think(position, us, budget)
    }

    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        match &mut self.learner {
            Some(learner) if self.learnt_later < MAX_LATER => {
                let start = Instant::now();
                learner.learn(budget);
                self.learnt_later += start.elapsed();
                let evaluator = AnyEvaluator::Learnt(Box::new(learner.evaluator()));
                self.search.0.set_evaluator(evaluator);
            }
            Some(_) | None => self.search.ponder(position, us, budget),
        }
    }
}

/// Makes a minimax search with an evaluation, if there is one. 0 threads in the options means a
/// number that suits a match of two players who take turns.
pub(crate) fn minimax_with<P: Notation + 'static>(
    options: MinimaxOptions,
    evaluator: Option<LearntEvaluator<P>>,
) -> IterationsAsNodes<Minimax<P, AnyEvaluator<P>>> {
    let n_processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = match Threads::of_option(options.threads) {
        Threads::Fixed(n) => n,
        Threads::Adaptive => n_processors.clamp(1, Threads::MAX_ADAPTIVE),
    };
    let evaluator =
        evaluator.map_or(AnyEvaluator::None, |learnt| AnyEvaluator::Learnt(Box::new(learnt)));
    IterationsAsNodes(Minimax::new(MinimaxOptions { threads, ..options }, evaluator))
}

/// A learnt evaluation or none, so that the search is compiled once for both.
pub(crate) enum AnyEvaluator<P> {
    /// What was learnt.
    Learnt(Box<LearntEvaluator<P>>),
    /// Only ends of play count.
    None,
}

impl<P> Clone for AnyEvaluator<P> {
    fn clone(&self) -> AnyEvaluator<P> {
        match self {
            AnyEvaluator::Learnt(learnt) => AnyEvaluator::Learnt(learnt.clone()),
            AnyEvaluator::None => AnyEvaluator::None,
        }
    }
}

impl<P: Notation> EvaluateChildren<P::State> for AnyEvaluator<P> {
    fn set_parent(&mut self, parent: &P::State) {
        match self {
            AnyEvaluator::Learnt(learnt) => learnt.set_parent(parent),
            AnyEvaluator::None => {}
        }
    }

    fn child_value(&mut self, child: &P::State) -> f32 {
        match self {
            AnyEvaluator::Learnt(learnt) => learnt.child_value(child),
            AnyEvaluator::None => 0.0,
        }
    }
}
