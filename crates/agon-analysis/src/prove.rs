//! Proofs about a game by a SAT solver, with the circuit of the game as clauses.
//!
//! The clauses describe two consecutive states: a state and, under the literal `Prover::step`,
//! its successor. The step literal says that the first state is not terminal and that each role
//! makes one legal move. A question is a list of literals. If they cannot be true together, that is
//! a proof, because every reachable state and every step from one is a model of the clauses.
//!
//! The clauses do not express reachability, so the opposite answer proves nothing. Lemmas proved
//! before, such as `Prover::add_lemma_at_most_one`, make the clauses stronger.

use std::cell::Cell;
use std::time::Instant;

use agon_circuit::{Circuit, Signal};
use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface as _, SolverOpts, Var, lbool};

/// Limits on the cost of proofs.
#[derive(Clone, Debug)]
pub struct ProofLimits {
    /// Maximum number of gates of a circuit.
    pub gates: usize,
    /// Maximum number of conflicts for one question: a measure of cost that is the same on every
    /// machine.
    pub conflicts: u64,
    /// Maximum number of conflicts for all questions together.
    pub conflicts_in_all: u64,
    /// The deadline after which every question is left undecided.
    pub deadline: Option<Instant>,
}

impl Default for ProofLimits {
    fn default() -> ProofLimits {
        ProofLimits { gates: 400_000, conflicts: 2_000, conflicts_in_all: 200_000, deadline: None }
    }
}

/// A statement about a state or a step.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Literal(Lit);

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(!self.0)
    }
}

/// Whether some literals can be true together.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// They are never true together in play. This is a proof.
    Impossible,
    /// The clauses allow it. The state or step may still be unreachable.
    Possible,
    /// The question was given up because of a limit.
    Undecided,
}

/// The importance of a question, which determines its share of [`ProofLimits::conflicts`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// A twentieth of the usual budget: for one of very many questions, which can be asked again.
    Low,
    /// The usual budget.
    Normal,
    /// Ten times the usual budget: for a question that much depends on.
    High,
}

/// The clauses of a circuit, and the solver that holds them.
pub(crate) struct Prover<'a> {
    circuit: &'a Circuit,
    solver: Solver<Meter>,
    limits: ProofLimits,
    step: Literal,
    /// By gate: whether its clauses have been added.
    is_encoded: Vec<bool>,
    /// By gate: its literal in the successor state, once it has been created.
    after: Vec<Option<Literal>>,
    /// Whether a share of the budget was used up in [`Prover::with_share`].
    has_run_out: bool,
}

impl<'a> Prover<'a> {
    /// Encodes a circuit. Returns `None` if the circuit has more gates than the limits allow.
    pub(crate) fn new(circuit: &'a Circuit, limits: &ProofLimits) -> Option<Prover<'a>> {
        if circuit.n_gates() > limits.gates {
            return None;
        }
        let mut prover = Prover::without_clauses(circuit, limits);
        for _ in 0..circuit.n_gates() {
            prover.solver.new_var_default();
        }
        prover.clause(&[Literal::of(Signal::TRUE)]);
        prover.after[0] = Some(Literal::of(Signal::FALSE));
        prover.step = prover.fresh();
        prover.encode(circuit.outputs.signals().collect());
        let step = prover.step;
        prover.clause(&[!step, !Literal::of(circuit.outputs.terminal)]);
        for role in circuit.role_ids() {
            let inputs: Vec<Literal> =
                circuit.inputs(role).map(|gate| Literal::of(Signal::of_gate(gate))).collect();
            prover.at_most_one(Some(step), &inputs);
            let mut some = inputs.clone();
            some.push(!step);
            prover.clause(&some);
            for (&input, &legal) in inputs.iter().zip(&circuit.outputs.legal[role.index()]) {
                prover.clause(&[!step, !input, Literal::of(legal)]);
            }
        }
        Some(prover)
    }

    /// Creates a solver without any clauses, for callers that encode states themselves.
    pub(crate) fn without_clauses(circuit: &'a Circuit, limits: &ProofLimits) -> Prover<'a> {
        let meter = Meter { deadline: limits.deadline, ..Meter::default() };
        Prover {
            circuit,
            solver: Solver::new(SolverOpts::default(), meter),
            limits: limits.clone(),
            step: Literal(Lit::UNDEF),
            is_encoded: vec![false; circuit.n_gates()],
            after: vec![None; circuit.n_gates()],
            has_run_out: false,
        }
    }

    /// Returns the literal of a step: the state is not terminal, and each role makes one legal
    /// move.
    pub(crate) fn step(&self) -> Literal {
        self.step
    }

    /// Returns the literal of a signal of the circuit in the state.
    pub(crate) fn now(&self, signal: Signal) -> Literal {
        Literal::of(signal)
    }

    /// Returns the literal of a base bit in the state.
    pub(crate) fn base(&self, bit: usize) -> Literal {
        Literal::of(self.circuit.base(bit))
    }

    /// Returns the literal of a base bit in the successor state.
    pub(crate) fn next(&self, bit: usize) -> Literal {
        Literal::of(self.circuit.outputs.next[bit])
    }

    /// Returns the literal of a signal in the successor state. The signal must not depend on moves.
    pub(crate) fn after(&mut self, signal: Signal) -> Literal {
        let circuit = self.circuit;
        // An explicit stack: circuits can be deeper than the stack of the thread.
        let mut open = vec![signal.gate()];
        while let Some(&gate) = open.last() {
            if self.after[gate].is_some() {
                open.pop();
                continue;
            }
            if gate < circuit.first_and() {
                debug_assert!(
                    gate < circuit.first_input(),
                    "a signal that depends on moves has no value after them"
                );
                self.after[gate] = Some(self.next(gate - 1));
                continue;
            }
            let [a, b] = circuit.ands[gate - circuit.first_and()];
            match (self.after[a.gate()], self.after[b.gate()]) {
                (Some(x), Some(y)) => {
                    let both = self.fresh();
                    self.and_clauses(
                        both,
                        x.inverted_if(a.is_inverted()),
                        y.inverted_if(b.is_inverted()),
                    );
                    self.after[gate] = Some(both);
                }
                (x, y) => {
                    open.extend(x.is_none().then_some(a.gate()));
                    open.extend(y.is_none().then_some(b.gate()));
                }
            }
        }
        self.after[signal.gate()].expect("computed above").inverted_if(signal.is_inverted())
    }

    /// Returns a new literal without constraints.
    pub(crate) fn fresh(&mut self) -> Literal {
        Literal(Lit::new(self.solver.new_var_default(), true))
    }

    /// Adds a clause: at least one of the literals is true.
    pub(crate) fn clause(&mut self, literals: &[Literal]) {
        let mut clause: Vec<Lit> = literals.iter().map(|literal| literal.0).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    /// Adds clauses which say that at most one of the literals is true where `condition` is. Their
    /// number is linear in the number of literals.
    pub(crate) fn at_most_one(&mut self, condition: Option<Literal>, literals: &[Literal]) {
        let unless: Vec<Literal> = condition.map(|condition| !condition).into_iter().collect();
        if literals.len() <= MAX_PAIRWISE {
            for (place, &a) in literals.iter().enumerate() {
                for &b in &literals[place + 1..] {
                    self.clause(&[unless.as_slice(), &[!a, !b]].concat());
                }
            }
            return;
        }
        // A ladder encoding: each rung is true if one of the literals so far is.
        let mut so_far = literals[0];
        for &literal in &literals[1..] {
            self.clause(&[unless.as_slice(), &[!so_far, !literal]].concat());
            let rung = self.fresh();
            self.clause(&[!so_far, rung]);
            self.clause(&[!literal, rung]);
            so_far = rung;
        }
    }

    /// Returns a new literal that is true only if two of the given ones are.
    pub(crate) fn two_of(&mut self, literals: &[Literal]) -> Literal {
        let two = self.fresh();
        let mut ways = vec![!two];
        let mut so_far: Option<Literal> = None;
        for &literal in literals {
            if let Some(before) = so_far {
                let both = self.fresh();
                self.clause(&[!both, before]);
                self.clause(&[!both, literal]);
                ways.push(both);
                let rung = self.fresh();
                self.clause(&[!rung, before, literal]);
                so_far = Some(rung);
            } else {
                so_far = Some(literal);
            }
        }
        self.clause(&ways);
        two
    }

    /// Adds the lemma that at most one of these base bits is true. The caller has proved it.
    pub(crate) fn add_lemma_at_most_one(&mut self, bits: &[usize]) {
        let literals: Vec<Literal> = bits.iter().map(|&bit| self.base(bit)).collect();
        self.at_most_one(None, &literals);
    }

    /// Adds the lemma that at least one of these base bits is true. The caller has proved it.
    pub(crate) fn add_lemma_some(&mut self, bits: &[usize]) {
        let literals: Vec<Literal> = bits.iter().map(|&bit| self.base(bit)).collect();
        self.clause(&literals);
    }

    /// Asks whether the literals can be true together, with the usual budget.
    pub(crate) fn ask(&mut self, literals: &[Literal]) -> Answer {
        self.ask_with(Effort::Normal, literals)
    }

    /// Asks whether the literals can be true together, with a budget that depends on `effort`.
    pub(crate) fn ask_with(&mut self, effort: Effort, literals: &[Literal]) -> Answer {
        let spent = self.solver.cb().n_learnt;
        if spent >= self.limits.conflicts_in_all || self.is_exhausted() {
            return Answer::Undecided;
        }
        let conflicts = match effort {
            Effort::Low => self.limits.conflicts / 20,
            Effort::Normal => self.limits.conflicts,
            Effort::High => self.limits.conflicts.saturating_mul(10),
        };
        let left = self.limits.conflicts_in_all - spent;
        self.solver.cb_mut().end = spent + conflicts.min(left);
        let assumptions: Vec<Lit> = literals.iter().map(|literal| literal.0).collect();
        match self.solver.solve_limited(&assumptions) {
            answer if answer == lbool::FALSE => Answer::Impossible,
            answer if answer == lbool::TRUE => Answer::Possible,
            _ => Answer::Undecided,
        }
    }

    /// Runs `ask` with a share of the remaining conflicts and time: one part out of `parts`. Hard
    /// questions asked inside leave the rest of the budget for the questions after them.
    pub(crate) fn with_share<T>(
        &mut self,
        parts: u32,
        ask: impl FnOnce(&mut Prover<'a>) -> T,
    ) -> T {
        let whole = self.limits.clone();
        let (now, spent) = (Instant::now(), self.solver.cb().n_learnt);
        let left = whole.conflicts_in_all.saturating_sub(spent);
        self.limits.conflicts_in_all = spent + left / u64::from(parts.max(1));
        let part = |deadline: Instant| now + deadline.saturating_duration_since(now) / parts.max(1);
        self.set_deadline(whole.deadline.map(part));
        let result = ask(self);
        self.has_run_out |= self.is_exhausted();
        self.limits.conflicts_in_all = whole.conflicts_in_all;
        self.set_deadline(whole.deadline);
        result
    }

    fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.limits.deadline = deadline;
        let meter = self.solver.cb_mut();
        meter.deadline = deadline;
        meter.is_late.set(false);
    }

    /// Returns whether a literal is true in the model found for the last question. The answer to
    /// that question must have been [`Answer::Possible`].
    pub(crate) fn value(&self, literal: Literal) -> bool {
        self.solver.value_lit(literal.0) == lbool::TRUE
    }

    /// Returns whether the time or the conflicts for questions are used up.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.limits.deadline.is_some_and(|deadline| Instant::now() > deadline)
            || self.solver.cb().n_learnt >= self.limits.conflicts_in_all
    }

    /// Returns whether the budget was used up, now or in an earlier share.
    pub(crate) fn has_run_out(&self) -> bool {
        self.has_run_out || self.is_exhausted()
    }

    /// Adds the clauses of all gates that these signals depend on.
    fn encode(&mut self, roots: Vec<Signal>) {
        let mut open: Vec<usize> = roots.into_iter().map(Signal::gate).collect();
        while let Some(gate) = open.pop() {
            if gate < self.circuit.first_and()
                || std::mem::replace(&mut self.is_encoded[gate], true)
            {
                continue;
            }
            let [a, b] = self.circuit.ands[gate - self.circuit.first_and()];
            self.and_clauses(Literal::of(Signal::of_gate(gate)), Literal::of(a), Literal::of(b));
            open.extend([a.gate(), b.gate()]);
        }
    }

    /// Adds clauses which say that `both` is the conjunction of two literals.
    pub(crate) fn and_clauses(&mut self, both: Literal, a: Literal, b: Literal) {
        self.clause(&[!both, a]);
        self.clause(&[!both, b]);
        self.clause(&[both, !a, !b]);
    }
}

/// Maximum number of literals for the pairwise encoding of "at most one", which propagates best.
const MAX_PAIRWISE: usize = 6;

impl Literal {
    fn of(signal: Signal) -> Literal {
        let gate = u32::try_from(signal.gate()).expect("a circuit has fewer than 2^31 gates");
        Literal(Lit::new(Var::unsafe_from_idx(gate), !signal.is_inverted()))
    }

    /// Returns its negation if `invert`, else itself.
    pub(crate) fn inverted_if(self, invert: bool) -> Literal {
        if invert { !self } else { self }
    }
}

/// Counts the conflicts of a question and stops the solver when the limit or the deadline is
/// reached.
#[derive(Default)]
struct Meter {
    n_learnt: u64,
    end: u64,
    deadline: Option<Instant>,
    n_calls: Cell<u32>,
    is_late: Cell<bool>,
}

impl Callbacks for Meter {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        self.n_learnt += u64::from(kind == ClauseKind::Learnt);
    }

    fn stop(&self) -> bool {
        // The solver calls this at every decision, and reading the clock takes longer than a
        // decision.
        let n_calls = self.n_calls.get().wrapping_add(1);
        self.n_calls.set(n_calls);
        if n_calls.is_multiple_of(64)
            && self.deadline.is_some_and(|deadline| Instant::now() > deadline)
        {
            self.is_late.set(true);
        }
        self.is_late.get() || self.n_learnt >= self.end
    }
}
