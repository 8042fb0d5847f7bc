//! Tests of players that are made of rules which arrive as text.

use agon_game::{Budget, Observation};
use agon_match::{Choice, PlayerError};

use super::*;
use crate::shipped::Shipped;

fn limits() -> WorkLimits {
    WorkLimits { deadline: Instant::now() + Duration::from_secs(600), stop: Arc::default() }
}

/// The circuit of an earlier match serves the next match of the same rules. The earlier match is
/// cancelled for ever, so that the next one has a game of its own, which has to know the facts and
/// moves of the circuit.
#[test]
fn the_next_match_of_the_same_rules_is_analysed_like_the_first() {
    let spec = PlayerSpec::built_in("random");
    let factory = SpecPlayerFactory::new(spec, OpenOptions::default(), 1, Arc::new(|_| ()));
    let rules = Shipped::named("blocker").expect("it ships").text;
    let first = limits();
    let prepared = factory.open_within(rules, "blocker", &first).expect("the rules are sound");
    drop(prepared.player(first.deadline));
    first.stop.store(true, std::sync::atomic::Ordering::Relaxed);

    let (_, opened) = factory.game(rules, &strict(&limits())).expect("the rules are sound");
    let opened = opened.expect("the circuit is kept");
    let compiled = opened.compiled().expect("a circuit plays the game");
    let properties = opened.analysis().expect("it is GDL").properties(Duration::from_secs(600));
    assert!(!properties.fluents.is_empty());
    assert_eq!(properties.fluents.len(), compiled.circuit.base.len());
    for (fluent, text) in properties.fluents.iter().zip(&compiled.circuit.base) {
        assert_eq!(&fluent.text, text);
    }
}

/// A player that notes what it is told and panics at a given step.
struct Fragile {
    panics_at: usize,
    told: Arc<Mutex<Vec<String>>>,
    name: &'static str,
    step: usize,
}

impl Player for Fragile {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
        assert!(self.step < self.panics_at, "a mistake that this test is about");
        Ok(Choice { text: self.name.to_owned(), thought: None })
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.step += 1;
        let mut told = self.told.lock().expect("no test thread panics with it");
        told.push(format!("{} {}", self.name, observation.step));
        Ok(())
    }
}

#[test]
fn a_player_that_panics_is_replaced() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let make = |name, panics_at| {
        let told = Arc::clone(&told);
        move || -> Box<dyn Player> { Box::new(Fragile { panics_at, told, name, step: 0 }) }
    };
    let noted = Arc::clone(&warnings);
    let warn = move |text: &str| noted.lock().expect("no panics").push(text.to_owned());
    let spare = Box::new(make("spare", usize::MAX));
    let mut player = Guarded::new(make("first", 2), spare, Box::new(warn));
    let mut moves = Vec::new();
    for step in 1..=4 {
        let choice = player.choose(&Budget::default()).expect("one of the players has a move");
        moves.push(choice.text);
        let observation = Observation { step, own: String::new(), seen: Vec::new() };
        player.learn(&observation).expect("both follow");
    }
    assert_eq!(moves, ["first", "first", "spare", "spare"]);
    let told = told.lock().expect("no panics").join(", ");
    assert_eq!(told, "first 1, first 2, spare 1, spare 2, spare 3, spare 4");
    assert_eq!(warnings.lock().expect("no panics").len(), 1);
}

/// The panic may come while the player is made.
#[test]
fn a_player_that_cannot_be_made_is_replaced() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let spare = move || -> Box<dyn Player> {
        Box::new(Fragile { panics_at: usize::MAX, told, name: "spare", step: 0 })
    };
    let make = || -> Box<dyn Player> { panic!("a mistake that this test is about") };
    let mut player = Guarded::new(make, Box::new(spare), Box::new(|_| ()));
    assert_eq!(player.choose(&Budget::default()).expect("the spare player moves").text, "spare");
}
