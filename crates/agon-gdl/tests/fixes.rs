//! Fixes mend what they say and leave what the rules mean as it was.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_gdl::check::{CheckedRules, check};
use agon_gdl::rules::{Condition, RuleTerm};
use agon_text::{Diagnostic, Fix, Severity, Source, apply_fixes};

#[test]
fn fixes_of_rejects() {
    let files = files_below(&repository().join("tests/rejects/gdl"));
    let n_mended = files
        .iter()
        .filter(|file| mend(&std::fs::read(file).expect("rejects are readable")))
        .count();
    assert!(n_mended >= 8, "only {n_mended} rejects have fixes");
}

#[test]
fn fixes_of_shared_rulesheets() {
    for file in files_below(&repository().join("../shared/games")) {
        if file.extension().is_some_and(|extension| extension == "kif") {
            mend(&std::fs::read(&file).expect("rulesheets are readable"));
        }
    }
}

#[test]
fn fixes_in_infix() {
    let text = "role(white). role(white).
        init(p()).
        legal(R, wait) :- true(p) & q.
        legal(R, go).
        q(). q.
        next(p) :- true(F) & q & same(F, p).
        same(X, X) :- true(x), q. same(x, p) :- q.
        terminal :- ~true(p).
        goal(R, 0) :- true(p) | q.
        goal(R, 100) :- ~q & true(p).
        q.";
    assert!(mend(text.as_bytes()));
}

#[test]
fn names_do_not_grow_together() {
    let text =
        "(p)(role white)(role white)q(init (cell a(b)c)) (<= (legal white go)(and q(p)))(<= r)
        (<= (next ?f)(true ?f)p r)(<= terminal q)(goal white 0)";
    assert!(mend(text.as_bytes()));
}

/// Applies all fixes until there are none left. Answers whether there were any.
fn mend(bytes: &[u8]) -> bool {
    let mut source = Arc::new(Source::from_bytes("test", bytes));
    let first = check(Arc::clone(&source));
    let n_errors = n_errors_of(&first.findings.0);
    let (mut findings, mut n_rounds) = (first.findings.0, 0);
    while findings.iter().any(|finding| finding.fix.is_some()) {
        let fixes: Vec<&Fix> = findings.iter().filter_map(|finding| finding.fix.as_ref()).collect();
        let n_fixes = fixes.len();
        let (text, applied) = apply_fixes(&source, fixes);
        assert!(
            !applied.is_empty(),
            "none of {n_fixes} fixes could be applied:\n{}",
            source.text()
        );
        source = Arc::new(Source::new("test", text));
        findings = check(Arc::clone(&source)).findings.0;
        n_rounds += 1;
        assert!(
            n_rounds < 10,
            "fixes go round in circles:\n{}\n{:?}",
            source.text(),
            codes(&findings)
        );
    }
    let checked = check(Arc::clone(&source));
    assert!(
        n_errors_of(&checked.findings.0) <= n_errors,
        "a fix made an error:\n{}",
        source.text()
    );
    if let Some(rules) = &first.rules {
        let mended =
            checked.rules.unwrap_or_else(|| panic!("a fix made an error:\n{}", source.text()));
        assert_eq!(forms(rules), forms(&mended), "a fix changed the rules:\n{}", source.text());
        assert_eq!(names(rules), names(&mended));
    }
    n_rounds > 0
}

fn n_errors_of(findings: &[Diagnostic]) -> usize {
    findings.iter().filter(|finding| finding.severity == Severity::Error).count()
}

fn codes(findings: &[Diagnostic]) -> Vec<&'static str> {
    findings.iter().filter(|finding| finding.fix.is_some()).map(|finding| finding.code).collect()
}

fn names(rules: &CheckedRules) -> Vec<String> {
    rules.roles().iter().map(|&role| rules.sheet().symbols.name(role).to_lowercase()).collect()
}

/// The rules as a set of texts, with variables by number.
fn forms(rules: &CheckedRules) -> BTreeSet<String> {
    let symbols = &rules.sheet().symbols;
    let atom = |relation, arguments: &[RuleTerm]| {
        term(&RuleTerm::Function(relation, arguments.to_vec()), &|symbol| {
            symbols.name(symbol).to_lowercase()
        })
    };
    let condition = |condition: &Condition| match condition {
        Condition::Holds(a) => atom(a.relation, &a.arguments),
        Condition::Fails(a) => format!("not {}", atom(a.relation, &a.arguments)),
        Condition::Differ(a, b, _) => {
            let name = |symbol| symbols.name(symbol).to_lowercase();
            let mut pair = [term(a, &name), term(b, &name)];
            pair.sort();
            format!("{} differs from {}", pair[0], pair[1])
        }
    };
    let rule = |rule: &agon_gdl::rules::Rule| {
        let mut body: Vec<String> = rule.body.iter().map(condition).collect();
        body.sort();
        format!("{} if {}", atom(rule.head.relation, &rule.head.arguments), body.join(" and "))
    };
    // Variables are numbered by appearance, which removing a duplicate with other names does not change for the rest.
    rules.rules().iter().map(rule).collect()
}

fn term(t: &RuleTerm, name: &dyn Fn(agon_datalog::Symbol) -> String) -> String {
    match t {
        RuleTerm::Variable(v) => format!("?{v}"),
        RuleTerm::Function(symbol, arguments) => {
            let arguments: Vec<String> =
                arguments.iter().map(|argument| term(argument, name)).collect();
            format!("{}({})", name(*symbol), arguments.join(" "))
        }
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder, in order; none if there is no such folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("entries are readable").path()).collect();
    paths.sort();
    paths
        .iter()
        .flat_map(|path| if path.is_dir() { files_below(path) } else { vec![path.clone()] })
        .collect()
}
