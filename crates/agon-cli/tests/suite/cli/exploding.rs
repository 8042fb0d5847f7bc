//! Games without a circuit (`tests/exploding`): the message to the user, and play by the
//! interpreter.

use std::path::{Path, PathBuf};

use super::super::games::{self, rulesheets};
use super::run::agon;

fn sheets() -> Vec<(PathBuf, Vec<usize>)> {
    let paths = rulesheets(&games::root().join("tests/exploding"));
    assert!(paths.len() >= 2, "the games are there");
    paths.into_iter().map(|path| (path.clone(), blamed_lines(&path))).collect()
}

/// Returns the lines of the rules below a comment `; explodes`.
fn blamed_lines(path: &Path) -> Vec<usize> {
    let text = std::fs::read_to_string(path).expect("it can be read");
    let lines = text.lines().enumerate().filter(|(_, line)| line.trim() == "; explodes");
    lines.map(|(index, _)| index + 2).collect()
}

#[test]
fn the_automatic_choice_is_the_interpreter_with_the_reason_in_one_line() {
    for (path, lines) in sheets() {
        let path = path.to_string_lossy();
        let run = agon(&["simulate", &path, "-n", "20", "--engine", "auto"]).succeeds();
        assert!(run.out.contains("20 plays at random"), "{}", run.out);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        assert!(
            run.err.starts_with("played by the interpreter, because no circuit was made"),
            "{}",
            run.err
        );
        let place = run.err.trim_end().rsplit_once(&format!("({path}:"));
        let line: usize = place
            .and_then(|(_, line)| line.strip_suffix(')')?.parse().ok())
            .unwrap_or_else(|| panic!("no rule is named: {}", run.err));
        // On a busy machine the time limit may be reached before the worst rule.
        let is_late = run.err.contains("took longer");
        assert!(
            is_late || lines.contains(&line),
            "one of the lines {lines:?} is to blame: {}",
            run.err
        );
    }
}

#[test]
fn the_engine_changes_only_the_speed() {
    for (path, _) in sheets() {
        let path = path.to_string_lossy();
        let scores = |engine: &str| {
            let run = agon(&["simulate", &path, "-n", "50", "--seed", "3", "--engine", engine])
                .succeeds();
            run.out
                .lines()
                .filter(|line| line.ends_with("points"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let by_itself = scores("auto");
        assert_eq!(by_itself.len(), 2, "a line for each player");
        assert_eq!(by_itself, scores("interpreter"));
    }
}
