//! Plans the questions that a game asks of its rules.

use std::sync::Arc;

use agon_datalog::{
    Engine, Limits, MaterialiseLimits, Plans, PredicateId, Program, QueryForm, QueryId, Refusal,
    TermBank, TermId, materialise,
};

use super::compile::compile;
use super::position::State;
use crate::check::CheckedRules;
use crate::symbols::keyword;

/// The questions that positions ask of the rules.
pub(super) struct Questions {
    pub(super) terminal: QueryId,
    pub(super) legal: QueryId,
    /// Whether a given move of a given role is legal.
    pub(super) is_legal: QueryId,
    pub(super) goal: QueryId,
    pub(super) next: QueryId,
    pub(super) sees: QueryId,
    pub(super) base: QueryId,
    pub(super) input: QueryId,
}

/// The compiled rules of a game. They are planned several times, with better and better sample
/// states.
pub(super) struct Planner {
    program: Program,
    bank: Arc<TermBank>,
    pub(super) state_relation: PredicateId,
    pub(super) move_relation: PredicateId,
    init: QueryForm,
    /// In the order of the fields of [`Questions`].
    entries: [QueryForm; 8],
}

impl Planner {
    /// Compiles the rules and computes the static relations that play needs.
    pub(super) fn new(rules: &CheckedRules, bank: &Arc<TermBank>, limits: &Limits) -> Planner {
        let mut compiled = compile(rules.rules());
        let state_relation = compiled.predicate(keyword::TRUE, 1);
        let move_relation = compiled.predicate(keyword::DOES, 2);
        let mut entry = |relation, arity| QueryForm {
            predicate: compiled.predicate(relation, arity),
            known: vec![false; arity],
        };
        let init = entry(keyword::INIT, 1);
        let entries = [
            entry(keyword::TERMINAL, 0),
            entry(keyword::LEGAL, 2),
            QueryForm { known: vec![true, true], ..entry(keyword::LEGAL, 2) },
            entry(keyword::GOAL, 2),
            entry(keyword::NEXT, 1),
            entry(keyword::SEES, 2),
            entry(keyword::BASE, 1),
            entry(keyword::INPUT, 2),
        ];
        // Only checks evaluate `base` and `input`, so their static relations are not computed in
        // advance.
        let roots: Vec<PredicateId> = entries[..6].iter().map(|entry| entry.predicate).collect();
        let materialise_limits = MaterialiseLimits {
            deadline: limits.deadline,
            stop: limits.stop.clone(),
            ..MaterialiseLimits::default()
        };
        materialise(&mut compiled.program, bank, &roots, &materialise_limits);
        Planner {
            program: compiled.program,
            bank: Arc::clone(bank),
            state_relation,
            move_relation,
            init,
            entries,
        }
    }

    /// Computes the initial state.
    pub(super) fn initial_state(&self, limits: &Limits) -> Result<State, Refusal> {
        let (plans, questions) = Plans::new(
            self.program.clone(),
            Arc::clone(&self.bank),
            &[],
            std::slice::from_ref(&self.init),
        )?;
        let mut engine = Engine::new(Arc::new(plans), limits.clone());
        let answers = engine.ask(questions[0], &[])?;
        let fluents: Vec<TermId> = (0..answers.len()).map(|i| answers.get(i, 0)).collect();
        Ok(State::new(fluents, &self.bank))
    }

    /// Plans all questions for states that look like `sample`.
    pub(super) fn plan(&self, sample: &State) -> Result<(Arc<Plans>, Questions), Refusal> {
        let rows = sample.fluents().iter().map(|&fluent| vec![fluent]).collect();
        let samples = [(self.state_relation, rows)];
        let (plans, questions) =
            Plans::new(self.program.clone(), Arc::clone(&self.bank), &samples, &self.entries)?;
        let [terminal, legal, is_legal, goal, next, sees, base, input] = questions[..] else {
            unreachable!("there is one question per entry")
        };
        let questions = Questions { terminal, legal, is_legal, goal, next, sees, base, input };
        Ok((Arc::new(plans), questions))
    }
}
