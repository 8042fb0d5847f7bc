//! Calls that programs in any language make to look ahead in a game: one JSON object each.
//!
//! `agon engine` answers them on its standard output, and programs that play a match may make them
//! while they think. The format is documented in `docs/engine.md`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use agon::engine::{GamePosition, GameTask};
use agon::explain::ExplainOptions;
use agon::open::OpenOptions;
use agon::{Budget, Game, Position, Role};
use agon_game::{Batch, Family, Parameter, PlayoutRequest, PlayoutStats, Rng, SequentialBatch};
use agon_text::Source;
use rand::SeedableRng as _;
use serde_json::{Map, Value, json};

/// Maximum number of states that are kept. A program drops those that it does not need.
const MAX_STATES: usize = 100_000;
/// Maximum number of playouts of one call.
const MAX_PLAYOUTS: u64 = 100_000_000;
/// Maximum length of a search in seconds.
const MAX_SECONDS: f64 = 3600.0;
/// Number of steps after which a playout is cut off.
const MAX_STEPS: u64 = 10_000;

/// Number of steps of playouts between two looks at the clock.
const STRETCH: u64 = 10_000;

/// The number of the state at which a game or a player's turn begins.
const FIRST: u64 = 0;

/// Returns families of moves with real parameters as JSON: texts with the intervals of parameters.
pub(crate) fn families_json(families: &[Family]) -> Value {
    let parameter = |p: &Parameter| json!({ "name": p.name, "low": p.low, "high": p.high });
    let family = |family: &Family| {
        let parameters: Vec<Value> = family.parameters.iter().map(parameter).collect();
        json!({ "text": family.text, "parameters": parameters })
    };
    Value::Array(families.iter().map(family).collect())
}

/// A game with the states that a program has asked for.
#[derive(Default)]
pub(crate) struct EngineCalls {
    game: Option<Game>,
    states: BTreeMap<u64, Position>,
    n_made: u64,
    /// Whether the calls are made in a match, whose game cannot be replaced.
    in_match: bool,
}

/// An error as a text for the author of the program.
type Answer = Result<Map<String, Value>, String>;

impl EngineCalls {
    /// Returns the calls for a game that is being played, at its start.
    pub(crate) fn of(game: Game) -> EngineCalls {
        let mut calls = EngineCalls { in_match: true, ..EngineCalls::default() };
        calls.set_game(game);
        calls
    }

    /// Returns the calls for a match whose rules are given as text. They all fail if the rules
    /// cannot be opened.
    pub(crate) fn of_rules(rules: &str) -> EngineCalls {
        let source = Arc::new(Source::new("rules", rules));
        match Game::from_source(source, &OpenOptions::default()) {
            Ok(game) => EngineCalls::of(game),
            Err(_) => EngineCalls { in_match: true, ..EngineCalls::default() },
        }
    }

    /// Makes a joint move at state 0, which is the position of a match. Other states are dropped.
    pub(crate) fn follow(&mut self, joint: &[String]) {
        if let Some(mut position) = self.states.remove(&FIRST) {
            let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
            // A move that cannot be followed leaves the match without look-ahead, not the player.
            if position.play_joint(&joint).is_ok() {
                self.states = BTreeMap::from([(FIRST, position)]);
            }
        }
    }

    /// Returns the payoffs at state 0 if play has ended there, by role.
    pub(crate) fn goals_at_the_end(&self) -> Option<Value> {
        let position = self.states.get(&FIRST)?;
        position.is_terminal().then(|| goals(position))
    }

    /// Answers a call. The answer repeats `id` and has `ok`, and `error` if it is false. Searches,
    /// playouts and explanations end at the deadline of the player who asks.
    pub(crate) fn answer(&mut self, call: &Value, deadline: Option<Instant>) -> Value {
        let mut object = Map::new();
        if let Some(id) = call.get("id") {
            object.insert("id".to_owned(), id.clone());
        }
        match self.result(call, deadline) {
            Ok(result) => {
                object.insert("ok".to_owned(), json!(true));
                object.extend(result);
            }
            Err(why) => {
                object.insert("ok".to_owned(), json!(false));
                object.insert("error".to_owned(), json!(why));
            }
        }
        Value::Object(object)
    }

    fn result(&mut self, call: &Value, deadline: Option<Instant>) -> Answer {
        let name = call.get("call").and_then(Value::as_str);
        let name =
            name.ok_or("a call is an object with a text `call`, such as {\"call\": \"legal\"}")?;
        match name {
            "load" if self.in_match => Err("the game of a match cannot be replaced".to_owned()),
            "load" => self.load(call),
            "legal" => self.legal(call),
            "next" => self.next(call),
            "facts" => {
                let position = self.position(call)?;
                Ok(object(json!({"facts": position.state(), "picture": position.picture()})))
            }
            "goals" => {
                let position = self.position(call)?;
                let terminal = position.is_terminal();
                Ok(object(json!({"goals": goals(position), "terminal": terminal})))
            }
            "playout" => self.playout(call, deadline),
            "search" => self.search(call, deadline),
            "explain" => {
                let position = self.position(call)?;
                let mut options = ExplainOptions::default();
                if let Some(deadline) = deadline {
                    let left = deadline.saturating_duration_since(Instant::now());
                    options.time = options.time.min(left);
                }
                let explained = position.game().explain_with(position, &options);
                let explained = explained.map_err(|why| why.to_string())?;
                let text = explained.to_string();
                Ok(object(json!({"text": text, "data": explained.json})))
            }
            "drop" => {
                let states = call.get("states").and_then(Value::as_array);
                let states = states.ok_or("`states` is a list of numbers of states")?;
                let mut n_dropped = 0;
                for state in states.iter().filter_map(Value::as_u64).filter(|&s| s != FIRST) {
                    n_dropped += usize::from(self.states.remove(&state).is_some());
                }
                Ok(object(json!({"dropped": n_dropped, "kept": self.states.len()})))
            }
            _ => Err(format!(
                "there is no call `{name}`: load, legal, next, facts, goals, playout, search, \
                 explain and drop"
            )),
        }
    }

    fn set_game(&mut self, game: Game) {
        self.states = BTreeMap::from([(FIRST, game.start())]);
        self.n_made = 0;
        self.game = Some(game);
    }

    fn load(&mut self, call: &Value) -> Answer {
        let name = call.get("game").and_then(Value::as_str);
        let name = name.ok_or("`game` is the name of a shipped game, a path, or rules")?;
        self.set_game(Game::open(name).map_err(|error| error.to_string())?);
        let position = &self.states[&FIRST];
        let mut answer = object(agon::reports::shape_json(position.shape()));
        answer.extend(described(FIRST, position));
        Ok(answer)
    }

    fn legal(&mut self, call: &Value) -> Answer {
        let position = self.position(call)?;
        if call.get("role").is_some() {
            let role = role(position, call)?;
            let mut answer = object(json!({"legal": position.legal_moves(role)}));
            let families = position.families(role);
            if !families.is_empty() {
                answer.insert("families".to_owned(), families_json(&families));
            }
            return Ok(answer);
        }
        let roles = || position.shape().roles();
        let named = |role: Role, value: Value| (position.role_name(role).to_owned(), value);
        let legal: Map<String, Value> =
            roles().map(|role| named(role, json!(position.legal_moves(role)))).collect();
        let mut answer = object(json!({"legal": legal, "terminal": position.is_terminal()}));
        if roles().any(|role| !position.families(role).is_empty()) {
            let of = |role: Role| named(role, families_json(&position.families(role)));
            let families: Map<String, Value> = roles().map(of).collect();
            answer.insert("families".to_owned(), Value::Object(families));
        }
        Ok(answer)
    }

    fn next(&mut self, call: &Value) -> Answer {
        if self.states.len() >= MAX_STATES {
            return Err(format!("{MAX_STATES} states are kept: drop those that are not needed"));
        }
        let mut position = self.position(call)?.clone();
        let moves = call.get("moves");
        match moves {
            Some(Value::String(text)) => position.play(text).map_err(|why| why.to_string())?,
            Some(Value::Array(moves)) => {
                let texts: Option<Vec<&str>> = moves.iter().map(Value::as_str).collect();
                let texts = texts.ok_or("`moves` has one text for each role")?;
                position.play_joint(&texts).map_err(|why| why.to_string())?;
            }
            None | Some(Value::Null) => {
                let texts = only_moves(&position)
                    .ok_or("`moves` is missing, and a role has a choice: give one for each role")?;
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                position.play_joint(&texts).map_err(|why| why.to_string())?;
            }
            _ => return Err("`moves` is one move for each role, or that of the one to move".into()),
        }
        self.n_made += 1;
        let answer = described(self.n_made, &position);
        self.states.insert(self.n_made, position);
        Ok(answer)
    }

    fn playout(&mut self, call: &Value, deadline: Option<Instant>) -> Answer {
        let position = self.position(call)?;
        let n = number(call, "n", 1)?.clamp(1, MAX_PLAYOUTS);
        let seed = number(call, "seed", 1)?;
        let stats = position.game().run(Playouts { position, n, seed, deadline })?;
        let means: Map<String, Value> = position
            .shape()
            .roles()
            .map(|role| (position.role_name(role).to_owned(), json!(stats.mean_payoff(role))))
            .collect();
        Ok(object(json!({
            "means": means, "playouts": stats.n_playouts, "steps": stats.mean_length(),
            "cut": stats.n_cut,
        })))
    }

    fn search(&mut self, call: &Value, deadline: Option<Instant>) -> Answer {
        let position = self.position(call)?;
        let spec = call.get("player").and_then(Value::as_str).unwrap_or("mcts");
        let seed = number(call, "seed", 1)?;
        let mut player =
            position.game().player(spec).map_err(|why| why.to_string())?.with_seed(seed);
        let limit = |key: &str| call.get(key).and_then(Value::as_u64);
        let (iterations, nodes) = (limit("iterations"), limit("nodes"));
        let seconds = match call.get("seconds") {
            None if iterations.is_some() || nodes.is_some() => None,
            None => Some(1.0),
            Some(value) => Some(value.as_f64().ok_or("`seconds` is a number")?),
        };
        let mut budget = seconds.map_or_else(Budget::default, |seconds| {
            Budget::seconds(seconds.clamp(0.0, MAX_SECONDS))
        });
        (budget.iterations, budget.nodes) = (iterations, nodes);
        budget.deadline = [budget.deadline, deadline].into_iter().flatten().min();
        let report = match call.get("role") {
            Some(_) => player.think_as(role(position, call)?, position, budget),
            None => player.think(position, budget),
        };
        if let Some(error) = &report.error {
            return Err(error.to_string());
        }
        let considered: Vec<Value> = report
            .considered
            .iter()
            .map(|c| {
                json!({"move": c.text, "visits": c.visits, "value": c.value,
                    "probability": c.probability, "proven": c.is_proven})
            })
            .collect();
        Ok(object(json!({
            "move": report.best_move, "role": position.role_name(report.role),
            "value": report.value, "proven": report.is_proven, "considered": considered,
            "line": report.line, "iterations": report.iterations, "nodes": report.nodes,
            "playouts": report.playouts,
        })))
    }

    /// Returns the state that a call is about: `state`, or state 0.
    fn position(&self, call: &Value) -> Result<&Position, String> {
        if self.game.is_none() {
            return Err("no game is loaded: {\"call\": \"load\", \"game\": \"tic-tac-toe\"}".into());
        }
        let state = number(call, "state", FIRST)?;
        self.states.get(&state).ok_or_else(|| match state {
            FIRST => "the state of the match is not known".to_owned(),
            _ => format!("there is no state {state}; it may have been dropped"),
        })
    }
}

/// Returns a whole number of a call.
fn number(call: &Value, key: &str, default: u64) -> Result<u64, String> {
    match call.get(key) {
        None | Some(Value::Null) => Ok(default),
        Some(value) => value.as_u64().ok_or_else(|| format!("`{key}` is a whole number")),
    }
}

fn role(position: &Position, call: &Value) -> Result<Role, String> {
    let name = call.get("role").and_then(Value::as_str).unwrap_or_default();
    let names = &position.shape().role_names;
    position
        .shape()
        .role_named(name)
        .ok_or_else(|| format!("there is no role `{name}`; the roles are {}", names.join(", ")))
}

/// Returns the only legal move of each role, if none has a choice.
fn only_moves(position: &Position) -> Option<Vec<String>> {
    let only = |role: Role| {
        let mut legal = position.legal_moves(role);
        (legal.len() == 1).then(|| legal.remove(0))
    };
    position.shape().roles().map(only).collect()
}

fn goals(position: &Position) -> Value {
    let goal = |role: Role| (position.role_name(role).to_owned(), json!(position.payoff(role)));
    Value::Object(position.shape().roles().map(goal).collect())
}

fn described(state: u64, position: &Position) -> Map<String, Value> {
    let turn = position.role_to_move().map(|role| position.role_name(role));
    object(json!({"state": state, "terminal": position.is_terminal(), "turn": turn}))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Plays out a position.
struct Playouts<'a> {
    position: &'a Position,
    n: u64,
    seed: u64,
    deadline: Option<Instant>,
}

impl GameTask for Playouts<'_> {
    type Output = Result<PlayoutStats, String>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
        let mut position = start.clone();
        for joint in self.position.history() {
            let roles = position.shape().roles();
            let moves: Option<Vec<P::Move>> =
                roles.zip(joint).map(|(role, text)| position.parse_move(role, text)).collect();
            position.advance(&moves.ok_or("the state cannot be reached again")?);
        }
        let mut engine: Box<dyn Batch<State = P::State, Move = P::Move>> =
            start.batch(self.seed).unwrap_or_else(|| {
                Box::new(SequentialBatch::new(start.clone(), Rng::seed_from_u64(self.seed)))
            });
        let state = position.state().clone();
        let request = PlayoutRequest { state, n_playouts: self.n, expected_steps: 0 };
        let mut stats = Vec::new();
        engine.begin(&[request], MAX_STEPS);
        while !engine.step(STRETCH) {
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err("the time was up before all playouts had ended: ask for fewer".into());
            }
        }
        engine.finish(&mut stats);
        stats.pop().ok_or_else(|| "there are no playouts".to_owned())
    }
}
