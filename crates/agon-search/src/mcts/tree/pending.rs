//! Pending nodes: positions that were just reached and are not in the tree yet.
//!
//! They are stored flat, like the tree, and the memory is used again for every batch of leaves.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use agon_game::{Batch, Children, Position, Role, TerminalChildren};

use super::arena::Group;
use crate::mcts::attitude::Utilities;
use crate::mcts::facts::Facts;
use crate::mcts::hashing::Mixer;
use crate::mcts::heuristic::{ActionHeuristic, push_worths};

/// The children of a new position are examined if there are at most this many: one pass of an
/// engine that runs 256 states at once.
pub(crate) const MAX_EXAMINED: usize = 256;

/// A position that is not in the tree yet.
pub(crate) struct PendingNode<S> {
    /// The hash of the position and of the moves in it.
    pub(crate) key: u64,
    /// None if the game is over there.
    pub(crate) state: Option<S>,
    /// Empty if the game is over there.
    groups: Range<usize>,
    moves: Range<usize>,
    /// Where its first moves of all roles begin.
    first_moves: usize,
    /// Where its payoffs begin.
    payoffs: usize,
    /// The number of the position among those whose children were examined.
    examined: Option<usize>,
    /// Its terminal children.
    terminal_children: Range<usize>,
    /// A terminal child that pays the role that chooses the maximum, if all such children pay the
    /// other roles the same, too.
    winning_child: Option<usize>,
}

/// The pending nodes of a batch of leaves.
pub(crate) struct PendingNodes<P: Position> {
    n_roles: usize,
    list: Vec<PendingNode<P::State>>,
    groups: Vec<Group>,
    moves: Vec<P::Move>,
    /// By move: the probability that nature makes it. Empty in games without nature.
    chances: Vec<f64>,
    first_moves: Vec<P::Move>,
    payoffs: Vec<f64>,
    /// The terminal children of the positions that were examined.
    terminal_children: TerminalChildren,
    /// By position and role: the value that a heuristic gives, if implicit minimax backups are
    /// used.
    worths: Vec<f64>,
}

impl<P: Position> PendingNodes<P> {
    pub(crate) fn new(n_roles: usize) -> PendingNodes<P> {
        PendingNodes {
            n_roles,
            list: Vec::new(),
            groups: Vec::new(),
            moves: Vec::new(),
            chances: Vec::new(),
            first_moves: Vec::new(),
            payoffs: Vec::new(),
            terminal_children: TerminalChildren::default(),
            worths: Vec::new(),
        }
    }

    /// Removes all positions and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.groups.clear();
        self.moves.clear();
        self.chances.clear();
        self.first_moves.clear();
        self.payoffs.clear();
        self.terminal_children.clear();
        self.worths.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, at: usize) -> &PendingNode<P::State> {
        &self.list[at]
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = u64> {
        self.list.iter().map(|node| node.key)
    }

    /// Returns how many children were examined.
    pub(crate) fn n_children_examined(&self) -> u64 {
        self.terminal_children.n_examined
    }

    /// Adds the position as it stands. Returns its number.
    pub(crate) fn push_position(&mut self, position: &P) -> usize {
        let roles = position.shape().roles();
        let is_terminal = position.is_terminal();
        let at = self.begin(position.key(), (!is_terminal).then(|| position.state().clone()));
        for role in roles {
            self.payoffs.push(position.payoff(role));
            if !is_terminal {
                let start = self.moves.len();
                self.moves.extend_from_slice(position.legal_moves(role));
                self.close_role(role, start);
            }
        }
        self.finish(position);
        at
    }

    /// Adds a child that a batch engine stepped to. Returns its number. The position is moved there
    /// if the chances of nature's moves are needed.
    pub(crate) fn push_child(
        &mut self,
        position: &mut P,
        children: &Children<P::State, P::Move>,
        child: usize,
    ) -> usize {
        let is_terminal = children.ended[child];
        let state = &children.states[child];
        let key = if is_terminal { 0 } else { position.key_of(state) };
        let at = self.begin(key, (!is_terminal).then(|| state.clone()));
        self.payoffs.extend_from_slice(children.payoffs(child));
        if !is_terminal {
            for role in position.shape().roles() {
                let start = self.moves.len();
                children.list_legal(child, role, &mut self.moves);
                self.close_role(role, start);
            }
            let own = &self.groups[self.list[at].groups.start..];
            let nature = position.shape().nature;
            if nature.is_some_and(|nature| own.iter().any(|group| group.role == nature)) {
                position.go_to(state);
            }
        }
        self.finish(position);
        at
    }

    /// Adds the value that a heuristic gives to the position that was added last.
    pub(crate) fn push_worths(&mut self, heuristic: &mut dyn ActionHeuristic<P>, position: &P) {
        push_worths(heuristic, position, &mut self.worths);
    }

    fn begin(&mut self, key: u64, state: Option<P::State>) -> usize {
        self.list.push(PendingNode {
            key,
            state,
            groups: self.groups.len()..self.groups.len(),
            moves: self.moves.len()..self.moves.len(),
            first_moves: self.first_moves.len(),
            payoffs: self.payoffs.len(),
            examined: None,
            terminal_children: 0..0,
            winning_child: None,
        });
        self.list.len() - 1
    }

    /// Closes the list of a role's moves, which begins at `start`: they become a group if there is
    /// a choice.
    fn close_role(&mut self, role: Role, start: usize) {
        let node = self.list.last().expect("a position was begun");
        self.first_moves.push(self.moves[start].clone());
        let n = self.moves.len() - start;
        if n == 1 {
            self.moves.truncate(start);
        } else {
            let first = (start - node.moves.start) as u32;
            self.groups.push(Group { role, first, n: n as u32, first_extra: 0 });
        }
    }

    fn finish(&mut self, position: &P) {
        let node = self.list.last_mut().expect("a position was begun");
        let shape = position.shape();
        if node.state.is_some() && self.groups.len() == node.groups.start {
            // No role has a choice: the only move of a player stands for the joint move.
            let role = shape.players().next().unwrap_or(Role::new(0));
            self.moves.push(self.first_moves[node.first_moves + role.index()].clone());
            self.groups.push(Group { role, first: 0, n: 1, first_extra: 0 });
        }
        node.groups.end = self.groups.len();
        node.moves.end = self.moves.len();
        let mut hasher = Mixer::new(node.key);
        for group in &self.groups[node.groups.clone()] {
            (group.role, group.n).hash(&mut hasher);
        }
        self.moves[node.moves.clone()].iter().for_each(|m| m.hash(&mut hasher));
        node.key = hasher.finish();
        let Some(nature) = shape.nature else { return };
        for group in &self.groups[node.groups.clone()] {
            for m in &self.moves[node.moves.clone()][group.range()] {
                let chance = if group.role == nature { position.chance(m) } else { 0.0 };
                self.chances.push(chance);
            }
        }
    }

    /// Examines all children of the positions: which of them are terminal, and what they pay.
    pub(crate) fn examine_children(
        &mut self,
        batch: &mut dyn Batch<State = P::State, Move = P::Move>,
    ) {
        let mut n_examined = 0;
        for node in &mut self.list {
            let groups = &self.groups[node.groups.clone()];
            if node.state.is_some() && n_joint_moves(groups) <= MAX_EXAMINED {
                node.examined = Some(n_examined);
                n_examined += 1;
            }
        }
        let examined = self.list.iter().filter(|node| node.examined.is_some());
        let states: Vec<&P::State> = examined.filter_map(|node| node.state.as_ref()).collect();
        batch.look_ahead(&states, &mut self.terminal_children);
    }

    /// Rewrites all payoffs to utilities.
    pub(crate) fn rewrite(&mut self, utilities: &mut Utilities) {
        let lists = [&mut self.payoffs, &mut self.worths, &mut self.terminal_children.payoffs];
        lists.into_iter().for_each(|list| utilities.rewrite(list));
    }

    /// Finds the terminal children of each position, and the winning ones among them.
    pub(crate) fn find_winning_children(&mut self, facts: &Facts) {
        for at in 0..self.list.len() {
            let terminal = match self.list[at].examined {
                Some(examined) => self.terminal_children.children_of(examined),
                None => 0..0,
            };
            self.list[at].terminal_children = terminal;
            self.list[at].winning_child = self.winning_child(at, facts);
        }
    }

    /// Returns the first winning child, if all of them have the same payoffs.
    fn winning_child(&self, at: usize, facts: &Facts) -> Option<usize> {
        let mut winning = self.winning_children(at, facts);
        let first = winning.next()?;
        let payoffs = self.terminal_payoffs(first);
        winning.all(|child| self.terminal_payoffs(child) == payoffs).then_some(first)
    }

    /// Returns those of the terminal children of a position that pay the maximum to the role that
    /// chooses there alone.
    fn winning_children(&self, at: usize, facts: &Facts) -> impl Iterator<Item = usize> {
        let mover = match self.groups_of(at) {
            [Group { role, .. }] if !facts.is_nature(*role) => Some(*role),
            _ => None,
        };
        let max = facts.max;
        self.list[at].terminal_children.clone().filter(move |&child| {
            mover.is_some_and(|role| self.terminal_payoffs(child)[role.index()] >= max)
        })
    }

    /// Returns the payoffs of a position if they are decided: the game is over, or the role that
    /// chooses can end it at once with the maximum.
    pub(crate) fn decided_payoffs(&self, at: usize, facts: &Facts) -> Option<&[f64]> {
        if self.list[at].state.is_none() {
            return Some(self.payoffs_of(at));
        }
        let child = self.winning_children(at, facts).next()?;
        Some(self.terminal_payoffs(child))
    }

    pub(super) fn groups_of(&self, at: usize) -> &[Group] {
        &self.groups[self.list[at].groups.clone()]
    }

    pub(super) fn moves_of(&self, at: usize) -> &[P::Move] {
        &self.moves[self.list[at].moves.clone()]
    }

    /// Returns the probabilities of the moves of a position; none in games without nature.
    pub(super) fn chances_of(&self, at: usize) -> &[f64] {
        self.chances.get(self.list[at].moves.clone()).unwrap_or(&[])
    }

    /// Returns the only move, or the first one, of each role.
    pub(super) fn first_moves_of(&self, at: usize) -> &[P::Move] {
        &self.first_moves[self.list[at].first_moves..][..self.n_roles]
    }

    pub(super) fn payoffs_of(&self, at: usize) -> &[f64] {
        &self.payoffs[self.list[at].payoffs..][..self.n_roles]
    }

    /// Returns the values that a heuristic gives to a position by role, or what the game pays there
    /// if it is over or the heuristic was not asked.
    pub(super) fn worths_of(&self, at: usize) -> &[f64] {
        let rated = self.worths.get(at * self.n_roles..(at + 1) * self.n_roles);
        rated.filter(|_| self.list[at].state.is_some()).unwrap_or(self.payoffs_of(at))
    }

    /// Returns the terminal children of a position.
    pub(super) fn terminal_children_of(&self, at: usize) -> Range<usize> {
        self.list[at].terminal_children.clone()
    }

    /// Returns the payoffs of a terminal child.
    pub(super) fn terminal_payoffs(&self, child: usize) -> &[f64] {
        &self.terminal_children.payoffs[child * self.n_roles..][..self.n_roles]
    }

    /// Returns the number of the joint move that leads to a terminal child.
    pub(super) fn terminal_choice(&self, child: usize) -> u64 {
        self.terminal_children.choices[child].into()
    }

    /// Returns the payoffs that the role to move can get at once, if they are the maximum for it
    /// and the same for the others whichever such move it makes.
    pub(super) fn winning_payoffs(&self, at: usize) -> Option<&[f64]> {
        self.list[at].winning_child.map(|child| self.terminal_payoffs(child))
    }
}

/// Returns the number of joint moves of some groups.
pub(super) fn n_joint_moves(groups: &[Group]) -> usize {
    groups.iter().fold(1_usize, |n, group| n.saturating_mul(group.n as usize))
}
