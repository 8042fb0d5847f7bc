//! Searches that evaluate positions by an analysis of the rules.

use agon_analysis::ConceptSource;
use agon_analysis::concepts::{ConceptEvaluator, LearnOptions};
use agon_analysis::fuzzy::{FuzzyEvaluator, FuzzyOptions};
use agon_analysis::goal_formulas::GoalEvaluator;
use agon_game::{Notation, Position, Role};
use agon_search::{
    AlphaBeta, AlphaBetaOptions, Budget, Evaluate, GoalValues, Playouts, Report, Search,
};

use crate::budget::{IterationsAsNodes, analysis_time};
use crate::combined::{ByCombination, CombinedOptions};
use crate::{GoalTermOptions, Rules};

/// How a search evaluates positions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Evaluation {
    /// By the payoffs of the rules as they stand.
    Goals,
    /// By a number of random playouts.
    Playouts(u64),
    /// By fuzzy logic over the goals of a game in GDL (Michulke 2011).
    Fuzzy(FuzzyOptions),
    /// By concepts learned from random playouts of a game in GDL (Sato & Cazenave 2016).
    Concepts(LearnOptions, ConceptSource),
    /// By terms made of the goals of a structure rewriting game (Kaiser & Stafiniak 2011).
    GoalTerms(GoalTermOptions),
    /// By all heuristics together, with learnt weights (Kaiser & Stafiniak 2011, "Perspectives").
    Combined(CombinedOptions),
}

/// The seed of the random playouts from which concepts are learned. It does not depend on the
/// match, because concepts are learned once for all matches.
pub(crate) const LEARNING_SEED: u64 = 1;

/// Number of steps after which a playout that evaluates a position is cut off.
const MAX_PLAYOUT_STEPS: u64 = 1000;

impl Evaluation {
    pub(crate) fn fuzzy_options(&self) -> Option<&FuzzyOptions> {
        match self {
            Evaluation::Fuzzy(options) => Some(options),
            Evaluation::Goals
            | Evaluation::Playouts(_)
            | Evaluation::Concepts(..)
            | Evaluation::GoalTerms(_)
            | Evaluation::Combined(_) => None,
        }
    }

    pub(crate) fn goal_terms(&self) -> Option<&GoalTermOptions> {
        match self {
            Evaluation::GoalTerms(terms) => Some(terms),
            Evaluation::Goals
            | Evaluation::Playouts(_)
            | Evaluation::Fuzzy(_)
            | Evaluation::Concepts(..)
            | Evaluation::Combined(_) => None,
        }
    }

    pub(crate) fn concepts_file(&self) -> Option<&str> {
        match self {
            Evaluation::Concepts(_, ConceptSource::Given(file)) => Some(file),
            Evaluation::Concepts(_, ConceptSource::Own | ConceptSource::TicTacToe)
            | Evaluation::Goals
            | Evaluation::Playouts(_)
            | Evaluation::Fuzzy(_)
            | Evaluation::GoalTerms(_)
            | Evaluation::Combined(_) => None,
        }
    }

    pub(crate) fn combined(&self) -> Option<&CombinedOptions> {
        match self {
            Evaluation::Combined(options) => Some(options),
            Evaluation::Goals
            | Evaluation::Playouts(_)
            | Evaluation::Fuzzy(_)
            | Evaluation::Concepts(..)
            | Evaluation::GoalTerms(_) => None,
        }
    }

    /// Makes the evaluator. Where the analysis is missing or fails, the payoffs of the rules take
    /// its place. What is learnt from plays is learnt from those that begin at `start`.
    fn evaluator<P: Notation + 'static>(
        &self,
        rules: &Rules,
        seed: u64,
        [start, position]: [&P; 2],
        budget: &Budget,
    ) -> Box<dyn Evaluate<P>> {
        match (self, &rules.gdl, &rules.rewriting) {
            (Evaluation::Playouts(n), _, _) => {
                return Box::new(Playouts::new(*n, MAX_PLAYOUT_STEPS, seed));
            }
            (Evaluation::Fuzzy(options), Some(analysis), _) => {
                if let Ok(fuzzy) = analysis.fuzzy(options, analysis_time(budget)) {
                    return Box::new(ByFuzzyLogic::new(FuzzyEvaluator::new(&fuzzy)));
                }
            }
            (Evaluation::Concepts(options, source), Some(analysis), _) => {
                let learned = analysis.concepts(options, source, analysis_time(budget));
                return Box::new(ByConcepts(ConceptEvaluator::new(learned)));
            }
            (Evaluation::GoalTerms(terms), _, Some(game)) => {
                if let Some(evaluator) = terms.evaluator(game, position, budget) {
                    return Box::new(ByGoalTerms(evaluator));
                }
            }
            (Evaluation::Combined(options), _, _) => {
                if let Some(evaluator) = ByCombination::new(rules, options, start, budget) {
                    return Box::new(evaluator);
                }
            }
            (Evaluation::Fuzzy(_) | Evaluation::Concepts(..), None, _)
            | (Evaluation::GoalTerms(_), _, None)
            | (Evaluation::Goals, _, _) => {}
        }
        Box::new(GoalValues)
    }
}

/// A search whose evaluator is made when it thinks for the first time, because that takes a part of
/// the budget.
pub(crate) struct WithEvaluator<P, S> {
    evaluation: Evaluation,
    rules: Rules,
    seed: u64,
    /// The position at which the match starts.
    start: P,
    make: Box<dyn Fn(Box<dyn Evaluate<P>>) -> S + Send>,
    search: Option<S>,
}

impl<P, S> WithEvaluator<P, S> {
    /// Makes a search. `make` is called with the evaluator.
    pub(crate) fn new(
        evaluation: Evaluation,
        rules: Rules,
        seed: u64,
        start: P,
        make: impl Fn(Box<dyn Evaluate<P>>) -> S + Send + 'static,
    ) -> WithEvaluator<P, S> {
        WithEvaluator { evaluation, rules, seed, start, make: Box::new(make), search: None }
    }
}

impl<P: Notation + 'static, S: Search<P>> Search<P> for WithEvaluator<P, S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let WithEvaluator { evaluation, rules, seed, start, make, search } = self;
        let search = search.get_or_insert_with(|| {
            make(evaluation.evaluator(rules, *seed, [start, position], budget))
        });
        search.think(position, us, budget)
    }

    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        if let Some(search) = &mut self.search {
            search.ponder(position, us, budget);
        }
    }
}

/// An alpha-beta search with any evaluator.
type AnyAlphaBeta<P> = IterationsAsNodes<AlphaBeta<P, Box<dyn Evaluate<P>>>>;

/// Makes an alpha-beta search that evaluates positions in a given way and counts positions where
/// the match counts iterations.
pub(crate) fn alphabeta_with<P: Position>(
    evaluation: Evaluation,
    rules: Rules,
    start: P,
    options: AlphaBetaOptions,
) -> WithEvaluator<P, AnyAlphaBeta<P>> {
    let seed = options.seed;
    let make =
        move |evaluator| IterationsAsNodes(AlphaBeta::with_evaluator(options.clone(), evaluator));
    WithEvaluator::new(evaluation, rules, seed, start, make)
}

struct ByFuzzyLogic {
    evaluator: FuzzyEvaluator,
    /// The key of the position that the evaluator is set to, because searches ask for one role
    /// after the other.
    key: Option<u64>,
}

impl ByFuzzyLogic {
    fn new(evaluator: FuzzyEvaluator) -> ByFuzzyLogic {
        ByFuzzyLogic { evaluator, key: None }
    }
}

impl<P: Notation + 'static> Evaluate<P> for ByFuzzyLogic {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        let key = position.key();
        if self.key != Some(key) {
            self.evaluator.set_position(position);
            self.key = Some(key);
        }
        let payoffs = &position.shape().payoffs;
        self.evaluator.value(role.index()).clamp(*payoffs.start(), *payoffs.end())
    }
}

/// Evaluates positions within the range of payoffs, but never as a certain win or loss.
struct ByConcepts(ConceptEvaluator);

/// Part of the range of payoffs at each end that is reserved for certain results.
const MARGIN: f64 = 0.001;

impl<P: Notation + 'static> Evaluate<P> for ByConcepts {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        let payoffs = &position.shape().payoffs;
        let range = payoffs.end() - payoffs.start();
        payoffs.start() + range * (MARGIN + (1.0 - 2.0 * MARGIN) * self.0.value(position, role))
    }
}

pub(crate) struct ByGoalTerms(pub(crate) GoalEvaluator);

impl<P: Notation + 'static> Evaluate<P> for ByGoalTerms {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        self.0.estimate_at(position, role)
    }
}
