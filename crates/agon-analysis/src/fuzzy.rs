//! Evaluation by fuzzy logic over the goal conditions, with features read out of them: "Heuristic Interpretation of
//! Predicate Logic Expressions in General Game Playing" (Michulke, 2011).
//!
//! Where the paper leaves a choice:
//! - The limits on depth and size are for each goal value of each role; equal parts count once.
//! - What a position is worth is the mean of all goal values, each weighted by how true its condition is.
//! - Distances over several arguments are combined by their mean.
//! - A distance that is finite is never worth less than a fluent that just does not hold. One that is infinite is worth
//!   0 only if the fluent can come about by moving alone.
//! - "All ground fluents occur in the goal": more than half of them.

mod conditions;
mod crisp;
mod evolution;
mod expand;
mod features;
mod goals;
mod judge;
mod logic;
pub(crate) mod text;
mod towards;
mod tree;
mod unfold;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use agon_datalog::TermId;
use agon_gdl::engine::Compiled;
use agon_gdl::interpreter::{Game, Inquiry, Query};
use agon_gdl::rules::{Condition, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;
use agon_text::Span;

use crate::properties::{Known, Properties};
use crate::theory::{Bindings, Theory, fluent_of};
use conditions::variables;
use crisp::Crisp;
pub use evolution::{Domain, DomainKind, Evolution};
use expand::Expander;
pub use features::{Between, End, Order, Side, Towards};
use goals::goal_values;
pub use judge::{FuzzyJudge, Seen};
pub use logic::{Cardinality, Degree, Logic, TNorm};
use towards::find_towards;
pub use tree::{Expression, Node, NodeId, Tree};

/// How an evaluation is made.
#[derive(Clone, PartialEq, Debug)]
pub struct FuzzyOptions {
    /// The logic.
    pub logic: Logic,
    /// Which features are used.
    pub features: Features,
    /// Where several fluents could reach a goal, or several pairs could meet: how they count together.
    pub several: Several,
    /// How deep the tree of a goal may be.
    pub max_depth: usize,
    /// How many nodes the tree of a goal may have.
    pub max_size: usize,
    /// Steps that the reasoner may take for a state.
    pub max_steps: u64,
    /// Whether what is left to the reasoner is compiled where that can be. The values are the same.
    pub is_compiled: bool,
}

impl Default for FuzzyOptions {
    fn default() -> FuzzyOptions {
        FuzzyOptions {
            logic: Logic::default(),
            features: Features::ALL,
            several: Several::Nearest,
            max_depth: 8,
            max_size: 500,
            max_steps: 3_000_000,
            is_compiled: true,
        }
    }
}

/// Which features are used. Each can be switched off by itself: the paper's handicapped player.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Features {
    /// Solutions are counted.
    pub cardinality: bool,
    /// Comparisons along an order have degrees.
    pub order: bool,
    /// How far two fluents are apart.
    pub between: bool,
    /// How far it is to a fluent, along a line of numbers.
    pub natural: bool,
    /// How far it is to a fluent, along any other graph.
    pub graph: bool,
    /// Persistent fluents are wholly true or false.
    pub persistence: bool,
}

impl Features {
    /// All of them.
    pub const ALL: Features = Features {
        cardinality: true,
        order: true,
        between: true,
        natural: true,
        graph: true,
        persistence: true,
    };
    /// None of them: the bare fuzzy logic.
    pub const NONE: Features = Features {
        cardinality: false,
        order: false,
        between: false,
        natural: false,
        graph: false,
        persistence: false,
    };
}

/// How several distances count together.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Several {
    /// The shortest one.
    Nearest,
    /// Their mean.
    Mean,
}

/// Fluents that fit a pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The condition on the fluent, and static ones on its variables.
    pub expression: Expression,
    /// The fluents that fit, in ascending order.
    pub fluents: Vec<usize>,
}

/// A conjunction left to the reasoner.
#[derive(Clone, Debug)]
pub struct Question {
    /// What is asked.
    pub expression: Expression,
    /// How many solutions there can be at most, if that is known.
    pub n_instances: Option<usize>,
}

/// Why there is no evaluation of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoFuzzy(pub String);

impl std::fmt::Display for NoFuzzy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoFuzzy {}

/// An evaluation function made from the goals of a game. Immutable; a [`FuzzyJudge`] applies it.
pub struct Fuzzy {
    /// The game.
    pub game: Arc<Game>,
    /// How it was made.
    pub options: FuzzyOptions,
    /// The trees of all goals.
    pub tree: Tree,
    /// By role: its goal values in rising order, each with the tree of its condition. Empty for nature.
    pub goals: Vec<Vec<(i64, NodeId)>>,
    /// What [`Node::Pattern`] refers to.
    pub patterns: Vec<Pattern>,
    /// What [`Node::Query`] refers to.
    pub queries: Vec<Question>,
    /// What [`Node::Order`] refers to.
    pub orders: Vec<Order>,
    /// What [`Node::Between`] refers to.
    pub betweens: Vec<Between>,
    /// The nodes of fluents and patterns whose value is a distance.
    pub towards: BTreeMap<NodeId, Towards>,
    /// What is known of the fluents by number: whether they are persistent when true, and when false.
    persistent: Vec<(bool, bool)>,
    theory: Theory,
    /// What is left to the reasoner.
    inquiry: Option<Arc<Inquiry>>,
    /// What need not be left to it.
    crisp: Crisp,
}

/// Instances of an expression are not counted beyond this.
const MAX_INSTANCES: usize = 50_000;
const MAX_STEPS: usize = 500_000;

impl Fuzzy {
    /// Makes the evaluation of a game. `compiled` is its circuit, if there is one, and `properties` are those found with it.
    pub fn new(
        game: &Arc<Game>,
        compiled: Option<&Compiled>,
        properties: &Properties,
        options: &FuzzyOptions,
    ) -> Result<Fuzzy, NoFuzzy> {
        Fuzzy::until(game, compiled, properties, options, None)
    }

    /// The same. What is not expanded by the deadline goes to the reasoner.
    pub fn until(
        game: &Arc<Game>,
        compiled: Option<&Compiled>,
        properties: &Properties,
        options: &FuzzyOptions,
        deadline: Option<Instant>,
    ) -> Result<Fuzzy, NoFuzzy> {
        let (fluents, is_complete) = universe(game, properties);
        let mut theory = Theory::new(game, fluents, is_complete);
        theory.set_deadline(deadline);
        let mut evolution = Evolution::new(&mut theory);
        let values = goal_values(game, compiled, &mut theory)?;
        let mut expander = Expander::new(&mut theory, &mut evolution, properties, options);
        let mut goals = Vec::new();
        for (role, values) in values.into_iter().enumerate() {
            let mut of_role = Vec::new();
            for (value, symbol) in values {
                let role = RuleTerm::constant(game.rules().roles()[role]);
                let arguments = vec![role, RuleTerm::constant(symbol)];
                let atom = RuleAtom { relation: keyword::GOAL, arguments, span: Span::default() };
                of_role.push((value, expander.goal(atom)));
            }
            goals.push(of_role);
        }
        let Expander { tree, patterns, queries, orders, betweens, .. } = expander;
        let patterns: Vec<Pattern> =
            patterns.into_iter().map(|expression| Pattern::new(&theory, expression)).collect();
        let towards = find_towards(&theory, &mut evolution, &tree, &patterns, &goals, options);
        let asked: Vec<Query> = queries.iter().map(query).collect();
        let inquiry = match asked.is_empty() {
            true => None,
            false => Some(Arc::new(Inquiry::new(game, &asked).map_err(|fault| {
                NoFuzzy(format!("a part of a goal cannot be asked by itself: {fault}"))
            })?)),
        };
        let wanted: Vec<(Expression, Vec<u32>)> = queries
            .into_iter()
            .map(|expression| {
                let wanted = variables(&positive(&expression));
                (expression, wanted)
            })
            .collect();
        let crisp = match options.is_compiled {
            true => Crisp::new(&mut theory, &mut evolution, properties, &wanted),
            false => Crisp { solutions: vec![None; wanted.len()], ..Crisp::default() },
        };
        let queries = wanted.into_iter().map(|(expression, wanted)| {
            let instances = match is_complete {
                true => {
                    theory.possible(&expression.conditions, &wanted, MAX_INSTANCES, MAX_STEPS).ok()
                }
                false => None,
            };
            Question { n_instances: instances.map(|rows| rows.len()), expression }
        });
        let queries = queries.collect();
        let persistent = properties.fluents.iter().map(|fluent| {
            let is_proved = |known: Option<Known>| known.is_some_and(Known::is_proved);
            (is_proved(fluent.persistent_true), is_proved(fluent.persistent_false))
        });
        let mut persistent: Vec<(bool, bool)> = persistent.collect();
        if !options.features.persistence {
            persistent.fill((false, false));
        }
        persistent.resize(theory.fluents().len(), (false, false));
        Ok(Fuzzy {
            game: Arc::clone(game),
            options: options.clone(),
            tree,
            goals,
            patterns,
            queries,
            orders,
            betweens,
            towards,
            persistent,
            theory,
            inquiry,
            crisp,
        })
    }

    /// How many parts of goals the reasoner is asked about at every state, for there is no formula for them.
    pub fn n_asked(&self) -> usize {
        self.crisp.solutions.iter().filter(|solutions| solutions.is_none()).count()
    }

    /// The text of a fluent by its number.
    pub fn fluent_text(&self, fluent: usize) -> String {
        self.game.text(self.theory.fluents()[fluent])
    }

    /// The number of a fluent.
    pub fn fluent(&self, term: TermId) -> Option<usize> {
        self.theory.fluent(term)
    }

    /// Whether a fluent, by its number, is for ever true once it is, and for ever false once it is.
    pub fn persistence(&self, fluent: usize) -> (bool, bool) {
        self.persistent[fluent]
    }

    /// How many nodes of the trees are a feature of each kind.
    pub fn counts(&self) -> FeatureCounts {
        let mut counts = FeatureCounts::default();
        let roots = self.goals.iter().flatten().map(|&(_, root)| root);
        let used: BTreeSet<NodeId> = roots.flat_map(|root| self.tree.below(root)).collect();
        for id in used {
            match (self.tree.get(id), self.towards.get(&id)) {
                (_, Some(towards)) => match towards.kind() {
                    DomainKind::Natural => counts.natural += 1,
                    DomainKind::Graph => counts.graph += 1,
                },
                (Node::Pattern(_), None) => counts.fluent_cardinality += 1,
                (Node::Query(_), _) => counts.expression_cardinality += 1,
                (Node::Order(_), _) => counts.order += 1,
                (Node::Between(_), _) => counts.between += 1,
                (Node::Fluent(fluent), None)
                    if self.persistent[*fluent as usize] != (false, false) =>
                {
                    counts.persistence += 1;
                }
                _ => {}
            }
        }
        if !self.options.features.cardinality {
            (counts.fluent_cardinality, counts.expression_cardinality) = (0, 0);
        }
        counts
    }
}

/// How many nodes are a feature of each kind.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct FeatureCounts {
    /// Counted expressions.
    pub expression_cardinality: usize,
    /// Counted fluents.
    pub fluent_cardinality: usize,
    /// Comparisons.
    pub order: usize,
    /// Distances between fluents.
    pub between: usize,
    /// Distances to a fluent along a line of numbers.
    pub natural: usize,
    /// Distances to a fluent along another graph.
    pub graph: usize,
    /// Persistent fluents.
    pub persistence: usize,
}

impl Pattern {
    fn new(theory: &Theory, expression: Expression) -> Pattern {
        let fluent =
            fluent_of(&expression.conditions[0]).expect("a pattern begins with a fluent").clone();
        let wanted = variables(&expression.conditions[..1]);
        let rows = theory
            .possible(&expression.conditions, &wanted, usize::MAX, usize::MAX)
            .unwrap_or_default();
        let mut fluents: Vec<usize> = rows
            .into_iter()
            .filter_map(|row| {
                let mut bindings = Bindings::default();
                wanted.iter().zip(row).for_each(|(&v, value)| bindings.bind(v, theory.term(value)));
                theory.fluent(theory.ground(&bindings.fill(&fluent))?)
            })
            .collect();
        fluents.sort_unstable();
        fluents.dedup();
        Pattern { expression, fluents }
    }
}

/// The fluents there can be, and whether these are all.
fn universe(game: &Arc<Game>, properties: &Properties) -> (Vec<TermId>, bool) {
    let mut fluents: Vec<TermId> = properties.fluents.iter().map(|fluent| fluent.term).collect();
    if properties.is_complete {
        return (fluents, true);
    }
    let base = game.start().base_fluents().unwrap_or_default();
    let is_complete = !base.is_empty();
    let known: BTreeSet<TermId> = fluents.iter().copied().collect();
    fluents.extend(base.into_iter().filter(|term| !known.contains(term)));
    (fluents, is_complete)
}

/// The conditions that something holds. Variables that occur in others only are no part of a solution.
fn positive(expression: &Expression) -> Vec<Condition> {
    let conditions = expression.conditions.iter();
    conditions.filter(|condition| matches!(condition, Condition::Holds(_))).cloned().collect()
}

fn query(expression: &Expression) -> Query {
    let positive = positive(expression);
    // Variables are numbered anew, from 0.
    let all = variables(&expression.conditions);
    let number =
        |v: u32| all.iter().position(|&other| other == v).expect("all variables are listed") as u32;
    let mut renamed = Bindings::default();
    for &v in &all {
        renamed.bind(v, RuleTerm::Variable(number(v) + OFFSET));
    }
    let back = |term: &RuleTerm| lower(&renamed.fill(term));
    let body = expression
        .conditions
        .iter()
        .map(|condition| crate::theory::map_condition(condition, &back))
        .collect();
    Query {
        body,
        wanted: variables(&positive).into_iter().map(number).collect(),
        n_variables: u32::try_from(all.len()).expect("few variables"),
    }
}

/// Above all variables in use, so that renaming does not run into itself.
const OFFSET: u32 = 1 << 30;

fn lower(term: &RuleTerm) -> RuleTerm {
    match term {
        RuleTerm::Variable(v) => RuleTerm::Variable(v - OFFSET),
        RuleTerm::Function(symbol, arguments) => {
            RuleTerm::Function(*symbol, arguments.iter().map(lower).collect())
        }
    }
}
