//! What an experiment is: read from `experiments/*.toml`, which are part of the program.

use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::shipped::Shipped;

/// The experiments there are: their names and their texts.
pub(crate) const EXPERIMENTS: &[(&str, &str)] = &[
    ("000-table-1", include_str!("../../../../experiments/000-table-1.toml")),
    ("001-figure-1", include_str!("../../../../experiments/001-figure-1.toml")),
    ("003-table-5.2", include_str!("../../../../experiments/003-table-5.2.toml")),
    ("003-table-5.3", include_str!("../../../../experiments/003-table-5.3.toml")),
    ("003-table-5.5", include_str!("../../../../experiments/003-table-5.5.toml")),
    ("004-table-1", include_str!("../../../../experiments/004-table-1.toml")),
    ("004-table-2", include_str!("../../../../experiments/004-table-2.toml")),
    ("004-table-3", include_str!("../../../../experiments/004-table-3.toml")),
    ("004-table-4", include_str!("../../../../experiments/004-table-4.toml")),
    ("004-table-5", include_str!("../../../../experiments/004-table-5.toml")),
    ("004-table-6", include_str!("../../../../experiments/004-table-6.toml")),
];

/// What an experiment does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Two players meet, column by column.
    Matches,
    /// Heuristics are timed.
    Costs,
}

/// An experiment.
#[derive(Debug)]
pub(crate) struct Experiment {
    pub(crate) title: String,
    pub(crate) kind: Kind,
    pub(crate) iterations: Option<u64>,
    pub(crate) play_clock: Option<f64>,
    pub(crate) start_clock: Option<f64>,
    pub(crate) repeats: u64,
    /// Random moves that a match begins with, the same for both seatings: without them two players that draw nothing play one match
    /// over and over.
    pub(crate) openings: u64,
    pub(crate) max_steps: u64,
    /// Moves that are thought about where heuristics are timed.
    pub(crate) moves: u64,
    pub(crate) columns: Vec<Column>,
    pub(crate) games: Vec<Sheet>,
    /// What the paper has for each game, where there are no columns.
    pub(crate) paper: Vec<(String, String)>,
}

/// Two players that meet.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) opponent: String,
    pub(crate) player: String,
    /// Iterations of this column alone: a search of constant depth is bounded by its depth, and needs enough of them to get there.
    pub(crate) iterations: Option<u64>,
    /// What the paper has for each game, or for each game and role.
    pub(crate) paper: Vec<(String, String)>,
}

/// A game of an experiment.
#[derive(Debug)]
pub(crate) struct Sheet {
    /// As the paper calls it.
    pub(crate) name: String,
    shipped: Option<String>,
    sheet: String,
}

/// Where a game is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Among those that ship.
    Shipped(String),
    /// In a file.
    File(PathBuf),
}

impl Place {
    /// As commands call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Place::Shipped(name) => name.clone(),
            Place::File(path) => path.to_string_lossy().into_owned(),
        }
    }
}

impl Sheet {
    /// Where the game is: in the folder, if one is given and has it, else among those that ship.
    pub(crate) fn place(&self, folder: Option<&Path>) -> Option<Place> {
        if let Some(folder) = folder {
            let candidates = [
                folder.join(&self.sheet).join(format!("{}.kif", self.sheet)),
                folder.join(format!("{}.kif", self.sheet)),
            ];
            let found = candidates.into_iter().find(|path| path.is_file());
            if let Some(found) = found.and_then(|path| path.canonicalize().ok()) {
                return Some(Place::File(found));
            }
        }
        let shipped = self.shipped.as_ref()?;
        Shipped::named(shipped).map(|game| Place::Shipped(game.name.to_owned()))
    }
}

type Table<'i> = DeTable<'i>;

impl Experiment {
    /// Reads one. `quick` takes the smaller numbers.
    pub(crate) fn read(text: &str, quick: bool) -> Result<Experiment, String> {
        let table = DeTable::parse(text).map_err(|error| error.to_string())?;
        let table = table.get_ref();
        let sized = |table: &Table<'_>, key: &str| {
            let quick_key = format!("quick_{key}");
            number(table, &quick_key).filter(|_| quick).or_else(|| number(table, key))
        };
        let number = |key: &str| sized(table, key);
        let counts = number("iterations");
        let columns = tables(table, "columns").into_iter().map(|(name, column)| {
            Ok(Column {
                opponent: text_of(column, "opponent").ok_or(format!("{name} has no opponent"))?,
                player: text_of(column, "player").ok_or(format!("{name} has no player"))?,
                iterations: sized(column, "iterations"),
                paper: texts(column, "paper"),
                name,
            })
        });
        let games = tables(table, "games").into_iter().map(|(name, game)| {
            let sheet = text_of(game, "sheet").ok_or(format!("{name} has no sheet"))?;
            Ok(Sheet { name, shipped: text_of(game, "shipped"), sheet })
        });
        Ok(Experiment {
            title: text_of(table, "title").ok_or("it has no title")?,
            kind: match text_of(table, "kind").as_deref() {
                Some("costs") => Kind::Costs,
                Some("matches") | None => Kind::Matches,
                Some(other) => return Err(format!("there is no kind `{other}`")),
            },
            // With a clock and a number for quick runs, those are counted and others timed.
            iterations: counts,
            play_clock: real(table, "play_clock").filter(|_| counts.is_none()),
            start_clock: real(table, "start_clock").filter(|_| counts.is_none()),
            repeats: number("repeats").unwrap_or(1),
            openings: number("openings").unwrap_or(0),
            max_steps: number("max_steps").unwrap_or(1000),
            moves: number("moves").unwrap_or(1),
            columns: columns.collect::<Result<_, String>>()?,
            games: games.collect::<Result<_, String>>()?,
            paper: texts(table, "paper"),
        })
    }
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

/// The tables within a table, in the order of the text.
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
    fn sizes_are_told_for_all_columns_or_for_one() {
        let text = "title = \"t\"\niterations = 10\nopenings = 4\nquick_openings = 2\n[columns.a]\nopponent = \"random\"\n\
                    player = \"greedy\"\niterations = 70\n[columns.b]\nopponent = \"random\"\nplayer = \"greedy\"\n";
        let of = |quick| {
            let read = Experiment::read(text, quick).expect("can be read");
            let columns: Vec<Option<u64>> =
                read.columns.iter().map(|column| column.iterations).collect();
            (read.openings, read.iterations, columns)
        };
        assert_eq!(of(false), (4, Some(10), vec![Some(70), None]));
        assert_eq!(of(true), (2, Some(10), vec![Some(70), None]));
    }

    #[test]
    fn the_experiments_can_be_read_and_their_players_exist() {
        for (name, text) in EXPERIMENTS {
            for quick in [false, true] {
                let experiment =
                    Experiment::read(text, quick).unwrap_or_else(|why| panic!("{name}: {why}"));
                assert!(!experiment.games.is_empty(), "{name} has no games");
                assert!(
                    experiment.iterations.is_some() || experiment.play_clock.is_some(),
                    "{name}"
                );
                assert!(experiment.games.iter().any(|game| game.place(None).is_some()), "{name}");
                for column in &experiment.columns {
                    for player in [&column.opponent, &column.player] {
                        if let Err(finding) = agon_match::parse_spec(player) {
                            panic!("{name}: {player}: {}", finding.message);
                        }
                    }
                }
                assert_eq!(experiment.kind == Kind::Costs, experiment.columns.is_empty(), "{name}");
            }
        }
    }
}
