//! The slow path: opens a game, plays it, grounds it and proves properties, in a thread of its own.
//!
//! Each stage sends what is known so far. A newer version of the text sets the flag of the thread,
//! which every stage obeys: evaluation, grounding and compilation at once, proofs at their deadline,
//! which is at most three seconds away. The feature `proofs` adds the proofs.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_datalog::{Limits, StopFlag};
use agon_gdl::circuit::{CircuitLimits, RuleCost};
use agon_gdl::interpreter::{Game, Options, RelationFacts};
use agon_text::profile::{Profile, ProfileOptions};
use agon_text::{Diagnostic, Source};
use crossbeam_channel::Sender;

/// Number of random plays.
const PLAYS: u64 = 5;
/// Maximum number of steps of a random play.
const MAX_STEPS: usize = 1000;
/// Maximum number of gates of a circuit.
const MAX_GATES: usize = 1_000_000;
/// Maximum number of steps of grounding, which takes a second or two.
const MAX_GROUND_STEPS: u64 = 40_000_000;
/// Number of random plays in which the cost of rules is measured, and maximum time for them.
const PROFILED_PLAYS: usize = 20;
const PROFILE_TIME: Duration = Duration::from_secs(1);
/// Maximum time for proofs.
#[cfg(feature = "proofs")]
const PROOF_TIME: Duration = Duration::from_secs(3);

/// What the slow path knows of a version of a text.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    /// Findings of random play.
    pub(crate) findings: Vec<Diagnostic>,
    /// The relations of a GDL game.
    pub(crate) relations: Arc<Vec<RelationFacts>>,
    /// The cost of the rules of a GDL game, by the line at which they start: with parameters the
    /// game has other clauses than the text, but at the same lines.
    pub(crate) costs: Arc<BTreeMap<usize, RuleCost>>,
    /// The cost of the rules of each relation of a GDL game, by name and number of arguments.
    pub(crate) relation_costs: Arc<BTreeMap<(String, usize), RuleCost>>,
    /// What each rule costs in random play, and which are never used.
    pub(crate) profile: Option<Arc<Profile>>,
    /// The relations of a structure rewriting game, by name.
    pub(crate) rewritten: Arc<BTreeMap<String, RewrittenRelation>>,
    /// The circuit, or why there is none.
    pub(crate) circuit: Option<Result<CircuitFacts, String>>,
    /// The modes of fluents, by name.
    pub(crate) modes: Arc<BTreeMap<String, Vec<String>>>,
    /// Properties of the game: a short title and a sentence each.
    pub(crate) properties: Arc<Vec<(String, String)>>,
    /// Number of different moves of each rule of a structure rewriting game.
    pub(crate) moves: Arc<BTreeMap<String, usize>>,
}

/// A relation of a structure rewriting game that the start or rules give its tuples.
#[derive(Clone, Debug)]
pub(crate) struct RewrittenRelation {
    pub(crate) arity: usize,
    /// Number of its tuples at the start.
    pub(crate) n_tuples: usize,
    /// By argument: the elements that stand there at the start.
    pub(crate) elements: Vec<Vec<String>>,
    /// Whether it may change.
    pub(crate) is_fluent: bool,
    /// Names of the rules that add or delete its tuples.
    pub(crate) changed_by: Vec<String>,
}

/// The size of a circuit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct CircuitFacts {
    pub(crate) gates: usize,
    pub(crate) fluents: usize,
    pub(crate) moves: usize,
}

/// A result of the slow path.
pub(crate) struct Outcome {
    pub(crate) uri: String,
    /// The number of the job.
    pub(crate) job: u64,
    pub(crate) facts: Facts,
    pub(crate) is_done: bool,
}

/// A version of a text for the slow path.
pub(crate) struct Job {
    pub(crate) uri: String,
    /// The number of the job, unique in its session.
    pub(crate) number: u64,
    pub(crate) source: Arc<Source>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) deadline: Instant,
    pub(crate) outcomes: Sender<Outcome>,
}

impl Job {
    /// Starts the job in a thread of its own. Returns false if the system has no thread left.
    pub(crate) fn start(self) -> bool {
        let builder = std::thread::Builder::new().name("agon-lsp-slow".to_owned());
        // Terms and proofs may nest deep.
        builder.stack_size(32 << 20).spawn(move || self.run()).is_ok()
    }

    fn run(self) {
        let mut facts = Facts::default();
        // The session counts running jobs, so it must hear of the end in any case.
        let is_toss = agon_toss::read::is_game(&self.source);
        let _ = catch_unwind(AssertUnwindSafe(|| {
            if is_toss { self.toss(&mut facts) } else { self.gdl(&mut facts) }
        }));
        self.send(facts, true);
    }

    fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sends what is known. Returns `None` if the job is to end.
    fn publish(&self, facts: &Facts) -> Option<()> {
        if self.is_cancelled() || Instant::now() > self.deadline {
            return None;
        }
        self.send(facts.clone(), false);
        Some(())
    }

    fn send(&self, facts: Facts, is_done: bool) {
        let (uri, job) = (self.uri.clone(), self.number);
        // The session may be over.
        let _ = self.outcomes.send(Outcome { uri, job, facts, is_done });
    }

    /// Returns how rules are measured: within a second, and only while the job is wanted.
    fn profiling(&self) -> ProfileOptions {
        let time = self.deadline.saturating_duration_since(Instant::now()).min(PROFILE_TIME);
        ProfileOptions {
            plays: PROFILED_PLAYS,
            time,
            gates: false,
            stop: Some(Arc::clone(&self.stop)),
            ..ProfileOptions::default()
        }
    }

    /// Returns a profile unless it was cut off by a newer version. A game that cannot be evaluated
    /// has none; its faults are among the findings.
    fn profiled(&self, profile: Result<Profile, String>) -> Option<Arc<Profile>> {
        profile.ok().filter(|_| !self.is_cancelled()).map(Arc::new)
    }

    fn gdl(&self, facts: &mut Facts) -> Option<()> {
        let rules = agon_gdl::check::check(Arc::clone(&self.source)).rules?;
        let stop = StopFlag::new(Arc::clone(&self.stop));
        let limits = Limits {
            stop: stop.clone(),
            bytes: 256 << 20,
            steps: 20_000_000,
            deadline: Some(self.deadline),
            ..Limits::default()
        };
        let options = Options { limits, deadline: Some(self.deadline), ..Options::default() };
        let game = match Game::open(rules, options) {
            Ok(game) => game,
            Err(finding) => {
                facts.findings.push(*finding);
                return None;
            }
        };
        facts.relations = Arc::new(game.relations());
        self.publish(facts)?;

        use agon_gdl::by_play::{PlayPlan, check_by_play};
        let plan = PlayPlan {
            plays: PLAYS,
            max_steps: MAX_STEPS,
            deadline: Some(self.deadline),
            ..PlayPlan::default()
        };
        let findings = check_by_play(&game, &plan, &mut || ()).0;
        if self.is_cancelled() || Instant::now() > self.deadline {
            return None;
        }
        facts.findings = findings;
        self.publish(facts)?;

        let mut limits = CircuitLimits { gates: MAX_GATES, ..CircuitLimits::default() };
        limits.ground.steps = MAX_GROUND_STEPS;
        limits.ground.bytes = 512 << 20;
        limits.ground.deadline = Some(self.deadline);
        limits.ground.stop = stop;
        match game.ground_rules(&limits) {
            Ok(ground) => add_costs(&game, &ground.costs(), facts),
            Err(refusal) => {
                facts.circuit = Some(Err(game.refusal_text(&refusal)));
                facts.profile = self.profiled(agon_gdl::profile::profile(&game, &self.profiling()));
                return self.publish(facts);
            }
        }
        self.publish(facts)?;
        facts.profile = self.profiled(agon_gdl::profile::profile(&game, &self.profiling()));
        self.publish(facts)?;

        let compiled = match game.compile(&limits) {
            Ok(compiled) => compiled,
            Err(error) => {
                facts.circuit = Some(Err(error.to_string()));
                return self.publish(facts);
            }
        };
        facts.circuit = Some(Ok(circuit_facts(&compiled.circuit)));
        self.publish(facts)?;

        #[cfg(feature = "proofs")]
        {
            let until = self.deadline.min(Instant::now() + PROOF_TIME);
            prove(&game, &compiled, until, facts);
        }
        self.publish(facts)
    }

    fn toss(&self, facts: &mut Facts) -> Option<()> {
        use agon_toss::by_play::{PlayPlan, check_by_play};
        use agon_toss::interpreter::{Game, Options};
        let arena = agon_toss::check::check(Arc::clone(&self.source)).arena?;
        let game = match Game::open(arena, Options::default()) {
            Ok(game) => game,
            Err(finding) => {
                facts.findings.push(*finding);
                return None;
            }
        };
        facts.rewritten = Arc::new(relations(&game));
        self.publish(facts)?;
        // One play at a time, so that a newer version need not wait for all.
        for seed in 1..=PLAYS {
            let plan = PlayPlan { plays: 1, seed, max_steps: MAX_STEPS, ..PlayPlan::default() };
            facts.findings = check_by_play(&game, &plan, &mut || ()).0;
            if self.is_cancelled() || Instant::now() > self.deadline {
                return None;
            }
            if !facts.findings.is_empty() {
                break;
            }
        }
        self.publish(facts)?;
        facts.profile = self.profiled(agon_toss::profile::profile(&game, &self.profiling()));
        self.publish(facts)?;
        match game.ground(&agon_toss::circuit::CircuitLimits::modest()) {
            Ok(ground) => {
                let mut moves: BTreeMap<String, usize> = BTreeMap::new();
                for text in ground.circuit.roles.iter().flat_map(|role| &role.moves) {
                    let word = text.trim_start_matches('(').split([' ', ')']).next();
                    *moves.entry(word.unwrap_or_default().to_owned()).or_default() += 1;
                }
                facts.moves = Arc::new(moves);
                facts.circuit = Some(Ok(circuit_facts(&ground.circuit)));
            }
            Err(why) => facts.circuit = Some(Err(why.to_string())),
        }
        self.publish(facts)
    }
}

/// Adds the modes of fluents and other properties, proved where possible.
#[cfg(feature = "proofs")]
fn prove(
    game: &Arc<Game>,
    compiled: &agon_gdl::circuit::Compiled,
    until: Instant,
    facts: &mut Facts,
) {
    use agon_analysis::explain::properties_text;
    use agon_analysis::properties::{Properties, PropertyLimits};
    let found = Properties::find(game, Some(compiled), &PropertyLimits::until(until));
    let mut modes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for mode in &found.modes {
        let name = game.rules().sheet().symbols.name(mode.name).to_lowercase();
        let exactly = mode.exactly_one.map(|known| format!("; exactly one holds ({known})"));
        let text = format!(
            "`{}`: at most one holds ({}){}",
            mode.text(game),
            mode.known,
            exactly.unwrap_or_default()
        );
        modes.entry(name).or_default().push(text);
    }
    facts.modes = Arc::new(modes);
    let lines = properties_text(&found).into_iter();
    facts.properties = Arc::new(lines.map(|(title, text)| (title.to_owned(), text)).collect());
}

fn circuit_facts(circuit: &agon_circuit::Circuit) -> CircuitFacts {
    CircuitFacts {
        gates: circuit.n_gates(),
        fluents: circuit.base.len(),
        moves: circuit.roles.iter().map(|role| role.moves.len()).sum(),
    }
}

/// Adds up the costs of the rules at each line and of each relation. Facts cost nothing and are
/// left out.
fn add_costs(game: &Game, costs: &[RuleCost], facts: &mut Facts) {
    let sheet = game.rules().sheet();
    let mut lines: BTreeMap<usize, RuleCost> = BTreeMap::new();
    let mut relations: BTreeMap<(String, usize), RuleCost> = BTreeMap::new();
    for (rule, cost) in game.rules().rules().iter().zip(costs) {
        if rule.body.is_empty() {
            continue;
        }
        let clause = &sheet.clauses[rule.clause];
        let name = sheet.symbols.name(clause.head.relation).to_lowercase();
        let line = lines.entry(sheet.source.line_of(clause.span.start())).or_default();
        let relation = relations.entry((name, clause.head.arguments.len())).or_default();
        for sum in [line, relation] {
            sum.instances += cost.instances;
            sum.conditions += cost.conditions;
        }
    }
    facts.costs = Arc::new(lines);
    facts.relation_costs = Arc::new(relations);
}

/// Returns the relations of a structure rewriting game that are not defined by formulas.
fn relations(game: &agon_toss::interpreter::Game) -> BTreeMap<String, RewrittenRelation> {
    use agon_toss::arena::Effect;
    let arena = game.arena();
    let vocabulary = arena.vocabulary();
    let start = game.start_structure();
    let mut found = BTreeMap::new();
    for relation in vocabulary.relations() {
        let name = vocabulary.relation_name(relation);
        if arena.definitions().get(name).is_some() {
            continue;
        }
        let arity = vocabulary.arity(relation);
        let tuples = start.tuples(relation);
        let elements = (0..arity)
            .map(|place| {
                let at: std::collections::BTreeSet<_> =
                    tuples.iter().map(|tuple| tuple[place]).collect();
                at.into_iter().map(|element| start.name(element).to_string()).collect()
            })
            .collect();
        let changes = |rule: &&agon_toss::arena::ArenaRule| match &rule.effect {
            Effect::Tuples { delete, add } => {
                delete.iter().any(|pattern| pattern.relation == relation)
                    || add.iter().any(|tuple| tuple.relation == relation)
            }
            Effect::Rewrite(rewrite) => {
                rewrite.tuples.iter().any(|tuple| tuple.relation == relation)
                    || rewrite.embedded.contains(&relation)
            }
        };
        let changed_by = arena.rules().iter().filter(changes).map(|rule| rule.name.clone());
        let about = RewrittenRelation {
            arity,
            n_tuples: tuples.len(),
            elements,
            is_fluent: arena.is_fluent(relation),
            changed_by: changed_by.collect(),
        };
        found.insert(name.to_string(), about);
    }
    found
}
