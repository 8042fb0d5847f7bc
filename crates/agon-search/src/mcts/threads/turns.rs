//! Threads that take turns at the tree: each gathers a batch, simulates it without the tree, and
//! applies the results. Also the way of a search with one thread.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Instant;

use agon_game::Position;

use super::backoff::Backoff;
use super::shared::{HintTimer, Shared};
use crate::mcts::options::MctsOptions;
use crate::mcts::worker::Worker;

impl<P: Position> Worker<P> {
    /// Works until the budget is used up or our payoff is proved.
    pub(crate) fn take_turns(&mut self, shared: &Mutex<Shared<'_, P>>, options: &MctsOptions) {
        let mut guard = lock(shared);
        let mut hint = HintTimer::start(&guard);
        let mut backoff = Backoff::default();
        while !guard.is_done() {
            if guard.tree.nodes.len() >= options.max_nodes {
                if guard.n_in_flight == 0 && !self.recycle_in_time(&mut guard, options) {
                    return;
                }
            } else {
                self.gather(&mut guard, options);
                if !self.batch.leaves.is_empty() {
                    guard.n_in_flight += 1;
                    drop(guard);
                    self.simulate_in_turn(options);
                    guard = lock(shared);
                    self.apply_results(&mut guard, options);
                    guard.n_in_flight -= 1;
                    hint.tick(&guard);
                    backoff = Backoff::default();
                    continue;
                }
            }
            if guard.n_in_flight > 0 {
                // The tree is full, or all leaves that are worth a visit are in flight: the other
                // threads come back soon.
                drop(guard);
                backoff.wait();
                guard = lock(shared);
            }
        }
    }

    fn simulate_in_turn(&mut self, options: &MctsOptions) {
        let began = self.deadline.map(|_| Instant::now());
        self.examine_leaves(options);
        self.play_out_leaves(options);
        let seconds = began.map_or(0.0, |began| began.elapsed().as_secs_f64());
        self.size.adapt(seconds, options);
    }
}

/// Locks the shared state. Threads hold the lock only for a short time. A thread that sleeps for it
/// may find it taken again when it wakes up, and waking up takes longer than most batches;
/// meanwhile its results are missing in the tree. So it asks again and again.
fn lock<'m, 'b, P: Position>(shared: &'m Mutex<Shared<'b, P>>) -> MutexGuard<'m, Shared<'b, P>> {
    let mut backoff = Backoff::default();
    loop {
        match shared.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => backoff.wait(),
        }
    }
}
