//! Decides propositional formulas with quantifiers by SAT solvers.
//!
//! A block under an even number of negations is merged into the formula around it: its inputs are
//! chosen together with those outside. A block under an odd number of negations is universal. Its
//! solver looks for a counterexample to the choices outside. The formula outside then gets the
//! block's body for this counterexample as a further clause, and is asked again. This is
//! counterexample-guided expansion (Janota et al. 2016), without prenex form. It ends because each
//! block has finitely many counterexamples.

use std::cell::Cell;
use std::collections::BTreeMap;

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface as _, Var, lbool};

use super::network::{Block, Gate, Network, Signal};
use crate::evaluate::EvaluationError;

/// Steps for one decision of a solver.
const DECISION: u64 = 64;

/// Steps for one literal that a solver derives.
const PROPAGATION: u64 = 4;

/// Steps for making one gate of a refinement and its clauses.
const GATE: u64 = 32;

/// Solvers for the signals of a network.
pub(super) struct Search {
    pub(super) network: Network,
    top: Option<Box<Level>>,
    /// The solvers that look for counterexamples, by the gates of their blocks.
    blocks: BTreeMap<usize, Box<Level>>,
    /// The conflicts that are left.
    conflicts: u64,
    max_conflicts: u64,
    /// The steps that are left.
    steps: u64,
    max_steps: u64,
}

impl Search {
    pub(super) fn new(
        network: Network,
        [conflicts, max_conflicts]: [u64; 2],
        [steps, max_steps]: [u64; 2],
    ) -> Search {
        let (top, blocks) = (Some(Box::default()), BTreeMap::new());
        Search { network, top, blocks, conflicts, max_conflicts, steps, max_steps }
    }

    /// Returns the conflicts and steps that are left.
    pub(super) fn left(&self) -> [u64; 2] {
        [self.conflicts, self.steps]
    }

    /// Returns whether some values of the inputs make the signal true.
    pub(super) fn satisfiable(&mut self, signal: Signal) -> Result<bool, EvaluationError> {
        match signal {
            Signal::TRUE => return Ok(true),
            Signal::FALSE => return Ok(false),
            _ => {}
        }
        let mut level = self.top.take().unwrap_or_default();
        let wanted = level.encoded(signal, true, &self.network);
        let answer = self.solve(&mut level, &[wanted]);
        self.top = Some(level);
        Ok(answer?.is_some())
    }

    /// Returns values of all inputs that a solver knows and that agree with the assumptions, if
    /// there are any. Other inputs are false.
    fn solve(
        &mut self,
        level: &mut Level,
        assumptions: &[Lit],
    ) -> Result<Option<Vec<bool>>, EvaluationError> {
        loop {
            if !self.ask(level, assumptions)? {
                return Ok(None);
            }
            let mut values = vec![false; self.network.n_inputs()];
            for (&input, &variable) in &level.inputs {
                values[input as usize] = level.is_true(Lit::new(variable, true));
            }
            let denied: Vec<(usize, Lit)> =
                level.denied.iter().copied().filter(|entry| !level.is_true(entry.1)).collect();
            let mut is_refined = false;
            for (gate, holds) in denied {
                let Gate::Exists(block) = self.network.gate(gate).clone() else { continue };
                let Some(example) = self.example(gate, &block, &values)? else { continue };
                is_refined = true;
                let example: Vec<Signal> =
                    example.into_iter().map(|value| Signal::FALSE.negated_if(value)).collect();
                let before = self.network.size();
                let case = self.network.replaced(block.body, block.first, &example)?;
                let growth = (self.network.size() - before) as u64 + 1;
                self.steps = self.steps.saturating_sub(growth.saturating_mul(GATE));
                let case = level.encoded(case, false, &self.network);
                level.clause([!case, holds]);
            }
            if !is_refined {
                return Ok(Some(values));
            }
        }
    }

    /// Returns values of a block's own inputs that make its body true, for values of the others.
    fn example(
        &mut self,
        gate: usize,
        block: &Block,
        values: &[bool],
    ) -> Result<Option<Vec<bool>>, EvaluationError> {
        let mut level = self.blocks.remove(&gate).unwrap_or_else(|| {
            let mut level: Box<Level> = Box::default();
            let body = level.encoded(block.body, true, &self.network);
            level.clause([body]);
            level
        });
        // Inputs that the solver meets only in refinements are assumed from then on as well.
        let assumptions: Vec<Lit> = block
            .outer
            .iter()
            .map(|&input| Lit::new(level.input(input), values[input as usize]))
            .collect();
        let found =
            stacker::maybe_grow(128 << 10, 1 << 20, || self.solve(&mut level, &assumptions));
        self.blocks.insert(gate, level);
        let own = block.inputs();
        Ok(found?.map(|values| values[own.start as usize..own.end as usize].to_vec()))
    }

    fn ask(&mut self, level: &mut Level, assumptions: &[Lit]) -> Result<bool, EvaluationError> {
        if self.steps == 0 {
            return Err(EvaluationError::Steps(self.max_steps));
        }
        let propagations = level.solver.num_propagations();
        let meter = level.solver.cb_mut();
        let (learnt, decisions) = (meter.n_learnt, meter.n_decisions.get());
        meter.last_learnt = learnt.saturating_add(self.conflicts);
        meter.last_decision = decisions.saturating_add(self.steps / DECISION);
        let answer = level.solver.solve_limited(assumptions);
        let meter = level.solver.cb();
        let n_decisions = meter.n_decisions.get() - decisions;
        self.conflicts = self.conflicts.saturating_sub(meter.n_learnt - learnt);
        // A call alone takes time that grows with the number of assumptions.
        let n_derived = level.solver.num_propagations().saturating_sub(propagations);
        let cost = n_decisions.saturating_mul(DECISION) + assumptions.len() as u64 + DECISION;
        let cost = cost.saturating_add(n_derived.saturating_mul(PROPAGATION));
        self.steps = self.steps.saturating_sub(cost);
        if answer == lbool::TRUE {
            Ok(true)
        } else if answer == lbool::FALSE {
            Ok(false)
        } else if self.conflicts == 0 && self.steps > 0 {
            Err(EvaluationError::Conflicts(self.max_conflicts))
        } else {
            Err(EvaluationError::Steps(self.max_steps))
        }
    }
}

/// A solver with the clauses of some signals. A gate has clauses only for the directions in which
/// it is used (Plaisted & Greenbaum 1986).
#[derive(Default)]
struct Level {
    solver: Solver<Meter>,
    inputs: BTreeMap<u32, Var>,
    /// The variable of each gate, with the directions that have clauses: false and true.
    gates: BTreeMap<usize, (Var, [bool; 2])>,
    /// Blocks that are used negatively, with the literal that they hold.
    denied: Vec<(usize, Lit)>,
}

impl Level {
    fn is_true(&self, literal: Lit) -> bool {
        self.solver.value_lit(literal) == lbool::TRUE
    }

    fn clause<const N: usize>(&mut self, literals: [Lit; N]) {
        self.solver.add_clause_reuse(&mut literals.to_vec());
    }

    fn input(&mut self, input: u32) -> Var {
        *self.inputs.entry(input).or_insert_with(|| self.solver.new_var_default())
    }

    /// Returns the literal of a signal. With `positive`, the signal is true if the literal is;
    /// otherwise, the literal is true if the signal is.
    fn encoded(&mut self, signal: Signal, positive: bool, network: &Network) -> Lit {
        let gate = signal.gate();
        if let Gate::Input(input) = network.gate(gate) {
            return Lit::new(self.input(*input), !signal.is_negated());
        }
        let (variable, directions) = match self.gates.get(&gate) {
            Some(&known) => known,
            None => {
                // Decided as true at first, because a denied block that is not true costs a
                // search for a counterexample.
                let prefers = match network.gate(gate) {
                    Gate::Exists(_) => lbool::TRUE,
                    _ => lbool::UNDEF,
                };
                (self.solver.new_var(prefers, true), [false; 2])
            }
        };
        let holds = Lit::new(variable, true);
        let direction = positive != signal.is_negated();
        let mut known = directions;
        known[usize::from(direction)] = true;
        self.gates.insert(gate, (variable, known));
        if !directions[usize::from(direction)] {
            stacker::maybe_grow(64 << 10, 1 << 20, || {
                self.clauses(gate, holds, direction, network);
            });
        }
        if signal.is_negated() { !holds } else { holds }
    }

    fn clauses(&mut self, gate: usize, holds: Lit, direction: bool, network: &Network) {
        match network.gate(gate) {
            Gate::True => self.clause([holds]),
            Gate::Input(_) => {}
            Gate::And(signals) if direction => {
                for &signal in signals {
                    let part = self.encoded(signal, true, network);
                    self.clause([!holds, part]);
                }
            }
            Gate::And(signals) => {
                let mut clause: Vec<Lit> =
                    signals.iter().map(|&signal| !self.encoded(signal, false, network)).collect();
                clause.push(holds);
                self.solver.add_clause_reuse(&mut clause);
            }
            Gate::Exists(block) if direction => {
                let body = self.encoded(block.body, true, network);
                self.clause([!holds, body]);
            }
            Gate::Exists(_) => self.denied.push((gate, holds)),
        }
    }
}

/// Counts conflicts and decisions, and stops the solver at their limits.
#[derive(Default)]
struct Meter {
    n_learnt: u64,
    n_decisions: Cell<u64>,
    last_learnt: u64,
    last_decision: u64,
}

impl Callbacks for Meter {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        self.n_learnt += u64::from(kind == ClauseKind::Learnt);
    }

    fn stop(&self) -> bool {
        self.n_decisions.set(self.n_decisions.get() + 1);
        self.n_learnt >= self.last_learnt || self.n_decisions.get() >= self.last_decision
    }
}
