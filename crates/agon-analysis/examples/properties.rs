//! Times the properties of rulesheets: `cargo run --release -p agon-analysis --example properties -- FILE...`

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::properties::{Known, Properties, PropertyLimits};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let Some(rules) = check(Arc::new(Source::new(&path, &text))).rules else {
            println!("{path}: not playable");
            continue;
        };
        let Ok(game) = Game::open(rules, Options::default()) else {
            println!("{path}: not opened");
            continue;
        };
        let began = Instant::now();
        let mut limits = CircuitLimits { gates: 1_000_000, ..CircuitLimits::default() };
        limits.ground.deadline = Some(began + Duration::from_secs(10));
        let compiled = game.compile(&limits).ok();
        let compile_time = began.elapsed();
        let began = Instant::now();
        let limits = PropertyLimits::until(began + Duration::from_secs(10));
        let known = Properties::find(&game, compiled.as_ref(), &limits);
        let proved = |known: &Option<Known>| known.is_some_and(Known::is_proved);
        let count = |of: &dyn Fn(&agon_analysis::properties::Fluent) -> bool| {
            known.fluents.iter().filter(|fluent| of(fluent)).count()
        };
        println!(
            "{path}: circuit {:.1} s ({:?} gates), properties {:.1} s; {} fluents, true {} of {}, false {} of {}, \
             groups {} of {}, turns {:?}, refused {:?}",
            compile_time.as_secs_f64(),
            compiled.as_ref().map(|compiled| compiled.circuit.n_gates()),
            began.elapsed().as_secs_f64(),
            known.fluents.len(),
            count(&|fluent| proved(&fluent.persistent_true)),
            count(&|fluent| fluent.persistent_true.is_some()),
            count(&|fluent| proved(&fluent.persistent_false)),
            count(&|fluent| fluent.persistent_false.is_some()),
            known.groups.iter().filter(|group| group.at_most_one.is_proved()).count(),
            known.groups.len(),
            known.turns.turn_taking,
            known.refused,
        );
    }
}
