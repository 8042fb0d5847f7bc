//! The referee, fed with events.

use agon_game::Role;
use agon_match::{Ending, Lapse, Match, MatchOptions, Slip};

use super::games::{shipped, table};

fn begin(game: &str, options: MatchOptions) -> Match {
    Match::new(table(shipped(game).start()), options, 0)
}

fn say(text: &str) -> Result<String, Lapse> {
    Ok(text.to_owned())
}

#[test]
fn whatever_the_spelling_a_legal_move_is_made() {
    let mut game = begin("tic-tac-toe", MatchOptions::default());
    let [x, o] = [Role::new(0), Role::new(1)];
    assert_eq!(game.asked(), [x, o]);
    game.hear(x, say("( MARK 2\n 2 ) (taunt ha)"));
    assert_eq!(game.asked(), [o]);
    game.hear(o, say("(noop)"));
    // The first answer counts.
    game.hear(x, say("(mark 1 1)"));
    let step = game.make_step(5).expect("play goes on").clone();
    assert_eq!(step.joint, ["(mark 2 2)", "noop"]);
    assert!(step.slips.iter().all(Option::is_none));
    assert_eq!(game.state_times(), [0, 5]);
    let news = game.news(o).expect("a step was made");
    assert_eq!((news.step, news.own.as_str()), (1, "noop"));
    assert_eq!(news.seen, ["(mark 2 2)", "noop"]);
}

#[test]
fn bad_moves_are_replaced_and_written_down() {
    let [x, o] = [Role::new(0), Role::new(1)];
    let answers = [
        (say("(mark 9 9)"), "IL ( mark 9 9 )"),
        (say("(mark 1"), "IL null"),
        (say(""), "IL null"),
        (say("(mark ?x 1)"), "IL ( mark ?x 1 )"),
        (Err(Lapse::Late), "TO"),
        (Err(Lapse::Unreachable("gone".to_owned())), "CE"),
        (Err(Lapse::Broken("nonsense".to_owned())), "IN"),
    ];
    for (answer, code) in answers {
        let mut game = begin("tic-tac-toe", MatchOptions::default());
        game.hear(x, answer);
        game.hear(o, say("noop"));
        let legal = game.table().legal_moves(x);
        let step = game.make_step(1).expect("play goes on").clone();
        assert!(legal.contains(&step.joint[0]), "{code}: {:?}", step.joint);
        assert_eq!(step.slips[0].as_ref().map(Slip::code).as_deref(), Some(code));
        assert_eq!(step.slips[1], None);
        assert_eq!(
            game.news(x).map(|news| news.own),
            Some(step.joint[0].clone()),
            "it learns what was done"
        );
    }
    // Nobody said anything: both are late, and the match goes on to its end.
    let mut game = begin("tic-tac-toe", MatchOptions::default());
    while game.make_step(1).is_some() {}
    assert!(matches!(game.ending(), Some(Ending::Finished(_))));
    assert!(game.steps().iter().all(|step| step.slips == vec![Some(Slip::Lapse(Lapse::Late)); 2]));
}

#[test]
fn a_slip_does_not_change_the_dice() {
    let dice = |first_player_slips: bool| {
        let mut game = begin("dice-race", MatchOptions { seed: 9, ..MatchOptions::default() });
        let nature = game.shape().nature.expect("there are dice");
        let mut thrown = Vec::new();
        for _ in 0..6 {
            for role in game.asked() {
                let first = game.table().legal_moves(role)[0].clone();
                // A slip where there is one move only: what is done is the same, what is drawn for it is not.
                let is_slip = first_player_slips && game.table().legal_moves(role).len() == 1;
                game.hear(role, if is_slip { Err(Lapse::Late) } else { Ok(first) });
            }
            let Some(step) = game.make_step(1) else { break };
            thrown.push(step.joint[nature.index()].clone());
        }
        (thrown, game.steps().iter().any(|step| step.slips.iter().any(Option::is_some)))
    };
    let ((clean, none), (other, some)) = (dice(false), dice(true));
    assert_eq!(clean, other);
    assert!(!none && some, "there were slips to compare with");
}

#[test]
fn it_ends_where_it_must() {
    let mut game = begin("tic-tac-toe", MatchOptions { max_steps: 2, ..MatchOptions::default() });
    assert!(game.make_step(1).is_some() && game.make_step(2).is_some());
    assert_eq!(game.ending(), Some(&Ending::TooLong));
    assert!(game.make_step(3).is_none() && game.asked().is_empty());

    let mut game = begin("tic-tac-toe", MatchOptions::default());
    game.hear(Role::new(1), Err(Lapse::Stop));
    assert_eq!(game.ending(), Some(&Ending::Stopped(Role::new(1))));
    assert!(game.make_step(1).is_none());

    let mut game = begin("tic-tac-toe", MatchOptions::default());
    game.not_ready(Role::new(0), &Lapse::Late);
    assert_eq!(game.start_errors(), ["TO", ""]);
    assert!(!game.is_over());
}

#[test]
fn an_opening_is_played_without_asking() {
    let opening = vec![vec!["(mark 2 2)".to_owned(), "noop".to_owned()]];
    let mut game = begin("tic-tac-toe", MatchOptions { opening, ..MatchOptions::default() });
    assert!(game.is_opening() && game.asked().is_empty());
    assert_eq!(game.make_step(1).expect("it is made").joint, ["(mark 2 2)", "noop"]);
    assert_eq!(game.asked().len(), 2);
    // Nature's moves are part of it.
    let deal = ["noop", "noop", "(deal queen king)"].map(str::to_owned).to_vec();
    let mut game = begin(
        "kuhn-poker",
        MatchOptions { opening: vec![deal.clone()], ..MatchOptions::default() },
    );
    assert_eq!(game.make_step(1).expect("it is made").joint, deal);
}
