//! Property test: random games with arbitrary formulas and terms play the same as their
//! translations.

use std::cell::Cell;

use agon_game::laws::Plan;
use agon_game::lockstep::{Mismatch, Side};
use agon_text::Severity;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::tests::{gdl, toss};
use super::{ToGdlError, ToGdlLimits, to_gdl};

pub(super) use agon_testkit::seeded;

/// Generates a variable that is free both in rules and in defined relations.
fn variable() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b")]
}

fn atom() -> impl Strategy<Value = String> {
    prop_oneof![
        (prop_oneof![Just("P"), Just("Q"), Just("S"), Just("Near")], variable())
            .prop_map(|(r, x)| format!("{r}({x})")),
        (prop_oneof![Just("E"), Just("F"), Just("Link")], variable(), variable())
            .prop_map(|(r, x, y)| format!("{r}({x}, {y})")),
        (variable(), variable()).prop_map(|(x, y)| format!("{x} = {y}")),
        (variable(), variable()).prop_map(|(x, y)| format!("{x} != {y}")),
        Just("Done()".to_owned()),
    ]
}

fn formula() -> impl Strategy<Value = String> {
    atom().prop_recursive(4, 14, 3, |inner| {
        let term = term(inner.clone());
        prop_oneof![
            3 => inner.clone().prop_map(|f| format!("not ({f})")),
            4 => (inner.clone(), inner.clone()).prop_map(|(f, g)| format!("(({f}) and ({g}))")),
            4 => (inner.clone(), inner.clone()).prop_map(|(f, g)| format!("(({f}) or ({g}))")),
            3 => (variable(), inner.clone()).prop_map(|(x, f)| format!("ex {x} ({f})")),
            3 => (variable(), inner.clone()).prop_map(|(x, f)| format!("all {x} ({f})")),
            2 => inner.clone().prop_map(|f| format!("(tc a, b ({f}))")),
            1 => inner.clone().prop_map(|f| format!("(tc 1 a, b ({f}))")),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(f, g)| format!("(lfp M(a) = (({f}) or ex b (F(a, b) and M(b)) or (({g}) and all b (not E(a, b) or M(b)))))")),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(f, g)| format!("(gfp M(a) = (({f}) and ex b (F(a, b) and (M(b) or ({g})))))")),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(f, g)| format!("(let Near(a) = {f} in ({g}))")),
            3 => (term.clone(), prop_oneof![Just("<"), Just("<="), Just("="), Just("!=")], term)
                .prop_map(|(s, sign, t)| format!("({s} {sign} {t})")),
        ]
    })
}

fn term(
    formula: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> + Clone {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("2".to_owned()),
        variable().prop_map(|x| format!("&{x}")),
        variable().prop_map(|x| format!(":worth({x})")),
        formula.clone().prop_map(|f| format!(":({f})")),
    ];
    let fold = prop_oneof![Just("Sum"), Just("Min"), Just("Max"), Just("Prod")];
    let small =
        (leaf.clone(), prop_oneof![Just("+"), Just("-"), Just("*"), Just("/")], leaf.clone())
            .prop_map(|(s, operator, t)| format!("({s} {operator} {t})"));
    prop_oneof![
        leaf.clone(),
        small,
        (fold, formula.clone(), leaf.clone())
            .prop_map(|(fold, f, t)| format!("{fold} (a | {f} : {t})")),
        (formula, leaf).prop_map(|(f, t)| format!("Sum (a, b | {f} : {t})")),
    ]
    .boxed()
}

prop_compose! {
    /// Generates a two-player game on three elements, with a clock that ends it.
    fn game()(
        near in formula(),
        link in formula(),
        done in formula(),
        first in formula(),
        second in formula(),
        post in formula(),
        pays in formula(),
    ) -> String {
        format!(
            "PLAYERS one, two
            REL Near(a) = ex b (E(a, b) and Done0() and ({}))
            REL Done0() = ex a P(a)
            REL Done() = ex a (S(a) and not P(a))
            REL Link(a, b) = {}
            REL Over() = ex a, b ({done})
            RULE Put: ELEMS a, b MATCH {first} RELS P(a); not Q(b); F(a, b)
            RULE Take: ELEMS a, b MATCH {second} RELS Q(a); not P(_); not F(a, _) post {post}
            RULE Leave: ELEMS a MATCH S(a) RELS - before Put
            PAYOFF {{ one: 50 * :(Over()) + 25 * Sum (a | P(a) : 1) / 3; two: 30 - 10 * :(ex a, b ({pays})) }}
            LOC 0 {{ PLAYER one MOVES [Put -> 1] }}
            LOC 1 {{ PLAYER two MOVES [Take -> 0]; [Take -> 1]; [Leave -> 0] }}
            START [ x, y, z | P:1 {{}}; Q(x); S {{(x); (z)}}; E {{(x, y); (y, z); (y, x)}}; F(z, z)
                  | worth {{ x -> 2, y -> 0.5 }} ]",
            plain(&near),
            plain(&link),
        )
    }
}

/// Replaces the defined relations, which would be circular in their own definitions.
fn plain(formula: &str) -> String {
    formula
        .replace("Near(", "S(")
        .replace("Link(", "E(")
        .replace("Done()", "Done0()")
        .replace("let S(", "let T(")
}

#[test]
fn translations_of_random_games_agree() {
    let mut runner = TestRunner::new(seeded(300));
    // `Cell`s, because the runner takes an `Fn` closure.
    let (played, refused, steps) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let outcome = runner.run(&game(), |text| {
        let game = toss("random", &text);
        let translation = match to_gdl(game.arena(), ToGdlLimits::default()) {
            Ok(translation) => translation,
            Err(
                ToGdlError::FixedPoints
                | ToGdlError::TooManyValues { .. }
                | ToGdlError::NumberTooLarge,
            ) => {
                refused.set(refused.get() + 1);
                return Ok(());
            }
            Err(why) => return Err(TestCaseError::fail(format!("{why}"))),
        };
        let plan = Plan { plays: 2, max_steps: 6, seed: 3 };
        match translation.compare(&game, &gdl(&translation, Severity::Error), &plan) {
            Ok(agreement) => {
                played.set(played.get() + 1);
                steps.set(steps.get() + agreement.steps());
            }
            // A payoff without a value is an error of the game.
            Err(difference)
                if matches!(difference.mismatch, Mismatch::Fault { side: Side::First, .. }) => {}
            Err(difference) => {
                return Err(TestCaseError::fail(format!("{difference}\n{}", translation.text)));
            }
        }
        Ok(())
    });
    let (n_played, n_refused) = (played.get(), refused.get());
    println!("{n_played} agree, {} steps, {n_refused} rejected", steps.get());
    outcome.unwrap_or_else(|why| panic!("{why}"));
    assert!(n_played > 200, "most games can be translated: {n_played} of 300 were");
    assert!(steps.get() > 300, "most games have moves: {} steps", steps.get());
}
