//! A match from its `START` to its end, and the thread that does its work.
//!
//! Rules come from strangers, so opening them, finding legal moves and following a step may take
//! any time. All of that happens in one thread of the match. A connection waits for it only as long
//! as its clock allows, and no lock is held for longer than a moment. A match that is aborted sets
//! a flag that ends the work of its thread and of its player.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_ggp::LastStep;
use agon_match::{PlayerFactory, WorkLimits};

use crate::running::{Clock, Played, Pondering, Running};

/// A `START` request.
pub(crate) struct Start {
    pub(crate) id: String,
    pub(crate) role: String,
    pub(crate) rules: String,
    pub(crate) start_clock: Clock,
    pub(crate) play_clock: Clock,
    pub(crate) pondering: Pondering,
}

/// The letter case in which a host expects answers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum LetterCase {
    Upper,
    Lower,
}

/// A match that this server takes part in.
pub(crate) struct Hosted {
    id: String,
    /// The peer that started the match, if it is known.
    peer: Option<IpAddr>,
    letter_case: LetterCase,
    play_clock: Clock,
    /// Cancels all work for the match.
    stop: Arc<AtomicBool>,
    phase: Arc<PhaseCell>,
    jobs: Sender<Job>,
    last_message_at: Mutex<Instant>,
}

/// How far a match has come.
#[derive(Clone)]
pub(crate) enum Phase {
    /// The rules are being opened.
    Opening,
    /// The match can be played.
    Running(Arc<Running>),
    /// The match cannot be played; the text says why.
    Refused(String),
}

struct PhaseCell {
    phase: Mutex<Phase>,
    changed: Condvar,
}

/// Work for the thread of a match.
enum Job {
    Play { last_step: LastStep, received_at: Instant, reply: Sender<Played> },
    Stop { last_step: Option<LastStep>, reply: Sender<Option<String>> },
}

/// Time that opening the rules may take even if the start clock is shorter: an answer that is late
/// by this much is better than none.
pub(crate) const MIN_OPENING: Duration = Duration::from_millis(800);

/// How long the answer to `STOP` waits for a remark about its message.
const STOP_REMARK: Duration = Duration::from_millis(50);

/// How long the player may take in the end of a match before all its work is cancelled.
const LAST_WORK: Duration = Duration::from_millis(300);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a thread of a match until it is dropped, even by a panic.
struct LiveThread(Arc<AtomicUsize>);

impl Drop for LiveThread {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Hosted {
    /// Starts a match: its thread opens the rules and starts the player. `n_threads` counts the
    /// threads of all matches.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub(crate) fn begin(
        start: Start,
        peer: Option<IpAddr>,
        letter_case: LetterCase,
        factory: Arc<dyn PlayerFactory>,
        received_at: Instant,
        n_threads: &Arc<AtomicUsize>,
    ) -> std::io::Result<Hosted> {
        let stop = Arc::new(AtomicBool::new(false));
        let phase =
            Arc::new(PhaseCell { phase: Mutex::new(Phase::Opening), changed: Condvar::new() });
        let (jobs, inbox) = channel();
        let (id, play_clock) = (start.id.clone(), start.play_clock);
        n_threads.fetch_add(1, Ordering::Relaxed);
        let live = LiveThread(Arc::clone(n_threads));
        let (thread_stop, thread_phase) = (Arc::clone(&stop), Arc::clone(&phase));
        std::thread::Builder::new().name("match".to_owned()).stack_size(STACK).spawn(
            move || {
                let _live = live;
                let work = || open(&start, factory.as_ref(), received_at, &thread_stop);
                let opened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
                    .unwrap_or_else(|_| Err("opening the rules has crashed".to_owned()));
                match opened {
                    // The phase says already that the match was aborted.
                    _ if thread_stop.load(Ordering::Relaxed) => {}
                    Ok(running) => {
                        let running = Arc::new(running);
                        thread_phase.set(Phase::Running(Arc::clone(&running)));
                        work_off(&running, &inbox, &thread_stop);
                    }
                    Err(why) => thread_phase.set(Phase::Refused(why)),
                }
            },
        )?;
        let last_message_at = Mutex::new(Instant::now());
        Ok(Hosted { id, peer, letter_case, play_clock, stop, phase, jobs, last_message_at })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the peer that started the match, if it is known.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// Returns how long ago the last message of the match arrived.
    pub(crate) fn silence(&self) -> Duration {
        lock(&self.last_message_at).elapsed()
    }

    /// Notes that a message of the match has arrived.
    pub(crate) fn note_message(&self) {
        *lock(&self.last_message_at) = Instant::now();
    }

    /// Returns a lower-case word in the letter case that the host uses.
    pub(crate) fn in_host_case(&self, word: &str) -> String {
        match self.letter_case {
            LetterCase::Upper => word.to_uppercase(),
            LetterCase::Lower => word.to_owned(),
        }
    }

    /// Waits until the rules are opened, but not beyond a moment. Returns how far the match is.
    pub(crate) fn wait_until_opened(&self, until: Instant) -> Phase {
        let mut phase = lock(&self.phase.phase);
        while matches!(*phase, Phase::Opening) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.phase.changed.wait_timeout(phase, left);
            phase = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        phase.clone()
    }

    /// Answers a request for a move within the play clock.
    pub(crate) fn play(&self, last_step: &LastStep, received_at: Instant) -> Played {
        let Clock { whole, margin } = self.play_clock;
        let until = received_at + whole.saturating_sub(margin / 4);
        let Phase::Running(running) = self.wait_until_opened(until) else {
            let why = "the rules are still being opened".to_owned();
            return Played::without_choice("nil".to_owned(), Some(why));
        };
        let (reply, answer) = channel();
        // If the thread is gone, so is the sender, and the wait ends at once.
        let _ = self.jobs.send(Job::Play { last_step: last_step.clone(), received_at, reply });
        let left = until.saturating_duration_since(Instant::now());
        answer.recv_timeout(left).unwrap_or_else(|_| {
            let why = "the legal moves were not found in time; this is one of an earlier turn";
            Played::without_choice(running.last_resort(), Some(why.to_owned()))
        })
    }

    /// Ends the match in the regular way. Returns a remark if the last message does not fit the
    /// match.
    pub(crate) fn stop(&self, last_step: &LastStep) -> Option<String> {
        if let Phase::Running(running) = self.wait_until_opened(Instant::now()) {
            running.interrupt();
        } else {
            self.cancel();
            self.phase.refuse_if_opening("the match was stopped");
        }
        let (reply, remark) = channel();
        let _ = self.jobs.send(Job::Stop { last_step: Some(last_step.clone()), reply });
        remark.recv_timeout(STOP_REMARK).ok().flatten()
    }

    /// Aborts the match and cancels all its work. Does not wait for it.
    pub(crate) fn abort(&self) {
        if let Phase::Running(running) = self.wait_until_opened(Instant::now()) {
            running.interrupt();
        }
        self.cancel();
        // A `START` that still waits for the rules to be opened is answered at once.
        self.phase.refuse_if_opening("the match was aborted");
        let _ = self.jobs.send(Job::Stop { last_step: None, reply: channel().0 });
    }

    /// Cancels all work for the match.
    pub(crate) fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Stack size of a match's thread: checks and proofs go as deep as the rules do.
const STACK: usize = 64 << 20;

impl PhaseCell {
    fn set(&self, phase: Phase) {
        *lock(&self.phase) = phase;
        self.changed.notify_all();
    }

    fn refuse_if_opening(&self, why: &str) {
        let mut phase = lock(&self.phase);
        if matches!(*phase, Phase::Opening) {
            *phase = Phase::Refused(why.to_owned());
            self.changed.notify_all();
        }
    }
}

/// Opens the rules and starts the player.
fn open(
    start: &Start,
    factory: &dyn PlayerFactory,
    received_at: Instant,
    stop: &Arc<AtomicBool>,
) -> Result<Running, String> {
    let Clock { whole, margin } = start.start_clock;
    let deadline = received_at + whole.saturating_sub(margin).max(MIN_OPENING);
    let limits = WorkLimits { deadline, stop: Arc::clone(stop) };
    let game = factory
        .open_within(&start.rules, &start.role, &limits)
        .map_err(|error| error.to_string())?;
    let clocks = [start.start_clock, start.play_clock];
    Running::begin(game, clocks, received_at, start.pondering)
}

/// Does the work of a match until it ends or is forgotten.
fn work_off(running: &Running, inbox: &Receiver<Job>, stop: &AtomicBool) {
    for job in inbox {
        match job {
            Job::Play { last_step, received_at, reply } => {
                let _ = reply.send(running.play(&last_step, received_at));
            }
            Job::Stop { last_step, reply } => {
                let _ = reply.send(running.stop(last_step.as_ref()));
                break;
            }
        }
    }
    // The player takes in the end in its own thread. After that, nothing of the match is needed.
    if !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LAST_WORK);
    }
    stop.store(true, Ordering::Relaxed);
}
