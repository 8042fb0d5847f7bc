//! `agon players`: lists the kinds of players.

use agon_players::{KINDS, OptionKind, OptionType, PlayerKind, Value};
use serde_json::json;

use crate::failure::Failure;
use crate::terminal::{self, say};

/// List the kinds of players with their options and defaults
#[derive(clap::Args)]
#[command(after_help = "\
A player is given by its name, with options in parentheses if they differ from the defaults.

Examples:
  agon players
  agon players --json
  agon match tic-tac-toe --players \"greedy(replies=10),random\"")]
pub(crate) struct Args {
    /// Print one JSON object per kind of player
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    for kind in KINDS {
        if args.json {
            say!("{}", to_json(kind));
        } else {
            print(kind);
        }
    }
    Ok(())
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

fn to_json(kind: &PlayerKind) -> serde_json::Value {
    let options = kind.options().map(|option| {
        let (word, range) = match option.kind {
            OptionType::Flag => ("flag", json!(null)),
            OptionType::Integer(low, high) => ("integer", json!([low, high])),
            OptionType::Real(low, high) => ("real", json!([low, high])),
            OptionType::Word(words) => ("word", json!(words)),
            OptionType::Text => ("text", json!(null)),
        };
        let default = match &option.default {
            Value::Flag(flag) => json!(flag),
            Value::Integer(n) => json!(n),
            Value::Real(x) => json!(x),
            Value::Word(word) => json!(word),
            Value::Text(text) => json!(text),
        };
        json!({"name": option.name, "type": word, "range": range, "default": default,
            "meaning": option.meaning})
    });
    json!({
        "name": kind.name, "form": kind.form, "summary": kind.summary,
        "built_in": kind.is_built_in(), "options": options.collect::<Vec<_>>(),
    })
}
