//! Uses that in each step exactly one input of each role is true.

use agon_game::Role;

use super::nary::Nary;
use crate::{Builder, Circuit, Deadline, Signal};

/// Simplifies every conjunction of inputs and negated inputs, using that exactly one move per role
/// is made:
///
/// - two different inputs of a role: false;
/// - an input and the negations of others of its role: the input alone;
/// - the negations of all inputs of a role: false;
/// - the negations of more than half of them: one of the others is made.
///
/// The last rule collapses frame axioms to `cell & !touched`.
pub(crate) fn one_move(circuit: &Circuit, deadline: Deadline<'_>) -> Option<Circuit> {
    let nary = Nary::new(circuit);
    let roles = RoleOf::new(circuit);
    nary.rebuild(deadline, |builder, root, renamed| {
        let operands = renamed.all(&nary.operands(root));
        conjunction(builder, operands, &roles)
    })
}

/// The role that each input gate belongs to.
struct RoleOf {
    first_input: usize,
    roles: Vec<Role>,
}

impl RoleOf {
    fn new(circuit: &Circuit) -> RoleOf {
        let roles = circuit
            .role_ids()
            .flat_map(|role| vec![role; circuit.roles[role.index()].moves.len()])
            .collect();
        RoleOf { first_input: circuit.first_input(), roles }
    }

    fn get(&self, signal: Signal) -> Option<Role> {
        signal.gate().checked_sub(self.first_input).and_then(|input| self.roles.get(input)).copied()
    }
}

fn conjunction(builder: &mut Builder, mut operands: Vec<Signal>, roles: &RoleOf) -> Signal {
    let mut inputs: Vec<(Role, Signal)> =
        operands.iter().filter_map(|&signal| Some((roles.get(signal)?, signal))).collect();
    operands.retain(|&signal| roles.get(signal).is_none());
    inputs.sort_unstable();
    inputs.dedup();
    for of_role in inputs.chunk_by(|a, b| a.0 == b.0) {
        let role = of_role[0].0;
        let mut made =
            of_role.iter().map(|&(_, signal)| signal).filter(|signal| !signal.is_inverted());
        if let Some(made_move) = made.next() {
            if made.next().is_some() || of_role.contains(&(role, !made_move)) {
                return Signal::FALSE;
            }
            operands.push(made_move);
            continue;
        }
        let all = builder.inputs(role);
        if 2 * of_role.len() <= all.len() {
            operands.extend(of_role.iter().map(|&(_, signal)| signal));
            continue;
        }
        let others: Vec<Signal> = all
            .map(Signal::of_gate)
            .filter(|&input| of_role.binary_search(&(role, !input)).is_err())
            .collect();
        operands.push(builder.or_all(&others));
    }
    builder.and_all(&operands)
}
