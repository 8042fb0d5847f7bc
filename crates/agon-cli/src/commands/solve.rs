//! `agon solve`: computes the value of a game under perfect play.

use std::time::{Duration, Instant};

use agon::Game;
use agon::engine::{GamePosition, GameTask};
use agon::models::{ModelStore, fact_places};
use agon::reports::{method_name, solution_json, unsolved_json};
use agon_game::Shape;
use agon_search::Budget;
use agon_search::solve::{
    Endgames, HiddenGames, Solution, SolveOptions, Unsolved, UnsolvedReason, solve,
    solve_with_table,
};
use serde_json::json;

use super::why::play_moves;
use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::terminal;
use crate::terminal::say;

/// Solve a game: the proved payoffs of perfect play, and a line of perfect play
#[derive(clap::Args)]
#[command(after_help = "\
A puzzle is solved by breadth-first search: the result is the best goal and a shortest plan. Games
of two players who take turns are solved by proof-number search or tree search. Games with chance,
with simultaneous moves of two players, or with more players are solved by listing all positions.
With simultaneous moves, the value is that of optimal mixed strategies, which are shown.

If the game is not solved, the reason and the bounds found so far are printed, with exit code 1.

Examples:
  agon solve tic-tac-toe
  agon solve connect-three --seconds 60
  agon solve rock-paper-scissors --json
  agon solve connect-three --store        # players look its positions up from now on
  agon solve tic-tac-toe --after \"(mark 1 1) (mark 1 2)\"
  agon solve dice-race --open")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Maximum number of positions
    #[arg(long)]
    nodes: Option<u64>,
    /// Time limit in seconds
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Memory limit for positions, in megabytes
    #[arg(long, default_value_t = 1024)]
    megabytes: usize,
    /// Solve a game with hidden information as if all information were open
    #[arg(long)]
    open: bool,
    /// Moves to make before, such as "(mark 1 1) (mark 2 2)"
    #[arg(long, default_value = "", hide_default_value = true, value_name = "MOVES")]
    after: String,
    /// List all positions and keep their values as an endgame table, where players find it
    #[arg(long)]
    store: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let limit = Duration::try_from_secs_f64(args.seconds).map_err(|_| {
        Failure::unreadable(format!("--seconds: {} is not a number of seconds", args.seconds))
    })?;
    let opened = open::open_engine(&args.game, &args.play.within(args.seconds))?;
    let table = opened.run(Solve { args, limit, game: &opened })?;
    let Some(table) = table else { return Ok(()) };
    let folder = ModelStore::folder_of_user().ok_or_else(|| {
        Failure::unreadable("there is no folder for endgame tables; set AGON_MODELS".to_owned())
    })?;
    let stored = ModelStore::at(&folder).save_endgames(&opened, table);
    let (path, n) = stored.map_err(|error| Failure::unreadable(error.to_string()))?;
    if !args.json {
        say!("{}", terminal::dim(&format!("{n} positions are in {}", path.display())));
    }
    Ok(())
}

/// The task of solving a game.
struct Solve<'a> {
    args: &'a Args,
    limit: Duration,
    game: &'a Game,
}

impl GameTask for Solve<'_> {
    type Output = Result<Option<Endgames>, Failure>;

    fn run<P: GamePosition + 'static>(self, mut start: P) -> Self::Output {
        let (args, engine) = (self.args, self.game.engine().name());
        play_moves(&mut start, &args.after)?;
        let budget = Budget {
            deadline: Instant::now().checked_add(self.limit),
            nodes: args.nodes,
            ..Budget::default()
        };
        let options = SolveOptions {
            bytes: args.megabytes.saturating_mul(1 << 20),
            hidden: if args.open { HiddenGames::AsIfOpen } else { HiddenGames::Refuse },
            ..SolveOptions::default()
        };
        let solved = if args.store {
            let places = fact_places(self.game)
                .ok_or_else(|| no_table(args, "it has chance, or no circuit"))?;
            solve_with_table(&start, &budget, &options, places)
        } else {
            solve(&start, &budget, &options).map(|solution| (solution, None))
        };
        match solved {
            Ok((_, None)) if args.store => Err(no_table(
                args,
                "its positions repeat, or it is not a game of two players \
                     whose payoffs add up to a constant",
            )),
            Ok((solution, table)) if args.json => {
                let mut object = solution_json(&start, &solution);
                object["engine"] = json!(engine);
                say!("{object}");
                Ok(table)
            }
            Ok((solution, table)) => {
                show(&start, &solution);
                Ok(table)
            }
            Err(unsolved) if args.json => {
                let mut object = unsolved_json(start.shape(), &unsolved);
                object["engine"] = json!(engine);
                say!("{object}");
                Err(Failure::wrong(""))
            }
            Err(unsolved) => Err(Failure::wrong(refusal(start.shape(), &unsolved, &args.game))),
        }
    }
}

/// Returns the refusal to make an endgame table.
fn no_table(args: &Args, why: &str) -> Failure {
    Failure::wrong(format!("{} has no endgame table: {why}", args.game))
}

fn show<P: GamePosition>(start: &P, solution: &Solution<P::Move>) {
    let shape = start.shape();
    let width = shape.role_names.iter().map(String::len).max().unwrap_or(0);
    for role in shape.players() {
        let name = format!("{:width$}", shape.role_names[role.index()]);
        say!("{}  {}  proved", terminal::bold(&name), rounded(solution.values[role.index()]));
    }
    for role in shape.players() {
        let mixed: Vec<&(P::Move, f64)> = solution.strategies[role.index()]
            .iter()
            .filter(|(_, probability)| *probability > 1e-9)
            .collect();
        if mixed.len() > 1 {
            let parts: Vec<String> = mixed
                .iter()
                .map(|(m, probability)| format!("{} {:.4}", start.move_text(m), probability))
                .collect();
            say!("{} mixes  {}", shape.role_names[role.index()], parts.join(", "));
        }
    }
    if !solution.line.joints.is_empty() {
        say!("line");
    }
    let mut position = start.clone();
    for (step, joint) in solution.line.joints.iter().enumerate() {
        // Only roles with a choice are shown, unless no role has a choice.
        let choosers: Vec<_> = position.choosers().collect();
        let shown: Vec<String> = shape
            .roles()
            .filter(|role| choosers.is_empty() || choosers.contains(role))
            .map(|role| {
                format!(
                    "{} {}",
                    shape.role_names[role.index()],
                    start.move_text(&joint[role.index()])
                )
            })
            .collect();
        say!("{:>4}  {}", step + 1, shown.join(", "));
        position.advance(joint);
    }
    if solution.can_repeat {
        say!("{}", terminal::dim("positions can repeat, but no player gains by that"));
    }
    let summary = format!(
        "{}, {} positions, {:.2} s",
        method_name(solution.method),
        solution.nodes,
        solution.seconds
    );
    say!("{}", terminal::dim(&summary));
}

/// Returns a value with at most four decimals, such as 50 or 66.6667.
fn rounded(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn refusal(shape: &Shape, unsolved: &Unsolved, game: &str) -> String {
    let mut text = format!("{game} is not solved: {}", unsolved.reason);
    let known: Vec<String> = shape
        .players()
        .filter(|role| {
            unsolved.bounds[role.index()] != (*shape.payoffs.start(), *shape.payoffs.end())
        })
        .map(|role| {
            let (low, high) = unsolved.bounds[role.index()];
            format!("{} gets {} to {}", shape.role_names[role.index()], rounded(low), rounded(high))
        })
        .collect();
    if !known.is_empty() {
        text.push_str(&format!("\n  known so far: {}", known.join("; ")));
    }
    if unsolved.nodes > 0 {
        text.push_str(&format!("\n  {} positions in {:.2} s", unsolved.nodes, unsolved.seconds));
    }
    let hint = match unsolved.reason {
        UnsolvedReason::Budget => Some("increase --seconds or --nodes"),
        UnsolvedReason::Memory => Some("increase --megabytes"),
        UnsolvedReason::Hidden => Some("--open solves it as if all information were open"),
        UnsolvedReason::Continuous
        | UnsolvedReason::Simultaneous
        | UnsolvedReason::Endless
        | UnsolvedReason::Fault(_) => None,
    };
    if let Some(hint) = hint {
        text.push_str(&format!("\n  hint: {hint}"));
    }
    text
}
