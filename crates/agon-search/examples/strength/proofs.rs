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

/// How many playouts prove the position, and how many seconds that takes; None if so many do not.
fn to_proof(
    options: &MctsOptions,
    position: &ScalarCircuit,
    seed: u64,
    most: u64,
) -> Option<(u64, f64)> {
    let mut position = position.clone();
    let us = position.choosers().next()?;
    let mut search = Mcts::new(options.clone(), seed);
    // Where there is nothing to be tried, only the native code is made.
    search.think(&mut position, us, &Budget::iterations(0));
    let report = search.think(&mut position, us, &Budget::iterations(most));
    report.is_proven.then_some((report.iterations, report.seconds))
}

/// The mean of these, and half the width of an interval for it.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>()
        / (n - 1.0).max(1.0);
    (mean, 1.96 * (variance / n).sqrt())
}

/// Has all of them prove as many positions as there are matches planned, with no more than the planned iterations.
pub(crate) fn proofs(names: &[&str], plan: &Plan) {
    let players: Vec<(MctsOptions, f64)> = names.iter().map(|name| player(name)).collect();
    let most = plan.iterations.unwrap_or(2_000_000);
    println!(
        "{:24} {:32} {:>10} {:>4} {:>6}  {:14} {:>6}  95 %",
        "game", "player", "playouts", "cut", "times", "95 %", "faster"
    );
    for game in &plan.games {
        let start = open(game);
        // By player and position: the logarithms of the playouts it took, and of the seconds.
        let mut logs = vec![(Vec::new(), Vec::new()); players.len()];
        let mut n_cut = vec![0; players.len()];
        for seed in (plan.seed << 32)..(plan.seed << 32) + 1_000_000 {
            if logs[0].0.len() == plan.matches as usize {
                break;
            }
            let Some(position) = position_after(&start, plan.plies, seed) else { continue };
            let first_try = to_proof(&players[0].0, &position, seed + 1, most);
            if first_try.is_none_or(|(n, _)| n < FEW) {
                continue;
            }
            // Who happens to need more than the first did is not cut off at once.
            let proofs: Vec<Option<(u64, f64)>> = players
                .iter()
                .map(|(options, _)| to_proof(options, &position, seed, 8 * most))
                .collect();
            for (at, proof) in proofs.iter().enumerate() {
                n_cut[at] += usize::from(proof.is_none());
            }
            // How long it would have taken nobody knows.
            let Some(proofs) = proofs.into_iter().collect::<Option<Vec<(u64, f64)>>>() else {
                continue;
            };
            for (logs, (n, seconds)) in logs.iter_mut().zip(proofs) {
                logs.0.push(libm::log(n as f64));
                logs.1.push(libm::log(seconds));
            }
        }
        for (at, name) in names.iter().enumerate() {
            let (playouts, seconds) = &logs[at];
            let than_first = |own: &[f64], first: &[f64]| {
                let more: Vec<f64> =
                    own.iter().zip(first).map(|(own, first)| own - first).collect();
                let (mean, around) = mean(&more);
                [mean, mean - around, mean + around].map(libm::exp)
            };
            let [times, least, most] = than_first(playouts, &logs[0].0);
            let [faster, slowest, fastest] = than_first(&logs[0].1, seconds);
            println!(
                "{game:24} {name:32} {:10.0} {:4} {times:6.3}  {:14} {faster:6.3}  {slowest:.3} to {fastest:.3}",
                libm::exp(mean(playouts).0),
                n_cut[at],
                format!("{least:.3} to {most:.3}"),
            );
        }
    }
}
