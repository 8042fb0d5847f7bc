//! Playouts of single games draw every legal move with the same probability, and end as single
//! steps do.

use std::sync::Arc;

use agon_game::{Fault, Position, Rng, Role};
use rand::SeedableRng;

use crate::{Builder, Circuit, CircuitRole, Executor, Outputs, ScalarCircuit, Signal};

const EXECUTORS: [Executor; 3] = [Executor::Native, Executor::Levelled, Executor::Events];

/// Returns a game of two roles with 90 and 70 moves, of which `is_legal` says which are legal. The
/// state remembers the moves.
fn writers(is_legal: impl Fn(usize, usize) -> bool) -> Circuit {
    let n_moves = [90, 70];
    let roles = n_moves.map(|n| {
        let moves = (0..n).map(|idx| format!("write {idx}")).collect();
        CircuitRole { name: format!("writer {n}"), moves, is_nature: false }
    });
    let base = (0..160).map(|bit| (format!("bit {bit}"), false)).collect();
    let builder = Builder::new(roles.into(), base);
    let inputs = |role: usize| (0..n_moves[role]).map(move |idx| (role, idx));
    let next =
        [0, 1].into_iter().flat_map(inputs).map(|(role, idx)| builder.input(role, idx)).collect();
    // Legality that is not constant, so that it is computed: initially nothing is written.
    let is_empty = !builder.base(0);
    let legal = [0, 1].map(|role| {
        let signal = |(role, idx)| if is_legal(role, idx) { is_empty } else { Signal::FALSE };
        inputs(role).map(signal).collect()
    });
    let terminal = builder.base(1);
    let goals = vec![vec![(100, terminal)], vec![(0, !terminal)]];
    builder.finish(Outputs {
        legal: legal.into(),
        next,
        terminal,
        goals,
        percepts: vec![vec![], vec![]],
        rejected: Signal::FALSE,
    })
}

#[test]
fn every_legal_move_is_drawn_equally_often() {
    // Some legal moves on both sides of the borders of words, and gaps.
    let is_legal =
        |role: usize, idx: usize| if role == 0 { idx % 3 != 1 } else { idx > 20 && idx != 40 };
    let circuit = Arc::new(writers(is_legal));
    for executor in EXECUTORS {
        let start = ScalarCircuit::with_executor(Arc::clone(&circuit), circuit.shape(), executor);
        let (mut position, mut rng) = (start.clone(), Rng::seed_from_u64(5));
        let mut counts = vec![0_u32; 160];
        for _ in 0..48_000 {
            position.go_to(start.state());
            assert_eq!(position.play_out(&mut rng, 1), 1);
            (0..160).filter(|&bit| position.state().get(bit)).for_each(|bit| counts[bit] += 1);
        }
        for (role, first, n_moves, n_legal) in [(0, 0, 90, 60.0), (1, 90, 70, 48.0)] {
            let expected = 48_000.0 / n_legal;
            let mut chi_square = 0.0;
            for idx in 0..n_moves {
                let count = f64::from(counts[first + idx]);
                if is_legal(role, idx) {
                    chi_square += (count - expected) * (count - expected) / expected;
                } else {
                    assert_eq!(count, 0.0, "only legal moves are drawn");
                }
            }
            // Mean n - 1, variance 2 (n - 1): five standard deviations.
            let mean: f64 = n_legal - 1.0;
            assert!(
                (chi_square - mean).abs() < 5.0 * (2.0 * mean).sqrt(),
                "{executor:?}: {chi_square}"
            );
        }
    }
}

/// Goals that are computed late are those of the state, and a role without moves ends a playout.
#[test]
fn playouts_end_as_steps_do() {
    let circuit = Arc::new(writers(|role, idx| role == 0 || idx > 3));
    for executor in EXECUTORS {
        let start = ScalarCircuit::with_executor(Arc::clone(&circuit), circuit.shape(), executor);
        for seed in 0..200 {
            let mut position = start.clone();
            let n_steps = position.play_out(&mut Rng::seed_from_u64(seed), 1000);
            assert!(position.is_terminal() && n_steps > 0);
            let is_stuck = position.state().get(0);
            assert_eq!(position.fault().is_some(), is_stuck);
            assert!(!is_stuck || position.fault() == Some(&Fault::NoLegalMove(Role::new(0))));
            assert_eq!(
                position.payoff(Role::new(0)),
                if position.state().get(1) { 100.0 } else { 0.0 }
            );
            let fresh = {
                let mut fresh = start.clone();
                fresh.go_to(position.state());
                fresh
            };
            for role in circuit.role_ids() {
                assert_eq!(fresh.goal_values(role), position.goal_values(role));
                assert!(position.legal_moves(role).is_empty());
            }
        }
    }
}

/// A state may have no bits.
#[test]
fn games_without_bits_are_played() {
    let role = CircuitRole { name: "player".into(), moves: vec!["wait".into()], is_nature: false };
    let circuit = Arc::new(Builder::new(vec![role], vec![]).finish(Outputs {
        legal: vec![vec![Signal::TRUE]],
        next: vec![],
        terminal: Signal::FALSE,
        goals: vec![vec![(7, Signal::TRUE)]],
        percepts: vec![vec![]],
        rejected: Signal::FALSE,
    }));
    for executor in EXECUTORS {
        let mut position =
            ScalarCircuit::with_executor(Arc::clone(&circuit), circuit.shape(), executor);
        assert_eq!(position.play_out(&mut Rng::seed_from_u64(0), 3), 3);
        let state = position.state().clone();
        position.go_to(&state);
        assert_eq!(
            (position.payoff(Role::new(0)), position.legal_moves(Role::new(0)).len()),
            (7.0, 1)
        );
    }
}
