//! The choices at a position, for searches that try every move.

use agon_game::{Position, Role};

/// The legal moves of all roles at a position, kept while a search moves to other positions.
#[derive(Clone, Debug)]
pub(crate) struct Choices<M> {
    moves: Vec<M>,
    /// By role: one past the index of its last move.
    ends: Vec<u32>,
}

impl<M: Clone> Choices<M> {
    /// Returns the choices at a position. At a terminal position no role has a move.
    pub(crate) fn at<P: Position<Move = M>>(position: &P) -> Choices<M> {
        let mut choices = Choices {
            moves: Vec::new(),
            ends: Vec::with_capacity(position.shape().role_names.len()),
        };
        for role in position.shape().roles() {
            choices.moves.extend_from_slice(position.legal_moves(role));
            choices.ends.push(choices.moves.len() as u32);
        }
        choices
    }

    /// Returns the moves of a role.
    pub(crate) fn of(&self, role: Role) -> &[M] {
        let start = role.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.moves[start as usize..self.ends[role.index()] as usize]
    }

    /// Returns the number of moves of a role.
    pub(crate) fn count(&self, role: Role) -> usize {
        self.of(role).len()
    }

    /// Returns the joint move of the first moves of all roles. It is right for roles without a
    /// choice.
    pub(crate) fn first_joint(&self) -> Vec<M> {
        (0..self.ends.len()).map(|role| self.of(Role::new(role))[0].clone()).collect()
    }
}

/// Returns the roles with a choice in the order in which a pessimistic search lets them choose.
///
/// The searching role `first` comes first, so that the others reply to a move that they know, which
/// is the worst case. Nature comes last.
pub(crate) fn decision_order<P: Position>(position: &P, first: Role) -> Vec<Role> {
    let nature = position.shape().nature;
    let mut order: Vec<Role> = position.choosers().collect();
    order.sort_by_key(|&role| (Some(role) == nature, role != first, role));
    order
}

/// Returns the probability of each move of nature here, or a single 1 if there is no nature.
pub(crate) fn chances<P: Position>(position: &P) -> Vec<f64> {
    let Some(nature) = position.shape().nature else { return vec![1.0] };
    position.legal_moves(nature).iter().map(|m| position.chance(m)).collect()
}
