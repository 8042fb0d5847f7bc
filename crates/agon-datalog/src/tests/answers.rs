//! Every answer of the engine is the judge's.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::judge::{Facts, Ground, Row, judge};
use super::programs::{Built, draft, rows, tangle, universe};
use super::{atom, holds, rule, seeded, variable};
use crate::{
    Engine, Entry, Limits, Plans, PredicateId, Program, Question, Refusal, RefusalKind, TermBank,
    TermId, materialise, split,
};

/// A question to be asked: of which relation, which arguments are known, with which values.
#[derive(Clone, Debug)]
struct Asking {
    relation: prop::sample::Index,
    known: Vec<bool>,
    values: Vec<Ground>,
}

fn askings() -> impl Strategy<Value = Vec<Asking>> {
    let values = prop::collection::vec(prop::sample::select(universe()), 3);
    let asking = (any::<prop::sample::Index>(), prop::collection::vec(any::<bool>(), 3), values)
        .prop_map(|(relation, known, values)| Asking { relation, known, values });
    prop::collection::vec(asking, 1..20)
}

/// An engine and the questions it can be asked.
struct Trial {
    engine: Engine,
    questions: Vec<(PredicateId, Vec<bool>, Vec<Ground>, Question)>,
    calls_grow: bool,
}

impl Trial {
    fn new(
        built: &Built,
        program: Program,
        bank: &Arc<TermBank>,
        samples: &[(PredicateId, Vec<Vec<TermId>>)],
        askings: &[Asking],
        limits: Limits,
    ) -> Trial {
        let demands = program.demands();
        let asked: Vec<(PredicateId, Vec<bool>, Vec<Ground>)> = askings
            .iter()
            .map(|asking| {
                let index = asking.relation.index(built.program.n_predicates());
                let known: Vec<bool> =
                    demands[index].iter().zip(&asking.known).map(|(&d, &k)| d || k).collect();
                let arity = known.len();
                let predicate = PredicateId(u32::try_from(index).expect("few relations"));
                (predicate, known, asking.values[..arity].to_vec())
            })
            .collect();
        let entries: Vec<Entry> = asked
            .iter()
            .map(|(predicate, known, _)| Entry { predicate: *predicate, known: known.clone() })
            .collect();
        let (plans, questions) = Plans::new(program, Arc::clone(bank), samples, &entries)
            .expect("drafts bind their variables");
        let questions =
            asked.into_iter().zip(questions).map(|((p, known, values), q)| (p, known, values, q));
        Trial {
            engine: Engine::new(Arc::new(plans), limits),
            questions: questions.collect(),
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

    /// Asks one question and compares. A refusal is handed back.
    fn ask(&mut self, index: usize, truth: &Facts) -> Result<(), Refusal> {
        let (predicate, known, values, question) = &self.questions[index];
        let bank = Arc::clone(self.engine.bank());
        let key: Vec<TermId> = values
            .iter()
            .zip(known)
            .filter(|&(_, &is_known)| is_known)
            .map(|(v, _)| v.in_bank(&bank))
            .collect();
        let answers = self.engine.ask(*question, &key)?;
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
        assert_eq!(given, right, "{predicate:?} asked with {known:?} {values:?}");
        assert_eq!(answers.len(), given.len(), "no answer comes twice");
        Ok(())
    }

    fn ask_all(&mut self, truth: &Facts) {
        for index in 0..self.questions.len() {
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
    judge(&built.program, &given, &built.strata, &universe())
}

/// Deep enough for the terms that calls are made with: a pattern around a term of the universe.
fn bank() -> Arc<TermBank> {
    Arc::new(TermBank::new(10))
}

proptest! {
    #![proptest_config(seeded(500))]

    #[test]
    fn answers_are_the_judges(
        draft in draft(),
        [first, second, third] in [rows(), rows(), rows()],
        askings in askings(),
        sampled in any::<bool>(),
    ) {
        let (built, bank) = (draft.build(), bank());
        let samples: Vec<_> =
            built.given.iter().zip(&first).map(|(&(p, _), rows)| (p, in_bank(rows, &bank))).collect();
        let samples = if sampled { samples.as_slice() } else { &[] };
        let mut trial = Trial::new(&built, built.program.clone(), &bank, samples, &askings, Limits::default());
        trial.set(&built, 0..4, &first);
        trial.ask_all(&truth(&built, &first));
        // What was derived from old rows is forgotten.
        trial.set(&built, 0..4, &second);
        trial.ask_all(&truth(&built, &second));
        // The third relation holds the moves: what depends on the state alone stays.
        let moved = [&second[..2], &third[2..3], &second[3..]].concat();
        trial.set(&built, 2..3, &moved);
        trial.ask_all(&truth(&built, &moved));
        // A new state alone: what depends on the moves may depend on it too.
        let stepped = [&first[..2], &moved[2..3], &first[3..]].concat();
        trial.set(&built, 0..2, &stepped);
        trial.set(&built, 3..4, &stepped);
        trial.ask_all(&truth(&built, &stepped));
    }

    #[test]
    fn circles_within_circles(draft in tangle(), rows in rows(), askings in askings()) {
        let built = draft.build();
        let mut trial = Trial::new(&built, built.program.clone(), &bank(), &[], &askings, Limits::default());
        trial.set(&built, 0..4, &rows);
        trial.ask_all(&truth(&built, &rows));
    }

    #[test]
    fn a_refusal_leaves_no_trace(
        draft in draft(),
        rows in rows(),
        askings in askings(),
        facts in 0..12usize,
        depth in 1..5usize,
    ) {
        let (built, truth) = { let built = draft.build(); let truth = truth(&built, &rows); (built, truth) };
        let tight = Limits { facts, depth, ..Limits::default() };
        let mut trial = Trial::new(&built, built.program.clone(), &bank(), &[], &askings, tight);
        trial.set(&built, 0..4, &rows);
        for index in 0..askings.len() {
            if let Err(refusal) = trial.ask(index, &truth) {
                prop_assert!(!matches!(refusal.kind, RefusalKind::Unstratified | RefusalKind::Unbound), "{refusal:?}");
            }
        }
        *trial.engine.limits_mut() = Limits::default();
        trial.ask_all(&truth);
    }
}

proptest! {
    // Fewer, because calls that grow without end are tried up to the limit of steps for every relation.
    #![proptest_config(seeded(100))]

    #[test]
    fn materialising_changes_no_answer(draft in draft(), rows in rows(), askings in askings(), n_roots in 0..4usize) {
        let (built, bank) = (draft.build(), bank());
        let mut program = built.program.clone();
        let roots: Vec<PredicateId> = (0..program.n_predicates())
            .rev()
            .map(|index| PredicateId(u32::try_from(index).expect("few relations")))
            .take(n_roots)
            .collect();
        materialise(&mut program, &bank, &roots);
        let mut trial = Trial::new(&built, program, &bank, &[], &askings, Limits::default());
        trial.set(&built, 0..4, &rows);
        trial.ask_all(&truth(&built, &rows));
    }

    #[test]
    fn cutting_up_rules_changes_no_answer(draft in draft(), rows in rows(), askings in askings()) {
        let (built, bank) = (draft.build(), bank());
        let mut program = built.program.clone();
        split(&mut program);
        let mut trial = Trial::new(&built, program, &bank, &[], &askings, Limits::default());
        trial.set(&built, 0..4, &rows);
        trial.ask_all(&truth(&built, &rows));
    }
}

#[test]
fn a_goal_whose_demands_are_not_met_binds_nothing() {
    // p(x, y) :- p(x, x) leaves y to the caller, so p(x, x) cannot find x either.
    let mut program = Program::default();
    let p = program.derived(2);
    program.rule(rule(
        atom(p, &[variable(0), variable(1)]),
        vec![holds(p, &[variable(0), variable(0)])],
        2,
        0,
    ));
    assert_eq!(program.demands(), [[true, true]]);
}
