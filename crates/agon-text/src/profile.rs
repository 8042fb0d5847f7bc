//! What each rule of a game costs, and which rules and conditions are never used in play.
//!
//! The languages measure it (`agon_gdl::profile`, `agon_toss::profile`). Rules are named by their
//! lines, so that commands and editors can show the numbers beside them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a game is profiled.
#[derive(Clone, Debug)]
pub struct ProfileOptions {
    /// Number of random plays.
    pub plays: usize,
    /// Maximum number of steps of a play.
    pub max_steps: usize,
    /// Seed of the plays.
    pub seed: u64,
    /// Time after which no further play begins.
    pub time: Duration,
    /// Whether the rules of a rulesheet are grounded too, so that gates are known.
    pub gates: bool,
    /// Ends the plays when another thread sets it.
    pub stop: Option<Arc<AtomicBool>>,
}

impl ProfileOptions {
    /// Returns whether another thread has asked to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Default for ProfileOptions {
    fn default() -> ProfileOptions {
        let time = Duration::from_secs(20);
        ProfileOptions { plays: 20, max_steps: 200, seed: 1, time, gates: true, stop: None }
    }
}

/// What is known about the rules of a game.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Number of plays.
    pub plays: usize,
    /// Number of states at which the rules were evaluated.
    pub states: usize,
    /// Whether the rules have been grounded, so that the numbers of gates are known.
    pub has_gates: bool,
    /// The clauses with conditions, in the order of the text.
    pub rules: Vec<RuleProfile>,
}

/// What is known about one clause of a rulesheet.
#[derive(Clone, Debug, Default)]
pub struct RuleProfile {
    /// The line at which it starts, from 1.
    pub line: usize,
    /// The head as it was written.
    pub head: String,
    /// Evaluation steps of the interpreter in all states together.
    pub steps: u64,
    /// Number of states at which the rule derived something.
    pub used: usize,
    /// Instances in the circuit.
    pub instances: u64,
    /// Gates of the circuit before gates are shared.
    pub gates: u64,
    /// Whether it was evaluated. Rules that need given arguments are not.
    pub is_measured: bool,
    /// Conditions that were never true, as they were written, with their lines.
    pub never_true: Vec<(usize, String)>,
}

impl Profile {
    /// Returns the number of evaluation steps of all rules together.
    pub fn steps(&self) -> u64 {
        self.rules.iter().map(|rule| rule.steps).sum()
    }

    /// Returns the rules that derived nothing in these plays, in the order of the text.
    pub fn unused(&self) -> impl Iterator<Item = &RuleProfile> {
        self.rules.iter().filter(|rule| rule.is_measured && rule.used == 0)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} plays, {} states", self.plays, self.states)?;
        let all_steps = self.steps();
        let mut order: Vec<&RuleProfile> = self.rules.iter().collect();
        order.sort_by_key(|rule| (std::cmp::Reverse(rule.steps), rule.line));
        writeln!(f, "{:>6}  {:>7}  {:>7}  {:>9}  rule", "line", "cost", "used", "gates")?;
        for rule in order {
            let share = 100.0 * rule.steps as f64 / all_steps.max(1) as f64;
            let used = 100.0 * rule.used as f64 / self.states.max(1) as f64;
            let cost = match rule.is_measured {
                true => format!("{share:5.1} %"),
                false => "-".to_owned(),
            };
            let used = if rule.is_measured { format!("{used:5.1} %") } else { "-".to_owned() };
            let gates = if self.has_gates { rule.gates.to_string() } else { "-".to_owned() };
            writeln!(f, "{:6}  {cost:>7}  {used:>7}  {gates:>9}  {}", rule.line, rule.head)?;
        }
        let unused: Vec<&RuleProfile> = self.unused().collect();
        if !unused.is_empty() {
            writeln!(f, "\nnever used in these plays:")?;
        }
        for rule in unused {
            writeln!(f, "{:6}  {}", rule.line, rule.head)?;
            match rule.never_true.as_slice() {
                [] => writeln!(f, "        its conditions were never true together")?,
                never => {
                    for (line, condition) in never {
                        writeln!(f, "{line:6}    never true: {condition}")?;
                    }
                }
            }
        }
        Ok(())
    }
}
