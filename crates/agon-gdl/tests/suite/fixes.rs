//! Fixes remove the fault they name and do not change the meaning of the rules.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_gdl::check::{CheckedRules, check};
use agon_gdl::rules::{Condition, RuleTerm};
use agon_testkit::files;
use agon_text::{Diagnostic, Fix, Severity, Source, apply_fixes};

#[test]
fn fixes_of_rejects() {
    let files = files::below(&files::repository().join("tests/rejects/gdl"));
    let n_fixed = files
        .iter()
        .filter(|file| apply_all(&std::fs::read(file).expect("rejects are readable")))
        .count();
    assert!(n_fixed >= 8, "only {n_fixed} rejects have fixes");
}

#[test]
fn fixes_of_shared_rulesheets() {
    let folder = files::repository().join("../shared/games");
    for file in files::with_extension(&folder, &["kif"]) {
        apply_all(&std::fs::read(&file).expect("rulesheets are readable"));
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
    assert!(apply_all(text.as_bytes()));
}

#[test]
fn removing_a_clause_does_not_join_its_neighbours() {
    let text =
        "(p)(role white)(role white)q(init (cell a(b)c)) (<= (legal white go)(and q(p)))(<= r)
        (<= (next ?f)(true ?f)p r)(<= terminal q)(goal white 0)";
    assert!(apply_all(text.as_bytes()));
}

/// Applies fixes until none are left. Returns whether there were any.
fn apply_all(bytes: &[u8]) -> bool {
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
            "fixes do not come to an end:\n{}\n{:?}",
            source.text(),
            codes(&findings)
        );
    }
    let checked = check(Arc::clone(&source));
    assert!(
        n_errors_of(&checked.findings.0) <= n_errors,
        "a fix introduced an error:\n{}",
        source.text()
    );
    if let Some(rules) = &first.rules {
        let fixed = checked
            .rules
            .unwrap_or_else(|| panic!("a fix introduced an error:\n{}", source.text()));
        assert_eq!(forms(rules), forms(&fixed), "a fix changed the rules:\n{}", source.text());
        assert_eq!(names(rules), names(&fixed));
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

/// Returns the rules as a set of texts in which variables are numbers.
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
    // Variables are numbered by appearance, so removing a duplicate that uses other names changes
    // no other rule.
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
