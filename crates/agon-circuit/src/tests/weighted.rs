//! Weighted circuits by both executors, against a naive evaluation.

use std::sync::Arc;

use proptest::prelude::*;

use super::seeded;
use crate::weighted::{WeightOverflow, WeightedBuilder, WeightedLanes, WeightedState, WeightedSum};
use crate::{Backend, Plane, Signal};

/// A step of building: a new base bit, or a gate over two earlier signals, possibly inverted.
#[derive(Clone, Debug)]
enum Build {
    Base,
    Gate { is_or: bool, a: (usize, bool), b: (usize, bool) },
}

/// A sum: a constant, and weights of signals, possibly inverted.
type Sum = (i64, Vec<(i64, usize, bool)>);

fn builds() -> impl Strategy<Value = Vec<Build>> {
    let operand = || (any::<usize>(), any::<bool>());
    let gate =
        (any::<bool>(), operand(), operand()).prop_map(|(is_or, a, b)| Build::Gate { is_or, a, b });
    proptest::collection::vec(prop_oneof![1 => Just(Build::Base), 3 => gate], 1..80)
}

fn sums() -> impl Strategy<Value = Vec<Sum>> {
    let part = (-5_i64..6, any::<usize>(), any::<bool>());
    proptest::collection::vec((-9_i64..10, proptest::collection::vec(part, 0..20)), 1..4)
}

/// Returns the values of all signals of a plan where these base bits are true. Signal 0 is the
/// constant true.
fn naive(plan: &[Build], state: &[u32]) -> Vec<bool> {
    let (mut values, mut n_base) = (vec![true], 0);
    for build in plan {
        let read = |(idx, inverted): (usize, bool)| values[idx % values.len()] != inverted;
        let value = match *build {
            Build::Base => {
                n_base += 1;
                state.contains(&(n_base - 1))
            }
            Build::Gate { is_or: true, a, b } => read(a) || read(b),
            Build::Gate { is_or: false, a, b } => read(a) && read(b),
        };
        values.push(value);
    }
    values
}

proptest! {
    #![proptest_config(seeded(150))]

    #[test]
    fn both_executors_agree_with_a_naive_evaluation(
        plan in builds(),
        sums in sums(),
        states in proptest::collection::vec(proptest::collection::vec(any::<u32>(), 0..12), 1..20),
    ) {
        let mut builder = WeightedBuilder::new();
        let mut signals = vec![Signal::TRUE];
        for build in &plan {
            let read = |(idx, inverted): (usize, bool)| {
                signals[idx % signals.len()].inverted_if(inverted)
            };
            let signal = match *build {
                Build::Base => builder.add_base(),
                Build::Gate { is_or: true, a, b } => builder.or(read(a), read(b)),
                Build::Gate { is_or: false, a, b } => builder.and(read(a), read(b)),
            };
            signals.push(signal);
        }
        let n_base = builder.n_base() as u32;
        let of_builder = sums.iter().map(|(constant, parts)| {
            let part = |&(weight, idx, inverted): &(i64, usize, bool)| {
                (i128::from(weight), signals[idx % signals.len()].inverted_if(inverted))
            };
            let parts = parts.iter().map(part).collect();
            WeightedSum { constant: i128::from(*constant), parts }
        });
        let circuit = Arc::new(builder.finish(of_builder.collect()).expect("small weights"));
        let states: Vec<Vec<u32>> = states
            .iter()
            .map(|bits| bits.iter().filter_map(|bit| bit.checked_rem(n_base)).collect())
            .collect();
        let wanted = |state: &[u32]| -> Vec<i128> {
            let values = naive(&plan, state);
            let sum = |(constant, parts): &Sum| {
                parts.iter().fold(i128::from(*constant), |sum, &(weight, idx, inverted)| {
                    let holds = values[idx % values.len()] != inverted;
                    sum + if holds { i128::from(weight) } else { 0 }
                })
            };
            sums.iter().map(sum).collect()
        };

        let mut one = WeightedState::new(&circuit);
        let values = |one: &WeightedState| -> Vec<i128> {
            (0..circuit.n_sums()).map(|sum| one.value(sum)).collect()
        };
        prop_assert_eq!(values(&one), wanted(&[]));
        for state in &states {
            one.go_to(state);
            prop_assert_eq!(values(&one), wanted(state));
        }
        for backend in [Backend::Native, Backend::Portable] {
            let mut lanes = WeightedLanes::new(&circuit, backend);
            lanes.set(3, &(0..n_base).collect::<Vec<_>>());
            lanes.clear();
            let lane_of = |idx: usize| idx * 13 % Plane::LANES;
            for (idx, state) in states.iter().enumerate() {
                lanes.set(lane_of(idx), state);
            }
            lanes.evaluate();
            let mut found = [0; Plane::LANES];
            for sum in 0..circuit.n_sums() {
                lanes.values(sum, &mut found);
                for (idx, state) in states.iter().enumerate() {
                    prop_assert_eq!(found[lane_of(idx)], wanted(state)[sum]);
                }
                prop_assert_eq!(found[255], wanted(&[])[sum]);
            }
        }
    }
}

#[test]
fn weights_that_could_overflow_are_refused() {
    let mut builder = WeightedBuilder::new();
    let bit = builder.add_base();
    let sums = [i128::MAX / 8, i128::MAX / 3]
        .map(|weight| WeightedSum { constant: 0, parts: vec![(weight, bit)] });
    assert_eq!(builder.finish(sums.to_vec()).err(), Some(WeightOverflow { sum: 1 }));
}
