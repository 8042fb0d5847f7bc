//! Matches written down: the match JSON of ggp.org.

mod signature;
mod xml;

pub use signature::Signature;

use std::collections::BTreeSet;

use agon_game::{Role, Table};
use serde_json::{Map, Value, json};

use crate::kif::{canonical, list};
use crate::referee::Slip;
use crate::{Ending, Match, joined, spaced};

/// A match as ggp.org's format has it. By role wherever there is a list of moves, errors, goals or names.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Tells it from all others.
    pub match_id: String,
    /// 32 characters that nobody can guess.
    pub random_token: String,
    /// When it began, in milliseconds since 1970.
    pub start_time: u64,
    /// Where the rules are to be found.
    pub game_meta_url: String,
    /// In seconds.
    pub start_clock: u64,
    /// In seconds.
    pub play_clock: u64,
    /// Who played.
    pub player_names: Vec<String>,
    /// Which of them were people.
    pub is_human: Vec<bool>,
    /// The states from the start on, each as the fluents that hold.
    pub states: Vec<Vec<String>>,
    /// The joint moves, one fewer than states.
    pub moves: Vec<Vec<String>>,
    /// By state: when it came about.
    pub state_times: Vec<u64>,
    /// What was amiss: first before the first step, then in each step; empty where nothing was.
    pub errors: Vec<Vec<String>>,
    /// What each role got, if it was played to the end.
    pub goal_values: Option<Vec<i64>>,
    /// Whether it was broken off.
    pub is_aborted: bool,
    /// Whether players were told other words than those of the rules.
    pub is_scrambled: bool,
}

impl Record {
    /// Puts in what has happened in a match; what else a record says is left as it is.
    pub fn fill(&mut self, game: &Match) {
        self.states = game.states().to_vec();
        self.state_times = game.state_times().to_vec();
        self.moves = game.steps().iter().map(|step| step.joint.clone()).collect();
        let code = |slip: &Option<Slip>| slip.as_ref().map_or(String::new(), Slip::code);
        self.errors = vec![game.start_errors().to_vec()];
        self.errors.extend(game.steps().iter().map(|step| step.slips.iter().map(code).collect()));
        (self.goal_values, self.is_aborted) = match game.ending() {
            None => (None, false),
            Some(Ending::Finished(payoffs)) => {
                (Some(payoffs.iter().map(|payoff| payoff.round() as i64).collect()), false)
            }
            Some(Ending::Fault(_) | Ending::TooLong | Ending::Stopped(_) | Ending::Aborted) => {
                (None, true)
            }
        };
    }

    /// The JSON object, fields in the order of the specification.
    pub fn to_json(&self) -> Value {
        let state = |fluents: &Vec<String>| spaced(&joined(fluents));
        let joint = |moves: &Vec<String>| moves.iter().map(|m| spaced(m)).collect::<Vec<_>>();
        let mut object = Map::new();
        let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
        put("matchId", json!(self.match_id));
        put("randomToken", json!(self.random_token));
        put("startTime", json!(self.start_time));
        put("gameMetaURL", json!(self.game_meta_url));
        put("isCompleted", json!(self.goal_values.is_some()));
        put("isAborted", json!(self.is_aborted));
        put("states", self.states.iter().map(state).collect());
        put("moves", json!(self.moves.iter().map(joint).collect::<Vec<_>>()));
        put("stateTimes", json!(self.state_times));
        put("errors", json!(self.errors));
        if let Some(goals) = &self.goal_values {
            put("goalValues", json!(goals));
        }
        put("previewClock", json!(-1));
        put("startClock", json!(self.start_clock));
        put("playClock", json!(self.play_clock));
        put("playerNamesFromHost", json!(self.player_names));
        put("isPlayerHuman", json!(self.is_human));
        put("scrambled", json!(self.is_scrambled));
        Value::Object(object)
    }

    /// Whether a JSON value looks like a record, be it a broken one.
    pub fn is_like(value: &Value) -> bool {
        let value = value.get("data").unwrap_or(value);
        value.get("states").is_some() && value.get("moves").is_some()
    }

    /// A record from JSON: the object, or a line of an archive, which has it as its `data`. Fields that replaying does not need may be
    /// missing. The text says what is wrong.
    pub fn from_json(value: &Value) -> Result<Record, String> {
        let value = value.get("data").unwrap_or(value);
        let object = value.as_object().ok_or("a match is a JSON object")?;
        let text =
            |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| object.get(name).and_then(Value::as_u64).unwrap_or_default();
        let states: Vec<Vec<String>> = array(object, "states")?
            .iter()
            .enumerate()
            .map(|(i, state)| {
                let fluents = state.as_str().and_then(list);
                fluents.ok_or(format!("state {} is not a list of fluents in a string", i + 1))
            })
            .collect::<Result<_, _>>()?;
        let moves = lists(object, "moves")?;
        if states.len() != moves.len() + 1 {
            let (n_states, n_moves) = (states.len(), moves.len());
            return Err(format!(
                "there is one state more than moves, and not {n_states} and {n_moves}"
            ));
        }
        let goals = object.get("goalValues").filter(|goals| !goals.is_null());
        let goal_values = goals.map(|goals| {
            let numbers =
                goals.as_array().and_then(|goals| goals.iter().map(Value::as_i64).collect());
            numbers.ok_or("`goalValues` is not a list of numbers")
        });
        let is_true = |value: &Value| value.as_bool().unwrap_or(false);
        Ok(Record {
            match_id: text("matchId"),
            random_token: text("randomToken"),
            start_time: number("startTime"),
            game_meta_url: text("gameMetaURL"),
            start_clock: number("startClock"),
            play_clock: number("playClock"),
            player_names: optional(object, "playerNamesFromHost", |name| {
                name.as_str().unwrap_or_default().to_owned()
            }),
            is_human: optional(object, "isPlayerHuman", is_true),
            states,
            moves,
            state_times: optional(object, "stateTimes", |time| time.as_u64().unwrap_or_default()),
            errors: if object.contains_key("errors") {
                lists(object, "errors")?
            } else {
                Vec::new()
            },
            goal_values: goal_values.transpose()?,
            is_aborted: object.get("isAborted").is_some_and(is_true),
            is_scrambled: object.get("scrambled").is_some_and(is_true),
        })
    }

    /// The name of the game in the address of its rules: what stands behind `games/`, without a version.
    pub fn game_key(&self) -> Option<&str> {
        let parts: Vec<&str> =
            self.game_meta_url.split('/').filter(|part| !part.is_empty()).collect();
        let at = parts.iter().rposition(|part| *part == "games")?;
        parts.get(at + 1).copied()
    }

    /// Plays the match again on a table that stands at the start, and compares every state and the goals.
    pub fn verify(&self, table: &mut dyn Table) -> Verdict {
        let mut verdict = Verdict::default();
        for (index, state) in self.states.iter().enumerate() {
            verdict.n_states += 1;
            verdict.compare(index, state, &table.state());
            let Some(joint) = self.moves.get(index) else { break };
            let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
            if let Err(why) = table.advance(&joint) {
                verdict.differences.push(format!("step {}: {why}", index + 1));
                return verdict;
            }
        }
        let Some(goals) = &self.goal_values else { return verdict };
        if !table.is_terminal() {
            verdict.differences.push("recorded as completed, here play goes on".to_owned());
        }
        let n_roles = table.shape().role_names.len();
        if goals.len() != n_roles {
            verdict.differences.push(format!("{} goals recorded for {n_roles} roles", goals.len()));
        }
        for (index, goal) in goals.iter().enumerate().take(n_roles) {
            let here = table.payoff(Role::new(index)).round() as i64;
            if here != *goal {
                let name = &table.shape().role_names[index];
                verdict.differences.push(format!("goal of {name}: recorded {goal}, here {here}"));
            }
        }
        verdict
    }
}

/// What came of playing a record again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// States compared.
    pub n_states: usize,
    /// What is different, in words.
    pub differences: Vec<String>,
}

impl Verdict {
    fn compare(&mut self, index: usize, recorded: &[String], here: &[String]) {
        let set =
            |fluents: &[String]| fluents.iter().map(|f| canonical(f)).collect::<BTreeSet<_>>();
        let (recorded, here) = (set(recorded), set(here));
        if recorded == here {
            return;
        }
        let few = |fluents: Vec<&String>| {
            let more = fluents.len().saturating_sub(4);
            let shown = fluents.into_iter().take(4).cloned().collect::<Vec<_>>().join(", ");
            if more > 0 { format!("{shown} and {more} more") } else { shown }
        };
        let mut parts = Vec::new();
        let missing: Vec<&String> = recorded.difference(&here).collect();
        let extra: Vec<&String> = here.difference(&recorded).collect();
        if !missing.is_empty() {
            parts.push(format!("only recorded: {}", few(missing)));
        }
        if !extra.is_empty() {
            parts.push(format!("only here: {}", few(extra)));
        }
        self.differences.push(format!("state {}: {}", index + 1, parts.join("; ")));
    }
}

fn array<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Vec<Value>, String> {
    let value = object.get(name).ok_or_else(|| format!("`{name}` is missing"))?;
    value.as_array().ok_or_else(|| format!("`{name}` is not a list"))
}

fn lists(object: &Map<String, Value>, name: &str) -> Result<Vec<Vec<String>>, String> {
    let strings = |list: &Value| -> Option<Vec<String>> {
        list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let lists = array(object, name)?.iter().map(strings).collect::<Option<_>>();
    lists.ok_or_else(|| format!("`{name}` is not a list of lists of strings"))
}

fn optional<T>(object: &Map<String, Value>, name: &str, read: impl Fn(&Value) -> T) -> Vec<T> {
    let list = object.get(name).and_then(Value::as_array);
    list.map_or(Vec::new(), |list| list.iter().map(read).collect())
}
