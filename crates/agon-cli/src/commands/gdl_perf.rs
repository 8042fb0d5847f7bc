//! `agon gdl-perf`: the command that the gdl-perf benchmark runs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use agon_game::Rng;
use rand::SeedableRng as _;

use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use agon::engine::{GamePosition, GameTask};

/// Play random games for the gdl-perf benchmark and write its result file
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon gdl-perf rules.kif result.txt 10")]
pub(crate) struct Args {
    /// Path of a rulesheet
    pub(super) rules: String,
    /// File for the result
    result: PathBuf,
    /// Seconds to play
    seconds: f64,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let text = match measure(args) {
        Ok(text) => text,
        Err(failure) => format!("errorMessage = {}\n", failure.message.replace(['\n', '\r'], " ")),
    };
    std::fs::write(&args.result, format!("version = {}\n{text}", env!("CARGO_PKG_VERSION")))
        .map_err(|error| Failure::cannot_write(&args.result, &error))
}

fn measure(args: &Args) -> Result<String, Failure> {
    let time = Duration::try_from_secs_f64(args.seconds)
        .map_err(|error| Failure::unreadable(format!("SECONDS: {error}")))?;
    let opened = open::open_engine(&args.rules, &args.play)?;
    Ok(opened.run(Rollouts(time)))
}

/// Random games for the given time.
struct Rollouts(Duration);

impl GameTask for Rollouts {
    type Output = String;

    fn run<P: GamePosition + 'static>(self, start: P) -> String {
        let mut rng = Rng::seed_from_u64(1);
        let mut position = start.clone();
        let (mut n_changes, mut n_rollouts) = (0u64, 0u64);
        let began = Instant::now();
        while began.elapsed() < self.0 {
            position.go_to(start.state());
            n_changes += position.play_out(&mut rng, 100_000) as u64;
            let payoffs: f64 = start.shape().players().map(|role| position.payoff(role)).sum();
            std::hint::black_box(payoffs);
            n_rollouts += 1;
        }
        format!(
            "millisecondsTaken = {}\nnumStateChanges = {n_changes}\nnumRollouts = {n_rollouts}\n",
            began.elapsed().as_millis()
        )
    }
}
