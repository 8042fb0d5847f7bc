//! Who can choose what at a position: the common ground of the searches that look at every move.

use agon_game::{Position, Role};

/// The legal moves of all roles at a position, kept while the position is moved about.
#[derive(Clone, Debug)]
pub(crate) struct Choices<M> {
    moves: Vec<M>,
    /// By role: where its moves end.
    ends: Vec<u32>,
}

impl<M: Clone> Choices<M> {
    /// What can be chosen here. At a terminal position nobody has a move.
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

    /// The moves of a role.
    pub(crate) fn of(&self, role: Role) -> &[M] {
        let start = role.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.moves[start as usize..self.ends[role.index()] as usize]
    }

    /// How many moves a role has.
    pub(crate) fn count(&self, role: Role) -> usize {
        self.of(role).len()
    }

    /// Everybody's first move: what is played by those who have no choice.
    pub(crate) fn first_joint(&self) -> Vec<M> {
        (0..self.ends.len()).map(|role| self.of(Role::new(role))[0].clone()).collect()
    }
}

/// In which order the roles with a choice are asked when one of them is looked after: that one first, so that the others
/// answer a move they have seen, which is the worst that can happen to it; nature last.
pub(crate) fn asking_order<P: Position>(position: &P, first: Role) -> Vec<Role> {
    let nature = position.shape().nature;
    let mut order: Vec<Role> = position.choosers().collect();
    order.sort_by_key(|&role| (Some(role) == nature, role != first, role));
    order
}

/// By move of nature here: how likely it is. A single 1 where nature has no choice or takes no part.
pub(crate) fn chances<P: Position>(position: &P) -> Vec<f64> {
    let Some(nature) = position.shape().nature else { return vec![1.0] };
    position.legal_moves(nature).iter().map(|m| position.chance(m)).collect()
}
