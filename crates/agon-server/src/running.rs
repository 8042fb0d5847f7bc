//! A match that a player over the network is in.
//!
//! The player thinks in a thread of its own. Whoever answers the host holds a legal move at any moment and does not wait for the
//! thread beyond the clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_match::{Choice, Heed, Lapse, News, Session, Told, View};
use agon_search::Budget;

use crate::player::Opening;

/// A clock, and what is left unused of it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clock {
    pub(crate) whole: Duration,
    pub(crate) margin: Duration,
}

pub(crate) struct Running {
    id: String,
    is_shouted: bool,
    is_hidden: bool,
    role: usize,
    clock: Clock,
    desk: Mutex<Desk>,
    /// Told when an answer was given.
    answered: Condvar,
    orders: Sender<Order>,
    readiness: Arc<Readiness>,
}

/// What the connections share.
struct Desk {
    session: Session,
    view: Box<dyn View>,
    /// Ends the thinking that is under way.
    stop: Arc<AtomicBool>,
    last_heard: Instant,
}

/// What the thread is told.
enum Order {
    Learn(News),
    Choose(Budget, Sender<Result<Choice, Lapse>>),
    Finish(Option<News>),
}

#[derive(Default)]
struct Readiness {
    is_ready: Mutex<bool>,
    changed: Condvar,
}

/// Says that it is ready when it goes, even by a panic: nobody waits for a thread that is gone.
struct Announce(Arc<Readiness>);

impl Drop for Announce {
    fn drop(&mut self) {
        *lock(&self.0.is_ready) = true;
        self.0.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Starts the thread.
    pub(crate) fn begin(
        id: &str,
        opening: Box<dyn Opening>,
        [start_clock, clock]: [Clock; 2],
        heard_at: Instant,
        is_shouted: bool,
    ) -> std::io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let (shape, role) = (opening.shape(), opening.role());
        let desk = Desk {
            session: Session::new(shape, role),
            view: opening.view(),
            stop: Arc::clone(&stop),
            last_heard: Instant::now(),
        };
        let is_hidden = shape.hidden;
        let (orders, inbox) = channel();
        let readiness = Arc::<Readiness>::default();
        let announce = Announce(Arc::clone(&readiness));
        let deadline = heard_at + start_clock.whole.saturating_sub(start_clock.margin);
        std::thread::Builder::new()
            .name("player".to_owned())
            .spawn(move || work(opening, deadline, stop, announce, &inbox))?;
        Ok(Running {
            id: id.to_owned(),
            is_shouted,
            is_hidden,
            role: role.index(),
            clock,
            desk: Mutex::new(desk),
            answered: Condvar::new(),
            orders,
            readiness,
        })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// How long nothing was heard.
    pub(crate) fn silence(&self) -> Duration {
        lock(&self.desk).last_heard.elapsed()
    }

    /// A word as the host would write it.
    pub(crate) fn in_its_voice(&self, word: &str) -> String {
        if self.is_shouted { word.to_uppercase() } else { word.to_owned() }
    }

    /// Waits for the player, but not beyond this. Returns whether it is ready.
    pub(crate) fn wait_until_ready(&self, until: Instant) -> bool {
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

    /// Answers the question for a move. Gives the move, and a remark if something is amiss.
    pub(crate) fn play(&self, told: &Told, heard_at: Instant) -> (String, Option<String>) {
        let mut desk = lock(&self.desk);
        desk.last_heard = Instant::now();
        let give_up = heard_at + self.clock.whole.saturating_sub(self.clock.margin / 3);
        let mut remark = None;
        match self.heed(&mut desk, told) {
            Ok(Some(turn)) => return self.answer_again(desk, turn, give_up),
            Ok(None) => {}
            Err(why) => {
                // Where the match is not known any more, a move that is legal as far as we know is better than none; and if
                // the same question is still open, it is answered anew.
                remark = Some(why);
            }
        }
        let turn = desk.session.turn();
        let legal = desk.view.legal_moves();
        let [first, others @ ..] = legal.as_slice() else {
            return (
                "nil".to_owned(),
                Some(remark.unwrap_or_else(|| "there is no legal move".to_owned())),
            );
        };
        if others.is_empty() {
            desk.session.note_answer(turn, first);
            self.answered.notify_all();
            return (first.clone(), remark);
        }
        let stop = desk.stop_the_old();
        drop(desk);
        let deadline = heard_at + self.clock.whole.saturating_sub(self.clock.margin);
        let budget = Budget { stop, ..Budget::until(deadline) };
        let hint = Arc::clone(&budget.hint);
        let (sender, choice) = channel();
        let _ = self.orders.send(Order::Choose(budget, sender));
        let left = give_up.saturating_duration_since(Instant::now());
        let (text, lapse) = match choice.recv_timeout(left) {
            Ok(Ok(choice)) if legal.contains(&choice.text) => (choice.text, None),
            Ok(Ok(choice)) => (
                first.clone(),
                Some(format!("the player chose `{}`, which is not legal", choice.text)),
            ),
            Ok(Err(lapse)) => (first.clone(), Some(format!("the player {lapse}"))),
            // All engines list the moves of an open game in the same order, so the view knows which one is meant.
            Err(RecvTimeoutError::Timeout) => match hint.told().and_then(|at| legal.get(at)) {
                Some(best) if !self.is_hidden => {
                    (best.clone(), Some("the best found so far".to_owned()))
                }
                Some(_) | None => (first.clone(), Some("the player is too slow".to_owned())),
            },
            Err(RecvTimeoutError::Disconnected) => {
                (first.clone(), Some("the player has fallen over".to_owned()))
            }
        };
        let mut desk = lock(&self.desk);
        desk.stop.store(true, Ordering::Relaxed);
        desk.session.note_answer(turn, &text);
        self.answered.notify_all();
        (text, remark.or(lapse))
    }

    /// Takes in a message: the turn in which it was asked before, if so; the text says why it makes no sense.
    fn heed(&self, desk: &mut Desk, told: &Told) -> Result<Option<usize>, String> {
        let Desk { session, view, .. } = desk;
        let mut news = match session.heed(told, &mut |joint| view.joint(joint).is_some()) {
            Heed::First => return Ok(None),
            Heed::Again(turn) => return Ok(Some(turn)),
            Heed::Unfit(why) => return Err(why),
            Heed::News(news) => news,
        };
        if !self.is_hidden
            && let Some(joint) = view.joint(&news.seen)
        {
            // As our own rules write it.
            news.own.clone_from(&joint[self.role]);
            news.seen = joint;
        }
        view.learn(&news)?;
        let _ = self.orders.send(Order::Learn(news));
        Ok(None)
    }

    /// What was said before is said again, once it is known.
    fn answer_again(
        &self,
        mut desk: MutexGuard<'_, Desk>,
        turn: usize,
        until: Instant,
    ) -> (String, Option<String>) {
        let remark = Some("asked again".to_owned());
        loop {
            if let Some(answer) = desk.session.answer(turn) {
                return (answer.to_owned(), remark);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let legal = desk.view.legal_moves();
                return (legal.into_iter().next().unwrap_or_else(|| "nil".to_owned()), remark);
            }
            desk = self.answered.wait_timeout(desk, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the match. The text says what was odd about the last message.
    pub(crate) fn stop(&self, told: Option<&Told>) -> Option<String> {
        let mut desk = lock(&self.desk);
        desk.stop_the_old().store(true, Ordering::Relaxed);
        let mut odd = None;
        let news = told.filter(|told| **told != Told::Nothing).and_then(|told| {
            let Desk { session, view, .. } = &mut *desk;
            match session.heed(told, &mut |joint| view.joint(joint).is_some()) {
                Heed::News(news) => Some(news),
                Heed::Unfit(why) => {
                    odd = Some(why);
                    None
                }
                Heed::First | Heed::Again(_) => None,
            }
        });
        let _ = self.orders.send(Order::Finish(news));
        odd
    }
}

impl Desk {
    /// Ends what is being thought; gives the flag for what comes next.
    fn stop_the_old(&mut self) -> Arc<AtomicBool> {
        self.stop.store(true, Ordering::Relaxed);
        self.stop = Arc::default();
        Arc::clone(&self.stop)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.desk).stop.store(true, Ordering::Relaxed);
    }
}

/// What the thread does.
fn work(
    opening: Box<dyn Opening>,
    deadline: Instant,
    stop: Arc<AtomicBool>,
    announce: Announce,
    inbox: &Receiver<Order>,
) {
    let mut player = opening.player(deadline);
    let budget = Budget { stop, ..Budget::until(deadline) };
    let mut lost = player.prepare(&budget).err();
    drop(announce);
    for order in inbox {
        match order {
            Order::Learn(news) => {
                if lost.is_none() {
                    lost = player.learn(&news).err();
                }
            }
            Order::Choose(budget, reply) => {
                let choice = match &lost {
                    Some(lapse) => Err(lapse.clone()),
                    None => player.choose(&budget),
                };
                let _ = reply.send(choice);
            }
            Order::Finish(news) => {
                player.finish(news.as_ref());
                return;
            }
        }
    }
}
