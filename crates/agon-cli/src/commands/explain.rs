//! `agon explain`: properties of a game, evaluation functions derived from its rules, and the value
//! of each of their parts at a position.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::explain::{
    ExplainOptions, Explanation, concepts_for_explanation, explain_gdl, explain_toss,
};
use agon_analysis::Analysis;
use agon_analysis::concepts::write_concepts;
use agon_analysis::explain::features_json;
use agon_analysis::fuzzy::{FuzzyError, FuzzyEvaluation, FuzzyOptions};
use agon_game::Position as _;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Interpreter};
use agon_gdl::read::split_terms;
use serde_json::{Value, json};

use super::why::play_moves;
use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal;
use crate::terminal::say;

/// Explain a game: properties, evaluation functions, the value of a position
#[derive(clap::Args)]
#[command(after_help = "\
MOVES is a list of terms as for `agon why`. FLUENTS is the list of all terms that are true.

Examples:
  agon explain tic-tac-toe
  agon explain tic-tac-toe --after \"(mark 2 2) (mark 1 2)\"
  agon explain connect-four --parts 20 --json
  agon explain tic-tac-toe --state \"(control xplayer) (cell 1 1 x) (cell 2 2 x) (cell 3 3 blank)\"
  agon explain toss/breakthrough
  agon explain breakthrough --lessons      # what `agon learn` has found out, in sentences
  agon explain breakthrough --combined     # each heuristic beside all, with learnt weights
  agon explain othello --formulas --seconds 300    # concepts in first-order logic
  agon explain breakthrough --formulas --formulas-elo=200    # and their worth in matches
  agon explain --all my-rulesheets --json

With --json, each of the keys `properties`, `fuzzy`, `action_heuristic` and `concepts` is present,
or the reason why it is missing is under `refused`. `soon` has what the next steps can bring.")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    #[arg(required_unless_present = "all")]
    pub(super) game: Option<String>,
    /// Moves from the start to the position
    #[arg(long, value_name = "MOVES", default_value = "", conflicts_with = "state")]
    after: String,
    /// Fluents of the position, instead of moves
    #[arg(long, value_name = "FLUENTS")]
    state: Option<String>,
    /// Maximum number of parts shown of each goal
    #[arg(long, default_value_t = 8)]
    parts: usize,
    /// Write the learned concepts to a file, for `eval=concepts(file=FILE)`
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    concepts: Option<PathBuf>,
    /// Say what the learnt model knows about the game, with the measured truth of each sentence
    #[arg(long, conflicts_with_all = ["all", "after", "state", "concepts"])]
    lessons: bool,
    /// Learn how to weight the heuristics by self-play, and say how well each predicts the winner
    #[arg(
        long,
        value_enum,
        value_name = "METHOD",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "logistic",
        conflicts_with_all = ["all", "after", "state", "concepts", "lessons"]
    )]
    combined: Option<super::combined::Method>,
    /// Number of plays for --combined
    #[arg(long, value_name = "N", default_value_t = 200, requires = "combined")]
    plays: usize,
    #[command(flatten)]
    formulas: super::formulas::FormulaArgs,
    /// Number of concepts of --formulas that take part in --combined
    #[arg(long, value_name = "N", default_value_t = 0, requires = "combined")]
    with_formulas: usize,
    /// Seconds for one game. Its parts have shares that may add up to half as much again
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Explain every rulesheet below a folder, one line each
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["game", "after", "state"])]
    all: Option<PathBuf>,
    /// Print one JSON object; with --all one for each rulesheet
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: RuleOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(folder) = &args.all {
        return survey(args, folder);
    }
    let name = args.game.as_deref().expect("clap requires a game without --all");
    if args.lessons {
        return super::lessons::run(name, &args.play, args.json);
    }
    if let Some(method) = args.combined {
        let Args { plays, with_formulas, seconds, play, json, .. } = args;
        let numbers = [*plays, *with_formulas];
        return super::combined::run(name, method, numbers, *seconds, play, *json);
    }
    if args.formulas.formulas {
        return super::formulas::run(name, &args.formulas, args.seconds, &args.play, args.json);
    }
    let source = open::source(name)?;
    let explanation = match open::language(&source) {
        Language::Gdl => {
            let play = args.play.within(args.seconds as f64);
            explained_gdl(args, &open::open_source(source, &play)?)?
        }
        Language::Toss => {
            let play = args.play.within(args.seconds as f64);
            explained_toss(args, &open::open_toss(source, &play)?)?
        }
    };
    if args.json {
        let mut object = explanation.json;
        object.insert("game".to_owned(), json!(name));
        say!("{}", Value::Object(object));
        return Ok(());
    }
    for (at, section) in explanation.sections.iter().enumerate() {
        if at > 0 {
            say!("");
        }
        say!("{}", terminal::bold(&section.title));
        for line in &section.lines {
            match line.label.as_str() {
                "" => say!("  {}", line.text),
                label => say!("  {}  {}", terminal::dim(&format!("{label:14}")), line.text),
            }
        }
    }
    Ok(())
}

fn options(args: &Args) -> ExplainOptions {
    ExplainOptions { n_parts: args.parts, time: Duration::from_secs(args.seconds) }
}

fn explained_gdl(args: &Args, game: &Arc<Game>) -> Result<Explanation, Failure> {
    let options = options(args);
    // The circuit is made first, because it defines all fluents that a state can consist of.
    let analysis = analysis(game, options.time);
    let position = position(args, game)?;
    if let Some(file) = &args.concepts {
        let learnt = concepts_for_explanation(&analysis, &options);
        std::fs::write(file, write_concepts(&learnt.concepts))
            .map_err(|error| Failure::cannot_write(file, &error))?;
    }
    Ok(explain_gdl(&analysis, &position, &options))
}

fn explained_toss(
    args: &Args,
    game: &Arc<agon_toss::interpreter::Game>,
) -> Result<Explanation, Failure> {
    if args.state.is_some() {
        return Err(Failure::wrong(
            "--state is for GDL only; give the moves to the position with --after",
        ));
    }
    let mut position = game.start();
    play_moves(&mut position, &args.after)?;
    Ok(explain_toss(game, &position, &options(args)))
}

/// Returns the position of `--state` or `--after`.
fn position(args: &Args, game: &Arc<Game>) -> Result<Interpreter, Failure> {
    let mut position = game.start();
    let Some(state) = &args.state else {
        play_moves(&mut position, &args.after)?;
        return Ok(position);
    };
    let texts = split_terms(state).map_err(|error| Failure::unreadable(error.to_string()))?;
    let mut fluents = Vec::new();
    for text in texts {
        let term = game.parse(&text);
        fluents.push(
            term.ok_or_else(|| Failure::wrong(format!("`{text}` is not a fluent of this game")))?,
        );
    }
    position.go_to(&game.state(fluents));
    Ok(position)
}

/// Returns the analysis of a game, with its circuit if that can be made in a third of the time.
fn analysis(game: &Arc<Game>, time: Duration) -> Analysis {
    let mut limits = CircuitLimits { gates: 1_000_000, ..CircuitLimits::default() };
    limits.ground.deadline = Some(Instant::now() + time / 3);
    let compiled = game.compile(&limits).ok();
    Analysis::new(Arc::clone(game), compiled.map(Arc::new))
}

/// Counts over all rulesheets of a folder.
#[derive(Default)]
struct Survey {
    n_made: usize,
    n_refused: usize,
    n_late: usize,
    n_unplayable: usize,
    /// For each feature, the number of games that have it (Michulke 2011, figure 1, right).
    games_with: Vec<(String, usize)>,
    /// Number of games without any feature.
    n_without: usize,
}

impl Survey {
    fn add_features(&mut self, features: &serde_json::Map<String, Value>) {
        self.n_without += usize::from(features.values().all(|n| n.as_u64() == Some(0)));
        self.games_with.resize(features.len(), (String::new(), 0));
        for ((name, n), (known, n_games)) in features.iter().zip(&mut self.games_with) {
            known.clone_from(name);
            *n_games += usize::from(n.as_u64() != Some(0));
        }
    }

    fn print(&self, n_games: usize, args: &Args) {
        for (feature, n_games) in &self.games_with {
            say!("{n_games:5} games with {}", feature.replace('_', " "));
        }
        say!("{:5} games without any feature", self.n_without);
        say!(
            "{} of {n_games} have an evaluation within {} s; {} took longer, {} are refused, {} \
             cannot be played",
            self.n_made,
            args.seconds,
            self.n_late,
            self.n_refused,
            self.n_unplayable
        );
    }
}

/// Explains every rulesheet below a folder.
fn survey(args: &Args, folder: &Path) -> Result<(), Failure> {
    let found = open::rulesheets_below(folder)?;
    let mut survey = Survey::default();
    for path in &found {
        let began = Instant::now();
        let name = path.display().to_string();
        let Ok(game) = open::open(&name, &args.play.within(args.seconds as f64)) else {
            survey.n_unplayable += 1;
            show_line(args, &json!({"game": name, "refused": {"game": "the rules have errors"}}));
            continue;
        };
        let time = Duration::from_secs(args.seconds);
        let analysis = analysis(&game, time);
        let fuzzy = analysis.fuzzy(&FuzzyOptions::default(), time);
        let seconds = began.elapsed().as_secs_f64();
        let is_late = seconds > args.seconds as f64;
        match &fuzzy {
            Ok(_) if is_late => survey.n_late += 1,
            Ok(_) => survey.n_made += 1,
            Err(_) => survey.n_refused += 1,
        }
        let line = line(&name, seconds, &analysis, fuzzy.as_deref());
        if let Some(features) = line["features"].as_object() {
            survey.add_features(features);
        }
        show_line(args, &line);
    }
    if !args.json {
        survey.print(found.len(), args);
    }
    Ok(())
}

fn show_line(args: &Args, line: &Value) {
    if args.json {
        say!("{line}");
        return;
    }
    let what = match (&line["features"], &line["refused"]) {
        (Value::Null, why) => format!("refused: {why}"),
        (features, _) => format!("{:.1} s, {features}", line["seconds"].as_f64().unwrap_or(0.0)),
    };
    say!("{}  {what}", line["game"].as_str().unwrap_or_default());
}

fn line(
    name: &str,
    seconds: f64,
    analysis: &Analysis,
    fuzzy: Result<&FuzzyEvaluation, &FuzzyError>,
) -> Value {
    match fuzzy {
        Err(why) => {
            json!({"game": name, "seconds": seconds, "refused": {"fuzzy": why.to_string()}})
        }
        Ok(fuzzy) => {
            let has_circuit = analysis.compiled().is_some();
            json!({
                "game": name, "seconds": seconds, "circuit": has_circuit, "nodes": fuzzy.tree.len(),
                "features": features_json(fuzzy),
            })
        }
    }
}
