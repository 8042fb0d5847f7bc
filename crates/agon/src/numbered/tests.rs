//! Numbered positions agree with positions with text moves.

use agon_game::{Rng, Role};
use rand::SeedableRng as _;

use super::{Numbers, ToMove};
use crate::open::{EngineChoice, OpenOptions};
use crate::{Game, PlayError};

#[test]
fn numbered_positions_agree_with_text() {
    for name in ["tic-tac-toe", "kuhn-poker", "pursuit", "toss/connect-four"] {
        let game = Game::open(name).expect("it ships");
        let numbers = Numbers::of(&game).expect("it has a circuit");
        let mut rng = Rng::seed_from_u64(5);
        for _ in 0..5 {
            let mut position = numbers.start();
            for _ in 0..200 {
                let other = position.to_position();
                assert_eq!(other.is_terminal(), position.is_terminal());
                assert_eq!(other.state(), position.facts());
                for role in game.shape().roles() {
                    let texts: Vec<&str> = position
                        .legal(role)
                        .map(|action| numbers.text(role, action).expect("a legal move"))
                        .collect();
                    assert_eq!(other.legal_moves(role), texts, "{name}");
                    assert_eq!(other.payoff(role), position.payoff(role));
                    let actions = position.legal(role).zip(&texts);
                    for (action, text) in actions {
                        assert_eq!(numbers.action(role, text), Some(action));
                    }
                }
                if position.is_terminal() {
                    break;
                }
                position.play_random(&mut rng);
            }
            assert_eq!(position.history().len(), position.n_steps());
        }
    }
}

#[test]
fn players_share_actions_and_nature_has_its_own() {
    let game = Game::open("kuhn-poker").expect("it ships");
    let numbers = Numbers::of(&game).expect("it has a circuit");
    assert!(numbers.actions().iter().all(|text| !text.starts_with("(deal")));
    assert!(numbers.nature_moves().iter().any(|text| text.starts_with("(deal")));
    let position = numbers.start();
    let nature = game.shape().nature.expect("it has chance");
    let total: f64 = position.legal(nature).map(|action| position.chance(action)).sum();
    assert!((total - 1.0).abs() < 1e-12);
    assert_eq!(position.legal(nature).len(), 6);
}

#[test]
fn an_illegal_move_changes_nothing_and_says_what_is_legal() {
    let numbers = Numbers::of(&Game::open("tic-tac-toe").expect("it ships")).expect("a circuit");
    let mut position = numbers.start();
    assert_eq!(position.to_move(), ToMove::One(Role::new(0)));
    let error = position.play(&[9999, 0]).expect_err("there is no such action");
    assert!(matches!(error, PlayError::Illegal(_)));
    assert!(error.to_string().contains("legal here: `(mark 1 1)`"), "{error}");
    assert!(position.play(&[0]).is_err());
    assert_eq!(position.n_steps(), 0);
}

#[test]
fn a_game_without_circuit_has_no_numbers() {
    let options = OpenOptions { engine: EngineChoice::Interpreter, ..OpenOptions::default() };
    let game = Game::open_with("tic-tac-toe", &options).expect("it ships");
    let why = Numbers::of(&game).expect_err("the interpreter plays it").to_string();
    assert!(why.starts_with("moves have no fixed numbers: "), "{why}");
}

#[test]
fn turns_are_proved_where_at_most_one_player_chooses() {
    for (name, is_proved) in [
        ("tic-tac-toe", true),
        ("dots-and-boxes", true),
        ("dice-race", true),
        ("kuhn-poker", true),
        ("hanoi", true),
        ("blocker", false),
        ("pursuit", false),
    ] {
        let numbers = Numbers::of(&Game::open(name).expect("it ships")).expect("it has a circuit");
        assert_eq!(numbers.is_turn_taking(), is_proved, "{name}");
    }
}
