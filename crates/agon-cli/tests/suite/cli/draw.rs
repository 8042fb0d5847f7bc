//! `agon draw`, `agon assess`, `agon replay --show`, and the commands at the prompt of `agon play`.

use agon::shipped::SHIPPED;
use agon_board::LayoutKind;
use agon_board::scene::BoardKind;

use super::super::games::Scratch;
use super::json;
use super::run::{agon, agon_reading};

#[test]
fn every_shipped_game_has_the_right_kind_of_picture() {
    // What is not named here is a grid.
    let others = [
        ("dots-and-boxes", Some(BoardKind::Edges)),
        ("hex", Some(BoardKind::Hex)),
        ("chinese-checkers", Some(BoardKind::Hex)),
        ("peg-solitaire", Some(BoardKind::Hex)),
        ("nim", Some(BoardKind::Stacks)),
        ("hanoi", Some(BoardKind::Stacks)),
        ("toss/entanglement", Some(BoardKind::Graph)),
        ("toss/rewriting", Some(BoardKind::Graph)),
        ("toss/cat-and-mouse", Some(BoardKind::Plane)),
        ("toss/pursuit", Some(BoardKind::Plane)),
        ("toss/bouncing-ball", Some(BoardKind::Plane)),
        ("toss/lunar-lander", Some(BoardKind::Plane)),
        ("toss/race", Some(BoardKind::Plane)),
        ("toss/curling", Some(BoardKind::Plane)),
        ("toss/cruise-control", Some(BoardKind::Plane)),
        ("toss/bacteria", Some(BoardKind::Graph)),
        ("toss/lady-in-the-lake", Some(BoardKind::Plane)),
        ("toss/cell-cycle", None),
        ("matching-pennies", None),
        ("prisoners-dilemma", None),
        ("rock-paper-scissors", None),
        ("blind-nim", None),
        ("dice-race", None),
        ("kuhn-poker", None),
        ("leduc-poker", None),
        ("blackjack", None),
        ("oshi-zumo", None),
        ("kalah", Some(BoardKind::Stacks)),
        ("missionaries", Some(BoardKind::Stacks)),
        ("y", Some(BoardKind::Hex)),
        ("liars-dice", None),
        ("liars-dice-wild", None),
    ];
    let mut wrong = Vec::new();
    for shipped in SHIPPED {
        let game = agon::Game::open(shipped.name).expect("shipped games are correct");
        let layout = game.layout();
        assert_ne!(layout.kind(), LayoutKind::List, "{}", shipped.name);
        let scene = layout.scene(&game.table().state());
        let kinds: Vec<BoardKind> = scene.boards.iter().map(|board| board.kind).collect();
        let other = others.iter().find(|(name, _)| *name == shipped.name);
        let expected: Vec<BoardKind> =
            other.map_or(vec![BoardKind::Grid], |(_, kind)| kind.iter().copied().collect());
        if kinds != expected {
            wrong.push((shipped.name, kinds, expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn sizes_of_boards() {
    let sizes = [
        ("tic-tac-toe", 9),
        ("connect-four", 42),
        ("breakthrough", 64),
        ("checkers", 64),
        ("hex", 49),
        ("nine-board-tic-tac-toe", 81),
        ("toss/chess", 64),
    ];
    for (name, n_places) in sizes {
        let drawn = json(&agon(&["draw", name, "--json"]).succeeds());
        let places = drawn["scene"]["boards"][0]["places"].as_array().expect("places");
        let there = places.iter().filter(|place| place["shade"] != "absent").count();
        assert_eq!(there, n_places, "{name}");
    }
}

#[test]
fn pictures_are_written() {
    let scratch = Scratch::new("draw");
    let svg = scratch.file("board.svg", "");
    agon(&["draw", "tic-tac-toe", "--after", "(mark 2 2)", "--out", &svg]).succeeds();
    let drawing = std::fs::read_to_string(&svg).expect("it was written");
    assert!(drawing.starts_with("<svg ") && drawing.contains("data-place=\"board/2/2\""));
    let png = scratch.file("board.png", "");
    agon(&["draw", "toss/chess", "--theme", "dark", "--out", &png]).succeeds();
    assert!(std::fs::read(&png).expect("it was written").starts_with(b"\x89PNG"));
    let text = agon(&["draw", "connect-four", "--after", "(drop 4) (drop 4)"]).succeeds().out;
    assert!(text.contains('R') && text.contains('Y'), "{text}");
    agon(&["draw", "hex", "--out", "board.gif"]).complains(2, "ends neither with .svg");
    agon(&["draw", "hex", "--scale", "0", "--out", "x.png"]).complains(2, "positive");
    agon(&["draw", "hex", "--after", "(place 9 9)"]).fails_with(1);
    let record = scratch.file("match.json", "");
    let args = ["match", "tic-tac-toe", "--players", "legal", "--iterations", "1"];
    agon(&[&args[..], &["--record", &record]].concat()).succeeds();
    agon(&["draw", "tic-tac-toe", "--match", &record, "--out", &svg]).succeeds();
    let drawing = std::fs::read_to_string(&svg).expect("it was written");
    assert!(drawing.matches("<animate ").count() > 5);
    let gif = scratch.file("match.gif", "");
    agon(&["draw", "tic-tac-toe", "--match", &record, "--out", &gif]).succeeds();
    let picture = std::fs::read(&gif).expect("it was written");
    assert!(picture.starts_with(b"GIF89a"));
    agon(&["draw", "tic-tac-toe", "--match", &record, "--out", "match.png"])
        .complains(2, "ends neither with .svg nor with .gif");
    let shown = agon(&["replay", "--show", &record]).succeeds().out;
    assert!(shown.contains("1. xplayer (mark 1 1)") && shown.contains("result"), "{shown}");
}

#[test]
fn animations_of_continuous_games_follow_the_trajectories() {
    let scratch = Scratch::new("draw-continuous");
    let record = scratch.file("match.json", "");
    let args = ["match", "bouncing-ball", "--players", "legal", "--iterations", "1"];
    agon(&[&args[..], &["--record", &record]].concat()).succeeds();
    let svg = scratch.file("match.svg", "");
    agon(&["draw", "bouncing-ball", "--match", &record, "--out", &svg]).succeeds();
    let drawing = std::fs::read_to_string(&svg).expect("it was written");
    let n_pictures = drawing.matches("<animate ").count();
    let n_steps = agon(&["replay", "--show", &record]).succeeds().out.matches("catcher").count();
    assert!(n_pictures > 8 * n_steps, "{n_pictures} pictures of {n_steps} steps");
}

#[test]
fn old_stylesheets_draw_pages() {
    let scratch = Scratch::new("draw-stylesheet");
    let sheet = "<xsl:stylesheet version=\"1.0\" \
        xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\"><xsl:template match=\"/\">\
        <ul><xsl:for-each select=\"//fact[relation='cell' and argument[3]!='blank']\"><li>\
        <xsl:value-of select=\"concat(argument[1], argument[2], argument[3])\"/></li>\
        </xsl:for-each></ul><img src=\"&ROOT;/x.png\"/></xsl:template></xsl:stylesheet>";
    let path = scratch.file("sheet.xsl", sheet);
    let args = ["draw", "tic-tac-toe", "--after", "(mark 2 3)", "--stylesheet", &path];
    let page = agon(&[&args[..], &["--root", "pictures"]].concat()).succeeds().out;
    assert!(page.contains("<ul><li>23x</li></ul><img src=\"pictures/x.png\">"), "{page}");
    agon(&[&args[..], &["--out", "x.svg"]].concat()).complains(2, "does not end with .html");
    let bad = scratch.file("bad.xsl", sheet.replace("xsl:for-each", "xsl:number"));
    agon(&["draw", "tic-tac-toe", "--stylesheet", &bad])
        .complains(2, "xsl:number is not supported here");
}

#[test]
fn hints_beside_the_rules_are_used() {
    let scratch = Scratch::new("draw-hints");
    let rules = "(role a) (index 1) (index 2) (index 3)
        (<= (init (cell ?x ?y blank)) (index ?x) (index ?y)) (init (step 1))
        (<= (legal a (mark ?x ?y)) (true (cell ?x ?y blank)))
        (<= (next (cell ?x ?y wP)) (does a (mark ?x ?y)))
        (<= (next (cell ?x ?y blank)) (true (cell ?x ?y blank)) (does a (mark ?u ?v))
            (distinct ?x ?u))
        (<= terminal (not (true (step 1)))) (goal a 50)";
    let path = scratch.file("game.kif", rules);
    scratch.file("game.board.toml", "board = \"hide=step\"\n[pieces]\nwP = \"♙ a\"\n");
    let drawn = json(&agon(&["draw", &path, "--after", "(mark 1 3)", "--json"]).succeeds());
    let text = drawn["scene"].to_string();
    assert!(text.contains("\"pawn\"") && !text.contains("step"), "{text}");
    // Hints that are not understood are named and ignored.
    scratch.file("game.board.toml", "board = \"triangle\"\n");
    let drawn = agon(&["draw", &path]).succeeds();
    assert!(drawn.err.contains("game.board.toml: `triangle` is not a hint"), "{}", drawn.err);
    let path = scratch.file("other.kif", format!("; board: triangle\n{rules}"));
    let drawn = agon(&["draw", &path]).succeeds();
    assert!(drawn.err.contains("other.kif: `triangle` is not a hint"), "{}", drawn.err);
}

#[test]
fn chess_accepts_places_and_promotions_are_choices() {
    let drawn = json(&agon(&["draw", "toss/chess", "--json"]).succeeds());
    let moves = drawn["moves"]["white"].as_array().expect("moves of white");
    let knight = moves.iter().find(|m| m["text"].as_str().is_some_and(|t| t.contains("b1 c3")));
    let knight = knight.expect("the knight can move");
    assert_eq!(knight["steps"], serde_json::json!([["board/b1"], ["board/c3"]]));
    let input = "b1c3\nhistory\nquit\n";
    let args = ["play", "toss/chess", "--against", "legal", "--iterations", "1"];
    let run = agon_reading(&args, input).succeeds();
    assert!(run.out.to_lowercase().contains("knight b1 c3"), "{}", run.out);
}

#[test]
fn the_prompt_has_commands() {
    let scratch = Scratch::new("prompt");
    let file = scratch.file("saved.json", "");
    let input =
        format!("(mark 1 1)\nwhy (mark 1 1)\nwhy\nhistory\nsave {file}\n(mark 3 3)\nquit\n");
    let args = ["play", "tic-tac-toe", "--against", "legal", "--iterations", "1"];
    let run = agon_reading(&args, &input).succeeds();
    for part in ["Tic-Tac-Toe", "You are xplayer", "1. xplayer (mark 1 1)", "saved to ", "does not"]
    {
        assert!(run.out.contains(part), "no `{part}` in\n{}", run.out);
    }
    assert!(!run.out.contains("the only move"), "{}", run.out);
    let saved = std::fs::read_to_string(&file).expect("it was saved");
    assert!(saved.contains("\"states\""), "{saved}");
}

#[test]
fn assess_reports_all_points() {
    let args = ["assess", "tic-tac-toe", "--plays", "100", "--matches", "1", "--strong", "20"];
    let found = json(&agon(&[&args[..], &["--weak", "5", "--json"]].concat()).succeeds());
    let keys = ["players", "play", "termination", "unused_moves", "unused_rules", "symmetries"];
    super::has_keys(&found, &keys);
    assert_eq!(found["termination"]["known"], "proved");
    assert_eq!(found["solution"]["values"]["xplayer"], 50.0);
    let text = agon(&["assess", "matching-pennies", "--matches", "1"]).succeeds().out;
    assert!(text.contains("perfect play: matcher 50"), "{text}");
}
