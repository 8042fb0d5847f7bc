//! `agon learn GAME --check`: what a model is worth at positions that are solved exactly.

use agon::Game;
use agon::learn::truth::{
    CannotJudge, Share, Thinking, TruthOptions, evaluation_truth, judged_positions, player_truth,
};
use agon::models::{fit, read_model};
use serde_json::{Value, json};

use super::learn::Args;
use crate::failure::Failure;
use crate::open;
use crate::terminal::{remark, say};

/// Options of `--check`.
#[derive(clap::Args)]
pub(super) struct CheckOptions {
    /// With --check: number of positions
    #[arg(long, value_name = "N", default_value_t = 100, requires = "check")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=10_000))]
    positions: u16,
    /// With --check: maximum number of nodes to solve a position
    #[arg(long, value_name = "N", default_value_t = 20_000, requires = "check")]
    solve_nodes: u64,
    /// With --check: the player that is measured with and without the model
    #[arg(long, value_name = "PLAYER", default_value = "minimax", requires = "check")]
    player: String,
    /// With --check: seconds of the player for each position
    #[arg(long, value_name = "S", default_value_t = 0.1, requires = "check")]
    think: f64,
    /// With --check: iterations of the player for each position, instead of seconds
    #[arg(long, value_name = "N", requires = "check")]
    iterations: Option<u64>,
}

pub(super) fn run(args: &Args, check: &CheckOptions) -> Result<(), Failure> {
    let thinking = match check.iterations {
        Some(n) => Thinking::Iterations(n.max(1)),
        None if check.think > 0.0 && check.think <= 3600.0 => Thinking::Seconds(check.think),
        None => return Err(Failure::unreadable("--think: give seconds from 0 to 3600")),
    };
    let game = open::open_to_learn(&args.game, &args.play)?;
    let options = TruthOptions {
        n_positions: usize::from(check.positions),
        max_nodes: check.solve_nodes,
        seed: args.learner.seed,
    };
    let positions = judged_positions(&game, &options).map_err(failure)?;
    if positions.len() < options.n_positions {
        remark!("only {} positions were found", positions.len());
    }
    let random = positions.iter().map(agon::learn::truth::Judged::chance).sum::<f64>()
        / positions.len() as f64;
    let mut rows: Vec<(&str, String, Share)> = Vec::new();
    let without = player_truth(&game, &check.player, thinking, &positions).map_err(failure)?;
    let with_model = with_model(args, game)?;
    if let Some(game) = with_model {
        let model = game.model().expect("it was put there");
        let truth = evaluation_truth(&game, model, &positions).map_err(failure)?;
        rows.push(("depth_one", "the model, one step".to_owned(), truth.best_moves));
        rows.push(("signs", "the model, who is ahead".to_owned(), truth.signs));
        let with = player_truth(&game, &check.player, thinking, &positions).map_err(failure)?;
        rows.push(("player", format!("{} with the model", check.player), with));
    }
    rows.push(("player_without", format!("{} without it", check.player), without));
    if args.json {
        let mut line = json!({
            "type": "check", "game": args.game, "positions": positions.len(), "random": random,
            "player_name": check.player,
            "seconds": check.iterations.is_none().then_some(check.think),
            "iterations": check.iterations,
        });
        for (key, _, share) in &rows {
            line[*key] = share_json(*share);
        }
        say!("{line}");
        return Ok(());
    }
    say!("best moves at {} positions whose moves are solved and differ:", positions.len());
    say!("{:40} {:5.1} %", "a random move", 100.0 * random);
    for (_, name, share) in &rows {
        say!("{name:40} {}", share_text(*share));
    }
    Ok(())
}

/// Returns the game with its model, if there is one. A model that cannot be used is reported.
fn with_model(args: &Args, game: Game) -> Result<Option<Game>, Failure> {
    let path = args.learner.path(&game)?;
    if !path.exists() {
        remark!(
            "there is no model: {}; `agon learn {} --minutes 1` makes one",
            path.display(),
            args.game
        );
        return Ok(None);
    }
    let model = read_model(&path)?;
    let fitted = fit(&game, &model)
        .map_err(|error| Failure::wrong(format!("{} is ignored: {error}", path.display())))?;
    Ok(Some(game.with_fitted_model(fitted)))
}

fn failure(error: CannotJudge) -> Failure {
    match error {
        CannotJudge::Player(_) => Failure::unreadable(format!("--player: {error}")),
        _ => Failure::wrong(error.to_string()),
    }
}

fn share_text(share: Share) -> String {
    match (share.part(), share.interval()) {
        (Some(part), Some([low, high])) => format!(
            "{:5.1} %   ({:.1} to {:.1}, {} of {})",
            100.0 * part,
            100.0 * low,
            100.0 * high,
            share.n_right,
            share.n
        ),
        _ => "    - ".to_owned(),
    }
}

fn share_json(share: Share) -> Value {
    let [low, high] = share.interval().map_or([None; 2], |[low, high]| [Some(low), Some(high)]);
    json!({ "share": share.part(), "low": low, "high": high, "n": share.n })
}
