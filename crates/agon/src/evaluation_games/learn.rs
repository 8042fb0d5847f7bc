//! Evaluation games that are learnt from plays (Kaiser & Stafiniak 2010).

use std::fmt;
use std::sync::Arc;

use agon_game::Budget;
use agon_learn::evaluation_games::{
    Apriori, CannotView, CollectOptions, Information, LearntGame, Policy, TrainingSet, collect,
    learn,
};
use agon_players::move_evaluator;
use agon_search::continuous::NoEvaluationGame;
use agon_text::Source;
use agon_toss::evaluation::{EvaluationError, EvaluationGames};
use agon_translate::to_toss::{ToTossOptions, to_toss};

use crate::engine::{GamePosition, GameTask};
use crate::game::Game;
use crate::open::{OpenError, OpenOptions};

/// How formulas are chosen for an evaluation game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FormulaPolicy {
    /// The best selectors of intervals of payoffs, as in the paper.
    Apriori,
    /// Information gain among moves from the same state, with a significance test and minimum
    /// description length.
    Information,
}

impl FormulaPolicy {
    /// Returns the policy of a name: `apriori` or `information`.
    pub fn named(name: &str) -> Option<FormulaPolicy> {
        match name {
            "apriori" => Some(FormulaPolicy::Apriori),
            "information" => Some(FormulaPolicy::Information),
            _ => None,
        }
    }
}

/// Collects plays of a game and learns evaluation games from them.
pub struct EvaluationLearner {
    game: Game,
    set: TrainingSet,
    evaluation: Option<EvaluationGames>,
    is_translated: bool,
}

/// Why evaluation games cannot be learnt.
#[derive(Debug)]
#[non_exhaustive]
pub enum LearnError {
    /// The GDL game has no translation to a structure rewriting game.
    NoTranslation(String),
    /// The translation cannot be opened.
    Open(OpenError),
    /// Formulas cannot be learnt for this kind of game.
    Kind(CannotView),
    /// A training set or an evaluation game belongs to another game.
    OtherGame {
        /// The game that it belongs to.
        found: String,
        /// The game that is learnt.
        wanted: String,
    },
    /// A learnt evaluation game does not fit. This is a mistake in the program.
    Evaluation(EvaluationError),
}

impl fmt::Display for LearnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LearnError::NoTranslation(why) => write!(
                f,
                "evaluation games are learnt for structure rewriting games, and this game has no \
                 translation: {why}"
            ),
            LearnError::Open(error) => f.write_str(&error.render(false)),
            LearnError::Kind(why) => write!(f, "evaluation games cannot be learnt: {why}"),
            LearnError::OtherGame { found, wanted } => {
                write!(f, "it belongs to the game {found}, not to {wanted}")
            }
            LearnError::Evaluation(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for LearnError {}

impl EvaluationLearner {
    /// Prepares to learn evaluation games. A GDL game is translated to a structure rewriting game
    /// first.
    ///
    /// # Errors
    /// If the game has no translation, or if its rules create or delete elements.
    pub fn new(game: &Game) -> Result<EvaluationLearner, LearnError> {
        let (game, is_translated) = match game.gdl() {
            None => (game.clone(), false),
            Some(gdl) => {
                let translation = to_toss(gdl, &ToTossOptions::default())
                    .map_err(|error| LearnError::NoTranslation(error.to_string()))?;
                let name = format!("{}.toss", stem(game.name()));
                let source = Arc::new(Source::new(&name, translation.text));
                let opened = Game::from_source(source, &OpenOptions::default());
                (opened.map_err(LearnError::Open)?.with_name(&name), true)
            }
        };
        let players = game.shape().players();
        let names = &game.shape().role_names;
        let players = players.map(|role| names[role.index()].clone()).collect();
        let facts = game.run(FactTexts);
        let rules = game.toss().expect("it is a structure rewriting game");
        agon_learn::evaluation_games::View::new(rules, &facts).map_err(LearnError::Kind)?;
        let set = TrainingSet::new(game.name(), players, &facts);
        Ok(EvaluationLearner { game, set, evaluation: None, is_translated })
    }

    /// Returns the structure rewriting game that is learnt.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Returns whether the game is a translation from GDL.
    pub fn is_translated(&self) -> bool {
        self.is_translated
    }

    /// Returns the training set.
    pub fn set(&self) -> &TrainingSet {
        &self.set
    }

    /// Continues with a training set of the same game.
    ///
    /// # Errors
    /// [`LearnError::OtherGame`] if it is of another game.
    pub fn continue_with(&mut self, set: TrainingSet) -> Result<(), LearnError> {
        if set.game != self.set.game || set.players != self.set.players {
            let (found, wanted) = (set.game, self.set.game.clone());
            return Err(LearnError::OtherGame { found, wanted });
        }
        self.set = set;
        Ok(())
    }

    /// Forgets the training set, and lets the players of further plays use learnt games.
    ///
    /// # Errors
    /// [`LearnError::Evaluation`] if the games do not fit, which they do if they were learnt here.
    pub fn play_with(&mut self, learnt: &[LearntGame]) -> Result<(), LearnError> {
        let sheets: Vec<Arc<Source>> = learnt
            .iter()
            .map(|game| Arc::new(Source::new(&game.location, game.text.clone())))
            .collect();
        let rules = self.game.toss().expect("it is a structure rewriting game");
        let games = EvaluationGames::open(rules, &sheets).map_err(LearnError::Evaluation)?;
        self.evaluation = Some(games);
        self.set = TrainingSet::new(&self.set.game, self.set.players.clone(), self.set.facts());
        Ok(())
    }

    /// Plays the game and adds to the training set until the budget is used up, where an iteration
    /// is a play. Returns the number of whole plays.
    pub fn collect(
        &mut self,
        options: &CollectOptions,
        budget: &Budget,
        after_each: &mut dyn FnMut(&TrainingSet) -> bool,
    ) -> u64 {
        let EvaluationLearner { game, set, evaluation, .. } = self;
        game.run(Collect { evaluation: evaluation.as_ref(), options, budget, set, after_each })
    }

    /// Learns an evaluation game for each location at which a player chooses.
    ///
    /// # Errors
    /// [`LearnError::Kind`] if the game is not of a kind for which formulas can be learnt.
    pub fn learn(&self, policy: FormulaPolicy) -> Result<Vec<LearntGame>, LearnError> {
        let mut policy: Box<dyn Policy> = match policy {
            FormulaPolicy::Apriori => Box::new(Apriori::default()),
            FormulaPolicy::Information => Box::new(Information::default()),
        };
        let rules = self.game.toss().expect("it is a structure rewriting game");
        learn(&self.set, rules, policy.as_mut()).map_err(LearnError::Kind)
    }
}

/// Returns a game's name without folders and ending.
fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.split('.').next().unwrap_or(file)
}

/// The texts of the bits of states.
struct FactTexts;

impl GameTask for FactTexts {
    type Output = Vec<String>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Vec<String> {
        start.feature_texts()
    }
}

struct Collect<'a> {
    evaluation: Option<&'a EvaluationGames>,
    options: &'a CollectOptions,
    budget: &'a Budget,
    set: &'a mut TrainingSet,
    after_each: &'a mut dyn FnMut(&TrainingSet) -> bool,
}

impl GameTask for Collect<'_> {
    type Output = u64;

    fn run<P: GamePosition + 'static>(self, start: P) -> u64 {
        let evaluator = match self.evaluation {
            Some(games) => move_evaluator(games, &start),
            None => Box::new(NoEvaluationGame),
        };
        collect(&start, evaluator, self.options, self.budget, self.set, self.after_each)
    }
}
