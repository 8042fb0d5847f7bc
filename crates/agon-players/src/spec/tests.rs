//! The syntax of specifications.

use super::{PlayerSource, PlayerSpec, parse_list, parse_spec};
use crate::kinds::BuildContext;
use crate::option::Settings;
use crate::{KINDS, PlayerKind, Rules};

/// Returns the source of a valid specification.
fn source(text: &str) -> PlayerSource {
    parse_spec(text).unwrap_or_else(|finding| panic!("{text}: {}", finding.message)).kind
}

/// Returns the span of the error of a list of players, and its message with the hints.
fn error_in(text: &str) -> (usize, usize, String) {
    let finding = parse_list(text).expect_err(text);
    let all = [vec![finding.message.clone()], finding.hints.clone()].concat().join(" / ");
    (finding.span.start(), finding.span.end(), all)
}

#[test]
fn lists_are_split_at_commas_outside_of_parentheses_and_quotes() {
    let texts = |text: &str| -> Vec<String> {
        parse_list(text).expect(text).into_iter().map(|spec| spec.text).collect()
    };
    assert_eq!(texts("random"), ["random"]);
    assert_eq!(texts(" random , legal "), ["random", "legal"]);
    assert_eq!(texts("greedy(replies=3),random"), ["greedy(replies=3)", "random"]);
    assert_eq!(
        texts("cmd:'./a b' \"x,y\",http://h:1,greedy( replies = 3 , )"),
        ["cmd:'./a b' \"x,y\"", "http://h:1", "greedy( replies = 3 , )"]
    );
}

#[test]
fn options_are_set_and_have_defaults() {
    assert_eq!(source("greedy(replies=1_000)"), source("greedy(replies=1000)"));
    assert_eq!(source("Greedy( REPLIES = 7 )"), source("greedy(replies=7)"));
    assert_ne!(source("greedy(replies=7)"), source("greedy(replies=8)"));
    let greedy = PlayerKind::named("greedy").expect("the player is registered");
    let default = &greedy.option("replies").expect("the option exists").default;
    for text in ["greedy", "greedy()"] {
        assert_eq!(source(text), source(&format!("greedy(replies={default})")));
    }
}

#[test]
fn a_value_alone_stands_for_its_option() {
    for (short, long) in [
        ("mcts(rave,mast,c=0.4)", "mcts(amaf=rave,policy=mast,c=0.4)"),
        ("mcts(TUNED,rm,No-Solver)", "mcts(bandit=tuned,simultaneous=rm,solver=off)"),
        ("mcts(paranoid)", "mcts(paranoid=on)"),
        ("hidden(ucb,mixed)", "hidden(bandit=ucb,choice=mixed)"),
    ] {
        assert_eq!(source(short), source(long), "{short}");
    }
    let (start, end, message) = error_in("mcts(rave,grave)");
    assert!(message.contains("`amaf` is set a second time"), "{message}");
    assert_eq!((start, end), (10, 15));
    assert!(error_in("mcts(no-c)").2.contains("no option `no-c`"));
    assert!(error_in("mcts(no-rave)").2.contains("no option `no-rave`"));
}

#[test]
fn players_outside_of_the_process() {
    assert_eq!(source("human"), PlayerSource::Human);
    for (text, parts) in [
        ("http://localhost", ("localhost", 9147, "/")),
        ("http://[::1]:80/bots/a", ("::1", 80, "/bots/a")),
    ] {
        let PlayerSource::Http(address) = source(text) else { panic!("{text} is an address") };
        assert_eq!((address.host.as_str(), address.port, address.path.as_str()), parts);
    }
    assert_eq!(
        source("cmd: ./my-bot 'two words' --x=\"y z\""),
        PlayerSource::Command(vec!["./my-bot".into(), "two words".into(), "--x=y z".into()])
    );
}

#[test]
fn errors_have_places_and_hints() {
    let cases = [
        ("random,gredy", 7, 12, "did you mean `greedy`?"),
        ("nonsense", 0, 8, "one of auto, random"),
        ("greedy(replis=3)", 7, 13, "did you mean `replies`? / it has replies"),
        ("greedy(repl=3)", 7, 11, "did you mean `replies`?"),
        ("greedy(depth=3)", 7, 12, "it has replies"),
        ("random(x)", 7, 8, "it has no options"),
        ("greedy(replies=many)", 15, 19, "a whole number from 1"),
        ("greedy(replies=0)", 15, 16, "a whole number from 1"),
        ("greedy(replies)", 7, 14, "write replies=64"),
        ("greedy(replies=1,replies=2)", 17, 26, "a second time"),
        ("greedy(replies=1", 6, 7, "never closed"),
        ("greedy)", 6, 7, "not open"),
        ("greedy(replies=1)x", 17, 18, "nothing may follow"),
        ("random,,legal", 7, 7, "missing"),
        ("random,", 7, 7, "missing"),
        ("cmd:", 0, 4, "the program is missing"),
        ("cmd:'x", 4, 5, "never closed"),
        ("http://", 0, 7, "the host is missing"),
        ("http://h:99999", 0, 14, "not a port"),
        ("http://a b", 0, 10, "letters, digits"),
        ("https://h", 0, 5, "write http://h"),
        ("http", 0, 4, "write it as http://HOST:PORT"),
        ("cmd", 0, 3, "write it as cmd:"),
    ];
    for (text, start, end, part) in cases {
        let (at, to, message) = error_in(text);
        assert!(message.contains(part), "{text}: `{part}` is not in {message}");
        assert_eq!((at, to), (start, end), "{text}: {message}");
    }
}

#[test]
fn kinds_have_distinct_names_and_valid_defaults() {
    for (index, kind) in KINDS.iter().enumerate() {
        assert!(
            !KINDS[..index].iter().any(|other| other.name == kind.name),
            "{} is registered twice",
            kind.name
        );
        assert!(!kind.summary.is_empty() && !kind.form.is_empty(), "{}", kind.name);
        for option in kind.options() {
            let parsed = option.kind.parse(&option.default.to_string());
            let place = format!("{}: the default of {}", kind.name, option.name);
            assert_eq!(parsed.as_ref(), Ok(&option.default), "{place}");
        }
        if kind.is_built_in() {
            assert!(parse_spec(kind.name).is_ok(), "{}", kind.name);
            assert_eq!(PlayerSpec::built_in(kind.name), parse_spec(kind.name).expect(kind.name));
        }
    }
}

#[test]
fn options_of_one_kind_have_distinct_names() {
    for kind in KINDS {
        let mut names: Vec<&str> = kind.options().map(|option| option.name).collect();
        let n_options = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_options, "{}", kind.name);
    }
}

#[test]
fn texts_belong_to_the_settings() {
    let alphabeta = PlayerKind::named("alphabeta").expect("the player is registered");
    let option = alphabeta.option("concepts-file").expect("the option exists");
    let mut settings = Settings::new(alphabeta);
    assert_eq!(settings.text("concepts-file"), "");
    let path = String::from("learned/concepts.kif");
    assert!(!settings.set(option, option.kind.parse(&path).expect("any text is valid")));
    drop(path);
    assert_eq!(settings.text("concepts-file"), "learned/concepts.kif");
}

#[test]
fn specifications_say_what_their_players_need() {
    let spec = |text: &str| parse_spec(text).expect(text);
    assert!(spec("alphabeta(eval=fuzzy)").fuzzy_options().is_some());
    assert!(spec("bestfirst").fuzzy_options().is_none());
    assert!(spec("mcts(prior=terms)").goal_terms().is_some());
    assert!(spec("alphabeta(eval=tnf)").goal_terms().is_some());
    assert!(spec("mcts(tree)").action_heuristic().is_some());
    assert!(spec("mcts").action_heuristic().is_none());
    let with_file = "bestfirst(eval=concepts(file=a/b))";
    assert_eq!(spec(with_file).concepts_file(), Some("a/b"));
    assert_eq!(spec("bestfirst(concepts-file=a/b)").concepts_file(), None, "eval is not concepts");
    assert_eq!(spec("human").threads(), None);
    let game = crate::test_games::gdl_game("tic-tac-toe");
    let auto = spec("auto").chosen_for(&game.shape().clone()).expect("auto chooses");
    assert_eq!(auto.text, "solver(insight=trial)");
    let role = agon_game::Role::new(0);
    let context = BuildContext { start: game.start(), role, seed: 1, rules: Rules::default() };
    assert!(spec("human").build(context).is_none());
}

#[test]
fn a_word_may_have_options_of_its_own() {
    assert_eq!(
        source("alphabeta(depth=1, eval=concepts(size=3, plays=10), extension=0)"),
        source("alphabeta(depth=1,eval=concepts,concepts-size=3,concepts-plays=10,extension=0)")
    );
    assert_eq!(source("alphabeta(eval=fuzzy())"), source("alphabeta(eval=fuzzy)"));
    assert_eq!(source("mcts(action-heuristic=tree)"), source("mcts(tree)"));
    for (text, place) in [
        ("alphabeta(eval=concepts(siez=3))", "siez"),
        ("alphabeta(eval=concepts(size=many))", "many"),
    ] {
        let (start, end, message) = error_in(text);
        assert!(message.contains(place), "{message}");
        assert_eq!(&text[start..end], place);
    }
    assert!(error_in("alphabeta(depth=1(size=3))").2.contains("only a word"));
    assert!(error_in("alphabeta(eval=concepts(from=own(size=1)))").2.contains("too deeply"));
    assert!(
        error_in("alphabeta(eval=concepts(size=3),concepts-size=2)").2.contains("a second time")
    );
}
