//! Best-first search with a table of positions.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use agon_game::{Position, Role};

use super::clockwork::Clockwork;
use crate::Meter;
use crate::choices::Choices;
use crate::hash::Map;
use crate::solve::table::Numbering;

/// How a position was met first.
struct Step {
    parent: u32,
    move_idx: u32,
}

/// What a waiting position promises: the payoff the rules give there, in thousandths; how many of its moves were never legal before;
/// and being met early.
type Promise = (i64, usize, Reverse<u32>);

/// Positions known, and those whose moves have not been made yet.
pub(super) struct Frontier<P: Position> {
    us: Role,
    max_positions: usize,
    most: f64,
    clockwork: Option<Clockwork>,
    numbering: Numbering,
    steps: Vec<Step>,
    /// The states of those that wait; the two queues share them.
    waiting: Map<u32, P::State>,
    promising: BinaryHeap<(Promise, u32)>,
    in_order: VecDeque<u32>,
    /// Moves that have been legal somewhere.
    met: Map<P::Move, ()>,
    best: Option<(f64, u32)>,
    takes_promising: bool,
}

impl<P: Position> Frontier<P> {
    /// Positions that differ only in the clockwork, if one is given, are taken for one.
    pub(super) fn new(
        position: &P,
        us: Role,
        max_positions: usize,
        clockwork: Option<Clockwork>,
    ) -> Frontier<P> {
        let mut frontier = Frontier {
            us,
            max_positions,
            most: *position.shape().payoffs.end(),
            clockwork,
            numbering: Numbering::default(),
            steps: vec![Step { parent: u32::MAX, move_idx: 0 }],
            waiting: Map::default(),
            promising: BinaryHeap::new(),
            in_order: VecDeque::new(),
            met: Map::default(),
            best: None,
            takes_promising: false,
        };
        let key = frontier.key(position);
        frontier.numbering.number(key);
        frontier.wait(0, position);
        frontier
    }

    fn key(&mut self, position: &P) -> u64 {
        match &mut self.clockwork {
            Some(clockwork) => clockwork.key(position),
            None => position.key(),
        }
    }

    /// Whether nothing better can be found.
    pub(super) fn has_full_score(&self) -> bool {
        self.best.is_some_and(|(payoff, _)| payoff >= self.most)
    }

    /// Whether positions that differ in something are taken for one, so that not all is known when all are.
    pub(super) fn is_rough(&self) -> bool {
        self.clockwork.is_some()
    }

    fn wait(&mut self, number: u32, position: &P) {
        let mut n_new = 0;
        for m in position.legal_moves(self.us) {
            if !self.met.contains_key(m) {
                self.met.insert(m.clone(), ());
                n_new += 1;
            }
        }
        let payoff = (position.payoff(self.us) * 1000.0) as i64;
        self.promising.push(((payoff, n_new, Reverse(number)), number));
        self.in_order.push_back(number);
        self.waiting.insert(number, position.state().clone());
    }

    /// Goes on until the meter has counted so many positions, or a line with the full score is known. Whether all positions are known.
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
                // Ends are all different: what they pay may depend on when they are reached.
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

    /// The next position to look at, from one queue and the other in turn.
    fn next(&mut self) -> Option<(u32, P::State)> {
        self.takes_promising = !self.takes_promising;
        loop {
            let number = if self.takes_promising {
                self.promising.pop().map(|(_, number)| number)
            } else {
                self.in_order.pop_front()
            }?;
            // What is gone was taken from the other queue.
            if let Some(state) = self.waiting.remove(&number) {
                return Some((number, state));
            }
        }
    }

    /// Our moves on the way to the best end known.
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
