//! A game that has been checked: names are ids, rules are match formulas with effects, and nothing can be missing.
//!
//! This is what engines work from. A rule whose universe stays is a list of tuples to delete and to add for each match
//! of its condition; others are rewritten by the definition. `span`s lead back to the text.

use std::ops::RangeInclusive;
use std::sync::Arc;

use agon_structures::formula::{Definitions, Formula, Term, Variable};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, RelationId, Structure, Vocabulary};
use agon_text::Span;

use crate::syntax::GameSheet;

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

    /// For tables with one entry per rule.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LocationId {
    pub(crate) fn new(index: usize) -> LocationId {
        LocationId(u32::try_from(index).expect("locations are fewer than bytes of a source"))
    }

    /// For tables with one entry per location.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A game that has been checked; it can only be made by [`check`](crate::check::check).
///
/// Invariants: formulas use relations of the vocabulary and of the definitions alone, with their arities; conditions have no
/// other free variables than the elements of their rule, payoffs none; effects change no defined relation; every player
/// but nature has a payoff at every location; probabilities of an edge add up to 1.
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
    pub(crate) payoff_bounds: RangeInclusive<f64>,
    pub(crate) constant_sum: Option<f64>,
}

/// A rule: what is looked for, what comes of it.
#[derive(Clone, Debug)]
pub struct ArenaRule {
    /// What it is called.
    pub name: String,
    /// The elements that a match names, in the order in which a move names them.
    pub elements: Vec<Variable>,
    /// The match formula: what must hold of the elements before, the precondition included.
    pub condition: Formula,
    /// The parts of the condition, with where they come from, for explanations.
    pub parts: Vec<Part>,
    /// What changes.
    pub effect: Effect,
    /// What must hold afterwards.
    pub post: Option<Post>,
    /// Rules that must have been applied before in the play, or, if `false`, must not.
    pub history: Vec<(RuleId, bool)>,
    /// Where it stands.
    pub span: Span,
}

/// What must hold after a rule was applied.
#[derive(Clone, Debug)]
pub struct Post {
    /// What its free variables stand for: the elements of the match in their order if the universe stays, else the elements of
    /// the right side.
    pub variables: Vec<Variable>,
    /// What must hold.
    pub formula: Formula,
    /// Where it stands.
    pub span: Span,
}

/// A part of a rule's condition.
#[derive(Clone, Debug)]
pub struct Part {
    /// What must hold.
    pub formula: Formula,
    /// Why, in a few words.
    pub reason: Reason,
    /// Where it comes from.
    pub span: Span,
}

/// Why something must hold of a match.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The tuple stands on the left side.
    Tuple,
    /// The relation is embedded exactly, and the tuple does not stand on the left side.
    Embedded,
    /// Different elements of the left side are different elements.
    Different,
    /// The formula of a rule by formula.
    Match,
    /// The precondition.
    Pre,
}

/// What a rule changes.
#[derive(Clone, Debug)]
pub enum Effect {
    /// The universe stays; first tuples are deleted, then others added.
    Tuples {
        /// Deleted first. Only tuples that are there.
        delete: Vec<DeletePattern>,
        /// Added afterwards.
        add: Vec<AddedTuple>,
    },
    /// Elements are created, copied or deleted.
    Rewrite(Rewrite),
}

/// Tuples to be deleted: elements of the match by their index, `None` for any element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeletePattern {
    /// The relation.
    pub relation: RelationId,
    /// What stands in it.
    pub arguments: Vec<Option<usize>>,
}

/// A tuple to be added: elements of the match by their index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddedTuple {
    /// The relation.
    pub relation: RelationId,
    /// What stands in it.
    pub arguments: Vec<usize>,
}

/// `L ->_s R` where the universe changes.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// The elements of the right side.
    pub right: Vec<Variable>,
    /// For each of them the index of the element of the left side that it replaces.
    pub map: Vec<Option<usize>>,
    /// For each of them whether it keeps the id and the name of what it replaces: of several that replace one element the one
    /// that is called the same in the rule, else the first.
    pub keeps: Vec<bool>,
    /// Tuples of the right side, by index of its elements.
    pub tuples: Vec<AddedTuple>,
    /// The relations that are embedded exactly.
    pub embedded: Vec<RelationId>,
}

/// A location of the game graph.
#[derive(Clone, Debug)]
pub struct ArenaLocation {
    /// A number or a name.
    pub name: String,
    /// By player; nature's is 0.
    pub payoffs: Vec<Term>,
    /// By player: what it may do here.
    pub edges: Vec<Vec<Edge>>,
    /// Where it stands.
    pub span: Span,
}

/// A way out of a location.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The rule that is applied.
    pub rule: RuleId,
    /// Where play goes on, with probabilities that add up to 1; mostly one alone.
    pub outcomes: Vec<(LocationId, Rational)>,
    /// How likely nature takes this edge, against its other ones; all its moves are alike if there is none. Of no meaning to
    /// players.
    pub weight: Option<Rational>,
    /// Where it stands.
    pub span: Span,
}

/// Where the elements of a board lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows from the top; `None` is a hole.
    pub rows: Vec<Vec<Option<Element>>>,
}

impl CheckedArena {
    /// The game as it was written.
    pub fn sheet(&self) -> &Arc<GameSheet> {
        &self.sheet
    }

    /// The relations and functions of its structures.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The defined relations, each after those that it uses.
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.definitions
    }

    /// The roles in order, nature included.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// Which of the players is nature: the one called `random`.
    pub fn nature(&self) -> Option<usize> {
        self.nature
    }

    /// The rules in the order of the text.
    pub fn rules(&self) -> &[ArenaRule] {
        &self.rules
    }

    /// A rule.
    pub fn rule(&self, id: RuleId) -> &ArenaRule {
        &self.rules[id.index()]
    }

    /// The locations in the order of the text.
    pub fn locations(&self) -> &[ArenaLocation] {
        &self.locations
    }

    /// A location.
    pub fn location(&self, id: LocationId) -> &ArenaLocation {
        &self.locations[id.index()]
    }

    /// The location of this name.
    pub fn location_named(&self, name: &str) -> Option<LocationId> {
        self.locations.iter().position(|location| location.name == name).map(LocationId::new)
    }

    /// The structure that play starts from.
    pub fn start(&self) -> &Structure {
        &self.start
    }

    /// The location that play starts in.
    pub fn start_location(&self) -> LocationId {
        self.start_location
    }

    /// Where the elements lie, if the start is a board.
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// Whether some rule may change the relation; otherwise it is stable.
    pub fn is_fluent(&self, relation: RelationId) -> bool {
        self.is_fluent[relation.index()]
    }

    /// Whether no rule creates, copies or deletes elements.
    pub fn keeps_universe(&self) -> bool {
        self.rules.iter().all(|rule| matches!(rule.effect, Effect::Tuples { .. }))
    }

    /// Whether some rule asks which rules were applied earlier.
    pub fn has_history(&self) -> bool {
        self.rules.iter().any(|rule| !rule.history.is_empty())
    }

    /// Every payoff lies within these bounds.
    pub fn payoff_bounds(&self) -> RangeInclusive<f64> {
        self.payoff_bounds.clone()
    }

    /// What the payoffs of all players always add up to, if that is plain from their terms.
    pub fn constant_sum(&self) -> Option<f64> {
        self.constant_sum
    }

    /// Whether at every location at most one player, nature aside, has moves.
    pub fn takes_turns(&self) -> bool {
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
