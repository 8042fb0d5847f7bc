//! Positions one step away from given states: all of them, or the terminal ones alone.

use std::sync::Arc;

use crate::Role;

/// The positions that joint moves at some states lead to, grouped by the state they come from.
///
/// The lists are flat and reused, so filling them allocates nothing once they have grown.
#[derive(Clone, Debug)]
pub struct Children<S, M> {
    n_roles: usize,
    /// By child: its state.
    pub states: Vec<S>,
    /// By child: whether play has ended there, by the rules or because a role has no legal move.
    pub ended: Vec<bool>,
    /// By child and role: the payoff of the role if play ends there.
    pub payoffs: Vec<f64>,
    /// By child and role: the move that led there.
    pub joints: Vec<M>,
    /// By parent: one past the index of its last child.
    pub child_ends: Vec<usize>,
    /// The legal moves of the children, in the representation that suits the engine.
    pub legal: LegalMoves<M>,
}

/// The legal moves of many positions.
#[derive(Clone, Debug)]
pub enum LegalMoves<M> {
    /// Lists, one after another.
    Lists {
        /// The moves, by child and role.
        moves: Vec<M>,
        /// By child and role: one past the index of its last move.
        ends: Vec<usize>,
    },
    /// Bit sets with one bit for each move of the game.
    Masks {
        /// By bit: the move that it stands for. The moves of all roles, role after role.
        moves: Arc<[M]>,
        /// By role: one past its last bit.
        role_ends: Arc<[u32]>,
        /// By child: the words of its set.
        words: Vec<u64>,
    },
}

impl<S, M: Clone> Children<S, M> {
    /// Returns an empty collection for a game with `n_roles` roles.
    pub fn new(n_roles: usize) -> Children<S, M> {
        let legal = LegalMoves::Lists { moves: Vec::new(), ends: Vec::new() };
        Children {
            n_roles,
            states: Vec::new(),
            ended: Vec::new(),
            payoffs: Vec::new(),
            joints: Vec::new(),
            child_ends: Vec::new(),
            legal,
        }
    }

    /// Removes all children and keeps the memory.
    pub fn clear(&mut self) {
        self.states.clear();
        self.ended.clear();
        self.payoffs.clear();
        self.joints.clear();
        self.child_ends.clear();
        match &mut self.legal {
            LegalMoves::Lists { moves, ends } => {
                moves.clear();
                ends.clear();
            }
            LegalMoves::Masks { words, .. } => words.clear(),
        }
    }

    /// Returns the number of children.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns whether there are no children.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns the indices of the children of one parent.
    pub fn children_of(&self, parent: usize) -> std::ops::Range<usize> {
        range_before(&self.child_ends, parent)
    }

    /// Returns the joint move that led to a child.
    pub fn joint(&self, child: usize) -> &[M] {
        &self.joints[child * self.n_roles..(child + 1) * self.n_roles]
    }

    /// Returns the payoffs of all roles if play ends at a child.
    pub fn payoffs(&self, child: usize) -> &[f64] {
        &self.payoffs[child * self.n_roles..(child + 1) * self.n_roles]
    }

    /// Returns the number of legal moves of a role at a child, which is 0 where play has ended.
    pub fn n_legal(&self, child: usize, role: Role) -> usize {
        if self.ended[child] {
            return 0;
        }
        let mut n_legal = 0;
        self.visit_legal(child, role, |_| n_legal += 1);
        n_legal
    }

    /// Appends the legal moves of a role at a child to `list`, in the order in which a position
    /// lists them.
    pub fn list_legal(&self, child: usize, role: Role, list: &mut Vec<M>) {
        if !self.ended[child] {
            self.visit_legal(child, role, |m| list.push(m.clone()));
        }
    }

    fn visit_legal(&self, child: usize, role: Role, mut visit: impl FnMut(&M)) {
        match &self.legal {
            LegalMoves::Lists { moves, ends } => {
                let range = range_before(ends, child * self.n_roles + role.index());
                moves[range].iter().for_each(visit);
            }
            LegalMoves::Masks { moves, role_ends, words } => {
                let n_words = moves.len().div_ceil(64);
                let words = &words[child * n_words..(child + 1) * n_words];
                let end = role_ends[role.index()] as usize;
                let mut bit =
                    role.index().checked_sub(1).map_or(0, |before| role_ends[before]) as usize;
                while bit < end {
                    let word = words[bit / 64] >> (bit % 64);
                    if word == 0 {
                        bit = (bit / 64 + 1) * 64;
                        continue;
                    }
                    bit += word.trailing_zeros() as usize;
                    if bit < end {
                        visit(&moves[bit]);
                    }
                    bit += 1;
                }
            }
        }
    }
}

/// The terminal positions one step away from some states, grouped by the state they come from.
///
/// The lists are flat and reused, so filling them allocates nothing once they have grown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TerminalChildren {
    /// By parent: one past the index of its last terminal child.
    pub child_ends: Vec<usize>,
    /// By terminal child: the number of the joint move that leads there, among those of its parent.
    /// The moves of the last role change fastest.
    pub choices: Vec<u32>,
    /// By terminal child and role: the payoff of the role.
    pub payoffs: Vec<f64>,
    /// Number of joint moves that were examined.
    pub n_examined: u64,
}

impl TerminalChildren {
    /// Removes all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.child_ends.clear();
        self.choices.clear();
        self.payoffs.clear();
        self.n_examined = 0;
    }

    /// Returns the indices of the terminal children of one parent.
    pub fn children_of(&self, parent: usize) -> std::ops::Range<usize> {
        range_before(&self.child_ends, parent)
    }

    /// Replaces the contents by the terminal ones among `children`.
    pub fn collect_from<S, M: Clone>(&mut self, children: &Children<S, M>) {
        self.clear();
        self.n_examined = children.len() as u64;
        for parent in 0..children.child_ends.len() {
            for (choice, child) in children.children_of(parent).enumerate() {
                if children.ended[child] {
                    self.choices.push(choice as u32);
                    self.payoffs.extend_from_slice(children.payoffs(child));
                }
            }
            self.child_ends.push(self.choices.len());
        }
    }
}

/// Returns the range at `index` of consecutive ranges that are given by their ends.
fn range_before(ends: &[usize], index: usize) -> std::ops::Range<usize> {
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    start..ends[index]
}
