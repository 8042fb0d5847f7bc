//! A circuit cut up by the place of a token that goes round.
//!
//! In most games the right to move passes from role to role, whatever they do: base bits whose next values are just each
//! other's present values, one of them true at first. Where the token is known, about half of the circuit is: the
//! moves of those who wait, and all that would come of them. So there is a smaller circuit for each place, and it is known
//! before each step which one is next.

use crate::optimise::{fold_into, simplify};
use crate::turns::{rings, turns_by};
use crate::{Bits, Circuit, Signal};

/// The places of a token, and what the circuit comes to at each of them.
///
/// Each of the circuits agrees with the whole one at reachable states with the token at its place, under joint moves of one
/// legal move per role. Their initial states mean nothing.
pub(crate) struct Phases {
    /// Base bits in the order in which the token visits them.
    ring: Vec<usize>,
    /// By place.
    pub(crate) circuits: Vec<Circuit>,
}

/// Longer ways round are not cut up: every place costs memory and time to build.
const MAX_PLACES: usize = 6;

/// Nor are circuits with more gates than this in all.
const MAX_GATES: usize = 1_000_000;

impl Phases {
    /// Cuts up a circuit if that saves at least a sixth of the gates of a step; else the whole is the only phase.
    pub(crate) fn new(circuit: &Circuit) -> Phases {
        let mut rings = rings(circuit);
        rings.retain(|ring| {
            ring.len() <= MAX_PLACES && ring.len() * circuit.ands.len() <= MAX_GATES
        });
        // A token that decides who moves saves most.
        let ring = rings.iter().position(|ring| turns_by(circuit, ring).is_some()).or(Some(0));
        let cut = ring.and_then(|idx| rings.get(idx)).map(|ring| Phases::of_ring(circuit, ring));
        let is_worth_it = |phases: &Phases| {
            let n_gates: usize = phases.circuits.iter().map(|circuit| circuit.ands.len()).sum();
            6 * n_gates <= 5 * phases.ring.len() * circuit.ands.len()
        };
        cut.filter(is_worth_it).unwrap_or_else(|| Phases::whole(circuit))
    }

    /// The circuit as it is.
    pub(crate) fn whole(circuit: &Circuit) -> Phases {
        Phases { ring: Vec::new(), circuits: vec![circuit.clone()] }
    }

    fn of_ring(circuit: &Circuit, ring: &[usize]) -> Phases {
        // The list follows where each bit comes from: backwards in time.
        let ring: Vec<usize> = ring.iter().rev().copied().collect();
        let at_place = |&token: &usize| {
            let place = fold_into(circuit, |leaf| {
                ring.contains(&leaf.gate().wrapping_sub(1)).then(|| leaf == circuit.base(token))
            });
            // Those who wait have one move; nobody has moves that are not legal here.
            let inputs = inputs_known(&place);
            let place = fold_into(&place, |leaf| {
                leaf.gate().checked_sub(circuit.first_input()).and_then(|input| inputs[input])
            });
            simplify(&place)
        };
        Phases { circuits: ring.iter().map(at_place).collect(), ring }
    }

    /// Where the token is.
    pub(crate) fn of(&self, state: &Bits) -> usize {
        self.ring.iter().position(|&bit| state.get(bit)).unwrap_or(0)
    }

    /// The base bit that holds while the token is at a place, if there is a token.
    pub(crate) fn token(&self, phase: usize) -> Option<usize> {
        self.ring.get(phase).copied()
    }

    /// Where it is a step later.
    pub(crate) fn after(&self, phase: usize) -> usize {
        if phase + 1 < self.circuits.len() { phase + 1 } else { 0 }
    }
}

/// By input: its value wherever a step is made, if that is known: false if it is never legal, true if it is its role's only move.
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
