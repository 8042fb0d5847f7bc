//! Compares the moves that levels leave with those found by sorting the legal moves.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_game::{Batch, PlayoutRequest, Position, Preferences, Rng, Role, Shape};
use rand::{RngExt, SeedableRng};

use super::batch::walks;
use super::games;
use crate::optimise::{forget_unread, optimise};
use crate::run::batch::playout::{Place, Playable, PlayoutStep, Restart};
use crate::run::batch::preference::{N_GREEDY_BITS, write_levels};
use crate::run::batch::random::PlaneRng;
use crate::run::kernel::Kernel;
use crate::run::phases::Phases;
use crate::{
    Backend, BatchCircuit, BatchOptions, Bits, Circuit, Deadline, Input, Plane, ScalarCircuit,
    Turns, prove_turns,
};

/// Number of draws from each state: enough to see each of the few moves of the games here.
const N_DRAWS: usize = 160;

/// Returns random levels for about half of the moves of a game.
fn random_levels(circuit: &Circuit, seed: u64) -> Preferences<Input> {
    let mut rng = Rng::seed_from_u64(seed);
    let roles = circuit.roles.iter().enumerate();
    let of_role = roles.flat_map(|(role, part)| part.moves.iter().map(move |_| Role::new(role)));
    let mut levels = Vec::new();
    for (number, role) in of_role.enumerate() {
        if rng.random::<bool>() {
            let level = rng.random_range(0..Preferences::<Input>::N_LEVELS);
            levels.push((role, Input(number as u32), level));
        }
    }
    Preferences { usual: rng.random_range(0..Preferences::<Input>::N_LEVELS), levels }
}

/// Returns the legal moves of a role of the highest level, or all of them.
fn preferred(
    position: &ScalarCircuit,
    role: Role,
    preferences: &Preferences<Input>,
    is_greedy: bool,
) -> Vec<Input> {
    let level = |m: &Input| {
        let listed = preferences.levels.iter().find(|(_, listed, _)| listed == m);
        listed.map_or(preferences.usual, |&(_, _, level)| level)
    };
    let legal = position.legal_moves(role);
    let best = legal.iter().map(level).max();
    let is_nature = position.shape().nature == Some(role);
    let is_drawn = |m: &&Input| !is_greedy || is_nature || Some(level(m)) == best;
    legal.iter().filter(is_drawn).copied().collect()
}

/// Returns all joint moves of these moves by role.
fn joint_moves(by_role: &[Vec<Input>]) -> Vec<Vec<Input>> {
    by_role.iter().fold(vec![vec![]], |joints, moves| {
        let extend = |joint: &Vec<Input>| {
            moves.iter().map(|&m| [&joint[..], &[m]].concat()).collect::<Vec<_>>()
        };
        joints.iter().flat_map(extend).collect()
    })
}

/// Draws one step from many states of each phase, and compares the next states with those that the
/// preferred moves lead to. Returns the number of states where moves were left out.
fn compare(
    circuit: &Circuit,
    playable: &Playable,
    turns: Option<&Turns>,
    preferences: &Preferences<Input>,
    is_greedy: bool,
) -> usize {
    let kept = &playable.kept;
    let is_cut = playable.phases.circuits.len() > 1;
    let turns = turns.filter(|_| !is_cut);
    let shape = Shape { turn_taking: false, ..circuit.shape() };
    let mut position = ScalarCircuit::new(Arc::new(circuit.clone()));
    let mut n_restricted = 0;
    for phase in 0..playable.phases.circuits.len() {
        let place = Place { restart: Restart::Planes, is_gate: false };
        let step = PlayoutStep::with_choice(playable, phase, (&shape, turns), place, (None, true))
            .expect("nothing looks ahead");
        let mut kernel = Kernel::new(&step.program, kept.len() + 1, Backend::Portable);
        let mut states: Vec<Bits> = walks(circuit, 7);
        states.retain(|state| {
            position.go_to(state);
            playable.phases.of(state) == phase && !position.is_terminal()
        });
        states.truncate(64);
        let mut now = vec![Plane::ZERO; kept.len() + 1];
        for (lane, state) in states.iter().enumerate() {
            for (plane, &bit) in now.iter_mut().zip(kept) {
                plane.set_lane(lane, state.get(bit));
            }
        }
        let first_random = kept.len() + 1 + step.n_levels;
        let mut rest = vec![Plane::ZERO; first_random + step.n_random];
        write_levels(preferences, &mut rest[kept.len() + 1..first_random]);
        let mut out = vec![Plane::ZERO; step.program.outputs.len()];
        let mut rng = PlaneRng::new(3);
        let mut drawn = vec![BTreeSet::new(); states.len()];
        for _ in 0..N_DRAWS {
            rng.fill(&mut rest[first_random..]);
            let greedy = if is_greedy { Plane::ONES } else { Plane::ZERO };
            rest[first_random..first_random + N_GREEDY_BITS].fill(greedy);
            kernel.run(&now, &rest, &mut out);
            for (lane, drawn) in drawn.iter_mut().enumerate() {
                drawn.insert(out[..kept.len()].iter().map(|p| p.lane(lane)).collect::<Vec<_>>());
            }
        }
        for (state, drawn) in states.iter().zip(drawn) {
            position.go_to(state);
            let roles: Vec<Role> = position.shape().roles().collect();
            let moves: Vec<Vec<Input>> = roles
                .iter()
                .map(|&role| preferred(&position, role, preferences, is_greedy))
                .collect();
            let is_less =
                |(&role, left): (&Role, &Vec<Input>)| left.len() < position.legal_moves(role).len();
            n_restricted += usize::from(roles.iter().zip(&moves).any(is_less));
            let made: BTreeSet<Vec<bool>> = joint_moves(&moves)
                .iter()
                .map(|joint| {
                    position.go_to(state);
                    position.advance(joint);
                    kept.iter().map(|&bit| position.state().get(bit)).collect()
                })
                .collect();
            assert_eq!(drawn, made, "greedy: {is_greedy}, {preferences:?}");
        }
    }
    n_restricted
}

#[test]
fn greedy_lanes_draw_exactly_the_moves_of_the_highest_level() {
    let mut n_restricted = 0;
    for game in [games::tic_tac_toe(), games::nim(21, false), games::rochambeau()] {
        let circuit = optimise(&game, Deadline::NEVER).0;
        let turns = prove_turns(&circuit);
        let unread = forget_unread(&circuit);
        let forms = [
            (Playable::new(&circuit), turns.as_ref()),
            (Playable::of(Phases::whole(&unread)), turns.as_ref()),
            (Playable::of(Phases::whole(&unread)), None),
        ];
        for seed in 0..4 {
            let preferences = random_levels(&circuit, seed);
            for (playable, turns) in &forms {
                n_restricted += compare(&circuit, playable, *turns, &preferences, true);
                assert_eq!(compare(&circuit, playable, *turns, &preferences, false), 0);
            }
        }
    }
    assert!(n_restricted > 500, "only {n_restricted} states with fewer moves");
}

#[test]
fn a_batch_with_preferences_plays_alike_on_both_backends_and_prefers() {
    let circuit = Arc::new(optimise(&games::tic_tac_toe(), Deadline::NEVER).0);
    let shape = circuit.shape();
    let initial = Bits::pack(circuit.initial.iter().copied());
    let request = PlayoutRequest { state: initial, n_playouts: 4000, expected_steps: 0 };
    // The first player likes the middle and the corners, the second one has no preference.
    let middle_and_corners = [0, 2, 4, 6, 8];
    let levels: Vec<_> = middle_and_corners.map(|m| (Role::new(0), Input(m), 3)).to_vec();
    let mut means = Vec::new();
    for levels in [Vec::new(), levels] {
        let [native, portable] = [Backend::Native, Backend::Portable].map(|backend| {
            let options = BatchOptions { backend, seed: 5, turns: prove_turns(&circuit) };
            let mut batch = BatchCircuit::new(Arc::clone(&circuit), shape.clone(), options);
            assert!(batch.prefer(&Preferences { usual: 1, levels: levels.clone() }));
            batch.play_out(std::slice::from_ref(&request), 100)
        });
        assert_eq!(native, portable);
        means.push(native[0].mean_payoff(Role::new(0)));
    }
    assert!(means[1] > means[0] + 3.0, "the first player does not gain: {means:?}");
}
