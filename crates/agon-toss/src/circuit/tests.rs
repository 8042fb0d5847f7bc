//! Compares circuits with the interpreter step by step.

use std::sync::Arc;

use agon_circuit::optimise::optimise;
use agon_circuit::{Deadline, Executor, ScalarCircuit};
use agon_game::lockstep::{self, Options};
use agon_game::{Position, laws};
use agon_text::{Source, render};

use super::{CircuitLimits, NoCircuit};
use crate::check::check;
use crate::interpreter::{self, Game};

fn open(text: &str) -> Arc<Game> {
    let source = Arc::new(Source::new("test.toss", text));
    let checked = check(Arc::clone(&source));
    let arena =
        checked.arena.unwrap_or_else(|| panic!("{}", render(&checked.findings.0, &source, false)));
    Game::open(arena, interpreter::Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message))
}

fn shipped(name: &str) -> Arc<Game> {
    let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
    open(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// Plays at random and compares all answers at every step: with post-conditions where the limits
/// put them, and with as many as possible deferred to the step.
fn compare(game: &Arc<Game>, n_plays: usize, max_steps: usize) {
    compare_with(game, n_plays, max_steps, &CircuitLimits::default());
    if game.arena().rules().iter().any(|rule| rule.post.is_some()) {
        compare_with(game, n_plays, max_steps, &deferring());
    }
}

fn deferring() -> CircuitLimits {
    CircuitLimits { exact_embeddings: 0, ..CircuitLimits::default() }
}

fn compare_with(game: &Arc<Game>, n_plays: usize, max_steps: usize, limits: &CircuitLimits) {
    let ground = game.ground(limits).unwrap_or_else(|why| panic!("{why}"));
    let (optimised, _) = optimise(&ground.circuit, Deadline::NEVER);
    let circuit =
        ScalarCircuit::with_executor(Arc::new(optimised), game.shape().clone(), Executor::Levelled);
    let plan = laws::Plan { plays: n_plays, max_steps, ..laws::Plan::default() };
    let options = Options { plan, ..Options::default() };
    if let Err(difference) = lockstep::compare(&game.start(), &circuit, &options) {
        panic!("{difference}");
    }
}

#[test]
fn tic_tac_toe() {
    compare(&shipped("tic-tac-toe"), 20, 20);
}

#[test]
fn players_at_the_same_time() {
    compare(&shipped("concurrent-tic-tac-toe"), 10, 20);
}

#[test]
fn breakthrough() {
    compare(&shipped("breakthrough"), 2, 60);
}

#[test]
fn connect_four() {
    compare(&shipped("connect-four"), 3, 50);
}

#[test]
fn pawn_whopping() {
    compare(&shipped("pawn-whopping"), 3, 80);
}

#[test]
fn checkers() {
    compare(&shipped("checkers"), 2, 60);
}

#[test]
fn gomoku() {
    compare(&shipped("gomoku"), 2, 40);
}

#[test]
fn entanglement() {
    compare(&shipped("entanglement"), 5, 40);
}

#[test]
fn chess() {
    let game = shipped("chess");
    let ground = game.ground(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{why}"));
    assert!(!ground.circuit.is_exact(), "post-conditions are left to the step");
    compare_with(&game, 2, 150, &CircuitLimits::default());
}

/// Castling, en passant, promotion, pins and mates seldom occur in random play from the start.
#[test]
fn chess_from_other_positions() {
    let path = format!("{}/../../games/toss/chess.toss", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (rules, _) = text.split_once("START").expect("the game has a start");
    for board in [
        "Cas {a1; e1; h1; a8; e8; h8}; Ep:1 {} | ] \"
          bR .  .  .  bK .  .  bR
          bP .  bP bP bQ bP bB .
          bB bN .  .  bP bN bP .
          .  .  .  wP wN .  .  .
          .  bP .  .  wP .  .  .
          .  .  wN .  .  wQ .  bP
          wP wP wP wB wB wP wP wP
          wR .  .  .  wK .  .  wR \"",
        "Cas:1 {}; Ep:1 {} | ] \"
          .  .  .  .  .  .  .  .
          .  .  bP .  .  .  .  .
          .  .  .  bP .  .  .  .
          wK wP .  .  .  .  .  bR
          .  wR .  .  .  bP .  bK
          .  .  .  .  .  .  .  .
          .  .  .  .  wP .  wP .
          .  .  .  .  .  .  .  . \"",
        "Cas:1 {}; Ep:1 {} | ] \"
          bK .  .  .  .  .  .  .
          wP .  .  .  .  .  .  .
          .  wK .  .  .  .  .  .
          .  .  .  .  .  bN .  .
          .  .  .  .  .  .  .  .
          .  .  .  .  .  .  .  .
          .  .  .  .  .  .  bP .
          .  .  .  .  .  .  .  wN \"",
    ] {
        let game =
            open(&format!("{rules}START [ | wB:1 {{}}; wQ:1 {{}}; bB:1 {{}}; bQ:1 {{}}; {board}"));
        compare_with(&game, 3, 60, &CircuitLimits::default());
    }
}

/// Batch playouts have the same statistics whether post-conditions are part of legality or
/// deferred.
#[test]
fn playouts_do_not_depend_on_deferred_post_conditions() {
    use agon_circuit::{BatchCircuit, BatchOptions};
    use agon_game::{Batch as _, PlayoutRequest};
    for game in [open(EVERYTHING), shipped("checkers")] {
        let tallies = [usize::MAX, 0].map(|exact_embeddings| {
            let limits = CircuitLimits { exact_embeddings, ..CircuitLimits::default() };
            let ground = game.ground(&limits).unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(ground.circuit.is_exact(), exact_embeddings > 0);
            let circuit = Arc::new(optimise(&ground.circuit, Deadline::NEVER).0);
            let start = ScalarCircuit::new(Arc::clone(&circuit));
            let options = BatchOptions { seed: 3, ..BatchOptions::default() };
            let mut batch = BatchCircuit::new(circuit, game.shape().clone(), options);
            batch
                .play_out(
                    &[PlayoutRequest {
                        state: start.state().clone(),
                        n_playouts: 20_000,
                        expected_steps: 0,
                    }],
                    2000,
                )
                .swap_remove(0)
        });
        let [exact, left] = &tallies;
        let n = 20_000.0;
        let role_means = game.shape().roles().map(|role| {
            let variance = exact.square_sums[role.index()] / n
                - exact.mean_payoff(role) * exact.mean_payoff(role);
            (exact.mean_payoff(role), left.mean_payoff(role), variance)
        });
        for (one, other, variance) in role_means {
            let bound = 5.0 * (2.0 * variance / n).sqrt() + 1e-9;
            assert!((one - other).abs() < bound, "{one} against {other}, at most {bound}");
        }
        let ratio = exact.mean_length() / left.mean_length();
        assert!(
            (ratio - 1.0).abs() < 0.05,
            "lengths {} and {}",
            exact.mean_length(),
            left.mean_length()
        );
    }
}

#[test]
fn growing_universes_have_no_circuit() {
    assert_eq!(
        shipped("rewriting").ground(&CircuitLimits::default()).unwrap_err(),
        NoCircuit::UniverseChanges
    );
}

/// A walk on a ring with changing walls: closures, fixed points, counting, chance, history and
/// post-conditions.
const EVERYTHING: &str = r#"
PLAYERS a, b, random
REL Open(x, y) = R(x, y) and not W(y)
REL Near(x, y) = tc x, y Open(x, y)
REL Dull() = all x (W(x) or ex y (R(x, y) and P(y)) or Q(x))
REL Lost(x) = gfp S(x) = (W(x) and all y (not R(x, y) or S(y)))
RULE Step: ELEMS u, v MATCH P(u) and Near(u, v) and not Q(v) and u != v RELS not P(u); P(v); W(u)
  post Sum (x | W(x) : 1) < 4
RULE Fly: ELEMS u, v MATCH Q(u) and (lfp S(v) = (v = u or ex w (S(w) and R(v, w) and not P(w)))) and not P(v)
  RELS not Q(_); Q(v); not W(v) before Step
RULE Wait: ELEMS u MATCH Q(u) RELS Q(u)
RULE Wall: ELEMS u MATCH not W(u) and not P(u) and not Q(u) RELS W(u)
RULE Calm: ELEMS u MATCH P(u) RELS P(u)
PAYOFF {
  a: Sum (x, y | W(x) and R(x, y) : &y) - 3 * :(ex x Lost(x)) + Max (x | P(x) or x = x : &x * :(P(x)));
  b: Prod (x | Q(x) : 1 + &x) ^ 2 + :(Dull())
}
LOC 0 { PLAYER a MOVES [Step -> 1] }
LOC 1 { PLAYER b MOVES [Fly -> 2]; [Wait -> 2 : 1/2]; [Wait -> 0 : 1/2] }
LOC 2 { PLAYER random MOVES [Wall -> 0]; [Calm -> 0] }
START [ e1, e2, e3, e4, e5, e6 |
  P(e1); Q(e4); W(e3);
  R {(e1, e2); (e2, e3); (e3, e4); (e4, e5); (e5, e6); (e6, e1); (e1, e4); (e5, e2)} | - ]
"#;

#[test]
fn everything_at_once() {
    compare(&open(EVERYTHING), 60, 40);
}
