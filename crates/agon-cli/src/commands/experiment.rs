//! `agon experiment`: repeats experiments of published papers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon::experiment::{
    BuiltInExperiment, Cell, Column, EXPERIMENTS, Experiment, ExperimentKind, ExperimentOptions,
    ExperimentPlan, LearntFor, Size,
};
use agon_game::Budget;
use serde_json::{Value, json};

use crate::experiment::{Costs, costs, play_column};
use crate::failure::Failure;
use crate::open::{self, EngineChoice, ModelOptions, PlayOptions, RuleOptions};
use crate::outside::process_group;
use crate::provenance::Provenance;
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
    /// Seconds for each move of columns with a clock [default: those of the experiment]
    #[arg(long, value_name = "SECONDS", value_parser = clock, conflicts_with = "iterations")]
    play_clock: Option<f64>,
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

/// Parses the seconds for each move.
fn clock(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds between 0.01 and 86400".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Some(name) = &args.name else { return list(args) };
    let options = ExperimentOptions {
        quick: args.quick,
        iterations: args.iterations,
        play_clock: args.play_clock,
        repeats: args.repeats,
        openings: args.openings,
        games: args.games.clone(),
        only: args.only.clone(),
        column: args.column.clone(),
    };
    let mut plan = ExperimentPlan::new(name, options)
        .map_err(|error| Failure::unreadable(error.to_string()))?;
    match plan.experiment.kind {
        ExperimentKind::Matches => matches(args, &mut plan),
        ExperimentKind::Costs => measure_costs(args, &plan),
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

/// Plays the columns of an experiment.
fn matches(args: &Args, plan: &mut ExperimentPlan) -> Result<(), Failure> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_interrupted);
    let limits = Budget { stop: Arc::clone(&is_interrupted), ..Budget::default() };
    crate::signals::on_interrupt(move || {
        if flag.swap(true, Ordering::Relaxed) {
            process_group::kill_all();
            std::process::exit(130);
        }
    });
    std::fs::create_dir_all(&args.store).map_err(|error| {
        Failure::unreadable(format!("cannot create {}: {error}", args.store.display()))
    })?;
    let options = RunOptions { cores: None, jobs: args.jobs.map(usize::from), quiet: args.quiet };
    let mut all = Vec::new();
    if !args.json {
        say!("{}", terminal::bold(&plan.experiment.title));
    }
    let spinner = terminal::spinner("learning");
    let learnt = plan.learn(&args.store, &limits, &mut |what| {
        if !args.quiet {
            spinner.set_message(what.to_owned());
        }
    });
    spinner.finish_and_clear();
    let learnt = learnt.map_err(|error| Failure::unreadable(error.to_string()))?;
    let plan = &*plan;
    let experiment = &plan.experiment;
    if !args.json {
        show_learnt(&learnt);
    }
    for column in &experiment.columns {
        let [store, former] =
            plan.store_names(column).map(|name| args.store.join(format!("{name}.db")));
        // A store under the former name of the experiment is continued.
        let store = if former.exists() { former } else { store };
        let cells = play_column(plan, column, &store, &options, &is_interrupted)?;
        let Some(cells) = cells else {
            let message = "stopped; the same command continues from here".to_owned();
            return Err(Failure { code: 130, message });
        };
        if args.json {
            all.extend(cells.iter().map(|cell| column.cell_json(cell)));
        } else {
            show(column, &cells);
        }
    }
    if args.json {
        say!(
            "{}",
            json!({"experiment": plan.name(), "title": experiment.title, "quick": args.quick,
                "cells": all, "missing": plan.missing, "learnt": learnt_json(&learnt),
                "provenance": Provenance::now().json()})
        );
    } else {
        show_missing(&plan.missing);
        say!("");
        say!("{}", Provenance::now());
    }
    Ok(())
}

/// Shows what the evaluation games of an experiment say.
fn show_learnt(learnt: &[LearntFor]) {
    for of_game in learnt {
        say!("");
        say!("{}", terminal::bold(&format!("{}, learnt by {}", of_game.game, of_game.column)));
        for (file, sentences) in &of_game.games {
            say!("  {}", terminal::dim(&file.display().to_string()));
            for sentence in sentences {
                say!("    {sentence}");
            }
        }
    }
}

fn learnt_json(learnt: &[LearntFor]) -> Value {
    let of_game = |of_game: &LearntFor| {
        let games = of_game.games.iter();
        let games = games.map(|(file, words)| json!({"file": file, "words": words}));
        json!({"column": of_game.column, "game": of_game.game,
            "games": games.collect::<Vec<Value>>()})
    };
    learnt.iter().map(of_game).collect()
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
        let paper = column.paper_of(&cell.game).unwrap_or("-");
        say!("  {:24} {goals:>15}  {points:>20}  {paper}", cell.game);
        for (at, (role, [won, lost, drawn])) in cell.roles.iter().enumerate() {
            let n = (won + lost + drawn).max(1) as f64;
            let part = |count: &usize| 100.0 * *count as f64 / n;
            let paper = column.paper_of_role(&cell.game, role, at);
            let counts = format!("{:.1}/{:.1}/{:.1}", part(won), part(lost), part(drawn));
            say!(
                "    as {role:20} {counts:>16}  {:>20}  {}",
                format!("of {n:.0}"),
                paper.unwrap_or("-")
            );
        }
    }
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
fn measure_costs(args: &Args, plan: &ExperimentPlan) -> Result<(), Failure> {
    let experiment = &plan.experiment;
    if !args.json {
        say!("{}", terminal::bold(&experiment.title));
    }
    let mut all = Vec::new();
    for (game, location) in &plan.games {
        let play = PlayOptions { engine: EngineChoice::Auto, rules: RuleOptions::default() };
        let name = location.name();
        // What was learnt on this machine must not change the table of a paper.
        let models = ModelOptions::none();
        let opened = open::open_for_match(&name, open::source(&name)?, &play, &models, Some(1))?;
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
            json!({"experiment": plan.name(), "title": experiment.title, "quick": args.quick,
                "games": all, "missing": plan.missing,
                "provenance": Provenance::now().json()})
        );
    } else {
        show_missing(&plan.missing);
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
