//! Translates structure rewriting games to GDL and back, plays each original and its second
//! translation in lockstep, and prints the result:
//! `cargo xtask round-trip PLAYS STEPS FILE.toss ...`
//!
//! Environment variables: `SHOW=1` prints the second translation, and `SECONDS=n` limits the time
//! of the translation back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::laws::Plan;
use agon_text::Source;
use agon_toss::interpreter::{Game, Options};
use agon_translate::round_trip::round_trip;
use agon_translate::to_gdl::ToGdlLimits;
use agon_translate::to_toss;

pub(crate) fn run(args: Vec<String>) {
    let mut arguments = args.into_iter();
    let mut number = || arguments.next().and_then(|n| n.parse::<usize>().ok());
    let (Some(plays), Some(max_steps)) = (number(), number()) else {
        eprintln!("usage: cargo xtask round-trip PLAYS STEPS FILE.toss ...");
        return;
    };
    for path in arguments {
        let plan = Plan { plays, max_steps, seed: 7 };
        println!("{path}: {}", compare_one(&path, &plan));
    }
}

/// Returns the line to print about a game.
fn compare_one(path: &str, plan: &Plan) -> String {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return error.to_string(),
    };
    let Some(arena) = agon_toss::check::check(Arc::new(Source::new(path, text))).arena else {
        return "the game has errors".to_owned();
    };
    let game = match Game::open(arena, Options::default()) {
        Ok(game) => game,
        Err(finding) => return finding.message,
    };
    let began = Instant::now();
    let seconds = std::env::var("SECONDS").ok().and_then(|n| n.parse().ok());
    let deadline = seconds.and_then(|seconds| began.checked_add(Duration::from_secs(seconds)));
    let options = to_toss::ToTossOptions { deadline, ..to_toss::ToTossOptions::default() };
    let trip = match round_trip(&game, ToGdlLimits::default(), &options) {
        Ok(trip) => trip,
        Err(why) => return format!("{why} [{:.1}s]", began.elapsed().as_secs_f64()),
    };
    let took = began.elapsed().as_secs_f64();
    if std::env::var_os("SHOW").is_some() {
        println!("{}", trip.back.text);
    }
    let sizes =
        format!("{} bytes of GDL, {} bytes back", trip.there.text.len(), trip.back.text.len());
    let began = Instant::now();
    match trip.compare(&game, plan) {
        Ok(played) => format!(
            "{sizes}, {took:.1}s; identical over {} plays, {} steps, {} ended, {:.1}s",
            played.plays,
            played.steps(),
            played.ended,
            began.elapsed().as_secs_f64()
        ),
        Err(difference) => format!("{sizes}, {took:.1}s; differs: {difference}"),
    }
}
