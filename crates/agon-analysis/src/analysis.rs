//! The analysis of one game: each result is computed once and shared by all users of the game.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_gdl::circuit::Compiled;
use agon_gdl::interpreter::Game;

use crate::concepts::{Concept, ConceptHeuristic, LearnOptions, concepts_of_tic_tac_toe};
use crate::fuzzy::{FuzzyError, FuzzyEvaluation, FuzzyOptions};
use crate::properties::{Properties, PropertyLimits, symbol_orders};
use crate::regression::{ActionHeuristics, HeuristicRequest, RegressError, RegressOptions};

/// A game and the results of analysing it.
///
/// Every result is computed on the first request and kept. A clone shares the game and all results.
/// Requests take a time limit. It applies only if the result has not been computed before.
#[derive(Clone)]
pub struct Analysis(Arc<Inner>);

struct Inner {
    game: Arc<Game>,
    compiled: Option<Arc<Compiled>>,
    properties: Mutex<Option<Arc<Properties>>>,
    concepts: Mutex<BTreeMap<(LearnOptions, ConceptSource), Arc<ConceptHeuristic>>>,
    /// Concepts added by [`Analysis::add_concepts`], by name.
    given: Mutex<BTreeMap<String, BTreeSet<Concept>>>,
    /// By what was requested.
    heuristics: Mutex<Vec<(HeuristicRequest, Found)>>,
    /// By the options they were built with.
    evaluations: Mutex<Vec<(FuzzyOptions, Evaluation)>>,
}

type Evaluation = Result<Arc<FuzzyEvaluation>, FuzzyError>;
type Found = Result<Arc<ActionHeuristics>, RegressError>;

/// The origin of the concepts of a heuristic.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConceptSource {
    /// The concepts are learned from the game itself.
    #[default]
    Own,
    /// The concepts were learned from tic-tac-toe and are part of the program.
    TicTacToe,
    /// The concepts were added under this name by [`Analysis::add_concepts`]. Without such an
    /// addition, the concepts are learned from the game itself.
    Given(String),
}

/// Default time limit for one result.
pub const DEFAULT_TIME: Duration = Duration::from_secs(30);
/// Properties get one third of the time of a request that needs them. Longer attempts seldom prove
/// more.
const PROPERTIES_PART: u32 = 3;

impl Analysis {
    /// Creates the analysis of a game. `compiled` is its circuit, if it has one.
    pub fn new(game: Arc<Game>, compiled: Option<Arc<Compiled>>) -> Analysis {
        Analysis(Arc::new(Inner {
            game,
            compiled,
            properties: Mutex::default(),
            heuristics: Mutex::default(),
            concepts: Mutex::default(),
            given: Mutex::default(),
            evaluations: Mutex::default(),
        }))
    }

    /// Returns the game.
    pub fn game(&self) -> &Arc<Game> {
        &self.0.game
    }

    /// Returns the circuit of the game, if it has one.
    pub fn compiled(&self) -> Option<&Arc<Compiled>> {
        self.0.compiled.as_ref()
    }

    /// Returns the properties of the game, searched for within the time limit.
    pub fn properties(&self, time: Duration) -> Arc<Properties> {
        let mut found = lock(&self.0.properties);
        let find = || {
            let limits = PropertyLimits::until(Instant::now() + time);
            Arc::new(Properties::find(&self.0.game, self.0.compiled.as_deref(), &limits))
        };
        Arc::clone(found.get_or_insert_with(find))
    }

    /// Returns the evaluation of the goals by fuzzy logic. It is built once for equal options.
    ///
    /// # Errors
    /// [`FuzzyError`] if the goals cannot be turned into an evaluation.
    pub fn fuzzy(&self, options: &FuzzyOptions, time: Duration) -> Evaluation {
        let properties = self.properties(time / PROPERTIES_PART);
        let mut all = lock(&self.0.evaluations);
        if let Some((_, known)) = all.iter().find(|(known, _)| known == options) {
            return known.clone();
        }
        let deadline = Instant::now() + time / PROPERTIES_PART;
        let compiled = self.0.compiled.as_deref();
        let with_deadline = FuzzyOptions { deadline: Some(deadline), ..options.clone() };
        let made =
            FuzzyEvaluation::new(&self.0.game, compiled, &properties, &with_deadline).map(Arc::new);
        all.push((options.clone(), made.clone()));
        made
    }

    /// Adds concepts under a name, for [`ConceptSource::Given`].
    pub fn add_concepts(&self, name: &str, concepts: BTreeSet<Concept>) {
        lock(&self.0.given).insert(name.to_owned(), concepts);
    }

    /// Returns a heuristic learned from random plays within the time limit (Sato & Cazenave 2016).
    pub fn concepts(
        &self,
        options: &LearnOptions,
        from: &ConceptSource,
        time: Duration,
    ) -> Arc<ConceptHeuristic> {
        let mut all = lock(&self.0.concepts);
        let learn = || {
            let given = match from {
                ConceptSource::Own => None,
                ConceptSource::TicTacToe => Some(concepts_of_tic_tac_toe()),
                ConceptSource::Given(name) => lock(&self.0.given).get(name).cloned(),
            };
            let deadline = Some(Instant::now() + time);
            let (given, orders) = (given.as_ref(), symbol_orders(&self.0.game));
            Arc::new(match &self.0.compiled {
                Some(compiled) => {
                    let start = compiled.start();
                    ConceptHeuristic::learn_ordered(&start, options, given, deadline, &orders)
                }
                None => {
                    let start = self.0.game.start();
                    ConceptHeuristic::learn_ordered(&start, options, given, deadline, &orders)
                }
            })
        };
        Arc::clone(all.entry((*options, from.clone())).or_insert_with(learn))
    }

    /// Returns the regressed goals of all moves.
    ///
    /// # Errors
    /// If the game is too large, or the time limit too short.
    pub fn action_heuristics(&self, wanted: HeuristicRequest, time: Duration) -> Found {
        let mut all = lock(&self.0.heuristics);
        // A refusal for lack of time is not final: this request may have more time.
        all.retain(|(known, found)| {
            *known != wanted || !matches!(found, Err(RegressError::DeadlinePassed))
        });
        if let Some((_, found)) = all.iter().find(|(known, _)| *known == wanted) {
            return found.clone();
        }
        let deadline = Instant::now() + time;
        let properties = self.properties(time / PROPERTIES_PART);
        let HeuristicRequest { goals, n_steps } = wanted;
        let options = RegressOptions {
            goals,
            n_steps,
            deadline: Some(deadline),
            ..RegressOptions::default()
        };
        let made = ActionHeuristics::of_game(
            &self.0.game,
            self.0.compiled.as_deref(),
            Some(&properties),
            &options,
        );
        let made = made.map(Arc::new);
        all.push((wanted, made.clone()));
        made
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
