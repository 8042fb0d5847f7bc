//! What the rules pay, and whether it always adds up to the same.

use agon_game::{Position as _, Rng};
use agon_gdl::engine::Compiled;
use agon_gdl::interpreter::Game;
use rand::SeedableRng as _;

use super::{Known, Plays};
use crate::prove::{Answer, Literal, ProofLimits, Prover};

/// What the rules pay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payoffs {
    /// By role: the goal values there can be, in rising order. With a circuit all of them, else those that were seen.
    pub values: Vec<Vec<i64>>,
    /// What the payoffs of all players always add up to at the end, if they do.
    pub constant_sum: Option<(i64, Known)>,
}

/// Combinations of goal values that are looked at one by one.
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

/// What the payoffs of all players provably add up to wherever play ends, and nothing else: for searches, which may use it without
/// asking. It depends on no clock, and costs little: what is hard to prove is left open.
pub fn prove_constant_sum(compiled: &Compiled) -> Option<i64> {
    let players: Vec<usize> = compiled.shape.players().map(agon_game::Role::index).collect();
    if players.len() < 2 {
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
        gates: 100_000,
        conflicts: 300,
        conflicts_in_all: 6_000,
        ..ProofLimits::default()
    };
    let mut prover = Prover::new(&compiled.circuit, &limits)?;
    compiled.groups.iter().for_each(|group| prover.suppose_at_most_one(group));
    is_proved(compiled, &players, sum, &mut prover).then_some(sum)
}

/// Random plays that may show a sum not to be constant before a proof is tried.
const N_REFUTING_PLAYS: usize = 64;
/// A play that is longer says nothing.
const MAX_STEPS: usize = 1000;

/// Whether no step leads to an end where the payoffs add up to something else. The step matters: that not both have a line
/// follows from nobody having had one before.
fn is_proved(compiled: &Compiled, players: &[usize], sum: i64, prover: &mut Prover<'_>) -> bool {
    let circuit = &compiled.circuit;
    // By player: what it may get, with a literal that is true only where it gets just that.
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
