//! Experiments of published papers: the matches to play, and the results of the papers.
//!
//! A column of a table is a tournament of two players, so an [`ExperimentPlan`] gives a description
//! of a [`tournament`](crate::tournament) for each column. The runner plays them with a store of
//! its own for each, and [`cells`] computes the table.

mod cells;
mod learning;
mod spec;

use std::fmt;
use std::path::PathBuf;

pub use cells::{Cell, cells};
pub use learning::{Learning, LearntFor};
pub use spec::{
    BuiltInExperiment, Column, DefinitionError, EXPERIMENTS, Experiment, ExperimentGame,
    ExperimentKind, GameLocation, Size,
};

/// What is changed in an experiment.
#[derive(Clone, Debug, Default)]
pub struct ExperimentOptions {
    /// Whether there are fewer and shorter matches.
    pub quick: bool,
    /// Iterations for each move, instead of those of the experiment.
    pub iterations: Option<u64>,
    /// Seconds for each move, instead of those of the experiment, where moves have a clock.
    pub play_clock: Option<f64>,
    /// Repetitions, instead of those of the experiment.
    pub repeats: Option<u64>,
    /// Random moves at the start, instead of those of the experiment.
    pub openings: Option<u64>,
    /// A folder with the rulesheets of games that are not shipped.
    pub games: Option<PathBuf>,
    /// Only games whose names contain this text are played.
    pub only: Option<String>,
    /// Only columns whose names contain this text are played.
    pub column: Option<String>,
}

/// Why an experiment cannot be run, as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentError(String);

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExperimentError {}

/// An experiment with its options, and the games whose rules were found.
#[derive(Debug)]
pub struct ExperimentPlan {
    /// The experiment, with the options in place.
    pub experiment: Experiment,
    /// The games whose rules were found, with their names in the paper.
    pub games: Vec<(String, GameLocation)>,
    /// The names of the other games in the paper.
    pub missing: Vec<String>,
    built_in: &'static BuiltInExperiment,
    options: ExperimentOptions,
}

impl ExperimentPlan {
    /// Prepares the experiment of a name.
    ///
    /// # Errors
    /// [`ExperimentError`] if there is no such experiment, column or game.
    pub fn new(name: &str, options: ExperimentOptions) -> Result<ExperimentPlan, ExperimentError> {
        let Some(built_in) = BuiltInExperiment::named(name) else {
            let names: Vec<&str> = EXPERIMENTS.iter().map(|known| known.name).collect();
            let names = names.join(", ");
            return Err(ExperimentError(format!(
                "there is no experiment `{name}`; the experiments are {names}"
            )));
        };
        let size = if options.quick { Size::Quick } else { Size::Full };
        let mut experiment = Experiment::read(built_in.text, size)
            .map_err(|error| ExperimentError(format!("{}: {error}", built_in.name)))?;
        if let Some(iterations) = options.iterations {
            experiment.iterations = Some(iterations);
            (experiment.play_clock, experiment.start_clock) = (None, None);
            for column in &mut experiment.columns {
                (column.iterations, column.play_clock) = (None, None);
            }
        }
        if let Some(clock) = options.play_clock {
            let mut n_clocks = 0;
            let columns = experiment.columns.iter_mut().map(|column| &mut column.play_clock);
            for own in columns.chain([&mut experiment.play_clock]).filter(|own| own.is_some()) {
                *own = Some(clock);
                n_clocks += 1;
            }
            if n_clocks == 0 {
                return Err(ExperimentError(format!(
                    "no column of {} has a clock; its moves are limited by iterations",
                    built_in.name
                )));
            }
        }
        if let Some(repeats) = options.repeats {
            experiment.repeats = repeats;
            experiment.columns.iter_mut().for_each(|column| column.repeats = None);
        }
        experiment.openings = options.openings.unwrap_or(experiment.openings);
        if let Some(wanted) = &options.column {
            experiment.columns.retain(|column| column.name.contains(wanted.as_str()));
            if experiment.columns.is_empty() {
                let name = built_in.name;
                return Err(ExperimentError(format!(
                    "no column of {name} has `{wanted}` in its name"
                )));
            }
        }
        let (mut games, mut missing) = (Vec::new(), Vec::new());
        for game in &experiment.games {
            let is_wanted = |only: &String| game.name.to_lowercase().contains(&only.to_lowercase());
            if !options.only.as_ref().is_none_or(is_wanted) {
                continue;
            }
            match game.location(options.games.as_deref()) {
                Some(location) => games.push((game.name.clone(), location)),
                None => missing.push(game.name.clone()),
            }
        }
        if games.is_empty() {
            return Err(ExperimentError(
                "no game of this experiment was found; give a folder of rulesheets with `games`"
                    .to_owned(),
            ));
        }
        let mut plan = ExperimentPlan { experiment, games, missing, built_in, options };
        // A column may be about games that were not found or not asked for.
        let mut columns = std::mem::take(&mut plan.experiment.columns);
        columns.retain(|column| !plan.games_of(column).is_empty());
        plan.experiment.columns = columns;
        Ok(plan)
    }

    /// Returns the name of the experiment.
    pub fn name(&self) -> &'static str {
        self.built_in.name
    }

    /// Returns the games of a column that were found, with their names in the paper.
    pub fn games_of(&self, column: &Column) -> Vec<&(String, GameLocation)> {
        let is_played = |name: &str| match &column.only {
            Some(only) => only.split('|').any(|part| name.contains(part)),
            None => true,
        };
        self.games.iter().filter(|(name, _)| is_played(name)).collect()
    }

    /// Returns the names of the games of a column in the paper.
    pub fn game_names(&self, column: &Column) -> Vec<&str> {
        self.games_of(column).into_iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns a column as the description of a tournament, with the opponent first. Openings are
    /// drawn for each repeat, so they are the same for both seatings of a repeat and for all
    /// columns.
    pub fn tournament_text(&self, column: &Column) -> String {
        let experiment = &self.experiment;
        let quoted = |text: &str| format!("{text:?}");
        let places: Vec<String> =
            self.games_of(column).iter().map(|(_, place)| quoted(&place.name())).collect();
        let iterations = column.iterations.or(experiment.iterations);
        let thinking = match (column.play_clock, iterations) {
            (None, Some(iterations)) => format!("iterations = {iterations}"),
            (clock, _) => {
                let clock = clock.or(experiment.play_clock).unwrap_or(1.0);
                format!(
                    "play_clock = {clock:?}\nstart_clock = {:?}",
                    experiment.start_clock.unwrap_or(clock)
                )
            }
        };
        format!(
            "name = {}\nseed = 1\nrepeats = {}\nopenings = {}\n{thinking}\nmax_steps = {}\ngames = \
             [{}]\n[players]\nopponent = {}\nplayer = {}\n",
            quoted(&column.name),
            column.repeats.unwrap_or(experiment.repeats),
            experiment.openings,
            experiment.max_steps,
            places.join(", "),
            quoted(&column.opponent),
            quoted(&column.player),
        )
    }

    /// Returns the names under which the matches of a column may be stored: the current one, then
    /// the one of the former name of the experiment, which is continued where it exists. Options
    /// that change the matches are part of the name.
    pub fn store_names(&self, column: &Column) -> [String; 2] {
        let options = &self.options;
        let mut suffix = if options.quick { ".quick".to_owned() } else { String::new() };
        if let Some(iterations) = options.iterations {
            suffix.push_str(&format!(".{iterations}"));
        }
        if let Some(clock) = options.play_clock {
            suffix.push_str(&format!(".clock-{clock}"));
        }
        if let Some(openings) = options.openings {
            suffix.push_str(&format!(".opened-{openings}"));
        }
        if let Some(only) = &options.only {
            let plain: String = only.chars().filter(char::is_ascii_alphanumeric).collect();
            suffix.push_str(&format!(".{}", plain.to_lowercase()));
        }
        [self.built_in.name, self.built_in.alias]
            .map(|name| format!("{name}.{}{suffix}", column.name))
    }
}
