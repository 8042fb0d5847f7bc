//! `agon record`: records random games as a trace, for later comparison.

use std::path::PathBuf;

use agon_game::{Rng, Role};
use rand::SeedableRng as _;

use crate::failure::{Failure, describe};
use crate::open::{self, EngineChoice, PlayOptions, RuleOptions};
use crate::terminal::put;
use crate::trace::{Play, Step, Trace};
use agon::engine::{GamePosition, GameTask};

/// Record random games for `agon replay`: every state, legal move and goal
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon record tic-tac-toe -n 3 --seed 7 --out tic-tac-toe.trace.json
  agon record my-game.kif > my-game.trace.json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Number of plays
    #[arg(short, long, default_value_t = 3)]
    n: u64,
    /// Seed of the random number generator
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Maximum number of steps of a play
    #[arg(long, default_value_t = 200)]
    max_steps: usize,
    /// File for the trace [default: standard output]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Value of the field `game` of the trace [default: GAME]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    pub(super) play: RuleOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // The interpreter is the oracle with which the other engines are compared.
    let play = PlayOptions { engine: EngineChoice::Interpreter, rules: args.play.clone() };
    let trace = open::open_engine(&args.game, &play)?.run(Record(args))?;
    match &args.out {
        None => put!("{}", trace.to_text()),
        Some(path) => std::fs::write(path, trace.to_text())
            .map_err(|error| Failure::cannot_write(path, &error))?,
    }
    Ok(())
}

/// The task of recording plays.
struct Record<'a>(&'a Args);

impl GameTask for Record<'_> {
    type Output = Result<Trace, Failure>;

    fn run<P: GamePosition + 'static>(self, position: P) -> Result<Trace, Failure> {
        record(self.0, position)
    }
}

fn record<P: GamePosition>(args: &Args, mut position: P) -> Result<Trace, Failure> {
    let start = position.state().clone();
    let mut rng = Rng::seed_from_u64(args.seed);
    let roles: Vec<Role> = position.shape().roles().collect();
    let lower = |texts: Vec<String>| {
        let mut texts: Vec<String> = texts.into_iter().map(|text| text.to_lowercase()).collect();
        texts.sort();
        texts
    };
    let mut plays = Vec::new();
    for _ in 0..args.n {
        position.go_to(&start);
        let (mut steps, mut joint) = (Vec::new(), Vec::new());
        while steps.len() < args.max_steps && !position.is_terminal() {
            position.draw(&mut rng, &mut joint);
            let texts =
                |moves: &[_]| moves.iter().map(|m| position.move_text(m)).collect::<Vec<_>>();
            steps.push(Step {
                state: lower(position.state_text()),
                legal: roles.iter().map(|&role| lower(texts(position.legal_moves(role)))).collect(),
                joint: texts(&joint).into_iter().map(|text| text.to_lowercase()).collect(),
            });
            position.advance(&joint);
        }
        if let Some(fault) = position.fault() {
            return Err(Failure::wrong(format!(
                "a play cannot continue: {}",
                describe(fault, position.shape())
            )));
        }
        let only = |values: &[i64]| if let [value] = values { Some(*value) } else { None };
        plays.push(Play {
            steps,
            last: lower(position.state_text()),
            terminal: position.is_terminal(),
            goals: roles.iter().map(|&role| only(&position.goal_values(role))).collect(),
        });
    }
    let roles = position.shape().role_names.iter().map(|name| name.to_lowercase()).collect();
    Ok(Trace { game: args.name.clone().unwrap_or_else(|| args.game.clone()), roles, plays })
}
