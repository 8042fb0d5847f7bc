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

/// Returns what to do about a fault at a place in the rules.
fn hint_for(game: &Game, span: Span) -> &'static str {
    let arena = game.arena();
    let edges = arena.locations().iter().flat_map(|location| location.edges.iter().flatten());
    if arena.locations().iter().any(|location| location.span == span) {
        "give the payoff a value in every state in which play may end, as in `t / max(1, u)`"
    } else if edges.into_iter().any(|edge| edge.span == span) {
        "change the ends of the interval, so that they have values in every state"
    } else {
        "limit the rule by a precondition, or change the rule"
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
            // There was no time to try the rules. That says nothing about them.
            (Some(Fault::Refused(why)), Some(span)) if game.interrupt().is_due() => {
                findings.push(
                    Diagnostic::warning(
                        "toss-play-refused",
                        span,
                        format!("a random play could not be completed: {why}"),
                    )
                    .hint("`agon check --plays` with more `--seconds` tries the rules for longer"),
                );
                break;
            }
            (Some(Fault::Refused(why)), Some(span)) if seen.insert(span) => {
                findings.push(
                    Diagnostic::error(
                        "toss-play-refused",
                        span,
                        format!("a random play failed: {why}"),
                    )
                    .hint(hint_for(game, span)),
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
