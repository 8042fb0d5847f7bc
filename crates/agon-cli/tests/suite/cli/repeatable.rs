//! Same seed, same plays; records know their rules; programs end together with what they started.

use std::time::{Duration, Instant};

use super::super::games::{self, Scratch};
use super::run::agon;
use super::{COIN, json};

#[test]
fn the_same_seed_gives_the_same_plays_on_every_engine() {
    let few = ["tic-tac-toe", "connect-four", "blocker", "kuhn-poker", "toss/tic-tac-toe"];
    let all: Vec<&str> = agon::shipped::SHIPPED.iter().map(|game| game.name).collect();
    let is_slow_run = std::env::var_os("SLOW").is_some();
    let (games, n, max_steps) =
        if is_slow_run { (all, "3", "20") } else { (few.to_vec(), "50", "1000") };
    let mut n_compared = 0;
    for game in games {
        let plays = |engine: &str| {
            let arguments = ["simulate", game, "-n", n, "--seed", "7", "--json", "--max-steps"];
            let run = agon(&[&arguments[..], &[max_steps, "--engine", engine]].concat());
            let mut object = json(&run.succeeds());
            let fields = object.as_object_mut().expect("it is an object");
            let used = fields.remove("engine").expect("the engine is named");
            fields.remove("seconds");
            fields.remove("states_per_s");
            (used, object)
        };
        let (interpreter, by_interpreter) = plays("interpreter");
        assert_eq!(interpreter, "interpreter", "{game}");
        // The automatic choice does not depend on the clock. It is a circuit unless that is large.
        let first = plays("auto");
        assert_eq!(first.1, by_interpreter, "{game}");
        assert!(is_slow_run || (0..2).all(|_| plays("auto") == first), "{game}");
        if first.0 == "circuit" {
            let (circuit, by_circuit) = plays("circuit");
            assert_eq!(circuit, "circuit", "{game}");
            assert_eq!(by_interpreter, by_circuit, "{game}");
            n_compared += 1;
        }
    }
    assert!(n_compared >= 5, "only {n_compared} games have a circuit");
}

#[test]
fn a_record_of_other_rules_is_not_replayed_as_a_shipped_game() {
    let scratch = Scratch::new("other-rules");
    // Other rules under the name of a shipped game.
    let rules = scratch.file("tic-tac-toe.kif", COIN);
    let record = scratch.path("match.json").to_string_lossy().into_owned();
    let play = ["match", &rules, "--iterations", "10", "--record", &record];
    agon(&play).succeeds();
    agon(&["replay", &record]).complains(1, "was recorded with other rules than tic-tac-toe");
    agon(&["replay", &rules, &record]).succeeds();
    agon(&["replay", "connect-four", &record]).complains(1, "recorded with other rules");
    // Comments and spacing do not matter.
    let same = scratch.file("same.kif", format!("; a comment\n{}", COIN.replace(' ', "  ")));
    agon(&["replay", &same, &record]).succeeds();
    // Records without a hash, such as those of other programs, are replayed as before.
    let text = std::fs::read_to_string(&record).expect("it was written");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    value.as_object_mut().expect("it is an object").remove("rulesHash").expect("it has a hash");
    let old = scratch.file("old.json", value.to_string());
    agon(&["replay", &rules, &old]).succeeds();
}

/// Returns whether a process is running. A process that has ended and was not waited for does not
/// count.
#[cfg(target_os = "linux")]
fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Waits for a file with the number of a process.
#[cfg(target_os = "linux")]
fn wait_for_pid(path: &std::path::Path) -> String {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        match std::fs::read_to_string(path) {
            Ok(pid) if pid.ends_with('\n') => return pid,
            _ => assert!(Instant::now() < until, "the program writes its number"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
fn wait_for_end(pid: &str, what: &str) {
    let until = Instant::now() + Duration::from_secs(10);
    while is_running(pid) {
        assert!(Instant::now() < until, "{what}: the grandchild {pid} is still running");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn programs_end_with_everything_they_have_started() {
    let scratch = Scratch::new("grandchildren");
    let pid_file = scratch.path("pid");
    // The grandchild leaves the process group and the session of the program.
    let script = format!("setsid sleep 300 & echo $! > '{}'; wait", pid_file.display());
    let bot = format!("cmd:sh '{}'", scratch.file("bot.sh", script));
    let players = format!("{bot},random");
    let arguments = ["match", "tic-tac-toe", "--players", &players, "--max-steps", "1"];
    let clocks = ["--start-clock", "0.3", "--play-clock", "0.3"];
    agon(&[&arguments[..], &clocks].concat());
    wait_for_end(&wait_for_pid(&pid_file), "after the match");

    // Also if the match is interrupted, by the terminal or by another program, and even if it runs
    // in the background under `nohup`: then interrupts and hangups are ignored from the start. A
    // kill leaves the program no time for anything, and the programs that it has started end too.
    let cases = [("INT", ""), ("TERM", ""), ("INT", "INT HUP"), ("TERM", "INT HUP"), ("KILL", "")];
    for (signal, ignored) in cases {
        let _ = std::fs::remove_file(&pid_file);
        let mut process = std::process::Command::new("sh")
            .args(["-c", "trap '' $0; exec \"$@\""])
            .arg(if ignored.is_empty() { "USR1" } else { ignored })
            .arg(games::program().get_program())
            .args(arguments)
            .args(["--start-clock", "100", "--play-clock", "100"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the program runs");
        let pid = wait_for_pid(&pid_file);
        assert!(is_running(&pid));
        if !ignored.is_empty() {
            let hang_up = format!("kill -HUP {}", process.id());
            let status = std::process::Command::new("sh").args(["-c", &hang_up]).status();
            assert!(status.is_ok_and(|status| status.success()));
            std::thread::sleep(std::time::Duration::from_millis(100));
            assert!(is_running(&pid), "a program under nohup survives the end of its terminal");
        }
        let kill = format!("kill -{signal} {}", process.id());
        let status = std::process::Command::new("sh").args(["-c", &kill]).status();
        assert!(status.is_ok_and(|status| status.success()));
        wait_for_end(&pid, signal);
        process.wait().expect("it has ended");
    }
}

/// The time limit also ends a play that would not end by itself, and does not count it.
#[test]
fn simulate_stops_inside_a_play() {
    let endless = "PLAYERS X RULE Wait: [a | - | -] -> [a | - | -] \
        LOC 0 { PLAYER X { PAYOFF 0 MOVES [Wait -> 0] } } START [a | - | -]";
    let arguments = ["simulate", "-", "--max-steps", "1000000000000", "--seconds", "0.2", "--json"];
    let found = super::json(&super::agon_reading(&arguments, endless).succeeds());
    assert_eq!(found["plays"], 0);
}
