//! The decision, and matches that are counted instead of timed.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::Subject;
use agon_game::{Rng, Role};
use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Options};
use agon_search::{Budget, MctsOptions};
use agon_text::Source;
use rand::SeedableRng as _;

use super::bout::sure_score;
use super::{Contender, Trial, Tried, is_confirmed};

#[test]
fn only_a_clear_win_counts() {
    let even = [1.0, 0.0].repeat(8);
    assert_eq!(sure_score(&even), None);
    assert_eq!(sure_score(&[1.0; 7]), None, "so few are no trial");
    assert_eq!(sure_score(&[1.0; 8]), Some(1.0));
    let mut most = vec![1.0; 13];
    most.extend([0.0; 3]);
    assert_eq!(sure_score(&most), Some(13.0 / 16.0));
    let mut some = vec![1.0; 10];
    some.extend([0.0; 6]);
    assert_eq!(sure_score(&some), None, "ten of sixteen happens by chance");
    assert_eq!(sure_score(&[0.5; 16]), None, "draws decide nothing");
    assert_eq!(sure_score(&[]), None);
    assert!(is_confirmed(&[1.0, 0.0, 0.5, 0.5]) && is_confirmed(&[1.0, 0.0]));
    assert!(!is_confirmed(&[0.5, 0.0, 1.0, 0.0]), "what wins only in a hurry");
    assert!(!is_confirmed(&[1.0]) && !is_confirmed(&[]), "one match is none");
}

fn tic_tac_toe() -> Arc<Game> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/gdl/tic-tac-toe.kif");
    let text = std::fs::read_to_string(path).expect("the game ships");
    let rules = check(Arc::new(Source::new("tic-tac-toe", &text))).rules.expect("it is right");
    Game::open(rules, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message))
}

#[test]
fn short_matches_are_played_to_the_end_by_either_role() {
    let game = tic_tac_toe();
    let by =
        Tried::new(Some(Subject::new(Arc::clone(&game), None)), None, MctsOptions::default(), 1);
    let start = game.start();
    for contender in [Contender::Plain, Contender::Tree, Contender::Fuzzy, Contender::Concepts] {
        let roles = [Role::new(0), Role::new(1)];
        let trial = Trial { by: &by, contender, roles, until: Instant::now() };
        let score = |own: Role| {
            let mut rng = Rng::seed_from_u64(5);
            let mut budget = || Some(Budget::iterations(40));
            trial.play_one(&start, own, &mut budget, &mut rng).expect("there is no clock")
        };
        for own in roles {
            let first = score(own);
            assert!([0.0, 0.5, 1.0].contains(&first), "{contender:?} as {own:?}: {first}");
            assert_eq!(
                first,
                score(own),
                "{contender:?}: under iterations nothing depends on time"
            );
        }
        let mut n_left = 3;
        let mut budget = || {
            n_left -= 1;
            (n_left > 0).then(|| Budget::iterations(10))
        };
        let cut = trial.play_one(&start, roles[0], &mut budget, &mut Rng::seed_from_u64(5));
        assert_eq!(cut, None, "without time there is no result");
    }
}

#[test]
fn without_a_clock_nothing_is_tried() {
    let game = tic_tac_toe();
    let by =
        Tried::new(Some(Subject::new(Arc::clone(&game), None)), None, MctsOptions::default(), 1);
    assert_eq!(by.choose(&game.start(), &Budget::iterations(1000)), Contender::Plain);
    assert_eq!(by.choose(&game.start(), &Budget::nodes(1000)), Contender::Plain);
    assert_eq!(by.choose(&game.start(), &Budget::until(Instant::now())), Contender::Plain);
}

/// Terms made of goals are tried where the game is structure rewriting, and where they say something.
#[test]
fn structure_rewriting_games_have_contenders_of_their_own() {
    let game = crate::terms::tests::shipped("tic-tac-toe");
    let by = Tried::new(None, Some(Arc::clone(&game)), MctsOptions::default(), 1);
    let contenders = [Contender::Terms, Contender::TermsInTree];
    assert_eq!(by.contenders(Duration::from_secs(1)), contenders);
    let roles = [Role::new(0), Role::new(1)];
    for contender in contenders {
        let trial = Trial { by: &by, contender, roles, until: Instant::now() };
        let mut budget = || Some(Budget::iterations(40));
        let score =
            trial.play_one(&game.start(), roles[0], &mut budget, &mut Rng::seed_from_u64(5));
        assert!(
            score.is_some_and(|score| [0.0, 0.5, 1.0].contains(&score)),
            "{contender:?}: {score:?}"
        );
    }
    // Checkers pays by the location alone, so its terms would say nothing.
    let by: Tried<agon_toss::interpreter::Interpreter> =
        Tried::new(None, Some(crate::terms::tests::shipped("checkers")), MctsOptions::default(), 1);
    assert_eq!(by.contenders(Duration::from_secs(1)), []);
}
