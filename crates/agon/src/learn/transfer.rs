//! Transfer: what was learnt on one board starts the next one.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agon_circuit::ScalarCircuit;
use agon_learn::{
    CannotLearn, CannotTransfer, EloEstimate, Learner, Model, ModelError, ModelHistory, ModelKind,
    TrainOptions, Transferred,
};

use super::MAX_BLOCKS;
use super::arena::Arena;
use crate::game::Game;
use crate::models::{StoreError, fit, training_path, write_model};

/// How matches after a transfer are played, and how its result is dated.
#[derive(Clone, Debug)]
pub struct TransferOptions {
    /// Number of threads.
    pub threads: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Returns the time of day in seconds since 1970.
    pub now: fn() -> u64,
}

/// What a transfer has brought.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TransferReport {
    /// How many tables of weights were filled.
    pub transferred: Transferred,
    /// Strength against the same search without an evaluation, before anything was learnt.
    pub elo: EloEstimate,
}

/// Why nothing was transferred.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransferError {
    /// A game cannot be learnt. The text is its name.
    Cannot(String, CannotLearn),
    /// The model is not one of the first game, or was learnt with other patterns.
    Model(ModelError),
    /// The games have too little in common.
    Games(CannotTransfer),
    /// The result could not be written.
    Store(StoreError),
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransferError::Cannot(game, why) => write!(f, "{game} cannot be learnt: {why}"),
            TransferError::Model(error) => write!(f, "the model cannot be used: {error}"),
            TransferError::Games(why) => write!(f, "nothing can be transferred: {why}"),
            TransferError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TransferError {}

/// Starts the learning of a game with a model of another one, which has a board of another size.
/// The state of learning is written beside the file of the model of the second game, so that
/// learning goes on from there.
///
/// # Errors
/// [`TransferError`] if the games have too little in common, or the file cannot be written.
pub fn transfer(
    from: &Game,
    model: &Model,
    to: &Game,
    path: &Path,
    options: &TransferOptions,
) -> Result<TransferReport, TransferError> {
    if model.kind() == ModelKind::Network {
        return Err(TransferError::Games(CannotTransfer::Network));
    }
    let (_, mut old) = learner(from, options)?;
    let (start, mut new) = learner(to, options)?;
    let fitted = fit(from, model).map_err(TransferError::Model)?;
    if !old.take_weights(&fitted) {
        return Err(TransferError::Model(ModelError::Invalid("patterns")));
    }
    let transferred = new.transfer_from(&old).map_err(TransferError::Games)?;
    let history = ModelHistory {
        game: to.name().to_owned(),
        key: to.key().key,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        written: (options.now)(),
        ..ModelHistory::default()
    };
    let state = new.model(&start, &to.key().labels, history);
    let state =
        state.ok_or_else(|| TransferError::Cannot(to.name().to_owned(), CannotLearn::NoBits))?;
    write_model(&training_path(path), &state).map_err(TransferError::Store)?;
    let stop = Arc::new(AtomicBool::new(false));
    let arena = Arena { start, threads: options.threads, stop };
    let evaluator = new.evaluator();
    let points = arena.matches([Some(&evaluator), None], options.seed, MAX_BLOCKS[1], None, None);
    Ok(TransferReport { transferred, elo: arena.estimate(&points) })
}

/// Makes a learner of a game that knows nothing yet.
fn learner(
    game: &Game,
    options: &TransferOptions,
) -> Result<(ScalarCircuit, Learner<ScalarCircuit>), TransferError> {
    let cannot = |why| TransferError::Cannot(game.name().to_owned(), why);
    let start = game.compiled().ok_or(CannotLearn::NoBits).map_err(cannot)?.start();
    let train =
        TrainOptions { seed: options.seed, threads: options.threads, ..TrainOptions::default() };
    let learner = Learner::new(&start, train, None).map_err(cannot)?;
    Ok((start, learner))
}
