//! All engines agree on every shipped game. `cargo xtask agree` makes thousands of plays.

use agon_game::Position as _;
use agon_testkit::files;

use super::engines::{Plan, compare, open};

#[test]
fn all_engines_agree_on_all_games() {
    for path in files::games("toss") {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let game = open(&path);
        // Continuous games have one engine: neither circuits nor the naive evaluator know time.
        if game.start().shape().continuous {
            continue;
        }
        // The naive evaluator tries elements one by one, and lines of five have many combinations.
        let (n_plays, max_steps, naive_every) = match &*name {
            "chess" => (2, 60, 20),
            "gomoku-19x19" => (1, 20, 5),
            "gomoku" | "checkers" | "breakthrough" => (2, 60, 10),
            _ => (6, 100, 5),
        };
        let plan = Plan { seeds: 0..n_plays, max_steps, naive_every, naive_steps: 300_000 };
        let compared = compare(&game, &plan, |_| ());
        assert!(compared.n_naive > 0, "{name}: {compared:?}");
        let has_circuit = !matches!(&*name, "rewriting" | "stepping-stones");
        assert_eq!(compared.n_by_circuit > 0, has_circuit, "{name}: {compared:?}");
    }
}
