//! The book in `book/`: its links lead somewhere, its listings are correct, and its commands print
//! what the pages say.
//!
//! Blocks of a page are marked by their info string:
//!
//! - `console`: commands after `$ `, each followed by its output. A line `…` stands for any lines,
//!   `…` inside of a line for any text.
//! - `…,file=NAME`: a file that the commands of the page can use.
//! - `lisp`: rules in GDL, which must at least be read without an error.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use std::sync::Arc;

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

#[cfg(unix)]
fn run(scratch: &Scratch, command: &str, expected: &str) -> Result<(), String> {
    let program = PathBuf::from(games::program().get_program());
    let folder = program.parent().unwrap_or(&program).to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
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
    let output = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!("{command} 2>&1"))
        .env("PATH", format!("{}:{path}", folder.display()))
        .current_dir(scratch.path("."))
        .output()
        .map_err(|error| error.to_string())?;
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

#[test]
fn patterns_match_lines() {
    assert!(matches(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(!matches(&["a", "…", "d"], &["a", "b"]));
    assert!(fits("perft … 9", "perft 1 9") && !fits("perft … 9", "perft 1 8"));
    assert!(fits("same", "same") && !fits("same", "same again"));
}
