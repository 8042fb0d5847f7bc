//! Many ways down at once are those that would be gone one after another, but that nobody goes where somebody is.

use agon_game::{Position, Role};
use rand::SeedableRng;

use super::super::Mcts;
use super::super::node::Kind;
use super::super::select::{Chooser, End, Step};
use super::super::spread::Spreading;
use super::super::tree::Tree;
use super::shipped::circuit;
use crate::{Budget, Leaves, MctsOptions, Search};

const N_WAYS: u32 = 48;

/// The choices on the way to a step.
fn way(steps: &[Step], last: u32) -> Vec<u64> {
    let mut choices = Vec::new();
    let mut at = last;
    while at != Step::NONE {
        choices.push(steps[at as usize].choice);
        at = steps[at as usize].before;
    }
    choices.reverse();
    choices
}

/// Calls with a tree that has grown a while, and somebody to choose in it.
fn with_grown_tree<R>(
    name: &str,
    options: &MctsOptions,
    work: impl FnOnce(
        &mut Tree<agon_circuit::ScalarCircuit>,
        &mut Chooser<'_, agon_circuit::Input>,
    ) -> R,
) -> R {
    let mut position = circuit(name);
    let us = position.choosers().next().unwrap_or(Role::new(0));
    let mut search = Mcts::new(options.clone(), 7);
    search.think(&mut position, us, &Budget::iterations(6000));
    let mut rng = agon_game::Rng::seed_from_u64(1);
    let (mut scratch, mut totals) = (Vec::new(), Vec::new());
    let mut chooser = Chooser {
        options,
        rng: &mut rng,
        policy: None,
        scratch: &mut scratch,
        totals: &mut totals,
        k: 0.0,
        breadth: 1.0,
    };
    work(search.tree.as_mut().expect("it has thought"), &mut chooser)
}

#[test]
fn many_ways_at_once_are_those_one_after_another() {
    let one_by_one = Leaves { siblings: 0, ..Leaves::ONE };
    let options = MctsOptions { transpositions: false, leaves: one_by_one, ..MctsOptions::plain() };
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "chinese-checkers"] {
        let together = with_grown_tree(name, &options, |tree, chooser| {
            let (mut steps, mut spreading) = (Vec::new(), Spreading::default());
            tree.spread(N_WAYS, 1, &mut steps, &mut spreading, chooser);
            let n: u32 = spreading.tips.iter().map(|tip| tip.n).sum();
            assert_eq!(n, N_WAYS, "{name}: no way is lost");
            let mut ways = Vec::new();
            for tip in &spreading.tips {
                let way = way(&steps, tip.step);
                ways.extend(std::iter::repeat_n(way, tip.n as usize));
            }
            assert_eq!(tree.node(tree.root).pending, N_WAYS, "{name}: all are under way");
            for &step in &steps {
                tree.unmark(step);
            }
            assert!(tree.nodes.iter().all(|node| node.pending == 0), "{name}");
            assert!(
                tree.arms.iter().all(|arm| arm.pending == 0),
                "{name}: what is marked is taken back"
            );
            ways
        });
        let in_turn = with_grown_tree(name, &options, |tree, chooser| {
            let mut ways = Vec::new();
            for _ in 0..N_WAYS {
                let mut steps = Vec::new();
                tree.descend(&mut steps, chooser);
                for step in &steps {
                    tree.mark(step.node, step.choice, 1);
                }
                ways.push(way(&steps, steps.len() as u32 - 1));
            }
            ways
        });
        let mut left = in_turn;
        for way in together {
            if let Some(at) = left.iter().position(|other| *other == way) {
                left.swap_remove(at);
            }
        }
        // The logarithm of the visits is taken once where the same move is chosen several times in a row.
        assert!(left.len() as u32 <= N_WAYS / 12, "{name}: {} of {N_WAYS} differ", left.len());
    }
}

#[test]
fn nobody_goes_where_somebody_is() {
    let options = MctsOptions::default();
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "chinese-checkers", "dice-race"] {
        with_grown_tree(name, &options, |tree, chooser| {
            let (mut rounds, mut tips) = (Vec::new(), Vec::new());
            for _ in 0..6 {
                let (mut steps, mut spreading) = (Vec::new(), Spreading::default());
                tree.spread(N_WAYS, 4, &mut steps, &mut spreading, chooser);
                let n_most = N_WAYS as usize * (1 + options.leaves.siblings as usize);
                assert!(spreading.tips.len() <= n_most, "{name}: a round has an end");
                tips.extend(
                    spreading
                        .tips
                        .iter()
                        .map(|tip| (tip.n, tip.end, steps.get(tip.step as usize).copied())),
                );
                rounds.push(steps);
            }
            let mut marked = vec![0; tree.nodes.len()];
            for step in rounds.iter().flatten() {
                marked[step.node.index()] += step.marked;
            }
            let pending: Vec<u32> = tree.nodes.iter().map(|node| node.pending).collect();
            assert_eq!(pending, marked, "{name}: what is given back is not under way");
            let mut leaves: Vec<(u32, u64)> = tips
                .iter()
                .filter(|(_, end, _)| *end == End::Open)
                .filter_map(|&(_, _, step)| step)
                .filter(|step| matches!(tree.node(step.node).kind, Kind::Alone(_)))
                .map(|step| (step.node.0, step.choice))
                .collect();
            let n_leaves = leaves.len();
            leaves.sort_unstable();
            leaves.dedup();
            assert_eq!(leaves.len(), n_leaves, "{name}: the same leaf twice");
            for &step in rounds.iter().flatten() {
                tree.unmark(step);
            }
            assert!(tree.nodes.iter().all(|node| node.pending == 0), "{name}");
            assert!(
                tree.arms.iter().all(|arm| arm.pending == 0),
                "{name}: what is marked is taken back"
            );
        });
    }
}

/// Where the whole tree is a few open leaves, a round that has to be full would take thousands of playouts for each.
#[test]
fn what_is_nearly_proved_takes_few_playouts() {
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
fn a_tree_that_grows_stays_where_it_is() {
    let max_nodes = 20_000;
    let mut position = circuit("connect-four");
    let us = position.choosers().next().unwrap_or(Role::new(0));
    let mut search = Mcts::new(MctsOptions { max_nodes, ..MctsOptions::default() }, 1);
    let mut places = Vec::new();
    for n in [200_000, 600_000] {
        search.think(&mut position, us, &Budget::iterations(n));
        let tree = search.tree.as_ref().expect("it has thought");
        assert!((1024..max_nodes).contains(&tree.nodes.len()), "{}", tree.nodes.len());
        places.push((
            tree.nodes.as_ptr(),
            tree.states.as_ptr(),
            tree.sums.as_ptr(),
            tree.bounds.as_ptr(),
        ));
    }
    assert_eq!(places[0], places[1]);
}
