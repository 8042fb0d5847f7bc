//! The decision, and matches that count iterations instead of time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::Analysis;
use agon_game::{Notation, Rng, Role};
use agon_search::{Budget, MctsOptions};
use rand::SeedableRng as _;

use super::short_match::significant_score;
use super::{Contender, MIN_MOVE_TIME, Trial, TrialSelected, is_confirmed, move_time};
use crate::Rules;
use crate::test_games::{gdl_game, rewriting_game};

fn selection<P: Notation + 'static>(rules: Rules) -> TrialSelected<P> {
    TrialSelected::new(rules, MctsOptions::default(), 1)
}

#[test]
fn only_a_clear_win_counts() {
    let even = [1.0, 0.0].repeat(8);
    assert_eq!(significant_score(&even), None);
    assert_eq!(significant_score(&[1.0; 7]), None, "too few matches");
    assert_eq!(significant_score(&[1.0; 8]), Some(1.0));
    let mut most = vec![1.0; 13];
    most.extend([0.0; 3]);
    assert_eq!(significant_score(&most), Some(13.0 / 16.0));
    let mut some = vec![1.0; 10];
    some.extend([0.0; 6]);
    assert_eq!(significant_score(&some), None, "ten of sixteen happens by chance");
    assert_eq!(significant_score(&[0.5; 16]), None, "draws decide nothing");
    assert_eq!(significant_score(&[]), None);
    assert!(is_confirmed(&[1.0, 0.0, 0.5, 0.5]) && is_confirmed(&[1.0, 0.0]));
    assert!(!is_confirmed(&[0.5, 0.0, 1.0, 0.0]), "it wins only with little time");
    assert!(!is_confirmed(&[1.0]) && !is_confirmed(&[]), "one match is not enough");
}

#[test]
fn short_matches_are_played_to_the_end_by_either_role() {
    let game = gdl_game("tic-tac-toe");
    let analysis = Analysis::new(Arc::clone(&game), None);
    let selection = selection(Rules { gdl: Some(analysis), rewriting: None, ..Rules::default() });
    let start = game.start();
    for contender in
        [Contender::Plain, Contender::RegressedGoals, Contender::Fuzzy, Contender::Concepts]
    {
        let roles = [Role::new(0), Role::new(1)];
        let trial = Trial {
            selection: &selection,
            contender,
            opponent: Contender::Plain,
            roles,
            until: Instant::now(),
        };
        let score = |own: Role| {
            let mut rng = Rng::seed_from_u64(5);
            let mut budget = || Some(Budget::iterations(40));
            trial.play_one(&start, own, &mut budget, &mut rng).expect("there is no clock")
        };
        for own in roles {
            let first = score(own);
            assert!([0.0, 0.5, 1.0].contains(&first), "{contender:?} as {own:?}: {first}");
            assert_eq!(first, score(own), "{contender:?}: iterations do not depend on time");
        }
        let mut n_left = 3;
        let mut budget = || {
            n_left -= 1;
            (n_left > 0).then(|| Budget::iterations(10))
        };
        let cut = trial.play_one(&start, roles[0], &mut budget, &mut Rng::seed_from_u64(5));
        assert_eq!(cut, None, "a match without time has no score");
    }
}

#[test]
fn without_a_clock_plain_search_is_chosen() {
    let game = gdl_game("tic-tac-toe");
    let analysis = Analysis::new(Arc::clone(&game), None);
    let mut selection =
        selection(Rules { gdl: Some(analysis), rewriting: None, ..Rules::default() });
    let start = game.start();
    assert_eq!(selection.choose(&start, &Budget::iterations(1000)), Contender::Plain);
    assert_eq!(selection.choose(&start, &Budget::nodes(1000)), Contender::Plain);
    assert_eq!(selection.choose(&start, &Budget::until(Instant::now())), Contender::Plain);
}

#[test]
fn structure_rewriting_games_have_contenders_of_their_own() {
    let game = rewriting_game("tic-tac-toe");
    let by_terms =
        selection(Rules { gdl: None, rewriting: Some(game.clone()), ..Rules::default() });
    let contenders = [Contender::GoalTerms, Contender::GoalTermsInTree];
    assert_eq!(by_terms.contenders(Duration::from_secs(1)), contenders);
    let roles = [Role::new(0), Role::new(1)];
    for contender in contenders {
        let trial = Trial {
            selection: &by_terms,
            contender,
            opponent: Contender::Plain,
            roles,
            until: Instant::now(),
        };
        let mut budget = || Some(Budget::iterations(40));
        let start = game.game().start();
        let score = trial.play_one(&start, roles[0], &mut budget, &mut Rng::seed_from_u64(5));
        assert!(
            score.is_some_and(|score| [0.0, 0.5, 1.0].contains(&score)),
            "{contender:?}: {score:?}"
        );
    }
    // Checkers pays by the location alone, so its terms do not depend on states.
    let checkers =
        Rules { gdl: None, rewriting: Some(rewriting_game("checkers")), ..Rules::default() };
    let by_terms = selection::<agon_toss::interpreter::Interpreter>(checkers);
    assert_eq!(by_terms.contenders(Duration::from_secs(1)), []);
}

/// In a long game and a short start clock, fewer matches are better than none: without any, the
/// learnt evaluation would be used untested.
#[test]
fn fewer_matches_are_planned_where_time_is_short() {
    let ms = Duration::from_millis;
    assert_eq!(move_time(ms(12_000), 12, 50), Some(ms(20)));
    assert_eq!(move_time(ms(900), 12, 60), Some(MIN_MOVE_TIME), "7 matches of 120 ms");
    assert_eq!(move_time(ms(480), 12, 60), Some(MIN_MOVE_TIME), "4 matches of 120 ms");
    assert_eq!(move_time(ms(479), 12, 60), None, "no time for 4 matches");
    assert_eq!(move_time(ms(20), 1, 10), Some(MIN_MOVE_TIME), "1 match was asked for");
}
