//! A game of finitely many fluents and moves as one Boolean function.
//!
//! The inputs are the bits of a state and one bit for each role and move. The outputs are legality,
//! the end of play, goals, the next state and percepts. Nothing is executed or simplified here. See
//! [`crate::Builder`] for building one.

use agon_game::{Role, Shape};

use super::graph;
use crate::Signal;

/// A game as an and-inverter graph.
///
/// Gate 0 is the constant false. Then come the base bits (one per fluent), then the input bits (one
/// per role and move, role by role), then two-input AND gates in topological order. A negation is
/// not a gate but a property of the [`Signal`] that reads it. [`crate::verify`] checks the
/// invariants.
///
/// # The assumption
/// A circuit is evaluated only at states that are reachable from the initial one. Where an output
/// depends on inputs, exactly one input of each role is true, and its move is legal. Every pass may
/// use this. The legal, terminal and goal signals depend on no input.
///
/// # Rejected steps
/// A condition on the state after a step is as large as the rules of that state. As part of
/// legality it would occur once for each move. So it may be left to [`Outputs::rejected`], which is
/// evaluated for the step that is made. Then a joint move is legal if each move is legal and the
/// step is not rejected, and play has also ended where no joint move is left. A step may be
/// rejected only where at most one role has more than one legal move, so that it is that role's
/// move which is rejected. "Legal" in the assumption above refers to the legal signals alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// The roles with their moves, in the order of the rules.
    pub roles: Vec<CircuitRole>,
    /// The text of each base bit: a fluent.
    pub base: Vec<String>,
    /// The value of each base bit in the initial state.
    pub initial: Vec<bool>,
    /// The AND gates. The first of them is gate `first_and()`.
    pub ands: Vec<[Signal; 2]>,
    /// The signals that the circuit computes.
    pub outputs: Outputs,
}

/// A role of a circuit and all the moves it may ever make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitRole {
    /// The name, as the rules spell it.
    pub name: String,
    /// The text of each move; its index is the move's number within the role.
    pub moves: Vec<String>,
    /// Whether it moves at random. At most one role does, and its legal moves are equally likely.
    pub is_nature: bool,
}

/// The signals that a circuit is there to compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// By role and move: the move is legal. Depends on no input.
    pub legal: Vec<Vec<Signal>>,
    /// By base bit: it holds in the next state.
    pub next: Vec<Signal>,
    /// Play has ended. Depends on no input.
    pub terminal: Signal,
    /// By role: the goal values with their conditions, in ascending order of value, each value
    /// once. Depends on no input.
    pub goals: Vec<Vec<(i64, Signal)>>,
    /// By role: what it perceives of a step, with the condition. Empty if nothing is hidden.
    pub percepts: Vec<Vec<(String, Signal)>>,
    /// The step is rejected: the moves are legal by the state before the step, but not by the state
    /// after it. See [`Circuit::is_exact`].
    pub rejected: Signal,
}

/// The meaning of a gate.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Gate 0, the constant false.
    False,
    /// The base bit of this number.
    Base(usize),
    /// The input bit for this move of this role.
    Input(Role, usize),
    /// The conjunction of two signals.
    And(Signal, Signal),
}

impl Circuit {
    /// Returns the number of gates, including the constant, base bits and inputs.
    pub fn n_gates(&self) -> usize {
        self.first_and() + self.ands.len()
    }

    /// Returns the number of input bits: the moves of all roles.
    pub fn n_inputs(&self) -> usize {
        self.roles.iter().map(|role| role.moves.len()).sum()
    }

    /// Returns the number of the first input gate.
    pub fn first_input(&self) -> usize {
        1 + self.base.len()
    }

    /// Returns the number of the first AND gate.
    pub fn first_and(&self) -> usize {
        self.first_input() + self.n_inputs()
    }

    /// Returns a base bit as a signal.
    pub fn base(&self, bit: usize) -> Signal {
        debug_assert!(bit < self.base.len(), "base bits are dense");
        Signal::of_gate(1 + bit)
    }

    /// Returns the gates of a role's inputs, in the order of its moves.
    pub fn inputs(&self, role: Role) -> std::ops::Range<usize> {
        let before: usize = self.roles[..role.index()].iter().map(|role| role.moves.len()).sum();
        let first = self.first_input() + before;
        first..first + self.roles[role.index()].moves.len()
    }

    /// Returns the input bit for a role's move as a signal.
    pub fn input(&self, role: Role, move_idx: usize) -> Signal {
        Signal::of_gate(self.inputs(role).start + move_idx)
    }

    /// Returns all roles, in order.
    pub fn role_ids(&self) -> impl ExactSizeIterator<Item = Role> + use<> {
        (0..self.roles.len()).map(Role::new)
    }

    /// Returns the meaning of a gate. Takes time linear in the number of roles.
    pub fn gate(&self, gate: usize) -> Gate {
        if gate == 0 {
            return Gate::False;
        }
        if gate < self.first_input() {
            return Gate::Base(gate - 1);
        }
        if gate >= self.first_and() {
            let [a, b] = self.ands[gate - self.first_and()];
            return Gate::And(a, b);
        }
        let role = self
            .role_ids()
            .find(|&role| self.inputs(role).contains(&gate))
            .expect("a gate between base bits and AND gates is the input of a role");
        Gate::Input(role, gate - self.inputs(role).start)
    }

    /// Returns, by gate, whether one of these signals depends on it. Linear time.
    pub(crate) fn cone(&self, roots: impl Iterator<Item = Signal>) -> Vec<bool> {
        graph::cone(self.first_and(), &self.ands, roots)
    }

    /// Returns, by gate, whether it depends on an input. Linear time.
    pub(crate) fn reads_input(&self) -> Vec<bool> {
        let mut reads_input = vec![false; self.n_gates()];
        reads_input[self.first_input()..self.first_and()].fill(true);
        for (gate, [a, b]) in (self.first_and()..).zip(&self.ands) {
            reads_input[gate] = reads_input[a.gate()] || reads_input[b.gate()];
        }
        reads_input
    }

    /// Returns whether the legal signals alone decide legality: no step is ever rejected.
    pub fn is_exact(&self) -> bool {
        self.outputs.rejected == Signal::FALSE
    }

    /// Returns the shape of the game as far as the circuit alone shows it. The caller adds proved
    /// facts such as turn-taking.
    ///
    /// The bounds of payoffs are those of the goal values and of 0, the payoff where no goal holds.
    pub fn shape(&self) -> Shape {
        let names = self.roles.iter().map(|role| role.name.clone()).collect();
        let nature = self.roles.iter().position(|role| role.is_nature).map(Role::new);
        let values = || self.outputs.goals.iter().flatten().map(|&(value, _)| value).chain([0]);
        let low = values().min().expect("0 is among them");
        let high = values().max().expect("0 is among them");
        Shape {
            payoffs: low as f64..=high as f64,
            hidden: self.outputs.percepts.iter().any(|percepts| !percepts.is_empty()),
            ..Shape::new(names, nature)
        }
    }
}

impl Outputs {
    /// Returns every signal, in a fixed order: legal, terminal, goals, next, percepts, rejected.
    pub fn signals(&self) -> impl Iterator<Item = Signal> + '_ {
        self.state_signals().chain(self.step_signals())
    }

    /// Returns the signals that depend on the state alone: legal, terminal, goals.
    pub(crate) fn state_signals(&self) -> impl Iterator<Item = Signal> + '_ {
        let goals = self.goals.iter().flatten().map(|&(_, signal)| signal);
        self.legal.iter().flatten().copied().chain([self.terminal]).chain(goals)
    }

    /// Returns the signals that may depend on the moves made: next, percepts, rejected.
    fn step_signals(&self) -> impl Iterator<Item = Signal> + '_ {
        let percepts = self.percepts.iter().flatten().map(|(_, signal)| *signal);
        self.next.iter().copied().chain(percepts).chain([self.rejected])
    }

    /// Returns the same outputs with every signal replaced.
    #[must_use]
    pub fn map(&self, mut to: impl FnMut(Signal) -> Signal) -> Outputs {
        let mut outputs = self.clone();
        outputs.legal.iter_mut().flatten().for_each(|signal| *signal = to(*signal));
        outputs.terminal = to(outputs.terminal);
        outputs.goals.iter_mut().flatten().for_each(|(_, signal)| *signal = to(*signal));
        outputs.next.iter_mut().for_each(|signal| *signal = to(*signal));
        outputs.percepts.iter_mut().flatten().for_each(|(_, signal)| *signal = to(*signal));
        outputs.rejected = to(outputs.rejected);
        outputs
    }
}
