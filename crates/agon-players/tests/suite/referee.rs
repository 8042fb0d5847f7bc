//! The referee, without threads and clocks.

use agon_game::Role;
use agon_match::{Ending, Match, MatchOptions, MoveError, PlayerError};

use super::games::{shipped, table};

fn start(game: &str, options: MatchOptions) -> Match {
    Match::new(table(shipped(game).start()), options, 0)
}

fn answer(text: &str) -> Result<String, PlayerError> {
    Ok(text.to_owned())
}

#[test]
fn moves_are_read_in_any_spelling() {
    let mut game = start("tic-tac-toe", MatchOptions::default());
    let [x, o] = [Role::new(0), Role::new(1)];
    assert_eq!(game.asked(), [x, o]);
    game.receive(x, answer("( MARK 2\n 2 ) (taunt ha)"));
    assert_eq!(game.asked(), [o]);
    game.receive(o, answer("(noop)"));
    // Only the first answer counts.
    game.receive(x, answer("(mark 1 1)"));
    let step = game.make_step(5).expect("play goes on").clone();
    assert_eq!(step.joint, ["(mark 2 2)", "noop"]);
    assert!(step.errors.iter().all(Option::is_none));
    assert_eq!(game.state_times(), [0, 5]);
    let observation = game.observation(o).expect("a step was made");
    assert_eq!((observation.step, observation.own.as_str()), (1, "noop"));
    assert_eq!(observation.seen, ["(mark 2 2)", "noop"]);
}

#[test]
fn bad_moves_are_replaced_and_recorded() {
    let [x, o] = [Role::new(0), Role::new(1)];
    let answers = [
        (answer("(mark 9 9)"), "IL ( mark 9 9 )"),
        (answer("(mark 1"), "IL null"),
        (answer(""), "IL null"),
        (answer("(mark ?x 1)"), "IL ( mark ?x 1 )"),
        (Err(PlayerError::Late), "TO"),
        (Err(PlayerError::Unreachable("gone".to_owned())), "CE"),
        (Err(PlayerError::Broken("nonsense".to_owned())), "IN"),
    ];
    for (bad, code) in answers {
        let mut game = start("tic-tac-toe", MatchOptions::default());
        game.receive(x, bad);
        game.receive(o, answer("noop"));
        let legal = game.table().legal_moves(x);
        let step = game.make_step(1).expect("play goes on").clone();
        assert!(legal.contains(&step.joint[0]), "{code}: {:?}", step.joint);
        assert_eq!(step.errors[0].as_ref().map(MoveError::code).as_deref(), Some(code));
        assert_eq!(step.errors[1], None);
        assert_eq!(
            game.observation(x).map(|observation| observation.own),
            Some(step.joint[0].clone()),
            "the player observes the move that was made for it"
        );
    }
}

#[test]
fn a_match_without_answers_goes_on_to_its_end() {
    let mut game = start("tic-tac-toe", MatchOptions::default());
    while game.make_step(1).is_some() {}
    assert!(matches!(game.ending(), Some(Ending::Finished(_))));
    let late = Some(MoveError::NoMove(PlayerError::Late));
    assert!(game.steps().iter().all(|step| step.errors == [late.clone(), late.clone()]));
}

#[test]
fn errors_of_players_do_not_change_the_dice() {
    let dice = |fails: fn(usize) -> bool| {
        let mut game = start("dice-race", MatchOptions { seed: 9, ..MatchOptions::default() });
        let nature = game.shape().nature.expect("the game has dice");
        let mut thrown = Vec::new();
        for _ in 0..6 {
            for role in game.asked() {
                let legal = game.table().legal_moves(role);
                // With one legal move, the substitute makes the move that the player would make.
                let late = fails(legal.len());
                game.receive(role, if late { Err(PlayerError::Late) } else { answer(&legal[0]) });
            }
            let Some(step) = game.make_step(1) else { break };
            thrown.push(step.joint[nature.index()].clone());
        }
        (thrown, game.steps().iter().any(|step| step.errors.iter().any(Option::is_some)))
    };
    let (without, has_none) = dice(|_| false);
    let (with, has_some) = dice(|n_moves| n_moves == 1);
    assert_eq!(without, with);
    assert!(!has_none && has_some, "the second match has errors, the first has none");
}

#[test]
fn matches_end_by_limit_or_by_a_player() {
    let mut game = start("tic-tac-toe", MatchOptions { max_steps: 2, ..MatchOptions::default() });
    assert!(game.make_step(1).is_some() && game.make_step(2).is_some());
    assert_eq!(game.ending(), Some(&Ending::TooLong));
    assert!(game.make_step(3).is_none() && game.asked().is_empty());

    let mut game = start("tic-tac-toe", MatchOptions::default());
    game.receive(Role::new(1), Err(PlayerError::Stop));
    assert_eq!(game.ending(), Some(&Ending::Stopped(Role::new(1))));
    assert!(game.make_step(1).is_none());

    let mut game = start("tic-tac-toe", MatchOptions::default());
    game.not_ready(Role::new(0), &PlayerError::Late);
    assert_eq!(game.start_errors(), ["TO", ""]);
    assert!(!game.is_over());
}

#[test]
fn an_opening_is_played_without_asking() {
    let opening = vec![vec!["(mark 2 2)".to_owned(), "noop".to_owned()]];
    let mut game = start("tic-tac-toe", MatchOptions { opening, ..MatchOptions::default() });
    assert!(game.is_opening() && game.asked().is_empty());
    assert_eq!(game.make_step(1).expect("play goes on").joint, ["(mark 2 2)", "noop"]);
    assert_eq!(game.asked().len(), 2);
    // An opening contains the moves of nature too.
    let deal = ["noop", "noop", "(deal queen king)"].map(str::to_owned).to_vec();
    let opening = vec![deal.clone()];
    let mut game = start("kuhn-poker", MatchOptions { opening, ..MatchOptions::default() });
    assert_eq!(game.make_step(1).expect("play goes on").joint, deal);
}
