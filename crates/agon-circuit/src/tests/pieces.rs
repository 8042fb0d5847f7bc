//! Playouts that are made a few steps at a time.

use std::sync::Arc;

use agon_game::{Batch, Children, OneByOne, Order, Rng, Tally};
use rand::SeedableRng;

use super::batch::walks;
use super::handmade;
use super::rejecting::{fussy_walk, strict_nim};
use crate::{BatchCircuit, BatchOptions, Bits, Circuit, Input, ScalarCircuit};

/// More orders than there are lanes, some of them for nothing.
fn orders(circuit: &Circuit) -> Vec<Order<Bits>> {
    let states = walks(circuit, 3);
    let states = states.iter().cycle().take(300).zip(0_u64..);
    states
        .map(|(state, i)| Order {
            state: state.clone(),
            n_playouts: i % 7 * (i % 5),
            expected_steps: 3 * (i % 4) as u32,
        })
        .collect()
}

/// By so many steps at a time; whatever else is asked for in between.
fn in_pieces<B: Batch<State = Bits, Move = Input>>(
    batch: &mut B,
    orders: &[Order<Bits>],
    n_steps: u64,
    n_roles: usize,
) -> (Vec<Tally>, u64) {
    let (mut tallies, mut children, mut n_calls) = (Vec::new(), Children::new(n_roles), 1);
    batch.take_orders(orders, 40);
    while !batch.go_on(n_steps) {
        batch.expand(&[&orders[0].state], &mut children);
        n_calls += 1;
    }
    assert!(batch.go_on(1), "what is done stays done");
    batch.deliver(&mut tallies);
    (tallies, n_calls)
}

fn circuits() -> Vec<Arc<Circuit>> {
    handmade().into_iter().chain([strict_nim(40, 3), fussy_walk()]).map(Arc::new).collect()
}

#[test]
fn lanes_play_the_same_in_pieces() {
    for circuit in circuits() {
        let orders = orders(&circuit);
        let batch = || {
            let options = BatchOptions { seed: 3, ..BatchOptions::default() };
            BatchCircuit::new(Arc::clone(&circuit), circuit.shape(), options)
        };
        let at_once = batch().play_out(&orders, 40);
        assert!(
            orders.iter().zip(&at_once).all(|(order, tally)| tally.n_playouts == order.n_playouts)
        );
        for n_steps in [1, 2, 7, 1000] {
            let (tallies, n_calls) = in_pieces(&mut batch(), &orders, n_steps, circuit.roles.len());
            assert_eq!(tallies, at_once, "{n_steps} steps at a time");
            assert!(n_steps > 7 || n_calls > 2, "{n_steps} steps are not all");
        }
        // What is ordered anew takes the place of what is not done.
        let mut batch = batch();
        batch.take_orders(&orders, 40);
        batch.go_on(3);
        let few = &orders[8..9];
        assert_eq!(batch.play_out(few, 40)[0].n_playouts, few[0].n_playouts);
    }
}

#[test]
fn single_games_are_played_the_same_in_pieces() {
    for circuit in circuits() {
        let orders = orders(&circuit);
        let batch =
            || OneByOne::new(ScalarCircuit::new(Arc::clone(&circuit)), Rng::seed_from_u64(3));
        let at_once = batch().play_out(&orders, 40);
        assert!(
            orders.iter().zip(&at_once).all(|(order, tally)| tally.n_playouts == order.n_playouts)
        );
        for n_steps in [1, 50] {
            let (tallies, n_calls) = in_pieces(&mut batch(), &orders, n_steps, circuit.roles.len());
            assert_eq!(tallies, at_once, "{n_steps} steps at a time");
            assert!(n_calls > 2, "{n_steps} steps are not all");
        }
    }
}
