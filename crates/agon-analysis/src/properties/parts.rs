//! Independent sub-games, and moves that can be made at most once.

use agon_circuit::{Circuit, Signal};

use super::{Fluent, Known, Plays, Turns};
use crate::prove::{Answer, Prover};

/// A sub-game. It depends on nothing outside of it except whose turn it is and the step counters.
/// This is proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubGame {
    /// The fluents of the sub-game.
    pub fluents: Vec<usize>,
    /// The moves of the sub-game: role and move index.
    pub moves: Vec<(usize, usize)>,
}

/// A move that can be made at most once in a play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneTimeMove {
    /// The index of the role.
    pub role: usize,
    /// The text of the move.
    pub text: String,
    /// How the property is known.
    pub known: Known,
}

/// Returns the sub-games: at least two, or none. Control fluents and counters may be read by all of
/// them.
///
/// Fluents, moves and gates that depend on each other are united (union-find); each remaining class
/// is a sub-game.
pub(super) fn parts(circuit: &Circuit, turns: &Turns, counters: &[Vec<usize>]) -> Vec<SubGame> {
    let mut is_common = vec![false; circuit.n_gates()];
    is_common[0] = true;
    let tokens = turns.roles.iter().filter_map(|role| role.control).map(|(bit, _)| bit);
    for bit in tokens.chain(counters.iter().flatten().copied()) {
        is_common[circuit.base(bit).gate()] = true;
    }
    // Noop moves belong to all sub-games.
    for (role, of_role) in circuit.role_ids().zip(&turns.roles) {
        if let Some((noop, _)) = &of_role.noop {
            let place = circuit.roles[role.index()].moves.iter().position(|m| m == noop);
            place.into_iter().for_each(|place| is_common[circuit.input(role, place).gate()] = true);
        }
    }
    for (gate, [a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
        is_common[gate] = is_common[a.gate()] && is_common[b.gate()];
    }
    let mut union: Vec<usize> = (0..circuit.n_gates()).collect();
    let mut is_reached = vec![false; circuit.n_gates()];
    let mut open: Vec<usize> = Vec::new();
    let tie = |union: &mut Vec<usize>, a: usize, b: usize| {
        if !is_common[a] && !is_common[b] {
            let (a, b) = (root(union, a), root(union, b));
            union[a.max(b)] = a.min(b);
        }
    };
    for (bit, next) in circuit.outputs.next.iter().enumerate() {
        tie(&mut union, circuit.base(bit).gate(), next.gate());
        open.push(next.gate());
    }
    for (role, legal) in circuit.role_ids().zip(&circuit.outputs.legal) {
        for (place, signal) in legal.iter().enumerate() {
            tie(&mut union, circuit.input(role, place).gate(), signal.gate());
            open.push(signal.gate());
        }
    }
    // Goals and the terminal condition may read all sub-games, but one after the other: each of
    // their conditions ties together only what it reads itself.
    let ends = circuit.outputs.goals.iter().flatten().map(|&(_, signal)| signal);
    for signal in ends.chain([circuit.outputs.terminal]) {
        open.extend(operands(circuit, signal).into_iter().map(Signal::gate));
    }
    while let Some(gate) = open.pop() {
        if gate < circuit.first_and() || std::mem::replace(&mut is_reached[gate], true) {
            continue;
        }
        for operand in circuit.ands[gate - circuit.first_and()].map(Signal::gate) {
            tie(&mut union, gate, operand);
            open.push(operand);
        }
    }
    let mut found: std::collections::BTreeMap<usize, SubGame> = std::collections::BTreeMap::new();
    let mut part = |gate: usize| {
        let empty = SubGame { fluents: Vec::new(), moves: Vec::new() };
        (!is_common[gate]).then(|| root(&mut union, gate)).map(|root| (root, empty))
    };
    for bit in 0..circuit.base.len() {
        if let Some((root, empty)) = part(circuit.base(bit).gate()) {
            found.entry(root).or_insert(empty).fluents.push(bit);
        }
    }
    for role in circuit.role_ids() {
        for place in 0..circuit.roles[role.index()].moves.len() {
            if let Some((root, empty)) = part(circuit.input(role, place).gate()) {
                found.entry(root).or_insert(empty).moves.push((role.index(), place));
            }
        }
    }
    let found: Vec<SubGame> = found
        .into_values()
        .filter(|part| !part.fluents.is_empty() && !part.moves.is_empty())
        .collect();
    if found.len() > 1 { found } else { Vec::new() }
}

/// Returns the operands of the conjunction or disjunction that a signal is. Nested ones of the same
/// kind are flattened.
fn operands(circuit: &Circuit, signal: Signal) -> Vec<Signal> {
    let is_or = signal.is_inverted();
    let (mut open, mut found) = (vec![signal], Vec::new());
    while let Some(signal) = open.pop() {
        match signal.gate().checked_sub(circuit.first_and()) {
            Some(and) if signal.is_inverted() == is_or => {
                open.extend(circuit.ands[and].map(|operand| operand.inverted_if(is_or)));
            }
            Some(_) | None => found.push(signal),
        }
    }
    found
}

fn root(union: &mut [usize], mut at: usize) -> usize {
    while union[at] != at {
        union[at] = union[union[at]];
        at = union[at];
    }
    at
}

/// Finds the moves that can be made at most once: making the move irreversibly removes a condition
/// for its being legal.
pub(super) fn once(
    circuit: Option<&Circuit>,
    fluents: &[Fluent],
    turns: &Turns,
    plays: &Plays,
    prover: Option<&mut Prover<'_>>,
) -> Vec<OneTimeMove> {
    let mut found = observe(turns, plays);
    let (Some(circuit), Some(prover)) = (circuit, prover) else { return found };
    for once in &mut found {
        let moves = &circuit.roles[once.role].moves;
        let place =
            moves.iter().position(|m| *m == once.text).expect("moves that were made are listed");
        let legal = circuit.outputs.legal[once.role][place];
        let (needs, made) =
            (prover.now(legal), prover.now(circuit.input(agon_game::Role::new(once.role), place)));
        for bit in read_by(circuit, legal) {
            let fluent = &fluents[bit];
            let (now, next) = (prover.base(bit), prover.next(bit));
            let goes = fluent.persistent_false.is_some_and(Known::is_proved)
                && prover.ask(&[needs, !now]) == Answer::Impossible
                && prover.ask(&[prover.step(), made, next]) == Answer::Impossible;
            let comes = fluent.persistent_true.is_some_and(Known::is_proved)
                && prover.ask(&[needs, now]) == Answer::Impossible
                && prover.ask(&[prover.step(), made, !next]) == Answer::Impossible;
            if goes || comes {
                once.known = Known::Proved;
                break;
            }
        }
    }
    found
}

/// Returns the moves that were made in the plays and were never legal again.
fn observe(turns: &Turns, plays: &Plays) -> Vec<OneTimeMove> {
    let mut found = Vec::new();
    for (role, texts) in plays.moves.iter().enumerate() {
        let noop = turns.roles.get(role).and_then(|role| role.noop.as_ref()).map(|(text, _)| text);
        let mut is_made = vec![false; texts.len()];
        let mut is_again = vec![false; texts.len()];
        for play in &plays.plays {
            let mut before: Vec<bool> = vec![false; texts.len()];
            for seen in play {
                seen.legal[role].iter().for_each(|&m| is_again[m as usize] |= before[m as usize]);
                if let Some(&m) = seen.joint.get(role) {
                    is_made[m as usize] = true;
                    before[m as usize] = true;
                }
            }
        }
        for (m, text) in texts.iter().enumerate() {
            if is_made[m] && !is_again[m] && noop != Some(text) {
                let known = Known::Observed { plays: plays.n_plays() };
                found.push(OneTimeMove { role, text: text.clone(), known });
            }
        }
    }
    found
}

/// Returns the first few base bits that a signal depends on.
fn read_by(circuit: &Circuit, signal: Signal) -> Vec<usize> {
    const MAX_BITS: usize = 16;
    const MAX_GATES: usize = 2_000;
    let mut seen = std::collections::BTreeSet::from([signal.gate()]);
    let mut open = vec![signal.gate()];
    let mut bits = Vec::new();
    while let Some(gate) = open.pop() {
        if (1..circuit.first_input()).contains(&gate) {
            bits.push(gate - 1);
        } else if gate >= circuit.first_and() {
            let operands = circuit.ands[gate - circuit.first_and()].map(Signal::gate);
            open.extend(operands.into_iter().filter(|&operand| seen.insert(operand)));
        }
        if bits.len() >= MAX_BITS || seen.len() > MAX_GATES {
            break;
        }
    }
    bits
}
