//! Property test: random rules that create, copy and delete elements have the same effect in the
//! translation.

use agon_game::laws::Plan;
use agon_text::Severity;
use proptest::prelude::*;

use super::random_games::seeded;
use super::tests::{gdl, toss};
use super::{ToGdlLimits, to_gdl};

/// Generates tuples of `N`, `P` and `E` over `n` elements, in the syntax of a rule side.
fn tuples(prefix: &'static str, n: usize) -> impl Strategy<Value = String> {
    let pairs = prop::collection::vec(any::<bool>(), n * n);
    (any::<bool>(), prop::collection::vec(any::<bool>(), n), pairs).prop_map(
        move |(none, ones, pairs)| {
            let none = none.then(|| "N()".to_owned());
            let one = ones.iter().enumerate().filter(|(_, holds)| **holds);
            let pair = pairs.iter().enumerate().filter(|(_, holds)| **holds);
            let ones = one.map(|(i, _)| format!("P({prefix}{i})"));
            let pairs = pair.map(|(i, _)| format!("E({prefix}{}, {prefix}{})", i / n, i % n));
            none.into_iter().chain(ones).chain(pairs).collect::<Vec<_>>().join("; ")
        },
    )
}

fn names(prefix: &str, n: usize) -> String {
    (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ")
}

/// Generates a rule without its name.
fn rule() -> impl Strategy<Value = String> {
    (1..=2_usize, 0..=3_usize).prop_flat_map(|(n_left, n_right)| {
        let map = prop::collection::vec(prop::option::weighted(0.7, 0..n_left), n_right);
        let embedded = prop_oneof![
            Just(""),
            Just(" emb P"),
            Just(" emb E"),
            Just(" emb P, E"),
            Just(" emb N"),
            Just(" emb N, P")
        ];
        (tuples("l", n_left), tuples("r", n_right), map, embedded).prop_map(
            move |(left, right, map, embedded)| {
                let pairs =
                    map.iter().enumerate().filter_map(|(r, l)| Some(format!("r{r} <- l{}", (*l)?)));
                let map: Vec<String> = pairs.collect();
                format!(
                    "[{} | {left} | -] -> [{} | {right} | -] with [{}]{embedded}",
                    names("l", n_left),
                    names("r", n_right),
                    map.join(", ")
                )
            },
        )
    })
}

prop_compose! {
    /// Generates a one-player game in which every second move inspects a tuple. So the legal moves
    /// reveal the whole state.
    fn game()(first in rule(), second in rule(), start in tuples("e", 4)) -> String {
        format!(
            "PLAYERS one
            RULE First: {first}
            RULE Second: {second}
            RULE LookP: ELEMS a MATCH P(a) RELS -
            RULE LookE: ELEMS a, b MATCH E(a, b) RELS -
            RULE LookN: ELEMS a MATCH a = a and N() RELS -
            RULE Look: ELEMS a MATCH a = a RELS -
            PAYOFF {{ one: 50 }}
            LOC 0 {{ PLAYER one MOVES [First -> 1]; [Second -> 1] }}
            LOC 1 {{ PLAYER one MOVES [LookP -> 0]; [LookE -> 0]; [LookN -> 0]; [Look -> 0] }}
            START [ {} | N:0 {{}}; P:1 {{}}; E:2 {{}}; {start} | - ]",
            names("e", 4)
        )
    }
}

proptest! {
    #![proptest_config(seeded(150))]

    #[test]
    fn translations_of_random_rewritings_agree(text in game()) {
        let game = toss("random", &text);
        let translation = to_gdl(game.arena(), ToGdlLimits::default())
            .map_err(|why| TestCaseError::fail(format!("{why}\n{text}")))?;
        let plan = Plan { plays: 3, max_steps: 8, seed: 3 };
        let played = translation.compare(&game, &gdl(&translation, Severity::Error), &plan);
        if let Err(difference) = played {
            prop_assert!(false, "{difference}\n{text}\n{}", translation.text);
        }
    }
}
