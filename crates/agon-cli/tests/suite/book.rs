//! The book in `book/`: its links lead somewhere, its listings are correct, and its commands print
//! what the pages say.
//!
//! Blocks of a page are marked by their info string:
//!
//! - `console`: commands after `$ `, each followed by its output. A line `…` stands for any lines,
//!   `…` inside of a line for any text.
//! - `…,file=NAME`: a file that the commands of the page can use.
//! - `lisp`: rules in GDL, which must at least be read without an error.
//!
//! Indented lines that begin with `agon` are commands too. Quick ones are run. Of the others, such
//! as servers and long matches, the names of commands and options are checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::{AtomicUsize, Ordering};

use agon_gdl::read::read;
use agon_text::Source;

use super::games::{self, Scratch, for_each};

fn sources() -> PathBuf {
    games::root().join("book/src")
}

/// A page of the book. Text that it includes from other files is part of it.
struct Page {
    /// Name of the file, such as `faq.md`.
    name: String,
    text: String,
    /// Folder to which links of the page are relative: that of the included file, if there is one.
    folder: PathBuf,
}

/// A fenced block of a page.
struct Block {
    info: String,
    text: String,
    /// Line of the page, from 1.
    line: usize,
}

/// Reads all pages, in alphabetical order.
fn pages() -> Vec<Page> {
    let entries = std::fs::read_dir(sources()).expect("the book has sources");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("entries are readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    paths.iter().map(|path| page(path)).collect()
}

fn page(path: &Path) -> Page {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = read_text(path);
    let included = text.lines().find_map(|line| {
        line.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"))
    });
    match included {
        None => Page { name, text, folder: sources() },
        Some(target) => {
            let target = sources().join(target);
            let folder = target.parent().unwrap_or(&target).to_owned();
            Page { name, text: read_text(&target), folder }
        }
    }
}

fn read_text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_inside = false;
    for (index, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !is_inside => {
                let block =
                    Block { info: info.trim().to_owned(), text: String::new(), line: index + 1 };
                blocks.push(block);
                is_inside = true;
            }
            Some(_) => is_inside = false,
            None if is_inside => {
                let block = blocks.last_mut().expect("a block has been opened");
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// Returns the text outside of fenced blocks and of code in backquotes.
fn prose(text: &str) -> String {
    let mut is_inside = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.starts_with("```");
        is_inside ^= is_fence;
        !is_inside && !is_fence && !line.starts_with("    ")
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

/// Returns the targets of all links `[text](target)`.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
}

/// Returns the anchors of a page, made from its headings as mdBook and GitHub do.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|heading| {
            let words = heading.trim_start_matches('#').trim().to_lowercase();
            let kept =
                words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = links(&read_text(&sources().join("SUMMARY.md")));
    let listed: BTreeSet<String> = summary.into_iter().collect();
    let mut present: BTreeSet<String> = pages().into_iter().map(|page| page.name).collect();
    present.remove("SUMMARY.md");
    assert_eq!(listed, present);
}

#[test]
fn links_lead_to_pages_and_headings() {
    let pages = pages();
    let known: BTreeMap<&str, &Page> =
        pages.iter().map(|page| (page.name.as_str(), page)).collect();
    let mut wrong = Vec::new();
    for page in &pages {
        for link in links(&page.text) {
            if link.starts_with("http://") || link.starts_with("https://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link.as_str(), ""));
            let file = if file.is_empty() { page.name.as_str() } else { file };
            let text = match known.get(file) {
                Some(page) => page.text.clone(),
                // Images and files beside an included document.
                None if page.folder != sources() && page.folder.join(file).exists() => continue,
                None => {
                    wrong.push(format!("{}: no page {file}", page.name));
                    continue;
                }
            };
            if !anchor.is_empty() && !anchors(&text).contains(anchor) {
                wrong.push(format!("{}: no heading for {link}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_are_read_without_errors() {
    let mut n_read = 0;
    for page in pages().iter().filter(|page| page.folder == sources()) {
        for block in blocks(&page.text).iter().filter(|block| block.info.starts_with("lisp")) {
            let place = format!("{}:{}", page.name, block.line);
            let (_, findings) = read(Arc::new(Source::new(place.clone(), block.text.as_str())));
            assert!(!findings.has_errors(), "{place}: {:?}", findings.0);
            n_read += 1;
        }
    }
    assert!(n_read > 10, "only {n_read} listings");
}

/// Runs every command of every page in a folder of its own and compares the output.
#[cfg(unix)]
#[test]
fn commands_print_what_the_pages_say() {
    let pages: Vec<Page> = pages().into_iter().filter(|page| page.folder == sources()).collect();
    for_each(&pages, |page| {
        let scratch = Scratch::new(&format!("book-{}", page.name));
        for block in blocks(&page.text) {
            if let Some((_, name)) = block.info.split_once("file=") {
                scratch.file(name, &block.text);
            } else if block.info == "console" {
                for (command, expected) in commands(&block.text) {
                    let place = format!("{}:{}: $ {command}", page.name, block.line);
                    run(&scratch, &command, &expected).map_err(|why| format!("{place}\n{why}"))?;
                }
            }
        }
        Ok(())
    });
}

/// Splits a console block into commands and their outputs.
#[cfg(unix)]
fn commands(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            // A backslash at its end continues a command.
            (None, Some((command, output))) if output.is_empty() && command.ends_with('\\') => {
                command.pop();
                command.push_str(line.trim_start());
            }
            (None, Some((_, output))) => {
                output.push_str(line);
                output.push('\n');
            }
            (None, None) => panic!("a console block starts with a command: {line}"),
        }
    }
    commands
}

/// Prepares a command of a page, with `agon` in the path and both outputs in one.
#[cfg(unix)]
fn shell(scratch: &Scratch, command: &str) -> std::process::Command {
    let program = PathBuf::from(games::program().get_program());
    let folder = program.parent().unwrap_or(&program).to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = std::process::Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("{{ {command}\n}} 2>&1"))
        .env("PATH", format!("{}:{path}", folder.display()))
        .current_dir(scratch.path("."));
    shell
}

#[cfg(unix)]
fn run(scratch: &Scratch, command: &str, expected: &str) -> Result<(), String> {
    let has_python = || {
        std::process::Command::new("python3")
            .arg("--version")
            .output()
            .is_ok_and(|o| o.status.success())
    };
    if command.contains("python3") && !has_python() {
        println!("skipped, because there is no python3: {command}");
        return Ok(());
    }
    let output = shell(scratch, command).output().map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected: Vec<&str> = expected.lines().map(str::trim_end).collect();
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    if matches(&expected, &lines) { Ok(()) } else { Err(format!("printed\n{printed}")) }
}

/// Whether lines fit a pattern in which `…` stands for any lines, or for any text of a line.
fn matches(pattern: &[&str], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, others)| fits(first, line) && matches(rest, others)),
    }
}

fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut left) = parts.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return left.is_empty() };
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

/// Returns the commands of `agon` in indented lines, without comments.
fn indented_commands(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let line = line.strip_prefix("    ").unwrap_or("");
        let line = line.split("  #").next().unwrap_or(line).trim();
        let part = line.strip_suffix('\\').unwrap_or(line).trim_end();
        if is_open {
            let command = found.last_mut().expect("a command was begun");
            command.push(' ');
            command.push_str(part);
        } else if line.starts_with("agon ") {
            found.push(part.to_owned());
        }
        is_open = line.ends_with('\\') && (is_open || line.starts_with("agon "));
    }
    found
}

/// How a documented command is tested.
#[derive(Debug, PartialEq)]
enum Trial {
    /// It is run.
    Run,
    /// It has words in capitals that stand for others, so only the command itself is looked up.
    Named,
    /// It takes long, or needs what is not there, so its options are parsed.
    Parsed,
}

fn trial(command: &str) -> Trial {
    let words: Vec<&str> = command.split_whitespace().collect();
    let stands_for_others = |word: &&&str| {
        word.starts_with('[') || ["GAME", "KEY", "FEATURE", "N", "ID"].contains(*word)
    };
    if words.iter().any(|word| stands_for_others(&word)) {
        return Trial::Named;
    }
    let quick = "check completions diff fmt games info models new perft players profile prove show \
                 simulate solve why";
    let needs_more = [
        "../",
        "match.json",
        "--stylesheet",
        "games/*",
        "other.kif",
        "models export",
        "models import",
    ];
    let is_quick = words.get(1).is_some_and(|name| quick.split(' ').any(|word| word == *name));
    match is_quick && !needs_more.iter().any(|part| command.contains(part)) {
        true => Trial::Run,
        false => Trial::Parsed,
    }
}

/// Runs the commands of the pages that are documents of their own, and of the README.
#[cfg(unix)]
#[test]
fn indented_commands_are_commands() {
    let mut pages: Vec<Page> = pages();
    let readme = games::root().join("README.md");
    pages.push(Page {
        name: "README.md".to_owned(),
        text: read_text(&readme),
        folder: games::root(),
    });
    let n_run = AtomicUsize::new(0);
    for_each(&pages, |page| {
        let scratch = Scratch::new(&format!("commands-{}", page.name));
        let at_once = |command: &str| {
            let home = scratch.path(".");
            let output = shell(&scratch, command)
                .env("HOME", &home)
                .env("XDG_DATA_HOME", &home)
                .output()
                .map_err(|error| error.to_string())?;
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok::<_, String>((output.status.code(), printed))
        };
        // What the pages take for granted.
        for (name, template) in [("my-game", "board"), ("my-game-new", "board"), ("toss", "toss")] {
            at_once(&format!("agon new {name} --template {template}"))?;
        }
        at_once("mv toss.toss my-game.toss")?;
        at_once("mkdir -p .local/share/bash-completion/completions .local/share/man/man1")?;
        for command in indented_commands(&page.text) {
            let name = command.split_whitespace().nth(1).unwrap_or_default();
            let (tried, may_refute) = match trial(&command) {
                Trial::Run if command.starts_with("agon new ") => {
                    (command.replace("my-game", "another-game"), false)
                }
                Trial::Run => (command.clone(), ["prove", "diff", "why"].contains(&name)),
                Trial::Named => (format!("agon {name} --help"), false),
                Trial::Parsed => (format!("{command} --help"), false),
            };
            let (code, printed) = at_once(&tried)?;
            if !(code == Some(0) || (may_refute && matches!(code, Some(1 | 3)))) {
                return Err(format!("{}: $ {tried}\nended with {code:?}\n{printed}", page.name));
            }
            n_run.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    });
    assert!(n_run.into_inner() > 90, "most of the commands were found");
}

#[test]
fn indented_commands_are_found() {
    let text =
        "Text\n    agon host x \\\n        --port 3   # why\n    agon show y --stage z\nagon no\n";
    assert_eq!(indented_commands(text), ["agon host x --port 3", "agon show y --stage z"]);
    assert_eq!(trial("agon host x --port 3"), Trial::Parsed);
    assert_eq!(trial("agon show y --stage z"), Trial::Run);
    assert_eq!(trial("agon models show KEY"), Trial::Named);
}

/// Every work that the book and the documents cite by author and year is in the bibliography.
#[test]
fn cited_works_are_in_the_bibliography() {
    let bibliography = read_text(&games::root().join("docs/papers.md"));
    let bibliography = bibliography.split_whitespace().collect::<Vec<_>>().join(" ");
    let months = "January February March April May June July August September October November \
                  December";
    let mut n_cited = 0;
    for page in pages().iter().filter(|page| page.name != "papers.md") {
        let prose = prose(&page.text);
        let words: Vec<&str> = prose.split_whitespace().collect();
        for pair in words.windows(2) {
            let author = pair[0].trim_start_matches(['(', '*']);
            let year = pair[1].trim_start_matches('(');
            let year = year.trim_end_matches([')', '.', ',', ';', ':', '*']);
            let is_year = year.len() == 4 && year.parse().is_ok_and(|y| (1900..2030).contains(&y));
            let is_name = author.chars().next().is_some_and(char::is_uppercase)
                && author.chars().skip(1).all(|c| c.is_lowercase() || c == '-')
                && author.chars().count() > 2;
            let is_group = author == "al.";
            if !is_year || !(is_name || is_group) || months.contains(author) {
                continue;
            }
            n_cited += 1;
            let citation = format!("{author} {year}");
            let is_listed = bibliography.contains(&citation);
            assert!(is_listed, "{}: `{citation}` is not in docs/papers.md", page.name);
        }
    }
    assert!(n_cited >= 15, "only {n_cited} citations were found");
}

#[test]
fn patterns_match_lines() {
    assert!(matches(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(!matches(&["a", "…", "d"], &["a", "b"]));
    assert!(fits("perft … 9", "perft 1 9") && !fits("perft … 9", "perft 1 8"));
    assert!(fits("same", "same") && !fits("same", "same again"));
}
