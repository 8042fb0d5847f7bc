//! The engines agree on every game that ships. `cargo run --release -p agon-toss --example agree` does it for thousands of plays.

#[path = "agreement/mod.rs"]
mod engines;

use engines::{Plan, compare, open, shipped};

#[test]
fn all_engines_agree_on_all_games() {
    for path in shipped() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        // The definition goes through all assignments: four elements of a chess board are 16 million.
        let (n_plays, max_steps, naive_every) = match &*name {
            "chess" => (2, 60, 1000),
            "gomoku-19x19" => (1, 20, 1000),
            "gomoku" | "checkers" | "breakthrough" => (2, 60, 50),
            _ => (6, 100, 10),
        };
        let plan = Plan { seeds: 0..n_plays, max_steps, naive_every, naive_steps: 150_000 };
        let compared = compare(&open(&path), &plan);
        // Lines of five on a large board are more than it can look at.
        let is_too_large = matches!(&*name, "gomoku" | "gomoku-19x19" | "connect-five");
        assert!(compared.n_naive > 0 || is_too_large, "{name}: {compared:?}");
        let has_circuit = !matches!(&*name, "rewriting" | "stepping-stones");
        assert_eq!(compared.n_by_circuit > 0, has_circuit, "{name}: {compared:?}");
    }
}
