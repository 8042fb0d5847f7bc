//! Records of matches in the JSON format of ggp.org.

mod signature;
mod xml;

pub use signature::Signature;

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write as _;

use agon_game::kif::{canonical, joined, list, spaced};
use agon_game::{Role, Table};
use serde_json::{Map, Value, json};
use sha1::{Digest as _, Sha1};

/// A match in the format of ggp.org. Lists of moves, errors, goal values and names are by role.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The id of the match.
    pub match_id: String,
    /// 32 random characters.
    pub random_token: String,
    /// Start of the match in milliseconds since 1970.
    pub start_time: u64,
    /// The URL of the rules.
    pub game_meta_url: String,
    /// The start clock in seconds.
    pub start_clock: u64,
    /// The play clock in seconds.
    pub play_clock: u64,
    /// The names of the players.
    pub player_names: Vec<String>,
    /// Whether each player is a person.
    pub is_human: Vec<bool>,
    /// The states, beginning with the initial state, each as the fluents that hold.
    pub states: Vec<Vec<String>>,
    /// The joint moves, one fewer than states.
    pub moves: Vec<Vec<String>>,
    /// By state: when it was reached, in milliseconds since 1970.
    pub state_times: Vec<u64>,
    /// The error codes before the first step, then those of each step. A code is empty where there
    /// was no error.
    pub errors: Vec<Vec<String>>,
    /// The goal values, if the match was played to its end.
    pub goal_values: Option<Vec<i64>>,
    /// Whether the match was aborted.
    pub is_aborted: bool,
    /// Whether players received scrambled rules.
    pub is_scrambled: bool,
    /// The [`rules_hash`] of the rules of the match, if it is known. Names of games are not unique,
    /// so a replay compares it.
    pub rules_hash: Option<String>,
}

/// Returns a hash of rules, in the form in which they are sent to players: `sha1:` and 40 digits.
/// Comments and spacing of the rulesheet are not part of that form.
pub fn rules_hash(rules: &str) -> String {
    let digest = Sha1::digest(rules.as_bytes());
    digest.iter().fold("sha1:".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Record {
    /// Returns the record as a JSON object, with its fields in the order of the specification.
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
        if let Some(hash) = &self.rules_hash {
            put("rulesHash", json!(hash));
        }
        Value::Object(object)
    }

    /// Returns whether a JSON value looks like a record, even if it is not valid.
    pub fn is_like(value: &Value) -> bool {
        let value = value.get("data").unwrap_or(value);
        value.get("states").is_some() && value.get("moves").is_some()
    }

    /// Reads a record from JSON. The value is the object of the match, or a line of an archive,
    /// which contains that object as `data`. Fields that a replay does not need may be missing.
    ///
    /// # Errors
    /// [`RecordError`] if the value is not a record.
    pub fn from_json(value: &Value) -> Result<Record, RecordError> {
        let value = value.get("data").unwrap_or(value);
        let object = value.as_object().ok_or(RecordError::NotAnObject)?;
        let text =
            |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| object.get(name).and_then(Value::as_u64).unwrap_or_default();
        let states: Vec<Vec<String>> = array(object, "states")?
            .iter()
            .enumerate()
            .map(|(i, state)| {
                let fluents = state.as_str().and_then(list);
                fluents.ok_or(RecordError::State(i + 1))
            })
            .collect::<Result<_, _>>()?;
        let moves = lists(object, "moves")?;
        if states.len() != moves.len() + 1 {
            let (n_states, n_moves) = (states.len(), moves.len());
            return Err(RecordError::Length { n_states, n_moves });
        }
        let goals = object.get("goalValues").filter(|goals| !goals.is_null());
        let goal_values = goals.map(|goals| {
            let numbers =
                goals.as_array().and_then(|goals| goals.iter().map(Value::as_i64).collect());
            numbers.ok_or(RecordError::GoalValues)
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
            rules_hash: object.get("rulesHash").and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// Returns the name of the game in the URL of its rules: the part after `games/`, without a
    /// version.
    pub fn game_key(&self) -> Option<&str> {
        let parts: Vec<&str> =
            self.game_meta_url.split('/').filter(|part| !part.is_empty()).collect();
        let at = parts.iter().rposition(|part| *part == "games")?;
        parts.get(at + 1).copied()
    }

    /// Plays the match again on a table at the initial position, and compares every state and the
    /// goal values.
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
            verdict
                .differences
                .push("recorded as completed, but play has not ended here".to_owned());
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

/// The result of replaying a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Number of states compared.
    pub n_states: usize,
    /// The differences, one text each.
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

/// Why a JSON value is not a record of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// The value is not a JSON object.
    NotAnObject,
    /// This field is missing.
    Missing(&'static str),
    /// This field is not a list.
    NotAList(&'static str),
    /// This field is not a list of lists of strings.
    NotLists(&'static str),
    /// The state with this number, from 1, is not a list of fluents in a string.
    State(usize),
    /// There is not exactly one more state than joint moves.
    Length {
        /// Number of states.
        n_states: usize,
        /// Number of joint moves.
        n_moves: usize,
    },
    /// The goal values are not numbers.
    GoalValues,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::NotAnObject => f.write_str("a match is a JSON object"),
            RecordError::Missing(name) => write!(f, "`{name}` is missing"),
            RecordError::NotAList(name) => write!(f, "`{name}` is not a list"),
            RecordError::NotLists(name) => write!(f, "`{name}` is not a list of lists of strings"),
            RecordError::State(number) => {
                write!(f, "state {number} is not a list of fluents in a string")
            }
            RecordError::Length { n_states, n_moves } => write!(
                f,
                "there must be one more state than moves, but there are {n_states} and {n_moves}"
            ),
            RecordError::GoalValues => f.write_str("`goalValues` is not a list of numbers"),
        }
    }
}

impl std::error::Error for RecordError {}

fn array<'a>(
    object: &'a Map<String, Value>,
    name: &'static str,
) -> Result<&'a Vec<Value>, RecordError> {
    let value = object.get(name).ok_or(RecordError::Missing(name))?;
    value.as_array().ok_or(RecordError::NotAList(name))
}

fn lists(object: &Map<String, Value>, name: &'static str) -> Result<Vec<Vec<String>>, RecordError> {
    let strings = |list: &Value| -> Option<Vec<String>> {
        list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let lists = array(object, name)?.iter().map(strings).collect::<Option<_>>();
    lists.ok_or(RecordError::NotLists(name))
}

fn optional<T>(object: &Map<String, Value>, name: &str, read: impl Fn(&Value) -> T) -> Vec<T> {
    let list = object.get(name).and_then(Value::as_array);
    list.map_or(Vec::new(), |list| list.iter().map(read).collect())
}
