//! Visits the reachable states of a circuit one by one, breadth first.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use agon_circuit::{Circuit, Signal};

use super::evaluate::{Evaluator, State};
use super::{Line, SafetyLimits};

/// Maximum number of steps between states that are remembered, by state.
const EDGES_PER_STATE: usize = 64;

/// A visited state: its predecessor and the joint move that led here first.
struct Visit {
    state: State,
    parent: u32,
    joint: Vec<usize>,
}

/// The states that were visited so far.
pub(crate) struct Explorer<'a> {
    circuit: &'a Circuit,
    evaluator: Evaluator<'a>,
    visits: Vec<Visit>,
    index: BTreeMap<State, u32>,
    /// Number of states whose successors are known.
    at: usize,
    n_edges: usize,
    layer_end: usize,
    depth: usize,
    max_states: usize,
    deadline: Option<Instant>,
}

/// What [`Explorer::go_on`] found.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Visited {
    /// It stands at the state of this number. [`Explorer::successors`] comes next.
    State(usize),
    /// There are no more states.
    All,
    /// The limits are reached.
    GaveUp,
}

impl<'a> Explorer<'a> {
    /// Starts at the initial state. Half of the time is used at most.
    pub(crate) fn new(circuit: &'a Circuit, limits: &SafetyLimits) -> Explorer<'a> {
        let now = Instant::now();
        let evaluator = Evaluator::new(circuit);
        let initial = evaluator.initial();
        Explorer {
            circuit,
            evaluator,
            visits: vec![Visit { state: initial.clone(), parent: 0, joint: Vec::new() }],
            index: BTreeMap::from([(initial, 0)]),
            at: 0,
            n_edges: 0,
            layer_end: 1,
            depth: 0,
            max_states: limits.states,
            deadline: limits.deadline.map(|end| now + end.saturating_duration_since(now) / 2),
        }
    }

    /// Goes to the next state whose successors are not known.
    pub(crate) fn go_on(&mut self) -> Visited {
        if self.at == self.visits.len() {
            return Visited::All;
        }
        if self.at == self.layer_end {
            (self.layer_end, self.depth) = (self.visits.len(), self.depth + 1);
        }
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        let is_large = self.n_edges > self.max_states.saturating_mul(EDGES_PER_STATE);
        if is_late || is_large || self.visits.len() > self.max_states {
            return Visited::GaveUp;
        }
        self.evaluator.go_to(&self.visits[self.at].state);
        self.at += 1;
        Visited::State(self.at - 1)
    }

    /// Returns whether a signal holds at the current state.
    pub(crate) fn holds(&self, signal: Signal) -> bool {
        self.evaluator.holds(signal)
    }

    /// Returns whether play is over at the current state.
    pub(crate) fn is_terminal(&self) -> bool {
        self.holds(self.circuit.outputs.terminal)
    }

    /// Returns the numbers of the states after the current one, sorted and each once. `None` if
    /// there are too many joint moves.
    pub(crate) fn successors(&mut self) -> Option<Vec<u32>> {
        let legal = self.evaluator.legal();
        let n_joints = n_joints(&legal);
        if n_joints > self.max_states {
            return None;
        }
        let parent = id(self.at - 1);
        let mut targets = Vec::new();
        for first in (0..n_joints).step_by(64) {
            let joints: Vec<Vec<usize>> =
                (first..n_joints.min(first + 64)).map(|number| joint_of(number, &legal)).collect();
            self.evaluator.moves(&joints);
            for (lane, joint) in joints.iter().enumerate() {
                let next = self.evaluator.next(lane);
                let visits = &mut self.visits;
                targets.push(*self.index.entry(next).or_insert_with_key(|state| {
                    visits.push(Visit { state: state.clone(), parent, joint: joint.clone() });
                    id(visits.len() - 1)
                }));
            }
        }
        targets.sort_unstable();
        targets.dedup();
        self.n_edges += targets.len();
        Some(targets)
    }

    /// Returns the number of states that are known.
    pub(crate) fn n_states(&self) -> usize {
        self.visits.len()
    }

    /// Returns the number of steps of plays whose states were all visited.
    pub(crate) fn complete_steps(&self) -> usize {
        self.depth.saturating_sub(1)
    }

    /// Returns the play that led to a state first.
    pub(crate) fn line(&self, mut at: usize) -> Line {
        let mut line = Vec::new();
        while at != 0 {
            line.push(self.evaluator.texts(&self.visits[at].joint));
            at = self.visits[at].parent as usize;
        }
        line.reverse();
        line
    }

    /// Returns a play along states, each of which is a successor of the one before it.
    pub(crate) fn line_along(&mut self, path: &[usize]) -> Line {
        path.windows(2).map(|pair| self.step(pair[0], pair[1])).collect()
    }

    /// Returns the first joint move that leads from a state to another one.
    fn step(&mut self, from: usize, to: usize) -> Vec<String> {
        self.evaluator.go_to(&self.visits[from].state);
        let legal = self.evaluator.legal();
        let mut joints = (0..n_joints(&legal)).map(|number| joint_of(number, &legal));
        let joint = joints
            .find(|joint| {
                self.evaluator.moves(std::slice::from_ref(joint));
                self.evaluator.next(0) == self.visits[to].state
            })
            .expect("the second state is a successor of the first");
        self.evaluator.texts(&joint)
    }
}

fn id(index: usize) -> u32 {
    u32::try_from(index).expect("fewer states than 2^32 are visited")
}

fn n_joints(legal: &[Vec<usize>]) -> usize {
    legal.iter().fold(1_usize, |n, moves| n.saturating_mul(moves.len()))
}

/// Returns the joint move of a number: the moves of the first role change slowest.
fn joint_of(mut number: usize, legal: &[Vec<usize>]) -> Vec<usize> {
    let mut joint = vec![0; legal.len()];
    for (role, moves) in legal.iter().enumerate().rev() {
        joint[role] = moves[number % moves.len()];
        number /= moves.len();
    }
    joint
}

/// Returns a shortest way of at least one step, as states, from a state to a goal. All states of it
/// but the first one are allowed.
pub(crate) fn shortest_way(
    successors: &[Vec<u32>],
    from: usize,
    is_allowed: &dyn Fn(usize) -> bool,
    is_goal: &dyn Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut before: BTreeMap<usize, usize> = BTreeMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        for to in successors[at].iter().map(|&to| to as usize).filter(|&to| is_allowed(to)) {
            if is_goal(to) {
                let mut way = vec![to, at];
                let mut state = at;
                while state != from {
                    state = before[&state];
                    way.push(state);
                }
                way.reverse();
                return Some(way);
            }
            if to != from && !before.contains_key(&to) {
                before.insert(to, at);
                open.push_back(to);
            }
        }
    }
    None
}
