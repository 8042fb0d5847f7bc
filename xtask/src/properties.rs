//! Measures the time that the search for properties of rulesheets takes:
//! `cargo xtask properties FILE...`

use std::path::Path;
use std::time::{Duration, Instant};

use agon_analysis::properties::{Fluent, Known, Properties, PropertyLimits};
use agon_gdl::circuit::CircuitLimits;

use crate::rulesheets;

/// Time limit of compilation and of the search for properties, each.
const TIME: Duration = Duration::from_secs(10);

pub(crate) fn run(args: Vec<String>) {
    for path in args {
        match measure(Path::new(&path)) {
            Ok(line) | Err(line) => println!("{path}: {line}"),
        }
    }
}

/// Returns a line with times and counts, or why the game cannot be played.
fn measure(path: &Path) -> Result<String, String> {
    let game = rulesheets::open(path)?;
    let began = Instant::now();
    let mut limits = CircuitLimits { gates: 1_000_000, ..CircuitLimits::default() };
    limits.ground.deadline = Some(began + TIME);
    let compiled = game.compile(&limits).ok();
    let compile_time = began.elapsed();
    let began = Instant::now();
    let limits = PropertyLimits::until(began + TIME);
    let found = Properties::find(&game, compiled.as_ref(), &limits);
    let find_time = began.elapsed();
    let proved = |known: &Option<Known>| known.is_some_and(Known::is_proved);
    let count =
        |of: &dyn Fn(&Fluent) -> bool| found.fluents.iter().filter(|fluent| of(fluent)).count();
    Ok(format!(
        "circuit {:.1} s ({:?} gates), properties {:.1} s; {} fluents, true {} of {}, \
         false {} of {}, groups {} of {}, turns {:?}, refused {:?}",
        compile_time.as_secs_f64(),
        compiled.as_ref().map(|compiled| compiled.circuit.n_gates()),
        find_time.as_secs_f64(),
        found.fluents.len(),
        count(&|fluent| proved(&fluent.persistent_true)),
        count(&|fluent| fluent.persistent_true.is_some()),
        count(&|fluent| proved(&fluent.persistent_false)),
        count(&|fluent| fluent.persistent_false.is_some()),
        found.groups.iter().filter(|group| group.at_most_one.is_proved()).count(),
        found.groups.len(),
        found.turns.turn_taking,
        found.refused,
    ))
}
