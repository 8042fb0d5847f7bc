//! `agon games`: lists the shipped games.

use agon_gdl::check::check;
use agon_text::Source;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

use crate::failure::Failure;
use crate::terminal;
use crate::terminal::say;
use agon::open::{OpenOptions, Purpose};
use agon::selection;
use agon::shipped::{SHIPPED, Shipped};

/// List the games that are part of agon
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon games
  agon games chance            # games in which nature moves; `agon games hidden`, `puzzle`, …
  agon games --json
  agon info kuhn-poker         # shows more about one game")]
pub(crate) struct Args {
    /// A tag such as `puzzle` or `hidden`, or a glob such as `gdl/*`; all games if it is missing
    selection: Option<String>,
    /// Print one JSON object per game
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let selected = args.selection.as_deref().unwrap_or("all");
    let names = selection::select(selected, Path::new(""));
    let games: Vec<&Shipped> =
        SHIPPED.iter().filter(|game| names.iter().any(|name| name == game.name)).collect();
    if games.is_empty() {
        let tags: Vec<&str> = selection::TAGS.iter().map(|(tag, _)| *tag).collect();
        return Err(Failure::wrong(format!(
            "no shipped game is selected by `{selected}`; the tags are {}",
            tags.join(", ")
        )));
    }
    let width = games.iter().map(|game| game.name.len()).max().unwrap_or(0);
    for game in games {
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
            let options = OpenOptions { purpose: Purpose::Single, ..OpenOptions::default() };
            let opened = agon::Game::open_with(game.name, &options)?;
            say!(
                "{}",
                json!({"name": game.name, "title": title, "summary": summary, "language": language,
                    "players": n_players, "path": game.path,
                    "chance": opened.shape().nature.is_some(),
                    "hidden": opened.hides_information()})
            );
        } else {
            let name = terminal::bold(&format!("{:width$}", game.name));
            say!("{name}  {language:6}  {n_players}p  {summary}");
        }
    }
    Ok(())
}
