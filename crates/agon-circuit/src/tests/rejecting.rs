//! Compares circuits that reject steps with the same games in which the conditions are part of
//! legality.

use std::sync::Arc;

use agon_game::{Batch, Children, PlayoutRequest, Position, Rng};
use proptest::prelude::*;
use rand::SeedableRng;

use super::batch::{BACKENDS, children_agree, random_planes, walks};
use super::{agree_by, games, random};
use crate::optimise::{PASSES, forget_unread, optimise};
use crate::run::batch::playout::{Place, Playable, PlayoutStep, Restart};
use crate::run::kernel::Kernel;
use crate::run::phases::Phases;
use crate::run::transpose;
use crate::{
    BatchCircuit, BatchOptions, Builder, Circuit, CircuitRole, Deadline, Executor, Outputs, Plane,
    ScalarCircuit, Signal, prove_turns, verify,
};

/// Returns the same game with every condition as part of legality: the oracle. It has a copy of the
/// circuit for each move, with that move and the only moves of the other roles.
fn exact(circuit: &Circuit) -> Circuit {
    let mut builder = Builder::like(circuit);
    let first_and = circuit.first_and();
    let mut plain: Vec<Signal> = (0..first_and).map(Signal::of_gate).collect();
    embed(&mut builder, circuit, &mut plain);
    let to = |map: &[Signal], signal: Signal| map[signal.gate()].inverted_if(signal.is_inverted());
    let mut outputs = circuit.outputs.map(|signal| to(&plain, signal));
    let before = outputs.legal.clone();
    for role in circuit.role_ids() {
        for m in 0..before[role.index()].len() {
            let mut map = plain[..first_and].to_vec();
            for other in circuit.role_ids() {
                for (gate, &legal) in circuit.inputs(other).zip(&before[other.index()]) {
                    map[gate] = if other == role {
                        Signal::constant(gate == circuit.inputs(role).start + m)
                    } else {
                        legal
                    };
                }
            }
            embed(&mut builder, circuit, &mut map);
            // Where another role has a choice, nothing is rejected.
            let mut choices = Vec::new();
            for other in circuit.role_ids().filter(|&other| other != role) {
                for (i, &a) in before[other.index()].iter().enumerate() {
                    for &b in &before[other.index()][..i] {
                        choices.push(builder.and(a, b));
                    }
                }
            }
            let open = builder.or_all(&choices);
            let rejected = builder.and(to(&map, circuit.outputs.rejected), !open);
            let legal = &mut outputs.legal[role.index()][m];
            *legal = builder.and(*legal, !rejected);
        }
        // Where a role has no move left, play has ended. The circuit says so, so that it is not a
        // fault.
        let any = builder.or_all(&outputs.legal[role.index()]);
        let had_any = builder.or_all(&before[role.index()]);
        let stuck = builder.and(!any, had_any);
        outputs.terminal = builder.or(outputs.terminal, stuck);
    }
    outputs.rejected = Signal::FALSE;
    builder.finish(outputs)
}

fn embed(builder: &mut Builder, circuit: &Circuit, map: &mut Vec<Signal>) {
    for &[a, b] in &circuit.ands {
        let [a, b] = [a, b].map(|signal| map[signal.gate()].inverted_if(signal.is_inverted()));
        map.push(builder.and(a, b));
    }
}

/// Returns nim in which no multiple of `taboo` except zero may be left.
pub(super) fn strict_nim(pile: usize, taboo: usize) -> Circuit {
    let mut circuit = games::nim(pile, false);
    let mut builder = Builder::like(&circuit);
    let mut map: Vec<Signal> = (0..circuit.first_and()).map(Signal::of_gate).collect();
    embed(&mut builder, &circuit, &mut map);
    let to = |signal: Signal| map[signal.gate()].inverted_if(signal.is_inverted());
    let left: Vec<Signal> = (1..=pile)
        .filter(|n| n.is_multiple_of(taboo))
        .map(|n| to(circuit.outputs.next[n]))
        .collect();
    circuit.outputs = circuit.outputs.map(to);
    circuit.outputs.rejected = builder.or_all(&left);
    builder.finish(circuit.outputs)
}

/// Returns a walk without end on a ring of eight, of whose six moves most are rejected, depending
/// on the place.
pub(super) fn fussy_walk() -> Circuit {
    let moves = (0..6).map(|m| format!("go {m}")).collect();
    let role = CircuitRole { name: "walker".to_owned(), moves, is_nature: false };
    let mut b =
        Builder::new(vec![role], (0..8).map(|place| (format!("at {place}"), place == 0)).collect());
    let at: Vec<Signal> = (0..8).map(|place| b.base(place)).collect();
    let mut next = Vec::new();
    for after in 0..8 {
        let mut ways = Vec::new();
        for m in 0..6 {
            let does = b.input(0, m);
            ways.push(b.and(does, at[(after + 8 - m - 1) % 8]));
        }
        next.push(b.or_all(&ways));
    }
    let wrong: Vec<Signal> =
        [0, 1, 2, 3].map(|place| b.and(next[2 * place], !at[2 * place + 1])).to_vec();
    let rejected = b.or_all(&wrong);
    b.finish(Outputs {
        legal: vec![vec![Signal::TRUE; 6]],
        next,
        terminal: Signal::FALSE,
        goals: vec![vec![(0, !at[3]), (10, at[3])]],
        percepts: vec![vec![]],
        rejected,
    })
}

/// Returns a random game of one role, some of whose steps are rejected.
fn random_rejecting(seed: u64, n_gates: usize) -> Circuit {
    let mut circuit = (seed..)
        .map(|seed| random::circuit(seed, n_gates))
        .find(|circuit| circuit.roles.len() == 1)
        .expect("one in three has");
    let own = circuit.outputs.percepts.iter().flatten().map(|&(_, signal)| signal);
    let rejected =
        own.chain(circuit.outputs.next.iter().copied()).find(|signal| !signal.is_constant());
    circuit.outputs.rejected = rejected.unwrap_or(Signal::FALSE);
    circuit
}

fn examples() -> Vec<Circuit> {
    vec![strict_nim(21, 4), strict_nim(17, 3), strict_nim(9, 2), fussy_walk()]
}

#[test]
fn rejected_moves_are_not_legal() {
    for circuit in examples() {
        let oracle = exact(&circuit);
        let optimised = optimise(&circuit, Deadline::NEVER).0;
        for executor in [Executor::Levelled, Executor::Native, Executor::Events, Executor::Auto] {
            for circuit in [&circuit, &optimised] {
                agree_by(&oracle, Executor::Levelled, circuit, executor, 3);
            }
        }
    }
}

#[test]
fn children_are_not_rejected() {
    for circuit in examples() {
        children_agree(&circuit, 5);
    }
}

/// Checks in every lane that the step is one of the oracle, that a rejected step changes nothing,
/// and that late lanes wait.
#[track_caller]
fn lanes_agree(circuit: &Circuit, seed: u64) {
    let oracle = exact(circuit);
    let states = walks(&oracle, seed);
    let mut position = ScalarCircuit::new(Arc::new(oracle));
    let cut = Playable::new(circuit);
    let whole = Playable::of(Phases::whole(&forget_unread(circuit)));
    for playable in [whole, cut] {
        let kept = &playable.kept;
        for phase in 0..playable.phases.circuits.len() {
            let place = Place { restart: Restart::Planes, is_gate: false };
            let step = PlayoutStep::new(&playable, phase, &circuit.shape(), None, place);
            let mut kernel =
                Kernel::new(&step.program, kept.len() + 1, BACKENDS[(seed % 2) as usize]);
            let mut planes = vec![Plane::ZERO; circuit.base.len()];
            transpose::load(states.len(), |lane| states[lane].words(), &mut planes);
            let mut state: Vec<Plane> = kept.iter().map(|&bit| planes[bit]).collect();
            let mut rest = state.clone();
            state.push(Plane::ZERO);
            rest.push(Plane::ZERO);
            rest.extend(random_planes(step.n_random, seed));
            let mut out = vec![Plane::ZERO; step.program.outputs.len()];
            kernel.run(&state, &rest, &mut out);
            if !playable.may_reject {
                continue;
            }
            let [rejected, late] = out[out.len() - 2..] else {
                unreachable!("there are two more outputs")
            };
            for (lane, before) in states.iter().enumerate() {
                position.go_to(before);
                let is_late = playable.phases.of(before) != phase;
                assert_eq!(late.lane(lane), is_late);
                let stays =
                    kept.iter().zip(&out).all(|(&bit, plane)| plane.lane(lane) == before.get(bit));
                if is_late || rejected.lane(lane) {
                    assert!(stays, "a rejected step changes nothing");
                    assert!(!(is_late && rejected.lane(lane)), "a late lane draws no move");
                    continue;
                }
                if out[kept.len() + 1].lane(lane) {
                    assert!(position.is_terminal());
                    continue;
                }
                let is_child = circuit
                    .role_ids()
                    .flat_map(|role| position.legal_moves(role).to_vec())
                    .any(|m| {
                        let mut child = position.clone();
                        let (mover, _) = child.role_and_index(m);
                        let joint: Vec<_> = circuit
                            .role_ids()
                            .map(|role| if role == mover { m } else { child.legal_moves(role)[0] })
                            .collect();
                        child.advance(&joint);
                        kept.iter()
                            .zip(&out)
                            .all(|(&bit, plane)| plane.lane(lane) == child.state().get(bit))
                    });
                assert!(is_child, "the move that is made is legal");
            }
        }
    }
}

#[test]
fn lanes_make_legal_steps() {
    for circuit in examples() {
        for seed in 0..4 {
            lanes_agree(&circuit, seed);
        }
    }
}

/// Compares mean payoffs and lengths of batches with single games of the oracle, from the initial
/// state and from states within games.
#[test]
fn playouts_pay_what_exact_games_pay() {
    for circuit in &examples()[..3] {
        let oracle = Arc::new(exact(circuit));
        let mut position = ScalarCircuit::new(Arc::clone(&oracle));
        let mut states = walks(&oracle, 5);
        states.truncate(8);
        let mut rng = Rng::seed_from_u64(9);
        let (n_single, n_batch) = (20_000, 60_000);
        for circuit in [circuit.clone(), optimise(circuit, Deadline::NEVER).0] {
            for turns in [None, prove_turns(&circuit)] {
                let circuit = Arc::new(circuit.clone());
                let options = BatchOptions { turns, ..BatchOptions::default() };
                let mut batch = BatchCircuit::new(Arc::clone(&circuit), circuit.shape(), options);
                let requests: Vec<_> = states
                    .iter()
                    .map(|state| PlayoutRequest {
                        state: state.clone(),
                        n_playouts: n_batch,
                        expected_steps: 0,
                    })
                    .collect();
                let all_stats = batch.play_out(&requests, 1000);
                for (request, stats) in requests.iter().zip(&all_stats) {
                    assert_eq!((stats.n_playouts, stats.n_cut), (n_batch, 0));
                    let (mut length, mut squares) = (0.0, 0.0);
                    let mut payoffs = vec![0.0; oracle.roles.len()];
                    for _ in 0..n_single {
                        position.go_to(&request.state);
                        let n = position.play_out(&mut rng, 1000) as f64;
                        (length, squares) = (length + n, squares + n * n);
                        oracle
                            .role_ids()
                            .for_each(|role| payoffs[role.index()] += position.payoff(role));
                    }
                    let n = f64::from(n_single);
                    let variance = squares / n - (length / n) * (length / n);
                    let error = |variance: f64| {
                        5.0 * (variance * (1.0 / n + 1.0 / n_batch as f64)).sqrt() + 1e-9
                    };
                    assert!((stats.mean_length() - length / n).abs() < error(variance), "lengths");
                    for role in oracle.role_ids() {
                        let mean = payoffs[role.index()] / n;
                        let bound = error(mean * (100.0 - mean) + 1e-9);
                        assert!((stats.mean_payoff(role) - mean).abs() < bound, "payoffs");
                    }
                }
            }
        }
    }
}

/// Moves that are not rejected are equally likely, whether they are drawn at once or by resolving.
#[test]
fn moves_that_are_not_rejected_are_equally_likely() {
    let circuit = Arc::new(fussy_walk());
    let mut position = ScalarCircuit::new(Arc::clone(&circuit));
    let state = position.state().clone();
    let role = agon_game::Role::new(0);
    let n_legal = position.legal_moves(role).len();
    assert!((1..6).contains(&n_legal), "some moves are rejected and some are not");
    // At most two steps from the start. Counts how often the place is number 3.
    let mut batch =
        BatchCircuit::new(Arc::clone(&circuit), circuit.shape(), BatchOptions::default());
    let n = 256 * 40;
    let requests = [PlayoutRequest { state, n_playouts: n, expected_steps: 0 }];
    let stats = &batch.play_out(&requests, 200)[0];
    let mut rng = Rng::seed_from_u64(1);
    let mut n_there = 0;
    let n_steps = 200_000;
    let mut joint = Vec::new();
    for _ in 0..n_steps {
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
        n_there += u32::from(position.payoff(role) > 0.0);
    }
    let share = f64::from(n_there) / f64::from(n_steps);
    let found = stats.mean_payoff(role) / 10.0;
    assert!(
        (found - share).abs() < 5.0 * (share * (1.0 - share) / n as f64).sqrt() + 0.005,
        "{found} {share}"
    );
    // All playouts are cut off: after at least 200 steps, and at most about twice as many.
    assert_eq!((stats.n_playouts, stats.n_cut), (n, n));
    assert!((200.0..900.0).contains(&stats.mean_length()), "{}", stats.mean_length());
}

#[test]
fn the_same_seed_plays_the_same() {
    let circuit = Arc::new(strict_nim(40, 3));
    let play = |backend| {
        let options = BatchOptions { backend, seed: 5, turns: None };
        let mut batch = BatchCircuit::new(Arc::clone(&circuit), circuit.shape(), options);
        let state = ScalarCircuit::new(Arc::clone(&circuit)).state().clone();
        batch.play_out(&[PlayoutRequest { state, n_playouts: 5000, expected_steps: 0 }], 1000)
    };
    assert_eq!(play(BACKENDS[0]), play(BACKENDS[1]));
}

#[test]
fn a_state_without_moves_has_an_empty_family() {
    // From 4, one may leave 3, 2 and 1, all of which are multiples of 1.
    let circuit = Arc::new(strict_nim(4, 1));
    let position = ScalarCircuit::new(Arc::clone(&circuit));
    assert!(position.is_terminal() && position.fault().is_none());
    let mut batch =
        BatchCircuit::new(Arc::clone(&circuit), circuit.shape(), BatchOptions::default());
    let mut children = Children::new(2);
    batch.expand(&[position.state()], &mut children);
    assert_eq!((children.len(), children.child_ends.as_slice()), (0, &[0][..]));
    let stats = &batch.play_out(
        &[PlayoutRequest { state: position.state().clone(), n_playouts: 300, expected_steps: 0 }],
        1000,
    )[0];
    assert_eq!((stats.n_playouts, stats.n_steps, stats.n_cut), (300, 0, 0));
}

proptest! {
    #![proptest_config(super::seeded(150))]

    #[test]
    fn random_games_agree_with_the_oracle(seed: u64, n_gates in 10..200_usize) {
        let circuit = random_rejecting(seed, n_gates);
        prop_assert_eq!(verify(&circuit), Ok(()));
        let oracle = exact(&circuit);
        for executor in [Executor::Levelled, Executor::Native, Executor::Events] {
            agree_by(&oracle, Executor::Levelled, &circuit, executor, seed);
        }
        for (name, pass) in PASSES {
            let passed = pass(&circuit, Deadline::NEVER).expect("there is no deadline");
            prop_assert_eq!(verify(&passed), Ok(()), "{}", name);
            agree_by(&oracle, Executor::Levelled, &passed, Executor::Levelled, seed);
        }
        let optimised = optimise(&circuit, Deadline::NEVER).0;
        agree_by(&oracle, Executor::Levelled, &optimised, Executor::Auto, seed);
        children_agree(&circuit, seed);
        lanes_agree(&circuit, seed);
    }
}
