//! Limits of evaluation, and the refusals when they are exceeded.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::plan::PlanRefusal;

/// Lets another thread cancel work: a flag that all clones share. A flag that was never asked for
/// by [`StopFlag::new`] is never set.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Option<Arc<AtomicBool>>);

impl StopFlag {
    /// The flag of work that nobody cancels.
    pub const NEVER: StopFlag = StopFlag(None);

    /// Returns a flag that is set when `flag` is.
    pub fn new(flag: Arc<AtomicBool>) -> StopFlag {
        StopFlag(Some(flag))
    }

    /// Returns whether the work is cancelled.
    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns this flag if there is one, and `other` if not.
    #[must_use]
    pub fn or(&self, other: &StopFlag) -> StopFlag {
        if self.0.is_some() { self.clone() } else { other.clone() }
    }

    /// Returns the flag itself, if there is one.
    pub fn flag(&self) -> Option<&AtomicBool> {
        self.0.as_deref()
    }

    /// Returns the reason why work must end now, if there is one.
    pub(crate) fn reason(&self, deadline: Option<Instant>) -> Option<RefusalKind> {
        if self.is_set() {
            return Some(RefusalKind::Cancelled);
        }
        deadline.is_some_and(|deadline| Instant::now() > deadline).then_some(RefusalKind::Deadline)
    }
}

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
    /// Cancels the evaluation when it is set.
    pub stop: StopFlag,
}

impl Default for Limits {
    fn default() -> Limits {
        // At least ten times what the most demanding public rulesheet needs. So many steps take
        // about a minute.
        Limits {
            facts: 20_000_000,
            depth: 100_000,
            term_depth: 400,
            bytes: 4 << 30,
            steps: 2_000_000_000,
            deadline: None,
            stop: StopFlag::NEVER,
        }
    }
}

impl Limits {
    /// Returns the reason why evaluation would end at once, if the deadline has passed or the
    /// evaluation is cancelled.
    pub fn refusal(&self) -> Option<RefusalKind> {
        self.stop.reason(self.deadline)
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
    /// The evaluation was cancelled.
    Cancelled,
    /// A sentence or term has too many arguments.
    Width,
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
            RefusalKind::Cancelled => "evaluating the rules was cancelled",
            RefusalKind::Width => "a sentence or term has more than 10000 arguments",
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
            PlanRefusal::Width { origin } => {
                Refusal { kind: RefusalKind::Width, origin: Some(origin) }
            }
            PlanRefusal::TooManyProcedures => Refusal { kind: RefusalKind::Bytes, origin: None },
        }
    }
}
