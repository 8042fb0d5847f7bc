//! The rounds of a search. Gathering one and settling it needs the tree, looking at it and playing it out does not: so any thread may do
//! that.

use std::ops::Range;

use agon_game::{Position, Role};

use super::select::{End, Step};
use super::sprout::Sprouts;

/// A leaf on its way.
pub(super) struct Leaf<S> {
    /// The last step of the way to it, by number.
    pub(super) step: u32,
    pub(super) end: End,
    /// Playouts wanted.
    pub(super) n: u32,
    /// How many steps each takes: what is thought, then what was found. 0 if nothing is known.
    pub(super) length: u16,
    /// Where the last step is made, or where to play out from.
    pub(super) state: Option<S>,
    /// The joint move of the last step.
    pub(super) joint: usize,
    /// The position it leads to.
    pub(super) sprout: Option<usize>,
    /// The moves of the playout.
    pub(super) record: Range<usize>,
}

/// Leaves that are gathered together, and what was found of them so far.
pub(super) struct Round<P: Position> {
    pub(super) leaves: Vec<Leaf<P::State>>,
    pub(super) steps: Vec<Step>,
    pub(super) joints: Vec<P::Move>,
    pub(super) sprouts: Sprouts<P>,
    /// By leaf: sums of payoffs by role, then sums of squares by role.
    pub(super) results: Vec<f64>,
    pub(super) record: Vec<(Role, P::Move)>,
    pub(super) n_playouts: u64,
    pub(super) n_seen: u64,
    /// How long it took to look at it and to play it out, where the clock counts.
    pub(super) seconds: f64,
}

impl<P: Position> Round<P> {
    pub(super) fn new() -> Round<P> {
        Round {
            leaves: Vec::new(),
            steps: Vec::new(),
            joints: Vec::new(),
            sprouts: Sprouts::new(),
            results: Vec::new(),
            record: Vec::new(),
            n_playouts: 0,
            n_seen: 0,
            seconds: 0.0,
        }
    }

    /// Forgets all leaves.
    pub(super) fn clear(&mut self) {
        self.leaves.clear();
        self.steps.clear();
        self.joints.clear();
        self.record.clear();
    }
}
