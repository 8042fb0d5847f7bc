//! Experiments with evaluation games that are learnt before the matches.

use std::path::{Path, PathBuf};

use agon_game::Budget;
use agon_learn::evaluation_games::{CollectOptions, TrainingSet};

use super::{Column, ExperimentError, ExperimentPlan};
use crate::evaluation_games::{EvaluationLearner, FormulaPolicy, in_folder};
use crate::game::Game;
use crate::open::OpenOptions;

/// How evaluation games are learnt for an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learning {
    /// Number of plays.
    pub plays: u64,
    /// Iterations for each move of a play.
    pub iterations: u64,
    /// Least number of plays through a move that is learnt from.
    pub least_plays: u64,
}

/// The place in the description of a player that stands for the folder of learnt games.
const LEARNT: &str = "{learnt}";

/// What was learnt for a column and a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearntFor {
    /// The name of the column.
    pub column: String,
    /// The name of the game in the paper.
    pub game: String,
    /// The evaluation games, and what they say in words.
    pub games: Vec<(PathBuf, Vec<String>)>,
}

impl ExperimentPlan {
    /// Learns the evaluation games that the players of the columns use, if there are any, and keeps
    /// them in a folder below `store`. Those that are there already are used as they are. Must be
    /// called before matches are played. `progress` is told what is being done.
    ///
    /// # Errors
    /// [`ExperimentError`] if a game cannot be learnt, a file cannot be written, or the budget was
    /// cancelled.
    pub fn learn(
        &mut self,
        store: &Path,
        limits: &Budget,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<LearntFor>, ExperimentError> {
        let Some(learning) = self.experiment.learning.clone() else { return Ok(Vec::new()) };
        let suffix = if self.options.quick { ".quick" } else { "" };
        let folder = store.join(format!("{}{suffix}.learnt", self.name()));
        for (paper_name, place) in &self.games {
            self.learn_game(&folder, &place.name(), paper_name, &learning, limits, progress)?;
        }
        let mut learnt = Vec::new();
        for column in &self.experiment.columns {
            let folder = folder_of(&folder, column);
            for (game, place) in self.games_of(column) {
                let sheets = in_folder(&folder.to_string_lossy(), &place.name());
                let sheets = sheets.map_err(|error| unwritable(&folder, &error))?;
                let games = sheets.iter().map(|sheet| (sheet.name().into(), words(sheet.text())));
                let (column, game) = (column.name.clone(), game.clone());
                learnt.push(LearntFor { column, game, games: games.collect() });
            }
        }
        for column in &mut self.experiment.columns {
            let folder = folder_of(&folder, column);
            let path = folder.to_string_lossy();
            column.player = column.player.replace(LEARNT, &path);
            column.opponent = column.opponent.replace(LEARNT, &path);
        }
        Ok(learnt)
    }

    /// Learns one game for all columns that do not have it yet.
    fn learn_game(
        &self,
        folder: &Path,
        name: &str,
        paper_name: &str,
        learning: &Learning,
        limits: &Budget,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), ExperimentError> {
        let is_missing = |column: &&Column| {
            let place = folder_of(folder, column);
            !in_folder(&place.to_string_lossy(), name).is_ok_and(|found| !found.is_empty())
        };
        let missing: Vec<&Column> = self.experiment.columns.iter().filter(is_missing).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let failed = |why: String| ExperimentError(format!("{paper_name}: {why}"));
        let game = Game::open_with(name, &OpenOptions::default())
            .map_err(|error| failed(error.render(false)))?;
        let mut learner =
            EvaluationLearner::new(&game).map_err(|error| failed(error.to_string()))?;
        let options = CollectOptions {
            iterations: learning.iterations,
            least_plays: learning.least_plays,
            ..CollectOptions::default()
        };
        let budget = Budget { iterations: Some(learning.plays), ..limits.clone() };
        let mut n_plays = 0;
        let mut after_each = |set: &TrainingSet| {
            n_plays += 1;
            progress(&format!(
                "learning {paper_name}: play {n_plays} of {}, {} moves",
                learning.plays,
                set.len()
            ));
            true
        };
        learner.collect(&options, &budget, &mut after_each);
        if limits.is_cancelled() {
            return Err(ExperimentError(
                "stopped; nothing was learnt from unfinished plays".into(),
            ));
        }
        for column in missing {
            let policy = column.policy.as_deref().unwrap_or("information");
            let policy = FormulaPolicy::named(policy)
                .ok_or_else(|| failed(format!("there is no policy `{policy}`")))?;
            let place = folder_of(folder, column);
            let learnt = learner.learn(policy).map_err(|error| failed(error.to_string()))?;
            std::fs::create_dir_all(&place).map_err(|error| unwritable(&place, &error))?;
            for game in learnt {
                let file = format!("{}.at-{}.toss", name.replace('/', "-"), game.location);
                let path = place.join(file);
                std::fs::write(&path, game.text).map_err(|error| unwritable(&path, &error))?;
            }
        }
        Ok(())
    }
}

fn folder_of(folder: &Path, column: &Column) -> PathBuf {
    folder.join(&column.name)
}

fn unwritable(path: &Path, error: &std::io::Error) -> ExperimentError {
    ExperimentError(format!("{}: {error}", path.display()))
}

/// Returns what the comments at the beginning of a learnt game say, a sentence each.
fn words(text: &str) -> Vec<String> {
    let comments = text.lines().map_while(|line| line.strip_prefix("//")).skip(1);
    let mut sentences: Vec<String> = Vec::new();
    for line in comments {
        match sentences.last_mut() {
            Some(last) if line.starts_with("   ") => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => sentences.push(line.trim().to_owned()),
        }
    }
    sentences
}
