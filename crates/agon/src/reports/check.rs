//! Checks of rules, by their text and by a few plays.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_gdl::check::Checked;
use agon_gdl::read::ReadOptions;
use agon_reals::interrupt::Interrupt;
use agon_text::params::{self, Notation};
use agon_text::{Diagnostic, Diagnostics, Severity, Source};
use serde_json::{Value, json};

use crate::open::{self, Language};

/// How rules are checked.
#[derive(Copy, Clone, Debug)]
pub struct CheckPlays {
    /// Number of random games that are played to find errors which only play shows; 0 plays none.
    pub plays: u64,
    /// The seed.
    pub seed: u64,
    /// Maximum number of steps of a game.
    pub max_steps: usize,
    /// Whether the plays are only a quick test: not reported if they are long, and for one second
    /// at most.
    pub is_quick: bool,
    /// Time for the plays. Where it is over, no further state is evaluated. A quick test has a
    /// limit of its own.
    pub time: Option<Duration>,
    /// Whether violations of the definition of GDL are errors, although Agon can play the rules.
    pub is_strict: bool,
}

impl Default for CheckPlays {
    fn default() -> CheckPlays {
        CheckPlays {
            plays: 0,
            seed: 1,
            max_steps: 1000,
            is_quick: false,
            time: None,
            is_strict: false,
        }
    }
}

impl CheckPlays {
    /// Returns the checks that include a few short plays.
    pub fn quick() -> CheckPlays {
        CheckPlays { plays: 2, max_steps: 30, is_quick: true, ..CheckPlays::default() }
    }

    fn deadline(&self) -> Option<Instant> {
        let time = if self.is_quick { Some(Duration::from_secs(1)) } else { self.time };
        time.and_then(|time| Instant::now().checked_add(time))
    }
}

/// Checks rules and returns everything that was found, notes included, in the order of the text.
pub fn check(source: &Arc<Source>, plays: CheckPlays) -> Vec<Diagnostic> {
    check_watched(source, plays, &mut || ())
}

/// Checks rules like [`check`], and calls `watch` after each play.
pub fn check_watched(
    source: &Arc<Source>,
    plays: CheckPlays,
    watch: &mut dyn FnMut(),
) -> Vec<Diagnostic> {
    let mut findings = match open::language(source) {
        Language::Gdl => gdl(source, plays, watch),
        Language::Toss => toss(source, plays, watch),
    };
    findings.sort();
    findings.0
}

fn gdl(source: &Arc<Source>, plays: CheckPlays, watch: &mut dyn FnMut()) -> Diagnostics {
    use agon_gdl::by_play::{PlayPlan, open_and_check};
    let text = Arc::clone(source);
    let Checked { rules, mut findings } = match plays.is_strict {
        true => agon_gdl::check::check_strictly(text, &ReadOptions::default()),
        false => agon_gdl::check::check(text),
    };
    let Some(rules) = rules else { return findings };
    let plan = PlayPlan {
        plays: plays.plays,
        seed: plays.seed,
        max_steps: plays.max_steps,
        is_quick: plays.is_quick,
        is_strict: plays.is_strict,
        deadline: plays.deadline(),
    };
    let played = open_and_check(rules, &plan, watch);
    // The plays are about the plain text of a rulesheet with parameters.
    let expanded = agon_gdl::params::expand(source, &Default::default()).ok().flatten();
    findings.0.extend(expanded.map_or(played.clone(), |e| e.original_findings(played)).0);
    findings
}

fn toss(source: &Arc<Source>, plays: CheckPlays, watch: &mut dyn FnMut()) -> Diagnostics {
    use agon_toss::by_play::{PlayPlan, check_by_play};
    let checked = agon_toss::check::check(Arc::clone(source));
    let mut findings = checked.findings;
    if let Some(arena) = checked.arena {
        let deadline = plays.deadline();
        let options = agon_toss::interpreter::Options {
            interrupt: Interrupt::at(deadline),
            ..Default::default()
        };
        match agon_toss::interpreter::Game::open(arena, options) {
            Ok(game) => {
                let plan = PlayPlan {
                    plays: plays.plays,
                    seed: plays.seed,
                    max_steps: plays.max_steps,
                    is_quick: plays.is_quick,
                    deadline,
                };
                let played = check_by_play(&game, &plan, watch);
                let expanded = params::expand(source, &Default::default(), Notation::Toss);
                let expanded = expanded.ok().flatten();
                findings
                    .0
                    .extend(expanded.map_or(played.clone(), |e| e.original_findings(played)).0);
            }
            Err(mut finding) => {
                // There was no time to open the rules. That says nothing about them.
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    finding.severity = Severity::Warning;
                }
                findings.push(*finding);
            }
        }
    }
    findings
}

/// Returns a finding as JSON, with its place in the source.
pub fn finding_json(finding: &Diagnostic, source: &Source) -> Value {
    let (start, end) = (source.place(finding.span.start()), source.place(finding.span.end()));
    let notes: Vec<Value> = finding
        .notes
        .iter()
        .map(|(span, text)| {
            let place = source.place(span.start());
            json!({"line": place.line, "column": place.column, "message": text})
        })
        .collect();
    json!({
        "severity": finding.severity.word(), "code": finding.code, "message": finding.message,
        "line": start.line, "column": start.column, "end_line": end.line, "end_column": end.column,
        "notes": notes, "hints": finding.hints, "fix": finding.fix.as_ref().map(|fix| &fix.title),
    })
}
