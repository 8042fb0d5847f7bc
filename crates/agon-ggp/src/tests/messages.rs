//! Messages as hosts write them, their meaning in a session, and scrambled rules.

use agon_game::kif::{canonical, first_term, list, spaced};
use agon_game::{Observation, Role, Shape};

use crate::{Dialect, LastStep, Message, Request, Scrambler, Session, TurnUpdate, is_upper_case};

fn start(role: &str, rules: &str) -> Request {
    Request::Start {
        id: "M.1".into(),
        role: role.into(),
        rules: rules.into(),
        start_clock: 30.0,
        play_clock: 15.0,
    }
}

#[test]
fn requests_of_all_hosts_are_parsed() {
    let terms =
        |terms: &[&str]| LastStep::Terms(terms.iter().map(|&term| term.to_owned()).collect());
    let play = |last_step| Request::Play { id: "M.1".into(), last_step };
    let cases = [
        ("( INFO )", Request::Info),
        ("(info)", Request::Info),
        ("info", Request::Info),
        ("(ping)", Request::Info),
        ("( ping 17 )", Request::Info),
        ("", Request::Info),
        (" \r\n", Request::Info),
        (
            "( START M.1 white (( role white ) (<= terminal over)) 30 15)",
            start("white", "(role white) (<= terminal over)"),
        ),
        ("(START M.1 WHITE ((ROLE WHITE)) 30 15)", start("WHITE", "(ROLE WHITE)")),
        // Comments, line breaks and surplus arguments.
        (
            "(start M.1 white ((role white) ; who\n(p)) 30 15 extra (x))",
            start("white", "(role white) (p)"),
        ),
        ("( PREVIEW ((p)) 10 )", Request::Preview { rules: "(p)".into(), clock: 10.0 }),
        ("( PLAY M.1 NIL )", play(LastStep::Nothing)),
        ("(play M.1 nil)", play(LastStep::Nothing)),
        ("(PLAY M.1)", play(LastStep::Nothing)),
        ("( PLAY M.1 (( mark 2 2 ) noop ) )", play(terms(&["(mark 2 2)", "noop"]))),
        ("(PLAY M.1 ((MARK 2 2)NOOP))", play(terms(&["(MARK 2 2)", "NOOP"]))),
        ("(PLAY M.1 ())", play(terms(&[]))),
        ("(PLAY M.1 0 NIL NIL)", play(LastStep::Turn { turn: 0, own: None, seen: vec![] })),
        (
            "(PLAY M.1 2 NOOP ((DOES C NOOP) (OPEN 3) ))",
            play(LastStep::Turn {
                turn: 2,
                own: Some("NOOP".into()),
                seen: vec!["(DOES C NOOP)".into(), "(OPEN 3)".into()],
            }),
        ),
        ("( STOP M.1 NIL )", Request::Stop { id: "M.1".into(), last_step: LastStep::Nothing }),
        ("( ABORT M.1 )", Request::Abort { id: "M.1".into() }),
    ];
    for (text, request) in cases {
        assert_eq!(Request::parse(text), Ok(request), "{text}");
    }
}

#[test]
fn malformed_messages_are_rejected() {
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
        ("(DANCE m)", "`DANCE` is not a word"),
        (&deep, "parentheses"),
    ];
    for (text, part) in cases {
        let error = Request::parse(text).expect_err("the message is malformed").to_string();
        assert!(error.contains(part), "{error}");
    }
}

/// Returns an observation of a step with two moves.
fn observation() -> Observation {
    Observation {
        step: 3,
        own: "(mark 2 2)".into(),
        seen: vec!["(mark 2 2)".into(), "noop".into()],
    }
}

#[test]
fn our_own_messages_are_parsed() {
    let observation = observation();
    let message =
        Message::Play { id: "m", observation: Some(&observation), dialect: Dialect::Turns };
    let last_step = LastStep::Turn {
        turn: 3,
        own: Some(observation.own.clone()),
        seen: observation.seen.clone(),
    };
    let expected = Request::Play { id: "m".into(), last_step };
    assert_eq!(Request::parse(&message.to_string()), Ok(expected));
    let rules = "(role xplayer)\n(<= terminal (true over))";
    let text = Message::Start { id: "m", role: "xplayer", rules, start_clock: 1, play_clock: 2 }
        .to_string();
    let Ok(Request::Start { rules: parsed, .. }) = Request::parse(&text) else { panic!("{text}") };
    assert_eq!(parsed, rules.replace('\n', " "));
}

#[test]
fn upper_case_hosts_are_recognised() {
    assert!(is_upper_case("WHITE", "(ROLE WHITE) (<= (LEGAL ?X 1))"));
    assert!(!is_upper_case("white", "(ROLE WHITE)"));
    assert!(!is_upper_case("7", "((<=))"));
}

fn shape(hidden: bool) -> Shape {
    let mut shape = Shape::new(vec!["white".into(), "black".into()], None);
    shape.hidden = hidden;
    shape
}

fn moves(white: &str, black: &str) -> LastStep {
    LastStep::Terms(vec![white.into(), black.into()])
}

#[test]
fn repeated_messages_are_not_new_steps() {
    let mut session = Session::new(&shape(false), Role::new(1));
    let mut yes = |_: &[String]| true;
    assert_eq!(session.update(&LastStep::Nothing, &mut yes), TurnUpdate::First);
    assert_eq!(session.update(&LastStep::Nothing, &mut yes), TurnUpdate::Again(0), "asked twice");
    session.note_answer(0, "noop");
    assert_eq!(session.answer(0), Some("noop"));
    let step = |step, own: &str, seen: &[&str]| {
        let seen = seen.iter().map(|&s| s.into()).collect();
        TurnUpdate::Step(Observation { step, own: own.into(), seen })
    };
    let first = moves("(mark 1 1)", "(sit)");
    assert_eq!(
        session.update(&first, &mut yes),
        step(1, "(sit)", &["(mark 1 1)", "(sit)"]),
        "the move that the host reports counts, not the answer"
    );
    assert_eq!(
        session.update(&moves("(MARK 1 1)", "sit"), &mut yes),
        TurnUpdate::Again(1),
        "repeated while the player thinks"
    );
    session.note_answer(1, "noop");
    // After the answer, an equal joint move is a repetition only if it is not legal again.
    assert_eq!(session.update(&first, &mut |_| false), TurnUpdate::Again(1));
    assert_eq!(session.update(&first, &mut yes), step(2, "(sit)", &["(mark 1 1)", "(sit)"]));
    // The first message again, and messages that do not fit.
    assert_eq!(session.update(&LastStep::Nothing, &mut yes), TurnUpdate::Again(0));
    assert!(matches!(
        session.update(&LastStep::Terms(vec!["a".into()]), &mut yes),
        TurnUpdate::Inconsistent(_)
    ));
    assert!(matches!(
        session.update(&moves("x", "y"), &mut |_| false),
        TurnUpdate::Inconsistent(_)
    ));
    assert_eq!(session.turn(), 2, "inconsistent messages change nothing");
}

#[test]
fn a_lost_first_message_is_tolerated() {
    let mut session = Session::new(&shape(false), Role::new(0));
    assert!(matches!(
        session.update(&moves("a", "b"), &mut |_| true),
        TurnUpdate::Step(Observation { step: 1, .. })
    ));
}

#[test]
fn turn_numbers_identify_steps() {
    let mut session = Session::new(&shape(true), Role::new(0));
    let mut never = |_: &[String]| unreachable!("percepts are not checked for legality");
    let turn = |turn, own: Option<&str>| LastStep::Turn {
        turn,
        own: own.map(Into::into),
        seen: vec!["b".into(), "a".into()],
    };
    assert_eq!(session.update(&turn(0, None), &mut never), TurnUpdate::First);
    session.note_answer(0, "go");
    let TurnUpdate::Step(observation) = session.update(&turn(1, Some("stay")), &mut never) else {
        panic!("the step is new")
    };
    assert_eq!(
        (observation.own.as_str(), observation.seen),
        ("stay", vec!["a".to_owned(), "b".to_owned()])
    );
    assert_eq!(session.update(&turn(1, Some("stay")), &mut never), TurnUpdate::Again(1));
    assert_eq!(session.update(&turn(0, None), &mut never), TurnUpdate::Again(0));
    assert!(matches!(session.update(&turn(3, None), &mut never), TurnUpdate::Inconsistent(_)));
    // The early form has no numbers. The own move is the answer of the turn.
    session.note_answer(1, "go");
    let last_step = LastStep::Terms(vec!["c".into()]);
    let TurnUpdate::Step(observation) = session.update(&last_step, &mut never) else {
        panic!("the step is new")
    };
    assert_eq!((observation.own.as_str(), observation.step), ("go", 2));
    assert_eq!(
        session.update(&last_step, &mut never),
        TurnUpdate::Again(2),
        "while the player thinks"
    );
}

#[test]
fn scrambling_replaces_names_and_keeps_keywords() {
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

#[test]
fn terms_of_any_spacing_are_parsed() {
    assert_eq!(first_term(" ( mark  2\n2 ) ").as_deref(), Some("(mark 2 2)"));
    assert_eq!(first_term("noop"), Some("noop".to_owned()));
    assert_eq!(first_term("(f(g a)b) (explanation x)").as_deref(), Some("(f (g a) b)"));
    for broken in ["", "  ", "(", "(a", ")", "(a (b)"] {
        assert_eq!(first_term(broken), None, "{broken}");
    }
    assert_eq!(first_term(&"(".repeat(100_000)), None, "the depth is limited");
    assert_eq!(
        list("( ( cell 1 1 b ) ( control x ) win )"),
        Some(vec!["(cell 1 1 b)".to_owned(), "(control x)".to_owned(), "win".to_owned()])
    );
    assert_eq!(list("()"), Some(Vec::new()));
    assert_eq!(list("cell"), None);
    assert_eq!(list("(a))"), None);
    assert_eq!(spaced("(f (g a) b)"), "( f ( g a ) b )");
    assert_eq!(canonical("(F (g) ( h A ))"), "( f g ( h a ) )");
    assert_eq!(canonical("( noop )"), "noop");
}

#[test]
fn messages_equal_those_of_ggp_base() {
    let start = Message::Start {
        id: "m1",
        role: "xplayer",
        rules: "(role xplayer)\n\n(<= terminal (true over))\n",
        start_clock: 30,
        play_clock: 15,
    };
    assert_eq!(
        start.to_string(),
        "( START m1 xplayer (( role xplayer ) ( <= terminal ( true over ) )) 30 15)"
    );
    let observation = observation();
    let play = |observation, dialect| Message::Play { id: "m1", observation, dialect }.to_string();
    for dialect in [Dialect::Moves, Dialect::Percepts] {
        assert_eq!(play(None, dialect), "( PLAY m1 NIL )");
        assert_eq!(play(Some(&observation), dialect), "( PLAY m1 (( mark 2 2 ) noop ) )");
    }
    assert_eq!(play(None, Dialect::Turns), "( PLAY m1 0 NIL NIL )");
    assert_eq!(
        play(Some(&observation), Dialect::Turns),
        "( PLAY m1 3 ( mark 2 2 ) (( mark 2 2 ) noop ) )"
    );
    let stop = Message::Stop { id: "m1", observation: Some(&observation), dialect: Dialect::Moves };
    assert_eq!(stop.to_string(), "( STOP m1 (( mark 2 2 ) noop ) )");
    assert_eq!(Message::Abort { id: "m1" }.to_string(), "( ABORT m1 )");
    assert_eq!(Message::Info.to_string(), "( INFO )");
    assert_eq!(Message::answer("( MARK 1 1 ) (taunt \"ha\")").as_deref(), Some("(MARK 1 1)"));
}
