//! Playouts in lockstep: each continues as far as it can, and those that have to ask the heuristic
//! wait for each other, so that the heuristic is asked about many positions at once.

use std::time::Instant;

use agon_game::{Position, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use super::playout::{PlayoutLimits, gibbs_weight};
use crate::mcts::heuristic::{ActionHeuristic, ActionValues, HeuristicUse};
use crate::mcts::leaf_batch::LeafBatch;
use crate::mcts::options::MctsOptions;
use crate::mcts::select::draw;
use crate::mcts::worker::Worker;

/// The clock is read once in this number of steps of all playouts: 8 steps of each, as in playouts
/// one by one, if there are 32.
const CLOCK_STRIDE: u64 = 256;

/// Playouts side by side, and their memory.
///
/// Each playout has its own stream of random numbers, so its result depends neither on the others
/// nor on when the heuristic is asked about it.
pub(crate) struct Lockstep<P: Position> {
    /// By playout. There may be more of them than playouts.
    positions: Vec<P>,
    playouts: Vec<Playout<P::Move>>,
    /// By role: the playouts that wait for the values of its moves, in the order of their arrival.
    waiting: Vec<Vec<usize>>,
    /// The playouts that the heuristic is asked about.
    asked: Vec<usize>,
    values: ActionValues,
    weights: Vec<f64>,
    /// The number of steps of all playouts.
    n_steps: u64,
}

struct Playout<M> {
    rng: Rng,
    joint: Vec<M>,
    /// The next role that may have a choice; the moves of those before it are chosen.
    next: usize,
    n_steps: u64,
}

impl<P: Position> Lockstep<P> {
    pub(crate) fn new() -> Lockstep<P> {
        Lockstep {
            positions: Vec::new(),
            playouts: Vec::new(),
            waiting: Vec::new(),
            asked: Vec::new(),
            values: ActionValues::default(),
            weights: Vec::new(),
            n_steps: 0,
        }
    }

    /// Returns the position of a playout, which the caller moves to its start.
    pub(crate) fn slot(&mut self, at: usize, like: &P) -> &mut P {
        while self.positions.len() <= at {
            self.positions.push(like.clone());
        }
        &mut self.positions[at]
    }

    pub(crate) fn positions(&self) -> &[P] {
        &self.positions
    }

    /// Plays to the end of the game from these positions, each with its own stream.
    pub(crate) fn play_out(
        &mut self,
        streams: impl Iterator<Item = (usize, Rng)>,
        heuristic: &mut dyn ActionHeuristic<P>,
        how: &HeuristicUse,
        limits: PlayoutLimits,
    ) {
        self.waiting.iter_mut().for_each(Vec::clear);
        for (at, rng) in streams {
            while self.playouts.len() <= at {
                let rng = rng.clone();
                self.playouts.push(Playout { rng, joint: Vec::new(), next: 0, n_steps: 0 });
            }
            let (position, playout) = (&self.positions[at], &mut self.playouts[at]);
            (playout.rng, playout.next, playout.n_steps) = (rng, 0, 0);
            if !position.is_terminal() && limits.max_steps > 0 {
                position.draw(&mut playout.rng, &mut playout.joint);
                self.advance(at, limits.max_steps);
            }
        }
        let mut next_look = self.n_steps + CLOCK_STRIDE;
        while let Some(role) = self.role_to_ask() {
            if let Some(deadline) = limits.deadline
                && self.n_steps >= next_look
            {
                next_look = self.n_steps + CLOCK_STRIDE;
                if Instant::now() >= deadline {
                    return;
                }
            }
            let waiting = &mut self.waiting[role.index()];
            // The rest of a division by the heuristic's batch size waits for more to come.
            let n_over = waiting.len() % heuristic.batch_size().max(1);
            let n_asked = if waiting.len() > n_over { waiting.len() - n_over } else { n_over };
            self.asked.clear();
            self.asked.extend(waiting.drain(..n_asked));
            heuristic.playout_values_of_many(&self.positions, &self.asked, role, &mut self.values);
            debug_assert_eq!(self.values.len(), n_asked, "each position is rated");
            for place in 0..n_asked {
                let at = self.asked[place];
                let (position, playout) = (&self.positions[at], &mut self.playouts[at]);
                playout.choose(position, role, self.values.of(place), how, &mut self.weights);
                self.advance(at, limits.max_steps);
            }
        }
    }

    /// Returns the role for which most playouts wait. Where roles take turns, the others soon wait
    /// for the same role, and then the heuristic is asked about all of them together.
    fn role_to_ask(&self) -> Option<Role> {
        let most = self.waiting.iter().map(Vec::len).max().filter(|&most| most > 0)?;
        self.waiting.iter().position(|waiting| waiting.len() == most).map(Role::new)
    }

    /// Continues a playout to its end, or to where the heuristic has to be asked. Moves are chosen
    /// in the same order, and by the same random numbers, as in a playout by itself.
    fn advance(&mut self, at: usize, max_steps: u64) {
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
    /// Chooses a role's move by the values of all its moves. Without values, the move that was
    /// drawn stays.
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
        weights.extend(values.iter().map(|&value| gibbs_weight(value, how)));
        let chosen = draw(weights, &mut self.rng);
        self.joint[role.index()] = position.legal_moves(role)[chosen].clone();
    }
}

impl<P: Position> Worker<P> {
    /// Plays out these leaves in lockstep. Their positions are there already.
    pub(super) fn play_out_in_lockstep(&mut self, chosen: &[usize], options: &MctsOptions) {
        let limits = self.playout_limits(options);
        let Worker { lockstep, heuristic, rng, batch, facts, position, utilities, .. } = self;
        let LeafBatch { leaves, results, .. } = &mut **batch;
        let Some(heuristic) = heuristic.as_deref_mut() else { return };
        // By playout: its slot, and its leaf. Several playouts may start from one leaf.
        let mut playouts: Vec<(usize, usize)> = chosen.iter().map(|&at| (at, at)).collect();
        let mut n_slots = leaves.len();
        for &at in chosen {
            for _ in 1..leaves[at].n {
                let state = lockstep.slot(at, position).state().clone();
                lockstep.slot(n_slots, position).go_to(&state);
                playouts.push((n_slots, at));
                n_slots += 1;
            }
        }
        let streams = playouts.iter().map(|&(slot, _)| (slot, Rng::seed_from_u64(rng.random())));
        lockstep.play_out(streams, heuristic, &options.heuristic, limits);
        let mut payoffs = vec![0.0; facts.n_roles];
        for &(slot, leaf) in &playouts {
            let position = lockstep.slot(slot, position);
            for (role, payoff) in payoffs.iter_mut().enumerate() {
                *payoff = position.payoff(Role::new(role));
            }
            utilities.rewrite(&mut payoffs);
            let (sums, squares) = results.of_mut(leaf);
            for ((sum, square), payoff) in sums.iter_mut().zip(squares).zip(&payoffs) {
                *sum += payoff;
                *square += payoff * payoff;
            }
        }
    }
}
