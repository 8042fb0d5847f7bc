//! `agon experiment`: the list, small runs, continued runs, measured costs, wrong input.

use super::super::games::Scratch;
use super::run::agon;
use super::{has_keys, json};

#[test]
fn experiments_are_listed() {
    let all = json(&agon(&["experiment", "--json"]).succeeds());
    let names: Vec<&str> =
        all.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    for name in [
        "kaiser-stafiniak-2011-table-1",
        "michulke-2011-figure-1",
        "trutman-table-5.2",
        "sato-cazenave-table-6",
    ] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    assert!(agon(&["experiment"]).succeeds().out.contains("trutman-table-5.3"));
    agon(&["experiment", "005-table-1"]).complains(2, "there is no experiment");
    agon(&["experiment", "003-table-5.2", "--only", "no such game"])
        .complains(2, "no game of this experiment");
    agon(&["experiment", "003-table-5.2", "--repeats", "0"]).fails_with(2);
    agon(&["experiment", "003-table-5.2", "--play-clock", "1"]).complains(2, "has a clock");
    agon(&["experiment", "003-table-5.3", "--play-clock", "0"]).complains(2, "0.01");
    agon(&["experiment", "003-table-5.3", "--play-clock", "1", "--iterations", "5"]).fails_with(2);
}

/// The clock of a column with a clock can be set, and the matches are stored apart.
#[test]
fn the_clock_of_an_experiment_can_be_set() {
    let scratch = Scratch::new("experiment-clock");
    let folder = scratch.path("store").to_string_lossy().into_owned();
    let name = "kaiser-stafiniak-2011-table-1";
    let args = ["experiment", name, "--play-clock", "0.01", "--repeats", "1"];
    let rest = ["--only", "Connect5", "--column", "equal-time-connect"];
    let rest = [&rest[..], &["--jobs", "1", "--quiet", "--json", "--store", &folder]].concat();
    let report = json(&agon(&[&args[..], &rest].concat()).succeeds());
    assert_eq!(report["cells"].as_array().map(Vec::len), Some(1), "{report}");
    let store = format!("{name}.equal-time-connect.clock-0.01.connect5.db");
    assert!(scratch.path("store").join(store).is_file());
}

#[test]
fn an_experiment_is_played_and_its_matches_are_stored() {
    let scratch = Scratch::new("experiment");
    let folder = scratch.path("store").to_string_lossy().into_owned();
    let folder = folder.as_str();
    let args =
        ["experiment", "003-table-5.2", "--iterations", "5", "--repeats", "1", "--only", "Bidding"];
    let rest = ["--jobs", "1", "--quiet", "--json", "--store", folder];
    let first = agon(&[&args[..], &rest[..]].concat()).succeeds();
    let report = json(&first);
    has_keys(&report, &["experiment", "title", "quick", "cells", "missing"]);
    let cells = report["cells"].as_array().expect("a cell for each column and game");
    assert_eq!(cells.len(), 3, "playout, tree and combined");
    for cell in cells {
        has_keys(
            cell,
            &["column", "opponent", "player", "game", "goals", "points", "roles", "paper"],
        );
        assert_eq!(cell["game"], "Bidding Tic Tac Toe");
        let played: u64 = cell["roles"]
            .as_array()
            .expect("by role")
            .iter()
            .map(|role| {
                ["won", "lost", "drawn"].iter().filter_map(|key| role[key].as_u64()).sum::<u64>()
            })
            .sum();
        assert_eq!(played, 2, "one match with each role: {cell}");
    }
    // Openings of random moves make another tournament with its own store. `--column` selects a
    // column.
    let opened = [&args[..], &rest[..], &["--openings", "2", "--column", "tree"]].concat();
    let opened = json(&agon(&opened).succeeds());
    assert_eq!(opened["cells"].as_array().map(Vec::len), Some(1), "{opened}");
    assert!(scratch.path("store").join("trutman-table-5.2.tree.5.opened-2.bidding.db").is_file());
    agon(&[&args[..], &["--column", "no such column"]].concat()).complains(2, "no column");
    // All matches are in the store, so nothing is played again, and the result is the same.
    let second = json(&agon(&[&args[..], &rest[..]].concat()).succeeds());
    assert_eq!(second, report);
    let text = agon(&[&args[..], &["--quiet", "--store", folder]].concat()).succeeds();
    assert!(text.out.contains("combined") && text.out.contains("paper"), "{}", text.out);
}

#[test]
fn costs_of_heuristics_are_measured() {
    let run = [
        "experiment",
        "003-table-5.5",
        "--quick",
        "--iterations",
        "20",
        "--only",
        "Bidding",
        "--json",
    ];
    let report = json(&agon(&run).succeeds());
    let [game] = report["games"].as_array().expect("a list").as_slice() else { panic!("{report}") };
    has_keys(game, &["game", "engine", "making_seconds", "refused", "shares", "paper"]);
    let shares = game["shares"].as_array().expect("playout, tree, combined");
    assert_eq!(shares.len(), 3);
    for share in shares {
        let part = share["share"].as_f64().expect("a part of the time");
        assert!((0.0..=1.0).contains(&part), "{share}");
    }
}

/// Evaluation games are learnt before the matches, once.
#[test]
fn an_experiment_learns_what_its_players_use() {
    let scratch = Scratch::new("experiment-learns");
    let folder = scratch.path("store").to_string_lossy().into_owned();
    let args = [
        "experiment",
        "kaiser-stafiniak-2010-table-1",
        "--quick",
        "--iterations",
        "4",
        "--repeats",
        "1",
        "--only",
        "Breakthrough",
        "--column",
        "information",
        "--json",
        "--quiet",
        "--store",
        &folder,
    ];
    let first = json(&agon(&args).succeeds());
    let learnt = first["learnt"].as_array().expect("what was learnt");
    assert_eq!(learnt[0]["games"].as_array().map(Vec::len), Some(2), "{first}");
    let cell = &first["cells"][0];
    assert_eq!(cell["roles"][0]["paper"], "77 %", "{cell}");
    assert!(cell["player"].as_str().is_some_and(|player| player.contains(&folder)), "{cell}");
    let second = json(&agon(&args).succeeds());
    assert_eq!((&second["learnt"], &second["cells"]), (&first["learnt"], &first["cells"]));
}
