//! `agon explain GAME --combined`: the heuristics of a game beside each other, and their weights.

use std::time::{Duration, Instant};

use agon::Budget;
use agon::learn::combined::{CombineOptions, CombinedOptions, WeightMethod, combine_heuristics};
use serde_json::json;

use crate::failure::Failure;
use crate::open::{self, RuleOptions};
use crate::terminal::say;

/// Minimum number of plays: one in five is kept for the test.
const MIN_PLAYS: usize = 10;

/// The method by which weights are learnt, as an option.
#[derive(Copy, Clone, Debug, clap::ValueEnum)]
pub(super) enum Method {
    /// Logistic regression
    Logistic,
    /// Boosting of thresholds
    Boosting,
}

pub(super) fn run(
    name: &str,
    method: Method,
    [n_plays, n_formulas]: [usize; 2],
    seconds: u64,
    rules: &RuleOptions,
    is_json: bool,
) -> Result<(), Failure> {
    if n_plays < MIN_PLAYS {
        return Err(Failure::unreadable(format!("--plays must be at least {MIN_PLAYS}")));
    }
    let game = open::open_rules_to_learn(name, rules)?;
    let (method, method_name) = match method {
        Method::Logistic => (WeightMethod::Logistic, "logistic"),
        Method::Boosting => (WeightMethod::Boosting, "boosting"),
    };
    let learning = CombineOptions { method, n_plays, ..CombineOptions::default() };
    let options = CombinedOptions { only: None, n_formulas, learning };
    let deadline = Instant::now().checked_add(Duration::from_secs(seconds));
    let budget = Budget { deadline, ..Budget::default() };
    let Some(learnt) = combine_heuristics(&game, &options, &budget) else {
        return Err(Failure::wrong(format!(
            "{name}: nothing was learnt, because no play came to an end within {seconds} s, or all \
             had the same result; give more time with --seconds"
        )));
    };
    let test = &learnt.measured;
    if is_json {
        let line = |(name, measured): &(String, agon::learn::combined::Prediction)| {
            json!({
                "name": name, "weight": measured.weight, "hits": measured.hits,
                "bits": measured.bits,
            })
        };
        let heuristics: Vec<serde_json::Value> = test.alone.iter().map(line).collect();
        say!(
            "{}",
            json!({
                "game": name, "method": method_name,
                "plays": learnt.n_plays, "positions": learnt.n_positions,
                "test_plays": test.n_plays, "test_positions": test.n_positions,
                "combined": {"hits": test.combined.hits, "bits": test.combined.bits},
                "heuristics": heuristics,
            })
        );
        return Ok(());
    }
    let first = game.shape().players().next();
    let role = first.map_or("", |role| game.shape().role_names[role.index()].as_str());
    let width = test.alone.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(8);
    say!("{:width$}  {:>7}  {:>8}  {:>6}", "alone", "weight", "winner %", "bits");
    for (name, measured) in &test.alone {
        say!(
            "{name:width$}  {:7.2}  {:8.1}  {:6.3}",
            measured.weight,
            100.0 * measured.hits,
            measured.bits
        );
    }
    let (hits, bits) = (100.0 * test.combined.hits, test.combined.bits);
    say!("{:width$}  {:>7}  {hits:8.1}  {bits:6.3}", "combined", "");
    say!(
        "Learnt from {} positions of {} plays, measured at {} of {} other plays. Weights are for \
         {role}.",
        learnt.n_positions,
        learnt.n_plays,
        test.n_positions,
        test.n_plays
    );
    Ok(())
}
