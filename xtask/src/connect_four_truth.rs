//! Connect four against the truth: how often learnt evaluations and players choose a best move, at
//! positions that a perfect solver judges.
//!
//! Arguments: number of positions, iterations or seconds (`0.1s`) of players, then players. A model
//! is taken from the store of the user.

use agon::Game;
use agon::learn::truth::{Judged, Share, Thinking, evaluation_truth, player_truth};
use agon::models::ModelStore;
use agon_game::{Rng, Role};
use agon_testkit::connect_four::{Board, Solver};
use rand::{RngExt as _, SeedableRng as _};

/// Kinds of positions, by the number of stones.
const KINDS: [(&str, std::ops::RangeInclusive<u32>); 2] = [("early", 10..=15), ("middle", 18..=25)];

pub(crate) fn run(args: Vec<String>) {
    let n: usize = args.first().and_then(|text| text.parse().ok()).unwrap_or(100);
    let thinking = args.get(1).map_or("5000", String::as_str);
    let thinking = match thinking.strip_suffix('s').map(str::parse) {
        Some(Ok(seconds)) => Thinking::Seconds(seconds),
        _ => Thinking::Iterations(thinking.parse().unwrap_or(5000)),
    };
    let mut players: Vec<&str> = args.iter().skip(2).map(String::as_str).collect();
    if players.is_empty() {
        players = vec!["minimax", "mcts", "uct"];
    }
    let plain = Game::open("connect-four").expect("it ships");
    let learnt = Game::open("connect-four").expect("it ships");
    let learnt = learnt.with_models(ModelStore::of_user().as_ref());
    let mut solver = Solver::default();
    println!("players think {thinking:?}");
    for (kind, stones) in KINDS {
        let mut rng = Rng::seed_from_u64(7);
        let positions: Vec<Judged> = std::iter::repeat_with(|| {
            let n_stones = rng.random_range(stones.clone());
            judge(&mut solver, n_stones, &mut rng)
        })
        .flatten()
        .take(n)
        .collect();
        let random: f64 = positions.iter().map(Judged::chance).sum::<f64>() / n as f64;
        println!("{kind}: {n} positions, random choice {random:.3}");
        if let Some(model) = learnt.model() {
            let truth = evaluation_truth(&learnt, model, &positions).expect("the moves are legal");
            show("model, one step", truth.best_moves);
            show("model, who is ahead", truth.signs);
        }
        for player in &players {
            let share = player_truth(&plain, player, thinking, &positions);
            show(&format!("{player}, no model"), share.expect("the player exists"));
            if learnt.model().is_some() {
                let share = player_truth(&learnt, player, thinking, &positions);
                show(&format!("{player}, model"), share.expect("the player exists"));
            }
        }
    }
}

fn show(name: &str, share: Share) {
    let [low, high] = share.interval().unwrap_or([0.0, 1.0]);
    println!("  {name:32} {:.3} ({low:.3} to {high:.3})", share.part().unwrap_or(0.0));
}

/// Plays at random until there are so many stones. Returns `None` if somebody has won by then or
/// could, or if all moves are worth the same.
fn judge(solver: &mut Solver, n_stones: u32, rng: &mut Rng) -> Option<Judged> {
    let mut board = Board::empty();
    let mut history = Vec::new();
    while board.n_stones() < n_stones {
        let columns: Vec<u32> = board.columns().collect();
        let column = *columns.get(rng.random_range(0..columns.len().max(1)))?;
        if board.wins(column) {
            return None;
        }
        let mut joint = vec!["noop".to_owned(); 2];
        joint[history.len() % 2] = format!("(drop {})", column + 1);
        history.push(joint);
        board = board.drop(column);
    }
    let moves: Vec<(String, f64)> = solver
        .columns(board)
        .into_iter()
        .map(|(column, value)| (format!("(drop {})", column + 1), f64::from(value)))
        .collect();
    let judged = Judged { role: Role::new(history.len() % 2), history, moves };
    (judged.chance() < 1.0).then_some(judged)
}
