//! Playouts side by side: all of them make a step, then all the next, so that a heuristic is asked about many positions at once.

use std::time::Instant;

use agon_game::{Position, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use super::heuristic::{HeuristicUse, Judge, Judgements};
use super::leaves::oppose;
use super::options::{MctsOptions, Others};
use super::playout::{LOOK_STRIDE, weight};
use super::round::Round;
use super::select::draw;
use super::worker::Worker;

/// Playouts that go on side by side, and their memory.
///
/// Each has a stream of random numbers of its own, so what comes of it does not depend on the others.
pub(super) struct Lockstep<P: Position> {
    /// By playout. More of them than there are playouts, if there were more before.
    positions: Vec<P>,
    playouts: Vec<Playout<P::Move>>,
    /// The playouts that are not over, and those of them that make a step next.
    live: Vec<usize>,
    next: Vec<usize>,
    /// Those that are asked about.
    asked: Vec<usize>,
    said: Judgements,
    weights: Vec<f64>,
    /// By role: how many playouts wait for it.
    n_waiting: Vec<usize>,
}

struct Playout<M> {
    rng: Rng,
    joint: Vec<M>,
    /// The first role that has a choice; none where nobody has.
    chooser: Option<Role>,
    n_steps: u64,
}

impl<P: Position> Lockstep<P> {
    pub(super) fn new() -> Lockstep<P> {
        Lockstep {
            positions: Vec::new(),
            playouts: Vec::new(),
            live: Vec::new(),
            next: Vec::new(),
            asked: Vec::new(),
            said: Judgements::default(),
            weights: Vec::new(),
            n_waiting: Vec::new(),
        }
    }

    /// The position of a playout, to be put where it begins.
    pub(super) fn seat(&mut self, at: usize, like: &P) -> &mut P {
        while self.positions.len() <= at {
            self.positions.push(like.clone());
        }
        &mut self.positions[at]
    }

    /// All positions.
    pub(super) fn positions(&self) -> &[P] {
        &self.positions
    }

    /// Plays on to the end from these positions, each with its own stream. Cut off as playouts one by one are.
    pub(super) fn play_out(
        &mut self,
        begun: impl Iterator<Item = (usize, Rng)>,
        judge: &mut Judge<P>,
        how: &HeuristicUse,
        (max_steps, deadline): (u64, Option<Instant>),
    ) {
        self.live.clear();
        for (at, rng) in begun {
            while self.playouts.len() <= at {
                let rng = rng.clone();
                self.playouts.push(Playout { rng, joint: Vec::new(), chooser: None, n_steps: 0 });
            }
            let playout = &mut self.playouts[at];
            (playout.rng, playout.n_steps) = (rng, 0);
            if !self.positions[at].is_terminal() && max_steps > 0 {
                playout.chooser = first_chooser(&self.positions[at]);
                self.live.push(at);
            }
        }
        let mut n_ticks = 0;
        while !self.live.is_empty() {
            n_ticks += 1;
            if let Some(deadline) = deadline
                && n_ticks % LOOK_STRIDE == 0
                && Instant::now() >= deadline
            {
                return;
            }
            self.choose_next();
            self.draw_moves(judge, how);
            for &at in &self.next {
                let (position, playout) = (&mut self.positions[at], &mut self.playouts[at]);
                position.advance(&playout.joint);
                playout.n_steps += 1;
                playout.chooser = first_chooser(position);
            }
            // The last takes the place of one that is over: a heuristic may remember what it was asked in each place, and all others keep
            // theirs.
            let mut place = 0;
            while let Some(&at) = self.live.get(place) {
                if self.positions[at].is_terminal() || self.playouts[at].n_steps >= max_steps {
                    self.live.swap_remove(place);
                } else {
                    place += 1;
                }
            }
        }
    }

    /// Those go on next that wait for the role for which most wait, and those that wait for none: the others soon wait for the same role, where
    /// roles take turns, and then all of them go on together.
    fn choose_next(&mut self) {
        self.n_waiting.clear();
        for &at in &self.live {
            if let Some(role) = self.playouts[at].chooser {
                if role.index() >= self.n_waiting.len() {
                    self.n_waiting.resize(role.index() + 1, 0);
                }
                self.n_waiting[role.index()] += 1;
            }
        }
        let most = self.n_waiting.iter().copied().max();
        let chooser = self.n_waiting.iter().position(|&n| Some(n) == most).map(Role::new);
        let playouts = &self.playouts;
        let goes_on = |&at: &usize| playouts[at].chooser.is_none() || playouts[at].chooser == chooser;
        self.next.clear();
        self.next.extend(self.live.iter().copied().filter(goes_on));
    }

    /// The moves of the next step: in the same order, and of the same random numbers, as in a playout by itself.
    fn draw_moves(&mut self, judge: &mut Judge<P>, how: &HeuristicUse) {
        let Lockstep { positions, playouts, next, asked, said, weights, .. } = self;
        for &at in &*next {
            let playout = &mut playouts[at];
            positions[at].draw(&mut playout.rng, &mut playout.joint);
        }
        let Some(&first) = next.first() else { return };
        let shape = positions[first].shape();
        let (nature, n_roles) = (shape.nature, shape.role_names.len());
        for role in (0..n_roles).map(Role::new).filter(|&role| Some(role) != nature) {
            asked.clear();
            asked.extend(next.iter().copied().filter(|&at| positions[at].legal_moves(role).len() > 1));
            if asked.is_empty() {
                continue;
            }
            judge.values_of_many(positions, asked, role, said);
            for (place, &at) in asked.iter().enumerate() {
                let values = said.of(place);
                if values.is_empty() {
                    continue;
                }
                weights.clear();
                weights.extend(values.iter().map(|&value| weight(value, how)));
                let playout = &mut playouts[at];
                let chosen = draw(weights, &mut playout.rng);
                playout.joint[role.index()] = positions[at].legal_moves(role)[chosen].clone();
            }
        }
    }
}

/// The first player with a choice.
fn first_chooser<P: Position>(position: &P) -> Option<Role> {
    let shape = position.shape();
    let mut roles = (0..shape.role_names.len()).map(Role::new).filter(|&role| Some(role) != shape.nature);
    roles.find(|&role| position.legal_moves(role).len() > 1)
}

impl<P: Position> Worker<P> {
    /// Plays out these leaves side by side: where they stand, their positions do already.
    pub(super) fn play_out_abreast(&mut self, ordered: &[usize], options: &MctsOptions) {
        let Worker { lockstep, heuristic, rng, round, facts, position, .. } = self;
        let Round { leaves, results, .. } = &mut **round;
        let Some(judge) = heuristic else { return };
        // A leaf may be wanted several times.
        let mut begun: Vec<(usize, usize)> = ordered.iter().map(|&at| (at, at)).collect();
        let mut n_seats = leaves.len();
        for &at in ordered {
            for _ in 1..leaves[at].n {
                let state = lockstep.seat(at, position).state().clone();
                lockstep.seat(n_seats, position).go_to(&state);
                begun.push((n_seats, at));
                n_seats += 1;
            }
        }
        let streams = begun.iter().map(|&(seat, _)| (seat, Rng::seed_from_u64(rng.random())));
        let limits = (options.max_playout_steps, self.deadline);
        lockstep.play_out(streams, judge, &options.heuristic, limits);
        let mut payoffs = vec![0.0; facts.n_roles];
        for &(seat, leaf) in &begun {
            let position = lockstep.seat(seat, position);
            for (role, payoff) in payoffs.iter_mut().enumerate() {
                *payoff = position.payoff(Role::new(role));
            }
            if options.others == Others::Paranoid {
                oppose(facts, self.us, &mut payoffs);
            }
            let found = &mut results[leaf * 2 * facts.n_roles..][..2 * facts.n_roles];
            let (sums, squares) = found.split_at_mut(facts.n_roles);
            for ((sum, square), payoff) in sums.iter_mut().zip(squares).zip(&payoffs) {
                *sum += payoff;
                *square += payoff * payoff;
            }
        }
    }
}
