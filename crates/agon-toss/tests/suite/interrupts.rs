//! Rules that explode: every evaluation of a game ends at its deadline, when another thread cancels
//! it, and at the number of steps for one state. The files are those of `tests/hostile`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_game::{Fault, Position as _, Rng};
use agon_reals::interrupt::Interrupt;
use agon_text::Source;
use agon_toss::arena::CheckedArena;
use agon_toss::check::check;
use agon_toss::circuit::{CircuitLimits, NoCircuit};
use agon_toss::interpreter::{Game, Options};
use rand::SeedableRng as _;

/// Longest time between the end of the time limit and the end of an evaluation. Usually it is some
/// milliseconds, but the machine may be busy with other tests, and a large relation is sorted
/// without a break.
const GRACE: Duration = Duration::from_secs(30);

/// Files whose legal moves, payoffs or stable relations take longer than any test may, with the
/// part of play that explodes.
const FILES: [&str; 7] = ["condition", "embeddings", "post", "payoff", "relation", "sets", "reals"];

fn arena(name: &str) -> CheckedArena {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile");
    let path = folder.join(format!("exploding-{name}.toss"));
    let text = std::fs::read_to_string(&path).expect("the file is there");
    let checked = check(Arc::new(Source::new(path.to_string_lossy(), text)));
    checked.arena.unwrap_or_else(|| panic!("{name}: {:?}", checked.findings.0))
}

/// Opens a game and plays three steps. Returns the refusal.
fn refusal(name: &str, options: Options) -> Option<String> {
    let game = match Game::open(arena(name), options) {
        Ok(game) => game,
        Err(finding) => return Some(finding.message),
    };
    let mut position = game.start();
    position.play_out(&mut Rng::seed_from_u64(1), 3);
    match position.fault() {
        Some(Fault::Refused(why)) => Some(why.clone()),
        _ => None,
    }
}

#[test]
fn evaluation_ends_at_its_deadline() {
    for name in FILES {
        let began = Instant::now();
        let time = Duration::from_millis(200);
        let interrupt = Interrupt::at(Some(began + time));
        let why = refusal(name, Options { interrupt, ..Options::default() });
        let took = began.elapsed();
        assert!(took < time + GRACE, "{name} took {took:?}: {why:?}");
        assert!(why.is_some(), "{name} is played in {took:?}, so that it tests nothing");
    }
}

#[test]
fn evaluation_can_be_cancelled() {
    for name in FILES {
        let stop = Arc::new(AtomicBool::new(false));
        let interrupt = Interrupt { deadline: None, stop: Some(Arc::clone(&stop)) };
        let began = Instant::now();
        let time = Duration::from_millis(200);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(time);
                stop.store(true, Ordering::Relaxed);
            });
            let why = refusal(name, Options { interrupt, ..Options::default() });
            let took = began.elapsed();
            assert!(took < time + GRACE, "{name} took {took:?}: {why:?}");
            assert!(why.is_some(), "{name}");
        });
    }
}

#[test]
fn the_steps_for_one_state_are_limited() {
    // Each of the 64 post-conditions alone is within the limit of one formula.
    let options = Options { state_steps: 2_000_000, ..Options::default() };
    let why = refusal("post", options).expect("all post-conditions together take too long");
    assert!(why.contains("more than 2000000 steps"), "{why}");
}

#[test]
fn grounding_ends_at_its_deadline() {
    for name in ["embeddings", "post", "payoff"] {
        let game = Game::open(arena(name), Options::default()).expect("it opens");
        let began = Instant::now();
        let interrupt = Interrupt::at(Some(began + Duration::from_millis(100)));
        let limits = CircuitLimits { interrupt, work: u64::MAX, ..CircuitLimits::default() };
        let found = game.ground(&limits);
        let took = began.elapsed();
        assert!(took < GRACE, "{name} took {took:?}");
        let Err(why) = found else { panic!("{name} is grounded in {took:?}") };
        let is_limit = matches!(
            why,
            NoCircuit::Interrupted
                | NoCircuit::Gates(_)
                | NoCircuit::TooLarge(_)
                | NoCircuit::Evaluation(_)
        );
        assert!(is_limit, "{name}: {why}");
    }
}
