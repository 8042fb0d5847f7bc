//! The expected line of play, read back from a table of positions.

use agon_game::{Position, Role};

use crate::choices::{Choices, decision_order};

/// Returns the joint moves expected after `chosen`, at most one more than `depth`.
///
/// `best_move` returns the best move that is remembered for a key. The line ends where nothing is
/// remembered, and where several roles have a choice, because only one move is remembered.
pub(super) fn line<P: Position>(
    position: &mut P,
    us: Role,
    chosen: &P::Move,
    depth: u32,
    best_move: impl Fn(u64) -> Option<P::Move> + Copy,
) -> Vec<Vec<P::Move>> {
    let home = position.state().clone();
    let mut joints = Vec::new();
    while !position.is_terminal() && joints.len() <= depth as usize {
        let order = decision_order(position, us);
        let mut joint = Choices::at(position).first_joint();
        if joints.is_empty() {
            joint[us.index()] = chosen.clone();
        }
        match order[..] {
            [] => {}
            [role] if joints.is_empty() && role == us => {}
            [role] => {
                let found = best_move(position.key());
                let Some(m) = found.filter(|m| position.is_legal(role, m)) else { break };
                joint[role.index()] = m;
            }
            _ => break,
        }
        position.advance(&joint);
        joints.push(joint);
    }
    position.go_to(&home);
    joints
}
