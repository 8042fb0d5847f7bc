//! Queries to the rules: the values of the variables for which a conjunction holds at a state.

use std::sync::Arc;

use agon_datalog::{
    Engine, Limits, Plans, PredicateId, QueryForm, QueryId, Refusal, Symbol, TermId, materialise,
};
use agon_game::Fault;

use super::compile::compile;
use super::game::Game;
use super::position::Move;
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;

/// A conjunction of conditions and the variables whose values are wanted. Two answers differ in a
/// wanted variable.
#[derive(Clone, Debug)]
pub struct Query {
    /// The conditions. Variables are `0..n_variables`.
    pub body: Vec<Condition>,
    /// The variables whose values are wanted, in the order of the columns of the answers.
    pub wanted: Vec<u32>,
    /// Number of variables.
    pub n_variables: u32,
}

/// Queries planned together with the rules of their game. Shared by all [`QueryEngine`]s.
pub struct QueryPlan {
    game: Arc<Game>,
    plans: Arc<Plans>,
    state: PredicateId,
    moves: PredicateId,
    /// One for each query.
    questions: Vec<QueryId>,
    n_wanted: Vec<usize>,
}

/// Evaluates the queries of an [`QueryPlan`] at one state after another. Answers are kept until the
/// state changes.
pub struct QueryEngine {
    plan: Arc<QueryPlan>,
    engine: Engine,
}

/// The symbol of the first query's relation. The symbols of a rulesheet are far fewer.
const FIRST_QUERY_SYMBOL: u32 = 1 << 30;

impl QueryPlan {
    /// Plans queries.
    ///
    /// # Errors
    /// If the rules cannot be evaluated for a query. The fault names the rule.
    pub fn new(game: &Arc<Game>, queries: &[Query]) -> Result<QueryPlan, Fault> {
        let mut rules = game.rules().rules().to_vec();
        let heads: Vec<(Symbol, usize)> = (FIRST_QUERY_SYMBOL..)
            .zip(queries)
            .map(|(number, query)| (Symbol::new(number), query.wanted.len()))
            .collect();
        for (&(relation, _), query) in heads.iter().zip(queries) {
            let span = query.body.first().map(Condition::span).unwrap_or_default();
            let arguments = query.wanted.iter().map(|&v| RuleTerm::Variable(v)).collect();
            rules.push(Rule {
                head: RuleAtom { relation, arguments, span },
                body: query.body.clone(),
                n_variables: query.n_variables,
                clause: 0,
            });
        }
        let mut compiled = compile(&rules);
        let state = compiled.predicate(keyword::TRUE, 1);
        let moves = compiled.predicate(keyword::DOES, 2);
        let entries: Vec<QueryForm> = heads
            .iter()
            .map(|&(relation, arity)| QueryForm {
                predicate: compiled.predicate(relation, arity),
                known: vec![false; arity],
            })
            .collect();
        let roots: Vec<PredicateId> = entries.iter().map(|entry| entry.predicate).collect();
        materialise(&mut compiled.program, &game.bank, &roots, &game.materialise_limits());
        let sample = game.initial.fluents().iter().map(|&fluent| vec![fluent]).collect();
        let planned =
            Plans::new(compiled.program, Arc::clone(&game.bank), &[(state, sample)], &entries);
        let (plans, questions) = planned.map_err(|refusal| game.fault(&Refusal::from(refusal)))?;
        Ok(QueryPlan {
            game: Arc::clone(game),
            plans: Arc::new(plans),
            state,
            moves,
            questions,
            n_wanted: queries.iter().map(|query| query.wanted.len()).collect(),
        })
    }
}

impl QueryEngine {
    /// Creates an evaluator at the initial state. `limits` bound the work per state.
    pub fn new(plan: &Arc<QueryPlan>, limits: Limits) -> QueryEngine {
        let engine = Engine::new(Arc::clone(&plan.plans), limits);
        let mut query_engine = QueryEngine { plan: Arc::clone(plan), engine };
        let initial = Arc::clone(&query_engine.plan.game);
        query_engine.go_to(initial.initial.fluents());
        query_engine
    }

    /// Goes to the state in which exactly these fluents hold.
    pub fn go_to(&mut self, fluents: &[TermId]) {
        self.engine.set_rows(self.plan.state, fluents.iter().map(std::slice::from_ref));
    }

    /// Sets the joint move that conditions on `does` ask for. [`QueryEngine::go_to`] keeps it.
    pub fn set_moves(&mut self, joint: &[Move]) {
        let roles = self.plan.game.role_terms().iter();
        let rows: Vec<[TermId; 2]> =
            roles.zip(joint).map(|(&role, made)| [role, made.term()]).collect();
        self.engine.set_rows(self.plan.moves, rows.iter().map(<[_; 2]>::as_slice));
    }

    /// Returns the number of evaluation steps so far.
    pub fn n_steps(&self) -> u64 {
        self.engine.n_steps()
    }

    /// Returns the number of answers to a query at the current state.
    pub fn count(&mut self, query: usize) -> Result<usize, Fault> {
        let question = self.plan.questions[query];
        let answers = self.engine.ask(question, &[]);
        answers.map(|answers| answers.len()).map_err(|refusal| self.plan.game.fault(&refusal))
    }

    /// Returns whether a query has an answer at the current state.
    pub fn holds(&mut self, query: usize) -> Result<bool, Fault> {
        let question = self.plan.questions[query];
        self.engine.holds(question, &[]).map_err(|refusal| self.plan.game.fault(&refusal))
    }

    /// Returns the answers to a query at the current state, in the order in which the game lists
    /// terms.
    pub fn rows(&mut self, query: usize) -> Result<Vec<Vec<TermId>>, Fault> {
        let (question, n_wanted) = (self.plan.questions[query], self.plan.n_wanted[query]);
        let game = &self.plan.game;
        let answers = self.engine.ask(question, &[]).map_err(|refusal| game.fault(&refusal))?;
        let row = |index| (0..n_wanted).map(|column| answers.get(index, column)).collect();
        let mut rows: Vec<Vec<TermId>> = (0..answers.len()).map(row).collect();
        rows.sort_by(|a, b| {
            let columns = a.iter().zip(b).map(|(&x, &y)| game.compare(x, y));
            columns.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
        Ok(rows)
    }
}
