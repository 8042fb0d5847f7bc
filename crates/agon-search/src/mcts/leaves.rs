//! What the leaves of a round are, and what playouts from them pay: all without the lock of the tree.

use std::time::Instant;

use agon_game::{Batch, Order, Position, Role};

use super::options::{MctsOptions, Others};
use super::playout::play_out;
use super::round::Round;
use super::select::End;
use super::sprout::Sprouts;
use super::tree::Facts;
use super::worker::Worker;
use crate::budget::play_out_in_time;

/// Children of a new position are looked at if there are no more than one pass of an engine takes.
pub(super) const MAX_LOOK: usize = 256;
/// The steps by which an engine's speed is found out; never fewer than these are asked for.
const FEW_STEPS: u64 = 8;
/// Playouts that engines run at a time, more or less.
const LANES: f64 = 256.0;

impl<P: Position> Worker<P> {
    /// Finds out what the new positions are, and what their children are if an engine shows them at once.
    pub(super) fn look_at_leaves(&mut self, options: &MctsOptions) {
        self.round.sprouts.clear();
        let n_roles = self.facts.n_roles;
        let is_bulk = self.plays_in_bulk(options);
        let Worker { round, position, children, heuristic, lockstep, .. } = self;
        let Round { leaves, joints, sprouts, .. } = &mut **round;
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
        } else if options.plays_abreast() {
            for (at, leaf) in leaves.iter_mut().enumerate() {
                let Some(state) = &leaf.state else { continue };
                let position = lockstep.seat(at, position);
                position.go_to(state);
                if leaf.end == End::Open {
                    position.advance(&joints[leaf.joint..leaf.joint + n_roles]);
                    leaf.sprout = Some(sprouts.push_position(position));
                }
            }
        } else {
            // One leaf; the position stays there for the playout.
            for leaf in leaves.iter_mut() {
                let Some(state) = &leaf.state else { continue };
                position.go_to(state);
                if leaf.end == End::Open {
                    position.advance(&joints[leaf.joint..leaf.joint + n_roles]);
                    leaf.sprout = Some(sprouts.push_position(position));
                    if let Some(heuristic) =
                        heuristic.as_mut().filter(|_| options.heuristic.implicit > 0.0)
                    {
                        heuristic.push_worths(position, &mut sprouts.worths);
                    }
                }
            }
        }
        self.round.n_seen = self.round.sprouts.list.len() as u64;
        if options.look_ahead
            && let Some(batch) = &mut self.batch
        {
            look_ahead(&mut **batch, &mut self.round.sprouts);
            self.round.n_seen += self.round.sprouts.ends.n_looked_at;
        }
        self.take_view(options);
        self.round.sprouts.judge_ends(&self.facts);
    }

    /// Payoffs as we think of them: where all are against us, the others want what we do not.
    pub(super) fn take_view(&mut self, options: &MctsOptions) {
        if options.others == Others::MaxN {
            return;
        }
        for payoffs in self.round.sprouts.payoffs.chunks_mut(self.facts.n_roles) {
            oppose(&self.facts, self.us, payoffs);
        }
        for worths in self.round.sprouts.worths.chunks_mut(self.facts.n_roles) {
            oppose(&self.facts, self.us, worths);
        }
        for payoffs in self.round.sprouts.ends.payoffs.chunks_mut(self.facts.n_roles) {
            oppose(&self.facts, self.us, payoffs);
        }
    }

    /// Plays out from all leaves that are not decided.
    pub(super) fn play_out_leaves(&mut self, options: &MctsOptions) {
        self.start_playouts(options);
        while !self.play_on(u64::MAX) {}
        self.finish_playouts(options);
    }

    /// Begins to play out from all leaves that are not decided. Where engines do not do that in bulk, it is done at once.
    pub(super) fn start_playouts(&mut self, options: &MctsOptions) {
        let n_roles = self.facts.n_roles;
        self.round.results.clear();
        self.round.results.resize(self.round.leaves.len() * 2 * n_roles, 0.0);
        self.round.n_playouts = 0;
        self.play_seconds = 0.0;
        // Taken out while they are filled, so that their memory is used again.
        let mut orders = std::mem::take(&mut self.orders);
        let mut ordered = std::mem::take(&mut self.ordered);
        orders.clear();
        ordered.clear();
        for at in 0..self.round.leaves.len() {
            let leaf = &self.round.leaves[at];
            let n = f64::from(leaf.n);
            let known =
                leaf.sprout.and_then(|sprout| self.round.sprouts.decided(sprout, &self.facts));
            if let Some(payoffs) = known {
                if let Some(policy) = &mut self.policy {
                    policy.learn(payoffs);
                }
                for (role, &payoff) in payoffs.iter().enumerate() {
                    self.round.results[at * 2 * n_roles + role] = payoff * n;
                    self.round.results[(at * 2 + 1) * n_roles + role] = payoff * payoff * n;
                }
                continue;
            }
            if let End::Exact(_) = leaf.end {
                continue;
            }
            self.round.n_playouts += u64::from(leaf.n);
            if self.plays_in_bulk(options) {
                let seen =
                    leaf.sprout.and_then(|sprout| self.round.sprouts.list[sprout].state.as_ref());
                let state = seen.or(leaf.state.as_ref()).expect("there is play to go on").clone();
                orders.push(Order {
                    state,
                    n_playouts: u64::from(leaf.n),
                    expected_steps: leaf.length.into(),
                });
                ordered.push(at);
            } else if options.plays_abreast() {
                ordered.push(at);
            } else {
                self.play_out_one(at, options);
            }
        }
        if !orders.is_empty() {
            let max_steps = self.max_steps(&orders, options);
            let batch = self.batch.as_mut().expect("what plays in bulk is there");
            batch.take_orders(&orders, max_steps);
        } else if !ordered.is_empty() {
            self.play_out_abreast(&ordered, options);
        }
        (self.orders, self.ordered) = (orders, ordered);
    }

    /// Plays on for about so many steps. Whether all playouts have been made.
    pub(super) fn play_on(&mut self, n_steps: u64) -> bool {
        let Some(batch) = self.batch.as_mut().filter(|_| !self.orders.is_empty()) else {
            return true;
        };
        let Some(_) = self.deadline else { return batch.go_on(n_steps) };
        let began = Instant::now();
        let is_done = batch.go_on(n_steps);
        self.play_seconds += began.elapsed().as_secs_f64();
        is_done
    }

    /// Takes in what came of the playouts, once all have been made.
    pub(super) fn finish_playouts(&mut self, options: &MctsOptions) {
        let n_roles = self.facts.n_roles;
        let Some(batch) = self.batch.as_mut().filter(|_| !self.orders.is_empty()) else { return };
        batch.deliver(&mut self.tallies);
        let tallies = &self.tallies;
        if self.deadline.is_some() {
            // The steps of the longest playout are not known; by the mean the time for one is rather over- than
            // underestimated.
            let (n, steps) = tallies
                .iter()
                .fold((0, 0), |(n, steps), tally| (n + tally.n_playouts, steps + tally.n_steps));
            let n_steps = steps as f64 / n.max(1) as f64 * (n as f64 / LANES).max(1.0);
            let now = self.play_seconds / n_steps.max(1.0);
            self.step_seconds = Some(self.step_seconds.map_or(now, |before| 0.5 * (before + now)));
        }
        for (&at, tally) in self.ordered.iter().zip(tallies) {
            let (sums, squares) =
                self.round.results[at * 2 * n_roles..][..2 * n_roles].split_at_mut(n_roles);
            sums.copy_from_slice(&tally.payoff_sums);
            squares.copy_from_slice(&tally.square_sums);
            let length = tally.n_steps / tally.n_playouts.max(1);
            self.round.leaves[at].length = u16::try_from(length).unwrap_or(u16::MAX);
            if options.others == Others::Paranoid {
                oppose_sums(
                    &self.facts,
                    self.us,
                    f64::from(self.round.leaves[at].n),
                    sums,
                    squares,
                );
            }
        }
    }

    fn play_out_one(&mut self, at: usize, options: &MctsOptions) {
        let n_roles = self.facts.n_roles;
        let start = self.round.record.len();
        if options.needs_moves() {
            play_out(
                &mut self.position,
                self.policy.as_mut(),
                self.heuristic
                    .as_mut()
                    .filter(|_| options.heuristic.playout)
                    .map(|h| (h, options.heuristic)),
                &mut self.rng,
                (options.max_playout_steps, self.deadline),
                &mut self.round.record,
                &mut self.scratch,
            );
        } else {
            let most = options.max_playout_steps as usize;
            play_out_in_time(&mut self.position, &mut self.rng, most, self.deadline);
        }
        self.round.leaves[at].record = start..self.round.record.len();
        let (sums, squares) =
            self.round.results[at * 2 * n_roles..][..2 * n_roles].split_at_mut(n_roles);
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
}

/// Looks at all children of the new positions, for whether play has ended there.
pub(super) fn look_ahead<P: Position>(
    batch: &mut dyn Batch<State = P::State, Move = P::Move>,
    sprouts: &mut Sprouts<P>,
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
    batch.look_ahead(&states, &mut sprouts.ends);
}

pub(super) fn oppose(facts: &Facts, us: Role, payoffs: &mut [f64]) {
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
