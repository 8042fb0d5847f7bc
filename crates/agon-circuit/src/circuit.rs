//! The form: a game of finitely many fluents and moves as one Boolean function.
//!
//! In go the bits of a state and one input bit for each role and move, out come legality, the end, goals, the next
//! state and percepts. Nothing is executed here and nothing is simplified: see [`crate::Builder`] for making one.

use agon_game::{Role, Shape};

use crate::Signal;

/// A game as an and-inverter graph.
///
/// Gate 0 is the constant false. Then come the base bits (one per fluent), then the input bits (one per role and
/// move, role by role), then two-input AND gates in topological order. A negation is no gate but a property of the
/// [`Signal`] that reads it. The invariants are listed in [`crate::verify`].
///
/// # The assumption
/// A circuit is only ever evaluated at states that are reachable from the initial one, and wherever an output
/// depends on inputs, exactly one input of each role is true, and that input's move is legal. Every pass may use
/// this. The legal, terminal and goal signals depend on no input.
///
/// # Conditions on what comes of a step
/// A condition on the state after a step is as large as the rules of that state, and as a signal of legality it would be there once
/// for each move. So it may be left to `Outputs::rejected`, which is asked of the step when it is made: then a joint move is legal
/// if each move is legal and the step is not rejected, and play has also ended where no joint move is left. A step may be rejected
/// only where at most one role has more than one legal move, so that it is that role's move which is refused. "Legal" in the assumption
/// above remains that of the legal signals.
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
    /// What the circuit computes.
    pub outputs: Outputs,
}

/// A role of a circuit and all the moves it may ever make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitRole {
    /// As the rules spell it.
    pub name: String,
    /// The text of each move; its index is the move's number within the role.
    pub moves: Vec<String>,
    /// Whether it moves by chance. At most one role does, and its legal moves are equally likely.
    pub is_nature: bool,
}

/// The signals that a circuit is there to compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// By role and move: the move is legal. No input is read.
    pub legal: Vec<Vec<Signal>>,
    /// By base bit: it holds in the next state.
    pub next: Vec<Signal>,
    /// Play has ended. No input is read.
    pub terminal: Signal,
    /// By role: the goal values with their conditions, in ascending order of value, each value once. No input is read.
    pub goals: Vec<Vec<(i64, Signal)>>,
    /// By role: what it perceives of a step, with the condition for it. Empty where nothing is hidden.
    pub percepts: Vec<Vec<(String, Signal)>>,
    /// The step is refused: the moves are legal by what the state shows, but not by what comes of them. See
    /// [`Circuit::is_exact`].
    pub rejected: Signal,
}

/// What the gate of a given number is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Gate 0, the constant false.
    False,
    /// The base bit of this number.
    Base(usize),
    /// The input bit for this move of this role.
    Input(Role, usize),
    /// Both of these signals.
    And(Signal, Signal),
}

impl Circuit {
    /// How many gates there are, constant, base bits and inputs included.
    pub fn n_gates(&self) -> usize {
        self.first_and() + self.ands.len()
    }

    /// How many input bits there are: the moves of all roles.
    pub fn n_inputs(&self) -> usize {
        self.roles.iter().map(|role| role.moves.len()).sum()
    }

    /// The number of the first input gate.
    pub fn first_input(&self) -> usize {
        1 + self.base.len()
    }

    /// The number of the first AND gate.
    pub fn first_and(&self) -> usize {
        self.first_input() + self.n_inputs()
    }

    /// A base bit as a signal.
    pub fn base(&self, bit: usize) -> Signal {
        debug_assert!(bit < self.base.len(), "base bits are dense");
        Signal::of_gate(1 + bit)
    }

    /// The gates of a role's inputs, in the order of its moves.
    pub fn inputs(&self, role: Role) -> std::ops::Range<usize> {
        let before: usize = self.roles[..role.index()].iter().map(|role| role.moves.len()).sum();
        let first = self.first_input() + before;
        first..first + self.roles[role.index()].moves.len()
    }

    /// The input bit for a role's move as a signal.
    pub fn input(&self, role: Role, move_idx: usize) -> Signal {
        Signal::of_gate(self.inputs(role).start + move_idx)
    }

    /// All roles, in order.
    pub fn role_ids(&self) -> impl ExactSizeIterator<Item = Role> + use<> {
        (0..self.roles.len()).map(Role::new)
    }

    /// What a gate is. Linear in the number of roles: for dumps, not for passes.
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

    /// By gate: whether one of these signals depends on it. Linear time.
    pub(crate) fn cone(&self, roots: impl Iterator<Item = Signal>) -> Vec<bool> {
        let mut marked = vec![false; self.n_gates()];
        roots.for_each(|signal| marked[signal.gate()] = true);
        let first_and = self.first_and();
        for (and, [a, b]) in self.ands.iter().enumerate().rev() {
            if marked[first_and + and] {
                marked[a.gate()] = true;
                marked[b.gate()] = true;
            }
        }
        marked
    }

    /// By gate: whether it depends on an input. Linear time.
    pub(crate) fn reads_input(&self) -> Vec<bool> {
        let mut reads_input = vec![false; self.n_gates()];
        reads_input[self.first_input()..self.first_and()].fill(true);
        for (gate, [a, b]) in (self.first_and()..).zip(&self.ands) {
            reads_input[gate] = reads_input[a.gate()] || reads_input[b.gate()];
        }
        reads_input
    }

    /// Whether the legal signals tell all there is to legality: no step is ever rejected.
    pub fn is_exact(&self) -> bool {
        self.outputs.rejected == Signal::FALSE
    }

    /// What the circuit alone shows of the game. Proved facts such as turn-taking are for the caller to add.
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
    /// Every signal, in a fixed order: legal, terminal, goals, next, percepts, rejected.
    pub fn signals(&self) -> impl Iterator<Item = Signal> + '_ {
        self.state_signals().chain(self.step_signals())
    }

    /// The signals that depend on the state alone: legal, terminal, goals.
    pub fn state_signals(&self) -> impl Iterator<Item = Signal> + '_ {
        let goals = self.goals.iter().flatten().map(|&(_, signal)| signal);
        self.legal.iter().flatten().copied().chain([self.terminal]).chain(goals)
    }

    /// The signals that may depend on the moves made: next, percepts, rejected.
    pub fn step_signals(&self) -> impl Iterator<Item = Signal> + '_ {
        let percepts = self.percepts.iter().flatten().map(|(_, signal)| *signal);
        self.next.iter().copied().chain(percepts).chain([self.rejected])
    }

    /// The same outputs with every signal replaced.
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
