//! Both readers against everything that real rulesheets, bad typists and random numbers come up with.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_text::{Diagnostics, Source, render};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{MAX_NESTING, guess_syntax, infix, kif, read};
use crate::print::{print_infix, print_kif};
use crate::same_rules::same_rules;
use crate::symbols::Case;
use crate::syntax::{Rulesheet, Syntax};

/// As many cases, the same in each run unless `PROPTEST_RNG_SEED` says otherwise.
pub(crate) fn seeded(n_cases: u32) -> ProptestConfig {
    let config = ProptestConfig::with_cases(n_cases);
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(7),
        RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
    };
    ProptestConfig { rng_seed, failure_persistence: None, ..config }
}

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("test", text))
}

/// Reads text with no findings and prints it as KIF on one line.
fn shown(text: &str) -> String {
    let source = source(text);
    let (sheet, findings) = read(source.clone());
    assert!(findings.0.is_empty(), "{}", render(&findings.0, &source, false));
    print_kif(&sheet).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The codes of the findings, each with the text it points at.
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

/// The readers' laws, for whatever text: no panic, findings that can be shown, printing that keeps the rules.
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
    for text in [print_kif(&sheet), print_infix(&sheet)] {
        let (again, findings) = read(source(&text));
        assert!(findings.0.is_empty(), "{}", render(&findings.0, &again.source, false));
        assert!(same_rules(&sheet, &again), "{text}");
    }
}

mod oddities;

proptest! {
    #![proptest_config(seeded(2000))]

    #[test]
    fn arbitrary_text_breaks_no_reader(text in "(?s).{0,80}") {
        guess_syntax(&text);
        check_laws(kif::read(source(&text), Case::Ignored));
        check_laws(infix::read(source(&text), Case::Ignored));
    }

    #[test]
    fn arbitrary_bytes_break_no_reader(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let source = Arc::new(Source::from_bytes("test", &bytes));
        check_laws(kif::read(source.clone(), Case::Ignored));
        check_laws(infix::read(source, Case::Ignored));
    }

    #[test]
    fn scrambled_kif_breaks_no_reader(tokens in prop::collection::vec(prop::sample::select(KIF_TOKENS), 0..40)) {
        let text = tokens.concat();
        check_laws(kif::read(source(&text), Case::Ignored));
        check_laws(infix::read(source(&text), Case::Ignored));
    }

    #[test]
    fn scrambled_infix_breaks_no_reader(tokens in prop::collection::vec(prop::sample::select(INFIX_TOKENS), 0..40)) {
        let text = tokens.concat();
        check_laws(infix::read(source(&text), Case::Ignored));
        check_laws(kif::read(source(&text), Case::Ignored));
    }
}

#[rustfmt::skip]
const KIF_TOKENS: &[&str] = &[
    "(", "(", "(", ")", ")", ")", " ", " ", "\n", "\r", "(<= ", "(not ", "(or ", "(and ", "(distinct ", "p",
    "q", "?x", "?n++", "<=", "not", "\"", "|", "; c\n", "\u{feff}", "é", "(p ?x)", "(true (cell ?x b))",
    "role", "İ",
];

#[rustfmt::skip]
const INFIX_TOKENS: &[&str] = &[
    "(", "(", ")", ")", ",", " & ", " | ", ";", "~", "not ", " :- ", " <= ", ".", ".\n", "\n", "\n", "p",
    "q(X)", "r(a,f(Y))", "_", "X", "?x", "'", "\"", "'A b'", "!=", "distinct(X,Y)", "or(", "and(", "% c\n",
    "/*", "*/", "#", "-3", "2.5", "É",
];

/// How long it takes to read `text`.
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
    // What grows, and what stands around it.
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
        let small = reading_time(text(500_000));
        let large = reading_time(text(5_000_000));
        // Ten times the text in a hundred times the time would be quadratic; the rest is noise.
        assert!(
            large < small * 40 + Duration::from_millis(500),
            "{grows:?}: {small:?}, then {large:?}"
        );
    }
}
