//! Several consecutive states of a circuit as clauses.

use agon_circuit::Signal;

use super::{Line, Problem};
use crate::prove::{Answer, Effort, Literal, ProofLimits, Prover};

/// The clauses of consecutive states and the steps between them.
pub(crate) struct Unrolling<'a> {
    problem: &'a Problem<'a>,
    prover: Prover<'a>,
    /// By state and gate: the literal, once it has been created.
    literals: Vec<Vec<Option<Literal>>>,
    /// Number of gates that have clauses.
    n_gates: usize,
}

impl<'a> Unrolling<'a> {
    /// Starts with one state: the initial one, or any state for which the proved groups hold.
    pub(crate) fn new(
        problem: &'a Problem<'a>,
        limits: &ProofLimits,
        is_initial: bool,
    ) -> Unrolling<'a> {
        let mut prover = Prover::without_clauses(problem.circuit, limits);
        let mut first = vec![None; problem.circuit.n_gates()];
        let truth = prover.fresh();
        prover.clause(&[truth]);
        first[0] = Some(!truth);
        for bit in 0..problem.circuit.base.len() {
            first[1 + bit] = Some(match (is_initial, problem.circuit.initial[bit]) {
                (true, true) => truth,
                (true, false) => !truth,
                (false, _) => prover.fresh(),
            });
        }
        let mut unrolling = Unrolling { problem, prover, literals: vec![first], n_gates: 0 };
        unrolling.add_inputs();
        unrolling.add_groups();
        unrolling
    }

    /// Returns the number of gates that have clauses.
    pub(crate) fn n_gates(&self) -> usize {
        self.n_gates
    }

    /// Adds the next state: a step was made from the last one.
    pub(crate) fn add_step(&mut self) {
        let circuit = self.problem.circuit;
        let last = self.literals.len() - 1;
        let terminal = self.signal(last, circuit.outputs.terminal);
        self.prover.clause(&[!terminal]);
        for role in circuit.role_ids() {
            let inputs: Vec<Literal> = circuit
                .inputs(role)
                .map(|gate| self.literals[last][gate].expect("inputs are created with their state"))
                .collect();
            self.prover.at_most_one(None, &inputs);
            self.prover.clause(&inputs);
            for (index, &input) in inputs.iter().enumerate() {
                let legal = self.signal(last, circuit.outputs.legal[role.index()][index]);
                self.prover.clause(&[!input, legal]);
            }
        }
        let mut next = vec![None; circuit.n_gates()];
        next[0] = self.literals[0][0];
        for bit in 0..circuit.base.len() {
            next[1 + bit] = Some(self.signal(last, circuit.outputs.next[bit]));
        }
        self.literals.push(next);
        self.add_inputs();
        self.add_groups();
    }

    fn add_inputs(&mut self) {
        let circuit = self.problem.circuit;
        let last = self.literals.len() - 1;
        for gate in circuit.first_input()..circuit.first_and() {
            self.literals[last][gate] = Some(self.prover.fresh());
        }
    }

    /// Adds what is proved about every reachable state.
    fn add_groups(&mut self) {
        let last = self.literals.len() - 1;
        for group in self.problem.groups {
            let bit = |bit: &usize| self.literals[last][1 + bit].expect("base bits have literals");
            let literals: Vec<Literal> = group.fluents.iter().map(bit).collect();
            if group.at_most_one.is_proved() && literals.len() > 1 {
                self.prover.at_most_one(None, &literals);
            }
            if group.exactly_one.is_some_and(crate::properties::Known::is_proved) {
                self.prover.clause(&literals);
            }
        }
    }

    /// Adds that a state is not bad, and that what happens after it matters.
    pub(crate) fn assume_harmless(&mut self, state: usize) {
        for signal in [self.problem.bad, self.problem.stop] {
            let literal = self.signal(state, signal);
            self.prover.clause(&[!literal]);
        }
    }

    /// Returns the literal of a signal at a state.
    pub(crate) fn signal(&mut self, state: usize, signal: Signal) -> Literal {
        let circuit = self.problem.circuit;
        // An explicit stack: circuits can be deeper than the stack of the thread.
        let mut open = vec![signal.gate()];
        while let Some(&gate) = open.last() {
            if self.literals[state][gate].is_some() {
                open.pop();
                continue;
            }
            let [a, b] = circuit.ands[gate - circuit.first_and()];
            match (self.literals[state][a.gate()], self.literals[state][b.gate()]) {
                (Some(x), Some(y)) => {
                    let (x, y) = (x.inverted_if(a.is_inverted()), y.inverted_if(b.is_inverted()));
                    let both = self.prover.fresh();
                    self.prover.and_clauses(both, x, y);
                    self.literals[state][gate] = Some(both);
                    self.n_gates += 1;
                }
                (x, y) => {
                    open.extend(x.is_none().then_some(a.gate()));
                    open.extend(y.is_none().then_some(b.gate()));
                }
            }
        }
        let literal = self.literals[state][signal.gate()].expect("created above");
        literal.inverted_if(signal.is_inverted())
    }

    /// Asks whether literals can be true together.
    pub(crate) fn ask(&mut self, literals: &[Literal]) -> Answer {
        self.prover.ask_with(Effort::Normal, literals)
    }

    /// Returns a literal under which two literals are equal.
    pub(crate) fn equal_if(&mut self, (x, y): (Literal, Literal)) -> Literal {
        let equal = self.prover.fresh();
        self.prover.clause(&[!equal, !x, y]);
        self.prover.clause(&[!equal, x, !y]);
        equal
    }

    /// Returns a literal under which two literals are different.
    pub(crate) fn different_if(&mut self, (x, y): (Literal, Literal)) -> Literal {
        let different = self.prover.fresh();
        self.prover.clause(&[!different, x, y]);
        self.prover.clause(&[!different, !x, !y]);
        different
    }

    /// Returns a literal under which at least one of these is true.
    pub(crate) fn some(&mut self, literals: &[Literal]) -> Literal {
        let some = self.prover.fresh();
        self.prover.clause(&[literals, &[!some]].concat());
        some
    }

    /// Returns a literal under which all of these are true.
    pub(crate) fn all(&mut self, literals: &[Literal]) -> Literal {
        let all = self.prover.fresh();
        literals.iter().for_each(|&literal| self.prover.clause(&[!all, literal]));
        all
    }

    /// Returns a literal under which two states are equal.
    pub(crate) fn same_state_if(&mut self, first: usize, second: usize) -> Literal {
        let same = self.prover.fresh();
        for bit in 0..self.problem.circuit.base.len() {
            let [x, y] = [first, second]
                .map(|state| self.literals[state][1 + bit].expect("base bits have literals"));
            self.prover.clause(&[!same, !x, y]);
            self.prover.clause(&[!same, x, !y]);
        }
        same
    }

    /// Returns the value of a literal in the model of the last question.
    pub(crate) fn value(&self, literal: Literal) -> bool {
        self.prover.value(literal)
    }

    /// Returns whether a signal is true at a state in the model of the last question.
    pub(crate) fn is_set(&self, state: usize, signal: Signal) -> bool {
        let literal = self.literals[state][signal.gate()];
        let literal = literal.map(|literal| literal.inverted_if(signal.is_inverted()));
        literal.is_some_and(|literal| self.prover.value(literal))
    }

    /// Returns the play up to a state in the model of the last question.
    pub(crate) fn line(&self, state: usize) -> Line {
        let circuit = self.problem.circuit;
        let made = |step: usize, role: agon_game::Role| {
            let mut inputs = circuit.inputs(role);
            let first = inputs.start;
            let chosen = inputs
                .find(|&gate| self.literals[step][gate].is_some_and(|l| self.prover.value(l)));
            circuit.roles[role.index()].moves[chosen.unwrap_or(first) - first].clone()
        };
        (0..state).map(|step| circuit.role_ids().map(|role| made(step, role)).collect()).collect()
    }
}
