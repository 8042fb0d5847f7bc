//! A game opened for play: what all positions of it share.

use std::sync::Arc;

use agon_datalog::{
    Engine, Entry, Level, Limits, PlanRefusal, Plans, PredicateId, Question, Refusal, RefusalKind,
    Symbol, TermBank, TermId, materialise,
};
use agon_game::{Fault, Position as _, Rng, Role, Shape};
use agon_text::Diagnostic;
use rand::SeedableRng as _;

use super::compile::compile;
use super::position::{Interpreter, State};
use crate::check::CheckedRules;
use crate::symbols::{Symbols, keyword};

/// How long the random play is from which the planner takes its sample, and what it may cost.
const SAMPLE_STEPS: usize = 30;
const SAMPLE_WORK: u64 = 3_000_000;

/// What a role gets where the rules give it several goal values, or none.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum GoalPolicy {
    /// The highest counts; none counts as 0.
    #[default]
    Highest,
    /// The lowest counts; none counts as 0.
    Lowest,
    /// Anything but exactly one value counts as 0.
    ExactlyOne,
}

/// How a game is to be opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What evaluation may cost per state.
    pub limits: Limits,
    /// What counts where the rules give a role other than one goal value.
    pub goal_policy: GoalPolicy,
}

/// What is known of a relation of the rules.
#[derive(Clone, Debug)]
pub struct RelationFacts {
    /// Its name.
    pub name: String,
    /// How many arguments it has.
    pub arity: usize,
    /// How many facts of it stand in the rulesheet.
    pub n_facts: usize,
    /// How many rules derive it, in normal form.
    pub n_rules: usize,
    /// How often it changes.
    pub level: Level,
}

/// The rows of a relation.
pub type Rows = Vec<Vec<TermId>>;

/// A game opened for play: the rules planned, the initial state worked out. Shared by all its positions.
pub struct Game {
    pub(super) rules: CheckedRules,
    pub(crate) bank: Arc<TermBank>,
    pub(super) plans: Arc<Plans>,
    pub(super) state_relation: PredicateId,
    pub(super) move_relation: PredicateId,
    pub(super) questions: Questions,
    pub(crate) roles: Vec<TermId>,
    /// The order in which names are listed: numbers by value, then the others by spelling.
    pub(crate) rank: Vec<u32>,
    pub(super) shape: Shape,
    pub(crate) initial: State,
    options: Options,
}

pub(super) struct Questions {
    pub(super) terminal: Question,
    pub(super) legal: Question,
    pub(super) goal: Question,
    pub(super) next: Question,
    pub(super) sees: Question,
    pub(super) base: Question,
    pub(super) input: Question,
}

impl Game {
    /// Opens a game. The finding, if it cannot be opened, names the rule to blame.
    pub fn open(rules: CheckedRules, options: Options) -> Result<Arc<Game>, Box<Diagnostic>> {
        let bank = Arc::new(TermBank::new(options.limits.term_depth));
        let mut compiled = compile(rules.rules());
        let state_relation = compiled.predicate(keyword::TRUE, 1);
        let move_relation = compiled.predicate(keyword::DOES, 2);
        let mut entry = |relation, arity| Entry {
            predicate: compiled.predicate(relation, arity),
            known: vec![false; arity],
        };
        let init = entry(keyword::INIT, 1);
        let entries = [
            entry(keyword::TERMINAL, 0),
            entry(keyword::LEGAL, 2),
            entry(keyword::GOAL, 2),
            entry(keyword::NEXT, 1),
            entry(keyword::SEES, 2),
            entry(keyword::BASE, 1),
            entry(keyword::INPUT, 2),
        ];
        // `base` and `input` are asked only by checks, so what they need is not worked out in advance.
        let roots: Vec<PredicateId> = entries[..5].iter().map(|entry| entry.predicate).collect();
        materialise(&mut compiled.program, &bank, &roots);
        let blame = |refusal: Refusal| Box::new(blame(&refusal, &rules));
        let plan = |samples: &[_], entries: &[_]| {
            Plans::new(compiled.program.clone(), Arc::clone(&bank), samples, entries)
        };

        // First the initial state alone; with it as a sample the planner knows what to expect of a state.
        let (plans, questions) =
            plan(&[], &[init]).map_err(|refusal: PlanRefusal| blame(refusal.into()))?;
        let mut engine = Engine::new(Arc::new(plans), options.limits.clone());
        let answers = engine.ask(questions[0], &[]).map_err(blame)?;
        let fluents: Vec<TermId> = (0..answers.len()).map(|i| answers.get(i, 0)).collect();
        let initial = State::new(fluents, &bank);
        let planned = |sample: &State| -> Result<(Arc<Plans>, Questions), PlanRefusal> {
            let rows = sample.fluents().iter().map(|&fluent| vec![fluent]).collect();
            let (plans, questions) = plan(&[(state_relation, rows)], &entries)?;
            let [terminal, legal, goal, next, sees, base, input] = questions[..] else {
                unreachable!("there is one question per entry")
            };
            Ok((Arc::new(plans), Questions { terminal, legal, goal, next, sees, base, input }))
        };
        let (plans, questions) = planned(&initial).map_err(|refusal| blame(refusal.into()))?;

        let symbols = &rules.sheet().symbols;
        let role_names = rules.roles().iter().map(|&role| symbols.name(role).to_owned()).collect();
        let mut shape = Shape::new(role_names, rules.nature().map(Role::new));
        shape.hidden = rules.has_sees();
        let roles = rules.roles().iter().map(|&role| {
            bank.term(role, &[])
                .expect("a constant is never too deep, and the bank is all but empty")
        });
        let roles = roles.collect();
        let rank = rank(symbols);
        let mut game = Arc::new(Game {
            roles,
            rank,
            plans,
            questions,
            state_relation,
            move_relation,
            shape,
            initial,
            bank: Arc::clone(&bank),
            rules: rules.clone(),
            options,
        });
        // The initial state of many games is nearly empty; one from the midst of play tells the planner more.
        let sample = game.typical_state();
        if sample != game.initial {
            let (plans, questions) = planned(&sample).map_err(|refusal| blame(refusal.into()))?;
            let game = Arc::get_mut(&mut game).expect("the positions used for sampling are gone");
            game.plans = plans;
            game.questions = questions;
        }
        Ok(game)
    }

    /// The state with the most fluents in a short random play. Gives up early where play is slow.
    fn typical_state(self: &Arc<Game>) -> State {
        let mut position = self.start();
        position.limit_steps(SAMPLE_WORK);
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

    /// The rules it was opened with.
    pub fn rules(&self) -> &CheckedRules {
        &self.rules
    }

    /// Where the terms of all its positions are.
    pub fn bank(&self) -> &Arc<TermBank> {
        &self.bank
    }

    /// What holds in the initial state: sorted by number, none twice.
    pub fn initial_fluents(&self) -> &[TermId] {
        self.initial.fluents()
    }

    /// The state where just these fluents hold, whether play ever comes there or not.
    pub fn state(&self, fluents: Vec<TermId>) -> State {
        State::new(fluents, &self.bank)
    }

    /// The names of the roles as terms, in the order of the rules.
    pub fn role_terms(&self) -> &[TermId] {
        &self.roles
    }

    /// Which of two terms is listed first: numbers by value, then names by spelling.
    pub fn compare(&self, a: TermId, b: TermId) -> std::cmp::Ordering {
        self.bank.compare(a, b, &self.rank)
    }

    /// What is known of the game.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How it was opened.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// How many ways of asking and indexes the plan has.
    pub fn plan_sizes(&self) -> (usize, usize) {
        self.plans.sizes()
    }

    /// The relations of the rules by name, with what is known of each.
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

    /// The static relations on which play depends, by name and number of arguments, with their rows; those that cost too
    /// much to work out are left out.
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
        materialise(&mut compiled.program, &self.bank, &roots);
        let relations = compiled.relations().into_iter();
        let rows = relations.filter_map(|(relation, predicate)| {
            compiled.program.rows(predicate).map(|rows| (relation, rows.to_vec()))
        });
        rows.collect()
    }

    /// By name and number of arguments of every relation of the rules: whether it never changes.
    pub fn is_static(&self) -> std::collections::BTreeMap<(Symbol, usize), bool> {
        let compiled = compile(self.rules.rules());
        let levels = compiled.program.levels();
        let relations = compiled.relations().into_iter();
        relations
            .map(|(relation, predicate)| (relation, levels[predicate.index()] == Level::Static))
            .collect()
    }

    /// A position at the initial state.
    pub fn start(self: &Arc<Game>) -> Interpreter {
        Interpreter::new(Arc::clone(self))
    }

    pub(crate) fn fault(&self, refusal: &Refusal) -> Fault {
        let finding = blame(refusal, &self.rules);
        let source = &self.rules.sheet().source;
        let line = source.place(finding.span.start()).line;
        let is_rule = |origin: u32| (origin as usize) < self.rules.rules().len();
        Fault::Refused(match refusal.origin.filter(|&origin| is_rule(origin)) {
            Some(_) => format!("{} ({}:{line})", finding.message, source.name()),
            None => finding.message,
        })
    }
}

/// A refusal as a finding about the rule that was being applied.
fn blame(refusal: &Refusal, rules: &CheckedRules) -> Diagnostic {
    let sheet = rules.sheet();
    let rule = refusal.origin.and_then(|origin| rules.rules().get(origin as usize));
    let span = rule.map_or_else(agon_text::Span::default, |rule| sheet.clauses[rule.clause].span);
    let finding = Diagnostic::error("play-refused", span, refusal.kind.to_string());
    match refusal.kind {
        RefusalKind::Unstratified => {
            finding.hint("rewrite the rule so that it does not need its own opposite")
        }
        RefusalKind::Unbound => finding.hint("add a positive condition that binds the variable"),
        RefusalKind::Facts
        | RefusalKind::Depth
        | RefusalKind::TermDepth
        | RefusalKind::Bytes
        | RefusalKind::Steps
        | RefusalKind::Deadline => finding
            .hint("this rule was being applied; a recursion that builds ever new terms is the usual cause"),
    }
}

/// Numbers come before words and in the order of their values, so that lists read well.
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
