//! `agon solve`: what perfect play is worth.

use std::time::{Duration, Instant};

use agon_game::Shape;
use agon_search::Budget;
use agon_search::solve::{HiddenGames, Method, Solution, SolveOptions, Unsolved, Why, solve};
use serde_json::{Value, json};

use crate::engine::{GamePosition, GameTask};
use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::terminal;
use crate::terminal::say;

/// Solve a game: what everybody gets when all play perfectly, proved, with a line of perfect play.
#[derive(clap::Args)]
#[command(after_help = "\
For one player it is the best goal that can be reached and the shortest plan that reaches it. Two players who take
turns are solved by proof-number search; chance, simultaneous moves of two players and games of more players by
listing all positions. Where players move at once, the value is that of best mixtures of moves, which are shown.

What is not solved is refused, with the reason and the bounds that were found: exit code 1.

Examples:
  agon solve tic-tac-toe
  agon solve connect-three --seconds 60
  agon solve rock-paper-scissors --json
  agon solve dice-race --open")]
pub(crate) struct Args {
    /// A shipped game's name or the path of a rulesheet
    game: String,
    /// Stop after so many positions
    #[arg(long)]
    nodes: Option<u64>,
    /// Stop after so many seconds
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Memory for positions, in megabytes
    #[arg(long, default_value_t = 1024)]
    megabytes: usize,
    /// Solve a game with hidden information as if everybody saw everything
    #[arg(long)]
    open: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let limit = Duration::try_from_secs_f64(args.seconds).map_err(|_| {
        Failure::unreadable(format!("--seconds {}: not a length of time", args.seconds))
    })?;
    open::open_engine(open::source(&args.game)?, &args.play)?.run(Solve { args, limit })
}

struct Solve<'a> {
    args: &'a Args,
    limit: Duration,
}

impl GameTask for Solve<'_> {
    type Output = Result<(), Failure>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Result<(), Failure> {
        let args = self.args;
        let budget = Budget {
            deadline: Instant::now().checked_add(self.limit),
            nodes: args.nodes,
            ..Budget::default()
        };
        let options = SolveOptions {
            bytes: args.megabytes.saturating_mul(1 << 20),
            hidden: if args.open { HiddenGames::AsIfOpen } else { HiddenGames::Refuse },
        };
        match solve(&start, &budget, &options) {
            Ok(solution) if args.json => {
                say!("{}", solution_json(&start, &solution));
                Ok(())
            }
            Ok(solution) => {
                show(&start, &solution);
                Ok(())
            }
            Err(unsolved) if args.json => {
                say!("{}", unsolved_json(start.shape(), &unsolved));
                Err(Failure::wrong(""))
            }
            Err(unsolved) => Err(Failure::wrong(refusal(start.shape(), &unsolved, &args.game))),
        }
    }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::BreadthFirst => "breadth-first search",
        Method::ProofNumbers => "proof-number search",
        Method::Retrograde => "all positions, from the end backwards",
    }
}

fn solution_json<P: GamePosition>(start: &P, solution: &Solution<P::Move>) -> Value {
    let shape = start.shape();
    let values: serde_json::Map<String, Value> = shape
        .players()
        .map(|role| (shape.role_names[role.index()].clone(), json!(solution.values[role.index()])))
        .collect();
    let strategies: serde_json::Map<String, Value> = shape
        .players()
        .map(|role| {
            let moves: Vec<Value> = solution.strategies[role.index()]
                .iter()
                .map(|(m, probability)| json!({"move": start.move_text(m), "probability": probability}))
                .collect();
            (shape.role_names[role.index()].clone(), Value::Array(moves))
        })
        .collect();
    let line: Vec<Vec<String>> = solution
        .line
        .joints
        .iter()
        .map(|joint| joint.iter().map(|m| start.move_text(m)).collect())
        .collect();
    json!({
        "solved": true, "values": values, "strategies": strategies, "line": line,
        "method": method_name(solution.method), "can_repeat": solution.can_repeat,
        "nodes": solution.nodes, "seconds": solution.seconds,
    })
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
        // Those who had no choice say nothing, unless nobody had one.
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
        say!("{}", terminal::dim("positions can repeat, but nobody gains by it"));
    }
    let summary = format!(
        "{}, {} positions, {:.2} s",
        method_name(solution.method),
        solution.nodes,
        solution.seconds
    );
    say!("{}", terminal::dim(&summary));
}

/// A value as people write it: 50, 66.6667.
fn rounded(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn unsolved_json(shape: &Shape, unsolved: &Unsolved) -> Value {
    let bounds: serde_json::Map<String, Value> = shape
        .players()
        .map(|role| {
            let (low, high) = unsolved.bounds[role.index()];
            (shape.role_names[role.index()].clone(), json!([low, high]))
        })
        .collect();
    json!({
        "solved": false, "why": unsolved.why.to_string(), "bounds": bounds,
        "nodes": unsolved.nodes, "seconds": unsolved.seconds,
    })
}

fn refusal(shape: &Shape, unsolved: &Unsolved, game: &str) -> String {
    let mut text = format!("{game} is not solved: {}", unsolved.why);
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
    let hint = match unsolved.why {
        Why::Budget => Some("give it more with --seconds or --nodes"),
        Why::Memory => Some("give it more with --megabytes"),
        Why::Hidden => Some("--open solves it as if everybody saw everything"),
        Why::Continuous | Why::Simultaneous | Why::Endless | Why::Fault(_) => None,
    };
    if let Some(hint) = hint {
        text.push_str(&format!("\n  hint: {hint}"));
    }
    text
}
