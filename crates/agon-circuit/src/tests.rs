//! Compares circuits before and after passes, and all executors with each other.

mod batch;
mod compile;
mod foresight;
mod games;
mod groups;
mod incremental;
mod lane_games;
mod preference;
mod products;
mod random;
mod rejecting;
mod single_playouts;
mod weighted;

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::laws::{self, Plan};
use agon_game::{Hidden, Notation, Position, Rng, Role};
use agon_testkit::seeded;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::optimise::{self, PASSES, optimise};
use crate::{Circuit, Deadline, Executor, ScalarCircuit, Signal, verify, write_graphviz};

/// Returns small games built by hand.
fn handmade() -> Vec<Circuit> {
    vec![
        games::tic_tac_toe(),
        games::nim(21, false),
        games::nim(9, true),
        games::rochambeau(),
        games::shaky_walk(),
    ]
}

#[test]
fn handmade_games_keep_the_laws() {
    for circuit in handmade() {
        for circuit in [optimise(&circuit, Deadline::NEVER).0, circuit] {
            let start = ScalarCircuit::new(Arc::new(circuit));
            laws::check_hidden(&start, &Plan { plays: 40, ..Plan::default() })
                .unwrap_or_else(|v| panic!("{v}"));
        }
    }
}

/// Walks both circuits at random from the start and compares all outputs.
#[track_caller]
fn agree(circuit: &Circuit, other: &Circuit, seed: u64) {
    agree_by(circuit, Executor::Levelled, other, Executor::Auto, seed);
}

/// Walks both circuits at random, by the given executors, and compares all outputs.
#[track_caller]
fn agree_by(circuit: &Circuit, by: Executor, other: &Circuit, other_by: Executor, seed: u64) {
    let mut a = ScalarCircuit::with_executor(Arc::new(circuit.clone()), circuit.shape(), by);
    let mut b = ScalarCircuit::with_executor(Arc::new(other.clone()), other.shape(), other_by);
    let start = a.state().clone();
    let mut rng = Rng::seed_from_u64(seed);
    let mut joint = Vec::new();
    for _ in 0..200 {
        assert_eq!(a.state(), b.state());
        assert_eq!(a.is_terminal(), b.is_terminal());
        for role in circuit.role_ids() {
            assert_eq!(a.legal_moves(role), b.legal_moves(role));
            assert_eq!(a.payoff(role), b.payoff(role));
            assert_eq!(a.goal_values(role), b.goal_values(role));
        }
        if a.is_terminal() {
            a.go_to(&start);
            b.go_to(&start);
            if a.is_terminal() {
                return;
            }
        }
        a.draw(&mut rng, &mut joint);
        for role in circuit.role_ids() {
            assert_eq!(a.percepts(&joint, role), b.percepts(&joint, role));
        }
        a.advance(&joint);
        b.advance(&joint);
    }
}

/// A fluent that is copied from one word of a state to the next must be read before it is
/// overwritten.
#[test]
fn executors_agree_across_words() {
    for n_fields in [64, 65, 130, 300] {
        let circuit = games::long_walk(n_fields);
        for executor in [Executor::Native, Executor::Events] {
            agree_by(&circuit, Executor::Levelled, &circuit, executor, 1);
        }
    }
}

proptest! {
    #![proptest_config(seeded(300))]

    #[test]
    fn executors_of_single_steps_agree(seed: u64, n_gates in 10..600_usize) {
        let circuit = random::circuit(seed, n_gates);
        for executor in [Executor::Native, Executor::Events] {
            agree_by(&circuit, Executor::Levelled, &circuit, executor, seed);
        }
    }

    #[test]
    fn every_pass_alone_changes_nothing(seed: u64, n_gates in 10..300_usize) {
        let circuit = random::circuit(seed, n_gates);
        for (name, pass) in PASSES {
            let passed = pass(&circuit, Deadline::NEVER).expect("there is no deadline");
            prop_assert_eq!(verify(&passed), Ok(()), "{}", name);
            agree(&circuit, &passed, seed);
        }
    }

    /// The result is the same game, however early the deadline is.
    #[test]
    fn optimisation_may_stop_at_any_time(seed: u64, microseconds in 0..20_000_u64) {
        let circuit = random::circuit(seed, 3000);
        let at = Instant::now() + Duration::from_micros(microseconds);
        let (optimised, _) = optimise(&circuit, Deadline::new(Some(at)));
        prop_assert!(optimised.ands.len() <= circuit.ands.len());
        prop_assert_eq!(verify(&optimised), Ok(()));
        agree(&circuit, &optimised, seed);
    }

    #[test]
    fn all_passes_together_change_nothing(seed: u64, n_gates in 10..300_usize) {
        let circuit = random::circuit(seed, n_gates);
        let (optimised, reports) = optimise(&circuit, Deadline::NEVER);
        prop_assert!(optimised.ands.len() <= reports[0].gates_after);
        agree(&circuit, &optimised, seed);
    }
}

#[test]
fn forgetting_unread_bits_keeps_play_the_same() {
    for seed in 0..100 {
        let circuit = random::circuit(seed, 80);
        let without_unread = optimise::forget_unread(&circuit);
        let mut a = ScalarCircuit::new(Arc::new(circuit));
        let mut b = ScalarCircuit::new(Arc::new(without_unread));
        let mut rng = Rng::seed_from_u64(seed);
        let mut joint = Vec::new();
        for _ in 0..50 {
            assert_eq!(a.is_terminal(), b.is_terminal());
            for role in a.shape().roles() {
                assert_eq!(
                    (a.legal_moves(role), a.payoff(role)),
                    (b.legal_moves(role), b.payoff(role))
                );
            }
            if a.is_terminal() {
                break;
            }
            a.draw(&mut rng, &mut joint);
            a.advance(&joint);
            b.advance(&joint);
        }
    }
}

#[test]
fn passes_reduce_handmade_games_to_known_sizes() {
    let sizes =
        |circuit: &Circuit| (circuit.ands.len(), optimise(circuit, Deadline::NEVER).0.ands.len());
    // Frame axioms over 16 moves collapse to one negated move each.
    let found: Vec<_> = handmade().iter().map(sizes).collect();
    assert_eq!(found, [(389, 118), (273, 147), (104, 59), (53, 46), (109, 68)]);
}

/// Returns a circuit of a given size with much to factor: cells with many ways to change, and frame
/// axioms.
fn large(n_cells: usize, n_moves: usize) -> Circuit {
    let role = |name: &str| crate::CircuitRole {
        name: name.into(),
        moves: (0..n_moves).map(|m| format!("m{m}")).collect(),
        is_nature: false,
    };
    let base = (0..n_cells).map(|bit| (format!("c{bit}"), bit % 3 == 0)).collect();
    let mut b = crate::Builder::new(vec![role("x"), role("o")], base);
    let mut rng = Rng::seed_from_u64(n_cells as u64);
    let cells: Vec<Signal> = (0..n_cells).map(|bit| b.base(bit)).collect();
    let mut next = Vec::new();
    for cell in 0..n_cells {
        let mut ways = Vec::new();
        for role in 0..2 {
            for m in 0..n_moves {
                let does = b.input(role, m);
                if (m + cell) % 16 != 0 {
                    ways.push(b.and(does, cells[cell]));
                } else {
                    let condition = [
                        cells[rng.random_range(0..n_cells)],
                        !cells[rng.random_range(0..n_cells)],
                        does,
                    ];
                    ways.push(b.and_all(&condition));
                }
            }
        }
        next.push(b.or_all(&ways));
    }
    b.finish(crate::Outputs {
        legal: vec![vec![Signal::TRUE; n_moves]; 2],
        next,
        terminal: cells[0],
        goals: vec![vec![], vec![]],
        percepts: vec![vec![], vec![]],
        rejected: Signal::FALSE,
    })
}

/// Only sizes are tested: a test that reads the clock fails on a busy machine. See
/// `agon show GAME --stage circuit --stats` for times.
#[test]
fn large_circuits_shrink() {
    for (n_cells, n_moves) in [(125, 200), (250, 400)] {
        let circuit = large(n_cells, n_moves);
        let (optimised, _) = optimise(&circuit, Deadline::NEVER);
        assert!(optimised.ands.len() * 2 < circuit.ands.len(), "{n_cells} cells, {n_moves} moves");
    }
}

#[test]
fn a_constant_base_is_found_through_chains() {
    // Bit 0 never changes, and each following bit copies the one before. All are constant, which
    // one pass finds.
    let role = crate::CircuitRole {
        name: "r".into(),
        moves: vec!["a".into(), "b".into()],
        is_nature: false,
    };
    let n = 1000;
    let base = (0..n).map(|bit| (format!("b{bit}"), true)).collect();
    let mut b = crate::Builder::new(vec![role], base);
    let bits: Vec<Signal> = (0..n).map(|bit| b.base(bit)).collect();
    let mut next = vec![bits[0]];
    for bit in 1..n {
        let either = b.input(0, 0);
        let either = b.or(either, bits[bit]);
        next.push(b.and(bits[bit - 1], either));
    }
    let circuit = b.finish(crate::Outputs {
        legal: vec![vec![Signal::TRUE; 2]],
        next,
        terminal: !bits[n - 1],
        goals: vec![vec![]],
        percepts: vec![vec![]],
        rejected: Signal::FALSE,
    });
    let folded = optimise::fold_constants(&circuit, Deadline::NEVER).expect("there is no deadline");
    assert_eq!((folded.ands.len(), folded.outputs.terminal), (0, Signal::FALSE));
    assert!(folded.outputs.next.iter().all(|&next| next == Signal::TRUE));
}

#[test]
fn dumps_name_everything() {
    let circuit = games::nim(2, false);
    let text = circuit.to_string();
    for line in
        ["role first with 4 moves", "  g1 = left 0", "  g3 = left 2, initially", "  terminal = g1"]
    {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    let mut dot = String::new();
    write_graphviz(&circuit, &mut dot).expect("strings can be written to");
    assert!(
        dot.contains("label=\"does second take 3\"") && dot.contains("label=\"goal first 100\""),
        "{dot}"
    );
}

#[test]
fn moves_are_read_in_any_spacing() {
    let start = ScalarCircuit::new(Arc::new(games::tic_tac_toe()));
    let x = Role::new(0);
    assert_eq!(start.parse_move(x, " MARK   4 "), Some(start.input(x, 4)));
    assert_eq!(start.parse_move(x, "mark4"), None);
    assert_eq!(start.parse_move(x, "wait"), None);
}
