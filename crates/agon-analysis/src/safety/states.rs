//! Random plays, and visits to all reachable states.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::evaluate::{Evaluator, State};
use super::{Line, Outcome, Problem, Reason, SafetyLimits};

/// Maximum number of steps of a random play.
const MAX_PLAY: usize = 500;

/// Maximum number of steps between states that are remembered, by state.
const EDGES_PER_STATE: usize = 64;

/// The result of visiting states.
pub(super) enum Search {
    Decided(Outcome),
    /// There are too many states. Plays of this length have no bad state.
    GaveUp {
        complete_steps: usize,
    },
}

/// A visited state: its predecessor and the joint move that led here first.
struct Visit {
    state: State,
    parent: u32,
    joint: Vec<usize>,
}

impl Problem<'_> {
    /// Returns the values of each base bit at the states of random plays, packed into words. `None`
    /// if a play reaches a bad state.
    pub(crate) fn histories(&self, limits: &SafetyLimits) -> Option<Vec<Vec<u64>>> {
        let mut histories = vec![Vec::new(); self.circuit.base.len()];
        let mut n_states = 0;
        let found = self.watched_plays(limits, &mut |state| {
            let (word, place) = (n_states / 64, n_states % 64);
            for (bit, history) in histories.iter_mut().enumerate() {
                history.resize(word + 1, 0);
                history[word] |= (state[bit / 64] >> (bit % 64) & 1) << place;
            }
            n_states += 1;
        });
        found.is_none().then_some(histories)
    }

    /// Plays at random and returns a play that reaches a bad state, if one does.
    pub(super) fn random_plays(&self, limits: &SafetyLimits) -> Option<Line> {
        self.watched_plays(limits, &mut |_| ())
    }

    fn watched_plays(&self, limits: &SafetyLimits, watch: &mut dyn FnMut(&State)) -> Option<Line> {
        let mut rng = Rng::seed_from_u64(limits.seed);
        let mut evaluator = Evaluator::new(self.circuit);
        let initial = evaluator.initial();
        // A tenth of the time at most: the other methods find shorter plays.
        let now = Instant::now();
        let deadline = limits.deadline.map(|end| now + end.saturating_duration_since(now) / 10);
        for _ in 0..limits.plays {
            let mut state = initial.clone();
            let mut line = Vec::new();
            for _ in 0..MAX_PLAY {
                if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                    return None;
                }
                evaluator.go_to(&state);
                watch(&state);
                if evaluator.holds(self.bad) {
                    return Some(line);
                }
                let legal = evaluator.legal();
                let is_over = evaluator.holds(self.stop)
                    || evaluator.holds(self.circuit.outputs.terminal)
                    || legal.iter().any(Vec::is_empty);
                if is_over {
                    break;
                }
                let joint: Vec<usize> =
                    legal.iter().map(|moves| moves[rng.random_range(0..moves.len())]).collect();
                line.push(evaluator.texts(&joint));
                evaluator.moves(std::slice::from_ref(&joint));
                state = evaluator.next(0);
            }
        }
        None
    }

    /// Visits the reachable states, breadth first, within the limits and half of the time.
    pub(super) fn all_states(&self, limits: &SafetyLimits) -> Search {
        let now = Instant::now();
        let deadline = limits.deadline.map(|end| now + end.saturating_duration_since(now) / 2);
        let mut evaluator = Evaluator::new(self.circuit);
        let initial = evaluator.initial();
        let mut visits = vec![Visit { state: initial.clone(), parent: 0, joint: Vec::new() }];
        let mut index: BTreeMap<State, u32> = BTreeMap::from([(initial, 0)]);
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let (mut at, mut layer_end, mut depth) = (0, 1, 0);
        let gave_up = |depth: usize| Search::GaveUp { complete_steps: depth.saturating_sub(1) };
        while at < visits.len() {
            if at == layer_end {
                (layer_end, depth) = (visits.len(), depth + 1);
            }
            let is_late = deadline.is_some_and(|deadline| Instant::now() > deadline);
            let is_large = edges.len() > limits.states.saturating_mul(EDGES_PER_STATE);
            if is_late || is_large || visits.len() > limits.states {
                return gave_up(depth);
            }
            let state = visits[at].state.clone();
            evaluator.go_to(&state);
            if evaluator.holds(self.bad) {
                let line = line(&evaluator, &visits, at);
                return Search::Decided(Outcome::Reached(line, true));
            }
            let is_over =
                evaluator.holds(self.stop) || evaluator.holds(self.circuit.outputs.terminal);
            let legal = if is_over { Vec::new() } else { evaluator.legal() };
            let n_joints = legal.iter().fold(1_usize, |n, moves| n.saturating_mul(moves.len()));
            if is_over || n_joints == 0 {
                at += 1;
                continue;
            }
            if n_joints > limits.states {
                return gave_up(depth);
            }
            for first in (0..n_joints).step_by(64) {
                let joints: Vec<Vec<usize>> = (first..n_joints.min(first + 64))
                    .map(|number| joint_of(number, &legal))
                    .collect();
                evaluator.moves(&joints);
                for (lane, joint) in joints.iter().enumerate() {
                    let next = evaluator.next(lane);
                    let parent = id(at);
                    let target = *index.entry(next).or_insert_with_key(|state| {
                        visits.push(Visit { state: state.clone(), parent, joint: joint.clone() });
                        id(visits.len() - 1)
                    });
                    if self.needs_end {
                        edges.push((parent, target));
                    }
                }
            }
            at += 1;
        }
        if let Some((from, to)) = self.needs_end.then(|| back_edge(visits.len(), &edges)).flatten()
        {
            return Search::Decided(Outcome::Repeats(repeating(&mut evaluator, &visits, from, to)));
        }
        Search::Decided(Outcome::Never(Reason::AllStates(visits.len())))
    }
}

fn id(index: usize) -> u32 {
    u32::try_from(index).expect("fewer states than 2^32 are visited")
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

/// Returns the play that led to a visited state first.
fn line(evaluator: &Evaluator<'_>, visits: &[Visit], mut at: usize) -> Line {
    let mut line = Vec::new();
    while at != 0 {
        line.push(evaluator.texts(&visits[at].joint));
        at = visits[at].parent as usize;
    }
    line.reverse();
    line
}

/// Returns a step of a cycle, if there is one: from a state to one from which it can be reached.
fn back_edge(n_states: usize, edges: &[(u32, u32)]) -> Option<(usize, usize)> {
    // States are removed that nothing leads to any more. What is left lies on cycles or after them.
    let mut successors: Vec<Vec<u32>> = vec![Vec::new(); n_states];
    let mut n_before = vec![0_u32; n_states];
    for &(from, to) in edges {
        successors[from as usize].push(to);
        n_before[to as usize] += 1;
    }
    let mut open: Vec<usize> = (0..n_states).filter(|&state| n_before[state] == 0).collect();
    let mut is_removed = vec![false; n_states];
    while let Some(state) = open.pop() {
        is_removed[state] = true;
        for &to in &successors[state] {
            n_before[to as usize] -= 1;
            if n_before[to as usize] == 0 {
                open.push(to as usize);
            }
        }
    }
    // Depth-first search below a state that is left finds a step back to an open state.
    let start = (0..n_states).find(|&state| !is_removed[state])?;
    let mut mark = vec![0_u8; n_states];
    let mut stack = vec![(start, 0_usize)];
    mark[start] = 1;
    while let Some(top) = stack.last_mut() {
        let (state, next) = *top;
        match successors[state].get(next) {
            Some(&to) => {
                top.1 += 1;
                match mark[to as usize] {
                    0 => {
                        mark[to as usize] = 1;
                        stack.push((to as usize, 0));
                    }
                    1 => return Some((state, to as usize)),
                    _ => {}
                }
            }
            None => {
                mark[state] = 2;
                stack.pop();
            }
        }
        if stack.is_empty() {
            // This part has no cycle: continue with another state.
            let left = (0..n_states).find(|&state| !is_removed[state] && mark[state] == 0)?;
            mark[left] = 1;
            stack.push((left, 0));
        }
    }
    None
}

/// Returns a play to a state and back to it: to `to` first, then on to `from`, then the step back.
fn repeating(evaluator: &mut Evaluator<'_>, visits: &[Visit], from: usize, to: usize) -> Line {
    let mut play = line(evaluator, visits, to);
    // A shortest way from `to` to `from` by breadth-first search among the visited states.
    let index: BTreeMap<&State, usize> =
        visits.iter().enumerate().map(|(number, visit)| (&visit.state, number)).collect();
    let mut before: BTreeMap<usize, (usize, Vec<usize>)> = BTreeMap::new();
    let mut open = VecDeque::from([to]);
    while let Some(at) = open.pop_front() {
        evaluator.go_to(&visits[at].state);
        let legal = evaluator.legal();
        let n_joints = legal.iter().fold(1_usize, |n, moves| n.saturating_mul(moves.len()));
        for number in 0..n_joints {
            let joint = joint_of(number, &legal);
            evaluator.moves(std::slice::from_ref(&joint));
            let Some(&next) = index.get(&evaluator.next(0)) else { continue };
            if next == to && (at == from || from == to) {
                let mut way = vec![evaluator.texts(&joint)];
                let mut state = at;
                while state != to {
                    let (parent, joint) = &before[&state];
                    way.push(evaluator.texts(joint));
                    state = *parent;
                }
                way.reverse();
                play.extend(way);
                return play;
            }
            if next != to && !before.contains_key(&next) {
                before.insert(next, (at, joint));
                open.push_back(next);
            }
        }
    }
    play
}
