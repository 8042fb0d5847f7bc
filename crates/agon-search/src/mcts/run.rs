//! Rounds of leaves: gathered from the tree, looked at and played out, and put into the tree.
//!
//! Here threads take turns at the tree, which is all that is wanted of one thread, and of several whose playouts take much longer than what is
//! done in the tree for them. For others see [`super::keep`].

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Instant;

use agon_game::Position;

use super::options::MctsOptions;
use super::patience::Patience;
use super::round::Round;
use super::worker::{Shared, Worker};

/// Under a deadline a round should take no longer than this many seconds.
const LONG_ROUND: f64 = 0.004;
/// Under a deadline the best move so far is told again after so many seconds.
const TELL_AGAIN: f64 = 0.01;

/// Tells the best move so far, now and then.
pub(super) struct Pace {
    told: f64,
}

impl Pace {
    /// What was found in earlier moves is an answer already.
    pub(super) fn begin<P: Position>(shared: &Shared<'_, P>) -> Pace {
        shared.tell_best();
        Pace { told: shared.meter.seconds() }
    }

    pub(super) fn keep<P: Position>(&mut self, shared: &Shared<'_, P>) {
        if shared.budget.deadline.is_some() {
            let now = shared.meter.seconds();
            if now - self.told > TELL_AGAIN {
                self.told = now;
                shared.tell_best();
            }
        }
    }
}

impl<P: Position> Worker<P> {
    /// Works until the budget is used up or all is proved.
    pub(super) fn take_turns(&mut self, meeting: &Mutex<Shared<'_, P>>, options: &MctsOptions) {
        let mut guard = lock(meeting);
        let mut pace = Pace::begin(&guard);
        let mut patience = Patience::default();
        while !guard.is_done() {
            if guard.tree.nodes.len() >= options.max_nodes {
                if guard.n_in_flight == 0 && !self.makes_room(&mut guard, options) {
                    return;
                }
            } else {
                self.gather(&mut guard, options);
                if !self.round.leaves.is_empty() {
                    guard.n_in_flight += 1;
                    drop(guard);
                    let began = self.deadline.map(|_| Instant::now());
                    self.look_at_leaves(options);
                    self.play_out_leaves(options);
                    self.suit_rounds(
                        began.map_or(0.0, |began| began.elapsed().as_secs_f64()),
                        options,
                    );
                    guard = lock(meeting);
                    self.settle(&mut guard, options);
                    guard.n_in_flight -= 1;
                    pace.keep(&guard);
                    patience = Patience::default();
                    continue;
                }
            }
            if guard.n_in_flight > 0 {
                // The tree is full, or all that is worth it is under way: others come back soon.
                drop(guard);
                patience.wait();
                guard = lock(meeting);
            }
        }
    }

    /// Makes room in a full tree, unless that takes too long.
    pub(super) fn makes_room(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) -> bool {
        let is_made = shared.tree.is_recycled_by(self.deadline);
        if is_made {
            shared.tree.recycle(options.max_nodes / 2);
        }
        is_made
    }

    /// Rounds have fewer leaves from now on if one took so many seconds and that is too long, and more if it was short.
    pub(super) fn suit_rounds(&mut self, seconds: f64, options: &MctsOptions) {
        if self.deadline.is_some() {
            self.under_way = match seconds {
                long if long > LONG_ROUND => (self.under_way / 2).max(self.n_rounds),
                short if short < LONG_ROUND / 4.0 => {
                    (self.under_way * 2).min(options.round().at_once)
                }
                _ => self.under_way,
            };
        }
    }

    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The tree is never kept for long. Who goes to sleep for it may find it taken again on waking up, which takes longer than most rounds, time
/// after time, while what it has found is missing in the tree: so it is asked for until it is there.
fn lock<'m, 'b, P: Position>(meeting: &'m Mutex<Shared<'b, P>>) -> MutexGuard<'m, Shared<'b, P>> {
    let mut patience = Patience::default();
    loop {
        match meeting.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => patience.wait(),
        }
    }
}

/// Takes a round back that nothing was done for.
pub(super) fn withdraw<P: Position>(shared: &mut Shared<'_, P>, round: &Round<P>) {
    for &step in round.steps.iter().rev() {
        shared.tree.unmark(step);
    }
    shared.meter.n_iterations -= round.leaves.iter().map(|leaf| u64::from(leaf.n)).sum::<u64>();
    shared.n_in_flight -= 1;
}
