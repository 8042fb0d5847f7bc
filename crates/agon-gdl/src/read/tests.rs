//! Both readers, tested with the peculiarities of real rulesheets, common mistakes and random
//! texts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_testkit::seeded;
use agon_text::{Diagnostics, Source, render};
use proptest::prelude::*;

use super::{MAX_NESTING, guess_syntax, infix, kif, read};
use crate::print::{print_kif, print_rulesheet};
use crate::same_rules::same_rules;
use crate::symbols::Case;
use crate::syntax::{Rulesheet, Syntax};

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("test", text))
}

/// Reads a text without diagnostics and prints it as KIF on one line.
fn shown(text: &str) -> String {
    let source = source(text);
    let (sheet, findings) = read(source.clone());
    assert!(findings.0.is_empty(), "{}", render(&findings.0, &source, false));
    print_kif(&sheet).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the codes of the diagnostics, each with the text it points at.
fn findings(text: &str) -> Vec<String> {
    let (_, findings) = read(source(text));
    findings
        .0
        .iter()
        .map(|d| format!("{} {}", d.code, &text[d.span.start()..d.span.end()]))
        .collect()
}

fn check(text: &str, expected: &str) {
    assert_eq!(shown(text), expected, "{text}");
}

fn check_findings(text: &str, expected: &[&str]) {
    assert_eq!(findings(text), expected, "{text}");
}

/// Asserts the laws of the readers for any text: no panic, diagnostics that can be rendered, and
/// printing that preserves the rules.
fn check_laws((sheet, findings): (Rulesheet, Diagnostics)) {
    let _ = render(&findings.0, &sheet.source, false);
    for finding in &findings.0 {
        assert!(
            sheet.source.text().get(finding.span.start()..finding.span.end()).is_some(),
            "{finding:?}"
        );
    }
    for clause in &sheet.clauses {
        assert!(sheet.source.text().get(clause.span.start()..clause.span.end()).is_some());
        clause.each_variable(&mut |v, _| assert!((v.0 as usize) < clause.variables.len()));
    }
    if findings.has_errors() {
        return;
    }
    for text in [print_kif(&sheet), print_rulesheet(&sheet, Syntax::Infix)] {
        let (again, findings) = read(source(&text));
        assert!(findings.0.is_empty(), "{}", render(&findings.0, &again.source, false));
        assert!(same_rules(&sheet, &again), "{text}");
    }
}

mod unusual_syntax;

proptest! {
    #![proptest_config(seeded(2000))]

    #[test]
    fn readers_accept_arbitrary_text(text in "(?s).{0,80}") {
        guess_syntax(&text);
        check_laws(kif::read(source(&text), Case::Ignored));
        check_laws(infix::read(source(&text), Case::Ignored));
    }

    #[test]
    fn readers_accept_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let source = Arc::new(Source::from_bytes("test", &bytes));
        check_laws(kif::read(source.clone(), Case::Ignored));
        check_laws(infix::read(source, Case::Ignored));
    }

    #[test]
    fn readers_accept_scrambled_kif(tokens in tokens_of(KIF_TOKENS)) {
        let text = tokens.concat();
        check_laws(kif::read(source(&text), Case::Ignored));
        check_laws(infix::read(source(&text), Case::Ignored));
    }

    #[test]
    fn readers_accept_scrambled_infix(tokens in tokens_of(INFIX_TOKENS)) {
        let text = tokens.concat();
        check_laws(infix::read(source(&text), Case::Ignored));
        check_laws(kif::read(source(&text), Case::Ignored));
    }
}

fn tokens_of(known: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(known), 0..40)
}

#[rustfmt::skip]
const KIF_TOKENS: &[&str] = &[
    "(", "(", "(", ")", ")", ")", " ", " ", "\n", "\r", "(<= ", "(not ", "(or ", "(and ",
    "(distinct ", "p", "q", "?x", "?n++", "<=", "not", "\"", "|", "; c\n", "\u{feff}", "é", "(p ?x)",
    "(true (cell ?x b))",
    "role", "İ",
];

#[rustfmt::skip]
const INFIX_TOKENS: &[&str] = &[
    "(", "(", ")", ")", ",", " & ", " | ", ";", "~", "not ", " :- ", " <= ", ".", ".\n", "\n",
    "\n", "p", "q(X)", "r(a,f(Y))", "_", "X", "?x", "'", "\"", "'A b'", "!=", "distinct(X,Y)", "or(",
    "and(", "% c\n",
    "/*", "*/", "#", "-3", "2.5", "É",
];

/// Returns the time to read `text`.
fn reading_time(text: String) -> Duration {
    let source = source(&text);
    let start = Instant::now();
    let (sheet, findings) = read(source);
    let time = start.elapsed();
    assert!(sheet.clauses.len() + findings.0.len() > 0);
    time
}

#[test]
fn time_is_linear_in_the_text() {
    // The text before, the text that is repeated, and the text after.
    let shapes = [
        (
            "",
            "(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)) (not (does white (mark ?x ?y)))) ; kept\n",
            "",
        ),
        ("", "next(cell(X,Y,b)) :- true(cell(X,Y,b)) & ~does(white,mark(X,Y)). % kept\n", ""),
        ("", "next(cell(X,Y,b)) :- true(cell(X,Y,b))\n", ""),
        ("(<= p", " (q ?#)", ")"),
        ("p :- q", " & q(X#)", "."),
        ("(p", " ?#", ")"),
        ("", "name# ", ""),
        ("", "(", ""),
        ("", "p(", ""),
        ("", "p(\n", ""),
        ("p ", ")", ""),
        ("p. ", ")", ""),
        ("p :- ", "~", ""),
        ("(p ", "\"", ""),
        ("(p ", "\" |", ""),
        ("p(", "'\n", ""),
        ("", "/* ", ""),
        ("p. ", "/**/", ""),
        ("p(", "_,", "_)."),
    ];
    for (before, grows, after) in shapes {
        let text = |size: usize| {
            let mut text = before.to_owned();
            for number in 0.. {
                if text.len() >= size {
                    break;
                }
                text.push_str(&grows.replace('#', &number.to_string()));
            }
            text + after
        };
        // Ten times the text in a hundred times the time would be quadratic. The margin allows for
        // noise, and other work on the machine can only make a measurement slower, so one good
        // measurement of several is enough.
        let mut measured = Vec::new();
        let is_linear = (0..4).any(|_| {
            let small = reading_time(text(500_000));
            let large = reading_time(text(5_000_000));
            measured.push((small, large));
            large < small * 40 + Duration::from_millis(500)
        });
        assert!(is_linear, "{grows:?}: {measured:?}");
    }
}
