//! Compares searches by the number of playouts that they need to prove a position.
//!
//! A search that wastes playouts needs more of them, and this number varies less than the results
//! of matches. All players get the same positions, each a few random moves after the start. A
//! position counts if the first player proves it within the limit in a trial with another seed.

use agon_circuit::ScalarCircuit;
use agon_game::{Position, Rng};
use agon_search::{Budget, Mcts, MctsOptions, Search};
use rand::SeedableRng;

use super::Plan;
use super::player::player;
use crate::rulesheets::shipped;

/// Minimum number of playouts of the trial. Easier positions do not distinguish searches.
const FEW: u64 = 30_000;

/// Returns the position after `plies` random moves, if a role has a choice there.
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

/// Returns the playouts and the seconds that a proof of the position takes. `None` if there is no
/// proof after `most` playouts.
fn to_proof(
    options: &MctsOptions,
    position: &ScalarCircuit,
    seed: u64,
    most: u64,
) -> Option<(u64, f64)> {
    let mut position = position.clone();
    let us = position.choosers().next()?;
    let mut search = Mcts::new(options.clone(), seed);
    // Without iterations, a search only generates the native code.
    search.think(&mut position, us, &Budget::iterations(0));
    let report = search.think(&mut position, us, &Budget::iterations(most));
    report.is_proven.then_some((report.iterations, report.seconds))
}

/// Returns the mean and half the width of its 95 % confidence interval.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>()
        / (n - 1.0).max(1.0);
    (mean, 1.96 * (variance / n).sqrt())
}

/// Makes all players prove `plan.matches` positions of each game, and prints the playouts needed.
pub(crate) fn proofs(names: &[&str], plan: &Plan) {
    let players: Vec<(MctsOptions, f64)> = names.iter().map(|name| player(name)).collect();
    let most = plan.iterations.unwrap_or(2_000_000);
    println!(
        "{:24} {:32} {:>10} {:>4} {:>6}  {:14} {:>6}  95 %",
        "game", "player", "playouts", "cut", "times", "95 %", "faster"
    );
    for game in &plan.games {
        let start = shipped(game);
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
            // The limit is generous, because other players may need more than the first one did.
            let proofs: Vec<Option<(u64, f64)>> = players
                .iter()
                .map(|(options, _)| to_proof(options, &position, seed, 8 * most))
                .collect();
            for (at, proof) in proofs.iter().enumerate() {
                n_cut[at] += usize::from(proof.is_none());
            }
            // Without all proofs, the position cannot be compared.
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
                "{game:24} {name:32} {:10.0} {:4} {times:6.3}  {:14} {faster:6.3}  \
                 {slowest:.3} to {fastest:.3}",
                libm::exp(mean(playouts).0),
                n_cut[at],
                format!("{least:.3} to {most:.3}"),
            );
        }
    }
}
