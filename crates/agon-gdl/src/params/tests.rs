use std::collections::BTreeMap;

use agon_text::{Source, Span};

use super::*;

fn expanded(text: &str) -> String {
    with(text, &[])
}

fn with(text: &str, settings: &[(&str, i64)]) -> String {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let source = Source::new("test", text);
    match expand(&source, &settings) {
        Ok(Some(expanded)) => expanded.source.text().to_owned(),
        Ok(None) => text.to_owned(),
        Err(findings) => panic!("{:?}", findings.0),
    }
}

fn fault(text: &str, settings: &[(&str, i64)]) -> (&'static str, String) {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let findings = expand(&Source::new("test", text), &settings).expect_err("it is wrong");
    (findings.0[0].code, findings.0[0].message.clone())
}

#[test]
fn numbers_and_ranges() {
    let text = ";; param n = 3\n(size {n} {2*n+1} {-(n-5)/2})\n";
    assert_eq!(expanded(text), ";; param n = 3\n(size 3 7 1)\n");
    let text = ";; param n = 3\n(succ {i=1..n-1} {i+1})\n";
    assert_eq!(expanded(text), ";; param n = 3\n(succ 1 2) (succ 2 3)\n");
    let text = ";; param n = 2\n(init (cell {1..n} {1..n} b))\n";
    let cells = "(init (cell 1 1 b)) (init (cell 1 2 b)) (init (cell 2 1 b)) (init (cell 2 2 b))";
    assert_eq!(expanded(text), format!(";; param n = 2\n{cells}\n"));
    let text = ";; param n = 3\n(less {i=1..n} {j=i+1..n})\n";
    assert_eq!(expanded(text), ";; param n = 3\n(less 1 2) (less 1 3) (less 2 3)\n");
    let text = ";; param n = 1\n(succ {2..n} x)\n";
    assert_eq!(expanded(text), ";; param n = 1\n\n");
}

#[test]
fn blocks_repeat_at_their_place() {
    let text = ";; param n = 3\n(<= (row ?m)\n    {i=1..n: (true (cell {i} ?m))})\n";
    let row = "(<= (row ?m)\n     (true (cell 1 ?m))  (true (cell 2 ?m))  (true (cell 3 ?m)))";
    assert_eq!(expanded(text), format!(";; param n = 3\n{row}\n"));
    let text = ";; param n = 2\n{i=1..n:\n(a {i})\n(b {i} {1..2})}\n(c)\n";
    let plain = " (a 1) (b 1 1) (b 1 2) \n(a 2)\n(b 2 1) (b 2 2)\n(c)\n";
    assert_eq!(expanded(text), format!(";; param n = 2\n{plain}"));
}

#[test]
fn lines_keep_their_numbers() {
    let text = ";; param n = 3\n(f {1..n} ; first\n   a)\n{i=1..n:\n(g {i})}\n(h)\n";
    let plain = expanded(text);
    assert_eq!(plain.lines().count(), text.lines().count());
    assert_eq!(plain.lines().last(), Some("(h)"));
    let empty = with(text, &[("n", 0)]);
    assert_eq!(empty.lines().count(), text.lines().count());
    assert_eq!(empty.lines().last(), Some("(h)"));
}

#[test]
fn settings_replace_declared_values() {
    let text = ";; param n = 3 in 1..9: the size\n(size {n})\n";
    assert_eq!(with(text, &[("n", 5)]), ";; param n = 5 in 1..9: the size\n(size 5)\n");
    assert_eq!(with(&with(text, &[("n", 5)]), &[]), with(text, &[("n", 5)]), "it is plain now");
    assert_eq!(fault(text, &[("n", 10)]).0, "param-value");
    assert_eq!(fault(text, &[("size", 10)]).0, "param-value");
    let (params, _) = declarations(&Source::new("test", text));
    assert_eq!((params[0].bounds, params[0].meaning.as_str()), (Some((1, 9)), "the size"));
}

#[test]
fn infix_clauses_are_repeated() {
    let text = "%% param n = 3\nsucc({i=1..n-1}, {i+1}).\nrole(me).\n";
    assert_eq!(expanded(text), "%% param n = 3\nsucc(1, 2). succ(2, 3).\nrole(me).\n");
}

#[test]
fn texts_without_declarations_are_left_alone() {
    for text in ["(a {1..3})", "; param list\n(a {x})", "; the param is x\n(f {)"] {
        assert_eq!(expanded(text), text);
    }
    let text = ";; param n = 2\n; {not an expression}\n(a \"{quoted}\" {n})\n";
    assert_eq!(expanded(text), ";; param n = 2\n; {not an expression}\n(a \"{quoted}\" 2)\n");
}

#[test]
fn faults_are_named() {
    let wrong = |rules: &str| fault(&format!(";; param n = 3\n{rules}\n"), &[]);
    assert_eq!(wrong("(a {m})").1, "there is no parameter `m`");
    assert_eq!(wrong("(a {n+})").0, "param-expression");
    assert_eq!(wrong("(a {n").1, "this brace is not closed");
    assert_eq!(wrong("(a {n/0})").1, "division by 0");
    assert_eq!(wrong("(a {9223372036854775807+n})").1, "a number is too large");
    assert_eq!(wrong("(a {n=1..2})").1, "`n` has a value already");
    assert_eq!(wrong("(a {1..1000000000})").0, "param-value");
    assert_eq!(wrong("(a {1..9999} {1..9999})").0, "param-value");
    assert_eq!(fault(";; param n = x\n", &[]).0, "param-declaration");
    assert_eq!(fault(";; param n = 1\n;; param n = 2\n", &[]).0, "param-declaration");
    assert_eq!(fault(";; param n = 1 in 2..3\n", &[]).0, "param-declaration");
    assert_eq!(
        fault(&format!(";; param n = 1\n(a {}n)", "{(".repeat(200)), &[]).0,
        "param-expression"
    );
}

#[test]
fn places_lead_back_to_the_original() {
    let text = ";; param n = 3\n(f {1..n} bad)\n(g {n} worse)\n";
    let source = Source::new("test", text);
    let expanded = expand(&source, &BTreeMap::new()).expect("it is right").expect("it has braces");
    let plain = expanded.source.text();
    let places = plain.match_indices("bad").map(|(at, _)| Span::new(at, at + 3));
    for place in places {
        assert_eq!(source.slice(expanded.original(place)), "bad");
    }
    let at = plain.find("(g 3 worse)").expect("it is there");
    let whole = expanded.original(Span::new(at, at + "(g 3 worse)".len()));
    assert_eq!(source.slice(whole), "(g {n} worse)");
}
