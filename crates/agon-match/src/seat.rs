//! A player in a seat: a thread that thinks while a referee or a server keeps the clock.
//!
//! The owner sends orders and never waits for the thread longer than it wants to. Before a player
//! thinks, it publishes its legal moves, and its search reports the best move so far as an index
//! among them. If the player does not answer in time, because the machine is busy or one step takes
//! long, the owner takes the move from [`PlayerThread::best_so_far`].
//!
//! After an answer the owner may let the player ponder ([`PlayerThread::ponder`]). Every later order
//! ends that first, so the owner need not care whether the player ponders.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_game::{Budget, Hint, Observation};

use crate::{Choice, Player, PlayerError};

/// Stack size of a player's thread: proofs go as deep as games are long.
const STACK: usize = 64 << 20;
/// A player ponders for at most this number of play clocks. The other players have one, and hosts
/// add time for the network.
const PONDER_CLOCKS: u32 = 4;

/// A question to a player.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Question {
    /// Prepare before the first move.
    Prepare,
    /// Choose a move.
    Choose,
}

/// The answer of a player to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The player has prepared, or could not.
    Ready(Result<(), PlayerError>),
    /// The player has chosen, or could not.
    Choice(Result<Choice, PlayerError>),
    /// The thread has ended.
    Gone,
}

/// An answer, with the seat and the question it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The number that the owner gave the seat.
    pub seat: usize,
    /// The number that the owner gave the question; 0 for [`Answer::Gone`].
    pub serial: u64,
    /// The answer.
    pub answer: Answer,
}

/// The thread of a player. Dropping it ends the thread after its current work.
pub struct PlayerThread {
    seat: usize,
    /// The budget of the last order to ponder.
    pondering: Mutex<Option<Budget>>,
    orders: Sender<Order>,
    progress: Arc<Mutex<Progress>>,
    readiness: Arc<Readiness>,
}

/// An order to the thread.
enum Order {
    Ask { question: Question, budget: Budget, serial: u64, reply: Sender<Reply> },
    Ponder { own_move: Option<String>, budget: Budget },
    Learn(Observation),
    Finish { last: Option<Observation>, payoffs: Option<Vec<f64>> },
    Abort,
}

/// How far a player has come with a question.
#[derive(Default)]
struct Progress {
    /// The question that the player thinks about.
    serial: u64,
    /// Its legal moves.
    moves: Vec<String>,
    /// The index of the best move so far.
    hint: Arc<Hint>,
}

/// Whether the player has prepared.
#[derive(Default)]
struct Readiness {
    is_ready: Mutex<bool>,
    changed: Condvar,
}

impl Readiness {
    fn set(&self) {
        *lock(&self.is_ready) = true;
        self.changed.notify_all();
    }
}

impl PlayerThread {
    /// Starts the thread of a player. `make` makes the player inside of the thread, because that
    /// may take time. `gone` receives [`Answer::Gone`] when the thread ends, even by a panic.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn start(
        seat: usize,
        make: impl FnOnce() -> Box<dyn Player> + Send + 'static,
        gone: Option<Sender<Reply>>,
    ) -> std::io::Result<PlayerThread> {
        let (orders, inbox) = channel();
        let progress = Arc::new(Mutex::new(Progress::default()));
        let readiness = Arc::<Readiness>::default();
        let (thread_progress, guard) =
            (Arc::clone(&progress), EndGuard { seat, gone, readiness: Arc::clone(&readiness) });
        std::thread::Builder::new().name(format!("player {}", seat + 1)).stack_size(STACK).spawn(
            move || {
                let guard = guard;
                Work { player: make(), seat, lost: None, progress: thread_progress }
                    .run(&inbox, &guard.readiness);
                drop(guard);
            },
        )?;
        Ok(PlayerThread { seat, pondering: Mutex::default(), orders, progress, readiness })
    }

    /// Asks the player. The answer goes to `reply`. Returns whether the thread is still there.
    pub fn ask(
        &self,
        question: Question,
        budget: Budget,
        serial: u64,
        reply: &Sender<Reply>,
    ) -> bool {
        let reply = reply.clone();
        self.send(Order::Ask { question, budget, serial, reply })
    }

    /// Lets the player think about the position after its own move, or about the current one if
    /// the joint move is not known yet, until the next order. `play_clock` bounds how long: a host
    /// that has gone away does not keep the processor busy for ever.
    pub fn ponder(&self, own_move: Option<String>, play_clock: Duration) {
        let deadline = Instant::now().checked_add(play_clock.saturating_mul(PONDER_CLOCKS));
        if deadline.is_some() {
            self.ponder_within(own_move, Budget { deadline, ..Budget::default() });
        }
    }

    /// Lets the player ponder until the next order, within a budget.
    pub fn ponder_within(&self, own_move: Option<String>, budget: Budget) {
        // The budget is kept before the order is sent, so that no other thread can miss it.
        if let Some(previous) = lock(&self.pondering).replace(budget.clone()) {
            previous.cancel();
        }
        // A thread that is gone does not ponder.
        let _ = self.orders.send(Order::Ponder { own_move, budget });
    }

    /// Ends pondering, if the player ponders.
    pub fn stop_pondering(&self) {
        if let Some(budget) = lock(&self.pondering).take() {
            budget.cancel();
        }
    }

    /// Sends an order, which ends pondering. Returns whether the thread is still there.
    fn send(&self, order: Order) -> bool {
        self.stop_pondering();
        self.orders.send(order).is_ok()
    }

    /// Tells the player what it observes of a step after which play goes on.
    pub fn learn(&self, observation: Observation) {
        // A thread that is gone learns nothing; its owner is notified by `Answer::Gone`.
        self.send(Order::Learn(observation));
    }

    /// Tells the player that the match is over, with the observation of the last step, and with the
    /// payoffs of all roles if they are known.
    pub fn finish(&self, last: Option<Observation>, payoffs: Option<Vec<f64>>) {
        self.send(Order::Finish { last, payoffs });
    }

    /// Tells the player that the match was aborted.
    pub fn abort(&self) {
        self.send(Order::Abort);
    }

    /// Returns the best move so far in answer to a question: the first legal move if nothing is
    /// known yet, and `None` if the player has not come to that question.
    pub fn best_so_far(&self, serial: u64) -> Option<String> {
        let progress = lock(&self.progress);
        let moves = if progress.serial == serial { &progress.moves[..] } else { &[] };
        let best = progress.hint.get().and_then(|move_idx| moves.get(move_idx));
        best.or(moves.first()).cloned()
    }

    /// Waits until the player has prepared, but not beyond a moment. Returns whether it has.
    pub fn wait_until_ready(&self, until: Instant) -> bool {
        let mut is_ready = lock(&self.readiness.is_ready);
        while !*is_ready {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.readiness.changed.wait_timeout(is_ready, left);
            is_ready = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Returns the number of the seat.
    pub fn seat(&self) -> usize {
        self.seat
    }
}

impl Drop for PlayerThread {
    fn drop(&mut self) {
        self.stop_pondering();
    }
}

/// Reports the end of the thread when dropped, so that no caller waits for a thread that is gone.
struct EndGuard {
    seat: usize,
    gone: Option<Sender<Reply>>,
    readiness: Arc<Readiness>,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.readiness.set();
        if let Some(gone) = &self.gone {
            let _ = gone.send(Reply { seat: self.seat, serial: 0, answer: Answer::Gone });
        }
    }
}

/// The work of the thread.
struct Work {
    player: Box<dyn Player>,
    seat: usize,
    /// Set once the player could not follow a step: then it does not know where it stands.
    lost: Option<PlayerError>,
    progress: Arc<Mutex<Progress>>,
}

impl Work {
    fn run(mut self, inbox: &Receiver<Order>, readiness: &Readiness) {
        for order in inbox {
            match order {
                Order::Ask { question, budget, serial, reply } => {
                    let answer = match question {
                        Question::Prepare => Answer::Ready(self.player.prepare(&budget)),
                        Question::Choose => Answer::Choice(self.choose(&budget, serial)),
                    };
                    readiness.set();
                    let _ = reply.send(Reply { seat: self.seat, serial, answer });
                }
                Order::Ponder { own_move, budget } => {
                    if self.lost.is_none() && !budget.is_cancelled() {
                        self.player.ponder(own_move.as_deref(), &budget);
                    }
                }
                Order::Learn(observation) => {
                    if self.lost.is_none() {
                        self.lost = self.player.learn(&observation).err();
                    }
                }
                Order::Finish { last, payoffs } => {
                    return self.player.finish(last.as_ref(), payoffs.as_deref());
                }
                Order::Abort => return self.player.abort(),
            }
        }
    }

    fn choose(&mut self, budget: &Budget, serial: u64) -> Result<Choice, PlayerError> {
        if let Some(error) = &self.lost {
            return Err(error.clone());
        }
        if budget.deadline.is_some() {
            let (moves, hint) = (self.player.legal_moves(budget), Arc::clone(&budget.hint));
            *lock(&self.progress) = Progress { serial, moves, hint };
        }
        self.player.choose(budget)
    }
}

/// Locks a mutex whose data is valid even if a thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
