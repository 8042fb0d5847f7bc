//! Threads hand each other rounds: none is forgotten, and none is counted twice.

use std::time::{Duration, Instant};

use agon_circuit::ScalarCircuit;
use agon_game::{Position, Role};

use super::super::Mcts;
use super::super::node::Kind;
use super::super::relay::Relay;
use super::super::round::Round;
use super::super::worker::Worker;
use super::shipped::circuit;
use crate::{Budget, MctsOptions, Search};

/// Thinks, and looks at the tree that is left. Returns the iterations made and the visits of the root.
fn think(name: &str, options: &MctsOptions, seed: u64, budget: impl Fn() -> Budget) -> (u64, u64) {
    let mut position = circuit(name);
    let us = position.choosers().next().unwrap_or(Role::new(0));
    let mut search = Mcts::new(options.clone(), seed);
    let report = search.think(&mut position, us, &budget());
    let tree = search.tree.as_ref().expect("it has thought");
    assert!(tree.nodes.iter().all(|node| node.pending == 0), "{name}: positions wait for playouts");
    assert!(tree.arms.iter().all(|arm| arm.pending == 0), "{name}: moves wait for playouts");
    for node in tree.nodes.iter().filter(|node| matches!(node.kind, Kind::Joint | Kind::Sparse)) {
        let first = node.first_arm as usize;
        let n_arms = if tree.arms.len() < first { 0 } else { node.n_arms as usize };
        for at in first..first + n_arms {
            let (arm, score) = (&tree.arms[at], &tree.scores[at]);
            let is_told = if arm.visits == 0 {
                score.value == f32::INFINITY
            } else {
                score.value == arm.mean && score.spread == 1.0 / (arm.visits as f32).sqrt()
            };
            assert!(is_told, "{name}: {arm:?} has {score:?}");
        }
    }
    (report.iterations, tree.node(tree.root).visits)
}

/// Turn-taking, simultaneous, and with chance.
const GAMES: [&str; 4] = ["connect-four", "breakthrough", "bidding-tic-tac-toe", "dice-race"];

#[test]
fn all_playouts_of_a_budget_are_made_and_counted() {
    for name in GAMES {
        for (threads, n) in [(1, 3000), (2, 1), (2, 777), (2, 60_000), (4, 60_000)] {
            let options = MctsOptions { threads, solver: false, ..MctsOptions::default() };
            let (iterations, visits) = think(name, &options, n, || Budget::iterations(n));
            assert_eq!((iterations, visits), (n, n), "{name}, {threads} threads");
        }
    }
}

#[test]
fn nothing_stays_under_way_when_time_is_up() {
    for name in GAMES {
        for threads in [2, 3] {
            let options = MctsOptions { threads, ..MctsOptions::default() };
            think(name, &options, 1, || Budget::until(Instant::now() + Duration::from_millis(30)));
        }
    }
}

#[test]
fn a_full_tree_is_emptied_between_rounds() {
    for name in GAMES {
        for threads in [2, 3] {
            let options =
                MctsOptions { threads, solver: false, max_nodes: 500, ..MctsOptions::default() };
            let (iterations, _) = think(name, &options, 1, || Budget::iterations(40_000));
            assert_eq!(iterations, 40_000, "{name}");
        }
    }
}

/// Leaves under way are as many as with one thread, so that their playouts are worth as much.
#[test]
fn leaves_under_way_do_not_grow_with_threads() {
    let position = circuit("connect-four");
    for threads in 1..=8_usize {
        let options = MctsOptions { threads, ..MctsOptions::default() };
        let mut worker = Worker::new(&position, Role::new(0), &options, 1, None);
        worker.serve(&position, Role::new(0), &Budget::iterations(1 << 40), &options, 1.0);
        // One round each, or with one ready for each of the others, too, or with the keeper's own besides.
        for n_rounds in [threads, 2 * threads - 2, 2 * threads - 1].into_iter().filter(|&n| n > 0) {
            worker.n_rounds = n_rounds as u32;
            let n_leaves = n_rounds * worker.round_size() as usize;
            assert!((48..=64).contains(&n_leaves), "{threads} threads: {n_leaves}");
        }
    }
}

#[test]
fn nobody_waits_for_a_thread_that_is_lost() {
    let relay: Relay<ScalarCircuit> = Relay::new();
    let is_lost = std::thread::scope(|scope| {
        let lost = scope.spawn(|| {
            let _presence = relay.presence();
            relay.put_ready(Box::new(Round::new()));
            let _round = relay.next_ready().expect("there is one");
            panic!("on purpose: this thread is to be lost");
        });
        lost.join().is_err()
    });
    assert!(is_lost && relay.is_broken(), "it is told");
    assert!(relay.next_ready().is_none(), "this would go on for ever");
    let quiet: Relay<ScalarCircuit> = Relay::new();
    drop(quiet.presence());
    assert!(!quiet.is_broken(), "who leaves is not lost");
}
