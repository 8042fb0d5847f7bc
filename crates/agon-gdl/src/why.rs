//! Explains why a sentence holds at a position, or why it does not.
//!
//! If it holds, the explanation is a proof with the rule of every step. If it does not, the
//! explanation is, for each rule that could derive it, the conditions that can be met and the first
//! one that cannot. It works on the rules as they were written. Whole relations are computed and
//! searched in the simplest way, because speed does not matter here.

mod attempt;
mod facts;
mod proof;

use std::sync::Arc;

use agon_datalog::TermId;
use agon_text::Span;

use crate::interpreter::{Interpreter, Move};
use crate::symbols::keyword;
use facts::Facts;

/// Explains sentences at one position.
pub struct Why {
    facts: Facts,
}

/// The explanation of a sentence.
#[derive(Debug)]
pub enum Explanation {
    /// The sentence holds. The proofs are those for the first few ways to instantiate the variables
    /// of the question.
    Holds {
        /// The proofs.
        proofs: Vec<Proof>,
        /// The number of ways in all.
        n_ways: usize,
    },
    /// The sentence does not hold.
    Fails(Failure),
}

/// A proof of a sentence.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The sentence that is proved.
    pub sentence: String,
    /// The last step of the proof.
    pub because: Because,
}

/// The reason why a sentence holds.
#[derive(Debug, Clone)]
pub enum Because {
    /// The sentence is part of the state.
    State,
    /// The sentence is one of the moves made.
    Move,
    /// A fact of the rulesheet.
    Fact(Span),
    /// A rule of the rulesheet, and why each of its conditions holds.
    Rule(Span, Vec<Support>),
    /// The sentence was proved earlier in the same proof.
    ShownAbove,
    /// The proof is deeper than shown.
    TooDeep,
}

/// The reason why a condition of a rule holds.
#[derive(Debug, Clone)]
pub enum Support {
    /// The sentence holds.
    Holds(Proof),
    /// The sentence, which may have variables left, holds for no value of them.
    DoesNotHold(String),
    /// The two terms differ.
    Different(String, String),
}

/// The reason why a sentence does not hold.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The sentence that does not hold.
    pub sentence: String,
    /// The rules that could derive it, each with the condition that fails.
    pub attempts: Vec<Attempt>,
    /// If there is no such rule: a remark on what there is instead.
    pub remark: Option<String>,
}

/// A rule that could derive a sentence but does not.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The place of the rule.
    pub rule: Span,
    /// Conditions that can be met together, up to the first that cannot.
    pub met: Vec<String>,
    /// The first condition that cannot be met.
    pub unmet: String,
    /// The place of that condition.
    pub unmet_span: Span,
    /// The reason why it cannot be met.
    pub because: Unmet,
}

/// The reason why a condition cannot be met.
#[derive(Debug, Clone)]
pub enum Unmet {
    /// The sentence does not hold. The failure explains this, unless that would go too deep.
    Fails(Option<Box<Failure>>),
    /// The sentence holds but must not.
    Holds(Box<Proof>),
    /// The terms are equal.
    Same,
}

/// The reason why a question cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyError {
    /// The text is not one sentence.
    NotASentence(String),
    /// The question is about moves (`does`, `next`, `sees` or a relation that depends on them), but
    /// none were given.
    NeedsMoves(String),
    /// The evaluation exceeds the limits.
    Refused(String),
}

impl std::fmt::Display for WhyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WhyError::NotASentence(text) => write!(
                f,
                "`{text}` is not one sentence without `not`, `or`, `and` and `distinct`, \
                 such as (legal robot noop)"
            ),
            WhyError::NeedsMoves(relation) => {
                write!(f, "`{relation}` depends on the moves made, but no moves were given")
            }
            WhyError::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for WhyError {}

/// Maximum number of proofs for a question with variables that has many answers.
const MAX_PROOFS: usize = 3;

impl Why {
    /// Prepares explanations at a position. `joint` is the joint move made there, for questions
    /// about its results.
    ///
    /// # Errors
    /// If the rules cannot be evaluated.
    pub fn new(position: &Interpreter, joint: Option<&[Move]>) -> Result<Why, WhyError> {
        Ok(Why { facts: Facts::new(Arc::clone(position.game()), position, joint)? })
    }

    /// Explains a sentence in KIF, such as `(legal xplayer (mark 1 1))`. A variable asks for all
    /// its values.
    ///
    /// # Errors
    /// If the text is not a sentence, depends on moves that were not given, or exceeds the limits.
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
