//! A match that a player over the network takes part in.
//!
//! The player thinks in a thread of its own. The connection that answers the host has a legal move
//! at any moment and does not wait for the thread beyond the clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_game::Budget;
use agon_ggp::{LastStep, Session, TurnUpdate};
use agon_match::{Answer, Choice, PlayerThread, PreparedGame, Question, Thought, View};

/// A clock, and the part of it that is left unused.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clock {
    pub(crate) whole: Duration,
    pub(crate) margin: Duration,
}

/// A match in progress.
pub(crate) struct Running {
    is_hidden: bool,
    role: usize,
    clock: Clock,
    shared: Mutex<Shared>,
    /// Notified when a turn is answered.
    answered: Condvar,
    player: PlayerThread,
    /// The number of the next question to the player.
    serial: AtomicU64,
    /// A legal move of the last turn whose moves are known. Locked only for a moment.
    last_resort: Mutex<String>,
    pondering: Pondering,
}

/// Whether the player thinks while it waits for the host.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Pondering {
    On,
    Off,
}

/// The answer to a request for a move.
pub(crate) struct Played {
    /// The move, or `nil` if there is no legal one.
    pub(crate) text: String,
    /// A remark if something is wrong.
    pub(crate) remark: Option<String>,
    /// What is known of the move; `None` if an earlier answer is repeated.
    pub(crate) answered: Option<AnsweredMove>,
}

impl Played {
    /// Returns an answer that no search was made for.
    pub(crate) fn without_choice(text: String, remark: Option<String>) -> Played {
        Played { text, remark, answered: None }
    }
}

/// How a player came to a move, for a log.
#[derive(Clone, Debug, PartialEq)]
pub struct AnsweredMove {
    /// The number of steps that were made before.
    pub step: usize,
    /// The number of legal moves.
    pub n_legal: usize,
    /// The report of the player's search; `None` if it did not search or did not answer in time.
    pub thought: Option<Thought>,
}

/// What the connections of a match share.
struct Shared {
    session: Session,
    view: Box<dyn View>,
    /// Ends the search in flight.
    stop: Arc<AtomicBool>,
}

/// Returns the answer where no move is known.
fn nothing() -> String {
    "nil".to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Starts the match: the player is made and prepares in its thread.
    ///
    /// # Errors
    /// A text if the legal moves at the start cannot be computed, or there is no thread left.
    pub(crate) fn begin(
        game: Box<dyn PreparedGame>,
        [start_clock, clock]: [Clock; 2],
        received_at: Instant,
        pondering: Pondering,
    ) -> Result<Running, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let (shape, role) = (game.shape(), game.role());
        let mut view = game.view();
        let first_move = view.legal_moves().into_iter().next().unwrap_or_else(nothing);
        if let Some(why) = view.fault() {
            return Err(format!("the start position cannot be played: {why}"));
        }
        let shared = Shared { session: Session::new(shape, role), view, stop: Arc::clone(&stop) };
        let is_hidden = shape.hidden;
        let deadline = received_at + start_clock.whole.saturating_sub(start_clock.margin);
        let player = PlayerThread::start(role.index(), move || game.player(deadline), None)
            .map_err(|error| format!("no thread for the player: {error}"))?;
        // The answer is not needed: `wait_until_ready` tells when the player has prepared.
        let (reply, _) = channel();
        player.ask(Question::Prepare, Budget { stop, ..Budget::until(deadline) }, 0, &reply);
        Ok(Running {
            is_hidden,
            role: role.index(),
            clock,
            shared: Mutex::new(shared),
            answered: Condvar::new(),
            player,
            serial: AtomicU64::new(1),
            last_resort: Mutex::new(first_move),
            pondering,
        })
    }

    /// Returns a move for a caller that cannot wait until the legal moves of this turn are known: a
    /// legal move of an earlier turn. Never blocks.
    pub(crate) fn last_resort(&self) -> String {
        lock(&self.last_resort).clone()
    }

    /// Ends the search in flight, unless the match is busy with something else than a search. Never
    /// blocks.
    pub(crate) fn interrupt(&self) {
        if let Ok(mut shared) = self.shared.try_lock() {
            shared.stop_previous();
        }
    }

    /// Waits for the player to prepare, but not beyond a moment. Returns whether it has.
    pub(crate) fn wait_until_ready(&self, until: Instant) -> bool {
        self.player.wait_until_ready(until)
    }

    /// Answers a request for a move.
    pub(crate) fn play(&self, last_step: &LastStep, received_at: Instant) -> Played {
        let mut shared = lock(&self.shared);
        let give_up = received_at + self.clock.whole.saturating_sub(self.clock.margin / 3);
        let mut remark = None;
        match self.update(&mut shared, last_step) {
            Ok(Some(turn)) => return self.answer_again(shared, turn, give_up),
            Ok(None) => {}
            // Where the state of the match is unknown, a move that is legal as far as we know is
            // better than none. If the same question is still open, it is answered again.
            Err(why) => remark = Some(why),
        }
        let turn = shared.session.turn();
        let deadline = received_at + self.clock.whole.saturating_sub(self.clock.margin);
        // Rules may have more legal moves than can be listed. Half of the time is for the player.
        let now = Instant::now();
        let until = now + deadline.saturating_duration_since(now) / 2;
        let legal = shared.view.legal_moves_until(until);
        let [first, others @ ..] = legal.as_slice() else {
            let fault = shared.view.fault();
            let why = remark.or(fault).unwrap_or_else(|| "there is no legal move".to_owned());
            return Played::without_choice(nothing(), Some(why));
        };
        let mut answered = AnsweredMove { step: turn, n_legal: legal.len(), thought: None };
        lock(&self.last_resort).clone_from(first);
        if others.is_empty() {
            shared.session.note_answer(turn, first);
            self.answered.notify_all();
            self.ponder(first);
            return Played { text: first.clone(), remark, answered: Some(answered) };
        }
        let stop = shared.stop_previous();
        drop(shared);
        let budget = Budget { stop, ..Budget::until(deadline) };
        let (text, thought, problem) = match self.ask(&legal, budget, give_up) {
            Ok(choice) => (choice.text, choice.thought, None),
            Err((text, why)) => (text, None, Some(why)),
        };
        answered.thought = thought;
        let mut shared = lock(&self.shared);
        shared.stop.store(true, Ordering::Relaxed);
        shared.session.note_answer(turn, &text);
        self.answered.notify_all();
        self.ponder(&text);
        Played { text, remark: remark.or(problem), answered: Some(answered) }
    }

    /// Lets the player think until the next message, after its own move.
    fn ponder(&self, own_move: &str) {
        if self.pondering == Pondering::On {
            self.player.ponder(Some(own_move.to_owned()), self.clock.whole);
        }
    }

    /// Asks the player for one of several legal moves.
    ///
    /// # Errors
    /// A legal move that is not the player's own answer, and what was wrong.
    fn ask(
        &self,
        legal: &[String],
        budget: Budget,
        give_up: Instant,
    ) -> Result<Choice, (String, String)> {
        let first = legal[0].clone();
        let hint = Arc::clone(&budget.hint);
        let (reply, replies) = channel();
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        self.player.ask(Question::Choose, budget, serial, &reply);
        // Only the order to the thread keeps a sender, so that a thread that ends is noticed.
        drop(reply);
        let left = give_up.saturating_duration_since(Instant::now());
        Err(match replies.recv_timeout(left).map(|reply| reply.answer) {
            Ok(Answer::Choice(Ok(choice))) if legal.contains(&choice.text) => return Ok(choice),
            Ok(Answer::Choice(Ok(choice))) => {
                (first, format!("the player chose `{}`, which is not legal", choice.text))
            }
            Ok(Answer::Choice(Err(error))) => (first, format!("the player {error}")),
            // All engines list the moves of an open game in the same order, so the view knows which
            // move the index means.
            Err(RecvTimeoutError::Timeout) => match hint.get().and_then(|at| legal.get(at)) {
                Some(best) if !self.is_hidden => (best.clone(), "the best move so far".to_owned()),
                Some(_) | None => (first, "the player is too slow".to_owned()),
            },
            Ok(Answer::Ready(_) | Answer::Gone) | Err(RecvTimeoutError::Disconnected) => {
                (first, "the player has crashed".to_owned())
            }
        })
    }

    /// Takes in a message. Returns the turn in which the same was asked before, if it was; the
    /// error says why the message makes no sense.
    fn update(&self, shared: &mut Shared, last_step: &LastStep) -> Result<Option<usize>, String> {
        let Shared { session, view, .. } = shared;
        let mut observation =
            match session.update(last_step, &mut |joint| view.find_joint_move(joint).is_some()) {
                TurnUpdate::First => return Ok(None),
                TurnUpdate::Again(turn) => return Ok(Some(turn)),
                TurnUpdate::Inconsistent(why) => return Err(why),
                TurnUpdate::Step(observation) => observation,
            };
        if !self.is_hidden
            && let Some(joint) = view.find_joint_move(&observation.seen)
        {
            // The spelling of the rules.
            observation.own.clone_from(&joint[self.role]);
            observation.seen = joint;
        }
        view.learn(&observation).map_err(|why| why.to_string())?;
        self.player.learn(observation);
        Ok(None)
    }

    /// Repeats the answer of a turn, once it is known.
    fn answer_again(
        &self,
        mut shared: MutexGuard<'_, Shared>,
        turn: usize,
        until: Instant,
    ) -> Played {
        let remark = Some("asked again".to_owned());
        loop {
            if let Some(answer) = shared.session.answer(turn) {
                return Played::without_choice(answer.to_owned(), remark);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let legal = shared.view.legal_moves();
                let text = legal.into_iter().next().unwrap_or_else(nothing);
                return Played::without_choice(text, remark);
            }
            let waited = self.answered.wait_timeout(shared, left);
            shared = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the match. Returns a remark if the last message does not fit the match.
    pub(crate) fn stop(&self, last_step: Option<&LastStep>) -> Option<String> {
        let mut shared = lock(&self.shared);
        shared.stop_previous().store(true, Ordering::Relaxed);
        let mut remark = None;
        let last_step = last_step.filter(|last_step| **last_step != LastStep::Nothing);
        let last = last_step.and_then(|last_step| {
            let Shared { session, view, .. } = &mut *shared;
            match session.update(last_step, &mut |joint| view.find_joint_move(joint).is_some()) {
                TurnUpdate::Step(observation) => Some(observation),
                TurnUpdate::Inconsistent(why) => {
                    remark = Some(why);
                    None
                }
                TurnUpdate::First | TurnUpdate::Again(_) => None,
            }
        });
        self.player.finish(last, None);
        remark
    }
}

impl Shared {
    /// Ends the search in flight and returns the flag of the next one.
    fn stop_previous(&mut self) -> Arc<AtomicBool> {
        self.stop.store(true, Ordering::Relaxed);
        self.stop = Arc::default();
        Arc::clone(&self.stop)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.shared).stop.store(true, Ordering::Relaxed);
    }
}
