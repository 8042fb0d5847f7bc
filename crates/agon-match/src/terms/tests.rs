//! The choice between terms: as told, by the paper's rule, by matches that are counted.

use std::path::Path;
use std::sync::Arc;

use agon_analysis::goal_formulas::{GoalOptions, Method, RewritingGame};
use agon_search::Budget;
use agon_text::Source;
use agon_toss::check::check;
use agon_toss::interpreter::{Game, Options};

use super::{MethodChoice, telling_judge};

pub(crate) fn shipped(name: &str) -> Arc<RewritingGame> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../games/toss/{name}.toss"));
    let text = std::fs::read_to_string(path).expect("the game ships");
    let arena = check(Arc::new(Source::new(name, text))).arena.expect("it is right");
    Game::open(arena, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message))
}

#[test]
fn the_paper_goes_by_branching() {
    let of = |name: &str| MethodChoice::Suitable.method(&shipped(name));
    assert_eq!(of("connect-five"), Method::RuleConditions);
    for name in ["breakthrough", "connect-four", "pawn-whopping", "tic-tac-toe"] {
        assert_eq!(of(name), Method::Descriptions, "{name}");
    }
    assert_eq!(
        MethodChoice::Given(Method::Existential).method(&shipped("connect-five")),
        Method::Existential
    );
}

#[test]
fn a_trial_under_a_count_always_ends_alike() {
    let game = shipped("tic-tac-toe");
    let options = GoalOptions::default();
    let decide =
        || MethodChoice::Trial.decide(&game, &options, &game.start(), &Budget::iterations(80));
    let first = decide();
    assert!(telling_judge(&game, first, &options).is_some());
    assert_eq!(first, decide());
}

#[test]
fn without_time_the_paper_decides() {
    let game = shipped("tic-tac-toe");
    let options = GoalOptions::default();
    let over = Budget::until(std::time::Instant::now());
    let found = MethodChoice::Trial.decide(&game, &options, &game.start(), &over);
    assert_eq!(found, MethodChoice::Suitable.method(&game));
}

#[test]
fn terms_that_say_nothing_are_none() {
    assert!(
        telling_judge(&shipped("checkers"), Method::Descriptions, &GoalOptions::default())
            .is_none()
    );
    assert!(
        telling_judge(&shipped("breakthrough"), Method::Descriptions, &GoalOptions::default())
            .is_some()
    );
}
