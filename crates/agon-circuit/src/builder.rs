//! Making circuits: gates are shared and simplified as they are asked for.

use agon_game::Role;

use crate::graph::Graph;
use crate::{Circuit, CircuitRole, Outputs, Signal};

/// Builds a circuit gate by gate with structural hashing and local simplification.
///
/// The same gate is never made twice, and a gate that two levels of logic show to be something simpler is not made
/// at all: constants, `a & a`, `a & !a`, absorption and substitution through one AND gate below either side (the
/// rules without blow-up of Brummayer and Biere, "Local two-level And-Inverter Graph minimization", 2006). What is
/// built is a matter of the calls alone, never of hash seeds. Each call takes constant time, but for `and_all` and
/// `or_all`, which sort.
///
/// ```
/// use agon_circuit::{Builder, CircuitRole, Outputs, Signal};
///
/// // One player, who may switch the lamp or leave it; the game ends when it is on.
/// let role = CircuitRole { name: "player".into(), moves: vec!["wait".into(), "switch".into()], is_nature: false };
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
    /// A builder for a game with these roles and these base bits, each with its text and initial value.
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

    /// A builder with the roles and base bits of a circuit and none of its AND gates.
    pub fn like(circuit: &Circuit) -> Builder {
        let base = circuit.base.iter().cloned().zip(circuit.initial.iter().copied()).collect();
        Builder::new(circuit.roles.clone(), base)
    }

    /// A base bit.
    pub fn base(&self, bit: usize) -> Signal {
        assert!(
            bit < self.base.len(),
            "base bits are dense: {bit} is not below {}",
            self.base.len()
        );
        Signal::of_gate(1 + bit)
    }

    /// The input bit that says that the role, by its index, makes the move of this index within the role.
    pub fn input(&self, role: usize, move_idx: usize) -> Signal {
        let n_moves = self.roles[role].moves.len();
        assert!(move_idx < n_moves, "moves of a role are dense: {move_idx} is not below {n_moves}");
        Signal::of_gate(self.role_inputs[role] + move_idx)
    }

    /// The gates of a role's inputs, in the order of its moves.
    pub fn inputs(&self, role: Role) -> std::ops::Range<usize> {
        let first = self.role_inputs[role.index()];
        first..first + self.roles[role.index()].moves.len()
    }

    /// How many AND gates there are by now.
    pub fn n_ands(&self) -> usize {
        self.graph.ands().len()
    }

    /// The operands of the AND gate that drives a signal, whatever its inversion; `None` for constants, base bits and
    /// inputs.
    #[inline]
    pub fn operands(&self, signal: Signal) -> Option<[Signal; 2]> {
        self.graph.operands(signal)
    }

    /// Both hold.
    pub fn and(&mut self, a: Signal, b: Signal) -> Signal {
        self.graph.and(a, b)
    }

    /// At least one holds.
    pub fn or(&mut self, a: Signal, b: Signal) -> Signal {
        self.graph.or(a, b)
    }

    /// Exactly one holds.
    pub fn xor(&mut self, a: Signal, b: Signal) -> Signal {
        self.graph.xor(a, b)
    }

    /// `then` if `condition` holds, else `otherwise`.
    pub fn choose(&mut self, condition: Signal, then: Signal, otherwise: Signal) -> Signal {
        self.graph.choose(condition, then, otherwise)
    }

    /// All hold: a balanced tree. True if there are none. Time is that of sorting.
    pub fn and_all(&mut self, signals: &[Signal]) -> Signal {
        self.graph.and_all(signals)
    }

    /// At least one holds: a balanced tree. False if there are none. Time is that of sorting.
    pub fn or_all(&mut self, signals: &[Signal]) -> Signal {
        self.graph.or_all(signals)
    }

    /// The finished circuit.
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
