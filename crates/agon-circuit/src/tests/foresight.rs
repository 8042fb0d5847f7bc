//! Compares the moves that look ahead by gates with those found by making all moves.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_game::{PlayoutKind, Position, Shape, playout_moves};
use proptest::prelude::*;

use super::batch::walks;
use super::{games, random};
use crate::optimise::{forget_unread, optimise};
use crate::run::batch::foresight::{Ahead, Foresight, Players};
use crate::run::batch::playout::{Place, Playable, PlayoutStep, Restart};
use crate::run::batch::random::PlaneRng;
use crate::run::kernel::Kernel;
use crate::run::phases::Phases;
use crate::{
    Backend, Bits, Builder, Circuit, Deadline, Plane, ScalarCircuit, Signal, Turns, prove_turns,
};

/// Number of draws from each state: enough to see each of the few moves of the games here.
const N_DRAWS: usize = 160;

/// Draws one step from many states. Returns, by state, the kept bits of all next states seen, and
/// of those that the moves of the kind lead to if all of them are made.
fn draw_steps(
    circuit: &Circuit,
    playable: &Playable,
    foresight: Foresight,
    turns: Option<&Turns>,
) -> Vec<[BTreeSet<Vec<bool>>; 2]> {
    let kept = &playable.kept;
    let kind = match foresight {
        Foresight::Wins => PlayoutKind::Decisive,
        Foresight::Safe => PlayoutKind::Careful,
    };
    let is_cut = playable.phases.circuits.len() > 1;
    let turns = turns.filter(|_| !is_cut);
    let shape = Shape { turn_taking: !is_cut, ..circuit.shape() };
    let mut position = ScalarCircuit::new(Arc::new(circuit.clone()));
    let mut seen = Vec::new();
    for phase in 0..playable.phases.circuits.len() {
        let players = Players { take_turns: true, turns };
        let ahead = Ahead { playable, phase, foresight, players, max_gates: usize::MAX };
        let place = Place { restart: Restart::Planes, is_gate: false };
        let step = PlayoutStep::with_choice(
            playable,
            phase,
            (&shape, turns),
            place,
            (Some(&ahead), false),
        )
        .expect("there is no limit");
        let mut kernel = Kernel::new(&step.program, kept.len() + 1, Backend::Portable);
        let states: Vec<Bits> = walks(circuit, 7)
            .into_iter()
            .filter(|state| playable.phases.of(state) == phase)
            .filter(|state| {
                position.go_to(state);
                !position.is_terminal()
            })
            .take(64)
            .collect();
        let mut now = vec![Plane::ZERO; kept.len() + 1];
        for (lane, state) in states.iter().enumerate() {
            for (plane, &bit) in now.iter_mut().zip(kept) {
                plane.set_lane(lane, state.get(bit));
            }
        }
        let mut rest = vec![Plane::ZERO; kept.len() + 1 + step.n_random];
        let mut out = vec![Plane::ZERO; step.program.outputs.len()];
        let mut rng = PlaneRng::new(3);
        let mut drawn = vec![BTreeSet::new(); states.len()];
        for _ in 0..N_DRAWS {
            rng.fill(&mut rest[kept.len() + 1..]);
            kernel.run(&now, &rest, &mut out);
            for (lane, drawn) in drawn.iter_mut().enumerate() {
                drawn.insert(out[..kept.len()].iter().map(|plane| plane.lane(lane)).collect());
            }
        }
        for (state, drawn) in states.iter().zip(drawn) {
            position.go_to(state);
            let made = playout_moves(&mut position, kind).into_iter().map(|joint| {
                position.go_to(state);
                position.advance(&joint);
                kept.iter().map(|&bit| position.state().get(bit)).collect()
            });
            seen.push([drawn, made.collect()]);
        }
    }
    seen
}

/// Returns the circuit in phases, if it is cut, and as a whole, with and without known waiting
/// moves.
fn forms(circuit: &Circuit) -> Vec<(Playable, Option<Turns>)> {
    let turns = prove_turns(circuit);
    let unread = forget_unread(circuit);
    vec![
        (Playable::new(circuit), turns.clone()),
        (Playable::of(Phases::whole(&unread)), turns),
        (Playable::of(Phases::whole(&unread)), None),
    ]
}

#[test]
fn drawn_moves_are_those_found_by_making_all_moves() {
    let mut n_restricted = 0;
    for circuit in [games::tic_tac_toe(), games::nim(21, false)] {
        let circuit = optimise(&circuit, Deadline::NEVER).0;
        for (playable, turns) in forms(&circuit) {
            for foresight in [Foresight::Wins, Foresight::Safe] {
                for [drawn, made] in draw_steps(&circuit, &playable, foresight, turns.as_ref()) {
                    assert_eq!(drawn, made, "{foresight:?}");
                    n_restricted += usize::from(made.len() == 1);
                }
            }
        }
    }
    assert!(n_restricted > 200, "only {n_restricted} states with a single move");
}

/// Returns a random game of two roles that take turns, with a constant sum of payoffs.
fn alternating(seed: u64) -> Option<Circuit> {
    let rules = random::circuit(seed, 60);
    if rules.roles.len() != 2 || rules.roles.iter().any(|role| role.is_nature) {
        return None;
    }
    let n_base = rules.base.len();
    let base = rules.base.iter().cloned().zip(rules.initial.iter().copied());
    let control = [("control 0".to_owned(), true), ("control 1".to_owned(), false)];
    let mut b = Builder::new(rules.roles.clone(), base.chain(control).collect());
    let control = [b.base(n_base), b.base(n_base + 1)];
    let mut map: Vec<Signal> = (0..n_base).map(|bit| b.base(bit)).collect();
    map.insert(0, Signal::FALSE);
    for (role, part) in rules.roles.iter().enumerate() {
        map.extend((0..part.moves.len()).map(|m| b.input(role, m)));
    }
    let of = |map: &[Signal], signal: Signal| map[signal.gate()].inverted_if(signal.is_inverted());
    for &[x, y] in &rules.ands {
        let (x, y) = (of(&map, x), of(&map, y));
        map.push(b.and(x, y));
    }
    let mut outputs = rules.outputs.clone();
    for (legal, control) in outputs.legal.iter_mut().zip(control) {
        for (m, legal) in legal.iter_mut().enumerate() {
            let own = of(&map, *legal);
            *legal = if m == 0 { b.or(own, !control) } else { b.and(own, control) };
        }
    }
    outputs.next = outputs.next.iter().map(|&signal| of(&map, signal)).collect();
    outputs.next.extend([control[1], control[0]]);
    outputs.terminal = of(&map, outputs.terminal);
    let goal = outputs.goals[0].last().map_or(Signal::FALSE, |&(_, signal)| of(&map, signal));
    if goal.is_constant() {
        return None;
    }
    outputs.goals = vec![vec![(0, !goal), (100, goal)], vec![(0, goal), (100, !goal)]];
    outputs.percepts = vec![vec![], vec![]];
    Some(b.finish(outputs))
}

proptest! {
    #![proptest_config(agon_testkit::seeded(40))]

    #[test]
    fn random_games_look_ahead_correctly(seed in 0_u64..1_000_000) {
        let Some(circuit) = alternating(seed) else { return Ok(()) };
        for circuit in [optimise(&circuit, Deadline::NEVER).0, circuit] {
            // The twin takes 100 for the best payoff of both roles.
            let is_usual = circuit.outputs.goals.iter().all(|goals| {
                matches!(goals.last(), Some(&(100, signal)) if !signal.is_constant())
            });
            if !is_usual {
                continue;
            }
            for (playable, turns) in forms(&circuit) {
                for foresight in [Foresight::Wins, Foresight::Safe] {
                    for [drawn, made] in
                        draw_steps(&circuit, &playable, foresight, turns.as_ref())
                    {
                        prop_assert!(drawn.is_subset(&made), "{:?}", foresight);
                    }
                }
            }
        }
    }
}
