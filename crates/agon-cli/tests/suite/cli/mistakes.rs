//! Wrong input of every kind: a message and an exit code, never a panic, never a hang.

use super::super::games::Scratch;
use super::COIN;
use super::run::agon;

/// Commands that play a game, with their other arguments.
const PLAYING: [&[&str]; 5] = [
    &["info"],
    &["simulate", "-n", "2"],
    &["perft", "-d", "1"],
    &["record", "-n", "1"],
    &["show", "--stage", "initial"],
];

/// Runs every command that plays a game.
fn each(game: &str, mut look: impl FnMut(super::Run)) {
    for command in PLAYING {
        look(agon(&[command, &[game]].concat()));
    }
    look(agon(&["why", game, "terminal"]));
}

#[test]
fn files_that_cannot_be_read() {
    let scratch = Scratch::new("unreadable");
    let missing = scratch.path("missing.kif").to_string_lossy().into_owned();
    let folder = scratch.path("").to_string_lossy().into_owned();
    let binary = scratch.file("binary.kif", [b'(', 0, 159, 146, 150, 0]);
    let what = [
        (missing, "No such file"),
        (folder, "directory"),
        (binary, "not a text file"),
        ("conect-four".to_owned(), "did you mean the shipped game `connect-four`?"),
        ("no-such-game-at-all".to_owned(), "`agon games` lists the shipped games"),
    ];
    for (game, why) in &what {
        agon(&["check", game]).complains(2, why);
        each(game, |run| run.complains(2, why));
    }
}

#[test]
fn files_without_a_game() {
    let scratch = Scratch::new("no-game");
    for (name, text) in [("empty.kif", ""), ("blank.kif", " \r\n\t"), ("comment.kif", "; nothing")]
    {
        let path = scratch.file(name, text);
        let check = agon(&["check", &path]).fails_with(1);
        assert!(check.out.contains("error[empty-rulesheet]"), "{}", check.out);
        each(&path, |run| run.complains(1, "there are no rules"));
    }
    for (name, text) in [("empty.toss", ""), ("comment.toss", "// nothing")] {
        let path = scratch.file(name, text);
        let check = agon(&["check", &path]).fails_with(1);
        assert_eq!(check.out.matches("error[").count(), 1, "one finding is enough: {}", check.out);
        assert!(check.out.contains("there are no rules"), "{}", check.out);
    }
    let latin = scratch.file("latin.kif", [COIN.as_bytes(), b"; caf\xe9\n"].concat());
    agon(&["check", &latin]).succeeds();
}

#[test]
fn rules_that_cannot_be_read() {
    let scratch = Scratch::new("unread");
    let open = scratch.file("open.kif", format!("{COIN}(<= (next (called ?x)"));
    agon(&["check", &open]).fails_with(1);
    each(&open, |run| run.complains(1, "unmatched-parenthesis"));
}

/// Rules that would not terminate without limits: within a state, from state to state, and in
/// deeply nested text.
#[test]
fn rules_that_do_not_terminate() {
    let scratch = Scratch::new("endless");
    let recursion = "(number zero)\n(<= (number (s ?n)) (number ?n))\n\
                     (<= (legal chooser (wait ?n)) (number ?n))\n";
    let recursion = scratch.file("recursion.kif", format!("{COIN}{recursion}"));
    agon(&["check", &recursion, "--plays", "2"]).fails_with(1);
    each(&recursion, |run| run.complains(1, "number"));
    let nested = scratch.file("nested.kif", format!("{}\n", "(".repeat(50)).repeat(4_000));
    agon(&["check", &nested]).fails_with(1);
    each(&nested, |run| {
        run.fails_with(1);
    });
    let growing = COIN.replace(
        "(<= (next",
        "(<= (next open) (true open))\n(init (age zero))\n\
        (<= (next (age (s ?n))) (true (age ?n)))\n(<= (next",
    );
    let growing = scratch.file("growing.kif", growing);
    agon(&["simulate", &growing, "-n", "1"]).complains(1, "deeper than the budget allows");
    let check = agon(&["check", &growing, "--plays", "1"]).fails_with(1);
    assert!(check.out.contains("error[play-refused]"), "{}", check.out);
}

#[test]
fn moves_that_cannot_be_made() {
    let why = |after: &str| agon(&["why", "tic-tac-toe", "--after", after, "terminal"]);
    why("(mark 1 1) (mark 1 1)").complains(1, "step 2: `(mark 1 1)` is not a legal joint move");
    why("(mark 1 1").complains(2, "parenthesis");
    why("nonsense").complains(
        1,
        "step 1: `nonsense` is not a legal joint move; the legal moves are\n  xplayer: (mark 1 1)",
    );
    why("(mark 1 1) (mark 1 2) (mark 2 1) (mark 2 2) (mark 3 1) (mark 3 3)")
        .complains(1, "step 6: the game has ended");
    let does = |joint: &str| agon(&["why", "tic-tac-toe", "--does", joint, "(next (cell 1 1 x))"]);
    does("(mark 1 1) noop (mark 1 1)").complains(1, "--does needs one joint move");
    does("(mark 9 9) noop").complains(1, "not a legal joint move");
    does("").complains(1, "not a legal joint move");
}

#[test]
fn texts_that_are_not_a_sentence() {
    for sentence in ["", "(legal xplayer", "terminal terminal", ")", "()", "?x"] {
        agon(&["why", "tic-tac-toe", sentence]).complains(1, "is not one sentence");
    }
    agon(&["why", "tic-tac-toe", "(next (cell 1 1 x))"]).complains(1, "give them with --does");
    let unknown = agon(&["why", "tic-tac-toe", "(lgal xplayer noop)"]).succeeds();
    assert!(unknown.out.contains("did you mean `legal`?"), "{}", unknown.out);
}

#[test]
fn wrong_arguments() {
    for args in [
        &["simulate"][..],
        &["simulate", "nim", "-n", "many"],
        &["simulate", "nim", "-n", "-3"],
        &["perft", "nim", "--depth", "x"],
        &["check"],
        &["check", "nim", "--dry-run"],
        &["replay", "nim"],
        &["replay", "--games", "."],
        &["nonsense"],
        &["simulate", "nim", "--engine", "steam"],
    ] {
        agon(args).complains(2, "--help");
    }
    agon(&["simulate", "nim", "--seconds", "nan"]).complains(2, "--seconds: ");
    agon(&["check", "nim", "--fix"]).succeeds();
    let nowhere = agon(&["record", "nim", "--out", "/nonexistent/folder/trace.json"]);
    nowhere.complains(2, "cannot write /nonexistent/folder/trace.json");
}
