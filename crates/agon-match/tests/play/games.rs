//! Shipped games, opened, and players for tests.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use agon_game::{Live, Position as _, Role, Table};
use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Interpreter, Options};
use agon_match::{
    Choice, Clocks, Lapse, Match, MatchOptions, News, Player, Record, Seat, Timing, build, drive,
    parse_spec, role_seed,
};
use agon_search::Budget;
use agon_text::Source;

pub(super) fn rulesheets() -> Vec<PathBuf> {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let mut found = Vec::new();
    for family in ["gdl", "gdl2"] {
        let listing = std::fs::read_dir(games.join(family)).expect("games/ is part of the project");
        found.extend(listing.map(|entry| entry.expect("it can be listed").path()));
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "kif"));
    found.sort();
    assert!(found.len() >= 30, "the shipped games are there");
    found
}

pub(super) fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn open(path: &Path) -> Arc<Game> {
    read(path, std::fs::read_to_string(path).expect("it can be read"))
}

/// The game of a text.
pub(super) fn read(path: &Path, text: String) -> Arc<Game> {
    let checked = check(Arc::new(Source::new(path.to_string_lossy(), text)));
    let game = Game::open(checked.rules.expect("shipped games are right"), Options::default());
    game.unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message))
}

pub(super) fn shipped(wanted: &str) -> Arc<Game> {
    let paths = rulesheets();
    open(
        paths
            .iter()
            .find(|path| name(path) == wanted)
            .unwrap_or_else(|| panic!("no game {wanted}")),
    )
}

pub(super) fn table(start: Interpreter) -> Box<dyn Table> {
    if start.shape().hidden { Box::new(Live::hidden(start)) } else { Box::new(Live::open(start)) }
}

/// Players of our own at all roles, counting iterations.
pub(super) fn seats(game: &Arc<Game>, players: &[&str], seed: u64) -> Vec<Seat> {
    let roles: Vec<Role> = game.shape().players().collect();
    let at = roles.iter().zip(players.iter().cycle());
    at.map(|(&role, player)| {
        let spec =
            parse_spec(player).unwrap_or_else(|finding| panic!("{player}: {}", finding.message));
        let player =
            build(&spec, game.start(), role, role_seed(seed, role)).expect("one of our own");
        Seat { role, player, timing: Timing::Iterations(20) }
    })
    .collect()
}

/// A short clock: only players that are never in time wait for it to run out.
pub(super) const CLOCKS: Clocks = Clocks {
    start: std::time::Duration::from_millis(30),
    play: std::time::Duration::from_millis(30),
};

pub(super) fn run(game: &Arc<Game>, seats: Vec<Seat>, options: MatchOptions) -> Match {
    let mut played = Match::new(table(game.start()), options, 0);
    drive(&mut played, seats, &CLOCKS, &|| 7, &mut |_, _| {});
    played
}

/// A whole match between players of our own.
pub(super) fn play(game: &Arc<Game>, players: &[&str], seed: u64) -> Match {
    run(
        game,
        seats(game, players, seed),
        MatchOptions { seed, max_steps: 300, ..MatchOptions::default() },
    )
}

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
    };
    record.fill(played);
    record
}

/// What a player was told and what it said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Log {
    pub(super) news: Vec<News>,
    /// The first before any news.
    pub(super) choices: Vec<Result<String, Lapse>>,
}

/// A player that is listened to.
pub(super) struct Overheard {
    pub(super) player: Box<dyn Player>,
    pub(super) log: Arc<Mutex<Log>>,
}

impl Player for Overheard {
    fn prepare(&mut self, budget: &Budget) -> Result<(), Lapse> {
        self.player.prepare(budget)
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse> {
        let choice = self.player.choose(budget);
        self.log
            .lock()
            .expect("nothing panics")
            .choices
            .push(choice.clone().map(|choice| choice.text));
        choice
    }

    fn learn(&mut self, news: &News) -> Result<(), Lapse> {
        self.log.lock().expect("nothing panics").news.push(news.clone());
        self.player.learn(news)
    }
}
