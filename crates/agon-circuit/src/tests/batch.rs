//! Compares lanes with single games, generated code with the interpreter, and playouts with known
//! statistics.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_game::{
    Batch, Children, PlayoutRequest, Position, Rng, Role, SequentialBatch, Shape, TerminalChildren,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use super::{games, handmade, random};
use crate::form::graph::Graph;
use crate::native::simd;
use crate::native::{NativeLanes, NativeOne};
use crate::optimise::{forget_unread, optimise};
use crate::run::batch::playout::{Place, Playable, PlayoutStep, Restart};
use crate::run::batch::random::PlaneRng;
use crate::run::batch::sampler::{Tree, draw};
use crate::run::interpret::Interpreter;
use crate::run::kernel::Kernel;
use crate::run::phases::Phases;
use crate::run::program::{Program, lower};
use crate::run::transpose;
use crate::{
    Backend, BatchCircuit, BatchOptions, Bits, Circuit, Deadline, Plane, ScalarCircuit, Signal,
    Turns,
};

pub(super) const BACKENDS: [Backend; 2] = [Backend::Portable, Backend::Native];

/// Returns shapes with and without turn-taking, if the game has it.
fn shapes(circuit: &Circuit, is_turn_taking: bool) -> Vec<Shape> {
    let mut shape = circuit.shape();
    let plain = shape.clone();
    shape.turn_taking = is_turn_taking;
    if is_turn_taking { vec![plain, shape] } else { vec![plain] }
}

fn last_move_waits(circuit: &Circuit) -> Turns {
    let waits = circuit
        .roles
        .iter()
        .map(|role| (1..=role.moves.len()).map(|m| m == role.moves.len()).collect());
    Turns { waits: waits.collect() }
}

/// Returns states along random walks, one per lane, some of them terminal.
pub(super) fn walks(circuit: &Circuit, seed: u64) -> Vec<Bits> {
    let mut position = ScalarCircuit::new(Arc::new(circuit.clone()));
    let start = position.state().clone();
    let mut rng = Rng::seed_from_u64(seed);
    let mut joint = Vec::new();
    (0..Plane::LANES)
        .map(|_| {
            let state = position.state().clone();
            if position.is_terminal() {
                position.go_to(&start);
            } else {
                position.draw(&mut rng, &mut joint);
                position.advance(&joint);
            }
            state
        })
        .collect()
}

pub(super) fn random_planes(n: usize, seed: u64) -> Vec<Plane> {
    let mut planes = vec![Plane::ZERO; n];
    PlaneRng::new(seed).fill(&mut planes);
    planes
}

/// Runs a program by both executors on the same random leaves and compares every bit.
#[track_caller]
fn executors_agree(program: &Program, n_state: usize, seed: u64) {
    let Ok(native) = NativeLanes::new(program, n_state) else { return };
    let leaves = random_planes(program.n_leaves, seed);
    let mut scratch = random_planes(native.n_scratch(), seed ^ 1);
    let mut found = vec![Plane::ZERO; program.outputs.len()];
    native.run(&leaves[..n_state], &leaves[n_state..], &mut found, &mut scratch);
    let mut slots = leaves;
    let mut expected = vec![Plane::ZERO; program.outputs.len()];
    Interpreter::new(program).run(&mut slots, &mut expected);
    assert_eq!(found, expected);

    // The code for one game, which outputs the lowest 32 bits, and their packing.
    let native = NativeOne::new(program, n_state).expect("there is code for 256 games");
    let mut rng = Rng::seed_from_u64(seed);
    let leaves: Vec<u128> = (0..program.n_leaves).map(|_| rng.random()).collect();
    let mut scratch = vec![7; native.n_scratch()];
    let mut found = vec![0; program.outputs.len().next_multiple_of(64)];
    native.run(&leaves[..n_state], &leaves[n_state..], &mut found, &mut scratch);
    let mut slots = leaves;
    let mut expected = vec![0_u128; program.outputs.len()];
    Interpreter::new(program).run(&mut slots, &mut expected);
    assert!(found.iter().zip(&expected).all(|(&found, &expected)| found == expected as u32));
    let mut words = vec![0; found.len() / 64];
    simd::pack_signs(&found, &mut words);
    assert!(
        found
            .iter()
            .enumerate()
            .all(|(bit, found)| words[bit / 64] >> (bit % 64) & 1 == u64::from(found >> 31))
    );
}

proptest! {
    #![proptest_config(super::seeded(200))]

    #[test]
    fn generated_code_agrees_with_the_interpreter_bit_for_bit(
        seed: u64,
        n_gates in 10..2000_usize,
    ) {
        let circuit = random::circuit(seed, n_gates);
        let roots: Vec<Signal> = circuit.outputs.signals().collect();
        let program = lower(circuit.first_and() - 1, &circuit.ands, &roots);
        executors_agree(&program, circuit.base.len(), seed);
        let playable = Playable::new(&circuit);
        let Playable { kept, .. } = &playable;
        let places =
            [(Restart::Initial, true), (Restart::Planes, true), (Restart::Planes, false)];
        for (restart, is_gate) in places {
            let place = Place { restart, is_gate };
            let step = PlayoutStep::new(&playable, 0, &circuit.shape(), None, place);
            executors_agree(&step.program, kept.len() + 1, seed);
        }
    }

    /// Compares the interpreter on words with the graph evaluated gate by gate.
    #[test]
    fn lowering_keeps_every_output(seed: u64, n_gates in 10..500_usize) {
        let circuit = random::circuit(seed, n_gates);
        let roots: Vec<Signal> = circuit.outputs.signals().collect();
        let program = lower(circuit.first_and() - 1, &circuit.ands, &roots);
        let mut rng = Rng::seed_from_u64(seed);
        let mut values = vec![0_u64];
        values.extend((1..circuit.first_and()).map(|_| rng.random::<u64>()));
        let mut slots = values[1..].to_vec();
        let value = |values: &[u64], signal: Signal| {
            values[signal.gate()] ^ if signal.is_inverted() { !0 } else { 0 }
        };
        for &[a, b] in &circuit.ands {
            values.push(value(&values, a) & value(&values, b));
        }
        let expected: Vec<u64> = roots.iter().map(|&root| value(&values, root)).collect();
        let mut found = vec![0; roots.len()];
        Interpreter::new(&program).run(&mut slots, &mut found);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn children_are_what_single_steps_give(seed: u64, n_gates in 10..300_usize) {
        children_agree(&random::circuit(seed, n_gates), seed);
    }

    #[test]
    fn playout_steps_are_legal_steps(seed: u64, n_gates in 10..300_usize) {
        let circuit = random::circuit(seed, n_gates);
        steps_agree(&circuit, &circuit.shape(), None, seed);
    }
}

/// Compares every child of some states, and mixed steps from many, by both executors, with single
/// steps.
#[track_caller]
pub(super) fn children_agree(circuit: &Circuit, seed: u64) {
    let circuit = Arc::new(circuit.clone());
    let states = walks(&circuit, seed);
    let states: Vec<&Bits> = states.iter().take(30).collect();
    let n_roles = circuit.roles.len();
    let mut oracle =
        SequentialBatch::new(ScalarCircuit::new(Arc::clone(&circuit)), Rng::seed_from_u64(seed));
    let mut expected = Children::new(n_roles);
    oracle.expand(&states, &mut expected);
    for backend in BACKENDS {
        let options = BatchOptions { backend, ..BatchOptions::default() };
        let mut batch = BatchCircuit::new(Arc::clone(&circuit), circuit.shape(), options);
        let mut found = Children::new(n_roles);
        batch.expand(&states, &mut found);
        assert_eq!(found.child_ends, expected.child_ends);
        same_children(&circuit, &found, &expected);
        let (mut ends, mut expected_ends) =
            (TerminalChildren::default(), TerminalChildren::default());
        batch.look_ahead(&states, &mut ends);
        expected_ends.collect_from(&expected);
        assert_eq!(ends, expected_ends);

        let mut steps: Vec<(&Bits, &[crate::Input])> = Vec::new();
        for (family, &state) in states.iter().enumerate() {
            steps.extend(expected.children_of(family).map(|child| (state, expected.joint(child))));
        }
        batch.advance_all(&steps, &mut found);
        assert_eq!(found.child_ends, (1..=steps.len()).collect::<Vec<_>>());
        same_children(&circuit, &found, &expected);
    }
}

#[track_caller]
fn same_children(
    circuit: &Circuit,
    found: &Children<Bits, crate::Input>,
    expected: &Children<Bits, crate::Input>,
) {
    assert_eq!((&found.states, &found.ended), (&expected.states, &expected.ended));
    assert_eq!((&found.payoffs, &found.joints), (&expected.payoffs, &expected.joints));
    for child in 0..found.len() {
        for role in circuit.role_ids() {
            let [mut own, mut others] = [Vec::new(), Vec::new()];
            found.list_legal(child, role, &mut own);
            expected.list_legal(child, role, &mut others);
            assert_eq!(own, others);
            assert_eq!(found.n_legal(child, role), own.len());
        }
    }
}

/// Compares one step of the playout kernel in every lane with the legal moves there, by the whole
/// circuit and by phases.
#[track_caller]
fn steps_agree(circuit: &Circuit, shape: &Shape, turns: Option<&Turns>, seed: u64) {
    let whole = Playable::of(Phases::whole(&forget_unread(circuit)));
    let cut = Playable::new(circuit);
    phase_agrees(circuit, &whole, 0, shape, turns, seed);
    if cut.phases.circuits.len() > 1 {
        for phase in 0..cut.phases.circuits.len() {
            phase_agrees(circuit, &cut, phase, &circuit.shape(), None, seed);
        }
    }
}

#[track_caller]
fn phase_agrees(
    circuit: &Circuit,
    playable: &Playable,
    phase: usize,
    shape: &Shape,
    turns: Option<&Turns>,
    seed: u64,
) {
    let Playable { phases, kept, .. } = playable;
    let states = walks(circuit, seed);
    let mut position = ScalarCircuit::new(Arc::new(circuit.clone()));
    let options = BatchOptions::default();
    let mut batch = BatchCircuit::new(Arc::new(circuit.clone()), shape.clone(), options);
    let mut children = Children::new(circuit.roles.len());
    for (backend, is_gate) in [(BACKENDS[0], true), (BACKENDS[0], false), (BACKENDS[1], true)] {
        let place = Place { restart: Restart::Planes, is_gate };
        let step = PlayoutStep::new(playable, phase, shape, turns, place);
        let mut kernel = Kernel::new(&step.program, kept.len() + 1, backend);
        let mut planes = vec![Plane::ZERO; circuit.base.len()];
        transpose::load(states.len(), |lane| states[lane].words(), &mut planes);
        let mut state: Vec<Plane> = kept.iter().map(|&bit| planes[bit]).collect();
        // Half of the lanes may restart, at the state of the next lane. Every fourth waits.
        let mut rest: Vec<Plane> =
            state.iter().map(|plane| Plane(plane.0.map(|word| word.rotate_left(1)))).collect();
        let start = rest.clone();
        let waits = Plane([0x8888_1111_8888_1111; 4]);
        state.push(waits);
        rest.push(Plane([0xaaaa_aaaa_aaaa_aaaa; 4]));
        rest.extend(random_planes(step.n_random, seed));
        let mut out = vec![Plane::ZERO; step.program.outputs.len()];
        kernel.run(&state, &rest, &mut out);
        let bits = |planes: &[Plane], lane: usize| -> Vec<bool> {
            planes.iter().map(|plane| plane.lane(lane)).collect()
        };
        for (lane, state) in
            states.iter().enumerate().filter(|(_, state)| phases.of(state) == phase)
        {
            position.go_to(state);
            let is_over = position.is_terminal();
            let is_idle = is_over || waits.lane(lane);
            let restarts = is_idle && is_gate && lane % 2 == 1;
            assert_eq!(out[kept.len()].lane(lane), is_idle && !restarts);
            assert_eq!(out[kept.len() + 1].lane(lane), is_over && !waits.lane(lane));
            for role in circuit.role_ids() {
                let goals = &out[kept.len() + 2..];
                let payoff =
                    step.payoffs[role.index()].iter().find(|&&(_, goal)| goals[goal].lane(lane));
                assert_eq!(payoff.map_or(0.0, |&(value, _)| value), position.payoff(role));
            }
            let after = bits(&out[..kept.len()], lane);
            if restarts {
                assert_eq!(after, bits(&start, lane));
            } else if !is_idle {
                batch.expand(&[state], &mut children);
                let is_child = |child: &Bits| {
                    kept.iter().zip(&after).all(|(&bit, &value)| child.get(bit) == value)
                };
                assert!(children.states.iter().any(is_child), "lane {lane} made no legal step");
            }
        }
    }
}

#[test]
fn handmade_games_step_alike_in_every_lane() {
    for (circuit, is_turn_taking) in handmade().into_iter().zip([true, true, true, false, false]) {
        for circuit in [optimise(&circuit, Deadline::NEVER).0, circuit] {
            children_agree(&circuit, 1);
            for shape in shapes(&circuit, is_turn_taking) {
                steps_agree(&circuit, &shape, None, 1);
            }
            if is_turn_taking {
                steps_agree(&circuit, &circuit.shape(), Some(&last_move_waits(&circuit)), 1);
            }
        }
    }
}

#[test]
fn random_bits_are_the_same_everywhere() {
    let mut rng = rand_xoshiro::SplitMix64::seed_from_u64(1);
    let mut portable: [Plane; 4] =
        std::array::from_fn(|_| Plane(std::array::from_fn(|_| rng.random())));
    let mut wide = portable;
    let (mut expected, mut found) = ([Plane::ZERO; 100], [Plane::ZERO; 100]);
    simd::fill_random_portably(&mut portable, &mut expected);
    simd::fill_random(&mut wide, &mut found);
    assert_eq!((wide, found), (portable, expected));
    let n_ones: u32 = expected.iter().map(Plane::count).sum();
    // 25 600 fair bits, and five standard deviations of 80.
    assert!((12_400..=13_200).contains(&n_ones), "{n_ones}");
}

#[test]
fn transposing_there_and_back() {
    let mut rng = Rng::seed_from_u64(3);
    for (n_bits, n_states) in [(1, 256), (64, 64), (65, 130), (200, 256), (130, 1)] {
        let states: Vec<Bits> = (0..n_states)
            .map(|_| Bits::pack((0..n_bits).map(|_| rng.random()).collect::<Vec<_>>().into_iter()))
            .collect();
        let mut planes = vec![Plane::ZERO; n_bits];
        transpose::load(states.len(), |lane| states[lane].words(), &mut planes);
        for (lane, state) in states.iter().enumerate() {
            assert!((0..n_bits).all(|bit| planes[bit].lane(lane) == state.get(bit)));
        }
        let mut matrices = vec![[Plane::ONES; 64]; n_bits.div_ceil(64)];
        transpose::unload(&planes, &mut matrices);
        for (lane, state) in states.iter().enumerate() {
            let found: Vec<u64> =
                matrices.iter().map(|matrix| transpose::word_of(matrix, lane)).collect();
            assert_eq!(found, state.words());
        }
    }
}

#[test]
fn both_ways_of_transposing_agree() {
    for seed in 0..20 {
        let before: [Plane; 64] = random_planes(64, seed).try_into().expect("64 planes");
        let (mut found, mut portable) = ([Plane::ONES; 64], [Plane::ONES; 64]);
        simd::transpose(&before, &mut found);
        simd::transpose_portably(&before, &mut portable);
        assert_eq!(found, portable);
        for (row, lane) in (0..64).flat_map(|row| (0..256).map(move |lane| (row, lane))) {
            let (quarter, column) = (lane / 64, lane % 64);
            assert_eq!(
                found[column].lane(64 * quarter + row),
                before[row].lane(lane),
                "{row} {lane}"
            );
        }
    }
}

#[test]
fn ranges_of_lanes() {
    for range in [0..0, 5..5, 0..1, 3..70, 64..128, 63..65, 130..256, 255..256, 0..256] {
        let plane = Plane::range(range.clone());
        assert!((0..256).all(|lane| plane.lane(lane) == range.contains(&lane)), "{range:?}");
    }
}

/// Returns the 1 in 100 000 quantile of the chi-square distribution, by the approximation of Wilson
/// and Hilferty.
fn unlikely(degrees: usize) -> f64 {
    let n = degrees as f64;
    let t = 1.0 - 2.0 / (9.0 * n) + 4.26 * (2.0 / (9.0 * n)).sqrt();
    n * t * t * t
}

#[test]
fn every_legal_move_is_equally_likely() {
    for n_moves in [2_usize, 3, 5, 7, 9, 16, 33] {
        let mut graph = Graph::new(n_moves + crate::run::batch::sampler::n_random(n_moves));
        let legal: Vec<Signal> = (0..n_moves).map(|m| graph.leaf(m)).collect();
        let tree = Tree::new(&mut graph, &legal);
        let random: Vec<Signal> =
            (n_moves..n_moves + tree.n_random()).map(|leaf| graph.leaf(leaf)).collect();
        let number = draw(&mut graph, tree.count(), &random);
        let chosen = tree.descend(&mut graph, &number);
        let program = lower(graph.first_and() - 1, graph.ands(), &chosen);
        let mut kernel = Kernel::new(&program, n_moves, Backend::Native);

        // 256 lanes with different legal moves. The first lanes have all, or one.
        let mut rng = Rng::seed_from_u64(n_moves as u64);
        let mut masks: Vec<u64> =
            (0..Plane::LANES).map(|_| rng.random_range(1..1 << n_moves)).collect();
        masks[..3].copy_from_slice(&[(1 << n_moves) - 1, 1, 1 << (n_moves - 1)]);
        let mut state = vec![Plane::ZERO; n_moves];
        for (m, plane) in state.iter_mut().enumerate() {
            masks
                .iter()
                .enumerate()
                .for_each(|(lane, mask)| plane.set_lane(lane, mask >> m & 1 == 1));
        }
        let mut planes = vec![Plane::ZERO; tree.n_random()];
        let mut source = PlaneRng::new(7);
        let n_rounds = 20_000;
        let mut counts = vec![vec![0_u32; n_moves]; Plane::LANES];
        let mut out = vec![Plane::ZERO; n_moves];
        for _ in 0..n_rounds {
            source.fill(&mut planes);
            kernel.run(&state, &planes, &mut out);
            for (m, plane) in out.iter().enumerate() {
                plane.lanes().for_each(|lane| counts[lane][m] += 1);
            }
        }
        let (mut total, mut degrees) = (0.0, 0);
        for (mask, counts) in masks.iter().zip(&counts) {
            let n_legal = mask.count_ones();
            let expected = f64::from(n_rounds) / f64::from(n_legal);
            assert_eq!(counts.iter().sum::<u32>(), n_rounds as u32, "one move per lane and round");
            for (m, &count) in counts.iter().enumerate() {
                assert!(count == 0 || mask >> m & 1 == 1, "an illegal move was made");
                total += if mask >> m & 1 == 1 {
                    (f64::from(count) - expected) * (f64::from(count) - expected) / expected
                } else {
                    0.0
                };
            }
            degrees += n_legal as usize - 1;
        }
        assert!(
            total < unlikely(degrees),
            "{n_moves} moves: chi-square {total} of {degrees} degrees"
        );
    }
}

/// Compares mean payoffs and lengths of batches with single games, from the initial state and from
/// states within games.
#[test]
fn playouts_pay_what_single_games_pay() {
    for (circuit, is_turn_taking) in handmade().into_iter().zip([true, true, true, false, false]) {
        let circuit = Arc::new(optimise(&circuit, Deadline::NEVER).0);
        let mut position = ScalarCircuit::new(Arc::clone(&circuit));
        let mut states = walks(&circuit, 5);
        states.truncate(6);
        let mut rng = Rng::seed_from_u64(9);
        let n_single = 20_000;
        for shape in shapes(&circuit, is_turn_taking) {
            let mut batch = BatchCircuit::new(Arc::clone(&circuit), shape, BatchOptions::default());
            let requests: Vec<_> = (0..)
                .zip(&states)
                .map(|(i, s)| PlayoutRequest {
                    state: s.clone(),
                    n_playouts: 40_000 + i,
                    expected_steps: 0,
                })
                .collect();
            let mut all_stats = batch.play_out(&requests, 1000);
            all_stats.extend(batch.play_out(&requests[..1], 1000));
            all_stats.extend(batch.play_out(&requests[1..2], 1000));
            let requests = requests.iter().chain(&requests[..1]).chain(&requests[1..2]);
            for (request, stats) in requests.zip(&all_stats) {
                assert_eq!((stats.n_playouts, stats.n_cut), (request.n_playouts, 0));
                let (mut sums, mut squares) =
                    (vec![0.0; circuit.roles.len() + 1], vec![0.0; circuit.roles.len() + 1]);
                for _ in 0..n_single {
                    position.go_to(&request.state);
                    let n_steps = position.play_out(&mut rng, 1000) as f64;
                    let values =
                        circuit.role_ids().map(|role| position.payoff(role)).chain([n_steps]);
                    for (value, (sum, square)) in values.zip(sums.iter_mut().zip(&mut squares)) {
                        *sum += value;
                        *square += value * value;
                    }
                }
                let means = circuit
                    .role_ids()
                    .map(|role| stats.mean_payoff(role))
                    .chain([stats.mean_length()]);
                for (mean, (sum, square)) in means.zip(sums.iter().zip(squares)) {
                    let n = f64::from(n_single);
                    let variance = square / n - (sum / n) * (sum / n);
                    // Five standard deviations of the difference of both means.
                    let error =
                        5.0 * (variance / n + variance / stats.n_playouts as f64).sqrt() + 1e-9;
                    assert!(
                        (mean - sum / n).abs() <= error,
                        "{mean} against {} +- {error}",
                        sum / n
                    );
                }
            }
        }
    }
}

#[test]
fn tic_tac_toe_has_its_known_statistics() {
    let circuit = Arc::new(optimise(&games::tic_tac_toe(), Deadline::NEVER).0);
    let start = ScalarCircuit::new(Arc::clone(&circuit)).state().clone();
    let request = PlayoutRequest { state: start, n_playouts: 4_000_000, expected_steps: 0 };
    let mut shape = circuit.shape();
    let mut all_stats = Vec::new();
    for (turn_taking, turns) in
        [(false, None), (true, None), (true, Some(last_move_waits(&circuit)))]
    {
        shape.turn_taking = turn_taking;
        let options = BatchOptions { turns, seed: 4, ..BatchOptions::default() };
        let mut batch = BatchCircuit::new(Arc::clone(&circuit), shape.clone(), options);
        all_stats.extend(batch.play_out(std::slice::from_ref(&request), 1000));
    }
    for stats in all_stats {
        assert_eq!((stats.n_playouts, stats.n_cut), (4_000_000, 0));
        // 0.58491 won, 0.28810 lost, 0.12698 drawn; four million playouts miss by 0.0012 in five
        // deviations.
        assert!((stats.mean_payoff(Role::new(0)) / 100.0 - 0.64841).abs() < 0.0012, "{stats:?}");
        assert!((stats.mean_payoff(Role::new(1)) / 100.0 - 0.35159).abs() < 0.0012, "{stats:?}");
        assert!((stats.mean_length() - 7.6253).abs() < 0.005, "{stats:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_playouts_by_both_executors() {
    for circuit in handmade() {
        let circuit = Arc::new(circuit);
        let requests: Vec<_> = walks(&circuit, 2)
            .into_iter()
            .step_by(3)
            .zip(0_u64..)
            .map(|(state, i)| PlayoutRequest {
                state,
                n_playouts: i % 7 * (i % 11),
                expected_steps: 0,
            })
            .collect();
        let run = |backend| {
            let options = BatchOptions { backend, seed: 11, turns: None };
            BatchCircuit::new(Arc::clone(&circuit), circuit.shape(), options)
                .play_out(&requests, 100)
        };
        let all_stats = run(Backend::Native);
        assert_eq!(all_stats, run(Backend::Portable));
        assert!(
            requests
                .iter()
                .zip(&all_stats)
                .all(|(request, stats)| stats.n_playouts == request.n_playouts)
        );
    }
}

#[test]
fn overlong_playouts_are_cut() {
    // A game that cannot end.
    let mut circuit = games::rochambeau();
    circuit.outputs.terminal = Signal::FALSE;
    let circuit = Arc::new(circuit);
    let start = ScalarCircuit::new(Arc::clone(&circuit)).state().clone();
    for n_playouts in [1, 300, 5000] {
        let mut batch =
            BatchCircuit::new(Arc::clone(&circuit), circuit.shape(), BatchOptions::default());
        let stats = &batch.play_out(
            &[PlayoutRequest { state: start.clone(), n_playouts, expected_steps: 0 }],
            20,
        )[0];
        assert_eq!((stats.n_playouts, stats.n_cut), (n_playouts, n_playouts));
        assert!((20.0..40.0).contains(&stats.mean_length()), "{stats:?}");
    }
}

#[test]
fn lowering_shares_and_orders() {
    let program = lower_sample();
    let kinds: BTreeMap<String, usize> =
        program.instructions.iter().fold(BTreeMap::new(), |mut kinds, instruction| {
            *kinds.entry(format!("{:?}", instruction.operation)).or_default() += 1;
            kinds
        });
    // A full adder: two XORs, and the carry by two ANDs and an OR.
    assert_eq!(kinds, BTreeMap::from([("And".into(), 2), ("Or".into(), 1), ("Xor".into(), 2)]));
}

fn lower_sample() -> Program {
    let mut graph = Graph::new(3);
    let [a, b, c] = [0, 1, 2].map(|leaf| graph.leaf(leaf));
    let half = graph.xor(a, b);
    let sum = graph.xor(half, c);
    let both = graph.and(a, b);
    let passed = graph.and(half, c);
    let carry = graph.or(both, passed);
    lower(3, graph.ands(), &[sum, carry])
}
