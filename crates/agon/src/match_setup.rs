//! From a game and player specifications to a match being played.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon_analysis::{Analysis, DEFAULT_TIME};
use agon_game::{Budget, Role, Shape};
use agon_ggp::{Record, rules_hash};
use agon_match::{
    Clocks, Event, Invitation, Match, MatchOptions, Player, RunOptions, Seat, Substitute, Timing,
    View, fill_record, role_seed, run_match, view,
};
use agon_players::{HeuristicFamily, PlayerSource, PlayerSpec};

use crate::concepts::{ConceptsError, load_concepts};
use crate::engine::{GamePosition, GameTask};
use crate::evaluation_games::{EvaluationFileError, load_evaluation_games};
use crate::game::{Game, RulesNeeded};
use crate::player::{Build, rules_needed};
use crate::shipped::Shipped;

/// Time for a built-in player to prepare before the clock starts.
const PREPARATION: Duration = Duration::from_secs(3600);
/// Maximum length of a clock.
const MAX_CLOCK: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long players think, and how long a match may last.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchLimits {
    /// Seconds before the first move.
    pub start_clock: f64,
    /// Seconds for each move.
    pub play_clock: f64,
    /// Seconds of the play clock that built-in players leave unused, so that they are not late.
    /// `None`: an eighth of it, from 0.1 to 1.
    pub margin: Option<f64>,
    /// Number of iterations that built-in players think, however long that takes. Then the same
    /// seed gives the same match.
    pub iterations: Option<u64>,
    /// The seed of the random generators.
    pub seed: u64,
    /// Maximum number of steps. A longer match is ended without a result.
    pub max_steps: usize,
    /// Whether built-in players think while other players choose. Not with `iterations`.
    pub ponder: bool,
}

impl Default for MatchLimits {
    fn default() -> MatchLimits {
        MatchLimits {
            start_clock: 30.0,
            play_clock: 10.0,
            margin: None,
            iterations: None,
            seed: 1,
            max_steps: 10_000,
            ponder: false,
        }
    }
}

/// Why a match cannot be set up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SetupError {
    /// More players than roles.
    TooManyPlayers {
        /// Number of players given.
        n_players: usize,
        /// The roles of the game.
        roles: Vec<String>,
    },
    /// A clock is not a number of seconds between 0 and a week.
    Clock {
        /// The option: `start-clock`, `play-clock` or `margin`.
        option: &'static str,
        /// The value given.
        seconds: f64,
    },
    /// A player outside of this process could not be started.
    Outside {
        /// The role's name.
        role: String,
        /// What went wrong.
        reason: String,
    },
    /// The file of concepts that a player asks for cannot be used.
    Concepts(ConceptsError),
    /// The evaluation games that a player asks for cannot be used.
    EvaluationGames(EvaluationFileError),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::TooManyPlayers { n_players, roles } => {
                let (n_roles, names) = (roles.len(), roles.join(", "));
                write!(f, "{n_players} players for {n_roles} roles ({names}): give fewer")
            }
            SetupError::Clock { option, seconds } => {
                write!(f, "--{option}: not a number of seconds: {seconds}")
            }
            SetupError::Outside { role, reason } => write!(f, "player of {role}: {reason}"),
            SetupError::Concepts(why) => why.fmt(f),
            SetupError::EvaluationGames(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for SetupError {}

/// What a player outside of this process is made from.
pub struct OutsideSeat<'a> {
    /// The player as the user specified it.
    pub spec: &'a PlayerSpec,
    /// The number of the player, in the order of the roles without nature.
    pub number: usize,
    /// What the player is told when the match starts.
    pub invitation: Invitation,
    /// What the role may know of the match, for players that do not keep it themselves.
    pub view: Box<dyn View>,
}

/// Why a player outside of this process could not be started, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatError(pub String);

impl fmt::Display for SeatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SeatError {}

/// Makes players that do not run in this process: people, programs, players over HTTP.
pub trait OutsidePlayers {
    /// Makes a player.
    ///
    /// # Errors
    /// [`SeatError`] if the player cannot be started.
    fn seat(&self, seat: OutsideSeat<'_>) -> Result<Box<dyn Player>, SeatError>;

    /// Returns how the time of a player is measured.
    fn timing(&self, spec: &PlayerSpec) -> Timing;
}

/// Refuses all players that do not run in this process.
pub struct NoOutsidePlayers;

impl OutsidePlayers for NoOutsidePlayers {
    fn seat(&self, seat: OutsideSeat<'_>) -> Result<Box<dyn Player>, SeatError> {
        Err(SeatError(format!("`{}` runs outside of this process", seat.spec.text)))
    }

    fn timing(&self, _: &PlayerSpec) -> Timing {
        Timing::Grace(Duration::ZERO)
    }
}

/// A match to be played: the game, its players, and how they play.
#[derive(Clone)]
pub struct MatchSetup {
    /// The game.
    pub game: Game,
    /// By role, in the order of the rules; without nature.
    pub players: Vec<(Role, PlayerSpec)>,
    /// How long players think.
    pub limits: MatchLimits,
    /// The identifier of the match.
    pub id: String,
    /// Roles that have no time limit.
    pub unlimited: Vec<Role>,
    /// What is played for a player that sends no legal move.
    pub substitute: Substitute,
    /// Whether players are told other words than those of the rules.
    pub is_scrambled: bool,
    /// Aborts the match when set.
    pub is_aborted: Arc<AtomicBool>,
    clocks: Clocks,
    margin: Duration,
}

/// Players in their seats.
pub struct Seated {
    seats: Vec<Seat>,
    /// What the user should know: players that cannot use the evaluation they ask for.
    pub warnings: Vec<String>,
}

impl MatchSetup {
    /// Gives players to roles. Roles beyond the players given are played by `auto`.
    ///
    /// # Errors
    /// [`SetupError`] if there are more players than roles, or a clock is not a time.
    pub fn new(
        game: Game,
        players: Vec<PlayerSpec>,
        limits: MatchLimits,
    ) -> Result<MatchSetup, SetupError> {
        let shape = game.shape().clone();
        let roles: Vec<Role> = shape.players().collect();
        if players.len() > roles.len() {
            let names = roles.iter().map(|role| shape.role_names[role.index()].clone());
            let (n_players, roles) = (players.len(), names.collect());
            return Err(SetupError::TooManyPlayers { n_players, roles });
        }
        let mut given = players.into_iter();
        let players = roles
            .into_iter()
            .map(|role| (role, given.next().unwrap_or_else(|| PlayerSpec::built_in("auto"))))
            .collect();
        let clock = |option: &'static str, seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|clock| *clock <= MAX_CLOCK)
                .ok_or(SetupError::Clock { option, seconds })
        };
        let clocks = Clocks {
            start: clock("start-clock", limits.start_clock)?,
            play: clock("play-clock", limits.play_clock)?,
        };
        let margin = match limits.margin {
            None => clocks.margin(),
            Some(seconds) => clock("margin", seconds)?,
        };
        let id = format!("agon.{}", game_key(game.name()));
        Ok(MatchSetup {
            game,
            players,
            limits,
            id,
            unlimited: Vec::new(),
            substitute: Substitute::default(),
            is_scrambled: false,
            is_aborted: Arc::default(),
            clocks,
            margin,
        })
    }

    /// Returns the name of the player of a role: its specification, and for `auto` the player that
    /// it chooses.
    pub fn player_name(&self, role: Role) -> String {
        let shape: &Shape = self.game.shape();
        let player = self.players.iter().find(|(other, _)| *other == role);
        match player.map(|(_, spec)| spec) {
            None => "nature".to_owned(),
            Some(spec) => match spec.chosen_for(shape) {
                Some(chosen) => format!("{} ({})", spec.text, chosen.text),
                None => spec.text.clone(),
            },
        }
    }

    /// Makes the players.
    ///
    /// # Errors
    /// [`SetupError`] if a player cannot be made.
    pub fn seat(&self, outside: &dyn OutsidePlayers) -> Result<Seated, SetupError> {
        self.game.run(Seating { setup: self, outside })
    }

    /// Plays the match with players in their seats. `opening` holds joint moves that are made
    /// without asking the players; `now` returns the time in milliseconds since 1970.
    pub fn play(
        &self,
        seated: Seated,
        opening: Vec<Vec<String>>,
        now: &dyn Fn() -> u64,
        watch: &mut dyn FnMut(&Match, Event<'_>),
    ) -> Match {
        let options = MatchOptions {
            seed: self.limits.seed,
            max_steps: self.limits.max_steps,
            opening,
            substitute: self.substitute,
        };
        let mut game = Match::new(self.game.table(), options, now());
        let run = RunOptions {
            clocks: self.clocks,
            now,
            is_aborted: &self.is_aborted,
            ponder: self.limits.ponder,
        };
        run_match(&mut game, seated.seats, &run, watch);
        game
    }

    /// Gives players at most this time to prepare, for a match that goes on.
    pub fn set_start_clock(&mut self, at_most: Duration) {
        self.clocks.start = self.clocks.start.min(at_most);
    }

    /// Returns the record of a match. `token` identifies it: 32 random characters.
    pub fn record(&self, game: &Match, token: String) -> Record {
        let shape = game.shape();
        let is_human = |role: Role| {
            self.players
                .iter()
                .any(|(other, spec)| *other == role && spec.kind == PlayerSource::Human)
        };
        let mut record = Record {
            match_id: self.id.clone(),
            random_token: token,
            start_time: game.state_times()[0],
            // The address at which ggp-base's own server of local games has them.
            game_meta_url: format!(
                "http://127.0.0.1:9140/games/{}/v0/",
                game_key(self.game.name())
            ),
            start_clock: self.clocks.start.as_secs_f64().ceil() as u64,
            play_clock: self.clocks.play.as_secs_f64().ceil() as u64,
            player_names: shape.roles().map(|role| self.player_name(role)).collect(),
            is_human: shape.roles().map(is_human).collect(),
            states: Vec::new(),
            moves: Vec::new(),
            state_times: Vec::new(),
            errors: Vec::new(),
            goal_values: None,
            is_aborted: false,
            is_scrambled: self.is_scrambled,
            rules_hash: Some(rules_hash(&self.game.rules_text())),
        };
        fill_record(&mut record, game);
        record
    }

    fn timing(&self, role: Role, spec: &PlayerSpec, outside: &dyn OutsidePlayers) -> Timing {
        if self.unlimited.contains(&role) {
            return Timing::Unlimited;
        }
        match (&spec.kind, self.limits.iterations) {
            (PlayerSource::BuiltIn(..), Some(n)) => Timing::Iterations(n),
            (PlayerSource::BuiltIn(..), None) => Timing::Margin(self.margin),
            (PlayerSource::Human | PlayerSource::Http(_) | PlayerSource::Command(_), _) => {
                outside.timing(spec)
            }
        }
    }
}

/// Plays a match between built-in players and returns it.
///
/// # Errors
/// [`SetupError`] if the players do not fit the game. Text that is not a player specification is
/// reported by [`agon_players::parse_list`].
///
/// ```
/// use agon::{Ending, Game, MatchLimits, parse_players, play_match};
/// let game = Game::open("tic-tac-toe")?;
/// let limits = MatchLimits { iterations: Some(200), ..MatchLimits::default() };
/// let players = parse_players("mcts, random")?;
/// let played = play_match(&game, players, limits)?;
/// assert!(matches!(played.ending(), Some(Ending::Finished(payoffs)) if payoffs[0] >= 50.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn play_match(
    game: &Game,
    players: Vec<PlayerSpec>,
    limits: MatchLimits,
) -> Result<Match, SetupError> {
    let setup = MatchSetup::new(game.clone(), players, limits)?;
    let seated = setup.seat(&NoOutsidePlayers)?;
    Ok(setup.play(seated, Vec::new(), &|| 0, &mut |_, _| {}))
}

/// Returns the name of a game in the form in which it may be part of an address.
pub fn game_key(game: &str) -> String {
    if let Some(shipped) = Shipped::named(game).filter(|shipped| shipped.name.contains('/')) {
        return shipped.name.replace('/', "-");
    }
    let stem = std::path::Path::new(game).file_stem().unwrap_or_default();
    let name: String = stem
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .collect();
    if name.is_empty() || name == "-" { "unnamed".to_owned() } else { name }
}

/// Why players of the GGP protocol cannot play structure rewriting games.
const NETWORK_NEEDS_GDL: &str = "the GGP protocol is for rules in GDL (hint: `agon translate GAME \
                                 --to gdl` makes them)";

/// Makes the players of a match. Each gets a start position of its own, and nothing of the
/// referee's.
struct Seating<'a> {
    setup: &'a MatchSetup,
    outside: &'a dyn OutsidePlayers,
}

impl GameTask for Seating<'_> {
    type Output = Result<Seated, SetupError>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Result<Seated, SetupError> {
        let Seating { setup, outside } = self;
        let wants_gdl =
            setup.players.iter().any(|(_, spec)| rules_needed(spec) == RulesNeeded::Gdl);
        let needs = if wants_gdl { RulesNeeded::Gdl } else { RulesNeeded::Own };
        let mut seated = Seated { seats: Vec::new(), warnings: Vec::new() };
        for (role, spec) in &setup.players {
            let timing = setup.timing(*role, spec, outside);
            let player = match &spec.kind {
                PlayerSource::BuiltIn(..) => {
                    let player = setup.built_in(*role, spec, needs, &mut seated.warnings)?;
                    prepared(player, timing)
                }
                PlayerSource::Human | PlayerSource::Http(_) | PlayerSource::Command(_) => {
                    let seed = role_seed(setup.limits.seed, *role);
                    let seat = OutsideSeat {
                        spec,
                        number: seated.seats.len(),
                        invitation: setup.invitation(*role),
                        view: view(start.clone(), *role, seed),
                    };
                    let is_network = matches!(spec.kind, PlayerSource::Http(_));
                    let seated = if is_network && setup.game.toss().is_some() {
                        Err(SeatError(NETWORK_NEEDS_GDL.to_owned()))
                    } else {
                        outside.seat(seat)
                    };
                    seated.map_err(|SeatError(reason)| SetupError::Outside {
                        role: setup.game.shape().role_names[role.index()].clone(),
                        reason,
                    })?
                }
            };
            seated.seats.push(Seat { role: *role, player, timing });
        }
        Ok(seated)
    }
}

/// Lets a player prepare before the clock starts, as the rules are compiled before it starts too.
fn prepared(mut player: Box<dyn Player>, timing: Timing) -> Box<dyn Player> {
    if let Timing::Margin(_) = timing {
        let deadline = Some(Instant::now() + PREPARATION);
        // A player that cannot prepare says so again when the match starts.
        let _ = player.prepare(&Budget { deadline, ..Budget::iterations(1) });
    }
    player
}

impl MatchSetup {
    fn invitation(&self, role: Role) -> Invitation {
        Invitation {
            id: self.id.clone(),
            role,
            shape: self.game.shape().clone(),
            rules: self.game.rules_text(),
            start_clock: self.limits.start_clock,
            play_clock: self.limits.play_clock,
        }
    }

    fn built_in(
        &self,
        role: Role,
        spec: &PlayerSpec,
        needs: RulesNeeded,
        warnings: &mut Vec<String>,
    ) -> Result<Box<dyn Player>, SetupError> {
        if let Some(why) = why_not_evaluated(spec, &self.game) {
            warnings.push(format!(
                "{}: positions are evaluated by the goals as they stand: {why}",
                spec.text
            ));
        }
        if (self.game.gdl().is_some() || needs == RulesNeeded::Gdl)
            && let Ok(analysis) = self.game.analysis()
        {
            load_concepts(analysis, spec).map_err(SetupError::Concepts)?;
        }
        if let Some(why) = why_no_action_heuristic(spec, &self.game, needs) {
            warnings.push(format!(
                "{}: moves are not evaluated before they are tried: {why}",
                spec.text
            ));
        }
        let (game, seed) = (&self.game, self.limits.seed);
        let evaluation = load_evaluation_games(game, spec).map_err(SetupError::EvaluationGames)?;
        Ok(game.run(Build { game, spec, role, seed, needs, evaluation }))
    }
}

/// Returns the reason why a game has no heuristics of a family.
fn why_no_heuristics(family: HeuristicFamily, game: &Game) -> Option<String> {
    match family {
        HeuristicFamily::Goals | HeuristicFamily::Mobility => None,
        HeuristicFamily::Terms => game
            .rewriting_analysis()
            .is_none()
            .then(|| "terms made of goals are for structure rewriting games".to_owned()),
        HeuristicFamily::Material => game
            .compiled()
            .is_none()
            .then(|| "facts are counted in games with a circuit".to_owned()),
        HeuristicFamily::Fuzzy | HeuristicFamily::Regression | HeuristicFamily::Concepts => {
            game.analysis().err().map(|why| format!("{family} heuristics are for GDL, and {why}"))
        }
    }
}

/// Returns the reason why a player cannot use regressed goals that it asks for.
fn why_no_action_heuristic(spec: &PlayerSpec, game: &Game, needs: RulesNeeded) -> Option<String> {
    let request = spec.action_heuristic()?;
    if game.toss().is_some() && needs == RulesNeeded::Own {
        return Some("regressed goals are for GDL".to_owned());
    }
    let analysis: &Analysis = match game.analysis() {
        Ok(analysis) => analysis,
        Err(why) => return Some(why.to_string()),
    };
    analysis.action_heuristics(request, DEFAULT_TIME).err().map(|why| why.to_string())
}

/// Returns the reason why a player cannot evaluate positions as it asks to.
fn why_not_evaluated(spec: &PlayerSpec, game: &Game) -> Option<String> {
    if let Some(options) = spec.fuzzy_options() {
        return match game.analysis() {
            Ok(analysis) => analysis.fuzzy(options, DEFAULT_TIME).err().map(|why| why.to_string()),
            Err(why) => Some(format!("fuzzy evaluation is for GDL, and {why}")),
        };
    }
    if let Some(options) = spec.combined() {
        return options.only.and_then(|only| why_no_heuristics(only, game));
    }
    let terms = spec.goal_terms()?;
    let Some(rewriting) = game.rewriting_analysis() else {
        return Some(
            "terms made of goals are for structure rewriting games \
             (hint: `agon translate GAME --to toss`)"
                .to_owned(),
        );
    };
    match rewriting.goal_evaluator(terms.choice.without_trial(rewriting), &terms.options) {
        Err(why) => Some(why.to_string()),
        Ok(evaluator) if !evaluator.terms().depend_on_states() => {
            Some("its payoffs are numbers, so nothing can be made of them".to_owned())
        }
        Ok(_) => None,
    }
}
