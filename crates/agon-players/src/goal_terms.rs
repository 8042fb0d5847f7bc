//! The choice of the method that makes terms of the goals of a structure rewriting game (Kaiser &
//! Stafiniak 2011): given by the user, recommended by the paper, or decided by short matches.

use std::time::Instant;

use agon_analysis::goal_formulas::{
    GoalEvaluator, GoalOptions, Method, RewritingAnalysis, recommended_method,
};
use agon_game::{Notation, Position as _, Rng, Role};
use agon_search::{AlphaBeta, AlphaBetaOptions, Budget, Evaluate, Search};
use rand::SeedableRng as _;

use crate::budget::IterationsAsNodes;
use crate::evaluation::ByGoalTerms;
use crate::trial::short_match::{ShortMatch, significant_score};

/// How the method is chosen.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MethodChoice {
    /// By the user.
    Given(Method),
    /// By the rule of Kaiser & Stafiniak (2011): the number of moves, and whether moves only add
    /// elements of relations.
    Recommended,
    /// By short matches against the recommended method, which is kept unless it clearly loses.
    Trial,
}

/// How a player makes terms of the goals of a structure rewriting game.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalTermOptions {
    /// How the method is chosen.
    pub choice: MethodChoice,
    /// The parameters of the methods.
    pub options: GoalOptions,
}

impl GoalTermOptions {
    /// Chooses the method and makes the evaluator. Returns `None` if the game has no such terms.
    pub(crate) fn evaluator<P: Notation + 'static>(
        &self,
        game: &RewritingAnalysis,
        position: &P,
        budget: &Budget,
    ) -> Option<GoalEvaluator> {
        let method = self.choose_method(game, position, budget);
        game.goal_evaluator(method, &self.options).ok()
    }

    /// Chooses the method, after a trial that starts from `position` if one is asked for. Without a
    /// clock the result is the same each time.
    fn choose_method<P: Notation + 'static>(
        &self,
        game: &RewritingAnalysis,
        position: &P,
        budget: &Budget,
    ) -> Method {
        let usual = self.choice.without_trial(game);
        let players: Vec<Role> = position.shape().players().collect();
        let (MethodChoice::Trial, [first, second]) = (self.choice, &players[..]) else {
            return usual;
        };
        let trial = MethodTrial { game, roles: [*first, *second], options: &self.options };
        trial.winner(usual, position, budget)
    }
}

impl MethodChoice {
    /// Returns the method without a trial.
    pub fn without_trial(self, game: &RewritingAnalysis) -> Method {
        match self {
            MethodChoice::Given(method) => method,
            MethodChoice::Recommended | MethodChoice::Trial => {
                let start = game.game().start();
                let n_moves = start.choosers().map(|role| start.legal_moves(role).len()).max();
                recommended_method(game.game().arena(), n_moves.unwrap_or(0))
            }
        }
    }
}

/// Returns the evaluator of a method, unless there is none or it gives all positions the same
/// value.
pub(crate) fn informative_evaluator(
    game: &RewritingAnalysis,
    method: Method,
    options: &GoalOptions,
) -> Option<GoalEvaluator> {
    let evaluator = game.goal_evaluator(method, options).ok()?;
    evaluator.terms().depend_on_states().then_some(evaluator)
}

/// Number of matches against the recommended method, in pairs with roles swapped.
const N_MATCHES: usize = 12;
/// The number of positions per move of a short match is the budget of the match divided by this,
/// within bounds.
const NODES_DIVISOR: u64 = 4;
const MIN_NODES: u64 = 16;
const MAX_NODES: u64 = 200;
/// The time for short matches is the time of the budget divided by this.
const TIME_DIVISOR: u32 = 4;
/// The seed of all trials, so that every match of a game makes the same decision.
const SEED: u64 = 0x7e57;
/// Number of entries of the transposition table, which is small because the searches are.
const TABLE_ENTRIES: usize = 1 << 14;

/// Short matches between methods.
struct MethodTrial<'a> {
    game: &'a RewritingAnalysis,
    roles: [Role; 2],
    options: &'a GoalOptions,
}

impl MethodTrial<'_> {
    fn winner<P: Notation + 'static>(
        &self,
        usual: Method,
        position: &P,
        budget: &Budget,
    ) -> Method {
        let Some(champion) = informative_evaluator(self.game, usual, self.options) else {
            return usual;
        };
        let until = budget.deadline.map(|deadline| {
            let now = Instant::now();
            now + deadline.saturating_duration_since(now) / TIME_DIVISOR
        });
        let all = budget.nodes.or(budget.iterations).unwrap_or(u64::MAX);
        let nodes = (all / NODES_DIVISOR).clamp(MIN_NODES, MAX_NODES);
        let mut known = vec![champion.terms().terms.clone()];
        let mut best = (usual, 0.5);
        for method in [Method::Descriptions, Method::RuleConditions, Method::Existential] {
            let Some(evaluator) = informative_evaluator(self.game, method, self.options) else {
                continue;
            };
            // Two methods make the same terms if no goal needs a description.
            if known.contains(&evaluator.terms().terms) {
                continue;
            }
            known.push(evaluator.terms().terms.clone());
            let mut budget = || {
                let has_time = until.is_none_or(|until| Instant::now() < until);
                has_time.then(|| Budget::nodes(nodes))
            };
            let scores = self.scores([&evaluator, &champion], position, &mut budget);
            if let Some(score) = significant_score(&scores)
                && score > best.1
            {
                best = (method, score);
            }
        }
        best.0
    }

    /// Plays matches and returns the scores of the first evaluator against the second. There are
    /// fewer than [`N_MATCHES`] if `budget` returns `None`, because time is over.
    fn scores<P: Notation + 'static>(
        &self,
        [ours, theirs]: [&GoalEvaluator; 2],
        position: &P,
        budget: &mut dyn FnMut() -> Option<Budget>,
    ) -> Vec<f64> {
        let mut rng = Rng::seed_from_u64(SEED);
        let mut scores = Vec::new();
        let mut opening = position.clone();
        for at in 0..N_MATCHES {
            if at % 2 == 0 {
                opening = position.clone();
                ShortMatch::open(&mut opening, 1 + at / 2 % 4, &mut rng);
            }
            let short = ShortMatch { roles: self.roles, own: self.roles[at % 2] };
            let searches = [search(ours), search(theirs)];
            match short.play(&opening, searches, budget, &mut rng) {
                Some(score) => scores.push(score),
                None => break,
            }
        }
        scores
    }
}

fn search<P: Notation + 'static>(evaluator: &GoalEvaluator) -> Box<dyn Search<P>> {
    let evaluator: Box<dyn Evaluate<P>> = Box::new(ByGoalTerms(evaluator.clone()));
    let options = AlphaBetaOptions { table_entries: TABLE_ENTRIES, ..AlphaBetaOptions::default() };
    Box::new(IterationsAsNodes(AlphaBeta::with_evaluator(options, evaluator)))
}

#[cfg(test)]
mod tests;
