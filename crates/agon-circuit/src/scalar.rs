//! One game at a time: a circuit as a [`Position`].

use std::sync::Arc;

use agon_game::{Batch, Fault, Hidden, Notation, Position, Role, Shape};

use crate::interpret::{Interpreter, Word};
use crate::jit::Native;
use crate::program::lower;
use crate::{Backend, BatchCircuit, BatchOptions, Bits, Circuit, Plane, Signal, prove_turns};

/// A move: the number of its input bit, counted over all roles, role by role. Dense: `0..circuit.n_inputs()`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input(pub u32);

/// A circuit standing at one state.
///
/// Everything is worked out anew at each state, by native code where there is some, of which one lane is used, else in the
/// order of the lowered program. Nothing is allocated by a step, unless somebody else holds on to the state that is left.
#[derive(Clone)]
pub struct ScalarCircuit {
    rules: Arc<Rules>,
    state: Bits,
    is_terminal: bool,
    fault: Option<Fault>,
    /// The legal moves of all roles, role after role.
    legal: Vec<Input>,
    /// By role: where its legal moves end in `legal`.
    legal_ends: Vec<u32>,
    payoffs: Vec<f64>,
    desk: Desk,
}

/// The memory that programs work on, in words or, for native code, in planes of which one lane is used.
#[derive(Clone)]
enum Desk {
    Words(Sheets<u64>),
    Planes(Sheets<Plane>),
}

#[derive(Clone)]
struct Sheets<W> {
    /// The base bits, then the inputs; then, in words, the other values of the program that runs.
    leaves: Vec<W>,
    results: Vec<W>,
    /// For native code.
    scratch: Vec<W>,
}

/// The programs as native code.
struct NativeCode {
    look: Native,
    step: Native,
}

/// Circuits with more gates than this are not made into native code for single steps: it would take longer to make than
/// it saves.
const MAX_NATIVE_GATES: usize = 400_000;

struct Rules {
    circuit: Arc<Circuit>,
    backend: Backend,
    shape: Shape,
    /// From base bits to what a state says: legal, terminal, goals.
    look: Interpreter,
    /// From base bits and inputs to the next base bits.
    step: Interpreter,
    /// From base bits and inputs to the percepts of all roles.
    sense: Interpreter,
    native: Option<NativeCode>,
    /// By role: its first input, and at the end the number of inputs.
    first_inputs: Vec<u32>,
    n_look: usize,
}

impl ScalarCircuit {
    /// The initial position of a circuit's game, with what the circuit alone shows of its shape.
    pub fn new(circuit: Arc<Circuit>) -> ScalarCircuit {
        let shape = circuit.shape();
        ScalarCircuit::with_shape(circuit, shape)
    }

    /// The initial position, of a shape of which more has been proved.
    pub fn with_shape(circuit: Arc<Circuit>, shape: Shape) -> ScalarCircuit {
        ScalarCircuit::with_backend(circuit, shape, Backend::Native)
    }

    /// The same, executed in a given way.
    pub fn with_backend(circuit: Arc<Circuit>, shape: Shape, backend: Backend) -> ScalarCircuit {
        let n_base = circuit.base.len();
        let n_leaves = n_base + circuit.n_inputs();
        let program = |roots: &[Signal]| lower(n_leaves, &circuit.ands, roots);
        let compile = |roots: &[Signal]| Interpreter::new(&program(roots));
        let look: Vec<Signal> = circuit.outputs.state_signals().collect();
        let percepts: Vec<Signal> =
            circuit.outputs.percepts.iter().flatten().map(|(_, signal)| *signal).collect();
        let mut first_inputs = vec![0];
        for role in &circuit.roles {
            first_inputs.push(first_inputs[first_inputs.len() - 1] + role.moves.len() as u32);
        }
        let is_small = circuit.n_gates() <= MAX_NATIVE_GATES && backend == Backend::Native;
        let native = |roots: &[Signal]| Native::new(&program(roots), n_base).ok().filter(|_| is_small);
        let code = if is_small { native(&look).zip(native(&circuit.outputs.next)) } else { None };
        let n_results = look.len().max(n_base);
        let desk = match &code {
            Some((look, step)) => Desk::Planes(Sheets {
                leaves: vec![Plane::ZERO; n_leaves],
                results: vec![Plane::ZERO; n_results],
                scratch: vec![Plane::ZERO; look.n_scratch().max(step.n_scratch())],
            }),
            None => Desk::Words(Sheets {
                leaves: vec![0; n_leaves],
                results: vec![0; n_results],
                scratch: Vec::new(),
            }),
        };
        let rules = Rules {
            native: code.map(|(look, step)| NativeCode { look, step }),
            look: compile(&look),
            step: compile(&circuit.outputs.next),
            sense: compile(&percepts),
            n_look: look.len(),
            first_inputs,
            shape,
            backend,
            circuit,
        };
        let mut position = ScalarCircuit {
            state: Bits::pack(rules.circuit.initial.iter().copied()),
            is_terminal: false,
            fault: None,
            legal: Vec::new(),
            legal_ends: vec![0; rules.circuit.roles.len()],
            payoffs: vec![0.0; rules.circuit.roles.len()],
            desk,
            rules: Arc::new(rules),
        };
        position.look();
        position
    }

    /// The circuit that is played.
    pub fn circuit(&self) -> &Arc<Circuit> {
        &self.rules.circuit
    }

    /// The move of a role by its index within the role.
    pub fn input(&self, role: Role, move_idx: usize) -> Input {
        Input(self.rules.first_inputs[role.index()] + move_idx as u32)
    }

    /// Whose move it is, and its index within the role.
    pub fn role_and_index(&self, input: Input) -> (Role, usize) {
        let role = self.rules.first_inputs.partition_point(|&first| first <= input.0) - 1;
        (Role::new(role), (input.0 - self.rules.first_inputs[role]) as usize)
    }

    /// The goal values that hold for the role here, in ascending order. Games as they should be have exactly one.
    pub fn goal_values(&self, role: Role) -> Vec<i64> {
        let goals = &self.rules.circuit.outputs.goals[role.index()];
        let roots: Vec<Signal> = goals.iter().map(|&(_, signal)| signal).collect();
        let circuit = &self.rules.circuit;
        let program = lower(circuit.first_and() - 1, &circuit.ands, &roots);
        let mut slots = vec![0; program.n_leaves];
        load(&self.state, circuit.base.len(), &mut slots);
        let mut results = vec![0_u64; roots.len()];
        Interpreter::new(&program).run(&mut slots, &mut results);
        goals.iter().zip(results).filter(|&(_, holds)| holds & 1 == 1).map(|(&(value, _), _)| value).collect()
    }

    /// Works out everything there is to know of the state.
    fn look(&mut self) {
        let mut desk = std::mem::replace(&mut self.desk, Desk::NONE);
        let rules = Arc::clone(&self.rules);
        let (n_base, n_look) = (rules.circuit.base.len(), rules.n_look);
        match &mut desk {
            Desk::Words(Sheets { leaves, results, .. }) => {
                load(&self.state, n_base, leaves);
                rules.look.run(leaves, &mut results[..n_look]);
                self.read(&rules, &results[..n_look]);
            }
            Desk::Planes(Sheets { leaves, results, scratch }) => {
                load(&self.state, n_base, leaves);
                let code = rules.native.as_ref().expect("planes go with native code");
                code.look.run(&leaves[..n_base], &leaves[n_base..], results, scratch);
                self.read(&rules, &results[..n_look]);
            }
        }
        self.desk = desk;
    }

    /// Takes over what the circuit says of the state: legal moves, end, goals.
    fn read<W: Word>(&mut self, rules: &Rules, results: &[W]) {
        let (legal_results, rest) = results.split_at(rules.circuit.n_inputs());
        let (terminal, goals) = rest.split_first().expect("terminal comes after legal");
        let legal = &mut self.legal;
        self.is_terminal = terminal.is_set();
        self.fault = None;
        legal.clear();
        for role in 0..rules.circuit.roles.len() {
            let inputs = rules.first_inputs[role]..rules.first_inputs[role + 1];
            if !self.is_terminal {
                let n_before = legal.len();
                legal.extend(inputs.filter(|&input| legal_results[input as usize].is_set()).map(Input));
                if legal.len() == n_before && self.fault.is_none() {
                    self.fault = Some(Fault::NoLegalMove(Role::new(role)));
                }
            }
            self.legal_ends[role] = legal.len() as u32;
        }
        if self.fault.is_some() {
            self.is_terminal = true;
            legal.clear();
            self.legal_ends.fill(0);
        }

        let mut first_goal = 0;
        for (payoff, of_role) in self.payoffs.iter_mut().zip(&rules.circuit.outputs.goals) {
            let holds = &goals[first_goal..first_goal + of_role.len()];
            let highest = of_role.iter().zip(holds).rev().find(|&(_, holds)| holds.is_set());
            *payoff = highest.map_or(0.0, |(&(value, _), _)| value as f64);
            first_goal += of_role.len();
        }
    }

    /// Sets the inputs of a joint move, or takes them back: between steps all inputs are zero, so that a step touches few.
    fn set_joint<W: Word>(&self, joint: &[Input], leaves: &mut [W], value: W) {
        debug_assert_eq!(
            joint.len(),
            self.rules.circuit.roles.len(),
            "a joint move has a move for each role"
        );
        let n_base = self.rules.circuit.base.len();
        for input in joint {
            leaves[n_base + input.0 as usize] = value;
        }
    }
}

impl Desk {
    /// What stands in while the desk is lent out.
    const NONE: Desk = Desk::Words(Sheets { leaves: Vec::new(), results: Vec::new(), scratch: Vec::new() });
}

/// Spreads a state over leaves, one bit each.
fn load<W: Word>(state: &Bits, n_base: usize, leaves: &mut [W]) {
    for (leaves, &word) in leaves[..n_base].chunks_mut(64).zip(state.words()) {
        for (bit, leaf) in leaves.iter_mut().enumerate() {
            *leaf = if word >> bit & 1 == 1 { W::ONES } else { W::ZERO };
        }
    }
}

/// Gathers the bits of a state.
fn gather<W: Word>(results: &[W], words: &mut [u64]) {
    for (word, bits) in words.iter_mut().zip(results.chunks(64)) {
        *word = bits.iter().rev().fold(0, |word, bit| word << 1 | u64::from(bit.is_set()));
    }
}

impl Position for ScalarCircuit {
    type Move = Input;
    type State = Bits;

    fn shape(&self) -> &Shape {
        &self.rules.shape
    }

    fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    fn legal_moves(&self, role: Role) -> &[Input] {
        let start = role.index().checked_sub(1).map_or(0, |before| self.legal_ends[before]);
        &self.legal[start as usize..self.legal_ends[role.index()] as usize]
    }

    fn payoff(&self, player: Role) -> f64 {
        self.payoffs[player.index()]
    }

    fn advance(&mut self, joint: &[Input]) {
        let mut desk = std::mem::replace(&mut self.desk, Desk::NONE);
        let n_base = self.rules.circuit.base.len();
        // The base bits are still where `look` put them: programs never write to their leaves.
        match &mut desk {
            Desk::Words(Sheets { leaves, results, .. }) => {
                self.set_joint(joint, leaves, u64::ONES);
                self.rules.step.run(leaves, &mut results[..n_base]);
                self.set_joint(joint, leaves, 0);
                gather(&results[..n_base], self.state.words_mut());
            }
            Desk::Planes(Sheets { leaves, results, scratch }) => {
                self.set_joint(joint, leaves, Plane::ONES);
                let code = self.rules.native.as_ref().expect("planes go with native code");
                code.step.run(&leaves[..n_base], &leaves[n_base..], results, scratch);
                self.set_joint(joint, leaves, Plane::ZERO);
                gather(&results[..n_base], self.state.words_mut());
            }
        }
        self.desk = desk;
        self.look();
    }

    fn state(&self) -> &Bits {
        &self.state
    }

    fn go_to(&mut self, state: &Bits) {
        self.state = state.clone();
        self.look();
    }

    fn key(&self) -> u64 {
        self.state.key()
    }

    fn key_of(&mut self, state: &Bits) -> u64 {
        state.key()
    }

    fn features(&self, features: &mut Vec<u32>) {
        features.clear();
        for (idx, &word) in (0..).zip(self.state.words()) {
            let mut word = word;
            while word != 0 {
                features.push(64 * idx + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    fn is_legal(&self, role: Role, candidate: &Input) -> bool {
        self.legal_moves(role).binary_search(candidate).is_ok()
    }

    fn batch(&self, seed: u64) -> Option<Box<dyn Batch<State = Bits, Move = Input>>> {
        let circuit = Arc::clone(&self.rules.circuit);
        let options = BatchOptions { backend: self.rules.backend, seed, turns: prove_turns(&circuit) };
        Some(Box::new(BatchCircuit::new(circuit, self.rules.shape.clone(), options)))
    }
}

impl Notation for ScalarCircuit {
    fn move_text(&self, m: &Input) -> String {
        let (role, move_idx) = self.role_and_index(*m);
        self.rules.circuit.roles[role.index()].moves[move_idx].clone()
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<Input> {
        let moves = &self.rules.circuit.roles[role.index()].moves;
        let legal = self.legal_moves(role);
        let named = |input: &&Input| &moves[self.role_and_index(**input).1];
        // Two moves may differ in capitalisation alone: the exact spelling goes first.
        let exact = legal.iter().find(|input| named(input) == text.trim());
        let wanted = spelling(text);
        exact.or_else(|| legal.iter().find(|input| spelling(named(input)) == wanted)).copied()
    }

    fn state_text(&self) -> Vec<String> {
        let base = self.rules.circuit.base.iter().enumerate();
        let mut texts: Vec<String> =
            base.filter(|&(bit, _)| self.state.get(bit)).map(|(_, text)| text.clone()).collect();
        texts.sort_unstable();
        texts
    }
}

impl Hidden for ScalarCircuit {
    fn percepts(&self, joint: &[Input], role: Role) -> Vec<String> {
        let circuit = &self.rules.circuit;
        let mut slots = vec![0_u64; circuit.base.len() + circuit.n_inputs()];
        load(&self.state, circuit.base.len(), &mut slots);
        self.set_joint(joint, &mut slots, u64::ONES);
        let before: usize = circuit.outputs.percepts[..role.index()].iter().map(Vec::len).sum();
        let n_percepts = circuit.outputs.percepts.iter().map(Vec::len).sum();
        let mut results = vec![0; n_percepts];
        self.rules.sense.run(&mut slots, &mut results);
        let own = circuit.outputs.percepts[role.index()].iter().zip(&results[before..]);
        own.filter(|&(_, holds)| holds & 1 == 1).map(|((text, _), _)| text.clone()).collect()
    }
}

/// A text as it compares: lower case, one space where there were several, none beside parentheses.
fn spelling(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for word in text.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        if !spelled.is_empty() && !spelled.ends_with('(') && word != ")" {
            spelled.push(' ');
        }
        spelled.push_str(&word.to_lowercase());
    }
    spelled
}
