//! Compares all engines on random plays: the interpreter, the naive evaluator, the circuit, and the
//! batch circuit.

use std::path::Path;
use std::sync::Arc;

use agon_circuit::{BatchCircuit, BatchOptions, Bits, Deadline, Executor, Input, ScalarCircuit};
use agon_game::lockstep::{self, Comparator, Faults};
use agon_game::{Batch as _, Children, Notation as _, Position as _, Rng, TerminalChildren};
use agon_structures::evaluate::{Assignment, Limits, Model, Naive};
use agon_structures::formula::{Definitions, Variable};
use agon_structures::structure::{Element, Structure};
use agon_text::Source;
use agon_toss::arena::RuleId;
use agon_toss::check::check;
use agon_toss::circuit::{CircuitLimits, Compiled};
use agon_toss::interpreter::{Embedding, Game, Interpreter, Options, PositionError};
use agon_toss::rewrite::{GrowthLimits, apply};
use rand::{RngExt as _, SeedableRng as _};

/// Counts of what was compared.
#[derive(Default, Debug)]
pub(crate) struct Compared {
    pub(crate) n_plays: u64,
    pub(crate) n_states: u64,
    /// States at which the circuit was compared, with two executors.
    pub(crate) n_by_circuit: u64,
    /// States at which the batch circuit was compared: those reached by a step.
    pub(crate) n_by_batch: u64,
    /// States at which the naive evaluator was compared.
    pub(crate) n_states_naive: u64,
    /// Queries that the naive evaluator answered, and queries that would have taken too long.
    pub(crate) n_naive: u64,
    pub(crate) n_too_long: u64,
}

/// The plays to compare.
pub(crate) struct Plan {
    pub(crate) seeds: std::ops::Range<u64>,
    pub(crate) max_steps: usize,
    /// The naive evaluator is slow, so it is compared at one of this number of states, drawn at
    /// random.
    pub(crate) naive_every: u32,
    /// Maximum number of steps of the naive evaluator for each state.
    pub(crate) naive_steps: u64,
}

pub(crate) fn open(path: &Path) -> Arc<Game> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let arena = check(Arc::new(Source::new(path.to_string_lossy(), text))).arena;
    Game::open(arena.expect("shipped games are correct"), Options::default())
        .unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message))
}

/// Plays at random. Every answer of every engine must equal that of the interpreter, which is the
/// oracle. Calls `report` after each play.
pub(crate) fn compare(
    game: &Arc<Game>,
    plan: &Plan,
    mut report: impl FnMut(&Compared),
) -> Compared {
    let mut compared = Compared::default();
    let compiled = game.compile(&CircuitLimits::default(), Deadline::NEVER).ok();
    // A circuit adds payoffs in another order than the interpreter.
    let options = lockstep::Options {
        tolerance: TOLERANCE,
        faults: Faults::Rejected,
        ..lockstep::Options::default()
    };
    let mut engines = compiled.as_ref().map(|compiled| Engines::new(compiled, game, &options));
    for seed in plan.seeds.clone() {
        let mut rng = Rng::seed_from_u64(seed);
        // A separate random stream, so that plays do not depend on it.
        let mut sample = Rng::seed_from_u64(!seed);
        let mut oracle = game.start();
        if let Some(engines) = &mut engines {
            engines.begin();
        }
        compared.n_plays += 1;
        for step in 0..plan.max_steps {
            let place = format!("play {seed}, step {step}: {:?}", oracle.state_text());
            assert_eq!(oracle.fault(), None, "{place}");
            compared.n_states += 1;
            if sample.random_range(0..plan.naive_every) == 0 {
                compared.n_states_naive += 1;
                by_definition(&oracle, plan.naive_steps, &mut compared, &place);
            }
            if let Some(engines) = &mut engines {
                compared.n_by_circuit += 1;
                compared.n_by_batch += u64::from(engines.child.is_some());
                engines.compare(&oracle, &place);
            }
            if oracle.is_terminal() {
                break;
            }
            let joint: Vec<_> = game
                .shape()
                .roles()
                .map(|role| {
                    let legal = oracle.legal_moves(role);
                    legal[rng.random_range(0..legal.len())].clone()
                })
                .collect();
            if let Some(engines) = &mut engines {
                engines.advance(&oracle, &joint, &place);
            }
            oracle.advance(&joint);
        }
        report(&compared);
    }
    compared
}

/// Computes the embeddings of the rules that may be applied here, and the payoffs, by the
/// definition of truth.
fn by_definition(oracle: &Interpreter, steps: u64, compared: &mut Compared, place: &str) {
    let arena = oracle.game().arena();
    let definitions = arena.definitions();
    let limits = Limits { steps, ..Limits::default() };
    fn naive<'a>(
        structure: &'a Structure,
        definitions: &'a Definitions,
        limits: Limits,
    ) -> Naive<'a> {
        Naive::new(Model { structure, definitions }, limits).with_pruning()
    }
    let state = oracle.state();
    let mut here = naive(state.structure(), definitions, limits);
    let location = arena.location(state.location());
    let mut rules: Vec<RuleId> = location.edges.iter().flatten().map(|edge| edge.rule).collect();
    rules.sort();
    rules.dedup();
    for id in rules {
        let rule = arena.rule(id);
        let found = here.solutions(&rule.condition, &rule.elements, &Assignment::new());
        let Ok(mut found) = found else {
            compared.n_too_long += 1;
            continue;
        };
        if rule.history.iter().any(|(earlier, holds)| state.history().contains(earlier) != *holds) {
            found.clear();
        }
        let names: Vec<&str> = rule.elements.iter().map(Variable::name).collect();
        found.sort();
        let by_engine = |embeddings: Result<Vec<Embedding>, PositionError>| -> Vec<Vec<Element>> {
            let embeddings = embeddings.expect("shipped games are evaluated within limits");
            embeddings.iter().map(|e| e.to_vec()).collect()
        };
        let embeddings = by_engine(oracle.embeddings(id));
        assert_eq!(embeddings, found, "{}({names:?}), {place}", rule.name);
        compared.n_naive += 1;
        // Where several players act at once, post-conditions are asked of the joint result.
        if location.is_concurrent() {
            continue;
        }
        let mut took_too_long = false;
        found.retain(|embedding: &Vec<Element>| {
            let Some(post) = &rule.post else { return true };
            let growth = GrowthLimits { elements: 5000, tuples: 200_000 };
            let after = apply(&rule.effect, state.structure(), embedding, growth)
                .expect("shipped games stay small");
            let elements =
                post.variables.iter().cloned().zip(after.elements.iter().copied()).collect();
            let asked = Assignment { elements, ..Assignment::new() };
            let holds = naive(&after.structure, definitions, limits).holds(&post.formula, &asked);
            took_too_long |= holds.is_err();
            holds.unwrap_or(true)
        });
        if took_too_long {
            compared.n_too_long += 1;
            continue;
        }
        let legal = by_engine(oracle.legal_embeddings(id));
        assert_eq!(legal, found, "{}({names:?}) with its post-condition, {place}", rule.name);
        compared.n_naive += 1;
    }
    for (payoff, term) in
        oracle.exact_payoffs().expect("shipped games have payoffs").iter().zip(&location.payoffs)
    {
        match here.value(term, &Assignment::new()) {
            Ok(value) => {
                assert_eq!(value.as_ref(), Some(payoff), "{place}");
                compared.n_naive += 1;
            }
            Err(_) => compared.n_too_long += 1,
        }
    }
}

/// Largest difference between payoffs that count as equal.
const TOLERANCE: f64 = 1e-9;

/// The circuit with two executors, and the batch circuit.
struct Engines<'o> {
    comparator: Comparator<'o, Interpreter, ScalarCircuit>,
    starts: [ScalarCircuit; 2],
    positions: [ScalarCircuit; 2],
    batch: BatchCircuit,
    children: Children<Bits, Input>,
    /// The position among the children of the batch circuit, if it was reached by a step.
    child: Option<usize>,
}

impl<'o> Engines<'o> {
    fn new(
        compiled: &Compiled,
        game: &Arc<Game>,
        options: &'o lockstep::Options<'o, Interpreter, ScalarCircuit>,
    ) -> Engines<'o> {
        let start = |executor| {
            ScalarCircuit::with_executor(
                Arc::clone(&compiled.circuit),
                compiled.shape().clone(),
                executor,
            )
        };
        let starts = [start(Executor::Levelled), start(Executor::Auto)];
        let batch_options =
            BatchOptions { turns: compiled.turns.clone(), ..BatchOptions::default() };
        Engines {
            comparator: Comparator::new(&game.start(), options),
            positions: starts.clone(),
            starts,
            batch: BatchCircuit::new(
                Arc::clone(&compiled.circuit),
                compiled.shape().clone(),
                batch_options,
            ),
            children: Children::new(compiled.circuit.roles.len()),
            child: None,
        }
    }

    fn begin(&mut self) {
        self.positions = self.starts.clone();
        self.child = None;
    }

    fn compare(&mut self, oracle: &Interpreter, place: &str) {
        for position in &self.positions {
            let compared = self.comparator.compare_position(oracle, position);
            compared.unwrap_or_else(|mismatch| panic!("{mismatch}, {place}"));
            for role in oracle.shape().roles() {
                let compared = self.comparator.compare_moves(oracle, position, role);
                compared.unwrap_or_else(|mismatch| panic!("{mismatch}, {place}"));
            }
        }
        let Some(child) = self.child else { return };
        let (children, position) = (&self.children, &self.positions[0]);
        assert_eq!(&children.states[child], position.state(), "batch, {place}");
        assert_eq!(children.ended[child], position.is_terminal(), "batch, {place}");
        for role in position.shape().roles() {
            let mut legal = Vec::new();
            children.list_legal(child, role, &mut legal);
            assert_eq!(legal, position.legal_moves(role), "batch, {place}");
            let difference = children.payoffs(child)[role.index()] - position.payoff(role);
            assert!(difference.abs() < TOLERANCE, "batch, {place}");
        }
    }

    /// Makes a joint move of the oracle.
    fn advance(
        &mut self,
        oracle: &Interpreter,
        joint: &[<Interpreter as agon_game::Position>::Move],
        place: &str,
    ) {
        let here = &self.positions[0];
        let joint = self.comparator.joint(oracle, here, joint);
        let joint = joint.unwrap_or_else(|mismatch| panic!("{mismatch}, {place}"));
        let n_joints: usize =
            here.shape().roles().map(|role| here.legal_moves(role).len()).product();
        self.batch.expand(&[here.state()], &mut self.children);
        let (mut ends, mut expected) = (TerminalChildren::default(), TerminalChildren::default());
        self.batch.look_ahead(&[here.state()], &mut ends);
        expected.collect_from(&self.children);
        assert_eq!(ends, expected, "batch look-ahead, {place}");
        assert_eq!(self.children.len(), n_joints, "the batch makes every joint move, {place}");
        self.child = (0..n_joints).find(|&child| self.children.joint(child) == joint);
        assert!(self.child.is_some(), "{place}");
        self.positions.iter_mut().for_each(|position| position.advance(&joint));
    }
}
