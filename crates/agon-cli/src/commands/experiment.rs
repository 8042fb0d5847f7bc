//! `agon experiment`: repeats experiments of published papers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::experiment::{
    BuiltInExperiment, Cell, Column, Costs, EXPERIMENTS, Experiment, ExperimentKind, GameLocation,
    Provenance, Size, costs, play_column,
};
use crate::failure::Failure;
use crate::open::{self, EngineChoice, PlayOptions, RuleOptions};
use crate::outside::process_group;
use crate::terminal::{self, say};
use crate::tournament::RunOptions;

/// Repeat an experiment of a paper and compare the results
///
/// Every match is stored when it ends. An experiment that was killed at any moment continues when
/// the same command is run again.
#[derive(clap::Args)]
#[command(after_help = "\
Without a name, the experiments are listed.

Examples:
  agon experiment
  agon experiment trutman-table-5.5 --quick
  agon experiment sato-cazenave-table-2 --quick --json
  agon experiment trutman-table-5.2 --games my-rulesheets --store results
  agon experiment trutman-table-5.2 --iterations 1000 --repeats 10 --only connect

`agon explain --all FOLDER` counts the games with each feature of Michulke (2011), figure 1.")]
pub(crate) struct Args {
    /// Name of the experiment
    name: Option<String>,
    /// Fewer and shorter matches: minutes instead of days
    #[arg(long)]
    quick: bool,
    /// Iterations for each move [default: those of the experiment]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,
    /// Repetitions, each in both seatings [default: those of the experiment]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    repeats: Option<u64>,
    /// Random moves at the start, the same for both seatings [default: those of the experiment]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1000))]
    openings: Option<u64>,
    /// Folder with the rulesheets of games that are not shipped, as SHEET.kif or SHEET/SHEET.kif
    #[arg(long, value_name = "DIR")]
    games: Option<PathBuf>,
    /// Only games whose names contain TEXT
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Only columns whose names contain TEXT
    #[arg(long, value_name = "TEXT")]
    column: Option<String>,
    /// Folder in which matches are stored
    #[arg(long, value_name = "DIR", default_value = "agon-experiments")]
    store: PathBuf,
    /// Maximum number of matches at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Print nothing before the end
    #[arg(long)]
    quiet: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Some(name) = &args.name else { return list(args) };
    let Some(BuiltInExperiment { name, text, .. }) = BuiltInExperiment::named(name) else {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|known| known.name).collect();
        let message =
            format!("there is no experiment `{name}`; the experiments are {}", names.join(", "));
        return Err(Failure::unreadable(message));
    };
    let size = if args.quick { Size::Quick } else { Size::Full };
    let mut experiment = Experiment::read(text, size)
        .map_err(|error| Failure::unreadable(format!("{name}: {error}")))?;
    apply_options(&mut experiment, name, args)?;
    let games = Games::find(&experiment, args)?;
    match experiment.kind {
        ExperimentKind::Matches => matches(args, name, &experiment, &games),
        ExperimentKind::Costs => measure_costs(args, name, &experiment, &games),
    }
}

/// Replaces parts of the experiment by the options of the command line.
fn apply_options(experiment: &mut Experiment, name: &str, args: &Args) -> Result<(), Failure> {
    if let Some(iterations) = args.iterations {
        experiment.iterations = Some(iterations);
        (experiment.play_clock, experiment.start_clock) = (None, None);
        for column in &mut experiment.columns {
            column.iterations = None;
        }
    }
    if let Some(repeats) = args.repeats {
        experiment.repeats = repeats;
        experiment.columns.iter_mut().for_each(|column| column.repeats = None);
    }
    experiment.openings = args.openings.unwrap_or(experiment.openings);
    if let Some(wanted) = &args.column {
        experiment.columns.retain(|column| column.name.contains(wanted.as_str()));
        if experiment.columns.is_empty() {
            return Err(Failure::unreadable(format!(
                "no column of {name} has `{wanted}` in its name"
            )));
        }
    }
    Ok(())
}

/// The games of an experiment that were asked for.
struct Games {
    /// The games whose rules were found, with their names in the paper.
    found: Vec<(String, GameLocation)>,
    /// The names of the other games in the paper.
    missing: Vec<String>,
}

impl Games {
    fn find(experiment: &Experiment, args: &Args) -> Result<Games, Failure> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for game in &experiment.games {
            let is_wanted = |only: &String| game.name.to_lowercase().contains(&only.to_lowercase());
            if !args.only.as_ref().is_none_or(is_wanted) {
                continue;
            }
            match game.location(args.games.as_deref()) {
                Some(location) => found.push((game.name.clone(), location)),
                None => missing.push(game.name.clone()),
            }
        }
        if found.is_empty() {
            return Err(Failure::unreadable(
                "no game of this experiment was found; give a folder of rulesheets with --games",
            ));
        }
        Ok(Games { found, missing })
    }
}

fn list(args: &Args) -> Result<(), Failure> {
    let mut all = Vec::new();
    for BuiltInExperiment { name, text, .. } in EXPERIMENTS {
        let experiment = Experiment::read(text, Size::Full)
            .map_err(|error| Failure::unreadable(format!("{name}: {error}")))?;
        if args.json {
            all.push(json!({"name": name, "title": experiment.title}));
        } else {
            say!("{}  {}", terminal::bold(&format!("{name:29}")), experiment.title);
        }
    }
    if args.json {
        say!("{}", Value::Array(all));
    }
    Ok(())
}

/// Returns the part of the name of a store that depends on the options.
fn store_suffix(args: &Args) -> String {
    let mut suffix = if args.quick { ".quick".to_owned() } else { String::new() };
    if let Some(iterations) = args.iterations {
        suffix.push_str(&format!(".{iterations}"));
    }
    if let Some(openings) = args.openings {
        suffix.push_str(&format!(".opened-{openings}"));
    }
    // A tournament with other games needs another store.
    if let Some(only) = &args.only {
        let plain: String = only.chars().filter(char::is_ascii_alphanumeric).collect();
        suffix.push_str(&format!(".{}", plain.to_lowercase()));
    }
    suffix
}

/// Plays the columns of an experiment.
fn matches(args: &Args, name: &str, experiment: &Experiment, games: &Games) -> Result<(), Failure> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_interrupted);
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            process_group::kill_all();
            std::process::exit(130);
        }
    });
    std::fs::create_dir_all(&args.store).map_err(|error| {
        Failure::unreadable(format!("cannot create {}: {error}", args.store.display()))
    })?;
    let options = RunOptions { cores: None, jobs: args.jobs.map(usize::from), quiet: args.quiet };
    let suffix = store_suffix(args);
    let mut all = Vec::new();
    if !args.json {
        say!("{}", terminal::bold(&experiment.title));
    }
    for column in &experiment.columns {
        let file = |name: &str| args.store.join(format!("{name}.{}{suffix}.db", column.name));
        // A store under the former name of the experiment is continued.
        let former = BuiltInExperiment::named(name).map(|known| file(known.alias));
        let store = former.filter(|store| store.exists()).unwrap_or_else(|| file(name));
        let is_played = |(name, _): &&(String, GameLocation)| {
            column.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
        };
        let played: Vec<_> = games.found.iter().filter(is_played).cloned().collect();
        if played.is_empty() {
            continue;
        }
        let cells = play_column(experiment, column, &played, &store, &options, &is_interrupted)?;
        let Some(cells) = cells else {
            let message = "stopped; the same command continues from here".to_owned();
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
            json!({"experiment": name, "title": experiment.title, "quick": args.quick, "cells": all,
                "missing": games.missing, "provenance": Provenance::now().json()})
        );
    } else {
        show_missing(&games.missing);
        say!("");
        say!("{}", Provenance::now());
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

/// Returns the result of the paper for a role, by the beginning of its name or by its place.
fn paper_of_role<'a>(column: &'a Column, game: &str, role: &str, at: usize) -> Option<&'a str> {
    let place = if at == 0 { "first" } else { "second" };
    let is_it = |known: &str| {
        let rest = known.strip_prefix(game).map(str::trim);
        rest.is_some_and(|rest| rest == place || !rest.is_empty() && role.starts_with(rest))
    };
    column.paper.iter().find(|(known, _)| is_it(known)).map(|(_, text)| text.as_str())
}

fn cell_json(column: &Column, cell: &Cell) -> Value {
    let points = cell.points.map(|points| {
        json!({"mean": points.mean, "low": points.low, "high": points.high,
            "blocks": points.n})
    });
    let roles = cell.roles.iter().enumerate().map(|(at, (role, [won, lost, drawn]))| {
        let paper = paper_of_role(column, &cell.game, role, at);
        json!({"role": role, "won": won, "lost": lost, "drawn": drawn, "paper": paper})
    });
    json!({
        "column": column.name, "opponent": column.opponent, "player": column.player,
        "game": cell.game,
        "goals": cell.goals, "points": points, "roles": roles.collect::<Vec<Value>>(),
        "paper": paper_of(column, &cell.game),
    })
}

fn show_missing(missing: &[String]) {
    if !missing.is_empty() {
        say!("");
        say!(
            "not played, because they are not shipped: {}; give their folder with --games",
            missing.join(", ")
        );
    }
}

/// Measures the cost of action heuristics.
fn measure_costs(
    args: &Args,
    name: &str,
    experiment: &Experiment,
    games: &Games,
) -> Result<(), Failure> {
    if !args.json {
        say!("{}", terminal::bold(&experiment.title));
    }
    let mut all = Vec::new();
    for (game, location) in &games.found {
        let play = PlayOptions { engine: EngineChoice::Auto, rules: RuleOptions::default() };
        let name = location.name();
        let opened = open::open_for_match(&name, open::source(&name)?, &play, Some(1))?;
        if opened.gdl().is_none() {
            return Err(Failure::wrong(format!("{name}: action heuristics are for GDL only")));
        }
        let found = costs(&opened, experiment.iterations.unwrap_or(1000), experiment.moves);
        let paper =
            experiment.paper.iter().find(|(known, _)| known == game).map(|(_, text)| text.as_str());
        if args.json {
            let shares = found.shares.iter().map(|(used, share, relative)| {
                json!({"use": used, "share": share,
                    "relative_playouts": relative})
            });
            all.push(json!({
                "game": game, "engine": opened.engine().name(),
                "making_seconds": found.making.as_ref().ok(),
                "refused": found.making.as_ref().err().map(ToString::to_string),
                "shares": shares.collect::<Vec<Value>>(),
                "paper": paper,
            }));
            continue;
        }
        show_costs(game, &found);
        say!("  {:24} {}", "  paper", paper.unwrap_or("-"));
    }
    if args.json {
        say!(
            "{}",
            json!({"experiment": name, "title": experiment.title, "quick": args.quick, "games": all,
                "missing": games.missing, "provenance": Provenance::now().json()})
        );
    } else {
        show_missing(&games.missing);
        say!("");
        say!("{}", Provenance::now());
    }
    Ok(())
}

fn show_costs(game: &str, costs: &Costs) {
    match &costs.making {
        Err(why) => say!("  {game:24} refused: {why}"),
        Ok(seconds) => {
            let shares = costs.shares.iter();
            let shares: Vec<String> =
                shares.map(|(used, share, _)| format!("{used} {:.1} %", 100.0 * share)).collect();
            let relative = costs.shares.iter();
            let relative: Vec<String> =
                relative.map(|(.., relative)| format!("{:.1} %", 100.0 * relative)).collect();
            say!("  {game:24} {seconds:.2} s; {}; {}", shares.join(", "), relative.join(", "));
        }
    }
}
