//! `agon profile`: what each rule costs, and which rules are never used.

use std::time::Duration;

use agon::open::{Language, language};
use agon::profile::{Profile, ProfileOptions, profile, profile_rewriting, to_json};

use crate::failure::Failure;
use crate::open::{self, RuleOptions};
use crate::terminal::{self, put, say};

/// Show what each rule costs, and which rules and conditions are never used
#[derive(clap::Args)]
#[command(after_help = "\
Plays at random and evaluates every rule at every state. Cost is the share of the interpreter's
steps, used the share of the states at which the rule derives something, gates its part of the
circuit before gates are shared. Rules that are only asked with given arguments show no cost.

Examples:
  agon profile connect-four
  agon profile my-game.kif --plays 100
  agon profile my-game.kif --annotate
  agon profile toss/breakthrough
  agon profile my-game.kif --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Number of random plays
    #[arg(long, default_value_t = 20, value_name = "N")]
    plays: usize,
    /// Maximum number of steps of a play
    #[arg(long, default_value_t = 200, value_name = "N")]
    max_steps: usize,
    /// Time limit in seconds: no play begins after it
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Seed of the plays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the rules with the numbers at the first line of each
    #[arg(long, conflicts_with = "json")]
    annotate: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: RuleOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(args.seconds).map_err(|_| {
        Failure::unreadable(format!("--seconds: {} is not a number of seconds", args.seconds))
    })?;
    let source = open::source(&args.game)?;
    let options = ProfileOptions {
        plays: args.plays,
        max_steps: args.max_steps,
        seed: args.seed,
        time,
        ..ProfileOptions::default()
    };
    let spinner = terminal::spinner("playing");
    let (found, text) = match language(&source) {
        Language::Gdl => {
            let game = open::open_source(source, &args.play.within(args.seconds))?;
            let text = game.rules().sheet().source.text().to_owned();
            (profile(&game, &options), text)
        }
        Language::Toss => {
            let game = open::open_toss(source, &args.play.within(args.seconds))?;
            let text = game.arena().sheet().source.text().to_owned();
            (profile_rewriting(&game, &options), text)
        }
    };
    spinner.finish_and_clear();
    let found = found.map_err(Failure::wrong)?;
    if args.json {
        say!("{}", to_json(&found));
    } else if args.annotate {
        annotate(&text, &found);
    } else {
        put!("{found}");
    }
    Ok(())
}

/// Prints the rules with the share of the cost, the share of states and the gates of each clause.
fn annotate(text: &str, profile: &Profile) {
    let all_steps = profile.steps();
    for (index, line) in text.lines().enumerate() {
        let rule = profile.rules.iter().find(|rule| rule.line == index + 1);
        let margin = rule.map_or_else(String::new, |rule| {
            let cost = 100.0 * rule.steps as f64 / all_steps.max(1) as f64;
            let used = 100.0 * rule.used as f64 / profile.states.max(1) as f64;
            format!("{cost:5.1} % {used:5.1} % {:8}", rule.gates)
        });
        let never = |rule: &&agon::profile::RuleProfile| {
            rule.never_true.iter().any(|(at, _)| *at == index + 1)
        };
        let mark = if profile.rules.iter().any(|rule| never(&rule)) { "!" } else { " " };
        say!("{}{mark} {line}", terminal::dim(&format!("{margin:24}")));
    }
}
