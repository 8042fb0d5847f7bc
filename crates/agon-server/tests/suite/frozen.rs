//! Rules that take for ever: every message is answered in time, whatever the rules do.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_game::{Budget, Observation, Role, Shape};
use agon_match::{
    Choice, FactoryError, Player, PlayerError, PlayerFactory, PreparedGame, View, ViewError,
    WorkLimits,
};
use agon_server::http::HttpRequest;
use agon_server::{Exchange, Handler as _, PlayerOptions, PlayerServer};

const HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// Time for which a deaf stage does not notice that it is cancelled.
const DEAF: Duration = Duration::from_secs(4);

/// The stage that takes until it is cancelled.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Slow {
    Nothing,
    Opening,
    /// Opening does not notice at once that it is cancelled.
    DeafOpening,
    FirstMoves,
    LaterMoves,
    MakingThePlayer,
    Choosing,
}

/// Waits for the cancellation. Counts the work in progress.
#[derive(Clone)]
struct Work {
    limits: WorkLimits,
    n_working: Arc<AtomicUsize>,
}

impl Work {
    fn take_for_ever(&self) {
        self.n_working.fetch_add(1, Ordering::SeqCst);
        while !self.limits.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.n_working.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Factory {
    slow: Slow,
    n_working: Arc<AtomicUsize>,
}

impl PlayerFactory for Factory {
    fn open(&self, _: &str, _: &str) -> Result<Box<dyn PreparedGame>, FactoryError> {
        unreachable!("the server opens rules of strangers within limits")
    }

    fn open_within(
        &self,
        rules: &str,
        _: &str,
        limits: &WorkLimits,
    ) -> Result<Box<dyn PreparedGame>, FactoryError> {
        assert!(!rules.contains("crash"), "the factory crashes");
        let work = Work { limits: limits.clone(), n_working: Arc::clone(&self.n_working) };
        if self.slow == Slow::Opening {
            work.take_for_ever();
            return Err(FactoryError::Rules("cancelled".to_owned()));
        }
        if self.slow == Slow::DeafOpening {
            work.take_for_ever();
            std::thread::sleep(DEAF);
        }
        let shape = Shape::new(vec!["a".to_owned(), "b".to_owned()], None);
        Ok(Box::new(Game { slow: self.slow, work, shape }))
    }

    fn preview_within(&self, _: &str, limits: &WorkLimits) {
        Work { limits: limits.clone(), n_working: Arc::clone(&self.n_working) }.take_for_ever();
    }
}

struct Game {
    slow: Slow,
    work: Work,
    shape: Shape,
}

impl PreparedGame for Game {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn role(&self) -> Role {
        Role::new(0)
    }

    fn view(&self) -> Box<dyn View> {
        Box::new(Eye { slow: self.slow, work: self.work.clone(), n_steps: 0 })
    }

    fn player(self: Box<Self>, _: Instant) -> Box<dyn Player> {
        if self.slow == Slow::MakingThePlayer {
            self.work.take_for_ever();
        }
        Box::new(Thinker { slow: self.slow, work: self.work })
    }
}

struct Eye {
    slow: Slow,
    work: Work,
    n_steps: usize,
}

impl View for Eye {
    fn learn(&mut self, _: &Observation) -> Result<(), ViewError> {
        self.n_steps += 1;
        Ok(())
    }

    fn legal_moves(&mut self) -> Vec<String> {
        let is_slow = match self.slow {
            Slow::FirstMoves => true,
            Slow::LaterMoves => self.n_steps > 0,
            _ => false,
        };
        if is_slow {
            self.work.take_for_ever();
            return Vec::new();
        }
        vec!["x".to_owned(), "y".to_owned()]
    }

    fn fault(&mut self) -> Option<String> {
        (self.slow == Slow::FirstMoves).then(|| "cancelled".to_owned())
    }

    fn find_joint_move(&mut self, texts: &[String]) -> Option<Vec<String>> {
        Some(texts.to_vec())
    }

    fn state(&self) -> Option<Vec<String>> {
        Some(Vec::new())
    }
}

struct Thinker {
    slow: Slow,
    work: Work,
}

impl Player for Thinker {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
        if self.slow == Slow::Choosing {
            self.work.take_for_ever();
        }
        Ok(Choice { text: "y".to_owned(), thought: None })
    }

    fn learn(&mut self, _: &Observation) -> Result<(), PlayerError> {
        Ok(())
    }
}

struct Peer {
    server: PlayerServer,
    n_working: Arc<AtomicUsize>,
    remarks: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    fn new(slow: Slow) -> Peer {
        Peer::with(slow, PlayerOptions { margin: Some(MARGIN), ..PlayerOptions::default() })
    }

    fn with(slow: Slow, options: PlayerOptions) -> Peer {
        let (n_working, remarks) =
            (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<String>>>::default());
        let factory = Arc::new(Factory { slow, n_working: Arc::clone(&n_working) });
        let log = Arc::clone(&remarks);
        let log = move |exchange: &Exchange| {
            log.lock().expect("no test panics here").extend(exchange.remark.clone());
        };
        let server = PlayerServer::new(factory, options, Box::new(log));
        Peer { server, n_working, remarks }
    }

    /// Sends a message and returns the answer and the time that it took.
    fn say_as(&self, peer: IpAddr, message: &str) -> (String, Duration) {
        let began = Instant::now();
        let request = HttpRequest { method: "POST".to_owned(), message: message.to_owned() };
        let answer = self.server.respond_to(&request, began, peer).body;
        (answer, began.elapsed())
    }

    fn say(&self, message: &str) -> (String, Duration) {
        self.say_as(HOST, message)
    }

    fn says_at_once(&self, message: &str, expected: &str) {
        let before = delay();
        let (answer, took) = self.say(message);
        assert!(answer.contains(expected), "{message}: {answer}");
        let most = Duration::from_millis(100) + before + delay();
        assert!(took < most, "{message}: {took:?}, at most {most:?}");
    }

    fn wait_for_work(&self, n: usize) {
        let until = Instant::now() + Duration::from_secs(10);
        while self.n_working.load(Ordering::SeqCst) != n {
            assert!(Instant::now() < until, "there is no work of {n} threads");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Time that answers are given before the end of a clock, at least a quarter of it.
const MARGIN: Duration = Duration::from_millis(480);

const START: &str = "( START m a (( role a ) ( role b )) 1 1 )";

#[test]
fn a_start_that_cannot_be_opened_is_refused_within_its_clock() {
    for slow in [Slow::Opening, Slow::FirstMoves] {
        let peer = Peer::new(slow);
        std::thread::scope(|scope| {
            let start = scope.spawn(|| peer.say(START));
            peer.wait_for_work(1);
            for _ in 0..3 {
                peer.says_at_once("( INFO )", "( status busy )");
            }
            // The same message again waits for the same answer.
            let again = scope.spawn(|| peer.say(START));
            for answer in [start, again] {
                let (answer, took) = answer.join().expect("it does not panic");
                assert_eq!(answer, "busy", "{slow:?}");
                assert!(took < Duration::from_millis(1000), "{slow:?}: {took:?}");
            }
        });
        // The work is cancelled, and the player is free for another match.
        peer.wait_for_work(0);
        peer.says_at_once("( INFO )", "( status available )");
    }
}

#[test]
fn start_is_answered_when_its_match_is_aborted() {
    let peer = Peer::new(Slow::DeafOpening);
    let long = START.replace("1 1 )", "60 60 )");
    std::thread::scope(|scope| {
        let start = scope.spawn(|| {
            let (answer, _) = peer.say(&long);
            (answer, Instant::now())
        });
        peer.wait_for_work(1);
        peer.says_at_once("( ABORT m )", "aborted");
        let aborted_at = Instant::now();
        let (answer, answered_at) = start.join().expect("it does not panic");
        assert_eq!(answer, "busy");
        let took = answered_at.saturating_duration_since(aborted_at);
        assert!(took < DEAF / 2, "START is answered {took:?} after ABORT");
    });
    peer.says_at_once("( INFO )", "( status available )");
}

#[test]
fn a_match_can_be_aborted_at_any_stage() {
    for slow in [Slow::Opening, Slow::FirstMoves, Slow::MakingThePlayer] {
        let peer = Peer::new(slow);
        let long = START.replace("1 1 )", "60 60 )");
        std::thread::scope(|scope| {
            let start = scope.spawn(|| peer.say(&long));
            peer.wait_for_work(1);
            peer.says_at_once("( ABORT m )", "aborted");
            peer.wait_for_work(0);
            let (_, took) = start.join().expect("it does not panic");
            assert!(
                took < Duration::from_secs(20),
                "{slow:?}: START returns after ABORT, {took:?}"
            );
        });
        peer.says_at_once("( INFO )", "( status available )");
    }
}

#[test]
fn a_move_is_answered_in_time_whatever_takes_long() {
    for slow in [Slow::LaterMoves, Slow::MakingThePlayer, Slow::Choosing] {
        let peer = Peer::new(slow);
        assert_eq!(peer.say(START).0, "ready", "{slow:?}");
        let mut last = "NIL".to_owned();
        for _ in 0..3 {
            let (answer, took) = peer.say(&format!("( PLAY m {last} )"));
            assert!(["x", "y"].contains(&answer.as_str()), "{slow:?}: {answer}");
            assert!(took < Duration::from_millis(1000), "{slow:?}: {took:?}");
            peer.says_at_once("( INFO )", "( status busy )");
            last = format!("( {answer} x )");
        }
        peer.says_at_once("( ABORT m )", "aborted");
        peer.wait_for_work(0);
    }
}

#[test]
fn a_crash_while_opening_is_a_refusal() {
    let peer = Peer::new(Slow::Nothing);
    let (answer, took) = peer.say("( START m a (( role crash )) 30 30 )");
    assert_eq!(answer, "busy");
    assert!(took < Duration::from_secs(10), "{took:?}");
    peer.says_at_once("( INFO )", "( status available )");
}

#[test]
fn only_the_peer_that_started_a_match_controls_it() {
    let peer = Peer::new(Slow::Nothing);
    assert_eq!(peer.say(START).0, "ready");
    for message in ["( PLAY m NIL )", "( STOP m NIL )", "( ABORT m )", START] {
        assert_eq!(peer.say_as(OTHER, message).0, "busy", "{message}");
    }
    let remarks = peer.remarks.lock().expect("no test panics here").join("\n");
    assert!(remarks.contains("10.0.0.2 has not started `m`"), "{remarks}");
    assert_eq!(peer.say("( PLAY m NIL )").0, "y");
    assert_eq!(peer.say("( STOP m ( y x ) )").0, "done");

    let open = PlayerOptions { any_peer: true, ..PlayerOptions::default() };
    let peer = Peer::with(Slow::Nothing, open);
    assert_eq!(peer.say(START).0, "ready");
    assert_eq!(peer.say_as(OTHER, "( PLAY m NIL )").0, "y");
    assert_eq!(peer.say_as(OTHER, "( ABORT m )").0, "aborted");
}

/// Returns ten times the time that a thread without work takes. Other programs and tests delay
/// every thread, and this shows by how much.
fn delay() -> Duration {
    let began = Instant::now();
    std::thread::spawn(|| {}).join().expect("the thread does nothing");
    10 * began.elapsed()
}

#[test]
fn previews_do_not_pile_up() {
    let peer = Peer::new(Slow::Nothing);
    for n in 0..100 {
        let (answer, took) = peer.say(&format!("( PREVIEW (( role r{n} )) 1000 )"));
        assert_eq!(answer, "ready");
        let most = Duration::from_millis(100) + delay();
        assert!(took < most, "{took:?}, at most {most:?}");
        assert!(peer.n_working.load(Ordering::SeqCst) <= 2, "two threads at most");
    }
    // A match ends the preview of other rules.
    assert_eq!(peer.say(START).0, "ready");
    peer.wait_for_work(0);
    // During a match, others cannot make the player work.
    assert_eq!(peer.say_as(OTHER, "( PREVIEW (( role q )) 1000 )").0, "ready");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(peer.n_working.load(Ordering::SeqCst), 0);
}

#[test]
fn clocks_of_any_length_are_accepted() {
    for clock in ["1e300", "99999999999999999999", "0", "0.0001"] {
        let peer = Peer::new(Slow::Nothing);
        let start = format!("( START m a (( role a )) {clock} {clock} )");
        let (answer, _) = peer.say(&start);
        assert!(["ready", "busy", "what"].contains(&answer.as_str()), "{clock}: {answer}");
    }
}
