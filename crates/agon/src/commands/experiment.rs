//! `agon experiment`: the tables of the papers, our numbers beside theirs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::engine::Opened;
use crate::experiment::{Cell, Column, EXPERIMENTS, Experiment, Kind, Place, costs, play_column};
use crate::failure::Failure;
use crate::open::{self, EngineChoice, PlayOptions, RuleOptions};
use crate::terminal::{self, say};
use crate::tournament::RunOptions;

/// Run an experiment of a paper and show our numbers beside the paper's.
///
/// Matches are stored as they end: killed at any moment and started again, an experiment goes on where it was.
#[derive(clap::Args)]
#[command(after_help = "\
Without a name the experiments are listed.

Examples:
  agon experiment
  agon experiment 003-table-5.5 --quick
  agon experiment 004-table-2 --quick --json
  agon experiment 003-table-5.2 --games my-rulesheets --store results
  agon experiment 003-table-5.2 --iterations 1000 --repeats 10 --only connect

How many games have each feature of 001 (figure 1, on the right) is told by `agon explain --all FOLDER`.")]
pub(crate) struct Args {
    /// Which
    name: Option<String>,
    /// Fewer and shorter matches: minutes instead of days
    #[arg(long)]
    quick: bool,
    /// So many iterations for each move, whatever the experiment says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,
    /// So many repetitions, each with roles swapped, whatever the experiment says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    repeats: Option<u64>,
    /// So many random moves to begin with, the same for both seatings, whatever the experiment says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1000))]
    openings: Option<u64>,
    /// A folder with the rulesheets of games that do not ship, as SHEET.kif or SHEET/SHEET.kif
    #[arg(long, value_name = "DIR")]
    games: Option<PathBuf>,
    /// Only games with this in their names
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Only columns with this in their names
    #[arg(long, value_name = "TEXT")]
    column: Option<String>,
    /// Where matches are kept
    #[arg(long, value_name = "DIR", default_value = "agon-experiments")]
    store: PathBuf,
    /// Matches at once, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Say nothing until the end
    #[arg(long)]
    quiet: bool,
    /// One JSON object instead of tables
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Some(name) = &args.name else { return list(args.json) };
    let known = EXPERIMENTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let Some((name, text)) = known else {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|(name, _)| *name).collect();
        let message = format!("there is no experiment `{name}`; there are {}", names.join(", "));
        return Err(Failure::unreadable(message));
    };
    let mut experiment = Experiment::read(text, args.quick)
        .map_err(|why| Failure::unreadable(format!("{name}: {why}")))?;
    if let Some(iterations) = args.iterations {
        experiment.iterations = Some(iterations);
        (experiment.play_clock, experiment.start_clock) = (None, None);
        for column in &mut experiment.columns {
            column.iterations = None;
        }
    }
    experiment.repeats = args.repeats.unwrap_or(experiment.repeats);
    experiment.openings = args.openings.unwrap_or(experiment.openings);
    if let Some(wanted) = &args.column {
        experiment.columns.retain(|column| column.name.contains(wanted.as_str()));
        if experiment.columns.is_empty() {
            return Err(Failure::unreadable(format!(
                "no column of {name} has `{wanted}` in its name"
            )));
        }
    }
    let mut games = Vec::new();
    let mut missing = Vec::new();
    for sheet in &experiment.games {
        let is_wanted = |only: &String| sheet.name.to_lowercase().contains(&only.to_lowercase());
        if !args.only.as_ref().is_none_or(is_wanted) {
            continue;
        }
        match sheet.place(args.games.as_deref()) {
            Some(place) => games.push((sheet.name.clone(), place)),
            None => missing.push(sheet.name.clone()),
        }
    }
    if games.is_empty() {
        return Err(Failure::unreadable(
            "none of its games is at hand: --games says where rulesheets are",
        ));
    }
    match experiment.kind {
        Kind::Matches => matches(args, name, &experiment, &games, &missing),
        Kind::Costs => timed(args, name, &experiment, &games, &missing),
    }
}

fn list(is_json: bool) -> Result<(), Failure> {
    let mut all = Vec::new();
    for (name, text) in EXPERIMENTS {
        let experiment = Experiment::read(text, false).map_err(Failure::unreadable)?;
        if is_json {
            all.push(json!({"name": name, "title": experiment.title}));
        } else {
            say!("{}  {}", terminal::bold(&format!("{name:14}")), experiment.title);
        }
    }
    if is_json {
        say!("{}", Value::Array(all));
    }
    Ok(())
}

fn matches(
    args: &Args,
    name: &str,
    experiment: &Experiment,
    games: &[(String, Place)],
    missing: &[String],
) -> Result<(), Failure> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_interrupted);
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    std::fs::create_dir_all(&args.store).map_err(|error| {
        Failure::unreadable(format!("cannot make {}: {error}", args.store.display()))
    })?;
    let options = RunOptions { cores: None, jobs: args.jobs.map(usize::from), quiet: args.quiet };
    let mut size = if args.quick { ".quick".to_owned() } else { String::new() };
    if let Some(iterations) = args.iterations {
        size.push_str(&format!(".{iterations}"));
    }
    if let Some(openings) = args.openings {
        size.push_str(&format!(".opened-{openings}"));
    }
    // A store holds a tournament, and one with other games is another.
    if let Some(only) = &args.only {
        let plain: String = only.chars().filter(char::is_ascii_alphanumeric).collect();
        size.push_str(&format!(".{}", plain.to_lowercase()));
    }
    let mut all = Vec::new();
    if !args.json {
        say!("{}", terminal::bold(&experiment.title));
    }
    for column in &experiment.columns {
        let store = args.store.join(format!("{name}.{}{size}.db", column.name));
        let cells = play_column(experiment, column, games, &store, &options, &is_interrupted)?;
        let Some(cells) = cells else {
            let message = "stopped; the same command goes on from here".to_owned();
            return Err(Failure { code: 130, message });
        };
        if args.json {
            all.extend(cells.iter().map(|cell| cell_json(column, cell)));
        } else {
            show(column, &cells);
        }
    }
    if args.json {
        say!(
            "{}",
            json!({"experiment": name, "title": experiment.title, "quick": args.quick, "cells": all, "missing": missing})
        );
    } else {
        tell_missing(missing);
    }
    Ok(())
}

fn show(column: &Column, cells: &[Cell]) {
    say!("");
    say!("{}  {} against {}", terminal::bold(&column.name), column.player, column.opponent);
    say!("  {:24} {:>15}  {:>20}  paper", "game", "ours", "points, 95 %");
    for cell in cells {
        let goal = |goal: Option<f64>| goal.map_or("-".to_owned(), |goal| format!("{goal:.1}"));
        let goals = format!("{} x {}", goal(cell.goals[0]), goal(cell.goals[1]));
        let points = cell.points.map_or("-".to_owned(), |points| {
            format!(
                "{:.1} ({:.1} to {:.1})",
                100.0 * points.mean,
                100.0 * points.low,
                100.0 * points.high
            )
        });
        let paper = paper_of(column, &cell.game).unwrap_or("-");
        say!("  {:24} {goals:>15}  {points:>20}  {paper}", cell.game);
        for (at, (role, [won, lost, drawn])) in cell.roles.iter().enumerate() {
            let n = (won + lost + drawn).max(1) as f64;
            let part = |count: &usize| 100.0 * *count as f64 / n;
            let paper = paper_of_role(column, &cell.game, role, at);
            let counts = format!("{:.1}/{:.1}/{:.1}", part(won), part(lost), part(drawn));
            say!(
                "    as {role:20} {counts:>16}  {:>20}  {}",
                format!("of {n:.0}"),
                paper.unwrap_or("-")
            );
        }
    }
}

fn paper_of<'a>(column: &'a Column, game: &str) -> Option<&'a str> {
    column.paper.iter().find(|(known, _)| known == game).map(|(_, text)| text.as_str())
}

/// What the paper has for a role: by how its name begins, or by its place.
fn paper_of_role<'a>(column: &'a Column, game: &str, role: &str, at: usize) -> Option<&'a str> {
    let place = if at == 0 { "first" } else { "second" };
    let is_it = |known: &str| {
        let rest = known.strip_prefix(game).map(str::trim);
        rest.is_some_and(|rest| rest == place || !rest.is_empty() && role.starts_with(rest))
    };
    column.paper.iter().find(|(known, _)| is_it(known)).map(|(_, text)| text.as_str())
}

fn cell_json(column: &Column, cell: &Cell) -> Value {
    let points = cell.points.map(
        |points| json!({"mean": points.mean, "low": points.low, "high": points.high, "blocks": points.n}),
    );
    let roles = cell.roles.iter().enumerate().map(|(at, (role, [won, lost, drawn]))| {
        let paper = paper_of_role(column, &cell.game, role, at);
        json!({"role": role, "won": won, "lost": lost, "drawn": drawn, "paper": paper})
    });
    json!({
        "column": column.name, "opponent": column.opponent, "player": column.player, "game": cell.game,
        "goals": cell.goals, "points": points, "roles": roles.collect::<Vec<Value>>(),
        "paper": paper_of(column, &cell.game),
    })
}

fn tell_missing(missing: &[String]) {
    if !missing.is_empty() {
        say!("");
        say!(
            "not at hand, for they do not ship: {}; --games says where they are",
            missing.join(", ")
        );
    }
}

fn timed(
    args: &Args,
    name: &str,
    experiment: &Experiment,
    games: &[(String, Place)],
    missing: &[String],
) -> Result<(), Failure> {
    if !args.json {
        say!("{}", terminal::bold(&experiment.title));
    }
    let mut all = Vec::new();
    for (game, place) in games {
        let play = PlayOptions { engine: EngineChoice::Auto, rules: RuleOptions::default() };
        let opened = open::open_for_match(open::source(&place.name())?, &play, true)?;
        let Opened::Gdl(gdl) = &opened else {
            return Err(Failure::wrong(format!("{}: action heuristics are for GDL", place.name())));
        };
        let found = costs(gdl, experiment.iterations.unwrap_or(1000), experiment.moves);
        let paper =
            experiment.paper.iter().find(|(known, _)| known == game).map(|(_, text)| text.as_str());
        if args.json {
            let shares = found.shares.iter().map(
                |(way, share, relative)| json!({"use": way, "share": share, "relative_playouts": relative}),
            );
            all.push(json!({
                "game": game, "engine": opened.engine(), "making_seconds": found.making.as_ref().ok(),
                "refused": found.making.as_ref().err(), "shares": shares.collect::<Vec<Value>>(), "paper": paper,
            }));
            continue;
        }
        match &found.making {
            Err(why) => say!("  {game:24} refused: {why}"),
            Ok(seconds) => {
                let shares: Vec<String> = found
                    .shares
                    .iter()
                    .map(|(way, share, _)| format!("{way} {:.1} %", 100.0 * share))
                    .collect();
                let relative: Vec<String> = found
                    .shares
                    .iter()
                    .map(|(.., relative)| format!("{:.1} %", 100.0 * relative))
                    .collect();
                say!("  {game:24} {seconds:.2} s; {}; {}", shares.join(", "), relative.join(", "));
            }
        }
        say!("  {:24} {}", "  paper", paper.unwrap_or("-"));
    }
    if args.json {
        say!(
            "{}",
            json!({"experiment": name, "title": experiment.title, "quick": args.quick, "games": all, "missing": missing})
        );
    } else {
        tell_missing(missing);
    }
    Ok(())
}
