//! What a viewer may see of a match.
//!
//! In a game with hidden information, a person receives only what the role may know: its own moves,
//! its percepts, and what is the same in all states that are consistent with them. Others receive
//! nothing but the number of steps. Everything is shown to all when the match is over.

use std::sync::Arc;

use agon::Game;
use agon_board::Layout;
use agon_board::svg::{SvgOptions, role_colour, svg};
use agon_ggp::Record;
use serde_json::{Map, Value, json};

pub(crate) use agon_board::svg::Theme;

use super::{Frames, Hosted, State};
use crate::answer::ApiError;
use crate::api::{families_json, is_continuous, rules_kind};
use crate::secret::now;

/// The person or program that looks at a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Viewer {
    /// The roles that the viewer plays.
    pub(crate) roles: Vec<usize>,
    /// Whether the viewer has created the match.
    pub(crate) is_owner: bool,
    /// Whether the viewer has the secret of those who watch.
    pub(crate) is_watcher: bool,
}

impl Viewer {
    /// Returns whether the viewer has any secret of the match.
    pub(crate) fn is_known(&self) -> bool {
        !self.roles.is_empty() || self.is_owner || self.is_watcher
    }
}

/// Whether a viewer may see everything, or only what roles know.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Sight {
    Everything,
    OwnKnowledge,
}

impl State {
    fn sight(&self, game: &Game) -> Sight {
        let is_secret = game.shape().hidden && self.ending.is_none();
        // Without people there is nobody who could learn too much.
        if is_secret && !self.setup.people().is_empty() {
            Sight::OwnKnowledge
        } else {
            Sight::Everything
        }
    }
}

impl Hosted {
    /// Returns what a viewer may see of the match, with the steps from a number on. The text is
    /// JSON.
    ///
    /// # Errors
    /// [`ApiError`] if the game cannot be opened.
    pub(crate) fn view(
        &self,
        viewer: &Viewer,
        from: usize,
        theme: Theme,
    ) -> Result<(String, usize), ApiError> {
        let game = self.game()?;
        // The layout is inferred before the match is locked, because that may take a second.
        let layout = Arc::clone(game.layout());
        let mut state = self.lock();
        let n_steps = state.steps.len();
        let key = format!("{from} {theme:?} {viewer:?}");
        if let Some(known) = state.cache.get(&key) {
            return Ok((with_time(known), n_steps));
        }
        state.frames(&game)?;
        let sight = state.sight(&game);
        let from = from.min(n_steps);
        let steps: Vec<Value> =
            (from..n_steps).map(|at| state.step_json(at, viewer, sight, &layout)).collect();
        let boards = state.boards(viewer, sight, n_steps, theme, &layout);
        // In a game with hidden information even the turn of others may be a secret.
        let is_shown = |role: &usize| sight == Sight::Everything || viewer.roles.contains(role);
        let thinking: Vec<usize> = state.thinking.iter().copied().filter(is_shown).collect();
        let asked = state.asked.iter().filter(|(role, _)| is_shown(role)).map(|(role, asked)| {
            let mut object = json!({"role": role, "since": asked.since,
                "deadline": asked.deadline});
            if viewer.roles.contains(role) {
                object["moves"] = json!(layout.targets(&asked.moves.legal));
                object["families"] = families_json(&asked.moves.families);
            }
            object
        });
        let asked: Vec<Value> = asked.collect();
        let mut view = self.header(&state, &game, viewer, theme);
        // Chance can be computed from the seed, and so can what others hold.
        view["seed"] = json!((sight == Sight::Everything).then_some(state.setup.seed));
        let more = json!({
            "from": from, "steps": steps, "boards": boards, "asked": asked,
            "thinking": thinking, "takeback": state.takeback, "warnings": state.warnings,
            "secret": sight == Sight::OwnKnowledge,
            "layout": layout.kind(),
        });
        if let (Value::Object(view), Value::Object(more)) = (&mut view, more) {
            view.extend(more);
        }
        let text: Arc<str> = Arc::from(view.to_string());
        let sent = with_time(&text);
        state.cache.insert(key, text);
        Ok((sent, n_steps))
    }

    /// Returns the match as a list of matches shows it.
    pub(crate) fn summary(&self) -> Value {
        let state = self.lock();
        let setup = &state.setup;
        let players: Vec<&str> = setup.players.iter().map(|spec| spec.text.as_str()).collect();
        json!({
            "id": self.id, "game": setup.game, "title": setup.title, "players": players,
            "n_steps": state.steps.len(), "ending": state.ending, "created": self.created,
        })
    }

    fn header(&self, state: &State, game: &Game, viewer: &Viewer, theme: Theme) -> Value {
        let setup = &state.setup;
        let shape = game.shape();
        let players = shape.players().zip(&setup.players);
        let seats: Vec<Value> = players
            .map(|(role, spec)| {
                let role = role.index();
                let mut seat = json!({
                    "role": role, "name": shape.role_names[role], "player": spec.text,
                    "colour": role_colour(&shape.role_names[role], role, theme),
                    "person": setup.keys[role].is_some(), "mine": viewer.roles.contains(&role),
                });
                if viewer.is_owner && !setup.claimed[role] {
                    seat["key"] = json!(setup.keys[role]);
                }
                seat
            })
            .collect();
        let mut header = json!({
            "id": self.id, "game": setup.game, "title": setup.title, "created": self.created,
            "roles": shape.role_names, "nature": shape.nature.map(agon_game::Role::index),
            "hidden": shape.hidden, "constant_sum": shape.constant_sum, "seats": seats,
            "payoffs": [shape.payoffs.start(), shape.payoffs.end()],
            "start_clock": setup.start_clock, "play_clock": setup.play_clock,
            "clock_for_people": setup.is_clock_for_people,
            "opening": setup.opening.len(), "owner": viewer.is_owner,
            "ending": state.ending, "n_steps": state.steps.len(),
            "running": state.run.is_some(), "continuous": is_continuous(game),
            "kind": rules_kind(game),
        });
        if viewer.is_owner || viewer.is_watcher {
            header["watch_key"] = json!(setup.watch);
        }
        header
    }

    /// Returns a position of the match as a viewer may see it.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such position.
    pub(crate) fn position(
        &self,
        viewer: &Viewer,
        at: usize,
        theme: Theme,
    ) -> Result<Value, ApiError> {
        let game = self.game()?;
        let layout = Arc::clone(game.layout());
        let mut state = self.lock();
        let n_steps = state.steps.len();
        if at > n_steps {
            return Err(ApiError::missing(format!("the match has {n_steps} steps")));
        }
        state.frames(&game)?;
        let sight = state.sight(&game);
        Ok(json!({"at": at, "boards": state.boards(viewer, sight, at, theme, &layout)}))
    }

    /// Returns the record of the match in the format of ggp.org.
    ///
    /// # Errors
    /// [`ApiError`] if the match has secrets and is not over.
    pub(crate) fn record(&self) -> Result<Value, ApiError> {
        let game = self.game()?;
        let mut state = self.lock();
        if state.sight(&game) == Sight::OwnKnowledge {
            return Err(ApiError::forbidden(
                "the record of a game with hidden information is available when the match is over",
            ));
        }
        let states = state.frames(&game)?.states();
        let shape = game.shape();
        let setup = &state.setup;
        let mut names = vec!["nature".to_owned(); shape.role_names.len()];
        for (role, spec) in shape.players().zip(&setup.players) {
            names[role.index()].clone_from(&spec.text);
        }
        let start_time = self.created;
        let ending = state.ending.as_ref();
        let payoffs = ending.and_then(|ending| ending["payoffs"].as_array()).map(|payoffs| {
            payoffs.iter().map(|payoff| payoff.as_f64().unwrap_or(0.0).round() as i64).collect()
        });
        let no_errors = vec![String::new(); shape.role_names.len()];
        let record = Record {
            match_id: format!("agon.{}.{}", setup.game, self.id),
            random_token: self.id.clone(),
            start_time,
            game_meta_url: format!("http://127.0.0.1:9140/games/{}/v0/", setup.game),
            start_clock: setup.start_clock.ceil() as u64,
            play_clock: setup.play_clock.ceil() as u64,
            player_names: names,
            is_human: setup.keys.iter().map(Option::is_some).collect(),
            states,
            moves: state.steps.iter().map(|step| step.joint.clone()).collect(),
            state_times: std::iter::once(start_time)
                .chain(state.steps.iter().map(|step| step.time))
                .collect(),
            errors: std::iter::once(no_errors)
                .chain(state.steps.iter().map(|step| step.errors.clone()))
                .collect(),
            is_aborted: ending.is_some() && payoffs.is_none(),
            goal_values: payoffs,
            is_scrambled: false,
            rules_hash: Some(agon_ggp::rules_hash(&game.rules_text())),
        };
        Ok(record.to_json())
    }
}

/// Adds the time of day to a view, which is kept for all who look at the match later.
fn with_time(view: &str) -> String {
    let fields = view.strip_suffix('}').expect("a view is an object");
    format!("{fields},\"now\":{}}}", now())
}

impl State {
    fn step_json(&self, at: usize, viewer: &Viewer, sight: Sight, layout: &Layout) -> Value {
        let step = &self.steps[at];
        let mut object = json!({"at": at, "time": step.time});
        match sight {
            Sight::Everything => {
                object["joint"] = json!(step.joint);
                object["places"] = json!(touched(layout, &step.joint));
                object["errors"] = json!(step.errors);
                object["thoughts"] = step.thoughts.clone();
                let before = self.frames.as_ref().and_then(|frames| frames.get(at));
                object["choosers"] = json!(before.map(|frame| &frame.choosers));
            }
            Sight::OwnKnowledge => {
                let frame = self.frames.as_ref().and_then(|frames| frames.get(at + 1));
                let own = viewer.roles.iter().map(|&role| {
                    let percepts = frame.map(|frame| frame.percepts[role].clone());
                    let move_made = &step.joint[role];
                    let places = touched(layout, std::slice::from_ref(move_made));
                    json!({"role": role, "move": move_made, "places": places, "error": step.errors[role],
                        "percepts": percepts})
                });
                object["own"] = own.collect();
            }
        }
        object
    }

    /// Returns pictures of a position: one that shows everything, or one for each role of the
    /// viewer.
    fn boards(
        &self,
        viewer: &Viewer,
        sight: Sight,
        at: usize,
        theme: Theme,
        layout: &Layout,
    ) -> Vec<Value> {
        let Some(frame) = self.frames.as_ref().and_then(|frames: &Frames| frames.get(at)) else {
            return Vec::new();
        };
        let options = SvgOptions { theme, transparent: true, ..SvgOptions::default() };
        if sight == Sight::Everything {
            let picture = svg(&layout.scene(&frame.state), &options);
            return vec![json!({"role": null, "svg": picture, "state": frame.state})];
        }
        let known = viewer.roles.iter().filter_map(|role| {
            let possible = frame.possible.get(role)?;
            let picture = svg(&layout.scene_of_possible(possible), &options);
            let mut board = Map::new();
            board.insert("role".to_owned(), json!(role));
            board.insert("svg".to_owned(), json!(picture));
            board.insert("known".to_owned(), json!(shared(possible)));
            board.insert("n_possible".to_owned(), json!(possible.len()));
            Some(Value::Object(board))
        });
        known.collect()
    }
}

/// Returns the places that moves touch, to mark them on the board. A move that selects a whole line
/// of places, such as a column, touches none in particular.
pub(crate) fn touched(layout: &Layout, moves: &[String]) -> Vec<String> {
    let steps = layout.targets(moves).into_iter().flat_map(|target| target.steps);
    steps.filter(|places| places.len() == 1).flatten().collect()
}

/// Returns the facts that hold in all of the states.
fn shared(states: &[Vec<String>]) -> Vec<&String> {
    let Some((first, others)) = states.split_first() else { return Vec::new() };
    first.iter().filter(|fact| others.iter().all(|state| state.contains(fact))).collect()
}
