//! States of a game: a structure, a location, and everything else that the rest of the play
//! depends on.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_game::Fault;
use agon_reals::real::Real;
use agon_structures::structure::{Element, FunctionId, Structure};
use agon_text::Span;

use super::moves::Branch;
use super::position::PositionError;
use crate::arena::{LocationId, RuleId};

/// A state. Cheap to clone.
#[derive(Clone, Debug)]
pub struct State {
    content: Arc<Content>,
    /// A hash of the content.
    key: u64,
}

/// The parts of a state.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) structure: Structure,
    /// The values of functions in a continuous game. In other games the structure has them.
    pub(super) values: Option<Arc<Values>>,
    pub(super) location: LocationId,
    /// The applied rules, of those in `Game::remembered`.
    pub(super) history: Arc<BTreeSet<RuleId>>,
    pub(super) phase: Phase,
    /// The random numbers of the location, once they are drawn.
    pub(super) drawn: Arc<[f64]>,
    pub(super) clock: Clock,
    /// The reason why the state could not be computed, with the place in the rules.
    pub(super) fault: Option<(Fault, Span)>,
}

/// What happens next at a state.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// The players choose moves.
    Choose,
    /// Nature draws the random numbers of the location.
    Draw,
    /// Nature chooses where play continues.
    Outcome(Branch),
}

/// The time that has passed in a continuous game.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub(super) struct Clock {
    /// The time since the start of play.
    pub(super) now: f64,
    /// The time at which the current window of events began.
    pub(super) window: f64,
    /// The number of events in the window.
    pub(super) n_events: u32,
}

/// The values of all functions at all elements.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// By element id and function; empty for ids without a living element.
    rows: Vec<Vec<Real>>,
}

impl Values {
    /// Returns the values that a structure gives, 0 where it gives none.
    pub(crate) fn of_structure(structure: &Structure) -> Values {
        let mut values = Values { rows: Vec::new() };
        for element in structure.elements() {
            let row: Vec<Real> = structure
                .vocabulary()
                .functions()
                .map(|f| structure.value(f, element).map_or(Real::ZERO, Real::from))
                .collect();
            values.set_row(element, row);
        }
        values
    }

    /// Returns the value of a function at a living element.
    pub fn get(&self, function: FunctionId, element: Element) -> Real {
        self.rows
            .get(element.index())
            .and_then(|row| row.get(function.index()))
            .copied()
            .unwrap_or(Real::ZERO)
    }

    pub(crate) fn set(&mut self, function: FunctionId, element: Element, value: Real) {
        self.rows[element.index()][function.index()] = value;
    }

    /// Sets the values of all functions at an element.
    pub(crate) fn set_row(&mut self, element: Element, row: Vec<Real>) {
        if self.rows.len() <= element.index() {
            self.rows.resize(element.index() + 1, Vec::new());
        }
        self.rows[element.index()] = row;
    }

    /// Returns the values of all functions at an element.
    pub(crate) fn row(&self, element: Element) -> &[Real] {
        self.rows.get(element.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the elements that have values, by id.
    pub(crate) fn elements(&self) -> impl Iterator<Item = Element> + '_ {
        let ids = (0u32..).zip(&self.rows).filter(|(_, row)| !row.is_empty());
        ids.map(|(id, _)| Element::new(id))
    }

    /// Removes the values of a deleted element.
    pub(crate) fn clear_row(&mut self, element: Element) {
        if let Some(row) = self.rows.get_mut(element.index()) {
            row.clear();
        }
    }

    fn key(&self) -> u64 {
        let mut key = 0;
        for real in self.rows.iter().flatten() {
            match real {
                Real::Exact(number) => {
                    for half in [number.numerator(), number.denominator()] {
                        key = mix(key, half as u64);
                        key = mix(key, (half >> 64) as u64);
                    }
                }
                Real::Interval(interval) => {
                    key = mix(key, interval.lo.to_bits());
                    key = mix(key, interval.hi.to_bits() ^ 1);
                }
            }
        }
        key
    }
}

impl State {
    pub(super) fn new(content: Content, keeps_universe: bool) -> State {
        let key = content.key(keeps_universe);
        State { content: Arc::new(content), key }
    }

    pub(super) fn failed(before: &State, error: PositionError) -> State {
        let fault = Some((Fault::Refused(error.message), error.span));
        let content = Content { fault, ..before.content().clone() };
        State { content: Arc::new(content), key: mix(before.key, u64::MAX) }
    }

    pub(super) fn content(&self) -> &Content {
        &self.content
    }

    pub(super) fn key(&self) -> u64 {
        self.key
    }

    /// Returns the structure. In a continuous game it does not have the values of functions: see
    /// [`State::values`].
    pub fn structure(&self) -> &Structure {
        &self.content.structure
    }

    /// Returns the values of functions in a continuous game.
    pub fn values(&self) -> Option<&Values> {
        self.content.values.as_deref()
    }

    /// Returns the location.
    pub fn location(&self) -> LocationId {
        self.content.location
    }

    /// Returns the rules applied so far, of those that the history of some rule mentions.
    pub fn history(&self) -> &BTreeSet<RuleId> {
        &self.content.history
    }

    /// Returns the time since the start of play.
    pub fn time(&self) -> f64 {
        self.content.clock.now
    }
}

impl Content {
    fn key(&self, keeps_universe: bool) -> u64 {
        let mut key = mix(self.structure.key(), self.location.index() as u64);
        for rule in self.history.iter() {
            key = mix(key, 1 << 32 | rule.index() as u64);
        }
        match self.phase {
            Phase::Choose => {}
            Phase::Draw => key = mix(key, 5 << 32),
            Phase::Outcome(Branch::Edge(edge)) => {
                key = mix(key, 2 << 32 | u64::from(edge.player) << 16 | u64::from(edge.index));
            }
            Phase::Outcome(Branch::Joint { index, .. }) => {
                key = mix(key, 3 << 32 | u64::from(index));
            }
        }
        if let Some(values) = &self.values {
            key = mix(key, values.key());
            self.drawn.iter().for_each(|number| key = mix(key, number.to_bits()));
            key = mix(key, self.clock.now.to_bits());
        }
        if !keeps_universe {
            // Moves name elements, so states with different names are different.
            key = mix(key, self.structure.names_key());
        }
        key
    }
}

/// Combines two words into one, each bit of which depends on all bits of both (the finaliser of
/// `SplitMix64`).
fn mix(a: u64, b: u64) -> u64 {
    let mut z = (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
