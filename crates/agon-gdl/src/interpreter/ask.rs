//! Questions of one's own to the rules: for which values of its variables does a conjunction hold at a state?

use std::sync::Arc;

use agon_datalog::{
    Engine, Entry, Limits, Plans, PredicateId, Question, Refusal, Symbol, TermId, materialise,
};
use agon_game::Fault;

use super::compile::compile;
use super::game::Game;
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;

/// A conjunction with some of its variables wanted. Two answers differ in a wanted variable.
#[derive(Clone, Debug)]
pub struct Query {
    /// What is to hold together. Variables are `0..n_variables`.
    pub body: Vec<Condition>,
    /// The variables whose values are wanted, in the order of the columns of the answers.
    pub wanted: Vec<u32>,
    /// How many variables there are.
    pub n_variables: u32,
}

/// Queries planned together with the rules of their game. Shared by all who ask them.
pub struct Inquiry {
    game: Arc<Game>,
    plans: Arc<Plans>,
    state: PredicateId,
    /// By query.
    questions: Vec<Question>,
    n_wanted: Vec<usize>,
}

/// Asks the queries of an [`Inquiry`] at one state after another. Answers are kept until the state changes.
pub struct Asker {
    inquiry: Arc<Inquiry>,
    engine: Engine,
}

/// No relation of a rulesheet has this name: the symbols of a sheet are far fewer.
const NAMELESS: u32 = 1 << 30;

impl Inquiry {
    /// Plans queries. Refused where the rules cannot be asked that way, with the rule to blame.
    pub fn new(game: &Arc<Game>, queries: &[Query]) -> Result<Inquiry, Fault> {
        let mut rules = game.rules().rules().to_vec();
        let heads: Vec<(Symbol, usize)> = (NAMELESS..)
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
        let entries: Vec<Entry> = heads
            .iter()
            .map(|&(relation, arity)| Entry {
                predicate: compiled.predicate(relation, arity),
                known: vec![false; arity],
            })
            .collect();
        let roots: Vec<PredicateId> = entries.iter().map(|entry| entry.predicate).collect();
        materialise(&mut compiled.program, &game.bank, &roots);
        let sample = game.initial.fluents().iter().map(|&fluent| vec![fluent]).collect();
        let planned =
            Plans::new(compiled.program, Arc::clone(&game.bank), &[(state, sample)], &entries);
        let (plans, questions) = planned.map_err(|refusal| game.fault(&Refusal::from(refusal)))?;
        Ok(Inquiry {
            game: Arc::clone(game),
            plans: Arc::new(plans),
            state,
            questions,
            n_wanted: queries.iter().map(|query| query.wanted.len()).collect(),
        })
    }
}

impl Asker {
    /// Somebody to ask, at the initial state, with so much work for a state.
    pub fn new(inquiry: &Arc<Inquiry>, limits: Limits) -> Asker {
        let engine = Engine::new(Arc::clone(&inquiry.plans), limits);
        let mut asker = Asker { inquiry: Arc::clone(inquiry), engine };
        let initial = Arc::clone(&asker.inquiry.game);
        asker.go_to(initial.initial.fluents());
        asker
    }

    /// Goes to the state where just these fluents hold.
    pub fn go_to(&mut self, fluents: &[TermId]) {
        self.engine.set_rows(self.inquiry.state, fluents.iter().map(std::slice::from_ref));
    }

    /// How many answers a query has here.
    pub fn count(&mut self, query: usize) -> Result<usize, Fault> {
        let question = self.inquiry.questions[query];
        let answers = self.engine.ask(question, &[]);
        answers.map(|answers| answers.len()).map_err(|refusal| self.inquiry.game.fault(&refusal))
    }

    /// Whether a query has an answer here.
    pub fn holds(&mut self, query: usize) -> Result<bool, Fault> {
        let question = self.inquiry.questions[query];
        self.engine.holds(question, &[]).map_err(|refusal| self.inquiry.game.fault(&refusal))
    }

    /// The answers to a query here, in the order in which the game lists terms.
    pub fn rows(&mut self, query: usize) -> Result<Vec<Vec<TermId>>, Fault> {
        let (question, n_wanted) = (self.inquiry.questions[query], self.inquiry.n_wanted[query]);
        let game = &self.inquiry.game;
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
