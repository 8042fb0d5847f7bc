//! Simplifies by groups of base bits of which at most one is true at a time.

use super::nary::Nary;
use crate::{Circuit, Deadline, Signal};

/// Maximum number of operands of a disjunction that are considered.
const MAX_LOOKED_AT: usize = 32;

/// Simplifies every conjunction with base bits, using that at most one base bit of each group is
/// true at every reachable state:
///
/// - two different bits of a group: false;
/// - a bit and the negation of another of its group: the bit alone;
/// - a bit and a disjunction in which another bit of its group is negated: that disjunction is
///   true.
///
/// The groups must be proved, see [`crate::prove_groups`]. At states where they do not hold the
/// outputs are not specified.
pub(crate) fn exclusive(
    circuit: &Circuit,
    groups: &[Vec<usize>],
    deadline: Deadline<'_>,
) -> Option<Circuit> {
    let nary = Nary::new(circuit);
    let groups = GroupsOf::new(circuit, groups);
    let mut held: Vec<(u32, usize)> = Vec::new();
    nary.rebuild(deadline, |builder, root, renamed| {
        let old = nary.operands(root);
        held.clear();
        for &operand in old.iter().filter(|operand| !operand.is_inverted()) {
            held.extend(groups.of(operand).iter().map(|&group| (group, operand.gate())));
        }
        if held.is_empty() {
            return builder.and_all(&renamed.all(&old));
        }
        held.sort_unstable();
        held.dedup();
        if held.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Signal::FALSE;
        }
        // Whether another bit of the same group is known to be true.
        let is_excluded = |bit: Signal| {
            groups.of(bit).iter().any(|&group| {
                let at = held.partition_point(|&(other, _)| other < group);
                held.get(at).is_some_and(|&(other, gate)| other == group && gate != bit.gate())
            })
        };
        let is_true = |operand: Signal| {
            operand.is_inverted()
                && if operand.gate() < circuit.first_and() {
                    is_excluded(!operand)
                } else {
                    let below = nary.first_operands(operand.gate(), MAX_LOOKED_AT);
                    below.into_iter().any(|signal| !signal.is_inverted() && is_excluded(signal))
                }
        };
        let needed: Vec<Signal> =
            old.iter().copied().filter(|&operand| !is_true(operand)).collect();
        builder.and_all(&renamed.all(&needed))
    })
}

/// By base bit: the groups that contain it.
struct GroupsOf(Vec<Vec<u32>>);

impl GroupsOf {
    fn new(circuit: &Circuit, groups: &[Vec<usize>]) -> GroupsOf {
        let mut of = vec![Vec::new(); circuit.initial.len()];
        for (number, group) in (0..).zip(groups) {
            group.iter().for_each(|&bit| of[bit].push(number));
        }
        GroupsOf(of)
    }

    fn of(&self, signal: Signal) -> &[u32] {
        // The constant comes first, then the base bits.
        let bit = signal.gate().checked_sub(1);
        bit.and_then(|bit| self.0.get(bit)).map_or(&[], Vec::as_slice)
    }
}
