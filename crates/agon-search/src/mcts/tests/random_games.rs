//! Random games, compared with solutions by brute force.

use agon_game::{Position, Rng, Role};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use super::table_game::{At, Like, Place, Table, random_table};
use super::{check_report, think};
use crate::{
    Amaf, Bandit, Budget, Candidate, Choice, FirstPlay, Leaves, Mcts, MctsOptions, Others,
    PlayoutPolicy, Search,
};
use agon_game::Shape;

/// Returns options that should all lead to the same proofs.
fn ways() -> Vec<MctsOptions> {
    let default = MctsOptions::default();
    vec![
        default.clone(),
        MctsOptions { leaves: Leaves { at_once: 5, playouts: 2, siblings: 2 }, ..default.clone() },
        MctsOptions { look_ahead: false, leaves: Leaves::ONE, ..default.clone() },
        MctsOptions { transpositions: false, bandit: Bandit::TUNED, ..default.clone() },
        MctsOptions { policy: PlayoutPolicy::Mast, amaf: Amaf::RAVE, ..default.clone() },
        MctsOptions {
            policy: PlayoutPolicy::NST,
            choice: Choice::EPSILON_GREEDY,
            ..default.clone()
        },
        MctsOptions { policy: PlayoutPolicy::PAST, amaf: Amaf::GRAVE, ..default.clone() },
        MctsOptions { virtual_loss: 0.0, first_play: FirstPlay::BelowMean(0.1), ..default.clone() },
        MctsOptions { first_play: FirstPlay::Urgency(0.7), keep_tree: false, ..default },
    ]
}

fn likes() -> impl Strategy<Value = Like> {
    prop_oneof![Just(Like::Duel), Just(Like::DuelWithChance), Just(Like::Trio), Just(Like::Puzzle)]
}

/// Returns the value of a child for a role, after a move that `us` makes alone.
fn child_value(start: &At, values: &[Vec<f64>], us: Role, candidate: &Candidate<u8>) -> f64 {
    let mut child = start.clone();
    let joint: Vec<u8> =
        start.shape().roles().map(|role| if role == us { candidate.m } else { 0 }).collect();
    child.advance(&joint);
    values[child.state][us.index()]
}

proptest! {
    #![proptest_config(crate::sample::seeded(100))]

    /// Given time, everything is proved. What is proved, even after a few iterations, is true.
    #[test]
    fn proofs_agree_with_brute_force(like in likes(), seed in 0..100_000_u64, way in 0..9_usize) {
        let table = random_table(like, 30, seed);
        let values = table.solve();
        let mut start = table.start();
        if start.is_terminal() {
            return Ok(());
        }
        let nature = start.shape().nature;
        let us = start.choosers().find(|&role| Some(role) != nature).unwrap_or(Role::new(0));
        for n in [1, 10, 60, 200_000] {
            let report = think(&mut start, us.index(), &ways()[way], seed, n);
            let value = values[0][us.index()];
            if report.is_proven {
                let found = report.value;
                prop_assert!((found - value).abs() < 1e-6, "{found} for {value}, {like:?}");
            }
            // Without transpositions there may be too many paths to the same few positions.
            let is_shared = ways()[way].transpositions;
            let is_expected = n == 200_000 && is_shared;
            prop_assert!(report.is_proven || !is_expected, "not proved in {n}, {like:?}");
            let is_ours = start.legal_moves(us).len() > 1;
            let proven = report.candidates.iter().filter(|candidate| candidate.is_proven);
            for candidate in proven.filter(|_| is_ours) {
                let value = child_value(&start, &values, us, candidate);
                let is_right = (candidate.value - value).abs() < 1e-6;
                prop_assert!(is_right, "{candidate:?} for {value}, {like:?}");
            }
            if report.is_proven && is_ours {
                let made = child_value(&start, &values, us, &report.candidates[0]);
                let is_kept = (made - value).abs() < 1e-6;
                prop_assert!(is_kept, "a proved value is given away: {made} for {value}");
            }
        }
    }

    /// Once a value is proved, we get it whatever the others do, with few iterations for each move.
    /// A search that does not keep its tree loses its proofs, too, so this does not hold for it.
    #[test]
    fn a_proven_win_is_never_given_away(seed in 0..100_000_u64, way in 0..9_usize) {
        if !ways()[way].keep_tree {
            return Ok(());
        }
        let mut position = random_table(Like::Duel, 40, seed).start();
        let mut rng = Rng::seed_from_u64(seed);
        let search = |role| Mcts::new(ways()[way].clone(), role);
        let mut searches: Vec<_> = (0..2).map(search).collect();
        let mut proved = [f64::NEG_INFINITY; 2];
        let mut joint = Vec::new();
        while !position.is_terminal() {
            position.draw(&mut rng, &mut joint);
            for us in 0..2 {
                let budget = Budget::iterations(25);
                let report = searches[us].think(&mut position, Role::new(us), &budget);
                check_report(&position, &report);
                if report.is_proven {
                    let (value, before) = (report.value, proved[us]);
                    prop_assert!(value >= before, "{value} after {before}");
                    proved[us] = report.value;
                }
                // The other player sometimes makes a random move.
                if us == (seed % 2) as usize || rng.random() {
                    joint[us] = report.best;
                } else {
                    proved[us] = f64::NEG_INFINITY;
                }
            }
            position.advance(&joint);
        }
        for (us, proved) in proved.into_iter().enumerate() {
            prop_assert!(position.payoff(Role::new(us)) >= proved);
        }
    }

    /// If no terminal payoff of ours gets smaller, no proved value gets smaller.
    #[test]
    fn a_better_position_is_never_proved_worse(seed in 0..100_000_u64) {
        let table = random_table(Like::Duel, 30, seed);
        let mut better = table.clone();
        let mut rng = Rng::seed_from_u64(seed);
        for place in better.places.iter_mut().filter(|place| place.n_moves.is_empty()) {
            if rng.random_range(0..3) == 0 {
                let ours: f64 = (place.payoffs[0] + 25.0).min(100.0);
                place.payoffs = vec![ours, 100.0 - ours];
            }
        }
        let value_of = |table: Table| {
            let mut start = table.start();
            let options = MctsOptions::default();
            (!start.is_terminal()).then(|| think(&mut start, 0, &options, seed, 5000).value)
        };
        if let (Some(worse), Some(better)) = (value_of(table), value_of(better)) {
            prop_assert!(better >= worse, "{better} after {worse}");
        }
    }

    /// The same seed and iterations give the same report, and exactly that number of iterations is
    /// made.
    #[test]
    fn the_same_seed_gives_the_same_report(
        like in likes(), seed in 0..100_000_u64, way in 0..9_usize,
    ) {
        let mut start = random_table(like, 60, seed).start();
        if start.is_terminal() {
            return Ok(());
        }
        let options = MctsOptions { solver: false, ..ways()[way].clone() };
        let mut one = think(&mut start, 0, &options, seed, 333);
        let mut other = think(&mut start, 0, &options, seed, 333);
        prop_assert_eq!(one.iterations, 333);
        (one.seconds, other.seconds) = (0.0, 0.0);
        prop_assert_eq!(one, other);
    }
}

/// Returns a game with cycles: a corridor that the first player can walk to its end, and win, but
/// also to and fro for ever. The second player can only wait, or push.
fn corridor() -> Table {
    let mut places = Vec::new();
    let n = 6;
    for at in 0..2 * n {
        // At even places the first player moves, at odd ones the second.
        let (mover, here) = (at % 2, at / 2 * 2);
        let mut n_moves = vec![1; 2];
        n_moves[mover] = 3;
        let next = if mover == 0 {
            vec![
                here.saturating_sub(2) + 1,
                here + 1,
                if here + 2 == 2 * n { 2 * n } else { here + 3 },
            ]
        } else {
            vec![here, (here + 2).min(2 * n - 2), here]
        };
        places.push(Place { n_moves, next, payoffs: vec![0.0, 0.0], chances: Vec::new() });
    }
    places.push(Place::end(&[100.0, 0.0]));
    Table { shape: Shape::new(vec!["one".into(), "two".into()], None), places, has_batch: false }
}

#[test]
fn cycles_neither_hang_nor_prove_anything_false() {
    for options in ways() {
        let options = MctsOptions { max_playout_steps: 30, ..options };
        for us in 0..2 {
            let report = think(&mut corridor().start(), us, &options, 1, 2000);
            assert!(report.iterations > 0);
            assert!(!report.is_proven || report.value == [100.0, 0.0][us], "{report:?}");
        }
    }
}

#[test]
fn a_win_is_reached_in_spite_of_cycles() {
    for start in [10, 8, 6, 0] {
        let mut position = corridor().start();
        position.go_to(&start);
        let mut search =
            Mcts::new(MctsOptions { max_playout_steps: 50, ..MctsOptions::default() }, 1);
        let mut n_steps = 0;
        while !position.is_terminal() && n_steps < 60 {
            let mut joint = vec![0, 0];
            let mover = position.choosers().next().expect("a role has a choice");
            // The second player waits.
            joint[mover.index()] = if mover == Role::new(0) {
                search.think(&mut position, mover, &Budget::iterations(3000)).best
            } else {
                2
            };
            position.advance(&joint);
            n_steps += 1;
        }
        assert!(n_steps < 20, "the first player walks to and fro: {n_steps} steps from {start}");
        assert_eq!(position.payoff(Role::new(0)), 100.0, "from {start} after {n_steps}");
    }
}

/// Returns a seed of a game that begins with a choice.
fn wide_seed(like: Like) -> u64 {
    let has_choice =
        |seed: &u64| random_table(like, 9000, *seed).start().choosers().next().is_some();
    (0..50).find(has_choice).expect("most begin with a choice")
}

#[test]
fn memory_is_bounded_and_proofs_stay_true() {
    for (like, solver) in [(Like::Duel, true), (Like::Duel, false), (Like::Trio, false)] {
        let table = random_table(like, 9000, wide_seed(like));
        let values = table.solve();
        let mut start = table.start();
        let options = MctsOptions { max_nodes: 1000, solver, ..MctsOptions::default() };
        let mut search = Mcts::new(options, 3);
        let us = start.choosers().next().expect("a role has a choice");
        for _ in 0..20 {
            let report = search.think(&mut start, us, &Budget::iterations(2000));
            check_report(&start, &report);
            assert!(search.n_nodes() <= 1100, "{}", search.n_nodes());
            if report.is_proven {
                assert!((report.value - values[0][us.index()]).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn the_tree_is_kept_from_move_to_move() {
    let mut position = random_table(Like::Duel, 9000, wide_seed(Like::Duel)).start();
    let mut search = Mcts::new(MctsOptions { solver: false, ..MctsOptions::default() }, 3);
    let us = position.choosers().next().expect("a role has a choice");
    let first = search.think(&mut position, us, &Budget::iterations(4000));
    let reply = first.lines[0].joints[0].clone();
    position.advance(&reply);
    let mover = position.choosers().next().unwrap_or(us);
    let second = search.think(&mut position, mover, &Budget::iterations(10));
    let visits: u64 = second.candidates.iter().map(|candidate| candidate.visits).sum();
    assert!(visits > 500, "{visits} visits are left of {}", first.candidates[0].visits);
}

#[test]
fn a_decisive_move_is_seen_at_once() {
    // One of nine moves wins; a single playout does not tell which.
    let mut places = vec![Place {
        n_moves: vec![9, 1],
        next: (1..10).collect(),
        payoffs: vec![0.0, 0.0],
        chances: Vec::new(),
    }];
    places
        .extend((1..10).map(|at| Place::end(if at == 7 { &[100.0, 0.0] } else { &[0.0, 100.0] })));
    let table = Table {
        shape: Shape::new(vec!["one".into(), "two".into()], None),
        places,
        has_batch: false,
    };
    let report = think(&mut table.start(), 0, &MctsOptions::default(), 1, 1);
    assert_eq!((report.best, report.value, report.is_proven), (6, 100.0, true));
    let blind = MctsOptions { look_ahead: false, ..MctsOptions::default() };
    assert!(!think(&mut table_again(), 0, &blind, 1, 1).is_proven);

    fn table_again() -> At {
        random_table(Like::Duel, 60, 4).start()
    }
}

#[test]
fn a_paranoid_search_expects_the_worst() {
    // We choose between 60, and a place where the second player can give us 100 and get 10, or give
    // us 0 and get 5.
    let place = |mover: usize, next: Vec<usize>| {
        let mut n_moves = vec![1; 3];
        n_moves[mover] = next.len();
        Place { n_moves, next, payoffs: vec![0.0; 3], chances: Vec::new() }
    };
    let places = vec![
        place(0, vec![2, 1]),
        place(1, vec![3, 4]),
        Place::end(&[60.0, 0.0, 0.0]),
        Place::end(&[100.0, 10.0, 0.0]),
        Place::end(&[0.0, 5.0, 0.0]),
    ];
    let shape = Shape::new(vec!["us".into(), "other".into(), "third".into()], None);
    let table = Table { shape, places, has_batch: true };
    let trusting = think(&mut table.clone().start(), 0, &MctsOptions::default(), 1, 500);
    assert_eq!((trusting.best, trusting.value, trusting.is_proven), (1, 100.0, true));
    let options = MctsOptions { others: Others::Paranoid, ..MctsOptions::default() };
    let wary = think(&mut table.start(), 0, &options, 1, 500);
    assert_eq!((wary.best, wary.value, wary.is_proven), (0, 60.0, true));
}

#[test]
fn threads_share_one_tree() {
    for (has_batch, seed) in [(true, 4), (false, 5)] {
        let table = Table { has_batch, ..random_table(Like::Duel, 400, seed) };
        let value = table.solve()[0].clone();
        let mut start = table.start();
        for options in [
            MctsOptions { threads: 3, ..MctsOptions::default() },
            MctsOptions {
                threads: 2,
                policy: PlayoutPolicy::Mast,
                amaf: Amaf::GRAVE,
                ..MctsOptions::default()
            },
            MctsOptions { threads: 2, max_nodes: 1000, ..MctsOptions::default() },
        ] {
            let report = think(&mut start, 0, &options, 1, 20_000);
            assert!(report.iterations <= 20_000);
            if report.is_proven {
                assert_eq!(report.value, value[0]);
            }
        }
        let unproved = MctsOptions { threads: 2, solver: false, ..MctsOptions::default() };
        assert_eq!(think(&mut start, 0, &unproved, 1, 5000).iterations, 5000);
    }
}
