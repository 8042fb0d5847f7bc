//! Runs a match: a thread for each player, one clock for all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use agon_game::Role;
use agon_search::Budget;

use crate::{Choice, Ending, Lapse, Match, News, Player, Step};

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
    /// It is told to be ready so much before its time is up: for players that think in this process.
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
    /// A player has chosen, or has not, after so much time.
    Chosen(Role, Result<&'a Choice, &'a Lapse>, Duration),
    /// A step was made.
    Step(&'a Step),
    /// The match is over.
    Over,
}

/// How much longer than a player's own deadline is waited for its thread to say so.
const HANDOVER: Duration = Duration::from_millis(100);

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

    let players: Vec<Role> = if game.is_over() { Vec::new() } else { game.shape().players().collect() };
    crew.ask(&players, clocks.start, &Ask::Prepare, &mut |role, answer, _| {
        let lapse = match answer {
            Answer::Ready(Err(lapse)) | Answer::Choice(Err(lapse)) => Some(lapse),
            Answer::Ready(Ok(())) | Answer::Choice(Ok(_)) => None,
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
                Answer::Ready(Ok(())) => Err(Lapse::Broken("it answered another question".to_owned())),
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
}

/// The serial of a reply that says the thread is gone.
const GONE: u64 = u64::MAX;

struct Worker {
    role: Role,
    follows_by_being_asked: bool,
    timing: Timing,
    orders: Sender<Order>,
    is_gone: bool,
}

impl Worker {
    fn start(seat: Seat, replies: Sender<Reply>) -> Worker {
        let Seat { role, player, timing } = seat;
        let follows_by_being_asked = player.follows_by_being_asked();
        let (orders, inbox) = channel();
        let farewell = Farewell { role, replies: replies.clone() };
        let spawned =
            std::thread::Builder::new().name(format!("player {}", role.index() + 1)).spawn(move || {
                let farewell = farewell;
                work(player, &inbox, &replies, role);
                drop(farewell);
            });
        // Without a thread the inbox is dropped, and so is the farewell, which says so.
        drop(spawned);
        Worker { role, follows_by_being_asked, timing, orders, is_gone: false }
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
fn work(mut player: Box<dyn Player>, inbox: &Receiver<Order>, replies: &Sender<Reply>, role: Role) {
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
                    None => player.choose(&budget),
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
        // Who is waited for, and until when.
        let mut waiting: Vec<(Role, Option<Instant>)> = Vec::new();
        for &role in roles {
            let Some(worker) = self.workers.iter_mut().find(|worker| worker.role == role) else {
                hear(role, refuse(Lapse::Unreachable("nobody sits there".to_owned())), Duration::ZERO);
                continue;
            };
            let (deadline, patience) = match worker.timing {
                Timing::Margin(margin) => (Some(clock.saturating_sub(margin)), Some(clock)),
                Timing::Grace(grace) => (Some(clock + grace), Some(clock + grace + HANDOVER)),
                Timing::Iterations(_) | Timing::Unlimited => (None, None),
            };
            let iterations = match (worker.timing, ask) {
                (Timing::Iterations(_), Ask::Prepare) => Some(0),
                (Timing::Iterations(n), Ask::Choose) => Some(n),
                (Timing::Margin(_) | Timing::Grace(_) | Timing::Unlimited, _) => None,
            };
            let budget = Budget {
                deadline: deadline.map(|after| asked_at + after),
                iterations,
                nodes: None,
                stop: Arc::clone(&stop),
            };
            if worker.is_gone || worker.orders.send(Order::Ask(*ask, budget, serial)).is_err() {
                hear(role, refuse(Lapse::Broken("the player has fallen over".to_owned())), Duration::ZERO);
                continue;
            }
            waiting.push((role, patience.map(|after| asked_at + after)));
        }
        while !waiting.is_empty() {
            if self.is_aborted.load(Ordering::Relaxed) {
                break;
            }
            let until = waiting.iter().map(|(_, until)| *until).min_by_key(|until| (until.is_none(), *until));
            let glance = Instant::now() + GLANCE;
            let until = until.flatten().map_or(glance, |until| until.min(glance));
            let reply = self.replies.recv_timeout(until.saturating_duration_since(Instant::now()));
            let took = asked_at.elapsed();
            match reply {
                Ok(Reply { role, serial: GONE, answer }) => {
                    if let Some(worker) = self.workers.iter_mut().find(|worker| worker.role == role) {
                        worker.is_gone = true;
                    }
                    if let Some(at) = waiting.iter().position(|(other, _)| *other == role) {
                        waiting.swap_remove(at);
                        hear(role, answer, took);
                    }
                }
                // An answer to an older question comes too late for that one and means nothing for this.
                Ok(reply) if reply.serial != serial => {}
                Ok(reply) => {
                    waiting.retain(|(role, _)| *role != reply.role);
                    hear(reply.role, reply.answer, took);
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    let is_late = |until: &Option<Instant>| until.is_some_and(|until| until <= now);
                    waiting.retain(|(role, until)| {
                        if is_late(until) {
                            hear(*role, refuse(Lapse::Late), took);
                        }
                        !is_late(until)
                    });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    for (role, _) in waiting.drain(..) {
                        hear(role, refuse(Lapse::Broken("the player has fallen over".to_owned())), took);
                    }
                }
            }
        }
        // Whoever still thinks does so in vain.
        stop.store(true, Ordering::Relaxed);
    }

    /// The players that are asked in openings too.
    fn followers(&self) -> Vec<Role> {
        self.workers.iter().filter(|worker| worker.follows_by_being_asked).map(|worker| worker.role).collect()
    }

    /// Tells each player what it gets to know of the last step.
    fn tell(&mut self, game: &Match, order: fn(News) -> Order) {
        for worker in &self.workers {
            let order = game.news(worker.role).map_or(Order::Finish(None), order);
            let _ = worker.orders.send(order);
        }
    }

    /// Waits a little for the players to leave. One that does not is left to itself.
    fn dismiss(mut self) {
        let until = Instant::now() + GOODBYE;
        while self.workers.iter().any(|worker| !worker.is_gone) {
            let left = until.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left) {
                Ok(Reply { role, serial: GONE, .. }) => {
                    self.workers.iter_mut().filter(|w| w.role == role).for_each(|w| w.is_gone = true);
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
    }
}
