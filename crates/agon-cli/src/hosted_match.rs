//! Matches on the command line: clock options, hosting options, and players outside this process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use agon::Game;
use agon::match_setup::{
    MatchLimits, MatchSetup, OutsidePlayers, OutsideSeat, SeatError, SetupError, game_key,
};
use agon_board::Layout;
use agon_game::{Role, Shape};
use agon_ggp::{Dialect, Record, Scrambler};
use agon_match::{Event, Match, Player, Substitute, Timing};
use agon_players::{PlayerSource, PlayerSpec};
use agon_server::WebPlayer;
use agon_text::{Diagnostic, Source, render};

use crate::clock;
use crate::engine_calls::EngineCalls;
use crate::failure::Failure;
use crate::outside::{Console, Human, Program};
use crate::terminal::remark;

/// How long players think, and how long a match may last.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ClockOptions {
    /// Seconds before the first move [default: 30, or 2 in `agon play`]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) start_clock: Option<f64>,
    /// Seconds for each move
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub(crate) play_clock: f64,
    /// Seconds of the play clock that built-in players leave unused, so that they are not late
    /// [default: an eighth of it, from 0.1 to 1]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) margin: Option<f64>,
    /// Built-in players search N iterations per move instead of using the clock: the same seed
    /// gives the same match
    #[arg(long, value_name = "N")]
    pub(crate) iterations: Option<u64>,
    /// Seed of the random number generators
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Maximum number of steps; a longer match is aborted
    #[arg(long, default_value_t = 10_000)]
    pub(crate) max_steps: usize,
    /// Whether built-in players think while others choose. Commands have options of their own.
    #[arg(skip)]
    pub(crate) ponder: bool,
}

impl ClockOptions {
    fn limits(&self) -> MatchLimits {
        MatchLimits {
            start_clock: self.start_clock.unwrap_or(30.0),
            play_clock: self.play_clock,
            margin: self.margin,
            iterations: self.iterations,
            seed: self.seed,
            max_steps: self.max_steps,
            ponder: self.ponder,
        }
    }
}

/// How matches are hosted for players over HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Hosting {
    /// Time beyond the clock for which the host waits for an answer.
    pub(crate) grace: Duration,
    /// Time spent on connecting to a player, per match, that does not count as thinking time.
    pub(crate) bonus: Duration,
    /// The message format of each player, in the order of the roles. `None`: as the game needs.
    pub(crate) dialects: Vec<Option<Dialect>>,
    /// Whether the names in the rules are scrambled before they are sent.
    pub(crate) scramble: bool,
    /// Roles without a time limit.
    pub(crate) unlimited: Vec<Role>,
    pub(crate) substitute: Substitute,
    /// Aborts matches when set.
    pub(crate) is_aborted: Arc<AtomicBool>,
}

impl Default for Hosting {
    fn default() -> Hosting {
        Hosting {
            // The grace period of ggp-base.
            grace: Duration::from_secs(1),
            bonus: Duration::ZERO,
            dialects: Vec::new(),
            scramble: false,
            unlimited: Vec::new(),
            substitute: Substitute::default(),
            is_aborted: Arc::default(),
        }
    }
}

/// A match that is set up, with the terminal, the layout and the hosting options that it needs.
pub(crate) struct HostedMatch {
    pub(crate) setup: MatchSetup,
    /// How states are drawn, once it was asked for.
    pub(crate) layout: Option<Arc<Layout>>,
    pub(crate) console: Arc<Console>,
    hosting: Hosting,
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Failure {
        let message = error.to_string();
        match error {
            SetupError::Concepts(agon::ConceptsError::Syntax { .. }) => Failure::wrong(message),
            _ => Failure::unreadable(message),
        }
    }
}

impl HostedMatch {
    /// Sets up a match. Roles without a player are played by `auto`.
    pub(crate) fn new(
        game: Game,
        players: Vec<PlayerSpec>,
        options: &ClockOptions,
    ) -> Result<HostedMatch, Failure> {
        let mut setup = MatchSetup::new(game, players, options.limits())?;
        setup.id = format!("agon.{}.{}", game_key(setup.game.name()), clock::now());
        Ok(HostedMatch::from_setup(setup))
    }

    /// Returns a match that is set up, with the default hosting options.
    pub(crate) fn from_setup(setup: MatchSetup) -> HostedMatch {
        let (layout, console) = (None, Arc::default());
        HostedMatch { setup, layout, console, hosting: Hosting::default() }
    }

    /// Returns the match with other hosting options.
    #[must_use]
    pub(crate) fn with_hosting(mut self, hosting: Hosting) -> HostedMatch {
        self.setup.unlimited.clone_from(&hosting.unlimited);
        self.setup.substitute = hosting.substitute;
        self.setup.is_scrambled = hosting.scramble;
        self.setup.is_aborted = Arc::clone(&hosting.is_aborted);
        self.hosting = hosting;
        self
    }

    /// Returns a warning if built-in players that ponder need more processors than there are: then
    /// they slow each other down.
    pub(crate) fn crowd_warning(&self) -> Option<String> {
        let n_processors = std::thread::available_parallelism().map_or(1, usize::from);
        let shape = self.shape();
        let threads = self.setup.players.iter().map(|(_, spec)| match &spec.kind {
            PlayerSource::BuiltIn(player) => player.threads().with_clock(shape, n_processors),
            PlayerSource::Human | PlayerSource::Http(_) | PlayerSource::Command(_) => 0,
        });
        let n_threads: usize = threads.sum();
        (n_threads > n_processors).then(|| {
            format!(
                "warning: players that ponder have {n_threads} threads together and share \
                 {n_processors} processors; give them fewer, such as mcts(threads=1)"
            )
        })
    }

    /// Infers the layout of the game, so that states can be drawn.
    pub(crate) fn find_layout(&mut self) {
        self.layout = Some(Arc::clone(self.setup.game.layout()));
    }

    /// Returns the shape of the game: roles, range of payoffs, hidden information.
    pub(crate) fn shape(&self) -> &Shape {
        self.setup.game.shape()
    }

    /// Plays the match. The joint moves of `opening` are played first, without asking the players.
    pub(crate) fn play(
        &self,
        opening: Vec<Vec<String>>,
        watch: &mut dyn FnMut(&Match, Event<'_>),
    ) -> Result<Match, Failure> {
        let seated = self.setup.seat(self)?;
        seated.warnings.iter().for_each(|warning| remark!("{warning}"));
        Ok(self.setup.play(seated, opening, &clock::now, watch))
    }

    /// Returns the record of a match.
    pub(crate) fn record(&self, game: &Match) -> Record {
        self.setup.record(game, clock::token(32))
    }

    /// Creates a player over HTTP with the message format and scrambling of the hosting options.
    fn web_player(&self, address: &agon_ggp::Address, seat: OutsideSeat<'_>) -> WebPlayer {
        let hosting = &self.hosting;
        let scrambler = hosting
            .scramble
            .then(|| Scrambler::new(&seat.invitation.rules, self.setup.limits.seed));
        let mut player =
            WebPlayer::new(address.clone(), seat.invitation).with_connect_bonus(hosting.bonus);
        if let Some(dialect) = hosting.dialects.get(seat.number).copied().flatten() {
            player = player.with_dialect(dialect);
        }
        match scrambler {
            Some(scrambler) => player.with_scrambler(Arc::new(scrambler)),
            None => player,
        }
    }
}

impl OutsidePlayers for HostedMatch {
    fn seat(&self, seat: OutsideSeat<'_>) -> Result<Box<dyn Player>, SeatError> {
        Ok(match &seat.spec.kind {
            PlayerSource::Human => {
                let name = seat.invitation.role_name();
                let role = self.shape().role_named(name).unwrap_or(Role::new(0));
                let console = Arc::clone(&self.console);
                let layout = self.layout.clone();
                Box::new(Human::new(&self.setup.game, role, seat.view, layout, console))
            }
            PlayerSource::Http(address) => Box::new(self.web_player(address, seat)),
            PlayerSource::Command(words) => {
                let calls = EngineCalls::of(self.setup.game.clone());
                let program = Program::start(words, seat.invitation, seat.view, calls);
                Box::new(program.map_err(|error| SeatError(error.to_string()))?)
            }
            PlayerSource::BuiltIn(..) => {
                let why = "a built-in player is created by the library";
                return Err(SeatError(why.to_owned()));
            }
        })
    }

    fn timing(&self, spec: &PlayerSpec) -> Timing {
        match &spec.kind {
            PlayerSource::Human => Timing::Unlimited,
            PlayerSource::Http(_) => Timing::Grace(self.hosting.grace),
            PlayerSource::Command(_) | PlayerSource::BuiltIn(..) => Timing::Grace(Duration::ZERO),
        }
    }
}

/// Parses the list of players of a command-line option. A failure shows the place of the error.
pub(crate) fn specs(option: &str, text: &str) -> Result<Vec<PlayerSpec>, Failure> {
    agon_players::parse_list(text).map_err(|finding| parse_failure(option, text, *finding))
}

/// Parses the player of a command-line option. A failure shows the place of the error.
pub(crate) fn spec(option: &str, text: &str) -> Result<PlayerSpec, Failure> {
    agon_players::parse_spec(text).map_err(|finding| parse_failure(option, text, *finding))
}

fn parse_failure(option: &str, text: &str, finding: Diagnostic) -> Failure {
    let source = Source::new(option, text);
    Failure::unreadable(render(&[finding], &source, crate::terminal::colour_on_stderr()))
}
