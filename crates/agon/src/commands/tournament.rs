//! `agon tournament`: many matches, and what they say about the players.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_match::tournament::{Outcome, Schedule, Standings, Tournament, standings};
use serde_json::json;

use crate::failure::Failure;
use crate::terminal::{remark, say};
use crate::tournament::{self, Ended, Plan, Played, RunOptions, Store, Stored};

/// Play many matches between players and tell who is stronger, with intervals.
///
/// Every match is stored as it ends. Killed at any moment and started again with the same command, a tournament goes on where it was.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
SPEC is a file such as this; docs/tournaments.md tells all of it:

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
  agon tournament show --store spec.db
  agon tournament rerun 3f9a --store spec.db"
)]
pub(crate) struct Args {
    /// What is to be played, in TOML
    #[arg(required = true, value_name = "SPEC.toml")]
    spec: Option<PathBuf>,
    /// Where the matches are kept [default: the spec with the ending .db]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
    /// Matches at once, at most [default: as many as there are processors for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Processors that may be kept busy [default: all there are]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cores: Option<u16>,
    /// Say nothing until the end
    #[arg(long, short)]
    quiet: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

/// What is written at the end.
#[derive(clap::Args, Clone, Debug)]
struct Output {
    /// One JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// Write the tables for a spreadsheet
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write a page with tables and plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show the tables of a tournament again, also while it is being played
    Show {
        /// Where the matches are kept
        #[arg(long, value_name = "FILE")]
        store: PathBuf,
        /// List the matches, too
        #[arg(long)]
        matches: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Play one match again and tell whether it comes out the same, move by move
    Rerun {
        /// The id of the match, or how it begins
        id: String,
        /// Where the matches are kept
        #[arg(long, value_name = "FILE")]
        store: PathBuf,
        /// One JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match (&args.action, &args.spec) {
        (Some(Action::Show { store, matches, output }), _) => show(store, *matches, output),
        (Some(Action::Rerun { id, store, json }), _) => {
            tournament::rerun(&Store::open_to_read(store)?, id, *json)
        }
        (None, Some(spec)) => play(args, spec),
        (None, None) => Err(Failure::unreadable(
            "a tournament is missing: agon tournament SPEC.toml; try --help",
        )),
    }
}

fn play(args: &Args, spec: &Path) -> Result<(), Failure> {
    // First of all: an interrupt while games are being opened counts, too.
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_interrupted);
    let _ = ctrlc::set_handler(move || {
        // The second time the process ends at once, which costs nothing but what is under way.
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    let (text, read) = tournament::read_spec(spec)?;
    let path = args.store.clone().unwrap_or_else(|| spec.with_extension("db"));
    if path == spec {
        return Err(Failure::unreadable("the spec cannot be its own store: give a --store"));
    }
    // Before anything is opened, which may take a while, it is known that nobody else is at it.
    let mut store = Store::open(&path)?;
    let plan = Arc::new(Plan::new(text, read, spec)?);
    let (mut outcomes, found) = plan.begin(&mut store)?;
    if let Some(found) = found.filter(|_| !args.quiet) {
        remark!("{found}");
    }
    let number = |n: Option<u16>| n.map(usize::from);
    let options =
        RunOptions { cores: number(args.cores), jobs: number(args.jobs), quiet: args.quiet };
    let ended = tournament::run(&plan, &mut store, &mut outcomes, &options, &is_interrupted)?;
    tell(&plan.tournament, &plan.schedule, &outcomes, &store, &args.output)?;
    match ended {
        Ended::Complete | Ended::Decided(_) => Ok(()),
        Ended::Interrupted => Err(Failure {
            code: 130,
            message: format!(
                "stopped; the same command goes on from here, everything so far is in {}",
                path.display()
            ),
        }),
    }
}

fn show(path: &Path, has_matches: bool, output: &Output) -> Result<(), Failure> {
    let store = Store::open_to_read(path)?;
    let Stored { tournament, schedule, outcomes, played } = tournament::stored(&store)?;
    tell(&tournament, &schedule, &outcomes, &store, output)?;
    if has_matches {
        for played in &played {
            say!("{}", line(played, output.json));
        }
    }
    Ok(())
}

fn line(played: &Played, is_json: bool) -> String {
    let Played { id, game, players, status, outcome, .. } = played;
    if is_json {
        return json!({
            "id": id, "game": game, "repeat": played.repeat, "players": players, "seed": played.seed,
            "opening": played.opening, "status": status, "goals": outcome.goals, "slips": outcome.slips,
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
    let slips: usize = outcome.slips.iter().sum();
    let slips = if slips > 0 { format!(", {slips} slips") } else { String::new() };
    format!("{id}  {game} #{}  {result}  {} steps{slips}", played.repeat + 1, outcome.n_steps)
}

/// Tells what came of it, in every form that is wanted.
fn tell(
    tournament: &Tournament,
    schedule: &Schedule,
    outcomes: &[Option<Outcome>],
    store: &Store,
    output: &Output,
) -> Result<(), Failure> {
    let standings: Standings = standings(tournament, schedule, outcomes);
    let write = |path: &Path, text: String| {
        std::fs::write(path, text).map_err(|error| {
            Failure::unreadable(format!("cannot write {}: {error}", path.display()))
        })
    };
    if let Some(path) = &output.csv {
        write(path, tournament::to_csv(tournament, &standings))?;
    }
    if let Some(path) = &output.html {
        write(path, tournament::page(tournament, schedule, &standings, &store.matches()?))?;
    }
    // Last: whoever reads this may stop reading, and that ends the program.
    if output.json {
        say!("{}", tournament::to_json(tournament, &standings));
    } else {
        tournament::show(tournament, schedule, &standings);
    }
    Ok(())
}
