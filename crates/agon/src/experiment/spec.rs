//! The definitions of experiments, read from `experiments/*.toml`, which are part of the program.

use std::fmt;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::Learning;
use crate::shipped::Shipped;

/// An experiment that is part of the library.
#[derive(Debug)]
pub struct BuiltInExperiment {
    /// Its name: author, and number of the table or figure.
    pub name: &'static str,
    /// Its former name, which still works.
    pub alias: &'static str,
    /// Its definition in TOML.
    pub text: &'static str,
}

macro_rules! experiments {
    ($($name:literal $alias:literal),* $(,)?) => {
        &[$(BuiltInExperiment {
            name: $name,
            alias: $alias,
            text: include_str!(concat!("../../../../experiments/", $name, ".toml")),
        }),*]
    };
}

/// All experiments.
pub const EXPERIMENTS: &[BuiltInExperiment] = experiments![
    "kaiser-stafiniak-2010-table-1" "002-table-1",
    "kaiser-stafiniak-2011-table-1" "000-table-1",
    "kaiser-stafiniak-2011-perspectives" "000-perspectives",
    "michulke-2011-figure-1" "001-figure-1",
    "trutman-table-5.2" "003-table-5.2",
    "trutman-table-5.3" "003-table-5.3",
    "trutman-table-5.5" "003-table-5.5",
    "trutman-temperature" "003-temperature",
    "sato-cazenave-table-1" "004-table-1",
    "sato-cazenave-table-2" "004-table-2",
    "sato-cazenave-table-3" "004-table-3",
    "sato-cazenave-table-4" "004-table-4",
    "sato-cazenave-table-5" "004-table-5",
    "sato-cazenave-table-6" "004-table-6",
];

impl BuiltInExperiment {
    /// Returns the experiment of a name or former name.
    pub fn named(name: &str) -> Option<&'static BuiltInExperiment> {
        EXPERIMENTS.iter().find(|known| {
            known.name.eq_ignore_ascii_case(name) || known.alias.eq_ignore_ascii_case(name)
        })
    }
}

/// The kind of an experiment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ExperimentKind {
    /// Each column is a tournament of two players.
    Matches,
    /// The time that heuristics take is measured.
    Costs,
}

/// The definition of an experiment.
#[derive(Debug)]
pub struct Experiment {
    /// What it measures, and in which paper.
    pub title: String,
    /// The kind of the experiment.
    pub kind: ExperimentKind,
    /// Iterations for each move. `None`: players use the clock.
    pub iterations: Option<u64>,
    /// Seconds for each move.
    pub play_clock: Option<f64>,
    /// Seconds before the first move.
    pub start_clock: Option<f64>,
    /// Number of repetitions, each in both seatings.
    pub repeats: u64,
    /// Number of random moves at the start of a match, the same for both seatings. Without them,
    /// two deterministic players would repeat one match.
    pub openings: u64,
    /// Maximum number of steps of a match.
    pub max_steps: u64,
    /// Number of moves that are searched to measure heuristics.
    pub moves: u64,
    /// How the evaluation games of the players are learnt, if they are.
    pub learning: Option<Learning>,
    /// The columns of the table.
    pub columns: Vec<Column>,
    /// The games.
    pub games: Vec<ExperimentGame>,
    /// The results of the paper for each game, if there are no columns.
    pub paper: Vec<(String, String)>,
}

/// A column of a table: two players that play each other.
#[derive(Debug)]
pub struct Column {
    /// Its name in the table.
    pub name: String,
    /// The player against which the other one is measured.
    pub opponent: String,
    /// The player that is measured.
    pub player: String,
    /// Iterations of this column alone. A search of fixed depth needs enough to reach its depth.
    pub iterations: Option<u64>,
    /// Seconds for each move of this column alone, instead of iterations.
    pub play_clock: Option<f64>,
    /// Number of pairs of matches of this column alone.
    pub repeats: Option<u64>,
    /// How the formulas of learnt evaluation games are chosen.
    pub policy: Option<String>,
    /// Parts of the names of the games of this column, separated by `|`. `None` for all games.
    pub only: Option<String>,
    /// The results of the paper for each game, or for each game and role.
    pub paper: Vec<(String, String)>,
}

/// A game of an experiment.
#[derive(Debug)]
pub struct ExperimentGame {
    /// The name of the game in the paper.
    pub name: String,
    shipped: Option<String>,
    sheet: String,
}

/// Where the rules of a game are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GameLocation {
    /// A shipped game.
    Shipped(String),
    /// A file.
    File(PathBuf),
}

impl GameLocation {
    /// Returns the name or path, as for the command line.
    pub fn name(&self) -> String {
        match self {
            GameLocation::Shipped(name) => name.clone(),
            GameLocation::File(path) => path.to_string_lossy().into_owned(),
        }
    }
}

impl ExperimentGame {
    /// Returns the rules of the game: from the folder if it has them, otherwise a shipped game.
    pub fn location(&self, folder: Option<&Path>) -> Option<GameLocation> {
        if let Some(folder) = folder {
            let candidates = [
                folder.join(&self.sheet).join(format!("{}.kif", self.sheet)),
                folder.join(format!("{}.kif", self.sheet)),
            ];
            let found = candidates.into_iter().find(|path| path.is_file());
            if let Some(found) = found.and_then(|path| path.canonicalize().ok()) {
                return Some(GameLocation::File(found));
            }
        }
        let shipped = self.shipped.as_ref()?;
        Shipped::named(shipped).map(|game| GameLocation::Shipped(game.name.to_owned()))
    }
}

type Table<'i> = DeTable<'i>;

/// The size of an experiment.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Size {
    /// The size of the paper.
    Full,
    /// Fewer and shorter matches: the keys that begin with `quick_`.
    Quick,
}

impl Experiment {
    /// Reads the definition of an experiment.
    ///
    /// # Errors
    /// [`DefinitionError`] if the text is not valid.
    pub fn read(text: &str, size: Size) -> Result<Experiment, DefinitionError> {
        let quick = size == Size::Quick;
        let table = DeTable::parse(text).map_err(|error| DefinitionError(error.to_string()))?;
        let table = table.get_ref();
        let sized = |table: &Table<'_>, key: &str| {
            let quick_key = format!("quick_{key}");
            number(table, &quick_key).filter(|_| quick).or_else(|| number(table, key))
        };
        let number = |key: &str| sized(table, key);
        let counts = number("iterations");
        let columns = tables(table, "columns").into_iter().map(|(name, column)| {
            Ok(Column {
                opponent: required(column, "opponent", &name)?,
                player: required(column, "player", &name)?,
                iterations: sized(column, "iterations"),
                play_clock: real(column, "play_clock").filter(|_| !quick),
                repeats: sized(column, "repeats").filter(|_| !quick),
                policy: text_of(column, "policy"),
                only: text_of(column, "only"),
                paper: texts(column, "paper"),
                name,
            })
        });
        let games = tables(table, "games").into_iter().map(|(name, game)| {
            let sheet = required(game, "sheet", &name)?;
            Ok(ExperimentGame { name, shipped: text_of(game, "shipped"), sheet })
        });
        let learning = match table.get("learning").map(toml::Spanned::get_ref) {
            Some(DeValue::Table(learning)) => {
                let needed = |key: &str| {
                    let missing = || DefinitionError(format!("[learning] has no {key}"));
                    sized(learning, key).ok_or_else(missing)
                };
                Some(Learning {
                    plays: needed("plays")?,
                    iterations: needed("iterations")?,
                    least_plays: needed("least_plays")?,
                })
            }
            _ => None,
        };
        Ok(Experiment {
            learning,
            title: required(table, "title", "the experiment")?,
            kind: match text_of(table, "kind").as_deref() {
                Some("costs") => ExperimentKind::Costs,
                Some("matches") | None => ExperimentKind::Matches,
                Some(other) => {
                    return Err(DefinitionError(format!("there is no kind `{other}`")));
                }
            },
            // An experiment with a clock may have iterations for quick runs only. They replace the
            // clock.
            iterations: counts,
            play_clock: real(table, "play_clock").filter(|_| counts.is_none()),
            start_clock: real(table, "start_clock").filter(|_| counts.is_none()),
            repeats: number("repeats").unwrap_or(1),
            openings: number("openings").unwrap_or(0),
            max_steps: number("max_steps").unwrap_or(1000),
            moves: number("moves").unwrap_or(1),
            columns: columns.collect::<Result<_, DefinitionError>>()?,
            games: games.collect::<Result<_, DefinitionError>>()?,
            paper: texts(table, "paper"),
        })
    }
}

/// Why the definition of an experiment is not valid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefinitionError(String);

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DefinitionError {}

fn required(table: &Table<'_>, key: &str, owner: &str) -> Result<String, DefinitionError> {
    text_of(table, key).ok_or_else(|| DefinitionError(format!("{owner} has no {key}")))
}

fn number(table: &Table<'_>, key: &str) -> Option<u64> {
    match table.get(key)?.get_ref() {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

fn real(table: &Table<'_>, key: &str) -> Option<f64> {
    match table.get(key)?.get_ref() {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

fn text_of(table: &Table<'_>, key: &str) -> Option<String> {
    match table.get(key)?.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// Returns the tables inside a table, in the order of the text.
fn tables<'a, 'i>(table: &'a Table<'i>, key: &str) -> Vec<(String, &'a Table<'i>)> {
    let Some(DeValue::Table(inner)) = table.get(key).map(toml::Spanned::get_ref) else {
        return Vec::new();
    };
    let mut found: Vec<(usize, String, &Table<'i>)> = Vec::new();
    for (name, value) in inner.iter() {
        if let DeValue::Table(table) = value.get_ref() {
            found.push((name.span().start, name.get_ref().to_string(), table));
        }
    }
    found.sort_by_key(|(place, ..)| *place);
    found.into_iter().map(|(_, name, table)| (name, table)).collect()
}

fn texts(table: &Table<'_>, key: &str) -> Vec<(String, String)> {
    let Some(DeValue::Table(inner)) = table.get(key).map(toml::Spanned::get_ref) else {
        return Vec::new();
    };
    let text = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    inner
        .iter()
        .filter_map(|(name, value)| Some((name.get_ref().to_string(), text(value.get_ref())?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_given_for_all_columns_or_for_one() {
        let text = "title = 't'\niterations = 10\nopenings = 4\nquick_openings = 2\n\
                    [columns.a]\nopponent = 'random'\nplayer = 'greedy'\niterations = 70\n\
                    [columns.b]\nopponent = 'random'\nplayer = 'greedy'\n";
        let of = |size| {
            let read = Experiment::read(text, size).expect("can be read");
            let columns: Vec<Option<u64>> =
                read.columns.iter().map(|column| column.iterations).collect();
            (read.openings, read.iterations, columns)
        };
        assert_eq!(of(Size::Full), (4, Some(10), vec![Some(70), None]));
        assert_eq!(of(Size::Quick), (2, Some(10), vec![Some(70), None]));
    }

    #[test]
    fn a_column_may_have_its_own_clock() {
        let text = "title = 't'\niterations = 10\n[columns.a]\nopponent = 'random'\n\
                    player = 'greedy'\nplay_clock = 2.5\n[games.g]\nsheet = 'nim'\n";
        let clock = |size| {
            let read = Experiment::read(text, size).unwrap_or_else(|why| panic!("{why}"));
            read.columns[0].play_clock
        };
        assert_eq!((clock(Size::Full), clock(Size::Quick)), (Some(2.5), None));
    }

    #[test]
    fn the_experiments_can_be_read_and_their_players_exist() {
        for BuiltInExperiment { name, text, .. } in EXPERIMENTS {
            for size in [Size::Full, Size::Quick] {
                let experiment =
                    Experiment::read(text, size).unwrap_or_else(|why| panic!("{name}: {why}"));
                assert!(!experiment.games.is_empty(), "{name} has no games");
                assert!(
                    experiment.iterations.is_some() || experiment.play_clock.is_some(),
                    "{name}"
                );
                assert!(
                    experiment.games.iter().any(|game| game.location(None).is_some()),
                    "{name}"
                );
                for column in &experiment.columns {
                    for player in [&column.opponent, &column.player] {
                        if let Err(finding) = agon_players::parse_spec(player) {
                            panic!("{name}: {player}: {}", finding.message);
                        }
                    }
                }
                assert_eq!(
                    experiment.kind == ExperimentKind::Costs,
                    experiment.columns.is_empty(),
                    "{name}"
                );
            }
        }
    }
}
