//! Runs a match: a thread for each player, one clock for all.
//!
//! A player that thinks in this process writes its legal moves on its desk before it thinks, and its search tells all the time which
//! of them is the best so far. If it does not come back, because the machine is busy or a step takes long, the clock
//! takes the move from the desk: a move is always at hand.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_game::Role;
use agon_search::{Budget, Hint};

use crate::{Choice, Ending, Lapse, Lookout, Match, News, Player, Step};

/// A player with its clock.
pub struct Seat {
    /// What it sits at.
    pub role: Role,
    /// Who plays.
    pub player: Box<dyn Player>,
    /// How its time is measured.
    pub timing: Timing,
}

/// How a player's time is measured.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Timing {
    /// It is told to be ready so much before its time is up, and more if it came back late before; after half of that the move
    /// that is at hand is taken. For players that think in this process.
    Margin(Duration),
    /// It is waited for so much longer: for players that answer from elsewhere.
    Grace(Duration),
    /// By iterations alone, so that the match is the same whenever and wherever it is played.
    Iterations(u64),
    /// As long as it likes: for people.
    Unlimited,
}

/// How much time there is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Before the first move.
    pub start: Duration,
    /// For each move.
    pub play: Duration,
}

impl Clocks {
    /// What a player in this process leaves unused of its time, unless told otherwise: an eighth, not less than 100 ms for
    /// a busy machine and not more than a second, and never more than half of it.
    pub fn margin(&self) -> Duration {
        let margin = (self.play / 8).clamp(Duration::from_millis(100), Duration::from_secs(1));
        margin.min(self.play / 2)
    }
}

/// What happens in a match, told as it happens.
pub enum Event<'a> {
    /// A player is ready, or is not.
    Ready(Role, Option<&'a Lapse>),
    /// A player has not come back in time: what it had told so far is taken for its choice.
    Overdue(Role),
    /// A player has chosen, or has not, after so much time.
    Chosen(Role, Result<&'a Choice, &'a Lapse>, Duration),
    /// A step was made.
    Step(&'a Step),
    /// The match is over.
    Over,
}

/// How much longer than a player's own deadline is waited for its thread to say so.
const HANDOVER: Duration = Duration::from_millis(100);

/// Memory for a player's stack: proofs go as deep as games are long.
const STACK: usize = 64 << 20;

/// How long players may take to say goodbye, all together.
const GOODBYE: Duration = Duration::from_secs(3);

/// Plays a match to its end. Players that are late, fall over or send nonsense are played for; `now` gives the time for the
/// record, in milliseconds since 1970.
pub fn drive(
    game: &mut Match,
    seats: Vec<Seat>,
    clocks: &Clocks,
    now: &dyn Fn() -> u64,
    watch: &mut dyn FnMut(&Match, Event<'_>),
) {
    drive_until(game, seats, clocks, now, watch, &AtomicBool::new(false));
}

/// The same, and the match is broken off as soon as `is_aborted` is set.
pub fn drive_until(
    game: &mut Match,
    seats: Vec<Seat>,
    clocks: &Clocks,
    now: &dyn Fn() -> u64,
    watch: &mut dyn FnMut(&Match, Event<'_>),
    is_aborted: &AtomicBool,
) {
    let (sender, replies) = channel();
    let mut crew = Crew { workers: Vec::new(), replies, serial: 0, is_aborted };
    for seat in seats {
        crew.workers.push(Worker::start(seat, sender.clone()));
    }
    drop(sender);

    let players: Vec<Role> =
        if game.is_over() { Vec::new() } else { game.shape().players().collect() };
    crew.ask(&players, clocks.start, &Ask::Prepare, &mut |role, answer, _| {
        let lapse = match answer {
            Answer::Ready(Err(lapse)) | Answer::Choice(Err(lapse)) => Some(lapse),
            Answer::Ready(Ok(())) | Answer::Choice(Ok(_)) | Answer::AtHand(_) => None,
        };
        if let Some(lapse) = &lapse {
            game.not_ready(role, lapse);
        }
        watch(game, Event::Ready(role, lapse.as_ref()));
    });

    while !game.is_over() {
        if is_aborted.load(Ordering::Relaxed) {
            game.abort();
            break;
        }
        if game.is_opening() {
            crew.ask(&crew.followers(), clocks.play, &Ask::Choose, &mut |_, _, _| {});
        }
        let asked = game.asked();
        crew.ask(&asked, clocks.play, &Ask::Choose, &mut |role, answer, took| {
            let choice = match answer {
                Answer::Choice(choice) => choice,
                Answer::AtHand(text) => {
                    watch(game, Event::Overdue(role));
                    Ok(Choice { text, thought: None })
                }
                Answer::Ready(Ok(())) => {
                    Err(Lapse::Broken("it answered another question".to_owned()))
                }
                Answer::Ready(Err(lapse)) => Err(lapse),
            };
            watch(game, Event::Chosen(role, choice.as_ref(), took));
            game.hear(role, choice.map(|choice| choice.text));
        });
        if is_aborted.load(Ordering::Relaxed) {
            continue;
        }
        if let Some(step) = game.make_step(now()).cloned() {
            watch(game, Event::Step(&step));
        }
        if !game.is_over() {
            crew.tell(game, Order::Learn);
        }
    }
    match game.ending() {
        Some(Ending::Aborted) => {
            crew.workers.iter().for_each(|worker| drop(worker.orders.send(Order::Abort)));
        }
        _ => crew.tell(game, |news| Order::Finish(Some(news))),
    }
    watch(game, Event::Over);
    crew.dismiss();
}

/// What a player's thread is told.
enum Order {
    /// The number tells a late answer from one that was waited for.
    Ask(Ask, Budget, u64),
    Learn(News),
    Finish(Option<News>),
    Abort,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Ask {
    Prepare,
    Choose,
}

/// What a player's thread says.
struct Reply {
    role: Role,
    serial: u64,
    answer: Answer,
}

enum Answer {
    Ready(Result<(), Lapse>),
    Choice(Result<Choice, Lapse>),
    /// Not said by the player: its best move so far, taken from its desk.
    AtHand(String),
}

/// What a player that thinks has in front of it.
#[derive(Default)]
struct Desk {
    /// The question that it thinks about.
    serial: u64,
    /// Its legal moves.
    moves: Vec<String>,
    /// Which of them is the best so far.
    hint: Arc<Hint>,
}

impl Desk {
    /// The best move so far in answer to a question; the first if nothing has been found out yet, none if the player has
    /// not come to that question.
    fn best(&self, serial: u64) -> Option<String> {
        let moves = if self.serial == serial { &self.moves[..] } else { &[] };
        let told = self.hint.told().and_then(|move_idx| moves.get(move_idx));
        told.or(moves.first()).cloned()
    }
}

/// The serial of a reply that says the thread is gone.
const GONE: u64 = u64::MAX;

struct Worker {
    role: Role,
    follows_by_being_asked: bool,
    timing: Timing,
    orders: Sender<Order>,
    desk: Arc<Mutex<Desk>>,
    /// Who knows its legal moves while it is busy with an earlier question, and what was not told there yet.
    lookout: Option<Box<dyn Lookout>>,
    unread: Vec<News>,
    /// How long after its deadline it came back lately: on a busy machine nobody runs when they want to.
    lag: Duration,
    is_gone: bool,
}

impl Worker {
    fn start(seat: Seat, replies: Sender<Reply>) -> Worker {
        let Seat { role, player, timing } = seat;
        let lookout = if let Timing::Margin(_) = timing { player.lookout() } else { None };
        let follows_by_being_asked = player.follows_by_being_asked();
        let (orders, inbox) = channel();
        let farewell = Farewell { role, replies: replies.clone() };
        let desk = Arc::new(Mutex::new(Desk::default()));
        let its_desk = Arc::clone(&desk);
        let spawned = std::thread::Builder::new()
            .name(format!("player {}", role.index() + 1))
            .stack_size(STACK)
            .spawn(move || {
                let farewell = farewell;
                work(player, &inbox, &replies, role, &its_desk);
                drop(farewell);
            });
        // Without a thread the inbox is dropped, and so is the farewell, which says so.
        drop(spawned);
        let (unread, lag) = (Vec::new(), Duration::ZERO);
        Worker {
            role,
            follows_by_being_asked,
            timing,
            orders,
            desk,
            lookout,
            unread,
            lag,
            is_gone: false,
        }
    }

    /// The move that is at hand in answer to a question: the best so far, or any if the player has not come to the question.
    fn at_hand(&mut self, serial: u64) -> Option<String> {
        let best = self.desk.lock().unwrap_or_else(PoisonError::into_inner).best(serial);
        best.or_else(|| {
            let lookout = self.lookout.as_mut()?;
            for news in self.unread.drain(..) {
                lookout.learn(&news);
            }
            lookout.moves().into_iter().next()
        })
    }

    /// Notes when it came back, or has still not come back.
    fn note(&mut self, deadline: Option<Instant>) {
        if let Some(deadline) = deadline {
            let over = Instant::now().saturating_duration_since(deadline);
            self.lag = over.max(self.lag * 3 / 4);
        }
    }
}

/// Says that the thread has ended, even if it ends by a panic.
struct Farewell {
    role: Role,
    replies: Sender<Reply>,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        let answer = Answer::Choice(Err(Lapse::Broken("the player has fallen over".to_owned())));
        let _ = self.replies.send(Reply { role: self.role, serial: GONE, answer });
    }
}

/// What a player's thread does.
fn work(
    mut player: Box<dyn Player>,
    inbox: &Receiver<Order>,
    replies: &Sender<Reply>,
    role: Role,
    desk: &Mutex<Desk>,
) {
    // Once it could not follow, it does not know where it stands.
    let mut lost: Option<Lapse> = None;
    for order in inbox {
        match order {
            Order::Ask(Ask::Prepare, budget, serial) => {
                let answer = Answer::Ready(player.prepare(&budget));
                let _ = replies.send(Reply { role, serial, answer });
            }
            Order::Ask(Ask::Choose, budget, serial) => {
                let choice = match &lost {
                    Some(lapse) => Err(lapse.clone()),
                    None => {
                        if budget.deadline.is_some() {
                            let (moves, hint) = (player.look(&budget), Arc::clone(&budget.hint));
                            *desk.lock().unwrap_or_else(PoisonError::into_inner) =
                                Desk { serial, moves, hint };
                        }
                        player.choose(&budget)
                    }
                };
                let _ = replies.send(Reply { role, serial, answer: Answer::Choice(choice) });
            }
            Order::Learn(news) => {
                if lost.is_none() {
                    lost = player.learn(&news).err();
                }
            }
            Order::Finish(news) => {
                player.finish(news.as_ref());
                return;
            }
            Order::Abort => {
                player.abort();
                return;
            }
        }
    }
}

/// Somebody who is waited for.
struct Awaited {
    role: Role,
    /// When it was told to be ready, if how late it comes is of interest.
    deadline: Option<Instant>,
    /// When its desk is looked at.
    overdue: Option<Instant>,
    /// When it is given up.
    until: Option<Instant>,
}

impl Awaited {
    /// When something is to be done about it.
    fn next(&self) -> Option<Instant> {
        self.overdue.or(self.until)
    }
}

struct Crew<'a> {
    workers: Vec<Worker>,
    replies: Receiver<Reply>,
    serial: u64,
    is_aborted: &'a AtomicBool,
}

/// How often is looked whether the match was broken off.
const GLANCE: Duration = Duration::from_millis(100);

impl Crew<'_> {
    /// Asks players and passes on what they say, or that they are late, in the order in which it comes.
    fn ask(
        &mut self,
        roles: &[Role],
        clock: Duration,
        ask: &Ask,
        hear: &mut dyn FnMut(Role, Answer, Duration),
    ) {
        self.serial += 1;
        let serial = self.serial;
        let asked_at = Instant::now();
        let stop = Arc::new(AtomicBool::new(false));
        let refuse = |lapse: Lapse| match ask {
            Ask::Prepare => Answer::Ready(Err(lapse)),
            Ask::Choose => Answer::Choice(Err(lapse)),
        };
        let mut waiting: Vec<Awaited> = Vec::new();
        for &role in roles {
            let Some(worker) = self.workers.iter_mut().find(|worker| worker.role == role) else {
                hear(
                    role,
                    refuse(Lapse::Unreachable("nobody sits there".to_owned())),
                    Duration::ZERO,
                );
                continue;
            };
            let (deadline, overdue, patience) = match worker.timing {
                Timing::Margin(margin) => {
                    let time = clock.saturating_sub(margin);
                    let time = time - worker.lag.min(time / 4);
                    (Some(time), Some(clock.saturating_sub(margin / 2)), Some(clock))
                }
                Timing::Grace(grace) => (Some(clock + grace), None, Some(clock + grace + HANDOVER)),
                Timing::Iterations(_) | Timing::Unlimited => (None, None, None),
            };
            let deadline = deadline.map(|after| asked_at + after);
            let iterations = match (worker.timing, ask) {
                (Timing::Iterations(_), Ask::Prepare) => Some(0),
                (Timing::Iterations(n), Ask::Choose) => Some(n),
                (Timing::Margin(_) | Timing::Grace(_) | Timing::Unlimited, _) => None,
            };
            let budget = Budget {
                deadline,
                iterations,
                nodes: None,
                stop: Arc::clone(&stop),
                hint: Arc::default(),
            };
            if worker.is_gone || worker.orders.send(Order::Ask(*ask, budget, serial)).is_err() {
                hear(
                    role,
                    refuse(Lapse::Broken("the player has fallen over".to_owned())),
                    Duration::ZERO,
                );
                continue;
            }
            waiting.push(Awaited {
                role,
                deadline: deadline.filter(|_| overdue.is_some()),
                overdue: overdue.map(|after| asked_at + after),
                until: patience.map(|after| asked_at + after),
            });
        }
        while !waiting.is_empty() {
            if self.is_aborted.load(Ordering::Relaxed) {
                break;
            }
            let glance = Instant::now() + GLANCE;
            let until = waiting
                .iter()
                .filter_map(Awaited::next)
                .min()
                .map_or(glance, |until| until.min(glance));
            let reply = self.replies.recv_timeout(until.saturating_duration_since(Instant::now()));
            let took = asked_at.elapsed();
            match reply {
                Ok(Reply { role, serial: GONE, answer }) => {
                    if let Some(worker) = self.workers.iter_mut().find(|worker| worker.role == role)
                    {
                        worker.is_gone = true;
                    }
                    if let Some(at) = waiting.iter().position(|awaited| awaited.role == role) {
                        waiting.swap_remove(at);
                        hear(role, answer, took);
                    }
                }
                // An answer to an older question comes too late for that one and means nothing for this.
                Ok(reply) if reply.serial != serial => {}
                Ok(reply) => {
                    let Some(at) = waiting.iter().position(|awaited| awaited.role == reply.role)
                    else {
                        continue;
                    };
                    let awaited = waiting.swap_remove(at);
                    self.worker(reply.role).note(awaited.deadline);
                    hear(reply.role, reply.answer, took);
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    let is_past = |time: Option<Instant>| time.is_some_and(|time| time <= now);
                    waiting.retain_mut(|awaited| {
                        let role = awaited.role;
                        if is_past(awaited.overdue) {
                            awaited.overdue = None;
                            let worker = self.worker(role);
                            worker.note(awaited.deadline);
                            let answer = match ask {
                                // It has not fallen over, so it will answer what it is asked later.
                                Ask::Prepare => Some(Answer::Ready(Ok(()))),
                                Ask::Choose => worker.at_hand(serial).map(Answer::AtHand),
                            };
                            if let Some(answer) = answer {
                                hear(role, answer, took);
                                return false;
                            }
                        }
                        if is_past(awaited.until) {
                            hear(role, refuse(Lapse::Late), took);
                        }
                        !is_past(awaited.until)
                    });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    for Awaited { role, .. } in waiting.drain(..) {
                        hear(
                            role,
                            refuse(Lapse::Broken("the player has fallen over".to_owned())),
                            took,
                        );
                    }
                }
            }
        }
        // Whoever still thinks does so in vain.
        stop.store(true, Ordering::Relaxed);
    }

    fn worker(&mut self, role: Role) -> &mut Worker {
        self.workers
            .iter_mut()
            .find(|worker| worker.role == role)
            .expect("whoever is waited for has a seat")
    }

    /// The players that are asked in openings too.
    fn followers(&self) -> Vec<Role> {
        self.workers
            .iter()
            .filter(|worker| worker.follows_by_being_asked)
            .map(|worker| worker.role)
            .collect()
    }

    /// Tells each player what it gets to know of the last step.
    fn tell(&mut self, game: &Match, order: fn(News) -> Order) {
        for worker in &mut self.workers {
            let news = game.news(worker.role);
            if worker.lookout.is_some() {
                worker.unread.extend(news.clone());
            }
            let _ = worker.orders.send(news.map_or(Order::Finish(None), order));
        }
    }

    /// Waits a little for the players to leave. One that does not is left to itself.
    fn dismiss(mut self) {
        let until = Instant::now() + GOODBYE;
        while self.workers.iter().any(|worker| !worker.is_gone) {
            let left = until.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left) {
                Ok(Reply { role, serial: GONE, .. }) => {
                    self.workers
                        .iter_mut()
                        .filter(|w| w.role == role)
                        .for_each(|w| w.is_gone = true);
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
    }
}
