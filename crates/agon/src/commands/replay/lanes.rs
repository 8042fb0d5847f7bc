//! Recorded plays side by side in the lanes of a batch.

use std::sync::Arc;

use agon_circuit::{
    Backend, BatchCircuit, BatchOptions, Bits, Circuit, Executor, Input, Plane, ScalarCircuit,
    Turns,
};
use agon_game::{Batch as _, Children, Position as _, Role, Shape};

use super::compare::{Goal, Tally, canonical};
use crate::trace::{Step, Trace};

/// A game as a circuit, whichever language it was written in.
pub(super) struct Machine {
    pub(super) circuit: Arc<Circuit>,
    pub(super) shape: Shape,
    pub(super) turns: Option<Turns>,
}

/// Replays a trace by steps of all its plays at once. Each play is in as many lanes as there is room for, and all of them must
/// say the same: traces are few, and a fault may be in one lane alone.
pub(super) fn replay_in_lanes(compiled: &Machine, backend: Backend, trace: &Trace) -> Tally {
    let mut tally = Tally::default();
    if !tally.same_roles(&trace.roles, &compiled.shape.role_names) {
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
    compiled: &'a Machine,
    trace: &'a Trace,
    batch: BatchCircuit,
    /// What the last steps led to, in the order of `open`, each play `n_copies` times.
    children: Children<Bits, Input>,
    n_copies: usize,
    /// The plays that go on, by number.
    open: Vec<usize>,
    /// By open play: where it stands.
    standings: Vec<Standing>,
}

/// What is known of a position.
#[derive(Clone, PartialEq)]
struct Standing {
    state: Bits,
    is_terminal: bool,
    legal: Vec<Vec<Input>>,
    payoffs: Vec<f64>,
}

impl<'a> Lanes<'a> {
    fn new(compiled: &'a Machine, backend: Backend, trace: &'a Trace) -> Lanes<'a> {
        let circuit = Arc::clone(&compiled.circuit);
        let options =
            BatchOptions { backend, turns: compiled.turns.clone(), ..BatchOptions::default() };
        // A batch tells of states that steps lead to, so the first state is looked at by itself.
        let executor = match backend {
            Backend::Native => Executor::Native,
            Backend::Portable => Executor::Levelled,
        };
        let start =
            ScalarCircuit::with_executor(Arc::clone(&circuit), compiled.shape.clone(), executor);
        let roles = || compiled.shape.roles();
        let standing = Standing {
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
            batch: BatchCircuit::new(circuit, compiled.shape.clone(), options),
            n_copies: (Plane::LANES / n_plays.max(1)).max(1),
            open: (0..n_plays).collect(),
            standings: vec![standing; n_plays],
        }
    }

    /// Compares where all open plays stand; those whose recording ends here are closed.
    fn compare(&mut self, step: usize, tally: &mut Tally) {
        let names = &self.compiled.shape.role_names;
        let mut goes_on = Vec::with_capacity(self.open.len());
        for (&number, standing) in self.open.iter().zip(&self.standings) {
            let play = &self.trace.plays[number];
            let state = self.state_text(&standing.state);
            let Some(recorded) = play.steps.get(step) else {
                let goals = |role: usize| Goal::Highest(standing.payoffs[role]);
                let place = format!("play {}, end", number + 1);
                tally.compare_end(&place, play, &state, standing.is_terminal, goals, names);
                goes_on.push(false);
                continue;
            };
            let texts = |(role, moves): (usize, &Vec<Input>)| {
                moves.iter().map(|&m| self.move_text(Role::new(role), m).to_owned()).collect()
            };
            let legal: Vec<Vec<String>> = standing.legal.iter().enumerate().map(texts).collect();
            goes_on.push(tally.compare_step(&place(number, step), recorded, &state, &legal, names));
        }
        self.keep(&goes_on);
    }

    /// Makes the recorded move in every open play.
    fn advance(&mut self, step: usize, tally: &mut Tally) {
        let mut joints = Vec::with_capacity(self.open.len());
        for (&number, standing) in self.open.iter().zip(&self.standings) {
            let recorded = &self.trace.plays[number].steps[step];
            let joint = self.joint(recorded, standing);
            if joint.is_none() {
                let moves = recorded.joint.join(" ");
                tally.differ(
                    &place(number, step),
                    &format!("the recorded move {moves} is not legal here"),
                );
            }
            joints.push(joint);
        }
        self.keep(&joints.iter().map(Option::is_some).collect::<Vec<_>>());
        let joints: Vec<Vec<Input>> = joints.into_iter().flatten().collect();
        let pairs = self.standings.iter().zip(&joints);
        let pairs: Vec<(&Bits, &[Input])> = pairs
            .flat_map(|(standing, joint)| {
                std::iter::repeat_n((&standing.state, joint.as_slice()), self.n_copies)
            })
            .collect();
        self.batch.advance_all(&pairs, &mut self.children);
        for (index, &number) in self.open.iter().enumerate() {
            let first = index * self.n_copies;
            self.standings[index] = self.standing(first);
            let differs = |child: &usize| self.standing(*child) != self.standings[index];
            if let Some(child) = (first..first + self.n_copies).find(differs) {
                tally.differ(
                    &place(number, step),
                    &format!("lanes {first} and {child} come to different ends"),
                );
            }
        }
    }

    /// The recorded move, if it is legal.
    fn joint(&self, recorded: &Step, standing: &Standing) -> Option<Vec<Input>> {
        let roles = self.compiled.shape.roles().zip(&standing.legal).zip(&recorded.joint);
        roles
            .map(|((role, legal), text)| {
                // Two moves may differ in capitalisation alone: the exact spelling goes first.
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

    fn standing(&self, child: usize) -> Standing {
        let legal = self.compiled.shape.roles().map(|role| {
            let mut moves = Vec::new();
            self.children.list_legal(child, role, &mut moves);
            moves
        });
        Standing {
            state: self.children.states[child].clone(),
            is_terminal: self.children.ended[child],
            legal: legal.collect(),
            payoffs: self.children.payoffs(child).to_vec(),
        }
    }

    fn keep(&mut self, goes_on: &[bool]) {
        let mut keep = goes_on.iter();
        self.open.retain(|_| *keep.next().expect("one for each open play"));
        let mut keep = goes_on.iter();
        self.standings.retain(|_| *keep.next().expect("one for each open play"));
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
