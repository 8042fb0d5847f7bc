//! Decides propositional formulas with quantifiers by SAT solvers.
//!
//! A block under an even number of negations is merged into the formula around it: its inputs are
//! chosen together with those outside. A block under an odd number of negations is universal. Its
//! solver looks for a counterexample to the choices outside. The formula outside then gets the
//! block's body for this counterexample as a further clause, and is asked again. This is
//! counterexample-guided expansion (Janota et al. 2016), without prenex form. It ends because each
//! block has finitely many counterexamples.
//!
//! A counterexample refutes more choices if it is read as a change to them: "without the third
//! element" instead of a list of elements. So a block that needs many counterexamples also adds its
//! body for values that are relative to a set outside (`relative`). For example, that a large
//! dominating set is not minimal follows from one such case for each vertex, where single sets
//! would be exponentially many.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface as _, Var, lbool};

use agon_reals::interrupt::Interrupt;

use super::network::{Block, Gate, Network, Signal};
use crate::evaluate::EvaluationError;

/// Steps for one decision of a solver.
const DECISION: u64 = 64;

/// Steps for one literal that a solver derives.
const PROPAGATION: u64 = 4;

/// Number of decisions between two readings of the clock.
const CLOCK_PERIOD: u64 = 64;

/// Steps for making one gate of a refinement and its clauses.
const GATE: u64 = 32;

/// Number of counterexamples of a block that are used as they are. Most blocks need fewer, and
/// relative ones take more time to find.
const N_PLAIN: usize = 16;

/// Solvers for the signals of a network.
pub(super) struct Search {
    pub(super) network: Network,
    /// Number of elements. The inputs of a set follow each other, so the input `i` is about the
    /// element `i % n_elements`.
    n_elements: usize,
    top: Option<Box<Level>>,
    /// The solvers that look for counterexamples, by the gates of their blocks.
    blocks: BTreeMap<usize, Box<Level>>,
    /// The conflicts that are left.
    conflicts: u64,
    max_conflicts: u64,
    /// The steps that are left.
    steps: u64,
    max_steps: u64,
    interrupt: Interrupt,
}

impl Search {
    pub(super) fn new(
        network: Network,
        n_elements: usize,
        [[conflicts, max_conflicts], [steps, max_steps]]: [[u64; 2]; 2],
        interrupt: Interrupt,
    ) -> Search {
        let (top, blocks) = (Some(Box::default()), BTreeMap::new());
        Search {
            network,
            n_elements,
            top,
            blocks,
            conflicts,
            max_conflicts,
            steps,
            max_steps,
            interrupt,
        }
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
                let Some(examples) = self.examples(gate, &block, &values)? else { continue };
                is_refined = true;
                for example in examples {
                    let before = self.network.size();
                    let case = self.network.replaced(block.body, block.first, &example)?;
                    let growth = (self.network.size() - before) as u64 + 1;
                    self.steps = self.steps.saturating_sub(growth.saturating_mul(GATE));
                    let case = level.encoded(case, false, &self.network);
                    level.clause([!case, holds]);
                }
            }
            if !is_refined {
                return Ok(Some(values));
            }
        }
    }

    /// Returns signals for a block's own inputs that make its body true for values of the others,
    /// if there are any. Each list of them is a case of its own.
    fn examples(
        &mut self,
        gate: usize,
        block: &Block,
        values: &[bool],
    ) -> Result<Option<Vec<Vec<Signal>>>, EvaluationError> {
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
        let examples = match found {
            Ok(Some(example)) => self.cases(&mut level, block, &assumptions, example).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        self.blocks.insert(gate, level);
        examples
    }

    /// Returns a counterexample as it is and, after many of them, relative to the sets outside.
    fn cases(
        &mut self,
        level: &mut Level,
        block: &Block,
        assumptions: &[Lit],
        example: Vec<bool>,
    ) -> Result<Vec<Vec<Signal>>, EvaluationError> {
        let own = block.inputs();
        let plain = own.clone().map(|input| Signal::FALSE.negated_if(example[input as usize]));
        let mut cases = vec![plain.collect()];
        level.n_examples += 1;
        // Changes of one element are as many as inputs. If some multiple of that does not decide
        // the block, relative cases do not help and only take time.
        let is_relative = (N_PLAIN + 1..N_PLAIN + 64 + 4 * own.len()).contains(&level.n_examples);
        if is_relative && level.denied.is_empty() {
            cases.extend(self.relative(level, block, assumptions, example)?);
        }
        Ok(cases)
    }

    /// Changes a counterexample so that it differs little from sets outside, and returns it with
    /// the inputs of these sets where it agrees with them. Returns `None` if there are no sets
    /// outside.
    fn relative(
        &mut self,
        level: &mut Level,
        block: &Block,
        assumptions: &[Lit],
        mut example: Vec<bool>,
    ) -> Result<Option<Vec<Signal>>, EvaluationError> {
        let partners = self.partners(block, &example);
        if partners.iter().all(Option::is_none) {
            return Ok(None);
        }
        let pairs = || block.inputs().zip(&partners).filter_map(|(own, to)| Some((own, (*to)?)));
        for (input, partner) in pairs() {
            if example[input as usize] == example[partner as usize] {
                continue;
            }
            // Agree here too, and wherever it agrees already.
            let agreeing: Vec<(u32, bool)> = pairs()
                .map(|(own, other)| (own, example[other as usize]))
                .filter(|&(own, value)| own == input || example[own as usize] == value)
                .collect();
            let mut assumed = assumptions.to_vec();
            for (own, value) in agreeing {
                assumed.push(Lit::new(level.input(own), value));
            }
            if let Some(nearer) = self.solve(level, &assumed)? {
                // The values of inputs outside that the solver does not know stay.
                for own in block.inputs() {
                    example[own as usize] = nearer[own as usize];
                }
            }
        }
        let mut signals = Vec::with_capacity(partners.len());
        for (own, partner) in block.inputs().zip(&partners) {
            let value = example[own as usize];
            signals.push(match *partner {
                Some(partner) if example[partner as usize] == value => {
                    self.network.input(partner)?
                }
                _ => Signal::FALSE.negated_if(value),
            });
        }
        Ok(Some(signals))
    }

    /// Returns for each own input of a block the input outside that it is compared with: that of
    /// the same element, of the set outside that differs least from the own set.
    fn partners(&self, block: &Block, example: &[bool]) -> Vec<Option<u32>> {
        let n_elements = self.n_elements as u32;
        let sets: BTreeSet<u32> = block.outer.iter().map(|input| input / n_elements).collect();
        let own: Vec<u32> = block.inputs().collect();
        let mut partners = Vec::with_capacity(own.len());
        for own_set in own.chunks(self.n_elements) {
            let pair = |input: u32, set: u32| {
                let other = set * n_elements + input % n_elements;
                (input, block.outer.binary_search(&other).ok().map(|_| other))
            };
            let distance = |set: &u32| {
                let pairs = own_set.iter().map(|&input| pair(input, *set));
                let differ = |(own, other): (u32, Option<u32>)| {
                    other.is_none_or(|other| example[own as usize] != example[other as usize])
                };
                pairs.filter(|&pair| differ(pair)).count()
            };
            let nearest = sets.iter().copied().min_by_key(distance);
            let partner = |&input: &u32| nearest.and_then(|set| pair(input, set).1);
            partners.extend(own_set.iter().map(partner));
        }
        partners
    }

    fn ask(&mut self, level: &mut Level, assumptions: &[Lit]) -> Result<bool, EvaluationError> {
        if self.steps == 0 {
            return Err(EvaluationError::Steps(self.max_steps));
        }
        if self.interrupt.is_due() {
            return Err(EvaluationError::Interrupted);
        }
        let propagations = level.solver.num_propagations();
        let meter = level.solver.cb_mut();
        meter.interrupt = self.interrupt.clone();
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
        } else if self.interrupt.is_due() {
            Err(EvaluationError::Interrupted)
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
    /// Number of counterexamples that the solver of a block has found.
    n_examples: usize,
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
    interrupt: Interrupt,
}

impl Callbacks for Meter {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        self.n_learnt += u64::from(kind == ClauseKind::Learnt);
    }

    fn stop(&self) -> bool {
        let n_decisions = self.n_decisions.get() + 1;
        self.n_decisions.set(n_decisions);
        self.n_learnt >= self.last_learnt
            || n_decisions >= self.last_decision
            || n_decisions.is_multiple_of(CLOCK_PERIOD) && self.interrupt.is_due()
    }
}
