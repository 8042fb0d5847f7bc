//! Writes structure rewriting games in GDL and those as structure rewriting games again, plays originals and what came back jointly,
//! and tells what came of it.
//!
//! `cargo run --release -p agon-translate --example round_trip -- PLAYS STEPS FILE.toss ...`; with `SHOW=1` what came back is
//! printed, and `SECONDS=n` is what the way back may take.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_text::Source;
use agon_toss::interpreter::{Game, Options};
use agon_translate::round_trip::round_trip;
use agon_translate::to_gdl::Limits;
use agon_translate::to_gdl::joint::Plan;
use agon_translate::to_toss;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().and_then(|n| n.parse::<u32>().ok());
    let (Some(plays), Some(max_steps)) = (number(), number()) else {
        eprintln!("usage: round_trip PLAYS STEPS FILE.toss ...");
        return;
    };
    for path in arguments {
        println!(
            "{path}: {}",
            run(&path, Plan { plays: plays.into(), max_steps: max_steps as usize, seed: 7 })
        );
    }
}

/// What came of a game.
fn run(path: &str, plan: Plan) -> String {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return error.to_string(),
    };
    let Some(arena) = agon_toss::check::check(Arc::new(Source::new(path, text))).arena else {
        return "not a game".to_owned();
    };
    let game = match Game::open(arena, Options::default()) {
        Ok(game) => game,
        Err(finding) => return finding.message,
    };
    let began = Instant::now();
    let seconds = std::env::var("SECONDS").ok().and_then(|n| n.parse().ok());
    let deadline = seconds.and_then(|seconds| began.checked_add(Duration::from_secs(seconds)));
    let options = to_toss::Options { deadline, ..to_toss::Options::default() };
    let trip = match round_trip(&game, Limits::default(), &options) {
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
    match trip.play_jointly(&game, plan) {
        Ok(played) => format!(
            "{sizes}, {took:.1}s; alike over {} plays, {} steps, {} ended, {:.1}s",
            played.plays,
            played.steps,
            played.ended,
            began.elapsed().as_secs_f64()
        ),
        Err(difference) => format!("{sizes}, {took:.1}s; differs: {difference}"),
    }
}
