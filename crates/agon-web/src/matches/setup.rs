//! What a match is played with: game, players, clocks, secrets.

use agon::PlayerSpec;
use agon::match_setup::MatchLimits;
use agon_game::Shape;
use agon_players::{PlayerSource, parse_spec};
use serde_json::{Value, json};

use crate::answer::{ApiError, Request, joint_moves, texts};
use crate::secret::{random_seed, secret};

/// Maximum number of steps of a match.
const MAX_STEPS: usize = 2000;
/// Maximum clock in seconds: a day.
const MAX_CLOCK: f64 = 86_400.0;

/// What a match is played with.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// The id of the game in the library.
    pub(crate) game: String,
    /// The title of the game.
    pub(crate) title: String,
    /// The name of the rulesheet.
    pub(crate) source_name: String,
    /// The text of the rules, so that a match can be shown when the library has changed.
    pub(crate) rules: String,
    /// By role, without nature: the player.
    pub(crate) players: Vec<PlayerSpec>,
    pub(crate) start_clock: f64,
    pub(crate) play_clock: f64,
    /// Whether people must answer within the play clock.
    pub(crate) is_clock_for_people: bool,
    pub(crate) iterations: Option<u64>,
    /// The seed of chance and of players. Who knows it also knows the cards of others.
    pub(crate) seed: u64,
    /// Complete joint moves that were given when the match was created.
    pub(crate) opening: Vec<Vec<String>>,
    /// The secret of the person who created the match.
    pub(crate) owner: String,
    /// The secret of those who may watch, for servers with a token.
    pub(crate) watch: String,
    /// By role, including nature: the secret of the person who plays it.
    pub(crate) keys: Vec<Option<String>>,
    /// By role: whether somebody has taken the role, so that its secret is not shown to the owner.
    pub(crate) claimed: Vec<bool>,
}

impl Setup {
    /// Reads a setup from a request.
    ///
    /// # Errors
    /// [`ApiError`] if the request does not describe a match of this game.
    pub(crate) fn from_request(
        request: &Request,
        game: (&str, &str, &str, &str),
        shape: &Shape,
        allows_commands: bool,
    ) -> Result<Setup, ApiError> {
        let n_players = shape.players().count();
        let mut specs = request.texts("players")?;
        if specs.len() > n_players {
            return Err(ApiError::bad(format!(
                "{} players for {n_players} roles: {}",
                specs.len(),
                shape.role_names.join(", ")
            )));
        }
        specs.resize(n_players, "auto".to_owned());
        let players = specs
            .iter()
            .map(|text| player(text, allows_commands))
            .collect::<Result<Vec<PlayerSpec>, ApiError>>()?;
        let clock = |key: &str, default: f64| {
            let seconds = request.number(key, default)?;
            if (0.0..=MAX_CLOCK).contains(&seconds) {
                return Ok(seconds);
            }
            Err(ApiError::bad(format!("`{key}` must be from 0 to {MAX_CLOCK} seconds")))
        };
        let (id, title, source_name, rules) = game;
        let mut setup = Setup {
            game: id.to_owned(),
            title: title.to_owned(),
            source_name: source_name.to_owned(),
            rules: rules.to_owned(),
            players,
            start_clock: clock("start_clock", 1.0)?,
            play_clock: clock("play_clock", 3.0)?,
            is_clock_for_people: request.flag("clock_for_people", false)?,
            iterations: request.whole("iterations")?,
            seed: request.whole("seed")?.map_or_else(random_seed, Ok)?,
            opening: Vec::new(),
            owner: secret()?,
            watch: secret()?,
            keys: vec![None; shape.role_names.len()],
            claimed: vec![false; shape.role_names.len()],
        };
        setup.make_keys(shape)?;
        Ok(setup)
    }

    /// Gives every person a secret, and takes it from roles that no person plays.
    pub(crate) fn make_keys(&mut self, shape: &Shape) -> Result<(), ApiError> {
        for (role, spec) in shape.players().zip(&self.players) {
            let key = &mut self.keys[role.index()];
            if spec.kind != PlayerSource::Human {
                *key = None;
                self.claimed[role.index()] = false;
            } else if key.is_none() {
                *key = Some(secret()?);
            }
        }
        Ok(())
    }

    /// Returns the roles that people play.
    pub(crate) fn people(&self) -> Vec<usize> {
        (0..self.keys.len()).filter(|role| self.keys[*role].is_some()).collect()
    }

    /// Returns the limits of the match. A match that is continued has no time to prepare again.
    pub(crate) fn limits(&self, is_continued: bool) -> MatchLimits {
        MatchLimits {
            start_clock: if is_continued { self.start_clock.min(0.5) } else { self.start_clock },
            play_clock: self.play_clock,
            iterations: self.iterations,
            seed: self.seed,
            max_steps: MAX_STEPS,
            ..MatchLimits::default()
        }
    }

    /// Returns the setup as it is stored, with its secrets.
    pub(crate) fn to_json(&self) -> Value {
        let players: Vec<&str> = self.players.iter().map(|spec| spec.text.as_str()).collect();
        json!({
            "game": self.game, "title": self.title, "source_name": self.source_name,
            "rules": self.rules, "players": players, "start_clock": self.start_clock,
            "play_clock": self.play_clock, "clock_for_people": self.is_clock_for_people,
            "iterations": self.iterations, "seed": self.seed, "opening": self.opening,
            "owner": self.owner, "watch": self.watch, "keys": self.keys,
            "claimed": self.claimed,
        })
    }

    /// Reads a stored setup. Returns `None` if it is malformed.
    pub(crate) fn from_json(value: &Value) -> Option<Setup> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let keys = value["keys"].as_array()?.iter();
        let players = texts(&value["players"])?;
        let players = players.iter().map(|text| parse_spec(text).ok());
        Some(Setup {
            game: text("game")?,
            title: text("title")?,
            source_name: text("source_name")?,
            rules: text("rules")?,
            players: players.collect::<Option<_>>()?,
            start_clock: value["start_clock"].as_f64()?,
            play_clock: value["play_clock"].as_f64()?,
            is_clock_for_people: value["clock_for_people"].as_bool()?,
            iterations: value["iterations"].as_u64(),
            seed: value["seed"].as_u64()?,
            opening: joint_moves(&value["opening"])?,
            owner: text("owner")?,
            watch: text("watch")?,
            keys: keys.map(|key| key.as_str().map(str::to_owned)).collect(),
            claimed: value["claimed"].as_array()?.iter().map(|one| one == true).collect(),
        })
    }
}

/// Reads a player. Programs are refused unless the server allows them, and so are options that name
/// files.
///
/// # Errors
/// [`ApiError`] if the text does not specify a player that the server allows.
pub(crate) fn player(text: &str, allows_commands: bool) -> Result<PlayerSpec, ApiError> {
    let spec = parse_spec(text).map_err(|finding| {
        let hints = finding.hints.join("; ");
        let hint = if hints.is_empty() { hints } else { format!(" ({hints})") };
        ApiError::bad(format!("`{text}` is not a player: {}{hint}", finding.message))
    })?;
    if let PlayerSource::Command(_) = spec.kind
        && !allows_commands
    {
        return Err(ApiError::forbidden(format!(
            "`{text}` would run a program: start the server with --allow-commands"
        )));
    }
    if spec.concepts_file().is_some() && !allows_commands {
        return Err(ApiError::forbidden(format!("`{text}` names a file of the server")));
    }
    Ok(spec)
}
