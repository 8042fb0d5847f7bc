use super::*;

fn toss(text: &str, settings: &[(&str, i64)]) -> Result<Option<Expanded>, Diagnostics> {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    expand(&Source::new("test.toss", text), &settings, Notation::Toss)
}

fn plain(text: &str, settings: &[(&str, i64)]) -> String {
    let expanded = toss(text, settings).expect("the parameters are right");
    expanded.map_or(text.to_owned(), |expanded| expanded.source.text().to_owned())
}

#[test]
fn rows_of_a_board_are_repeated() {
    let text =
        "// param size = 3\nSTART [ | P:1 {} | ] \"{row=1..size:\n  {column=1..size:.}}\n\"\n";
    let board =
        |rows: &str| format!("STARTS [ | P:1 {{}} | ] \"{rows}\n\"\n").replace("STARTS", "START");
    assert_eq!(plain(text, &[]), format!("// param size = 3\n{}", board("\n  ...\n  ...\n  ...")));
    assert_eq!(plain(text, &[("size", 1)]), format!("// param size = 1\n{}", board("\n  .")));
}

#[test]
fn only_expressions_over_parameters_are_replaced() {
    let text = "// param n = 2\nPAYOFF { X: {n*2} + {1}; O: {a} }\nLOC 0 { P {} } // {n}\n";
    let expected = "// param n = 2\nPAYOFF { X: 4 + {1}; O: {a} }\nLOC 0 { P {} } // {n}\n";
    assert_eq!(plain(text, &[]), expected);
    let without = "PAYOFF { X: {n} }\n;; param n = 2\n";
    assert_eq!(plain(without, &[]), without, "declarations start with the comments of Toss");
}

#[test]
fn mistakes_are_explained() {
    let fault = |text: &str, settings: &[(&str, i64)]| {
        let found = toss(text, settings).expect_err("it is wrong").0.remove(0);
        (found.code, found.message)
    };
    let (code, why) = fault("// param n = 2\nA {1..n}\n", &[]);
    assert_eq!(code, "param-expression");
    assert!(why.contains("repeats a clause of GDL"), "{why}");
    assert_eq!(fault("// param n = 2 in 1..3\n", &[("n", 4)]).0, "param-value");
    assert_eq!(fault("PLAYERS X\n", &[("n", 4)]).0, "param-value");
    assert_eq!(fault("// param n = many\n", &[]).0, "param-declaration");
}

/// Findings about a copy are about the block that was copied.
#[test]
fn places_lead_back_to_the_original() {
    let text = "// param n = 2\n{i=1..n:\nA{i}}\nB";
    let expanded = toss(text, &[]).expect("it is right").expect("it has parameters");
    let plain = expanded.source.text();
    assert_eq!(plain, "// param n = 2\n\nA1\nA2\nB");
    let at = plain.find("A2").expect("there are two copies");
    let original = expanded.original(Span::new(at, at + 1));
    assert_eq!(&text[original.start()..original.end()], "A");
}
