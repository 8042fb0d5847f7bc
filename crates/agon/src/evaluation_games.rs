//! Evaluation games that a player takes from files.

use std::fmt;
use std::sync::Arc;

use agon_players::PlayerSpec;
use agon_text::Source;
use agon_toss::evaluation::EvaluationGames;

use crate::game::Game;

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
        let text = std::fs::read_to_string(file).map_err(|error| {
            let reason = if file.is_empty() {
                "no file is named: write evaluation=game(file=PATH)".to_owned()
            } else {
                error.to_string()
            };
            EvaluationFileError::Unreadable { player: player(), file: file.to_owned(), reason }
        })?;
        sheets.push(Arc::new(Source::new(file, text)));
    }
    EvaluationGames::open(rewriting, &sheets)
        .map(Some)
        .map_err(|error| EvaluationFileError::Game { player: player(), reason: error.to_string() })
}
