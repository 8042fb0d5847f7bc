//! Selections of games: by glob over names, and by tag.

use std::path::Path;

use agon_game::Rng;
use agon_text::Source;
use rand::SeedableRng as _;

use crate::Game;
use crate::open::{self, EngineChoice, Language, OpenOptions, Purpose};
use crate::shipped::{SHIPPED, Shipped};

/// The tags, each with its meaning.
pub const TAGS: &[(&str, &str)] = &[
    ("all", "every shipped game"),
    ("gdl", "in GDL without hidden information and chance"),
    ("gdl2", "in GDL-II"),
    ("toss", "structure rewriting"),
    ("puzzle", "one player, no chance"),
    ("one-player", "one player"),
    ("two-player", "two players"),
    ("multi-player", "more than two players"),
    ("simultaneous", "several players choose at the same step"),
    ("chance", "nature moves at random"),
    ("hidden", "hidden information"),
    ("continuous", "real numbers and time"),
];

/// Returns whether a text selects games rather than naming one: a tag, or a glob with `*` or `?`.
pub fn is_selection(text: &str) -> bool {
    let is_tag = TAGS.iter().any(|(tag, _)| *tag == text);
    (is_tag && Shipped::named(text).is_none()) || text.contains(['*', '?'])
}

/// Returns the games that a tag or a glob selects, in alphabetical order. A glob is compared with
/// the names of shipped games, with and without their folder (`gdl/*`), and with rulesheets below
/// `folder`. Any other text is the name of one game.
pub fn select(text: &str, folder: &Path) -> Vec<String> {
    if !is_selection(text) {
        return vec![text.to_owned()];
    }
    if TAGS.iter().any(|(tag, _)| *tag == text) {
        let with_tag = SHIPPED.iter().filter(|game| text == "all" || has_tag(game, text));
        return sorted(with_tag.map(|game| game.name.to_owned()).collect());
    }
    let matches = |game: &&Shipped| {
        let path = game.path.strip_prefix("games/").unwrap_or(game.path);
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        glob(text, game.name) || glob(text, stem)
    };
    let mut found: Vec<String> =
        SHIPPED.iter().filter(matches).map(|game| game.name.to_owned()).collect();
    found.extend(files(text, folder));
    sorted(found)
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

/// Returns the rulesheets that a glob selects, as paths relative to the folder. Only the last part
/// of the glob may have `*` and `?`.
fn files(text: &str, folder: &Path) -> Vec<String> {
    let (place, pattern) = text.rsplit_once('/').map_or(("", text), |(a, b)| (a, b));
    let Ok(entries) = std::fs::read_dir(folder.join(place)) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| [".kif", ".toss"].iter().any(|ending| name.ends_with(ending)))
        .filter(|name| glob(pattern, name))
        .map(|name| if place.is_empty() { name } else { format!("{place}/{name}") })
        .collect()
}

/// Returns whether a shipped game has a tag. The words of a header `tags` are tags, too.
fn has_tag(game: &Shipped, tag: &str) -> bool {
    let source = std::sync::Arc::new(Source::new(game.path, game.text));
    let (n_players, has_chance, is_hidden, is_continuous) = match open::language(&source) {
        Language::Gdl => match agon_gdl::check::check(source).rules {
            Some(rules) => {
                let n_players = rules.roles().len() - usize::from(rules.nature().is_some());
                let is_hidden = tag == "hidden" && rules.is_gdl2() && has_secrets(game);
                (n_players, rules.nature().is_some(), is_hidden, false)
            }
            None => return false,
        },
        Language::Toss => match open::open_toss(source, &open::OpenOptions::default()) {
            Ok(opened) => {
                let shape = opened.shape();
                let continuous = opened.arena().is_continuous();
                (shape.players().count(), shape.nature.is_some(), shape.hidden, continuous)
            }
            Err(_) => return false,
        },
    };
    let family = game.path.split('/').nth(1).unwrap_or_default();
    match tag {
        "gdl" | "gdl2" | "toss" => family == tag,
        "puzzle" => n_players == 1 && !has_chance,
        "one-player" => n_players == 1,
        "two-player" => n_players == 2,
        "multi-player" => n_players > 2,
        "chance" => has_chance,
        "hidden" => is_hidden,
        "continuous" => is_continuous,
        "simultaneous" => n_players > 1 && has_simultaneous_choices(game),
        other => game.header("tags").is_some_and(|tags| tags.split([',', ' ']).any(|t| t == other)),
    }
}

fn has_secrets(game: &Shipped) -> bool {
    let source = std::sync::Arc::new(Source::new(game.path, game.text));
    let options = OpenOptions { purpose: Purpose::Single, ..OpenOptions::default() };
    Game::from_source(source, &options).is_ok_and(|game| game.hides_information())
}

/// Returns whether a few random plays reach a step at which several players have a choice.
fn has_simultaneous_choices(game: &Shipped) -> bool {
    let source = std::sync::Arc::new(Source::new(game.path, game.text));
    // The interpreter needs no time to open a game, and a few dozen steps are played.
    let options = OpenOptions { engine: EngineChoice::Interpreter, ..OpenOptions::default() };
    let Ok(game) = Game::from_source(source, &options) else { return false };
    let mut rng = Rng::seed_from_u64(1);
    (0..2).any(|_| {
        let mut position = game.start();
        for _ in 0..40 {
            if position.is_terminal() {
                return false;
            }
            if position.choosers().len() > 1 {
                return true;
            }
            position.play_random(&mut rng);
        }
        false
    })
}

/// Returns whether a text matches a glob: `*` is any text, `?` any character.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    // By prefix of the text: whether the pattern so far matches it.
    let mut matched = vec![false; text.len() + 1];
    matched[0] = true;
    for &part in &pattern {
        let mut next = vec![false; text.len() + 1];
        for end in 0..=text.len() {
            next[end] = match part {
                '*' => matched[end] || (end > 0 && next[end - 1]),
                '?' => end > 0 && matched[end - 1],
                c => end > 0 && matched[end - 1] && text[end - 1] == c,
            };
        }
        matched = next;
    }
    matched[text.len()]
}

/// Replaces the selections in the list `games` of a tournament by the games that they select, so
/// that the description stays the same when games are added later. Returns the text as it is if it
/// has no selection, or if the list cannot be found.
///
/// # Errors
/// The selection that selects nothing.
pub fn resolve_spec(text: &str, folder: &Path) -> Result<String, String> {
    let Some(list) = games_list(text) else { return Ok(text.to_owned()) };
    let mut names = Vec::new();
    let mut has_selection = false;
    for quoted in strings(&text[list.clone()]) {
        has_selection |= is_selection(&quoted);
        let selected = select(&quoted, folder);
        if selected.is_empty() {
            return Err(quoted);
        }
        names.extend(selected.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
    }
    if !has_selection {
        return Ok(text.to_owned());
    }
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    let (before, after) = (&text[..list.start], &text[list.end..]);
    Ok(format!("{before}[{}]{after}", names.join(", ")))
}

/// Returns the place of the list after `games =`, with its brackets.
fn games_list(text: &str) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let rest = line.trim_start();
        if rest.starts_with('[') {
            return None;
        }
        if let Some(value) = rest.strip_prefix("games").map(str::trim_start)
            && let Some(value) = value.strip_prefix('=').map(str::trim_start)
            && value.starts_with('[')
        {
            let open = start + line.len() - value.len();
            let mut is_quoted = false;
            let end = text[open..].char_indices().find(|&(_, c)| {
                is_quoted ^= c == '"' || c == '\'';
                c == ']' && !is_quoted
            })?;
            return Some(open..open + end.0 + 1);
        }
        start += line.len();
    }
    None
}

/// Returns the quoted strings of a list.
fn strings(list: &str) -> Vec<String> {
    let mut parts = list.split(['"', '\'']);
    let mut found = Vec::new();
    while let (Some(_), Some(inside)) = (parts.next(), parts.next()) {
        found.push(inside.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_and_tags() {
        let here = Path::new("");
        assert!(glob("g*/t?c-*", "gdl/tic-tac-toe") && !glob("t?c", "tic-tac-toe"));
        assert_eq!(select("nim", here), ["nim"]);
        assert_eq!(select("all", here).len(), SHIPPED.len());
        let gdl = select("gdl/*", here);
        assert!(gdl.contains(&"nim".to_owned()) && !gdl.iter().any(|name| name.contains('/')));
        let puzzles = select("puzzle", here);
        assert!(puzzles.contains(&"hanoi".to_owned()), "{puzzles:?}");
        assert!(!puzzles.contains(&"nim".to_owned()), "{puzzles:?}");
        let hidden = select("hidden", here);
        assert!(hidden.contains(&"kuhn-poker".to_owned()), "{hidden:?}");
        assert!(!hidden.contains(&"2048".to_owned()), "it has chance alone: {hidden:?}");
        let simultaneous = select("simultaneous", here);
        for wanted in ["goofspiel", "rock-paper-scissors", "toss/pursuit"] {
            assert!(simultaneous.contains(&wanted.to_owned()), "{simultaneous:?}");
        }
        for other in ["tic-tac-toe", "hanoi", "kuhn-poker"] {
            assert!(!simultaneous.contains(&other.to_owned()), "{simultaneous:?}");
        }
        assert_eq!(select("no-such-*", here), Vec::<String>::new());
    }

    #[test]
    fn selections_in_descriptions_are_resolved() {
        let here = Path::new("");
        let text = "name = \"x\"\ngames = [\"nim\", \"connect-*\"]\nseed = 1\n";
        let resolved = resolve_spec(text, here).expect("there are such games");
        let expected =
            "games = [\"nim\", \"connect-four\", \"connect-four-cells\", \"connect-three\"";
        assert!(resolved.contains(expected), "{resolved}");
        assert!(resolved.ends_with("]\nseed = 1\n"), "{resolved}");
        let plain = "games = [\"nim\"]\n[players]\n";
        assert_eq!(resolve_spec(plain, here).as_deref(), Ok(plain));
        assert_eq!(resolve_spec("games = [\"x*y*z\"]\n", here), Err("x*y*z".to_owned()));
    }
}
