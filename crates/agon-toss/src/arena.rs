//! The checked form of a game: names are resolved to ids, and rules are conditions with effects.
//!
//! All engines start from this form. A rule that keeps the universe lists the tuples that it
//! deletes and adds for each embedding, that is, for each solution of its condition. Other rules
//! are applied by the definition of rewriting (see [`rewrite`](crate::rewrite)). Spans lead back to
//! the text.

use std::ops::RangeInclusive;
use std::sync::Arc;

use agon_structures::formula::{Definitions, Formula, Term, Variable};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, FunctionId, RelationId, Structure, Vocabulary};
use agon_text::Span;

use crate::syntax::GameSheet;

pub use crate::syntax::Multiplicity;

/// A rule of an arena. Dense: `0..arena.rules().len()`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuleId(u32);

/// A location of an arena. Dense: `0..arena.locations().len()`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(u32);

impl RuleId {
    pub(crate) fn new(index: usize) -> RuleId {
        RuleId(u32::try_from(index).expect("rules are fewer than bytes of a source"))
    }

    /// Returns the index of the rule, for tables with one entry per rule.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LocationId {
    pub(crate) fn new(index: usize) -> LocationId {
        LocationId(u32::try_from(index).expect("locations are fewer than bytes of a source"))
    }

    /// Returns the index of the location, for tables with one entry per location.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A checked game. Only [`check`](crate::check::check) constructs it.
///
/// Invariants:
/// - Formulas use only relations of the vocabulary and of the definitions, with their arities.
/// - The free variables of a condition are elements of its rule. Payoffs have no free variables.
/// - Effects do not change defined relations.
/// - Every player except nature has a payoff at every location.
/// - The probabilities of an edge add up to 1.
#[derive(Clone)]
pub struct CheckedArena {
    pub(crate) sheet: Arc<GameSheet>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) definitions: Arc<Definitions>,
    pub(crate) players: Vec<String>,
    pub(crate) nature: Option<usize>,
    pub(crate) rules: Vec<ArenaRule>,
    pub(crate) locations: Vec<ArenaLocation>,
    pub(crate) start: Structure,
    pub(crate) start_location: LocationId,
    pub(crate) layout: Option<Layout>,
    pub(crate) is_fluent: Vec<bool>,
    pub(crate) is_changing_function: Vec<bool>,
    pub(crate) derivatives: Vec<Option<FunctionId>>,
    pub(crate) is_continuous: bool,
    pub(crate) payoff_bounds: RangeInclusive<f64>,
    pub(crate) constant_sum: Option<f64>,
}

/// A rewriting rule.
#[derive(Clone, Debug)]
pub struct ArenaRule {
    /// The name of the rule.
    pub name: String,
    /// The elements of an embedding, in the order in which a move names them.
    pub elements: Vec<Variable>,
    /// The condition of an embedding: a formula about the elements before the rule is applied. It
    /// includes the precondition.
    pub condition: Formula,
    /// The conjuncts of the condition with their places in the text, for explanations.
    pub parts: Vec<Part>,
    /// The change that the rule makes.
    pub effect: Effect,
    /// The post-condition.
    pub post: Option<Post>,
    /// The invariant, which must hold while time passes. Its free variables are elements and
    /// parameters of the rule, and `:t`.
    pub invariant: Option<Invariant>,
    /// The differential equations while time passes.
    pub dynamics: Vec<Equation>,
    /// The new values of functions when the rule is applied.
    pub updates: Vec<Equation>,
    /// The parameters that the terms of the rule use, such as `:p`, without `:t`.
    pub parameters: Vec<Variable>,
    /// Rules that must have been applied earlier in the play or, if `false`, must not have been.
    pub history: Vec<(RuleId, bool)>,
    /// The place in the text.
    pub span: Span,
}

/// The post-condition of a rule.
#[derive(Clone, Debug)]
pub struct Post {
    /// The free variables. They denote the elements of the embedding in order if the rule keeps the
    /// universe, otherwise the elements of the right side.
    pub variables: Vec<Variable>,
    /// The condition on the structure after the rule.
    pub formula: Formula,
    /// The place in the text.
    pub span: Span,
}

/// The invariant of a rule.
#[derive(Clone, Debug)]
pub struct Invariant {
    /// The condition on the structure while time passes.
    pub formula: Formula,
    /// The place in the text.
    pub span: Span,
}

/// An equation for a function at an element of a rule. Its term is about the elements of the left
/// side, the parameters of the rule and `:t`, the time since the rule was chosen.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The function. In a differential equation it is the function that the equation derives: for
    /// `:f(a)'' = term` it is `f'`.
    pub function: FunctionId,
    /// The index of the element. In a differential equation it is an element of the left side. In
    /// an update it is an element of the embedding if the rule keeps the universe, otherwise of
    /// the right side.
    pub element: usize,
    /// The right side of the equation.
    pub term: Term,
    /// The place in the text.
    pub span: Span,
}

/// A conjunct of a rule's condition.
#[derive(Clone, Debug)]
pub struct Part {
    /// The conjunct.
    pub formula: Formula,
    /// The part of the rule that requires it.
    pub reason: Reason,
    /// The place in the text.
    pub span: Span,
}

/// The part of a rule that requires a conjunct of its condition.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A tuple of the left side.
    Tuple,
    /// Exact embedding: the relation is embedded, and the tuple is not on the left side.
    Embedded,
    /// Different elements of the left side denote different elements.
    Different,
    /// The formula after `MATCH`.
    Match,
    /// The precondition.
    Pre,
}

/// The change that a rule makes.
#[derive(Clone, Debug)]
pub enum Effect {
    /// The universe stays. Tuples are deleted first, then others are added.
    Tuples {
        /// The tuples to delete, if they are present.
        delete: Vec<DeletePattern>,
        /// The tuples to add.
        add: Vec<AddedTuple>,
    },
    /// Elements are created, copied or deleted.
    Rewrite(Rewrite),
}

/// A pattern of tuples to delete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeletePattern {
    /// The relation.
    pub relation: RelationId,
    /// For each argument the index of an element of the embedding, or `None` for any element.
    pub arguments: Vec<Option<usize>>,
}

/// A tuple to add.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddedTuple {
    /// The relation.
    pub relation: RelationId,
    /// For each argument the index of an element of the embedding.
    pub arguments: Vec<usize>,
}

/// A rule `L -> R` that changes the universe.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// The elements of the right side.
    pub right: Vec<Variable>,
    /// For each element of the right side the index of the element of the left side that it
    /// replaces.
    pub map: Vec<Option<usize>>,
    /// For each element of the right side whether it keeps the id and the name of the element that
    /// it replaces. If several replace one element, the one with the same name in the rule keeps
    /// them, otherwise the first.
    pub keeps: Vec<bool>,
    /// The tuples of the right side, by indices of its elements.
    pub tuples: Vec<AddedTuple>,
    /// The relations that are embedded exactly.
    pub embedded: Vec<RelationId>,
}

/// A location of the game graph.
#[derive(Clone, Debug)]
pub struct ArenaLocation {
    /// The number or name of the location.
    pub name: String,
    /// The payoff of each player; 0 for nature.
    pub payoffs: Vec<Term>,
    /// The edges of each player.
    pub edges: Vec<Vec<Edge>>,
    /// The edges for tuples of moves. If there are none, each edge has its own outcomes.
    pub joint: Vec<JointEdge>,
    /// The random numbers that are drawn when play comes to the location, before the players
    /// choose.
    pub draws: Vec<Draw>,
    /// The place in the text.
    pub span: Span,
}

/// An edge of the game graph: a way out of a location.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The rule that is applied.
    pub rule: RuleId,
    /// The name of the move among several with the same rule.
    pub label: Option<String>,
    /// How many embeddings the rule is applied to.
    pub multiplicity: Multiplicity,
    /// The interval of the duration, as terms without free element variables. They may use the
    /// random numbers of the location.
    pub time: (Term, Term),
    /// The intervals of the rule's parameters, in their order.
    pub parameters: Vec<(Term, Term)>,
    /// The locations where play may continue, with probabilities that add up to 1. Usually there is
    /// one. There is none if the location has edges for tuples.
    pub outcomes: Vec<(LocationId, Rational)>,
    /// The relative probability of this edge among nature's edges. If `None`, all of nature's moves
    /// are equally likely. Ignored for other players.
    pub weight: Option<Rational>,
    /// The place in the text.
    pub span: Span,
}

/// An edge for a tuple of moves.
#[derive(Clone, Debug)]
pub struct JointEdge {
    /// For each player the index of its edge; `None` if any edge of the player will do or the
    /// player has none.
    pub choices: Vec<Option<usize>>,
    /// The locations where play may continue, with probabilities that add up to 1.
    pub outcomes: Vec<(LocationId, Rational)>,
}

/// A random number that interval ends use.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// The name, such as `:x`.
    pub name: Variable,
    /// The distribution.
    pub distribution: Distribution,
}

/// A distribution of a random number.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Distribution {
    /// The normal distribution.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation, which is not negative.
        deviation: f64,
    },
    /// The uniform distribution.
    Uniform {
        /// The least value.
        low: f64,
        /// The greatest value.
        high: f64,
    },
    /// The exponential distribution.
    Exponential {
        /// The rate, which is positive: the reciprocal of the mean.
        rate: f64,
    },
}

impl Distribution {
    /// Returns whether a number can be drawn.
    pub fn contains(self, number: f64) -> bool {
        match self {
            Distribution::Normal { mean, deviation } => {
                number.is_finite() && (deviation > 0.0 || number == mean)
            }
            Distribution::Uniform { low, high } => low <= number && number <= high,
            Distribution::Exponential { .. } => number.is_finite() && number >= 0.0,
        }
    }
}

impl ArenaLocation {
    /// Returns the outcomes of a tuple of moves, given by the index of each acting player's edge.
    pub fn joint_outcomes(&self, chosen: &[Option<usize>]) -> Option<(usize, &JointEdge)> {
        self.joint.iter().enumerate().find(|(_, edge)| {
            edge.choices
                .iter()
                .zip(chosen)
                .all(|(wanted, chosen)| wanted.is_none_or(|wanted| Some(wanted) == *chosen))
        })
    }

    /// Returns whether several players, nature included, act here at once.
    pub fn is_concurrent(&self) -> bool {
        self.edges.iter().filter(|edges| !edges.is_empty()).count() > 1
    }
}

/// The geometry of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The rows from top to bottom; `None` is a hole.
    pub rows: Vec<Vec<Option<Element>>>,
}

impl CheckedArena {
    /// Returns the game as it was written.
    pub fn sheet(&self) -> &Arc<GameSheet> {
        &self.sheet
    }

    /// Returns the relations, functions and constants of the game's structures.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Returns the defined relations, each after the relations that it uses.
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.definitions
    }

    /// Returns the names of the roles in order, nature included.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// Returns the index of nature, the player named `random`.
    pub fn nature(&self) -> Option<usize> {
        self.nature
    }

    /// Returns the rules in the order of the text.
    pub fn rules(&self) -> &[ArenaRule] {
        &self.rules
    }

    /// Returns the ids of the rules in the order of the text.
    pub fn rule_ids(&self) -> impl Iterator<Item = RuleId> {
        (0..self.rules.len()).map(RuleId::new)
    }

    /// Returns a rule by its id.
    pub fn rule(&self, id: RuleId) -> &ArenaRule {
        &self.rules[id.index()]
    }

    /// Returns the locations in the order of the text.
    pub fn locations(&self) -> &[ArenaLocation] {
        &self.locations
    }

    /// Returns a location by its id.
    pub fn location(&self, id: LocationId) -> &ArenaLocation {
        &self.locations[id.index()]
    }

    /// Returns the id of the location with this name.
    pub fn location_named(&self, name: &str) -> Option<LocationId> {
        self.locations.iter().position(|location| location.name == name).map(LocationId::new)
    }

    /// Returns the structure in which play starts.
    pub fn start(&self) -> &Structure {
        &self.start
    }

    /// Returns the location in which play starts.
    pub fn start_location(&self) -> LocationId {
        self.start_location
    }

    /// Returns the geometry of the board, if the start was written as a board.
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// Returns whether a rule may change the relation. Other relations are stable.
    pub fn is_fluent(&self, relation: RelationId) -> bool {
        self.is_fluent[relation.index()]
    }

    /// Returns whether a rule may change the values of the function.
    pub fn is_changing_function(&self, function: FunctionId) -> bool {
        self.is_changing_function[function.index()]
    }

    /// Returns the function that holds the derivative of a function, if the game keeps it: `y'`
    /// for `y`.
    pub fn derivative(&self, function: FunctionId) -> Option<FunctionId> {
        self.derivatives[function.index()]
    }

    /// Returns whether time, real parameters or inexact numbers play a part, so that states contain
    /// real numbers.
    pub fn is_continuous(&self) -> bool {
        self.is_continuous
    }

    /// Returns the game with values of functions that may be inexact, whatever its rules say.
    pub(crate) fn with_real_values(mut self) -> CheckedArena {
        self.is_continuous = true;
        self.is_changing_function.fill(true);
        self
    }

    /// Returns whether no rule creates, copies or deletes elements.
    pub fn keeps_universe(&self) -> bool {
        self.rules.iter().all(|rule| matches!(rule.effect, Effect::Tuples { .. }))
    }

    /// Returns bounds that all payoffs respect.
    pub fn payoff_bounds(&self) -> RangeInclusive<f64> {
        self.payoff_bounds.clone()
    }

    /// Returns the constant sum of the payoffs of all players, if their terms show that there is
    /// one.
    pub(crate) fn constant_sum(&self) -> Option<f64> {
        self.constant_sum
    }

    /// Returns whether at most one player, not counting nature, has moves at every location.
    pub(crate) fn takes_turns(&self) -> bool {
        self.locations.iter().all(|location| {
            let movers = location
                .edges
                .iter()
                .enumerate()
                .filter(|(player, edges)| Some(*player) != self.nature && !edges.is_empty());
            movers.count() <= 1
        })
    }
}
