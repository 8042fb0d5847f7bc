//! The analysis of one structure rewriting game: evaluators are built once and shared.

use std::sync::{Arc, Mutex, PoisonError};

use super::{GoalEvaluator, GoalOptions, GoalTermsError, Method, RewritingGame, goal_terms};

/// A structure rewriting game and the evaluators that were built for it.
///
/// Finding descriptions can take a second, so every evaluator is built on the first request and
/// kept. A clone shares the game and all evaluators. This is the counterpart of
/// [`Analysis`](crate::Analysis) for the other rule language.
#[derive(Clone)]
pub struct RewritingAnalysis(Arc<Inner>);

struct Inner {
    game: Arc<RewritingGame>,
    /// In the order of their last use.
    evaluators: Mutex<Vec<Built>>,
}

struct Built {
    method: Method,
    options: GoalOptions,
    evaluator: Result<GoalEvaluator, GoalTermsError>,
}

/// Maximum number of evaluators that are kept. A tournament has no more at the same time.
const MAX_KEPT: usize = 32;

impl RewritingAnalysis {
    /// Creates the analysis of a game.
    pub fn new(game: Arc<RewritingGame>) -> RewritingAnalysis {
        RewritingAnalysis(Arc::new(Inner { game, evaluators: Mutex::default() }))
    }

    /// Returns the game.
    pub fn game(&self) -> &Arc<RewritingGame> {
        &self.0.game
    }

    /// Returns an evaluator of the game as [`GoalEvaluator::for_search`] prepares it.
    ///
    /// It is built once for each method and options, and then copied. Calls from other threads wait
    /// while one is being built.
    ///
    /// # Errors
    /// If no terms can be derived, or they cannot be evaluated.
    pub fn goal_evaluator(
        &self,
        method: Method,
        options: &GoalOptions,
    ) -> Result<GoalEvaluator, GoalTermsError> {
        let mut kept = self.0.evaluators.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            kept.iter().position(|built| built.method == method && built.options == *options);
        let built = match known {
            Some(place) => kept.remove(place),
            None => {
                let game = &self.0.game;
                let terms = goal_terms(game.arena(), method, options);
                let evaluator =
                    terms.and_then(|terms| Ok(GoalEvaluator::for_search(game, &terms)?));
                Built { method, options: options.clone(), evaluator }
            }
        };
        let evaluator = built.evaluator.clone();
        kept.push(built);
        if kept.len() > MAX_KEPT {
            kept.remove(0);
        }
        evaluator
    }
}
