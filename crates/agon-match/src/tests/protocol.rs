//! Messages as hosts write them, what they come to, and other words for a game's.

use agon_game::{Role, Shape};

use crate::{Dialect, Heard, Heed, Message, News, Scrambler, Session, Told, is_shouted};

fn start(role: &str, rules: &str) -> Heard {
    Heard::Start {
        id: "M.1".into(),
        role: role.into(),
        rules: rules.into(),
        start_clock: 30.0,
        play_clock: 15.0,
    }
}

#[test]
fn every_dialect_is_understood() {
    let terms = |terms: &[&str]| Told::Terms(terms.iter().map(|&term| term.to_owned()).collect());
    let play = |told| Heard::Play { id: "M.1".into(), told };
    let cases = [
        ("( INFO )", Heard::Info),
        ("(info)", Heard::Info),
        ("info", Heard::Info),
        ("(ping)", Heard::Info),
        ("( ping 17 )", Heard::Info),
        ("", Heard::Info),
        (" \r\n", Heard::Info),
        (
            "( START M.1 white (( role white ) (<= terminal over)) 30 15)",
            start("white", "(role white) (<= terminal over)"),
        ),
        ("(START M.1 WHITE ((ROLE WHITE)) 30 15)", start("WHITE", "(ROLE WHITE)")),
        // Comments, newlines, and more than anybody asked for.
        (
            "(start M.1 white ((role white) ; who\n(p)) 30 15 extra (x))",
            start("white", "(role white) (p)"),
        ),
        ("( PREVIEW ((p)) 10 )", Heard::Preview { rules: "(p)".into(), clock: 10.0 }),
        ("( PLAY M.1 NIL )", play(Told::Nothing)),
        ("(play M.1 nil)", play(Told::Nothing)),
        ("(PLAY M.1)", play(Told::Nothing)),
        ("( PLAY M.1 (( mark 2 2 ) noop ) )", play(terms(&["(mark 2 2)", "noop"]))),
        ("(PLAY M.1 ((MARK 2 2)NOOP))", play(terms(&["(MARK 2 2)", "NOOP"]))),
        ("(PLAY M.1 ())", play(terms(&[]))),
        ("(PLAY M.1 0 NIL NIL)", play(Told::Turn { turn: 0, own: None, seen: vec![] })),
        (
            "(PLAY M.1 2 NOOP ((DOES C NOOP) (OPEN 3) ))",
            play(Told::Turn {
                turn: 2,
                own: Some("NOOP".into()),
                seen: vec!["(DOES C NOOP)".into(), "(OPEN 3)".into()],
            }),
        ),
        ("( STOP M.1 NIL )", Heard::Stop { id: "M.1".into(), told: Told::Nothing }),
        ("( ABORT M.1 )", Heard::Abort { id: "M.1".into() }),
    ];
    for (text, heard) in cases {
        assert_eq!(Heard::read(text), Ok(heard), "{text}");
    }
}

#[test]
fn nonsense_is_refused_in_words() {
    let deep = format!("(PLAY m {})", "(".repeat(100_000));
    let cases = [
        ("(PLAY m (", "parentheses"),
        (")", "parentheses"),
        ("(START m)", "START needs"),
        ("(START m r rules 1 2)", "not a list"),
        ("(START m r ((p)) soon 2)", "`soon`"),
        ("(START m r ((p)) -1 2)", "`-1`"),
        ("(START m r ((p)) NaN 2)", "`NaN`"),
        ("(PLAY)", "needs a match"),
        ("(PLAY m 1 2)", "one or three"),
        ("(PLAY m x noop ())", "`x`"),
        ("(PLAY m -1 noop ())", "`-1`"),
        ("(DANCE m)", "`DANCE` is no word"),
        (&deep, "parentheses"),
    ];
    for (text, part) in cases {
        let said = Heard::read(text).expect_err("it is nonsense").to_string();
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn what_we_say_we_understand() {
    let news =
        News { step: 3, own: "(mark 2 2)".into(), seen: vec!["(mark 2 2)".into(), "noop".into()] };
    let said = Message::Play { id: "m", news: Some(&news), dialect: Dialect::Turns }.to_string();
    let told = Told::Turn { turn: 3, own: Some(news.own.clone()), seen: news.seen.clone() };
    assert_eq!(Heard::read(&said), Ok(Heard::Play { id: "m".into(), told }));
    let rules = "(role xplayer)\n(<= terminal (true over))";
    let said = Message::Start { id: "m", role: "xplayer", rules, start_clock: 1, play_clock: 2 }
        .to_string();
    let Ok(Heard::Start { rules: heard, .. }) = Heard::read(&said) else { panic!("{said}") };
    assert_eq!(heard, rules.replace('\n', " "));
}

#[test]
fn shouting_is_heard() {
    assert!(is_shouted("WHITE", "(ROLE WHITE) (<= (LEGAL ?X 1))"));
    assert!(!is_shouted("white", "(ROLE WHITE)"));
    assert!(!is_shouted("7", "((<=))"));
}

fn shape(hidden: bool) -> Shape {
    let mut shape = Shape::new(vec!["white".into(), "black".into()], None);
    shape.hidden = hidden;
    shape
}

fn moves(white: &str, black: &str) -> Told {
    Told::Terms(vec![white.into(), black.into()])
}

#[test]
fn messages_heard_before_are_no_news() {
    let mut session = Session::new(&shape(false), Role::new(1));
    let mut yes = |_: &[String]| true;
    assert_eq!(session.heed(&Told::Nothing, &mut yes), Heed::First);
    assert_eq!(session.heed(&Told::Nothing, &mut yes), Heed::Again(0), "asked twice");
    session.note_answer(0, "noop");
    assert_eq!(session.answer(0), Some("noop"));
    let news = |step, own: &str, seen: &[&str]| {
        Heed::News(News { step, own: own.into(), seen: seen.iter().map(|&s| s.into()).collect() })
    };
    let first = moves("(mark 1 1)", "(sit)");
    assert_eq!(
        session.heed(&first, &mut yes),
        news(1, "(sit)", &["(mark 1 1)", "(sit)"]),
        "the host's move counts, not ours"
    );
    assert_eq!(
        session.heed(&moves("(MARK 1 1)", "sit"), &mut yes),
        Heed::Again(1),
        "repeated while we think"
    );
    session.note_answer(1, "noop");
    // Repeated after the answer: only if it could not be made again.
    assert_eq!(session.heed(&first, &mut |_| false), Heed::Again(1));
    assert_eq!(session.heed(&first, &mut yes), news(2, "(sit)", &["(mark 1 1)", "(sit)"]));
    // The first question once more, and what does not fit.
    assert_eq!(session.heed(&Told::Nothing, &mut yes), Heed::Again(0));
    assert!(matches!(session.heed(&Told::Terms(vec!["a".into()]), &mut yes), Heed::Unfit(_)));
    assert!(matches!(session.heed(&moves("x", "y"), &mut |_| false), Heed::Unfit(_)));
    assert_eq!(session.turn(), 2, "what does not fit changes nothing");
}

#[test]
fn a_lost_first_question_is_made_up_for() {
    let mut session = Session::new(&shape(false), Role::new(0));
    assert!(matches!(
        session.heed(&moves("a", "b"), &mut |_| true),
        Heed::News(News { step: 1, .. })
    ));
}

#[test]
fn numbered_turns_are_told_apart_exactly() {
    let mut session = Session::new(&shape(true), Role::new(0));
    let mut never = |_: &[String]| unreachable!("percepts are no moves");
    let turn = |turn, own: Option<&str>| Told::Turn {
        turn,
        own: own.map(Into::into),
        seen: vec!["b".into(), "a".into()],
    };
    assert_eq!(session.heed(&turn(0, None), &mut never), Heed::First);
    session.note_answer(0, "go");
    let Heed::News(news) = session.heed(&turn(1, Some("stay")), &mut never) else {
        panic!("it is news")
    };
    assert_eq!((news.own.as_str(), news.seen), ("stay", vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(session.heed(&turn(1, Some("stay")), &mut never), Heed::Again(1));
    assert_eq!(session.heed(&turn(0, None), &mut never), Heed::Again(0));
    assert!(matches!(session.heed(&turn(3, None), &mut never), Heed::Unfit(_)));
    // The early form has no numbers; our own move is the one we sent.
    session.note_answer(1, "go");
    let told = Told::Terms(vec!["c".into()]);
    let Heed::News(news) = session.heed(&told, &mut never) else { panic!("it is news") };
    assert_eq!((news.own.as_str(), news.step), ("go", 2));
    assert_eq!(session.heed(&told, &mut never), Heed::Again(2), "while we think");
}

#[test]
fn scrambled_rules_are_other_words_in_the_same_places() {
    let rules = "(role white) (role random) ; people\n(<= (sees white ?m) (does ?p (mark 1 -2 Mark)) (not (true white)))";
    let scrambler = Scrambler::new(rules, 5);
    let scrambled = scrambler.scramble(rules);
    for word in ["white", "mark", "?m", "?p", "people"] {
        assert!(!scrambled.split([' ', '(', ')']).any(|part| part == word), "{scrambled}");
    }
    for word in ["role", "random", "sees", "does", "not", "true", "1", "-2", "<="] {
        assert!(scrambled.split([' ', '(', ')']).any(|part| part == word), "{scrambled}");
    }
    let plain = "(role white) (role random) (<= (sees white ?m) (does ?p (mark 1 -2 Mark)) (not (true white)))";
    assert_eq!(scrambler.unscramble(&scrambled).to_lowercase(), plain.to_lowercase());
    assert_eq!(
        scrambler.unscramble(&scrambled.to_uppercase()).to_lowercase(),
        plain.to_lowercase()
    );
    assert_eq!(scrambler.scramble(rules), Scrambler::new(rules, 5).scramble(rules));
    assert_ne!(scrambler.scramble(rules), Scrambler::new(rules, 6).scramble(rules));
}
