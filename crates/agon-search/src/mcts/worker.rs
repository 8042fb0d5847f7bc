//! What threads work on, and what they work with.

use std::time::Instant;

use agon_game::{Batch, Children, Ends, OneByOne, Order, Position, Rng, Role, Tally};
use rand::SeedableRng;

use super::backup::Seen;
use super::heuristic::Judge;
use super::leaves::{MAX_LOOK, look_ahead};
use super::lockstep::Lockstep;
use super::options::{MctsOptions, PlayoutPolicy, Simultaneous};
use super::playout::Scratch;
use super::policy::Policy;
use super::round::Round;
use super::spread::Spreading;
use super::tree::{Facts, Tree};
use crate::{Budget, Meter};

/// No more playouts are made from a leaf than leave room for so many leaves.
const FEW_LEAVES: u64 = 128;
/// Leaves to a round are not more than leave room for so many rounds.
const MANY_ROUNDS: u64 = 32;
/// Where strategies are mixed: they learn once from each leaf, so leaves count for more than playouts.
const FEW_PLAYOUTS: u64 = 16;
/// Children are looked at one by one only if that takes no more than this part of the time left.
const LOOK_PART: f64 = 0.1;

/// What all threads work on. Lines of memory to itself: who waits asks for the lock beside it again and again.
#[repr(align(128))]
pub(super) struct Shared<'b, P: Position> {
    pub(super) tree: Tree<P>,
    pub(super) meter: Meter<'b>,
    pub(super) budget: &'b Budget,
    pub(super) us: Role,
    pub(super) playouts: u64,
    pub(super) depth: u32,
    /// Rounds that are gathered and not backed up.
    pub(super) n_in_flight: usize,
}

impl<P: Position> Shared<'_, P> {
    /// Iterations that may still be begun.
    pub(super) fn n_left(&self) -> u64 {
        self.budget.iterations.map_or(u64::MAX, |n| n.saturating_sub(self.meter.n_iterations))
    }

    /// Tells what the answer would be now, for whoever cannot wait.
    pub(super) fn tell_best(&self) {
        if let Some(move_idx) = self.tree.best_so_far(self.us) {
            self.meter.tell(move_idx);
        }
    }

    /// Whether there is nothing left to be found, or to be begun.
    pub(super) fn is_done(&mut self) -> bool {
        self.is_proven() || self.meter.is_over(1)
    }

    /// Whether it is known what we get.
    pub(super) fn is_proven(&self) -> bool {
        let [lo, hi] = self.tree.bound(self.tree.root, self.us);
        lo == hi
    }
}

/// One thread's tools.
pub(super) struct Worker<P: Position> {
    pub(super) position: P,
    pub(super) rng: Rng,
    pub(super) batch: Option<Box<dyn Batch<State = P::State, Move = P::Move>>>,
    pub(super) policy: Option<Policy<P::Move>>,
    pub(super) heuristic: Option<Judge<P>>,
    /// How long the heuristic is believed in the tree.
    pub(super) k: f64,
    pub(super) facts: Facts,
    pub(super) us: Role,
    /// Leaves under way at most, in all rounds: fewer than the options say if rounds take long. A leaf is chosen without knowing what comes
    /// of those under way, whoever plays them out, so their number does not grow with that of the threads.
    pub(super) under_way: u32,
    /// Rounds under way at a time.
    pub(super) n_rounds: u32,
    /// Playouts from each.
    pub(super) playouts: u32,
    /// Until when, if the clock counts.
    pub(super) deadline: Option<Instant>,
    /// Seconds that an engine takes at most for a step of many playouts at once, as far as is known.
    pub(super) step_seconds: Option<f64>,
    /// What it works on.
    pub(super) round: Box<Round<P>>,
    pub(super) children: Children<P::State, P::Move>,
    /// Playouts that are wanted, and by which leaves.
    pub(super) orders: Vec<Order<P::State>>,
    pub(super) ordered: Vec<usize>,
    /// What came of them.
    pub(super) tallies: Vec<Tally>,
    /// How long the engine has worked on them, where the clock counts.
    pub(super) play_seconds: f64,
    /// By step: the number of playouts that came through, then the sums of payoffs by role and of their squares.
    pub(super) flow: Vec<f64>,
    pub(super) spreading: Spreading,
    pub(super) seen: Seen,
    pub(super) scratch: Scratch<P::Move>,
    pub(super) lockstep: Lockstep<P>,
}

impl<P: Position> Worker<P> {
    pub(super) fn new(
        position: &P,
        us: Role,
        options: &MctsOptions,
        seed: u64,
        heuristic: Option<Judge<P>>,
    ) -> Worker<P> {
        let facts = Facts::new(position.shape());
        let n_roles = facts.n_roles;
        let wants_batch = options.look_ahead || !options.needs_moves() && is_bulk(options);
        let policy = options.policy != PlayoutPolicy::Uniform;
        let mut batch = if wants_batch { position.batch(seed) } else { None };
        if let Some(batch) = &mut batch {
            // The first use makes the code, which takes a while for large games: better now than when time is short.
            let order = Order { state: position.state().clone(), n_playouts: 1, expected_steps: 0 };
            batch.play_out(&[order], 1);
            batch.advance_all(&[], &mut Children::new(n_roles));
            batch.look_ahead(&[position.state()], &mut Ends::default());
        }
        Worker {
            position: position.clone(),
            rng: Rng::seed_from_u64(seed),
            batch,
            policy: policy.then(|| Policy::new(options.policy, options.choice, &facts)),
            heuristic,
            k: 0.0,
            us,
            under_way: 1,
            n_rounds: 1,
            playouts: options.round().playouts.max(1),
            deadline: None,
            step_seconds: None,
            facts,
            round: Box::new(Round::new()),
            children: Children::new(n_roles),
            orders: Vec::new(),
            ordered: Vec::new(),
            tallies: Vec::new(),
            play_seconds: 0.0,
            flow: Vec::new(),
            spreading: Spreading::default(),
            seen: Seen::default(),
            scratch: Scratch::default(),
            lockstep: Lockstep::new(),
        }
    }

    /// The generator of this worker: for choices that are made when the search is over.
    pub(super) fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// Works for this role from now on, from where the position stands, under this budget.
    pub(super) fn serve(
        &mut self,
        position: &P,
        us: Role,
        budget: &Budget,
        options: &MctsOptions,
        k: f64,
    ) {
        self.us = us;
        // A small number of playouts is better spent on many leaves than on few.
        let few = budget.iterations.map_or(u64::MAX, |n| (n / FEW_LEAVES).max(1));
        let few = if matches!(options.simultaneous, Simultaneous::RegretMatching { .. }) {
            few.min(FEW_PLAYOUTS)
        } else {
            few
        };
        self.playouts = u64::from(options.round().playouts.max(1)).min(few) as u32;
        // Nor is it well spent on few rounds: what one finds is for the next to use.
        let n_leaves = budget.iterations.map_or(u64::MAX, |n| n / u64::from(self.playouts));
        let under_way = u64::from(options.round().at_once).min(n_leaves / MANY_ROUNDS) as u32;
        self.n_rounds = options.threads as u32;
        self.k = k;
        if let Some(heuristic) = &mut self.heuristic {
            heuristic.settle(position);
        }
        if budget.deadline.is_none() {
            self.under_way = under_way;
        } else if self.deadline.is_none() {
            // Small rounds to begin with, until it is known how long they take.
            self.under_way = 1;
        }
        self.deadline = budget.deadline;
    }

    /// Puts the root where the position stands, at a node that is known if there is one. The position stays where it is.
    pub(super) fn plant_root(
        &mut self,
        position: &mut P,
        tree: &mut Tree<P>,
        options: &MctsOptions,
    ) {
        self.round.sprouts.clear();
        let sprout = self.round.sprouts.push_position(position);
        if let Some(heuristic) =
            self.heuristic.as_mut().filter(|_| options.heuristic.implicit > 0.0)
        {
            heuristic.push_worths(position, &mut self.round.sprouts.worths);
        }
        if let Some(id) = tree.find(&self.round.sprouts.list[sprout]) {
            tree.root = id;
            tree.grow_arms(id);
            return;
        }
        *tree = Tree::new(self.facts.clone(), options);
        if options.look_ahead {
            // One position is soon looked ahead from, even step by step.
            let mut by_steps = OneByOne::new(self.position.clone(), self.rng.clone());
            let is_soon_done =
                self.batch.is_some() || self.deadline.is_none_or(|d| is_soon_done(position, d));
            match &mut self.batch {
                Some(batch) => look_ahead(&mut **batch, &mut self.round.sprouts),
                None if is_soon_done => {
                    look_ahead(&mut by_steps, &mut self.round.sprouts);
                }
                None => {}
            }
        }
        self.take_view(options);
        self.round.sprouts.judge_ends(&self.facts);
        tree.root = tree.add(&self.round.sprouts, sprout);
        tree.grow_arms(tree.root);
    }

    /// Leaves to a round at most.
    pub(super) fn round_size(&self) -> u32 {
        (self.under_way / self.n_rounds).max(1)
    }

    /// Whether one thread keeps the tree and others play out for it.
    pub(super) fn is_kept(&self, options: &MctsOptions) -> bool {
        options.threads > 1 && self.plays_in_bulk(options)
    }

    /// Whether many leaves are played out at once.
    pub(super) fn plays_in_bulk(&self, options: &MctsOptions) -> bool {
        self.batch.is_some() && !options.needs_moves() && is_bulk(options)
    }
}

/// Whether all children can be made one by one in a small part of the time left. One step is made to find out.
fn is_soon_done<P: Position>(position: &mut P, deadline: Instant) -> bool {
    let began = Instant::now();
    let home = position.state().clone();
    let joint: Vec<P::Move> =
        position.shape().roles().map(|role| position.legal_moves(role)[0].clone()).collect();
    let n_joint: f64 =
        position.shape().roles().map(|role| position.legal_moves(role).len() as f64).product();
    position.advance(&joint);
    position.is_terminal();
    position.go_to(&home);
    let left = deadline.saturating_duration_since(began).as_secs_f64();
    began.elapsed().as_secs_f64() * n_joint.min(MAX_LOOK as f64) < LOOK_PART * left
}

fn is_bulk(options: &MctsOptions) -> bool {
    options.leaves.at_once > 1 || options.leaves.playouts > 1
}
