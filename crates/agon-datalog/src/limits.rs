//! What evaluation may cost, and what is said when it costs more.

use std::fmt;
use std::time::Instant;

use crate::plan::PlanRefusal;

/// What evaluation may cost. Past a limit it stops with a [`Refusal`]; it never hangs or runs out of memory.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Facts derived for one state.
    pub facts: usize,
    /// Calls within calls.
    pub depth: usize,
    /// Nesting of terms.
    pub term_depth: u32,
    /// Bytes of tables and terms.
    pub bytes: usize,
    /// Steps of evaluation for one state: a measure of time that is the same on every machine.
    pub steps: u64,
    /// A moment after which to stop.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Limits {
        // Ten times what the hungriest public rulesheet needs, or more.
        Limits {
            facts: 20_000_000,
            depth: 100_000,
            term_depth: 400,
            bytes: 4 << 30,
            steps: 20_000_000_000,
            deadline: None,
        }
    }
}

/// Which limit was reached, or what else went wrong.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RefusalKind {
    /// Too many facts.
    Facts,
    /// Calls nest too deep.
    Depth,
    /// Terms nest too deep.
    TermDepth,
    /// Too much memory.
    Bytes,
    /// Too many steps.
    Steps,
    /// Too late.
    Deadline,
    /// An atom depends on its own negation.
    Unstratified,
    /// A variable is bound by nothing.
    Unbound,
}

/// Evaluation was given up. The rule named is the one that was being applied: as a rule the one that grew.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Why.
    pub kind: RefusalKind,
    /// The origin of the rule, if one can be named.
    pub origin: Option<u32>,
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RefusalKind::Facts => "more facts follow from the rules than the budget allows",
            RefusalKind::Depth => "the rules recurse deeper than the budget allows",
            RefusalKind::TermDepth => "the rules build terms nested deeper than the budget allows",
            RefusalKind::Bytes => "evaluating the rules takes more memory than the budget allows",
            RefusalKind::Steps => "evaluating the rules takes more steps than the budget allows",
            RefusalKind::Deadline => "evaluating the rules took longer than the budget allows",
            RefusalKind::Unstratified => "a sentence depends on its own negation",
            RefusalKind::Unbound => "a variable is bound by no condition",
        })
    }
}

impl From<PlanRefusal> for Refusal {
    fn from(refusal: PlanRefusal) -> Refusal {
        match refusal {
            PlanRefusal::Unbound { origin } => {
                Refusal { kind: RefusalKind::Unbound, origin: Some(origin) }
            }
            PlanRefusal::Term { origin } => {
                Refusal { kind: RefusalKind::TermDepth, origin: Some(origin) }
            }
            PlanRefusal::TooManyProcedures => Refusal { kind: RefusalKind::Bytes, origin: None },
        }
    }
}
