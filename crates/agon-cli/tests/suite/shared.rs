//! Public rulesheets and traces in `../shared`, which is not part of the repository.

use std::collections::BTreeSet;
use std::path::PathBuf;

use agon_game::{Position as _, Rng};
use rand::SeedableRng as _;

use super::games::{self, for_each, rulesheets};

const ABSENT: &str = "skipped: there is no folder ../shared";

#[test]
fn traces_replay_without_a_mismatch() {
    let Some((folder, traces)) = games::shared() else {
        println!("{ABSENT}");
        return;
    };
    let replay = games::program()
        .args(["replay", "--games"])
        .arg(&folder)
        .arg("--traces")
        .arg(&traces)
        .output()
        .expect("the program runs");
    let (text, errors) =
        (String::from_utf8_lossy(&replay.stdout), String::from_utf8_lossy(&replay.stderr));
    let last = text.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("replayed ") && last.ends_with(" states, 0 mismatches"),
        "{text}{errors}"
    );
    assert!(replay.status.success(), "{text}{errors}");
    println!("{last}");
}

/// Replays all traces in lanes, for every game whose circuit is made in half a second, or in a
/// minute with `SLOW=1`. The number of such games depends on the machine.
#[test]
fn traces_replay_in_lanes() {
    let Some((folder, traces)) = games::shared() else {
        println!("{ABSENT}");
        return;
    };
    let seconds = if std::env::var_os("SLOW").is_some() { "60" } else { "0.5" };
    let replay = games::program()
        .args(["replay", "--engine", "lanes", "--seconds", seconds, "--games"])
        .arg(&folder)
        .arg("--traces")
        .arg(&traces)
        .output()
        .expect("the program runs");
    let (text, errors) =
        (String::from_utf8_lossy(&replay.stdout), String::from_utf8_lossy(&replay.stderr));
    let last = text.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("replayed ") && last.contains(" states, 0 mismatches"),
        "{text}{errors}"
    );
    assert!(replay.status.success(), "{text}{errors}");
    println!("{last}");
}

/// Games without a trace can be played or are refused with a reason.
#[test]
fn rulesheets_without_a_trace_are_played_or_refused() {
    let Some((folder, traces)) = games::shared() else {
        println!("{ABSENT}");
        return;
    };
    let recorded = recorded(&traces);
    let mut paths = rulesheets(&folder);
    paths.retain(|path| {
        let below = path.strip_prefix(&folder).expect("rulesheets are below their folder");
        !recorded.contains(below.to_string_lossy().as_ref())
    });
    for_each(&paths, |path| {
        let shown = path.strip_prefix(&folder).unwrap_or(path).display();
        let game = match games::open(games::source(path)) {
            Ok(game) => game,
            Err(why) if why.is_empty() => return Err(format!("{shown}: refused without a reason")),
            Err(why) => {
                println!("{shown}: refused: {why}");
                return Ok(());
            }
        };
        let mut position = game.start();
        let n_steps = position.play_out(&mut Rng::seed_from_u64(1), 200);
        let fault = position.fault().map(|fault| format!(", then {fault}")).unwrap_or_default();
        println!("{shown}: {n_steps} steps played{fault}");
        Ok(())
    });
}

/// Returns the rulesheets that have a trace, as paths below their folder.
fn recorded(traces: &std::path::Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(traces).expect("the folder can be listed");
    let files = files.map(|entry| entry.expect("entries are readable").path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "gz"))
        .map(game_of)
        .collect()
}

fn game_of(trace: PathBuf) -> String {
    let file = std::fs::File::open(&trace).expect("traces are readable");
    let json: serde_json::Value =
        serde_json::from_reader(flate2::read::GzDecoder::new(std::io::BufReader::new(file)))
            .unwrap_or_else(|error| panic!("{}: {error}", trace.display()));
    json["game"].as_str().expect("a trace names its game").to_owned()
}
