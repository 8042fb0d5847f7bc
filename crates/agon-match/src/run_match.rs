//! Runs a match: a thread for each player, one clock for all.
//!
//! A player that sleeps, sends nonsense or panics costs the match nothing but the player's own
//! moves. With [`Timing::Iterations`] nothing depends on time.
//!
//! A move is available at any time. Before a player thinks, it publishes its legal moves
//! ([`Player::legal_moves`]). Its search reports the best move so far ([`agon_game::Hint`]). If the
//! player does not answer in time, the referee takes that move ([`Event::Overdue`]). The delay is
//! remembered, and the player gets that much less time for the next question.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use agon_game::{Budget, Observation, Role};

use crate::seat::{Answer, PlayerThread, Question, Reply};
use crate::{Choice, Ending, Match, MoveTracker, Player, PlayerError, Step};

/// A player with its role and its clock.
pub struct Seat {
    /// The role that the player plays.
    pub role: Role,
    /// The player.
    pub player: Box<dyn Player>,
    /// How its time is measured.
    pub timing: Timing,
}

/// How a player's time is measured.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Timing {
    /// The player is told to answer this much before its time is up, and earlier if it was late
    /// before. After half of the margin the best move so far is taken. For players in this process.
    Margin(Duration),
    /// The referee waits this much longer than the clock. For players outside of this process.
    Grace(Duration),
    /// A budget of iterations alone, so that the match does not depend on time.
    Iterations(u64),
    /// No limit: for people.
    Unlimited,
}

/// How much time players have.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Before the first move.
    pub start: Duration,
    /// For each move.
    pub play: Duration,
}

impl Clocks {
    /// Returns the default time that a player in this process leaves unused: an eighth of the play
    /// clock, at least 100 ms for a busy machine and at most a second, and never more than half.
    pub fn margin(&self) -> Duration {
        let margin = (self.play / 8).clamp(Duration::from_millis(100), Duration::from_secs(1));
        margin.min(self.play / 2)
    }
}

/// An event of a match, reported when it happens.
pub enum Event<'a> {
    /// A player is ready, or could not prepare.
    Ready(Role, Option<&'a PlayerError>),
    /// A player has not answered in time; its best move so far is taken.
    Overdue(Role),
    /// A player has chosen, or has not, after this much time.
    Chosen(Role, Result<&'a Choice, &'a PlayerError>, Duration),
    /// A step was made.
    Step(&'a Step),
    /// The match is over.
    Over,
}

/// How long the referee waits for a thread beyond the deadline of its player.
const HANDOVER: Duration = Duration::from_millis(100);

/// How long players have to finish after the match, all together.
const FINISH: Duration = Duration::from_secs(3);

/// How often the referee checks whether the match was aborted.
const ABORT_CHECK: Duration = Duration::from_millis(100);

/// What a run of a match needs besides the match and its players.
pub struct RunOptions<'a> {
    /// How much time players have.
    pub clocks: Clocks,
    /// Returns the time for the record, in milliseconds since 1970.
    pub now: &'a dyn Fn() -> u64,
    /// Aborts the match when set.
    pub is_aborted: &'a AtomicBool,
    /// Whether players in this process think while others choose ([`Player::ponder`]). Players
    /// that count iterations never do.
    pub ponder: bool,
}

/// Plays a match to its end. The referee plays for players that are late, fail or send nonsense.
pub fn run_match(
    game: &mut Match,
    seats: Vec<Seat>,
    options: &RunOptions<'_>,
    watch: &mut dyn FnMut(&Match, Event<'_>),
) {
    let mut crew = Crew::start(seats, options);
    crew.prepare(game, options.clocks.start, watch);
    while !game.is_over() {
        if options.is_aborted.load(Ordering::Relaxed) {
            game.abort();
            break;
        }
        if game.is_opening() {
            let followers = crew.followers();
            crew.ask(&followers, options.clocks.play, Question::Choose, &mut |_, _, _| {});
        }
        crew.choose(game, options.clocks.play, watch);
        if options.is_aborted.load(Ordering::Relaxed) {
            continue;
        }
        if let Some(step) = game.make_step((options.now)()).cloned() {
            watch(game, Event::Step(&step));
        }
        if !game.is_over() {
            crew.learn(game);
        }
    }
    crew.finish(game);
    watch(game, Event::Over);
    crew.dismiss();
}

/// An answer as the referee takes it.
enum Taken {
    Ready(Result<(), PlayerError>),
    Choice(Result<Choice, PlayerError>),
    /// The best move so far of a player that has not answered.
    BestSoFar(String),
}

impl Taken {
    fn refusal(question: Question, error: PlayerError) -> Taken {
        match question {
            Question::Prepare => Taken::Ready(Err(error)),
            Question::Choose => Taken::Choice(Err(error)),
        }
    }
}

/// A player at work.
struct Worker {
    role: Role,
    timing: Timing,
    follows_by_being_asked: bool,
    /// `None` if no thread could be started.
    thread: Option<PlayerThread>,
    /// Knows the legal moves while the player is busy with an earlier question.
    tracker: Option<Box<dyn MoveTracker>>,
    /// The observations that the tracker has not received yet.
    unread: Vec<Observation>,
    /// How late the player answered recently: on a busy machine no thread runs when it wants to.
    lag: Duration,
    is_gone: bool,
}

impl Worker {
    fn start(seat_number: usize, seat: Seat, gone: Sender<Reply>) -> Worker {
        let Seat { role, player, timing } = seat;
        let tracker = if let Timing::Margin(_) = timing { player.move_tracker() } else { None };
        let follows_by_being_asked = player.follows_by_being_asked();
        let thread = PlayerThread::start(seat_number, move || player, Some(gone)).ok();
        let (unread, lag, is_gone) = (Vec::new(), Duration::ZERO, thread.is_none());
        Worker { role, timing, follows_by_being_asked, thread, tracker, unread, lag, is_gone }
    }

    /// Returns the best move so far, or any legal move if the player has not come to the question.
    fn best_so_far(&mut self, serial: u64) -> Option<String> {
        let best = self.thread.as_ref().and_then(|thread| thread.best_so_far(serial));
        best.or_else(|| {
            let tracker = self.tracker.as_mut()?;
            for observation in self.unread.drain(..) {
                tracker.learn(&observation);
            }
            tracker.moves().into_iter().next()
        })
    }

    /// Notes how late the player answered, or still has not answered.
    fn note_lag(&mut self, deadline: Option<Instant>) {
        if let Some(deadline) = deadline {
            let over = Instant::now().saturating_duration_since(deadline);
            self.lag = over.max(self.lag * 3 / 4);
        }
    }

    /// Lets the player think until the others have answered, if it is measured by the clock.
    fn ponder(&self, answer: &Taken, play_clock: Duration) {
        let own_move = match answer {
            Taken::Ready(Ok(())) => None,
            Taken::Choice(Ok(choice)) => Some(choice.text.clone()),
            Taken::Ready(Err(_)) | Taken::Choice(Err(_)) | Taken::BestSoFar(_) => return,
        };
        if let (Timing::Margin(_), Some(thread)) = (self.timing, &self.thread) {
            thread.ponder(own_move, play_clock);
        }
    }

    /// Returns the moments of a question that is asked at `asked_at`.
    fn times(&self, clock: Duration, asked_at: Instant) -> QuestionTimes {
        let (deadline, overdue, until) = match self.timing {
            Timing::Margin(margin) => {
                let time = clock.saturating_sub(margin);
                let time = time - self.lag.min(time / 4);
                (Some(time), Some(clock.saturating_sub(margin / 2)), Some(clock))
            }
            Timing::Grace(grace) => (Some(clock + grace), None, Some(clock + grace + HANDOVER)),
            Timing::Iterations(_) | Timing::Unlimited => (None, None, None),
        };
        let moment = |after: Option<Duration>| after.map(|after| asked_at + after);
        QuestionTimes { deadline: moment(deadline), overdue: moment(overdue), until: moment(until) }
    }

    fn iterations(&self, question: Question) -> Option<u64> {
        match (self.timing, question) {
            (Timing::Iterations(_), Question::Prepare) => Some(0),
            (Timing::Iterations(n), Question::Choose) => Some(n),
            (Timing::Margin(_) | Timing::Grace(_) | Timing::Unlimited, _) => None,
        }
    }
}

/// The moments of a question.
#[derive(Copy, Clone)]
struct QuestionTimes {
    /// When the player is told to answer.
    deadline: Option<Instant>,
    /// When the best move so far is taken.
    overdue: Option<Instant>,
    /// When the referee gives up.
    until: Option<Instant>,
}

/// A player whose answer is awaited.
struct Awaited {
    seat: usize,
    times: QuestionTimes,
    /// The deadline, if the referee notes how late the player answers.
    lag_deadline: Option<Instant>,
}

impl Awaited {
    /// Returns the next moment at which the referee has to act.
    fn next(&self) -> Option<Instant> {
        self.times.overdue.or(self.times.until)
    }
}

/// Receives the answer of a role to a question, with the time that it took.
type OnAnswer<'a> = &'a mut dyn FnMut(Role, Taken, Duration);

/// All players of a match.
struct Crew<'a> {
    workers: Vec<Worker>,
    sender: Sender<Reply>,
    replies: Receiver<Reply>,
    serial: u64,
    is_aborted: &'a AtomicBool,
    /// The play clock, if players ponder.
    ponder_clock: Option<Duration>,
}

fn crashed() -> PlayerError {
    PlayerError::Broken("the player has crashed".to_owned())
}

impl Crew<'_> {
    fn start<'a>(seats: Vec<Seat>, options: &RunOptions<'a>) -> Crew<'a> {
        let (sender, replies) = channel();
        let seated = seats.into_iter().enumerate();
        let workers = seated.map(|(number, seat)| Worker::start(number, seat, sender.clone()));
        Crew {
            workers: workers.collect(),
            sender,
            replies,
            serial: 0,
            is_aborted: options.is_aborted,
            ponder_clock: options.ponder.then_some(options.clocks.play),
        }
    }

    fn prepare(
        &mut self,
        game: &mut Match,
        clock: Duration,
        watch: &mut dyn FnMut(&Match, Event<'_>),
    ) {
        let players: Vec<Role> =
            if game.is_over() { Vec::new() } else { game.shape().players().collect() };
        self.ask(&players, clock, Question::Prepare, &mut |role, answer, _| {
            let error = match answer {
                Taken::Ready(Err(error)) | Taken::Choice(Err(error)) => Some(error),
                Taken::Ready(Ok(())) | Taken::Choice(Ok(_)) | Taken::BestSoFar(_) => None,
            };
            if let Some(error) = &error {
                game.not_ready(role, error);
            }
            watch(game, Event::Ready(role, error.as_ref()));
        });
    }

    fn choose(
        &mut self,
        game: &mut Match,
        clock: Duration,
        watch: &mut dyn FnMut(&Match, Event<'_>),
    ) {
        let asked = game.asked();
        self.ask(&asked, clock, Question::Choose, &mut |role, answer, took| {
            let choice = match answer {
                Taken::Choice(choice) => choice,
                Taken::BestSoFar(text) => {
                    watch(game, Event::Overdue(role));
                    Ok(Choice { text, thought: None })
                }
                Taken::Ready(Ok(())) => {
                    Err(PlayerError::Broken("the player answered another question".to_owned()))
                }
                Taken::Ready(Err(error)) => Err(error),
            };
            watch(game, Event::Chosen(role, choice.as_ref(), took));
            game.receive(role, choice.map(|choice| choice.text));
        });
    }

    /// Asks players and passes their answers on in the order in which they arrive.
    fn ask(
        &mut self,
        roles: &[Role],
        clock: Duration,
        question: Question,
        on_answer: OnAnswer<'_>,
    ) {
        self.serial += 1;
        let asked_at = Instant::now();
        let stop = Arc::new(AtomicBool::new(false));
        let mut waiting = Vec::new();
        for &role in roles {
            match self.send(role, clock, question, asked_at, &stop) {
                Ok(awaited) => waiting.push(awaited),
                Err(error) => on_answer(role, Taken::refusal(question, error), Duration::ZERO),
            }
        }
        while !waiting.is_empty() && !self.is_aborted.load(Ordering::Relaxed) {
            let soon = Instant::now() + ABORT_CHECK;
            let next = waiting.iter().filter_map(Awaited::next).min();
            let until = next.map_or(soon, |next| next.min(soon));
            let reply = self.replies.recv_timeout(until.saturating_duration_since(Instant::now()));
            let took = asked_at.elapsed();
            match reply {
                Ok(reply) => self.take(reply, question, &mut waiting, took, on_answer),
                Err(RecvTimeoutError::Timeout) => {
                    self.take_overdue(question, &mut waiting, took, on_answer);
                }
                Err(RecvTimeoutError::Disconnected) => unreachable!("the crew holds a sender"),
            }
        }
        // Players that still think do so in vain.
        stop.store(true, Ordering::Relaxed);
    }

    /// Sends a question to the player of a role.
    fn send(
        &mut self,
        role: Role,
        clock: Duration,
        question: Question,
        asked_at: Instant,
        stop: &Arc<AtomicBool>,
    ) -> Result<Awaited, PlayerError> {
        let seat = self.workers.iter().position(|worker| worker.role == role);
        let seat =
            seat.ok_or_else(|| PlayerError::Unreachable("no player has this role".to_owned()))?;
        let worker = &self.workers[seat];
        let times = worker.times(clock, asked_at);
        let budget = Budget {
            deadline: times.deadline,
            iterations: worker.iterations(question),
            stop: Arc::clone(stop),
            ..Budget::default()
        };
        let thread = worker.thread.as_ref().filter(|_| !worker.is_gone).ok_or_else(crashed)?;
        if thread.ask(question, budget, self.serial, &self.sender) {
            Ok(Awaited { seat, times, lag_deadline: times.overdue.and(times.deadline) })
        } else {
            Err(crashed())
        }
    }

    /// Passes on a reply that arrived.
    fn take(
        &mut self,
        reply: Reply,
        question: Question,
        waiting: &mut Vec<Awaited>,
        took: Duration,
        on_answer: OnAnswer<'_>,
    ) {
        let is_gone = reply.answer == Answer::Gone;
        let worker = &mut self.workers[reply.seat];
        worker.is_gone |= is_gone;
        // An answer to an older question comes too late for that one and means nothing for this.
        if !is_gone && reply.serial != self.serial {
            return;
        }
        let Some(at) = waiting.iter().position(|awaited| awaited.seat == reply.seat) else {
            return;
        };
        let awaited = waiting.swap_remove(at);
        let answer = match reply.answer {
            Answer::Gone => Taken::refusal(question, crashed()),
            Answer::Ready(result) => Taken::Ready(result),
            Answer::Choice(result) => Taken::Choice(result),
        };
        if !is_gone {
            worker.note_lag(awaited.lag_deadline);
        }
        // With the last answer the step is made, and there is no time left to ponder.
        if let (Some(clock), false) = (self.ponder_clock, waiting.is_empty()) {
            worker.ponder(&answer, clock);
        }
        on_answer(worker.role, answer, took);
    }

    /// Takes the best moves so far of players that are overdue, and gives up on those that are
    /// late.
    fn take_overdue(
        &mut self,
        question: Question,
        waiting: &mut Vec<Awaited>,
        took: Duration,
        on_answer: OnAnswer<'_>,
    ) {
        let (now, serial) = (Instant::now(), self.serial);
        let is_past = |time: Option<Instant>| time.is_some_and(|time| time <= now);
        waiting.retain_mut(|awaited| {
            let worker = &mut self.workers[awaited.seat];
            if is_past(awaited.times.overdue) {
                worker.note_lag(awaited.lag_deadline);
                awaited.times.overdue = None;
                let answer = match question {
                    // The player has not failed, so it will answer later questions.
                    Question::Prepare => Some(Taken::Ready(Ok(()))),
                    Question::Choose => worker.best_so_far(serial).map(Taken::BestSoFar),
                };
                if let Some(answer) = answer {
                    on_answer(worker.role, answer, took);
                    return false;
                }
            }
            let is_late = is_past(awaited.times.until);
            if is_late {
                on_answer(worker.role, Taken::refusal(question, PlayerError::Late), took);
            }
            !is_late
        });
    }

    /// Returns the roles of players that are asked in openings too.
    fn followers(&self) -> Vec<Role> {
        let followers = self.workers.iter().filter(|worker| worker.follows_by_being_asked);
        followers.map(|worker| worker.role).collect()
    }

    /// Tells each player what it observes of the last step.
    fn learn(&mut self, game: &Match) {
        for worker in &mut self.workers {
            let Some(observation) = game.observation(worker.role) else { continue };
            if worker.tracker.is_some() {
                worker.unread.push(observation.clone());
            }
            if let Some(thread) = &worker.thread {
                thread.learn(observation);
            }
        }
    }

    /// Tells each player that the match is over.
    fn finish(&mut self, game: &Match) {
        let is_aborted = matches!(game.ending(), Some(Ending::Aborted));
        let payoffs = match game.ending() {
            Some(Ending::Finished(payoffs)) => Some(payoffs),
            Some(Ending::Fault(_) | Ending::TooLong | Ending::Stopped(_) | Ending::Aborted)
            | None => None,
        };
        for worker in &self.workers {
            match &worker.thread {
                Some(thread) if is_aborted => thread.abort(),
                Some(thread) => {
                    thread.finish(game.observation(worker.role), payoffs.cloned());
                }
                None => {}
            }
        }
    }

    /// Waits a little for the threads to end. A thread that does not end is left alone.
    fn dismiss(mut self) {
        let until = Instant::now() + FINISH;
        while self.workers.iter().any(|worker| !worker.is_gone) {
            let left = until.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left) {
                Ok(reply) => self.workers[reply.seat].is_gone |= reply.answer == Answer::Gone,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
    }
}
