//! Laws of the checks, and their effects on rules. The diagnostics themselves are tested by
//! `tests/rejects`.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_text::{Severity, Source};
use proptest::prelude::*;

use super::graph::{components, shortest_path};
use super::unify::{can_be_equal, may_be_same};
use super::{Checked, CheckedRules, check};
use crate::rules::{RuleAtom, RuleTerm};
use crate::symbols::keyword;

/// A game without faults, to which the tests add some.
const GAME: &str = "(role white) (role black) (init (step 1)) (<= (legal ?p go) (role ?p))
    (<= (next (step 2)) (does white go)) (<= terminal (true (step 2))) (<= (goal ?p 50) (role ?p))";

fn checked(text: &str) -> Checked {
    check(Arc::new(Source::new("test", text)))
}

fn rules(text: &str) -> CheckedRules {
    let checked = checked(text);
    let errors: Vec<_> =
        checked.findings.0.iter().filter(|f| f.severity == Severity::Error).collect();
    checked.rules.unwrap_or_else(|| panic!("{errors:?}"))
}

fn codes(text: &str) -> BTreeSet<&'static str> {
    checked(text).findings.0.iter().map(|finding| finding.code).collect()
}

#[test]
fn a_correct_game_has_no_diagnostics() {
    assert!(checked(GAME).findings.0.is_empty());
}

#[test]
fn roles_are_in_order_and_unique() {
    let rules = rules(&format!(
        "{GAME} (role Black) (role random) (<= (role ?x) (late ?x)) (late green) (late white)"
    ));
    let names: Vec<&str> =
        rules.roles().iter().map(|&role| rules.sheet().symbols.name(role)).collect();
    assert_eq!(names, ["white", "black", "random", "green"]);
    assert_eq!(rules.nature(), Some(2));
    assert!(rules.is_gdl2() && !rules.has_sees());
}

#[test]
fn roles_from_recursive_rules() {
    let text = format!(
        "{GAME} (<= (role ?y) (role ?x) (next-to ?x ?y)) (next-to white red) (next-to red blue)"
    );
    assert_eq!(rules(&text).roles().len(), 4);
    let endless = format!("{GAME} (<= (role (f ?x)) (role ?x))");
    assert!(checked(&endless).rules.is_none());
}

#[test]
fn faulty_declarations_are_dropped() {
    let good =
        rules(&format!("{GAME} (base (step 1)) (base (step 2)) (<= (input ?p go) (role ?p))"));
    assert!(
        good.declares(keyword::BASE)
            && good.declares(keyword::INPUT)
            && !good.declares(keyword::PERCEPT)
    );
    let faults = ["(base step 1)", "(base (step ?n))", "(<= (base ?f) (true ?f))"];
    for fault in faults {
        let rules = rules(&format!("{GAME} (base (step 1)) {fault} (<= (input ?p go) (role ?p))"));
        assert!(!rules.declares(keyword::BASE), "{fault}");
        assert!(rules.rules().iter().all(|rule| rule.head.relation != keyword::BASE), "{fault}");
        assert!(rules.declares(keyword::INPUT), "{fault}");
    }
    // The rulesheet's own use of `base` keeps its rules, because other rules need them.
    let rules = rules(&format!(
        "{GAME} (base step 1) (<= terminal (base step ?n) (true (step ?n)) (not (role ?n)))"
    ));
    assert!(!rules.declares(keyword::BASE));
    assert!(rules.rules().iter().any(|rule| rule.head.relation == keyword::BASE));
}

#[test]
fn demands_propagate_to_callers() {
    let text = format!(
        "{GAME} (<= (different ?x ?y) (distinct ?x ?y))
        (<= (apart ?a ?b ?c) (different ?a ?b) (role ?c))
        (<= terminal (role ?p) (role ?q) (apart ?p ?q ?r) (different ?p ?r))"
    );
    let rules = rules(&text);
    let demanded =
        |name: &str, n| rules.demanded(rules.sheet().symbols.find(name).expect("it occurs"), n);
    assert_eq!(demanded("different", 2), Some(&[true, true][..]));
    assert_eq!(demanded("apart", 3), Some(&[true, true, false][..]));
    assert_eq!(demanded("role", 1), None);
    assert!(codes(&text.replace("(role ?q) (apart", "(apart")).contains("unsafe-variable"));
}

#[test]
fn negation_stratified_by_arguments_is_accepted() {
    let chain =
        "(<= (lit ?n) (succ ?n ?m) (not (lit ?m))) (succ 1 2) (succ 2 3) (<= terminal (lit 1))";
    assert!(codes(&format!("{GAME} {chain}")).contains("stratified-by-arguments"));
    assert!(codes(&format!("{GAME} {chain} (succ 3 1)")).contains("unstratified"));
    // A recursive static relation bounds the arguments as well.
    let less = "(<= (less ?a ?b) (succ ?a ?b)) (<= (less ?a ?c) (succ ?a ?b) (less ?b ?c))";
    let chain = chain.replace("(succ ?n ?m) (not", "(less ?n ?m) (not");
    assert!(codes(&format!("{GAME} {chain} {less}")).contains("stratified-by-arguments"));
    // A relation that depends on the state may contain anything.
    let chain = chain.replace("(less ?n ?m) (not", "(true (edge ?n ?m)) (not");
    assert!(codes(&format!("{GAME} {chain} (init (edge 1 2))")).contains("unstratified"));
}

#[test]
fn dependence_considers_arguments() {
    let text = format!(
        "{GAME} (<= (kind now) (does white go)) (<= (kind always) (role white))
        (<= (next (step 1)) (kind now))
        (<= terminal (kind always) (true (step 9)))"
    );
    assert!(!codes(&text).contains("depends-on-does"));
    assert!(
        codes(&text.replace("terminal (kind always)", "terminal (kind ?k)"))
            .contains("depends-on-does")
    );
}

#[test]
fn finite_recursion_with_terms_is_accepted() {
    // Test case 5a of ggp-base builds terms in a cycle of rules without ever growing them.
    let text = format!(
        "{GAME} (<= (r ?x (f ?x)) (role ?x)) (<= (r ?x ?y) (r ?y ?x))
        (<= terminal (r white ?y) (r ?y white))"
    );
    assert!(!codes(&text).contains("recursion-restriction"), "{:?}", codes(&text));
    let growing = text.replace("(<= (r ?x ?y) (r ?y ?x))", "(<= (r ?x (f ?y)) (r ?y ?x))");
    assert!(checked(&growing).rules.is_none());
}

#[test]
fn special_cases_are_found_in_any_order() {
    let general = "(<= (p ?x ?y) (q ?x ?z) (not (r ?z)) (distinct ?x ?y) (q ?y ?y))";
    let special = "(<= (p ?a b) (q b b) (distinct b ?a) (not (r c)) (true (step 1)) (q ?a c))";
    assert!(codes(&format!("{GAME} {general} {special}")).contains("subsumed-rule"));
    assert!(codes(&format!("{GAME} {special} {general}")).contains("subsumed-rule"));
    let other = special.replace("(q b b)", "(q b c)");
    assert!(!codes(&format!("{GAME} {general} {other}")).contains("subsumed-rule"));
}

#[test]
fn for_no_value_is_not_more_general() {
    let none = "(<= (p ?x) (q ?x) (not (r ?x ?y)))";
    let one = "(<= (p ?x) (q ?x) (not (r ?x a)))";
    assert!(!codes(&format!("{GAME} {none} {one}")).contains("subsumed-rule"));
}

#[test]
fn consequences_of_a_mistake_are_not_reported() {
    let text =
        "(role white) (init (cell 1 blank)) (<= (legal white (mark ?n)) (true (cell ?n blnak)))
        (<= (next (cell ?n x)) (does white (mark ?n))) (<= terminal (true (cell ?n x)))
        (<= (goal white 100) (true (cell 1 x))) (<= (goal white 0) (true (cell 1 blank)))";
    let findings = checked(text).findings.0;
    let dead: Vec<_> =
        findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
    assert_eq!(dead.len(), 1, "{dead:?}");
    assert_eq!(
        (dead[0].code, dead[0].hints[0].as_str()),
        ("dead-constant", "did you mean `blank`?")
    );
}

#[test]
fn adversarial_texts_are_checked_quickly() {
    let many = |n: usize, rule: &dyn Fn(usize) -> String| (0..n).map(rule).collect::<String>();
    let texts = [
        many(400, &|i| format!("(<= (p ?x a{i}) (p ?x ?y) (not (p ?y ?x)))")),
        many(400, &|i| format!("(<= (p{i} (f ?x)) (p{} ?x))", (i + 1) % 400)),
        format!("(p a) {} (<= (role ?x) (p ?x))", "(<= (p (f ?x ?x)) (p ?x))".repeat(40)),
        many(300, &|i| format!("(e {i} {})", i + 1))
            + "(<= (t ?x ?y) (e ?x ?y)) (<= (t ?x ?z) (t ?x ?y) (t ?y ?z)) (<= (role ?x) (t ?x ?y))",
        "(<= (next (f ?x)) (true (g ?x ?y)) (true (g ?y ?z)) (true (g ?z ?u)) (true (g ?u ?v)))"
            .repeat(100),
        many(500, &|i| format!("(<= p{i}aaa q{i}bbb)")),
    ];
    for text in texts {
        let _ = checked(&text);
    }
}

proptest! {
    #[test]
    fn any_text_is_checked(words in prop::collection::vec(word(), 0..120)) {
        let text = words.join(" ");
        let checked = checked(&text);
        prop_assert_eq!(checked.rules.is_none(), checked.findings.has_errors());
        for finding in &checked.findings.0 {
            prop_assert!(finding.span.end() <= text.len());
            let page = crate::codes::page(finding.code);
            prop_assert!(page.is_some_and(|page| finding.severity <= page.severity));
        }
    }

    #[test]
    fn any_rules_are_checked(rules in prop::collection::vec(rule(), 0..12)) {
        let text = rules.join("\n");
        let checked = checked(&text);
        prop_assert_eq!(checked.rules.is_none(), checked.findings.has_errors());
    }

    /// For rules without arguments, a reachability matrix tells whether negation has a cycle.
    #[test]
    fn cycles_of_negation_are_found(
        rules in prop::collection::vec((0..6_usize, 0..6_usize, any::<bool>()), 0..12),
    ) {
        let text: String = rules
            .iter()
            .map(|(head, condition, negated)| match negated {
                true => format!("(<= p{head} (not p{condition}))"),
                false => format!("(<= p{head} p{condition})"),
            })
            .collect();
        let mut reaches = [[false; 6]; 6];
        (0..6).for_each(|i| reaches[i][i] = true);
        for _ in 0..6 {
            for &(head, condition, _) in &rules {
                let further = reaches[condition];
                (0..6).for_each(|i| reaches[head][i] |= further[i]);
            }
        }
        let closes = |&(head, condition, negated): &(usize, usize, bool)| {
            negated && reaches[condition][head]
        };
        let is_cycle = rules.iter().any(closes);
        prop_assert_eq!(codes(&text).contains("unstratified"), is_cycle);
    }

    #[test]
    fn components_reach_each_other(
        edges in prop::collection::vec((0..8_usize, 0..8_usize), 0..20),
    ) {
        let mut successors = vec![Vec::new(); 8];
        edges.iter().for_each(|&(from, to)| successors[from].push(to));
        let component = components(&successors);
        let reaches = |from, to| shortest_path(&successors, from, to, |_| true).is_some();
        for from in 0..8 {
            for to in 0..8 {
                let are_mutual = reaches(from, to) && reaches(to, from);
                prop_assert_eq!(component[from] == component[to], are_mutual);
                prop_assert!(component[from] >= component[to] || !reaches(from, to));
            }
        }
    }

    #[test]
    fn instances_may_be_the_same(
        pattern in term(3),
        values in prop::collection::vec(ground(2), 4),
    ) {
        let instance = (0..4).fold(pattern.clone(), |t, v| t.replace(v, &values[v as usize]));
        prop_assert!(may_be_same(&atom(pattern.clone()), &atom(instance.clone())));
        prop_assert!(may_be_same(&atom(instance.clone()), &atom(pattern.clone())));
        prop_assert_eq!(can_be_equal(&instance, &values[0]), instance == values[0]);
    }
}

fn atom(term: RuleTerm) -> RuleAtom {
    RuleAtom { relation: keyword::TRUE, arguments: vec![term], span: agon_text::Span::new(0, 0) }
}

fn ground(depth: u32) -> BoxedStrategy<RuleTerm> {
    let name = (20..23_u32).prop_map(agon_datalog::Symbol::new);
    if depth == 0 {
        return name.prop_map(RuleTerm::constant).boxed();
    }
    (name, prop::collection::vec(ground(depth - 1), 0..3))
        .prop_map(|(f, a)| RuleTerm::Function(f, a))
        .boxed()
}

fn term(depth: u32) -> BoxedStrategy<RuleTerm> {
    let variable = (0..4_u32).prop_map(RuleTerm::Variable);
    if depth == 0 {
        return variable.boxed();
    }
    let name = (20..23_u32).prop_map(agon_datalog::Symbol::new);
    let function = (name, prop::collection::vec(term(depth - 1), 0..3))
        .prop_map(|(f, a)| RuleTerm::Function(f, a));
    prop_oneof![variable, function].boxed()
}

/// Generates tokens of KIF or infix.
fn word() -> impl Strategy<Value = String> {
    let words = "( ( ( ) ) ) (<= (not (or (and (distinct (role (init (true (does (next (legal (goal (base (input \
        (sees terminal ?x ?y ?X white random 0 100 p (p q :- & ~ . , ; \" '";
    prop::sample::select(words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
}

/// Generates rules that can be read but need not make sense.
fn rule() -> impl Strategy<Value = String> {
    let term = prop::sample::select(vec![
        "?x",
        "?y",
        "a",
        "B",
        "100",
        "(f ?x)",
        "(f (f ?y))",
        "(step 1)",
        "(role a)",
    ]);
    let names = [
        "role", "init", "true", "does", "next", "legal", "goal", "terminal", "base", "input",
        "sees", "percept", "p", "q", "P", "r",
    ];
    let name = prop::sample::select(names.to_vec());
    let sentence = (name, prop::collection::vec(term, 0..3)).prop_map(|(name, arguments)| {
        match arguments.len() {
            0 => name.to_owned(),
            _ => format!("({name} {})", arguments.join(" ")),
        }
    });
    let condition =
        (sentence.clone(), sentence.clone(), 0..6).prop_map(|(a, b, kind)| match kind {
            0 => format!("(not {a})"),
            1 => format!("(or {a} {b})"),
            2 => format!("(not (and {a} {b}))"),
            3 => "(distinct ?x ?y)".to_owned(),
            4 => "(not (distinct ?x (f ?y)))".to_owned(),
            _ => a,
        });
    (sentence, prop::collection::vec(condition, 0..4)).prop_map(|(head, body)| match body.len() {
        0 => head,
        _ => format!("(<= {head} {})", body.join(" ")),
    })
}
