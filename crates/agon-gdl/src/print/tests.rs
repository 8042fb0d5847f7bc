//! Examples of printed rules.

use std::sync::Arc;

use agon_text::Source;

use super::{print_kif, print_rules, print_rulesheet};
use crate::normalise::normalise;
use crate::read::read;
use crate::syntax::{Rulesheet, Syntax};

fn sheet(text: &str) -> Rulesheet {
    let (sheet, findings) = read(Arc::new(Source::new("test", text)));
    assert!(!findings.has_errors(), "{text}: {findings:?}");
    sheet
}

fn check_kif(text: &str, expected: &str) {
    assert_eq!(print_kif(&sheet(text)).trim_end(), expected);
}

fn check_infix(text: &str, expected: &str) {
    assert_eq!(print_rulesheet(&sheet(text), Syntax::Infix).trim_end(), expected);
}

#[test]
fn facts_and_rules_in_infix() {
    check_infix("(role white) (role black)", "role(white).\nrole(black).");
    check_infix("terminal (<= (legal ?p noop))", "terminal.\n\nlegal(P,noop) :- .");
    check_infix(
        "(<= (next (cell ?m ?n x)) (does white (mark ?m ?n)) (not (true (cell ?m ?n b))) (distinct ?m ?n))",
        "next(cell(M,N,x)) :- does(white,mark(M,N)) & ~true(cell(M,N,b)) & distinct(M,N).",
    );
}

#[test]
fn connectives_keep_their_nesting_in_infix() {
    check_infix("(<= p (or a b))", "p :- a | b.");
    check_infix("(<= p (or a (and b c)) d)", "p :- (a | (b & c)) & d.");
    check_infix("(<= p (and a b))", "p :- (a & b).");
    check_infix("(<= p (not (or a b)) (not (not c)))", "p :- ~(a | b) & ~~c.");
    check_infix(
        "(<= p (or) (and) (or a) (and (or a b)))",
        "p :- or() & and() & or(a) & and(a | b).",
    );
}

#[test]
fn names_that_infix_would_misread_are_quoted() {
    check_infix("(role Xplayer)", "role('Xplayer').");
    check_infix("(<= p (< ?a ?b))", "p :- '<'(A,B).");
    check_infix(r#"(p "a b" |a b| a"b it's a\b)"#, r#"p("a b",'|a b|','a"b','it\'s','a\\b')."#);
    check_infix("(p -3 2.5 100 a-b a- nextRank not)", "p(-3,2.5,100,a-b,'a-',nextRank,not).");
}

#[test]
fn variables_get_names_that_infix_can_hold() {
    check_infix("(<= (p ?n ?n++ ?x-1 ?1 ?_) (q ?N))", "p(N,N_plus_plus,X-1,V1,V_) :- q(N).");
    check_infix("(p ?a! ?a_ ?a$ ?a__2)", "p(A_,A__2,A__3,A__2_2).");
    check_infix("(p ? ?-3 ?a.b ?ßa)", "p(V,_minus3,A_b,Vßa).");
}

#[test]
fn quoted_names_of_infix_are_words_of_kif() {
    check_kif(
        "p('a b', 'White', '', '?x', '<=', 'a\"b c').",
        "(p \"a b\" White \"\" \"?x\" \"<=\" |a\"b c|)",
    );
    check_kif("p(X, _, _, _1).", "(p ?X ?_2 ?_3 ?_1)");
}

#[test]
fn long_bodies_are_broken_between_conditions() {
    let text = "(<= (next (control xplayer)) (true (control oplayer)) (true (some (long (term here)))) \
                (or (true (first alternative)) (not (true (second alternative))) (does ?player (third alternative)) \
                (does ?player (fourth alternative))))";
    check_kif(
        text,
        "(<= (next (control xplayer))
    (true (control oplayer))
    (true (some (long (term here))))
    (or (true (first alternative))
        (not (true (second alternative)))
        (does ?player (third alternative))
        (does ?player (fourth alternative))))",
    );
    check_infix(
        text,
        "next(control(xplayer)) :-
  true(control(oplayer)) &
  true(some(long(term(here)))) &
  (true(first(alternative)) |
   ~true(second(alternative)) |
   does(Player,third(alternative)) |
   does(Player,fourth(alternative))).",
    );
}

#[test]
fn paragraphs_hold_one_relation_or_one_long_rule() {
    check_kif(
        "(role a) (role b) (init (cell 1)) (<= p q) (<= p r)",
        "(role a)\n(role b)\n\n(init (cell 1))\n\n(<= p q)\n(<= p r)",
    );
    check_kif("open2", "(open2)");
    check_kif("", "");
}

#[test]
fn normal_form_is_printed_with_the_variables_of_its_clause() {
    let sheet = sheet("(<= (goal ?p 100) (or (q ?n++) (not (distinct ?n++ a))))");
    let (rules, _) = normalise(&sheet);
    assert_eq!(
        print_rules(&rules, &sheet, Syntax::Kif),
        "(<= (goal ?p 100) (role ?p) (q ?n++))\n(<= (goal ?p 100) (role ?p))\n"
    );
    assert_eq!(
        print_rules(&rules, &sheet, Syntax::Infix),
        "goal(P,100) :- role(P) & q(N_plus_plus).\ngoal(P,100) :- role(P).\n"
    );
}
