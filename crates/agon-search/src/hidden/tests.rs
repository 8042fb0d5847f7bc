//! Moves depend on percepts alone, and play is better than random.

use agon_game::{Hidden, Position, Rng, Role, Shape};
use proptest::prelude::*;
use rand::SeedableRng as _;

use super::*;
use crate::sample::{Kind, RandomGame, shipped};

/// Plays a match with one role played by the player and the others at random. Returns the payoffs
/// and the reports.
fn play<P: Hidden>(
    start: &P,
    us: Role,
    options: &HiddenOptions,
    iterations: u64,
    seed: u64,
) -> (Vec<f64>, Vec<Report<P::Move>>) {
    let mut rng = Rng::seed_from_u64(seed + 1_000_000);
    let mut player =
        HiddenPlayer::new(start.clone(), us, HiddenOptions { seed, ..options.clone() });
    let mut position = start.clone();
    let mut reports = Vec::new();
    let mut joint = Vec::new();
    while !position.is_terminal() {
        position.draw(&mut rng, &mut joint);
        let report = player
            .think(&Budget::iterations(iterations))
            .expect("the true state is always consistent");
        assert!(position.is_legal(us, &report.best), "moves are legal");
        joint[us.index()] = report.best.clone();
        reports.push(report);
        let percepts = position.percepts(&joint, us);
        position.advance(&joint);
        player
            .learn(&joint[us.index()], &percepts, None)
            .expect("the true state is always consistent");
    }
    (position.shape().players().map(|role| position.payoff(role)).collect(), reports)
}

/// Returns the mean payoff of a role over many matches.
fn mean(name: &str, us: usize, n_matches: u64, iterations: u64) -> f64 {
    let start = shipped(name);
    let us = Role::new(us);
    let total: f64 = (0..n_matches)
        .map(|seed| play(&start, us, &HiddenOptions::default(), iterations, seed).0[us.index()])
        .sum();
    total / n_matches as f64
}

#[test]
fn the_belief_of_a_candidate_who_saw_a_door_opened() {
    let start = shipped("monty-hall");
    let (candidate, random) = (Role::new(0), Role::new(1));
    let mut position = start.clone();
    let mut player = HiddenPlayer::new(start, candidate, HiddenOptions::default());
    let find = |position: &agon_circuit::ScalarCircuit, role: Role, text: &str| {
        agon_game::Notation::parse_move(position, role, text).expect("it is legal")
    };
    for [own, natures] in [["(choose 1)", "(hide_car 2)"], ["noop", "(open_door 3)"]] {
        let joint = [find(&position, candidate, own), find(&position, random, natures)];
        let percepts = position.percepts(&joint, candidate);
        position.advance(&joint);
        player.learn(&joint[0], &percepts, None).expect("the percepts are consistent");
    }
    let mut weights: Vec<f64> =
        player.belief().particles().iter().map(|particle| particle.weight).collect();
    weights.sort_by(f64::total_cmp);
    assert!(
        (weights[0] - 1.0 / 3.0).abs() < 1e-9 && (weights[1] - 2.0 / 3.0).abs() < 1e-9,
        "{weights:?}"
    );
    let report = player.think(&Budget::iterations(2000)).expect("the percepts are consistent");
    assert_eq!(agon_game::Notation::move_text(&position, &report.best), "switch");
    let value = report.candidates[0].value;
    assert!((value - 66.7).abs() < 4.0, "{value}");
}

/// In games with equal percepts of one role but different states, its reports must be equal.
#[test]
fn moves_depend_on_percepts_alone() {
    let mut n_compared = 0;
    for (name, us) in [
        ("kuhn-poker", 0),
        ("krieg-tic-tac-toe", 0),
        ("blind-nim", 1),
        ("hide-and-seek", 1),
        ("liars-dice", 0),
    ] {
        let start = shipped(name);
        let us = Role::new(us);
        for seed in 0..6 {
            let mut truths = [start.clone(), start.clone()];
            let mut players = [0, 1].map(|_| {
                HiddenPlayer::new(
                    start.clone(),
                    us,
                    HiddenOptions { max_particles: 50, ..HiddenOptions::default() },
                )
            });
            let mut rng = Rng::seed_from_u64(seed);
            while truths.iter().all(|truth| !truth.is_terminal()) {
                let reports = players.each_mut().map(|player| Report {
                    seconds: 0.0,
                    ..player.think(&Budget::iterations(60)).expect("the percepts are consistent")
                });
                assert_eq!(reports[0], reports[1], "{name}, seed {seed}");
                // The others move differently in the two matches, as long as the role cannot
                // notice.
                let mut joint = Vec::new();
                truths[0].draw(&mut rng, &mut joint);
                joint[us.index()] = reports[0].best;
                let percepts = truths[0].percepts(&joint, us);
                let other = (0..200).find_map(|_| {
                    let mut other = Vec::new();
                    truths[1].draw(&mut rng, &mut other);
                    other[us.index()] = reports[0].best;
                    (truths[1].percepts(&other, us) == percepts && (other != joint || rng.random()))
                        .then_some(other)
                });
                let Some(other) = other else { break };
                n_compared += usize::from(truths[0].state() != truths[1].state());
                truths[0].advance(&joint);
                truths[1].advance(&other);
                for player in &mut players {
                    player
                        .learn(&reports[0].best, &percepts, None)
                        .expect("the percepts are consistent");
                }
            }
        }
    }
    assert!(n_compared >= 30, "moves were compared where the truths differ: {n_compared}");
}

/// Mean payoffs against random opponents over fixed seeds. The last number is the mean payoff of
/// random play in that role over 20000 games.
#[test]
fn better_than_random() {
    let games: [(&str, usize, u64, u64, f64); 7] = [
        ("monty-hall", 0, 300, 60, 50.0),
        ("krieg-tic-tac-toe", 1, 24, 100, 34.5),
        ("blind-nim", 0, 40, 200, 49.0),
        ("kuhn-poker", 1, 80, 200, 46.7),
        ("liars-dice", 0, 40, 200, 47.5),
        ("mastermind", 0, 12, 100, 5.3),
        ("hide-and-seek", 1, 30, 100, 24.9),
    ];
    for (name, us, n_matches, iterations, random) in games {
        let mean = mean(name, us, n_matches, iterations);
        println!("{name}: {mean}");
        assert!(mean > random + 5.0, "{name}: {mean}");
    }
}

/// Nature deals one of many cards, and many cards give the same percepts.
#[test]
fn an_empty_belief_is_repaired() {
    let kind = Kind { chance: true, n_steps: 8, n_labels: 5000, ..Kind::TURNS };
    let mut n_repairs = 0;
    for seed in 0..40 {
        let start = RandomGame::new(seed, kind);
        let us = Role::new(0);
        // With so few particles the true state is lost soon.
        let options =
            HiddenOptions { max_particles: 1, max_proposals: 2, ..HiddenOptions::default() };
        let mut belief = Belief::new(start.clone(), us, &options);
        let mut position = start;
        let mut rng = Rng::seed_from_u64(seed);
        let mut joint = Vec::new();
        while !position.is_terminal() {
            position.draw(&mut rng, &mut joint);
            let percepts = position.percepts(&joint, us);
            position.advance(&joint);
            // A history is always found, because the whole tree is within the budget of repairs.
            belief.learn(&joint[0], &percepts, None).expect("the true state is always consistent");
            n_repairs += belief.n_repairs;
        }
    }
    assert!(n_repairs > 0, "some beliefs died out");
}

proptest! {
    #![proptest_config(crate::sample::seeded(256))]

    /// Equal seeds and iterations give equal matches.
    #[test]
    fn matches_are_reproducible(seed in 0_u64..1000) {
        let start = RandomGame::new(seed, Kind { chance: true, ..Kind::TURNS });
        let run = || {
            let options = HiddenOptions::default();
            let (payoffs, reports) = play(&start, Role::new(0), &options, 30, seed);
            let reports = reports.into_iter().map(|report| Report { seconds: 0.0, ..report });
            let reports: Vec<_> = reports.collect();
            (payoffs, reports)
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn shapes_are_hidden() {
    let shape: Shape = shipped("kuhn-poker").shape().clone();
    assert!(shape.hidden);
}
