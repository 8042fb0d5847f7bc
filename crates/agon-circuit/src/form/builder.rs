//! Building circuits gate by gate.

use agon_game::Role;

use crate::form::graph::Graph;
use crate::{Circuit, CircuitRole, Outputs, Signal};

/// Builds a circuit gate by gate with structural hashing and local simplification.
///
/// No gate is made twice. A gate that two levels of logic show to be something simpler
/// is not made at all: constants, `a & a`, `a & !a`, absorption and substitution through one AND
/// gate below either side (the rules without blow-up of Brummayer and Biere, "Local two-level
/// And-Inverter Graph minimization", 2006). The result depends on the calls alone, never on hash
/// seeds. Each call takes constant time, except `and_all` and `or_all`, which sort.
///
/// ```
/// use agon_circuit::{Builder, CircuitRole, Outputs, Signal};
///
/// // One player may switch the lamp or leave it. The game ends when it is on.
/// let moves = vec!["wait".into(), "switch".into()];
/// let role = CircuitRole { name: "player".into(), moves, is_nature: false };
/// let mut builder = Builder::new(vec![role], vec![("lamp".into(), false)]);
/// let [lamp, switch] = [builder.base(0), builder.input(0, 1)];
/// let next = builder.xor(lamp, switch);
/// let circuit = builder.finish(Outputs {
///     legal: vec![vec![Signal::TRUE, Signal::TRUE]],
///     next: vec![next],
///     terminal: lamp,
///     goals: vec![vec![(0, !lamp), (100, lamp)]],
///     percepts: vec![vec![]],
///     rejected: Signal::FALSE,
/// });
/// assert_eq!(circuit.ands.len(), 3);
/// ```
#[derive(Clone)]
pub struct Builder {
    roles: Vec<CircuitRole>,
    /// The gate of each role's first input.
    role_inputs: Vec<usize>,
    base: Vec<String>,
    initial: Vec<bool>,
    graph: Graph,
}

impl Builder {
    /// Returns a builder for a game with these roles and base bits. A base bit has a text and an
    /// initial value.
    pub fn new(roles: Vec<CircuitRole>, base: Vec<(String, bool)>) -> Builder {
        let (base, initial): (Vec<_>, Vec<_>) = base.into_iter().unzip();
        let mut first_and = 1 + base.len();
        let mut role_inputs = Vec::with_capacity(roles.len());
        for role in &roles {
            role_inputs.push(first_and);
            first_and += role.moves.len();
        }
        Builder { roles, role_inputs, base, initial, graph: Graph::new(first_and - 1) }
    }

    /// Returns a builder with the roles and base bits of a circuit and none of its AND gates.
    pub fn like(circuit: &Circuit) -> Builder {
        let base = circuit.base.iter().cloned().zip(circuit.initial.iter().copied()).collect();
        Builder::new(circuit.roles.clone(), base)
    }

    /// Returns a base bit.
    ///
    /// # Panics
    /// If there is no such bit.
    pub fn base(&self, bit: usize) -> Signal {
        assert!(
            bit < self.base.len(),
            "base bits are dense: {bit} is not below {}",
            self.base.len()
        );
        Signal::of_gate(1 + bit)
    }

    /// Returns the input bit that says that the role of this index makes its move of this index.
    ///
    /// # Panics
    /// If there is no such move.
    pub fn input(&self, role: usize, move_idx: usize) -> Signal {
        let n_moves = self.roles[role].moves.len();
        assert!(move_idx < n_moves, "moves of a role are dense: {move_idx} is not below {n_moves}");
        Signal::of_gate(self.role_inputs[role] + move_idx)
    }

    /// Returns the gates of a role's inputs, in the order of its moves.
    pub fn inputs(&self, role: Role) -> std::ops::Range<usize> {
        let first = self.role_inputs[role.index()];
        first..first + self.roles[role.index()].moves.len()
    }

    /// Returns the number of AND gates so far.
    pub fn n_ands(&self) -> usize {
        self.graph.ands().len()
    }

    /// Returns the operands of the AND gate that drives a signal, inverted or not. `None` for
    /// constants, base bits and inputs.
    #[inline]
    pub fn operands(&self, signal: Signal) -> Option<[Signal; 2]> {
        self.graph.operands(signal)
    }

    /// Returns the signal that both hold.
    pub fn and(&mut self, a: Signal, b: Signal) -> Signal {
        self.graph.and(a, b)
    }

    /// Returns the signal that at least one holds.
    pub fn or(&mut self, a: Signal, b: Signal) -> Signal {
        self.graph.or(a, b)
    }

    /// Returns the signal that exactly one holds.
    pub fn xor(&mut self, a: Signal, b: Signal) -> Signal {
        self.graph.xor(a, b)
    }

    /// Returns the signal that is `then` if `condition` holds, else `otherwise`.
    pub fn choose(&mut self, condition: Signal, then: Signal, otherwise: Signal) -> Signal {
        self.graph.choose(condition, then, otherwise)
    }

    /// Returns the signal that all hold, as a balanced tree. True if there are none.
    pub fn and_all(&mut self, signals: &[Signal]) -> Signal {
        self.graph.and_all(signals)
    }

    /// Returns the signal that at least one holds, as a balanced tree. False if there are none.
    pub fn or_all(&mut self, signals: &[Signal]) -> Signal {
        self.graph.or_all(signals)
    }

    /// Finishes the circuit.
    ///
    /// # Panics
    /// If the outputs do not fit the roles and base bits: see [`crate::verify`].
    pub fn finish(self, outputs: Outputs) -> Circuit {
        let Builder { roles, base, initial, graph, .. } = self;
        let circuit = Circuit { roles, base, initial, ands: graph.into_ands(), outputs };
        if let Err(broken) = crate::verify(&circuit) {
            panic!("a finished circuit keeps its invariants: {broken}");
        }
        circuit
    }
}
