//! Rounds of leaves: gathered under the lock of the tree, looked at and played out without it, and backed up under it again.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use agon_game::{Batch, Children, OneByOne, Order, Position, Rng, Role};
use rand::SeedableRng;

use super::backup::{Outcome, Seen};
use super::heuristic::Timed;
use super::options::{MctsOptions, Others, PlayoutPolicy};
use super::playout::{Scratch, play_out};
use super::policy::Policy;
use super::select::{Chooser, End, Step};
use super::sprout::Sprouts;
use super::tree::{Facts, Kind, NodeId, Tree};
use crate::budget::play_out_in_time;
use crate::{Budget, Meter};

/// Children of a new position are looked at if there are no more than one pass of an engine takes.
const MAX_LOOK: usize = 256;
/// The steps by which an engine's speed is found out; never fewer than these are asked for.
const FEW_STEPS: u64 = 8;
/// Playouts that engines run at a time, more or less.
const LANES: f64 = 256.0;
/// Children are looked at one by one only if that takes no more than this part of the time left.
const LOOK_PART: f64 = 0.1;
/// Under a deadline a round should take no longer than this many seconds.
const LONG_ROUND: f64 = 0.004;
/// Under a deadline the best move so far is told again after so many seconds.
const TELL_AGAIN: f64 = 0.01;

/// What all threads work on.
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
    fn n_left(&self) -> u64 {
        self.budget.iterations.map_or(u64::MAX, |n| n.saturating_sub(self.meter.n_iterations))
    }

    /// Tells what the answer would be now, for whoever cannot wait.
    fn tell_best(&self) {
        if let Some(move_idx) = self.tree.best_so_far(self.us) {
            self.meter.tell(move_idx);
        }
    }

    fn is_done(&mut self) -> bool {
        let [lo, hi] = self.tree.bound(self.tree.root, self.us);
        lo == hi || self.meter.is_over(1)
    }
}

/// A leaf on its way.
struct Leaf<S> {
    steps: Range<usize>,
    end: End,
    /// Playouts wanted.
    n: u32,
    /// Where the last step is made, or where to play out from.
    state: Option<S>,
    /// The joint move of the last step.
    joint: usize,
    /// The position it leads to.
    sprout: Option<usize>,
    /// The moves of the playout.
    record: Range<usize>,
}

/// One thread's tools.
pub(super) struct Worker<P: Position> {
    position: P,
    rng: Rng,
    batch: Option<Box<dyn Batch<State = P::State, Move = P::Move>>>,
    policy: Option<Policy<P::Move>>,
    heuristic: Option<Timed<P>>,
    /// How long the heuristic is believed in the tree.
    k: f64,
    facts: Facts,
    us: Role,
    /// Leaves to a round: fewer than the options say if rounds take long.
    at_once: u32,
    /// Until when, if the clock counts.
    deadline: Option<Instant>,
    /// Seconds that an engine takes at most for a step of many playouts at once, as far as is known.
    step_seconds: Option<f64>,
    leaves: Vec<Leaf<P::State>>,
    steps: Vec<Step>,
    joints: Vec<P::Move>,
    sprouts: Sprouts<P>,
    children: Children<P::State, P::Move>,
    families: Children<P::State, P::Move>,
    /// Playouts that are wanted, and by which leaves.
    orders: Vec<Order<P::State>>,
    ordered: Vec<usize>,
    /// By leaf: sums of payoffs by role, then sums of squares by role.
    results: Vec<f64>,
    record: Vec<(Role, P::Move)>,
    seen: Seen,
    scratch: Scratch<P::Move>,
    n_playouts: u64,
    n_seen: u64,
}

impl<P: Position> Worker<P> {
    pub(super) fn new(
        position: &P,
        us: Role,
        options: &MctsOptions,
        seed: u64,
        heuristic: Option<Timed<P>>,
    ) -> Worker<P> {
        let facts = Facts::new(position.shape());
        let n_roles = facts.n_roles;
        let wants_batch = options.look_ahead || !options.needs_moves() && is_bulk(options);
        let policy = options.policy != PlayoutPolicy::Uniform;
        let mut batch = if wants_batch { position.batch(seed) } else { None };
        if let Some(batch) = &mut batch {
            // The first use makes the code, which takes a while for large games: better now than when time is short.
            batch.play_out(&[Order { state: position.state().clone(), n_playouts: 1 }], 1);
            batch.expand(&[position.state()], &mut Children::new(n_roles));
        }
        Worker {
            position: position.clone(),
            rng: Rng::seed_from_u64(seed),
            batch,
            policy: policy.then(|| Policy::new(options.policy, options.choice, &facts)),
            heuristic,
            k: 0.0,
            us,
            at_once: options.leaves.at_once.max(1),
            deadline: None,
            step_seconds: None,
            facts,
            leaves: Vec::new(),
            steps: Vec::new(),
            joints: Vec::new(),
            sprouts: Sprouts::new(),
            children: Children::new(n_roles),
            families: Children::new(n_roles),
            orders: Vec::new(),
            ordered: Vec::new(),
            results: Vec::new(),
            record: Vec::new(),
            seen: Seen::default(),
            scratch: Scratch { joint: Vec::new(), weights: Vec::new(), judged: Vec::new() },
            n_playouts: 0,
            n_seen: 0,
        }
    }

    /// The generator of this worker: for choices that are made when the search is over.
    pub(super) fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// How long judging moves took.
    pub(super) fn heuristic_seconds(&self) -> f64 {
        self.heuristic.as_ref().map_or(0.0, Timed::seconds)
    }

    /// Works for this role from now on, from where the position stands, under this budget.
    pub(super) fn serve(&mut self, position: &P, us: Role, budget: &Budget, options: &MctsOptions, k: f64) {
        self.us = us;
        self.k = k;
        if let Some(heuristic) = &mut self.heuristic {
            heuristic.settle(position);
        }
        if budget.deadline.is_none() {
            self.at_once = options.leaves.at_once.max(1);
        } else if self.deadline.is_none() {
            // Small rounds to begin with, until it is known how long they take.
            self.at_once = 1;
        }
        self.deadline = budget.deadline;
    }

    /// The steps that playouts of many leaves at once may take: what is not over by then is cut off. Under a deadline that
    /// is not more than the time left allows, for nothing can stop an engine that is under way; how fast it is, a few steps
    /// tell, which also make it ready.
    fn max_steps(&mut self, orders: &[Order<P::State>], options: &MctsOptions) -> u64 {
        let most = options.max_playout_steps;
        let (Some(deadline), Some(batch)) = (self.deadline, &mut self.batch) else { return most };
        let step_seconds = *self.step_seconds.get_or_insert_with(|| {
            let few = &orders[..1];
            batch.play_out(few, 1);
            let began = Instant::now();
            batch.play_out(few, FEW_STEPS);
            began.elapsed().as_secs_f64() / FEW_STEPS as f64
        });
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        // Lanes are filled again as often as there are leaves for them, and some playouts take twice the steps.
        let n_playouts: u64 = orders.iter().map(|order| order.n_playouts).sum();
        let n_fills = (n_playouts as f64 / LANES).max(1.0);
        let fitting = 0.5 * left / (step_seconds * n_fills).max(1e-9);
        (fitting as u64).clamp(FEW_STEPS, most.max(FEW_STEPS))
    }

    /// Puts the root where the position stands, at a node that is known if there is one. The position stays where it is.
    pub(super) fn plant_root(&mut self, position: &mut P, tree: &mut Tree<P>, options: &MctsOptions) {
        self.sprouts.clear();
        self.families.clear();
        let sprout = self.sprouts.push_position(position);
        let seen = &self.sprouts.list[sprout];
        let moves = &self.sprouts.moves[seen.moves.clone()];
        let known = tree.find(seen.key, &self.sprouts.groups[seen.groups.clone()], moves);
        if let Some(id) = known {
            tree.root = id;
            return;
        }
        *tree = Tree::new(self.facts.clone(), options);
        if options.look_ahead {
            // One position is soon looked ahead from, even step by step.
            let mut by_steps = OneByOne::new(self.position.clone(), self.rng.clone());
            let is_soon_done =
                self.batch.is_some() || self.deadline.is_none_or(|d| is_soon_done(position, d));
            match &mut self.batch {
                Some(batch) => look_ahead(&mut **batch, &mut self.sprouts, &mut self.families),
                None if is_soon_done => look_ahead(&mut by_steps, &mut self.sprouts, &mut self.families),
                None => {}
            }
        }
        self.take_view(options);
        tree.root = tree.add(&self.sprouts, sprout, Some(&self.families));
    }

    /// Whether many leaves are played out at once.
    fn plays_in_bulk(&self, options: &MctsOptions) -> bool {
        self.batch.is_some() && !options.needs_moves() && is_bulk(options)
    }

    /// Works until the budget is used up or all is proved.
    pub(super) fn run(&mut self, shared: &Mutex<Shared<'_, P>>, freed: &Condvar, options: &MctsOptions) {
        let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guard: MutexGuard<'_, Shared<'_, P>> = lock();
        let mut since = guard.meter.seconds();
        // What was found in earlier moves is an answer already.
        let mut told = since;
        guard.tell_best();
        loop {
            while guard.tree.nodes.len() >= options.max_nodes {
                if guard.n_in_flight == 0 {
                    if !guard.tree.is_recycled_by(self.deadline) {
                        return;
                    }
                    guard.tree.recycle(options.max_nodes / 2);
                } else {
                    guard = freed.wait(guard).unwrap_or_else(PoisonError::into_inner);
                }
            }
            if guard.is_done() {
                return;
            }
            self.gather(&mut guard, options);
            guard.n_in_flight += 1;
            drop(guard);
            self.look_at_leaves(options);
            self.play_out_leaves(options);
            guard = lock();
            self.settle(&mut guard, options);
            guard.n_in_flight -= 1;
            freed.notify_all();
            if guard.budget.deadline.is_some() {
                let now = guard.meter.seconds();
                let most = options.leaves.at_once.max(1);
                self.at_once = match now - since {
                    long if long > LONG_ROUND => (self.at_once / 2).max(1),
                    short if short < LONG_ROUND / 4.0 => (self.at_once * 2).min(most),
                    _ => self.at_once,
                };
                since = now;
                if now - told > TELL_AGAIN {
                    told = now;
                    guard.tell_best();
                }
            }
        }
    }

    /// Goes down the tree for each leaf of a round.
    fn gather(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        self.leaves.clear();
        self.steps.clear();
        self.joints.clear();
        self.record.clear();
        let (at_once, playouts) =
            if self.plays_in_bulk(options) { (self.at_once, options.leaves.playouts.max(1)) } else { (1, 1) };
        // A small tree has few leaves that are worth it.
        let n_known = shared.tree.node(shared.tree.root).visits / u64::from(playouts);
        let at_once = u64::from(at_once).min(1 + n_known / 4);
        for _ in 0..at_once {
            let n = u64::from(playouts).min(shared.n_left()) as u32;
            if n == 0 {
                break;
            }
            let start = self.steps.len();
            let tree = &mut shared.tree;
            let mut chooser = Chooser {
                options,
                rng: &mut self.rng,
                policy: self.policy.as_mut(),
                scratch: &mut self.scratch.weights,
                k: self.k,
            };
            let end = tree.descend(&mut self.steps, n, &mut chooser);
            let steps = start..self.steps.len();
            if options.heuristic.tree
                && let Some(heuristic) = &mut self.heuristic
            {
                for step in &self.steps[steps.clone()] {
                    tree.judge_moves(
                        step.node,
                        &mut self.position,
                        heuristic,
                        options,
                        &mut self.scratch.judged,
                    );
                }
            }
            shared.depth = shared.depth.max(steps.len() as u32);
            shared.meter.n_iterations += u64::from(n);
            let joint = self.joints.len();
            let state = match end {
                End::Open => {
                    let last = self.steps.last().expect("a move leads out of the tree");
                    tree.push_joint(last.node, last.choice, &mut self.joints);
                    tree.states[last.node.index()].clone()
                }
                End::Again(id) => tree.states[id.index()].clone(),
                End::Exact(_) => None,
            };
            if let Some(policy) = &mut self.policy {
                policy.begin();
                for step in &self.steps[steps.clone()] {
                    let n_made = policy.n_made();
                    tree.visit_choice(step.node, step.choice, |group, arm| {
                        if group.n > 1 && Some(group.role) != tree.facts.nature {
                            policy.note(group.role, &tree.moves[arm]);
                        }
                    });
                    policy.step(n_made);
                }
            }
            self.leaves.push(Leaf { steps, end, n, state, joint, sprout: None, record: 0..0 });
        }
    }

    /// Finds out what the new positions are, and what their children are if an engine shows them at once.
    fn look_at_leaves(&mut self, options: &MctsOptions) {
        self.sprouts.clear();
        self.families.clear();
        let n_roles = self.facts.n_roles;
        let is_bulk = self.plays_in_bulk(options);
        let Worker { leaves, joints, position, sprouts, children, .. } = self;
        if is_bulk && let Some(batch) = &mut self.batch {
            let open = || leaves.iter().filter(|leaf| leaf.end == End::Open);
            let steps: Vec<(&P::State, &[P::Move])> = open()
                .map(|leaf| {
                    let state = leaf.state.as_ref().expect("moves are made at states");
                    (state, &joints[leaf.joint..leaf.joint + n_roles])
                })
                .collect();
            batch.advance_all(&steps, children);
            let open = leaves.iter_mut().filter(|leaf| leaf.end == End::Open);
            for (child, leaf) in open.enumerate() {
                leaf.sprout = Some(sprouts.push_child(position, children, child));
            }
        } else {
            // One leaf; the position stays there for the playout.
            for leaf in leaves.iter_mut() {
                let Some(state) = &leaf.state else { continue };
                position.go_to(state);
                if leaf.end == End::Open {
                    position.advance(&joints[leaf.joint..leaf.joint + n_roles]);
                    leaf.sprout = Some(sprouts.push_position(position));
                }
            }
        }
        self.n_seen = self.sprouts.list.len() as u64;
        if options.look_ahead
            && let Some(batch) = &mut self.batch
        {
            look_ahead(&mut **batch, &mut self.sprouts, &mut self.families);
            self.n_seen += self.families.len() as u64;
        }
        self.take_view(options);
    }

    /// Payoffs as we think of them: where all are against us, the others want what we do not.
    fn take_view(&mut self, options: &MctsOptions) {
        if options.others == Others::MaxN {
            return;
        }
        for payoffs in self.sprouts.payoffs.chunks_mut(self.facts.n_roles) {
            oppose(&self.facts, self.us, payoffs);
        }
        for payoffs in self.families.payoffs.chunks_mut(self.facts.n_roles) {
            oppose(&self.facts, self.us, payoffs);
        }
    }

    /// Plays out from all leaves that are not decided.
    fn play_out_leaves(&mut self, options: &MctsOptions) {
        let n_roles = self.facts.n_roles;
        self.results.clear();
        self.results.resize(self.leaves.len() * 2 * n_roles, 0.0);
        self.n_playouts = 0;
        // Taken out while they are filled, so that their memory is used again.
        let mut orders = std::mem::take(&mut self.orders);
        let mut ordered = std::mem::take(&mut self.ordered);
        orders.clear();
        ordered.clear();
        for at in 0..self.leaves.len() {
            let leaf = &self.leaves[at];
            let n = f64::from(leaf.n);
            let known =
                leaf.sprout.and_then(|sprout| decided(&self.facts, &self.sprouts, sprout, &self.families));
            if let Some(payoffs) = known {
                if let Some(policy) = &mut self.policy {
                    policy.learn(payoffs);
                }
                for (role, &payoff) in payoffs.iter().enumerate() {
                    self.results[at * 2 * n_roles + role] = payoff * n;
                    self.results[(at * 2 + 1) * n_roles + role] = payoff * payoff * n;
                }
                continue;
            }
            if let End::Exact(_) = leaf.end {
                continue;
            }
            self.n_playouts += u64::from(leaf.n);
            if self.plays_in_bulk(options) {
                let seen = leaf.sprout.and_then(|sprout| self.sprouts.list[sprout].state.as_ref());
                let state = seen.or(leaf.state.as_ref()).expect("there is play to go on").clone();
                orders.push(Order { state, n_playouts: u64::from(leaf.n) });
                ordered.push(at);
            } else {
                self.play_out_one(at, options);
            }
        }
        if !orders.is_empty() {
            self.play_out_orders(&orders, &ordered, options);
        }
        (self.orders, self.ordered) = (orders, ordered);
    }

    /// Plays out many leaves at once: those of these numbers.
    fn play_out_orders(&mut self, orders: &[Order<P::State>], ordered: &[usize], options: &MctsOptions) {
        let n_roles = self.facts.n_roles;
        let max_steps = self.max_steps(orders, options);
        let began = self.deadline.map(|_| Instant::now());
        if let Some(batch) = &mut self.batch {
            let tallies = batch.play_out(orders, max_steps);
            if let Some(began) = began {
                // The steps of the longest playout are not known; by the mean the time for one is rather over- than
                // underestimated.
                let (n, steps) = tallies
                    .iter()
                    .fold((0, 0), |(n, steps), tally| (n + tally.n_playouts, steps + tally.n_steps));
                let n_steps = steps as f64 / n.max(1) as f64 * (n as f64 / LANES).max(1.0);
                let now = began.elapsed().as_secs_f64() / n_steps.max(1.0);
                self.step_seconds = Some(self.step_seconds.map_or(now, |before| 0.5 * (before + now)));
            }
            for (&at, tally) in ordered.iter().zip(&tallies) {
                let (sums, squares) = self.results[at * 2 * n_roles..][..2 * n_roles].split_at_mut(n_roles);
                sums.copy_from_slice(&tally.payoff_sums);
                squares.copy_from_slice(&tally.square_sums);
                if options.others == Others::Paranoid {
                    oppose_sums(&self.facts, self.us, f64::from(self.leaves[at].n), sums, squares);
                }
            }
        }
    }

    fn play_out_one(&mut self, at: usize, options: &MctsOptions) {
        let n_roles = self.facts.n_roles;
        let start = self.record.len();
        if options.needs_moves() {
            play_out(
                &mut self.position,
                self.policy.as_mut(),
                self.heuristic.as_mut().filter(|_| options.heuristic.playout).map(|h| (h, options.heuristic)),
                &mut self.rng,
                (options.max_playout_steps, self.deadline),
                &mut self.record,
                &mut self.scratch,
            );
        } else {
            let most = options.max_playout_steps as usize;
            play_out_in_time(&mut self.position, &mut self.rng, most, self.deadline);
        }
        self.leaves[at].record = start..self.record.len();
        let (sums, squares) = self.results[at * 2 * n_roles..][..2 * n_roles].split_at_mut(n_roles);
        for (role, sum) in sums.iter_mut().enumerate() {
            *sum = self.position.payoff(Role::new(role));
        }
        if let Some(policy) = &mut self.policy {
            policy.learn(sums);
        }
        if options.others == Others::Paranoid {
            oppose(&self.facts, self.us, sums);
        }
        for (square, sum) in squares.iter_mut().zip(&*sums) {
            *square = sum * sum;
        }
    }

    /// Puts what was found into the tree.
    fn settle(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        let n_roles = self.facts.n_roles;
        let tree = &mut shared.tree;
        shared.playouts += self.n_playouts;
        shared.meter.n_nodes += self.n_seen;
        for at in 0..self.leaves.len() {
            let leaf = &self.leaves[at];
            let steps = &self.steps[leaf.steps.clone()];
            let id = match (leaf.end, leaf.sprout) {
                (End::Exact(id) | End::Again(id), _) => id,
                (End::Open, sprout) => {
                    let last = steps.last().expect("a move leads out of the tree");
                    let sprout = sprout.expect("it was looked at");
                    plant(tree, *last, &self.sprouts, sprout, &self.families, options)
                }
            };
            let (sums, squares) = self.results[at * 2 * n_roles..][..2 * n_roles].split_at_mut(n_roles);
            if let End::Exact(_) = leaf.end {
                let n = f64::from(leaf.n);
                for role in 0..n_roles {
                    let [value, _] = tree.bound(id, Role::new(role));
                    (sums[role], squares[role]) = (value * n, value * value * n);
                }
            }
            if options.needs_moves() {
                let record = &self.record[leaf.record.clone()];
                tree.learn_moves(steps, record, sums, options, &mut self.seen);
            }
            tree.back_up(steps, id, &mut Outcome { n: leaf.n, sums, squares });
        }
    }
}

/// Whether all children can be made one by one in a small part of the time left. One step is made to find out.
fn is_soon_done<P: Position>(position: &mut P, deadline: Instant) -> bool {
    let began = Instant::now();
    let home = position.state().clone();
    let joint: Vec<P::Move> =
        position.shape().roles().map(|role| position.legal_moves(role)[0].clone()).collect();
    let n_joint: f64 = position.shape().roles().map(|role| position.legal_moves(role).len() as f64).product();
    position.advance(&joint);
    position.is_terminal();
    position.go_to(&home);
    let left = deadline.saturating_duration_since(began).as_secs_f64();
    began.elapsed().as_secs_f64() * n_joint.min(MAX_LOOK as f64) < LOOK_PART * left
}

fn is_bulk(options: &MctsOptions) -> bool {
    options.leaves.at_once > 1 || options.leaves.playouts > 1
}

/// Looks at all children of the new positions.
fn look_ahead<P: Position>(
    batch: &mut dyn Batch<State = P::State, Move = P::Move>,
    sprouts: &mut Sprouts<P>,
    families: &mut Children<P::State, P::Move>,
) {
    let mut n_families = 0;
    for sprout in &mut sprouts.list {
        let groups = &sprouts.groups[sprout.groups.clone()];
        let n_joint = groups.iter().fold(1_usize, |n, group| n.saturating_mul(group.n as usize));
        if sprout.state.is_some() && n_joint <= MAX_LOOK {
            sprout.family = Some(n_families);
            n_families += 1;
        }
    }
    let with_family = sprouts.list.iter().filter(|sprout| sprout.family.is_some());
    let states: Vec<&P::State> = with_family.filter_map(|sprout| sprout.state.as_ref()).collect();
    batch.expand(&states, families);
}

/// What a new position pays if play has ended there, or if the mover can end it with all that can be got.
fn decided<'a, P: Position>(
    facts: &Facts,
    sprouts: &'a Sprouts<P>,
    sprout: usize,
    families: &'a Children<P::State, P::Move>,
) -> Option<&'a [f64]> {
    let seen = &sprouts.list[sprout];
    if seen.state.is_none() {
        return Some(&sprouts.payoffs[seen.payoffs..seen.payoffs + facts.n_roles]);
    }
    let [group] = &sprouts.groups[seen.groups.clone()] else { return None };
    if Some(group.role) == facts.nature {
        return None;
    }
    let is_won =
        |child: &usize| families.ended[*child] && families.payoffs(*child)[group.role.index()] >= facts.max;
    families.family(seen.family?).find(is_won).map(|child| families.payoffs(child))
}

/// The node of a new position: one that is there already, or a new one. The last step is made to lead there.
fn plant<P: Position>(
    tree: &mut Tree<P>,
    last: Step,
    sprouts: &Sprouts<P>,
    sprout: usize,
    families: &Children<P::State, P::Move>,
    options: &MctsOptions,
) -> NodeId {
    // Another leaf of the round, or another thread, may have been faster.
    let child = tree.child(last.node, last.choice);
    if child != NodeId::NONE {
        return child;
    }
    let seen = &sprouts.list[sprout];
    let known = if options.transpositions && seen.state.is_some() {
        tree.find(seen.key, &sprouts.groups[seen.groups.clone()], &sprouts.moves[seen.moves.clone()])
    } else {
        None
    };
    let id = known.unwrap_or_else(|| tree.add(sprouts, sprout, Some(families)));
    debug_assert!(tree.node(id).kind != Kind::Ended || seen.state.is_none(), "ends are not found by key");
    tree.set_child(last.node, last.choice, id);
    id
}

fn oppose(facts: &Facts, us: Role, payoffs: &mut [f64]) {
    let ours = payoffs[us.index()];
    for player in facts.players.iter().filter(|&&player| player != us) {
        payoffs[player.index()] = facts.min + facts.max - ours;
    }
}

fn oppose_sums(facts: &Facts, us: Role, n: f64, sums: &mut [f64], squares: &mut [f64]) {
    let (sum, square) = (sums[us.index()], squares[us.index()]);
    let total = facts.min + facts.max;
    for player in facts.players.iter().filter(|&&player| player != us) {
        sums[player.index()] = total * n - sum;
        squares[player.index()] = total * total * n - 2.0 * total * sum + square;
    }
}
