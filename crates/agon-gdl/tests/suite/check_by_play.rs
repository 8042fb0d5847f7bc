//! Faults that show only in play: each of these small games has one of them.

use std::sync::Arc;

use agon_gdl::by_play::{PlayPlan, check_by_play};
use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

/// Returns the codes that checking by play reports, with their lines.
fn found(rules: &str) -> Vec<(&'static str, usize)> {
    let source = Arc::new(Source::new("game.kif", rules));
    let rules = check(Arc::clone(&source)).rules.expect("the fault shows only in play");
    let game = Game::open(rules, Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message));
    let plan = PlayPlan { plays: 10, max_steps: 100, ..PlayPlan::default() };
    let findings = check_by_play(&game, &plan, &mut || {});
    findings.0.iter().map(|f| (f.code, source.place(f.span.start()).line)).collect()
}

#[test]
fn a_role_without_a_move() {
    let rules = "(role a)
(role b)
(init (n 1)) (succ 1 2) (succ 2 3)
(<= (legal a go) (true (n 1)))
(legal b go)
(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
(<= terminal (true (n 3)))
(goal a 50) (goal b 50)";
    assert_eq!(found(rules), [("play-no-legal-move", 1)]);
}

#[test]
fn no_goal_and_several_goals_at_the_end() {
    let rules = "(role a) (role b) (init s)
(legal a go) (legal b go)
(<= (next t) (true s) (does a go))
(<= terminal (true t))
(goal a 100) (goal a 0)
(<= (goal b 10) (true s))";
    assert_eq!(found(rules), [("play-no-goal", 6), ("play-several-goals", 5)]);
}

#[test]
fn endless_play_and_incomplete_declarations() {
    let rules = "(role a) (init s)
(base s)
(input a go)
(legal a go) (legal a stay)
(<= (next s) (true s))
(<= (next u) (does a stay))
(<= terminal (true u) (not (true s)))
(goal a 50)";
    let expected = [("play-endless", 7), ("play-move-not-input", 3), ("play-fluent-not-base", 2)];
    assert_eq!(found(rules), expected);
}

#[test]
fn a_player_that_cannot_know_its_moves() {
    let blind = "(role a)
(role random)
(init start) (side l) (side r)
(<= (legal random (pick ?x)) (true start) (side ?x))
(<= (legal random noop) (not (true start)))
(<= (legal a noop) (true start))
(<= (legal a ?x) (true (picked ?x)))
(<= (next (picked ?x)) (does random (pick ?x)))
(<= (next (picked ?x)) (true (picked ?x)))
(<= (next end) (not (true start)))
(<= (sees a hello) (true start))
(<= terminal (true end))
(goal a 50)";
    assert_eq!(found(blind), [("play-unknown-own-moves", 1)]);
    let seeing =
        blind.replace("(sees a hello) (true start)", "(sees a ?x) (does random (pick ?x))");
    assert_eq!(found(&seeing), []);
}

#[test]
fn endlessly_growing_terms_exceed_the_limits() {
    let rules = "(role a) (init (n z))
(legal a go)
(<= (next (n (s ?x))) (true (n ?x)))
(<= terminal (true (n (s (s z)))) (not (true (n (s (s z))))))
(goal a 50)";
    let plan_reaches_the_limit = PlayPlan { plays: 1, ..PlayPlan::default() };
    let source = Arc::new(Source::new("game.kif", rules));
    let checked = check(source).rules.expect("the fault shows only in play");
    let game = Game::open(checked, Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message));
    let findings = check_by_play(&game, &plan_reaches_the_limit, &mut || {});
    assert!(findings.0.iter().any(|f| f.code == "play-refused"), "{findings:?}");
}
