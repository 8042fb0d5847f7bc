//! A structure rewriting game as relations over bits: what formulas are evaluated on.

use std::collections::{BTreeMap, BTreeSet};

use agon_structures::structure::Structure;
use agon_toss::interpreter::Game;

/// Ending of the names that describe the structure before a move.
pub(super) const OLD: &str = "_old";

/// The number of an element, in the order of the start structure.
pub(super) type ElementIdx = u16;

/// The relations of a game whose universe does not change. Tuples of relations that change in play
/// are bits of a state, numbered as a list of fact texts says.
#[derive(Clone, Debug)]
pub struct View {
    pub(super) n_elements: usize,
    pub(super) relations: Vec<Relation>,
    /// By location of the game: the bit that says that play is there.
    pub(super) locations: Vec<Option<u32>>,
    pub(super) n_words: usize,
}

/// A relation of the game.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) name: String,
    pub(super) arity: usize,
    pub(super) tuples: Tuples,
}

/// Where the tuples of a relation are.
#[derive(Clone, Debug)]
pub(super) enum Tuples {
    /// One argument; each tuple is a bit.
    Places {
        /// By element: its bit.
        bits: Vec<Option<u32>>,
        /// The bits and their elements, in the order of the bits.
        elements: Vec<(u32, ElementIdx)>,
        /// By word of a state: the bits of this relation.
        mask: Vec<u64>,
    },
    /// Any other number of arguments; each tuple is a bit.
    Changing(BTreeMap<Vec<ElementIdx>, u32>),
    /// One argument, the same in all states. By element.
    Marks(Vec<bool>),
    /// Two arguments, the same in all states.
    Links {
        /// By element: the elements that it leads to, sorted.
        forward: Vec<Vec<ElementIdx>>,
        /// By element: the elements that lead to it, sorted.
        backward: Vec<Vec<ElementIdx>>,
    },
    /// Any other number of arguments, the same in all states.
    Fixed(BTreeSet<Vec<ElementIdx>>),
}

/// Why formulas cannot be learnt for a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CannotView {
    /// The rules create or delete elements.
    UniverseChanges,
    /// The structure has more than 65,535 elements.
    TooManyElements,
}

impl std::fmt::Display for CannotView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CannotView::UniverseChanges => "the rules create or delete elements",
            CannotView::TooManyElements => "the structure has more than 65,535 elements",
        })
    }
}

impl std::error::Error for CannotView {}

impl View {
    /// Returns the view of a game. `facts` are the texts of the bits of states.
    ///
    /// # Errors
    /// [`CannotView`] if the universe changes or is too large.
    pub fn new(game: &Game, facts: &[String]) -> Result<View, CannotView> {
        let (arena, start) = (game.arena(), game.start_structure());
        if !arena.keeps_universe() {
            return Err(CannotView::UniverseChanges);
        }
        let n_elements = start.elements().count();
        if n_elements > usize::from(u16::MAX) {
            return Err(CannotView::TooManyElements);
        }
        let names = start.elements().zip(0_u16..);
        let by_name: BTreeMap<&str, ElementIdx> =
            names.map(|(element, idx)| (&**start.name(element), idx)).collect();
        let n_words = facts.len().div_ceil(64);
        let vocabulary = arena.vocabulary();
        let mut relations = Vec::new();
        for id in vocabulary.relations() {
            let (name, arity) = (vocabulary.relation_name(id).to_string(), vocabulary.arity(id));
            let tuples = if arena.is_fluent(id) {
                changing(&name, arity, facts, &by_name, n_elements, n_words)
            } else {
                fixed(start, id, arity, n_elements)
            };
            relations.push(Relation { name, arity, tuples });
        }
        let bit_of = |text: &str| (0_u32..).zip(facts).find(|(_, fact)| *fact == text);
        let location = |name: &str| bit_of(&format!("(location {name})")).map(|(bit, _)| bit);
        let locations = arena.locations().iter().map(|at| location(&at.name)).collect();
        Ok(View { n_elements, relations, locations, n_words })
    }

    /// Returns the index of the location where play is, if the state says it.
    pub(super) fn location(&self, state: &[u64]) -> Option<usize> {
        match self.locations[..] {
            [_] => Some(0),
            _ => {
                let is_here = |bit: &Option<u32>| bit.is_some_and(|bit| holds(state, bit));
                self.locations.iter().position(is_here)
            }
        }
    }

    /// Returns whether the relation has the tuple in a state.
    pub(super) fn has(&self, relation: usize, tuple: &[ElementIdx], state: &[u64]) -> bool {
        match &self.relations[relation].tuples {
            Tuples::Places { bits, .. } => {
                bits[usize::from(tuple[0])].is_some_and(|bit| holds(state, bit))
            }
            Tuples::Changing(bits) => bits.get(tuple).is_some_and(|&bit| holds(state, bit)),
            Tuples::Marks(marks) => marks[usize::from(tuple[0])],
            Tuples::Links { forward, .. } => {
                forward[usize::from(tuple[0])].binary_search(&tuple[1]).is_ok()
            }
            Tuples::Fixed(tuples) => tuples.contains(tuple),
        }
    }

    /// Returns whether the tuples of a relation change in play.
    pub(super) fn is_changing(&self, relation: usize) -> bool {
        matches!(self.relations[relation].tuples, Tuples::Places { .. } | Tuples::Changing(_))
    }
}

/// Returns whether a bit of a state is set. Bits beyond its end are not.
pub(super) fn holds(state: &[u64], bit: u32) -> bool {
    state.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

fn changing(
    name: &str,
    arity: usize,
    facts: &[String],
    by_name: &BTreeMap<&str, ElementIdx>,
    n_elements: usize,
    n_words: usize,
) -> Tuples {
    let mut tuples: BTreeMap<Vec<ElementIdx>, u32> = BTreeMap::new();
    for (bit, fact) in (0..).zip(facts) {
        let inner = fact.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let mut words = inner.unwrap_or(fact).split_whitespace();
        if words.next() != Some(name) {
            continue;
        }
        let tuple: Option<Vec<ElementIdx>> = words.map(|word| by_name.get(word).copied()).collect();
        if let Some(tuple) = tuple.filter(|tuple| tuple.len() == arity) {
            tuples.insert(tuple, bit);
        }
    }
    if arity != 1 {
        return Tuples::Changing(tuples);
    }
    let (mut bits, mut mask) = (vec![None; n_elements], vec![0_u64; n_words]);
    let mut elements = Vec::new();
    for (tuple, bit) in tuples {
        bits[usize::from(tuple[0])] = Some(bit);
        mask[bit as usize / 64] |= 1 << (bit % 64);
        elements.push((bit, tuple[0]));
    }
    elements.sort_unstable();
    Tuples::Places { bits, elements, mask }
}

fn fixed(
    start: &Structure,
    id: agon_structures::structure::RelationId,
    arity: usize,
    n_elements: usize,
) -> Tuples {
    let number: BTreeMap<_, ElementIdx> = start.elements().zip(0_u16..).collect();
    let tuples = start.tuples(id);
    let tuples = tuples.iter().map(|tuple| tuple.iter().map(|e| number[e]).collect::<Vec<_>>());
    match arity {
        1 => {
            let mut marks = vec![false; n_elements];
            tuples.for_each(|tuple| marks[usize::from(tuple[0])] = true);
            Tuples::Marks(marks)
        }
        2 => {
            let mut forward = vec![Vec::new(); n_elements];
            let mut backward = vec![Vec::new(); n_elements];
            for tuple in tuples {
                forward[usize::from(tuple[0])].push(tuple[1]);
                backward[usize::from(tuple[1])].push(tuple[0]);
            }
            forward.iter_mut().chain(&mut backward).for_each(|list| list.sort_unstable());
            Tuples::Links { forward, backward }
        }
        _ => Tuples::Fixed(tuples.collect()),
    }
}
