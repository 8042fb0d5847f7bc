//! Comparison of all answers of the engine with the oracle.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::oracle::{Facts, Ground, Row, oracle};
use super::programs::{Built, draft, rows, tangle, universe};
use super::{atom, constant, holds, rule, seeded, variable};
use crate::{
    Engine, Limits, MaterialiseLimits, Plans, PredicateId, Program, QueryForm, QueryId, Refusal,
    RefusalKind, SplitLimits, TermBank, TermId, materialise, split,
};

/// A query: the relation, which arguments are known, and their values.
#[derive(Clone, Debug)]
struct QueryDraft {
    relation: prop::sample::Index,
    known: Vec<bool>,
    values: Vec<Ground>,
}

fn queries() -> impl Strategy<Value = Vec<QueryDraft>> {
    let values = prop::collection::vec(prop::sample::select(universe()), 3);
    let query = (any::<prop::sample::Index>(), prop::collection::vec(any::<bool>(), 3), values)
        .prop_map(|(relation, known, values)| QueryDraft { relation, known, values });
    prop::collection::vec(query, 1..20)
}

/// An engine and its queries.
struct Trial {
    engine: Engine,
    queries: Vec<(PredicateId, Vec<bool>, Vec<Ground>, QueryId)>,
    calls_grow: bool,
}

impl Trial {
    fn new(
        built: &Built,
        program: Program,
        bank: &Arc<TermBank>,
        samples: &[(PredicateId, Vec<Vec<TermId>>)],
        queries: &[QueryDraft],
        limits: Limits,
    ) -> Trial {
        let demands = program.required_arguments();
        let asked: Vec<(PredicateId, Vec<bool>, Vec<Ground>)> = queries
            .iter()
            .map(|query| {
                let index = query.relation.index(built.program.n_predicates());
                let known: Vec<bool> =
                    demands[index].iter().zip(&query.known).map(|(&d, &k)| d || k).collect();
                let arity = known.len();
                let predicate = PredicateId(u32::try_from(index).expect("few relations"));
                (predicate, known, query.values[..arity].to_vec())
            })
            .collect();
        let entries: Vec<QueryForm> = asked
            .iter()
            .map(|(predicate, known, _)| QueryForm { predicate: *predicate, known: known.clone() })
            .collect();
        let (plans, queries) = Plans::new(program, Arc::clone(bank), samples, &entries)
            .expect("drafts bind their variables");
        let queries =
            asked.into_iter().zip(queries).map(|((p, known, values), q)| (p, known, values, q));
        Trial {
            engine: Engine::new(Arc::new(plans), limits),
            queries: queries.collect(),
            calls_grow: built.calls_grow,
        }
    }

    fn set(&mut self, built: &Built, which: std::ops::Range<usize>, rows: &[Vec<Row>]) {
        for index in which {
            let bank = Arc::clone(self.engine.bank());
            let rows = in_bank(&rows[index], &bank);
            self.engine.set_rows(built.given[index].0, rows.iter().map(Vec::as_slice));
        }
    }

    /// Evaluates one query and compares the answers. Returns a refusal to the caller.
    fn ask(&mut self, index: usize, truth: &Facts) -> Result<(), Refusal> {
        let (predicate, known, values, query) = &self.queries[index];
        let bank = Arc::clone(self.engine.bank());
        let key: Vec<TermId> = values
            .iter()
            .zip(known)
            .filter(|&(_, &is_known)| is_known)
            .map(|(v, _)| v.in_bank(&bank))
            .collect();
        let answers = self.engine.ask(*query, &key)?;
        let n_wanted = known.iter().filter(|&&is_known| !is_known).count();
        let given: BTreeSet<Row> = (0..answers.len())
            .map(|i| {
                (0..n_wanted).map(|column| Ground::of_bank(answers.get(i, column), &bank)).collect()
            })
            .collect();
        let right: BTreeSet<Row> = truth[predicate.index()]
            .iter()
            .filter(|row| {
                row.iter().zip(values).zip(known).all(|((term, value), &k)| !k || term == value)
            })
            .map(|row| {
                row.iter().zip(known).filter(|&(_, &k)| !k).map(|(term, _)| term.clone()).collect()
            })
            .collect();
        assert_eq!(given, right, "{predicate:?} with {known:?} {values:?}");
        assert_eq!(answers.len(), given.len(), "no answer comes twice");
        Ok(())
    }

    fn ask_all(&mut self, truth: &Facts) {
        for index in 0..self.queries.len() {
            match self.ask(index, truth) {
                Err(Refusal { kind: RefusalKind::TermDepth, .. }) if self.calls_grow => {}
                answered => answered.expect("a stratified program within limits is answered"),
            }
        }
    }
}

fn in_bank(rows: &[Row], bank: &TermBank) -> Vec<Vec<TermId>> {
    rows.iter().map(|row| row.iter().map(|term| term.in_bank(bank)).collect()).collect()
}

fn truth(built: &Built, rows: &[Vec<Row>]) -> Facts {
    let mut given: Facts = vec![BTreeSet::new(); built.program.n_predicates()];
    for ((predicate, _), rows) in built.given.iter().zip(rows) {
        given[predicate.index()] = rows.iter().cloned().collect();
    }
    oracle(&built.program, &given, &built.strata, &universe())
}

/// Returns a term bank that is deep enough for the arguments of calls: a pattern around a term of
/// the universe.
fn bank() -> Arc<TermBank> {
    Arc::new(TermBank::new(10))
}

proptest! {
    #![proptest_config(seeded(500))]

    #[test]
    fn answers_agree_with_the_oracle(
        draft in draft(),
        [first, second, third] in [rows(), rows(), rows()],
        queries in queries(),
        sampled in any::<bool>(),
    ) {
        let (built, bank) = (draft.build(), bank());
        let samples: Vec<_> =
            built.given.iter().zip(&first)
                .map(|(&(p, _), rows)| (p, in_bank(rows, &bank)))
                .collect();
        let samples = if sampled { samples.as_slice() } else { &[] };
        let limits = Limits::default();
        let mut trial =
            Trial::new(&built, built.program.clone(), &bank, samples, &queries, limits);
        trial.set(&built, 0..4, &first);
        trial.ask_all(&truth(&built, &first));
        // Answers derived from old rows are discarded.
        trial.set(&built, 0..4, &second);
        trial.ask_all(&truth(&built, &second));
        // The third relation holds the moves. Answers that depend only on the state remain.
        let moved = [&second[..2], &third[2..3], &second[3..]].concat();
        trial.set(&built, 2..3, &moved);
        trial.ask_all(&truth(&built, &moved));
        // Only the state changes. Answers that depend on the moves may depend on it, too.
        let stepped = [&first[..2], &moved[2..3], &first[3..]].concat();
        trial.set(&built, 0..2, &stepped);
        trial.set(&built, 3..4, &stepped);
        trial.ask_all(&truth(&built, &stepped));
    }

    #[test]
    fn nested_recursion_agrees_with_the_oracle(
        draft in tangle(),
        rows in rows(),
        queries in queries(),
    ) {
        let built = draft.build();
        let limits = Limits::default();
        let mut trial =
            Trial::new(&built, built.program.clone(), &bank(), &[], &queries, limits);
        trial.set(&built, 0..4, &rows);
        trial.ask_all(&truth(&built, &rows));
    }

    #[test]
    fn a_refusal_does_not_affect_later_queries(
        draft in draft(),
        rows in rows(),
        queries in queries(),
        facts in 0..12usize,
        depth in 1..5usize,
    ) {
        let built = draft.build();
        let truth = truth(&built, &rows);
        let tight = Limits { facts, depth, ..Limits::default() };
        let mut trial = Trial::new(&built, built.program.clone(), &bank(), &[], &queries, tight);
        trial.set(&built, 0..4, &rows);
        for index in 0..queries.len() {
            if let Err(refusal) = trial.ask(index, &truth) {
                let is_wrong =
                    matches!(refusal.kind, RefusalKind::Unstratified | RefusalKind::Unbound);
                prop_assert!(!is_wrong, "{refusal:?}");
            }
        }
        *trial.engine.limits_mut() = Limits::default();
        trial.ask_all(&truth);
    }
}

proptest! {
    // Fewer cases, because unbounded calls run up to the limit of steps for every relation.
    #![proptest_config(seeded(100))]

    #[test]
    fn materialising_keeps_all_answers(
        draft in draft(),
        rows in rows(),
        queries in queries(),
        n_roots in 0..4usize,
    ) {
        let (built, bank) = (draft.build(), bank());
        let mut program = built.program.clone();
        let roots: Vec<PredicateId> = (0..program.n_predicates())
            .rev()
            .map(|index| PredicateId(u32::try_from(index).expect("few relations")))
            .take(n_roots)
            .collect();
        materialise(&mut program, &bank, &roots, &MaterialiseLimits::default());
        let mut trial = Trial::new(&built, program, &bank, &[], &queries, Limits::default());
        trial.set(&built, 0..4, &rows);
        trial.ask_all(&truth(&built, &rows));
    }

    #[test]
    fn splitting_rules_keeps_all_answers(draft in draft(), rows in rows(), queries in queries()) {
        let (built, bank) = (draft.build(), bank());
        let mut program = built.program.clone();
        split(&mut program, &SplitLimits::default());
        let mut trial = Trial::new(&built, program, &bank, &[], &queries, Limits::default());
        trial.set(&built, 0..4, &rows);
        trial.ask_all(&truth(&built, &rows));
    }
}

#[test]
fn a_goal_without_its_required_arguments_binds_nothing() {
    // p(x, y) :- p(x, x) leaves y to the caller, so p(x, x) cannot find x either.
    let mut program = Program::default();
    let p = program.derived(2);
    program.rule(rule(
        atom(p, &[variable(0), variable(1)]),
        vec![holds(p, &[variable(0), variable(0)])],
        2,
        0,
    ));
    assert_eq!(program.required_arguments(), [[true, true]]);
}

/// Facts are listed although other relations have used up the budget: they cost nothing.
#[test]
fn facts_are_listed_whatever_they_come_after() {
    let mut program = Program::default();
    let (edge, far, last, root) =
        (program.derived(2), program.derived(2), program.derived(1), program.derived(1));
    for number in 0..20 {
        let pair = [constant(number), constant(number + 1)];
        program.rule(rule(atom(edge, &pair), Vec::new(), 0, 0));
    }
    let [x, y, z] = [0, 1, 2].map(variable);
    program.rule(rule(
        atom(far, &[x.clone(), z.clone()]),
        vec![holds(edge, &[x.clone(), y.clone()]), holds(edge, &[y, z.clone()])],
        3,
        1,
    ));
    program.rule(rule(atom(last, &[constant(20)]), Vec::new(), 0, 2));
    let body = vec![holds(far, &[x.clone(), z.clone()]), holds(last, &[z])];
    program.rule(rule(atom(root, &[x]), body, 3, 3));
    let limits = MaterialiseLimits { total_steps: 1, ..MaterialiseLimits::default() };
    materialise(&mut program, &bank(), &[root], &limits);
    assert_eq!(program.rows(last).map(<[_]>::len), Some(1));
}
