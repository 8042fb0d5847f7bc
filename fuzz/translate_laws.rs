//! Laws for translations between the two languages, on any text.
//!
//! The fuzz target `translate` and `crates/agon-translate/tests/suite/fuzz_smoke.rs` include this
//! file. A broken law panics.
#![allow(dead_code)] // Each target uses one law.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_datalog::Limits;
use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;
use agon_translate::to_gdl::{ToGdlLimits, to_gdl};
use agon_translate::to_toss::{ToTossOptions, to_toss};

/// Checks that rules of either language are translated or refused within small limits, and that a
/// translation is a game without errors.
pub(crate) fn translate(text: &str) {
    let source = Arc::new(Source::new("text", text));
    if let Some(rules) = check(Arc::clone(&source)).rules {
        let limits = Limits {
            facts: 20_000,
            steps: 300_000,
            depth: 2_000,
            term_depth: 50,
            bytes: 64 << 20,
            ..Limits::default()
        };
        let Ok(game) = Game::open(rules, Options { limits, ..Options::default() }) else { return };
        let options = ToTossOptions {
            plays: 2,
            states: 20,
            steps_of_play: 20,
            joint_plays: 5,
            rounds: 1,
            text_bytes: 100_000,
            gates: 20_000,
            steps: 1_000_000,
            conditions: 20_000,
            play_steps: 1_000_000,
            deadline: Some(Instant::now() + Duration::from_secs(5)),
            ..ToTossOptions::default()
        };
        if let Ok(translation) = to_toss(&game, &options) {
            let source = Arc::new(Source::new("translation.toss", translation.text.as_str()));
            let checked = agon_toss::check::check(source);
            assert!(checked.arena.is_some(), "{:?}\n{}", checked.findings, translation.text);
        }
    }
    if let Some(arena) = agon_toss::check::check(source).arena {
        let limits =
            ToGdlLimits { conditions: 20_000, values: 200, rows: 2_000, pool: 16, deadline: None };
        if let Ok(translation) = to_gdl(&arena, limits) {
            let source = Arc::new(Source::new("translation.kif", translation.text.as_str()));
            let checked = check(source);
            assert!(checked.rules.is_some(), "{:?}\n{}", checked.findings, translation.text);
        }
    }
}
