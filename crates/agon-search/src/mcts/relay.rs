//! Where rounds change hands: from the thread that keeps the tree to those that play them out, and back.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agon_game::Position;

use super::patience::Patience;
use super::round::Round;

/// Rounds on their way between threads. Each lies there, or some thread has it: none is ever in two places.
pub(super) struct Relay<P: Position> {
    desk: Mutex<Desk<P>>,
    /// How many are ready and how many are played, for who waits to look at all the time.
    n_ready: AtomicUsize,
    n_played: AtomicUsize,
    /// Threads that wait for a round.
    n_waiting: AtomicUsize,
    is_over: AtomicBool,
    is_broken: AtomicBool,
}

struct Desk<P: Position> {
    /// Gathered, to be played out.
    ready: VecDeque<Box<Round<P>>>,
    /// Played out, to be put into the tree.
    played: VecDeque<Box<Round<P>>>,
}

impl<P: Position> Relay<P> {
    pub(super) fn new() -> Relay<P> {
        Relay {
            desk: Mutex::new(Desk { ready: VecDeque::new(), played: VecDeque::new() }),
            n_ready: AtomicUsize::new(0),
            n_played: AtomicUsize::new(0),
            n_waiting: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk<P>> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn n_ready(&self) -> usize {
        self.n_ready.load(Ordering::Relaxed)
    }

    pub(super) fn put_ready(&self, round: Box<Round<P>>) {
        let mut desk = self.desk();
        desk.ready.push_back(round);
        self.n_ready.store(desk.ready.len(), Ordering::Relaxed);
    }

    pub(super) fn take_ready(&self) -> Option<Box<Round<P>>> {
        if self.n_ready() == 0 {
            return None;
        }
        let mut desk = self.desk();
        let round = desk.ready.pop_front();
        self.n_ready.store(desk.ready.len(), Ordering::Relaxed);
        round
    }

    /// Waits for a round that is ready. None when it is over.
    pub(super) fn next_ready(&self) -> Option<Box<Round<P>>> {
        if let Some(round) = self.take_ready() {
            return Some(round);
        }
        self.n_waiting.fetch_add(1, Ordering::Relaxed);
        let mut patience = Patience::default();
        let mut ready = None;
        while ready.is_none() && !self.is_over.load(Ordering::Relaxed) {
            patience.wait();
            ready = self.take_ready();
        }
        self.n_waiting.fetch_sub(1, Ordering::Relaxed);
        ready
    }

    /// Whether somebody has nothing to go on with.
    pub(super) fn is_waited_for(&self) -> bool {
        self.n_waiting.load(Ordering::Relaxed) > self.n_ready()
    }

    pub(super) fn put_played(&self, round: Box<Round<P>>) {
        let mut desk = self.desk();
        desk.played.push_back(round);
        self.n_played.store(desk.played.len(), Ordering::Relaxed);
    }

    pub(super) fn take_played(&self) -> Option<Box<Round<P>>> {
        if self.n_played.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut desk = self.desk();
        let round = desk.played.pop_front();
        self.n_played.store(desk.played.len(), Ordering::Relaxed);
        round
    }

    /// Nobody is to begin another round.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Whether some thread has been lost, and perhaps a round with it.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// To be kept by every thread as long as it works on rounds: if it panics, the others do not wait for it.
    pub(super) fn presence(&self) -> Presence<'_, P> {
        Presence(self)
    }
}

pub(super) struct Presence<'r, P: Position>(&'r Relay<P>);

impl<P: Position> Drop for Presence<'_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_broken.store(true, Ordering::Relaxed);
            self.0.end();
        }
    }
}
