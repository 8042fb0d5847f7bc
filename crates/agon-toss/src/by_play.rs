//! Checks a game by random play, which finds faults that do not show in the text.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use agon_game::{Fault, Position as _, Rng};
use agon_text::{Diagnostic, Diagnostics, Span};
use rand::SeedableRng as _;

use crate::interpreter::Game;

/// The random plays to make.
#[derive(Clone, Debug)]
pub struct PlayPlan {
    /// The number of plays.
    pub plays: u64,
    /// The seed. The same seed gives the same plays.
    pub seed: u64,
    /// Maximum number of steps. A longer play is reported as not ending.
    pub max_steps: usize,
    /// Whether this is a quick test, in which a longer play is not reported.
    pub is_quick: bool,
    /// The time after which no play begins.
    pub deadline: Option<Instant>,
}

impl Default for PlayPlan {
    fn default() -> PlayPlan {
        PlayPlan { plays: 2, seed: 1, max_steps: 1000, is_quick: false, deadline: None }
    }
}

/// Plays at random and reports each fault once, and plays that do not end. Calls `after_each` after
/// each play.
pub fn check_by_play(
    game: &Arc<Game>,
    plan: &PlayPlan,
    after_each: &mut dyn FnMut(),
) -> Diagnostics {
    let mut findings = Diagnostics::default();
    let mut seen: BTreeSet<Span> = BTreeSet::new();
    let mut n_endless = 0;
    let start = game.start();
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(plan.seed);
    for _ in 0..plan.plays {
        if plan.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            break;
        }
        position.go_to(start.state());
        position.play_out(&mut rng, plan.max_steps);
        match (position.fault(), position.fault_span()) {
            (Some(Fault::Refused(why)), Some(span)) if seen.insert(span) => {
                findings.push(
                    Diagnostic::error(
                        "toss-play-refused",
                        span,
                        format!("a random play failed: {why}"),
                    )
                    .hint("limit the rule by a precondition, or change the rule"),
                );
            }
            _ if !position.is_terminal() => n_endless += 1,
            _ => {}
        }
        after_each();
    }
    if n_endless > 0 && !plan.is_quick {
        let arena = game.arena();
        let span = arena.location(arena.start_location()).span;
        let what = format!(
            "{n_endless} of {} random plays did not end within {} steps",
            plan.plays, plan.max_steps
        );
        findings.push(
            Diagnostic::warning("toss-play-endless", span, what)
                .hint("play ends where no rule can be applied; a move counter guarantees that"),
        );
    }
    findings.sort();
    findings
}
