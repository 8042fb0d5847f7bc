//! Structure rewriting games: they play like the same game in GDL, and every command accepts them.

use agon_game::{Notation as _, Position as _, Rng, Role};
use agon_toss::interpreter::{Game, Interpreter, Options};
use rand::{RngExt as _, SeedableRng as _};

use super::games;

fn open(name: &str) -> Interpreter {
    let path = games::root().join(format!("games/toss/{name}.toss"));
    let arena =
        agon_toss::check::check(games::source(&path)).arena.expect("shipped games have no errors");
    Game::open(arena, Options::default())
        .unwrap_or_else(|finding| panic!("{name}: {}", finding.message))
        .start()
}

/// Column and row of an element of a board, from 1.
fn place(element: &str) -> (usize, usize) {
    let letter = element.bytes().next().expect("elements have names");
    (usize::from(letter - b'a') + 1, element[1..].parse().expect("a row"))
}

/// Returns a move of one game in the notation of the other.
type Translate = fn(&str, &[&str]) -> String;

/// Returns a move from one place to another in the notation of GDL.
fn from_to(verb: &str, elements: &[&str]) -> String {
    let ((x, y), (u, v)) = (place(elements[0]), place(elements[elements.len() - 1]));
    format!("({verb} {x} {y} {u} {v})")
}

/// Plays both games with the same random moves. Legal moves, ends and payoffs must agree. `scale`
/// converts the payoffs of the first game to those of the second.
fn play_alike(
    name: &str,
    n_plays: u64,
    max_steps: usize,
    translate: Translate,
    scale: fn(f64) -> f64,
) {
    let start = open(name);
    let other_start = games::shipped(name).start();
    for seed in 0..n_plays {
        let mut rng = Rng::seed_from_u64(seed);
        let (mut here, mut there) = (start.clone(), other_start.clone());
        for step in 0..max_steps {
            let shown = format!("{name}, seed {seed}, step {step}");
            // Checkers in GDL is drawn after a number of moves, which the other game does not
            // count.
            if there.is_terminal() && there.state_text().contains(&"(quiet 80)".to_owned()) {
                break;
            }
            assert_eq!(here.is_terminal(), there.is_terminal(), "{shown}");
            if here.is_terminal() {
                for role in [0, 1].map(Role::new) {
                    assert_eq!(scale(here.payoff(role)), there.payoff(role), "{shown}");
                }
                break;
            }
            let mut chosen = (Vec::new(), Vec::new());
            for role in [0, 1].map(Role::new) {
                let texts: Vec<String> =
                    here.legal_moves(role).iter().map(|m| here.move_text(m)).collect();
                let mut translated: Vec<String> = texts
                    .iter()
                    .map(|text| {
                        let words: Vec<&str> = text.trim_matches(['(', ')']).split(' ').collect();
                        if words[0] == "noop" {
                            text.clone()
                        } else {
                            translate(words[0], &words[1..])
                        }
                    })
                    .collect();
                let pick = rng.random_range(0..texts.len());
                chosen.0.push(here.legal_moves(role)[pick].clone());
                let m = there.parse_move(role, &translated[pick]);
                chosen.1.push(
                    m.unwrap_or_else(|| panic!("{shown}: {} is not legal there", translated[pick])),
                );
                let mut legal: Vec<String> =
                    there.legal_moves(role).iter().map(|m| there.move_text(m)).collect();
                translated.sort();
                legal.sort();
                assert_eq!(translated, legal, "{shown}");
            }
            here.advance(&chosen.0);
            there.advance(&chosen.1);
        }
    }
}

#[test]
fn tic_tac_toe_plays_as_in_gdl() {
    let mark: Translate = |_, elements| {
        let (x, y) = place(elements[0]);
        format!("(mark {x} {y})")
    };
    play_alike("tic-tac-toe", 40, 100, mark, |payoff| 50.0 + 50.0 * payoff);
}

#[test]
fn connect_four_plays_as_in_gdl() {
    play_alike(
        "connect-four",
        10,
        100,
        |_, elements| format!("(drop {})", place(elements[0]).0),
        |p| p,
    );
}

#[test]
fn gomoku_plays_as_in_gdl() {
    let put: Translate = |_, elements| {
        let (x, y) = place(elements[0]);
        format!("(place {x} {y})")
    };
    play_alike("gomoku", 1, 60, put, |p| p);
}

#[test]
fn breakthrough_plays_as_in_gdl() {
    play_alike("breakthrough", 4, 200, |_, elements| from_to("move", elements), |p| p);
}

#[test]
fn pawn_whopping_plays_as_in_gdl() {
    play_alike("pawn-whopping", 10, 200, |_, elements| from_to("move", elements), |p| p);
}

#[test]
fn checkers_plays_as_in_gdl() {
    let translate: Translate =
        |rule, elements| from_to(if rule.contains("Jump") { "jump" } else { "move" }, elements);
    play_alike("checkers", 6, 150, translate, |p| p);
}

#[test]
fn games_are_found_by_their_names() {
    let run = |args: &[&str]| {
        let output = games::program().args(args).output().expect("the program runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let list = run(&["games"]);
    assert!(list.contains("toss/tic-tac-toe") && list.contains("Toss"), "{list}");
    assert!(run(&["perft", "toss/chess", "--depth", "1"]).contains("perft 1 20"));
    assert!(run(&["check", "toss/tic-tac-toe", "--plays", "5"]).contains("no errors"));
    assert!(run(&["show", "toss/tic-tac-toe", "--stage", "rules"]).contains("PLAYER X {"));
    assert!(run(&["show", "toss/tic-tac-toe", "--stage", "checked"]).contains("not P(a)"));
    assert!(run(&["info", "toss/rewriting"]).contains("(they change)"));
    assert!(run(&["simulate", "stepping-stones", "-n", "5"]).contains("north"));
    assert!(run(&["explain-code", "toss-free-variable"]).contains("# toss-free-variable"));
    let why = run(&["why", "toss/tic-tac-toe", "--after", "(Cross a1)", "(Circle a1)"]);
    assert!(why.contains("does not hold") && why.contains("embedded exactly"), "{why}");
    assert!(run(&["why", "toss/tic-tac-toe", "Sum (x | not P(x) : 1)"]).contains("its value is 9"));
    let players = ["--players", "mcts,alphabeta", "--iterations", "20"];
    let played = run(&[&["match", "toss/tic-tac-toe"], &players[..]].concat());
    assert!(played.contains("result after"), "{played}");
    assert!(!played.contains("another move was played instead"), "{played}");
}

/// Replays all recordings with every engine. Circuits cannot play games with a changing universe or
/// uneven chances (two games), nor continuous games (ten).
#[test]
fn play_as_recorded() {
    let folder = games::root().join("games/toss");
    for (engine, n_not_taken) in
        [("interpreter", 0), ("circuit", 12), ("lanes", 12), ("portable", 12)]
    {
        let replay = games::program()
            .args(["replay", "--engine", engine, "--games"])
            .arg(&folder)
            .arg("--traces")
            .arg(&folder)
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&replay.stdout);
        assert!(
            replay.status.success(),
            "{engine}: {text}{}",
            String::from_utf8_lossy(&replay.stderr)
        );
        let n_lines = |what: &str| text.lines().filter(|line| line.contains(what)).count();
        assert!(n_lines(": ok, ") + n_not_taken >= 23, "{engine}: {text}");
        assert_eq!(n_lines(": not taken by this engine"), n_not_taken, "{engine}: {text}");
    }
}

#[test]
fn circuits_are_shown_and_chosen() {
    let run = |args: &[&str]| {
        let output = games::program().args(args).output().expect("the program runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let circuit = run(&["show", "toss/tic-tac-toe", "--stage", "circuit"]);
    assert!(circuit.contains("legal X (Cross a1)") && !circuit.contains("rejected"), "{circuit}");
    assert!(run(&["show", "toss/tic-tac-toe", "--stage", "dot"]).starts_with("digraph"));
    let stats = run(&["show", "toss/chess", "--stage", "circuit", "--stats"]);
    assert!(
        stats.contains("tested on the step") && stats.contains("AND gates in the end"),
        "{stats}"
    );
    assert!(
        run(&["perft", "toss/chess", "--depth", "2", "--engine", "circuit"])
            .contains("perft 2 400")
    );
    let refused = games::program()
        .args(["perft", "toss/rewriting", "--engine", "circuit"])
        .output()
        .expect("the program runs");
    assert_eq!(refused.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(errors.contains("rules create, copy or delete elements"), "{errors}");
}

#[test]
fn errors_are_shown_with_their_places() {
    let scratch = games::Scratch::new("toss-mistakes");
    let path = scratch.file("bad.toss", "PLAYERS X\nREL Win() = ex x P(x)\n");
    let output = games::program().args(["check", &path]).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("toss-unknown-relation") && text.contains("bad.toss:2:18"), "{text}");
}
