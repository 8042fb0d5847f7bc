//! Possible payoffs, and whether their sum is constant.

use agon_game::{Position as _, Rng};
use agon_gdl::circuit::Compiled;
use agon_gdl::interpreter::Game;
use rand::SeedableRng as _;

use super::{Known, Plays};
use crate::prove::{Answer, Literal, ProofLimits, Prover};

/// The payoffs of a game.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payoffs {
    /// By role: the possible goal values in ascending order. With a circuit these are all values,
    /// otherwise those that occurred.
    pub values: Vec<Vec<i64>>,
    /// The constant sum of the payoffs of all players at the end of play, if there is one.
    pub constant_sum: Option<(i64, Known)>,
}

/// Maximum number of combinations of goal values that are checked one by one.
const MAX_COMBINATIONS: usize = 3_000;

pub(super) fn find(
    game: &Game,
    compiled: Option<&Compiled>,
    plays: &Plays,
    prover: Option<&mut Prover<'_>>,
) -> Payoffs {
    let players: Vec<usize> = game.shape().players().map(agon_game::Role::index).collect();
    let n_roles = game.shape().role_names.len();
    let mut payoffs = Payoffs { values: vec![Vec::new(); n_roles], constant_sum: None };
    for &role in &players {
        let values = &mut payoffs.values[role];
        match compiled {
            Some(compiled) => {
                values.extend(compiled.circuit.outputs.goals[role].iter().map(|&(value, _)| value));
            }
            None => values.extend(plays.states().map(|seen| seen.payoffs[role] as i64)),
        }
        values.sort_unstable();
        values.dedup();
    }
    let ends: Vec<f64> = plays
        .states()
        .filter(|seen| seen.is_terminal)
        .map(|seen| players.iter().map(|&role| seen.payoffs[role]).sum())
        .collect();
    let Some(&sum) = ends.first() else { return payoffs };
    if players.len() < 2 || ends.iter().any(|&other| other != sum) {
        return payoffs;
    }
    let sum = sum as i64;
    payoffs.constant_sum = Some((sum, Known::Observed { plays: plays.n_plays() }));
    if let (Some(compiled), Some(prover)) = (compiled, prover)
        && is_proved(compiled, &players, sum, prover)
    {
        payoffs.constant_sum = Some((sum, Known::Proved));
    }
    payoffs
}

/// Returns the constant sum of the payoffs of all players, if a small proof finds one.
///
/// A search may rely on the result. It does not depend on the clock, and the budget is small: sums
/// that are hard to prove are not reported.
pub fn prove_constant_sum(compiled: &Compiled) -> Option<i64> {
    let players: Vec<usize> = compiled.shape().players().map(agon_game::Role::index).collect();
    // Plays on a circuit that is too large for the proof would only take time.
    if players.len() < 2 || compiled.circuit.n_gates() > MAX_PROOF_GATES {
        return None;
    }
    let mut rng = Rng::seed_from_u64(0);
    let mut position = compiled.start();
    let start = position.state().clone();
    let mut sum = None;
    for _ in 0..N_REFUTING_PLAYS {
        position.go_to(&start);
        position.play_out(&mut rng, MAX_STEPS);
        if position.is_terminal() {
            let here: f64 =
                players.iter().map(|&role| position.payoff(agon_game::Role::new(role))).sum();
            if *sum.get_or_insert(here) != here {
                return None;
            }
        }
    }
    let sum = sum? as i64;
    let limits = ProofLimits {
        gates: MAX_PROOF_GATES,
        conflicts: 300,
        conflicts_in_all: 6_000,
        ..ProofLimits::default()
    };
    let mut prover = Prover::new(&compiled.circuit, &limits)?;
    compiled.groups.iter().for_each(|group| prover.add_lemma_at_most_one(group));
    is_proved(compiled, &players, sum, &mut prover).then_some(sum)
}

/// Maximum number of gates of a circuit for which a constant sum is proved.
const MAX_PROOF_GATES: usize = 100_000;
/// Number of random plays that may refute a constant sum before a proof is tried.
const N_REFUTING_PLAYS: usize = 64;
/// Maximum number of steps of such a play. Longer plays are ignored.
const MAX_STEPS: usize = 1000;

/// Returns whether no step leads to a terminal state with another sum. The step matters: that two
/// players cannot both have a line follows from the fact that neither had one before.
fn is_proved(compiled: &Compiled, players: &[usize], sum: i64, prover: &mut Prover<'_>) -> bool {
    let circuit = &compiled.circuit;
    // By player: the possible payoffs, each with a literal that is true only if the player gets it.
    let mut outcomes: Vec<Vec<(i64, Literal)>> = Vec::new();
    for &role in players {
        let goals: Vec<(i64, Literal)> = circuit.outputs.goals[role]
            .iter()
            .map(|&(value, signal)| (value, prover.after(signal)))
            .collect();
        let mut of_player = Vec::new();
        for (place, &(value, goal)) in goals.iter().enumerate() {
            let gets = prover.fresh();
            prover.clause(&[!gets, goal]);
            goals[place + 1..].iter().for_each(|&(_, higher)| prover.clause(&[!gets, !higher]));
            of_player.push((value, gets));
        }
        let nothing = prover.fresh();
        goals.iter().for_each(|&(_, goal)| prover.clause(&[!nothing, !goal]));
        of_player.push((0, nothing));
        outcomes.push(of_player);
    }
    let n_combinations: usize = outcomes.iter().map(Vec::len).fold(1, usize::saturating_mul);
    if n_combinations > MAX_COMBINATIONS {
        return false;
    }
    let ends = prover.after(circuit.outputs.terminal);
    (0..n_combinations).all(|mut number| {
        let (mut total, mut literals) = (0, vec![prover.step(), ends]);
        for of_player in &outcomes {
            let (value, gets) = of_player[number % of_player.len()];
            number /= of_player.len();
            total += value;
            literals.push(gets);
        }
        total == sum || prover.ask(&literals) == Answer::Impossible
    })
}
