//! Traces: recorded plays with every state, every legal move, the moves made and the goals.
//!
//! One JSON object per rulesheet, plain or compressed by gzip:
//! `{"game", "roles", "plays": [PLAY, …]}`, where PLAY is
//! `{"steps": [{"state", "legal", "move"}, …], "final", "terminal", "goals"}`.
//!
//! Terms are in lower case with single spaces. Lists by role are in the order of the roles. `goals`
//! has null where the rules give no value or several. `terminal` is false if the recording stops
//! before the end of the play.

use std::io::Read as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// Maximum size of a trace in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The recorded plays of one game.
pub(crate) struct Trace {
    /// The rulesheet: a path below the folder of games, or the name of a shipped game.
    pub(crate) game: String,
    pub(crate) roles: Vec<String>,
    pub(crate) plays: Vec<Play>,
}

/// One recorded play.
pub(crate) struct Play {
    pub(crate) steps: Vec<Step>,
    /// The state after the last step.
    pub(crate) last: Vec<String>,
    pub(crate) terminal: bool,
    /// The goal value of each role; `None` where there is no value or several.
    pub(crate) goals: Vec<Option<i64>>,
}

/// One step of a play: the state before it, and the joint move.
pub(crate) struct Step {
    pub(crate) state: Vec<String>,
    /// The legal moves of each role.
    pub(crate) legal: Vec<Vec<String>>,
    pub(crate) joint: Vec<String>,
}

/// Reads the JSON value in a file, compressed by gzip or not.
pub(crate) fn read_json(path: &Path) -> Result<Value, Failure> {
    let fail = |what: String| Failure::cannot_read(path, &what);
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .map_err(|error| fail(error.to_string()))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .take(MAX_BYTES)
            .read_to_end(&mut unpacked)
            .map_err(|error| fail(format!("not a valid gzip file: {error}")))?;
        bytes = unpacked;
    }
    serde_json::from_slice(&bytes).map_err(|error| fail(format!("not valid JSON: {error}")))
}

impl Trace {
    /// Reads a trace from a file, compressed by gzip or not.
    pub(crate) fn read(path: &Path) -> Result<Trace, Failure> {
        let value = read_json(path)?;
        Trace::from_json(&value)
            .map_err(|what| Failure::cannot_read(path, &format!("not a trace: {what}")))
    }

    /// Reads a trace from its JSON object.
    pub(crate) fn from_json(value: &Value) -> Result<Trace, String> {
        let trace = object(value, "the trace")?;
        let plays = array(trace, "plays")?.iter().enumerate();
        Ok(Trace {
            game: string(field(trace, "game")?, "game")?,
            roles: strings(field(trace, "roles")?, "roles")?,
            plays: plays
                .map(|(i, play)| {
                    Play::from_json(play).map_err(|what| format!("play {}: {what}", i + 1))
                })
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns the JSON text with one step per line, so that differences between files are
    /// readable.
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!(
            "{{\"game\": {}, \"roles\": {},\n \"plays\": [",
            json!(self.game),
            json!(self.roles)
        );
        for (i, play) in self.plays.iter().enumerate() {
            text.push_str(if i == 0 { "\n  {\"steps\": [" } else { ",\n  {\"steps\": [" });
            for (j, step) in play.steps.iter().enumerate() {
                let step = json!({"state": step.state, "legal": step.legal, "move": step.joint});
                text.push_str(if j == 0 { "\n    " } else { ",\n    " });
                text.push_str(&step.to_string());
            }
            text.push_str(&format!(
                "],\n   \"final\": {},\n   \"terminal\": {}, \"goals\": {}}}",
                json!(play.last),
                play.terminal,
                json!(play.goals)
            ));
        }
        text.push_str("]}\n");
        text
    }
}

impl Play {
    fn from_json(value: &Value) -> Result<Play, String> {
        let play = object(value, "a play")?;
        let goals = array(play, "goals")?;
        let steps = array(play, "steps")?.iter().enumerate();
        Ok(Play {
            steps: steps
                .map(|(i, step)| {
                    Step::from_json(step).map_err(|what| format!("step {}: {what}", i + 1))
                })
                .collect::<Result<_, _>>()?,
            last: strings(field(play, "final")?, "final")?,
            terminal: field(play, "terminal")?
                .as_bool()
                .ok_or("`terminal` is not true or false")?,
            goals: goals
                .iter()
                .map(|goal| match goal {
                    Value::Null => Ok(None),
                    other => other
                        .as_i64()
                        .map(Some)
                        .ok_or("`goals` has something other than numbers and null"),
                })
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Step {
    fn from_json(value: &Value) -> Result<Step, String> {
        let step = object(value, "a step")?;
        Ok(Step {
            state: strings(field(step, "state")?, "state")?,
            legal: array(step, "legal")?
                .iter()
                .map(|moves| strings(moves, "legal"))
                .collect::<Result<_, _>>()?,
            joint: strings(field(step, "move")?, "move")?,
        })
    }
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{what} is not an object"))
}

fn field<'a>(object: &'a Map<String, Value>, key: &str) -> Result<&'a Value, String> {
    object.get(key).ok_or_else(|| format!("`{key}` is missing"))
}

fn array<'a>(object: &'a Map<String, Value>, key: &str) -> Result<&'a Vec<Value>, String> {
    field(object, key)?.as_array().ok_or_else(|| format!("`{key}` is not a list"))
}

fn string(value: &Value, key: &str) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` is not a string"))
}

fn strings(value: &Value, key: &str) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("`{key}` is not a list"))?;
    list.iter().map(|item| string(item, key)).collect()
}
