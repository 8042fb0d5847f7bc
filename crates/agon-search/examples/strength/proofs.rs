//! What a playout is worth, told more sharply than by matches: how many it takes until a position is proved.
//!
//! A search that wastes its playouts needs more of them. All players are given the same positions, some random moves away from the start, and
//! the first one is given each of them twice, the first time to see whether it is one to be proved in this many playouts.

use agon_circuit::ScalarCircuit;
use agon_game::{Position, Rng};
use agon_search::{Budget, Mcts, MctsOptions, Search};
use rand::SeedableRng;

use super::Plan;
use super::player::{open, player};

/// Positions that take fewer playouts are proved by a look at them.
const FEW: u64 = 30_000;

/// The position after so many random moves, if there is a choice left.
fn position_after(start: &ScalarCircuit, plies: usize, seed: u64) -> Option<ScalarCircuit> {
    let mut rng = Rng::seed_from_u64(seed);
    let mut position = start.clone();
    let mut joint = Vec::new();
    for _ in 0..plies {
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
        if position.is_terminal() {
            return None;
        }
    }
    let has_choice = position.choosers().next().is_some();
    has_choice.then_some(position)
}

/// How many playouts prove the position; None if so many do not.
fn n_to_proof(options: &MctsOptions, position: &ScalarCircuit, seed: u64, most: u64) -> Option<u64> {
    let mut position = position.clone();
    let us = position.choosers().next()?;
    let report = Mcts::new(options.clone(), seed).think(&mut position, us, &Budget::iterations(most));
    report.is_proven.then_some(report.iterations)
}

/// Has all of them prove as many positions as there are matches planned, with no more than the planned iterations.
pub(crate) fn proofs(names: &[&str], plan: &Plan) {
    let players: Vec<(MctsOptions, f64)> = names.iter().map(|name| player(name)).collect();
    let most = plan.iterations.unwrap_or(2_000_000);
    println!("{:24} {:32} {:>10} {:>6} {:>8}  95 %", "game", "player", "playouts", "cut", "times");
    for game in &plan.games {
        let start = open(game);
        // By player and position: the logarithm of the playouts it took.
        let mut logs = vec![Vec::new(); players.len()];
        let mut n_cut = vec![0; players.len()];
        for seed in (plan.seed << 32)..(plan.seed << 32) + 1_000_000 {
            if logs[0].len() == plan.matches as usize {
                break;
            }
            let Some(position) = position_after(&start, plan.plies, seed) else { continue };
            let first_try = n_to_proof(&players[0].0, &position, seed + 1, most);
            if first_try.is_none_or(|n| n < FEW) {
                continue;
            }
            for (at, (options, _)) in players.iter().enumerate() {
                // Who happens to need more than the first did is not cut off at once.
                let n = n_to_proof(options, &position, seed, 8 * most);
                n_cut[at] += usize::from(n.is_none());
                logs[at].push(libm::log(n.unwrap_or(8 * most) as f64));
            }
        }
        for (at, name) in names.iter().enumerate() {
            let n = logs[at].len() as f64;
            let mean = logs[at].iter().sum::<f64>() / n;
            let more: Vec<f64> = logs[at].iter().zip(&logs[0]).map(|(own, first)| own - first).collect();
            let times = more.iter().sum::<f64>() / n;
            let variance = more.iter().map(|m| (m - times) * (m - times)).sum::<f64>() / (n - 1.0).max(1.0);
            let around = 1.96 * (variance / n).sqrt();
            println!(
                "{game:24} {name:32} {:10.0} {:6} {:8.3}  {:.3} to {:.3}",
                libm::exp(mean),
                n_cut[at],
                libm::exp(times),
                libm::exp(times - around),
                libm::exp(times + around)
            );
        }
    }
}
