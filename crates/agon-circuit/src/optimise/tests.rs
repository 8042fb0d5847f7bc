//! The sets behind `move_sets`, compared with ordinary sets.

use std::collections::BTreeSet;

use agon_game::Rng;
use rand::{RngExt, SeedableRng};

use super::input_sets::{InputSets, Members, SetId};

/// Returns the inputs of a set, by its members.
fn listed(sets: &InputSets, set: SetId, roles: &[std::ops::Range<usize>]) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    for members in sets.members(set) {
        match members {
            Members::Just(inputs) => all.extend(inputs),
            Members::AllBut(inputs) => {
                // The inputs that are left out tell whose set it is, unless there are none.
                let role = roles
                    .iter()
                    .find(|role| inputs.first().is_some_and(|first| role.contains(first)));
                let Some(role) = role else { continue };
                all.extend(role.clone().filter(|input| !inputs.contains(input)));
            }
        }
    }
    all
}

#[test]
fn sets_of_inputs_are_sets() {
    for seed in 0..60 {
        let mut rng = Rng::seed_from_u64(seed);
        let mut roles = Vec::new();
        let mut first = 0;
        for _ in 0..rng.random_range(1..5_usize) {
            let n = rng.random_range(2..300_usize);
            roles.push(first..first + n);
            first += n;
        }
        let mut sets = InputSets::new(roles.clone(), usize::MAX);
        let mut known: Vec<(SetId, BTreeSet<usize>)> =
            (0..first).map(|input| (sets.single(input), BTreeSet::from([input]))).collect();
        for _ in 0..400 {
            let (a, in_a) = known[rng.random_range(0..known.len())].clone();
            let (b, in_b) = known[rng.random_range(0..known.len())].clone();
            let union = sets.union(a, b).expect("there is no limit");
            let in_union: BTreeSet<usize> = &in_a | &in_b;
            known.push((union, in_union));
            let whose = roles.iter().filter(|role| in_a.range((*role).clone()).next().is_some());
            let whose: Vec<_> = whose.collect();
            match sets.complement(a) {
                Some(others) => {
                    assert_eq!(whose.len(), 1, "only one role's set has a complement");
                    let inside = whose[0].clone().filter(|input| !in_a.contains(input)).collect();
                    known.push((others, inside));
                }
                None => assert_ne!(whose.len(), 1, "one role's set has a complement"),
            }
        }
        for (set, inside) in &known {
            let counted = roles.iter().map(|role| {
                let n_in = inside.range(role.clone()).count();
                n_in.min(role.len() - n_in)
            });
            assert_eq!(sets.n_to_build(*set), counted.sum::<usize>());
            let is_whole =
                roles.iter().any(|role| role.clone().all(|input| inside.contains(&input)));
            assert!(is_whole || listed(&sets, *set, &roles) == *inside);
            // Equal sets are the same set.
            assert!(known.iter().all(|(other, in_other)| (other == set) == (in_other == inside)));
        }
    }
}

#[test]
fn sets_stop_at_their_limit() {
    let mut sets = InputSets::new(vec![0..5000, 5000..10_000], 100);
    let mut all = SetId::EMPTY;
    let n_joined = (0..10_000).take_while(|&input| {
        let single = sets.single(input);
        sets.union(all, single).inspect(|&union| all = union).is_some()
    });
    assert!(n_joined.count() < 100, "each union visits at least one node");
}
