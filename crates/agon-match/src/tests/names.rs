//! The names of players.

use crate::{Kind, Origin, SpecKind, Value, parse_list, parse_spec};

/// What is wrong with a list of players: the place, and the message with its hints.
fn complaint(text: &str) -> (usize, usize, String) {
    let finding = parse_list(text).expect_err(text);
    let all = [vec![finding.message.clone()], finding.hints.clone()].concat().join(" / ");
    (finding.span.start(), finding.span.end(), all)
}

#[test]
fn lists_are_parted_at_commas_outside_of_parentheses_and_quotes() {
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
    let replies = |text: &str| {
        let SpecKind::BuiltIn(kind, settings) = parse_spec(text).expect(text).kind else {
            panic!("{text}")
        };
        assert_eq!(kind.name, "greedy");
        settings.integer("replies")
    };
    assert_eq!(replies("greedy(replies=1_000)"), 1_000);
    assert_eq!(replies("Greedy( REPLIES = 7 )"), 7);
    let Some(Value::Integer(default)) =
        Kind::named("greedy").and_then(|kind| kind.option("replies")).map(|option| option.default)
    else {
        panic!("the table has it")
    };
    assert_eq!(replies("greedy"), default);
    assert_eq!(replies("greedy()"), default);
}

#[test]
fn a_value_alone_stands_for_its_option() {
    let same = |short: &str, long: &str| {
        let kind = |text: &str| {
            parse_spec(text).unwrap_or_else(|why| panic!("{text}: {}", why.message)).kind
        };
        assert_eq!(kind(short), kind(long), "{short}");
    };
    same("mcts(rave,mast,c=0.4)", "mcts(amaf=rave,policy=mast,c=0.4)");
    same("mcts(TUNED,rm,No-Solver)", "mcts(bandit=tuned,simultaneous=rm,solver=off)");
    same("mcts(paranoid)", "mcts(paranoid=on)");
    same("hidden(ucb,mixed)", "hidden(bandit=ucb,choice=mixed)");
    let (start, end, message) = complaint("mcts(rave,grave)");
    assert!(message.contains("`amaf` is set a second time"), "{message}");
    assert_eq!((start, end), (10, 15));
    assert!(complaint("mcts(no-c)").2.contains("no option `no-c`"));
    assert!(complaint("mcts(no-rave)").2.contains("no option `no-rave`"));
}

#[test]
fn players_outside() {
    let kind = |text: &str| parse_spec(text).expect(text).kind;
    assert_eq!(kind("human"), SpecKind::Human);
    let SpecKind::Http(address) = kind("http://localhost") else { panic!("an address") };
    assert_eq!(
        (address.host.as_str(), address.port, address.path.as_str()),
        ("localhost", 9147, "/")
    );
    let SpecKind::Http(address) = kind("http://[::1]:80/bots/a") else { panic!("an address") };
    assert_eq!(
        (address.host.as_str(), address.port, address.path.as_str()),
        ("::1", 80, "/bots/a")
    );
    assert_eq!(
        kind("cmd: ./my-bot 'two words' --x=\"y z\""),
        SpecKind::Command(vec!["./my-bot".into(), "two words".into(), "--x=y z".into()])
    );
}

#[test]
fn mistakes_are_shown_where_they_are_with_a_cure() {
    let cases = [
        ("random,gredy", 7, 12, "did you mean `greedy`?"),
        ("nonsense", 0, 8, "one of auto, random"),
        ("greedy(replis=3)", 7, 13, "did you mean `replies`? / it has replies"),
        ("greedy(repl=3)", 7, 11, "did you mean `replies`?"),
        ("greedy(depth=3)", 7, 12, "it has replies"),
        ("random(x)", 7, 8, "it has none at all"),
        ("greedy(replies=many)", 15, 19, "a whole number from 1"),
        ("greedy(replies=0)", 15, 16, "a whole number from 1"),
        ("greedy(replies)", 7, 14, "write replies=64"),
        ("greedy(replies=1,replies=2)", 17, 26, "a second time"),
        ("greedy(replies=1", 6, 7, "never closed"),
        ("greedy)", 6, 7, "nothing is open"),
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
        let (at, to, message) = complaint(text);
        assert!(message.contains(part), "{text}: no `{part}` in {message}");
        assert_eq!((at, to), (start, end), "{text}: {message}");
    }
}

#[test]
fn the_table_is_in_order() {
    for (index, kind) in crate::KINDS.iter().enumerate() {
        assert!(
            !crate::KINDS[..index].iter().any(|other| other.name == kind.name),
            "{} is there twice",
            kind.name
        );
        assert!(!kind.summary.is_empty() && !kind.form.is_empty(), "{}", kind.name);
        for option in kind.options {
            let parsed = option.kind.parse(&option.default.to_string());
            assert_eq!(
                parsed,
                Ok(option.default),
                "{}: the default of {} is allowed",
                kind.name,
                option.name
            );
        }
        if kind.origin == Origin::BuiltIn {
            assert!(parse_spec(kind.name).is_ok(), "{}", kind.name);
        }
    }
}

#[test]
fn a_word_may_have_options_of_its_own() {
    let kind =
        |text: &str| parse_spec(text).unwrap_or_else(|why| panic!("{text}: {}", why.message)).kind;
    assert_eq!(
        kind("alphabeta(depth=1, eval=concepts(size=3, plays=10), extension=0)"),
        kind("alphabeta(depth=1,eval=concepts,concepts-size=3,concepts-plays=10,extension=0)")
    );
    assert_eq!(kind("alphabeta(eval=fuzzy())"), kind("alphabeta(eval=fuzzy)"));
    assert_eq!(kind("mcts(action-heuristic=tree)"), kind("mcts(tree)"));
    let (start, end, message) = complaint("alphabeta(eval=concepts(siez=3))");
    assert!(message.contains("siez"), "{message}");
    assert_eq!(&"alphabeta(eval=concepts(siez=3))"[start..end], "siez");
    assert!(complaint("alphabeta(depth=1(size=3))").2.contains("only a word"), "numbers have none");
    assert!(complaint("alphabeta(eval=concepts(from=own(size=1)))").2.contains("too deeply"));
    assert!(
        complaint("alphabeta(eval=concepts(size=3),concepts-size=2)").2.contains("a second time")
    );
}
