//! `agon prove`: temporal properties of a game, proved or refuted with a play.

use std::time::Duration;

use agon::prove::{ProveLimits, Verdict, prove};
use serde_json::Value;

use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::terminal::{self, say};

/// Prove a property of all plays of a game, or refute it with a play
#[derive(clap::Args)]
#[command(after_help = "\
A formula is (always F), (never F), (reachable F), (until F G) or (eventually G). F and G are
formulas or conditions as in rules: fluents, legal, goal, terminal and relations of the rules.
Both are joined by and, or, not and implies. A variable means \"for some value\". Ready-made
questions: termination, playability, weak-winnability, strong-winnability; all asks them all.

Exit code 0: all proved; 1: something is refuted; 3: something is unknown.

Examples:
  agon prove tic-tac-toe \"(never (and (cell ?x ?y x) (cell ?x ?y o)))\"
  agon prove connect-four \"(reachable (and terminal (goal red 50)))\"
  agon prove tic-tac-toe \"(always (implies (cell 1 1 x) (always (cell 1 1 x))))\"
  agon prove tic-tac-toe \"(always (reachable (goal oplayer 100)))\"
  agon prove my-game.kif termination
  agon prove my-game.kif all --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Formulas or questions
    #[arg(required = true)]
    formulas: Vec<String>,
    /// Time limit for each formula, in seconds
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Maximum number of steps of the plays that the solver looks for
    #[arg(long, default_value_t = 60, value_name = "N")]
    bound: usize,
    /// Maximum number of states that are visited one by one
    #[arg(long, default_value_t = 300_000, value_name = "N")]
    states: usize,
    /// Seed of the random plays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print a JSON array with one object for each answer
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(args.seconds).map_err(|_| {
        Failure::unreadable(format!("--seconds: {} is not a number of seconds", args.seconds))
    })?;
    let game = open::open_engine(&args.game, &args.play.within(args.seconds))?;
    let limits = ProveLimits { time, steps: args.bound, states: args.states, seed: args.seed };
    let mut formulas: Vec<&str> = Vec::new();
    for formula in &args.formulas {
        match formula.as_str() {
            "all" => {
                formulas.extend(agon::prove::Question::ALL.map(agon::prove::Question::name));
            }
            formula => formulas.push(formula),
        }
    }
    let mut answers = Vec::new();
    for formula in formulas {
        let spinner = terminal::spinner("proving");
        let found = prove(&game, formula, &limits);
        spinner.finish_and_clear();
        answers.extend(found.map_err(|why| Failure::wrong(why.to_string()))?);
    }
    if args.json {
        say!("{}", Value::Array(answers.iter().map(agon::prove::Answer::to_json).collect()));
    } else {
        answers.iter().for_each(|answer| say!("{answer}"));
    }
    let has = |verdict: Verdict| answers.iter().any(|answer| answer.decision.verdict == verdict);
    match (has(Verdict::Refuted), has(Verdict::Unknown)) {
        (true, _) => Err(Failure::reported()),
        (false, true) => Err(Failure { code: 3, message: String::new() }),
        (false, false) => Ok(()),
    }
}
