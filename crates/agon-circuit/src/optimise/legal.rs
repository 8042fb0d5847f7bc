//! Uses that a move that is made is legal: what its legality implies need not be tested again.

use agon_game::Role;

use super::nary::Nary;
use crate::{Circuit, Deadline, Signal};

/// Simplifies every conjunction that contains a move, or a disjunction of moves of one role.
///
/// Drops the literals that the legality of each of these moves implies. Where it implies the
/// negation of a literal, the conjunction is false. Dropping never costs a gate. What the legality
/// of a move implies is read off the outermost conjunction of its legal signal. Legal signals
/// depend on no move and are never changed.
pub(crate) fn assume_legal(circuit: &Circuit, deadline: Deadline<'_>) -> Option<Circuit> {
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

/// Maximum number of groups of moves used in one conjunction. One per role is to be expected.
const MAX_GROUPS: usize = 8;

/// Maximum number of moves of a disjunction. The legality of more moves seldom has literals in
/// common, and the test takes time in their number.
const MAX_ALTERNATIVES: usize = 64;

/// Returns the moves of which the signal says that one is made, if it says nothing else.
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

/// The literals that the legality of each move implies.
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

    /// Returns whether the legality of each of the moves implies the literal.
    fn by_all(&self, moves: &[Signal], literal: Signal) -> bool {
        moves.iter().all(|input| {
            self.literals[input.gate() - self.first_input].binary_search(&literal).is_ok()
        })
    }
}

/// Maximum number of conjuncts of a legal signal. The rest is ignored, which may only save less.
const MAX_CONJUNCTS: usize = 64;

/// Returns signals that hold if this one does: itself, and those reached through plain AND gates.
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
