//! Proves that the players take turns.
//!
//! Many games pass a token around: the bit "white has control" becomes "black has control" with
//! every step. Base bits whose next values are each other's present values form such a ring. If
//! exactly one of them is true initially, exactly one is true at every step. For each place of the
//! token the circuit is evaluated with everything else unknown. A role for which one move is then
//! certainly legal, and all others certainly are not, has to wait there.

use crate::{Circuit, Signal};

/// The waiting moves of a game in which the players provably take turns.
///
/// At every reachable state that is not terminal, at most one player has a legal move that is not a
/// waiting move, and a player with a legal waiting move has no other legal move. So all players can
/// share one sampler in random playouts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// By role and move: whether it is a waiting move. The entry of nature is not used.
    pub waits: Vec<Vec<bool>>,
}

/// Returns the waiting moves, if it can be proved that at most one player has a choice at every
/// step.
pub fn prove_turns(circuit: &Circuit) -> Option<Turns> {
    rings(circuit).iter().find_map(|ring| turns_by(circuit, ring))
}

/// Returns the rings of base bits of which exactly one is true initially.
pub(crate) fn rings(circuit: &Circuit) -> Vec<Vec<usize>> {
    let n_base = circuit.base.len();
    let source = |bit: usize| {
        let next = circuit.outputs.next[bit];
        let is_base = !next.is_inverted() && (1..=n_base).contains(&next.gate());
        is_base.then(|| next.gate() - 1)
    };
    let mut seen = vec![false; n_base];
    let mut rings = Vec::new();
    for first in 0..n_base {
        let mut ring = Vec::new();
        let mut bit = first;
        while !seen[bit] {
            seen[bit] = true;
            ring.push(bit);
            match source(bit) {
                Some(from) => bit = from,
                None => break,
            }
        }
        // Following the sources from a bit must lead back to that very bit. Otherwise it is not a
        // ring but a tail.
        let closes = ring.len() > 1 && ring.last().and_then(|&last| source(last)) == Some(first);
        let n_true = ring.iter().filter(|&&bit| circuit.initial[bit]).count();
        if closes && n_true == 1 {
            rings.push(ring);
        }
    }
    rings
}

/// Returns the waiting moves, if the place of the token in this ring proves that the players take
/// turns.
pub(crate) fn turns_by(circuit: &Circuit, ring: &[usize]) -> Option<Turns> {
    let known: Vec<Vec<Option<bool>>> =
        ring.iter().map(|&token| evaluate(circuit, ring, token)).collect();
    let value = |place: usize, signal: Signal| {
        known[place][signal.gate()].map(|value| value != signal.is_inverted())
    };
    let players: Vec<usize> =
        (0..circuit.roles.len()).filter(|&role| !circuit.roles[role].is_nature).collect();
    let mut waits: Vec<Vec<bool>> =
        circuit.roles.iter().map(|role| vec![false; role.moves.len()]).collect();
    let mut n_choosers = vec![0; ring.len()];
    let mut chooses = vec![vec![false; circuit.roles.len()]; ring.len()];
    for place in 0..ring.len() {
        for &role in &players {
            match only_move(&circuit.outputs.legal[role], |signal| value(place, signal)) {
                Some(only) => waits[role][only] = true,
                None => {
                    n_choosers[place] += 1;
                    chooses[place][role] = true;
                }
            }
        }
    }
    // A waiting move must not be among the choices of the same role elsewhere.
    let is_clean = (0..ring.len()).all(|place| {
        players.iter().filter(|&&role| chooses[place][role]).all(|&role| {
            let legal = &circuit.outputs.legal[role];
            waits[role]
                .iter()
                .zip(legal)
                .all(|(&waits, &legal)| !waits || value(place, legal) == Some(false))
        })
    });
    (is_clean && n_choosers.iter().all(|&n| n <= 1)).then_some(Turns { waits })
}

/// Returns the move that is certainly legal, if all others certainly are not.
fn only_move(legal: &[Signal], value: impl Fn(Signal) -> Option<bool>) -> Option<usize> {
    let mut only = None;
    for (index, &signal) in legal.iter().enumerate() {
        match value(signal) {
            Some(false) => {}
            Some(true) if only.is_none() => only = Some(index),
            Some(true) | None => return None,
        }
    }
    only
}

/// Returns, by gate, its value when the token is at this bit of the ring and nothing else is known.
fn evaluate(circuit: &Circuit, ring: &[usize], token: usize) -> Vec<Option<bool>> {
    let mut known: Vec<Option<bool>> = vec![None; circuit.n_gates()];
    known[0] = Some(false);
    for &bit in ring {
        known[1 + bit] = Some(bit == token);
    }
    for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
        let value =
            |signal: Signal| known[signal.gate()].map(|value| value != signal.is_inverted());
        known[gate] = match (value(a), value(b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            (None, _) | (_, None) => None,
        };
    }
    known
}
