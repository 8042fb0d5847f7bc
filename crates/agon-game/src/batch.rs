//! Many games at once: what a search asks of an engine that steps and plays out in bulk.

use std::sync::Arc;

use crate::{Ends, Position, Role};

/// Many independent steps and playouts at once. One per thread.
pub trait Batch: Send {
    /// A state of the game.
    type State;
    /// A move of one role.
    type Move;

    /// Takes orders for playouts, in place of what was ordered before: uniformly random moves from each state to the end, as often as
    /// ordered. A playout that takes longer than `max_steps` is cut off: not before that many steps, and not much later than after
    /// twice as many.
    fn take_orders(&mut self, orders: &[Order<Self::State>], max_steps: u64);

    /// Plays on: about so many steps, of all the playouts that go on side by side. Whether all that was ordered has been played. However
    /// often it is called for that, what comes of it is the same.
    fn go_on(&mut self, n_steps: u64) -> bool;

    /// What came of the orders, once all has been played. The answers, in the order of the orders, replace what `tallies` held.
    fn deliver(&mut self, tallies: &mut Vec<Tally>);

    /// All of that at once.
    fn tally(&mut self, orders: &[Order<Self::State>], max_steps: u64, tallies: &mut Vec<Tally>) {
        self.take_orders(orders, max_steps);
        while !self.go_on(u64::MAX) {}
        self.deliver(tallies);
    }

    /// The same for callers who do not play out so often that memory should be used again.
    fn play_out(&mut self, orders: &[Order<Self::State>], max_steps: u64) -> Vec<Tally> {
        let mut tallies = Vec::new();
        self.tally(orders, max_steps, &mut tallies);
        tallies
    }

    /// Makes a joint move at a state, for any number of pairs of both; what comes of the pairs replaces, in their order
    /// and as one family each, what `children` held. The states must not be terminal and the moves must be legal.
    fn advance_all(
        &mut self,
        steps: &[(&Self::State, &[Self::Move])],
        children: &mut Children<Self::State, Self::Move>,
    );

    /// Makes every legal joint move at each of these states; the families of children, in the order of the states,
    /// replace what `children` held. A terminal state has an empty family.
    fn expand(&mut self, states: &[&Self::State], children: &mut Children<Self::State, Self::Move>);

    /// Which of the legal joint moves at each of these states end play: those of the children that [`Batch::expand`] would make that have
    /// ended, in the same order, in place of what `ends` held.
    fn look_ahead(&mut self, states: &[&Self::State], ends: &mut Ends);
}

/// Playouts that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order<S> {
    /// Where they start.
    pub state: S,
    /// How many.
    pub n_playouts: u64,
    /// How many steps each is thought to last; 0 if that is not known. It makes no difference but to how long the playouts of several
    /// orders take together.
    pub expected_steps: u32,
}

/// What playouts from one start came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// How many there were, those that were cut off included.
    pub n_playouts: u64,
    /// How many of them were cut off. They count with the payoffs of the state before their last step.
    pub n_cut: u64,
    /// The steps made in all of them.
    pub n_steps: u64,
    /// By role: the sum of the payoffs.
    pub payoff_sums: Vec<f64>,
    /// By role: the sum of the squares of the payoffs.
    pub square_sums: Vec<f64>,
}

impl Tally {
    /// Nothing played yet.
    pub fn new(n_roles: usize) -> Tally {
        Tally {
            payoff_sums: vec![0.0; n_roles],
            square_sums: vec![0.0; n_roles],
            ..Tally::default()
        }
    }

    /// Makes a list one of `n` in which nothing is played yet, with the memory that it has.
    pub fn renew(tallies: &mut Vec<Tally>, n: usize, n_roles: usize) {
        tallies.resize_with(n, Tally::default);
        for tally in tallies {
            (tally.n_playouts, tally.n_cut, tally.n_steps) = (0, 0, 0);
            for sums in [&mut tally.payoff_sums, &mut tally.square_sums] {
                sums.clear();
                sums.resize(n_roles, 0.0);
            }
        }
    }

    /// The mean payoff of a role.
    pub fn mean_payoff(&self, role: Role) -> f64 {
        self.payoff_sums[role.index()] / self.n_playouts as f64
    }

    /// The mean number of steps.
    pub fn mean_length(&self) -> f64 {
        self.n_steps as f64 / self.n_playouts as f64
    }
}

/// Families of positions: what the joint moves made at some states led to. Flat and reused, so that filling it allocates
/// nothing once it has grown.
#[derive(Clone, Debug)]
pub struct Children<S, M> {
    n_roles: usize,
    /// By child: the state.
    pub states: Vec<S>,
    /// By child: whether play has ended there, be it by the rules or because a role has no legal move.
    pub ended: Vec<bool>,
    /// By child and role: what the role gets if play ends there.
    pub payoffs: Vec<f64>,
    /// By child and role: the move that led there.
    pub joints: Vec<M>,
    /// By family: where its children end.
    pub family_ends: Vec<usize>,
    /// The legal moves of the children, in the form that the engine has at hand.
    pub legal: LegalMoves<M>,
}

/// The legal moves of many positions.
#[derive(Clone, Debug)]
pub enum LegalMoves<M> {
    /// As lists, one after another.
    Lists {
        /// The moves, by child and role.
        moves: Vec<M>,
        /// By child and role: where its moves end.
        ends: Vec<usize>,
    },
    /// As sets, a bit for each move that there is.
    Masks {
        /// What each bit stands for: the moves of all roles, role after role.
        moves: Arc<[M]>,
        /// By role: where its bits end.
        role_ends: Arc<[u32]>,
        /// By child: the words of its set.
        words: Vec<u64>,
    },
}

impl<S, M: Clone> Children<S, M> {
    /// None.
    pub fn new(n_roles: usize) -> Children<S, M> {
        let legal = LegalMoves::Lists { moves: Vec::new(), ends: Vec::new() };
        Children {
            n_roles,
            states: Vec::new(),
            ended: Vec::new(),
            payoffs: Vec::new(),
            joints: Vec::new(),
            family_ends: Vec::new(),
            legal,
        }
    }

    /// Forgets all of them but keeps the memory.
    pub fn clear(&mut self) {
        self.states.clear();
        self.ended.clear();
        self.payoffs.clear();
        self.joints.clear();
        self.family_ends.clear();
        match &mut self.legal {
            LegalMoves::Lists { moves, ends } => {
                moves.clear();
                ends.clear();
            }
            LegalMoves::Masks { words, .. } => words.clear(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The children of the state of this number.
    pub fn family(&self, index: usize) -> std::ops::Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.family_ends[before]);
        start..self.family_ends[index]
    }

    /// The joint move that led to a child.
    pub fn joint(&self, child: usize) -> &[M] {
        &self.joints[child * self.n_roles..(child + 1) * self.n_roles]
    }

    /// By role: what it gets if play ends at a child.
    pub fn payoffs(&self, child: usize) -> &[f64] {
        &self.payoffs[child * self.n_roles..(child + 1) * self.n_roles]
    }

    /// How many legal moves a role has at a child: none where play has ended.
    pub fn n_legal(&self, child: usize, role: Role) -> usize {
        if self.ended[child] {
            return 0;
        }
        let mut n_legal = 0;
        self.visit_legal(child, role, |_| n_legal += 1);
        n_legal
    }

    /// Adds the legal moves of a role at a child to a list, in the order in which a position lists them.
    pub fn list_legal(&self, child: usize, role: Role, list: &mut Vec<M>) {
        if !self.ended[child] {
            self.visit_legal(child, role, |m| list.push(m.clone()));
        }
    }

    fn visit_legal(&self, child: usize, role: Role, mut visit: impl FnMut(&M)) {
        match &self.legal {
            LegalMoves::Lists { moves, ends } => {
                let index = child * self.n_roles + role.index();
                let start = index.checked_sub(1).map_or(0, |before| ends[before]);
                moves[start..ends[index]].iter().for_each(visit);
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

/// A batch made of single steps of any position: for engines that have nothing better, and as the judge of those that have.
pub struct OneByOne<P: Position> {
    position: P,
    rng: crate::Rng,
    /// What was ordered last, and what has come of it so far.
    orders: Vec<Order<P::State>>,
    max_steps: u64,
    tallies: Vec<Tally>,
    /// The orders that have been worked off.
    n_done: usize,
}

impl<P: Position> OneByOne<P> {
    /// Steps and plays out by this position.
    pub fn new(position: P, rng: crate::Rng) -> OneByOne<P> {
        OneByOne { position, rng, orders: Vec::new(), max_steps: 0, tallies: Vec::new(), n_done: 0 }
    }

    fn push(&self, joint: &[P::Move], children: &mut Children<P::State, P::Move>) {
        let position = &self.position;
        children.states.push(position.state().clone());
        children.ended.push(position.is_terminal());
        children.joints.extend_from_slice(joint);
        let LegalMoves::Lists { moves, ends } = &mut children.legal else {
            unreachable!("`begin` has made lists of them")
        };
        for role in position.shape().roles() {
            children.payoffs.push(position.payoff(role));
            moves.extend_from_slice(position.legal_moves(role));
            ends.push(moves.len());
        }
    }

    fn begin(children: &mut Children<P::State, P::Move>) {
        children.clear();
        if !matches!(children.legal, LegalMoves::Lists { .. }) {
            children.legal = LegalMoves::Lists { moves: Vec::new(), ends: Vec::new() };
        }
    }
}

impl<P: Position> Batch for OneByOne<P> {
    type State = P::State;
    type Move = P::Move;

    fn take_orders(&mut self, orders: &[Order<P::State>], max_steps: u64) {
        self.orders.clear();
        self.orders.extend_from_slice(orders);
        self.max_steps = max_steps;
        self.n_done = 0;
        Tally::renew(&mut self.tallies, orders.len(), self.position.shape().role_names.len());
    }

    fn go_on(&mut self, n_steps: u64) -> bool {
        let mut n_made = 0;
        while let Some(order) = self.orders.get(self.n_done) {
            let tally = &mut self.tallies[self.n_done];
            if tally.n_playouts == order.n_playouts {
                self.n_done += 1;
                continue;
            }
            if n_made >= n_steps {
                return false;
            }
            self.position.go_to(&order.state);
            let n = self.position.play_out(&mut self.rng, self.max_steps as usize) as u64;
            // One that is over before it has begun counts, too, so that there is an end to it.
            n_made += n.max(1);
            tally.n_steps += n;
            tally.n_playouts += 1;
            tally.n_cut += u64::from(!self.position.is_terminal());
            for role in self.position.shape().roles() {
                let payoff = self.position.payoff(role);
                tally.payoff_sums[role.index()] += payoff;
                tally.square_sums[role.index()] += payoff * payoff;
            }
        }
        true
    }

    fn deliver(&mut self, tallies: &mut Vec<Tally>) {
        std::mem::swap(tallies, &mut self.tallies);
    }

    fn advance_all(
        &mut self,
        steps: &[(&P::State, &[P::Move])],
        children: &mut Children<P::State, P::Move>,
    ) {
        Self::begin(children);
        for (state, joint) in steps {
            self.position.go_to(state);
            self.position.advance(joint);
            self.push(joint, children);
            children.family_ends.push(children.states.len());
        }
    }

    fn expand(&mut self, states: &[&P::State], children: &mut Children<P::State, P::Move>) {
        Self::begin(children);
        for state in states {
            self.position.go_to(state);
            for joint in joint_moves(&self.position) {
                self.position.go_to(state);
                self.position.advance(&joint);
                self.push(&joint, children);
            }
            children.family_ends.push(children.states.len());
        }
    }

    fn look_ahead(&mut self, states: &[&P::State], ends: &mut Ends) {
        let mut children = Children::new(self.position.shape().role_names.len());
        self.expand(states, &mut children);
        ends.note(&children);
    }
}

/// Every legal joint move at a position; the last role's moves change fastest. None at a terminal one.
pub fn joint_moves<P: Position>(position: &P) -> Vec<Vec<P::Move>> {
    if position.is_terminal() {
        return Vec::new();
    }
    let mut joints = vec![Vec::new()];
    for role in position.shape().roles() {
        let legal = position.legal_moves(role);
        joints = joints
            .iter()
            .flat_map(|joint: &Vec<P::Move>| {
                legal.iter().map(|m| joint.iter().cloned().chain([m.clone()]).collect())
            })
            .collect();
    }
    joints
}
