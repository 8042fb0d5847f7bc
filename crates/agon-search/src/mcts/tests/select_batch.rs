//! Many descents at once select what descents one after another select, and no leaf twice.

use agon_game::{Position, Role};
use rand::SeedableRng;

use super::super::Mcts;
use super::super::leaf_batch::{PathEnd, Step};
use super::super::select::{BatchSelection, SelectContext, SelectScratch, SelectedLeaf};
use super::super::tree::{NodeKind, Tree};
use super::shipped::circuit;
use crate::{Budget, Leaves, MctsOptions, Search};

const N_PATHS: u32 = 48;

/// Returns the choices on the path to a step.
fn path(steps: &[Step], last: u32) -> Vec<u64> {
    let mut choices = Vec::new();
    let mut at = last;
    while at != Step::NONE {
        choices.push(steps[at as usize].choice);
        at = steps[at as usize].before;
    }
    choices.reverse();
    choices
}

/// Calls `work` with a tree of some size, and a context to select in it.
fn with_grown_tree<R>(
    name: &str,
    options: &MctsOptions,
    work: impl FnOnce(
        &mut Tree<agon_circuit::ScalarCircuit>,
        &mut SelectContext<'_, agon_circuit::Input>,
    ) -> R,
) -> R {
    let mut position = circuit(name);
    let us = position.choosers().next().unwrap_or(Role::new(0));
    let mut search = Mcts::new(options.clone(), 7);
    search.think(&mut position, us, &Budget::iterations(6000));
    let mut context = SelectContext {
        options,
        rng: &mut agon_game::Rng::seed_from_u64(1),
        policy: None,
        scratch: &mut SelectScratch::default(),
        prior_k: 0.0,
        exploration: 1.0,
    };
    work(search.tree.as_mut().expect("the search has a tree"), &mut context)
}

fn assert_nothing_pending<P: Position>(tree: &Tree<P>, name: &str) {
    assert!(tree.nodes.as_slice().iter().all(|node| node.pending == 0), "{name}: nodes");
    assert!(tree.arms.as_slice().iter().all(|arm| arm.pending == 0), "{name}: arms");
}

#[test]
fn a_batch_selects_what_single_descents_select() {
    let single = Leaves { siblings: 0, ..Leaves::ONE };
    let options = MctsOptions { transpositions: false, leaves: single, ..MctsOptions::plain() };
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "chinese-checkers"] {
        let together = with_grown_tree(name, &options, |tree, context| {
            let (mut steps, mut selection) = (Vec::new(), BatchSelection::default());
            tree.select_batch(N_PATHS, 1, &mut steps, &mut selection, context);
            let n: u32 = selection.leaves().iter().map(|leaf| leaf.n).sum();
            assert_eq!(n, N_PATHS, "{name}: no path is lost");
            let mut paths = Vec::new();
            for leaf in selection.leaves() {
                let path = path(&steps, leaf.step);
                paths.extend(std::iter::repeat_n(path, leaf.n as usize));
            }
            assert_eq!(tree.node(tree.root).pending, N_PATHS, "{name}: all are pending");
            for &step in &steps {
                tree.remove_pending(step);
            }
            assert_nothing_pending(tree, name);
            paths
        });
        let in_turn = with_grown_tree(name, &options, |tree, context| {
            let mut paths = Vec::new();
            for _ in 0..N_PATHS {
                let mut steps = Vec::new();
                tree.descend(&mut steps, context);
                for step in &steps {
                    tree.add_pending(step.node, step.choice, 1);
                }
                paths.push(path(&steps, steps.len() as u32 - 1));
            }
            paths
        });
        let mut left = in_turn;
        for path in together {
            if let Some(at) = left.iter().position(|other| *other == path) {
                left.swap_remove(at);
            }
        }
        // Where the same move is chosen several times in a row, the logarithm of the visits is
        // computed once.
        assert!(left.len() as u32 <= N_PATHS / 12, "{name}: {} of {N_PATHS} differ", left.len());
    }
}

#[test]
fn a_leaf_in_flight_is_not_selected_again() {
    let options = MctsOptions::default();
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "chinese-checkers", "dice-race"] {
        with_grown_tree(name, &options, |tree, context| {
            let (mut batches, mut selected) = (Vec::new(), Vec::new());
            for _ in 0..6 {
                let (mut steps, mut selection) = (Vec::new(), BatchSelection::default());
                tree.select_batch(N_PATHS, 4, &mut steps, &mut selection, context);
                let n_most = N_PATHS as usize * (1 + options.leaves.siblings as usize);
                assert!(selection.leaves().len() <= n_most, "{name}: a batch is bounded");
                let last = |leaf: &SelectedLeaf| steps.get(leaf.step as usize).copied();
                selected.extend(selection.leaves().iter().map(|leaf| (leaf.end, last(leaf))));
                batches.push(steps);
            }
            let mut marked = vec![0; tree.nodes.len()];
            for step in batches.iter().flatten() {
                marked[step.node.index()] += step.pending;
            }
            let pending: Vec<u32> = tree.nodes.as_slice().iter().map(|node| node.pending).collect();
            assert_eq!(pending, marked, "{name}: what is released is not pending");
            let mut leaves: Vec<(u32, u64)> = selected
                .iter()
                .filter(|(end, _)| *end == PathEnd::Unexpanded)
                .filter_map(|&(_, step)| step)
                .filter(|step| matches!(tree.node(step.node).kind, NodeKind::Alone(_)))
                .map(|step| (step.node.0, step.choice))
                .collect();
            let n_leaves = leaves.len();
            leaves.sort_unstable();
            leaves.dedup();
            assert_eq!(leaves.len(), n_leaves, "{name}: the same leaf twice");
            for &step in batches.iter().flatten() {
                tree.remove_pending(step);
            }
            assert_nothing_pending(tree, name);
        });
    }
}

/// Where the whole tree has only a few open leaves, a batch that had to be full would take
/// thousands of playouts from each.
#[test]
fn a_tree_that_is_nearly_proved_takes_few_playouts() {
    for threads in [1, 2] {
        let mut position = circuit("tic-tac-toe");
        let us = position.choosers().next().unwrap_or(Role::new(0));
        let mut search = Mcts::new(MctsOptions { threads, ..MctsOptions::default() }, 1);
        let report = search.think(&mut position, us, &Budget::iterations(4_000_000));
        assert!(report.is_proven);
        assert!(report.iterations < 1_000_000, "{threads} threads: {}", report.iterations);
    }
}

#[test]
fn the_lists_of_a_growing_tree_do_not_move() {
    let max_nodes = 20_000;
    let mut position = circuit("connect-four");
    let us = position.choosers().next().unwrap_or(Role::new(0));
    let mut search = Mcts::new(MctsOptions { max_nodes, ..MctsOptions::default() }, 1);
    let mut places = Vec::new();
    for n in [25_000, 75_000] {
        search.think(&mut position, us, &Budget::iterations(n));
        let tree = search.tree.as_ref().expect("the search has a tree");
        assert!((1024..max_nodes).contains(&tree.nodes.len()), "{}", tree.nodes.len());
        places.push((tree.nodes.addresses(), tree.payoffs.address(), tree.bounds.address()));
    }
    assert_eq!(places[0], places[1]);
}
