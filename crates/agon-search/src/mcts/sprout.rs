//! Positions that were just seen and are not in the tree yet: flat, and reused by every batch of leaves.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use agon_game::{Children, Ends, Position, Role};

use super::node::Group;
use super::number::Mixer;
use super::tree::Facts;

/// One of them.
pub(super) struct Sprout<S> {
    /// Of the position and of the moves at it.
    pub(super) key: u64,
    /// None where play has ended.
    pub(super) state: Option<S>,
    /// None where play has ended.
    pub(super) groups: Range<usize>,
    pub(super) moves: Range<usize>,
    /// Where its forced moves begin.
    pub(super) forced: usize,
    /// Where its payoffs begin.
    pub(super) payoffs: usize,
    /// Which of the families its ends are, if its children were looked at.
    pub(super) family: Option<usize>,
    /// Those of its children that have ended play.
    pub(super) ends: Range<usize>,
    /// One of these, if the mover can get all there is by any move that ends play so, and it is all the same to the others.
    pub(super) won: Option<usize>,
}

/// Many of them.
pub(super) struct Sprouts<P: Position> {
    pub(super) list: Vec<Sprout<P::State>>,
    pub(super) groups: Vec<Group>,
    pub(super) moves: Vec<P::Move>,
    /// By move: how likely nature is to make it. Empty where there is no nature.
    pub(super) chances: Vec<f64>,
    pub(super) forced: Vec<P::Move>,
    pub(super) payoffs: Vec<f64>,
    /// The children that have ended play: all that is asked of children when a position is put into the tree.
    pub(super) ends: Ends,
    /// By sprout and role: what it was judged to be worth, where that is wanted.
    pub(super) worths: Vec<f64>,
}

impl<P: Position> Sprouts<P> {
    pub(super) fn new() -> Sprouts<P> {
        Sprouts {
            list: Vec::new(),
            groups: Vec::new(),
            moves: Vec::new(),
            chances: Vec::new(),
            forced: Vec::new(),
            payoffs: Vec::new(),
            ends: Ends::default(),
            worths: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.groups.clear();
        self.moves.clear();
        self.chances.clear();
        self.forced.clear();
        self.payoffs.clear();
        self.ends.clear();
        self.worths.clear();
    }

    /// Takes in the position stood at.
    pub(super) fn push_position(&mut self, position: &P) -> usize {
        let roles = position.shape().roles();
        let ended = position.is_terminal();
        let sprout = self.begin(position.key(), (!ended).then(|| position.state().clone()));
        for role in roles {
            self.payoffs.push(position.payoff(role));
            if !ended {
                let start = self.moves.len();
                self.moves.extend_from_slice(position.legal_moves(role));
                self.close_role(role, start);
            }
        }
        self.finish(position);
        sprout
    }

    /// Takes in a child that an engine stepped to. The position is moved there if chances must be asked for.
    pub(super) fn push_child(
        &mut self,
        position: &mut P,
        children: &Children<P::State, P::Move>,
        child: usize,
    ) -> usize {
        let ended = children.ended[child];
        let state = &children.states[child];
        let key = if ended { 0 } else { position.key_of(state) };
        let sprout = self.begin(key, (!ended).then(|| state.clone()));
        self.payoffs.extend_from_slice(children.payoffs(child));
        if !ended {
            for role in position.shape().roles() {
                let start = self.moves.len();
                children.list_legal(child, role, &mut self.moves);
                self.close_role(role, start);
            }
            let nature = position.shape().nature;
            if nature.is_some_and(|nature| {
                self.groups_of(sprout).iter().any(|group| group.role == nature)
            }) {
                position.go_to(state);
            }
        }
        self.finish(position);
        sprout
    }

    fn begin(&mut self, key: u64, state: Option<P::State>) -> usize {
        self.list.push(Sprout {
            key,
            state,
            groups: self.groups.len()..self.groups.len(),
            moves: self.moves.len()..self.moves.len(),
            forced: self.forced.len(),
            payoffs: self.payoffs.len(),
            family: None,
            ends: 0..0,
            won: None,
        });
        self.list.len() - 1
    }

    /// Sees what the children that have ended play say of the positions.
    pub(super) fn judge_ends(&mut self, facts: &Facts) {
        for sprout in &mut self.list {
            sprout.ends = sprout.family.map_or(0..0, |family| self.ends.family(family));
            if sprout.ends.is_empty() {
                continue;
            }
            let mut won = winning_ends(
                &self.groups[sprout.groups.clone()],
                sprout.ends.clone(),
                &self.ends.payoffs,
                facts,
            );
            let first = won.next();
            let payoffs = |end: usize| &self.ends.payoffs[end * facts.n_roles..][..facts.n_roles];
            let is_all_the_same =
                first.is_some_and(|first| won.all(|end| payoffs(end) == payoffs(first)));
            sprout.won = first.filter(|_| is_all_the_same);
        }
    }

    /// What a new position pays if play has ended there, or if the mover can end it with all that can be got.
    pub(super) fn decided(&self, sprout: usize, facts: &Facts) -> Option<&[f64]> {
        let seen = &self.list[sprout];
        if seen.state.is_none() {
            return Some(&self.payoffs[seen.payoffs..seen.payoffs + facts.n_roles]);
        }
        let end = winning_ends(
            &self.groups[seen.groups.clone()],
            seen.ends.clone(),
            &self.ends.payoffs,
            facts,
        )
        .next()?;
        Some(&self.ends.payoffs[end * facts.n_roles..][..facts.n_roles])
    }

    fn groups_of(&self, sprout: usize) -> &[Group] {
        &self.groups[self.list[sprout].groups.start..]
    }

    /// The moves from `start` on are those of the role: a choice, or a forced move.
    fn close_role(&mut self, role: Role, start: usize) {
        let sprout = self.list.last().expect("a sprout was begun");
        self.forced.push(self.moves[start].clone());
        let n = self.moves.len() - start;
        if n == 1 {
            self.moves.truncate(start);
        } else {
            let first = (start - sprout.moves.start) as u32;
            self.groups.push(Group { role, first, n: n as u32, first_more: 0 });
        }
    }

    fn finish(&mut self, position: &P) {
        let sprout = self.list.last_mut().expect("a sprout was begun");
        let shape = position.shape();
        if sprout.state.is_some() && self.groups.len() == sprout.groups.start {
            // Nobody has a choice: the only move of a player stands for the step.
            let role = shape.players().next().unwrap_or(Role::new(0));
            self.moves.push(self.forced[sprout.forced + role.index()].clone());
            self.groups.push(Group { role, first: 0, n: 1, first_more: 0 });
        }
        sprout.groups.end = self.groups.len();
        sprout.moves.end = self.moves.len();
        let mut hasher = Mixer::new(sprout.key);
        for group in &self.groups[sprout.groups.clone()] {
            (group.role, group.n).hash(&mut hasher);
        }
        self.moves[sprout.moves.clone()].iter().for_each(|m| m.hash(&mut hasher));
        sprout.key = hasher.finish();
        let Some(nature) = shape.nature else { return };
        for group in &self.groups[sprout.groups.clone()] {
            let first = sprout.moves.start + group.first as usize;
            for m in &self.moves[first..first + group.n as usize] {
                let chance = if group.role == nature { position.chance(m) } else { 0.0 };
                self.chances.push(chance);
            }
        }
    }
}

/// Those of the children that have ended play by which whoever moves alone at a position gets all there is.
fn winning_ends(
    groups: &[Group],
    ends: Range<usize>,
    end_payoffs: &[f64],
    facts: &Facts,
) -> impl Iterator<Item = usize> {
    let mover = match groups {
        [Group { role, .. }] if Some(*role) != facts.nature => Some(*role),
        _ => None,
    };
    let (n_roles, max) = (facts.n_roles, facts.max);
    ends.filter(move |end| {
        mover.is_some_and(|role| end_payoffs[end * n_roles + role.index()] >= max)
    })
}
