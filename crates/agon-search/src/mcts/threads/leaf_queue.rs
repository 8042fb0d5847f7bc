//! The queue through which batches go from the coordinator to the helpers, and back.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agon_game::Position;

use super::backoff::Backoff;
use crate::mcts::leaf_batch::LeafBatch;

/// Batches on their way between threads. A batch is in the queue, or one thread has it; it is never
/// in two places.
pub(crate) struct LeafQueue<P: Position> {
    lists: Mutex<Lists<P>>,
    /// The lengths of the lists, for threads that wait and read them all the time.
    n_ready: AtomicUsize,
    n_played: AtomicUsize,
    /// The number of helpers that wait for a batch.
    n_waiting: AtomicUsize,
    is_closed: AtomicBool,
    /// Whether a thread has panicked.
    is_broken: AtomicBool,
}

struct Lists<P: Position> {
    /// Gathered, to be simulated.
    ready: VecDeque<Box<LeafBatch<P>>>,
    /// Simulated, to be applied to the tree.
    played: VecDeque<Box<LeafBatch<P>>>,
}

impl<P: Position> LeafQueue<P> {
    pub(crate) fn new() -> LeafQueue<P> {
        LeafQueue {
            lists: Mutex::new(Lists { ready: VecDeque::new(), played: VecDeque::new() }),
            n_ready: AtomicUsize::new(0),
            n_played: AtomicUsize::new(0),
            n_waiting: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
        }
    }

    fn lists(&self) -> MutexGuard<'_, Lists<P>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn n_ready(&self) -> usize {
        self.n_ready.load(Ordering::Relaxed)
    }

    /// Adds a batch to be simulated.
    pub(crate) fn put_ready(&self, batch: Box<LeafBatch<P>>) {
        let mut lists = self.lists();
        lists.ready.push_back(batch);
        self.n_ready.store(lists.ready.len(), Ordering::Relaxed);
    }

    /// Takes a batch to be simulated, if there is one.
    pub(super) fn take_ready(&self) -> Option<Box<LeafBatch<P>>> {
        if self.n_ready() == 0 {
            return None;
        }
        let mut lists = self.lists();
        let batch = lists.ready.pop_front();
        self.n_ready.store(lists.ready.len(), Ordering::Relaxed);
        batch
    }

    /// Waits for a batch to be simulated. Returns None when the queue is closed.
    pub(crate) fn wait_for_ready(&self) -> Option<Box<LeafBatch<P>>> {
        if let Some(batch) = self.take_ready() {
            return Some(batch);
        }
        self.n_waiting.fetch_add(1, Ordering::Relaxed);
        let mut backoff = Backoff::default();
        let mut ready = None;
        while ready.is_none() && !self.is_closed.load(Ordering::Relaxed) {
            backoff.wait();
            ready = self.take_ready();
        }
        self.n_waiting.fetch_sub(1, Ordering::Relaxed);
        ready
    }

    /// Returns whether a helper waits and there is no batch for it.
    pub(super) fn is_starving(&self) -> bool {
        self.n_waiting.load(Ordering::Relaxed) > self.n_ready()
    }

    /// Adds a batch that was simulated.
    pub(super) fn put_played(&self, batch: Box<LeafBatch<P>>) {
        let mut lists = self.lists();
        lists.played.push_back(batch);
        self.n_played.store(lists.played.len(), Ordering::Relaxed);
    }

    /// Takes a batch that was simulated, if there is one.
    pub(super) fn take_played(&self) -> Option<Box<LeafBatch<P>>> {
        if self.n_played.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut lists = self.lists();
        let batch = lists.played.pop_front();
        self.n_played.store(lists.played.len(), Ordering::Relaxed);
        batch
    }

    /// Closes the queue: helpers finish the batch that they have and stop.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Returns whether a thread has panicked, and perhaps lost a batch.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Returns a guard that every thread holds as long as it works on batches. If the thread
    /// panics, the guard closes the queue, so that the others do not wait for it.
    pub(crate) fn panic_guard(&self) -> PanicGuard<'_, P> {
        PanicGuard(self)
    }
}

pub(crate) struct PanicGuard<'q, P: Position>(&'q LeafQueue<P>);

impl<P: Position> Drop for PanicGuard<'_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_broken.store(true, Ordering::Relaxed);
            self.0.close();
        }
    }
}
