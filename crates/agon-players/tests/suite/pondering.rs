//! Players that think while the others choose.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_game::{Observation, Position as _, Role};
use agon_match::{
    Answer, Choice, Clocks, Ending, Match, MatchOptions, Player, PlayerError, PlayerThread,
    Question, RunOptions, Seat, Timing, run_match,
};
use agon_players::{BuildContext, Rules};
use agon_search::Budget;

use super::games::{seats, shipped, spec, table};

/// A limit against hanging, far above what any test takes.
const LONG: Duration = Duration::from_secs(60);

fn observation(joint: [&str; 2], own: usize) -> Observation {
    Observation {
        step: 1,
        own: joint[own].to_owned(),
        seen: joint.iter().map(|&text| text.to_owned()).collect(),
    }
}

/// Makes a player of the first role.
fn first_player(game: &str, player: &str) -> Box<dyn Player> {
    let game = shipped(game);
    let (role, seed) = (Role::new(0), 3);
    let context = BuildContext { start: game.start(), role, seed, rules: Rules::default() };
    spec(player).build(context).expect("the player is built-in")
}

/// Returns a reply that does not lose in tic-tac-toe, so that a search visits it often.
fn good_reply(own: &str) -> &'static str {
    if own == "(mark 2 2)" { "(mark 1 1)" } else { "(mark 2 2)" }
}

/// Returns the number of visits that the player's next search starts with.
fn known_visits(player: &mut dyn Player) -> u64 {
    let choice = player.choose(&Budget::iterations(1)).expect("the player can play");
    let thought = choice.thought.expect("there is a choice, so it searches");
    let visits: u64 = thought.considered.iter().map(|considered| considered.visits).sum();
    visits - thought.iterations
}

#[test]
fn a_pondering_player_knows_the_position_after_the_reply() {
    let known = |n_pondered: Option<u64>| {
        let mut player = first_player("tic-tac-toe", "mcts(solver=off,threads=1)");
        let own = player.choose(&Budget::iterations(30)).expect("the player can play").text;
        let reply = good_reply(&own);
        if let Some(n) = n_pondered {
            player.ponder(Some(&own), &Budget::iterations(n));
        }
        player.learn(&observation([&own, "noop"], 0)).expect("the move is legal");
        assert_eq!(player.choose(&Budget::iterations(1)).map(|c| c.text), Ok("noop".to_owned()));
        player.learn(&observation(["noop", reply], 0)).expect("the move is legal");
        known_visits(player.as_mut())
    };
    let (idle, pondered) = (known(None), known(Some(3000)));
    assert!(idle < 30 && pondered > idle + 100, "{idle} {pondered}");
}

#[test]
fn a_player_with_one_move_ponders_on_the_others_choice() {
    let mut player = first_player("tic-tac-toe", "mcts(solver=off,threads=1)");
    let own = player.choose(&Budget::iterations(30)).expect("the player can play").text;
    player.learn(&observation([&own, "noop"], 0)).expect("the move is legal");
    let forced = player.choose(&Budget::iterations(1)).expect("the player can play").text;
    player.ponder(Some(&forced), &Budget::iterations(3000));
    let joint = ["noop", good_reply(&own)];
    player.learn(&observation(joint, 0)).expect("the position was left as it was");
    let known = known_visits(player.as_mut());
    assert!(known > 100, "{known}");
}

#[test]
fn pondering_does_not_move_the_player() {
    for kind in ["mcts", "mcts(paranoid)", "alphabeta", "auto", "uct", "bestfirst"] {
        for game in ["tic-tac-toe", "rock-paper-scissors", "connect-four"] {
            let mut player = first_player(game, kind);
            let before = player.legal_moves(&Budget::default());
            let own = player.choose(&Budget::iterations(50)).expect("the player can play").text;
            player.ponder(Some(&own), &Budget::iterations(500));
            assert_eq!(player.legal_moves(&Budget::default()), before, "{kind} {game}");
            // The referee may have made another move for the player.
            let other = before.iter().find(|text| **text != own).expect("there are several");
            let reply = if game == "rock-paper-scissors" { "(show rock)" } else { "noop" };
            let joint = [other.as_str(), reply];
            player.learn(&observation(joint, 0)).expect("the player stands where it stood");
            let mut follower = shipped(game).start();
            let moves: Vec<_> = follower
                .shape()
                .roles()
                .zip(joint)
                .map(|(role, text)| agon_game::Notation::parse_move(&follower, role, text))
                .map(|m| m.expect("the move is legal"))
                .collect();
            follower.advance(&moves);
            let expected: Vec<String> = follower
                .legal_moves(Role::new(0))
                .iter()
                .map(|m| agon_game::Notation::move_text(&follower, m))
                .collect();
            assert_eq!(player.legal_moves(&Budget::default()), expected, "{kind} {game}");
            let next = player.choose(&Budget::iterations(50)).expect("the player goes on").text;
            assert!(expected.contains(&next), "{kind} {game}: {next}");
        }
    }
}

/// A player that ponders until it is told to stop, and reports what it does.
struct Ponderer {
    events: Sender<&'static str>,
}

impl Player for Ponderer {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
        let _ = self.events.send("choose");
        Ok(Choice { text: "x".to_owned(), thought: None })
    }

    fn ponder(&mut self, own_move: Option<&str>, budget: &Budget) {
        assert_eq!(own_move, Some("x"));
        let _ = self.events.send("ponder");
        while !budget.is_cancelled() {
            std::thread::yield_now();
        }
        let _ = self.events.send("stopped");
    }

    fn learn(&mut self, _: &Observation) -> Result<(), PlayerError> {
        let _ = self.events.send("learn");
        Ok(())
    }

    fn finish(&mut self, _: Option<&Observation>, _: Option<&[f64]>) {
        let _ = self.events.send("finish");
    }

    fn abort(&mut self) {
        let _ = self.events.send("abort");
    }
}

#[track_caller]
fn expect_events(events: &Receiver<&'static str>, expected: &[&str]) {
    for &expected in expected {
        assert_eq!(events.recv_timeout(LONG), Ok(expected));
    }
}

/// Starts a thread whose player ponders after a choice.
fn pondering_thread() -> (PlayerThread, Receiver<&'static str>) {
    let (sender, events) = channel();
    let player = Ponderer { events: sender };
    let thread = PlayerThread::start(0, move || Box::new(player), None).expect("there is a thread");
    let (reply, replies) = channel();
    assert!(thread.ask(Question::Choose, Budget::default(), 1, &reply));
    let answer = replies.recv_timeout(LONG).expect("the player answers").answer;
    assert!(matches!(answer, Answer::Choice(Ok(_))));
    thread.ponder(Some("x".to_owned()), LONG);
    expect_events(&events, &["choose", "ponder"]);
    (thread, events)
}

#[test]
fn every_order_ends_pondering_first() {
    let (thread, events) = pondering_thread();
    let asked_at = Instant::now();
    let (reply, replies) = channel();
    thread.ask(Question::Choose, Budget::default(), 2, &reply);
    assert!(replies.recv_timeout(LONG).is_ok());
    assert!(asked_at.elapsed() < Duration::from_secs(5), "pondering would go on for minutes");
    expect_events(&events, &["stopped", "choose"]);
    thread.ponder(Some("x".to_owned()), LONG);
    expect_events(&events, &["ponder"]);
    thread.learn(observation(["x", "y"], 0));
    expect_events(&events, &["stopped", "learn"]);
    // An order that comes before the thread has begun to ponder ends it, too.
    for _ in 0..50 {
        thread.ponder(Some("x".to_owned()), LONG);
        thread.learn(observation(["x", "y"], 0));
        let mut event = events.recv_timeout(LONG);
        if event == Ok("ponder") {
            expect_events(&events, &["stopped"]);
            event = events.recv_timeout(LONG);
        }
        assert_eq!(event, Ok("learn"));
    }
}

#[test]
fn the_end_of_a_match_ends_pondering() {
    let (thread, events) = pondering_thread();
    thread.finish(None, None);
    expect_events(&events, &["stopped", "finish"]);
    let (thread, events) = pondering_thread();
    thread.abort();
    expect_events(&events, &["stopped", "abort"]);
    let (thread, events) = pondering_thread();
    drop(thread);
    expect_events(&events, &["stopped"]);
    // A thread whose player ponders no more than its budget waits for orders.
    let (thread, events) = pondering_thread();
    thread.ponder_within(Some("x".to_owned()), Budget::default());
    expect_events(&events, &["stopped", "ponder"]);
    thread.stop_pondering();
    expect_events(&events, &["stopped"]);
}

/// Counts how often a player ponders, and how often its time comes without it.
struct Counted {
    player: Box<dyn Player>,
    n_pondered: Arc<Mutex<u32>>,
}

impl Player for Counted {
    fn prepare(&mut self, budget: &Budget) -> Result<(), PlayerError> {
        self.player.prepare(budget)
    }

    fn legal_moves(&mut self, budget: &Budget) -> Vec<String> {
        self.player.legal_moves(budget)
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        self.player.choose(budget)
    }

    fn ponder(&mut self, own_move: Option<&str>, budget: &Budget) {
        *self.n_pondered.lock().expect("no thread panics") += 1;
        self.player.ponder(own_move, budget);
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.player.learn(observation)
    }
}

/// Plays a match of two players that may ponder, and returns how often they did.
fn play(game: &str, ponder: bool, timing: Timing) -> (Match, u32) {
    let game = shipped(game);
    let n_pondered = Arc::default();
    let all = seats(&game, &["mcts(threads=1)"], 1).into_iter().map(|seat| Seat {
        player: Box::new(Counted { player: seat.player, n_pondered: Arc::clone(&n_pondered) }),
        timing,
        ..seat
    });
    let mut played = Match::new(table(game.start()), MatchOptions::default(), 0);
    let clocks = Clocks { start: Duration::from_millis(200), play: Duration::from_millis(200) };
    let options = RunOptions { clocks, now: &|| 7, is_aborted: &AtomicBool::new(false), ponder };
    run_match(&mut played, all.collect(), &options, &mut |_, _| {});
    let n_pondered = *n_pondered.lock().expect("no thread panics");
    (played, n_pondered)
}

#[test]
fn only_players_that_use_the_clock_ponder() {
    let by_clock = Timing::Margin(Duration::from_millis(100));
    assert_eq!(play("tic-tac-toe", true, Timing::Iterations(20)).1, 0);
    assert_eq!(play("tic-tac-toe", false, by_clock).1, 0);
    let (played, n_pondered) = play("tic-tac-toe", true, by_clock);
    assert!(matches!(played.ending(), Some(Ending::Finished(_))));
    assert!(n_pondered >= 3, "{n_pondered}");
    for step in played.steps() {
        assert_eq!(step.errors, [None, None]);
    }
}

#[test]
fn aborting_ends_a_match_whose_players_ponder() {
    let game = shipped("connect-four");
    let by_clock = Timing::Margin(Duration::from_millis(100));
    let all = seats(&game, &["mcts(threads=1)"], 1)
        .into_iter()
        .map(|seat| Seat { timing: by_clock, ..seat });
    let is_aborted = AtomicBool::new(false);
    let mut played = Match::new(table(game.start()), MatchOptions::default(), 0);
    let clocks = Clocks { start: Duration::from_millis(200), play: LONG };
    let options = RunOptions { clocks, now: &|| 7, is_aborted: &is_aborted, ponder: true };
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(600));
            is_aborted.store(true, Ordering::Relaxed);
        });
        run_match(&mut played, all.collect(), &options, &mut |_, _| {});
    });
    assert_eq!(played.ending(), Some(&Ending::Aborted));
    assert!(began.elapsed() < LONG / 2);
}
