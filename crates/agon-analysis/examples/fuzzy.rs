//! Makes the fuzzy evaluations of rulesheets: `cargo run --release -p agon-analysis --example fuzzy -- FILE...`

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::fuzzy::{Fuzzy, FuzzyJudge, FuzzyOptions, Seen};
use agon_analysis::properties::{Properties, PropertyLimits};
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
        limits.ground.deadline = Some(began + Duration::from_secs(3));
        let compiled = game.compile(&limits).ok();
        let limits = PropertyLimits::until(Instant::now() + Duration::from_secs(3));
        let known = Properties::find(&game, compiled.as_ref(), &limits);
        let before = began.elapsed().as_secs_f64();
        let until = Some(Instant::now() + Duration::from_secs(10));
        match Fuzzy::until(&game, compiled.as_ref(), &known, &FuzzyOptions::default(), until) {
            Err(why) => println!("{path}: refused: {why}"),
            Ok(fuzzy) => {
                let fuzzy = Arc::new(fuzzy);
                let all = began.elapsed().as_secs_f64();
                let mut judge = FuzzyJudge::new(&fuzzy);
                let mut n = 0;
                let mut sums = vec![Vec::new(); fuzzy.goals.len()];
                let began = Instant::now();
                for seen in known.plays.states() {
                    if compiled.is_none() || began.elapsed().as_millis() > 300 {
                        break;
                    }
                    judge.look(Seen::Bits(&seen.fluents));
                    for (role, values) in sums.iter_mut().enumerate() {
                        let value = judge.value(role);
                        if seen.is_terminal {
                            values.push((seen.payoffs[role], value));
                        }
                    }
                    n += 1;
                }
                let rate = f64::from(n) / began.elapsed().as_secs_f64();
                judge.look(Seen::Terms(game.initial_fluents()));
                let start: Vec<f64> =
                    (0..fuzzy.goals.len()).map(|role| judge.value(role)).collect();
                let sizes: Vec<Vec<usize>> = fuzzy
                    .goals
                    .iter()
                    .map(|goals| {
                        goals.iter().map(|(_, root)| fuzzy.tree.below(*root).len()).collect()
                    })
                    .collect();
                let mean = |high: bool| {
                    let of: Vec<f64> =
                        sums[0].iter().filter(|(p, _)| (*p > 50.0) == high).map(|x| x.1).collect();
                    of.iter().sum::<f64>() / of.len() as f64
                };
                println!(
                    "{path}: {before:.1} s + {:.2} s, nodes {sizes:?}, {:?}, {rate:.0} states/s, start {start:.2?}, ends won {:.2} other {:.2}",
                    all - before,
                    fuzzy.counts(),
                    mean(true),
                    mean(false),
                );
            }
        }
    }
}
