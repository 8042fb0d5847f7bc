//! A move that is made is legal: what its legality implies need not be asked again.

use agon_game::Role;

use super::nary::Nary;
use crate::{Circuit, Deadline, Signal};

/// In every conjunction that contains a move, or a disjunction of moves of one role, drops the literals that the
/// legality of each of these moves implies; where it implies the negation of one, the conjunction is false.
///
/// Dropping never costs a gate. What a move's legality implies is read off the outermost conjunction of its legal
/// signal; the outputs that say what is legal depend on no move and are never touched.
pub fn assume_legal(circuit: &Circuit, deadline: Deadline) -> Option<Circuit> {
    let nary = Nary::new(circuit);
    let implied = Implied::new(circuit);
    let reads_input = circuit.reads_input();
    nary.rebuild(deadline, |builder, root, renamed| {
        let mut operands = nary.operands(root);
        if reads_input[root] {
            let moves = operands.iter().filter_map(|&operand| moves_of(&nary, circuit, operand));
            let moves: Vec<Vec<Signal>> = moves.take(MAX_GROUPS).collect();
            for alternatives in moves {
                if operands.iter().any(|&literal| implied.by_all(&alternatives, !literal)) {
                    return Signal::FALSE;
                }
                operands.retain(|&literal| !implied.by_all(&alternatives, literal));
            }
        }
        builder.and_all(&renamed.all(&operands))
    })
}

/// No more groups of moves than this are used in one conjunction: one per role is what there is to expect.
const MAX_GROUPS: usize = 8;

/// Disjunctions of more moves than this are not looked at: what so many moves share is seldom anything, and asking
/// takes time in their number.
const MAX_ALTERNATIVES: usize = 64;

/// The moves of which one is made if the signal holds, if that is all it says.
fn moves_of(nary: &Nary<'_>, circuit: &Circuit, signal: Signal) -> Option<Vec<Signal>> {
    let is_input =
        |signal: Signal| (circuit.first_input()..circuit.first_and()).contains(&signal.gate());
    if is_input(signal) {
        return (!signal.is_inverted()).then(|| vec![signal]);
    }
    if !signal.is_inverted() || signal.gate() < circuit.first_and() {
        return None;
    }
    let moves = nary.first_operands(signal.gate(), MAX_ALTERNATIVES + 1);
    let are_moves = moves.iter().all(|&operand| is_input(operand) && operand.is_inverted());
    (moves.len() <= MAX_ALTERNATIVES && are_moves)
        .then(|| moves.iter().map(|&operand| !operand).collect())
}

/// What the legality of each move implies.
struct Implied {
    first_input: usize,
    /// By input: literals, sorted.
    literals: Vec<Vec<Signal>>,
}

impl Implied {
    fn new(circuit: &Circuit) -> Implied {
        let mut literals = Vec::with_capacity(circuit.n_inputs());
        for role in 0..circuit.roles.len() {
            for (gate, &legal) in circuit.inputs(Role::new(role)).zip(&circuit.outputs.legal[role])
            {
                debug_assert_eq!(
                    gate,
                    circuit.first_input() + literals.len(),
                    "inputs are numbered role by role"
                );
                literals.push(conjuncts(circuit, legal));
            }
        }
        Implied { first_input: circuit.first_input(), literals }
    }

    fn by_all(&self, moves: &[Signal], literal: Signal) -> bool {
        moves.iter().all(|input| {
            self.literals[input.gate() - self.first_input].binary_search(&literal).is_ok()
        })
    }
}

/// A legality of more conjuncts than this is cut short, which loses nothing but savings.
const MAX_CONJUNCTS: usize = 64;

/// The signals that hold if this one does: itself, and what is reached through plain AND gates.
fn conjuncts(circuit: &Circuit, signal: Signal) -> Vec<Signal> {
    let mut literals = vec![signal];
    let mut looked_at = 0;
    while looked_at < literals.len() && literals.len() < MAX_CONJUNCTS {
        let literal = literals[looked_at];
        looked_at += 1;
        if !literal.is_inverted() && literal.gate() >= circuit.first_and() {
            literals.extend(circuit.ands[literal.gate() - circuit.first_and()]);
        }
    }
    literals.retain(|literal| !literal.is_constant());
    literals.sort_unstable();
    literals.dedup();
    literals
}
