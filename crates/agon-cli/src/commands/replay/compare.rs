//! Compares recorded plays with an engine, and counts what was compared and what differs.
//!
//! `agon_game::lockstep` does not fit here: it compares two engines, and a trace is not an engine.

use std::collections::BTreeSet;

use crate::trace::{Play, Step};

/// The result of a replay.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) n_plays: usize,
    pub(super) n_states: usize,
    pub(super) n_mismatches: usize,
    /// The first few differences, as lines for the user.
    pub(super) differences: Vec<String>,
    pub(super) remarks: Vec<String>,
}

/// Maximum number of differences shown for one rulesheet.
const MAX_SHOWN: usize = 5;

/// The goal of a role according to an engine.
pub(super) enum Goal {
    /// Every goal value that holds.
    Values(Vec<i64>),
    /// The highest goal value only, which cannot show whether there are none or several.
    Highest(f64),
}

impl Goal {
    /// Returns whether the goal is as recorded. `None` means no value or several.
    fn agrees(&self, recorded: Option<i64>) -> bool {
        match (self, recorded) {
            (Goal::Values(values), Some(value)) => *values == [value],
            (Goal::Values(values), None) => values.len() != 1,
            (Goal::Highest(highest), Some(value)) => *highest == value as f64,
            (Goal::Highest(_), None) => true,
        }
    }

    fn text(&self) -> String {
        match self {
            Goal::Values(values) => format!("{values:?}"),
            Goal::Highest(highest) => format!("{highest}"),
        }
    }
}

impl Tally {
    /// Counts a mismatch.
    pub(super) fn differ(&mut self, place: &str, what: &str) {
        self.n_mismatches += 1;
        if self.differences.len() < MAX_SHOWN {
            self.differences.push(format!("  {place}: {what}"));
        }
    }

    /// Compares the roles. Nothing else can be compared if they differ.
    pub(super) fn same_roles(&mut self, recorded: &[String], here: &[String]) -> bool {
        let fold =
            |names: &[String]| names.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();
        let is_same = fold(recorded) == fold(here);
        if !is_same {
            let (recorded, here) = (recorded.join(" "), fold(here).join(" "));
            self.differ("the roles", &format!("recorded {recorded}, here {here}"));
        }
        is_same
    }

    /// Compares a recorded step with the state and the legal moves before it. Returns false if the
    /// rest of the recording cannot be used.
    pub(super) fn compare_step(
        &mut self,
        place: &str,
        step: &Step,
        state: &[String],
        legal: &[Vec<String>],
        role_names: &[String],
    ) -> bool {
        self.n_states += 1;
        self.compare(&format!("{place}, state"), &step.state, state);
        if step.joint.len() != role_names.len() || step.legal.len() != role_names.len() {
            self.differ(place, "the recording does not have one move for each role");
            return false;
        }
        for ((name, recorded), here) in role_names.iter().zip(&step.legal).zip(legal) {
            self.compare(&format!("{place}, legal moves of {name}"), recorded, here);
        }
        true
    }

    /// Compares the end of a recording.
    pub(super) fn compare_end(
        &mut self,
        place: &str,
        play: &Play,
        state: &[String],
        is_terminal: bool,
        goals: impl Fn(usize) -> Goal,
        role_names: &[String],
    ) {
        self.n_states += 1;
        self.compare(&format!("{place}, state"), &play.last, state);
        if !play.terminal {
            return;
        }
        if !is_terminal {
            self.differ(place, "recorded as ended, here play continues");
        }
        for ((role, name), recorded) in role_names.iter().enumerate().zip(&play.goals) {
            let here = goals(role);
            if !here.agrees(*recorded) {
                let recorded =
                    recorded.map_or("none or several".to_owned(), |value| value.to_string());
                self.differ(
                    place,
                    &format!("goal of {name}: recorded {recorded}, here {}", here.text()),
                );
            }
        }
    }

    /// Compares two sets of terms.
    fn compare(&mut self, place: &str, recorded: &[String], here: &[String]) {
        let fold =
            |list: &[String]| list.iter().map(|term| canonical(term)).collect::<BTreeSet<_>>();
        let (recorded, here) = (fold(recorded), fold(here));
        if recorded == here {
            return;
        }
        let some = |set: Vec<&String>| {
            let more =
                if set.len() > 4 { format!(" and {} more", set.len() - 4) } else { String::new() };
            set.into_iter().take(4).cloned().collect::<Vec<_>>().join(" ") + &more
        };
        let missing: Vec<&String> = recorded.difference(&here).collect();
        let extra: Vec<&String> = here.difference(&recorded).collect();
        let mut parts = Vec::new();
        if !missing.is_empty() {
            parts.push(format!("missing {}", some(missing)));
        }
        if !extra.is_empty() {
            parts.push(format!("extra {}", some(extra)));
        }
        self.differ(place, &parts.join("; "));
    }
}

/// Returns a term in lower case with `(f)` written as `f`, because recorders differ in that.
pub(super) fn canonical(term: &str) -> String {
    let term = term.to_lowercase();
    if !term.contains('(') {
        return term;
    }
    let mut text = String::with_capacity(term.len());
    let mut rest = term.as_str();
    while let Some(open) = rest.find('(') {
        text.push_str(&rest[..open]);
        let inner = &rest[open + 1..];
        match inner.find([' ', '(', ')']) {
            Some(end) if inner[end..].starts_with(')') => {
                text.push_str(&inner[..end]);
                rest = &inner[end + 1..];
            }
            _ => {
                text.push('(');
                rest = inner;
            }
        }
    }
    text.push_str(rest);
    text
}
