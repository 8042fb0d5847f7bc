//! Evaluation of positions by fuzzy logic over the goal conditions (Michulke 2011).
//!
//! The condition of each goal value is expanded to a tree over fluents. A position is valued by
//! evaluating the trees with degrees of truth instead of true and false. Parts of the conditions
//! that are recognised as features get finer degrees, for example from the distance to a target.
//!
//! The stages, each in its own module:
//!
//! 1. `goals` finds the goal values of each role.
//! 2. `expand` turns each goal condition into a tree ([`Tree`]). Rules are expanded, static
//!    conditions are folded, and variables are instantiated where this takes a conjunction apart.
//! 3. `evolution` finds along which static relations the arguments of fluents move, and hence the
//!    distances between their values.
//! 4. `features` and `targets` recognise comparisons along an order, distances between two fluents,
//!    and distances to a fluent.
//! 5. `queries` holds the conjunctions that could not be expanded. They are left to the reasoner
//!    ([`agon_gdl::interpreter::QueryEngine`]), unless `crisp` compiles them to formulas over
//!    fluents.
//! 6. [`FuzzyEvaluator`] evaluates the trees for one state after another. Each part is evaluated at
//!    most once for a state, and only if another part needs it.
//!
//! A degree of truth stores the truth and its complement, so that small differences at either end
//! of the scale are not lost.
//!
//! Decisions where the paper leaves a choice:
//! - The limits on depth and size apply to each goal value of each role. Equal parts count once.
//! - The value of a position is the mean of all goal values, weighted by the truth of their
//!   conditions.
//! - Distances over several arguments are combined by their mean.
//! - A finite distance is never worth less than a fluent that does not hold. An infinite distance
//!   is worth 0 only if the fluent can come about by movement alone.
//! - "All ground fluents occur in the goal" is read as "more than half of them".
//! - A distance of zero counts as half a step. Only what is proved to last has the degrees 1 and 0.
//! - A fluent is also proved to stay false if a persistent fluent holds that excludes it: a line
//!   with a mark of the opponent is lost.

mod conditions;
mod crisp;
mod error;
mod evaluator;
mod evolution;
mod expand;
mod features;
mod goals;
mod logic;
mod options;
mod queries;
mod targets;
pub(crate) mod text;
mod tree;
mod unfold;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_datalog::TermId;
use agon_gdl::circuit::Compiled;
use agon_gdl::interpreter::{Game, QueryPlan};
use agon_gdl::rules::{RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;
use agon_text::Span;

use crate::properties::{Known, Properties};
use crate::theory::{Bindings, Theory, fluent_of};
use conditions::variables;
use crisp::Crisp;
pub use error::FuzzyError;
pub use evaluator::{FluentSet, FuzzyEvaluator};
pub(crate) use evolution::{DomainKind, Evolution};
use expand::Expander;
pub(crate) use features::{ComparisonSide, OrderComparison, PairDistance, TargetDistance};
use goals::goal_values;
pub(crate) use logic::Degree;
pub use logic::{Cardinality, Logic, TNorm};
pub use options::{DistanceAggregation, Features, FuzzyOptions};
use queries::{CountedQuery, inquiry, solution_variables};
use targets::find_target_distances;
pub(crate) use tree::Expression;
pub use tree::{Node, NodeId, Tree};

/// An evaluation function built from the goals of a game. Immutable. A [`FuzzyEvaluator`] applies
/// it.
pub struct FuzzyEvaluation {
    /// The game.
    pub game: Arc<Game>,
    /// The options of the evaluation.
    pub options: FuzzyOptions,
    /// The trees of all goals.
    pub tree: Tree,
    /// By role: its goal values in ascending order, each with the root of its condition. Empty for
    /// nature.
    pub goals: Vec<Vec<(i64, NodeId)>>,
    /// The patterns that [`Node::Pattern`] refers to.
    pub(crate) patterns: Vec<Pattern>,
    /// The queries that [`Node::Query`] refers to.
    pub(crate) queries: Vec<CountedQuery>,
    /// The comparisons that [`Node::Order`] refers to.
    pub(crate) orders: Vec<OrderComparison>,
    /// The distances that [`Node::PairDistance`] refers to.
    pub(crate) pair_distances: Vec<PairDistance>,
    /// The nodes of fluents and patterns whose value is a distance.
    pub(crate) target_distances: BTreeMap<NodeId, TargetDistance>,
    /// By fluent: whether it is proved to stay true once it is true, and to stay false once it is
    /// false.
    persistent: Vec<(bool, bool)>,
    /// By fluent: the fluents that are proved to stay true once they hold, and proved never to hold
    /// together with it.
    excluded_by: Vec<Vec<u32>>,
    /// What was left when a limit was reached. `None` if all goals were expanded.
    pub unfinished: Option<Unfinished>,
    theory: Theory,
    /// The queries in the form that the reasoner takes.
    inquiry: Option<Arc<QueryPlan>>,
    /// Formulas for the queries that do not need the reasoner.
    crisp: Crisp,
}

impl FuzzyEvaluation {
    /// Builds the evaluation of a game. `compiled` is its circuit, if it has one, and `properties`
    /// are the properties found with that circuit.
    ///
    /// # Errors
    /// [`FuzzyError`] if the goal values are unknown or too many, or the reasoner cannot evaluate a
    /// part of a goal.
    pub fn new(
        game: &Arc<Game>,
        compiled: Option<&Compiled>,
        properties: &Properties,
        options: &FuzzyOptions,
    ) -> Result<FuzzyEvaluation, FuzzyError> {
        let (fluents, is_complete) = universe(game, properties);
        let mut theory = Theory::new(game, fluents, is_complete);
        theory.set_deadline(options.deadline);
        theory.seen = seen_fluents(properties);
        let mut evolution = Evolution::new(&mut theory, &properties.modes);
        let values = goal_values(game, compiled, &mut theory)?;
        let mut expander = Expander::new(&mut theory, &mut evolution, properties, options);
        let mut goals = Vec::new();
        let mut cut = Vec::new();
        for (role, values) in values.into_iter().enumerate() {
            let mut of_role = Vec::new();
            for (value, symbol) in values {
                let name = RuleTerm::constant(game.rules().roles()[role]);
                let arguments = vec![name, RuleTerm::constant(symbol)];
                let atom = RuleAtom { relation: keyword::GOAL, arguments, span: Span::default() };
                of_role.push((value, expander.goal(atom)));
                if expander.theory.is_exhausted() {
                    cut.push((role, value));
                }
            }
            goals.push(of_role);
        }
        let Expander { tree, patterns, queries, orders, pair_distances, .. } = expander;
        let unfinished = (!cut.is_empty())
            .then(|| Unfinished { goals: cut, is_time: theory.is_past_deadline() });
        let patterns: Vec<Pattern> =
            patterns.into_iter().map(|expression| Pattern::new(&theory, expression)).collect();
        let target_distances =
            find_target_distances(&theory, &mut evolution, &tree, &patterns, &goals, options);
        let inquiry = inquiry(game, &queries)?;
        let queries: Vec<(Expression, Vec<u32>)> = queries
            .into_iter()
            .map(|expression| {
                let solution = solution_variables(&expression);
                (expression, solution)
            })
            .collect();
        let crisp = match options.is_compiled {
            true => Crisp::new(&mut theory, &mut evolution, properties, &queries),
            false => Crisp { solutions: vec![None; queries.len()], ..Crisp::default() },
        };
        let queries = queries
            .into_iter()
            .map(|(expression, solution)| CountedQuery::new(&theory, expression, &solution))
            .collect();
        let persistent = persistent(properties, options.features, theory.fluents().len());
        let excluded_by = excluded_by(properties, &persistent);
        Ok(FuzzyEvaluation {
            game: Arc::clone(game),
            options: options.clone(),
            tree,
            goals,
            patterns,
            queries,
            orders,
            pair_distances,
            target_distances,
            persistent,
            excluded_by,
            unfinished,
            theory,
            inquiry,
            crisp,
        })
    }

    /// Returns the number of parts of goals that the reasoner evaluates in every state, because
    /// they could not be compiled to formulas.
    #[cfg(test)]
    pub(crate) fn n_reasoner_queries(&self) -> usize {
        self.crisp.solutions.iter().filter(|solutions| solutions.is_none()).count()
    }

    /// Returns the text of a fluent.
    pub(crate) fn fluent_text(&self, fluent: usize) -> String {
        self.game.text(self.theory.fluents()[fluent])
    }

    /// Returns the number of steps from a fluent to a place to be reached, over all arguments that
    /// move. `None` if there is no path.
    pub(crate) fn steps_to(&self, target: &TargetDistance, fluent: usize) -> Option<u32> {
        let bank = self.game.bank();
        let values: Vec<TermId> = bank.arguments(self.theory.fluents()[fluent]).collect();
        let steps = |&(argument, goal, ref domain): &(usize, TermId, Arc<evolution::Domain>)| {
            domain.steps(*values.get(argument)?, goal)
        };
        target.arguments.iter().map(steps).sum()
    }

    /// Returns whether a fluent is proved to stay true once it is true, and to stay false once it
    /// is false.
    pub(crate) fn persistence(&self, fluent: usize) -> (bool, bool) {
        self.persistent[fluent]
    }

    /// Counts the nodes of each kind of feature in the trees of the goals.
    pub fn counts(&self) -> FeatureCounts {
        let mut counts = FeatureCounts::default();
        for id in self.used_nodes() {
            match (self.tree.get(id), self.target_distances.get(&id)) {
                (_, Some(target)) => match target.kind() {
                    DomainKind::Natural => counts.natural += 1,
                    DomainKind::Graph => counts.graph += 1,
                },
                (Node::Pattern(_), None) => counts.fluent_cardinality += 1,
                (Node::Query(_), _) => counts.expression_cardinality += 1,
                (Node::Order(_), _) => counts.order += 1,
                (Node::PairDistance(_), _) => counts.between += 1,
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

    /// Returns the nodes of the trees of all goals.
    pub(crate) fn used_nodes(&self) -> BTreeSet<NodeId> {
        let roots = self.goals.iter().flatten().map(|&(_, root)| root);
        roots.flat_map(|root| self.tree.below(root)).collect()
    }
}

/// The goals whose conditions were not expanded, because a limit was reached. The parts that are
/// left are evaluated by the reasoner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfinished {
    /// The goals: role and goal value.
    pub goals: Vec<(usize, i64)>,
    /// Whether the time ran out. Otherwise the limit on the work was reached.
    pub is_time: bool,
}

/// The number of nodes of each kind of feature.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct FeatureCounts {
    /// Expressions with variables whose solutions are counted.
    pub expression_cardinality: usize,
    /// Patterns whose fluents are counted.
    pub fluent_cardinality: usize,
    /// Comparisons along an order.
    pub order: usize,
    /// Distances between two fluents.
    pub between: usize,
    /// Distances to a fluent along a line of numbers.
    pub natural: usize,
    /// Distances to a fluent along another graph.
    pub graph: usize,
    /// Persistent fluents.
    pub persistence: usize,
}

/// A condition on a fluent with variables, and the fluents that satisfy it.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The condition on the fluent, followed by static conditions on its variables.
    pub(crate) expression: Expression,
    /// The fluents that match, in ascending order.
    pub(crate) fluents: Vec<usize>,
}

impl Pattern {
    fn new(theory: &Theory, expression: Expression) -> Pattern {
        let fluent =
            fluent_of(&expression.conditions[0]).expect("a pattern begins with a fluent").clone();
        let wanted = variables(&expression.conditions[..1]);
        let rows = theory
            .possible_values(&expression.conditions, &wanted, usize::MAX, usize::MAX)
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

/// Returns the fluents that held in some state of the random plays.
fn seen_fluents(properties: &Properties) -> BTreeSet<TermId> {
    let states = properties.plays.plays.iter().flatten();
    let numbers: BTreeSet<u32> = states.flat_map(|state| state.fluents.iter().copied()).collect();
    let fluents = numbers.into_iter().filter_map(|number| properties.fluents.get(number as usize));
    fluents.map(|fluent| fluent.term).collect()
}

/// Returns the known fluents of a game, and whether these are all possible ones.
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

/// Returns by fluent whether it is proved to stay true, and to stay false.
fn persistent(properties: &Properties, features: Features, n_fluents: usize) -> Vec<(bool, bool)> {
    let is_proved = |known: Option<Known>| known.is_some_and(Known::is_proved);
    let mut persistent: Vec<(bool, bool)> = properties
        .fluents
        .iter()
        .map(|fluent| (is_proved(fluent.persistent_true), is_proved(fluent.persistent_false)))
        .collect();
    if !features.persistence {
        persistent.fill((false, false));
    }
    persistent.resize(n_fluents, (false, false));
    persistent
}

/// Returns by fluent the fluents that stay true once they hold and exclude it. Both is proved.
fn excluded_by(properties: &Properties, persistent: &[(bool, bool)]) -> Vec<Vec<u32>> {
    let mut excluded_by = vec![Vec::new(); persistent.len()];
    for group in properties.groups.iter().filter(|group| group.at_most_one.is_proved()) {
        let lasting = group.fluents.iter().filter(|&&fluent| persistent[fluent].0);
        let lasting: Vec<u32> = lasting.map(|&fluent| fluent as u32).collect();
        for &fluent in &group.fluents {
            let others = lasting.iter().filter(|&&other| other as usize != fluent);
            excluded_by[fluent].extend(others);
        }
    }
    for excluding in &mut excluded_by {
        excluding.sort_unstable();
        excluding.dedup();
    }
    excluded_by
}
