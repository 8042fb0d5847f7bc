//! Proofs where several roles choose at the same time.

use agon_game::{Rng, Role, Shape};
use rand::{RngExt, SeedableRng};

use super::super::Mcts;
use super::super::tree::{NodeId, NodeKind, Proof};
use super::table_game::{Place, Table};
use crate::{Budget, Leaves, MctsOptions, Search};

const N_PLACES: usize = 25;

/// Returns a random game for two players in which both choose everywhere, and which always ends.
pub(super) fn random_table(seed: u64) -> Table {
    let mut rng = Rng::seed_from_u64(seed);
    let places = (0..N_PLACES).map(|at| {
        if at + 5 > N_PLACES || at > 2 && rng.random_range(0..4) == 0 {
            let ours = f64::from(rng.random_range(0..3)) * 50.0;
            return Place::end(&[ours, 100.0 - ours]);
        }
        let n_moves: Vec<usize> = (0..2).map(|_| rng.random_range(2..4)).collect();
        let next =
            (0..n_moves[0] * n_moves[1]).map(|_| rng.random_range(at + 1..N_PLACES)).collect();
        Place { n_moves, next, payoffs: vec![0.0; 2], chances: Vec::new() }
    });
    let places = places.collect();
    Table { shape: Shape::new(vec!["row".into(), "column".into()], None), places, has_batch: false }
}

/// Returns by place and role the payoff that the role can secure, and the greatest one that it can
/// get.
fn by_brute_force(table: &Table) -> Vec<[[f64; 2]; 2]> {
    let mut bounds = vec![[[0.0; 2]; 2]; table.places.len()];
    for (at, place) in table.places.iter().enumerate().rev() {
        for role in [0, 1] {
            if place.n_moves.is_empty() {
                bounds[at][role] = [place.payoffs[role]; 2];
                continue;
            }
            let cell = |own: usize, other: usize| {
                let (row, column) = if role == 0 { (own, other) } else { (other, own) };
                bounds[place.next[row * place.n_moves[1] + column]][role]
            };
            let (n_own, n_other) = (place.n_moves[role], place.n_moves[1 - role]);
            let secured =
                |own| (0..n_other).map(|other| cell(own, other)[0]).fold(f64::INFINITY, f64::min);
            let lo = (0..n_own).map(secured).fold(f64::NEG_INFINITY, f64::max);
            let best = |own| (0..n_other).map(move |other| (own, other));
            let hi = (0..n_own).flat_map(best).map(|(own, other)| cell(own, other)[1]);
            let hi = hi.fold(f64::NEG_INFINITY, f64::max);
            bounds[at][role] = [lo, hi];
        }
    }
    bounds
}

#[test]
fn bounds_follow_from_those_of_the_children_and_are_never_too_tight() {
    // Where every position is reached in one way, bounds are tightened during backup or never; or,
    // if terminal children are examined, when the node is new.
    let (mut n_proved, mut n_all) = (0, 0);
    for seed in 0..400 {
        let look_ahead = seed % 2 == 0;
        let options = MctsOptions {
            transpositions: false,
            leaves: Leaves::ONE,
            look_ahead,
            ..MctsOptions::default()
        };
        let table = Table { has_batch: look_ahead, ..random_table(seed) };
        let brute = by_brute_force(&table);
        let mut start = table.start();
        let mut search = Mcts::new(options, seed);
        for n in [30, 300, 3000] {
            search.think(&mut start, Role::new(0), &Budget::iterations(n));
            let tree = search.tree.as_mut().expect("the search has a tree");
            let ids = (0..tree.nodes.len() as u32).map(NodeId);
            let joint =
                ids.filter(|&id| tree.node(id).kind == NodeKind::Joint && tree.node(id).has_arms());
            for id in joint.collect::<Vec<NodeId>>() {
                assert!(
                    !tree.tighten(id),
                    "more could have been proved, seed {seed}, {n} iterations"
                );
                n_proved += usize::from(tree.node(id).proof != Proof::None);
                n_all += usize::from(tree.node(id).proof == Proof::Complete);
                let Some(&place) = tree.nodes.state(id) else { panic!("the game goes on there") };
                for (role, &[lo, hi]) in brute[place].iter().enumerate() {
                    let [proved_lo, proved_hi] = tree.bound(id, Role::new(role));
                    assert!(
                        proved_lo <= lo && hi <= proved_hi,
                        "seed {seed}: {proved_lo} for {lo}, {proved_hi} for {hi}"
                    );
                }
            }
        }
    }
    assert!(
        n_proved > 1000 && n_all > 100,
        "{n_proved} positions, {n_all} of them completely: too few"
    );
}
