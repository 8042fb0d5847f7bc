//! Rules of the house that no lint knows: which crate may use which, and that the games are our own.

use std::collections::{BTreeMap, BTreeSet};

use agon_gdl::print::Printer;
use agon_gdl::read::read;
use agon_gdl::syntax::Syntax;

use super::games::{self, for_each, name, rulesheets};

/// The arrows of ARCHITECTURE.md: what each crate may use. Tests may use what they like.
const ARROWS: [(&str, &[&str]); 12] = [
    ("agon-text", &[]),
    ("agon-game", &[]),
    ("agon-logic", &["agon-text"]),
    ("agon-circuit", &["agon-game"]),
    ("agon-gdl", &["agon-text", "agon-game", "agon-logic", "agon-circuit"]),
    ("agon-toss", &["agon-text", "agon-game", "agon-logic", "agon-circuit"]),
    (
        "agon-analysis",
        &["agon-text", "agon-game", "agon-logic", "agon-circuit", "agon-gdl", "agon-toss"],
    ),
    (
        "agon-translate",
        &["agon-text", "agon-game", "agon-logic", "agon-circuit", "agon-gdl", "agon-toss"],
    ),
    ("agon-search", &["agon-game"]),
    ("agon-match", &["agon-text", "agon-game", "agon-search", "agon-analysis"]),
    ("agon-server", &["agon-game", "agon-search", "agon-match"]),
    (
        "agon",
        &[
            "agon-text",
            "agon-game",
            "agon-logic",
            "agon-circuit",
            "agon-gdl",
            "agon-toss",
            "agon-analysis",
            "agon-translate",
            "agon-search",
            "agon-match",
            "agon-server",
        ],
    ),
];

#[test]
fn crates_depend_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from(ARROWS);
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(games::root().join("crates")).expect("there are crates") {
        let folder = entry.expect("entries are readable").path();
        let Ok(manifest) = std::fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let this = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        assert!(
            manifest.contains(&format!("name = \"{this}\"")),
            "{this}: folder and crate have the same name"
        );
        let Some(allowed) = allowed.get(this.as_str()) else {
            wrong.push(format!("{this} is not in the picture: add it to ARCHITECTURE.md and here"));
            continue;
        };
        let used =
            dependencies(&manifest).into_iter().filter(|used| !allowed.contains(&used.as_str()));
        wrong.extend(used.map(|used| format!("{this} may not use {used}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The crates of ours that a manifest names, outside of its dependencies for tests.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
            // A dependency may have a section of its own: `[dependencies.agon-text]`.
            let own = line.trim_matches(['[', ']']).rsplit_once("dependencies.");
            found.extend(
                own.filter(|(before, _)| !before.contains("dev-")).map(|(_, name)| name.to_owned()),
            );
        } else if section.ends_with("dependencies]") && !section.contains("dev-") {
            found.extend(line.split(['.', '=', ' ']).next().map(str::to_owned));
        }
    }
    found.retain(|name| name == "agon" || name.starts_with("agon-"));
    found
}

#[test]
fn dependencies_are_read_in_every_form() {
    let manifest = "[dependencies]\nagon-text.workspace = true\nagon-game = { path = \"x\" }\nrand = \"1\"\n\
        [target.'cfg(unix)'.dependencies]\nagon-a.workspace = true\n[dependencies.agon-b]\nworkspace = true\n\
        [dev-dependencies]\nagon-c.workspace = true\n[dev-dependencies.agon-d]\nworkspace = true\n";
    let found: Vec<String> = dependencies(manifest).into_iter().collect();
    assert_eq!(found, ["agon-a", "agon-b", "agon-game", "agon-text"]);
}

/// Part of the rules of a shipped rulesheet that may be found in any one of the public collection. Facts do not
/// count: `(role white)` and `(succ 1 2)` are nobody's invention.
const MAX_COMMON: f64 = 0.3;

#[test]
fn rulesheets_are_our_own() {
    let Some((folder, _)) = games::shared() else {
        println!("skipped: ../shared is not here");
        return;
    };
    let theirs: Vec<(String, BTreeSet<String>)> =
        rulesheets(&folder).iter().map(|path| (path.display().to_string(), rules(path))).collect();
    for_each(&rulesheets(&games::root().join("games")), |path| {
        let ours = rules(path);
        for (other, rules) in &theirs {
            let share = ours.intersection(rules).count() as f64 / ours.len().max(1) as f64;
            if share >= MAX_COMMON {
                let percent = 100.0 * share;
                return Err(format!(
                    "{percent:.0} % of the rules of {} are in {other}",
                    name(path)
                ));
            }
        }
        Ok(())
    });
}

/// The rules of a rulesheet, printed alike and with the variables numbered in the order they come.
fn rules(path: &std::path::Path) -> BTreeSet<String> {
    let (sheet, _) = read(games::source(path));
    let rules = sheet.clauses.iter().filter(|clause| !clause.body.is_empty());
    rules
        .map(|clause| {
            numbered(&Printer::new(&sheet.symbols, &clause.variables, Syntax::Kif).clause(clause))
        })
        .collect()
}

fn numbered(clause: &str) -> String {
    let clause = clause.to_lowercase().replace('(', " ( ").replace(')', " ) ");
    let mut variables: Vec<&str> = Vec::new();
    let mut words = Vec::new();
    for word in clause.split_whitespace() {
        if !word.starts_with('?') {
            words.push(word.to_owned());
            continue;
        }
        let known = variables.iter().position(|variable| *variable == word);
        words.push(format!("?{}", known.unwrap_or(variables.len())));
        if known.is_none() {
            variables.push(word);
        }
    }
    words.join(" ")
}
