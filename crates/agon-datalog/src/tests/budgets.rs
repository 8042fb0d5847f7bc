//! Programs that run for ever, recurse without bound or exhaust the memory are refused, with the
//! responsible rule.

use std::sync::Arc;
use std::time::Instant;

use super::{atom, constant, holds, rule, variable};
use crate::{
    Engine, Goal, Level, Limits, Pattern, Plans, PredicateId, Program, QueryForm, QueryId, Refusal,
    RefusalKind, Symbol, TermBank, TermId,
};

const DEEP: u32 = 50_000;

fn wanted(predicate: PredicateId, arity: usize) -> QueryForm {
    QueryForm { predicate, known: vec![false; arity] }
}

fn known(predicate: PredicateId, arity: usize) -> QueryForm {
    QueryForm { predicate, known: vec![true; arity] }
}

fn engine(
    program: Program,
    term_depth: u32,
    entry: QueryForm,
    limits: Limits,
) -> (Engine, QueryId) {
    let bank = Arc::new(TermBank::new(term_depth));
    let (plans, queries) =
        Plans::new(program, bank, &[], &[entry]).expect("all variables are bound");
    (Engine::new(Arc::new(plans), limits), queries[0])
}

fn refusal(kind: RefusalKind, origin: u32) -> Option<Refusal> {
    Some(Refusal { kind, origin: Some(origin) })
}

fn successor(of: Pattern) -> Pattern {
    Pattern::Function(Symbol::new(1), vec![of])
}

/// Returns the program `p(z). p(s(x)) :- p(x).`
fn numbers() -> (Program, PredicateId) {
    let mut program = Program::default();
    let p = program.derived(1);
    program.rule(rule(atom(p, &[constant(0)]), Vec::new(), 0, 0));
    program.rule(rule(atom(p, &[successor(variable(0))]), vec![holds(p, &[variable(0)])], 1, 1));
    (program, p)
}

/// Builds `reach(x) :- edge(x, y), reach(y). reach(last).` with `n_idle` additional conditions,
/// over a chain of nodes.
fn chain(length: u32, n_idle: usize, limits: Limits) -> (Engine, QueryId, Vec<TermId>) {
    let mut program = Program::default();
    let edge = program.given(2, Level::State);
    let idle = program.derived(1);
    let reach = program.derived(1);
    program.rule(rule(
        atom(idle, &[variable(0)]),
        vec![holds(edge, &[variable(0), variable(1)])],
        2,
        0,
    ));
    let mut body = vec![holds(edge, &[variable(0), variable(1)])];
    body.extend(std::iter::repeat_n(holds(idle, &[variable(0)]), n_idle));
    body.push(holds(reach, &[variable(1)]));
    program.rule(rule(atom(reach, &[variable(0)]), body, 2, 1));
    program.rule(rule(atom(reach, &[constant(length - 1)]), Vec::new(), 0, 2));
    let (mut engine, query) = engine(program, 2, known(reach, 1), limits);
    let node = |i| engine.bank().term(Symbol::new(i), &[]).expect("a constant fits");
    let nodes: Vec<TermId> = (0..length).map(node).collect();
    engine.set_rows(edge, nodes.windows(2));
    (engine, query, nodes)
}

#[test]
fn growing_terms_are_refused() {
    let (program, p) = numbers();
    let (mut deep, query) = engine(program.clone(), 40, wanted(p, 1), Limits::default());
    assert_eq!(deep.ask(query, &[]).err(), refusal(RefusalKind::TermDepth, 1));
    let few = Limits { facts: 1000, ..Limits::default() };
    let (mut many, query) = engine(program, u32::MAX, wanted(p, 1), few);
    assert_eq!(many.ask(query, &[]).err(), refusal(RefusalKind::Facts, 1));
}

#[test]
fn deep_terms_are_matched() {
    let (program, p) = numbers();
    let (mut engine, query) = engine(program, DEEP + 1, known(p, 1), Limits::default());
    let bank = Arc::clone(engine.bank());
    let zero = bank.term(Symbol::new(0), &[]).expect("a constant fits");
    let large = (0..DEEP)
        .fold(zero, |n, _| bank.term(Symbol::new(1), &[n]).expect("it is just deep enough"));
    assert_eq!(engine.holds(query, &[large]), Ok(true));
}

#[test]
fn growing_calls_are_refused() {
    // p(x) :- p(s(x)).
    let mut program = Program::default();
    let p = program.derived(1);
    program.rule(rule(atom(p, &[variable(0)]), vec![holds(p, &[successor(variable(0))])], 1, 7));
    let (mut deep, query) = engine(program.clone(), 40, known(p, 1), Limits::default());
    let zero = deep.bank().term(Symbol::new(0), &[]).expect("a constant fits");
    assert_eq!(deep.ask(query, &[zero]).err(), refusal(RefusalKind::TermDepth, 7));
    let shallow = Limits { depth: 100, ..Limits::default() };
    let (mut engine, query) = engine(program, 1000, known(p, 1), shallow);
    let zero = engine.bank().term(Symbol::new(0), &[]).expect("a constant fits");
    assert_eq!(engine.ask(query, &[zero]).err(), refusal(RefusalKind::Depth, 7));
}

#[test]
fn deep_recursion_is_evaluated_or_refused() {
    let (mut engine, query, nodes) = chain(DEEP, 0, Limits::default());
    assert_eq!(engine.holds(query, &[nodes[0]]), Ok(true));
    let shallow = Limits { depth: 10_000, ..Limits::default() };
    let (mut engine, query, nodes) = chain(DEEP, 0, shallow);
    assert_eq!(engine.ask(query, &[nodes[0]]).err(), refusal(RefusalKind::Depth, 1));
    // Nearby nodes are still answered.
    assert_eq!(engine.holds(query, &[nodes[DEEP as usize - 100]]), Ok(true));
}

#[test]
fn deep_recursion_through_long_rules_is_evaluated() {
    // Several lengths, because the point of a stack overflow depends on the number of calls in a
    // stack segment.
    for n_idle in (100..1000).step_by(100) {
        let (mut engine, query, nodes) = chain(100, n_idle, Limits::default());
        assert_eq!(engine.holds(query, &[nodes[0]]), Ok(true));
    }
}

#[test]
fn a_long_cycle_is_evaluated() {
    let (mut engine, query, nodes) = chain(2000, 0, Limits::default());
    // The last node leads back to the first, and nothing is reached.
    let cycle: Vec<[TermId; 2]> =
        nodes.iter().zip(nodes.iter().cycle().skip(1)).take(1999).map(|(&a, &b)| [a, b]).collect();
    let back = [nodes[1998], nodes[0]];
    let rows = cycle[..1998].iter().chain([&back]);
    engine.set_rows(PredicateId(0), rows.map(<[_; 2]>::as_slice));
    assert_eq!(engine.holds(query, &[nodes[0]]), Ok(false));
}

/// Evaluates `many(x1, …, x12) :- value(x1), …, value(x12), never(x1, …, x12).` over ten values,
/// where `never` has a rule without answers.
fn explosion(limits: Limits) -> Option<Refusal> {
    let mut program = Program::default();
    let (value, nothing) = (program.derived(1), program.given(0, Level::State));
    (0..10).for_each(|i| program.rule(rule(atom(value, &[constant(i)]), Vec::new(), 0, i)));
    let (never, many) = (program.derived(12), program.derived(0));
    let variables: Vec<Pattern> = (0..12).map(variable).collect();
    program.rule(rule(atom(never, &variables), vec![holds(nothing, &[])], 12, 20));
    let mut body: Vec<Goal> =
        variables.iter().map(|x| holds(value, std::slice::from_ref(x))).collect();
    body.push(holds(never, &variables));
    program.rule(rule(atom(many, &[]), body, 12, 21));
    let (mut engine, query) = engine(program, 2, wanted(many, 0), limits);
    engine.ask(query, &[]).err()
}

#[test]
fn exploding_joins_are_refused() {
    let steps = Limits { steps: 100_000, ..Limits::default() };
    assert_eq!(explosion(steps).map(|refusal| refusal.kind), Some(RefusalKind::Steps));
    let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    assert_eq!(explosion(late).map(|refusal| refusal.kind), Some(RefusalKind::Deadline));
    let small = Limits { bytes: 1 << 20, ..Limits::default() };
    assert_eq!(explosion(small).map(|refusal| refusal.kind), Some(RefusalKind::Bytes));
}

/// Builds `big(x, y, z) :- value(x), value(y), value(z)` with 27 million rows, two relations that
/// read it, `move(x) :- big(x, y, z)` and `other(x) :- value(x), not odd(x)`, where
/// `odd(x) :- big(x, y, z), never(y, z)`, of which there are none.
fn huge() -> (Program, [PredicateId; 2]) {
    let mut program = Program::default();
    let (value, never) = (program.derived(1), program.derived(2));
    let (big, odd) = (program.derived(3), program.derived(1));
    let (moves, other) = (program.derived(1), program.derived(1));
    (0..300).for_each(|i| program.rule(rule(atom(value, &[constant(i)]), Vec::new(), 0, i)));
    let [x, y, z] = [0, 1, 2].map(variable);
    let body = [&x, &y, &z].map(|v| holds(value, std::slice::from_ref(v))).to_vec();
    program.rule(rule(atom(big, &[x.clone(), y.clone(), z.clone()]), body, 3, 400));
    let whole = holds(big, &[x.clone(), y.clone(), z.clone()]);
    program.rule(rule(atom(moves, std::slice::from_ref(&x)), vec![whole.clone()], 3, 401));
    let body = vec![whole, holds(never, &[y, z])];
    program.rule(rule(atom(odd, std::slice::from_ref(&x)), body, 3, 402));
    let [a, b] = [0, 1].map(variable);
    let differs = Goal::Differ(a.clone(), a.clone());
    let body = vec![
        holds(value, std::slice::from_ref(&a)),
        holds(value, std::slice::from_ref(&b)),
        differs,
    ];
    program.rule(rule(atom(never, &[a, b]), body, 2, 404));
    let is_even = Goal::Fails(atom(odd, std::slice::from_ref(&x)));
    let body = vec![holds(value, std::slice::from_ref(&x)), is_even];
    program.rule(rule(atom(other, &[x]), body, 1, 403));
    (program, [moves, other])
}

#[test]
fn an_evaluation_that_is_cut_has_true_answers() {
    let limits = Limits { facts: 50_000, ..Limits::default() };
    let far = Instant::now() + std::time::Duration::from_secs(1000);
    let (program, [moves, other]) = huge();
    let (mut first, query) = engine(program.clone(), 2, wanted(moves, 1), limits.clone());
    // The relation that explodes is complete before the first move is found, so some of its rows
    // must do.
    let (answers, is_complete) = first.ask_some(query, &[], far).expect("some are found");
    assert!(!is_complete && !answers.is_empty());
    assert!(answers.len() <= 300);
    // What was cut is not taken for an answer later.
    assert_eq!(first.ask(query, &[]).err(), refusal(RefusalKind::Facts, 400));
    // A deadline in the past cuts as well.
    let past = first.ask_some(query, &[], Instant::now());
    assert!(past.is_ok_and(|(answers, is_complete)| !is_complete && !answers.is_empty()));

    // All values are even, but the proof of that is cut, so nothing may be said of any.
    let (mut second, query) = engine(program, 2, wanted(other, 1), limits);
    assert!(second.ask_some(query, &[], far).is_err());
}

#[test]
fn too_many_facts_are_refused() {
    // pair(x, y, z) :- value(x), value(y), value(z): a million rows.
    let mut program = Program::default();
    let (value, pair) = (program.derived(1), program.derived(3));
    (0..100).for_each(|i| program.rule(rule(atom(value, &[constant(i)]), Vec::new(), 0, i)));
    let [x, y, z] = [0, 1, 2].map(variable);
    let body = [&x, &y, &z].map(|v| holds(value, std::slice::from_ref(v))).to_vec();
    program.rule(rule(atom(pair, &[x, y, z]), body, 3, 200));
    let ask = |limits: Limits| {
        let (mut engine, query) = engine(program.clone(), 2, wanted(pair, 3), limits);
        engine.ask(query, &[]).map(|answers| answers.len())
    };
    assert_eq!(ask(Limits::default()), Ok(1_000_000));
    assert_eq!(
        ask(Limits { facts: 999_999, ..Limits::default() }).err(),
        refusal(RefusalKind::Facts, 200)
    );
    assert_eq!(
        ask(Limits { bytes: 1 << 20, ..Limits::default() }).err(),
        refusal(RefusalKind::Bytes, 200)
    );
}

#[test]
fn too_many_terms_are_refused() {
    // t :- value(x), value(y), distinct(f(x, y), f(x, y)): many terms are built, and nothing
    // follows.
    let mut program = Program::default();
    let (value, t) = (program.derived(1), program.derived(0));
    (0..400).for_each(|i| program.rule(rule(atom(value, &[constant(i)]), Vec::new(), 0, i)));
    let [x, y] = [0, 1].map(variable);
    let pair = Pattern::Function(Symbol::new(0), vec![x.clone(), y.clone()]);
    let body = vec![holds(value, &[x]), holds(value, &[y]), Goal::Differ(pair.clone(), pair)];
    program.rule(rule(atom(t, &[]), body, 2, 500));
    let small = Limits { bytes: 1 << 20, ..Limits::default() };
    let (mut engine, query) = engine(program, 3, wanted(t, 0), small);
    assert_eq!(engine.ask(query, &[]).err(), refusal(RefusalKind::Bytes, 500));
}
