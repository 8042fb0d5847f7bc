//! `agon bench` and `agon ground`: the form of the output. The speed is not tested.

use serde_json::Value;

use super::super::games::{self, Scratch};
use super::run::{Run, agon, agon_reading};
use super::{COIN, has_keys};

const KEYS: [&str; 9] = [
    "game",
    "engine",
    "playouts_per_s",
    "states_per_s",
    "mean_length",
    "build_s",
    "peak_mb",
    "gates",
    "build_cpu_s",
];

fn lines(run: &Run) -> Vec<Value> {
    run.out.lines().map(|line| serde_json::from_str(line).expect("one object to a line")).collect()
}

fn bench(games: &[&str], engine: &str) -> Vec<Value> {
    let options = ["--seconds", "0.02", "--json", "--engine", engine];
    lines(&agon(&[&["bench"], games, options.as_slice()].concat()).succeeds())
}

#[test]
fn each_engine_is_measured() {
    for engine in ["interpreter", "circuit", "lanes", "portable"] {
        let results = bench(&["tic-tac-toe"], engine);
        assert_eq!(results.len(), 1);
        has_keys(&results[0], &KEYS);
        assert_eq!(results[0]["engine"], engine);
        let length = results[0]["mean_length"].as_f64().expect("a number");
        assert!((5.0..=9.0).contains(&length), "{}", results[0]);
    }
    let all: Vec<Value> =
        bench(&["nim"], "all").into_iter().map(|line| line["engine"].clone()).collect();
    assert_eq!(all, ["interpreter", "circuit", "lanes"]);
    let by_default = agon(&["bench", "nim", "--seconds", "0.01"]).succeeds();
    assert_eq!(by_default.out.lines().count(), 6, "a head and three engines: {}", by_default.out);
    let last = by_default.out.lines().last().unwrap_or_default();
    assert!(last.starts_with("agon ") && last.ends_with("agon bench nim --seconds 0.01"), "{last}");
    let head = by_default.out.lines().next().unwrap_or_default();
    assert!(head.contains("peak MB") && head.contains("cpu s"), "{head}");
}

#[test]
fn children_are_counted() {
    let result = &bench(&["tic-tac-toe"], "children")[0];
    has_keys(result, &KEYS);
    has_keys(result, &["children_per_s", "children_per_s_one_node_at_a_time"]);
    assert!(result["children_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{result}");
    assert!(result["playouts_per_s"].is_null(), "there are no playouts: {result}");
}

/// Each game is measured in its own process, so a larger game before it does not count.
#[test]
fn memory_is_that_of_the_game_alone() {
    let results = bench(&["skirmish", "tic-tac-toe"], "lanes");
    let peak = |index: usize| results[index]["peak_mb"].as_u64().expect("a number");
    if peak(0) == 0 {
        println!("skipped: this system does not report the memory of a process");
        return;
    }
    assert!(peak(1) < peak(0), "{results:?}");
}

#[test]
fn every_engine_gets_the_rules_from_standard_input() {
    let run = agon_reading(&["bench", "-", "--seconds", "0.01", "--json"], COIN).succeeds();
    let results = lines(&run);
    assert_eq!(results.len(), 3);
    results.iter().for_each(|result| assert_eq!(result["mean_length"], 1.0, "{result}"));
}

#[test]
fn errors_are_reported() {
    agon(&["bench", "tic-tak-toe"]).complains(2, "did you mean the shipped game `tic-tac-toe`?");
    let scratch = Scratch::new("bench-wrong");
    let wrong = scratch.file("wrong.kif", format!("{COIN}(<= p (not q))\n(<= q (not p))\n"));
    agon(&["bench", &wrong]).complains(1, "unstratified");
    agon(&["bench", "nim", "--seconds=-1"]).complains(2, "--seconds");
}

#[test]
fn ground_reports_every_rulesheet_of_a_folder() {
    let folder = games::root().join("games/gdl2");
    let run = agon(&["ground", "--json", "--all", &folder.to_string_lossy()]).succeeds();
    let results = lines(&run);
    assert_eq!(results.len(), games::rulesheets(&folder).len());
    for result in &results {
        has_keys(
            result,
            &["game", "grounded", "reason", "seconds", "peak_mb", "atoms", "gates", "cpu_s"],
        );
        assert_eq!(result["grounded"], true, "{result}");
    }
}
