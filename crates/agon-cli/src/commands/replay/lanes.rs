//! Replays all plays of a trace at once, in the lanes of a batch.

use std::sync::Arc;

use agon_circuit::{
    Backend, BatchCircuit, BatchOptions, Bits, Compiled, Executor, Input, Plane, ScalarCircuit,
};
use agon_game::{Batch as _, Children, Position as _, Role};

use super::compare::{Goal, Tally, canonical};
use crate::trace::{Step, Trace};

/// Replays a trace, one step of all its plays at a time. The plays fill all lanes: each play has
/// several copies, and all copies must agree, because an error may affect a single lane.
pub(super) fn replay_in_lanes(compiled: &Compiled, backend: Backend, trace: &Trace) -> Tally {
    let mut tally = Tally::default();
    if !tally.same_roles(&trace.roles, &compiled.shape().role_names) {
        return tally;
    }
    let mut lanes = Lanes::new(compiled, backend, trace);
    for step in 0.. {
        lanes.compare(step, &mut tally);
        if lanes.open.is_empty() {
            break;
        }
        lanes.advance(step, &mut tally);
    }
    tally.n_plays = trace.plays.len();
    tally
}

struct Lanes<'a> {
    compiled: &'a Compiled,
    trace: &'a Trace,
    batch: BatchCircuit,
    /// The positions after the last step, in the order of `open`, `n_copies` of each.
    children: Children<Bits, Input>,
    n_copies: usize,
    /// The numbers of the plays whose recording has not ended.
    open: Vec<usize>,
    /// The position of each open play.
    positions: Vec<LanePosition>,
}

/// A position as the batch reports it.
#[derive(Clone, PartialEq)]
struct LanePosition {
    state: Bits,
    is_terminal: bool,
    legal: Vec<Vec<Input>>,
    payoffs: Vec<f64>,
}

impl<'a> Lanes<'a> {
    fn new(compiled: &'a Compiled, backend: Backend, trace: &'a Trace) -> Lanes<'a> {
        let circuit = Arc::clone(&compiled.circuit);
        let options =
            BatchOptions { backend, turns: compiled.turns.clone(), ..BatchOptions::default() };
        // A batch reports positions after a step, so the start is evaluated by a scalar executor.
        let executor = match backend {
            Backend::Native => Executor::Native,
            Backend::Portable => Executor::Levelled,
        };
        let start =
            ScalarCircuit::with_executor(Arc::clone(&circuit), compiled.shape().clone(), executor);
        let roles = || compiled.shape().roles();
        let position = LanePosition {
            state: start.state().clone(),
            is_terminal: start.is_terminal(),
            legal: roles().map(|role| start.legal_moves(role).to_vec()).collect(),
            payoffs: roles().map(|role| start.payoff(role)).collect(),
        };
        let n_plays = trace.plays.len();
        Lanes {
            compiled,
            trace,
            children: Children::new(circuit.roles.len()),
            batch: BatchCircuit::new(circuit, compiled.shape().clone(), options),
            n_copies: (Plane::LANES / n_plays.max(1)).max(1),
            open: (0..n_plays).collect(),
            positions: vec![position; n_plays],
        }
    }

    /// Compares the positions of all open plays, and closes the plays whose recording ends here.
    fn compare(&mut self, step: usize, tally: &mut Tally) {
        let names = &self.compiled.shape().role_names;
        let mut goes_on = Vec::with_capacity(self.open.len());
        for (&number, position) in self.open.iter().zip(&self.positions) {
            let play = &self.trace.plays[number];
            let state = self.state_text(&position.state);
            let Some(recorded) = play.steps.get(step) else {
                let goals = |role: usize| Goal::Highest(position.payoffs[role]);
                let place = format!("play {}, end", number + 1);
                tally.compare_end(&place, play, &state, position.is_terminal, goals, names);
                goes_on.push(false);
                continue;
            };
            let texts = |(role, moves): (usize, &Vec<Input>)| {
                moves.iter().map(|&m| self.move_text(Role::new(role), m).to_owned()).collect()
            };
            let legal: Vec<Vec<String>> = position.legal.iter().enumerate().map(texts).collect();
            goes_on.push(tally.compare_step(&place(number, step), recorded, &state, &legal, names));
        }
        self.retain(&goes_on);
    }

    /// Plays the recorded move in every open play.
    fn advance(&mut self, step: usize, tally: &mut Tally) {
        let mut joints = Vec::with_capacity(self.open.len());
        for (&number, position) in self.open.iter().zip(&self.positions) {
            let recorded = &self.trace.plays[number].steps[step];
            let joint = self.joint(recorded, position);
            if joint.is_none() {
                let moves = recorded.joint.join(" ");
                tally.differ(
                    &place(number, step),
                    &format!("the recorded move {moves} is not legal here"),
                );
            }
            joints.push(joint);
        }
        self.retain(&joints.iter().map(Option::is_some).collect::<Vec<_>>());
        let joints: Vec<Vec<Input>> = joints.into_iter().flatten().collect();
        let pairs = self.positions.iter().zip(&joints);
        let pairs: Vec<(&Bits, &[Input])> = pairs
            .flat_map(|(position, joint)| {
                std::iter::repeat_n((&position.state, joint.as_slice()), self.n_copies)
            })
            .collect();
        self.batch.advance_all(&pairs, &mut self.children);
        for (index, &number) in self.open.iter().enumerate() {
            let first = index * self.n_copies;
            self.positions[index] = self.position_of(first);
            let differs = |child: &usize| self.position_of(*child) != self.positions[index];
            if let Some(child) = (first..first + self.n_copies).find(differs) {
                tally.differ(
                    &place(number, step),
                    &format!("lanes {first} and {child} have different results"),
                );
            }
        }
    }

    /// Returns the recorded joint move, if it is legal.
    fn joint(&self, recorded: &Step, position: &LanePosition) -> Option<Vec<Input>> {
        let roles = self.compiled.shape().roles().zip(&position.legal).zip(&recorded.joint);
        roles
            .map(|((role, legal), text)| {
                // The exact spelling goes first, because moves may differ in capitalisation only.
                let exact = legal.iter().find(|&&m| self.move_text(role, m) == text);
                let wanted = canonical(text);
                exact
                    .or_else(|| {
                        legal.iter().find(|&&m| canonical(self.move_text(role, m)) == wanted)
                    })
                    .copied()
            })
            .collect()
    }

    fn position_of(&self, child: usize) -> LanePosition {
        let legal = self.compiled.shape().roles().map(|role| {
            let mut moves = Vec::new();
            self.children.list_legal(child, role, &mut moves);
            moves
        });
        LanePosition {
            state: self.children.states[child].clone(),
            is_terminal: self.children.ended[child],
            legal: legal.collect(),
            payoffs: self.children.payoffs(child).to_vec(),
        }
    }

    /// Closes the open plays whose flag is false.
    fn retain(&mut self, goes_on: &[bool]) {
        let mut keep = goes_on.iter();
        self.open.retain(|_| *keep.next().expect("one for each open play"));
        let mut keep = goes_on.iter();
        self.positions.retain(|_| *keep.next().expect("one for each open play"));
    }

    fn state_text(&self, state: &Bits) -> Vec<String> {
        let base = self.compiled.circuit.base.iter().enumerate();
        base.filter(|&(bit, _)| state.get(bit)).map(|(_, text)| text.clone()).collect()
    }

    fn move_text(&self, role: Role, m: Input) -> &str {
        let circuit = &self.compiled.circuit;
        let index = circuit.first_input() + m.0 as usize - circuit.inputs(role).start;
        &circuit.roles[role.index()].moves[index]
    }
}

fn place(play: usize, step: usize) -> String {
    format!("play {}, step {}", play + 1, step + 1)
}
