//! Rules of the workspace that no lint can check: which crate depends on which, and that the
//! shipped games are original.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use agon_gdl::print::Printer;
use agon_gdl::read::read;
use agon_gdl::syntax::Syntax;
use serde_json::Value;

use super::games::{self, for_each, name, rulesheets};

/// The crates of this workspace on which each crate depends, transitively. Development dependencies
/// do not count. The picture is in `ARCHITECTURE.md`.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("agon-text", &[]),
    ("agon-game", &[]),
    ("agon-datalog", &[]),
    ("agon-reals", &[]),
    ("agon-structures", &["agon-reals"]),
    ("agon-circuit", &["agon-game"]),
    ("agon-gdl", &["agon-text", "agon-game", "agon-datalog", "agon-circuit"]),
    ("agon-toss", &["agon-text", "agon-game", "agon-reals", "agon-structures", "agon-circuit"]),
    ("agon-analysis", &LANGUAGES_AND_BELOW),
    ("agon-translate", &LANGUAGES_AND_BELOW),
    ("agon-search", &["agon-game"]),
    (
        "agon-learn",
        &[
            "agon-text",
            "agon-game",
            "agon-reals",
            "agon-structures",
            "agon-circuit",
            "agon-toss",
            "agon-search",
        ],
    ),
    ("agon-board", &["agon-game"]),
    ("agon-ggp", &["agon-game"]),
    ("agon-match", &["agon-text", "agon-game", "agon-ggp"]),
    ("agon-server", &["agon-text", "agon-game", "agon-ggp", "agon-match"]),
    (
        "agon-players",
        &[
            "agon-text",
            "agon-game",
            "agon-datalog",
            "agon-reals",
            "agon-structures",
            "agon-circuit",
            "agon-gdl",
            "agon-toss",
            "agon-analysis",
            "agon-search",
            "agon-learn",
            "agon-ggp",
            "agon-match",
        ],
    ),
    ("agon", &LIBRARY),
    ("agon-lsp", &LANGUAGES_AND_ANALYSIS),
    ("agon-python", &PYTHON),
    (
        "agon-web",
        &[
            "agon-text",
            "agon-game",
            "agon-datalog",
            "agon-reals",
            "agon-structures",
            "agon-circuit",
            "agon-gdl",
            "agon-toss",
            "agon-analysis",
            "agon-translate",
            "agon-search",
            "agon-learn",
            "agon-board",
            "agon-ggp",
            "agon-match",
            "agon-players",
            "agon-server",
            "agon",
        ],
    ),
    (
        "agon-cli",
        &[
            "agon-text",
            "agon-game",
            "agon-datalog",
            "agon-reals",
            "agon-structures",
            "agon-circuit",
            "agon-gdl",
            "agon-toss",
            "agon-analysis",
            "agon-translate",
            "agon-search",
            "agon-learn",
            "agon-board",
            "agon-ggp",
            "agon-match",
            "agon-players",
            "agon-server",
            "agon",
            "agon-lsp",
            "agon-web",
        ],
    ),
];

/// Both rule languages and everything on which they depend.
const LANGUAGES_AND_BELOW: [&str; 8] = [
    "agon-text",
    "agon-game",
    "agon-datalog",
    "agon-reals",
    "agon-structures",
    "agon-circuit",
    "agon-gdl",
    "agon-toss",
];

/// Both rule languages, everything on which they depend, and the analysis of games.
const LANGUAGES_AND_ANALYSIS: [&str; 9] = [
    "agon-text",
    "agon-game",
    "agon-datalog",
    "agon-reals",
    "agon-structures",
    "agon-circuit",
    "agon-gdl",
    "agon-toss",
    "agon-analysis",
];

/// Everything below the library: all crates except the server and the command.
const LIBRARY: [&str; 16] = [
    "agon-text",
    "agon-game",
    "agon-datalog",
    "agon-reals",
    "agon-structures",
    "agon-circuit",
    "agon-gdl",
    "agon-toss",
    "agon-analysis",
    "agon-translate",
    "agon-search",
    "agon-learn",
    "agon-board",
    "agon-ggp",
    "agon-match",
    "agon-players",
];

/// The Python module: the library and everything below it.
const PYTHON: [&str; 17] = [
    "agon-text",
    "agon-game",
    "agon-datalog",
    "agon-reals",
    "agon-structures",
    "agon-circuit",
    "agon-gdl",
    "agon-toss",
    "agon-analysis",
    "agon-translate",
    "agon-search",
    "agon-learn",
    "agon-board",
    "agon-ggp",
    "agon-match",
    "agon-players",
    "agon",
];

/// Crates for development only. Nothing that is shipped depends on them.
const DEVELOPMENT: [&str; 2] = ["agon-testkit", "xtask"];

/// The rule languages, and crates that know them.
const LANGUAGES: [&str; 4] = ["agon-gdl", "agon-toss", "agon-analysis", "agon-translate"];

/// Crates from crates.io that read arguments, handle signals or draw on the terminal.
const COMMAND_ONLY: [&str; 4] = ["clap", "ctrlc", "indicatif", "signal-hook"];

/// Crates from crates.io that serve pages or keep databases.
const SERVER_ONLY: [&str; 3] = ["axum", "tokio", "rusqlite"];

/// The normal dependencies of every crate of the workspace, as cargo reports them.
struct Graph {
    /// Direct dependencies, of this workspace and from crates.io. Build dependencies count.
    direct: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn read() -> Graph {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--offline", "--no-deps"])
            .current_dir(games::root())
            .output()
            .expect("cargo runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo metadata failed: {errors}");
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
        Graph::from_metadata(&metadata)
    }

    fn from_metadata(metadata: &Value) -> Graph {
        let packages = metadata["packages"].as_array().expect("metadata lists packages");
        let name = |value: &Value| value["name"].as_str().expect("packages have names").to_owned();
        let direct = packages.iter().map(|package| {
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            let normal = dependencies.filter(|dependency| dependency["kind"] != "dev");
            (name(package), normal.map(name).collect())
        });
        Graph { direct: direct.collect() }
    }

    /// Returns the crates of the workspace on which a crate depends, directly or through others.
    fn transitive(&self, crate_name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![crate_name.to_owned()];
        while let Some(next) = open.pop() {
            for dependency in &self.direct[&next] {
                if self.direct.contains_key(dependency) && found.insert(dependency.clone()) {
                    open.push(dependency.clone());
                }
            }
        }
        found
    }
}

#[test]
fn crates_depend_on_exactly_the_layers_below() {
    let graph = Graph::read();
    let expected: BTreeMap<&str, &[&str]> = DEPENDENCIES.iter().copied().collect();
    let mut wrong = Vec::new();
    for crate_name in graph.direct.keys().filter(|name| !DEVELOPMENT.contains(&name.as_str())) {
        let Some(expected) = expected.get(crate_name.as_str()) else {
            wrong.push(format!("{crate_name} is unknown: add it to ARCHITECTURE.md and here"));
            continue;
        };
        let expected: BTreeSet<String> = expected.iter().map(|&name| name.to_owned()).collect();
        let found = graph.transitive(crate_name);
        let extra = found.difference(&expected);
        wrong.extend(extra.map(|other| format!("{crate_name} must not depend on {other}")));
        let missing = expected.difference(&found);
        wrong.extend(missing.map(|other| {
            format!("{crate_name} no longer depends on {other}: remove it from the table")
        }));
    }
    let known = expected.keys().filter(|name| !graph.direct.contains_key(**name));
    wrong.extend(known.map(|name| format!("{name} is not a crate any more: remove it here")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The invariants of `ARCHITECTURE.md`, stated as absences.
#[test]
fn forbidden_dependencies_are_absent() {
    let graph = Graph::read();
    let languages = LANGUAGES.as_slice();
    let search = ["agon-search"].as_slice();
    let absences = [
        ("agon-gdl", search),
        ("agon-toss", search),
        ("agon-analysis", search),
        ("agon-translate", search),
        ("agon-search", languages),
        ("agon-ggp", languages),
        ("agon-ggp", search),
        ("agon-match", languages),
        ("agon-match", search),
        ("agon-server", languages),
        ("agon-server", search),
        ("agon", &["agon-server"]),
    ];
    for (crate_name, forbidden) in absences {
        let found = graph.transitive(crate_name);
        for other in forbidden {
            assert!(!found.contains(*other), "{crate_name} must not depend on {other}");
        }
    }
    for (crate_name, direct) in &graph.direct {
        let is_development = DEVELOPMENT.contains(&crate_name.as_str());
        for other in DEVELOPMENT.iter().filter(|_| !is_development) {
            assert!(!direct.contains(*other), "{crate_name} must use {other} in tests only");
        }
        if !is_development && crate_name != "agon-cli" {
            for other in COMMAND_ONLY {
                assert!(
                    !direct.contains(other),
                    "only agon-cli may depend on {other}: {crate_name}"
                );
            }
            for other in SERVER_ONLY {
                assert!(
                    crate_name == "agon-web" || !direct.contains(other),
                    "only agon-web and agon-cli may depend on {other}: {crate_name}"
                );
            }
        }
    }
}

/// The types by which a program talks to another one. Addresses alone are only text.
const SOCKETS: [&str; 5] = ["TcpStream", "TcpListener", "UdpSocket", "UnixStream", "UnixListener"];

#[test]
fn only_the_servers_use_the_network() {
    let mut folders = vec![games::root().join("crates")];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be listed").flatten() {
            let path = entry.path();
            // Tests may use the network; they are in files and folders of that name.
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            if is_test {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && std::fs::read_to_string(&path)
                    .is_ok_and(|text| SOCKETS.iter().any(|socket| text.contains(socket)))
            {
                let below = path.strip_prefix(games::root().join("crates"));
                let first = below.ok().and_then(|path| path.iter().next()).unwrap_or_default();
                found.insert(first.to_string_lossy().into_owned());
            }
        }
    }
    let allowed = ["agon-server", "agon-web"].map(str::to_owned);
    let allowed = BTreeSet::from(allowed);
    assert_eq!(found, allowed, "crates with sockets");
}

#[test]
fn folders_are_named_after_their_crates() {
    let metadata = Graph::read();
    for entry in std::fs::read_dir(games::root().join("crates")).expect("there are crates") {
        let folder = entry.expect("entries are readable").path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if folder.join("Cargo.toml").exists() {
            assert!(metadata.direct.contains_key(&name), "{name}: folder and crate differ in name");
        }
    }
}

#[test]
fn development_dependencies_do_not_count() {
    let dependency = |name: &str, kind: Value| serde_json::json!({"name": name, "kind": kind});
    let package =
        |name: &str, used: Vec<Value>| serde_json::json!({"name": name, "dependencies": used});
    let metadata = serde_json::json!({"packages": [
        package("a", vec![dependency("b", Value::Null), dependency("d", "dev".into())]),
        package("b", vec![dependency("c", "build".into()), dependency("rand", Value::Null)]),
        package("c", vec![]),
        package("d", vec![]),
    ]});
    let graph = Graph::from_metadata(&metadata);
    assert_eq!(graph.transitive("a"), BTreeSet::from(["b".to_owned(), "c".to_owned()]));
}

/// Maximum share of the rules of a shipped rulesheet that may occur in one rulesheet of the public
/// collection. Facts such as `(role white)` and `(succ 1 2)` do not count.
const MAX_COMMON: f64 = 0.3;

#[test]
fn shipped_rulesheets_are_original() {
    let Some((folder, _)) = games::shared() else {
        println!("skipped: there is no folder ../shared");
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

/// Returns the rules of a rulesheet, printed in one style, with variables numbered in order.
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
