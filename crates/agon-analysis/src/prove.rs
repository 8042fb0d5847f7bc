//! What cannot happen, by a SAT solver: the circuit of a game as clauses.
//!
//! Two moments are put into clauses: a state, and, under the literal [`Prover::step`], the state after it, with play not
//! ended before and one legal move made by each role. A question is a list of literals; if they cannot be true
//! together, that is a proof, because every reachable state and every step from one is a model of the clauses. The
//! clauses know nothing of reachability, so the opposite answer proves nothing, and [`Prover::suppose_at_most_one`]
//! and the like make them stronger by what was proved before.

use std::cell::Cell;
use std::time::Instant;

use agon_circuit::{Circuit, Signal};
use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface as _, SolverOpts, Var, lbool};

/// What a proof may cost.
#[derive(Clone, Debug)]
pub struct ProofLimits {
    /// Circuits with more gates are not looked at.
    pub gates: usize,
    /// Conflicts for one question: a measure of time that is the same on every machine.
    pub conflicts: u64,
    /// Conflicts for all questions together.
    pub conflicts_in_all: u64,
    /// A moment after which every question stays open.
    pub deadline: Option<Instant>,
}

impl Default for ProofLimits {
    fn default() -> ProofLimits {
        ProofLimits { gates: 400_000, conflicts: 2_000, conflicts_in_all: 200_000, deadline: None }
    }
}

/// Something that is true or false of a state or a step.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Literal(Lit);

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(!self.0)
    }
}

/// Whether literals can be true together.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Never in play: proved.
    Impossible,
    /// The clauses allow it. Whether play ever does is another matter.
    Possible,
    /// Given up.
    Undecided,
}

/// The clauses of a circuit and the solver that reads them.
pub struct Prover<'a> {
    circuit: &'a Circuit,
    solver: Solver<Meter>,
    limits: ProofLimits,
    step: Literal,
    /// By gate: whether its clauses are there.
    is_encoded: Vec<bool>,
    /// By gate: its literal in the state after, where it was asked for.
    after: Vec<Option<Literal>>,
    /// Whether a part of the work was not enough for what it was given for.
    has_run_out: bool,
}

impl<'a> Prover<'a> {
    /// `None` if the circuit is too large.
    pub fn new(circuit: &'a Circuit, limits: &ProofLimits) -> Option<Prover<'a>> {
        if circuit.n_gates() > limits.gates {
            return None;
        }
        let meter = Meter { deadline: limits.deadline, ..Meter::default() };
        let mut prover = Prover {
            circuit,
            solver: Solver::new(SolverOpts::default(), meter),
            limits: limits.clone(),
            step: Literal(Lit::UNDEF),
            is_encoded: vec![false; circuit.n_gates()],
            after: vec![None; circuit.n_gates()],
            has_run_out: false,
        };
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

    /// Play goes on, and each role makes one legal move.
    pub fn step(&self) -> Literal {
        self.step
    }

    /// A signal of the circuit, at the state.
    pub fn now(&self, signal: Signal) -> Literal {
        Literal::of(signal)
    }

    /// A base bit, at the state.
    pub fn base(&self, bit: usize) -> Literal {
        Literal::of(self.circuit.base(bit))
    }

    /// A base bit, at the state after.
    pub fn next(&self, bit: usize) -> Literal {
        Literal::of(self.circuit.outputs.next[bit])
    }

    /// A signal that depends on no move, at the state after.
    pub fn after(&mut self, signal: Signal) -> Literal {
        let circuit = self.circuit;
        // A stack of our own: circuits are deeper than the program's stack.
        let mut open = vec![signal.gate()];
        while let Some(&gate) = open.last() {
            if self.after[gate].is_some() {
                open.pop();
                continue;
            }
            if gate < circuit.first_and() {
                debug_assert!(
                    gate < circuit.first_input(),
                    "what depends on moves has no value after them"
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
        self.after[signal.gate()].expect("worked out above").inverted_if(signal.is_inverted())
    }

    /// A literal about which nothing is said.
    pub fn fresh(&mut self) -> Literal {
        Literal(Lit::new(self.solver.new_var_default(), true))
    }

    /// From now on at least one of these is true.
    pub fn clause(&mut self, literals: &[Literal]) {
        let mut clause: Vec<Lit> = literals.iter().map(|literal| literal.0).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    /// From now on, where `condition` is true, at most one of these is. As many clauses as there are literals.
    pub fn at_most_one(&mut self, condition: Option<Literal>, literals: &[Literal]) {
        let unless: Vec<Literal> = condition.map(|condition| !condition).into_iter().collect();
        if literals.len() <= MAX_PAIRWISE {
            for (place, &a) in literals.iter().enumerate() {
                for &b in &literals[place + 1..] {
                    self.clause(&[unless.as_slice(), &[!a, !b]].concat());
                }
            }
            return;
        }
        // A ladder: each rung says that one of the literals so far is true.
        let mut so_far = literals[0];
        for &literal in &literals[1..] {
            self.clause(&[unless.as_slice(), &[!so_far, !literal]].concat());
            let rung = self.fresh();
            self.clause(&[!so_far, rung]);
            self.clause(&[!literal, rung]);
            so_far = rung;
        }
    }

    /// A literal that is true only where two of these are.
    pub fn two_of(&mut self, literals: &[Literal]) -> Literal {
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

    /// From now on at most one of these base bits is true: for what is proved.
    pub fn suppose_at_most_one(&mut self, bits: &[usize]) {
        let literals: Vec<Literal> = bits.iter().map(|&bit| self.base(bit)).collect();
        self.at_most_one(None, &literals);
    }

    /// From now on at least one of these base bits is true: for what is proved.
    pub fn suppose_some(&mut self, bits: &[usize]) {
        let literals: Vec<Literal> = bits.iter().map(|&bit| self.base(bit)).collect();
        self.clause(&literals);
    }

    /// Whether these can be true together.
    pub fn ask(&mut self, literals: &[Literal]) -> Answer {
        self.ask_for(literals, self.limits.conflicts)
    }

    /// The same for a question on which much depends: it may cost ten times as much.
    pub fn ask_patiently(&mut self, literals: &[Literal]) -> Answer {
        self.ask_for(literals, self.limits.conflicts.saturating_mul(10))
    }

    /// The same for one of very many questions: it may cost a twentieth, and can be asked again.
    pub fn ask_quickly(&mut self, literals: &[Literal]) -> Answer {
        self.ask_for(literals, self.limits.conflicts / 20)
    }

    /// Has questions asked that may cost, all together, no more than a part of the work and the time that are left: one of
    /// `parts`. So what is hard leaves something for what comes after it.
    pub fn within<T>(&mut self, parts: u32, ask: impl FnOnce(&mut Prover<'a>) -> T) -> T {
        let whole = self.limits.clone();
        let (now, spent) = (Instant::now(), self.solver.cb().n_learnt);
        let left = whole.conflicts_in_all.saturating_sub(spent);
        self.limits.conflicts_in_all = spent + left / u64::from(parts.max(1));
        let part = |deadline: Instant| now + deadline.saturating_duration_since(now) / parts.max(1);
        self.set_deadline(whole.deadline.map(part));
        let told = ask(self);
        self.has_run_out |= self.is_late();
        self.limits.conflicts_in_all = whole.conflicts_in_all;
        self.set_deadline(whole.deadline);
        told
    }

    fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.limits.deadline = deadline;
        let meter = self.solver.cb_mut();
        meter.deadline = deadline;
        meter.is_late.set(false);
    }

    fn ask_for(&mut self, literals: &[Literal], conflicts: u64) -> Answer {
        let spent = self.solver.cb().n_learnt;
        if spent >= self.limits.conflicts_in_all || self.is_late() {
            return Answer::Undecided;
        }
        let left = self.limits.conflicts_in_all - spent;
        self.solver.cb_mut().end = spent + conflicts.min(left);
        let assumptions: Vec<Lit> = literals.iter().map(|literal| literal.0).collect();
        match self.solver.solve_limited(&assumptions) {
            answer if answer == lbool::FALSE => Answer::Impossible,
            answer if answer == lbool::TRUE => Answer::Possible,
            _ => Answer::Undecided,
        }
    }

    /// Whether a literal is true in the example for the last answer, which was [`Answer::Possible`].
    pub fn value(&self, literal: Literal) -> bool {
        self.solver.value_lit(literal.0) == lbool::TRUE
    }

    /// Whether there is no more time or work left for questions.
    pub fn is_late(&self) -> bool {
        self.limits.deadline.is_some_and(|deadline| Instant::now() > deadline)
            || self.solver.cb().n_learnt >= self.limits.conflicts_in_all
    }

    /// Whether there was too little time or work for some of the questions.
    pub fn has_run_out(&self) -> bool {
        self.has_run_out || self.is_late()
    }

    /// The clauses of all gates on which these signals depend.
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

    fn and_clauses(&mut self, both: Literal, a: Literal, b: Literal) {
        self.clause(&[!both, a]);
        self.clause(&[!both, b]);
        self.clause(&[both, !a, !b]);
    }
}

/// Up to so many literals each pair has a clause of its own, which propagates best.
const MAX_PAIRWISE: usize = 6;

impl Literal {
    fn of(signal: Signal) -> Literal {
        let gate = u32::try_from(signal.gate()).expect("a circuit has fewer than 2^31 gates");
        Literal(Lit::new(Var::unsafe_from_idx(gate), !signal.is_inverted()))
    }

    fn inverted_if(self, invert: bool) -> Literal {
        if invert { !self } else { self }
    }
}

/// Counts what a question costs and says when it is enough.
#[derive(Default)]
struct Meter {
    n_learnt: u64,
    end: u64,
    deadline: Option<Instant>,
    n_looks: Cell<u32>,
    is_late: Cell<bool>,
}

impl Callbacks for Meter {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        self.n_learnt += u64::from(kind == ClauseKind::Learnt);
    }

    fn stop(&self) -> bool {
        // This is asked at every decision, and a clock is slower than a decision.
        let n_looks = self.n_looks.get().wrapping_add(1);
        self.n_looks.set(n_looks);
        if n_looks.is_multiple_of(64)
            && self.deadline.is_some_and(|deadline| Instant::now() > deadline)
        {
            self.is_late.set(true);
        }
        self.is_late.get() || self.n_learnt >= self.end
    }
}
