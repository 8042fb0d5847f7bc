//! Peculiarities of real rulesheets, all forms of infix, and all syntax errors.

use super::*;

#[test]
fn syntax_is_chosen_by_content() {
    let kif = [
        "",
        "; only\n",
        "(role a)",
        "\u{feff} ; c\n(role a)",
        "terminal (role a)",
        "((role a))",
        ")",
        "p",
        "p q",
        "% c\n(role a)",
        "terminal ; c\n(role a)",
        "\"a b\" (p a)",
        "open",
    ];
    for text in kif {
        assert_eq!(guess_syntax(text), Syntax::Kif, "{text}");
    }
    let infix = [
        "role(a).",
        "role(a)",
        "% c\nrole(a)",
        "/* c (\n */ role(a)",
        "terminal :- p",
        "p.",
        "p <= q",
        "p\nq(a)",
        "'White'(a)",
        "\"a b\"(c).",
        "p /* c */ :- q",
        "# c\n// c\n;; c\nrole(a)",
        "~p",
        ":- p",
        "P(a)",
    ];
    for text in infix {
        assert_eq!(guess_syntax(text), Syntax::Infix, "{text}");
    }
}

#[test]
fn kif_of_all_kinds() {
    // Lone carriage returns end lines, and therefore comments.
    check("(role a) ; first\r(role b)\r\n; (role c)\r(role d)", "(role a) (role b) (role d)");
    check("(<= (terminal) (open2)) (<= terminal open2)", "(<= terminal open2) (<= terminal open2)");
    check("(init (f)) (init f)", "(init f) (init f)");
    check("(<= (legal robot noop))", "(<= (legal robot noop))");
    check("(<= p (or a (and b (or c d)) (or)))", "(<= p (or a (and b (or c d)) (or)))");
    check(
        "(<= p (not (or a b)) (NOT (not (distinct ?x b))))",
        "(<= p (not (or a b)) (not (not (distinct ?x b))))",
    );
    check("(<= (lt ?a ?b) (< ?a ?b) (+ -3 ?a))", "(<= (lt ?a ?b) (< ?a ?b) (+ -3 ?a))");
    check("(<= (next (step ?n++)) (succ ?n ?n++))", "(<= (next (step ?n++)) (succ ?n ?n++))");
    check(
        "(<= (next ?x) (true ?x)) (<= (legal ?p ?m) (m ?p ?m))",
        "(<= (next ?x) (true ?x)) (<= (legal ?p ?m) (m ?p ?m))",
    );
    check("(<= (sees ?p (does ?p ?m)) (does ?p ?m))", "(<= (sees ?p (does ?p ?m)) (does ?p ?m))");
    check("(init (not a)) (init (or and distinct))", "(init (not a)) (init (or and distinct))");
    check("((role a) (role b) (<= p q))", "(role a) (role b) (<= p q)");
    check("(<=(next(f ?x))(true(f ?x)))", "(<= (next (f ?x)) (true (f ?x)))");
    check("(p \"a b\" |c (d)| \"\" a\"b)", "(p \"a b\" |c (d)| \"\" a\"b)");
    check("(Role White) (role white)", "(role White) (role White)");
    check("\u{feff}(role a)\u{a0}(role b)", "(role a) (role b)");
}

#[test]
fn text_without_clauses() {
    for text in [
        "",
        " \n\t\r",
        "; nothing\n;;; (role a)",
        "\u{feff}",
        "% nothing",
        "\u{feff}% nothing",
        "/* nothing */",
        "# nothing",
    ] {
        check(text, "");
    }
    assert_eq!(infix::read(source(""), Case::Ignored).0.clauses.len(), 0);
}

#[test]
fn bytes_that_are_not_text() {
    let (sheet, findings) =
        read(Arc::new(Source::from_bytes("test", b"; caf\xe9 \xff\xfe\n(role a)\n(role \xff)")));
    assert!(findings.0.is_empty());
    assert_eq!(sheet.clauses.len(), 2);
}

#[test]
fn unbalanced_text() {
    check_findings("(role a", &["unmatched-parenthesis ("]);
    check_findings("(role a))", &["unmatched-parenthesis )"]);
    check_findings("(role a)) (role b))", &["unmatched-parenthesis )", "unmatched-parenthesis )"]);
    check_findings("p(a :- q(a).", &["unmatched-parenthesis ("]);
    check_findings("p(a)).", &["unmatched-parenthesis )"]);
    check_findings("p :- (q & r.\ns(b))", &["unmatched-parenthesis (", "unmatched-parenthesis )"]);
    check_findings("p(a\nq(b)\nr(c", &["unmatched-parenthesis (", "unmatched-parenthesis ("]);
}

#[test]
fn deep_nesting() {
    let kif = |depth: usize| format!("{}a{}", "(f ".repeat(depth), ")".repeat(depth));
    let terms = |depth: usize| format!("{}a{}.", "f(".repeat(depth), ")".repeat(depth));
    for deepest in [kif(MAX_NESTING), terms(MAX_NESTING)] {
        check_laws(read(source(&deepest)));
        assert_eq!(findings(&deepest), [""; 0]);
    }
    check_findings(&kif(10_000), &["nested-too-deep ("]);
    check_findings(&terms(10_000), &["nested-too-deep ("]);
    check_findings(&format!("p :- {}q.", "~".repeat(10_000)), &["nested-too-deep ~"]);
    check_findings(
        &format!("p :- {}q{}.", "(".repeat(10_000), ")".repeat(10_000)),
        &["nested-too-deep ("],
    );
    // Each pair of parentheses becomes two lists in KIF.
    let mixed = |depth: usize| format!("p :- {}q{}.", "a & (b | ".repeat(depth), ")".repeat(depth));
    check_laws(read(source(&mixed(MAX_NESTING / 2 - 1))));
    assert_eq!(findings(&mixed(MAX_NESTING / 2 - 1)), [""; 0]);
    assert_eq!(findings(&mixed(MAX_NESTING - 1)).len(), 1);
}

#[test]
fn infix_of_all_kinds() {
    check(
        "next(cell(X,Y,b)) :- does(P, mark(X,Y)) & ~true(cell(X,Y,b)), distinct(X,Y).",
        "(<= (next (cell ?X ?Y b)) (does ?P (mark ?X ?Y)) (not (true (cell ?X ?Y b))) (distinct ?X ?Y))",
    );
    check("p <= q. p() :- q().", "(<= p q) (<= p q)");
    check("p(?x,X,?y) :- q(Y).", "(<= (p ?x ?x ?y) (q ?y))");
    check("p(_,_,_2) :- q(_).", "(<= (p ?_1 ?_3 ?_2) (q ?_4))");
    check(
        "p('White',\"a b\",'a b',100,-3,2.5,x-1,'it\\'s').",
        "(p White \"a b\" \"a b\" 100 -3 2.5 x-1 it's)",
    );
    check("p(step(1)).q(2).", "(p (step 1)) (q 2)");
    check(
        "init(not(a)). sees(P,does(P,M)) :- does(P,M).",
        "(init (not a)) (<= (sees ?P (does ?P ?M)) (does ?P ?M))",
    );
    check("p :- .", "(<= p)");
    check("next(X) :- true(X)", "(<= (next ?X) (true ?X))");
}

#[test]
fn infix_connectives() {
    check("p :- a | b & c.", "(<= p (or a (and b c)))");
    check("p :- a ; b , c.", "(<= p (or a (and b c)))");
    check("p :- a or b and c.", "(<= p (or a (and b c)))");
    check("p :- (a | b) & c.", "(<= p (or a b) c)");
    check("p :- (a & b) & ((c)).", "(<= p (and a b) c)");
    check("p :- (a | b) | c.", "(<= p (or (or a b) c))");
    check(
        "p :- ~a(X) & not b(X) & not(c(X)) & ~(d & e).",
        "(<= p (not (a ?X)) (not (b ?X)) (not (c ?X)) (not (and d e)))",
    );
    check(
        "p :- ~ ~a, not not b, not (c, d).",
        "(<= p (not (not a)) (not (not b)) (not (and c d)))",
    );
    check(
        "p :- X != Y, f(X) \\= a, ~X != b.",
        "(<= p (distinct ?X ?Y) (distinct (f ?X) a) (not (distinct ?X b)))",
    );
    check("p :- or(a, b & c), and(a), or().", "(<= p (or a (and b c)) (and a) (or))");
    check("p :- or((a, b), c).", "(<= p (or (and a b) c))");
}

#[test]
fn infix_without_full_stops() {
    check(
        "role(white)\nrole(black)\n\nbase(cell(M,N,x)) :- index(M) & index(N)\nbase(cell(M,N,o)) :-\n  index(M) &\n  index(N)\nterminal",
        "(role white) (role black) (<= (base (cell ?M ?N x)) (index ?M) (index ?N)) \
         (<= (base (cell ?M ?N o)) (index ?M) (index ?N)) (terminal)",
    );
    check("role(a) role(b)", "(role a) (role b)");
    check("  p :- q\n  r :- s", "(<= p q) (<= r s)");
    check("p :- q\n& r\n, s\nt", "(<= p q r s) (t)");
    // A condition further right looks like one whose connective is missing.
    check_findings("p :- q(X)\n     r(X).", &["unexpected-token r"]);
    check_findings("p :- q(X) r(X).", &["unexpected-token r"]);
}

#[test]
fn infix_comments() {
    check(
        "% one\np(a). // two\n  # three\n;; four\n/* five\n p(x). */ p(b). /**/ p(c) % six",
        "(p a) (p b) (p c)",
    );
    check("p :- a\n; b.", "(<= p (or a b))");
    check("p('%', '// #', \"/* ;;\").", "(p % \"// #\" \"/* ;;\")");
    check_findings("p(a). /* p(b).", &["unterminated-comment /*"]);
    check_findings("p(a). /*/ p(b).", &["unterminated-comment /*"]);
}

#[test]
fn infix_findings() {
    check_findings(
        "p(a,,b). q(a b). r(a,).",
        &["unexpected-token ,", "unexpected-token b", "unmatched-parenthesis )"],
    );
    check_findings(
        "p :- q & . p & q. p :- a : b.",
        &["unexpected-token .", "unexpected-token &", "unexpected-token :"],
    );
    check_findings("p :- q :- r. ok. p($).", &["unexpected-token :-", "unexpected-token $"]);
    check_findings("p. . q.", &["unexpected-token ."]);
    check_findings("p :- a &", &["unexpected-token "]);
}

#[test]
fn infix_findings_shared_with_kif() {
    check_findings(
        "p :- X. Q(a). p :- R(a) & q. _ :- p.",
        &[
            "variable-as-sentence X",
            "variable-as-sentence Q",
            "variable-as-sentence R",
            "variable-as-sentence _",
        ],
    );
    check_findings("p(F(a)). q(?f(a)).", &["variable-as-name F", "variable-as-name ?f"]);
    check_findings(":- p. <= q.", &["empty-rule :-", "empty-rule <="]);
    check_findings(
        "p :- distinct(X), distinct(X,Y,Z), not().",
        &["keyword-arity distinct(X)", "keyword-arity distinct(X,Y,Z)", "keyword-arity not()"],
    );
    check_findings(
        "~p :- q. not(p). or(p,q) :- r. distinct(a,b).",
        &[
            "misplaced-keyword ~",
            "misplaced-keyword not",
            "misplaced-keyword or",
            "misplaced-keyword distinct",
        ],
    );
    check_findings(
        "p :- not. p :- ~ & q. p :- distinct. p :- 'not'(q).",
        &[
            "misplaced-keyword not",
            "misplaced-keyword ~",
            "misplaced-keyword distinct",
            "misplaced-keyword 'not'",
        ],
    );
}

#[test]
fn quotes_end_on_their_line() {
    check_findings("p('a b).\nq(\"c).\nr(d).", &["unterminated-quote '", "unterminated-quote \""]);
    check_findings("(p \"a b)\n(q |c)", &["unterminated-quote \"", "unterminated-quote |"]);
    check_findings("p('a \"|').", &["unexpected-token 'a \"|'"]);
}

#[test]
fn findings_are_limited() {
    assert_eq!(findings(&")".repeat(5000)).len(), 1000);
}

#[test]
fn kif_findings() {
    check_findings(
        "(<= (p ?x) ?x) (?f a) (p (?f a))",
        &["variable-as-sentence ?x", "variable-as-sentence ?f", "variable-as-name ?f"],
    );
    check_findings("(<=) () (p ())", &["empty-rule (<=)", "empty-list ()", "empty-list ()"]);
    check_findings(
        "(not (p a)) (<= p not) (p <=) (p (<= a b))",
        &[
            "misplaced-keyword not",
            "misplaced-keyword not",
            "misplaced-keyword <=",
            "misplaced-keyword <=",
        ],
    );
    check_findings(
        "(<= p (not) (not a b) (distinct a) (distinct a b c))",
        &[
            "keyword-arity (not)",
            "keyword-arity (not a b)",
            "keyword-arity (distinct a)",
            "keyword-arity (distinct a b c)",
        ],
    );
    check_findings("((p a))", &["list-as-name (p a)"]);
}
