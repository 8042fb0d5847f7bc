//! `agon match`: plays one match between players of any kind.

use std::path::PathBuf;

use agon_players::PlayerSource;

use crate::failure::Failure;
use crate::hosted_match::{self, ClockOptions, HostedMatch};
use crate::match_report::{
    JsonReporter, MatchReporter, Positions, TextReporter, check_record_path, end, write_record,
};
use crate::open::{self, ModelOptions, PlayOptions};
use crate::terminal::remark;

/// Play one match between any players and show it
#[derive(clap::Args)]
#[command(after_help = "\
Players are given in the order of the roles. `agon players` lists them with their options. Roles
without a player are played by `auto`. A move that is late or illegal is replaced by a random legal
move, and the match continues.

Examples:
  agon match tic-tac-toe --players greedy,random
  agon match connect-four --players \"mcts(rave,mast,c=0.3),alphabeta(playouts=16)\" --play-clock 1
  agon match connect-four --players \"auto,cmd:python3 examples/random_bot.py\" --play-clock 2
  agon match breakthrough --players auto,http://localhost:9147 --record match.json
  agon match kuhn-poker --iterations 100 --seed 7 --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Players, separated by commas
    #[arg(long, value_name = "A,B,…", default_value = "")]
    players: String,
    #[command(flatten)]
    clocks: ClockOptions,
    /// Let built-in players think while others choose; each needs processors of its own
    #[arg(long, conflicts_with = "iterations")]
    ponder: bool,
    /// Write a record of the match to a file, in the JSON format of ggp.org
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print one JSON object per line: the start, each step, the result
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let specs = match args.players.trim() {
        "" => Vec::new(),
        text => hosted_match::specs("--players", text)?,
    };
    if let Some(path) = &args.record {
        check_record_path(path)?;
    }
    let n_given = specs.len();
    let opened = open::open_for_match(
        &args.game,
        open::source(&args.game)?,
        &args.play,
        &args.models,
        args.clocks.iterations,
    )?;
    let clocks = ClockOptions { ponder: args.ponder, ..args.clocks.clone() };
    let mut hosted = HostedMatch::new(opened, specs, &clocks)?;
    if args.ponder
        && let Some(warning) = hosted.crowd_warning()
    {
        remark!("{warning}");
    }
    let shape = hosted.shape().clone();
    let has_human = hosted.setup.players.iter().any(|(_, spec)| spec.kind == PlayerSource::Human);
    if !args.json {
        hosted.find_layout();
    }
    if hosted.setup.players.len() > n_given {
        let left = hosted.setup.players[n_given..].iter();
        let names: Vec<&str> =
            left.map(|(role, _)| shape.role_names[role.index()].as_str()).collect();
        let names: Vec<String> = names.iter().map(|name| name.escape_debug().to_string()).collect();
        remark!("no player was given for {}: played by auto", names.join(", "));
    }
    let mut reporter: Box<dyn MatchReporter> = if args.json {
        Box::new(JsonReporter::new(&hosted, &shape))
    } else {
        // A person who plays a game with hidden information must not see the whole position.
        let is_secret = has_human && shape.hidden;
        let positions = if is_secret { Positions::Secret } else { Positions::Shown };
        Box::new(TextReporter::new(&hosted, &shape, positions))
    };
    let game = hosted.play(Vec::new(), &mut |game, event| reporter.report(game, event))?;
    if let Some(path) = &args.record {
        write_record(&hosted, &game, path)?;
    }
    end(&game)
}
