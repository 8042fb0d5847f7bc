//! Best-first search with a table of positions.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use agon_game::{Position, Role};

use super::step_counters::StepCounters;
use crate::Meter;
use crate::choices::Choices;
use crate::hash::Map;
use crate::solve::numbering::Numbering;

/// The step by which a position was reached first.
struct Step {
    parent: u32,
    move_idx: u32,
}

/// The priority of a waiting position: its payoff by the rules in thousandths, then the number of
/// its moves that were never legal before, then early positions first.
type Priority = (i64, usize, Reverse<u32>);

/// The known positions, and those of them that wait for expansion.
pub(super) struct Frontier<P: Position> {
    us: Role,
    max_positions: usize,
    most: f64,
    counters: Option<StepCounters>,
    numbering: Numbering,
    steps: Vec<Step>,
    /// The states of the waiting positions, which both queues share.
    waiting: Map<u32, P::State>,
    by_priority: BinaryHeap<(Priority, u32)>,
    in_order: VecDeque<u32>,
    /// The moves that were legal at some position.
    seen_moves: Map<P::Move, ()>,
    best: Option<(f64, u32)>,
    takes_priority: bool,
}

impl<P: Position> Frontier<P> {
    /// Returns a frontier with one waiting position. Positions that differ only in the counters, if
    /// there are any, count as the same.
    pub(super) fn new(
        position: &P,
        us: Role,
        max_positions: usize,
        counters: Option<StepCounters>,
    ) -> Frontier<P> {
        let mut frontier = Frontier {
            us,
            max_positions,
            most: *position.shape().payoffs.end(),
            counters,
            numbering: Numbering::default(),
            steps: vec![Step { parent: u32::MAX, move_idx: 0 }],
            waiting: Map::default(),
            by_priority: BinaryHeap::new(),
            in_order: VecDeque::new(),
            seen_moves: Map::default(),
            best: None,
            takes_priority: false,
        };
        let key = frontier.key(position);
        frontier.numbering.number(key);
        frontier.wait(0, position);
        frontier
    }

    fn key(&mut self, position: &P) -> u64 {
        match &mut self.counters {
            Some(counters) => counters.key(position),
            None => position.key(),
        }
    }

    /// Returns whether a line with the highest possible payoff is known.
    pub(super) fn has_full_score(&self) -> bool {
        self.best.is_some_and(|(payoff, _)| payoff >= self.most)
    }

    /// Returns whether different positions count as the same, so that lines may be missed.
    pub(super) fn is_approximate(&self) -> bool {
        self.counters.is_some()
    }

    fn wait(&mut self, number: u32, position: &P) {
        let mut n_new = 0;
        for m in position.legal_moves(self.us) {
            if !self.seen_moves.contains_key(m) {
                self.seen_moves.insert(m.clone(), ());
                n_new += 1;
            }
        }
        let payoff = (position.payoff(self.us) * 1000.0) as i64;
        self.by_priority.push(((payoff, n_new, Reverse(number)), number));
        self.in_order.push_back(number);
        self.waiting.insert(number, position.state().clone());
    }

    /// Expands positions until the meter has counted `until` positions or a line with the highest
    /// payoff is known. Returns whether all positions are known.
    pub(super) fn run(&mut self, position: &mut P, until: u64, meter: &mut Meter<'_>) -> bool {
        while meter.n_nodes < until && !meter.is_over(64) {
            if self.has_full_score() {
                return false;
            }
            if self.numbering.len() >= self.max_positions {
                return false;
            }
            let Some((number, state)) = self.next() else { return true };
            position.go_to(&state);
            let choices = Choices::at(position);
            let mut joint = choices.first_joint();
            for (move_idx, m) in choices.of(self.us).iter().enumerate() {
                joint[self.us.index()] = m.clone();
                position.go_to(&state);
                position.advance(&joint);
                meter.n_nodes += 1;
                // Terminal positions are always different, because their payoffs may depend on the
                // number of steps.
                let key = if position.is_terminal() { position.key() } else { self.key(position) };
                let (child, is_new) = self.numbering.number(key);
                if !is_new {
                    continue;
                }
                self.steps.push(Step { parent: number, move_idx: move_idx as u32 });
                if !position.is_terminal() {
                    self.wait(child, position);
                    continue;
                }
                let payoff = position.payoff(self.us);
                if position.fault().is_none() && self.best.is_none_or(|(before, _)| payoff > before)
                {
                    self.best = Some((payoff, child));
                }
            }
        }
        false
    }

    /// Takes the next position to expand, alternately from the two queues.
    fn next(&mut self) -> Option<(u32, P::State)> {
        self.takes_priority = !self.takes_priority;
        loop {
            let number = if self.takes_priority {
                self.by_priority.pop().map(|(_, number)| number)
            } else {
                self.in_order.pop_front()
            }?;
            // A position without a state was taken from the other queue.
            if let Some(state) = self.waiting.remove(&number) {
                return Some((number, state));
            }
        }
    }

    /// Returns the moves of the player on the way to the best known terminal position.
    pub(super) fn best_line(&self, position: &mut P, home: &P::State) -> Option<Vec<P::Move>> {
        let (_, mut at) = self.best?;
        let mut move_idxs = Vec::new();
        while self.steps[at as usize].parent != u32::MAX {
            move_idxs.push(self.steps[at as usize].move_idx);
            at = self.steps[at as usize].parent;
        }
        position.go_to(home);
        let mut moves = Vec::new();
        for &move_idx in move_idxs.iter().rev() {
            let choices = Choices::at(position);
            let mut joint = choices.first_joint();
            let m = choices.of(self.us)[move_idx as usize].clone();
            joint[self.us.index()] = m.clone();
            position.advance(&joint);
            moves.push(m);
        }
        Some(moves)
    }
}
