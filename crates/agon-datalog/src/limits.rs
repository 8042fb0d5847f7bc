//! Limits of evaluation, and the refusals when they are exceeded.

use std::fmt;
use std::time::Instant;

use crate::plan::PlanRefusal;

/// Limits of evaluation. An evaluation that exceeds a limit stops with a [`Refusal`]. It never
/// hangs or exhausts the memory.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum number of facts derived for one state.
    pub facts: usize,
    /// Maximum nesting depth of calls.
    pub depth: usize,
    /// Maximum nesting depth of terms.
    pub term_depth: u32,
    /// Maximum number of bytes for tables and terms.
    pub bytes: usize,
    /// Maximum number of evaluation steps for one state, a machine-independent measure of time.
    pub steps: u64,
    /// Time to stop at.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Limits {
        // At least ten times what the most demanding public rulesheet needs.
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

/// The exceeded limit or other reason of a refusal.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RefusalKind {
    /// Too many facts.
    Facts,
    /// Calls are nested too deeply.
    Depth,
    /// Terms are nested too deeply.
    TermDepth,
    /// Too much memory.
    Bytes,
    /// Too many steps.
    Steps,
    /// The deadline has passed.
    Deadline,
    /// An atom depends on its own negation.
    Unstratified,
    /// A variable is not bound by any condition.
    Unbound,
}

/// An abandoned evaluation. It names the rule that was active, which is usually the one that grew.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The reason.
    pub kind: RefusalKind,
    /// The origin of the rule, if it is known.
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Refusal {}

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
