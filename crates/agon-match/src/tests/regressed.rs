//! Regressed goals say the same of many positions at once as of each by itself.

use std::path::Path;
use std::sync::Arc;

use agon_analysis::Subject;
use agon_analysis::regression::Wanted;
use agon_game::{Notation, Rng};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_search::{Budget, Judgements};
use agon_text::Source;
use rand::SeedableRng as _;

use crate::action_heuristic;

/// Follows random plays side by side, more of them than are judged in one go, and compares. Returns how often anything was said.
fn compare<P: Notation + 'static>(
    subject: &Subject,
    start: &P,
    n_plays: usize,
    n_steps: usize,
) -> usize {
    let make = || action_heuristic(subject, Wanted::default(), start, &Budget::iterations(1));
    let mut many = make().expect("there is a heuristic");
    let mut alone = make().expect("there is a heuristic");
    let mut rng = Rng::seed_from_u64(5);
    let mut positions = vec![start.clone(); n_plays];
    let (mut said, mut values, mut joint) = (Judgements::default(), Vec::new(), Vec::new());
    let mut n_said = 0;
    for step in 0..n_steps {
        for role in start.shape().roles() {
            let asked: Vec<usize> =
                (0..n_plays).filter(|&at| positions[at].legal_moves(role).len() > 1).collect();
            many.values_of_many(&positions, &asked, role, &mut said);
            assert_eq!(said.len(), asked.len());
            for (place, &at) in asked.iter().enumerate() {
                let moves = positions[at].legal_moves(role);
                let knows = alone.values(&positions[at], role, moves, &mut values);
                assert_eq!(!said.of(place).is_empty(), knows);
                if knows {
                    n_said += 1;
                    assert_eq!(said.of(place).len(), values.len());
                    for (found, wanted) in said.of(place).iter().zip(&values) {
                        assert!((found - wanted).abs() < 1e-6, "{found} is not {wanted}");
                    }
                }
            }
        }
        for position in &mut positions {
            if position.is_terminal() {
                position.go_to(start.state());
            }
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
        // What can no longer change is taken out in both.
        if step == n_steps / 2 && !positions[0].is_terminal() {
            let home = positions[0].clone();
            many.settle(&home);
            alone.settle(&home);
            positions.fill(home);
        }
    }
    n_said
}

#[test]
fn many_positions_at_once_are_judged_as_one_by_one() {
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "bidding-tic-tac-toe"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../games/gdl/{name}.kif"));
        let text = std::fs::read_to_string(&path).expect("the game ships");
        let rules = check(Arc::new(Source::new(name, &text))).rules.expect("it is right");
        let game = Game::open(rules, Options::default())
            .unwrap_or_else(|finding| panic!("{}", finding.message));
        let compiled = Arc::new(game.compile(&CircuitLimits::default()).expect("it is compiled"));
        let subject = Subject::new(Arc::clone(&game), Some(Arc::clone(&compiled)));
        assert!(compare(&subject, &compiled.start(), 37, 24) > 0, "{name}");
        // The interpreter is too slow for long plays, and of some openings nothing is said.
        compare(&subject, &game.start(), 3, 4);
    }
}
