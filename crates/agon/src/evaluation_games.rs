//! Evaluation games: those that a player takes from files, and how they are learnt.

mod learn;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agon_players::PlayerSpec;
use agon_text::Source;
use agon_toss::evaluation::EvaluationGames;

use crate::game::Game;

pub use learn::{EvaluationLearner, FormulaPolicy, LearnError};

/// Why the evaluation games of a player cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluationFileError {
    /// A file cannot be read.
    Unreadable {
        /// The player that asks for it.
        player: String,
        /// The path.
        file: String,
        /// What went wrong.
        reason: String,
    },
    /// A folder has no evaluation games for the evaluated game.
    NoneInFolder {
        /// The player that asks for them.
        player: String,
        /// The path of the folder.
        folder: String,
        /// The name of the evaluated game.
        game: String,
    },
    /// The evaluated game is not a structure rewriting game.
    OtherLanguage {
        /// The player that asks for evaluation games.
        player: String,
    },
    /// A game does not fit the evaluated one.
    Game {
        /// The player that asks for it.
        player: String,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for EvaluationFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvaluationFileError::Unreadable { player, file, reason } => {
                write!(f, "{player}: cannot read {file}: {reason}")
            }
            EvaluationFileError::NoneInFolder { player, folder, game } => write!(
                f,
                "{player}: no file of the folder {folder} has the line `DATA game: {game}` \
                 (hint: `agon evaluation-games {game} --out {folder}` learns evaluation games)"
            ),
            EvaluationFileError::OtherLanguage { player } => write!(
                f,
                "{player}: evaluation games are for structure rewriting games \
                 (hint: `agon translate GAME --to toss`)"
            ),
            EvaluationFileError::Game { player, reason } => write!(f, "{player}: {reason}"),
        }
    }
}

impl std::error::Error for EvaluationFileError {}

/// Reads the evaluation games that a player asks for, if it does.
///
/// # Errors
/// [`EvaluationFileError`] if they cannot be used.
pub fn load_evaluation_games(
    game: &Game,
    spec: &PlayerSpec,
) -> Result<Option<EvaluationGames>, EvaluationFileError> {
    let Some(files) = spec.evaluation_files() else { return Ok(None) };
    let player = || spec.text.clone();
    let Some(rewriting) = game.toss() else {
        return Err(EvaluationFileError::OtherLanguage { player: player() });
    };
    let mut sheets = Vec::new();
    for file in files {
        let unreadable = |file: &str, error: std::io::Error| {
            let reason = if file.is_empty() {
                "no file is named: write evaluation=game(file=PATH)".to_owned()
            } else {
                error.to_string()
            };
            EvaluationFileError::Unreadable { player: player(), file: file.to_owned(), reason }
        };
        if Path::new(file).is_dir() {
            let found = in_folder(file, game.name()).map_err(|error| unreadable(file, error))?;
            if found.is_empty() {
                let (folder, game) = (file.to_owned(), game.name().to_owned());
                let player = player();
                return Err(EvaluationFileError::NoneInFolder { player, folder, game });
            }
            sheets.extend(found);
        } else {
            let text = crate::files::read_text(Path::new(file))
                .map_err(|error| unreadable(file, error))?;
            sheets.push(Arc::new(Source::new(file, text)));
        }
    }
    EvaluationGames::open(rewriting, &sheets)
        .map(Some)
        .map_err(|error| EvaluationFileError::Game { player: player(), reason: error.to_string() })
}

/// Reads the evaluation games of a game from a folder: the `.toss` files with `DATA game: NAME`.
pub(crate) fn in_folder(folder: &str, game: &str) -> std::io::Result<Vec<Arc<Source>>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "toss") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut sheets = Vec::new();
    for path in paths {
        let text = crate::files::read_text(&path)?;
        let named = text.lines().find_map(|line| line.trim().strip_prefix("DATA game:"));
        if named.is_some_and(|named| named.trim() == game) {
            sheets.push(Arc::new(Source::new(path.to_string_lossy(), text)));
        }
    }
    Ok(sheets)
}
