//! Specifications of tournaments: what is accepted, and which errors are reported.

use super::super::{Additions, additions, read};

const GOOD: &str = "games = [\"tic-tac-toe\"]\nplayers = [\"mcts\", \"random\"]\niterations = 10\n";

/// Returns the diagnostics for a text: the text that each points at, and the message with its
/// hints.
fn diagnostics(text: &str) -> Vec<(String, String)> {
    let found = read(text, &super::parse_player).expect_err(text);
    assert!(found.has_errors());
    let shown = found.0.iter().map(|f| {
        let words = [vec![f.message.clone()], f.hints.clone()].concat().join(" / ");
        (text[f.span.start()..f.span.end()].to_owned(), words)
    });
    shown.collect()
}

#[test]
fn defaults_and_names_are_read() {
    let t = read(GOOD, &super::parse_player).expect("the text is valid");
    assert_eq!((t.seed, t.repeats, t.openings, t.name.as_str()), (1, 1, 0, "tournament"));
    let named = "games = [\"a.kif\"]\nplay_clock = 2\nseed = 0x10\n[players]\nzebra = \"mcts\"\n\
                 ape = { player = \"cmd:./x\", threads = 3 }\n[sprt]\nelo0 = -5\nelo1 = 5.5\n";
    let t = read(named, &super::parse_player).expect("the text is valid");
    let names: Vec<&str> = t.players.iter().map(|player| player.name.as_str()).collect();
    assert_eq!(names, ["zebra", "ape"], "in the order of the text");
    assert_eq!((t.players[1].threads, t.seed, t.thinking.start_clock), (Some(3), 16, 2.0));
    assert_eq!(t.sprt.map(|s| (s.elo0, s.elo1, s.alpha, s.beta)), Some((-5.0, 5.5, 0.05, 0.05)));
}

#[test]
fn errors_have_a_place_and_a_hint() {
    for (text, place, words) in [
        ("repeets = 3\n", "repeets", "a tournament has no key `repeets` / did you mean `repeats`?"),
        ("colour = 3\n", "colour", "a tournament has no key `colour` / the keys are name, seed"),
        (
            "repeats = 0\n",
            "0",
            "`repeats` must be a whole number from 1 to 1000000 / write, for instance, repeats = 10",
        ),
        ("repeats = \"3\"\n", "\"3\"", "`repeats` must be a whole number from 1"),
        ("seed = -1\n", "-1", "`seed` must be a whole number of at least 0"),
        ("play_clock = 1\n", "1", "by the clock or by iterations, not both / remove one"),
        ("margin = 0.1\n", "0.1", "`margin` has no effect without `play_clock`"),
        ("ponder = true\n", "true", "`ponder` has no effect without `play_clock`"),
        (
            "sprt = 3\n",
            "3",
            "`sprt` must be a table / write, for instance, sprt = { elo0 = 0, elo1 = 20 }",
        ),
        (
            "sprt = { elo0 = 5, elo1 = 2 }\n",
            "{ elo0 = 5, elo1 = 2 }",
            "elo0 must be less than elo1",
        ),
        ("sprt = { elo0 = 5 }\n", "{ elo0 = 5 }", "`elo1` is missing / add elo1 = 20"),
        ("sprt = { elo0 = 0, elo1 = 5, alfa = 0.1 }\n", "alfa", "did you mean `alpha`?"),
        ("name = 3\n", "3", "expected a name, found an integer / write it in quotation marks"),
    ] {
        let found = diagnostics(&format!("{GOOD}{text}"));
        let is_it = |(at, what): &(String, String)| at == place && what.contains(words);
        assert!(found.iter().any(is_it), "{text}: {found:?}");
    }
    for (text, place, words) in [
        ("", "", "the thinking time is missing / write `iterations = 1000`"),
        ("games = [\"x\", \"x\"]", "\"x\"", "the game `x` is listed twice"),
        ("games = \"x\"", "\"x\"", "`games` must be a list of games"),
        (
            "players = [\"mcts\"]",
            "[\"mcts\"]",
            "a tournament needs at least two players, but there are 1",
        ),
        (
            "players = [\"mcts\", \"mcts\"]",
            "\"mcts\"",
            "two players are called `mcts` / give them names",
        ),
        (
            "players = [\"mtcs\", \"random\"]",
            "mtcs",
            "no player is called `mtcs` / did you mean `mcts`?",
        ),
        ("players = [\"mcts(z=1)\", \"random\"]", "z", "`mcts` has no option `z`"),
        (
            "players = [\"human\", \"random\"]",
            "\"human\"",
            "a person cannot take part in a tournament",
        ),
        ("[players]\na = { plaier = \"mcts\" }\n", "plaier", "did you mean `player`?"),
        (
            "players = [\"random\", \"http://x\"]\niterations = 5",
            "",
            "players outside of this process need a clock",
        ),
        ("games = [\"x\"\nplayers = 3", "", "TOML"),
        (
            "players = [\"a\", \"b\", \"c\"]\nsprt = {elo0=0,elo1=1}",
            "{elo0=0,elo1=1}",
            "sprt needs exactly two players",
        ),
    ] {
        let found = diagnostics(text);
        let is_it = |(at, what): &(String, String)| {
            (place.is_empty() || at == place) && what.contains(words)
        };
        assert!(found.iter().any(is_it), "{text}: {found:?}");
    }
    let many = diagnostics("games = 3\nplayers = 4\nrepeets = 5\n");
    assert!(many.len() >= 4, "all errors are reported at once: {many:?}");
}

#[test]
fn only_players_games_and_repeats_may_be_added() {
    let old = read(GOOD, &super::parse_player).expect("the text is valid");
    let with = |change: fn(&mut String)| {
        let mut text = GOOD.to_owned();
        change(&mut text);
        read(&text, &super::parse_player).expect("the text is valid")
    };
    assert_eq!(additions(&old, &old), Ok(Additions::default()));
    let more = with(|text| {
        *text = text
            .replace("\"tic-tac-toe\"", "\"nim\", \"tic-tac-toe\"")
            .replace("\"mcts\"", "\"legal\", \"mcts\"");
        text.push_str("repeats = 5\nname = \"other\"\n");
    });
    let added = additions(&old, &more).expect("the change only adds");
    assert_eq!(
        (added.players, added.games, added.repeats),
        (vec!["legal".into()], vec!["nim".into()], 4)
    );
    let words = |new| additions(&old, &new).expect_err("a setting has changed").to_string();
    assert_eq!(words(with(|text| text.push_str("seed = 2\n"))), "seed was 1 and is now 2");
    assert_eq!(
        words(with(|text| *text = text.replace("10", "11"))),
        "iterations was 10 and is now 11"
    );
    assert_eq!(
        words(with(|text| *text = text.replace("random", "greedy"))),
        "the player `random` is gone"
    );
    assert_eq!(
        words(with(|text| *text = text.replace("tic-tac-toe", "nim"))),
        "the game `tic-tac-toe` is gone"
    );
    assert!(
        additions(&more, &old)
            .expect_err("repeats are fewer")
            .to_string()
            .contains("repeats was 5")
    );
}

#[test]
fn spans_of_diagnostics_lie_in_the_text() {
    use agon_game::Rng;
    use rand::{RngExt as _, SeedableRng as _};
    let good = "name = \"é\"\nseed = 0x1F\ngames = [\"tic-tac-toe\", 'b.kif']\niterations = 1_0\nrepeats = 3\nopenings = 2\n\
                [players]\na = \"mcts(c=0.4)\"\nb = { player = \"random\", threads = 1 }\n[sprt]\nelo0 = -1.5\nelo1 = 2e0\n";
    assert!(read(good, &super::parse_player).is_ok());
    let signs: Vec<char> = "[]{}=\"'.,#\n\\ é0x-_1eE+naTf\u{0}\u{1f600}".chars().collect();
    let mut rng = Rng::seed_from_u64(13);
    for _ in 0..5000 {
        let mut text: Vec<char> = good.chars().collect();
        for _ in 0..rng.random_range(1..6) {
            let at = rng.random_range(0..text.len());
            match rng.random_range(0..3) {
                0 => text[at] = signs[rng.random_range(0..signs.len())],
                1 => text.insert(at, signs[rng.random_range(0..signs.len())]),
                _ => {
                    let to = (at + rng.random_range(1..20)).min(text.len() - 1);
                    text.drain(at.min(to)..to.max(at));
                }
            }
        }
        let text: String = text.into_iter().collect();
        if let Err(found) = read(&text, &super::parse_player) {
            assert!(found.has_errors());
            for diagnostic in &found.0 {
                assert!(
                    text.get(diagnostic.span.start()..diagnostic.span.end()).is_some(),
                    "{text:?}: {diagnostic:?}"
                );
            }
        }
    }
}
