//! A game opened for play: the data that all its positions share.

use std::sync::Arc;
use std::time::Instant;

use agon_datalog::{
    Level, Limits, MaterialiseLimits, Plans, PredicateId, Refusal, RefusalKind, Symbol, TermBank,
    TermId, materialise,
};
use agon_game::{Fault, Position as _, Rng, Role, Shape};
use agon_text::Diagnostic;
use rand::SeedableRng as _;

use super::compile::compile;
use super::planner::{Planner, Questions};
use super::position::{Interpreter, State};
use crate::check::CheckedRules;
use crate::symbols::{Symbols, keyword};

/// Length and cost limit of the random play from which the planner takes its sample.
const SAMPLE_STEPS: usize = 30;
const SAMPLE_WORK: u64 = 3_000_000;

/// The payoff of a role for which the rules derive several goal values, or none.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum GoalPolicy {
    /// The highest value counts. No value counts as 0.
    #[default]
    Highest,
    /// The lowest value counts. No value counts as 0.
    Lowest,
    /// Any number of values other than one counts as 0.
    ExactlyOne,
}

/// Options for opening a game.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Limits on evaluation per state.
    pub limits: Limits,
    /// The payoff of a role for which the rules do not derive exactly one goal value.
    pub goal_policy: GoalPolicy,
    /// Time at which opening the game must have ended. It does not limit play.
    pub deadline: Option<Instant>,
}

impl Options {
    /// Returns the limits of evaluation while the game is opened.
    fn opening_limits(&self) -> Limits {
        let deadline = match (self.limits.deadline, self.deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Limits { deadline, ..self.limits.clone() }
    }
}

/// Facts about a relation of the rules.
#[derive(Clone, Debug)]
pub struct RelationFacts {
    /// Name of the relation.
    pub name: String,
    /// Number of arguments.
    pub arity: usize,
    /// Number of facts in the rulesheet.
    pub n_facts: usize,
    /// Number of rules in normal form that derive it.
    pub n_rules: usize,
    /// How often the relation changes.
    pub level: Level,
}

/// The rows of a relation.
pub type Rows = Vec<Vec<TermId>>;

/// A game opened for play: the rules are planned, and the initial state is computed. Shared by all
/// its positions.
pub struct Game {
    pub(super) rules: CheckedRules,
    pub(crate) bank: Arc<TermBank>,
    pub(super) plans: Arc<Plans>,
    pub(super) state_relation: PredicateId,
    pub(super) move_relation: PredicateId,
    pub(super) questions: Questions,
    pub(crate) roles: Vec<TermId>,
    /// The order in which names are listed: numbers by value, then other names by spelling.
    pub(crate) rank: Vec<u32>,
    pub(super) shape: Shape,
    pub(crate) initial: State,
    options: Options,
}

impl Game {
    /// Opens a game.
    ///
    /// # Errors
    /// If the rules cannot be planned or the initial state exceeds the limits. The diagnostic
    /// points to the rule.
    pub fn open(rules: CheckedRules, options: Options) -> Result<Arc<Game>, Box<Diagnostic>> {
        let bank = Arc::new(TermBank::new(options.limits.term_depth));
        let limits = options.opening_limits();
        let planner = Planner::new(&rules, &bank, &limits);
        let diagnose = |refusal: Refusal| Box::new(refusal_diagnostic(&refusal, &rules));
        let check_limits = || match limits.refusal() {
            Some(kind) => Err(diagnose(Refusal { kind, origin: None })),
            None => Ok(()),
        };
        check_limits()?;
        let initial = planner.initial_state(&limits).map_err(diagnose)?;
        check_limits()?;
        let (plans, questions) = planner.plan(&initial).map_err(diagnose)?;

        let symbols = &rules.sheet().symbols;
        let role_names = rules.roles().iter().map(|&role| symbols.name(role).to_owned()).collect();
        let mut shape = Shape::new(role_names, rules.nature().map(Role::new));
        shape.hidden = rules.has_sees();
        let role_term = |&role| {
            bank.term(role, &[])
                .expect("a constant is never too deep, and the bank is nearly empty")
        };
        let mut game = Arc::new(Game {
            roles: rules.roles().iter().map(role_term).collect(),
            rank: rank(symbols),
            plans,
            questions,
            state_relation: planner.state_relation,
            move_relation: planner.move_relation,
            shape,
            initial,
            bank: Arc::clone(&bank),
            rules: rules.clone(),
            options,
        });
        // The initial state of many games is nearly empty. One from the middle of a play is a
        // better sample.
        let sample = game.typical_state(&limits);
        check_limits()?;
        if sample != game.initial {
            let (plans, questions) = planner.plan(&sample).map_err(diagnose)?;
            let game =
                Arc::get_mut(&mut game).expect("the positions used for sampling are dropped");
            game.plans = plans;
            game.questions = questions;
        }
        Ok(game)
    }

    /// Returns the state with the most fluents in a short random play. Stops early if play is slow.
    fn typical_state(self: &Arc<Game>, limits: &Limits) -> State {
        let mut position = self.start();
        position.limit_sample(SAMPLE_WORK, limits.deadline);
        let mut best = position.state().clone();
        let mut rng = Rng::seed_from_u64(0);
        let mut joint = Vec::new();
        for _ in 0..SAMPLE_STEPS {
            if position.is_terminal() || position.n_work() > SAMPLE_WORK {
                break;
            }
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
            if position.state().fluents().len() > best.fluents().len() {
                best = position.state().clone();
            }
        }
        best
    }

    /// Returns the rules that the game was opened with.
    pub fn rules(&self) -> &CheckedRules {
        &self.rules
    }

    /// Returns the bank of the terms of all positions.
    pub fn bank(&self) -> &Arc<TermBank> {
        &self.bank
    }

    /// Returns the fluents of the initial state, sorted by number, without duplicates.
    pub fn initial_fluents(&self) -> &[TermId] {
        self.initial.fluents()
    }

    /// Returns the state in which exactly these fluents hold. It need not be reachable.
    pub fn state(&self, fluents: Vec<TermId>) -> State {
        State::new(fluents, &self.bank)
    }

    /// Returns the roles as terms, in the order of the rules.
    pub fn role_terms(&self) -> &[TermId] {
        &self.roles
    }

    /// Compares two terms by the order in which they are listed: numbers by value, then names by
    /// spelling.
    pub fn compare(&self, a: TermId, b: TermId) -> std::cmp::Ordering {
        self.bank.compare(a, b, &self.rank)
    }

    /// Returns the static facts about the game.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the options that the game was opened with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the numbers of procedures and of indexes of the plan.
    pub fn plan_sizes(&self) -> (usize, usize) {
        self.plans.sizes()
    }

    /// Returns the relations of the rules in the order of their names.
    pub fn relations(&self) -> Vec<RelationFacts> {
        let compiled = compile(self.rules.rules());
        let levels = compiled.program.levels();
        let symbols = &self.rules.sheet().symbols;
        let about = |(symbol, arity): (Symbol, usize)| {
            let own = |rule: &&crate::rules::Rule| {
                rule.head.relation == symbol && rule.head.arguments.len() == arity
            };
            self.rules
                .rules()
                .iter()
                .filter(own)
                .partition::<Vec<_>, _>(|rule| rule.body.is_empty())
        };
        let mut relations: Vec<RelationFacts> = compiled
            .relations()
            .into_iter()
            .map(|((symbol, arity), predicate)| {
                let (facts, rules) = about((symbol, arity));
                RelationFacts {
                    name: symbols.name(symbol).to_owned(),
                    arity,
                    n_facts: facts.len(),
                    n_rules: rules.len(),
                    level: levels[predicate.index()],
                }
            })
            .collect();
        relations.sort_by(|a, b| (&a.name, a.arity).cmp(&(&b.name, b.arity)));
        relations
    }

    /// Returns the static relations that play depends on, by name and number of arguments, with
    /// their rows. Relations that cost too much to compute are left out.
    pub fn static_rows(&self) -> Vec<((Symbol, usize), Rows)> {
        let mut compiled = compile(self.rules.rules());
        let keywords = [
            (keyword::TERMINAL, 0),
            (keyword::LEGAL, 2),
            (keyword::GOAL, 2),
            (keyword::NEXT, 1),
            (keyword::SEES, 2),
        ];
        let roots = keywords.map(|(relation, arity)| compiled.predicate(relation, arity));
        materialise(&mut compiled.program, &self.bank, &roots, &self.materialise_limits());
        let relations = compiled.relations().into_iter();
        let rows = relations.filter_map(|(relation, predicate)| {
            compiled.program.rows(predicate).map(|rows| (relation, rows.to_vec()))
        });
        rows.collect()
    }

    /// Returns limits on computing static relations that keep to those of the game.
    pub(super) fn materialise_limits(&self) -> MaterialiseLimits {
        let Limits { deadline, stop, .. } = self.options.limits.clone();
        MaterialiseLimits { deadline, stop, ..MaterialiseLimits::default() }
    }

    /// Returns for every relation of the rules, by name and number of arguments, whether it never
    /// changes.
    pub fn is_static(&self) -> std::collections::BTreeMap<(Symbol, usize), bool> {
        let compiled = compile(self.rules.rules());
        let levels = compiled.program.levels();
        let relations = compiled.relations().into_iter();
        relations
            .map(|(relation, predicate)| (relation, levels[predicate.index()] == Level::Static))
            .collect()
    }

    /// Creates a position at the initial state.
    pub fn start(self: &Arc<Game>) -> Interpreter {
        Interpreter::new(Arc::clone(self))
    }

    pub(crate) fn fault(&self, refusal: &Refusal) -> Fault {
        let finding = refusal_diagnostic(refusal, &self.rules);
        let source = &self.rules.sheet().source;
        let line = source.place(finding.span.start()).line;
        let is_rule = |origin: u32| (origin as usize) < self.rules.rules().len();
        Fault::Refused(match refusal.origin.filter(|&origin| is_rule(origin)) {
            Some(_) => format!("{} ({}:{line})", finding.message, source.name()),
            None => finding.message,
        })
    }
}

/// Turns a refusal into a diagnostic about the rule that was being applied.
fn refusal_diagnostic(refusal: &Refusal, rules: &CheckedRules) -> Diagnostic {
    let sheet = rules.sheet();
    let rule = refusal.origin.and_then(|origin| rules.rules().get(origin as usize));
    let span = rule.map_or_else(agon_text::Span::default, |rule| sheet.clauses[rule.clause].span);
    let finding = Diagnostic::error("play-refused", span, refusal.kind.to_string());
    match refusal.kind {
        RefusalKind::Unstratified => {
            finding.hint("rewrite the rule so that it does not depend on its own negation")
        }
        RefusalKind::Width => finding.hint("split it into several sentences with an index"),
        RefusalKind::Unbound => finding.hint("add a positive condition that binds the variable"),
        RefusalKind::Facts
        | RefusalKind::Depth
        | RefusalKind::TermDepth
        | RefusalKind::Bytes
        | RefusalKind::Steps
        | RefusalKind::Deadline
        | RefusalKind::Cancelled => finding.hint(
            "the rule was being applied; it has too many instances, or a recursion keeps \
                 building new terms",
        ),
    }
}

/// Ranks the symbols: numbers come before words, in the order of their values, so that lists read
/// well.
fn rank(symbols: &Symbols) -> Vec<u32> {
    let mut order: Vec<(Option<i64>, String, Symbol)> = symbols
        .all()
        .map(|(symbol, name)| (name.parse::<i64>().ok(), name.to_lowercase(), symbol))
        .collect();
    order.sort_by(|a, b| {
        let key = |number: &Option<i64>| (number.is_none(), number.unwrap_or(0));
        (key(&a.0), &a.1).cmp(&(key(&b.0), &b.1))
    });
    let mut rank = vec![0; order.len()];
    for (place, (_, _, symbol)) in order.iter().enumerate() {
        rank[symbol.index()] = u32::try_from(place).expect("fewer than 2^32 names");
    }
    rank
}
