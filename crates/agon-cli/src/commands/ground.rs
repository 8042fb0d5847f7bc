//! `agon ground`: makes circuits of games and measures their cost.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_gdl::circuit::CircuitLimits;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open::{self, RuleOptions};
use crate::resources::{cpu_seconds, peak_mb};
use crate::subprocess::{self, Outcome};
use crate::terminal::say;

/// Ground a game to a circuit and show its size, time and memory
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon ground breakthrough
  agon ground --all rulesheets/ --seconds 60 --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    #[arg(required_unless_present = "all")]
    pub(super) game: Option<String>,
    /// Ground every .kif file below a folder, each in a process of its own
    #[arg(long, value_name = "DIR", conflicts_with = "game")]
    all: Option<PathBuf>,
    /// Time limit for each game, in seconds
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Print one JSON object per game
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: RuleOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match (&args.game, &args.all) {
        (Some(game), _) => {
            show(&ground(game, args)?, args);
            Ok(())
        }
        (None, Some(folder)) => ground_all(folder, args),
        (None, None) => Err(Failure::unreadable("give a GAME, or --all DIR")),
    }
}

fn ground(name: &str, args: &Args) -> Result<Value, Failure> {
    let game = open::open(name, &args.play.within(args.seconds))?;
    let (began, cpu_before) = (Instant::now(), cpu_seconds());
    let mut limits = CircuitLimits::default();
    limits.ground.deadline = Some(began + Duration::from_secs_f64(args.seconds.clamp(0.0, 1e9)));
    let rules = game.ground_rules(&limits);
    let ground_cpu = cpu_seconds() - cpu_before;
    let made = rules.and_then(|rules| rules.wire(&limits));
    let seconds = began.elapsed().as_secs_f64();
    let (grounded, reason, atoms, rules, gates) = match &made {
        Ok(made) => (true, Value::Null, made.n_atoms, made.n_rules, made.circuit.n_gates()),
        Err(refusal) => (false, json!(game.refusal_text(refusal)), 0, 0, 0),
    };
    let (base, inputs) =
        made.as_ref().map_or((0, 0), |made| (made.circuit.base.len(), made.circuit.n_inputs()));
    Ok(json!({
        "game": name, "grounded": grounded, "reason": reason, "seconds": seconds,
        "peak_mb": peak_mb(),
        "atoms": atoms, "rules": rules, "gates": gates, "base": base, "inputs": inputs,
        "cpu_s": cpu_seconds() - cpu_before, "ground_cpu_s": ground_cpu,
    }))
}

fn show(result: &Value, args: &Args) {
    if args.json {
        say!("{result}");
        return;
    }
    let name = result["game"].as_str().unwrap_or_default();
    let seconds = result["seconds"].as_f64().unwrap_or(0.0);
    if result["grounded"] == json!(true) {
        say!(
            "{name}: {} atoms, {} rules, {} gates, {} base bits, {} inputs, {seconds:.2} s, {} MB",
            result["atoms"],
            result["rules"],
            result["gates"],
            result["base"],
            result["inputs"],
            result["peak_mb"]
        );
    } else {
        say!(
            "{name}: not grounded after {seconds:.2} s: {}",
            result["reason"].as_str().unwrap_or_default()
        );
    }
}

fn ground_all(folder: &Path, args: &Args) -> Result<(), Failure> {
    let files = open::rulesheets_below(folder)?;
    let mut n_grounded = 0;
    for file in &files {
        let name = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().into_owned();
        let mut command: Vec<OsString> = vec!["ground".into(), "--json".into()];
        command.extend(["--seconds".into(), args.seconds.to_string().into()]);
        command.extend(args.play.as_arguments().into_iter().map(OsString::from));
        command.extend(["--".into(), file.into()]);
        let mut result = match subprocess::run(&command, "")? {
            Outcome::Answered(result) => result,
            Outcome::Failed(Failure { message: why, .. }) | Outcome::Killed(why) => json!({
                "grounded": false, "reason": why, "seconds": 0.0, "peak_mb": 0, "atoms": 0,
                "gates": 0, "cpu_s": 0.0,
            }),
        };
        result["game"] = json!(name);
        n_grounded += usize::from(result["grounded"] == json!(true));
        show(&result, args);
    }
    if !args.json {
        say!("{n_grounded} of {} grounded", files.len());
    }
    Ok(())
}
