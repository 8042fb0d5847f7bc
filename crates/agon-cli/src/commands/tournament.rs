//! `agon tournament`: plays many matches and ranks the players.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon::tournament::{PlayedMatch, standings_json};
use agon_match::tournament::{Outcome, Schedule, Standings, Tournament, standings};
use serde_json::json;

use crate::failure::Failure;
use crate::open::ModelOptions;
use crate::outside::process_group;
use crate::terminal::{remark, say};
use crate::tournament::{self, Ended, RerunFormat, RunOptions, Store, Stored};

/// Play many matches and rank the players, with confidence intervals
///
/// Every match is stored when it ends. A tournament that was killed at any moment continues when
/// the same command is run again.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
SPEC.toml is a file such as this; docs/tournaments.md describes all options:

  games = [\"tic-tac-toe\", \"connect-four\"]
  repeats = 20
  openings = 2
  iterations = 500
  [players]
  new = \"mcts(rave)\"
  old = \"mcts\"

Examples:
  agon tournament examples/tournament.toml
  agon tournament spec.toml --html page.html --csv tables.csv
  agon tournament show --store spec.db --markdown tables.md --latex tables.tex --svg plot.svg
  agon tournament show --store spec.db
  agon tournament rerun 3f9a --store spec.db"
)]
pub(crate) struct Args {
    /// Description of the tournament, in TOML
    #[arg(required = true, value_name = "SPEC.toml")]
    spec: Option<PathBuf>,
    /// File in which matches are stored [default: SPEC.db]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
    /// Maximum number of matches at the same time [default: as many as the processors allow]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Number of processors to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cores: Option<u16>,
    /// Print nothing before the end
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    models: ModelOptions,
    #[command(subcommand)]
    action: Option<Action>,
}

/// The formats of the result.
#[derive(clap::Args, Clone, Debug)]
struct Output {
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// Write the tables as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the tables as LaTeX
    #[arg(long, value_name = "FILE")]
    latex: Option<PathBuf>,
    /// Write a plot of the points by game as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write an HTML page with tables and plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show the tables of a tournament, also while it is being played
    Show {
        /// Where the matches are kept
        #[arg(long, value_name = "FILE")]
        store: PathBuf,
        /// List all matches, too
        #[arg(long)]
        matches: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Play one match again and compare it move by move
    Rerun {
        /// Id of the match, or the beginning of it
        id: String,
        /// Where the matches are kept
        #[arg(long, value_name = "FILE")]
        store: PathBuf,
        /// Print one JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match (&args.action, &args.spec) {
        (Some(Action::Show { store, matches, output }), _) => {
            let stored = show(store, output)?;
            if *matches {
                stored.played.iter().for_each(|played| say!("{}", line(played, output)));
            }
            Ok(())
        }
        (Some(Action::Rerun { id, store, json }), _) => {
            let format = if *json { RerunFormat::Json } else { RerunFormat::Text };
            tournament::rerun(&Store::open_to_read(store)?, id, format)
        }
        (None, Some(spec)) => play(args, spec),
        (None, None) => Err(Failure::unreadable(
            "a tournament is missing: agon tournament SPEC.toml; see --help",
        )),
    }
}

fn play(args: &Args, spec: &Path) -> Result<(), Failure> {
    // The handler is set first, because opening the games may take long.
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_interrupted);
    crate::signals::on_interrupt(move || {
        // The second Ctrl-C ends the process at once. Only the matches in progress are lost.
        if flag.swap(true, Ordering::Relaxed) {
            process_group::kill_all();
            std::process::exit(130);
        }
    });
    let (source, read) = tournament::read_spec(spec)?;
    let path = args.store.clone().unwrap_or_else(|| spec.with_extension("db"));
    if path == spec {
        return Err(Failure::unreadable(
            "SPEC.toml and the store are the same file: give another --store",
        ));
    }
    // The store is locked before the games are opened, which may take long.
    let mut store = Store::open(&path)?;
    let folder = spec.parent().unwrap_or(Path::new(""));
    let plan = tournament::open_plan(&source, read, folder, args.models.store().as_ref())?;
    let (mut outcomes, found) = tournament::begin(&plan, &mut store)?;
    if let Some(found) = found.filter(|_| !args.quiet) {
        remark!("{found}");
    }
    let number = |n: Option<u16>| n.map(usize::from);
    let options =
        RunOptions { cores: number(args.cores), jobs: number(args.jobs), quiet: args.quiet };
    let ended = tournament::run(&plan, &mut store, &mut outcomes, &options, &is_interrupted)?;
    report(plan.tournament(), plan.schedule(), &outcomes, &store, &args.output)?;
    match ended {
        Ended::Complete | Ended::Decided(_) => Ok(()),
        Ended::Interrupted => Err(Failure {
            code: 130,
            message: format!(
                "stopped; the same command continues from here, all finished matches are in {}",
                path.display()
            ),
        }),
    }
}

fn show(path: &Path, output: &Output) -> Result<Stored, Failure> {
    let store = Store::open_to_read(path)?;
    let stored = tournament::stored(&store)?;
    report(&stored.tournament, &stored.schedule, &stored.outcomes, &store, output)?;
    Ok(stored)
}

/// Returns a match as a line of the list of matches.
fn line(played: &PlayedMatch, output: &Output) -> String {
    let PlayedMatch { id, game, players, status, outcome, .. } = played;
    if output.json {
        return json!({
            "id": id, "game": game, "repeat": played.repeat, "players": players,
            "seed": played.seed,
            "opening": played.opening, "status": status, "goals": outcome.goals,
            "slips": outcome.n_errors,
            "steps": outcome.n_steps, "began": played.began, "seconds": outcome.seconds,
        })
        .to_string();
    }
    let result = match &outcome.goals {
        Some(goals) => players
            .iter()
            .zip(goals)
            .map(|(p, goal)| format!("{p} {goal}"))
            .collect::<Vec<_>>()
            .join(", "),
        None => format!("{}: {status}", players.join(", ")),
    };
    let n_errors: usize = outcome.n_errors.iter().sum();
    let errors = if n_errors > 0 { format!(", {n_errors} move errors") } else { String::new() };
    format!("{id}  {game} #{}  {result}  {} steps{errors}", played.repeat + 1, outcome.n_steps)
}

/// Writes the standings in all formats that were asked for.
fn report(
    tournament: &Tournament,
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
    store: &Store,
    output: &Output,
) -> Result<(), Failure> {
    let standings: Standings = standings(tournament, schedule, outcomes);
    let write = |path: &Path, text: String| {
        std::fs::write(path, text).map_err(|error| Failure::cannot_write(path, &error))
    };
    if let Some(path) = &output.csv {
        write(path, tournament::to_csv(tournament, &standings))?;
    }
    if let Some(path) = &output.markdown {
        write(path, tournament::to_markdown(tournament, schedule, &standings))?;
    }
    if let Some(path) = &output.latex {
        write(path, tournament::to_latex(tournament, schedule, &standings))?;
    }
    if let Some(path) = &output.svg {
        write(path, tournament::to_svg(tournament, &standings))?;
    }
    if let Some(path) = &output.html {
        write(path, tournament::page(tournament, schedule, &standings, &store.matches()?))?;
    }
    // Standard output is last, because the program ends when it is closed.
    if output.json {
        let mut json = standings_json(tournament, &standings);
        json["provenance"] = crate::provenance::line().into();
        say!("{json}");
    } else {
        tournament::show(tournament, schedule, &standings);
    }
    Ok(())
}
