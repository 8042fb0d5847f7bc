//! `agon games`: lists the shipped games.

use agon_gdl::check::check;
use agon_text::Source;
use serde_json::json;
use std::sync::Arc;

use crate::failure::Failure;
use crate::terminal;
use crate::terminal::say;
use agon::shipped::SHIPPED;

/// List the games that are part of agon
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon games
  agon games --json
  agon info kuhn-poker         # shows more about one game")]
pub(crate) struct Args {
    /// Print one JSON object per game
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let width = SHIPPED.iter().map(|game| game.name.len()).max().unwrap_or(0);
    for game in SHIPPED {
        let summary = game.header("summary").unwrap_or_default();
        let source = Arc::new(Source::new(game.path, game.text));
        let (language, n_players) = if game.path.starts_with("games/toss/") {
            let arena = agon_toss::check::check(source).arena;
            let n_players = |arena: agon_toss::arena::CheckedArena| {
                arena.players().len() - usize::from(arena.nature().is_some())
            };
            ("Toss", arena.map_or(0, n_players))
        } else {
            let language = if game.path.starts_with("games/gdl2/") { "GDL-II" } else { "GDL" };
            let n_players = |rules: agon_gdl::check::CheckedRules| {
                rules.roles().len() - usize::from(rules.nature().is_some())
            };
            (language, check(source).rules.map_or(0, n_players))
        };
        if args.json {
            let title = game.header("title").unwrap_or_default();
            say!(
                "{}",
                json!({"name": game.name, "title": title, "summary": summary, "language": language,
                    "players": n_players, "path": game.path})
            );
        } else {
            let name = terminal::bold(&format!("{:width$}", game.name));
            say!("{name}  {language:6}  {n_players}p  {summary}");
        }
    }
    Ok(())
}
