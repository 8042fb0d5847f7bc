//! Matches with threads and clocks, with players that fail in all ways.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_game::{Observation, Role};
use agon_match::{
    Choice, Clocks, Ending, Event, Match, MatchOptions, MoveError, MoveTracker, Player,
    PlayerError, Seat, Timing,
};
use agon_search::Budget;

use super::games::{CLOCKS, Log, Logged, run, run_with, seats, shipped, table};

/// What a faulty player does when it has to choose.
#[derive(Copy, Clone)]
enum Failure {
    /// Waits for the signal to stop, which comes after its time.
    Wait,
    IllegalMove,
    Panic,
    Error,
}

struct Faulty(Failure);

impl Player for Faulty {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        let answer = |text: &str| Ok(Choice { text: text.to_owned(), thought: None });
        match self.0 {
            Failure::Wait => {
                wait_for_stop(budget);
                answer("(mark 1 1)")
            }
            Failure::IllegalMove => answer("(mark 9 9)"),
            Failure::Panic => panic!("this player panics on purpose"),
            Failure::Error => Err(PlayerError::Broken("no idea".to_owned())),
        }
    }

    fn learn(&mut self, _: &Observation) -> Result<(), PlayerError> {
        Ok(())
    }
}

fn wait_for_stop(budget: &Budget) {
    while !budget.stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Plays a match against a faulty player, and returns the log of the other player.
fn against(failure: Failure) -> (Match, Log) {
    let game = shipped("tic-tac-toe");
    let mut all = seats(&game, &["random"], 1);
    let log = Arc::new(Mutex::new(Log::default()));
    let good = all.remove(0);
    let player = Box::new(Logged { player: good.player, log: Arc::clone(&log) });
    // Only the player that waits must be late, however busy the machine is.
    let timing = match failure {
        Failure::Wait => Timing::Margin(Duration::ZERO),
        Failure::IllegalMove | Failure::Panic | Failure::Error => Timing::Unlimited,
    };
    let faulty = Seat { role: Role::new(1), player: Box::new(Faulty(failure)), timing };
    let played = run(&game, vec![Seat { player, ..good }, faulty], MatchOptions::default());
    let log = log.lock().expect("no thread panics").clone();
    (played, log)
}

#[test]
fn a_faulty_player_does_not_end_the_match() {
    let late = MoveError::NoMove(PlayerError::Late);
    let error = MoveError::NoMove(PlayerError::Broken("no idea".to_owned()));
    let crashed = MoveError::NoMove(PlayerError::Broken("the player has crashed".to_owned()));
    let cases = [
        (Failure::Wait, late),
        (Failure::IllegalMove, MoveError::Illegal("(mark 9 9)".to_owned())),
        (Failure::Panic, crashed),
        (Failure::Error, error),
    ];
    for (failure, expected) in cases {
        let (played, log) = against(failure);
        assert!(matches!(played.ending(), Some(Ending::Finished(_))), "{expected:?}");
        for step in played.steps() {
            assert_eq!(step.errors[0], None);
            assert_eq!(step.errors[1].as_ref(), Some(&expected));
        }
        // The other player observes every step but the last, which comes with the end.
        let observed: Vec<&Vec<String>> =
            log.observations.iter().map(|observation| &observation.seen).collect();
        let made: Vec<&Vec<String>> = played.steps().iter().map(|step| &step.joint).collect();
        assert_eq!(observed, made[..made.len() - 1], "{expected:?}");
    }
}

/// A player that waits for the signal to stop, which comes after its time, but gives a hint: the
/// second of its two moves.
struct Slow {
    moves: [&'static str; 2],
    gives_hints: bool,
}

impl Player for Slow {
    fn prepare(&mut self, budget: &Budget) -> Result<(), PlayerError> {
        self.choose(budget).map(|_| ())
    }

    fn legal_moves(&mut self, _: &Budget) -> Vec<String> {
        self.moves.iter().map(|&m| m.to_owned()).collect()
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        if self.gives_hints {
            budget.hint.set(1);
        }
        wait_for_stop(budget);
        Ok(Choice { text: "far too late".to_owned(), thought: None })
    }

    fn learn(&mut self, _: &Observation) -> Result<(), PlayerError> {
        Ok(())
    }
}

#[test]
fn the_best_move_so_far_is_made_for_a_late_player() {
    for (gives_hints, expected) in [(true, "(show paper)"), (false, "(show rock)")] {
        let game = shipped("rock-paper-scissors");
        // The clock is long, so that half of the time is enough to answer with a hint.
        let clocks = Clocks { start: Duration::from_millis(20), play: Duration::from_secs(1) };
        let seats = (0..2).map(|role| Seat {
            role: Role::new(role),
            player: Box::new(Slow { moves: ["(show rock)", "(show paper)"], gives_hints }),
            timing: Timing::Margin(Duration::from_millis(900)),
        });
        let options = MatchOptions { max_steps: 2, ..MatchOptions::default() };
        let mut played = Match::new(table(game.start()), options, 0);
        let (mut n_overdue, mut n_not_ready) = (0, 0);
        run_with(&mut played, seats.collect(), clocks, &mut |_, event| match event {
            Event::Overdue(_) => n_overdue += 1,
            Event::Ready(_, error) => n_not_ready += usize::from(error.is_some()),
            Event::Chosen(..) | Event::Step(_) | Event::Over => {}
        });
        assert_eq!((n_overdue, n_not_ready), (2 * played.steps().len(), 0));
        assert!(!played.steps().is_empty());
        for step in played.steps() {
            assert_eq!(step.errors, [None, None]);
            assert_eq!(step.joint, [expected, expected]);
        }
    }
}

/// A player that is busy until the match is over, and has a tracker of its legal moves.
struct Stuck(Box<dyn Player>, Arc<AtomicBool>);

impl Player for Stuck {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn move_tracker(&self) -> Option<Box<dyn MoveTracker>> {
        self.0.move_tracker()
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
        while !self.1.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(PlayerError::Broken("too late to matter".to_owned()))
    }

    fn learn(&mut self, _: &Observation) -> Result<(), PlayerError> {
        Ok(())
    }
}

#[test]
fn legal_moves_are_made_for_a_player_that_is_stuck() {
    let game = shipped("tic-tac-toe");
    let is_over = Arc::default();
    let all = seats(&game, &["random"], 1).into_iter().map(|seat| Seat {
        player: Box::new(Stuck(seat.player, Arc::clone(&is_over))),
        timing: Timing::Margin(Duration::from_millis(20)),
        ..seat
    });
    let mut played = Match::new(table(game.start()), MatchOptions::default(), 0);
    run_with(&mut played, all.collect(), CLOCKS, &mut |_, event| {
        is_over.store(matches!(event, Event::Over), Ordering::Relaxed);
    });
    assert!(matches!(played.ending(), Some(Ending::Finished(_))));
    for step in played.steps() {
        assert_eq!(step.errors, [None, None]);
    }
}

#[test]
fn a_match_without_players_is_played_to_its_end() {
    let game = shipped("tic-tac-toe");
    let played = run(&game, Vec::new(), MatchOptions::default());
    assert!(matches!(played.ending(), Some(Ending::Finished(_))));
    assert_eq!(played.start_errors(), ["CE", "CE"]);
}

/// A player that cannot follow the match.
struct Lost;

impl Player for Lost {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Err(PlayerError::Broken("not ready".to_owned()))
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
        Ok(Choice { text: "noop".to_owned(), thought: None })
    }

    fn learn(&mut self, _: &Observation) -> Result<(), PlayerError> {
        Err(PlayerError::Broken("lost".to_owned()))
    }
}

#[test]
fn a_player_that_cannot_follow_is_not_asked_again() {
    let game = shipped("tic-tac-toe");
    let mut all = seats(&game, &["random"], 1);
    all[1] = Seat { role: Role::new(1), player: Box::new(Lost), timing: Timing::Unlimited };
    let played = run(&game, all, MatchOptions::default());
    assert_eq!(played.start_errors(), ["", "IN"]);
    assert_eq!(played.steps()[0].errors[1], None, "the first choice came before any observation");
    let lost = MoveError::NoMove(PlayerError::Broken("lost".to_owned()));
    for step in &played.steps()[1..] {
        assert_eq!(step.errors[1], Some(lost.clone()));
    }
}

#[test]
fn events_are_reported_in_order() {
    let game = shipped("rock-paper-scissors");
    let mut events = Vec::new();
    let mut played = Match::new(table(game.start()), MatchOptions::default(), 0);
    run_with(&mut played, seats(&game, &["random"], 1), CLOCKS, &mut |game, event| {
        events.push(match event {
            Event::Ready(_, None) => "ready".to_owned(),
            Event::Chosen(_, Ok(_), _) => format!("chosen {}", game.steps().len() + 1),
            Event::Step(_) => format!("step {}", game.steps().len()),
            Event::Overdue(_) => "overdue".to_owned(),
            Event::Over => "over".to_owned(),
            Event::Ready(_, Some(error)) | Event::Chosen(_, Err(error), _) => error.to_string(),
        });
    });
    let mut expected = vec!["ready".to_owned(); 2];
    for step in 1..=played.steps().len() {
        expected.extend([
            format!("chosen {step}"),
            format!("chosen {step}"),
            format!("step {step}"),
        ]);
    }
    expected.push("over".to_owned());
    assert_eq!(events, expected);
}
