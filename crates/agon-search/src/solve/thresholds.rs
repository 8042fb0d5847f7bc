//! Two players that take turns: bisection of the value by claims that can be proved.

use agon_game::{Position, Rng, Role, play_out_in_time};
use rand::SeedableRng as _;

use super::proof::{Claim, Prover, Stop, Threshold};
use super::{Method, Solution, UnsolvedReason};
use crate::choices::Choices;
use crate::{Line, Meter};

/// Number of random games that show which payoffs occur. They affect the order of the claims, not
/// the result.
const N_PLAYS: usize = 64;
/// Maximum number of steps of these games.
const MAX_STEPS: usize = 500;

/// Computes the payoff that each player can guarantee. If the payoffs add up to a constant, this is
/// the value.
pub(super) fn solve<P: Position>(
    start: &P,
    [first, second]: [Role; 2],
    prover: &mut Prover,
    meter: &mut Meter<'_>,
    bounds: &mut [(f64, f64)],
) -> Result<Solution<P::Move>, Stop> {
    let shape = start.shape();
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(0);
    let n_plays = if prover.sum.is_none() { N_PLAYS } else { 0 };
    for _ in 0..n_plays {
        position.go_to(start.state());
        meter.n_nodes +=
            play_out_in_time(&mut position, &mut rng, MAX_STEPS, meter.deadline(), meter.stop())
                as u64;
        if position.is_terminal() {
            prover.record_end(&position)?;
        }
        if meter.is_over(1) {
            return Err(Stop::Reason(UnsolvedReason::Budget));
        }
    }
    position.go_to(start.state());
    let value = bisect(&mut position, prover, first, meter, &mut bounds[first.index()])?;
    let sum = prover.sum.ok_or(Stop::Unsuitable)?;
    // The constant was only observed, so the payoff of the second player needs its own proof.
    bounds[second.index()].1 = bounds[second.index()].1.min(sum - value);
    let rest = Claim { player: second, payoff: sum - value, threshold: Threshold::AtLeast };
    if !prover.prove(&mut position, &rest, meter)? {
        return Err(Stop::Unsuitable);
    }
    let mut values = vec![0.0; shape.role_names.len()];
    values[first.index()] = value;
    values[second.index()] = sum - value;
    let line = line(start, prover, &values, meter)?;
    let strategies = shape
        .roles()
        .map(|role| {
            let chosen = line.joints.first().map(|joint| &joint[role.index()]);
            let moves = start.legal_moves(role).iter();
            moves.map(|m| (m.clone(), if Some(m) == chosen { 1.0 } else { 0.0 })).collect()
        })
        .collect();
    Ok(Solution {
        values,
        line,
        strategies,
        method: Method::ProofNumbers,
        can_repeat: false,
        nodes: meter.n_nodes,
        seconds: meter.seconds(),
    })
}

/// Returns the payoff that the player can guarantee, by bisection of the payoffs seen so far. Every
/// payoff that the proof of a claim is based on has been seen, so none between two of them is
/// missed.
fn bisect<P: Position>(
    position: &mut P,
    prover: &mut Prover,
    player: Role,
    meter: &mut Meter<'_>,
    (low, high): &mut (f64, f64),
) -> Result<f64, Stop> {
    while low < high {
        let between: Vec<f64> = prover.seen[player.index()]
            .iter()
            .copied()
            .filter(|payoff| (*low..=*high).contains(payoff) && payoff > low)
            .collect();
        let (payoff, threshold) = match between.get((between.len().max(1) - 1) / 2) {
            Some(&middle) => (middle, Threshold::AtLeast),
            None => (*low, Threshold::MoreThan),
        };
        let is_true = prover.prove(position, &Claim { player, payoff, threshold }, meter)?;
        let seen = &prover.seen[player.index()];
        match (threshold, is_true) {
            (Threshold::AtLeast, true) => *low = payoff,
            (Threshold::AtLeast, false) => {
                let below = seen.iter().copied().filter(|&other| other < payoff);
                *high = below.fold(f64::NEG_INFINITY, f64::max);
            }
            (Threshold::MoreThan, true) => {
                let above = seen.iter().copied().filter(|&other| other > payoff);
                *low = above.fold(f64::INFINITY, f64::min);
            }
            (Threshold::MoreThan, false) => *high = payoff,
        }
    }
    Ok(*low)
}

/// Returns a line on which every player keeps its guaranteed payoff. The line stops early if the
/// budget is used up.
fn line<P: Position>(
    start: &P,
    prover: &mut Prover,
    values: &[f64],
    meter: &mut Meter<'_>,
) -> Result<Line<P::Move>, Stop> {
    let mut position = start.clone();
    let mut joints = Vec::new();
    let first = start.shape().players().next().expect("there are two players");
    let value = values[first.index()];
    while !position.is_terminal() {
        let chooser = position.choosers().next();
        let player = chooser.unwrap_or(first);
        let claim = Claim { player, payoff: values[player.index()], threshold: Threshold::AtLeast };
        let choices = Choices::at(&position);
        let here = position.state().clone();
        let mut joint = choices.first_joint();
        let mut found = None;
        // The table is cheap, so it is tried first for all moves.
        'moves: for is_second_round in [false, true] {
            for m in choices.of(player) {
                joint[player.index()] = m.clone();
                position.go_to(&here);
                position.advance(&joint);
                let keeps = if is_second_round || position.is_terminal() {
                    match prover.prove(&mut position, &claim, meter) {
                        Err(Stop::Reason(UnsolvedReason::Budget)) => {
                            return Ok(Line { joints, value });
                        }
                        answer => answer?,
                    }
                } else {
                    prover.recall(&position, &claim) == Some(true)
                };
                if keeps {
                    found = Some(joint.clone());
                    break 'moves;
                }
            }
        }
        let joint = found.ok_or(Stop::Unsuitable)?;
        joints.push(joint);
    }
    Ok(Line { joints, value })
}
