//! The choice of the method: as given, by the recommendation, by matches.

use agon_analysis::goal_formulas::{GoalOptions, Method};
use agon_search::Budget;

use super::{GoalTermOptions, MethodChoice, informative_evaluator};
use crate::test_games::rewriting_game;

fn trial() -> GoalTermOptions {
    GoalTermOptions { choice: MethodChoice::Trial, options: GoalOptions::default() }
}

#[test]
fn the_recommended_method_depends_on_the_number_of_moves() {
    let recommended = |name: &str| MethodChoice::Recommended.without_trial(&rewriting_game(name));
    assert_eq!(recommended("connect-five"), Method::RuleConditions);
    for name in ["breakthrough", "connect-four", "pawn-whopping", "tic-tac-toe"] {
        assert_eq!(recommended(name), Method::Descriptions, "{name}");
    }
    let given = MethodChoice::Given(Method::Existential);
    assert_eq!(given.without_trial(&rewriting_game("connect-five")), Method::Existential);
}

#[test]
fn a_trial_without_a_clock_is_deterministic() {
    let game = rewriting_game("tic-tac-toe");
    let choose = || trial().choose_method(&game, &game.game().start(), &Budget::iterations(80));
    let first = choose();
    assert!(informative_evaluator(&game, first, &GoalOptions::default()).is_some());
    assert_eq!(first, choose());
}

#[test]
fn without_time_the_recommended_method_is_used() {
    let game = rewriting_game("tic-tac-toe");
    let over = Budget::until(std::time::Instant::now());
    let found = trial().choose_method(&game, &game.game().start(), &over);
    assert_eq!(found, MethodChoice::Recommended.without_trial(&game));
}

#[test]
fn terms_that_do_not_depend_on_states_are_not_informative() {
    let informative = |name: &str| {
        let game = rewriting_game(name);
        informative_evaluator(&game, Method::Descriptions, &GoalOptions::default()).is_some()
    };
    // Checkers pays by the location alone.
    assert!(!informative("checkers"));
    assert!(informative("breakthrough"));
}
