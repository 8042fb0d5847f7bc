use crate::{
    CodePage, Diagnostic, Fix, Severity, Source, Span, apply_fixes, closest_name, did_you_mean,
    find_page, render,
};

#[test]
fn a_line_ends_at_each_kind_of_line_end() {
    let source = Source::new("x", "a\nb\rc\r\nd");
    assert_eq!(source.n_lines(), 4);
    let place = |byte| (source.place(byte).line, source.place(byte).column);
    assert_eq!(
        [place(0), place(2), place(4), place(7), place(8)],
        [(1, 1), (2, 1), (3, 1), (4, 1), (4, 2)]
    );
    assert_eq!(place(1000), (4, 2), "beyond the end is the end");
}

#[test]
fn columns_count_characters() {
    let source = Source::new("x", "äö(");
    assert_eq!(source.place(4).column, 3);
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let source = Source::from_bytes("x", b"; \xff\n(role a)");
    assert!(source.text().ends_with("(role a)"));
}

#[test]
fn a_diagnostic_is_shown_with_place_note_and_hint() {
    let source = Source::new("bad.kif", "(role a)\n(<= (p ?x) (q ?y))");
    let finding =
        Diagnostic::error("unsafe-variable", Span::new(16, 18), "variable `?x` is not bound")
            .note(Span::new(9, 31), "in this rule")
            .hint("bind it");
    let shown = render(&[finding], &source, false);
    for part in ["error[unsafe-variable]", "bad.kif:2:8", "^^", "in this rule", "hint: bind it"] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
}

#[test]
fn only_a_piece_of_a_long_line_is_shown() {
    let source =
        Source::new("long.kif", format!("{}(oops){}", "a ".repeat(5000), " b".repeat(5000)));
    let finding = Diagnostic::warning("w", Span::new(10_000, 10_006), "here").hint("shorten it");
    let shown = render(&[finding], &source, false);
    assert!(shown.len() < 500, "{shown}");
    for part in ["long.kif:1:10001", "(oops)", "^^^^^^", "hint: shorten it"] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
}

#[test]
fn fixes_that_touch_each_other_are_not_both_applied() {
    let source = Source::new("x", "one two three");
    let fixes = [
        Fix::replace("first", Span::new(0, 3), "1"),
        Fix::replace("overlaps the first", Span::new(2, 5), "?"),
        Fix::replace("last", Span::new(8, 13), "3"),
    ];
    let (text, applied) = apply_fixes(&source, &fixes);
    assert_eq!(text, "1 two 3");
    let titles: Vec<&str> = applied.iter().map(|fix| fix.title.as_str()).collect();
    assert_eq!(titles, ["first", "last"]);
}

#[test]
fn suggestions_ignore_case_and_prefer_prefixes() {
    assert_eq!(did_you_mean("MCST", ["alphabeta", "mcts"]), Some("mcts"));
    assert_eq!(did_you_mean("alpha", ["alpka", "AlphaBeta"]), Some("AlphaBeta"));
    assert_eq!(did_you_mean("x", ["xylophone", "mcts"]), None);
    assert_eq!(did_you_mean("anything", []), None);
    assert_eq!(did_you_mean("b", ["0", "y"]), None, "no letter is shared");
    assert_eq!(did_you_mean("b", ["0", "b1"]), Some("b1"));
}

#[test]
fn of_equally_similar_names_the_first_is_suggested() {
    assert_eq!(closest_name("cat", ["cart", "cut", "dog"], 1), Some("cart"));
    assert_eq!(closest_name("cat", ["dog", "bird"], 2), None);
}

#[test]
fn pages_are_found_by_code() {
    let page = |code| CodePage { code, severity: Severity::Note, summary: "", page: "" };
    let pages = [page("first"), page("second")];
    assert_eq!(find_page(&pages, "second").map(|page| page.code), Some("second"));
    assert!(find_page(&pages, "third").is_none());
}
