//! All engines asked the same questions on random plays: the interpreter, formulas by their definition, the circuit, its lanes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_circuit::{BatchCircuit, BatchOptions, Bits, Deadline, Executor, Input, ScalarCircuit};
use agon_game::{Batch as _, Children, Ends, Notation as _, Position as _, Rng, Role};
use agon_structures::evaluate::{Assignment, Limits, Model, Naive};
use agon_structures::formula::{Definitions, Variable};
use agon_structures::structure::{Element, Structure};
use agon_text::Source;
use agon_toss::arena::RuleId;
use agon_toss::check::check;
use agon_toss::circuit::{CircuitLimits, Compiled};
use agon_toss::interpreter::{Game, Interpreter, Options};
use agon_toss::rewrite::{Growth, apply};
use rand::{RngExt as _, SeedableRng as _};

/// What was compared.
#[derive(Default, Debug)]
pub(crate) struct Compared {
    pub(crate) n_plays: u64,
    pub(crate) n_states: u64,
    /// States at which the circuit was asked too, by both ways to run it.
    pub(crate) n_by_circuit: u64,
    /// States at which the lanes were asked too: those that came of a step.
    pub(crate) n_by_lanes: u64,
    /// States at which the definition was asked.
    pub(crate) n_states_naive: u64,
    /// Questions that were answered by the definition too, and those that would have taken too long.
    pub(crate) n_naive: u64,
    pub(crate) n_too_long: u64,
}

/// How much is compared.
pub(crate) struct Plan {
    pub(crate) seeds: std::ops::Range<u64>,
    pub(crate) max_steps: usize,
    /// At one of so many states, drawn at random, the definition is asked: it is slow.
    pub(crate) naive_every: u32,
    /// Steps of evaluation by the definition for each state.
    pub(crate) naive_steps: u64,
}

/// The games that ship.
pub(crate) fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/toss");
    let entries = std::fs::read_dir(folder).expect("games/toss exists");
    let paths = entries.map(|entry| entry.expect("the folder is readable").path());
    let mut games: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "toss")).collect();
    games.sort();
    games
}

pub(crate) fn open(path: &Path) -> Arc<Game> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let arena = check(Arc::new(Source::new(path.to_string_lossy(), text))).arena;
    Game::open(arena.expect("games that ship are fine"), Options::default())
        .unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message))
}

/// Plays at random; every answer of every engine must be that of the interpreter. Tells after each play how far it is.
pub(crate) fn compare(game: &Arc<Game>, plan: &Plan, mut tell: impl FnMut(&Compared)) -> Compared {
    let mut compared = Compared::default();
    let compiled = game.compile(&CircuitLimits::default(), Deadline::NEVER).ok();
    let mut engines = compiled.as_ref().map(Engines::new);
    for seed in plan.seeds.clone() {
        let mut rng = Rng::seed_from_u64(seed);
        // From a stream of its own, so that plays do not depend on it.
        let mut sample = Rng::seed_from_u64(!seed);
        let mut judge = game.start();
        if let Some(engines) = &mut engines {
            engines.begin();
        }
        compared.n_plays += 1;
        for step in 0..plan.max_steps {
            let place = format!("play {seed}, step {step}: {:?}", judge.state_text());
            assert_eq!(judge.fault(), None, "{place}");
            compared.n_states += 1;
            if sample.random_range(0..plan.naive_every) == 0 {
                compared.n_states_naive += 1;
                by_definition(&judge, plan.naive_steps, &mut compared, &place);
            }
            if let Some(engines) = &mut engines {
                compared.n_by_circuit += 1;
                compared.n_by_lanes += u64::from(engines.child.is_some());
                engines.look(&judge, &place);
            }
            if judge.is_terminal() {
                break;
            }
            let chosen: Vec<usize> = game
                .shape()
                .roles()
                .map(|role| rng.random_range(0..judge.legal_moves(role).len()))
                .collect();
            if let Some(engines) = &mut engines {
                engines.advance(&chosen, &place);
            }
            let joint: Vec<_> = game
                .shape()
                .roles()
                .zip(&chosen)
                .map(|(role, &index)| judge.legal_moves(role)[index].clone())
                .collect();
            judge.advance(&joint);
        }
        tell(&compared);
    }
    compared
}

/// Matches of the rules that may be applied here, and payoffs, by the definition of truth.
fn by_definition(judge: &Interpreter, steps: u64, compared: &mut Compared, place: &str) {
    let arena = judge.game().arena();
    let definitions = arena.definitions();
    let limits = Limits { steps, ..Limits::default() };
    fn naive<'a>(
        structure: &'a Structure,
        definitions: &'a Definitions,
        limits: Limits,
    ) -> Naive<'a> {
        Naive::new(Model { structure, definitions }, limits).leaving_early()
    }
    let state = judge.state();
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
        let mut took_too_long = false;
        found.retain(|matched: &Vec<Element>| {
            let Some(post) = &rule.post else { return true };
            let growth = Growth { elements: 5000, tuples: 200_000 };
            let after = apply(&rule.effect, state.structure(), matched, growth)
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
        found.sort();
        let names: Vec<&str> = rule.elements.iter().map(Variable::name).collect();
        assert_eq!(judge.matches(id).as_ref(), Ok(&found), "{}({names:?}), {place}", rule.name);
        compared.n_naive += 1;
    }
    for (payoff, term) in
        judge.exact_payoffs().expect("shipped games pay").iter().zip(&location.payoffs)
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

/// The circuit one game at a time, twice, and its lanes.
struct Engines {
    starts: [ScalarCircuit; 2],
    positions: [ScalarCircuit; 2],
    batch: BatchCircuit,
    children: Children<Bits, Input>,
    /// What the lanes have said of the position, if it came of a step.
    child: Option<usize>,
}

impl Engines {
    fn new(compiled: &Compiled) -> Engines {
        let start = |executor| {
            ScalarCircuit::with_executor(
                Arc::clone(&compiled.circuit),
                compiled.shape.clone(),
                executor,
            )
        };
        let starts = [start(Executor::Levelled), start(Executor::Auto)];
        let options = BatchOptions { turns: compiled.turns.clone(), ..BatchOptions::default() };
        Engines {
            positions: starts.clone(),
            starts,
            batch: BatchCircuit::new(
                Arc::clone(&compiled.circuit),
                compiled.shape.clone(),
                options,
            ),
            children: Children::new(compiled.circuit.roles.len()),
            child: None,
        }
    }

    fn begin(&mut self) {
        self.positions = self.starts.clone();
        self.child = None;
    }

    fn look(&self, judge: &Interpreter, place: &str) {
        for position in &self.positions {
            assert_eq!(position.state_text(), judge.state_text(), "{place}");
            assert_eq!(position.fault(), None, "{place}");
            assert_eq!(position.is_terminal(), judge.is_terminal(), "{place}");
        }
        let shown = &self.positions[0];
        let texts =
            |moves: &[Input]| -> Vec<String> { moves.iter().map(|m| shown.move_text(m)).collect() };
        for role in judge.shape().roles() {
            let legal: Vec<String> =
                judge.legal_moves(role).iter().map(|m| judge.move_text(m)).collect();
            let payoff = judge.payoff(role);
            for position in &self.positions {
                assert_eq!(texts(position.legal_moves(role)), legal, "{place}");
                assert!((position.payoff(role) - payoff).abs() < 1e-9, "{place}");
            }
            if let Some(child) = self.child {
                let mut own = Vec::new();
                if !self.children.ended[child] {
                    self.children.list_legal(child, role, &mut own);
                }
                assert_eq!(texts(&own), legal, "lanes, {place}");
                assert!(
                    (self.children.payoffs(child)[role.index()] - payoff).abs() < 1e-9,
                    "lanes, {place}"
                );
            }
        }
        if let Some(child) = self.child {
            assert_eq!(&self.children.states[child], self.positions[0].state(), "lanes, {place}");
            assert_eq!(self.children.ended[child], judge.is_terminal(), "lanes, {place}");
        }
    }

    /// Makes the moves of these numbers, one of each role.
    fn advance(&mut self, chosen: &[usize], place: &str) {
        let here = &self.positions[0];
        let roles = (0..chosen.len()).map(Role::new);
        let joint: Vec<Input> =
            roles.clone().zip(chosen).map(|(role, &index)| here.legal_moves(role)[index]).collect();
        let n_joints: usize = roles.map(|role| here.legal_moves(role).len()).product();
        self.batch.expand(&[here.state()], &mut self.children);
        let (mut ends, mut expected) = (Ends::default(), Ends::default());
        self.batch.look_ahead(&[here.state()], &mut ends);
        expected.note(&self.children);
        assert_eq!(ends, expected, "lanes look ahead, {place}");
        assert_eq!(self.children.len(), n_joints, "lanes make every joint move, {place}");
        self.child = (0..n_joints).find(|&child| self.children.joint(child) == joint);
        assert!(self.child.is_some(), "{place}");
        self.positions.iter_mut().for_each(|position| position.advance(&joint));
    }
}
