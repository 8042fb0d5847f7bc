//! One player: the shortest line to the highest payoff.

use std::collections::VecDeque;

use agon_game::Position;

use super::table::Numbering;
use super::{Method, Solution, Why};
use crate::choices::Choices;
use crate::{Line, Meter};

/// How a position was met first.
struct Step {
    parent: u32,
    /// The index of the player's move at the parent.
    move_idx: u32,
}

/// The reason and the bounds, if it was not solved.
type Refusal = (Why, Vec<(f64, f64)>);

/// Lists positions breadth-first until a line to the highest payoff of the shape is found or there are no more. Endless play
/// pays nothing.
pub(super) fn solve<P: Position>(
    start: &P,
    meter: &mut Meter<'_>,
    max_bytes: usize,
) -> Result<Solution<P::Move>, Refusal> {
    let shape = start.shape().clone();
    let player = shape.players().next().expect("there is one player");
    let (least, most) = (*shape.payoffs.start(), *shape.payoffs.end());
    let mut position = start.clone();
    let mut numbering = Numbering::default();
    let mut steps: Vec<Step> = vec![Step { parent: u32::MAX, move_idx: 0 }];
    let mut queue: VecDeque<(u32, P::State)> = VecDeque::new();
    let mut best: Option<(f64, u32)> = None;
    let mut can_repeat = false;
    numbering.number(start.key());
    queue.push_back((0, start.state().clone()));
    meter.n_nodes += 1;
    if start.is_terminal() {
        best = Some((start.payoff(player), 0));
        queue.clear();
    }
    let per_node = Numbering::BYTES + size_of::<Step>();
    let per_waiting = size_of::<(u32, P::State)>() + 64;
    'search: while let Some((number, state)) = queue.pop_front() {
        position.go_to(&state);
        let choices = Choices::at(&position);
        let mut joint = choices.first_joint();
        for (move_idx, m) in choices.of(player).iter().enumerate() {
            joint[player.index()] = m.clone();
            position.go_to(&state);
            position.advance(&joint);
            meter.n_nodes += 1;
            let (child, is_new) = numbering.number(position.key());
            if !is_new {
                // Whether it closes a circle is told at the end, and only if it matters: an earlier or equal number may also
                // be reached by another way of the same length.
                can_repeat |= child <= number && is_ancestor(&steps, child, number);
                continue;
            }
            steps.push(Step { parent: number, move_idx: move_idx as u32 });
            if position.is_terminal() {
                if let Some(fault) = position.fault() {
                    return Err((Why::Fault(fault.to_string()), bounds(best, least, most)));
                }
                let payoff = position.payoff(player);
                if best.is_none_or(|(before, _)| payoff > before) {
                    best = Some((payoff, child));
                }
                if payoff >= most {
                    break 'search;
                }
            } else {
                queue.push_back((child, position.state().clone()));
            }
        }
        let is_full = numbering.len() * per_node + queue.len() * per_waiting > max_bytes;
        if is_full || meter.is_over(64) {
            return Err((
                if is_full { Why::Memory } else { Why::Budget },
                bounds(best, least, most),
            ));
        }
    }
    let Some((value, end)) = best else { return Err((Why::Endless, bounds(None, least, most))) };
    let mut move_idxs = Vec::new();
    let mut at = end;
    while steps[at as usize].parent != u32::MAX {
        move_idxs.push(steps[at as usize].move_idx);
        at = steps[at as usize].parent;
    }
    position.go_to(start.state());
    let mut joints = Vec::new();
    for &move_idx in move_idxs.iter().rev() {
        let choices = Choices::at(&position);
        let mut joint = choices.first_joint();
        joint[player.index()] = choices.of(player)[move_idx as usize].clone();
        position.advance(&joint);
        joints.push(joint);
    }
    let mut values = vec![0.0; shape.role_names.len()];
    values[player.index()] = value;
    let mut strategies = vec![Vec::new(); shape.role_names.len()];
    let chosen = joints.first().map(|joint: &Vec<P::Move>| joint[player.index()].clone());
    for m in start.legal_moves(player) {
        strategies[player.index()]
            .push((m.clone(), if Some(m) == chosen.as_ref() { 1.0 } else { 0.0 }));
    }
    Ok(Solution {
        values,
        line: Line { joints, value },
        strategies,
        method: Method::BreadthFirst,
        can_repeat,
        nodes: meter.n_nodes,
        seconds: meter.seconds(),
    })
}

fn bounds(best: Option<(f64, u32)>, least: f64, most: f64) -> Vec<(f64, f64)> {
    vec![(best.map_or(least, |(payoff, _)| payoff), most)]
}

fn is_ancestor(steps: &[Step], ancestor: u32, mut number: u32) -> bool {
    // Parents have smaller numbers.
    while number > ancestor && number != u32::MAX {
        number = steps[number as usize].parent;
    }
    number == ancestor
}
