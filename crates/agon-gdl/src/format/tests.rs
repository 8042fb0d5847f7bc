//! The laws of formatting, on all rulesheets, and the layout of examples.

use std::sync::Arc;

use agon_testkit::{files, seeded};
use agon_text::Source;
use proptest::prelude::*;

use super::format;
use crate::read::{LexemeKind, lexemes, read};
use crate::same_rules::same_rules;
use crate::syntax::Syntax;

fn source(name: &str, text: &str) -> Arc<Source> {
    Arc::new(Source::new(name, text))
}

/// Checks the laws on one text: the rules and the comments stay, and a second time changes nothing.
/// Returns false if the text cannot be formatted.
fn check_laws(name: &str, text: &str) -> bool {
    let source = source(name, text);
    let Ok(formatted) = format(&source, &Default::default()) else { return false };
    let (before, _) = read(Arc::clone(&source));
    let again = self::source(name, &formatted);
    let (after, findings) = read(Arc::clone(&again));
    assert_eq!(before.syntax, after.syntax, "{name}");
    assert!(same_rules(&before, &after), "{name}: the rules have changed\n{formatted}");
    let is_clean = read(source).1.0.is_empty();
    assert!(!is_clean || findings.0.is_empty(), "{name}: {findings:?}");
    assert_eq!(comments(text, before.syntax), comments(&formatted, after.syntax), "{name}");
    let twice = format(&again, &Default::default()).expect("formatted text can be formatted");
    assert_eq!(formatted, twice, "{name}: a second time changes the text");
    assert!(!formatted.lines().any(|line| line.ends_with(' ')), "{name}: blanks at a line end");
    true
}

fn comments(text: &str, syntax: Syntax) -> Vec<String> {
    lexemes(text, syntax)
        .into_iter()
        .filter(|lexeme| lexeme.kind == LexemeKind::Comment)
        .map(|lexeme| text[lexeme.span.start()..lexeme.span.end()].trim_end().to_owned())
        .collect()
}

fn all_texts() -> Vec<(String, String)> {
    let shared = files::repository().join("../shared/games");
    let mut paths = files::games("gdl");
    paths.extend(files::games("gdl2"));
    paths.extend(files::with_extension(&files::repository().join("tests"), &["kif", "infix"]));
    let public = files::with_extension(&shared, &["kif", "gdl"]);
    if public.is_empty() {
        println!("SKIPPED: there is no ../shared/games beside this checkout");
    }
    paths.extend(public);
    paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending != "json"))
        .map(|path| {
            let bytes = std::fs::read(&path).expect("the file was just listed");
            (path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}

#[test]
fn formatting_keeps_rules_and_comments_of_all_rulesheets() {
    let texts = all_texts();
    let n_formatted = texts.iter().filter(|(name, text)| check_laws(name, text)).count();
    println!("{n_formatted} of {} rulesheets formatted", texts.len());
    assert!(n_formatted * 10 > texts.len() * 9, "{n_formatted} of {}", texts.len());
}

#[test]
fn formatting_keeps_the_rules_in_infix() {
    for (name, text) in all_texts() {
        let (sheet, findings) = read(source(&name, &text));
        if findings.has_errors() {
            continue;
        }
        let infix = crate::print::print_rulesheet(&sheet, Syntax::Infix);
        assert!(check_laws(&format!("{name} as infix"), &infix));
    }
}

proptest! {
    #![proptest_config(seeded(3000))]

    #[test]
    fn scrambled_texts_keep_the_laws(
        kif in prop::collection::vec(prop::sample::select(KIF), 0..40),
        infix in prop::collection::vec(prop::sample::select(INFIX), 0..30),
    ) {
        let (mut text, mut n_open) = (String::new(), 0usize);
        for token in kif {
            // Texts with unmatched parentheses are not formatted, so most would be tried in vain.
            let (n_opened, n_closed) = (token.matches('(').count(), token.matches(')').count());
            if n_open + n_opened >= n_closed {
                n_open = n_open + n_opened - n_closed;
                text.push_str(token);
            }
        }
        text.push('\n');
        text.push_str(&")".repeat(n_open));
        check_laws("scrambled.kif", &text);
        check_laws("scrambled", &infix.concat());
    }
}

const KIF: &[&str] = &[
    "(",
    "(",
    "(p ",
    ")",
    ")",
    "(<= ",
    "(or ",
    "(and ",
    "(not ",
    " ",
    "\n",
    "\n\n\n",
    "\r\n",
    "q",
    " ?x",
    "\"a b\"",
    "; c\n",
    "  ;; d  \n",
    "\u{feff}",
    "(true (cell ?x b))",
    "(<= (a)\n (b) (c))",
];

const INFIX: &[&str] = &[
    "p",
    "q(X)",
    "r(a,f(Y))",
    " :- ",
    " & ",
    ", ",
    " | ",
    " ; ",
    "~",
    "not ",
    "not(",
    "(",
    ")",
    ".",
    ".\n",
    "\n",
    "\n\n\n",
    "% c\n",
    " // d\n",
    "/* e */",
    "/* f\n g */",
    "\n# h\n",
    "\n;; i\n",
    " and ",
    " or ",
    "or(q, p)",
    "X != Y",
    "'A b'",
    "2.5",
    "p(a). q :- r & s.\n",
    "t :-\n u & v\n",
];

fn check(text: &str, expected: &str) {
    let formatted = format(&source("x", text), &Default::default()).expect("the text is readable");
    assert_eq!(formatted, expected);
    check_laws("x", text);
}

#[test]
fn conditions_on_lines_of_their_own_stay_there() {
    check("(<= (p ?x)\n(q ?x)   (r ?x))", "(<= (p ?x)\n    (q ?x)\n    (r ?x))\n");
    check("( <= (p  ?x) (q ?x))", "(<= (p ?x) (q ?x))\n");
    check("p(X) :-\nq(X) & r( X , Y )", "p(X) :-\n  q(X) &\n  r(X,Y).\n");
    check("p(X):-q(X),~r(X).", "p(X) :- q(X), ~r(X).\n");
}

#[test]
fn comments_stay_where_they_are() {
    check(
        "; first\n\n\n\n(p a) ; beside\n(<= q ; why\n ; above\n r\n ; last\n)",
        "; first\n\n(p a) ; beside\n(<= q ; why\n    ; above\n    r\n    ; last\n)\n",
    );
    check("p :- % why\n q & /* in */ r.", "p :- % why\n  q & /* in */\n  r.\n");
}

#[test]
fn long_rules_are_broken_between_conditions() {
    let condition = "(true (cell ?column ?row ?content))";
    let rule = format!("(<= (next (cell ?c ?r ?m)) {condition} (or {condition} {condition}))");
    check(
        &rule,
        &format!(
            "(<= (next (cell ?c ?r ?m))\n    {condition}\n    (or {condition} {condition}))\n"
        ),
    );
}

#[test]
fn facts_on_one_line_stay_together() {
    check("(p a)(p b) (p c)\n(p d)", "(p a) (p b) (p c)\n(p d)\n");
    check("p(a).p(b). p(c)\np(d)", "p(a). p(b). p(c).\np(d).\n");
}

#[test]
fn unmatched_parentheses_are_reported() {
    let findings = format(&source("x.kif", "(p (q)"), &Default::default()).expect_err("unmatched");
    assert_eq!(findings.0[0].code, "unmatched-parenthesis");
}

#[test]
fn parameters_stay_as_they_are_written() {
    check(
        ";; param size = 3\n(p {(size-1)*2}   {i=1..size:  (q {i})})\n(<= r\n(s {1..size}))",
        ";; param size = 3\n(p {(size-1)*2} {i=1..size:  (q {i})})\n(<= r\n    (s {1..size}))\n",
    );
    check("(p {a (q)})", "(p {a (q) })\n");
}
