//! Rounds of leaves: gathered under the lock of the tree, looked at and played out without it, and backed up under it again.
//!
//! A thread that comes back while another has the tree does not wait for it if there is a round to go on with: whoever has the tree gathers
//! some for the others, and settles what they have left behind.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use agon_game::Position;

use super::options::MctsOptions;
use super::round::{Relay, Round};
use super::worker::{Shared, Worker};

/// Under a deadline a round should take no longer than this many seconds.
const LONG_ROUND: f64 = 0.004;
/// Under a deadline the best move so far is told again after so many seconds.
const TELL_AGAIN: f64 = 0.01;

/// From so many rounds on a few more under way are no matter.
const LARGE_TREE: u64 = 256;
/// So many rounds are then gathered ahead for each other thread. In connect four, where half of the work is in the tree, 3 keep the others so busy
/// that they hardly ever have to take it: 1.76 times one thread instead of 1.60 (medians of seven).
const FAR_AHEAD: usize = 3;

/// Where the threads of a search meet.
pub(super) struct Meeting<'b, P: Position> {
    shared: Apart<Mutex<Apart<Shared<'b, P>>>>,
    /// Asked for by who has the tree, or by who has nothing; never kept while the tree is waited for.
    relay: Apart<Mutex<Relay<P>>>,
    /// How many rounds are ready there, for those who look often.
    n_ready: Apart<AtomicUsize>,
    /// A round was settled.
    settled: Condvar,
    n_threads: usize,
}

/// Alone in its lines of memory: a lock that is asked for again and again by one thread must not take away what another one, which has it,
/// works with.
#[repr(align(128))]
struct Apart<T>(T);

impl<T> Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Apart<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// The tree, for who has it.
type Guard<'m, 'b, P> = MutexGuard<'m, Apart<Shared<'b, P>>>;

impl<'b, P: Position> Meeting<'b, P> {
    pub(super) fn new(shared: Shared<'b, P>, n_threads: usize) -> Meeting<'b, P> {
        Meeting {
            shared: Apart(Mutex::new(Apart(shared))),
            relay: Apart(Mutex::new(Relay::default())),
            n_ready: Apart(AtomicUsize::new(0)),
            settled: Condvar::new(),
            n_threads,
        }
    }

    /// What was worked on, when all threads are done.
    pub(super) fn into_shared(self) -> Shared<'b, P> {
        self.shared.0.into_inner().unwrap_or_else(PoisonError::into_inner).0
    }

    fn relay(&self) -> MutexGuard<'_, Relay<P>> {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A round that was gathered ahead, if there is one.
    fn take_ready(&self) -> Option<Box<Round<P>>> {
        if self.n_ready.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut relay = self.relay();
        let ahead = relay.ready.pop_front();
        self.n_ready.store(relay.ready.len(), Ordering::Relaxed);
        ahead
    }

    /// Memory for another round gathered ahead, if there should be another one: so many for each other thread.
    fn room_ahead(&self, n_each: usize, n_roles: usize) -> Option<Box<Round<P>>> {
        let mut relay = self.relay();
        let is_wanted = relay.ready.len() < n_each * (self.n_threads - 1);
        is_wanted.then(|| relay.spare.pop_back().unwrap_or_else(|| Box::new(Round::new(n_roles))))
    }

    /// Wakes up who waits for rounds to be settled. To ask the system for that takes a while, and mostly nobody waits.
    fn tell_settled(&self, shared: &Shared<'_, P>) {
        if shared.n_waiting > 0 {
            self.settled.notify_all();
        }
    }

    /// The tree, if nobody has it.
    fn try_lock(&self) -> Option<Guard<'_, 'b, P>> {
        match self.shared.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Waits for the tree, or, if that will do, for a round to go on with. The tree is never kept for long, so where there are several
    /// threads it is asked for a while before going to sleep, from which waking up takes longer than most rounds, and where nobody looks
    /// for rounds. One thread keeps the tree: it has that whenever it can, and the others take a round if there is one, so that most of the
    /// tree stays in the memory next to one processor.
    fn next(&self, takes_rounds: bool, keeps_tree: bool) -> Next<'_, 'b, P> {
        /// A tenth of a millisecond or so.
        const TIMES_AWAKE: usize = 500;
        /// After that others may have the processor in between.
        const TIMES: usize = 2000;
        let n_times = if self.n_threads > 1 { TIMES } else { 0 };
        for time in 0..n_times {
            if keeps_tree && let Some(guard) = self.try_lock() {
                return Next::Tree(guard);
            }
            if takes_rounds && let Some(ahead) = self.take_ready() {
                return Next::Round(ahead);
            }
            if let Some(guard) = self.try_lock() {
                return Next::Tree(guard);
            }
            if time < TIMES_AWAKE {
                for _ in 0..4 {
                    std::hint::spin_loop();
                }
            } else {
                std::thread::yield_now();
            }
        }
        Next::Tree(self.lock())
    }

    fn lock(&self) -> Guard<'_, 'b, P> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a thread goes on with.
enum Next<'m, 'b, P: Position> {
    Tree(Guard<'m, 'b, P>),
    Round(Box<Round<P>>),
}

impl<P: Position> Worker<P> {
    /// Works until the budget is used up or all is proved.
    pub(super) fn run(&mut self, meeting: &Meeting<'_, P>, options: &MctsOptions) {
        let mut guard = meeting.lock();
        let mut since = guard.meter.seconds();
        // What was found in earlier moves is an answer already.
        let mut told = since;
        guard.tell_best();
        while let Some(held) = self.take_round(guard, meeting, options) {
            drop(held);
            let n_rounds;
            (guard, n_rounds) = self.play_rounds(meeting, options);
            self.serve_others(&mut guard, meeting, options);
            self.settle_round(&mut guard, meeting, options);
            self.settle_played(&mut guard, meeting, options);
            if guard.budget.deadline.is_some() {
                let now = guard.meter.seconds();
                let most = options.round().at_once.max(1);
                self.at_once = match (now - since) / f64::from(n_rounds) {
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

    /// Takes a round to be played out, and gathers some ahead for the other threads. None when all is done.
    fn take_round<'m, 'b>(
        &mut self,
        mut guard: Guard<'m, 'b, P>,
        meeting: &'m Meeting<'b, P>,
        options: &MctsOptions,
    ) -> Option<Guard<'m, 'b, P>> {
        loop {
            if guard.n_left() == 0
                && !self.is_late()
                && let Some(ahead) = meeting.take_ready()
            {
                self.round = ahead;
                return Some(guard);
            }
            if guard.is_done() {
                let ahead = meeting.take_ready()?;
                withdraw(&mut guard, &ahead);
                meeting.tell_settled(&guard);
            } else if guard.tree.nodes.len() >= options.max_nodes {
                if guard.n_in_flight == 0 {
                    if !guard.tree.is_recycled_by(self.deadline) {
                        return None;
                    }
                    guard.tree.recycle(options.max_nodes / 2);
                } else if let Some(ahead) = meeting.take_ready() {
                    self.round = ahead;
                    return Some(guard);
                } else {
                    guard.n_waiting += 1;
                    guard = meeting.settled.wait(guard).unwrap_or_else(PoisonError::into_inner);
                    guard.n_waiting -= 1;
                }
            } else if !self.serve_others(&mut guard, meeting, options) {
                break;
            }
            self.settle_played(&mut guard, meeting, options);
        }
        self.gather(&mut guard, options);
        guard.n_in_flight += 1;
        Some(guard)
    }

    /// Gathers a round for the other threads, if they have not enough. Whether it did.
    fn serve_others(
        &mut self,
        shared: &mut Shared<'_, P>,
        meeting: &Meeting<'_, P>,
        options: &MctsOptions,
    ) -> bool {
        if meeting.n_threads == 1
            || !self.plays_in_bulk(options)
            || shared.n_left() == 0
            || shared.tree.nodes.len() >= options.max_nodes
        {
            return false;
        }
        // What is gathered far ahead knows little of what is under way: while the tree is small, it plays worse for it.
        let n_known =
            shared.tree.node(shared.tree.root).visits / (u64::from(self.playouts) * u64::from(self.at_once));
        let n_each = if n_known < LARGE_TREE { 1 } else { FAR_AHEAD };
        let Some(spare) = meeting.room_ahead(n_each, self.facts.n_roles) else { return false };
        let own = std::mem::replace(&mut self.round, spare);
        self.gather(shared, options);
        shared.n_in_flight += 1;
        let ahead = std::mem::replace(&mut self.round, own);
        let mut relay = meeting.relay();
        relay.ready.push_back(ahead);
        meeting.n_ready.store(relay.ready.len(), Ordering::Relaxed);
        true
    }

    /// Plays out the round in hand, and others in its stead as long as the tree is busy. How many they were, and the tree.
    fn play_rounds<'m, 'b>(
        &mut self,
        meeting: &'m Meeting<'b, P>,
        options: &MctsOptions,
    ) -> (Guard<'m, 'b, P>, u32) {
        let mut n_rounds = 0;
        loop {
            self.look_at_leaves(options);
            self.play_out_leaves(options);
            n_rounds += 1;
            match meeting.next(!self.is_late(), self.keeps_tree) {
                Next::Tree(guard) => return (guard, n_rounds),
                Next::Round(ahead) => {
                    let played = std::mem::replace(&mut self.round, ahead);
                    meeting.relay().played.push_back(played);
                }
            }
        }
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn settle_round(&mut self, shared: &mut Shared<'_, P>, meeting: &Meeting<'_, P>, options: &MctsOptions) {
        self.settle(shared, options);
        shared.n_in_flight -= 1;
        meeting.tell_settled(shared);
    }

    /// Settles what was left behind because the tree was busy.
    fn settle_played(&mut self, shared: &mut Shared<'_, P>, meeting: &Meeting<'_, P>, options: &MctsOptions) {
        loop {
            let Some(played) = meeting.relay().played.pop_front() else { return };
            self.serve_others(shared, meeting, options);
            let own = std::mem::replace(&mut self.round, played);
            self.settle_round(shared, meeting, options);
            let used = std::mem::replace(&mut self.round, own);
            meeting.relay().spare.push_back(used);
        }
    }
}

/// Takes a round back that nothing was done for.
fn withdraw<P: Position>(shared: &mut Shared<'_, P>, round: &Round<P>) {
    for &step in round.steps.iter().rev() {
        shared.tree.unmark(step);
    }
    shared.meter.n_iterations -= round.leaves.iter().map(|leaf| u64::from(leaf.n)).sum::<u64>();
    shared.n_in_flight -= 1;
}
