//! Two players who take turns: the value between questions that can be proved.

use agon_game::{Position, Rng, Role};
use rand::SeedableRng as _;

use super::proof::{Prover, Question, Stop, Threshold};
use super::{Method, Solution, Why};
use crate::budget::play_out_in_time;
use crate::choices::Choices;
use crate::{Line, Meter};

/// Random plays that show which payoffs there are, and their length. They decide the order of the questions, not the answer.
const N_PLAYS: usize = 64;
const MAX_STEPS: usize = 500;

/// Works out what each player can make sure of. Where the payoffs add up to a constant that is the value.
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
            play_out_in_time(&mut position, &mut rng, MAX_STEPS, meter.deadline()) as u64;
        if position.is_terminal() {
            prover.note_end(&position)?;
        }
        if meter.is_over(1) {
            return Err(Stop::Why(Why::Budget));
        }
    }
    position.go_to(start.state());
    let value = bisect(&mut position, prover, first, meter, &mut bounds[first.index()])?;
    let sum = prover.sum.ok_or(Stop::NotForProofs)?;
    // The constant is only observed, so the other half of the claim needs its own proof.
    bounds[second.index()].1 = bounds[second.index()].1.min(sum - value);
    let rest = Question { player: second, payoff: sum - value, threshold: Threshold::AtLeast };
    if !prover.ask(&mut position, &rest, meter)? {
        return Err(Stop::NotForProofs);
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

/// What the player can make sure of: the payoffs seen so far are halved by questions. Every payoff that the answer to a question
/// rests on has been seen, so none between two of them is missed.
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
        let is_so = prover.ask(position, &Question { player, payoff, threshold }, meter)?;
        let seen = &prover.seen[player.index()];
        match (threshold, is_so) {
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

/// A line on which everybody keeps what can be made sure of. Shorter than the play if the budget ends first.
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
        let question =
            Question { player, payoff: values[player.index()], threshold: Threshold::AtLeast };
        let choices = Choices::at(&position);
        let here = position.state().clone();
        let mut joint = choices.first_joint();
        let mut found = None;
        // What is remembered is cheap, so all of that first.
        'moves: for is_second_round in [false, true] {
            for m in choices.of(player) {
                joint[player.index()] = m.clone();
                position.go_to(&here);
                position.advance(&joint);
                let keeps = if is_second_round || position.is_terminal() {
                    match prover.ask(&mut position, &question, meter) {
                        Err(Stop::Why(Why::Budget)) => return Ok(Line { joints, value }),
                        answer => answer?,
                    }
                } else {
                    prover.remembers(&position, &question) == Some(true)
                };
                if keeps {
                    found = Some(joint.clone());
                    break 'moves;
                }
            }
        }
        let joint = found.ok_or(Stop::NotForProofs)?;
        joints.push(joint);
    }
    Ok(Line { joints, value })
}
