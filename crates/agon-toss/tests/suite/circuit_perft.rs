//! Compares recorded perft counts with circuits, which expand all children of many states at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_circuit::{Bits, Deadline, Input};
use agon_game::{Children, Position as _};
use agon_text::Source;
use agon_toss::check::check;
use agon_toss::circuit::CircuitLimits;
use agon_toss::interpreter::{Game, Options};

use super::positions::{KNOWN, start};

/// Larger counts are checked only with `SLOW=1`.
const MAX_NODES: u64 = 300_000;

fn max_nodes() -> u64 {
    if std::env::var_os("SLOW").is_some() { 10_000_000 } else { MAX_NODES }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/toss")
}

fn open(name: &str, text: &str) -> Arc<Game> {
    let arena = check(Arc::new(Source::new(name, text))).arena.expect("the rules are correct");
    Game::open(arena, Options::default())
        .unwrap_or_else(|finding| panic!("{name}: {}", finding.message))
}

/// Returns for each depth the number of plays of that length, and of plays that ended by then.
fn count(game: &Game, depth: usize) -> Vec<(u64, u64)> {
    let compiled = game
        .compile(&CircuitLimits::default(), Deadline::NEVER)
        .unwrap_or_else(|why| panic!("no circuit: {why}"));
    let start = compiled.start();
    let mut batch = start.batch(1).expect("circuits have lanes");
    let ended = u64::from(start.is_terminal());
    let mut counts = vec![(1, ended)];
    let mut states = vec![start.state().clone()];
    let mut children: Children<Bits, Input> = Children::new(compiled.circuit.roles.len());
    for depth in 1..=depth {
        let (mut n_reached, mut n_ended) = (0, counts[depth - 1].1);
        let mut next = Vec::new();
        for some in states.chunks(64) {
            let some: Vec<&Bits> = some.iter().collect();
            batch.expand(&some, &mut children);
            n_reached += children.len() as u64;
            n_ended += children.ended.iter().filter(|&&ended| ended).count() as u64;
            let open = children.states.iter().zip(&children.ended).filter(|(_, ended)| !**ended);
            next.extend(open.map(|(state, _)| state.clone()));
        }
        counts.push((n_reached, n_ended));
        states = next;
    }
    counts
}

#[test]
fn circuits_have_the_recorded_counts() {
    for name in [
        "tic-tac-toe",
        "concurrent-tic-tac-toe",
        "connect-four",
        "gomoku",
        "gomoku-19x19",
        "breakthrough",
        "pawn-whopping",
        "checkers",
        "chess",
        "entanglement",
    ] {
        let text = |ending: &str| {
            let path = folder().join(format!("{name}.{ending}"));
            std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let written = text("perft");
        let lines: Vec<(&str, usize, u64)> = written
            .lines()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                (words[0], words[1].parse().expect("a depth"), words[2].parse().expect("a count"))
            })
            .filter(|line| line.2 <= max_nodes())
            .collect();
        let depth = lines.iter().map(|line| line.1).max().expect("something can be counted");
        let counts = count(&open(name, &text("toss")), depth);
        for (what, depth, number) in lines {
            let (reached, ended) = counts[depth];
            assert_eq!(
                if what == "perft" { reached } else { ended },
                number,
                "{name}: {what} {depth}"
            );
        }
    }
}

#[test]
fn chess_perft_of_standard_positions() {
    let text = std::fs::read_to_string(folder().join("chess.toss")).expect("chess ships");
    let rules = &text[..text.find("\nSTART").expect("it has a start") + 1];
    for (fen, known) in KNOWN {
        let counts = count(&open(fen, &format!("{rules}{}", start(fen))), known.len());
        let reached: Vec<u64> = counts[1..].iter().map(|count| count.0).collect();
        assert_eq!(reached, known, "{fen}");
    }
}
