//! One game at a time: a circuit as a [`Position`].

mod engine;
mod full;
mod random;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use agon_game::{Batch, Fault, Hidden, Notation, Position, Rng, Role, Shape};

use rand::SeedableRng as _;

use crate::interpret::Interpreter;
use crate::phases::Phases;
use crate::program::lower;
use crate::sieve::Sieve;
use crate::{Backend, BatchCircuit, BatchOptions, Bits, Circuit, Signal, prove_turns};
use engine::{Desk, Engine, Questions};

/// A move: the number of its input bit, counted over all roles, role by role. Dense: `0..circuit.n_inputs()`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input(pub u32);

/// A circuit standing at one state.
///
/// Nothing is allocated by a step, unless somebody else holds on to a large state that is left. See [`Executor`] for the ways
/// to work it out.
#[derive(Clone)]
pub struct ScalarCircuit {
    rules: Arc<Rules>,
    state: Bits,
    is_terminal: bool,
    fault: Option<Fault>,
    /// The legal moves of all roles, role after role; what comes after them means nothing.
    legal: Vec<Input>,
    /// By role: where its legal moves end in `legal`.
    legal_ends: Vec<u32>,
    /// The place of the token that the circuit is cut up by.
    phase: usize,
    /// By phase: what its engine works on. In a cell, since goals are worked out when they are asked for.
    desks: RefCell<Vec<Desk>>,
    /// Whether the desk of this phase has the goals of this state.
    has_goals: Cell<bool>,
    /// A joint move of a playout: kept only for its memory.
    joint: Vec<Input>,
    /// By phase, where steps may be rejected: what refuses moves.
    sieves: Vec<Option<Sieve>>,
}

/// How single steps are worked out. All give the same answers.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Executor {
    /// Whichever is likely to be fastest, by the work that a few random games take.
    #[default]
    Auto,
    /// Everything anew at each state, by native code where the processor has AVX2, of which one lane is used.
    Native,
    /// Everything anew at each state, in the order of the lowered program.
    Levelled,
    /// Only what changes from the last state.
    Events,
}

struct Rules {
    circuit: Arc<Circuit>,
    shape: Shape,
    phases: Phases,
    /// By phase.
    engines: Vec<Engine>,
    /// By phase: what is asked of its engine.
    questions: Vec<Questions>,
    /// From base bits and inputs to the percepts of all roles.
    sense: Interpreter,
    /// By role: its first input, and at the end the number of inputs.
    first_inputs: Vec<u32>,
    /// By role: goal values in ascending order, and where their bits start among the goals.
    goals: Vec<(Vec<i64>, usize)>,
}

impl ScalarCircuit {
    /// The initial position of a circuit's game, with what the circuit alone shows of its shape.
    pub fn new(circuit: Arc<Circuit>) -> ScalarCircuit {
        let shape = circuit.shape();
        ScalarCircuit::with_shape(circuit, shape)
    }

    /// The initial position, of a shape of which more has been proved.
    pub fn with_shape(circuit: Arc<Circuit>, shape: Shape) -> ScalarCircuit {
        ScalarCircuit::with_executor(circuit, shape, Executor::Auto)
    }

    /// The initial position, ready soonest: for who plays a few hundred games, which are over before a circuit is cut up and
    /// the ways to play it are tried.
    pub fn at_once(circuit: Arc<Circuit>) -> ScalarCircuit {
        let (shape, phases) = (circuit.shape(), Phases::whole(&circuit));
        ScalarCircuit::of_phases(circuit, shape, phases, Executor::Events)
    }

    /// The same as [`ScalarCircuit::with_shape`], worked out in a given way.
    pub fn with_executor(circuit: Arc<Circuit>, shape: Shape, executor: Executor) -> ScalarCircuit {
        let first = if executor == Executor::Auto { Executor::Events } else { executor };
        let phases = Phases::new(&circuit);
        let mut position = ScalarCircuit::of_phases(circuit, shape, phases, first);
        if executor == Executor::Auto && !position.prefers_events() {
            let rules = Arc::get_mut(&mut position.rules).expect("the trial is over");
            rules.engines = engines(&rules.phases, &rules.questions, Executor::Native);
            position.desks = RefCell::new(rules.engines.iter().map(Engine::desk).collect());
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
        let questions: Vec<Questions> = phases.circuits.iter().map(Questions::of).collect();
        let engines = engines(&phases, &questions, executor);
        let n_possible =
            questions.iter().map(|questions| questions.inputs.len()).max().unwrap_or(0);
        let n_leaves = circuit.base.len() + circuit.n_inputs();
        let percepts: Vec<Signal> =
            circuit.outputs.percepts.iter().flatten().map(|(_, signal)| *signal).collect();
        let mut first_inputs = vec![0];
        for role in &circuit.roles {
            first_inputs.push(first_inputs[first_inputs.len() - 1] + role.moves.len() as u32);
        }
        let mut first = 0;
        let goals = circuit.outputs.goals.iter().map(|of_role| {
            let values: Vec<i64> = of_role.iter().map(|&(value, _)| value).collect();
            first += values.len();
            let start = first - values.len();
            (values, start)
        });
        let goals = goals.collect();
        let n_roles = circuit.roles.len();
        let backend =
            if executor == Executor::Levelled { Backend::Portable } else { Backend::Native };
        let sieves = phases.circuits.iter().map(|circuit| Sieve::new(circuit, backend)).collect();
        let mut position = ScalarCircuit {
            state: Bits::pack(circuit.initial.iter().copied()),
            phase: 0,
            is_terminal: false,
            fault: None,
            legal: vec![Input(0); n_possible],
            legal_ends: vec![0; n_roles],
            desks: RefCell::new(engines.iter().map(Engine::desk).collect()),
            has_goals: Cell::new(false),
            joint: Vec::new(),
            sieves,
            rules: Arc::new(Rules {
                sense: Interpreter::new(&lower(n_leaves, &circuit.ands, &percepts)),
                engines,
                questions,
                phases,
                first_inputs,
                goals,
                shape,
                circuit,
            }),
        };
        position.look();
        position
    }

    /// The circuit that is played.
    pub fn circuit(&self) -> &Arc<Circuit> {
        &self.rules.circuit
    }

    /// How steps are worked out.
    pub fn executor(&self) -> Executor {
        self.rules.engines[self.phase].executor()
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
        let (values, first) = &self.rules.goals[role.index()];
        self.with_goals(|goals| {
            let held = values.iter().zip(*first..).filter(|&(_, bit)| has_bit(goals, bit));
            held.map(|(&value, _)| value).collect()
        })
    }

    /// Reads the goals, worked out by now.
    fn with_goals<R>(&self, read: impl FnOnce(&[u64]) -> R) -> R {
        let mut desks = self.desks.borrow_mut();
        let desk = &mut desks[self.phase];
        if !self.has_goals.replace(true) {
            self.rules.engines[self.phase].value(desk);
        }
        read(desk.goals())
    }

    /// Works out what there is to know of the state, but for the goals.
    fn look(&mut self) {
        self.phase = self.rules.phases.of(&self.state);
        self.rules.engines[self.phase]
            .look_again(&mut self.desks.get_mut()[self.phase], &self.state);
        self.read();
    }

    /// Makes a joint move and lets the engine look at what comes of it. To be followed by [`ScalarCircuit::read`].
    #[inline]
    fn step(&mut self, joint: &[Input]) {
        let Rules { engines, phases, .. } = &*self.rules;
        let desks = self.desks.get_mut();
        engines[self.phase].step(&mut desks[self.phase], joint, &mut self.state);
        self.phase = phases.after(self.phase);
        engines[self.phase].look(&mut desks[self.phase], &self.state);
    }

    /// Takes over what the circuit says of the state: legal moves and the end.
    fn read(&mut self) {
        let questions = &self.rules.questions[self.phase];
        let answers = self.desks.get_mut()[self.phase].answers();
        self.has_goals.set(false);
        self.is_terminal = has_bit(answers, questions.inputs.len());
        self.fault = None;
        if !self.is_terminal {
            let (mut start, mut n_legal) = (0, 0);
            for (role, &end) in questions.input_ends.iter().enumerate() {
                let before = n_legal;
                for_each_bit(answers, start..end as usize, |bit| {
                    self.legal[n_legal] = questions.inputs[bit];
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
            self.refuse();
        }
        if self.is_terminal {
            self.legal_ends.fill(0);
        }
    }

    /// Takes those moves off the lists whose step would be rejected. Where none is left, play has ended.
    fn refuse(&mut self) {
        let Some(sieve) = &mut self.sieves[self.phase] else { return };
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
            let n = sieve.seat(self.state.words(), &self.legal[looked_at..own.end], &others);
            let rejected = sieve.rejected();
            for lane in 0..n {
                if !rejected.lane(lane) {
                    self.legal[kept] = self.legal[looked_at + lane];
                    kept += 1;
                }
            }
            looked_at += n;
        }
        self.is_terminal = kept == own.start;
        let n_refused = own.end - kept;
        let last = lists.last().map_or(0, |list| list.end);
        self.legal.copy_within(own.end..last, kept);
        self.legal_ends[chooser..].iter_mut().for_each(|end| *end -= n_refused as u32);
    }

    /// Whether propagating changes is likely to be faster than working everything out anew, by the work that a few random
    /// games take: no clock is read.
    fn prefers_events(&self) -> bool {
        let work = |position: &ScalarCircuit| -> u64 {
            position.desks.borrow().iter().map(Desk::work).sum()
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
        let Rules { phases: Phases { circuits, .. }, questions, .. } = &*self.rules;
        let work_anew = |(circuit, questions): (&Circuit, &Questions)| {
            let step =
                n_evaluated(circuit, &questions.look) + n_evaluated(circuit, &circuit.outputs.next);
            n_steps * step + n_playouts * n_evaluated(circuit, &questions.goals)
        };
        let anew: usize = circuits.iter().zip(questions).map(work_anew).sum();
        work(&position) - before < (anew / circuits.len()) as u64
    }
}

fn engines(phases: &Phases, questions: &[Questions], executor: Executor) -> Vec<Engine> {
    let of_phase = |(circuit, questions)| Engine::new(circuit, questions, executor);
    phases.circuits.iter().zip(questions).map(of_phase).collect()
}

/// How many gates are evaluated for these signals, and how many results are stored.
fn n_evaluated(circuit: &Circuit, roots: &[Signal]) -> usize {
    let cone = circuit.cone(roots.iter().copied());
    roots.len() + cone[circuit.first_and()..].iter().filter(|&&is_wanted| is_wanted).count()
}

/// How many steps of random games are tried.
const TRIAL_STEPS: usize = 200;

/// The highest bit that is set within a range, counted from its start.
pub(crate) fn highest_bit(words: &[u64], range: std::ops::Range<usize>) -> Option<usize> {
    let mut end = range.end;
    while end > range.start {
        let start = (end - 1) / 64 * 64;
        let word = words[start / 64] << (63 - (end - 1) % 64);
        if word != 0 {
            let bit = end - 1 - word.leading_zeros() as usize;
            return bit.checked_sub(range.start);
        }
        end = start;
    }
    None
}

/// Calls back with each bit that is set within a range, in ascending order.
#[inline(always)]
pub(crate) fn for_each_bit(
    words: &[u64],
    range: std::ops::Range<usize>,
    mut then: impl FnMut(usize),
) {
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min((at / 64 + 1) * 64);
        let mut word = within(words[at / 64], at % 64, end - at);
        let first = at / 64 * 64;
        while word != 0 {
            then(first + word.trailing_zeros() as usize);
            word &= word - 1;
        }
        at = end;
    }
}

/// The bits of a word from `start` on, `n_bits` of them, at least one; the others are cleared.
#[inline(always)]
fn within(word: u64, start: usize, n_bits: usize) -> u64 {
    word & (!0 >> (64 - n_bits)) << start
}

#[inline(always)]
fn has_bit(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
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
        let (values, first) = &self.rules.goals[player.index()];
        let highest = self.with_goals(|goals| highest_bit(goals, *first..first + values.len()));
        highest.map_or(0.0, |idx| values[idx] as f64)
    }

    fn advance(&mut self, joint: &[Input]) {
        debug_assert_eq!(
            joint.len(),
            self.legal_ends.len(),
            "a joint move has a move for each role"
        );
        self.step(joint);
        self.read();
    }

    fn play_out(&mut self, rng: &mut Rng, max_steps: usize) -> usize {
        random::play_out(self, rng, max_steps)
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
        let options =
            BatchOptions { backend: Backend::default(), seed, turns: prove_turns(&circuit) };
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
        let n_base = circuit.base.len();
        let mut slots = vec![0_u64; n_base + circuit.n_inputs()];
        slots[..n_base]
            .iter_mut()
            .enumerate()
            .for_each(|(bit, slot)| *slot = u64::from(self.state.get(bit)));
        joint.iter().for_each(|input| slots[n_base + input.0 as usize] = 1);
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
