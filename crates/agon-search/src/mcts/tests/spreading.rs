//! Many ways down at once are those that would be gone one after another.

use agon_game::{Position, Role};
use rand::SeedableRng;

use super::super::Mcts;
use super::super::select::{Chooser, Step};
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
    work: impl FnOnce(&mut Tree<agon_circuit::ScalarCircuit>, &mut Chooser<'_, agon_circuit::Input>) -> R,
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
            assert!(tree.arms.iter().all(|arm| arm.pending == 0), "{name}: what is marked is taken back");
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
