//! Reading of positions: from states and moves of any engine to the indices of the heuristics.

use std::any::Any;
use std::collections::BTreeMap;

use agon_circuit::ScalarCircuit;
use agon_game::{Notation, Role};

use super::batch::{BatchEvaluator, Lane};
use super::evaluator::Evaluator;
use super::regress::ActionHeuristics;

/// A translation of states and moves of a game to the indices of fluents and moves that the
/// heuristics use.
///
/// Positions of circuits are read directly. States of other engines are read as text, which is
/// slow, but so are those engines.
#[derive(Clone)]
pub struct Reader {
    /// By base bit of the playing circuit: the fluent. `None` if the numbering is the same.
    bits: Option<Vec<Option<u32>>>,
    /// By role and move of the playing circuit: the move. `None` if the numbering is the same.
    inputs: Option<Vec<Vec<Option<u32>>>>,
    fluents: BTreeMap<String, u32>,
    /// By role: its moves.
    moves: Vec<BTreeMap<String, u32>>,
    n_words: usize,
}

impl Reader {
    /// Creates a reader for positions of the same engine as this one.
    pub fn new<P: Notation + 'static>(position: &P, heuristics: &ActionHeuristics) -> Reader {
        let numbered = |texts: &[String]| -> BTreeMap<String, u32> {
            texts.iter().cloned().zip(0..).collect()
        };
        let fluents = numbered(&heuristics.fluents);
        let moves: Vec<_> = heuristics.roles.iter().map(|role| numbered(&role.moves)).collect();
        let (mut bits, mut inputs) = (None, None);
        if let Some(position) = circuit_of(position) {
            let circuit = position.circuit();
            if circuit.base != heuristics.fluents {
                bits = Some(circuit.base.iter().map(|text| fluents.get(text).copied()).collect());
            }
            let is_alike = circuit
                .roles
                .iter()
                .zip(&heuristics.roles)
                .all(|(other, own)| other.moves == own.moves);
            if !is_alike {
                let of_role =
                    |(role, known): (&agon_circuit::CircuitRole, &BTreeMap<String, u32>)| {
                        role.moves.iter().map(|text| known.get(text).copied()).collect()
                    };
                inputs = Some(circuit.roles.iter().zip(&moves).map(of_role).collect());
            }
        }
        Reader { bits, inputs, n_words: heuristics.fluents.len().div_ceil(64), fluents, moves }
    }

    /// Writes the fluents that hold in a position: one bit for each, 64 to a word, lowest bit
    /// first.
    pub fn state<P: Notation + 'static>(&self, position: &P, words: &mut Vec<u64>) {
        words.clear();
        match (circuit_of(position), &self.bits) {
            (Some(position), None) => {
                words.extend_from_slice(agon_game::Position::state(position).words());
                words.resize(self.n_words, 0);
            }
            (Some(position), Some(bits)) => {
                words.resize(self.n_words, 0);
                let state = agon_game::Position::state(position);
                let known = bits.iter().enumerate().filter(|&(bit, _)| state.get(bit));
                known.filter_map(|(_, fluent)| *fluent).for_each(|fluent| set(words, fluent));
            }
            (None, _) => {
                words.resize(self.n_words, 0);
                let known = position
                    .state_text()
                    .into_iter()
                    .filter_map(|text| self.fluents.get(&text).copied());
                known.for_each(|fluent| set(words, fluent));
            }
        }
    }

    /// Moves an evaluator to the state of a position. The cost is proportional to the change since
    /// the last call. `seen` belongs to the evaluator: it holds the state read last, and is empty
    /// for a new evaluator.
    pub fn update_evaluator<P: Notation + 'static>(
        &self,
        position: &P,
        seen: &mut Vec<u64>,
        evaluator: &mut Evaluator,
    ) {
        let Some(position) = circuit_of(position) else {
            self.state(position, seen);
            evaluator.go_to(seen);
            return;
        };
        let state = agon_game::Position::state(position).words();
        seen.resize(state.len(), 0);
        for (at, (&word, seen)) in state.iter().zip(seen).enumerate() {
            let mut changed = std::mem::replace(seen, word) ^ word;
            while changed != 0 {
                let place = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                let bit = 64 * at + place;
                let fluent = match &self.bits {
                    None => Some(bit),
                    // Bits of a state that are not fluents are ignored.
                    Some(bits) => bits.get(bit).copied().flatten().map(|fluent| fluent as usize),
                };
                if let Some(fluent) = fluent {
                    evaluator.set(fluent, word >> place & 1 == 1);
                }
            }
        }
    }

    /// Puts the states of the positions in the first lanes, one in each.
    pub fn update_lanes<'p, P: Notation + 'static>(
        &self,
        positions: impl Iterator<Item = &'p P>,
        role: Role,
        batch: &mut BatchEvaluator,
    ) {
        let mut are_circuits = false;
        for (lane, position) in positions.enumerate() {
            if let Some(state) = Reader::words(position) {
                are_circuits = true;
                batch.set_state(role, lane, state);
            } else {
                let mut state = Vec::new();
                self.state(position, &mut state);
                batch.set_state(role, lane, &state);
            }
        }
        match &self.bits {
            Some(bits) if are_circuits => {
                batch.update_fluents(role, |bit| {
                    bits.get(bit).copied().flatten().map(|fluent| fluent as usize)
                });
            }
            _ => batch.update_fluents(role, Some),
        }
    }

    /// Returns the state of a position of a circuit. `None` for other engines.
    #[inline]
    pub fn words<P: Notation + 'static>(position: &P) -> Option<&[u64]> {
        circuit_of(position).map(|position| agon_game::Position::state(position).words())
    }

    /// Appends the values of all legal moves of a role in a lane that holds the position. Moves
    /// without a formula have the value 0, because they bring no goal closer.
    pub fn add_values<P: Notation + 'static>(
        &self,
        position: &P,
        role: Role,
        lane: Lane<'_>,
        values: &mut Vec<f64>,
    ) {
        if let (Some(circuit), None) = (circuit_of(position), &self.inputs) {
            let first = circuit.input(role, 0).0;
            let moves = agon_game::Position::legal_moves(circuit, role);
            let value = |m: &agon_circuit::Input| lane.value((m.0 - first) as usize).unwrap_or(0.0);
            values.extend(moves.iter().map(value));
            return;
        }
        values.extend(position.legal_moves(role).iter().map(|m| {
            let move_idx = self.move_idx(position, role, m);
            move_idx.and_then(|move_idx| lane.value(move_idx)).unwrap_or(0.0)
        }));
    }

    /// Returns the index of a move among all moves of the role, if it is known.
    pub fn move_idx<P: Notation + 'static>(
        &self,
        position: &P,
        role: Role,
        m: &P::Move,
    ) -> Option<usize> {
        let input = (m as &dyn Any).downcast_ref::<agon_circuit::Input>();
        if let (Some(position), Some(input)) = (circuit_of(position), input) {
            let at = input.0.checked_sub(position.input(role, 0).0)? as usize;
            return match &self.inputs {
                None => Some(at),
                Some(inputs) => {
                    inputs[role.index()].get(at).copied().flatten().map(|at| at as usize)
                }
            };
        }
        self.moves[role.index()].get(&position.move_text(m)).map(|&at| at as usize)
    }
}

fn set(words: &mut [u64], fluent: u32) {
    words[fluent as usize / 64] |= 1 << (fluent % 64);
}

fn circuit_of<P: 'static>(position: &P) -> Option<&ScalarCircuit> {
    (position as &dyn Any).downcast_ref::<ScalarCircuit>()
}
