//! Batches go from thread to thread: none is lost, and none is counted twice.

use std::time::{Duration, Instant};

use agon_circuit::ScalarCircuit;
use agon_game::{Position, Role};

use super::super::Mcts;
use super::super::batch_size::BatchSize;
use super::super::leaf_batch::LeafBatch;
use super::super::threads::LeafQueue;
use super::super::tree::NodeKind;
use super::shipped::circuit;
use crate::{Budget, MctsOptions, Search};

/// Searches and checks the tree. Returns the number of iterations and the visits of the root.
fn think(name: &str, options: &MctsOptions, seed: u64, budget: impl Fn() -> Budget) -> (u64, u64) {
    let mut position = circuit(name);
    let us = position.choosers().next().unwrap_or(Role::new(0));
    let mut search = Mcts::new(options.clone(), seed);
    let report = search.think(&mut position, us, &budget());
    let tree = search.tree.as_ref().expect("the search has a tree");
    let nodes = tree.nodes.as_slice();
    assert!(nodes.iter().all(|node| node.pending == 0), "{name}: nodes have pending playouts");
    let arms = tree.arms.as_slice();
    assert!(arms.iter().all(|arm| arm.pending == 0), "{name}: arms have pending playouts");
    let is_joint = |kind: NodeKind| matches!(kind, NodeKind::Joint | NodeKind::Sparse);
    for node in nodes.iter().filter(|node| is_joint(node.kind) && node.has_arms()) {
        for at in node.arms() {
            let (arm, score) = (&tree.arms[at], tree.arms.score(at));
            let is_current = if arm.visits == 0 {
                score.value == f32::INFINITY
            } else {
                score.value == arm.mean && score.width == 1.0 / (arm.visits as f32).sqrt()
            };
            assert!(is_current, "{name}: {arm:?} has {score:?}");
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
fn nothing_stays_pending_when_time_is_up() {
    for name in GAMES {
        for threads in [2, 3] {
            let options = MctsOptions { threads, ..MctsOptions::default() };
            think(name, &options, 1, || Budget::until(Instant::now() + Duration::from_millis(30)));
        }
    }
}

#[test]
fn a_full_tree_is_recycled_between_batches() {
    for name in GAMES {
        for threads in [2, 3] {
            let options =
                MctsOptions { threads, solver: false, max_nodes: 500, ..MctsOptions::default() };
            let (iterations, _) = think(name, &options, 1, || Budget::iterations(40_000));
            assert_eq!(iterations, 40_000, "{name}");
        }
    }
}

/// With as many leaves in flight as with one thread, playouts are worth as much.
#[test]
fn the_number_of_leaves_in_flight_does_not_depend_on_the_threads() {
    for threads in 1..=8_usize {
        let options = MctsOptions { threads, ..MctsOptions::default() };
        let mut size = BatchSize::new(&options);
        size.prepare(&Budget::iterations(1 << 40), &options);
        // One batch for each thread; or two for each helper; or with the coordinator's own besides.
        for n_batches in [threads, 2 * threads - 2, 2 * threads - 1].into_iter().filter(|&n| n > 0)
        {
            size.set_n_batches(n_batches as u32);
            let n_leaves = n_batches * size.n_leaves() as usize;
            assert!((48..=64).contains(&n_leaves), "{threads} threads: {n_leaves}");
        }
    }
}

#[test]
fn no_thread_waits_for_one_that_panicked() {
    let queue: LeafQueue<ScalarCircuit> = LeafQueue::new();
    let has_panicked = std::thread::scope(|scope| {
        let lost = scope.spawn(|| {
            let _guard = queue.panic_guard();
            queue.put_ready(Box::new(LeafBatch::new(2)));
            let _batch = queue.wait_for_ready().expect("there is one");
            panic!("on purpose: this thread is to be lost");
        });
        lost.join().is_err()
    });
    assert!(has_panicked && queue.is_broken(), "the queue knows of the panic");
    assert!(queue.wait_for_ready().is_none(), "otherwise this would wait for ever");
    let quiet: LeafQueue<ScalarCircuit> = LeafQueue::new();
    drop(quiet.panic_guard());
    assert!(!quiet.is_broken(), "a thread that ends has not panicked");
}
