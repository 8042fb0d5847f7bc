//! Shipped games, and players for tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_game::{Observation, Position as _, PositionTable, Role, Table};
use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Interpreter, Options};
use agon_ggp::Record;
use agon_match::{
    Choice, Clocks, Event, Match, MatchOptions, Player, PlayerError, RunOptions, Seat, Timing,
    fill_record, role_seed, run_match,
};
use agon_players::{BuildContext, PlayerSpec, Rules, parse_spec};
use agon_search::Budget;
use agon_text::Source;

/// Returns the paths of the shipped rules in GDL and GDL-II.
pub(super) fn rulesheets() -> Vec<PathBuf> {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let mut found = Vec::new();
    for family in ["gdl", "gdl2"] {
        let listing = std::fs::read_dir(games.join(family)).expect("games/ is in the repository");
        found.extend(listing.map(|entry| entry.expect("the folder can be listed").path()));
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "kif"));
    found.sort();
    assert!(found.len() >= 30, "the shipped games are there");
    found
}

/// Returns the name of the game at a path.
pub(super) fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Opens the game at a path.
pub(super) fn open(path: &Path) -> Arc<Game> {
    read(path, std::fs::read_to_string(path).expect("the file can be read"))
}

/// Opens the game of a text.
pub(super) fn read(path: &Path, text: String) -> Arc<Game> {
    let checked = check(Arc::new(Source::new(path.to_string_lossy(), text)));
    let rules = checked.rules.expect("shipped rules are valid");
    let game = Game::open(rules, Options::default());
    game.unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message))
}

/// Opens the shipped game of a name.
pub(super) fn shipped(wanted: &str) -> Arc<Game> {
    let paths = rulesheets();
    let path = paths.iter().find(|path| name(path) == wanted);
    open(path.unwrap_or_else(|| panic!("there is no game {wanted}")))
}

/// Makes the table of a match.
pub(super) fn table(start: Interpreter) -> Box<dyn Table> {
    if start.shape().hidden {
        Box::new(PositionTable::hidden(start))
    } else {
        Box::new(PositionTable::open(start))
    }
}

/// Parses a specification that must be valid.
pub(super) fn spec(text: &str) -> PlayerSpec {
    parse_spec(text).unwrap_or_else(|finding| panic!("{text}: {}", finding.message))
}

/// Makes built-in players for all roles. They count iterations.
pub(super) fn seats(game: &Arc<Game>, players: &[&str], seed: u64) -> Vec<Seat> {
    let roles: Vec<Role> = game.shape().players().collect();
    let seats = roles.iter().zip(players.iter().cycle());
    seats
        .map(|(&role, player)| {
            let seed = role_seed(seed, role);
            let context = BuildContext { start: game.start(), role, seed, rules: Rules::default() };
            let player = spec(player).build(context).expect("the player is built-in");
            Seat { role, player, timing: Timing::Iterations(20) }
        })
        .collect()
}

/// Short clocks. Only players that are always late use them up.
pub(super) const CLOCKS: Clocks =
    Clocks { start: Duration::from_millis(30), play: Duration::from_millis(30) };

/// Plays a match with players in their seats.
pub(super) fn run(game: &Arc<Game>, seats: Vec<Seat>, options: MatchOptions) -> Match {
    let mut played = Match::new(table(game.start()), options, 0);
    run_with(&mut played, seats, CLOCKS, &mut |_, _| {});
    played
}

/// Plays a match by given clocks, and reports its events to `watch`.
pub(super) fn run_with(
    game: &mut Match,
    seats: Vec<Seat>,
    clocks: Clocks,
    watch: &mut dyn FnMut(&Match, Event<'_>),
) {
    let options =
        RunOptions { clocks, now: &|| 7, is_aborted: &AtomicBool::new(false), ponder: false };
    run_match(game, seats, &options, watch);
}

/// Plays a match between built-in players.
pub(super) fn play(game: &Arc<Game>, players: &[&str], seed: u64) -> Match {
    let options = MatchOptions { seed, max_steps: 300, ..MatchOptions::default() };
    run(game, seats(game, players, seed), options)
}

/// Makes the record of a match.
pub(super) fn record(played: &Match) -> Record {
    let mut record = Record {
        match_id: "test".to_owned(),
        random_token: "0".repeat(32),
        start_time: 0,
        game_meta_url: "http://127.0.0.1:9140/games/test/v0/".to_owned(),
        start_clock: 1,
        play_clock: 1,
        player_names: Vec::new(),
        is_human: Vec::new(),
        states: Vec::new(),
        moves: Vec::new(),
        state_times: Vec::new(),
        errors: Vec::new(),
        goal_values: None,
        is_aborted: false,
        is_scrambled: false,
        rules_hash: None,
    };
    fill_record(&mut record, played);
    record
}

/// What a player observed and answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Log {
    pub(super) observations: Vec<Observation>,
    /// The choices; the first was made before any observation.
    pub(super) choices: Vec<Result<String, PlayerError>>,
}

/// A player whose observations and answers are logged.
pub(super) struct Logged {
    pub(super) player: Box<dyn Player>,
    pub(super) log: Arc<Mutex<Log>>,
}

impl Player for Logged {
    fn prepare(&mut self, budget: &Budget) -> Result<(), PlayerError> {
        self.player.prepare(budget)
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        let choice = self.player.choose(budget);
        let text = choice.clone().map(|choice| choice.text);
        self.log.lock().expect("no thread panics").choices.push(text);
        choice
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        let mut log = self.log.lock().expect("no thread panics");
        log.observations.push(observation.clone());
        drop(log);
        self.player.learn(observation)
    }
}
