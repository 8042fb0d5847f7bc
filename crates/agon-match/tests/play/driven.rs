//! Matches with threads and a clock, against players that do what they should not.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_game::Role;
use agon_match::{
    Choice, Clocks, Ending, Event, Lapse, Lookout, Match, MatchOptions, News, Player, Seat, Slip,
    Timing, drive,
};
use agon_search::Budget;

use super::games::{CLOCKS, Log, Overheard, run, seats, shipped, table};

/// What a bad player does when it is to choose.
#[derive(Copy, Clone)]
enum Vice {
    /// Thinks until it is told to stop, which is after its time.
    Sleep,
    Lie,
    Panic,
    Fail,
}

struct Bad(Vice);

impl Player for Bad {
    fn prepare(&mut self, _: &Budget) -> Result<(), Lapse> {
        Ok(())
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse> {
        let says = |text: &str| Ok(Choice { text: text.to_owned(), thought: None });
        match self.0 {
            Vice::Sleep => {
                while !budget.stop.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                says("(mark 1 1)")
            }
            Vice::Lie => says("(mark 9 9)"),
            Vice::Panic => panic!("a player falls over, as the test wants it to"),
            Vice::Fail => Err(Lapse::Broken("no idea".to_owned())),
        }
    }

    fn learn(&mut self, _: &News) -> Result<(), Lapse> {
        Ok(())
    }
}

fn against(vice: Vice) -> (Match, Log) {
    let game = shipped("tic-tac-toe");
    let mut all = seats(&game, &["random"], 1);
    let log = Arc::new(Mutex::new(Log::default()));
    let good = all.remove(0);
    let player = Box::new(Overheard { player: good.player, log: Arc::clone(&log) });
    // Only the sleeper is to be late, however busy the machine is.
    let timing = match vice {
        Vice::Sleep => Timing::Margin(Duration::ZERO),
        Vice::Lie | Vice::Panic | Vice::Fail => Timing::Unlimited,
    };
    let bad = Seat { role: Role::new(1), player: Box::new(Bad(vice)), timing };
    let played = run(&game, vec![Seat { player, ..good }, bad], MatchOptions::default());
    let log = log.lock().expect("nothing panics").clone();
    (played, log)
}

#[test]
fn a_bad_player_costs_nobody_the_match() {
    let late = Slip::Lapse(Lapse::Late);
    let fallen = Slip::Lapse(Lapse::Broken("the player has fallen over".to_owned()));
    let cases = [
        (Vice::Sleep, late),
        (Vice::Lie, Slip::Illegal("(mark 9 9)".to_owned())),
        (Vice::Panic, fallen),
        (Vice::Fail, Slip::Lapse(Lapse::Broken("no idea".to_owned()))),
    ];
    for (vice, slip) in cases {
        let (played, log) = against(vice);
        assert!(matches!(played.ending(), Some(Ending::Finished(_))), "{slip}");
        for step in played.steps() {
            assert_eq!(step.slips, [None, Some(slip.clone())]);
        }
        // The other player saw every move but the last, which it is told with the end.
        let told: Vec<&Vec<String>> = log.news.iter().map(|news| &news.seen).collect();
        let made: Vec<&Vec<String>> = played.steps().iter().map(|step| &step.joint).collect();
        assert_eq!(told, made[..made.len() - 1], "{slip}");
    }
}

/// A player that thinks until it is told to stop, which is after its time, but says what it would do: of its two moves the second.
struct Slow {
    moves: [&'static str; 2],
    hints: bool,
}

impl Player for Slow {
    fn prepare(&mut self, budget: &Budget) -> Result<(), Lapse> {
        self.choose(budget).map(|_| ())
    }

    fn look(&mut self, _: &Budget) -> Vec<String> {
        self.moves.iter().map(|&m| m.to_owned()).collect()
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse> {
        if self.hints {
            budget.hint.tell(1);
        }
        while !budget.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Choice { text: "far too late".to_owned(), thought: None })
    }

    fn learn(&mut self, _: &News) -> Result<(), Lapse> {
        Ok(())
    }
}

#[test]
fn a_move_is_always_at_hand() {
    for (hints, made) in [(true, "(show paper)"), (false, "(show rock)")] {
        let game = shipped("rock-paper-scissors");
        // Half of the time, however short it is, is enough for a player that only has to say what it has: the clock is long.
        let clocks = Clocks { start: Duration::from_millis(20), play: Duration::from_secs(1) };
        let seats = (0..2).map(|role| Seat {
            role: Role::new(role),
            player: Box::new(Slow { moves: ["(show rock)", "(show paper)"], hints }),
            timing: Timing::Margin(Duration::from_millis(900)),
        });
        let mut played = Match::new(
            table(game.start()),
            MatchOptions { max_steps: 2, ..MatchOptions::default() },
            0,
        );
        let (mut n_overdue, mut n_not_ready) = (0, 0);
        drive(&mut played, seats.collect(), &clocks, &|| 0, &mut |_, event| match event {
            Event::Overdue(_) => n_overdue += 1,
            Event::Ready(_, lapse) => n_not_ready += usize::from(lapse.is_some()),
            Event::Chosen(..) | Event::Step(_) | Event::Over => {}
        });
        assert_eq!((n_overdue, n_not_ready), (2 * played.steps().len(), 0));
        assert!(!played.steps().is_empty());
        for step in played.steps() {
            assert_eq!(step.slips, [None, None]);
            assert_eq!(step.joint, [made, made]);
        }
    }
}

/// A player that never comes to its second question, and has somebody else who keeps an eye on the game.
struct Stuck(Box<dyn Player>, Arc<std::sync::atomic::AtomicBool>);

impl Player for Stuck {
    fn prepare(&mut self, _: &Budget) -> Result<(), Lapse> {
        Ok(())
    }

    fn lookout(&self) -> Option<Box<dyn Lookout>> {
        self.0.lookout()
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, Lapse> {
        while !self.1.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(Lapse::Broken("too late to matter".to_owned()))
    }

    fn learn(&mut self, _: &News) -> Result<(), Lapse> {
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
    drive(&mut played, all.collect(), &CLOCKS, &|| 0, &mut |_, event| {
        is_over.store(matches!(event, Event::Over), Ordering::Relaxed);
    });
    assert!(matches!(played.ending(), Some(Ending::Finished(_))));
    for step in played.steps() {
        assert_eq!(step.slips, [None, None]);
    }
}

#[test]
fn nobody_in_a_seat_is_no_reason_to_stop() {
    let game = shipped("tic-tac-toe");
    let played = run(&game, Vec::new(), MatchOptions::default());
    assert!(matches!(played.ending(), Some(Ending::Finished(_))));
    assert_eq!(played.start_errors(), ["CE", "CE"]);
}

/// A player that has lost the thread.
struct Forgetful;

impl Player for Forgetful {
    fn prepare(&mut self, _: &Budget) -> Result<(), Lapse> {
        Err(Lapse::Broken("not today".to_owned()))
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, Lapse> {
        Ok(Choice { text: "noop".to_owned(), thought: None })
    }

    fn learn(&mut self, _: &News) -> Result<(), Lapse> {
        Err(Lapse::Broken("lost".to_owned()))
    }
}

#[test]
fn a_player_that_cannot_follow_is_not_asked_again() {
    let game = shipped("tic-tac-toe");
    let mut all = seats(&game, &["random"], 1);
    all[1] = Seat { role: Role::new(1), player: Box::new(Forgetful), timing: Timing::Unlimited };
    let played = run(&game, all, MatchOptions::default());
    assert_eq!(played.start_errors(), ["", "IN"]);
    assert_eq!(played.steps()[0].slips[1], None, "before it lost the thread it did well");
    for step in &played.steps()[1..] {
        assert_eq!(step.slips[1], Some(Slip::Lapse(Lapse::Broken("lost".to_owned()))));
    }
}

#[test]
fn what_happens_is_told_in_order() {
    let game = shipped("rock-paper-scissors");
    let mut told = Vec::new();
    let mut played = Match::new(table(game.start()), MatchOptions::default(), 0);
    drive(&mut played, seats(&game, &["random"], 1), &CLOCKS, &|| 0, &mut |game, event| {
        told.push(match event {
            Event::Ready(_, None) => "ready".to_owned(),
            Event::Chosen(_, Ok(_), _) => format!("chosen {}", game.steps().len() + 1),
            Event::Step(_) => format!("step {}", game.steps().len()),
            Event::Overdue(_) => "overdue".to_owned(),
            Event::Over => "over".to_owned(),
            Event::Ready(_, Some(lapse)) | Event::Chosen(_, Err(lapse), _) => lapse.to_string(),
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
    assert_eq!(told, expected);
}
