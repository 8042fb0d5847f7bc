//! Why a sentence holds at a position, or why it does not.
//!
//! If it holds: a proof, with the rule for every step. If it does not: for each rule that could have given it, how
//! far its conditions can be met and the first that cannot. Works from the rules as they were written; whole
//! relations are worked out and searched in the plainest way, because here nothing is in a hurry.

mod attempt;
mod facts;
mod proof;

use std::sync::Arc;

use agon_datalog::TermId;
use agon_text::Span;

use crate::interpreter::{Interpreter, Move};
use crate::symbols::keyword;
use facts::Facts;

/// Answers questions about one position.
pub struct Why {
    facts: Facts,
}

/// The answer.
#[derive(Debug)]
pub enum Explanation {
    /// It holds: one proof for each way the variables of the question can be filled in, the first few of them.
    Holds {
        /// The proofs.
        proofs: Vec<Proof>,
        /// How many ways there are in all.
        n_ways: usize,
    },
    /// It does not hold.
    Fails(Failure),
}

/// Why a sentence holds.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The sentence.
    pub sentence: String,
    /// What gives it.
    pub because: Because,
}

/// What gives a sentence.
#[derive(Debug, Clone)]
pub enum Because {
    /// It is part of the state.
    State,
    /// It is one of the moves made.
    Move,
    /// A fact of the rulesheet.
    Fact(Span),
    /// A rule of the rulesheet, and why each of its conditions holds.
    Rule(Span, Vec<Support>),
    /// It was shown already, higher up or to the left.
    ShownAbove,
    /// The proof is deeper than shown.
    TooDeep,
}

/// Why a condition of a rule holds.
#[derive(Debug, Clone)]
pub enum Support {
    /// The sentence holds.
    Holds(Proof),
    /// The sentence, which may have variables left, holds for no value of them.
    DoesNotHold(String),
    /// The two terms differ.
    Different(String, String),
}

/// Why a sentence does not hold.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The sentence.
    pub sentence: String,
    /// The rules that could have given it, each with the condition that fails.
    pub attempts: Vec<Attempt>,
    /// Where there is no such rule: what there is instead.
    pub remark: Option<String>,
}

/// A rule that could have given a sentence but did not.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The rule.
    pub rule: Span,
    /// Conditions that can be met together, as far as it goes.
    pub met: Vec<String>,
    /// The first condition that cannot be met then.
    pub unmet: String,
    /// Where it stands.
    pub unmet_span: Span,
    /// Why it cannot be met.
    pub because: Unmet,
}

/// Why a condition cannot be met.
#[derive(Debug, Clone)]
pub enum Unmet {
    /// The sentence does not hold; why not, unless that would go too deep.
    Fails(Option<Box<Failure>>),
    /// The sentence must not hold, and does.
    Holds(Box<Proof>),
    /// The terms are the same.
    Same,
}

/// Why a question could not be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyError {
    /// The text is not one sentence.
    NotASentence(String),
    /// The question is about moves (`does`, `next`, `sees` and what depends on them), and none were given.
    NeedsMoves(String),
    /// Working it out took more than the budget allows.
    Refused(String),
}

impl std::fmt::Display for WhyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WhyError::NotASentence(text) => write!(
                f,
                "`{text}` is not one sentence such as (legal robot noop), without `not`, `or`, `and` or `distinct`"
            ),
            WhyError::NeedsMoves(relation) => {
                write!(f, "`{relation}` depends on the moves made, and no moves were given")
            }
            WhyError::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for WhyError {}

/// How many proofs are given where a question with variables has many answers.
const MAX_PROOFS: usize = 3;

impl Why {
    /// For a position, and the joint move made there if the question is about what follows from it.
    pub fn new(position: &Interpreter, joint: Option<&[Move]>) -> Result<Why, WhyError> {
        Ok(Why { facts: Facts::new(Arc::clone(position.game()), position, joint)? })
    }

    /// Explains a sentence in KIF, such as `(legal xplayer (mark 1 1))`. Variables ask for all ways to fill them.
    pub fn explain(&mut self, sentence: &str) -> Result<Explanation, WhyError> {
        let question = self.facts.parse(sentence)?;
        if [keyword::NOT, keyword::OR, keyword::AND, keyword::DISTINCT]
            .contains(&question.atom.relation)
        {
            return Err(WhyError::NotASentence(sentence.trim().to_owned()));
        }
        let mut ways: Vec<Vec<TermId>> = Vec::new();
        self.facts.each_match(
            &question.atom,
            &mut vec![None; question.n_variables],
            &mut |row, _| {
                ways.push(row.to_vec());
                true
            },
        )?;
        if ways.is_empty() {
            let failure = self.fail(&question, 0)?;
            return Ok(Explanation::Fails(failure));
        }
        let n_ways = ways.len();
        let mut proofs = Vec::new();
        for row in ways.into_iter().take(MAX_PROOFS) {
            proofs.push(self.prove(question.atom.relation, &row)?);
        }
        Ok(Explanation::Holds { proofs, n_ways })
    }
}
