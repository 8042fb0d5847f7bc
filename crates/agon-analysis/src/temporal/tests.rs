mod oracle;

use std::sync::Arc;

use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Options};
use agon_testkit::files;
use agon_text::Source;

use super::*;

fn game(rules: &str) -> Arc<Game> {
    let rules = check(Arc::new(Source::new("game", rules))).rules.expect("the rules are sound");
    Game::open(rules, Options::default()).expect("the game can be opened")
}

fn shipped(name: &str) -> Arc<Game> {
    let path = files::repository().join("games/gdl").join(format!("{name}.kif"));
    game(&std::fs::read_to_string(path).expect("the game ships"))
}

fn decided(game: &Arc<Game>, formula: &str) -> Decision {
    let formula = Formula::parse(formula).expect("the formula is right");
    decide(game, &formula, &SafetyLimits::default()).expect("the game has a circuit")
}

/// A walker goes from 1 to `n` and may stop at 2 for ever if `can_wait`.
fn walker(n: usize, can_wait: bool) -> String {
    let mut rules = String::from(
        "(role robot) (init (at 1)) (init (step 1))
         (<= (legal robot go) (true (at ?n)))
         (<= (next (at ?m)) (does robot go) (true (at ?n)) (succ ?n ?m))
         (<= (goal robot 100) terminal) (<= (goal robot 0) (not terminal))",
    );
    (1..n).for_each(|i| rules.push_str(&format!("(succ {i} {})", i + 1)));
    rules.push_str(&format!("(<= terminal (true (at {n})))"));
    if can_wait {
        rules.push_str("(<= (legal robot wait) (true (at 2)))");
        rules.push_str("(<= (next (at ?n)) (does robot wait) (true (at ?n)))");
    }
    rules
}

#[test]
fn formulas_are_read_or_explained() {
    assert!(matches!(Formula::parse("(always (not terminal))"), Ok(Formula::Always(_))));
    assert!(matches!(Formula::parse("(eventually terminal)"), Ok(Formula::Until(..))));
    let wrong = |text: &str| Formula::parse(text).expect_err("it is wrong").to_string();
    assert!(wrong("(alwais terminal)").contains("did you mean `always`?"));
    assert!(wrong("(until terminal)").contains("takes 2 conditions"));
    assert!(wrong("(always (cell (never terminal) 1))").contains("no temporal word"));
    assert!(wrong("(and terminal terminal)").contains("none of the words"));
    assert!(wrong("(always (implies (p ?x) (eventually (q ?x))))").contains("`?x` occurs in two"));
    assert!(wrong("(until (p ?x) (q ?x))").contains("`?x` occurs in two"));
    assert!(wrong("(always (implies terminal))").contains("takes 2 parts"));
    assert!(wrong("(implies (always terminal))").contains("takes 2 parts"));
    assert!(wrong("(always (does x y))").contains("about a step"));
    assert!(wrong("(always terminal").contains("parenthesis"));
    assert!(wrong("terminal").contains("one list"));
    assert!(wrong("").contains("one list"));
    assert!(wrong(&format!("(always {}", "(not ".repeat(1000))).contains("at most"));
}

#[test]
fn safety_of_tic_tac_toe() {
    let game = shipped("tic-tac-toe");
    let both = decided(&game, "(never (and (true (cell ?x ?y x)) (true (cell ?x ?y o))))");
    assert_eq!(both.verdict, Verdict::Proved, "{both:?}");
    let wins = decided(&game, "(reachable (and terminal (goal xplayer 100)))");
    assert_eq!(wins.verdict, Verdict::Proved);
    assert_eq!(wins.line.map(|line| line.len()), Some(5), "x needs three marks");
    let full = decided(&game, "(never (not (cell ?x ?y blank)))");
    assert_eq!((full.verdict, full.line.map(|line| line.len())), (Verdict::Refuted, Some(9)));
    assert_eq!(decided(&game, "(eventually terminal)").verdict, Verdict::Proved);
    let playable = "(always (or terminal (and (legal xplayer ?a) (legal oplayer ?b))))";
    assert_eq!(decided(&game, playable).verdict, Verdict::Proved);
}

#[test]
fn until_and_endless_plays() {
    let short = game(&walker(4, false));
    let (open, end) = ("(not (at 4))", "(at 4)");
    assert_eq!(decided(&short, &format!("(until {open} {end})")).verdict, Verdict::Proved);
    assert_eq!(decided(&short, "(until (at 1) (at 3))").verdict, Verdict::Refuted);
    let patient = game(&walker(4, true));
    let endless = decided(&patient, "(eventually terminal)");
    assert_eq!((endless.verdict, endless.is_endless), (Verdict::Refuted, true));
    let line = endless.line.expect("a play is shown");
    assert_eq!(line.last().map(|joint| joint[0].as_str()), Some("wait"));
}

#[test]
fn induction_needs_no_enumeration() {
    let game = game(&walker(40, false));
    let formula = Formula::parse("(never (and (true (at 1)) (true (at 7))))").expect("it is right");
    let limits = SafetyLimits { states: 0, plays: 1, steps: 5, ..SafetyLimits::default() };
    let decision = decide(&game, &formula, &limits).expect("the game has a circuit");
    assert_eq!(decision.verdict, Verdict::Proved, "{decision:?}");
    assert!(matches!(decision.reason, Some(Reason::Induction(_) | Reason::Length(_))));
    let far = Formula::parse("(reachable (true (at 39)))").expect("it is right");
    let limits = SafetyLimits { states: 0, plays: 0, steps: 3, ..SafetyLimits::default() };
    let unknown = decide(&game, &far, &limits).expect("the game has a circuit");
    assert_eq!((unknown.verdict, unknown.bound), (Verdict::Unknown, 3), "{unknown:?}");
}

#[test]
fn unknown_names_are_explained() {
    let game = shipped("tic-tac-toe");
    let wrong = |text: &str| {
        let formula = Formula::parse(text).expect("the syntax is right");
        decide(&game, &formula, &SafetyLimits::default()).expect_err("it is wrong").to_string()
    };
    assert!(wrong("(never (cel 1 1 x))").contains("did you mean `cell`?"));
    assert!(wrong("(never (cell 1 1 z))").contains("do not mention `z`"));
    assert!(wrong("(never (next (cell 1 1 x)))").contains("`true`"));
}

#[test]
fn formulas_nest() {
    let game = shipped("tic-tac-toe");
    // A mark stays for ever.
    let stays = decided(&game, "(always (implies (cell 1 1 x) (always (cell 1 1 x))))");
    assert_eq!(stays.verdict, Verdict::Proved, "{stays:?}");
    // Winning does not stay possible: after some moves, o can only draw or lose.
    let possible = decided(&game, "(always (reachable (goal oplayer 100)))");
    assert_eq!(possible.verdict, Verdict::Refuted);
    assert!(possible.rest.is_some_and(|rest| rest.ends_with("does not hold")));
    let cell = decided(&game, "(always (implies (cell 2 2 x) (reachable (goal oplayer 100))))");
    let rest = "(reachable (goal oplayer 100)) does not hold";
    assert_eq!(cell.rest.as_deref(), Some(rest), "the temporal part alone is named");
    assert!(possible.line.is_some_and(|line| !line.is_empty()));
    // From some state on, every play ends with a win of x.
    let forced = "(reachable (and (not terminal) (eventually (and terminal (goal xplayer 100)))))";
    let forced = decided(&game, forced);
    assert_eq!(forced.verdict, Verdict::Proved);
    assert!(forced.rest.is_some_and(|rest| rest.starts_with("(eventually")), "all plays show it");
    let both = "(and (eventually terminal) (reachable (goal xplayer 100)))";
    assert_eq!(decided(&game, both).verdict, Verdict::Proved);
    let either = "(or (always (not terminal)) (reachable (goal xplayer 30)))";
    assert_eq!(decided(&game, either).verdict, Verdict::Refuted);
}

#[test]
fn endless_plays_are_found_by_the_solver() {
    let patient = game(&walker(4, true));
    let formula = Formula::parse("(always (implies (at 2) (eventually terminal)))");
    let limits = SafetyLimits { states: 0, plays: 0, steps: 10, ..SafetyLimits::default() };
    let decision = decide(&patient, &formula.expect("it is right"), &limits);
    let decision = decision.expect("the game has a circuit");
    assert_eq!((decision.verdict, decision.loop_start), (Verdict::Refuted, Some(2)));
    assert_eq!(decision.line.map(|line| line.len()), Some(3), "go to 2, and wait twice");
}

#[test]
fn conditions_of_a_state_stand_in_for_what_is_too_large() {
    let limits = SafetyLimits { states: 0, plays: 0, steps: 45, ..SafetyLimits::default() };
    let long = game(&walker(40, false));
    let ask = |text: &str| {
        let formula = Formula::parse(text).expect("it is right");
        decide(&long, &formula, &limits).expect("the game has a circuit")
    };
    // The play ends at 40, so that 7 cannot be reached from there.
    assert_eq!(ask("(always (reachable (at 7)))").verdict, Verdict::Refuted);
    // At each state, the inside is true by the state alone.
    let stays = "(always (or (not terminal) (reachable (at 40))))";
    assert_eq!(ask(stays).verdict, Verdict::Proved);
    assert_eq!(ask("(reachable (always (at 40)))").verdict, Verdict::Proved);
    let unknown = ask("(always (reachable (at 40)))");
    assert_eq!(unknown.verdict, Verdict::Unknown);
    assert!(unknown.why.is_some_and(|why| why.contains("too many states")));
}

#[test]
fn play_ends_where_a_weighted_sum_of_fluents_grows() {
    // No step of these games changes a fluent for ever, and they have no step counter.
    for (name, most) in [("connect-four", 1_000), ("clobber", 1_000), ("breakthrough", 10_000)] {
        let decision = decided(&shipped(name), "(eventually terminal)");
        assert_eq!(decision.verdict, Verdict::Proved, "{name}: {decision:?}");
        let Some(Reason::Length(steps)) = decision.reason else { panic!("{name}: {decision:?}") };
        assert!(steps <= most, "{name}: {steps} steps");
    }
}

#[test]
fn a_play_that_can_turn_back_has_no_bound() {
    // The robot walks along a row of 40 places with 40 lamps, which it switches as it likes: too
    // many states to visit.
    let mut rules = String::from(
        "(role robot) (init (at 1))
         (<= (legal robot (switch ?n)) (lamp ?n)) (legal robot go)
         (<= (next (at ?m)) (does robot go) (true (at ?n)) (succ ?n ?m))
         (<= (next (at ?n)) (true (at ?n)) (does robot (switch ?l)))
         (<= (next (lit ?l)) (does robot (switch ?l)) (not (true (lit ?l))))
         (<= (next (lit ?l)) (true (lit ?l)) (not (does robot (switch ?l))))
         (<= terminal (true (at 40)))
         (<= (goal robot 100) terminal) (<= (goal robot 0) (not terminal))",
    );
    (1..=40).for_each(|i| rules.push_str(&format!("(lamp {i}) (succ {i} {})", i + 1)));
    let decision = decided(&game(&rules), "(eventually terminal)");
    assert_eq!(decision.verdict, Verdict::Refuted, "{decision:?}");
    assert!(decision.is_endless);
}
