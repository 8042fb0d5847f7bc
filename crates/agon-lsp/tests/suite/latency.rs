//! The time from a change to its diagnostics on the largest public rulesheet.

use std::time::{Duration, Instant};

use agon_testkit::files;
use serde_json::json;

use super::client::Client;

#[test]
fn diagnostics_of_the_largest_rulesheets_arrive_at_once() {
    let shared = files::repository().join("../shared/games");
    let mut paths = files::with_extension(&shared, &["kif"]);
    if paths.is_empty() {
        println!(
            "SKIPPED: there is no ../shared/games beside this checkout; shipped games instead"
        );
        paths = files::games("gdl");
    }
    let size = |path: &std::path::PathBuf| std::fs::metadata(path).map_or(0, |data| data.len());
    paths.sort_by_key(|path| std::cmp::Reverse(size(path)));
    for path in paths.iter().take(5) {
        let text = std::fs::read_to_string(path).expect("a text");
        let mut client = Client::start();
        let uri = "file:///rules/large.kif";
        client.open(uri, &text);
        let mut best = Duration::MAX;
        for version in 2..8 {
            let end = json!({"line": 1_000_000, "character": 0});
            let change = json!([{"range": {"start": end, "end": end}, "text": "\n; typed"}]);
            let start = Instant::now();
            client.change(uri, version, change);
            best = best.min(start.elapsed());
        }
        println!("{:?} for {} bytes of {}", best, text.len(), path.display());
        // The target is 50 ms in a release build. Tests have more checks and share the machine.
        assert!(best < Duration::from_millis(500), "{}: {best:?}", path.display());
    }
}
