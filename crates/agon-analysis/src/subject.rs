//! A game that insight is wanted of: what is found out is found out once, and shared by all who ask.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_gdl::engine::{Compiled, Opened};
use agon_gdl::interpreter::Game;

use crate::concepts::{Concept, ConceptJudge, LearnOptions, concepts_of_tic_tac_toe};
use crate::fuzzy::{Fuzzy, FuzzyOptions, NoFuzzy};
use crate::properties::{Properties, PropertyLimits};
use crate::regression::{ActionHeuristics, Refusal, RegressOptions, Wanted};

/// A game that insight is wanted of. A clone shares everything.
#[derive(Clone)]
pub struct Subject(Arc<Inner>);

struct Inner {
    game: Arc<Game>,
    compiled: Option<Arc<Compiled>>,
    properties: Mutex<Option<Arc<Properties>>>,
    concepts: Mutex<BTreeMap<(LearnOptions, ConceptsFrom), Arc<ConceptJudge>>>,
    /// Concepts that somebody brought along, by what they are called.
    given: Mutex<BTreeMap<String, BTreeSet<Concept>>>,
    /// By what is wanted.
    heuristics: Mutex<Vec<(Wanted, Found)>>,
    /// By how they are made.
    evaluations: Mutex<Vec<(FuzzyOptions, Evaluation)>>,
}

type Evaluation = Result<Arc<Fuzzy>, NoFuzzy>;
type Found = Result<Arc<ActionHeuristics>, Refusal>;

/// Where the concepts of a heuristic come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConceptsFrom {
    /// The game itself.
    #[default]
    Own,
    /// Tic-tac-toe.
    TicTacToe,
    /// Whoever brought them along under this name ([`Subject::give_concepts`]); if nobody did, the game itself.
    Given(String),
}

/// What insight into a game may take, where nobody says.
pub const USUAL_TIME: Duration = Duration::from_secs(30);
/// What looking for properties may take of that: proofs that are not found by then seldom are.
const PROPERTIES_PART: u32 = 3;

impl Subject {
    /// A game, with its circuit if it has one.
    pub fn new(game: Arc<Game>, compiled: Option<Arc<Compiled>>) -> Subject {
        Subject(Arc::new(Inner {
            game,
            compiled,
            properties: Mutex::default(),
            heuristics: Mutex::default(),
            concepts: Mutex::default(),
            given: Mutex::default(),
            evaluations: Mutex::default(),
        }))
    }

    /// An opened game.
    pub fn of(opened: &Opened) -> Subject {
        match opened {
            Opened::Interpreter(game) => Subject::new(Arc::clone(game), None),
            Opened::Circuit(game, compiled) => {
                Subject::new(Arc::clone(game), Some(Arc::clone(compiled)))
            }
        }
    }

    /// The game.
    pub fn game(&self) -> &Arc<Game> {
        &self.0.game
    }

    /// Its circuit.
    pub fn compiled(&self) -> Option<&Arc<Compiled>> {
        self.0.compiled.as_ref()
    }

    /// What can be said of the game within this time, unless it was asked before.
    pub fn properties(&self, time: Duration) -> Arc<Properties> {
        let mut found = lock(&self.0.properties);
        let find = || {
            let limits = PropertyLimits::until(Instant::now() + time);
            Arc::new(Properties::find(&self.0.game, self.0.compiled.as_deref(), &limits))
        };
        Arc::clone(found.get_or_insert_with(find))
    }

    /// The evaluation of the goals by fuzzy logic, made once for the same options, within this time.
    ///
    /// # Errors
    /// If the goals cannot be read.
    pub fn fuzzy(&self, options: &FuzzyOptions, time: Duration) -> Evaluation {
        let properties = self.properties(time / PROPERTIES_PART);
        let mut all = lock(&self.0.evaluations);
        if let Some((_, known)) = all.iter().find(|(known, _)| known == options) {
            return known.clone();
        }
        let deadline = Instant::now() + time / PROPERTIES_PART;
        let compiled = self.0.compiled.as_deref();
        let made = Fuzzy::until(&self.0.game, compiled, &properties, options, Some(deadline))
            .map(Arc::new);
        all.push((options.clone(), made.clone()));
        made
    }

    /// Brings concepts along, to be asked for by this name.
    pub fn give_concepts(&self, name: &str, concepts: BTreeSet<Concept>) {
        lock(&self.0.given).insert(name.to_owned(), concepts);
    }

    /// A heuristic from random plays (004), learnt within this time.
    pub fn concepts(
        &self,
        options: &LearnOptions,
        from: &ConceptsFrom,
        time: Duration,
    ) -> Arc<ConceptJudge> {
        let mut all = lock(&self.0.concepts);
        let learn = || {
            let given = match from {
                ConceptsFrom::Own => None,
                ConceptsFrom::TicTacToe => Some(concepts_of_tic_tac_toe()),
                ConceptsFrom::Given(name) => lock(&self.0.given).get(name).cloned(),
            };
            let deadline = Some(Instant::now() + time);
            Arc::new(match &self.0.compiled {
                Some(compiled) => {
                    ConceptJudge::learn(&compiled.start(), options, given.as_ref(), deadline)
                }
                None => {
                    ConceptJudge::learn(&self.0.game.start(), options, given.as_ref(), deadline)
                }
            })
        };
        Arc::clone(all.entry((*options, from.clone())).or_insert_with(learn))
    }

    /// The regressed goals of all moves, found within this time or refused.
    ///
    /// # Errors
    /// If the game is too large for that, or time too short.
    pub fn action_heuristics(&self, wanted: Wanted, time: Duration) -> Found {
        let mut all = lock(&self.0.heuristics);
        // Who was refused for want of time may have more of it now.
        all.retain(|(known, found)| *known != wanted || !matches!(found, Err(Refusal::Late)));
        if let Some((_, found)) = all.iter().find(|(known, _)| *known == wanted) {
            return found.clone();
        }
        let deadline = Instant::now() + time;
        let properties = self.properties(time / PROPERTIES_PART);
        let Wanted { goals, n_steps } = wanted;
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
