use std::sync::Arc;

use agon_game::{Position, Rng, laws};
use agon_structures::structure::Element;
use agon_text::{Source, render};

use super::{Embedding, EmbeddingSearch, Game, Interpreter, Options};
use crate::check::check;

use rand::{RngExt as _, SeedableRng as _};

/// Opens a game from its text.
fn open(text: &str) -> Interpreter {
    open_by(text, EmbeddingSearch::Auto)
}

fn open_by(text: &str, embeddings: EmbeddingSearch) -> Interpreter {
    let source = Arc::new(Source::new("test.toss", text));
    let checked = check(Arc::clone(&source));
    let arena =
        checked.arena.unwrap_or_else(|| panic!("{}", render(&checked.findings.0, &source, false)));
    let options = Options { embeddings, ..Options::default() };
    Game::open(arena, options).unwrap_or_else(|finding| panic!("{}", finding.message)).start()
}

fn shipped(name: &str) -> Interpreter {
    let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
    open(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// Counts the plays of this length.
fn perft(position: &mut Interpreter, depth: usize) -> u64 {
    if depth == 0 {
        return 1;
    }
    if position.is_terminal() {
        return 0;
    }
    let here = position.state().clone();
    let mut n = 0;
    for joint in agon_game::joint_moves(position) {
        position.advance(&joint);
        n += perft(position, depth - 1);
        position.go_to(&here);
    }
    n
}

#[test]
fn tic_tac_toe_perft() {
    let mut start = shipped("tic-tac-toe");
    assert_eq!([1, 2, 3].map(|depth| perft(&mut start, depth)), [9, 72, 504]);
    laws::check(&start, &laws::Plan { plays: 5, ..laws::Plan::default() })
        .unwrap_or_else(|v| panic!("{v}"));
}

/// Cells that bud, split, join and die, with conditions of many kinds: unguarded negations, counts,
/// closures.
const GARDEN: &str = "
PLAYERS gardener, random
REL Lonely(x) = Cell(x) and not ex y (E(x, y) or E(y, x))
REL Apart(x, y) = x != y and not E(x, y) and not E(y, x)
REL Far(x, y) = not tc x, y (E(x, y) or E(y, x))
REL Few() = Sum (x | Cell(x) : 1) < 9
RULE Bud: [a | Cell(a) | -] -> [a, b | Cell {(a); (b)}; E(a, b) | -] pre Few() post not ex x, y Far(x, y) or ex x Dot(x)
RULE Split: [a | Cell(a) | -] -> [a, b | E(a, b) | -] with [a <- a, b <- a] pre Few() and ex x Apart(a, x)
RULE Dot: [a | Cell(a) | -] -> [a | Cell(a); Dot(a) | -] pre all x (Dot(x) or not E(a, x)) and not Dot(a)
RULE Die: [a, b | E(a, b) | -] -> [a | - | -] pre not ex z E(b, z)
RULE Wither: [a | Lonely(a) | -] -> [ | - | -]
RULE Join: [a, b | Apart(a, b) | -] -> [a, b | E(a, b) | -] pre lfp T(a) = (Dot(a) or ex z (E(a, z) and T(z)))
PAYOFF { gardener: Sum (x, y | Far(x, y) : 1) }
LOC 0 { PLAYER gardener MOVES [Bud -> 1]; [Split -> 1]; [Dot -> 1]; [Join -> 1] }
LOC 1 { PLAYER random MOVES [Die -> 0]; [Wither -> 0]; [Bud -> 0] }
START [ a, b, c | Cell {a; b; c}; E {(a, b)}; Dot:1 {} | - ]
";

/// Returns a forest of more than a hundred elements in which twigs grow, fall, are copied and tied.
/// Three locations alternate, so that each rule is evaluated again only after three steps. One rule
/// has a post-condition.
fn grove() -> String {
    let roots: Vec<String> = (0..40).map(|tree| format!("r{tree}")).collect();
    let twigs: Vec<String> =
        (0..40).map(|tree| format!("(r{tree}, s{tree}); (r{tree}, t{tree})")).collect();
    format!(
        "PLAYERS gardener, storm
REL Leaf(x) = ex y E(y, x) and not ex y E(x, y)
REL Siblings(x, y) = ex z (E(z, x) and E(z, y)) and x != y
REL Bare(x) = Root(x) and not ex y, z (E(x, y) and E(y, z))
RULE Grow: [a | Leaf(a) | -] -> [a, b, c | E {{(a, b); (a, c)}} | -] pre ex x Bare(x)
RULE Fall: [a, b, c | E {{(a, b); (a, c)}} | -] -> [a | - | -] pre Leaf(b) and Leaf(c) and not Root(a)
RULE Tie: [a, b | Leaf {{a; b}} | -] -> [a, b | T(a, b) | -] pre Siblings(a, b) and not T(a, b) and not T(b, a)
RULE Fork: [a | Leaf(a) | -] -> [a, b | - | -] with [a <- a, b <- a] pre ex x T(a, x) post not ex x (T(b, x) and T(x, b))
RULE Rest: [a | Bare(a) | -] -> [a | Root(a) | -]
LOC 0 {{ PLAYER gardener PAYOFF {{ gardener: 0; storm: 0 }} MOVES [Grow -> 1]; [Rest -> 1] }}
LOC 1 {{ PLAYER gardener PAYOFF {{ gardener: 0; storm: 0 }} MOVES [Tie -> 2]; [Fork -> 2] }}
LOC 2 {{ PLAYER storm PAYOFF {{ gardener: 0; storm: Sum (x | Bare(x) : 1) }} MOVES [Fall -> 0]; [Grow -> 0] }}
START [ | Root {{{}}}; E {{{}}}; T:2 {{}} | - ]
",
        roots.join("; "),
        twigs.join("; ")
    )
}

/// Embeddings that are updated incrementally equal those computed from scratch, also when positions
/// jump between states.
#[test]
fn incremental_embeddings_equal_those_from_scratch() {
    let path = format!("{}/../../games/toss/rewriting.toss", env!("CARGO_MANIFEST_DIR"));
    let rewriting =
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let path = path.replace("rewriting", "checkers");
    let checkers = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    for (text, n_plays) in [(GARDEN, 60), (&*rewriting, 60), (&*checkers, 2), (&*grove(), 6)] {
        let mut scratch = open_by(text, EmbeddingSearch::FromScratch);
        let mut others =
            [open_by(text, EmbeddingSearch::Incremental), open_by(text, EmbeddingSearch::Auto)];
        let start = scratch.state().clone();
        for seed in 0..n_plays {
            let mut rng = Rng::seed_from_u64(seed);
            let mut seen = vec![start.clone()];
            scratch.go_to(&start);
            others.iter_mut().for_each(|other| other.go_to(&start));
            for _ in 0..40 {
                for updated in &others {
                    assert_eq!(scratch.fault(), updated.fault());
                    assert_eq!(scratch.is_terminal(), updated.is_terminal());
                    for role in scratch.shape().roles() {
                        assert_eq!(
                            scratch.legal_moves(role),
                            updated.legal_moves(role),
                            "{:?}",
                            scratch.state()
                        );
                        assert_eq!(scratch.payoff(role), updated.payoff(role));
                    }
                }
                if scratch.is_terminal() || rng.random_range(0..6) == 0 {
                    let state = seen[rng.random_range(0..seen.len())].clone();
                    scratch.go_to(&state);
                    others.iter_mut().for_each(|other| other.go_to(&state));
                    continue;
                }
                let mut joint = Vec::new();
                scratch.draw(&mut rng, &mut joint);
                scratch.advance(&joint);
                for updated in &mut others {
                    updated.advance(&joint);
                    assert_eq!(scratch.key(), updated.key());
                }
                seen.push(scratch.state().clone());
            }
        }
    }
}

/// Inline and allocated embeddings behave the same.
#[test]
fn embeddings_behave_as_slices() {
    let elements: Vec<Element> = (0..7).map(|id| Element::new(6 - id)).collect();
    let all: Vec<Embedding> = (0..=7).map(|n| Embedding::from(&elements[..n])).collect();
    for (n, one) in all.iter().enumerate() {
        assert_eq!(**one, elements[..n]);
        for (m, other) in all.iter().enumerate() {
            assert_eq!(one.cmp(other), elements[..n].cmp(&elements[..m]));
            assert_eq!(one == other, n == m);
        }
    }
}

#[test]
fn breakthrough_perft() {
    let mut start = shipped("breakthrough");
    assert_eq!([1, 2].map(|depth| perft(&mut start, depth)), [22, 484]);
}
