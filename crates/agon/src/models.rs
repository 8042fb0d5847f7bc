//! The store of learnt models and endgame tables: one file of each for a game, in a folder.
//!
//! A model is found by a key of the rules that does not depend on names and order
//! ([`agon_gdl::canonical`]), so that scrambled rules of a known game find theirs. Rules without
//! such a key, and structure rewriting games, are found by their text. Beside a model there may be
//! the state of learning, from which `agon learn` goes on. Files are replaced by renaming, so that
//! an interruption leaves the old one or the new one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_gdl::canonical::{canonical, key_of_text};
use agon_learn::ModelHistory;
pub use agon_learn::{GameModel, Labels, Model, ModelError, ModelKind, OnnxError};
use agon_search::solve::{Endgames, EndgamesError, FactPlaces};

use crate::engine::{Engine, GamePosition, GameTask};
use crate::files;
use crate::game::Game;

/// Ending of the files of models.
pub const MODEL_ENDING: &str = "agon-model";
/// Ending of the files with the state of learning.
const TRAINING_ENDING: &str = "agon-training";
/// Ending of the files with the state of learning of a second form, while two compete.
const SECOND_TRAINING_ENDING: &str = "agon-training-2";
/// Ending of the files of endgame tables.
const ENDGAMES_ENDING: &str = "agon-endgames";
/// Maximum size of a file in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The key of a game with the labels of its names.
#[derive(Clone, Debug)]
pub struct GameKey {
    /// The key.
    pub key: u128,
    /// The labels of names.
    pub labels: Labels,
    /// Whether the key is the same for other names and another order of the rules.
    pub is_canonical: bool,
}

impl GameKey {
    /// Computes the key of a game.
    pub(crate) fn of(engine: &Engine) -> GameKey {
        let found = match engine {
            Engine::GdlInterpreter(game) | Engine::GdlCircuit(game, _) => canonical(game.rules()),
            Engine::TossInterpreter(_) | Engine::TossCircuit(..) => None,
        };
        match found {
            Some(found) => {
                GameKey { key: found.key, labels: Labels::new(found.labels), is_canonical: true }
            }
            None => GameKey {
                key: key_of_text(&engine.rules_text()),
                labels: Labels::exact(),
                is_canonical: false,
            },
        }
    }

    /// Returns the key as it is shown and typed.
    pub fn text(&self) -> String {
        key_text(self.key)
    }
}

/// Returns a key as it is shown and typed: 32 hexadecimal digits.
pub fn key_text(key: u128) -> String {
    format!("{key:032x}")
}

/// Why a file of the store could not be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or folder could not be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: std::io::Error,
    },
    /// A file is not a model that can be used.
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ModelError,
    },
    /// A file is not an endgame table that can be used.
    Endgames {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: EndgamesError,
    },
    /// There is no model of a game with this name or whose key starts this way, or there are several.
    Key {
        /// The name, or the start of the key.
        text: String,
        /// The keys of the models that fit.
        found: Vec<String>,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::File { path, error } => {
                write!(f, "cannot use the model {}: {error}", path.display())
            }
            StoreError::Model { path, error } => {
                write!(f, "the model {} is ignored: {error}", path.display())
            }
            StoreError::Endgames { path, error } => {
                write!(f, "the endgame table {} is ignored: {error}", path.display())
            }
            StoreError::Key { text, found } if found.is_empty() => {
                write!(
                    f,
                    "no model is of a game `{text}`, or has a key that starts with it; `agon models` \
                     lists them"
                )
            }
            StoreError::Key { text, found } => {
                write!(f, "`{text}` fits several models; give one key: {}", found.join(", "))
            }
        }
    }
}

impl std::error::Error for StoreError {}

/// Reads a model from a file.
///
/// # Errors
/// [`StoreError`] if the file cannot be read, or is not a model.
pub fn read_model(path: &Path) -> Result<Model, StoreError> {
    let fail = |error| StoreError::File { path: path.to_owned(), error };
    let size = std::fs::metadata(path).map_err(fail)?.len();
    if size > MAX_BYTES {
        let error = ModelError::Invalid("size");
        return Err(StoreError::Model { path: path.to_owned(), error });
    }
    let bytes = files::read(path, MAX_BYTES).map_err(fail)?;
    Model::from_bytes(&bytes).map_err(|error| StoreError::Model { path: path.to_owned(), error })
}

/// Writes a model to a file. The file is replaced as a whole: an interruption leaves the old one.
///
/// # Errors
/// [`StoreError::File`] if it cannot be written.
pub fn write_model(path: &Path, model: &Model) -> Result<(), StoreError> {
    replace_file(path, &model.to_bytes())
}

fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    files::replace(path, bytes).map_err(|error| StoreError::File { path: path.to_owned(), error })
}

/// A folder with models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStore {
    folder: PathBuf,
}

/// A file of the store.
#[derive(Debug)]
pub struct ListedModel {
    /// The file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub n_bytes: u64,
    /// The model, or why it cannot be used.
    pub model: Result<Model, StoreError>,
}

impl ModelStore {
    /// Returns the store in a folder. The folder need not exist.
    pub fn at(folder: &Path) -> ModelStore {
        ModelStore { folder: folder.to_owned() }
    }

    /// Returns the store of the user: the folder `AGON_MODELS`, or `agon/models` in the folder for
    /// user data. `None` if `AGON_NO_MODELS` is set to something else than 0, or there is no such
    /// folder.
    pub fn of_user() -> Option<ModelStore> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        if set("AGON_NO_MODELS").is_some_and(|value| value != "0") {
            return None;
        }
        ModelStore::folder_of_user().map(|folder| ModelStore { folder })
    }

    /// Returns the folder of the user's store, whether players use it or not.
    pub fn folder_of_user() -> Option<PathBuf> {
        let set = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let data = || {
            set("XDG_DATA_HOME")
                .or_else(|| set("HOME").map(|home| home.join(".local/share")))
                .or_else(|| set("LOCALAPPDATA"))
        };
        set("AGON_MODELS").or_else(|| Some(data()?.join("agon/models")))
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the file of the model with a key.
    pub fn path(&self, key: u128) -> PathBuf {
        self.folder.join(key_text(key)).with_extension(MODEL_ENDING)
    }

    /// Lists the models, sorted by the name of the game and by key. Files that cannot be used come
    /// last.
    ///
    /// # Errors
    /// [`StoreError::File`] if the folder cannot be read. A folder that does not exist is empty.
    pub fn list(&self) -> Result<Vec<ListedModel>, StoreError> {
        let mut listed: Vec<ListedModel> = self
            .paths()?
            .into_iter()
            .map(|path| ListedModel {
                n_bytes: std::fs::metadata(&path).map_or(0, |facts| facts.len()),
                model: read_model(&path),
                path,
            })
            .collect();
        listed.sort_by_cached_key(|listed| {
            let game = listed.model.as_ref().ok().map(|model| model.history.game.clone());
            (game.is_none(), game, listed.path.clone())
        });
        Ok(listed)
    }

    fn paths(&self) -> Result<Vec<PathBuf>, StoreError> {
        self.paths_with(MODEL_ENDING)
    }

    /// Returns the files with an ending, sorted.
    fn paths_with(&self, ending: &str) -> Result<Vec<PathBuf>, StoreError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::File { path: self.folder.clone(), error }),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|e| e == ending)).collect();
        paths.sort();
        Ok(paths)
    }

    /// Returns the file of the only model of a game with this name, as it was called when it was
    /// learnt, or else of the only model whose key starts with the text.
    ///
    /// # Errors
    /// [`StoreError::Key`] if there is none, or there are several.
    pub fn find(&self, text: &str) -> Result<PathBuf, StoreError> {
        let stem = |path: &PathBuf| -> String {
            path.file_stem().unwrap_or_default().to_string_lossy().into()
        };
        let start = text.to_lowercase();
        let is_of_game =
            |path: &&PathBuf| read_model(path).is_ok_and(|model| model.history.game == text);
        let paths = self.paths()?;
        let mut found: Vec<&PathBuf> = paths.iter().filter(is_of_game).collect();
        if found.is_empty() && !start.is_empty() {
            found = paths.iter().filter(|path| stem(path).starts_with(&start)).collect();
        }
        match &found[..] {
            [path] => Ok((*path).clone()),
            _ => Err(StoreError::Key {
                text: text.to_owned(),
                found: found.into_iter().map(stem).collect(),
            }),
        }
    }

    /// Returns the file of the endgame table of a game.
    pub fn endgames_path(&self, key: u128) -> PathBuf {
        self.folder.join(key_text(key)).with_extension(ENDGAMES_ENDING)
    }

    /// Loads the endgame table of a game, if there is one.
    ///
    /// # Errors
    /// [`StoreError`] if there is one that cannot be used.
    pub fn load_endgames(&self, game: &Game) -> Result<Option<Endgames>, StoreError> {
        // The key of large rules takes a while, so it is computed only if there are tables.
        let has_tables = !self.paths_with(ENDGAMES_ENDING)?.is_empty();
        if game.engine().compiled().is_none() || !has_tables {
            return Ok(None);
        }
        let path = self.endgames_path(game.key().key);
        let Some(places) = fact_places(game).filter(|_| path.exists()) else { return Ok(None) };
        let fail = |error| StoreError::File { path: path.clone(), error };
        if std::fs::metadata(&path).map_err(fail)?.len() > MAX_BYTES {
            return Err(StoreError::Endgames { path, error: EndgamesError::Size });
        }
        let bytes = files::read(&path, MAX_BYTES).map_err(fail)?;
        Endgames::from_bytes(&bytes, game.key().key, places)
            .map(Some)
            .map_err(|error| StoreError::Endgames { path, error })
    }

    /// Stores an endgame table of a game, together with the positions that its table in the store
    /// has. A table that cannot be used is replaced. Returns the file and its number of positions.
    ///
    /// # Errors
    /// [`StoreError::File`] if the file cannot be written.
    pub fn save_endgames(
        &self,
        game: &Game,
        mut table: Endgames,
    ) -> Result<(PathBuf, usize), StoreError> {
        if let Ok(Some(before)) = self.load_endgames(game) {
            table.merge(&before);
        }
        let path = self.endgames_path(game.key().key);
        replace_file(&path, &table.to_bytes(game.key().key))?;
        Ok((path, table.len()))
    }

    /// Removes a model, and the state of learning beside it.
    ///
    /// # Errors
    /// [`StoreError::File`] if the file cannot be removed.
    pub fn remove(path: &Path) -> Result<(), StoreError> {
        let fail = |error| StoreError::File { path: path.to_owned(), error };
        std::fs::remove_file(path).map_err(fail)?;
        remove_training_states(path)
    }

    /// Loads the model of a game, if there is one.
    ///
    /// # Errors
    /// [`StoreError`] if there is one that cannot be used.
    fn load(&self, game: &Game) -> Result<Option<Arc<GameModel>>, StoreError> {
        // The key of large rules takes a while, so it is computed only if there are models.
        if game.engine().compiled().is_none() || self.paths()?.is_empty() {
            return Ok(None);
        }
        let path = self.path(game.key().key);
        if !path.exists() {
            return Ok(None);
        }
        let model = read_model(&path)?;
        fit(game, &model)
            .map(|model| Some(Arc::new(model)))
            .map_err(|error| StoreError::Model { path, error })
    }
}

/// Returns the places of the facts and roles of a game in an order that does not depend on names.
/// `None` if the game has no circuit, chance, or a name without a label.
pub fn fact_places(game: &Game) -> Option<FactPlaces> {
    struct Places<'a>(&'a Labels);
    impl GameTask for Places<'_> {
        type Output = Option<FactPlaces>;

        fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
            if start.shape().nature.is_some() {
                return None;
            }
            let facts = self.0.order(&start.feature_texts())?;
            let roles = self.0.order(&start.shape().role_names)?;
            FactPlaces::new(&start, &facts, &roles)
        }
    }
    game.engine().compiled()?;
    game.run(Places(&game.key().labels))
}

/// Returns the file with the state of learning beside a model.
pub fn training_path(model: &Path) -> PathBuf {
    model.with_extension(TRAINING_ENDING)
}

/// Returns the file with the state of learning of a second form of evaluation beside a model.
pub fn second_training_path(model: &Path) -> PathBuf {
    model.with_extension(SECOND_TRAINING_ENDING)
}

/// Removes a file. It is not an error if there is none.
pub(crate) fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Fits a model to a game.
///
/// # Errors
/// [`ModelError::OtherGame`] if it is one of another game.
pub fn fit(game: &Game, model: &Model) -> Result<GameModel, ModelError> {
    struct Fit<'a>(&'a Model, &'a Labels);
    impl GameTask for Fit<'_> {
        type Output = Result<GameModel, ModelError>;

        fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
            self.0.for_game(&start, self.1)
        }
    }
    game.run(Fit(model, &game.key().labels))
}

/// Returns the network of a model as an ONNX file.
///
/// # Errors
/// [`OnnxError::Tables`] if the model is not a network.
pub fn to_onnx(game: &Game, model: &GameModel) -> Result<Vec<u8>, OnnxError> {
    struct Write<'a>(&'a GameModel);
    impl GameTask for Write<'_> {
        type Output = Result<Vec<u8>, OnnxError>;

        fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
            self.0.to_onnx(&start)
        }
    }
    game.run(Write(model))
}

/// Reads the network of a game from an ONNX file. `now` is the time of day in seconds since 1970.
///
/// # Errors
/// [`OnnxError`] if it is not a network of the game.
pub fn from_onnx(game: &Game, bytes: &[u8], now: u64) -> Result<Model, OnnxError> {
    struct Read<'a>(&'a [u8], &'a Labels, ModelHistory);
    impl GameTask for Read<'_> {
        type Output = Result<Model, OnnxError>;

        fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
            Model::from_onnx(self.0, &start, self.1, self.2)
        }
    }
    let history = ModelHistory {
        game: game.name().to_owned(),
        key: game.key().key,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        written: now,
        ..ModelHistory::default()
    };
    game.run(Read(bytes, &game.key().labels, history))
}

/// Removes the states of learning beside a model, so that learning begins with the model.
///
/// # Errors
/// [`StoreError::File`] if a file cannot be removed.
pub fn remove_training_states(model: &Path) -> Result<(), StoreError> {
    for path in [training_path(model), second_training_path(model)] {
        remove_if_there(&path).map_err(|error| StoreError::File { path, error })?;
    }
    Ok(())
}

impl Game {
    /// Returns the game with a model that was fitted to it. A game that is shared with others stays
    /// as it is.
    #[must_use]
    pub fn with_fitted_model(self, model: GameModel) -> Game {
        self.with_model(Some(Arc::new(model)), None)
    }

    /// Returns the game with its model and its endgame table from a store, if there are any. What is
    /// wrong with them is among the [`Game::notes`].
    #[must_use]
    pub fn with_models(self, store: Option<&ModelStore>) -> Game {
        let Some(store) = store else { return self };
        let game = match store.load_endgames(&self) {
            Ok(None) => self,
            Ok(Some(table)) => self.with_endgames(Some(Arc::new(table)), None),
            Err(error) => self.with_endgames(None, Some(error.to_string())),
        };
        match store.load(&game) {
            Ok(None) => game,
            Ok(Some(model)) => game.with_model(Some(model), None),
            Err(error) => game.with_model(None, Some(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests;
