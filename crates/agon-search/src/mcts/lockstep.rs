//! Playouts side by side: each goes on as far as it can, and those that have to ask a heuristic wait for one another, so that it is asked about
//! many positions at once.

use std::time::Instant;

use agon_game::{Position, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use super::heuristic::{HeuristicUse, Judge, Judgements};
use super::leaves::oppose;
use super::options::{MctsOptions, Others};
use super::playout::weight;
use super::round::Round;
use super::select::draw;
use super::worker::Worker;

/// The clock is looked at once in so many steps of all playouts: 8 of each, as in playouts one by one, where 32 go on.
const LOOK_STRIDE: u64 = 256;

/// Playouts that go on side by side, and their memory.
///
/// Each has a stream of random numbers of its own, so what comes of it does not depend on the others, nor on when it is asked about.
pub(super) struct Lockstep<P: Position> {
    /// By playout. More of them than there are playouts, if there were more before.
    positions: Vec<P>,
    playouts: Vec<Playout<P::Move>>,
    /// By role: the playouts that wait for what is said of its moves, in the order in which they came.
    waiting: Vec<Vec<usize>>,
    /// Those that are asked about.
    asked: Vec<usize>,
    said: Judgements,
    weights: Vec<f64>,
    /// Steps of all playouts.
    n_steps: u64,
}

struct Playout<M> {
    rng: Rng,
    joint: Vec<M>,
    /// The next role that may have a choice: the moves of those before it stand.
    next: usize,
    n_steps: u64,
}

impl<P: Position> Lockstep<P> {
    pub(super) fn new() -> Lockstep<P> {
        Lockstep {
            positions: Vec::new(),
            playouts: Vec::new(),
            waiting: Vec::new(),
            asked: Vec::new(),
            said: Judgements::default(),
            weights: Vec::new(),
            n_steps: 0,
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
        self.waiting.iter_mut().for_each(Vec::clear);
        for (at, rng) in begun {
            while self.playouts.len() <= at {
                let rng = rng.clone();
                self.playouts.push(Playout { rng, joint: Vec::new(), next: 0, n_steps: 0 });
            }
            let (position, playout) = (&self.positions[at], &mut self.playouts[at]);
            (playout.rng, playout.next, playout.n_steps) = (rng, 0, 0);
            if !position.is_terminal() && max_steps > 0 {
                position.draw(&mut playout.rng, &mut playout.joint);
                self.go_on(at, max_steps);
            }
        }
        let mut look_at = self.n_steps + LOOK_STRIDE;
        while let Some(role) = self.role_to_ask() {
            if let Some(deadline) = deadline
                && self.n_steps >= look_at
            {
                look_at = self.n_steps + LOOK_STRIDE;
                if Instant::now() >= deadline {
                    return;
                }
            }
            let waiting = &mut self.waiting[role.index()];
            // Those who would be asked about almost alone wait for more to come.
            let n_over = waiting.len() % judge.abreast().max(1);
            let n_asked = if waiting.len() > n_over { waiting.len() - n_over } else { n_over };
            self.asked.clear();
            self.asked.extend(waiting.drain(..n_asked));
            judge.values_of_many(&self.positions, &self.asked, role, &mut self.said);
            for place in 0..n_asked {
                let at = self.asked[place];
                let (position, playout) = (&self.positions[at], &mut self.playouts[at]);
                playout.choose(position, role, self.said.of(place), how, &mut self.weights);
                self.go_on(at, max_steps);
            }
        }
    }

    /// The role for which most wait: the others soon wait for the same, where roles take turns, and then all of them are asked about together.
    fn role_to_ask(&self) -> Option<Role> {
        let most = self.waiting.iter().map(Vec::len).max().filter(|&most| most > 0)?;
        self.waiting.iter().position(|waiting| waiting.len() == most).map(Role::new)
    }

    /// Goes on with a playout to its end, or to where the heuristic has to be asked. Moves are chosen in the same order, and by the same random
    /// numbers, as in a playout by itself.
    fn go_on(&mut self, at: usize, max_steps: u64) {
        let Lockstep { positions, playouts, waiting, n_steps, .. } = self;
        let (position, playout) = (&mut positions[at], &mut playouts[at]);
        let (nature, n_roles) = (position.shape().nature, position.shape().role_names.len());
        waiting.resize_with(n_roles, Vec::new);
        loop {
            for role in (playout.next..n_roles).map(Role::new) {
                if Some(role) == nature || position.legal_moves(role).len() < 2 {
                    continue;
                }
                playout.next = role.index();
                waiting[role.index()].push(at);
                return;
            }
            position.advance(&playout.joint);
            playout.n_steps += 1;
            *n_steps += 1;
            if position.is_terminal() || playout.n_steps >= max_steps {
                return;
            }
            position.draw(&mut playout.rng, &mut playout.joint);
            playout.next = 0;
        }
    }
}

impl<M: Clone> Playout<M> {
    /// Chooses a role's move by what is said of all of them; what was drawn stands if there is nothing to say.
    fn choose<P: Position<Move = M>>(
        &mut self,
        position: &P,
        role: Role,
        values: &[f64],
        how: &HeuristicUse,
        weights: &mut Vec<f64>,
    ) {
        self.next = role.index() + 1;
        if values.is_empty() {
            return;
        }
        weights.clear();
        weights.extend(values.iter().map(|&value| weight(value, how)));
        let chosen = draw(weights, &mut self.rng);
        self.joint[role.index()] = position.legal_moves(role)[chosen].clone();
    }
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
