//! `agon players`: lists the kinds of players.

use agon_players::{KINDS, OptionKind, PlayerKind};
use agon_text::did_you_mean;

use crate::failure::Failure;
use crate::terminal::{self, say};

/// List the kinds of players, or the options of one kind
#[derive(clap::Args)]
#[command(after_help = "\
A player is given by its name, with options in parentheses if they differ from the defaults.

Examples:
  agon players
  agon players mcts
  agon players --all
  agon players --json
  agon match tic-tac-toe --players \"greedy(replies=10),random\"")]
pub(crate) struct Args {
    /// Kind of player whose options are shown
    #[arg(conflicts_with = "all")]
    name: Option<String>,
    /// Show the options of all kinds
    #[arg(long)]
    all: bool,
    /// Print one JSON object per kind of player
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let kinds: Vec<&PlayerKind> = match &args.name {
        None => KINDS.to_vec(),
        Some(name) => {
            let kind = KINDS.iter().copied().find(|kind| kind.name.eq_ignore_ascii_case(name));
            vec![kind.ok_or_else(|| unknown(name))?]
        }
    };
    for kind in kinds {
        if args.json {
            say!("{}", kind.to_json());
        } else if args.all || args.name.is_some() {
            print(kind);
        } else {
            say!("{}  {}", terminal::bold(&format!("{:22}", kind.form)), kind.summary);
        }
    }
    if !args.json && !args.all && args.name.is_none() {
        say!("\n`agon players NAME` shows the options of a kind, --all those of all kinds.");
    }
    Ok(())
}

fn unknown(name: &str) -> Failure {
    let names = KINDS.iter().map(|kind| kind.name);
    Failure::unreadable(match did_you_mean(name, names) {
        Some(meant) => format!("there is no player `{name}`; did you mean `{meant}`?"),
        None => format!("there is no player `{name}`; `agon players` lists them"),
    })
}

fn print(kind: &PlayerKind) {
    say!("{}  {}", terminal::bold(&format!("{:22}", kind.form)), kind.summary);
    let written = |option: &OptionKind| format!("{}={}", option.name, option.default);
    let width = kind.options().map(|option| written(option).len()).max().unwrap_or(0) + 2;
    for option in kind.options() {
        say!("    {:width$}{}", written(option), option.meaning);
        say!("    {:width$}{}", "", terminal::dim(&option.kind.to_string()));
    }
}
