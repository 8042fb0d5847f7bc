//! `agon record` and `agon replay`: recordings replay, and every change of a recording is found.

use std::io::Write as _;

use serde_json::{Value, json};

use super::super::games::{self, Scratch};
use super::run::{Run, agon};

const ENGINES: [&str; 4] = ["interpreter", "circuit", "lanes", "portable"];

fn recorded() -> Value {
    let run =
        agon(&["record", "tic-tac-toe", "-n", "2", "--seed", "7", "--name", "tic-tac-toe.kif"])
            .succeeds();
    serde_json::from_str(&run.out).expect("a recording is JSON")
}

fn replay(trace: &str) -> Run {
    agon(&["replay", "tic-tac-toe", trace])
}

/// Returns the plays, states and mismatches of the last line of a replay.
fn tally(run: &Run) -> (u64, u64, u64) {
    let last = run.out.lines().last().unwrap_or_default();
    let numbers: Vec<u64> = last.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let [plays, states, mismatches] = numbers.as_slice() else { panic!("{}", run.out) };
    assert_eq!(last, format!("replayed {plays} plays, {states} states, {mismatches} mismatches"));
    (*plays, *states, *mismatches)
}

#[test]
fn recordings_replay() {
    let scratch = Scratch::new("record");
    let trace = recorded();
    assert_eq!(trace["game"], "tic-tac-toe.kif");
    assert_eq!(trace["roles"], json!(["xplayer", "oplayer"]));
    assert_eq!(trace["plays"][0]["steps"][0]["legal"][1], json!(["noop"]));
    let n_states: usize = trace["plays"].as_array().into_iter().flatten().map(n_states).sum();
    let plain = scratch.file("plain.json", trace.to_string());
    assert_eq!(tally(&replay(&plain).succeeds()), (2, n_states as u64, 0));
    let packed = scratch.file("packed.json.gz", gzip(trace.to_string().as_bytes()));
    assert_eq!(tally(&replay(&packed).succeeds()), (2, n_states as u64, 0));
    for engine in ENGINES {
        let run = agon(&["replay", "tic-tac-toe", &plain, "--engine", engine]).succeeds();
        assert_eq!(tally(&run), (2, n_states as u64, 0), "{engine}");
    }
}

#[test]
fn games_that_the_engine_cannot_play_are_counted_separately() {
    let scratch = Scratch::new("not-taken");
    let folder = scratch.path("").to_string_lossy().into_owned();
    let towers = games::root().join("tests/exploding/tower.kif");
    std::fs::copy(&towers, scratch.path("tower.kif")).expect("it can be copied");
    let tower = scratch.path("tower.kif").to_string_lossy().into_owned();
    let trace = agon(&["record", &tower, "-n", "3", "--name", "tower.kif"]).succeeds().out;
    let trace = scratch.file("tower.json", trace);
    agon(&["replay", &tower, &trace]).succeeds();
    scratch.file("tic-tac-toe.kif", agon(&["show", "tic-tac-toe"]).succeeds().out);
    let known = recorded();
    let n_known: usize = known["plays"].as_array().into_iter().flatten().map(n_states).sum();
    scratch.file("known.json", known.to_string());
    for engine in ["circuit", "lanes", "portable"] {
        let one =
            agon(&["replay", &tower, &trace, "--engine", engine, "--seconds", "0.2"]).succeeds();
        let lines: Vec<&str> = one.out.lines().collect();
        let [why, last] = lines.as_slice() else { panic!("{}", one.out) };
        assert!(
            why.starts_with("not taken by this engine: ") && why.contains("tower.kif:"),
            "{why}"
        );
        let nothing = "replayed 0 plays, 0 states, 0 mismatches";
        assert_eq!(*last, format!("{nothing}; 3 plays of 1 game not taken by the engine"));
        let all = [
            "replay",
            "--games",
            &folder,
            "--traces",
            &folder,
            "--seconds",
            "0.2",
            "--engine",
            engine,
        ];
        let all = agon(&all).succeeds();
        assert!(all.out.contains("tower: not taken by this engine, 3 plays, "), "{}", all.out);
        let last = all.out.lines().last().unwrap_or_default();
        let some = format!("replayed 2 plays, {n_known} states, 0 mismatches");
        assert_eq!(last, format!("{some}; 3 plays of 1 game not taken by the engine"));
    }
}

fn n_states(play: &Value) -> usize {
    play["steps"].as_array().map_or(0, Vec::len) + 1
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

#[test]
fn the_same_seed_gives_the_same_recording() {
    let scratch = Scratch::new("seeds");
    let record = |seed: &str, file: &str| {
        let path = scratch.path(file).to_string_lossy().into_owned();
        agon(&["record", "dice-race", "-n", "2", "--seed", seed, "--out", &path]).succeeds();
        std::fs::read_to_string(path).expect("just written")
    };
    let first = record("3", "a.json");
    assert_eq!(first, record("3", "b.json"));
    assert_ne!(first, record("4", "c.json"));
    assert_eq!(first, agon(&["record", "dice-race", "-n", "2", "--seed", "3"]).succeeds().out);
}

#[test]
fn a_recording_can_end_before_the_end_of_the_play() {
    let scratch = Scratch::new("cut-off");
    let run = agon(&["record", "connect-four", "-n", "1", "--max-steps", "4"]).succeeds();
    let trace: Value = serde_json::from_str(&run.out).expect("a recording is JSON");
    assert_eq!(trace["plays"][0]["terminal"], false);
    let path = scratch.file("cut.json", run.out);
    assert_eq!(tally(&agon(&["replay", "connect-four", &path]).succeeds()), (1, 5, 0));
}

/// Changes one thing in a trace.
type Tamper = fn(&mut Value);

#[test]
fn every_change_of_a_recording_is_found() {
    let scratch = Scratch::new("tampering");
    let tamperings: [(&str, Tamper, &str); 11] = [
        ("roles", |t| t["roles"] = json!(["oplayer", "xplayer"]), "the roles"),
        (
            "fluent-more",
            |t| push(&mut t["plays"][0]["steps"][1]["state"], "(cell 4 4 blank)"),
            "step 2, state",
        ),
        ("fluent-less", |t| pop(&mut t["plays"][0]["steps"][1]["state"]), "step 2, state"),
        (
            "move-more",
            |t| push(&mut t["plays"][1]["steps"][0]["legal"][0], "(mark 4 4)"),
            "legal moves of xplayer",
        ),
        (
            "move-less",
            |t| pop(&mut t["plays"][1]["steps"][0]["legal"][0]),
            "legal moves of xplayer",
        ),
        (
            "other-move",
            |t| t["plays"][0]["steps"][0]["move"] = json!(["(mark 4 4)", "noop"]),
            "is not legal here",
        ),
        ("move-missing", |t| pop(&mut t["plays"][0]["steps"][0]["move"]), "one move for each role"),
        ("final", |t| pop(&mut t["plays"][0]["final"]), "end, state"),
        ("goal", |t| t["plays"][0]["goals"] = json!([99, 99]), "goal of xplayer: recorded 99"),
        (
            "goal-null",
            |t| t["plays"][0]["goals"] = json!([null, null]),
            "goal of xplayer: recorded none or several",
        ),
        ("ended-early", ends_early, "recorded as ended, here play continues"),
    ];
    for (name, tamper, expected) in tamperings {
        let mut trace = recorded();
        tamper(&mut trace);
        let path = scratch.file(&format!("{name}.json"), trace.to_string());
        for engine in ENGINES {
            // Lanes report only the highest goal value, so they cannot distinguish one from
            // several.
            if name == "goal-null" && ["lanes", "portable"].contains(&engine) {
                continue;
            }
            let run = agon(&["replay", "tic-tac-toe", &path, "--engine", engine]).fails_with(1);
            assert!(tally(&run).2 > 0, "{name}, {engine}: {}", run.out);
            assert!(
                run.out.contains(expected),
                "{name}, {engine}: no `{expected}` in\n{}",
                run.out
            );
        }
    }
}

/// Removes the last step. The final state is right, but the play has not ended there.
fn ends_early(trace: &mut Value) {
    let play = &mut trace["plays"][0];
    let last = play["steps"].as_array_mut().and_then(Vec::pop).expect("a play has steps");
    play["final"] = last["state"].clone();
}

fn push(list: &mut Value, item: &str) {
    list.as_array_mut().expect("a list").push(item.into());
}

fn pop(list: &mut Value) {
    list.as_array_mut().expect("a list").pop();
}

#[test]
fn files_that_are_not_traces() {
    let scratch = Scratch::new("bad-traces");
    let packed = gzip(recorded().to_string().as_bytes());
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("not.json", b"nonsense".to_vec(), "not valid JSON"),
        ("empty.json", Vec::new(), "not valid JSON"),
        ("list.json", b"[]".to_vec(), "not a trace: the trace is not an object"),
        ("fields.json", b"{\"game\": \"x\", \"roles\": []}".to_vec(), "`plays` is missing"),
        ("types.json", b"{\"game\": 7, \"roles\": [], \"plays\": []}".to_vec(), "`game` is not a string"),
        (
            "step.json",
            b"{\"game\": \"x\", \"roles\": [], \"plays\": [{\"steps\": [{}], \"final\": [], \"terminal\": true, \"goals\": []}]}".to_vec(),
            "play 1: step 1: `state` is missing",
        ),
        ("cut.json.gz", packed[..packed.len() / 2].to_vec(), "not a valid gzip file"),
        ("header.json.gz", packed[..4].to_vec(), "not a valid gzip file"),
        ("deep.json", b"[".repeat(100_000), "not valid JSON"),
    ];
    for (name, bytes, why) in cases {
        let path = scratch.file(name, bytes);
        replay(&path).complains(2, why);
    }
    replay(&scratch.path("missing.json").to_string_lossy()).complains(2, "cannot read");
}

#[test]
fn a_collection_counts_traces_that_cannot_be_replayed() {
    let scratch = Scratch::new("collection");
    let folder = scratch.path("").to_string_lossy().into_owned();
    let all =
        |jobs: &str| agon(&["replay", "--games", &folder, "--traces", &folder, "--jobs", jobs]);
    all("1").complains(2, "no .json or .json.gz files");
    let rules = agon(&["show", "tic-tac-toe"]).succeeds().out;
    scratch.file("tic-tac-toe.kif", rules);
    scratch.file("notes.txt", "not a trace, and ignored");
    let trace = recorded();
    scratch.file("good.json", trace.to_string());
    scratch.file("packed.json.gz", gzip(trace.to_string().as_bytes()));
    let good = all("2").succeeds();
    assert_eq!((tally(&good).0, tally(&good).2), (4, 0));
    assert!(good.out.starts_with("good: ok, 2 plays, "), "{}", good.out);
    scratch.file("broken.json", "{");
    for (name, game) in
        [("up.json", "../tic-tac-toe.kif"), ("root.json", "/etc/passwd"), ("none.json", "no.kif")]
    {
        let mut outside = trace.clone();
        outside["game"] = game.into();
        scratch.file(name, outside.to_string());
    }
    let mixed = all("2").fails_with(1);
    assert_eq!((tally(&mixed).0, tally(&mixed).2), (4, 4), "{}", mixed.out);
    assert_eq!(
        mixed.out.matches("`game` is not a path below the folder of games").count(),
        2,
        "{}",
        mixed.out
    );
    agon(&["replay", "--games", &folder, "--traces", "/nonexistent"])
        .complains(2, "cannot read /nonexistent");
}
