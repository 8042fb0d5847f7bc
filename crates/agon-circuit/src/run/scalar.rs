//! One game at a time: a circuit as a [`Position`](agon_game::Position).
//!
//! A step is computed in one of several ways, which all give the same answers ([`Executor`]): all
//! gates again at each state, by native code for one game or in the order of the program (`full`),
//! or only the gates that change ([`events`](crate::run::events)). Which way is faster is decided
//! by the work that a few random games take, not by a clock, so it is the same on every machine.
//!
//! Legal moves, goals and the next state are computed separately. Goals are computed only when they
//! are requested, and playouts draw moves from the bits of legality without listing them
//! (`random`).
//!
//! Where the circuit may reject steps, all moves of a state are tried at once, one in each lane of
//! a batch kernel ([`rejection`](crate::run::rejection)).

mod engine;
mod full;
mod position;
mod random;

use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};

use agon_game::{Fault, Position as _, Rng, Role, Shape};
use rand::SeedableRng as _;

use crate::run::batch::BatchCode;
use crate::run::bits::{for_each_bit, has_bit};
use crate::run::interpret::Interpreter;
use crate::run::phases::Phases;
use crate::run::program::lower;
use crate::run::rejection::RejectionTest;
use crate::{Backend, Bits, Circuit, Signal};
use engine::{Engine, Queries, Scratch};

/// A move: the number of its input bit, counted over all roles, role by role. Dense:
/// `0..circuit.n_inputs()`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input(pub u32);

/// A position of a game that is played by a circuit.
///
/// A step allocates nothing, unless a large state that is left behind is still shared. A clone
/// shares all code and has scratch memory of its own. See [`Executor`] for the ways to compute a
/// step.
#[derive(Clone)]
pub struct ScalarCircuit {
    rules: Arc<Rules>,
    state: Bits,
    is_terminal: bool,
    fault: Option<Fault>,
    /// The legal moves of all roles, role after role. What comes after them is not used.
    legal: Vec<Input>,
    /// By role: where its legal moves end in `legal`.
    legal_ends: Vec<u32>,
    /// The place of the token by which the circuit is cut into phases.
    phase: usize,
    /// By phase: the memory of its engine. In a cell, because goals are computed when they are
    /// requested.
    scratches: RefCell<Vec<Scratch>>,
    /// Whether the scratch memory of this phase has the goals of this state.
    has_goals: Cell<bool>,
    /// A joint move of a playout. Only its memory is reused.
    joint: Vec<Input>,
    /// By phase, where steps may be rejected: finds the moves that are.
    rejections: Vec<Option<RejectionTest>>,
}

/// The way in which single steps are computed. All give the same answers.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Executor {
    /// The one that is likely to be fastest, by the work that a few random games take.
    #[default]
    Auto,
    /// All gates at each state, by native code where the processor has AVX2.
    Native,
    /// All gates at each state, in the order of the lowered program.
    Levelled,
    /// Only the gates that change from the last state.
    Events,
}

/// The data that all positions of a game share.
struct Rules {
    circuit: Arc<Circuit>,
    shape: Shape,
    phases: Phases,
    /// By phase.
    engines: Vec<Engine>,
    /// By phase: what its engine computes.
    queries: Vec<Queries>,
    /// From base bits and inputs to the percepts of all roles.
    sense: Interpreter,
    /// By role: its first input, and at the end the number of inputs.
    first_inputs: Vec<u32>,
    /// By role: goal values in ascending order, and where their bits start among the goals.
    goals: Vec<(Vec<i64>, usize)>,
    /// The code of batches. Built when the first batch is requested.
    batch: OnceLock<Arc<BatchCode>>,
}

/// Number of steps of random games that are tried to choose an executor.
const TRIAL_STEPS: usize = 200;

impl ScalarCircuit {
    /// Returns the initial position, with the shape that the circuit alone shows.
    pub fn new(circuit: Arc<Circuit>) -> ScalarCircuit {
        let shape = circuit.shape();
        ScalarCircuit::with_shape(circuit, shape)
    }

    /// Returns the initial position, with a shape of which more may have been proved.
    pub fn with_shape(circuit: Arc<Circuit>, shape: Shape) -> ScalarCircuit {
        ScalarCircuit::with_executor(circuit, shape, Executor::Auto)
    }

    /// Returns the initial position with as little preparation as possible.
    ///
    /// For callers that play at most a few hundred games: these are over before a circuit is cut
    /// into phases and an executor is chosen.
    pub fn quick_start(circuit: Arc<Circuit>) -> ScalarCircuit {
        let (shape, phases) = (circuit.shape(), Phases::whole(&circuit));
        ScalarCircuit::of_phases(circuit, shape, phases, Executor::Events)
    }

    /// Returns the initial position, played by the given executor.
    pub fn with_executor(circuit: Arc<Circuit>, shape: Shape, executor: Executor) -> ScalarCircuit {
        let first = if executor == Executor::Auto { Executor::Events } else { executor };
        let phases = Phases::new(&circuit);
        let mut position = ScalarCircuit::of_phases(circuit, shape, phases, first);
        if executor == Executor::Auto && !position.prefers_events() {
            let rules = Arc::get_mut(&mut position.rules).expect("the trial is over");
            rules.engines = engines(&rules.phases, &rules.queries, Executor::Native);
            position.scratches = RefCell::new(rules.engines.iter().map(Engine::scratch).collect());
            position.look();
        }
        position
    }

    fn of_phases(
        circuit: Arc<Circuit>,
        shape: Shape,
        phases: Phases,
        executor: Executor,
    ) -> ScalarCircuit {
        let rules = Rules::new(circuit, shape, phases, executor);
        let n_possible = rules.queries.iter().map(|queries| queries.inputs.len()).max();
        let backend = match executor {
            Executor::Levelled => Backend::Portable,
            Executor::Auto | Executor::Native | Executor::Events => Backend::Native,
        };
        let of_phases = rules.phases.circuits.iter();
        let mut position = ScalarCircuit {
            state: Bits::pack(rules.circuit.initial.iter().copied()),
            phase: 0,
            is_terminal: false,
            fault: None,
            legal: vec![Input(0); n_possible.unwrap_or(0)],
            legal_ends: vec![0; rules.circuit.roles.len()],
            scratches: RefCell::new(rules.engines.iter().map(Engine::scratch).collect()),
            has_goals: Cell::new(false),
            joint: Vec::new(),
            rejections: of_phases.map(|circuit| RejectionTest::new(circuit, backend)).collect(),
            rules: Arc::new(rules),
        };
        position.look();
        position
    }

    /// Returns the circuit that is played.
    pub fn circuit(&self) -> &Arc<Circuit> {
        &self.rules.circuit
    }

    /// Returns how steps are computed. Never `Auto`.
    pub fn executor(&self) -> Executor {
        self.rules.engines[self.phase].executor()
    }

    /// Returns the move of a role by its index within the role.
    pub fn input(&self, role: Role, move_idx: usize) -> Input {
        Input(self.rules.first_inputs[role.index()] + move_idx as u32)
    }

    /// Returns the role that a move belongs to, and its index within the role.
    pub fn role_and_index(&self, input: Input) -> (Role, usize) {
        let role = self.rules.first_inputs.partition_point(|&first| first <= input.0) - 1;
        (Role::new(role), (input.0 - self.rules.first_inputs[role]) as usize)
    }

    /// Returns the goal values that hold for the role here, in ascending order. Well-formed games
    /// have exactly one.
    pub fn goal_values(&self, role: Role) -> Vec<i64> {
        let (values, first) = &self.rules.goals[role.index()];
        self.with_goals(|goals| {
            let held = values.iter().zip(*first..).filter(|&(_, bit)| has_bit(goals, bit));
            held.map(|(&value, _)| value).collect()
        })
    }

    /// Calls back with the goals, which are computed if they are not known yet.
    fn with_goals<R>(&self, read: impl FnOnce(&[u64]) -> R) -> R {
        let mut scratches = self.scratches.borrow_mut();
        let scratch = &mut scratches[self.phase];
        if !self.has_goals.replace(true) {
            self.rules.engines[self.phase].value(scratch);
        }
        read(scratch.goals())
    }

    /// Computes legal moves and the end of play at the state. Goals are left for later.
    fn look(&mut self) {
        self.phase = self.rules.phases.of(&self.state);
        self.rules.engines[self.phase]
            .look_again(&mut self.scratches.get_mut()[self.phase], &self.state);
        self.read();
    }

    /// Makes a joint move and lets the engine look at the next state. Must be followed by
    /// [`ScalarCircuit::read`].
    #[inline]
    fn step(&mut self, joint: &[Input]) {
        let Rules { engines, phases, .. } = &*self.rules;
        let scratches = self.scratches.get_mut();
        engines[self.phase].step(&mut scratches[self.phase], joint, &mut self.state);
        self.phase = phases.after(self.phase);
        engines[self.phase].look(&mut scratches[self.phase], &self.state);
    }

    /// Copies what the circuit says of the state: legal moves and the end of play.
    fn read(&mut self) {
        let queries = &self.rules.queries[self.phase];
        let answers = self.scratches.get_mut()[self.phase].answers();
        self.has_goals.set(false);
        self.is_terminal = has_bit(answers, queries.inputs.len());
        self.fault = None;
        if !self.is_terminal {
            let (mut start, mut n_legal) = (0, 0);
            for (role, &end) in queries.input_ends.iter().enumerate() {
                let before = n_legal;
                for_each_bit(answers, start..end as usize, |bit| {
                    self.legal[n_legal] = queries.inputs[bit];
                    n_legal += 1;
                });
                if n_legal == before {
                    self.fault = Some(Fault::NoLegalMove(Role::new(role)));
                    self.is_terminal = true;
                    break;
                }
                self.legal_ends[role] = n_legal as u32;
                start = end as usize;
            }
        }
        if !self.is_terminal {
            self.drop_rejected();
        }
        if self.is_terminal {
            self.legal_ends.fill(0);
        }
    }

    /// Removes the moves whose step would be rejected. Where none is left, play has ended.
    fn drop_rejected(&mut self) {
        let Some(test) = &mut self.rejections[self.phase] else { return };
        let starts = std::iter::once(0).chain(self.legal_ends.iter().map(|&end| end as usize));
        let lists: Vec<_> =
            starts.zip(&self.legal_ends).map(|(start, &end)| start..end as usize).collect();
        let mut choosers = (0..lists.len()).filter(|&role| lists[role].len() > 1);
        let chooser = choosers.next().unwrap_or(0);
        if choosers.next().is_some() {
            return;
        }
        let own = lists[chooser].clone();
        let others: Vec<Input> = lists
            .iter()
            .filter(|&list| *list != own)
            .flat_map(|list| &self.legal[list.clone()])
            .copied()
            .collect();
        let (mut looked_at, mut kept) = (own.start, own.start);
        while looked_at < own.end {
            let n = test.add(self.state.words(), &self.legal[looked_at..own.end], &others);
            let rejected = test.run();
            for lane in 0..n {
                if !rejected.lane(lane) {
                    self.legal[kept] = self.legal[looked_at + lane];
                    kept += 1;
                }
            }
            looked_at += n;
        }
        self.is_terminal = kept == own.start;
        let n_rejected = own.end - kept;
        let last = lists.last().map_or(0, |list| list.end);
        self.legal.copy_within(own.end..last, kept);
        self.legal_ends[chooser..].iter_mut().for_each(|end| *end -= n_rejected as u32);
    }

    /// Returns whether propagating changes is likely to be faster than computing all gates, by the
    /// work that a few random games take. No clock is read.
    fn prefers_events(&self) -> bool {
        let work = |position: &ScalarCircuit| -> u64 {
            position.scratches.borrow().iter().map(Scratch::work).sum()
        };
        let before = work(self);
        let mut position = self.clone();
        let mut rng = Rng::seed_from_u64(1);
        let (mut n_steps, mut n_playouts) = (0, 0);
        while n_steps < TRIAL_STEPS {
            position.go_to(&self.state);
            if position.is_terminal {
                return true;
            }
            n_steps += position.play_out(&mut rng, TRIAL_STEPS - n_steps);
            n_playouts += 1;
            position.with_goals(|_| ());
        }
        let Rules { phases: Phases { circuits, .. }, queries, .. } = &*self.rules;
        let work_in_full = |(circuit, queries): (&Circuit, &Queries)| {
            let step =
                n_evaluated(circuit, &queries.look) + n_evaluated(circuit, &circuit.outputs.next);
            n_steps * step + n_playouts * n_evaluated(circuit, &queries.goals)
        };
        let in_full: usize = circuits.iter().zip(queries).map(work_in_full).sum();
        work(&position) - before < (in_full / circuits.len()) as u64
    }
}

impl Rules {
    fn new(circuit: Arc<Circuit>, shape: Shape, phases: Phases, executor: Executor) -> Rules {
        let queries: Vec<Queries> = phases.circuits.iter().map(Queries::of).collect();
        let n_leaves = circuit.base.len() + circuit.n_inputs();
        let percepts: Vec<Signal> =
            circuit.outputs.percepts.iter().flatten().map(|(_, signal)| *signal).collect();
        let mut first_inputs = vec![0];
        for role in &circuit.roles {
            first_inputs.push(first_inputs[first_inputs.len() - 1] + role.moves.len() as u32);
        }
        let mut n_goals = 0;
        let goals = circuit.outputs.goals.iter().map(|of_role| {
            let values: Vec<i64> = of_role.iter().map(|&(value, _)| value).collect();
            let start = n_goals;
            n_goals += values.len();
            (values, start)
        });
        Rules {
            sense: Interpreter::new(&lower(n_leaves, &circuit.ands, &percepts)),
            engines: engines(&phases, &queries, executor),
            queries,
            phases,
            first_inputs,
            goals: goals.collect(),
            shape,
            batch: OnceLock::new(),
            circuit,
        }
    }
}

fn engines(phases: &Phases, queries: &[Queries], executor: Executor) -> Vec<Engine> {
    let of_phase = |(circuit, queries)| Engine::new(circuit, queries, executor);
    phases.circuits.iter().zip(queries).map(of_phase).collect()
}

/// Returns how many gates are evaluated for these signals, plus how many results are stored.
fn n_evaluated(circuit: &Circuit, roots: &[Signal]) -> usize {
    let cone = circuit.cone(roots.iter().copied());
    roots.len() + cone[circuit.first_and()..].iter().filter(|&&is_wanted| is_wanted).count()
}
