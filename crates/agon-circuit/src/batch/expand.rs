//! Steps from many states at once, a different move in each lane.

use std::sync::Arc;

use agon_game::Role;

use crate::kernel::{Backend, Kernel};
use crate::program::lower;
use crate::{Bits, Circuit, Input, Plane, Signal, transpose};

/// What a joint move leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Child<S> {
    /// The state after it.
    pub state: S,
    /// Whether play has ended there, be it by the rules or because a role has no legal move.
    pub is_terminal: bool,
    /// By role: what it gets if play ends there.
    pub payoffs: Vec<f64>,
    /// The legal moves of all roles, role after role. None where play has ended.
    pub legal: Vec<Input>,
    /// By role: where its moves end in `legal`.
    pub legal_ends: Vec<u32>,
}

impl<S> Child<S> {
    /// The legal moves of a role.
    pub fn legal_moves(&self, role: Role) -> &[Input] {
        let start = role.index().checked_sub(1).map_or(0, |before| self.legal_ends[before]);
        &self.legal[start as usize..self.legal_ends[role.index()] as usize]
    }
}

/// Two kernels, one after the other: from state and moves to the next state, and from a state to what it says.
pub(super) struct Expander {
    circuit: Arc<Circuit>,
    step: Kernel,
    look: Kernel,
    state: Vec<Plane>,
    inputs: Vec<Plane>,
    next: Vec<Plane>,
    answers: Vec<Plane>,
}

impl Expander {
    pub(super) fn new(circuit: &Arc<Circuit>, backend: Backend) -> Expander {
        let (n_base, n_inputs) = (circuit.base.len(), circuit.n_inputs());
        let step = lower(n_base + n_inputs, &circuit.ands, &circuit.outputs.next);
        let roots: Vec<Signal> = circuit.outputs.state_signals().collect();
        let look = lower(n_base + n_inputs, &circuit.ands, &roots);
        Expander {
            step: Kernel::new(&step, n_base, backend),
            look: Kernel::new(&look, n_base, backend),
            state: vec![Plane::ZERO; n_base],
            inputs: vec![Plane::ZERO; n_inputs],
            next: vec![Plane::ZERO; n_base],
            answers: vec![Plane::ZERO; roots.len()],
            circuit: Arc::clone(circuit),
        }
    }

    pub(super) fn advance_all(&mut self, steps: &[(&Bits, &[Input])]) -> Vec<Child<Bits>> {
        let mut children = Vec::with_capacity(steps.len());
        for steps in steps.chunks(Plane::LANES) {
            transpose::load(steps.iter().map(|(state, _)| *state), &mut self.state);
            self.inputs.fill(Plane::ZERO);
            for (lane, (_, joint)) in steps.iter().enumerate() {
                for input in *joint {
                    self.inputs[input.0 as usize].set_lane(lane, true);
                }
            }
            self.step.run(&self.state, &self.inputs, &mut self.next);
            self.look.run(&self.next, &self.inputs, &mut self.answers);
            self.collect(steps.len(), &mut children);
        }
        children
    }

    pub(super) fn expand(&mut self, state: &Bits) -> super::Children<Bits, Input> {
        transpose::load([state].into_iter(), &mut self.next);
        self.look.run(&self.next, &self.inputs, &mut self.answers);
        let mut own = Vec::new();
        self.collect(1, &mut own);
        let mut joints = vec![Vec::new()];
        for role in self.circuit.role_ids() {
            let legal = own[0].legal_moves(role);
            joints = joints
                .iter()
                .flat_map(|joint: &Vec<Input>| {
                    legal.iter().map(|&m| joint.iter().copied().chain([m]).collect())
                })
                .collect();
        }
        let steps: Vec<(&Bits, &[Input])> = joints.iter().map(|joint| (state, joint.as_slice())).collect();
        let children = self.advance_all(&steps);
        joints.into_iter().zip(children).collect()
    }

    /// Reads the answers about the first `n` lanes of `next`.
    fn collect(&self, n: usize, children: &mut Vec<Child<Bits>>) {
        let n_inputs = self.circuit.n_inputs();
        let (legal, rest) = self.answers.split_at(n_inputs);
        let (terminal, goals) = rest.split_first().expect("terminal comes after legal");
        let legal = transpose::store(legal, n);
        for (lane, (state, legal)) in transpose::store(&self.next, n).into_iter().zip(legal).enumerate() {
            let mut child = Child {
                state,
                is_terminal: terminal.lane(lane),
                payoffs: Vec::with_capacity(self.circuit.roles.len()),
                legal: Vec::new(),
                legal_ends: vec![0; self.circuit.roles.len()],
            };
            let mut first_goal = 0;
            for of_role in &self.circuit.outputs.goals {
                let holds = &goals[first_goal..first_goal + of_role.len()];
                let highest = of_role.iter().zip(holds).rev().find(|(_, plane)| plane.lane(lane));
                child.payoffs.push(highest.map_or(0.0, |(&(value, _), _)| value as f64));
                first_goal += of_role.len();
            }
            if !child.is_terminal {
                list_moves(&self.circuit, &legal, &mut child);
            }
            children.push(child);
        }
    }
}

/// Lists the legal moves from a mask of them, and ends play where a role has none.
fn list_moves(circuit: &Circuit, mask: &Bits, child: &mut Child<Bits>) {
    for (idx, &word) in (0..).zip(mask.0.iter()) {
        let mut word = word;
        while word != 0 {
            child.legal.push(Input(64 * idx + word.trailing_zeros()));
            word &= word - 1;
        }
    }
    let mut end = 0;
    let mut n_before = 0;
    for (role, part) in circuit.roles.iter().enumerate() {
        end += part.moves.len() as u32;
        let n_legal = child.legal.partition_point(|input| input.0 < end) as u32;
        child.is_terminal |= n_legal == n_before;
        child.legal_ends[role] = n_legal;
        n_before = n_legal;
    }
    if child.is_terminal {
        child.legal.clear();
        child.legal_ends.fill(0);
    }
}
