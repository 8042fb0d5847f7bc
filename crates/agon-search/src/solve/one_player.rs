//! One player: the shortest line to the highest payoff.

use std::collections::VecDeque;

use agon_game::{Position, Role};

use super::numbering::Numbering;
use super::{Method, Solution, UnsolvedReason};
use crate::choices::Choices;
use crate::{Line, Meter};

/// The step by which a position was reached first.
struct Step {
    parent: u32,
    /// The index of the player's move at the parent.
    move_idx: u32,
}

/// The reason and the bounds of a game that was not solved.
type Refusal = (UnsolvedReason, Vec<(f64, f64)>);

/// Visits positions breadth-first until a line to the highest payoff of the shape is found or all
/// positions are known. Endless play has no payoff.
pub(super) fn solve<P: Position>(
    start: &P,
    meter: &mut Meter<'_>,
    max_bytes: usize,
) -> Result<Solution<P::Move>, Refusal> {
    let shape = start.shape();
    let player = shape.players().next().expect("there is one player");
    let mut exploration = Exploration {
        player,
        range: (*shape.payoffs.start(), *shape.payoffs.end()),
        numbering: Numbering::default(),
        steps: vec![Step { parent: u32::MAX, move_idx: 0 }],
        queue: VecDeque::new(),
        best: None,
        can_repeat: false,
    };
    exploration.run(start, meter, max_bytes)?;
    let Some((value, end)) = exploration.best else {
        return Err(exploration.refusal(UnsolvedReason::Endless));
    };
    let joints = exploration.line(start, end);
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
        can_repeat: exploration.can_repeat,
        nodes: meter.n_nodes,
        seconds: meter.seconds(),
    })
}

/// The positions known so far.
struct Exploration<P: Position> {
    player: Role,
    /// The least and the highest payoff of the shape.
    range: (f64, f64),
    numbering: Numbering,
    /// By number of a position.
    steps: Vec<Step>,
    /// The positions whose children are not known yet.
    queue: VecDeque<(u32, P::State)>,
    /// The highest payoff at a terminal position, and the position.
    best: Option<(f64, u32)>,
    can_repeat: bool,
}

impl<P: Position> Exploration<P> {
    fn run(&mut self, start: &P, meter: &mut Meter<'_>, max_bytes: usize) -> Result<(), Refusal> {
        let mut position = start.clone();
        self.numbering.number(start.key());
        self.queue.push_back((0, start.state().clone()));
        meter.n_nodes += 1;
        if start.is_terminal() {
            self.best = Some((start.payoff(self.player), 0));
            self.queue.clear();
        }
        let per_node = Numbering::BYTES + size_of::<Step>();
        let per_waiting = size_of::<(u32, P::State)>() + 64;
        while let Some((number, state)) = self.queue.pop_front() {
            if self.expand(&mut position, number, &state, meter)? {
                break;
            }
            let n_bytes = self.numbering.len() * per_node + self.queue.len() * per_waiting;
            if n_bytes > max_bytes {
                return Err(self.refusal(UnsolvedReason::Memory));
            }
        }
        Ok(())
    }

    /// Makes the children of a position. Returns whether one of them has the highest payoff.
    fn expand(
        &mut self,
        position: &mut P,
        number: u32,
        state: &P::State,
        meter: &mut Meter<'_>,
    ) -> Result<bool, Refusal> {
        position.go_to(state);
        let choices = Choices::at(position);
        let mut joint = choices.first_joint();
        for (move_idx, m) in choices.of(self.player).iter().enumerate() {
            joint[self.player.index()] = m.clone();
            // There may be a million moves, so the budget is looked at for each.
            if meter.is_over(64) {
                return Err(self.refusal(UnsolvedReason::Budget));
            }
            position.go_to(state);
            position.advance(&joint);
            meter.n_nodes += 1;
            let (child, is_new) = self.numbering.number(position.key());
            if !is_new {
                // A smaller number does not imply a cycle, because another path of the same length
                // may lead to the child.
                self.can_repeat |= child <= number && is_ancestor(&self.steps, child, number);
                continue;
            }
            self.steps.push(Step { parent: number, move_idx: move_idx as u32 });
            if !position.is_terminal() {
                self.queue.push_back((child, position.state().clone()));
                continue;
            }
            if let Some(fault) = position.fault() {
                return Err(self.refusal(UnsolvedReason::Fault(fault.to_string())));
            }
            let payoff = position.payoff(self.player);
            if self.best.is_none_or(|(before, _)| payoff > before) {
                self.best = Some((payoff, child));
            }
            if payoff >= self.range.1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the joint moves from the start to a position.
    fn line(&self, start: &P, end: u32) -> Vec<Vec<P::Move>> {
        let mut move_idxs = Vec::new();
        let mut at = end;
        while self.steps[at as usize].parent != u32::MAX {
            move_idxs.push(self.steps[at as usize].move_idx);
            at = self.steps[at as usize].parent;
        }
        let mut position = start.clone();
        let mut joints = Vec::new();
        for &move_idx in move_idxs.iter().rev() {
            let choices = Choices::at(&position);
            let mut joint = choices.first_joint();
            joint[self.player.index()] = choices.of(self.player)[move_idx as usize].clone();
            position.advance(&joint);
            joints.push(joint);
        }
        joints
    }

    fn refusal(&self, reason: UnsolvedReason) -> Refusal {
        let (least, most) = self.range;
        (reason, vec![(self.best.map_or(least, |(payoff, _)| payoff), most)])
    }
}

fn is_ancestor(steps: &[Step], ancestor: u32, mut number: u32) -> bool {
    // Parents have smaller numbers.
    while number > ancestor && number != u32::MAX {
        number = steps[number as usize].parent;
    }
    number == ancestor
}
