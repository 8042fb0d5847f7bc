//! `agon evaluation-games`: learns evaluation games from plays.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agon::{EvaluationLearner, FormulaPolicy};
use agon_game::Budget;
use agon_learn::evaluation_games::{CollectOptions, LearntGame, TrainingSet};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::provenance::Provenance;
use crate::terminal::{self, say};

/// Learn what makes a move good, as evaluation games
///
/// Plays the game between players that search by UCT, and takes over the moves of their trees with
/// the payoffs of the plays through them. From these it learns an evaluation game for each location
/// (Kaiser & Stafiniak 2010): formulas about the move, with the payoffs that follow. The games are
/// written as structure rewriting games that a person can read.
#[derive(clap::Args)]
#[command(after_help = "\
A GDL game is translated to a structure rewriting game, which is written to the folder too.

Examples:
  agon evaluation-games toss/breakthrough --seconds 60 --out learnt
  agon match toss/breakthrough --players \\
    \"continuous(method=uct,evaluation=game(file=learnt)),continuous(method=uct)\"
  agon evaluation-games toss/gomoku --rounds 2 --training gomoku.jsonl --out learnt
  agon evaluation-games tic-tac-toe --plays 20 --policy apriori --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Time for the plays of a round, in seconds
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Number of plays of a round, instead of a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    plays: Option<u64>,
    /// Iterations of UCT for each move of a play
    #[arg(long, default_value_t = 500, value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..))]
    iterations: u64,
    /// Least number of plays through a move that is learnt from
    #[arg(long, default_value_t = 5, value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..))]
    least_plays: u64,
    /// Number of rounds; the players of a round use what was learnt in the one before
    #[arg(long, default_value_t = 1, value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=100))]
    rounds: u64,
    /// How formulas are chosen: `information` (information gain with a significance test) or
    /// `apriori` (the best selectors of intervals of payoffs, as in the paper)
    #[arg(long, default_value = "information", value_name = "POLICY",
        value_parser = ["information", "apriori"])]
    policy: String,
    /// File that keeps the training set of the first round. If it exists, it is continued
    #[arg(long, value_name = "FILE")]
    training: Option<PathBuf>,
    /// Folder for the learnt games
    #[arg(long, value_name = "DIR", default_value = "evaluation-games")]
    out: PathBuf,
    /// Seed of the plays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if !args.seconds.is_finite() || args.seconds <= 0.0 {
        let what = format!("--seconds: {} is not a positive number of seconds", args.seconds);
        return Err(Failure::unreadable(what));
    }
    let policy = FormulaPolicy::named(&args.policy).expect("the parser knows the names");
    let game = open::open_engine(&args.game, &args.play)?;
    let failed = |error: agon::LearnError| Failure::unreadable(error.to_string());
    let mut learner = EvaluationLearner::new(&game).map_err(failed)?;
    std::fs::create_dir_all(&args.out).map_err(|error| cannot("create", &args.out, &error))?;
    if let Some(file) = &args.training {
        continue_training(&mut learner, file)?;
    }
    let stop = Budget::default();
    let cancel = stop.clone();
    crate::signals::on_interrupt(move || cancel.cancel());
    let began = Instant::now();
    let (mut learnt, mut n_plays, mut n_moves) = (Vec::new(), 0, 0);
    for round in 1..=args.rounds {
        if round > 1 {
            learner.play_with(&learnt).map_err(failed)?;
        }
        n_plays += play(args, &mut learner, &stop, round)?;
        n_moves = learner.set().len();
        learnt = learner.learn(policy).map_err(failed)?;
        if stop.is_cancelled() {
            break;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let files = write(args, &learner, &learnt)?;
    if args.json {
        say!("{}", to_json(&learner, &learnt, &files, [n_plays, n_moves as u64], seconds));
        return Ok(());
    }
    say!(
        "{} plays, {n_moves} moves with at least {} plays each, {seconds:.0} s",
        n_plays,
        args.least_plays
    );
    for (game, file) in learnt.iter().zip(&files) {
        say!("");
        say!("{} ({} moves)", terminal::bold(&format!("at {}", game.location)), game.n_moves);
        if game.findings.is_empty() {
            say!("  nothing that is certain enough was found; more plays may help");
        }
        for finding in &game.findings {
            let [then, otherwise] = finding.means;
            say!("  {}:", finding.words);
            say!("    {then:.1} on average, otherwise {otherwise:.1}");
            say!("    {}", terminal::dim(&finding.formula));
        }
        say!("  written to {}", file.display());
    }
    let name = learner.game().name();
    let name = if learner.is_translated() {
        args.out.join(name).display().to_string()
    } else {
        name.to_owned()
    };
    say!("");
    say!(
        "agon match {name} --players \"continuous(method=uct,evaluation=game(file={})),\
         continuous(method=uct)\"",
        args.out.display()
    );
    Ok(())
}

/// Fills the training set with the plays of a round. Returns their number.
fn play(
    args: &Args,
    learner: &mut EvaluationLearner,
    stop: &Budget,
    round: u64,
) -> Result<u64, Failure> {
    let options = CollectOptions {
        iterations: args.iterations,
        least_plays: args.least_plays,
        seed: args.seed.wrapping_add(round - 1).wrapping_add(learner.set().len() as u64),
        ..CollectOptions::default()
    };
    let timed = match args.plays {
        Some(plays) => Budget::iterations(plays),
        None => Budget::seconds(args.seconds),
    };
    let budget = Budget { stop: stop.stop.clone(), ..timed };
    let spinner = terminal::spinner("playing");
    let mut file = match args.training.as_deref().filter(|_| round == 1) {
        Some(path) => {
            let opened = OpenOptions::new().create(true).append(true).open(path);
            Some((path, opened.map_err(|error| cannot("write to", path, &error))?))
        }
        None => None,
    };
    let (mut n_written, mut failure) = (learner.set().len(), None);
    let mut n_plays = 0;
    let mut after_each = |set: &TrainingSet| {
        n_plays += 1;
        spinner.set_message(format!("round {round}: {n_plays} plays, {} moves", set.len()));
        if let Some((path, file)) = &mut file
            && let Err(error) = file.write_all(set.to_text(n_written).as_bytes())
        {
            failure = Some(cannot("write to", path, &error));
            return false;
        }
        n_written = set.len();
        true
    };
    let whole = learner.collect(&options, &budget, &mut after_each);
    spinner.finish_and_clear();
    failure.map_or(Ok(whole), Err)
}

/// Maximum size of the file of a training set in bytes.
const MAX_TRAINING: u64 = 1 << 30;

/// Reads the training set of an earlier run, if there is one.
fn continue_training(learner: &mut EvaluationLearner, file: &Path) -> Result<(), Failure> {
    if !file.exists() {
        return Ok(());
    }
    let text = agon::files::read(file, MAX_TRAINING)
        .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other))
        .map_err(|error| cannot("read", file, &error))?;
    if text.is_empty() {
        return Ok(());
    }
    let wrong = |why: String| Failure::unreadable(format!("{}: {why}", file.display()));
    let set = TrainingSet::from_text(&text).map_err(|error| wrong(error.to_string()))?;
    if !text.ends_with('\n') {
        // What an interrupted run has left of its last line.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        open::replace_file(&file.to_string_lossy(), whole)?;
    }
    learner.continue_with(set).map_err(|error| wrong(error.to_string()))
}

/// Writes the learnt games, and the translation of a GDL game. Returns the paths of the games.
fn write(
    args: &Args,
    learner: &EvaluationLearner,
    learnt: &[LearntGame],
) -> Result<Vec<PathBuf>, Failure> {
    let game = learner.game();
    let name = game.name().replace(['/', '\\', '(', ')', '=', ','], "-");
    let stem = name.strip_suffix(".toss").unwrap_or(&name);
    let put = |path: PathBuf, text: &str| {
        let written = std::fs::write(&path, text);
        written.map_err(|error| cannot("write", &path, &error)).map(|()| path)
    };
    if learner.is_translated() {
        put(args.out.join(game.name()), &game.rules_text())?;
    }
    let path = |game: &LearntGame| args.out.join(format!("{stem}.at-{}.toss", game.location));
    learnt.iter().map(|game| put(path(game), &game.text)).collect()
}

fn to_json(
    learner: &EvaluationLearner,
    learnt: &[LearntGame],
    files: &[PathBuf],
    [n_plays, n_moves]: [u64; 2],
    seconds: f64,
) -> Value {
    let games = learnt.iter().zip(files).map(|(game, file)| {
        let findings = game.findings.iter().map(|finding| {
            json!({"formula": finding.formula, "words": finding.words,
                "mean": finding.means[0], "otherwise": finding.means[1],
                "moves": finding.n_moves[0], "compared": finding.n_moves[1]})
        });
        json!({"location": game.location, "file": file, "moves": game.n_moves,
            "findings": findings.collect::<Vec<Value>>()})
    });
    json!({"game": learner.game().name(), "plays": n_plays, "moves": n_moves, "seconds": seconds,
        "games": games.collect::<Vec<Value>>(), "provenance": Provenance::now().json()})
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::unreadable(format!("cannot {what} {}: {error}", path.display()))
}
