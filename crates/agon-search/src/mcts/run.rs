//! Rounds of leaves: gathered under the lock of the tree, looked at and played out without it, and backed up under it again.
//!
//! A thread that comes back while another has the tree does not wait for it if there is a round to go on with: whoever has the tree gathers
//! some for the others, and settles what they have left behind.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use agon_game::Position;

use super::options::MctsOptions;
use super::round::{Relay, Round};
use super::worker::{Shared, Worker};

/// Under a deadline a round should take no longer than this many seconds.
const LONG_ROUND: f64 = 0.004;
/// Under a deadline the best move so far is told again after so many seconds.
const TELL_AGAIN: f64 = 0.01;

/// Where the threads of a search meet.
pub(super) struct Meeting<'b, P: Position> {
    pub(super) shared: Mutex<Shared<'b, P>>,
    /// Asked for by who has the tree, or by who has nothing; never kept while the tree is waited for.
    relay: Mutex<Relay<P>>,
    /// The rounds that are ready, for who waits to look at all the time.
    n_ready: AtomicUsize,
    /// Threads that wait for the tree, or for a round.
    n_asking: AtomicUsize,
    /// The rounds that were settled, for who waits for one.
    n_settled: AtomicUsize,
    n_threads: usize,
}

impl<'b, P: Position> Meeting<'b, P> {
    pub(super) fn new(shared: Shared<'b, P>, n_threads: usize) -> Meeting<'b, P> {
        Meeting {
            shared: Mutex::new(shared),
            relay: Mutex::new(Relay::default()),
            n_ready: AtomicUsize::new(0),
            n_asking: AtomicUsize::new(0),
            n_settled: AtomicUsize::new(0),
            n_threads,
        }
    }

    fn relay(&self) -> MutexGuard<'_, Relay<P>> {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory for another round gathered ahead, if there should be another one: one for each other thread. With one more, what is gathered
    /// knows so little of what is under way that small budgets play worse for it.
    fn room_ahead(&self) -> Option<Box<Round<P>>> {
        let mut relay = self.relay();
        let is_wanted = relay.ready.len() + 1 < self.n_threads;
        is_wanted.then(|| relay.spare.pop_back().unwrap_or_else(|| Box::new(Round::new())))
    }

    fn tell_settled(&self) {
        self.n_settled.fetch_add(1, Ordering::Relaxed);
    }

    /// Leaves the tree to others until one of them has settled a round, or for a while.
    fn wait_for_settled<'m>(&'m self, guard: MutexGuard<'m, Shared<'b, P>>) -> MutexGuard<'m, Shared<'b, P>> {
        let n_settled = self.n_settled.load(Ordering::Relaxed);
        drop(guard);
        let mut patience = Patience::default();
        while self.n_settled.load(Ordering::Relaxed) == n_settled && !patience.is_at_end() {
            patience.wait();
        }
        self.lock()
    }

    /// The tree, if nobody has it.
    fn try_lock(&self) -> Option<MutexGuard<'_, Shared<'b, P>>> {
        match self.shared.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Takes a round that is ready.
    fn take_ready(&self) -> Option<Box<Round<P>>> {
        if self.n_ready.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut relay = self.relay();
        let ahead = relay.ready.pop_front();
        self.n_ready.store(relay.ready.len(), Ordering::Relaxed);
        ahead
    }

    fn put_ready(&self, ahead: Box<Round<P>>) {
        let mut relay = self.relay();
        relay.ready.push_back(ahead);
        self.n_ready.store(relay.ready.len(), Ordering::Relaxed);
    }

    /// Waits for the tree, or, if that will do, for a round to go on with.
    ///
    /// The tree is never kept for long. Who goes to sleep for it may find it taken again on waking up, which takes longer than most rounds,
    /// time after time, while what it has found is missing in the tree: so it is asked for until it is there.
    fn next(&self, takes_rounds: bool) -> Next<'_, 'b, P> {
        if let Some(guard) = self.try_lock() {
            return Next::Tree(guard);
        }
        self.n_asking.fetch_add(1, Ordering::Relaxed);
        let mut patience = Patience::default();
        let next = loop {
            if takes_rounds && let Some(ahead) = self.take_ready() {
                break Next::Round(ahead);
            }
            if let Some(guard) = self.try_lock() {
                break Next::Tree(guard);
            }
            patience.wait();
        };
        self.n_asking.fetch_sub(1, Ordering::Relaxed);
        next
    }

    /// Whether somebody has nothing to go on with.
    fn is_asked(&self) -> bool {
        self.n_asking.load(Ordering::Relaxed) > 0
    }

    fn lock(&self) -> MutexGuard<'_, Shared<'b, P>> {
        let mut patience = Patience::default();
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            patience.wait();
        }
    }
}

/// How long to wait until something is asked for again: hardly at all to begin with; then others that want the processor have it; and in the
/// end, when somebody makes room in a full tree, it is left alone for a while.
#[derive(Default)]
struct Patience {
    n_waits: u32,
}

impl Patience {
    /// Some 100 microseconds, as the tree is kept for a round.
    const SPINS: u32 = 1000;
    /// Some milliseconds where nobody else wants the processor.
    const YIELDS: u32 = 10_000;
    const NAP: Duration = Duration::from_micros(50);

    /// Whether others have had milliseconds.
    fn is_at_end(&self) -> bool {
        self.n_waits > Patience::SPINS + Patience::YIELDS
    }

    fn wait(&mut self) {
        self.n_waits = self.n_waits.saturating_add(1);
        if self.n_waits <= Patience::SPINS {
            for _ in 0..4 {
                std::hint::spin_loop();
            }
        } else if !self.is_at_end() {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Patience::NAP);
        }
    }
}

/// What a thread goes on with.
enum Next<'m, 'b, P: Position> {
    Tree(MutexGuard<'m, Shared<'b, P>>),
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
        mut guard: MutexGuard<'m, Shared<'b, P>>,
        meeting: &'m Meeting<'b, P>,
        options: &MctsOptions,
    ) -> Option<MutexGuard<'m, Shared<'b, P>>> {
        loop {
            if guard.n_left() == 0 && !self.is_late() && self.take_ahead(meeting) {
                return Some(guard);
            }
            if guard.is_done() {
                let ahead = meeting.take_ready()?;
                withdraw(&mut guard, &ahead);
                meeting.tell_settled();
            } else if guard.tree.nodes.len() >= options.max_nodes {
                if guard.n_in_flight == 0 {
                    if !guard.tree.is_recycled_by(self.deadline) {
                        return None;
                    }
                    guard.tree.recycle(options.max_nodes / 2);
                } else if self.take_ahead(meeting) {
                    return Some(guard);
                } else {
                    guard = meeting.wait_for_settled(guard);
                }
            } else if self.take_ahead(meeting) {
                // Nobody came for it. If it were left there, it would be long until anybody knows what comes of it.
                return Some(guard);
            } else {
                self.serve_others(&mut guard, meeting, options);
                self.gather(&mut guard, options);
                if !self.round.leaves.is_empty() || guard.n_in_flight == 0 {
                    guard.n_in_flight += 1;
                    return Some(guard);
                }
                // All that is worth it is under way.
                guard = meeting.wait_for_settled(guard);
            }
            self.settle_played(&mut guard, meeting, options);
        }
    }

    /// Goes on with a round that is ready, if there is one.
    fn take_ahead(&mut self, meeting: &Meeting<'_, P>) -> bool {
        let Some(ahead) = meeting.take_ready() else { return false };
        let used = std::mem::replace(&mut self.round, ahead);
        meeting.relay().spare.push_back(used);
        true
    }

    /// Gathers a round for the other threads, if they have not enough.
    fn serve_others(&mut self, shared: &mut Shared<'_, P>, meeting: &Meeting<'_, P>, options: &MctsOptions) {
        if meeting.n_threads == 1
            || !meeting.is_asked()
            || !self.plays_in_bulk(options)
            || shared.is_done()
            || shared.tree.nodes.len() >= options.max_nodes
        {
            return;
        }
        let Some(spare) = meeting.room_ahead() else { return };
        let own = std::mem::replace(&mut self.round, spare);
        self.gather(shared, options);
        let ahead = std::mem::replace(&mut self.round, own);
        if ahead.leaves.is_empty() {
            meeting.relay().spare.push_back(ahead);
        } else {
            shared.n_in_flight += 1;
            meeting.put_ready(ahead);
        }
    }

    /// Plays out the round in hand, and others in its stead as long as the tree is busy. How many they were, and the tree.
    fn play_rounds<'m, 'b>(
        &mut self,
        meeting: &'m Meeting<'b, P>,
        options: &MctsOptions,
    ) -> (MutexGuard<'m, Shared<'b, P>>, u32) {
        let mut n_rounds = 0;
        loop {
            self.look_at_leaves(options);
            self.play_out_leaves(options);
            n_rounds += 1;
            match meeting.next(!self.is_late()) {
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
        meeting.tell_settled();
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
