//! Learning by self-play, with checkpoints that are tested by matches and kept in files.
//!
//! The learner plays for a slice of the time. Then its evaluation plays matches against the best
//! checkpoint so far, until a sequential test decides or the time for matches is over. A checkpoint
//! that is not refuted becomes the best one and is the model that players use. If pattern tables
//! and a network compete, they learn in turns at first; then a match decides which of them learns
//! on. The state of learning is kept beside it after every slice, so that learning goes on after an
//! interruption of any kind. In the end the best checkpoint plays against the same search without
//! an evaluation.

mod arena;
pub mod combined;
pub mod concepts;
mod exact;
pub mod lessons;
pub mod positions;
mod transfer;
pub mod truth;
pub mod worth;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_game::Budget;
use agon_learn::{CannotLearn, Learner, LearntEvaluator, Model, TrainOptions};
pub use agon_learn::{EloEstimate, LearnerFacts, ModelHistory, ModelKind, Progress, Targets};
use agon_match::tournament::{Decision, Sprt};

use arena::Arena;
pub use transfer::{TransferError, TransferOptions, TransferReport, transfer};

use crate::engine::{GamePosition, GameTask};
use crate::game::Game;
use crate::models::{
    StoreError, fit, read_model, remove_if_there, second_training_path, training_path, write_model,
};

/// How a game is learnt.
#[derive(Clone, Debug)]
pub struct LearnOptions {
    /// Seconds of learning, matches included.
    pub seconds: Option<f64>,
    /// Number of games to learn from. With one thread and without seconds, the result depends on
    /// the seed alone.
    pub n_games: Option<u64>,
    /// Number of threads.
    pub threads: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Whether learning goes on where it ended.
    pub from: LearnFrom,
    /// Which forms of evaluation are learnt.
    pub forms: Forms,
    /// What values are moved towards.
    pub targets: Targets,
    /// Stops learning when it is set. What was learnt is kept.
    pub stop: Arc<AtomicBool>,
    /// Returns the time of day in seconds since 1970, for the date of a model.
    pub now: fn() -> u64,
}

/// Which forms of evaluation are learnt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Forms {
    /// One form alone.
    One(ModelKind),
    /// Pattern tables and a network compete, where a network is possible.
    Both,
}

/// Where learning begins.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LearnFrom {
    /// Where it ended, if there is a state of learning or a model.
    Whatever,
    /// Where it ended.
    Saved,
    /// At the beginning. What was learnt before is replaced.
    Nothing,
}

/// What happens while a game is learnt.
#[derive(Debug)]
pub enum LearnEvent<'a> {
    /// Learning begins.
    Begun {
        /// What was found out about the game.
        facts: &'a LearnerFacts,
        /// What was learnt before.
        resumed: Option<&'a ModelHistory>,
    },
    /// A slice has been learnt and tested.
    Checkpoint {
        /// Its results.
        progress: &'a Progress,
        /// The sum of all differences of kept checkpoints: the curve of learning.
        elo: f64,
    },
    /// Two forms of evaluation have met, and one of them learns on.
    Chosen {
        /// The form that learns on.
        kind: ModelKind,
        /// Its strength against the other one.
        elo: &'a EloEstimate,
    },
    /// Something that the user should know.
    Warning(String),
}

/// What was learnt.
#[derive(Clone, Debug)]
pub struct Learnt {
    /// The history of learning, of this and of earlier sessions. Its strength is that of the best
    /// checkpoint.
    pub history: ModelHistory,
    /// The file of the model.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub n_bytes: u64,
    /// Whether learning was stopped before its time.
    pub is_interrupted: bool,
}

/// Why a game was not learnt.
#[derive(Debug)]
#[non_exhaustive]
pub enum LearnError {
    /// The game cannot be learnt.
    Cannot(CannotLearn),
    /// There is nothing at which learning could go on.
    NothingSaved(PathBuf),
    /// A file could not be written.
    Store(StoreError),
}

impl fmt::Display for LearnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LearnError::Cannot(why) => write!(f, "the game cannot be learnt: {why}"),
            LearnError::NothingSaved(path) => {
                write!(f, "there is nothing to go on from: no usable {}", path.display())
            }
            LearnError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LearnError {}

/// Part of the seconds for learning and its matches. The rest is for the last matches.
const LEARNING_PART: f64 = 0.92;
/// Number of slices into which learning is divided.
const N_SLICES: f64 = 12.0;
/// Number of slices in which two forms of evaluation learn in turns, before one is chosen.
const COMPETING_SLICES: usize = 4;
/// Shortest and longest slice, in seconds.
const SLICE: [f64; 2] = [1.0, 120.0];
/// Part of the time of a slice for its matches.
const MATCH_PART: f64 = 0.35;
/// Maximum number of blocks for a checkpoint, and for the last matches.
const MAX_BLOCKS: [u64; 2] = [24, 32];
/// The test of a checkpoint: refuted if it is weaker by this many Elo points rather than stronger.
const TEST: Sprt = Sprt { elo0: -30.0, elo1: 30.0, alpha: 0.05, beta: 0.05 };
/// A difference in the curve of learning is at most this large, because a checkpoint that won every
/// match would make it infinite.
const MAX_STEP: f64 = 400.0;
/// Separates the seeds of matches from those of learning, and those of the last matches.
const STREAMS: [u64; 3] = [0x0c4e_c890, 0x001a_57e1, 0x00f0_4357];

/// Learns a game and keeps the model in a file. The state of learning is kept in a file beside it.
///
/// # Errors
/// [`LearnError`] if the game cannot be learnt, or a file cannot be written.
pub fn learn(
    game: &Game,
    path: &Path,
    options: &LearnOptions,
    report: &mut dyn FnMut(&LearnEvent<'_>),
) -> Result<Learnt, LearnError> {
    let began = Instant::now();
    game.run(Task { game, path, options, report, began })
}

struct Task<'a> {
    game: &'a Game,
    path: &'a Path,
    options: &'a LearnOptions,
    report: &'a mut dyn FnMut(&LearnEvent<'_>),
    began: Instant,
}

impl GameTask for Task<'_> {
    type Output = Result<Learnt, LearnError>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
        Session::begin(self, start)?.run()
    }
}

/// A game that is being learnt.
struct Session<'a, P: GamePosition> {
    task: Task<'a>,
    arena: Arena<P>,
    /// The forms that compete, or the only one.
    learners: Vec<Learner<P>>,
    /// Index of the one that learns in this slice.
    current: usize,
    /// Number of games of a form that lost.
    n_games_lost: u64,
    history: ModelHistory,
    best: Option<Best<P>>,
    /// The curve of learning so far.
    elo: f64,
    /// Seconds of earlier sessions.
    seconds_before: f64,
}

/// The best checkpoint so far.
struct Best<P> {
    evaluator: LearntEvaluator<P>,
    model: Model,
}

impl<'a, P: GamePosition + 'static> Session<'a, P> {
    fn begin(mut task: Task<'a>, start: P) -> Result<Session<'a, P>, LearnError> {
        let options = task.options;
        let train = TrainOptions {
            seed: options.seed,
            threads: options.threads,
            targets: options.targets,
            is_open: task.game.is_open(),
            ..TrainOptions::default()
        };
        let mut learners: Vec<Learner<P>> = Vec::new();
        let mut resumed: Option<ModelHistory> = None;
        let mut best = None;
        if options.from != LearnFrom::Nothing {
            let states = [training_path(task.path), second_training_path(task.path)];
            for file in states.into_iter().chain([task.path.to_owned()]) {
                let Some(model) = load(&mut task, &file) else { continue };
                let fitted = match fit(task.game, &model) {
                    Ok(fitted) => fitted,
                    Err(error) => {
                        let error = StoreError::Model { path: file, error };
                        (task.report)(&LearnEvent::Warning(error.to_string()));
                        continue;
                    }
                };
                if file == task.path {
                    let evaluator = fitted.evaluator(&start);
                    best = evaluator.map(|evaluator| Best { evaluator, model: model.clone() });
                }
                let is_wanted =
                    options.forms == Forms::Both || options.forms == Forms::One(model.kind());
                let is_new = || learners.iter().all(|learner| learner.kind() != model.kind());
                // The model itself is only needed if there is no state of learning.
                let is_state = file != task.path || learners.is_empty();
                if is_wanted && is_state && is_new() {
                    let learner = fitted.learner(&start, train.clone());
                    learners.push(learner.map_err(LearnError::Cannot)?);
                    let n_games = resumed.as_ref().map_or(0, |before| before.n_games);
                    let longer = resumed.filter(|before| before.seconds >= model.history.seconds);
                    let history = longer.unwrap_or_else(|| model.history.clone());
                    let n_games = n_games + model.history.n_games;
                    resumed = Some(ModelHistory { n_games, ..history });
                }
            }
        }
        if learners.is_empty() && options.from == LearnFrom::Saved {
            return Err(LearnError::NothingSaved(training_path(task.path)));
        }
        if learners.is_empty() {
            let new = |kind| {
                let train = TrainOptions { kind, ..train.clone() };
                Learner::new(&start, train, None).map_err(LearnError::Cannot)
            };
            match options.forms {
                Forms::One(kind) => learners.push(new(kind)?),
                Forms::Both => {
                    learners.push(new(ModelKind::Tables)?);
                    // A game with too many facts for a network has tables alone.
                    learners.extend(new(ModelKind::Network));
                }
            }
        }
        let facts = learners[0].facts();
        (task.report)(&LearnEvent::Begun { facts, resumed: resumed.as_ref() });
        let key = task.game.key().key;
        let new = || ModelHistory {
            game: task.game.name().to_owned(),
            key,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..ModelHistory::default()
        };
        let history = resumed.unwrap_or_else(new);
        let elo = curve(&history).last().copied().unwrap_or(0.0);
        let seconds_before = history.seconds;
        let stop = Arc::clone(&options.stop);
        let arena = Arena { start, threads: options.threads, stop };
        let (current, n_games_lost) = (0, 0);
        Ok(Session {
            task,
            arena,
            learners,
            current,
            n_games_lost,
            history,
            best,
            elo,
            seconds_before,
        })
    }

    fn run(mut self) -> Result<Learnt, LearnError> {
        let LearnOptions { seconds, n_games, .. } = *self.task.options;
        let after = |seconds: f64| {
            let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
            self.task.began.checked_add(time)
        };
        let end = seconds.and_then(after);
        let learning_end = seconds.and_then(|seconds| after(LEARNING_PART * seconds));
        let slice = seconds.map(|seconds| (seconds / N_SLICES).clamp(SLICE[0], SLICE[1]));
        let last_game = n_games.map(|n| self.n_games() + n);
        let slice_games = n_games.map(|n| n.div_ceil(N_SLICES as u64).max(1));
        let mut n_slices = 0;
        loop {
            let now = Instant::now();
            let games_left = last_game.map(|last| last.saturating_sub(self.n_games()));
            let is_over = self.is_stopped()
                || games_left == Some(0)
                || learning_end.is_some_and(|end| now >= end);
            if is_over {
                break;
            }
            let slice_end =
                slice.map(|slice| now + Duration::from_secs_f64(slice * (1.0 - MATCH_PART)));
            self.current = n_slices % self.learners.len();
            self.learners[self.current].learn(&Budget {
                iterations: games_left.map(|left| slice_games.unwrap_or(left).min(left)),
                deadline: [slice_end, learning_end].into_iter().flatten().min(),
                stop: Arc::clone(&self.task.options.stop),
                ..Budget::default()
            });
            if self.is_stopped() {
                break;
            }
            let matches_end =
                slice.map(|slice| Instant::now() + Duration::from_secs_f64(slice * MATCH_PART));
            let matches_end = [matches_end, end].into_iter().flatten().min();
            self.checkpoint(matches_end)?;
            n_slices += 1;
            if n_slices == COMPETING_SLICES && self.learners.len() == 2 {
                self.choose(matches_end)?;
            }
        }
        self.finish(end)
    }

    fn is_stopped(&self) -> bool {
        self.task.options.stop.load(Ordering::Relaxed)
    }

    /// Returns the number of games of all forms.
    fn n_games(&self) -> u64 {
        self.n_games_lost + self.learners.iter().map(Learner::n_games).sum::<u64>()
    }

    fn learner(&self) -> &Learner<P> {
        &self.learners[self.current]
    }

    /// Lets two forms of evaluation play a match. The one that loses learns no more.
    fn choose(&mut self, until: Option<Instant>) -> Result<(), LearnError> {
        let [first, second] = [0, 1].map(|form| self.learners[form].evaluator());
        let seed = self.task.options.seed ^ STREAMS[2];
        let pair = [Some(&first), Some(&second)];
        let points = self.arena.matches(pair, seed, MAX_BLOCKS[0], until, None);
        let first_wins = 2.0 * points.iter().sum::<f64>() >= points.len() as f64;
        let lost = self.learners.remove(usize::from(first_wins));
        self.n_games_lost += lost.n_games();
        self.current = 0;
        let others: Vec<f64> = points.iter().map(|points| 1.0 - points).collect();
        let elo = self.arena.estimate(if first_wins { &points } else { &others });
        self.save_state()?;
        let kind = self.learner().kind();
        (self.task.report)(&LearnEvent::Chosen { kind, elo: &elo });
        Ok(())
    }

    /// Tests what was learnt so far, and saves it.
    fn checkpoint(&mut self, until: Option<Instant>) -> Result<(), LearnError> {
        let candidate = self.learner().evaluator();
        let best = self.best.as_ref().map(|best| &best.evaluator);
        // Every checkpoint has openings of its own.
        let number = self.history.progress.len() as u64 + 1;
        let seed = self.task.options.seed ^ STREAMS[0] ^ number.rotate_left(32);
        let pair = [Some(&candidate), best];
        let blocks = self.arena.matches(pair, seed, MAX_BLOCKS[0], until, Some(TEST));
        let is_kept = TEST.run(blocks.iter().copied()).decision != Some(Decision::First);
        self.count();
        let progress = Progress {
            seconds: self.history.seconds,
            n_games: self.history.n_games,
            step: self.arena.estimate(&blocks),
            is_kept,
            kind: self.learner().kind(),
        };
        self.history.progress.push(progress);
        if is_kept {
            self.elo += bounded(progress.step.elo);
            self.keep(candidate)?;
        }
        self.save_state()?;
        (self.task.report)(&LearnEvent::Checkpoint { progress: &progress, elo: self.elo });
        Ok(())
    }

    /// Makes the current weights the best checkpoint.
    fn keep(&mut self, evaluator: LearntEvaluator<P>) -> Result<(), LearnError> {
        // The strength of an earlier model is not that of this one.
        self.history.elo = None;
        let model = self.model(self.learner())?.without_training_state();
        write_model(self.task.path, &model).map_err(LearnError::Store)?;
        self.best = Some(Best { evaluator, model });
        Ok(())
    }

    fn save_state(&self) -> Result<(), LearnError> {
        let paths = [training_path(self.task.path), second_training_path(self.task.path)];
        for (path, learner) in paths.iter().zip(&self.learners) {
            write_model(path, &self.model(learner)?).map_err(LearnError::Store)?;
        }
        if self.learners.len() == 1 {
            let [_, path] = paths;
            let failed = |error| LearnError::Store(StoreError::File { path: path.clone(), error });
            remove_if_there(&path).map_err(failed)?;
        }
        Ok(())
    }

    fn model(&self, learner: &Learner<P>) -> Result<Model, LearnError> {
        let history = ModelHistory { written: (self.task.options.now)(), ..self.history.clone() };
        let labels = &self.task.game.key().labels;
        let model = learner.model(&self.arena.start, labels, history);
        model.ok_or(LearnError::Cannot(CannotLearn::NoBits))
    }

    /// Brings the counts of the history up to date.
    fn count(&mut self) {
        self.history.seconds = self.seconds_before + self.task.began.elapsed().as_secs_f64();
        self.history.n_games = self.learners.iter().map(Learner::n_games).sum();
        self.history.n_steps = self.learners.iter().map(Learner::n_steps).sum();
    }

    /// Measures the best checkpoint against no evaluation, and saves everything.
    fn finish(mut self, end: Option<Instant>) -> Result<Learnt, LearnError> {
        let is_interrupted = self.is_stopped();
        self.count();
        if self.best.is_none() {
            // Nothing was tested, so there is nothing better than this.
            let candidate = self.learner().evaluator();
            self.keep(candidate)?;
        }
        let best = self.best.as_ref().expect("it was kept above");
        let mut model = best.model.clone();
        if !is_interrupted {
            let seed = self.task.options.seed ^ STREAMS[1];
            let pair = [Some(&best.evaluator), None];
            let blocks = self.arena.matches(pair, seed, MAX_BLOCKS[1], end, None);
            model.history.elo = Some(self.arena.estimate(&blocks));
        }
        self.count();
        model.history.progress = self.history.progress.clone();
        model.history.written = (self.task.options.now)();
        write_model(self.task.path, &model).map_err(LearnError::Store)?;
        self.history.elo = model.history.elo;
        self.save_state()?;
        let path = self.task.path.to_owned();
        let n_bytes = std::fs::metadata(&path).map_or(0, |facts| facts.len());
        Ok(Learnt { history: self.history, path, n_bytes, is_interrupted })
    }
}

/// Reads a file if it is there. A file that cannot be used is reported and ignored.
fn load(task: &mut Task<'_>, file: &Path) -> Option<Model> {
    if !file.exists() {
        return None;
    }
    match read_model(file) {
        Ok(model) => Some(model),
        Err(error) => {
            (task.report)(&LearnEvent::Warning(error.to_string()));
            None
        }
    }
}

/// Returns the curve of learning: at each checkpoint the sum of the differences of all that were
/// kept until then.
pub fn curve(history: &ModelHistory) -> Vec<f64> {
    let steps = history.progress.iter().scan(0.0, |elo, progress| {
        *elo += if progress.is_kept { bounded(progress.step.elo) } else { 0.0 };
        Some(*elo)
    });
    steps.collect()
}

fn bounded(elo: f64) -> f64 {
    elo.clamp(-MAX_STEP, MAX_STEP)
}

#[cfg(test)]
mod tests;
