//! Tests of choices between states of independent sub-games.

use std::sync::Arc;

use crate::properties::{Properties, PropertyLimits};
use crate::sub_games::{StateClass, SubGames};

use super::{compiled, game};

/// Three dials with three values each. The goals are a conjunction, a disjunction, and nothing. The
/// highest goal counts.
const DIALS: &str = "
(role player) (dial x) (dial y) (dial z) (after 0 1) (after 1 2) (after 2 0)
(<= (init (shows ?d 0)) (dial ?d))
(<= (legal player (turn ?d)) (dial ?d))
(<= (next (shows ?d ?w)) (does player (turn ?d)) (true (shows ?d ?v)) (after ?v ?w))
(<= (next (shows ?d ?v)) (true (shows ?d ?v)) (not (does player (turn ?d))))
(<= all (true (shows x 2)) (true (shows y 1)) (not (true (shows z 0))))
(<= terminal all)
(<= (goal player 100) all)
(<= (goal player 50) (true (shows x 1)))
(<= (goal player 50) (true (shows z 2)))
(goal player 0)
";

fn payoff(shown: [usize; 3]) -> i64 {
    match shown {
        [2, 1, 1 | 2] => 100,
        [1, _, _] | [_, _, 2] => 50,
        _ => 0,
    }
}

#[test]
fn the_cheapest_choice_for_every_goal_is_found() {
    let game = game(DIALS);
    let compiled = Arc::new(compiled(&game));
    let known = Properties::find(&game, Some(&compiled), &PropertyLimits::default());
    let dials = SubGames::new(&compiled, &known).expect("the dials are independent");
    assert_eq!(dials.n_parts(), 3);
    assert_eq!(dials.payoffs().collect::<Vec<_>>(), [100, 50, 0]);
    // A dial shows `v` after `v` moves of its own.
    let classes: Vec<Vec<StateClass>> = (0..3)
        .map(|part| {
            let class = |value: usize| {
                let shows = |fact: &str| fact.ends_with(&format!("{value})"));
                let holds: Vec<bool> = dials.facts(part).map(shows).collect();
                assert_eq!(holds.iter().filter(|&&holds| holds).count(), 1);
                StateClass { conditions: dials.conditions(part, &holds), cost: value }
            };
            (0..3).map(class).collect()
        })
        .collect();
    // The sub-games are in some order; their facts name the dials.
    let place = |name: &str| {
        let of = |part: usize| dials.facts(part).all(|fact| fact.contains(name));
        (0..3).find(|&part| of(part)).expect("every dial is a sub-game")
    };
    let order = ["shows x", "shows y", "shows z"].map(place);
    for (goal, wanted) in [100, 50, 0].into_iter().enumerate() {
        let chosen = dials.choose(goal, &classes).expect("every goal can be reached");
        let shown = order.map(|part| chosen[part]);
        assert_eq!(payoff(shown), wanted, "{shown:?}");
        let all = (0..27).map(|n| [n / 9, n / 3 % 3, n % 3]);
        let cheapest = all.filter(|&shown| payoff(shown) == wanted).map(|s| s.iter().sum()).min();
        assert_eq!(Some(shown.iter().sum::<usize>()), cheapest);
    }
    // If a dial never turns, one goal is out of reach.
    let mut stuck = classes.clone();
    stuck[order[1]].truncate(1);
    assert_eq!(dials.choose(0, &stuck), None);
    assert!(dials.choose(1, &stuck).is_some());
}
