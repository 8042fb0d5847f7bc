//! Moves of players and of nature.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use agon_structures::structure::Element;

use super::embedding::Embedding;
use crate::arena::{CheckedArena, Edge, LocationId};

/// A move of one player.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Move {
    /// The player does nothing.
    Noop,
    /// The player takes an edge of the location and applies its rule.
    Apply {
        /// The edge.
        edge: EdgeId,
        /// The embedding that the rule is applied to. If the edge applies its rule to a set of
        /// embeddings, their elements follow one another. If it applies it to all, there are none.
        elements: Embedding,
        /// The chosen duration, if there is a choice, then the chosen parameters.
        numbers: Numbers,
    },
    /// Nature chooses one of several outcomes.
    Outcome {
        /// The choice that has several outcomes.
        branch: Branch,
        /// The index of the outcome.
        outcome: u32,
    },
    /// Nature draws the random numbers of the location.
    Draw(Numbers),
}

/// The place of an edge in the arena. A move contains it, so that its text can be computed at any
/// position.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EdgeId {
    /// The location that the edge leaves.
    pub location: LocationId,
    /// The index of the player that may take it.
    pub player: u32,
    /// The index of the edge among the player's edges at the location.
    pub index: u32,
}

impl EdgeId {
    /// Returns the edge.
    pub fn edge(self, arena: &CheckedArena) -> &Edge {
        &arena.location(self.location).edges[self.player as usize][self.index as usize]
    }
}

/// A choice after which nature decides where play continues.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Branch {
    /// One player has taken an edge.
    Edge(EdgeId),
    /// Several players have acted at once.
    Joint {
        /// The location.
        location: LocationId,
        /// The index of the edge for their tuple of moves.
        index: u32,
    },
}

impl Branch {
    /// Returns the locations where play may continue, with their probabilities.
    pub fn outcomes(
        self,
        arena: &CheckedArena,
    ) -> &[(LocationId, agon_structures::rational::Rational)] {
        match self {
            Branch::Edge(edge) => &edge.edge(arena).outcomes,
            Branch::Joint { location, index } => {
                &arena.location(location).joint[index as usize].outcomes
            }
        }
    }
}

/// Real numbers that a move contains. None of them is NaN. They are ordered and compared by value,
/// except that -0 and 0 differ.
#[derive(Clone, Default)]
pub struct Numbers(Box<[f64]>);

impl Numbers {
    /// Returns the numbers as a slice.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }
}

impl From<Vec<f64>> for Numbers {
    fn from(numbers: Vec<f64>) -> Numbers {
        Numbers(numbers.into())
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Numbers) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Numbers {}

impl PartialOrd for Numbers {
    fn partial_cmp(&self, other: &Numbers) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Numbers {
    fn cmp(&self, other: &Numbers) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        let first = pairs.map(|(left, right)| left.total_cmp(right)).find(|order| order.is_ne());
        first.unwrap_or_else(|| self.0.len().cmp(&other.0.len()))
    }
}

impl Hash for Numbers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|number| number.to_bits().hash(state));
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Splits the elements of a move into the embeddings that they consist of.
pub(super) fn split_embeddings(elements: &[Element], n_elements: usize) -> Vec<Embedding> {
    if n_elements == 0 {
        return vec![Embedding::from(elements)];
    }
    elements.chunks(n_elements).map(Embedding::from).collect()
}
