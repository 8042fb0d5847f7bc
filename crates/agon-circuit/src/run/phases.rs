//! A circuit cut into phases by the place of a token that is passed around.
//!
//! In most games the right to move passes from role to role, whatever they do: base bits whose next
//! values are each other's present values, one of them true initially. If the place of the token is
//! known, about half of the circuit is constant: the moves of the roles that wait, and all their
//! effects. So there is a smaller circuit for each place, and it is known before each step which
//! one is next.

use crate::optimise::{fold_into, simplify};
use crate::proofs::turns::{rings, turns_by};
use crate::{Bits, Circuit, Signal};

/// The places of a token, and a circuit for each of them.
///
/// Each circuit agrees with the whole one at reachable states with the token at its place, under
/// joint moves of one legal move per role. Their initial states are not used.
pub(crate) struct Phases {
    /// Base bits in the order in which the token visits them. Empty if there is only one phase.
    ring: Vec<usize>,
    /// By place: the circuit.
    pub(crate) circuits: Vec<Circuit>,
}

/// Maximum number of places of a token. Every place costs memory and time to build.
const MAX_PLACES: usize = 6;

/// Maximum number of gates of all phases together.
const MAX_GATES: usize = 1_000_000;

impl Phases {
    /// Cuts a circuit into phases if that saves at least a sixth of the gates of a step. Otherwise
    /// the whole circuit is the only phase.
    pub(crate) fn new(circuit: &Circuit) -> Phases {
        let mut rings = rings(circuit);
        rings.retain(|ring| {
            ring.len() <= MAX_PLACES && ring.len() * circuit.ands.len() <= MAX_GATES
        });
        // A token that decides which role moves saves most.
        let ring = rings.iter().position(|ring| turns_by(circuit, ring).is_some()).or(Some(0));
        let cut = ring.and_then(|idx| rings.get(idx)).map(|ring| Phases::of_ring(circuit, ring));
        let is_worth_it = |phases: &Phases| {
            let n_gates: usize = phases.circuits.iter().map(|circuit| circuit.ands.len()).sum();
            6 * n_gates <= 5 * phases.ring.len() * circuit.ands.len()
        };
        cut.filter(is_worth_it).unwrap_or_else(|| Phases::whole(circuit))
    }

    /// Returns the whole circuit as the only phase.
    pub(crate) fn whole(circuit: &Circuit) -> Phases {
        Phases { ring: Vec::new(), circuits: vec![circuit.clone()] }
    }

    fn of_ring(circuit: &Circuit, ring: &[usize]) -> Phases {
        // The list of the proof goes backwards in time.
        let ring: Vec<usize> = ring.iter().rev().copied().collect();
        let at_place = |&token: &usize| {
            let place = fold_into(circuit, |leaf| {
                ring.contains(&leaf.gate().wrapping_sub(1)).then(|| leaf == circuit.base(token))
            });
            // Roles that wait have one move, and no role makes a move that is never legal here.
            let inputs = inputs_known(&place);
            let place = fold_into(&place, |leaf| {
                leaf.gate().checked_sub(circuit.first_input()).and_then(|input| inputs[input])
            });
            simplify(&place)
        };
        Phases { circuits: ring.iter().map(at_place).collect(), ring }
    }

    /// Returns the phase of a state: the place of the token.
    pub(crate) fn of(&self, state: &Bits) -> usize {
        self.ring.iter().position(|&bit| state.get(bit)).unwrap_or(0)
    }

    /// Returns the base bit that is true while the token is at a place, if there is a token.
    pub(crate) fn token(&self, phase: usize) -> Option<usize> {
        self.ring.get(phase).copied()
    }

    /// Returns the phase after this one.
    pub(crate) fn after(&self, phase: usize) -> usize {
        if phase + 1 < self.circuits.len() { phase + 1 } else { 0 }
    }
}

/// Returns, by input, its value in every step, if that is known: false if it is never legal, true
/// if it is its role's only move.
fn inputs_known(circuit: &Circuit) -> Vec<Option<bool>> {
    let mut known = Vec::with_capacity(circuit.n_inputs());
    for legal in &circuit.outputs.legal {
        let n_possible = legal.iter().filter(|&&legal| legal != Signal::FALSE).count();
        known.extend(legal.iter().map(|&legal| match legal {
            Signal::FALSE => Some(false),
            _ if n_possible == 1 => Some(true),
            _ => None,
        }));
    }
    known
}
